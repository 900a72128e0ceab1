"""Misfortunes: what may go wrong at one place, with words for places, and plans of several of them.

A misfortune carries what a scenario says for it, so a plan is a scenario for each world that it is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeVar

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.durations import show
from sendbox.exploring.census import Census, ObservedCall, ObservedEvent, ObservedMessage, Session

T = TypeVar("T")
#: The most misfortunes of a plan.
MAX_MISFORTUNES: Final = 8
#: The lists of rules that a misfortune may have, and whose rules have its name.
LISTS: Final = ("attempts", "api", "webhooks")
#: The most calls of an operation that fail in a row.
IN_ROW: Final = 2
#: Stands for the phone of a misfortune that moves no instants.
ANY_TIME: Final = "-"
#: Families that change what is true: a correct client may rightly do something else then.
_CHANGING: Final = frozenset({"late", "codes", "results", "people", "account", "time", "assumptions"})
#: Families that move nothing but webhooks.
_WEBHOOKS: Final = {"delivery", "late"}
#: A rule may have a name of 100 characters; some are kept for a number.
_MAX_NAME: Final = 94


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One thing that may happen at a spot: what it `says`, and what a scenario has for it, by its top-level keys.

    `changing`: it changes what is true, though its kind does not.
    """

    says: str
    parts: JsonMapping
    changing: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place at which something of one kind may go wrong, with its values, the simplest first.

    `about` is what it belongs to: pairs are tried of spots about the same. `like` says what it has in common with other
    spots: those of which nothing was tried yet come first. `phone` is the one whose instants it moves: "" any, ANY_TIME
    none. `row` is (list, ordinals) where several in a row are limited.
    """

    kind: Kind
    world: int
    place: str
    about: str
    like: str
    values: tuple[Value, ...]
    phone: str = ""
    row: tuple[str, tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of a family: what goes wrong, and the sections and assumptions by which the service may do it.

    `asks`: a find is a question, as is each find of a family that changes what is true. `relies` says what a correct
    client may rely on all the same. `survived` says of a misfortune, the run without it and the run that broke under
    it, whether the client coped with it, so that only the test looked for something else. `moving`: it moves the clock
    before the test does, so that nothing else is placed in its world.
    """

    family: str
    name: str
    cites: tuple[str, ...]
    relies: str
    spots: Callable[[Kind, Census], Iterator[Spot]]
    survived: Callable[[Misfortune, Census, Census], bool] = lambda _misfortune, _passed, _broken: False
    asks: bool = False
    moving: bool = False

    @property
    def changing(self) -> bool:
        """True if it changes what is true, or what no sentence promises."""
        return self.asks or self.family in _CHANGING

    def at(
        self,
        world: Census,
        place: str,
        about: str,
        values: Iterable[Value],
        *,
        like: str = "",
        phone: str = "",
        row: tuple[str, tuple[int, ...]] | None = None,
    ) -> Iterator[Spot]:
        """The spot of this kind at a place of a world, if anything may go wrong there; `like` "" = as all of it."""
        if values := tuple(values):
            about = f"{world.ordinal} {about}"
            yield Spot(self, world.ordinal, place, about, f"{self.name}{like and ' '}{like}", values, phone, row)


@dataclass(frozen=True, slots=True)
class Misfortune:
    """A spot with one of its values, by its number."""

    spot: Spot
    number: int = 0

    @property
    def value(self) -> Value:
        """The value that says what happens there."""
        return self.spot.values[self.number]

    @property
    def changing(self) -> bool:
        """True if it changes what is true: a test that it breaks is a question, not a bug."""
        return self.spot.kind.changing or self.value.changing

    def __str__(self) -> str:
        world = f" (world {self.spot.world})" if self.spot.world > 1 else ""
        return f"{self.spot.place} {self.value.says}{world}"


Plan = tuple[Misfortune, ...]


def kinds_of(plan: Iterable[Misfortune]) -> frozenset[tuple[str, str, bool]]:
    """The kinds of the misfortunes of a plan; those that change what is true are apart from others of their name."""
    return frozenset((item.spot.kind.family, item.spot.kind.name, item.changing) for item in plan)


