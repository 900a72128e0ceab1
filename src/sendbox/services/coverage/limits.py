"""Limits as coverage counts them: a row each, with a snippet that would try it and the test of a request (§8).

A request that is refused for a limit has touched it as well, so the test reads the body as it came. A limit that no
single request touches, such as a lapse, is counted by the kind of its journal entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from sendbox.engine.coverage import Form, Item
from sendbox.engine.durations import instant
from sendbox.services import limits

#: Operations whose body is a Message, and those whose body is an array of them.
SINGLE_OPERATIONS: Final = frozenset({"sendMessage", "sendPriorityMessage"})
LIST_OPERATION: Final = "sendMessages"

_PHONE: Final = '{"phone_number": "420777000101"}'
_ONE: Final = f'{{"body": "Hello", "to": [{_PHONE}]}}'
_TEN: Final = f'{{"body": "Hello", "to": [{_PHONE}] * {limits.RECIPIENTS}}}'
_MESSAGE: Final = f'POST /v2/message {{"body": "Hello", "to": [{_PHONE}]'
_LONG: Final = f'{{"template_name": "t" * {limits.TEMPLATE_NAME}, "language": "en", "sender": "109876543210987"}}'
_BUTTON: Final = '{"title": "Track", "url": "https://client.example"}'


def _posted(body: str, path: str = "") -> str:
    return f'client.post("/v2/message{path}", json={body})'


class Limit(NamedTuple):
    """A limit. `form` and `snippet` would try it; `touched` says of a call, a message or a step whether it does."""

    name: str
    form: Form
    snippet: str
    touched: Callable[[Any, int], bool] | None = None
    assumed: str | None = None
    section: str = "§8"


#: Of the whole body of a call that sends several messages.
OF_CALLS: Final = (
    Limit(
        f"{limits.MESSAGES} messages a call",
        "python",
        _posted(f"[{_ONE}] * {limits.MESSAGES}", "s"),
        lambda call, _now: len(call) >= limits.MESSAGES,
    ),
    Limit(
        f"{limits.IN_ALL} recipients a call",
        "python",
        _posted(f"[{_TEN}] * {limits.MESSAGES}", "s"),
        lambda call, _now: sum(len(_list(message, "to")) for message in call) >= limits.IN_ALL,
    ),
)
#: Of a message.
OF_RECIPIENTS: Final = Limit(
    f"{limits.RECIPIENTS} recipients a message",
    "python",
    _posted(_TEN),
    lambda message, _now: len(_list(message, "to")) >= limits.RECIPIENTS,
)
OF_TIMES: Final = Limit(
    "scheduled over a minute ahead",
    "request",
    f'{_MESSAGE}, "datetime": "2030-03-01T09:00:00Z"}}',
    lambda message, now: isinstance(message, dict) and _instant(message.get("datetime"), now) > now + limits.SOON,
)
#: Of what a message and a step of its flow have in common, and of what only a step has.
OF_STEPS: Final = (
    Limit(
        f"body of {limits.BODY} characters",
        "python",
        _posted(_ONE.replace('"Hello"', f'"x" * {limits.BODY}')),
        lambda step, _now: isinstance(step.get("body"), str) and len(step["body"]) >= limits.BODY,
    ),
    Limit(
        f"sender of {limits.SENDER} characters",
        "request",
        f'{_MESSAGE}, "sender": "ElevenChars"}}',
        lambda step, _now: (
            isinstance(step.get("sender"), str)
            and len(step["sender"]) >= limits.SENDER
            and not step["sender"].isdecimal()
        ),
    ),
    Limit(
        f"ttl of {limits.TTL} minutes",
        "request",
        f'{_MESSAGE}, "flow": [{{"sms": {{"ttl": {limits.TTL}}}}}]}}',
        lambda step, _now: isinstance(step.get("ttl"), int | float) and step["ttl"] <= limits.TTL,
    ),
    Limit(
        f"{limits.BUTTONS} button",
        "request",
        f'{_MESSAGE}, "flow": [{{"richmsg": {{"sender": "Acme", "buttons": [{_BUTTON}]}}}}]}}',
        lambda step, _now: len(_list(step, "buttons")) >= limits.BUTTONS,
    ),
    Limit(
        f"template_name of {limits.TEMPLATE_NAME} characters",
        "python",
        _posted(f'{{"to": [{_PHONE}], "flow": [{{"chatapp_template": {_LONG}}}]}}'),
        lambda step, _now: (
            isinstance(step.get("template_name"), str) and len(step["template_name"]) >= limits.TEMPLATE_NAME
        ),
    ),
)
#: Of what happens later, and of what other interfaces hold.
MEDIA: Final = Limit("media over its size", "python", "client.create_template(image=bytes(6 * 1024 * 1024))")
CODE: Final = Limit("Verify code not of 6 digits", "request", 'POST /v1/validations/TOKEN/verify {"code": "12345"}')
EDITS: Final = Limit(
    "edits of an approved template", "python", "for _ in range(2): client.edit_template(approved)", None, "A42", "§4.3"
)
OTHERS: Final = (
    Limit("short link expired after 7 days", "python", 'sendbox.advance("7d")'),
    Limit("upload address expired after 60 s", "python", 'sendbox.advance("60s")'),
    Limit("signup token expired after 1 hour", "python", 'sendbox.advance("1h")'),
    Limit(
        f"{limits.ATTEMPTS} Verify attempts",
        "python",
        f'for _ in range({limits.ATTEMPTS}): client.verify(token, "000000")',
    ),
    Limit("Verify session expired after 10 minutes", "python", 'sendbox.advance("10m")'),
    CODE,
    EDITS,
    Limit("Verify sessions of the account", "scenario", "verify: {limits: {account: 1/1m}}", None, "A53"),
    Limit("Verify sessions of a number", "scenario", "verify: {limits: {number: 1/10m}}", None, "A53"),
    Limit("conversation closed after 24 hours", "python", 'sendbox.advance("24h")', None, "A66", "§2.2"),
)
#: Every limit, in the order of a report.
ALL: Final = (OF_RECIPIENTS, *OF_CALLS, *OF_STEPS, MEDIA, OF_TIMES, *OTHERS)
ITEMS: Final = tuple(Item("limits", row.name, row.section, row.form, row.snippet, row.assumed) for row in ALL)


def limits_of(operation: str, request: object, now: int) -> Iterator[str]:
    """The names of the limits that a request parsed at `now` touches, each once for each place that does."""
    if operation in SINGLE_OPERATIONS:
        yield from _message(request, now)
    elif operation == LIST_OPERATION and isinstance(request, list):
        yield from _touched(OF_CALLS, request, now)
        for message in request:
            yield from _message(message, now)


def _touched(rows: tuple[Limit, ...], subject: object, now: int) -> Iterator[str]:
    return (row.name for row in rows if row.touched is not None and row.touched(subject, now))


def _message(message: object, now: int) -> Iterator[str]:
    yield from _touched((OF_RECIPIENTS,), message, now)
    yield from _step(message, now)
    yield from _touched((OF_TIMES,), message, now)
    for element in _list(message, "flow"):
        for step in element.values() if isinstance(element, dict) else ():
            yield from _step(step, now)


def _step(step: object, now: int) -> Iterator[str]:
    return _touched(OF_STEPS, step, now) if isinstance(step, dict) else iter(())


def _instant(text: object, now: int) -> int:
    """When a message is to be sent; at once where that cannot be read."""
    for zone in ("", "Z"):
        try:
            return instant(f"{text}{zone}")
        except ValueError:
            continue
    return now


def _list(value: object, name: str) -> list[object]:
    items = value.get(name) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []
