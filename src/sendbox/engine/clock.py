"""The clock of a world: integer milliseconds of virtual UTC.

Virtual time is an affine map of a monotonic reading: `virtual = base + (reading - anchor) * rate`. The invariant, kept
by every method: `now` never decreases, and `base` is the virtual instant at `anchor`. In the modes `manual` and `auto`
the map is not read; `now` moves only when the world is moved. Readings are integer nanoseconds and are handed in: the
engine never looks at a clock of the machine.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sendbox.engine.bounds import END

#: How time passes: it stands until it is moved, runs, or jumps to what is next.
Mode = Literal["manual", "real", "auto"]

_NS_PER_MS = 1_000_000


class Goal(msgspec.Struct, frozen=True):
    """The goal of a move of the clock: one of the four ways of `advance`.

    `by` so many milliseconds, `to` an instant, to the `next` so many instants at which steps are due, or until the
    world is `idle`.
    """

    way: Literal["by", "to", "next", "idle"]
    value: int = 0


class Clock:
    """The affine map and the present instant. `rate` is virtual time per real time, in thousandths."""

    __slots__ = ("anchor", "base", "mode", "now", "own_mode", "own_rate", "rate", "switched")

    def __init__(self, now: int, mode: Mode, rate: float = 1.0, reading: int = 0) -> None:
        self.now = now
        self.base = now
        self.anchor = reading
        self.mode = mode
        self.rate = round(rate * 1000)
        #: what a reset goes back to: as the world was opened, or a tester set it
        self.own_mode = mode
        self.own_rate = self.rate
        #: whether a step changed it since `World.run` last looked
        self.switched = False

    def read(self, reading: int) -> int:
        """The virtual instant at a monotonic reading; `now` where time does not pass by itself. It stops at the end."""
        if self.mode != "real":
            return self.now
        return min(END, max(self.now, self.base + (reading - self.anchor) * self.rate // (1000 * _NS_PER_MS)))

    def move(self, instant: int) -> None:
        """`now` becomes `instant`. Raises ValueError for an instant in the past."""
        if instant < self.now:
            raise ValueError(f"{instant} lies before {self.now}; time only goes forward")
        self.now = instant

    def rebase(self, reading: int) -> None:
        """From this reading on time passes from `now`."""
        self.base = self.now
        self.anchor = reading

    def change(self, now: int, mode: Mode | None = None, rate: float | None = None) -> None:
        """Another mode or rate from an instant on, at which it stands then; the mover of the world rebases it."""
        self.move(now)
        if mode is not None:
            self.mode = self.own_mode = mode
        if rate is not None:
            self.rate = self.own_rate = round(rate * 1000)

    def switch(self, mode: Mode | None = None, rate: float | None = None) -> None:
        """The same by a step of the world at its instant, which may lie behind the machine's; a reset undoes it.

        Where time passes, the new map begins at the reading at which the old one came to `now`. Elsewhere there is no
        such reading: the mover of the world rebases it.
        """
        if self.mode == "real" and self.rate:
            self.anchor += -(-(self.now - self.base) * 1000 * _NS_PER_MS // self.rate)
        self.base = self.now
        if mode is not None:
            self.mode = mode
        if rate is not None:
            self.rate = round(rate * 1000)
        self.switched = True

    def real_ns_until(self, instant: int, reading: int) -> int | None:
        """Nanoseconds of real time until `instant`; None if time does not pass by itself (also at rate 0)."""
        if self.mode != "real" or self.rate == 0:
            return None
        due = self.anchor + -(-(instant - self.base) * 1000 * _NS_PER_MS // self.rate)
        return max(0, due - reading)