def legal(plan: Plan) -> bool:
    """True if the service may do all of it: one thing at each place, and a limited number of failed calls in a row.

    A world begins at one instant. A misfortune that moves the instants of a phone is not joined with one of another
    family that was placed by these instants: the second would come beyond its advance.
    """
    if len(plan) > MAX_MISFORTUNES or len({(item.spot.world, item.spot.place) for item in plan}) < len(plan):
        return False
    starts = Counter(item.spot.world for item in plan if "clock" in item.value.parts)
    if any(count > 1 for count in starts.values()):
        return False
    rows: dict[tuple[int, str], set[int]] = {}
    for item in plan:
        if item.spot.row is not None:
            name, ordinals = item.spot.row
            taken = rows.setdefault((item.spot.world, name), set())
            if not taken.isdisjoint(ordinals):
                return False
            taken.update(ordinals)
    if any(set(range(first, first + IN_ROW + 1)) <= taken for taken in rows.values() for first in taken):
        return False
    return all(_apart(one.spot, other.spot) for one, other in combinations(plan, 2))


def _apart(one: Spot, other: Spot) -> bool:
    """True if neither moves the event by which the other was placed."""
    if one.world == other.world and (one.kind.moving or other.kind.moving):
        return False
    alike = one.kind.family == other.kind.family or {one.kind.family, other.kind.family} == _WEBHOOKS
    if alike or one.world != other.world or ANY_TIME in (one.phone, other.phone):
        return True
    return bool(one.phone and other.phone) and one.phone != other.phone


def scenarios(plan: Iterable[Misfortune]) -> dict[int, JsonObject]:
    """The scenarios of a plan, one for each world, by its ordinal."""
    worlds: dict[int, JsonObject] = {}
    for item in plan:
        name = f"{item.spot.place}: {item.spot.kind.name}"
        merge_parts(worlds.setdefault(item.spot.world, {"sendbox": 1}), _named(name, item.value.parts))
    return worlds


def merge_parts(into: JsonObject, parts: JsonMapping) -> None:
    """Adds parts of a scenario: lists are joined, mappings merged."""
    for key, value in parts.items():
        if isinstance(value, Mapping):
            merge_parts(into.setdefault(key, {}), value)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            into[key] = [*into.get(key, ()), *value]
        else:
            into[key] = value


def _named(name: str, parts: JsonMapping) -> JsonObject:
    """The same, its rules named after the misfortune."""
    name = name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"
    rules = {key: value for key, value in parts.items() if key in LISTS}
    numbered = {
        key: [{"name": name if number == 1 else f"{name}, {number}", **rule} for number, rule in enumerate(value, 1)]
        for key, value in rules.items()
    }
    return {**parts, **numbered}


# --- words for places, and the conditions that find them


def ordinal(number: int) -> str:
    """A number as an ordinal: 1st, 2nd."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def event_words(event: ObservedEvent) -> str:
    """An event by its place."""
    name = event.result or {"incomingReplyMessage": "reply", "incomingMessage": "inbound message"}.get(
        event.event, event.event
    )
    by = f" by {event.gateway}" if event.gateway else ""
    whom = f" of {event.phone}" if event.phone else ""
    return f"the {ordinal(event.ordinal)} webhook {name}{by}{whom}"


def event_when(event: ObservedEvent) -> JsonObject:
    """The conditions of a rule of `webhooks` that find it."""
    conditions = {"event": event.event, "gateway": event.gateway, "phone": event.phone, "result": event.result}
    return {**{name: value for name, value in conditions.items() if value}, "nth": event.ordinal}


def call_words(call: ObservedCall) -> str:
    """A call by its place."""
    return f"the {ordinal(call.ordinal)} call of {call.operation}"


def call_when(call: ObservedCall) -> JsonObject:
    """The conditions of a rule of `api` that find it."""
    return {"operation": call.operation, "nth": call.ordinal}


def message_words(message: ObservedMessage) -> str:
    """A message by its place."""
    return f"the {ordinal(message.ordinal)} message to {message.phone}"


def attempt_words(message: ObservedMessage, attempt: int) -> str:
    """An attempt of a message, from 1, by its place."""
    if len(message.channels) == 1:
        return message_words(message)
    return f"the {ordinal(attempt)} attempt ({message.attempts[attempt - 1].channel}) of {message_words(message)}"


def message_when(message: ObservedMessage, attempt: int) -> JsonObject:
    """The conditions of a rule of `attempts` that find one attempt of a message, from 1."""
    tried = {} if len(message.channels) == 1 else {"attempt": attempt}
    return {"phone": message.phone, **tried, "nth": message.attempts[attempt - 1].nth}


def about_message(message: ObservedMessage) -> str:
    """The subject of misfortunes of one message."""
    return f"message {message.phone} {message.ordinal}"


def about_session(session: Session) -> str:
    """The subject of misfortunes of one validation session."""
    return f"session {session.phone} {session.ordinal}"


def spread_out(items: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of the items, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def duration_text(milliseconds: int) -> str:
    """A duration as a scenario has it."""
    return show(milliseconds)
