"""The runtime's record for each world, and the small things that the runtime's parts share."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Protocol, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.draws import tag_of
from sendbox.runtime import wall
from sendbox.runtime.loops import Calls
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.spool import Spool

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.commands.command import Open
    from sendbox.engine.commands.record import Record
    from sendbox.engine.coverage import Sum
    from sendbox.engine.forgetting import Forgetting, Memory
    from sendbox.engine.world import World
    from sendbox.settings import Settings


#: Real nanoseconds of work after which the loop gets its turn.
SLICE_NS: Final = 700_000
#: Ticks between two looks at the machine's clock: as many as may take long, and as many as never did so far.
MIN_TICKS: Final = 32
MAX_TICKS: Final = 128
#: So many different remarks are counted for a world, and so many are named in the summary.
MOST_ADVISED: Final = 1_000
MOST_NAMED: Final = 20
#: Failed tries of an advance are told apart by so many pairs of target and outcome.
MOST_FAILURES: Final = 20
#: Checkpoints that a world keeps: each holds a place for every command before it.
CHECKPOINTS: Final = 100

T = TypeVar("T")
Deliverer = Callable[[HttpCall], Awaitable[Outcome]]


def fresh_id(source: str, prefix: str = "test-") -> str:
    """An id for a world that is not named: a prefix and 14 hexadecimal digits, of the source and of the time."""
    return f"{prefix}{tag_of(f'{source} {wall.monotonic_ns()}')[2:]}"


class Conflict(Exception):
    """A request that cannot be carried out now. `error` is a stable word, `detail` goes into the answer."""

    status: ClassVar[int] = 409

    def __init__(self, error: str, message: str, **detail: object) -> None:
        super().__init__(message)
        self.error = error
        self.message = message
        self.detail = detail


class Capped(Conflict):
    """No further world can be opened: so many are open already."""

    status = 503


class Refusal(msgspec.Struct, eq=False):
    """A call that came into no world, and why. `at` is wall time: there is no world whose clock could be read.

    `outcome` is `denied`, or `full` where a bound of the server is reached and the key may be good.
    """

    at: int
    key: str | None
    path: str
    why: str
    what_to_do: str
    outcome: Literal["denied", "full"] = "denied"


class CloseReason(Struct, frozen=True):
    """The reason why a world is gone, and whether its key is denied since then."""

    why: str
    denied: bool


class Slice:
    """Work in slices: between two pieces of work the loop gets its turn, once they have taken long enough."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = wall.monotonic_ns()

    @property
    def over(self) -> bool:
        """True if the loop should have its turn."""
        return wall.monotonic_ns() - self._began > SLICE_NS

    def begin(self) -> None:
        """The loop just had its turn."""
        self._began = wall.monotonic_ns()

    async def pause(self) -> None:
        """Gives the loop its turn if it is time."""
        if self.over:
            await asyncio.sleep(0)
            self.begin()

    async def through(self, work: Generator[Callable[[], None] | None, None, T]) -> T:
        """Does work, pausing where it yields None, calling off the loop what else it yields; returns its result.

        Work that is cancelled is closed.
        """
        try:
            while True:
                try:
                    load = next(work)
                except StopIteration as end:
                    result: T = end.value
                    return result
                if load is None:
                    await self.pause()
                else:
                    await asyncio.get_running_loop().run_in_executor(None, load)
                    self.begin()
        finally:
            work.close()


class Portion:
    """How many ticks are done between two looks at the clock: more of them where they take a small part of a slice."""

    __slots__ = ("ticks",)

    def __init__(self) -> None:
        self.ticks = MIN_TICKS

    def fit(self, took: int) -> None:
        """Fits the next portion to the nanoseconds that this one took."""
        if took > SLICE_NS // 2:
            self.ticks = MIN_TICKS
        elif took < SLICE_NS // 8:
            self.ticks = min(2 * self.ticks, MAX_TICKS)


def spread(steps: Iterator[None], then: Callable[[], object] = lambda: None) -> None:
    """Takes steps in slices, this one and more of them in later turns of the loop; afterwards calls `then`."""
    work = Slice()
    for _ in steps:
        if work.over:
            asyncio.get_running_loop().call_soon(spread, steps, then)
            return
    then()


class Changing(msgspec.Struct, eq=False, kw_only=True):
    """Something that changes, and who waits for that."""

    #: who waits for something to happen, and how often something did
    changed: set[asyncio.Future[None]] = msgspec.field(default_factory=set)
    changes: int = 0
    #: the streams of what happens here, oldest first: done where one must end
    streams: deque[asyncio.Future[None]] = msgspec.field(default_factory=deque)

    def touch(self) -> None:
        """Something happened: those who wait for it look again."""
        self.changes += 1
        if self.changed:
            waiting, self.changed = self.changed, set()
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    async def change(self) -> None:
        """Waits until something happens."""
        await change_of((self,))


