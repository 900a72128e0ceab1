"""Which limits a request touches: what it holds that is at a bound of the specification, or over it (§8).

A request that is refused for it has touched the limit as well, so what is looked at is the body as it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sendbox.engine.durations import instant

RECIPIENTS: Final = 10
MESSAGES: Final = 10
IN_ALL: Final = 100
BODY: Final = 1000
SENDER: Final = 11
TTL: Final = 0.5
BUTTONS: Final = 1
TEMPLATE_NAME: Final = 100
#: A message that is to be sent later than so far ahead is scheduled, in milliseconds.
SOON_MS: Final = 60_000

#: Operations whose body is a Message, and those whose body is an array of them.
ONE: Final = frozenset({"sendMessage", "sendPriorityMessage"})
SEVERAL: Final = "sendMessages"


def limits_of(operation: str, request: Any, now: int) -> Iterator[str]:
    """The names of the limits that a request parsed at `now` touches, each once for each place that does."""
    if operation in ONE:
        yield from _message(request, now)
    elif operation == SEVERAL and isinstance(request, list):
        if len(request) >= MESSAGES:
            yield "10 messages a call"
        if sum(len(_list(each, "to")) for each in request) >= IN_ALL:
            yield "100 recipients a call"
        for each in request:
            yield from _message(each, now)


def _message(message: Any, now: int) -> Iterator[str]:
    if len(_list(message, "to")) >= RECIPIENTS:
        yield "10 recipients a message"
    yield from _step(message)
    if isinstance(message, dict) and _instant(message.get("datetime"), now) > now + SOON_MS:
        yield "scheduled over a minute ahead"
    for element in _list(message, "flow"):
        for step in element.values() if isinstance(element, dict) else ():
            yield from _step(step)


def _step(step: Any) -> Iterator[str]:
    """What a message and a step of its flow have in common, and what only a step has."""
    if not isinstance(step, dict):
        return
    body, sender, ttl, name = (step.get(field) for field in ("body", "sender", "ttl", "template_name"))
    if isinstance(body, str) and len(body) >= BODY:
        yield "body of 1000 characters"
    if isinstance(sender, str) and len(sender) >= SENDER and not sender.isdecimal():
        yield "sender of 11 characters"
    if isinstance(ttl, int | float) and ttl <= TTL:
        yield "ttl of 0.5 minutes"
    if len(_list(step, "buttons")) >= BUTTONS:
        yield "1 button"
    if isinstance(name, str) and len(name) >= TEMPLATE_NAME:
        yield "template_name of 100 characters"


def _instant(given: Any, now: int) -> int:
    """When a message is to be sent; at once where that cannot be read."""
    for zone in ("", "Z"):
        try:
            return instant(f"{given}{zone}")
        except ValueError:
            continue
    return now


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
