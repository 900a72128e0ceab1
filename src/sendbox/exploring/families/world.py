"""Families `account`, `time` and `assumptions`: the state, the clock or a setting of the world is another one.

What messages need is taken from the account, the world begins at an awkward hour, a code expires at the end of an
advance, or a setting of an assumption on which the run rests has another value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final

import orjson

from sendbox.control.replicas.leaning import Alternative
from sendbox.engine.answer import JsonObject
from sendbox.exploring.census import Census, ObservedAttempt, ObservedMessage, ObservedMove, Session
from sendbox.exploring.misfortune import (
    ANY_TIME,
    Kind,
    Spot,
    Value,
    about_message,
    about_session,
    duration_text,
    ordinal,
    spread_out,
)
from sendbox.services.messaging.channels import FAMILY
from sendbox.services.settings import SETTINGS

#: Millionths of a unit of money.
_MILLION: Final = 1_000_000
#: The greatest number of places at which the credit may end within the messages of one instant.
_MAX_CREDIT_ENDS: Final = 20
#: States of a template in which it cannot be used, and of a business number in which it cannot send.
_TEMPLATE: Final = ("PAUSED", "DISABLED")
_NUMBER: Final = "RESTRICTED"


def _happens(at: int, **fields: object) -> JsonObject:
    """An entry of the timeline comes before what else happens at its instant."""
    return {"timeline": [{"at": duration_text(at), **fields}]}


def _attempts(world: Census) -> Iterator[tuple[ObservedMessage, ObservedAttempt]]:
    return ((message, attempt) for message in world.messages for attempt in message.attempts)


def _credit(kind: Kind, world: Census) -> Iterator[Spot]:
    """The credit has ended before anything of an instant is paid, or ends behind one of the messages."""
    for at, payments in groupby(world.charged, itemgetter(0)):
        paid = [amount for _, amount in payments]
        values = [_suffices(at, paid, count) for count in spread_out(range(len(paid)), _MAX_CREDIT_ENDS)]
        place = f"the credit of the account at {duration_text(at)}"
        yield from kind.at(world, place, "account", values)


def _suffices(at: int, paid: Sequence[int], count: int) -> Value:
    """The credit suffices for exactly so many of the payments of an instant."""
    left = sum(paid[:count]) / _MILLION
    says = f"suffices for {count} of {len(paid)} messages" if count else "has ended"
    return Value(says, _happens(at, account={"credit": {"eur": left, "czk": left}}))


def _used(
    kind: Kind, world: Census, subject: str, message: ObservedMessage, attempt: ObservedAttempt, *values: Value
) -> Iterator[Spot]:
    """A spot at something that an attempt uses."""
    return kind.at(world, f"{subject} at {duration_text(attempt.at)}", about_message(message), values)


def _once(spots: Callable[[Kind, Census], Iterator[Spot]]) -> Callable[[Kind, Census], Iterator[Spot]]:
    """Each place once: several messages of one instant use the same thing."""
    return lambda kind, world: iter({spot.place: spot for spot in spots(kind, world)}.values())


@_once
def _sender(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, attempt in _attempts(world):
        withdrawn = (FAMILY[attempt.channel], attempt.sender)
        if withdrawn not in world.senders:
            continue
        left: dict[str, list[str]] = {family: [] for family, _ in world.senders}
        for family, sender in world.senders:
            if (family, sender) != withdrawn:
                left[family].append(sender)
        value = Value("is withdrawn", _happens(attempt.at, account={"senders": left}))
        yield from _used(kind, world, f"the {withdrawn[0]} sender {attempt.sender}", message, attempt, value)


@_once
def _number(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, attempt in _attempts(world):
        if attempt.number:
            change = {"phone_number": attempt.number, "status": _NUMBER}
            value = Value(f"is {_NUMBER.lower()}", _happens(attempt.at, number=change))
            yield from _used(kind, world, f"the business number {attempt.number}", message, attempt, value)


@_once
def _template(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, attempt in _attempts(world):
        if attempt.template is None:
            continue
        name, language = attempt.template
        change = {"name": name, "language": language}
        values = [
            Value(f"is {status.lower()}", _happens(attempt.at, template={**change, "status": status}))
            for status in _TEMPLATE
        ]
        yield from _used(kind, world, f"the template {name} ({language})", message, attempt, *values)


#: Instants with what happens a second later: midnights, and all awkward hours at which a world may begin.
MIDNIGHTS: Final = (
    ("2026-03-09T23:59:59Z", "midnight in UTC"),
    ("2026-03-09T22:59:59Z", "midnight in Prague"),
)
STARTS: Final = (
    *MIDNIGHTS,
    ("2026-04-30T23:59:59Z", "the end of a month"),
    ("2026-12-31T23:59:59Z", "the end of a year"),
    ("2028-02-28T23:59:59Z", "the day of a leap year"),
    ("2026-03-29T00:59:59Z", "clocks in Europe go forward"),
    ("2026-10-25T00:59:59Z", "clocks in Europe go back"),
    ("2026-10-24T23:59:59Z", "the hour begins that Europe has twice"),
    ("2026-03-08T06:59:59Z", "clocks in New York go forward"),
    ("2026-11-01T05:59:59Z", "clocks in New York go back"),
)


#: Ends of an advance beyond the end of a code: milliseconds after it.
_AROUND: Final = ((0, "at the instant when"), (1, "a millisecond after"), (-1, "a millisecond before"))


def _start(kind: Kind, world: Census) -> Iterator[Spot]:
    values = [
        Value(f"is {instant}, a second before {moment}", {"clock": {"start": instant}}) for instant, moment in STARTS
    ]
    yield from kind.at(world, "the start of the world", "time", values, phone=ANY_TIME)


def _expiry(kind: Kind, world: Census) -> Iterator[Spot]:
    for session in world.sessions:
        for move in world.moves:
            values = _ends(world, session, move)
            yield from kind.at(world, f"the {ordinal(move.ordinal)} advance", about_session(session), values)


def _ends(world: Census, session: Session, move: ObservedMove) -> Iterator[Value]:
    """Other ends of an advance: nothing else may happen between that end and its own."""
    expires = session.expires
    whose = f"the {ordinal(session.ordinal)} code of {session.phone}"
    if session.verified is not None and session.verified < move.ended:
        return
    if move.began < expires < move.ended:
        for end, when in _AROUND:
            if expires + end < move.ended and _quiet(world, expires, move.ended):
                yield _moved(move, expires + end, f"ends {when} {whose} expires")
    elif session.at <= move.ended < expires - 1 and _quiet(world, move.ended, expires):
        yield _moved(move, expires - 1, f"ends a millisecond before {whose} expires")


def _quiet(world: Census, first: int, last: int) -> bool:
    """True if nothing happens between two instants, both excluded."""
    return not any(first < at < last for at in world.happened)


def _moved(move: ObservedMove, end: int, says: str) -> Value:
    part: JsonObject = {"advances": [{"advance": move.ordinal, "to": duration_text(end)}]}
    return Value(says, {"found": part})


def _other_value(kind: Kind, world: Census) -> Iterator[Spot]:
    """The kind has the name of the setting."""
    values = [_value(other) for other in world.others if other.setting == kind.name]
    place = f"the setting {kind.name} ({kind.cites[0]})"
    yield from kind.at(world, place, place, values)


def _value(other: Alternative) -> Value:
    text = other.value if isinstance(other.value, str) else orjson.dumps(other.value).decode()
    return Value(f"is {text}", {"assume": {other.setting: other.value}})


_of_account = partial(Kind, "account")
_of_time = partial(Kind, "time")
_of_assumptions = partial(Kind, "assumptions")
#: The kinds of the three families, in the order of the documentation.
KINDS: Final = (
    _of_account(
        "credit",
        ("§1", "§3.1", "A61"),
        "A message for which the credit does not suffice is rejected with `[307]`, is not sent, and costs nothing.",
        _credit,
    ),
    _of_account(
        "sender",
        ("§2.2", "A59", "A62"),
        "A step whose sender is not registered is rejected, and the next step is tried.",
        _sender,
    ),
    _of_account(
        "number",
        ("§2.5", "A44", "A62"),
        "A step whose business number is restricted is rejected, and the next step is tried.",
        _number,
    ),
    _of_account(
        "template",
        ("§2.2", "A43", "A62"),
        "A step whose template is not approved is rejected, and the next step is tried.",
        _template,
    ),
    _of_time(
        "start",
        ("§1", "A84"),
        "Instants of the service are in UTC, a time of day without a zone is one of the zone that the client named. "
        "The clock of the client must be that of the world (`sendbox.freeze()`).",
        _start,
    ),
    _of_time(
        "expiry",
        ("§3.2", "A72"),
        "A code is valid before the instant at which it expires, and expired from that instant on.",
        _expiry,
    ),
    *(
        _of_assumptions(
            name,
            row.assumptions,
            "The specification leaves this open, so a client may rely on no value of the setting.",
            _other_value,
        )
        for name, row in SETTINGS.items()
    ),
)
