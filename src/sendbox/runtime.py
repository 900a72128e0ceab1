"""The runtime: worlds on an event loop.

It finds the world of a key, moves worlds through time, carries their deliveries out and feeds the outcome back. All of
it runs on one thread, the loop's; nothing here holds that loop longer than a few milliseconds.

Settling. While a world advances, its steps are fired in order, and each instant is settled before the next: every
delivery made at it has its answer or has failed, every request that arrived meanwhile has been answered, and nothing is
due at this instant any more. A world in `real` mode is not settled but pumped: time passes there while a receiver
thinks.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from sendbox import wall
from sendbox.core import checkpoint
from sendbox.core.blueprint import Blueprint, Mode
from sendbox.core.events import batch_bytes
from sendbox.core.identity import tag_of
from sendbox.core.journal import CODE
from sendbox.core.keys import Key
from sendbox.core.records import Delivery
from sendbox.core.remarks import Advice
from sendbox.core.why import refusal_line
from sendbox.core.world import World
from sendbox.settings import Settings
from sendbox.webhooks import policy
from sendbox.webhooks.policy import HttpCall, Outcome
from sendbox.webhooks.sender import Sender

#: Bounds of one advance: rounds of deliveries at one instant, instants, and virtual milliseconds.
MAX_ROUNDS: Final = 10_000
MAX_INSTANTS: Final = 100_000
MAX_REACH_MS: Final = 400 * 86_400_000
#: Steps fired between two looks at the clock, and real nanoseconds after which the loop gets its turn.
CHUNK: Final = 32
SLICE_NS: Final = 2_000_000
KEY: Final = re.compile(r"test-[A-Za-z0-9._-]{1,64}")

Deliverer = Callable[[HttpCall], Awaitable[Outcome]]


class Conflict(Exception):
    """What was asked cannot be done now. `error` is a stable word, `detail` goes into the answer."""

    def __init__(self, error: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.error = error
        self.message = message
        self.detail = detail


class Refusal:
    """A key that opened no world, and why."""

    __slots__ = ("at", "key", "path", "what_to_do", "why")

    def __init__(self, at: int, key: str | None, path: str, why: str, what_to_do: str) -> None:
        self.at = at
        self.key = key
        self.path = path
        self.why = why
        self.what_to_do = what_to_do


class Hosted:
    """A world and what the runtime keeps beside it."""

    __slots__ = (
        "advancing", "blueprint", "busy", "changed", "checkpoints", "controls", "deliverer", "gone", "logged", "next_blueprint",
        "open", "outbox", "pulling", "quiet", "tasks", "timer", "told", "world",
    )  # fmt: skip

    def __init__(self, world: World, blueprint: Blueprint) -> None:
        self.world = world
        self.blueprint = blueprint
        #: what a scenario change left for the next reset
        self.next_blueprint: Blueprint | None = None
        self.advancing = False
        #: advice that the log has said
        self.told: set[Advice] = set()
        #: how far the journal was read for the log
        self.logged = 0
        #: the world was closed
        self.gone = False
        #: requests of emulated interfaces that are being answered
        self.open = 0
        self.controls = 0
        self.quiet: asyncio.Event | None = None
        self.changed: set[asyncio.Future[None]] = set()
        self.timer: asyncio.TimerHandle | None = None
        self.busy = False
        self.tasks: set[asyncio.Task[None]] = set()
        self.deliverer: Deliverer | None = None
        self.pulling = False
        self.outbox: dict[str, tuple[HttpCall, Delivery, asyncio.Future[Outcome]]] = {}
        self.checkpoints: dict[str, tuple[bytes, Blueprint]] = {}

    def request_ended(self) -> None:
        """A request of an emulated interface was answered."""
        self.open -= 1
        if self.open == 0 and self.quiet is not None:
            self.quiet.set()

    def touch(self) -> None:
        """Something happened: those who wait for it look again."""
        if self.changed:
            waiting, self.changed = self.changed, set()
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    async def change(self) -> None:
        """Waits until something happens."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.changed.add(future)
        try:
            await future
        finally:
            self.changed.discard(future)


