"""The interface of the runtime that its scheduler and dispatcher need, and the lines of its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from sendbox.runtime.beside import Beside
    from sendbox.runtime.counting.counts import Counts
    from sendbox.runtime.order import Kept, Order
    from sendbox.runtime.senders import Senders
    from sendbox.runtime.slot import Gone, Hosted
    from sendbox.runtime.watch import Watch
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
