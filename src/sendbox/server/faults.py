"""Faults of the HTTP interfaces, carried out: what the client of a call gets when a rule of `api:` applies to it.

An error, truncated JSON and too many calls are answers like others (`spoilt`). The rest is done to the connection
(`carry_out`), after the call has been journaled: an answer that is late, hangs or trickles holds up no advance. Its
time is real, since a client's timeout is; it ends with the client, with the world's epoch, and with the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from sendbox.engine.faults.calls import ApiCall, Applied
from sendbox.engine.journal import CODE
from sendbox.engine.requests import RequestRecord
from sendbox.server.wire import Receive, Scope, Send, Wire, wire_of
from sendbox.services.http.addressee import addressee
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.runtime.slot import Hosted
    from sendbox.runtime.worlds import Runtime

#: What a client gets that speaks HTTP to something else.
GARBAGE: Final = b"\x00\x15\xff\xfe this is no HTTP \x80\x81\r\n\r\n"
#: What is cut short where a call that had no effect left no answer.
_NEVER: Final = b'{"request_id":"00000000-0000-4000-8000-000000000000","accepted":[]}'
#: So many pieces an answer trickles in, where it has so many bytes.
PIECES: Final = 20

#: A decision about one call: the fault, None = none; and whether it depended on the order of arrival.
Decision = tuple[Applied | None, bool]
#: How an interface refuses: (status, text) to an answer in its shape.
Refusal = Callable[[int, str], Answer]
NO_FAULT: Final[Decision] = (None, False)


def decide(
    world: World, operation: str, key: str, path: str, body: bytes, query: bytes, params: Mapping[str, str]
) -> Decision:
    """Asks the rules of a world about a call that came in, before it is handled."""
    number: list[str] = []

    def phone() -> str:
        if not number:
            number.append(addressee(world, body, query, params))
        return number[0]

    def content() -> bytes:
        return b"\0".join((key.encode(), path.encode("utf-8", "replace"), query, body))

    return world.api.decide(ApiCall(operation, key, content, phone, world.now, world.start))


def spoilt(applied: Applied, error: Refusal, answer: Answer | None) -> Answer:
    """What goes back in place of an answer, None where the call had no effect; `error` is that of its interface.

    What has to be done to the connection besides stands in its `fault`.
    """
    fault = applied.rule.fault
    if fault.kind in ("status", "rate_limit"):
        return _error(applied, error)
    if answer is None:
        answer = Answer(200, _NEVER)
    if fault.kind == "bad_json":
        return Answer(200, _cut(answer.body), answer.content_type, answer.headers)
    answer.fault = applied
    return answer


def _error(applied: Applied, error: Refusal) -> Answer:
    """An error in the shape of the interface that was called."""
    fault = applied.rule.fault
    status = fault.status or HTTPStatus.TOO_MANY_REQUESTS.value
    answer = error(status, _phrase(status) if fault.message is None else fault.message)
    headers = [(name.lower().encode(), value.encode()) for name, value in fault.headers]
    if applied.wait:
        headers.append((b"retry-after", b"%d" % -(-applied.wait // 1000)))
    answer.headers = (*answer.headers, *headers)
    return answer


def _phrase(status: int) -> str:
    """The usual words of a status, as the service writes such texts (`Internal server error`)."""
    try:
        first, *others = HTTPStatus(status).phrase.split()
    except ValueError:
        return f"Status {status}"
    return " ".join((first, *(word if word.isupper() else word.lower() for word in others)))


def _cut(body: bytes) -> bytes:
    """The first half; JSON that is cut there is none any more."""
    return body[: max(1, len(body) // 2)] or _NEVER[: len(_NEVER) // 2]


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
    if applied.silent or (applied.rule.fault.middle and not applied.rule.effective):
        record.answer = b""


async def carry_out(
    applied: Applied, answer: Answer, hosted: Hosted, scope: Scope, receive: Receive, send: Send
) -> None:
    """Does to the connection what a fault says; `answer` is what would have come."""
    fault, wire = applied.rule.fault, wire_of(scope)
    async with _Epoch(hosted) as ended:
        match fault.kind:
            case "delay":
                if await wire.wait(applied.time, ended, receive):
                    await reply(send, answer)
            case "trickle":
                await _trickle(answer, applied.time, wire, ended, receive, send)
            case "timeout":
                await wire.wait(None, ended, receive)
            case "garbage":
                wire.write(GARBAGE)
                await wire.end(receive)
            case _:
                if fault.middle and answer.body:  # an answer without a body has no middle
                    await begin(send, answer)
                    await _send(send, answer.body[: len(answer.body) // 2], more=True)
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


async def _trickle(
    answer: Answer, time: int, wire: Wire, ended: asyncio.Future[None], receive: Receive, send: Send
) -> None:
    """The head at once, the body in pieces over the time."""
    size = len(answer.body)
    pieces = max(1, min(PIECES, size))
    await begin(send, answer)
    for number in range(pieces):
        gap = (number + 1) * time // pieces - number * time // pieces
        if not await wire.wait(gap, ended, receive):
            return
        piece = answer.body[number * size // pieces : (number + 1) * size // pieces]
        await _send(send, piece, more=number + 1 < pieces)


async def begin(send: Send, answer: Answer) -> None:
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


async def _send(send: Send, piece: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": more})
