"""Why a rule's conditions do not hold: the tracing sibling of `rules.holds`, asked when somebody wants to know.

A table by field of `When`, total by a test. For every rule and every attempt there is no difference exactly when
`holds` says so; `nth` is no condition of the attempt but of the world's memory, and is looked up there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import orjson

from sendbox.engine.patterns import Pattern
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.rules.history import After, holds
from sendbox.services.messaging.rules.rules import Ask, When


def differences(when: When, ask: Ask) -> list[str]:
    """Each condition that does not hold, `field: value, what was wanted`; empty when all but `nth` hold."""
    found = []
    for name, difference in DIFFERENCES.items():
        wanted = getattr(when, name)
        why = None if wanted is None else difference(wanted, ask)
        if why is not None:
            found.append(f"{name}: {why}")
    return found


def _pattern(name: str) -> Callable[[Pattern, Ask], str | None]:
    def difference(wanted: Pattern, ask: Ask) -> str | None:
        value = getattr(ask, name)
        return None if wanted.matches(value) else f"{_quoted(value)} does not match {_quoted(wanted.text)}"

    return difference


def _word(name: str) -> Callable[[tuple[str, ...], Ask], str | None]:
    def difference(wanted: tuple[str, ...], ask: Ask) -> str | None:
        value = getattr(ask, name)
        return None if value in wanted else f"{value} is not {' or '.join(wanted)}"

    return difference


def _phone(wanted: Pattern, ask: Ask) -> str | None:
    return None if wanted.matches(ask.phone) else f"{ask.phone} does not match {_quoted(wanted.text)}"


def _tag(wanted: Pattern, ask: Ask) -> str | None:
    if any(map(wanted.matches, ask.tags)):
        return None
    tags = f"none of {', '.join(map(_quoted, ask.tags))} matches" if ask.tags else "there is no tag, wanted"
    return f"{tags} {_quoted(wanted.text)}"


def _attempt(wanted: int, ask: Ask) -> str | None:
    return None if wanted == ask.attempt else f"this is attempt {ask.attempt}, wanted attempt {wanted}"


def _payload(wanted: tuple[tuple[tuple[str, ...], object], ...], ask: Ask) -> str | None:
    found = []
    payload = ask.payload()
    for path, expected in wanted:
        value: Any = payload
        for name in path:
            if not isinstance(value, dict) or name not in value:
                found.append(f"{'.'.join(path)} is not there, wanted {_quoted(expected)}")
                break
            value = value[name]
        else:
            if isinstance(expected, Pattern):
                if not (isinstance(value, str) and expected.matches(value)):
                    found.append(f"{'.'.join(path)} is {_quoted(value)}, which does not match {_quoted(expected)}")
            elif type(value) is not type(expected) or value != expected:
                found.append(f"{'.'.join(path)} is {_quoted(value)}, wanted {_quoted(expected)}")
    return "; ".join(found) or None


def _in_memory(_wanted: int, _ask: Ask) -> None:
    """Not the attempt's: `services/messaging/rules/explain.py` looks it up in the world's memory."""


def _after(wanted: After, ask: Ask) -> str | None:
    found = []
    if not holds(After(message=wanted.message), ask):
        earlier = None if ask.earlier is None else ask.earlier(ask.phone, ask.ordinal)
        stood = None if earlier is None else earlier.result_at(ask.now)
        was = "there is no message before this one" if stood is None else f"the message before is {stood}"
        found.append(f"{was}, wanted one that is {' or '.join(wanted.message or ())}")
    if not holds(replace(wanted, message=None), ask):
        before = []
        attempt = ask.before
        while attempt is not None:
            before.append(f"{attempt.step.channel} {STATES[attempt.state_at(ask.now)]}")
            attempt = attempt.previous
        asked = [" or ".join(words) for words in (wanted.channel, wanted.result) if words]
        if wanted.info is not None:
            asked.append(f"with an info like {_quoted(wanted.info)}")
        were = f"the attempts before are {', '.join(before[::-1])}" if before else "there is no attempt before this one"
        found.append(f"{were}, wanted one {' '.join(asked)}")
    return "; ".join(found) or None


def _quoted(value: object) -> str:
    return orjson.dumps(value.text if isinstance(value, Pattern) else value).decode()


DIFFERENCES: Final[dict[str, Callable[[Any, Ask], str | None]]] = {
    "channel": _word("channel"),
    "phone": _phone,
    "tag": _tag,
    "body": _pattern("body"),
    "sender": _pattern("sender"),
    "operation": _word("operation"),
    "attempt": _attempt,
    "nth": _in_memory,
    "key": _pattern("key"),
    "payload": _payload,
    "after": _after,
}
