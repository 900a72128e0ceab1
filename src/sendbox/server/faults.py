"""Faults of the HTTP interfaces, carried out: what is done to the connection when a rule of `api:` applies to a call.

It is done after the call has been journaled: an answer that takes its time holds up no advance. That time is real,
since a client's timeout is; it ends with the client, with the world's epoch, and with the server. No fault has a name
here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from sendbox.engine.faults.fault import End, Piece, Wait
from sendbox.server.wire import wire_of

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from sendbox.engine.faults.calls import Applied
    from sendbox.runtime.slot import HostedWorld
    from sendbox.services.http.exchange import Answer

#: The first lines of answers.
_STATUS: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


async def carry_out(
    applied: Applied, answer: Answer, hosted: HostedWorld, scope: Scope, receive: Receive, send: Send
) -> None:
    """Does to the connection what a fault says; `answer` is what would have come."""
    wire, begun = wire_of(scope), False
    with _lingering(hosted) as ended:
        acts = applied.rule.fault.acts(len(answer.body), applied.time)
        for number, act in enumerate(acts, 1):
            match act:
                case Wait(milliseconds):
                    if not await wire.wait(milliseconds, ended, receive):
                        break
                case Piece(begin, end):
                    if not begun:
                        begun = True
                        await send(_head(answer))
                    more = number < len(acts)
                    await send({"type": "http.response.body", "body": answer.body[begin:end], "more_body": more})
                case End(data, reset):
                    wire.write(data)
                    await wire.end(receive, reset=reset)
        if ended.done():
            await wire.end(receive)


@contextlib.contextmanager
def _lingering(hosted: HostedWorld) -> Iterator[asyncio.Future[None]]:
    """While a fault uses a connection: a future that is done once the world was closed or reset."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    hosted.lingering.add(ended)
    try:
        yield ended
    finally:
        hosted.lingering.discard(ended)


async def reply(send: Send, answer: Answer) -> None:
    """Sends an answer whole; every call comes here, so it does not wait for anything else."""
    await send(_head(answer))
    await send({"type": "http.response.body", "body": answer.body})


def written(answer: Answer, *, close: bool) -> bytes:
    """An answer whole, as it goes out over HTTP/1.1; with `close` the connection ends after it."""
    head = [
        b"%bcontent-type: %b\r\ncontent-length: %d\r\n"
        % (_STATUS[answer.status], answer.content_type, len(answer.body))
    ]
    head += [b"%b: %b\r\n" % pair for pair in answer.headers]
    head.append(b"connection: close\r\n\r\n" if close else b"\r\n")
    return b"".join((*head, answer.body))


def _head(answer: Answer) -> Message:
    length = b"%d" % len(answer.body)
    headers = [(b"content-type", answer.content_type), (b"content-length", length), *answer.headers]
    return {"type": "http.response.start", "status": answer.status, "headers": headers}
