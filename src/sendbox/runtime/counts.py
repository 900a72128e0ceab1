"""The counts of a server since its start: plain numbers that only grow, and that `server/metrics.py` shows.

Among them are the times that its operations took, and those for which its event loop was held.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

from sendbox.engine.forgetting import MESSAGES
from sendbox.engine.world import World
from sendbox.runtime.policy import Outcome
from sendbox.runtime.slot import HostedWorld

if TYPE_CHECKING:
    import asyncio


#: Seconds of holds of the loop that are told apart, and seconds of operations.
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
DURATIONS: Final = (0.0001, 0.00025, 0.0005, *BOUNDS, 2.5, 5.0, 10.0, 60.0)


class Histogram:
    """The number of times up to each of some bounds, and of those above all; and the sum of the times.

    `bounds` are seconds; everything that is added is in nanoseconds, which takes the hot path less time.
    """

    __slots__ = ("_limits", "bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0
        self._limits = [round(bound * 1e9) for bound in bounds]

    def add(self, nanoseconds: int, times: int = 1) -> None:
        """Counts a time; `times` that stand for so many others."""
        self.counts[bisect_left(self._limits, nanoseconds)] += times
        self.total += nanoseconds * times


class Durations(dict[str, Histogram]):
    """The real seconds that operations took, by their names."""

    def __missing__(self, operation: str) -> Histogram:
        histogram = self[operation] = Histogram(DURATIONS)
        return histogram


class Counts:
    """The counts of one runtime. Nothing in them names a world, a key or a phone."""

    __slots__ = ("call_seconds", "calls", "connections", "control_seconds", "messages", "tries")

    def __init__(self) -> None:
        #: calls, by operation, status (0 where no answer was sent) and what became of them
        self.calls: Counter[tuple[str, int, str]] = Counter()
        #: tries of webhooks, by what became of the webhook, and why it was not delivered
        self.tries: Counter[tuple[str, str]] = Counter()
        #: messages of all worlds, as far as they were looked at (`look`)
        self.messages = 0
        #: the seconds that calls of the interfaces took, without reading and sending, and those of control
        self.call_seconds, self.control_seconds = Durations(), Durations()
        #: connections that are open
        self.connections = 0

    def count_try(self, state: str, outcome: Outcome) -> None:
        """Counts a try that has ended, by the state of its webhook now."""
        reason = "" if outcome.ok else outcome.error or f"{(outcome.status or 0) // 100}xx"
        self.tries["retried" if state == "waiting" else state, reason] += 1

    def look(self, hosted: HostedWorld) -> None:
        """Counts the messages that a world has made since the last look; it also comes before a world ends."""
        total = messages_made(hosted.world)
        self.messages += max(total - hosted.counted, 0)
        hosted.counted = total


def messages_made(world: World) -> int:
    """The number of messages that a world has had, including forgotten ones."""
    return sum(part.made for part in world.parts.values() if MESSAGES in part.counts)


#: Real seconds between two looks at the loop.
PERIOD: Final = 0.02
#: Real seconds after which the watch of the loop ends if no client asks again.
ASKED: Final = 600.0


class LoopHolds:
    """The times for which one loop was held, from the first time that they are asked for.

    They are measured by a timer that notes its own delay. A hold during which no timer was due is not noticed, so this
    is a lower bound. It runs only while someone asks.

    `histogram` has the looks by how late they were.
    """

    __slots__ = ("_asked", "_due", "_loop", "_timer", "histogram", "longest")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._due = self._asked = 0.0
        self.histogram = Histogram(BOUNDS)
        self.longest = 0.0

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
        self.histogram.add(round(late * 1e9))
        self.longest = max(self.longest, late)
        self._timer = None
        if now - self._asked < ASKED:
            self._set()
