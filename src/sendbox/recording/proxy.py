"""The proxy: hands calls on to the service, and webhooks to the client, as they come.

A body is not held until it is whole, in either direction; only a request in which an address for webhooks may have to
be replaced is. The proxy answers nothing itself: where the service has no answer, the connection ends without one, as
it would have for the client, and a line says why.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Final

from sendbox.recording.callbacks import PATH, Callbacks
from sendbox.recording.exchange import MAX_BODY, Body, Exchange
from sendbox.runtime import wall
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender, failure
from sendbox.server.wire import wait_for_disconnect, wire_of
from sendbox.services.http.exchange import header

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from sendbox.recording.exchange import Headers
    from sendbox.recording.recorder import Recorder

#: Connections, and so calls, at once; further ones are answered with 503.
MAX_CONNECTIONS: Final = 1_000
#: Headers of one connection, which are not handed on, beside those that `Connection` names.
_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
#: Headers that are about the way of a request to its server.
_OF_THE_WAY: Final = frozenset({b"host", b"expect"})
#: Statuses of answers without a body.
_BODILESS: Final = (204, 304)


class _ClientLeft(Exception):
    """The client has closed the connection."""


class Proxy:
    """An ASGI application in front of the service at the origin `to`."""

    def __init__(self, to: str, sender: Sender, recorder: Recorder, callbacks: Callbacks | None = None) -> None:
        self._to = to
        self._sender = sender
        self._recorder = recorder
        self._callbacks = callbacks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a call on."""
        path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
        url = f"{self._to}{path}{f'?{query}' if query else ''}"
        webhook = self._callbacks is not None and path.startswith(PATH)
        if webhook and self._callbacks is not None:
            target = self._callbacks.original(path, query)
            if target is None:
                self._recorder.say(f"{scope['method']} {path} is no address that this recorder gave out")
                await wire_of(scope).end(receive)
                return
            url = target
        budget = self._recorder.budget
        exchange = Exchange(
            at=wall.now_ms(),
            method=scope["method"],
            url=url,
            headers=scope["headers"],
            body=Body(budget),
            answer=Body(budget),
            webhook=webhook,
            begun=wall.monotonic_ns(),
        )
        try:
            await self._hand_on(exchange, scope, receive, send)
        finally:
            exchange.took = (wall.monotonic_ns() - exchange.begun) // 1_000_000
            self._recorder.add(exchange)

    async def _hand_on(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        """Carries the request there and the answer back, until one of the two sides leaves."""
        incoming = _Incoming(exchange, receive)
        carrying = asyncio.ensure_future(self._carry(exchange, incoming, send))
        leaving = asyncio.ensure_future(incoming.wait_for_disconnect())
        try:
            await asyncio.wait({carrying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if carrying.done():
                carrying.result()
            else:
                exchange.status, exchange.error = 0, "the client closed the connection"
        except Exception as error:  # whatever the service did, the client sees the same
            why = _explain(error)
            exchange.status, exchange.error = 0, why
            self._recorder.say(f"{exchange.method} {exchange.url.partition('?')[0]} has no whole answer: {why}")
            leaving.cancel()
            await wire_of(scope).end(receive, reset=_was_reset(error))
        finally:
            for task in (carrying, leaving):
                task.cancel()
            await asyncio.gather(carrying, leaving, return_exceptions=True)

    async def _carry(self, exchange: Exchange, incoming: _Incoming, send: Send) -> None:
        call, pieces = await self._outgoing(exchange, incoming)
        async with self._sender.answer(call, pieces) as answer:
            raw = [(name.lower(), value) for name, value in answer.raw_headers]
            exchange.status, exchange.answer_headers = answer.status, raw
            headers = [
                pair for pair in _handed_on(raw) if not (pair[0] == b"content-length" and answer.status in _BODILESS)
            ]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            while piece := await answer.content.readany():
                exchange.answer.add(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _outgoing(self, exchange: Exchange, incoming: _Incoming) -> tuple[HttpCall, AsyncIterator[bytes] | None]:
        """The request as it goes out, and the pieces of its body if they are still to come."""
        headers = [pair for pair in _handed_on(exchange.headers) if pair[0] not in _OF_THE_WAY]
        url, body, pieces = exchange.url, b"", incoming.pieces() if incoming.has_body else None
        if self._callbacks is not None and not exchange.webhook:
            path, mark, query = url.partition("?")
            url = f"{path}{mark}{self._callbacks.replace_parameters(query)}"
            length = header(exchange.headers, b"content-length")
            if pieces is not None and int(length or MAX_BODY) < MAX_BODY and not header(headers, b"content-encoding"):
                raw = b"".join([piece async for piece in pieces])
                body, pieces = self._callbacks.replace(raw), None
                headers = [pair for pair in headers if pair[0] != b"content-length"]
                headers.append((b"content-length", b"%d" % len(body)))
        return HttpCall(exchange.method, url, [(_text(name), _text(value)) for name, value in headers], body), pieces


class _Incoming:
    """The request of a client while it comes."""

    def __init__(self, exchange: Exchange, receive: Receive) -> None:
        self._exchange = exchange
        self._receive = receive
        self._whole = asyncio.Event()
        length = header(exchange.headers, b"content-length")
        self.has_body = length not in (None, b"0") or header(exchange.headers, b"transfer-encoding") is not None
        if not self.has_body:
            self._whole.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The pieces of the body."""
        more = True
        while more:
            message: Message = await self._receive()
            if message["type"] == "http.disconnect":
                raise _ClientLeft
            piece, more = message.get("body", b""), message.get("more_body", False)
            self._exchange.body.add(piece)
            if not more:
                self._whole.set()
            if piece:
                yield piece

    async def wait_for_disconnect(self) -> None:
        """Waits until the client has left after its request."""
        await self._whole.wait()
        await wait_for_disconnect(self._receive)


def _handed_on(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    """The headers but those of the connection."""
    named = {
        name.strip().lower() for key, value in headers if key == b"connection" for name in value.split(b",")
    } | _HOP_BY_HOP
    return [pair for pair in headers if pair[0] not in named]


def _text(raw: bytes) -> str:
    """A part of a header as the client of HTTP takes it, which sends UTF-8."""
    with contextlib.suppress(UnicodeDecodeError):
        return raw.decode()
    return raw.decode("latin-1")


def _causes(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _was_reset(error: Exception) -> bool:
    return any(isinstance(cause, ConnectionResetError) for cause in _causes(error))


def _explain(error: Exception) -> str:
    """The reason why a call has no answer: a word, and what the client of HTTP says."""
    if any(isinstance(cause, _ClientLeft) for cause in _causes(error)):
        return "the client closed the connection"
    return f"{failure(error)} ({str(error) or type(error).__name__})"
