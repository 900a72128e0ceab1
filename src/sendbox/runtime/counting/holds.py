"""The times for which the event loop was held, measured by a timer that notes its own delay.

A hold during which no timer was due is not noticed, so this is a lower bound. It runs only while someone asks.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio

#: Real seconds between two looks.
PERIOD: Final = 0.02
#: Real seconds after which it ends if no client asks again.
ASKED: Final = 600.0
#: Seconds of holds that are told apart.
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Holds:
    """The holds of one loop, from the first time that they are asked for.

    `counts` has a number for each of `BOUNDS`, of looks that were so late at most, and one for those that were later.
    """

    __slots__ = ("_asked", "_due", "_loop", "_timer", "counts", "longest", "total")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._due = self._asked = 0.0
        self.counts = [0] * (len(BOUNDS) + 1)
        self.longest = self.total = 0.0

    def watch(self) -> None:
        """They are asked for: watches from now on."""
        self._asked = self._loop.time()
        if self._timer is None:
            self._set()

    def close(self) -> None:
        """Watches no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self) -> None:
        self._due = self._loop.time() + PERIOD
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        late = max(now - self._due, 0.0)
        self.counts[bisect_left(BOUNDS, late)] += 1
        self.total += late
        self.longest = max(self.longest, late)
        self._timer = None
        if now - self._asked < ASKED:
            self._set()
