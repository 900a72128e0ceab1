"""The interface that the runtime has for its own parts, the lines of its log, and the hooks of its worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from sendbox.engine.answer import JsonMapping

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.timeline import Goal
    from sendbox.runtime.counts import Counts
    from sendbox.runtime.registry import ClosedWorlds, OpenWorlds, Replicas
    from sendbox.runtime.sender import Senders
    from sendbox.runtime.slot import CloseReason, HostedWorld
    from sendbox.runtime.store.store import StoredWorld
    from sendbox.settings import Settings

Level = Literal["info", "warning", "error"]
_NO_DETAILS: JsonMapping = {}


class LogLine(Struct, frozen=True):
    """A line of the log: the message, the world or the denied key ("" for the server), and the operation.

    `more` has further values by name. A warning needs the attention of a reader; a simulated fault is none.
    """

    message: str
    world: str = ""
    level: Level = "info"
    operation: str | None = None
    more: JsonMapping = _NO_DETAILS


class RuntimeInterface(Protocol):
    """The part of the runtime that its scheduler, dispatcher and bounds use."""

    settings: Settings
    worlds: dict[str, HostedWorld]
    open_worlds: OpenWorlds
    closed_worlds: ClosedWorlds
    senders: Senders
    reading: Callable[[], int]
    hooks: WorldHooks
    replicas: Replicas[Any]
    counts: Counts
    violations: list[str]
    check_batch: Callable[[object], list[str]] | None
    instance: str

    def log(
        self, world: str, message: str, level: Level = "info", operation: str | None = None, **more: object
    ) -> None:
        """Writes a line to the log."""

    def keep_task(self, hosted: HostedWorld, task: asyncio.Task[None]) -> None:
        """Keeps a running task of a world, so that the end of the world cancels it."""

    def end_world(self, hosted: HostedWorld, gone: CloseReason) -> None:
        """Ends a world, and keeps the reason."""

    async def persist(self, hosted: HostedWorld) -> None:
        """Waits until a world is in the store as it is, if there is one."""

    def unused_stored(self) -> list[str]:
        """The worlds that are only in the store and were not used for `--world-ttl`."""

    def close_stored(self, world_id: str, gone: CloseReason) -> None:
        """Closes a world that is only in the store."""

    def legal_id(self, world_id: str) -> bool:
        """True if a key may be the id of a world here."""

    def note_gone(self, world_id: str, gone: CloseReason) -> None:
        """Keeps the reason why a world is gone that was not open here."""

    def is_open(self, world_id: str) -> bool:
        """True if a world is open in this process."""

    def knows(self, world_id: str) -> bool:
        """True if a world is open in this process, or was, or waits here for its first call."""

    def unused_before(self) -> int | None:
        """The instant of the machine since when a world must have been used to live on; None: it need not be."""

    async def wake(self, key: str) -> None:
        """Makes the world of a key again, if it is only in the store."""

    def let_go_of(self, hosted: HostedWorld, why: str) -> None:
        """Forgets a world, which another process may have."""

    def let_go(self, why: str) -> None:
        """Forgets all worlds, which other processes may have, and what became of earlier ones."""

    def check_room(self, *, waking: bool = False) -> None:
        """Raises `Conflict` where there is no room for a further open world; one that is `waking` was counted."""

    def resume(self, hosted: HostedWorld) -> None:
        """Puts a world in its place that was open in an earlier process."""

    def note_change(self, hosted: HostedWorld) -> None:
        """Continues the world after a request, an outcome or an act."""

    def count_kept(self, hosted: HostedWorld) -> None:
        """Counts for its quota what a world keeps, after it may have changed."""

    def count_stored(self, stored: StoredWorld, *, is_stored: bool) -> None:
        """Counts for its quota what a world keeps that is only in the store."""

    def log_new_entries(self, hosted: HostedWorld) -> None:
        """Writes the lines of new entries of which the log tells."""

    def check_not_advancing(self, hosted: HostedWorld) -> None:
        """Raises `Conflict` while the world advances."""


class WorldHooks:
    """Hooks for the life of worlds, called on the loop of the runtime. These do nothing; subclasses override them."""

    def before_open(self, world_id: str, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """The blueprint and the start with which a world will open; None = no call has set the start."""
        return blueprint, start

    def after_open(self, hosted: HostedWorld) -> None:
        """Called when a world has opened."""

    def before_load(self, hosted: HostedWorld, blueprint: Blueprint) -> Blueprint:
        """The blueprint that a world will get instead of its present one."""
        return blueprint

    def before_advance(self, hosted: HostedWorld, goal: Goal) -> Goal:
        """The goal of an advance that a tester is about to make."""
        return goal

    def after_advance(self, hosted: HostedWorld, began: int) -> None:
        """Called when a tester has moved a timeline, which stood at the instant `began` before."""

    def before_close(self, hosted: HostedWorld) -> None:
        """Called before a world closes."""
