"""A world: an isolated universe with its own clock, seed and journal, and with what its services keep.

What a service keeps in a world is its part (`engine/part.py`): the world is opened with the parts of all services, and
knows none of them. It takes commands, which a service gives it, and the passing of time (`run`). What must leave it,
batches of events on their way to a target, waits in `outlets` until somebody outside takes it and says how it went.
Nothing here does I/O or looks at a clock of the machine; one thread touches a world at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from heapq import heappop
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.clock import Clock, Mode
from sendbox.engine.delivery.events import EventKind, Events
from sendbox.engine.delivery.home import Carriage
from sendbox.engine.delivery.targets import Outlets
from sendbox.engine.durations import iso
from sendbox.engine.faults.calls import ApiFaults
from sendbox.engine.identity import derive, seed_bytes, tag_of, uuid_text
from sendbox.engine.journal import CODE, Capped, Journal
from sendbox.engine.part import Part
from sendbox.engine.polls import Polls
from sendbox.engine.remarks import Advice
from sendbox.engine.requests import RequestRecord
from sendbox.engine.timeline import Timeline

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.rules.book import Rulebook

#: The code of the advice on an entry that lies before the world's start, and where the start is written about.
BEFORE_START: Final = "happening-before-start"
SECTION: Final = "§1"
#: How many light things (an event bundled, a lapse journaled) take as long as firing one step.
LIGHT: Final = 16


class _EventTable(dict[type, EventKind]):
    """The rows of the events of all services; a checkpoint has their names, since rows cannot be copied."""

    def __init__(self, services: tuple[type[Part], ...]) -> None:
        super().__init__((kind, row) for service in services for kind, row in service.EVENTS.items())
        self.services = services

    def __reduce__(self) -> Any:
        return _events, (self.services,)


@cache
def _events(services: tuple[type[Part], ...]) -> _EventTable:
    """One table for all worlds of the same services."""
    return _EventTable(services)


class World:
    """One world. Instants are virtual milliseconds since 1970; `services` are the parts that it has, in order."""

    # slots: a world has more parts than instances of a class share a table for, and all are asked on the hot path
    __slots__ = (
        "__weakref__",
        "_equal",
        "api",
        "assume",
        "blueprint",
        "clock",
        "epoch",
        "events",
        "expect",
        "fired",
        "id",
        "instants",
        "journal",
        "moves",
        "names",
        "outlets",
        "parts",
        "pinned",
        "plain",
        "polls",
        "salt",
        "seed",
        "seed_given",
        "services",
        "shard",
        "start",
        "start_given",
        "tag",
        "timeline",
    )

    def __init__(
        self,
        world_id: str,
        blueprint: Blueprint,
        *,
        start: int,
        reading: int = 0,
        seed: int | str | None = None,
        salt: str | None = None,
        mode: Mode | None = None,
        shard: int = 0,
        epoch: int = 0,
        max_journal: int | None = None,
        pinned: bool = True,
        services: Sequence[type[Part]] = (),
    ) -> None:
        self.id = world_id
        self.tag = tag_of(world_id, shard)
        self.shard = shard
        self.blueprint: Any = blueprint
        #: how deliveries go, and whatever else services settle among the assumptions
        self.assume: Carriage = blueprint.assume
        self.services = tuple(services)
        #: the rows of all events, by their types
        self.events: Events = _events(self.services)
        self.seed_given = blueprint.seed if seed is None else seed
        self.seed = seed_bytes(self.seed_given)
        self.salt = world_id if salt is None else salt
        self.names = seed_bytes(self.salt)
        self.start_given = start
        self.start = start
        #: whether somebody said when the world starts; else it was the present of whoever opened it
        self.pinned = pinned
        #: counts resets; what was in flight in an older epoch is dropped
        self.epoch = epoch
        self.clock = Clock(start, mode or blueprint.mode or "manual", blueprint.rate, reading)
        self.timeline = Timeline()
        #: `max_journal` bounds the entries that are kept, None = all are
        self.journal = Journal() if max_journal is None else Capped(max_journal)
        #: what the scenario expects; judged when asked
        self.expect = blueprint.expect
        self.api = ApiFaults(blueprint.api, self.seed, start)
        self.fired = 0
        #: how many instants the clock was moved to
        self.instants = 0
        #: what clients ask again and again while time stands
        self.polls = Polls()
        #: advances, for whoever carries the world out again: (entries before, entries after, instant reached)
        self.moves: list[tuple[int, int, int]] = []
        self._equal: dict[bytes, int] = {}
        self.outlets = Outlets(self, blueprint.webhooks)
        #: ids that were given out, to what stands for them in the digest: the same in every world
        self.plain: dict[str, str] = {}
        #: what each service keeps here, by its name
        self.parts: dict[str, Part] = {}
        for service in self.services:
            self.parts[service.NAME] = service(self)
        for entry in blueprint.timeline:
            due = start + entry.at if entry.relative else max(start, entry.at)
            self.timeline.at(due, -1, self.entry_due, entry)

    def entry_due(self, entry: TimelineEntry) -> None:
        """An entry of the scenario's timeline has come: it is journaled, then done by whoever it happens to.

        One that lies before the world's start comes at the start, with advice.
        """
        number = self.journal.add(self.clock.now, CODE["timeline"], {"kind": entry.kind, **entry.what})
        if not entry.relative and entry.at < self.start:
            message = f"{iso(entry.at)} lies before the start of the world, {iso(self.start)}; it happens at the start"
            self.advise(Advice(BEFORE_START, message, "$.timeline", SECTION), {"entry": number, "place": entry.place})
        if entry.kind == "clock":
            self.clock.switch(entry.what.get("mode"), entry.what.get("rate"))
        for part in self.parts.values():
            if entry.kind in part.HAPPENINGS:
                part.HAPPENINGS[entry.kind](part, entry)

    # -- time

    @property
    def now(self) -> int:
        """The present virtual instant."""
        return self.clock.now

    def run(self, until: int, budget: int, *, rest: bool = True) -> int:
        """Fires steps in order, up to `until` or `budget` of them, and returns how many.

        Stops early at the end of an instant at which deliveries became ready, so that they can be settled before the
        clock moves on, or at which a step changed the clock, so that `until` can be looked at again; and within one
        where there is much to bundle, or much lapses, so that a call stays short. When nothing more is due, `now`
        becomes `until`; without `rest` it stays at the last step.
        """
        steps = self.timeline.steps
        clock = self.clock
        clock.switched = False
        outlets = self.outlets
        fired = 0
        most = budget * LIGHT
        while True:
            while steps and steps[0][0] <= until:
                instant = steps[0][0]
                if instant > clock.now:
                    flushed = not outlets.dirty or outlets.flush(most)
                    if flushed and steps[0][0] < instant:  # what was flushed is to go on its way before that
                        continue
                    if not flushed or outlets.waiting or not self._move(instant, most):
                        self.fired += fired
                        return fired
                if fired >= budget:
                    self.fired += fired
                    return fired
                _, _, _, handler, what = heappop(steps)
                handler(what)
                fired += 1
            if not outlets.dirty or not outlets.flush(most) or not steps or steps[0][0] > until:
                break
        if rest and not outlets.ready and until > clock.now:
            self._move(until, most)
        self.fired += fired
        return fired

    def moved(self, first: int) -> None:
        """Notes that the world was advanced to the present instant, from its entry `first` on."""
        moves, now = self.moves, self.clock.now
        if moves and moves[-1][1] == first:  # nobody did anything in between
            first = moves.pop()[0]
        moves.append((first, len(self.journal), now))

    def settled(self, until: int) -> bool:
        """Whether nothing is due any more up to `until` and nothing is ready to be delivered."""
        due = self.timeline.next_due()
        return self.clock.now >= until and not self.outlets.ready and (due is None or due > until)

    def _move(self, instant: int, most: int) -> bool:
        """The clock goes to `instant`, past the lapses on the way.

        False when these are more than `most`, or when one of them is told to somebody: then it stands at that one.
        False too when a step changed the clock.
        """
        if self.clock.switched:
            return False
        lapses = self.timeline.lapses
        while lapses and lapses[0][0] <= instant:
            if most <= 0:
                return False
            at = lapses[0][0]
            told = False
            for _, kind, what in self.timeline.lapsed(at, most):
                most -= 1
                owner = self._owner(kind)
                if owner is None or owner.lapses(at, kind, what):
                    self.journal.add(at, CODE["lapse"], (kind, what))
                self.clock.move(max(at, self.clock.now))
                told = (owner is not None and owner.lapsed(kind, what)) or told
            if told:  # somebody hears of it at this instant, before the clock goes on
                self.instants += 1
                return False
        self.clock.move(instant)
        self.instants += 1
        return True

    def _owner(self, kind: str) -> Part | None:
        """The part whose lapse this is, None for one of the engine's own."""
        return next((part for part in self.parts.values() if kind in part.LAPSES), None)

    @property
    def rulebooks(self) -> dict[str, Rulebook[Any]]:
        """Every list of rules, by its name in the language."""
        found = {name: book for part in self.parts.values() for name, book in part.rulebooks.items()}
        return {**found, "api": self.api, "webhooks": self.outlets.faults}

    @property
    def counts(self) -> dict[str, int]:
        """How many things of its services there are, by name."""
        return {name: count for part in self.parts.values() for name, count in part.counts.items()}

    def admits(self, key: str) -> bool | None:
        """Whether a further key of the world is let in; None for one that was never made."""
        found = (part.admits(key) for part in self.parts.values())
        return next((admitted for admitted in found if admitted is not None), None)

    def follow(self, old: World) -> None:
        """Takes over, from the world that it is the next epoch of, what belongs to the process."""
        for name, part in self.parts.items():
            part.follow(old.parts[name])

    def alias(self, name: str) -> str:
        """A name of a service without what differs between worlds."""
        return next((alias for part in self.parts.values() if (alias := part.alias(name)) is not None), name)

    # -- commands

    def count_equal(self, name: bytes) -> int:
        """How many requests of this content came before (names, §2.3)."""
        n = self._equal.get(name, 0)
        self._equal[name] = n + 1
        return n

    def named(self, scope: str, operation: str, content: bytes) -> bytes:
        """A name for what a request made: derived from its canonical content and how many equal ones came before."""
        digest = blake2b(content, digest_size=16, person=operation.encode()[:16]).digest()
        return self.name(scope, digest, self.count_equal(digest))

    def name(self, scope: str, key: bytes, n: int = 0) -> bytes:
        """64 derived bytes for a name, salted with the world."""
        return derive(self.names, scope, key, n)

    def request(self, record: RequestRecord) -> int:
        """Journals a call of an emulated interface and returns the entry's number."""
        return self.journal.add(self.clock.now, CODE["request"], record)

    def advise(self, advice: Advice, about: Any = None) -> int:
        """Journals advice that belongs to no request."""
        return self.journal.add(self.clock.now, CODE["advice"], (advice, about))

    def control(self, what: str, detail: dict[str, Any]) -> int:
        """Journals what a tester did through control."""
        return self.journal.add(self.clock.now, CODE["control"], {"what": what, **detail})

    # -- names and views used everywhere

    def delivery_name(self, key: bytes) -> str:
        """The id of a delivery, from what names its first event."""
        return uuid_text(self.name("delivery", key))

    def dispose(self) -> Iterator[None]:
        """Takes the cycles of a closed world apart, so that it is freed by its counts; pauses now and then."""
        self.timeline.steps.clear()
        self.timeline.lapses.clear()
        self.outlets.clear()
        for home in (self.outlets, self.outlets.faults, self.outlets.detours):
            del home._world
        for part in self.parts.values():
            yield from part.release()
        self.parts.clear()

    @property
    def idle(self) -> bool:
        """Whether nothing is scheduled, waiting or under way."""
        return not self.timeline.steps and not self.outlets.ready and not self.outlets.in_flight
