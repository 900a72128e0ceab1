"""Faults of the HTTP interfaces as far as they are answers: the rule of `api:` that applies, and its answer.

What a fault does to the connection is done elsewhere, once the call has been journaled. No fault is named here.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from sendbox.engine.commands.command import Call
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.faults.calls import Applied
from sendbox.engine.faults.calls import Call as Asking
from sendbox.engine.faults.fault import NO_ANSWER, Error, Whole
from sendbox.engine.world import World
from sendbox.services.http.exchange import Answer, Refusal, header
from sendbox.services.http.numbers import addressee
from sendbox.services.operations import CALLS

#: A decision about one call: the fault, None = none; and whether it depended on the order of arrival.
Decision = tuple[Applied | None, bool]
NO_FAULT: Final[Decision] = (None, False)
#: A `Retry-After` of more digits lies behind the end of time.
_DIGITS: Final = 12


def decide(world: World, operation: str, call: Call, body: bytes, about: str) -> Decision:
    """Asks the rules of a world about a call that came in, before it is handled; `about` is the phone of its path."""
    query = call.query
    number: list[str] = []

    def phone() -> str:
        if not number:
            number.append(about or addressee(world, body, query))
        return number[0]

    def content() -> bytes:
        return b"\0".join((call.key.encode(), call.path.encode("utf-8", "replace"), query, body))

    fields = {
        "operation": operation,
        "path": call.path,
        "method": call.method,
        "key": call.key,
        "phone": phone,
        "headers": call.headers,
    }
    return world.api.strike(Asking(fields, phone, content, world.now), served=operation in CALLS)


def spoil_answer(applied: Applied, error: Refusal, answer: Answer | None) -> Answer:
    """The answer that replaces another one (None if the call had no effect); `error` is that of its interface.

    A fault that acts on the connection stands in the answer's `fault`; one with `replacement` does not act on it.
    """
    if answer is None:
        answer = Answer(200, NO_ANSWER)
    replacement = applied.rule.fault.replacement(answer.body, applied.wait)
    if isinstance(replacement, Error):
        return _error(replacement, error)
    if isinstance(replacement, Whole):
        return Answer(
            replacement.status, replacement.data, replacement.content_type.encode(), _headers(replacement.headers)
        )
    if replacement is not None:
        return Answer(200, replacement.data, answer.content_type, answer.headers)
    answer.fault = applied
    return answer


def _error(replacement: Error, error: Refusal) -> Answer:
    """An error in the shape of the interface that was called."""
    answer = error(replacement.status, _phrase(replacement.status) if replacement.text is None else replacement.text)
    answer.headers = (*answer.headers, *_headers(replacement.headers))
    return answer


def _headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.lower().encode(), value.encode()) for name, value in headers)


def _phrase(status: int) -> str:
    """The usual words of a status, as the service writes such texts (`Internal server error`)."""
    try:
        first, *others = HTTPStatus(status).phrase.split()
    except ValueError:
        return f"Status {status}"
    return " ".join((first, *(word if word.isupper() else word.lower() for word in others)))


def retry_at(answer: Answer, now: int) -> int | None:
    """The instant from which an answer asks the client to call again; None if it has no legal `Retry-After`."""
    value = (header(answer.headers, b"retry-after") or b"").strip()
    return now + int(value) * 1000 if value.isdigit() and len(value) <= _DIGITS else None


def note_fault(record: RequestRecord, applied: Applied) -> None:
    """Notes in a record that the client got another answer than the handler gave."""
    record.fault = applied
    status = 0 if applied.silent else record.status
    if applied.silent or (applied.rule.fault.broken and not applied.rule.has_effect):
        record.answered(status, b"")
