"""What the scheduler and the dispatcher need of the runtime that they are parts of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sendbox.runtime.beside import Beside
    from sendbox.runtime.counting.counts import Counts
    from sendbox.runtime.order import Kept, Order
    from sendbox.runtime.senders import Senders
    from sendbox.runtime.slot import Gone, Hosted
    from sendbox.runtime.watch import Watch
    from sendbox.settings import Settings


class Host(Protocol):
    """The runtime, as far as its parts know it."""

    settings: Settings
    worlds: dict[str, Hosted]
    order: Order
    kept: Kept
    senders: Senders
    reading: Callable[[], int]
    log: Callable[[str, str], None]
    watch: Watch
    beside: Beside[Any]
    counts: Counts
    violations: list[str]
    check_batch: Callable[[Any], list[str]] | None

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