async def change_of(sources: Collection[Changing]) -> None:
    """Waits until something happens at one of these."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    for source in sources:
        source.changed.add(future)
    try:
        await future
    finally:
        for source in sources:
            source.changed.discard(future)


class ScenarioPlayer(Protocol):
    """The player of a world's scenario, with its progress in this epoch."""

    def end(self) -> object:
        """The epoch ends: nothing more is sent, and webhooks go to their targets again."""


class Attendance(msgspec.Struct, eq=False):
    """The record of clients that fetch the calls in an outbox."""

    #: long polls that wait
    polls: int = 0
    #: the monotonic clock, in nanoseconds, when a client last asked or reported; None: none did
    seen: int | None = None
    #: a webhook had its time in this advance, and no client asked
    missed: bool = False
    #: tries of this advance that no client fetched
    unfetched: int = 0
    #: the log has a warning that no client fetches, and none did since
    warned: bool = False

    def begin(self) -> None:
        """An advance begins."""
        self.missed, self.unfetched = False, 0

    def note(self, now: int) -> None:
        """A client asked for calls, or reported one."""
        self.seen, self.missed, self.warned = now, False, False

    def present(self, now: int, patience: float) -> bool:
        """True if a client waits for calls, or asked within the last `patience` real seconds."""
        return bool(self.polls) or (self.seen is not None and now - self.seen <= patience * 1e9)


