"""The runtime: worlds on an event loop.

It finds the world of a key, opens, resets and closes worlds. What moves them through time is `runtime/scheduler.py`,
what carries their deliveries out is `runtime/dispatcher.py`. All of it runs on one thread, and holds its loop briefly.
It is long because all that begins or ends a world is here.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.commands.command import Capture, Checkpoint, Open, Tune
from sendbox.engine.draws import tag_of
from sendbox.engine.kinds.masking import MASK, Mask, key_shown
from sendbox.engine.part import Part
from sendbox.engine.texts import Pattern, regex
from sendbox.engine.timeline import Mode
from sendbox.engine.world import World
from sendbox.runtime import wall
from sendbox.runtime.bounds import Bounds, Builder, Full, resident
from sendbox.runtime.counts import Counts, LoopHolds, messages_made
from sendbox.runtime.dispatcher import Dispatcher
from sendbox.runtime.ending import CLOSED, NOT_STORED, UNKNOWN, CloseReasons, IdleWorlds
from sendbox.runtime.interface import Level, LogLine, WorldHooks
from sendbox.runtime.quotas import OverQuota, Quotas
from sendbox.runtime.registry import ClosedWorlds, OpenWorlds, Replicas
from sendbox.runtime.scheduler import Mover
from sendbox.runtime.sender import Senders
from sendbox.runtime.slot import (
    CHECKPOINTS,
    Capped,
    CloseReason,
    Conflict,
    Deliverer,
    HostedWorld,
    Refusal,
    fresh_id,
    spread,
)
from sendbox.runtime.store.store import STORE_FAILED
from sendbox.runtime.teams import AUDITED, AuditedCall, Token

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.runtime.coverage import Tried
    from sendbox.runtime.store.persistence import Persistence, Records
    from sendbox.runtime.store.store import Store, StoredWorld
    from sendbox.settings import Settings
#: Real seconds after which what a closed world left is taken apart.
SWEEP: Final = 0.05
#: The stable word for a server without memory.
MEMORY_FULL: Final = "memory_full"
KEY: Final = regex(r"test-[A-Za-z0-9._-]{1,64}")
#: How the ids of worlds begin, unless a setting allows others; and what may be in a pattern of them.
BEGINS: Final = "test-"
_LEGAL: Final = regex(r"[A-Za-z0-9._*-]*")
LONGEST: Final = len(BEGINS) + 64


class Runtime:
    """All worlds of one process. Made and used on one event loop.

    `services` are the parts of its worlds, `tried` their coverage, and `logged` makes the lines of an entry for the
    log, by its code. `on_log` is called with each line for the log, `dropped` is how many of them could not be written,
    and `check_batch` the problems of a batch of events (tests only). `reading` is the monotonic clock, in nanoseconds,
    that worlds in `real` mode go by. Worlds outlast the process in a `store`, in the form that `load_records` loads.
    """

    def __init__(
        self,
        settings: Settings,
        blueprint: Blueprint,
        services: Sequence[type[Part]],
        *,
        tried: Tried,
        logged: Mapping[int, Callable[[World, Any], Iterable[str]]],
        on_log: Callable[[LogLine], None] = lambda line: None,
        dropped: Callable[[], int] = lambda: 0,
        check_batch: Callable[[object], list[str]] | None = None,
        reading: Callable[[], int] = wall.monotonic_ns,
        store: Store | None = None,
        load_records: Callable[[], Records] | None = None,
    ) -> None:
        # Long, as a runtime is complete once it is made: all its parts stand here, in the order of their needs.
        self.settings = settings
        self.services = tuple(services)
        self.blueprint = blueprint
        #: replicas of the open ones
        self.replicas: Replicas[Any] = Replicas(self._discard)
        #: reads long scenarios and bodies on a worker thread
        self.builder = Builder()
        self.senders = Senders(
            settings.callbacks,
            public_url=settings.public_url,
            ca=settings.callback_ca,
            insecure=settings.callback_insecure,
        )
        self.worlds: dict[str, HostedWorld] = {}
        self.open_worlds = OpenWorlds()
        self.closed = CloseReasons()
        #: closed worlds that can still be read
        self.closed_worlds = ClosedWorlds(settings.keep_closed, self._forget)
        self.refused: deque[Refusal] = deque(maxlen=200)
        #: the newest calls of control that changed something
        self.audit: deque[AuditedCall] = deque(maxlen=AUDITED)
        self._tags: dict[str, str] = {}
        self._drawn = itertools.count(1)
        #: what it counts of itself
        self.counts = Counts()
        #: tells two servers apart
        self.instance = self._source = tag_of(f"instance {os.getpid()} {wall.monotonic_ns()}")[2:]
        self.reading = reading
        self.tried = tried
        self.logged = logged
        self.on_log = on_log
        self.dropped = dropped
        self.check_batch = check_batch
        #: it is about to stop (`leave`)
        self.leaving = False
        #: what went out against the contract (tests only)
        self.violations: list[str] = []
        self.hooks = WorldHooks()
        self.dispatcher = Dispatcher(self)
        self.mover = Mover(self, self.dispatcher)
        self.present, self.steady, self.advance = self.mover.present, self.mover.steady, self.mover.advance
        self._loop = asyncio.get_running_loop()
        self.holds = LoopHolds(self._loop)
        #: the bounds of what is kept, None if there are none
        limits = (settings.max_journal, settings.max_messages, settings.max_memory)
        self.bounds = None if limits == (None, None, None) else Bounds(self, resident)
        #: the quotas of worlds, None if there are none
        self.quotas = Quotas(settings.quotas, reading) if settings.quotas else None
        self.idle = None if settings.world_ttl is None else IdleWorlds(self, settings.world_ttl)
        self._gone: list[tuple[HostedWorld, World]] = []
        self._sweeper: asyncio.TimerHandle | None = None
        #: None where worlds end with the process
        self.persistence: Persistence | None = None
        #: why a world is not open that this server does not know
        self.unknown = UNKNOWN if store is None else NOT_STORED
        if store is not None:
            from sendbox.runtime.store.persistence import Persistence

            assert load_records is not None
            self.persistence = Persistence(self, store, load_records, settings.durability)
            self.instance = self.persistence.instance

    def log(
        self, world: str, message: str, level: Level = "info", operation: str | None = None, **more: object
    ) -> None:
        """A line for the log, in which secrets are masked."""
        mask = self.mask(world)
        fields = {name: mask.line(value) if isinstance(value, str) else value for name, value in more.items()}
        self.on_log(LogLine(mask.line(message), key_shown(world), level, operation, fields))

    def _log_advice(self, hosted: HostedWorld) -> None:
        """A line for a world that ends: how often each advice was given."""
        summary = hosted.advised.summary()
        if summary:
            self.log(hosted.world.id, f"advice in all: {summary}")

    def mask(self, world_id: str) -> Mask:
        """The mask for the secrets of a world, open or closed, in texts for people."""
        hosted = self.worlds.get(world_id) or self.closed_worlds.worlds.get(world_id)
        if hosted is None:
            return MASK
        return Mask((secret for part in hosted.world.parts.values() for secret in part.secrets), world_id)

    # -- worlds

    def find(self, key: str, path: str = "") -> HostedWorld | None:
        """The world of an API key, opened at its first use (A11: None = denied, and `refused` says why).

        Raises `Capped`, which is among the `refused` too.
        """
        hosted = self.worlds.get(key)
        if hosted is None or hosted.starts is not None:
            hosted = self._find_world(key, path)
        if hosted is not None:
            hosted.used = self.reading()
        return hosted

    def _find_world(self, key: str, path: str) -> HostedWorld | None:
        hosted = self.worlds.get(key)
        if hosted is not None:
            if hosted.starts is not None:
                self.start(hosted, *hosted.starts())
            return hosted
        world_id, _, suffix = key.partition("~")
        if key in self.closed or world_id in self.closed:
            self.refuse(key, path, "its world was closed", "open it again with POST /_sandbox/worlds")
            return None
        if suffix:
            hosted = self.worlds.get(world_id)
            if hosted is not None and hosted.starts is not None:
                self.start(hosted, *hosted.starts())
            if hosted is None and any(service.expects(self.blueprint, suffix) for service in self.services):
                # a sub-key of the scenario opens its world as its parent does
                hosted = self._find_world(world_id, path)
                if hosted is None:
                    return None
            admitted = None if hosted is None else hosted.world.admits(key)
            if admitted is not None:
                if admitted:
                    return hosted
                self.refuse(key, path, "this sub-key is disabled", "enable it with POST /v1/apikey/change")
                return None
            why = "this sub-key was never made"
            if hosted is None:
                gone = self.closed.why(world_id)
                why = f"the world of this sub-key is {f'gone: {gone}' if gone else f'not open: {self.unknown}'}"
            self.refuse(key, path, why, "make it with its parent key, then use it")
            return None
        if not self.legal_id(key):
            self.refuse(
                key,
                path,
                "only keys that begin with test- open a world",
                "use test- and 1 to 64 of a-z A-Z 0-9 . _ -, or start the server with --key KEY or --any-key",
            )
            return None
        if self.settings.strict_keys:
            gone = self.closed.why(key)
            why = f"the world of this key is {f'gone: {gone}' if gone else f'not open: {self.unknown}'}"
            self.refuse(
                key, path, f"{why}, and --strict-keys is set", "open it with PUT or POST under /_sandbox/worlds"
            )
            return None
        if (count := self._world_count) >= self.settings.max_worlds:
            why = f"{count} worlds are open, the cap"
            self.refuse(key, path, why, "close worlds, or raise --max-worlds", full=True)
            raise Capped("too_many_worlds", why)
        if (over := None if self.quotas is None else self.quotas.opening(key)) is not None:
            self.refuse(key, path, *over, full=True)
            raise Capped("quota", over.why)
        return self.open(key)

    def refusal(self, key: str, *, sends: bool) -> Full | None:
        """The reason to refuse a call with a key; None if it is accepted. `sends` says that it makes messages."""
        full = None if self.bounds is None else self.bounds.refusal(key, sends=sends)
        return full if full is not None or self.quotas is None else self.quotas.refusal(key, sends=sends)

    def refuse(self, key: str | None, path: str, why: str, what_to_do: str, *, full: bool = False) -> None:
        """Notes a call that came into no world; a key that may be one of the real service is shown in part only.

        `full` where a bound is reached: the key may be good. Who answers the call tells of it (`refusal_answered`).
        """
        if not full:
            self.tried.refused(path, key)
        key_text = key and key_shown(key)
        self.refused.append(Refusal(wall.now_ms(), key_text, path, why, what_to_do, "full" if full else "denied"))

    def note_control(self, token: Token, caller: str, operation: str, world: str) -> None:
        """Notes in the audit a call of control that changed something."""
        self.audit.append(AuditedCall(wall.now_ms(), token.name, caller, operation, world))

    def refusal_answered(self, operation: str | None, status: int) -> str:
        """Logs the call that was refused last, once its answer is known; returns its outcome."""
        last = self.refused[-1]
        message = f"{last.outcome} {last.path}: {last.why}; {last.what_to_do}"
        self.log(last.key or "", message, "warning", operation, status=status, path=last.path)
        return last.outcome

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
        pinned: bool = True,
        late: bool = False,
    ) -> HostedWorld:
        """Opens a world. Raises `Conflict` for an id in use, `Capped` at the cap.

        `pinned` False where `start` is only the present of the caller; with `late` the start is open
        until the first command or reading of time: then it is the present, or `start`.
        """
        if world_id is None:
            world_id = self.draw_id()
        if world_id in self.worlds or self.is_stored(world_id):
            raise Conflict("world_exists", f"{world_id} is open already", world=world_id)
        self.check_room()
        if (over := None if self.quotas is None else self.quotas.opening(world_id)) is not None:
            raise OverQuota("quota", f"{over.why}; {over.what_to_do}")
        blueprint = blueprint or self.blueprint
        seed, given_start = self._seed(blueprint, seed), start
        blueprint, start = self.hooks.before_open(world_id, blueprint, start)
        late, pinned = (late, pinned) if start == given_start else (False, True)
        opening = self.opening(
            world_id, blueprint=blueprint, seed=seed, salt=salt, mode=mode, start=start, rate=rate, pinned=pinned
        )
        number = None if self.persistence is None else self.persistence.number_of(world_id)
        world = self.make_world(opening)
        hosted = HostedWorld(world, blueprint, opened=opening)
        if late:
            hosted.starts = wall.present if start is None else lambda: (opening.start, opening.pinned)
        self.closed_worlds.drop(world_id)
        self.worlds[world_id] = hosted
        self.open_worlds.add(hosted, number)
        hosted.used = self.reading()
        hosted.leaving = self.leaving
        hosted.before = self.closed.opened(world_id)
        if hosted.before is not None:
            hosted.news = True
            self.log(world_id, f"opened anew: the world before is gone, {hosted.before}")
        self._tags[world.tag] = world_id
        self.hooks.after_open(hosted)
        self.kick(hosted)
        return hosted

    @property
    def _world_count(self) -> int:
        """The number of worlds that are open, or wait in the store for their first call."""
        return len(self.worlds) + (0 if self.persistence is None else len(self.persistence.stored))

    def check_room(self, *, waking: bool = False) -> None:
        """Raises `Capped` at the cap of open worlds, and `Conflict` while the memory is full.

        A stored world that is `waking` was counted when another one opened.
        """
        if (count := len(self.worlds) if waking else self._world_count) >= self.settings.max_worlds:
            raise Capped("too_many_worlds", f"{count} worlds are open, the cap; close some")
        if (full := self.full) is not None:
            raise Conflict(MEMORY_FULL, full)

    def is_stored(self, key: str) -> bool:
        """True if the world of a key is only in the store."""
        return self.persistence is not None and key.partition("~")[0] in self.persistence.stored

    def is_ready(self, key: str) -> bool:
        """True if a call with a key need not wait for the store."""
        return self.persistence is None or self.persistence.is_ready(key.partition("~")[0])

    def is_open(self, world_id: str) -> bool:
        """True if a world is open in this process."""
        return world_id in self.worlds

    def knows(self, world_id: str) -> bool:
        """True if a world is open in this process, or was, or waits here for its first call."""
        return world_id in self.worlds or self.is_stored(world_id) or self.closed.why(world_id) is not None

    def close_stored(self, world_id: str, gone: CloseReason = CLOSED) -> None:
        """Closes a world that is only in the store."""
        assert self.persistence is not None
        self.open_worlds.closed += 1
        self.persistence.end_stored(world_id)
        self.note_gone(world_id, gone)

    def note_gone(self, world_id: str, gone: CloseReason) -> None:
        """Keeps the reason why a world is gone that was not open here."""
        self.closed.add(world_id, gone)

    def unused_stored(self) -> list[str]:
        """The worlds that are only in the store and were not used for `--world-ttl`."""
        before = self.unused_before()
        return [] if self.persistence is None or before is None else self.persistence.unused(before)

    def unused_before(self) -> int | None:
        """The instant of the machine since when a world must have been used to live on; None: it need not be."""
        ttl = self.settings.world_ttl
        return None if ttl is None else wall.now_ms() - round(ttl * 1000)

    async def persist(self, hosted: HostedWorld) -> None:
        """Waits until a world is in the store as it is, if there is one."""
        if self.persistence is not None:
            self.persistence.changed(hosted)
            await self.persistence.persist()

    def close_all_stored(self, prefix: str) -> int:
        """Closes the worlds that are only in the store and whose ids begin so; returns how many there were."""
        stored = {} if self.persistence is None else self.persistence.stored
        matching = [world_id for world_id in stored if world_id.startswith(prefix)]
        for world_id in matching:
            self.close_stored(world_id)
        return len(matching)

    def all_after(self, number: int) -> Iterator[HostedWorld | StoredWorld]:
        """The worlds with a higher number, open or only in the store."""
        opened = self.open_worlds.after(number)
        return (
            opened
            if self.persistence is None
            else merge(opened, self.persistence.after(number), key=attrgetter("number"))
        )

    def all_backwards(self, number: int | None = None) -> Iterator[HostedWorld | StoredWorld]:
        """The worlds with a lower number (None: all), open or only in the store, newest first."""
        opened = self.open_worlds.backwards(number)
        if self.persistence is None:
            return opened
        return merge(opened, self.persistence.backwards(number), key=attrgetter("number"), reverse=True)

    async def wake(self, key: str) -> None:
        """Makes the world of a key again, if it is only in the store. Raises `Capped`, and `Conflict` if it cannot.

        Raises `Elsewhere` for one that another process has.
        """
        if self.persistence is not None:
            await self.claim(key)
            await self.persistence.wake(key.partition("~")[0])

    async def claim(self, key: str) -> None:
        """Makes this process the owner of the world of a key. Raises `Elsewhere` if another one has it."""
        if self.persistence is not None:
            await self.persistence.claim(key.partition("~")[0])

    async def look_at_store(self) -> None:
        """Looks at the worlds that other processes have, for a list."""
        if self.persistence is not None and self.persistence.sharing is not None:
            await self.persistence.sharing.refresh()

    async def claim_all(self, prefix: str) -> None:
        """Makes this process the owner of the worlds that no process has, and whose ids begin so."""
        if self.persistence is not None and self.persistence.sharing is not None:
            await self.persistence.sharing.claim_all(prefix)

    def resume(self, hosted: HostedWorld) -> None:
        """Puts a world in its place that was open in an earlier process."""
        world = hosted.world
        hosted.counted, hosted.logged = messages_made(world), len(world.journal)
        hosted.checked = world.outlets.deliveries.made
        hosted.used, hosted.leaving = self.reading(), self.leaving
        world.clock.rebase(hosted.used)
        self.worlds[world.id] = hosted
        self.open_worlds.resume(hosted)
        self._tags[world.tag] = world.id
        if world.outlets.under_way:  # tries that the end of that process cut off
            launch = self.dispatcher.launch(hosted, list(world.outlets.under_way))
            self.keep_task(hosted, self._loop.create_task(launch))
        self.note_change(hosted)

    def opening(
        self,
        world_id: str,
        *,
        blueprint: Blueprint | None = None,
        seed: int | str | None = None,
        salt: str | None = None,
        mode: Mode | None = None,
        start: int | None = None,
        rate: float | None = None,
        pinned: bool = True,
    ) -> Open:
        """The values with which a world is opened, from the settings that are given; parameters as for `open`."""
        settings, blueprint = self.settings, blueprint or self.blueprint
        seed = self._seed(blueprint, seed)
        instant = next((instant for instant in (start, blueprint.start, settings.start) if instant is not None), None)
        return Open(
            world_id,
            settings.shard,
            epoch=0,
            seed=blueprint.seed if seed is None else seed,
            salt=world_id if salt is None else salt,
            start=wall.now_ms() // 1000 * 1000 if instant is None else instant,
            pinned=pinned and instant is not None,
            mode=mode or blueprint.mode or settings.mode,
            rate=blueprint.rate if rate is None else rate,
            blueprint=blueprint,
        )

    def _seed(self, blueprint: Blueprint, seed: int | str | None) -> int | str | None:
        """The server's seed is for its own scenario; one that came with a call has a seed of its own."""
        return self.settings.seed if seed is None and blueprint is self.blueprint else seed

    def make_world(self, opening: Open) -> World:
        """A world as it is opened, not yet in the place of another one."""
        world = World(
            opening.world,
            opening.blueprint,
            start=opening.start,
            reading=self.reading(),
            seed=opening.seed,
            salt=opening.salt,
            mode=opening.mode,
            rate=opening.rate,
            shard=opening.shard,
            epoch=opening.epoch,
            pinned=opening.pinned,
            forgets=self.bounds is not None and self.bounds.forgets,
            services=self.services,
        )
        world.begin()
        return world

    def start(self, hosted: HostedWorld, at: int, pinned: bool) -> None:
        """Begins a world whose start was open: it has no command yet, so it is made again."""
        old, hosted.starts = hosted.world, None
        hosted.world = self.make_world(old.opening._replace(start=at, pinned=pinned))
        self._capture(hosted)
        self._discard(hosted, old)
        self.note_change(hosted)

    def legal_id(self, world_id: str) -> bool:
        """True if a key may be the id of a world here."""
        listed = bool(world_id) and (self.settings.any_key or world_id in self.settings.keys)
        return listed or bool(KEY.fullmatch(world_id))

    def legal_pattern(self, pattern: Pattern) -> bool:
        """True if a legal id may match a pattern."""
        if self.settings.any_key or any(pattern.matches(key) for key in self.settings.keys):
            return True
        if pattern.literal:
            return self.legal_id(pattern.text)
        begins = pattern.text.partition("*")[0]
        fits = begins.startswith(BEGINS) or BEGINS.startswith(begins)
        short = len(pattern.text.replace("*", "")) <= LONGEST
        return fits and short and _LEGAL.fullmatch(pattern.text) is not None

    def draw_id(self, prefix: str = BEGINS) -> str:
        """An unused id: derived from the process's own count and age, so that two servers differ."""
        while True:
            world_id = fresh_id(f"{self._source} {next(self._drawn)}", prefix)
            if world_id not in self.worlds and world_id not in self.closed and not self.is_stored(world_id):
                return world_id

    async def by_tag(self, tagged: str) -> HostedWorld | None:
        """The world of a name that carries its tag (links, tokens)."""
        tag = tagged[:16]
        if self.persistence is not None:
            with suppress(Conflict):
                await self.wake(self._tags.get(tag) or await self.persistence.locate(tag) or "")
        world_id = self._tags.get(tag)
        return None if world_id is None else self.find(world_id)

    def close(self, hosted: HostedWorld) -> None:
        """Closes a world: its key is denied until it is opened again, and what is under way is dropped."""
        self.end_world(hosted, CLOSED)

    def end_world(self, hosted: HostedWorld, gone: CloseReason) -> None:
        """Ends a world, and remembers what became of it."""
        self.hooks.before_close(hosted)
        self.open_worlds.closed += 1
        self.closed.add(hosted.world.id, gone)
        if self.persistence is not None:
            self.persistence.ended(hosted)
        self._take_out(hosted, gone.why)
        if gone.denied:  # a tester may want to read it
            self.closed_worlds.add(hosted)
        else:
            self._forget(hosted)

    def _take_out(self, hosted: HostedWorld, why: str) -> None:
        """A world is not open any more."""
        self._log_advice(hosted)
        self.counts.look(hosted)
        world = hosted.world
        del self.worlds[world.id]
        self.open_worlds.remove(hosted)
        del self._tags[world.tag]
        hosted.gone, hosted.why = True, why
        self.count_kept(hosted)
        self._drop(hosted)
        hosted.touch()

    def let_go_of(self, hosted: HostedWorld, why: str) -> None:
        """Forgets a world, which another process may have."""
        self._take_out(hosted, why)
        self._forget(hosted)

    def let_go(self, why: str) -> None:
        """Forgets all worlds, which other processes may have, and what became of earlier ones."""
        for hosted in list(self.worlds.values()):
            self.let_go_of(hosted, why)
        self.closed_worlds.forget()
        self.closed.clear()

    def idle_since(self, hosted: HostedWorld) -> int:
        """The instant of the machine at which a world was used last."""
        if hosted.dated[0] != hosted.used:  # two clocks: read once, so that all answers say the same
            hosted.dated = hosted.used, wall.now_ms() - (self.reading() - hosted.used) // 1_000_000
        return hosted.dated[1]

    def _forget(self, hosted: HostedWorld) -> None:
        """Nothing of a world that has ended is needed any more."""
        self.tried.note_end(hosted, hosted.world)
        self._discard(hosted, hosted.world)

    def reset(self, hosted: HostedWorld) -> None:
        """Back to the start, in a new epoch; seed and salt stay."""
        self.check_not_advancing(hosted)
        old = hosted.world
        blueprint = hosted.loaded
        pinned = old.pinned or blueprint.start is not None
        opening = old.opening._replace(epoch=old.epoch + 1, blueprint=blueprint, pinned=pinned)
        if blueprint.rate != old.blueprint.rate:  # else it stays as a tester set it
            opening = opening._replace(rate=blueprint.rate)
        if hosted.next_blueprint is not None:
            start = opening.start if blueprint.start is None else blueprint.start
            opening = opening._replace(seed=blueprint.seed, mode=blueprint.mode or opening.mode, start=start)
        hosted.next_blueprint = None
        self.begin_epoch(hosted, self.make_world(opening))

    def tune(self, hosted: HostedWorld, changes: JsonMapping) -> None:
        """Sets `mode` or `rate` of a clock."""
        world, reading = hosted.world, self.reading()
        hosted.calls.begin()
        world.enter(Tune(world.clock.read(reading), changes))
        world.clock.rebase(reading)
        self.note_change(hosted)

    def take_checkpoint(self, hosted: HostedWorld, name: str) -> None:
        """Keeps the way to the world as it is, under a name. Raises `RecordIncomplete`, and `Conflict` at the cap."""
        self.check_not_advancing(hosted)
        if name not in hosted.checkpoints and len(hosted.checkpoints) >= CHECKPOINTS:
            raise Conflict("too_many_checkpoints", f"{hosted.world.id} has {CHECKPOINTS} checkpoints; reuse a name")
        world = hosted.world
        world.record.check_complete()
        world.enter(Checkpoint(name))
        hosted.checkpoints[name] = world.record.head(len(world.record))

    def begin_epoch(self, hosted: HostedWorld, world: World) -> None:
        """Puts a world in the place of the one it is the next epoch of."""
        self._drop(hosted)
        self.counts.look(hosted)
        hosted.counted = messages_made(world)  # a checkpoint has messages that were counted when they were made
        old, hosted.world = hosted.world, world
        hosted.blueprint = world.blueprint
        world.clock.rebase(self.reading())
        world.follow(old)
        self._capture(hosted)
        hosted.checked = world.outlets.deliveries.made
        hosted.logged = len(world.journal)
        self.note_change(hosted)
        self.tried.note_end(hosted, old)
        self._discard(hosted, old)

    def _drop(self, hosted: HostedWorld) -> None:
        """Whatever is under way in a world ends here."""
        if hosted.timer is not None:
            hosted.timer.cancel()
            hosted.timer = None
        for task in hosted.tasks:
            task.cancel()
        for ended in hosted.lingering:
            if not ended.done():
                ended.set_result(None)
        if hosted.playing is not None:
            hosted.playing.end()
            hosted.playing = None
        hosted.outbox.clear()
        hosted.round_outcomes.clear()
        hosted.calls.begin()
        hosted.stir()

    def check_not_advancing(self, hosted: HostedWorld) -> None:
        """Raises `Conflict` while the world advances."""
        if hosted.advancing:
            raise Conflict("advancing", f"{hosted.world.id} is advancing; wait until that call has answered")

    def _discard(self, hosted: HostedWorld, world: World) -> None:
        """Takes a world that is no longer needed apart, once it has no readers (`World.dispose`)."""
        self.replicas.forget(world)
        self._gone.append((hosted, world))
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(SWEEP, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        discarded, self._gone = self._gone, []
        for hosted, world in discarded:
            if hosted.still and not self.tried.reads(world):
                spread(itertools.chain(self.tried.fold(world), world.dispose()))
            else:
                self._discard(hosted, world)
        if self.bounds is not None:
            self.bounds.note_disposed_worlds()

    @property
    def full(self) -> str | None:
        """Why nothing more is taken in, and what to do about it; None while there is memory."""
        full = None if self.bounds is None else self.bounds.full
        return None if full is None else f"{full.why}; {full.what_to_do}"

    def health_problem(self, *, store: bool = True) -> tuple[str, str] | None:
        """The code and the reason of what the health is refused for; `store`: also for one that cannot be written."""
        if store and self.persistence is not None and self.persistence.failure is not None:
            return STORE_FAILED, self.persistence.failure
        return None if self.full is None else (MEMORY_FULL, self.full)

    def health(self) -> JsonObject:
        """The state of the server, and the values that identify it."""
        error, _ = self.health_problem() or (None, "")
        return {
            "status": {None: "ok", STORE_FAILED: "failed", MEMORY_FULL: "full"}[error],
            "version": __version__,
            "engine": ENGINE,
            "instance": self.instance,
            "worlds": len(self.worlds),
            "dropped": self.dropped(),
            **({} if self.bounds is None else self.bounds.of_server()),
        }

    def leave(self) -> None:
        """The server is about to stop: long polls are answered, and streams and hanging answers end."""
        self.leaving = True
        ends = list(self.open_worlds.streams)
        for hosted in self.worlds.values():
            hosted.leaving = True
            hosted.touch()
            ends += [*hosted.streams, *hosted.endless]
        for end in ends:
            if not end.done():
                end.set_result(None)

    async def aclose(self) -> None:
        """Ends all worlds and the client that delivers."""
        if self.persistence is not None:
            await self.persistence.aclose()
        tasks = [task for hosted in self.worlds.values() for task in hosted.tasks]
        for hosted in self.worlds.values():
            self._log_advice(hosted)
            hosted.gone = True
            self._drop(hosted)
        self.worlds.clear()
        self._tags.clear()
        self.closed_worlds.worlds.clear()
        self.replicas.forget()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for ticking in (self.bounds, self.idle, self.holds):
            if ticking is not None:
                ticking.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.senders.close()

    # -- what happens around a request

    def note_change(self, hosted: HostedWorld, call: int = -1) -> None:
        """After a request, an outcome or an act: waiters look again, and the timer is set.

        `call` is the number of the newest entry, if that is the call of an emulated interface which has come.
        """
        hosted.touch()
        if call == hosted.logged:  # of most calls there is no other entry
            hosted.logged += 1
        else:
            self.log_new_entries(hosted)
        self.kick(hosted)

    def log_new_entries(self, hosted: HostedWorld) -> None:
        """Writes the lines of new entries of which the log tells: refusals, bad lines of a file, faults of webhooks."""
        world = hosted.world
        journal = world.journal
        hosted.logged, logged = len(journal), hosted.logged
        if self.logged.keys().isdisjoint(journal.kind[max(0, logged - journal.first) :]):  # nothing for the log
            return
        for code, lines_of in self.logged.items():
            for number in journal.find(code, logged):
                for line in lines_of(world, journal.entry(number)[2]):
                    self.log(world.id, line)

    def kick(self, hosted: HostedWorld) -> None:
        """Sets the timer of a world whose time passes by itself."""
        if self.bounds is not None:
            self.bounds.changed(hosted)
        if self.persistence is not None:
            self.persistence.changed(hosted)
        self.count_kept(hosted)
        self.mover.kick(hosted)

    def count_kept(self, hosted: HostedWorld) -> None:
        """Counts for its quota what a world keeps, after it may have changed."""
        if self.quotas is not None:
            self.quotas.count(hosted, is_open=self.worlds.get(hosted.world.id) is hosted)

    def count_stored(self, stored: StoredWorld, *, is_stored: bool) -> None:
        """Counts for its quota what a world keeps that is only in the store."""
        if self.quotas is not None:
            self.quotas.count_stored(stored, is_stored=is_stored)

    def keep_task(self, hosted: HostedWorld, task: asyncio.Task[None]) -> None:
        """Something that runs for a world; it ends with the world's epoch."""
        hosted.tasks.add(task)
        task.add_done_callback(hosted.tasks.discard)

    # -- who takes deliveries

    def pull(self, hosted: HostedWorld) -> None:
        """From now on deliveries wait in the outbox instead of being pushed."""
        hosted.pulling = True
        self._capture(hosted)

    def push(self, hosted: HostedWorld) -> None:
        """From now on deliveries are pushed again; those in the outbox wait on for their report."""
        hosted.pulling = False
        self._capture(hosted)

    def deliver_to(self, hosted: HostedWorld, deliverer: Deliverer | None) -> None:
        """From now on deliveries go to an application in this process; None: to their targets again."""
        hosted.deliverer = deliverer
        self._capture(hosted)

    @staticmethod
    def _capture(hosted: HostedWorld) -> None:
        captured = hosted.pulling or hosted.deliverer is not None
        if hosted.world.outlets.captured != captured:
            hosted.world.enter(Capture(captured))
