"""A relay of calls: a request goes on to another server as it comes, and the answer comes back as it is.

No body is held until it is whole, in either direction.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final

from starlette.types import Message, Receive, Send

from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender
from sendbox.server.wire import wait_for_disconnect
from sendbox.services.http.exchange import header

Headers = Iterable[tuple[bytes, bytes]]
#: Called with a piece of a body.
Note = Callable[[bytes], None]
#: Headers of one connection, which are not handed on, beside those that `Connection` names.
_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
#: Statuses of answers without a body.
_BODILESS: Final = (204, 304)


class ClientLeft(Exception):
    """The client has closed the connection."""


class Incoming:
    """The request of a client while it comes. `note` is called with each piece of its body."""

    def __init__(self, headers: Headers, receive: Receive, note: Note = lambda piece: None) -> None:
        self._receive = receive
        self._note = note
        self._whole = asyncio.Event()
        length = header(headers, b"content-length")
        self.has_body = length not in (None, b"0") or header(headers, b"transfer-encoding") is not None
        if not self.has_body:
            self._whole.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The pieces of the body."""
        more = True
        while more:
            message: Message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            piece, more = message.get("body", b""), message.get("more_body", False)
            self._note(piece)
            if not more:
                self._whole.set()
            if piece:
                yield piece

    async def wait_for_disconnect(self) -> None:
        """Waits until the client has left after its request."""
        await self._whole.wait()
        await wait_for_disconnect(self._receive)

    async def while_connected(self, work: Awaitable[None], lost: asyncio.Future[None] | None = None) -> bool:
        """Does work until it is done, the client leaves, or the other side is `lost`; returns True if it is done.

        Raises what the work raises.
        """
        carrying = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self.wait_for_disconnect())
        ends = {carrying, leaving} if lost is None else {carrying, leaving, lost}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if carrying.done():
                carrying.result()
            return carrying.done()
        finally:
            for task in (carrying, leaving):
                task.cancel()
            await asyncio.gather(carrying, leaving, return_exceptions=True)


async def carry(
    sender: Sender,
    call: HttpCall,
    pieces: AsyncIterator[bytes] | None,
    send: Send,
    *,
    begun: Callable[[int, list[tuple[bytes, bytes]]], None] = lambda status, headers: None,
    note: Note = lambda piece: None,
    more: Headers = (),
    reach: float | None = None,
) -> None:
    """Makes a call, and sends its answer as it comes, with `more` headers; `begun` and `note` see it pass."""
    async with sender.answer(call, pieces, reach) as answer:
        raw = [(name.lower(), value) for name, value in answer.raw_headers]
        begun(answer.status, raw)
        headers = [pair for pair in handed_on(raw) if not (pair[0] == b"content-length" and answer.status in _BODILESS)]
        await send({"type": "http.response.start", "status": answer.status, "headers": [*headers, *more]})
        while piece := await answer.content.readany():
            note(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def handed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers but those of the connection."""
    headers = list(headers)
    named = {
        name.strip().lower() for key, value in headers if key == b"connection" for name in value.split(b",")
    } | _HOP_BY_HOP
    return [pair for pair in headers if pair[0] not in named]


def text(raw: bytes) -> str:
    """A part of a header as the client of HTTP takes it, which sends UTF-8."""
    with contextlib.suppress(UnicodeDecodeError):
        return raw.decode()
    return raw.decode("latin-1")


def causes(error: BaseException | None) -> Iterable[BaseException]:
    """An error and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def was_reset(error: Exception) -> bool:
    """True if the other side has reset its connection."""
    return any(isinstance(cause, ConnectionResetError) for cause in causes(error))