class AdviceCounts:
    """The number of times that each advice was given in a world, by its code, the operation and the place.

    Beyond a bound new advice is only counted, so that a client that always causes more fills neither memory nor log.
    """

    __slots__ = ("_beyond", "_counts", "_distinct")

    def __init__(self) -> None:
        self._counts: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
        self._distinct = self._beyond = 0

    def note(self, operation: str, places: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Count advice by its code and place; return those of which the log has no line yet."""
        counts, new = self._counts[operation], []
        for place in places:
            count = counts.get(place)
            if count is not None:
                counts[place] = count + 1
            elif self._distinct >= MOST_ADVISED:
                self._beyond += 1
            else:
                counts[place] = 1
                self._distinct += 1
                new.append(place)
        return new

    def summary(self) -> str:
        """Return the advice that was given more often than the log says, the most frequent first."""
        repeated = [
            (count, code, operation, path)
            for operation, counts in self._counts.items()
            for (code, path), count in counts.items()
            if count > 1
        ]
        repeated.sort(key=lambda row: -row[0])
        lines = [f"{count} × {code} on {operation} at {path}" for count, code, operation, path in repeated[:MOST_NAMED]]
        rest = self._beyond + sum(count for count, *_ in repeated[MOST_NAMED:])
        return ", ".join([*lines, *([f"{rest} × others"] if rest else [])])


class FailedTries(msgspec.Struct, eq=False):
    """The tries of an advance that their receivers let fail, counted as they end.

    `counts` has them by target and outcome; beyond a bound those to further targets are only counted in `others`.
    """

    counts: dict[tuple[str, str], int] = msgspec.field(default_factory=dict)
    others: int = 0

    def add(self, target: str, outcome: str) -> None:
        """Count one."""
        failure = (target, outcome)
        if failure in self.counts or len(self.counts) < MOST_FAILURES:
            self.counts[failure] = self.counts.get(failure, 0) + 1
        else:
            self.others += 1


class HostedWorld(Changing, eq=False):
    """A world and what the runtime keeps beside it."""

    world: World
    blueprint: Blueprint
    #: what it was opened with, and whether its deliveries waited in the outbox from then on
    opened: Open | None = None
    opened_pulling: bool = False
    #: its place among the open worlds (`OpenWorlds`)
    number: int = 0
    #: what a scenario change left for the next reset
    next_blueprint: Blueprint | None = None
    #: how addresses of its journal begin, for calls that came to an origin
    hint: tuple[str, bytes] = ("", b"")
    advancing: bool = False
    #: done once the command that is at work in slices has ended; nothing else comes into the world before
    working: asyncio.Future[None] | None = None
    #: where long bodies lie
    spool: Spool = msgspec.field(default_factory=Spool)
    #: outcomes of a round of which some tries have not ended
    round_outcomes: dict[Delivery, tuple[HttpCall, Outcome]] = msgspec.field(default_factory=dict)
    #: the start, in virtual milliseconds, and whether it counts as pinned, of a world that begins with its first
    #: command or reading of time; None once it has begun
    starts: Callable[[], tuple[int, bool]] | None = None
    #: what of the world may be forgotten; None if nothing ever is
    forgetting: Forgetting | None = None
    #: the memory that it keeps, for its quota; None until it is counted
    memory: Memory | None = None
    #: the world has ended, and why
    gone: bool = False
    why: str = "the server ended"
    #: it was closed with this number, and whether it can still be read (`ClosedWorlds`)
    closed: int = 0
    kept: bool = False
    #: the monotonic reading at its last use; and such a reading with the instant of the machine that it was at
    used: int = 0
    dated: tuple[int, int] = (-1, 0)
    #: why the world before it with this key ended, where no tester closed it; and whether no answer has said so yet
    before: str | None = None
    news: bool = False
    #: messages of it that are counted (`Counts`)
    counted: int = 0
    #: advice that was given, and how far the journal was read for the log
    advised: AdviceCounts = msgspec.field(default_factory=AdviceCounts)
    logged: int = 0
    #: what was tried in earlier epochs, where it is kept (`Tried`)
    tried: Sum | None = None
    #: the instant of a step that is too far away for an `auto` clock, as the log has said
    too_far: int | None = None
    #: the step that an `auto` clock is taking by itself, or the move that comes before the answer to a call
    auto: asyncio.Task[None] | None = None
    #: calls whose answers wait for deliveries
    answering: int = 0
    #: requests of emulated interfaces that are being answered, a token each
    open: set[object] = msgspec.field(default_factory=set)
    #: calls of its receivers while it advances
    calls: Calls = msgspec.field(default_factory=Calls)
    #: ends the answers that a fault delays, with this epoch
    lingering: set[asyncio.Future[None]] = msgspec.field(default_factory=set)
    #: those of them that have no other end
    endless: set[asyncio.Future[None]] = msgspec.field(default_factory=set)
    #: calls of control that are at work, and those that may still look at this world
    controls: int = 0
    readers: int = 0
    #: long polls of control that wait for something to happen
    waits: int = 0
    #: the server is about to stop: no call waits for anything to happen any more
    leaving: bool = False
    #: wakes an advance that waits for requests to be answered, or for deliveries to end
    stirred: asyncio.Future[None] | None = None
    timer: asyncio.TimerHandle | None = None
    busy: bool = False
    tasks: set[asyncio.Task[None]] = msgspec.field(default_factory=set)
    deliverer: Deliverer | None = None
    playing: ScenarioPlayer | None = None
    #: the targets to which webhooks may not go, and which the log has named
    not_allowed: set[str] = msgspec.field(default_factory=set)
    #: the settings of this world, None: those of the server
    settings: Settings | None = None
    pulling: bool = False
    #: what waits for a client, by id; with the real seconds that its receiver has
    outbox: dict[str, tuple[HttpCall, Delivery, asyncio.Future[Outcome], float]] = msgspec.field(default_factory=dict)
    #: the ids of those calls of the outbox that a client has fetched
    fetched: set[str] = msgspec.field(default_factory=set)
    attendance: Attendance = msgspec.field(default_factory=Attendance)
    #: of the last advance, or the one that is in progress
    failures: FailedTries = msgspec.field(default_factory=FailedTries)
    checkpoints: dict[str, Record] = msgspec.field(default_factory=dict)
    #: held while a replica of it is brought to a place
    replaying: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    #: how many of this epoch were held against the contract (tests only)
    checked: int = 0

    @property
    def loaded(self) -> Blueprint:
        """The scenario that the world has now, or from its next reset on."""
        return self.next_blueprint or self.blueprint

    @property
    def path(self) -> str:
        """The path at which control shows this world."""
        return f"/_sandbox/worlds/{quote(self.world.id, safe='')}"

    @property
    def still(self) -> bool:
        """True if no task is at work here and no reader looks at it."""
        return not (self.open or self.readers or self.tasks or self.advancing)

    @property
    def in_use(self) -> bool:
        """True if a call is at work here, or waits."""
        return not self.still or self.working is not None or bool(self.controls or self.waits or self.lingering)

    @property
    def ready(self) -> bool:
        """True if a call may come in at once: the world has begun, does not advance, and no command is at work."""
        return not (self.advancing or self.starts or self.gone) and self.working is None

    async def wait_until_idle(self) -> None:
        """Waits until no command is at work: a world performs one command after another."""
        while self.working is not None:
            await asyncio.shield(self.working)

    async def run_exclusively(self, work: Generator[Callable[[], None] | None, None, T]) -> T:
        """Performs a command that takes time (`Slice.through`); no other command is performed meanwhile."""
        self.working = asyncio.get_running_loop().create_future()
        try:
            return await Slice().through(work)
        finally:
            ended, self.working = self.working, None
            ended.set_result(None)
            self.stir()

    def request_began(self) -> object:
        """A request of an emulated interface arrived; what this returns ends it."""
        token = object()
        self.open.add(token)
        return token

    def request_ended(self, token: object) -> None:
        """A request of an emulated interface was answered."""
        self.open.discard(token)
        if not self.open:
            self.stir()

    def stir(self) -> None:
        """An advance that waits looks again."""
        if self.stirred is not None and not self.stirred.done():
            self.stirred.set_result(None)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits, for an advance, until something holds; looks whenever it is stirred."""
        while not holds():
            self.stirred = asyncio.get_running_loop().create_future()
            await self.stirred
