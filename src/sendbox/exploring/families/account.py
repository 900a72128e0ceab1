"""`account`: what messages need is taken from the account: its credit ends, a sender or a template is withdrawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from sendbox.engine.answer import JsonObject
from sendbox.exploring.misfortune import Kind, Spot, Value, about_message, later, spread_out
from sendbox.services.messaging.channels import FAMILY

if TYPE_CHECKING:
    from sendbox.exploring.census import Census, Sent, Tried

#: Millionths of a unit of money.
_MILLION: Final = 1_000_000
#: At so many places the credit may end within the messages of one instant.
_ENDS: Final = 20
#: States of a template in which it cannot be used, and of a business number in which it cannot send.
_TEMPLATE: Final = ("PAUSED", "DISABLED")
_NUMBER: Final = "RESTRICTED"


def _happens(at: int, **fields: object) -> JsonObject:
    """An entry of the timeline comes before what else happens at its instant."""
    return {"timeline": [{"at": later(at), **fields}]}


def _attempts(world: Census) -> Iterator[tuple[Sent, Tried]]:
    return ((message, attempt) for message in world.messages for attempt in message.attempts)


def _credit(kind: Kind, world: Census) -> Iterator[Spot]:
    """The credit has ended before anything of an instant is paid, or ends behind one of the messages."""
    for at, payments in groupby(world.charged, itemgetter(0)):
        paid = [amount for _, amount in payments]
        values = [_suffices(at, paid, count) for count in spread_out(range(len(paid)), _ENDS)]
        place = f"the credit of the account at {later(at)}"
        yield Spot(kind, world.ordinal, place, f"{world.ordinal} account", kind.name, tuple(values))


def _suffices(at: int, paid: Sequence[int], count: int) -> Value:
    """The credit suffices for exactly so many of the payments of an instant."""
    left = sum(paid[:count]) / _MILLION
    says = f"suffices for {count} of {len(paid)} messages" if count else "has ended"
    return Value(says, _happens(at, account={"credit": {"eur": left, "czk": left}}))


def _used(kind: Kind, world: Census, subject: str, message: Sent, attempt: Tried, *values: Value) -> Spot:
    """A spot at something that an attempt uses."""
    place = f"{subject} at {later(attempt.at)}"
    return Spot(kind, world.ordinal, place, about_message(world, message), kind.name, values)


def _once(spots: Iterator[Spot]) -> Iterator[Spot]:
    """Several messages of one instant use the same thing."""
    return iter({spot.place: spot for spot in spots}.values())


def _sender(kind: Kind, world: Census) -> Iterator[Spot]:
    def spots() -> Iterator[Spot]:
        for message, attempt in _attempts(world):
            withdrawn = (FAMILY[attempt.channel], attempt.sender)
            if withdrawn not in world.senders:
                continue
            left: dict[str, list[str]] = {family: [] for family, _ in world.senders}
            for family, sender in world.senders:
                if (family, sender) != withdrawn:
                    left[family].append(sender)
            value = Value("is withdrawn", _happens(attempt.at, account={"senders": left}))
            yield _used(kind, world, f"the {withdrawn[0]} sender {attempt.sender}", message, attempt, value)

    return _once(spots())


def _number(kind: Kind, world: Census) -> Iterator[Spot]:
    def spots() -> Iterator[Spot]:
        for message, attempt in _attempts(world):
            if attempt.number:
                change = {"phone_number": attempt.number, "status": _NUMBER}
                value = Value(f"is {_NUMBER.lower()}", _happens(attempt.at, number=change))
                yield _used(kind, world, f"the business number {attempt.number}", message, attempt, value)

    return _once(spots())


def _template(kind: Kind, world: Census) -> Iterator[Spot]:
    def spots() -> Iterator[Spot]:
        for message, attempt in _attempts(world):
            if attempt.template is None:
                continue
            name, language = attempt.template
            change = {"name": name, "language": language}
            values = [
                Value(f"is {status.lower()}", _happens(attempt.at, template={**change, "status": status}))
                for status in _TEMPLATE
            ]
            yield _used(kind, world, f"the template {name} ({language})", message, attempt, *values)

    return _once(spots())


KINDS: Final = (
    Kind(
        "account",
        "credit",
        ("§1", "§3.1", "A61"),
        "A message for which the credit does not suffice is rejected with `[307]`, is not sent, and costs nothing.",
        _credit,
    ),
    Kind(
        "account",
        "sender",
        ("§2.2", "A59", "A62"),
        "A step whose sender is not registered is rejected, and the next step is tried.",
        _sender,
    ),
    Kind(
        "account",
        "number",
        ("§2.5", "A44", "A62"),
        "A step whose business number is restricted is rejected, and the next step is tried.",
        _number,
    ),
    Kind(
        "account",
        "template",
        ("§2.2", "A43", "A62"),
        "A step whose template is not approved is rejected, and the next step is tried.",
        _template,
    ),
)
