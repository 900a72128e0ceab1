"""A world: an isolated universe with its own clock, seed, account, phones and journal.

A world takes commands, which a service gives it, and the passing of time (`run`). What must leave it,
batches of events on their way to a target, waits in `outlets` until somebody outside takes it and says how it went.
Nothing here does I/O or looks at a clock of the machine; one thread touches a world at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from heapq import heappop
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from sendbox.engine.clock import Clock, Mode
from sendbox.engine.delivery.events import Events
from sendbox.engine.delivery.home import Carriage
from sendbox.engine.delivery.targets import Outlets
from sendbox.engine.faults.calls import ApiFaults
from sendbox.engine.identity import derive, seed_bytes, tag_of, uuid_text
from sendbox.engine.journal import CODE, Capped, Journal
from sendbox.engine.polls import Polls
from sendbox.engine.remarks import Advice
from sendbox.engine.requests import RequestRecord
from sendbox.engine.timeline import Timeline

if TYPE_CHECKING:
    from sendbox.engine.delivery.rules import WebhookRule
    from sendbox.engine.expect.expectation import Expectation
    from sendbox.engine.faults.calls import ApiRule

#: How many light things (an event bundled, a lapse journaled) take as long as firing one step.
LIGHT: Final = 16


class Settled(Protocol):
    """What a scenario settles for the engine; a service's blueprint holds more."""

    @property
    def seed(self) -> int | str: ...
    @property
    def mode(self) -> Mode | None: ...
    @property
    def rate(self) -> float: ...
    @property
    def api(self) -> tuple[ApiRule, ...]: ...
    @property
    def webhooks(self) -> tuple[WebhookRule, ...]: ...
    @property
    def expect(self) -> tuple[Expectation, ...]: ...
    @property
    def digest_ignore(self) -> tuple[str, ...]: ...
    @property
    def assume(self) -> Carriage: ...

    def shared(self) -> tuple[Any, ...]:
        """What worlds refer to as it is; a checkpoint does not copy it."""


class World:
    """One world. Instants are virtual milliseconds since 1970. A service derives its worlds from this one."""

    #: the rows of all types of events
    events: ClassVar[Events] = {}
    assume: Carriage
    # slots: a world has more parts than instances of a class share a table for, and all are asked on the hot path
    __slots__ = (
        "__weakref__",
        "_equal",
        "api",
        "blueprint",
        "clock",
        "epoch",
        "expect",
        "fired",
        "id",
        "instants",
        "journal",
        "moves",
        "names",
        "outlets",
        "pinned",
        "polls",
        "salt",
        "seed",
        "seed_given",
        "shard",
        "start",
        "start_given",
        "tag",
        "timeline",
    )

    def __init__(
        self,
        world_id: str,
        blueprint: Settled,
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
    ) -> None:
        self.id = world_id
        self.tag = tag_of(world_id, shard)
        self.shard = shard
        self.blueprint = blueprint
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
        self.api = ApiFaults(blueprint.api, self.seed)
        self.fired = 0
        #: how many instants the clock was moved to
        self.instants = 0
        #: what clients ask again and again while time stands
        self.polls = Polls()
        #: advances, for whoever carries the world out again: (entries before, entries after, instant reached)
        self.moves: list[tuple[int, int, int]] = []
        self._equal: dict[bytes, int] = {}
        self.outlets = Outlets(self, blueprint.webhooks)

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
                if self.lapses(at, kind, what):
                    self.journal.add(at, CODE["lapse"], (kind, what))
                self.clock.move(max(at, self.clock.now))
                told = self.lapsed(kind, what) or told
            if told:  # somebody hears of it at this instant, before the clock goes on
                self.instants += 1
                return False
        self.clock.move(instant)
        self.instants += 1
        return True

    def lapses(self, at: int, kind: str, what: Any) -> bool:
        """Whether what was to lapse now really does."""
        return True

    @property
    def plain_names(self) -> Mapping[str, str]:
        """Names that the world gave out, and what they were derived from: the digest has the latter."""
        return {}

    def alias(self, name: str) -> str:
        """A key or an account without what differs between worlds."""
        return name

    def lapsed(self, kind: str, what: Any) -> bool:
        """Something lapsed, and the clock shows its instant; whether that is told to somebody."""
        return False

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
        for part in (self.outlets, self.outlets.faults, self.outlets.detours):
            del part._world
        yield from ()

    @property
    def idle(self) -> bool:
        """Whether nothing is scheduled, waiting or under way."""
        return not self.timeline.steps and not self.outlets.ready and not self.outlets.in_flight
