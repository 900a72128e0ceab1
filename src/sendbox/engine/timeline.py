"""The timeline: what falls due when.

*Steps* make something happen and are fired in order; *lapses* are instants at which something stops being true: they
are noted when the clock passes them and never pull it.

The order of steps at one instant: cause before effect (what a step schedules at its own instant comes after it), then
order of acceptance (`rank`: the ordinal of the message), then order of scheduling. A rank with `LATE` added comes after
every plain rank of its instant: a TTL is looked at when all receipts of that instant are in (A64).

What falls due after the end of time is not noted: no clock comes there, and it never happens.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final

from sendbox.engine.bounds import END

LATE: Final = 1 << 60
Handler = Callable[[Any], None]


class Timeline:
    """A heap of steps and a heap of lapses. Instants in virtual milliseconds."""

    __slots__ = ("_lapse_seq", "_seq", "lapses", "steps")

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, Handler, Any]] = []
        self.lapses: list[tuple[int, int, str, Any]] = []
        self._seq = 0
        self._lapse_seq = 0

    def at(self, instant: int, rank: int, handler: Handler, what: Any) -> None:
        """Schedules a step: `handler(what)` at `instant`."""
        if instant > END:
            return
        self._seq = seq = self._seq + 1
        heappush(self.steps, (instant, rank, seq, handler, what))

    def lapse(self, instant: int, kind: str, what: Any) -> None:
        """Notes that something of `kind` stops being true at `instant`."""
        if instant > END:
            return
        self._lapse_seq = seq = self._lapse_seq + 1
        heappush(self.lapses, (instant, seq, kind, what))

    def next_due(self) -> int | None:
        """The instant of the next step, None when there is none."""
        return self.steps[0][0] if self.steps else None

    def lapsed(self, until: int, most: int = 1 << 60) -> list[tuple[int, str, Any]]:
        """Takes out the lapses up to `until`, oldest first and `most` of them at a time."""
        passed: list[tuple[int, str, Any]] = []
        while self.lapses and self.lapses[0][0] <= until and len(passed) < most:
            instant, _, kind, what = heappop(self.lapses)
            passed.append((instant, kind, what))
        return passed