class Runtime:
    """All worlds of one process. Made and used on one event loop."""

    def __init__(self, settings: Settings, blueprint: Blueprint) -> None:
        self.settings = settings
        self.blueprint = blueprint
        self.sender = Sender(ca=settings.callback_ca, insecure=settings.callback_insecure)
        self.worlds: dict[str, Hosted] = {}
        self.closed: set[str] = set()
        self.refused: deque[Refusal] = deque(maxlen=200)
        self._tags: dict[str, str] = {}
        self._drawn = itertools.count(1)
        #: tells two servers apart
        self.instance = tag_of(f"instance {os.getpid()} {wall.monotonic_ns()}")[2:]
        self._loop = asyncio.get_running_loop()
        #: what went out against the contract (tests only)
        self.violations: list[str] = []
        #: called with one line for the log: (world id, line)
        self.log: Callable[[str, str], None] = lambda world, line: None

    # -- worlds

    def find(self, key: str, path: str = "") -> Hosted | None:
        """The world of an API key, opened at its first use (A11: None = denied, and `refused` says why)."""
        hosted = self.worlds.get(key)
        if hosted is not None:
            return hosted
        world_id, _, suffix = key.partition("~")
        if suffix:
            hosted = self.worlds.get(world_id)
            if hosted is not None and key in hosted.world.keys:
                return hosted
            self.refuse(key, path, "this sub-key was never made", "make it with its parent key, then use it")
            return None
        if key in self.closed:
            self.refuse(key, path, "its world was closed", "open it again with POST /_sandbox/worlds")
            return None
        if not self.legal_id(key):
            self.refuse(
                key,
                path,
                "only keys that begin with test- open a world",
                "use test- and 1 to 64 of a-z A-Z 0-9 . _ -, or start the server with --key KEY or --any-key",
            )
            return None
        if len(self.worlds) >= self.settings.max_worlds:
            self.refuse(
                key, path, f"{len(self.worlds)} worlds are open, the cap", "close worlds, or raise --max-worlds"
            )
            return None
        return self.open(key)

    def refuse(self, key: str | None, path: str, why: str, what_to_do: str) -> None:
        """Notes a key that opened no world."""
        self.refused.append(Refusal(wall.now_ms(), key, path, why, what_to_do))
        self.log(key or "-", f"denied {path}: {why}; {what_to_do}")

    def key_of(self, hosted: Hosted, key: str) -> Key:
        """The key record of a world by its id."""
        return hosted.world.keys[key]

    def open(
        self,
        world_id: str | None = None,
        *,
        blueprint: Blueprint | None = None,
        seed: int | str | None = None,
        salt: str | None = None,
        mode: Mode | None = None,
        start: int | None = None,
        rate: float | None = None,
    ) -> Hosted:
        """Opens a world. Raises `Conflict` for an id in use, or at the cap."""
        if world_id is None:
            world_id = self._draw_id()
        if world_id in self.worlds:
            raise Conflict("world_exists", f"{world_id} is open already", world=world_id)
        if len(self.worlds) >= self.settings.max_worlds:
            raise Conflict("too_many_worlds", f"{len(self.worlds)} worlds are open, the cap; close some")
        blueprint = blueprint or self.blueprint
        settings = self.settings
        reading = wall.monotonic_ns()
        for given in (start, blueprint.start, settings.start):
            if given is not None:
                instant = given
                break
        else:
            instant = wall.now_ms() // 1000 * 1000
        world = World(
            world_id,
            blueprint,
            start=instant,
            reading=reading,
            seed=settings.seed if seed is None else seed,
            salt=salt,
            mode=mode or blueprint.mode or settings.mode,
            shard=settings.shard,
        )
        if rate is not None:
            world.clock.change(reading, rate=rate)
        hosted = Hosted(world, blueprint)
        self.worlds[world_id] = hosted
        self.closed.discard(world_id)
        self._tags[world.tag] = world_id
        world.journal.add(instant, CODE["opened"], {"scenario": blueprint.name})
        self.kick(hosted)
        return hosted

    def legal_id(self, world_id: str) -> bool:
        """Whether a key may be the id of a world here."""
        return bool(KEY.fullmatch(world_id)) or world_id in self.settings.keys or self.settings.any_key

    def _draw_id(self) -> str:
        """An id that nobody uses: derived from the process's own count and age, so that two servers differ."""
        while True:
            tag = tag_of(f"{wall.monotonic_ns()} {next(self._drawn)}")[2:]
            if f"test-{tag}" not in self.worlds:
                return f"test-{tag}"

    def by_tag(self, tagged: str) -> Hosted | None:
        """The world of a name that carries its tag (links, tokens)."""
        world_id = self._tags.get(tagged[:16])
        return None if world_id is None else self.worlds.get(world_id)

    def close(self, hosted: Hosted) -> None:
        """Closes a world: its key is denied until it is opened again, and what is under way is dropped."""
        self._drop(hosted)
        self.worlds.pop(hosted.world.id, None)
        self._tags.pop(hosted.world.tag, None)
        self.closed.add(hosted.world.id)
        hosted.gone = True
        hosted.touch()
        self._dispose(hosted.world.dispose())

    def _dispose(self, rest: Iterator[None]) -> None:
        """Takes a closed world apart, a slice a turn of the loop."""
        for _ in rest:
            self._loop.call_soon(self._dispose, rest)
            return

    def reset(self, hosted: Hosted) -> None:
        """Back to the start, in a new epoch; seed and salt stay."""
        self._not_advancing(hosted)
        self._drop(hosted)
        old = hosted.world
        blueprint = hosted.next_blueprint or hosted.blueprint
        seed: int | str | None = old.seed_given
        start = old.start_given
        mode: Mode = old.clock.mode
        if hosted.next_blueprint is not None:
            seed, mode = blueprint.seed, blueprint.mode or mode
            start = start if blueprint.start is None else blueprint.start
        hosted.blueprint = blueprint
        hosted.next_blueprint = None
        hosted.world = World(
            old.id,
            blueprint,
            start=start,
            reading=wall.monotonic_ns(),
            seed=seed,
            salt=old.salt,
            mode=mode,
            shard=old.shard,
            epoch=old.epoch + 1,
        )
        hosted.logged = 0
        hosted.world.outlets.captured = hosted.pulling or hosted.deliverer is not None
        hosted.world.journal.add(start, CODE["reset"], {"epoch": hosted.world.epoch})
        self.changed(hosted)

    def take_checkpoint(self, hosted: Hosted, name: str) -> None:
        """Keeps the world as it stands, under a name."""
        self._not_advancing(hosted)
        hosted.checkpoints[name] = (checkpoint.take(hosted.world), hosted.blueprint)

    def restore(self, hosted: Hosted, name: str) -> None:
        """Back to a checkpoint: the only way in which time goes back. Raises KeyError for an unknown name."""
        self._not_advancing(hosted)
        taken, blueprint = hosted.checkpoints[name]
        self._drop(hosted)
        world = checkpoint.restore(taken, blueprint, hosted.world.epoch + 1)
        world.outlets.captured = hosted.pulling or hosted.deliverer is not None
        world.clock.rebase(wall.monotonic_ns())
        hosted.world = world
        hosted.logged = len(world.journal)
        hosted.blueprint = blueprint
        world.journal.add(world.now, CODE["restored"], {"name": name, "epoch": world.epoch})
        self.changed(hosted)

    def _drop(self, hosted: Hosted) -> None:
        if hosted.timer is not None:
            hosted.timer.cancel()
            hosted.timer = None
        for task in hosted.tasks:
            task.cancel()
        hosted.outbox.clear()

    def _not_advancing(self, hosted: Hosted) -> None:
        if hosted.advancing:
            raise Conflict("advancing", f"{hosted.world.id} is advancing; wait until that call has answered")

    async def aclose(self) -> None:
        """Ends all worlds and the client that delivers."""
        for hosted in list(self.worlds.values()):
            self._drop(hosted)
        await self.sender.close()

    # -- what happens around a request

    def present(self, hosted: Hosted) -> None:
        """Brings a world in `real` mode to the present before something is done in it."""
        if hosted.world.clock.mode == "real" and not hosted.advancing:
            self._pump(hosted)

    def changed(self, hosted: Hosted) -> None:
        """After a request, an outcome or an act: waiters look again, and the clock is wound."""
        hosted.touch()
        self._log_refusals(hosted)
        self.kick(hosted)

    def _log_refusals(self, hosted: Hosted) -> None:
        """One line for each hand-over that was refused since the last look: nobody has to guess why."""
        world = hosted.world
        kinds = world.journal.kind
        number = kinds.find(CODE["refusal"], hosted.logged)
        while number >= 0:
            self.log(world.id, refusal_line(*world.journal.what[number]))
            number = kinds.find(CODE["refusal"], number + 1)
        hosted.logged = len(kinds)

    def kick(self, hosted: Hosted) -> None:
        """Winds the timer of a world whose time passes by itself."""
        world = hosted.world
        mode = world.clock.mode
        if mode == "manual" or hosted.advancing or hosted.busy:
            return
        if hosted.timer is not None:
            hosted.timer.cancel()
            hosted.timer = None
        if mode == "auto":
            if not world.idle:
                hosted.timer = self._loop.call_later(self.settings.quiet, self._auto, hosted)
            return
        if world.outlets.waiting or world.outlets.dirty:
            hosted.timer = self._loop.call_later(0, self._pump, hosted)
            return
        due = world.timeline.next_due()
        if due is not None:
            wait = world.clock.real_ns_until(due, wall.monotonic_ns())
            if wait is not None:
                hosted.timer = self._loop.call_later(min(wait / 1e9, 86_400.0), self._pump, hosted)

    def _pump(self, hosted: Hosted) -> None:
        """Fires what fell due in a world whose time passes, a slice at a time; deliveries go their own way."""
        world = hosted.world
        if world.clock.mode != "real" or hosted.advancing or hosted.busy or self.worlds.get(world.id) is not hosted:
            return
        hosted.busy = True
        began = wall.monotonic_ns()
        until = world.clock.read(began)
        try:
            while True:
                world.run(until, CHUNK)
                for delivery in world.outlets.take():
                    self._spawn(hosted, delivery)
                if world.settled(until):
                    break
                if wall.monotonic_ns() - began > SLICE_NS:
                    hosted.timer = self._loop.call_later(0, self._pump, hosted)
                    break
        finally:
            hosted.busy = False
        hosted.touch()
        self._log_refusals(hosted)
        if world.settled(until):
            self.kick(hosted)

    def _auto(self, hosted: Hosted) -> None:
        """Nothing was open for a while: to the next step (mode `auto`)."""
        hosted.timer = None
        world = hosted.world
        if world.clock.mode != "auto" or hosted.advancing or self.worlds.get(world.id) is not hosted:
            return
        if hosted.open or hosted.controls or world.outlets.in_flight:
            hosted.timer = self._loop.call_later(self.settings.quiet, self._auto, hosted)
            return
        self._keep(hosted, self._auto_step(hosted))

    async def _auto_step(self, hosted: Hosted) -> None:
        try:
            await self.advance(hosted, next_instants=1)
        except Conflict as conflict:
            self.log(hosted.world.id, conflict.message)

    def _spawn(self, hosted: Hosted, delivery: Delivery) -> None:
        self._keep(hosted, self._deliver(hosted, delivery))

    def _keep(self, hosted: Hosted, work: Any) -> None:
        task: asyncio.Task[None] = self._loop.create_task(work)
        hosted.tasks.add(task)
        task.add_done_callback(hosted.tasks.discard)

    # -- time

    async def advance(
        self,
        hosted: Hosted,
        *,
        by: int | None = None,
        to: int | None = None,
        next_instants: int | None = None,
        until_idle: bool = False,
    ) -> dict[str, Any]:
        """Moves a world forward and settles each instant: by milliseconds, to an instant, n instants, or until idle.

        Answers `{from, to, fired, deliveries, failed, first, last, idle, next_due}`; `first` and `last` bound the
        journal's entries made meanwhile. Raises `Conflict`: `advancing`, `past`, `loop`, `too_far`.
        """
        self._not_advancing(hosted)
        self.present(hosted)
        world = hosted.world
        began = world.now
        target = to if to is not None else began + (by or 0)
        if to is not None and to < began:
            raise Conflict("past", f"{to} lies before the world's {began}; time only goes forward")
        if target - began > MAX_REACH_MS:
            raise Conflict("too_far", f"{target - began} ms is more than 400 days in one call; go there in steps")
        hosted.advancing = True
        first = len(world.journal)
        fired = world.fired
        made = len(world.outlets.deliveries)
        epoch = world.epoch
        try:
            if next_instants is not None:
                await self._settle(hosted, world.now, began)
                for _ in range(next_instants):
                    due = world.timeline.next_due()
                    if due is None:
                        break
                    await self._settle(hosted, due, began)
            elif until_idle:
                await self._settle(hosted, began + MAX_REACH_MS, began, rest=False)
            else:
                await self._settle(hosted, target, began)
        finally:
            hosted.advancing = False
            if world.epoch == epoch:
                world.clock.rebase(wall.monotonic_ns())
            self.changed(hosted)
        deliveries = world.outlets.deliveries
        return {
            "from": began,
            "to": world.now,
            "fired": world.fired - fired,
            "deliveries": len(deliveries) - made,
            "failed": sum(1 for delivery in deliveries[made:] if delivery.state == "failed"),
            "first": first,
            "last": len(world.journal),
            "next_due": world.timeline.next_due(),
            "idle": world.idle,
        }

    async def _settle(self, hosted: Hosted, until: int, began: int, *, rest: bool = True) -> None:
        world = hosted.world
        rounds = 0
        at = world.now
        instants = world.instants
        slice_began = wall.monotonic_ns()
        while True:
            if hosted.open:
                await self._quiet(hosted)
                slice_began = wall.monotonic_ns()
            before = world.fired
            world.run(until, CHUNK, rest=rest)
            taken = world.outlets.take()
            if taken:
                await asyncio.gather(*(self._deliver(hosted, delivery) for delivery in taken))
                await asyncio.sleep(0)  # what the receivers asked of us meanwhile is on its way in
                slice_began = wall.monotonic_ns()
            elif world.outlets.in_flight:
                await self._landed(hosted)
                slice_began = wall.monotonic_ns()
            elif not hosted.open and self._done(world, until, rest):
                return
            if world.now == at:
                # a round is a delivery, or a chunk of steps: nothing that ends makes ten thousand at one instant
                rounds += 1 if taken or world.fired - before < CHUNK else 0
                if rounds > MAX_ROUNDS:
                    raise Conflict("loop", f"{world.id} stays at one instant: {self._busy_with(world)}", at=at)
            else:
                at, rounds = world.now, 0
            if world.instants - instants > MAX_INSTANTS:
                raise Conflict(
                    "too_far", f"{MAX_INSTANTS} instants in one call, and more is due: {self._busy_with(world)}"
                )
            if wall.monotonic_ns() - slice_began > SLICE_NS:
                hosted.touch()
                await asyncio.sleep(0)
                slice_began = wall.monotonic_ns()

    @staticmethod
    def _done(world: World, until: int, rest: bool) -> bool:
        if rest:
            return world.settled(until)
        due = world.timeline.next_due()
        return not world.outlets.waiting and (due is None or due > until)

    @staticmethod
    def _busy_with(world: World) -> str:
        steps = world.timeline.steps
        if not steps:
            return "its receivers call it back without end"
        return f"{len(steps)} steps, the next is {steps[0][3].__name__.removesuffix('_due')}"

    async def _quiet(self, hosted: Hosted) -> None:
        """Waits until every request that arrived has been answered."""
        hosted.quiet = asyncio.Event()
        try:
            async with asyncio.timeout(self.settings.patience):
                while hosted.open:
                    hosted.quiet.clear()
                    await hosted.quiet.wait()
        except TimeoutError:
            self.log(hosted.world.id, "a request stays open; the world goes on without its answer")
            hosted.open = 0
        finally:
            hosted.quiet = None

    async def _landed(self, hosted: Hosted) -> None:
        """Waits until the deliveries that were under way before have ended."""
        tasks = [task for task in hosted.tasks if task is not asyncio.current_task()]
        if tasks:
            await asyncio.wait(tasks)
        else:
            await asyncio.sleep(0)

    # -- deliveries

    async def _deliver(self, hosted: Hosted, delivery: Delivery) -> None:
        """One try of one delivery; its outcome is fed back unless the world began a new epoch meanwhile."""
        world = hosted.world
        target = delivery.outlet.target
        call = policy.encode(target, batch_bytes(world, delivery), world.outlets.id_of(delivery))
        patience = self.settings.patience
        if target.timeout_ms is not None:
            patience = min(patience, target.timeout_ms / 1000)
        if hosted.pulling:
            outcome = await self._pulled(hosted, delivery, call, patience)
        elif hosted.deliverer is not None:
            outcome = await hosted.deliverer(call)
        else:
            outcome = await self.sender.send(call, patience)
        if hosted.world is not world:
            return
        world.outlets.outcome(delivery, outcome.status, outcome.error)
        advice = outcome.advice()
        if advice is not None:
            world.advise(advice, world.outlets.id_of(delivery))
        if outcome.error is not None or not outcome.ok:
            self.log(world.id, f"webhook to {call.url} {outcome.error or outcome.status}, try {len(delivery.tries)}")
        self.changed(hosted)

    async def _pulled(self, hosted: Hosted, delivery: Delivery, call: HttpCall, patience: float) -> Outcome:
        """Puts a call into the outbox and waits for somebody who carries it out."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        delivery_id = hosted.world.outlets.id_of(delivery)
        hosted.outbox[delivery_id] = (call, delivery, future)
        hosted.touch()
        try:
            async with asyncio.timeout(patience):
                return await future
        except TimeoutError:
            return Outcome(None, "timeout")
        finally:
            hosted.outbox.pop(delivery_id, None)

    def pull(self, hosted: Hosted, on: bool = True) -> None:
        """From now on deliveries wait in the outbox instead of being pushed."""
        hosted.pulling = on
        hosted.world.outlets.captured = on or hosted.deliverer is not None

    def deliver_to(self, hosted: Hosted, deliverer: Deliverer | None) -> None:
        """From now on deliveries go to an application in this process."""
        hosted.deliverer = deliverer
        hosted.world.outlets.captured = hosted.pulling or deliverer is not None
