"""The parcels of a world: their lifecycle, the rules about them, and what time does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import msgspec

from sendbox.engine.delivery.batches import EventKind, Events, Target
from sendbox.engine.draws import uuid_text
from sendbox.engine.durations import DAY, HOUR, Span, iso
from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Table
from sendbox.engine.part import Part
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import Rule
from sendbox.engine.world import World

(ENTRY,) = enter("parcel")
PARCEL: Final[Table] = {
    "announced": {"courier_stored": "stored"},
    "stored": {"recipient_collected": "collected", "time_passed": "expired"},
    "expired": {"courier_returned": "returned"},
    "collected": {},
    "returned": {},
}
#: What happens by itself in a state, when its time is over.
BY_ITSELF: Final = {"announced": "courier_stored", "stored": "time_passed", "expired": "courier_returned"}
#: The states that a webhook tells of, each with the type of its event.
TOLD: Final = {"stored": "parcelStored", "expired": "parcelExpired"}
#: After what time a parcel is stored, and how long it is kept, unless a rule says something else.
STORED: Final = Span(HOUR, HOUR)
KEPT: Final = 3 * DAY


class Parcel(msgspec.Struct, eq=False):
    """One parcel. Instants and times are virtual milliseconds; `rule` is the name of the one that decided about it."""

    id: str
    locker: str
    phone: str
    target: Target
    stored: int = STORED.low
    kept: int = KEPT
    rule: str = ""
    state: str = "announced"

    def view(self) -> dict[str, str]:
        """The parcel as answers, control and the page show it."""
        return {"parcel": self.id, "locker": self.locker, "phone": self.phone, "state": self.state}


class LockerRule(Rule, frozen=True, kw_only=True):
    """One entry of `lockers`: after what time a parcel is stored, drawn out of a span, and how long it is kept."""

    SUBJECT = "phone"

    stored: Span = STORED
    kept: int = KEPT


class Lockers(Rulebook[LockerRule]):
    """The rules of a world. Each parcel that is announced is a case."""

    PREFIX = "l"

    def plan(self, parcel: Parcel, now: int) -> bool:
        """The first rule that takes a parcel decides about it; answers whether the order of arrival had a part."""
        fields = {"phone": parcel.phone, "locker": parcel.locker}
        case = Case("parcel", parcel.phone, request=parcel.id, instant=now, fields=fields)
        decisions, by_arrival = self.decide(self.rules, case)
        for rule, *_ in decisions:
            draw, _, raced = self.draw(rule.key, case)
            parcel.stored = draw.interval(rule.stored.low, rule.stored.high, "stored")
            parcel.rule, parcel.kept, by_arrival = rule.title, rule.kept, by_arrival or raced
        return by_arrival


@dataclass(frozen=True, slots=True, eq=False)
class Notice:
    """An event: a parcel came to a state that a webhook tells of."""

    parcel: Parcel
    type: str
    at: int

    def case(self) -> Case:
        """The event as rules of `webhooks` see it."""
        fields = {"event": self.type, "phone": self.parcel.phone}
        return Case(self.type, self.parcel.phone, request=self.parcel.id, fields=fields)


class Locker(Part):
    """What the service keeps in a world."""

    NAME: ClassVar[str] = "locker"
    EVENTS: ClassVar[Events] = {
        Notice: EventKind(
            case=Notice.case,
            older=lambda _notice: None,
            thread=lambda notice: notice.parcel,
            key=lambda _world, notice, _at: f"{notice.type} {notice.parcel.id}",
            body=lambda _world, notice, _at: {"type": notice.type, "parcel": notice.parcel.id, "at": iso(notice.at)},
        )
    }

    def __init__(self, world: World) -> None:
        self.book = Lockers(world.blueprint.compiled["lockers"], world.chooser, world.start)
        self.world = world
        self.parcels: dict[str, Parcel] = {}

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The lists of rules, by the keys of the language."""
        return {"lockers": self.book}

    def announce(self, locker: str, phone: str, target: Target, content: bytes) -> Parcel:
        """A parcel is on its way. Its id is made of `content`, the request in canonical form."""
        world = self.world
        parcel_id = uuid_text(world.named("parcel", "announceParcel", content))
        parcel = self.parcels[parcel_id] = Parcel(parcel_id, locker, phone, target)
        by_arrival = self.book.plan(parcel, world.now)
        entry = self.came(parcel)
        if by_arrival:
            world.journal.mark(entry)
        return parcel

    def came(self, parcel: Parcel) -> int:
        """A parcel came to a state: that is journaled, told, and followed by what comes next; answers the entry."""
        world = self.world
        entry = world.journal.add(world.now, ENTRY, (parcel, parcel.state))
        if parcel.state in TOLD:
            world.outlets.post(world.outlets.line(parcel.target), Notice(parcel, TOLD[parcel.state], world.now))
        if event := BY_ITSELF.get(parcel.state):
            after = {"announced": parcel.stored, "stored": parcel.kept}.get(parcel.state, DAY)
            world.timeline.at(world.now + after, 0, self.parcel_due, (parcel, event))
        return entry

    def parcel_due(self, what: tuple[Parcel, str]) -> None:
        """An event happens to a parcel, unless the parcel came to a state meanwhile that does not allow it."""
        parcel, event = what
        if event in PARCEL[parcel.state]:
            parcel.state = PARCEL[parcel.state][event]
            self.came(parcel)
