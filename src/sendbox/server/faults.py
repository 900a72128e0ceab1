"""Faults of the HTTP interfaces, carried out: what the client of a call gets when a rule of `api:` applies to it.

What a fault answers instead is an answer like others (`spoilt`). What it does to the connection is done (`carry_out`)
after the call has been journaled: an answer that takes its time holds up no advance. That time is real, since a
client's timeout is; it ends with the client, with the world's epoch, and with the server. No fault has a name here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from sendbox.engine.faults.calls import Applied, Call
from sendbox.engine.faults.wire import NO_ANSWER, End, Error, Piece, Wait
from sendbox.engine.journal import CODE
from sendbox.engine.requests import RequestRecord
from sendbox.server.wire import Receive, Scope, Send, wire_of
from sendbox.services.http.addressee import addressee
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.runtime.slot import Hosted
    from sendbox.runtime.worlds import Runtime

#: A decision about one call: the fault, None = none; and whether it depended on the order of arrival.
Decision = tuple[Applied | None, bool]
#: How an interface refuses: (status, text) to an answer in its shape.
Refusal = Callable[[int, str], Answer]
NO_FAULT: Final[Decision] = (None, False)


def decide(world: World, operation: str, key: str, path: str, body: bytes, query: bytes, about: str) -> Decision:
    """Asks the rules of a world about a call that came in, before it is handled; `about` is the phone of its path."""
    number: list[str] = []

    def phone() -> str:
        if not number:
            number.append(about or addressee(world, body, query))
        return number[0]

    def content() -> bytes:
        return b"\0".join((key.encode(), path.encode("utf-8", "replace"), query, body))

    fields = {"operation": operation, "key": key, "phone": phone}
    return world.api.strike(Call(fields, phone, content, world.now))


def spoilt(applied: Applied, error: Refusal, answer: Answer | None) -> Answer:
    """What goes back in place of an answer, None where the call had no effect; `error` is that of its interface.

    What has to be done to the connection besides stands in its `fault`.
    """
    if answer is None:
        answer = Answer(200, NO_ANSWER)
    instead = applied.rule.fault.instead(answer.body, applied.wait)
    if isinstance(instead, Error):
        return _error(instead, error)
    if instead is not None:
        return Answer(200, instead.data, answer.content_type, answer.headers)
    answer.fault = applied
    return answer


def _error(given: Error, error: Refusal) -> Answer:
    """An error in the shape of the interface that was called."""
    answer = error(given.status, _phrase(given.status) if given.text is None else given.text)
    headers = ((name.lower().encode(), value.encode()) for name, value in given.headers)
    answer.headers = (*answer.headers, *headers)
    return answer


def _phrase(status: int) -> str:
    """The usual words of a status, as the service writes such texts (`Internal server error`)."""
    try:
        first, *others = HTTPStatus(status).phrase.split()
    except ValueError:
        return f"Status {status}"
    return " ".join((first, *(word if word.isupper() else word.lower() for word in others)))


def note(runtime: Runtime, hosted: Hosted, number: int, decision: Decision) -> None:
    """Journals a decision after the entry `number`, which is its request's, and logs the fault."""
    applied, order_sensitive = decision
    journal = hosted.world.journal
    if order_sensitive:
        journal.mark(number)
    if applied is None:
        return
    entry = journal.add(hosted.world.now, CODE["fault"], applied)
    if order_sensitive:
        journal.mark(entry)
    runtime.log(hosted.world.id, applied.line)


def told(record: RequestRecord, applied: Applied) -> None:
    """Leaves in a record that the client got something else than it was meant to."""
    record.fault = applied
    if applied.silent:
        record.status = 0
    if applied.silent or (applied.rule.fault.broken and not applied.rule.effective):
        record.answer = b""


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
                case End(data):
                    wire.write(data)
                    await wire.end(receive)
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
