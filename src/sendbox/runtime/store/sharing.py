"""Sharing: the worlds that this process has of a store of several processes, and where the others are.

A world is claimed when it is first asked for. A process that was taken for dead lets go of all its worlds: others may
have gone on with them. Then it goes on as a process without worlds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, Protocol, TypeVar

from sendbox.runtime import wall
from sendbox.runtime.interface import RuntimeInterface
from sendbox.runtime.slot import Conflict, HostedWorld
from sendbox.runtime.store.store import (
    LEASE,
    STORE_FAILED,
    Claim,
    LeaseLost,
    SharedStore,
    StoredWorld,
    StoreError,
    Unavailable,
)

T = TypeVar("T")
#: Real seconds between two renewals, and until a process that does not answer is asked again.
PERIOD: Final = 1.0
PAUSE: Final = 0.05
#: Every so many renewals ids are given back that are not used, and worlds are looked for that nobody uses any more.
LOOKS: Final = 10
#: Milliseconds since its last use in which a world whose clock runs by itself is gone on with unasked.
ADOPTED: Final = 60_000
#: Real seconds after which a renewed lease is taken for ended here: before it has ended in the database.
VALID: Final = LEASE - PERIOD
MOVED: Final = "the worlds of this process went to others, because its lease had ended; make the call again"


class Elsewhere(Exception):
    """A call to a world that another process has, which is called at `address`; "" where that takes no calls now."""

    def __init__(self, world_id: str, address: str) -> None:
        super().__init__(f"{world_id} is at {address}")
        self.world_id = world_id
        self.address = address


class PersistenceInterface(Protocol):
    """The part of the persistence of a runtime that its sharing uses."""

    failure: str | None
    stored: dict[str, StoredWorld]

    async def in_thread(self, method: Callable[[], T]) -> T:
        """The result of a method of the store, called on its thread."""

    async def flush(self) -> str | None:
        """Writes what has come in now; returns why that cannot be, None = it is done."""

    def take(self, world: StoredWorld) -> None:
        """From now on this process has a world that is only in the store."""

    def let_go_of(self, hosted: HostedWorld) -> bool:
        """Forgets a world that is in the store as it is; returns False if it is not."""

    def let_go(self) -> None:
        """Forgets all worlds and what is on its way into the store."""

    def failed(self, error: BaseException) -> None:
        """Nothing is served until the store can be written."""

    def recovered(self) -> None:
        """The store was written; all is served again."""


class Sharing:
    """The part that one process has in a shared store. To be used on the loop of its runtime."""

    def __init__(
        self, runtime: RuntimeInterface, persistence: PersistenceInterface, store: SharedStore, name: str
    ) -> None:
        self._runtime = runtime
        self._persistence = persistence
        self._store = store
        self._name = name
        self._address = ""
        self._loop = asyncio.get_running_loop()
        #: ids that this process has claimed, with the number for a world that opens under it, if that is not used yet
        self._numbers: dict[str, int | None] = {}
        #: those of them under which there was nothing at the last look
        self._idle: set[str] = set()
        #: how often all worlds were lost; a call that began before has no answer
        self.losses = 0
        #: all worlds of the store at the last look, by id
        self._listed: dict[str, StoredWorld] = {}
        self._lost, self._until = False, self._loop.time() + VALID
        self._renewing = asyncio.Lock()
        self._looks = 0
        #: the other processes of which calls wait for an answer, and what is done when they have lost their leases
        self._watched: list[tuple[str, asyncio.Future[None]]] = []
        self._timer = self._loop.call_later(PERIOD, self._tick)
        self._ticking: asyncio.Task[None] | None = None
        self._adopting: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, world_id: object) -> bool:
        """True if this process has a world, or the right to open it, for certain."""
        held = self._numbers.get(str(world_id)) is not None or self._runtime.is_open(str(world_id))
        return held and self._loop.time() < self._until

    async def _call(self, method: Callable[[], T]) -> T:
        """The result of a method of the store. Raises `Unavailable`."""
        try:
            return await self._persistence.in_thread(method)
        except LeaseLost:
            await self.renew()
            raise Unavailable(STORE_FAILED, MOVED) from None
        except StoreError as error:
            raise Unavailable(STORE_FAILED, str(error)) from None

    # -- the lease

    async def advertise(self, address: str) -> None:
        """Says where this process is called by others."""
        self._address = address
        await self._call(partial(self._store.advertise, address))
        self._runtime.log("", f"other processes with this database call this one at {address}")

    def _tick(self) -> None:
        self._timer = self._loop.call_later(PERIOD, self._tick)
        if self._ticking is None or self._ticking.done():
            self._ticking = self._loop.create_task(self._look())

    async def _look(self) -> None:
        """Renews the lease, and gives back what is not used."""
        await self.renew()
        if self._persistence.failure is None and self._leaving is None:
            await self.balance_leases()

    async def renew(self) -> None:
        """Makes the lease last from now on; where it was lost, lets go of all worlds, and takes a new one."""
        async with self._renewing:
            try:
                with suppress(LeaseLost):
                    await self._renew()
                    return
                self.lose()
                await self._renew()
            except StoreError as error:
                self._persistence.failed(error)

    async def _renew(self) -> None:
        began = self._loop.time()
        await self._persistence.in_thread(self._begin_anew if self._lost else self._store.renew)
        self._lost, self._until = False, began + VALID
        self._persistence.recovered()

    def _begin_anew(self) -> None:
        self._store.take_lease(f"{self._name}.{self.losses}")
        self._store.advertise(self._address)

    def lose(self) -> None:
        """Lets go of all worlds: others may have them."""
        self.losses += 1
        self._lost, self._until = True, 0.0
        self._runtime.log("", "the lease of this process had ended: its worlds go to other processes", "warning")
        self._numbers.clear()
        self._idle.clear()
        self._persistence.let_go()

    async def balance_leases(self) -> None:
        """Gives back what is not used, and takes what no process has any more and must go on, or end."""
        self._looks += 1
        with suppress(StoreError, Unavailable):  # the next renewal says why
            await self.notify_watchers()
            if self._looks % LOOKS == 0:
                await self.release()
                await self.claim_unused()
            if self._adopting is None or self._adopting.done():
                after = partial(self._store.orphans, wall.now_ms() - ADOPTED)
                self._adopting = self._loop.create_task(self.adopt(await self._call(after)))

    async def adopt(self, orphans: Sequence[StoredWorld]) -> None:
        """Goes on with the worlds of nobody in which something is to happen, and whose clocks run by themselves."""
        for world in orphans:
            if world.facts.mode != "manual" and (world.facts.due is not None or world.facts.webhooks):
                with suppress(Elsewhere, Conflict):
                    await self._runtime.wake(world.id)

    async def release(self) -> None:
        """Gives back the ids that were without a world, open or closed, at two looks in a row."""
        idle = {world_id for world_id in self._numbers if not self._runtime.knows(world_id)}
        released = list(idle & self._idle)
        self._idle = idle - self._idle
        for world_id in released:
            del self._numbers[world_id]
        if released:
            await self._persistence.in_thread(partial(self._store.release, released))

    async def claim_unused(self) -> None:
        """Claims worlds that no process has and nobody used for `--world-ttl`, so that they end here."""
        before = self._runtime.unused_before()
        if before is not None:
            await self.claim_all("", before)

    # -- worlds

    async def claim(self, world_id: str) -> None:
        """Makes this process the owner of a world. Raises `Elsewhere` if another has it, and `Unavailable`."""
        self._idle.discard(world_id)
        if self._loop.time() >= self._until:
            await self.renew()
        if world_id in self:
            return
        if world_id in self._numbers and (why := await self._persistence.flush()) is not None:
            raise Unavailable(STORE_FAILED, why)  # its world was closed: the next one gets another number
        claim = await self._call(partial(self._store.claim, world_id))
        if claim.address is not None:
            gone = claim.leaving or claim.address == self._address  # a process before this one, at the same address
            raise Elsewhere(world_id, "" if gone else claim.address)
        self.take(world_id, claim)

    def take(self, world_id: str, claim: Claim) -> None:
        """From now on this process has a world, or the right to open it."""
        if self._numbers.get(world_id) is None and not self._runtime.is_open(world_id):
            self._numbers[world_id] = claim.number
            if claim.world is not None:
                self._persistence.take(claim.world)

    def number_of(self, world_id: str) -> int:
        """The number for a world that opens now. Raises `Unavailable` if it was not claimed, or was lost since."""
        number = self._numbers.get(world_id)
        if number is None:
            raise Unavailable(STORE_FAILED, MOVED)
        self._numbers[world_id] = None
        return number

    def note_waking(self, world_id: str) -> None:
        """A world is open that has its number."""
        self._numbers[world_id] = None

    async def give_back(self, world_id: str) -> None:
        """Gives back a world that is only in the store and cannot be continued here: another process may be able to."""
        del self._numbers[world_id]
        await self._call(partial(self._store.release, [world_id]))

    async def claim_all(self, prefix: str, before: int | None = None) -> None:
        """Makes this process the owner of the worlds that no process has, and whose ids begin so."""
        for world in await self._call(partial(self._store.claim_many, prefix, before)):
            self.take(world.id, Claim(number=world.number, world=world))

    async def find(self, tag: str) -> str | None:
        """The id of the world with a tag."""
        return await self._call(partial(self._store.find, tag))

    async def refresh(self) -> None:
        """Looks at the worlds of the store."""
        self._listed = {world.id: world for world in await self._call(self._store.worlds)}

    def listed(self) -> list[StoredWorld]:
        """The worlds of the store at the last look, in their order, but for those that are open or closed here."""
        stored = self._persistence.stored
        return [world for world in self._listed.values() if world.id in stored or world.id not in self._numbers]

    async def others(self) -> list[str]:
        """The addresses of the other processes."""
        return await self._call(self._store.others)

    @contextmanager
    def watched(self, address: str) -> Iterator[asyncio.Future[None]]:
        """A future that is done once another process has lost its lease: its machine may be gone without a word."""
        lost: asyncio.Future[None] = self._loop.create_future()
        self._watched.append((address, lost))
        try:
            yield lost
        finally:
            self._watched.remove((address, lost))

    async def notify_watchers(self) -> None:
        """Ends the wait for those that have lost their leases."""
        others = await self.others() if self._watched else []
        for address, lost in self._watched:
            if address not in others and not lost.done():
                lost.set_result(None)

    async def pause(self) -> None:
        """Waits before a process is asked again."""
        over: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_later(PAUSE, over.set_result, None)
        try:
            await over
        finally:
            timer.cancel()

    # -- the end

    async def leave(self) -> None:
        """Says that this process takes no calls any more, and gives its worlds back, each after its last call."""
        try:
            await self._call(self._store.leave)
        except Unavailable as error:
            self._runtime.log("", str(error), "warning")
        self._leaving = self._loop.create_task(self._hand_back())

    async def _hand_back(self) -> None:
        """Gives back the worlds in which no call is at work, until the process has ended."""
        while await self._persistence.flush() is None:
            idle = [hosted for hosted in self._runtime.open_worlds.after(0) if not hosted.in_use]
            released = [hosted.world.id for hosted in idle if self._persistence.let_go_of(hosted)]
            for world_id in released:
                del self._numbers[world_id]
            if released:
                with suppress(StoreError):  # then they are given back at the end
                    await self._persistence.in_thread(partial(self._store.release, released))
            await self.pause()

    def close(self) -> None:
        """No more renewals."""
        self._timer.cancel()
        for task in (self._ticking, self._adopting, self._leaving):
            if task is not None:
                task.cancel()
