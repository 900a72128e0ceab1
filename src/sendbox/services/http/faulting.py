"""Faults of the HTTP interfaces as far as they are answers: which rule of `api:` strikes a call, and what it leaves.

What a fault does to the connection is done elsewhere, once the call has been journaled. No fault has a name here.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from sendbox.engine.commands.requests import RequestRecord
from sendbox.engine.faults.calls import Applied, Call
from sendbox.engine.faults.wire import NO_ANSWER, Error
from sendbox.services.http.addressee import addressee
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.engine.world import World

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


def told(record: RequestRecord, applied: Applied) -> None:
    """Leaves in a record that the client got something else than it was meant to."""
    record.fault = applied
    if applied.silent:
        record.status = 0
    if applied.silent or (applied.rule.fault.broken and not applied.rule.effective):
        record.answer = b""
