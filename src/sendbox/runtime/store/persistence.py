"""Persistence: the worlds of a runtime in a store, and back.

What comes into worlds in one turn of the loop is written in one commit, on a thread of its own. Nothing that shows it
leaves before: an answer waits for the commit of its group, and so does the try of a webhook. Where a commit fails, the
group is tried again until the store takes it, and all calls are refused until then.

A world of an earlier process is not there until it is first asked for; then it is made again from its record.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from msgspec import Struct, field

from sendbox.engine import ENGINE
from sendbox.engine.commands.command import Command, Open, Overtake, Stamp, Tune
from sendbox.engine.durations import show
from sendbox.engine.kinds.masking import key_shown
from sendbox.runtime import wall
from sendbox.runtime.counts import DURATIONS, Histogram
from sendbox.runtime.interface import RuntimeInterface
from sendbox.runtime.slot import CloseReason, HostedWorld, Slice
from sendbox.runtime.store.drafts import Draft, Drafts
from sendbox.runtime.store.sharing import MOVED, Sharing
from sendbox.runtime.store.store import (
    STORE_FAILED,
    Change,
    Facts,
    LeaseLost,
    SharedStore,
    Store,
    StoredWorld,
    StoreError,
    Unavailable,
)

if TYPE_CHECKING:
    from sendbox.settings import Durability


T = TypeVar("T")
#: Real seconds between two commits with `second`, and between two tries of a commit that failed.
PERIOD: Final = 1.0
#: Called once a group is in the store, or with the reason why it is not.
Then = Callable[[str | None], None]


class Records(Protocol):
    """The form of commands in a store, and the way from a record to a world."""

    def encode(self, stamp: Stamp, command: Command) -> bytes:
        """A command as a store keeps it."""

    def remake(
        self, opened: bytes, lines: Mapping[int, list[bytes]], facts: Facts
    ) -> Generator[Callable[[], None] | None, None, HostedWorld]:
        """Makes a world with its checkpoints again, from the command that opened it and its lines.

        Raises `Unavailable`.
        """


class _Group(Struct, eq=False):
    """The changes of one commit, and who waits for it."""

    drafts: list[Draft]
    waiting: list[Then]
    began: int = field(default_factory=wall.monotonic_ns)


class Persistence:
    """The persistence of one runtime. `load` makes the `Records`; it may take long, and is called off the loop."""

    def __init__(
        self, runtime: RuntimeInterface, store: Store, load: Callable[[], Records], durability: Durability = "call"
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._load = load
        self._records: Records | None = None
        self._delay = 0.0 if durability == "call" else PERIOD
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sendbox-store")
        self._drafts = Drafts()
        self._dirty: dict[HostedWorld, None] = {}
        self._ended: list[StoredWorld] = []
        self._waiting: list[Then] = []
        self._group: _Group | None = None
        self._writing: asyncio.Future[None] | None = None
        self._timer: asyncio.Handle | None = None
        self._closed = False
        #: the seconds that commits took
        self.commits = Histogram(DURATIONS)
        self._waking: dict[str, asyncio.Task[None]] = {}
        #: why the store takes nothing, None while it does
        self.failure: str | None = None
        self._recovery: asyncio.Event = asyncio.Event()
        self.instance = store.take_lease(runtime.instance)
        #: the worlds that are only in the store, in the order of their opening, and their ids by their tags
        self.stored: dict[str, StoredWorld] = {}
        self.tags: dict[str, str] = {}
        #: the part in a store of several processes, None if the store is of this process alone
        self.sharing: Sharing | None = None
        worlds = store.worlds()
        if isinstance(store, SharedStore):
            self.sharing = Sharing(runtime, self, store, runtime.instance)
            for world in worlds:
                if world.facts.cut is not None and (claim := store.claim(world.id)).address is None:
                    self.sharing.take(world.id, claim)
        else:
            for world in worlds:
                runtime.open_worlds.highest = world.number
                self.take(world)
        others = sum(world.engine != ENGINE for world in worlds)
        if others:
            text = f"{others} of {len(worlds)} stored worlds are of another engine than {ENGINE}"
            advice = "start the version that wrote them to continue them, or close them"
            runtime.log("", f"{text}: {advice}; GET /_sandbox/worlds lists them", "warning")
        self._schedule()

    async def prepare(self, address: str) -> None:
        """Loads what the first call needs, which takes long, off the loop. Others call this process at `address`."""
        if self.sharing is not None:
            await self.sharing.advertise(address)
        self._thread.submit(self._loaded)

    async def in_thread(self, method: Callable[[], T]) -> T:
        """The result of a method of the store, called on its thread."""
        return await self._loop.run_in_executor(self._thread, method)

    # -- into the store

    def changed(self, hosted: HostedWorld) -> None:
        """Notes that a command may have come into a world."""
        if hosted.gone:
            return
        self._dirty[hosted] = None
        if self._timer is None and self._group is None:
            self._schedule()

    def ended(self, hosted: HostedWorld) -> None:
        """Notes that a world has ended: nothing of it stays in the store."""
        self._dirty.pop(hosted, None)
        if (row := self._drafts.drop(hosted)) is not None:
            self._remove(row)

    def end_stored(self, world_id: str) -> None:
        """Ends a world that is only in the store."""
        world = self.stored[world_id]
        self._drop(world)
        self._remove(world)

    def _remove(self, world: StoredWorld) -> None:
        self._ended.append(world)
        if self._group is None:
            self._schedule()

    def _schedule(self) -> None:
        """Begins a commit soon; at once where a world has ended, as that is answered when nothing of it is left."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        delay = 0.0 if self._ended else self._delay
        self._timer = self._loop.call_later(delay, self._begin) if delay else self._loop.call_soon(self._begin)

    @property
    def _is_ending(self) -> bool:
        """True while the end of a world waits for its commit."""
        return bool(self._ended) or (
            self._group is not None and any(draft.change.ended for draft in self._group.drafts)
        )

    def after_commit(self, then: Then) -> None:
        """Calls `then` once all that has come in is in the store; at once where nothing must be waited for."""
        if self.failure is not None or (self._delay and not self._is_ending):
            then(self.failure)
        elif self._dirty or self._ended:
            self._waiting.append(then)
        elif self._group is not None:
            self._group.waiting.append(then)
        else:
            then(None)

    async def commit(self) -> str | None:
        """Waits until all that has come in is in the store; returns why it is not, None = it is."""
        ended: asyncio.Future[str | None] = self._loop.create_future()

        def note(why: str | None) -> None:
            if not ended.done():
                ended.set_result(why)

        self.after_commit(note)
        return ended.result() if ended.done() else await ended

    async def flush(self) -> str | None:
        """Writes what has come in now, whatever the `durability`; returns why that cannot be, None = it is done."""
        while self.failure is None and (self._group is not None or self._dirty or self._ended):
            if self._group is None:
                self._begin()
            if self._writing is not None:
                await asyncio.wait({self._writing})
        return self.failure

    async def persist(self) -> None:
        """Waits until all that has come in is in the store, as long as that takes."""
        while await self.commit() is not None:
            self._recovery.clear()
            await self._recovery.wait()

    def _begin(self) -> None:
        """Begins the commit of all that has changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        dirty, self._dirty = self._dirty, {}
        ended, self._ended = self._ended, []
        waiting, self._waiting = self._waiting, []
        drafts = [Draft(Change(world, ended=True), []) for world in ended]
        drafts += [draft for hosted in dirty if not hosted.gone and (draft := self._drafts.draft(hosted)) is not None]
        if drafts:
            self._group = _Group(drafts, waiting)
            self._write()
        else:
            _call(waiting, None)

    def _write(self) -> None:
        assert self._group is not None
        self._timer = None
        self._writing = self._loop.run_in_executor(self._thread, self._commit, self._group)
        self._writing.add_done_callback(partial(self._committed, self._group))

    def _commit(self, group: _Group) -> None:
        """Writes a group; on the thread of the store."""
        encode = self._loaded().encode
        self._store.write([draft.encode(encode) for draft in group.drafts])

    def _loaded(self) -> Records:
        if self._records is None:
            self._records = self._load()
        return self._records

    def _committed(self, group: _Group, future: asyncio.Future[None]) -> None:
        """The commit of a group has ended."""
        self._writing, error = None, future.exception()
        if self._group is not group:  # it was let go
            return
        if isinstance(error, LeaseLost) and self.sharing is not None:
            self.sharing.lose()
            return
        if error is not None:
            self.failed(error)
            waiting, group.waiting = group.waiting, []
            _call(waiting, self.failure)
            self._timer = self._loop.call_later(PERIOD, self._write)
            return
        self._group = self._timer = None
        self.commits.add(wall.monotonic_ns() - group.began)
        self.recovered()
        if self._dirty or self._ended:
            self._schedule()
        _call(group.waiting, None)

    def failed(self, error: BaseException) -> None:
        """Nothing is served until the store can be written."""
        if self.failure is None:
            self._runtime.log("", f"nothing is served until the store can be written: {error}", "error")
        self.failure = str(error)
        waiting, self._waiting = self._waiting, []
        _call(waiting, self.failure)

    def recovered(self) -> None:
        """The store was written; all is served again, unless a group waits for its commit."""
        if self.failure is not None and self._group is None:
            self.failure = None
            self._runtime.log("", "the store can be written again")
            self._recovery.set()

    def let_go_of(self, hosted: HostedWorld) -> bool:
        """Forgets a world that is in the store as it is; returns False if it is not."""
        if hosted in self._dirty or self._group is not None:
            return False
        self._drafts.drop(hosted)
        self._runtime.let_go_of(hosted, MOVED)
        return True

    def let_go(self) -> None:
        """Forgets all worlds and what is on its way into the store; who waits for that has no answer."""
        group, self._group = self._group, None
        waiting, self._waiting = [*([] if group is None else group.waiting), *self._waiting], []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._runtime.let_go(MOVED)
        for world in list(self.stored.values()):
            self._drop(world)
        for kept in (self._drafts, self._dirty, self._ended):
            kept.clear()
        _call(waiting, MOVED)

    # -- out of the store

    def take(self, world: StoredWorld) -> None:
        """From now on this process has a world that is only in the store."""
        if world.facts.cut is not None:
            why = f"the server was restarted, and {world.facts.cut} had cut its record"
            self._runtime.note_gone(world.id, CloseReason(why, denied=False))
            self._remove(world)
            return
        self.stored[world.id] = world
        self.tags[world.facts.tag] = world.id
        self._runtime.count_stored(world, is_stored=True)

    def _drop(self, world: StoredWorld) -> None:
        """A world is not only in the store any more."""
        del self.stored[world.id], self.tags[world.facts.tag]
        self._runtime.count_stored(world, is_stored=False)

    def _listed(self) -> list[StoredWorld]:
        return list(self.stored.values()) if self.sharing is None else self.sharing.listed()

    def after(self, number: int) -> Iterator[StoredWorld]:
        """The worlds that are only in the store and have a higher number."""
        return (world for world in self._listed() if world.number > number)

    def backwards(self, number: int | None) -> Iterator[StoredWorld]:
        """The worlds that are only in the store and have a lower number (None: all), newest first."""
        return (world for world in self._listed()[::-1] if number is None or world.number < number)

    def unused(self, before: int) -> list[str]:
        """The worlds that are only in the store and were last used before an instant of the machine."""
        return [world.id for world in self.stored.values() if world.used < before and world.id not in self._waking]

    @property
    def losses(self) -> int:
        """How often all worlds went to other processes; a call that began before has no answer."""
        return 0 if self.sharing is None else self.sharing.losses

    def is_ready(self, world_id: str) -> bool:
        """True if a call to a world need not wait for the store."""
        return world_id not in self.stored and (self.sharing is None or world_id in self.sharing)

    async def claim(self, world_id: str) -> None:
        """Makes this process the owner of a world. Raises `Elsewhere` if another process has it, and `Unavailable`."""
        if self.sharing is not None and self._runtime.legal_id(world_id):
            await self.sharing.claim(world_id)

    def number_of(self, world_id: str) -> int | None:
        """The number for a world that opens now, None where the process counts. Raises `Unavailable`."""
        return None if self.sharing is None else self.sharing.number_of(world_id)

    async def locate(self, tag: str) -> str | None:
        """The id of the world in the store that has a tag."""
        return self.tags.get(tag) if self.sharing is None else await self.sharing.find(tag)

    async def wake(self, world_id: str) -> None:
        """Makes a world again that is only in the store. Raises `Unavailable`, and `Capped` at the cap."""
        if world_id in self.stored:
            task = self._waking.get(world_id)
            if task is None:
                task = self._waking[world_id] = self._loop.create_task(self._wake(self.stored[world_id]))
                task.add_done_callback(partial(self._woken, world_id))
            await asyncio.shield(task)

    def _woken(self, world_id: str, task: asyncio.Task[None]) -> None:
        del self._waking[world_id]
        if not task.cancelled():
            task.exception()  # who waits for it has it

    async def _wake(self, stored: StoredWorld) -> None:
        name = key_shown(stored.id)
        if stored.engine != ENGINE:
            if self.sharing is not None:
                self._drop(stored)
                await self.sharing.give_back(stored.id)
            raise Unavailable(
                "other_engine",
                f"{name} was recorded by Sendbox {stored.version}, engine {stored.engine}, and this is engine "
                f"{ENGINE}: start that version to continue it, or close it with DELETE /_sandbox/worlds/{name}",
            )
        self._runtime.check_room(waking=True)
        try:
            opened, lines = await self.in_thread(partial(self._read, stored.number))
            hosted = await Slice().through(self._loaded().remake(opened, lines, stored.facts))
        except StoreError as error:
            raise Unavailable(STORE_FAILED, f"{name} cannot be read: {error}") from None
        if self.stored.get(stored.id) is stored:  # else it was closed meanwhile
            self._continue(stored, hosted)

    def _read(self, number: int) -> tuple[bytes, dict[int, list[bytes]]]:
        self._loaded()
        return self._store.record(number)

    def _continue(self, stored: StoredWorld, hosted: HostedWorld) -> None:
        """Puts a world that was made again in its place; what the end of the process cut off goes on."""
        runtime, world, facts = self._runtime, hosted.world, stored.facts
        record, outlets = world.record, world.outlets
        self._drop(stored)
        hosted.number, hosted.opened_pulling, hosted.pulling = stored.number, facts.opened_pulling, outlets.captured
        if facts.late is not None:
            hosted.starts = wall.present if facts.late else partial(_start_of, world.opening)
        self._drafts.resume(hosted, stored)
        if (record.at[-1], record.ticks[-1]) != (world.now, world.ticks):  # a move was cut off
            record.moved(world.now, world.ticks, len(record), by_hand=world.clock.mode == "manual")
        if world.clock.mode == "real" and hosted.starts is None:
            stood = max(0, wall.now_ms() - stored.used)
            world.enter(Tune(world.now, {"stood_still": show(stood)}))
        if outlets.injection.racing:  # the answer that they came before is lost
            world.enter(Overtake(tuple(sorted(outlets.injection.racing)), leaves=True))
        outlets.take()
        if self.sharing is not None:
            self.sharing.note_waking(stored.id)
        runtime.resume(hosted)

    async def aclose(self) -> None:
        """Writes what is left, and closes the store."""
        for task in list(self._waking.values()):
            task.cancel()
        if self.sharing is not None:
            self.sharing.close()
        await self.flush()
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown()
        with contextlib.suppress(StoreError):
            self._store.close()


def _start_of(opened: Open) -> tuple[int, bool]:
    return opened.start, opened.pinned


def _call(waiting: list[Then], why: str | None) -> None:
    for then in waiting:
        then(why)
