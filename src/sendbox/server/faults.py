"""Faults of the HTTP interfaces, carried out: what is done to the connection when a rule of `api:` applies to a call.

It is done after the call has been journaled: an answer that takes its time holds up no advance. That time is real,
since a client's timeout is; it ends with the client, with the world's epoch, and with the server. No fault has a name
here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sendbox.engine.faults.calls import Applied
from sendbox.engine.faults.wire import End, Piece, Wait
from sendbox.server.wire import Receive, Scope, Send, wire_of
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.runtime.slot import Hosted


async def carry_out(
    applied: Applied, answer: Answer, hosted: Hosted, scope: Scope, receive: Receive, send: Send
) -> None:
    """Does to the connection what a fault says; `answer` is what would have come."""
    wire, begun = wire_of(scope), False
    async with _Epoch(hosted) as ended:
        acts = applied.rule.fault.acts(len(answer.body), applied.time)
        for number, act in enumerate(acts, 1):
            match act:
                case Wait(milliseconds):
                    if not await wire.wait(milliseconds, ended, receive):
                        break
                case Piece(begin, end):
                    if not begun:
                        begun = True
                        await _begin(send, answer)
                    await _send(send, answer.body[begin:end], more=number < len(acts))
                case End(data, reset):
                    wire.write(data)
                    await wire.end(receive, reset=reset)
        if ended.done():
            await wire.end(receive)


class _Epoch:
    """While a connection is being spoilt: a future that is done once the world was closed or reset."""

    def __init__(self, hosted: Hosted) -> None:
        self._lingering = hosted.lingering
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> asyncio.Future[None]:
        self._lingering.add(self._ended)
        return self._ended

    async def __aexit__(self, *_: object) -> None:
        self._lingering.discard(self._ended)


async def _begin(send: Send, answer: Answer) -> None:
    """Sends the head of an answer."""
    await send({"type": "http.response.start", "status": answer.status, "headers": _headers(answer)})


async def reply(send: Send, answer: Answer) -> None:
    """Sends an answer whole; on the way of every call, so nothing else is waited for."""
    await send({"type": "http.response.start", "status": answer.status, "headers": _headers(answer)})
    await send({"type": "http.response.body", "body": answer.body})


def _headers(answer: Answer) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", answer.content_type),
        (b"content-length", b"%d" % len(answer.body)),
        *answer.headers,
    ]


async def _send(send: Send, piece: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": more})
