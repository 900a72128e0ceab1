"""A world: an isolated universe with its own clock, seed and journal, and with what its services keep.

What a service keeps in a world is its part (`engine/part.py`): the world is opened with the parts of all services, and
knows none of them. It takes commands, which a service gives it, and the passing of time (`run`). What must leave it,
batches of events on their way to a target, waits in `outlets` until the caller takes it and hands in the outcome.
Nothing here does I/O or looks at a clock of the machine; one thread touches a world at a time. The module is long
because all of that meets here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from sendbox.engine.answer import JsonObject
from sendbox.engine.bounds import END
from sendbox.engine.commands.command import Call, Open, Own
from sendbox.engine.commands.record import Polling, Races, Record, RequestRecord
from sendbox.engine.delivery.batches import Carriage, Delivery, Events, succeeded
from sendbox.engine.delivery.targets import NOT_FETCHED, Outlets
from sendbox.engine.draws import Chooser, Naming, seed_bytes, tag_of, uuid_text
from sendbox.engine.durations import iso
from sendbox.engine.faults.calls import ApiFaults
from sendbox.engine.journal import CODE, Capped, Journal
from sendbox.engine.kept import Fingerprints
from sendbox.engine.part import Part
from sendbox.engine.plan import Place, PlannedChooser
from sendbox.engine.remarks import Advice
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.timeline import Clock, Mode, Timeline

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint, TimelineEntry


#: The code of the advice on an entry that lies before the world's start, and where the start is written about.
BEFORE_START: Final = "happening-before-start"
SECTION: Final = "§1"
#: The code of the advice on a value of the scenario's plan that its place cannot have.
UNUSABLE: Final = "plan-value-unusable"
#: So many things that lapse at one instant are noted in one tick.
LAPSES: Final = 512


@cache
def _events(services: tuple[type[Part], ...]) -> Events:
    """The rows of the events of all services: one table for all worlds of the same services."""
    return {kind: row for service in services for kind, row in service.EVENTS.items()}


def _unusable(clock: Clock, journal: Journal, place: Place, why: str) -> None:
    """Journals advice on a value of the plan; it holds no world, which would refer to itself by it."""
    journal.add(clock.now, CODE["advice"], (Advice(UNUSABLE, why, "$.plan", SECTION), asdict(place)))


class World:
    """One world. Instants are virtual milliseconds since 1970; `services` are the parts that it has, in order."""

    # slots: a world has more parts than instances of a class share a table for, and all are asked on the hot path
    __slots__ = (
        "__weakref__",
        "_awaited",
        "_equal",
        "api",
        "assume",
        "blueprint",
        "chooser",
        "clock",
        "epoch",
        "events",
        "expect",
        "id",
        "instants",
        "journal",
        "naming",
        "outlets",
        "parts",
        "pinned",
        "plain",
        "polling",
        "races",
        "record",
        "salt",
        "seed_given",
        "services",
        "shard",
        "start",
        "start_given",
        "tag",
        "ticks",
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
        forgets: bool = False,
        pinned: bool = True,
        rate: float | None = None,
        record: Record | None = None,
        services: Sequence[type[Part]] = (),
    ) -> None:
        # Long, as everything that a world has stands here with its meaning.
        self.id = world_id
        self.tag = tag_of(world_id, shard)
        self.shard = shard
        self.blueprint = blueprint
        #: how deliveries go, and what else services settle among the assumptions
        self.assume: Carriage = blueprint.assume
        self.services = tuple(services)
        #: the rows of all events, by their types
        self.events: Events = _events(self.services)
        self.seed_given = blueprint.seed if seed is None else seed
        self.salt = world_id if salt is None else salt
        self.naming = Naming(self.salt)
        self.start_given = start
        self.start = start
        #: True if the start was given; else it was the present when the world was opened
        self.pinned = pinned
        #: counts resets; what was in flight in an older epoch is dropped
        self.epoch = epoch
        self.clock = Clock(start, mode or blueprint.mode or "manual", blueprint.rate if rate is None else rate, reading)
        self.timeline = Timeline()
        #: with `forgets` its oldest entries may be forgotten
        self.journal = Capped() if forgets else Journal()
        #: decides everything that is drawn
        self.chooser = Chooser(seed_bytes(self.seed_given))
        if blueprint.plan:
            self.chooser = PlannedChooser(self.chooser, blueprint.plan, partial(_unusable, self.clock, self.journal))
        #: what the scenario expects; judged when asked
        self.expect = blueprint.expect
        self.api = ApiFaults(blueprint.api, self.chooser, start)
        #: how many ticks were done in this epoch (`run`), and how many instants the clock was moved to
        self.ticks = self.instants = 0
        #: requests that clients repeat while time stands still
        self.polling = Polling()
        self.races = Races()
        #: instants from which clients were asked to call again
        self._awaited: set[int] = set()
        self._equal = Fingerprints()
        self.outlets = Outlets(self, blueprint.webhooks)
        #: ids that were given out, to what stands for them in the digest: the same in every world
        self.plain: dict[str, str] = {}
        #: what each service keeps here, by its name
        self.parts: dict[str, Part] = {}
        for service in self.services:
            self.parts[service.NAME] = service(self)
        #: all that came in from outside, in its order
        self.record = Record() if record is None else record
        self.record.add(start, 0, self.opening)
        for entry in blueprint.timeline:
            self.timeline.at(entry.due(start), -1, self.entry_due, entry)

    def await_call(self, instant: int) -> None:
        """An answer asked the client to call again from this instant on: it is a step, so that clocks go there."""
        if self.clock.now < instant <= END and instant not in self._awaited:
            self._awaited.add(instant)
            self.timeline.at(instant, 0, self.call_due, instant)

    def call_due(self, instant: int) -> None:
        """The client may call again: nothing happens but that."""
        self._awaited.discard(instant)

    def happen(self, entry: TimelineEntry) -> None:
        """An entry joins the timeline of the scenario; one that is due happens at once."""
        at = entry.due(self.start)
        if at > self.clock.now:
            self.timeline.at(at, -1, self.entry_due, entry)
        else:
            self.entry_due(entry)

    def entry_due(self, entry: TimelineEntry) -> None:
        """An entry of the timeline has come: it is journaled, then each part that has a handler for it acts.

        One that lies before the world's start comes at the start, with advice.
        """
        number = self.journal.add(self.clock.now, CODE["timeline"], {"kind": entry.kind, **entry.what})
        if not entry.relative and entry.at < self.start:
            message = f"{iso(entry.at)} lies before the start of the world, {iso(self.start)}; it happens at the start"
            self.advise(Advice(BEFORE_START, message, "$.timeline", SECTION), {"entry": number, "place": entry.place})
        if entry.kind == "clock":
            self.clock.switch(entry.what.get("mode"), entry.what.get("rate"))
        for part in self.parts.values():
            if entry.kind in part.TIMELINE_HANDLERS:
                part.TIMELINE_HANDLERS[entry.kind](part, entry)
        entry.again(self.timeline, self.entry_due, self.clock.now, self.start)

    # -- time

    @property
    def now(self) -> int:
        """The present virtual instant."""
        return self.clock.now

    @property
    def fired(self) -> int:
        """The number of steps that were fired."""
        return self.timeline.fired

    def run(self, until: int, budget: int, *, rest: bool = True, settle: bool = True) -> int:
        """Does what is due, in order, up to `until` or `budget` ticks, and returns how many these were.

        A tick is a step that is fired, a part of the events that are bundled or of what lapses at an instant, or tries
        that are begun; where none of these is due, the clock moves on. What the next tick does depends on the world
        alone, never on `budget`: with the instant and the number of ticks that a world has done, another world can be
        brought to the same place. Stops early after a tick that left more of its kind to do; when a step changed the
        clock, so that `until` can be looked at again; and with `settle` when tries were begun, so that they can end
        before anything else happens. When nothing more is due, `now` becomes `until`; without `rest` it stays at the
        last step.
        """
        timeline = self.timeline
        steps, lapses = timeline.steps, timeline.lapses
        clock, outlets = self.clock, self.outlets
        clock.switched = False
        ticks = 0
        more = False
        while not more:
            now = clock.now
            if lapses and lapses[0][0] <= now:  # what one tick left of those of this instant
                if ticks >= budget:
                    break
                more = self._lapse()
                ticks += 1
            elif steps and steps[0][0] <= now:
                ticks += timeline.fire(now, budget - ticks)
                if ticks >= budget or (settle and outlets.has_begun):
                    break
            elif outlets.dirty:
                if ticks >= budget:
                    break
                more = outlets.flush()
                ticks += 1
            elif outlets.waiting:
                if ticks >= budget or outlets.injection.racing:  # an answer is waited for before anything else leaves
                    break
                more = outlets.begin_round() or settle
                ticks += 1
            elif clock.switched:
                break
            else:
                instant = steps[0][0] if steps and steps[0][0] <= until else until if rest else now
                if instant <= now:
                    break
                if not lapses or lapses[0][0] > instant:
                    clock.move(instant)
                    self.instants += 1
                elif ticks >= budget:
                    break
                else:
                    more = self._lapse(instant)
                    ticks += 1
        self.ticks += ticks
        return ticks

    def settled(self, until: int) -> bool:
        """True if nothing is due up to `until` any more and nothing is ready to be delivered."""
        due, lapses = self.timeline.next_due(), self.timeline.lapses
        if self.clock.now < until or self.outlets.ready or (lapses and lapses[0][0] <= until):
            return False
        return due is None or due > until

    def _lapse(self, goal: int | None = None) -> bool:
        """Moves the clock to the first lapse and notes the lapses of that instant; True if there are more of them.

        `goal` is where the clock was to go.
        """
        at = self.timeline.lapses[0][0]
        moves, observed = at > self.clock.now, False
        if moves:
            self.clock.move(at)
        passed = self.timeline.lapsed(at, LAPSES)
        for _, kind, subject in passed:
            owner = next((part for part in self.parts.values() if kind in part.LAPSES), None)  # None: the engine's own
            if owner is None or owner.still_lapses(at, kind, subject):
                self.journal.add(at, CODE["lapse"], (kind, subject))
            observed = (owner is not None and owner.on_lapse(kind, subject)) or observed
        if moves and (observed or at == goal):  # an event says so here, or the clock was to go here
            self.instants += 1
        return len(passed) == LAPSES

    @property
    def rulebooks(self) -> dict[str, Rulebook[Any]]:
        """Every list of rules, by its name in the language."""
        books = {name: book for part in self.parts.values() for name, book in part.rulebooks.items()}
        return {**books, "api": self.api, "webhooks": self.outlets.faults}

    @property
    def all_rulebooks(self) -> dict[str, Rulebook[Any]]:
        """The same and those that cannot be changed at run time, by their places in the language."""
        return {
            name: book for part in self.parts.values() for name, book in part.all_rulebooks.items()
        } | self.rulebooks

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of things of its services, by name."""
        return {name: count for part in self.parts.values() for name, count in part.counts.items()}

    def admits(self, key: str) -> bool | None:
        """True if a further key of the world is accepted; None for a key that was never made."""
        answers = (part.admits(key) for part in self.parts.values())
        return next((admitted for admitted in answers if admitted is not None), None)

    def follow(self, old: World) -> None:
        """Takes over, from the world that it is the next epoch of, what belongs to the process."""
        for name, part in self.parts.items():
            part.follow(old.parts[name])

    def alias(self, name: str) -> str:
        """A name of a service without what differs between worlds."""
        return next((alias for part in self.parts.values() if (alias := part.alias(name)) is not None), name)

    # -- commands

    def count_equal(self, name: bytes) -> int:
        """The number of earlier requests with this content (names, §2.3)."""
        return self._equal.add(name)

    def named(self, scope: str, operation: str, content: bytes) -> bytes:
        """A name for what a request made: derived from its canonical content and how many equal ones came before."""
        return self.name(scope, *self.numbered(operation, content))

    def numbered(self, operation: str, content: bytes) -> tuple[bytes, int]:
        """The hash of a request's canonical content, and how many equal ones came before."""
        digest = blake2b(content, digest_size=16, person=operation.encode()[:16]).digest()
        return digest, self._equal.add(digest)

    def name(self, scope: str, key: bytes, n: int = 0) -> bytes:
        """64 derived bytes for a name, salted with the world."""
        return self.naming.name(scope, key, n)

    @property
    def opening(self) -> Open:
        """The command `Open`: the way in which the world was opened."""
        mode, rate = self.clock.own_mode, self.clock.own_rate / 1000
        return Open(
            self.id, self.shard, self.epoch, self.seed_given, self.salt, self.start_given, self.pinned, mode, rate,
            self.blueprint,
        )  # fmt: skip

    def begin(self) -> None:
        """Journals that it begins."""
        if self.epoch:
            self.journal.add(self.start, CODE["reset"], {"epoch": self.epoch, "scenario": self.blueprint.name})
        else:
            self.journal.add(self.start, CODE["opened"], {"scenario": self.blueprint.name})

    def enter(self, command: Own) -> None:
        """A command of the engine comes in: it is put on record, and carried out."""
        self.record.add(self.clock.now, self.ticks, command)
        command.apply(self)

    def outcome(self, delivery: Delivery, status: int | None, error: str | None) -> None:
        """The command `Outcome`: how the try of a delivery that is under way ended."""
        self.record.outcome(self.clock.now, self.ticks, self.outlets.under_way[delivery])
        self.outlets.outcome(delivery, status, error)
        if succeeded(status, error) or error == NOT_FETCHED:
            for part in self.parts.values():
                if (remark := part.remark(delivery)) is not None:
                    self.advise(remark, self.outlets.id_of(delivery))

    def request(self, record: RequestRecord, call: Call | None = None) -> int:
        """Journals a call of an emulated interface and returns the entry's number.

        It is the command `Call`; `call` stands for it on record where the journal does not keep the body.
        """
        if call is None:
            self.record.call(self.clock.now, self.ticks, record)
        else:
            self.record.add(self.clock.now, self.ticks, call)
        return self.journal.add(self.clock.now, CODE["request"], record)

    def restored(self, name: str) -> None:
        """A new epoch has begun at a checkpoint."""
        self.journal.add(self.clock.now, CODE["restored"], {"name": name, "epoch": self.epoch})

    def advise(self, advice: Advice, about: object = None) -> int:
        """Journals advice that belongs to no request."""
        return self.journal.add(self.clock.now, CODE["advice"], (advice, about))

    def journal_act(self, name: str, detail: JsonObject) -> int:
        """Journals what a tester did through control."""
        return self.journal.add(self.clock.now, CODE["control"], {"what": name, **detail})

    # -- names and views used everywhere

    def delivery_name(self, key: bytes) -> str:
        """The id of a delivery, from what names its first event."""
        return uuid_text(self.name("delivery", key))

    def dispose(self) -> Iterator[None]:
        """Takes the cycles of a closed world apart, so that it is freed by its counts; pauses now and then."""
        self.timeline.clear()
        self.outlets.clear()
        del self.outlets._world, self.outlets.faults._world, self.outlets.injection.world
        for part in self.parts.values():
            yield from part.release()
        self.parts.clear()

    @property
    def idle(self) -> bool:
        """True if nothing is scheduled, waiting or under way."""
        return not self.timeline.steps and not self.outlets.ready and not self.outlets.in_flight
