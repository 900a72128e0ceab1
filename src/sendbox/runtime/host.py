"""The interface of the runtime that its scheduler and dispatcher need, the lines of its log, and who watches it.

By default nobody watches its worlds, or changes what they are opened from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.timeline import Goal
    from sendbox.runtime.counts import Counts
    from sendbox.runtime.order import Beside, Kept, Order
    from sendbox.runtime.sender import Senders
    from sendbox.runtime.slot import Gone, Hosted
    from sendbox.settings import Settings

Level = Literal["info", "warning", "error"]
_NONE: Mapping[str, Any] = {}


class Line(NamedTuple):
    """A line for the log: what is told, the world or the denied key ("" for the server), and the operation.

    `more` is what else is known, by name. A warning is something that a reader should look at: no simulated fault.
    """

    message: str
    world: str = ""
    level: Level = "info"
    operation: str | None = None
    more: Mapping[str, Any] = _NONE


class Host(Protocol):
    """The runtime, as far as its parts know it."""

    settings: Settings
    worlds: dict[str, Hosted]
    order: Order
    kept: Kept
    senders: Senders
    reading: Callable[[], int]
    watch: Watch
    beside: Beside[Any]
    counts: Counts
    violations: list[str]
    check_batch: Callable[[Any], list[str]] | None

    def log(self, world: str, message: str, level: Level = "info", operation: str | None = None, **more: Any) -> None:
        """A line for the log."""

    def keep(self, hosted: Hosted, task: asyncio.Task[None]) -> None:
        """Something that runs for a world."""

    def end(self, hosted: Hosted, gone: Gone) -> None:
        """Ends a world, and remembers what became of it."""

    def changed(self, hosted: Hosted) -> None:
        """After a request, an outcome or an act."""

    def log_refusals(self, hosted: Hosted) -> None:
        """A line for each hand-over that was refused."""

    def not_advancing(self, hosted: Hosted) -> None:
        """Raises `Conflict` while the world advances."""


class Watch:
    """Watches nothing and changes nothing: the base of those who do. Its methods are called on the runtime's loop."""

    def opens(self, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """A world is about to open; the blueprint and the start (None: not set by a call) that it opens with."""
        return blueprint, start

    def opened(self, hosted: Hosted) -> None:
        """A world has opened."""

    def loads(self, hosted: Hosted, blueprint: Blueprint) -> Blueprint:
        """A world gets another scenario; the one that it gets."""
        return blueprint

    def advances(self, hosted: Hosted, goal: Goal) -> Goal:
        """A tester is about to move a clock; how far it goes."""
        return goal

    def advanced(self, hosted: Hosted, began: int) -> None:
        """A tester has moved a clock; it began at this instant."""

    def closes(self, hosted: Hosted) -> None:
        """A world is about to close."""
