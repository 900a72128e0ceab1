"""The time of a world: its timeline, which says what falls due when, and its clock.

*Steps* make something happen and are fired in order; *lapses* are instants at which something stops being true: they
are noted when the clock passes them and never pull it.

The order of steps at one instant: cause before effect (what a step schedules at its own instant comes after it), then
order of acceptance (`rank`: the ordinal of the message), then order of scheduling. A rank with `LATE` added comes after
every plain rank of its instant: a TTL is looked at when all receipts of that instant are in (A64).

Steps that were scheduled one after another, for one instant and handler and with ranks that follow each other, make a
*run*, which has one place in the heap. Each of them is a step with its own place in the order all the same: as many
are fired at once as nothing else comes between.

What falls due after the end of time is not noted: no clock comes there, and it never happens.

The clock
---------
It counts integer milliseconds of virtual UTC. Virtual time is an affine map of a monotonic reading: `virtual = base +
(reading - anchor) * rate`. The invariant, kept by every method: `now` never decreases, and `base` is the virtual
instant at `anchor`. In the modes `manual` and `auto` the map is not read; `now` moves only when the world is moved.
Readings are integer nanoseconds and are handed in: the engine never looks at a clock of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Final, Literal

import msgspec

from sendbox.engine.bounds import END

LATE: Final = 1 << 60
Handler = Callable[[Any], None]
#: Fires the steps of a run from one place on, up to another, at least one, and returns the place where it stopped. It
#: stops after a step that scheduled something for its own instant.
RunHandler = Callable[[Sequence[Any], int, int], int]
#: The most steps of a run.
LONGEST: Final = 512


class Run:
    """Steps in a row: what each is about, and how many of them were fired. The rest tells what would follow them."""

    __slots__ = ("first", "handler", "instant", "next_rank", "seq", "whats")

    def __init__(self, instant: int, handler: RunHandler) -> None:
        self.instant = instant
        self.handler = handler
        self.whats: list[object] = []
        self.first = self.next_rank = self.seq = 0


class Timeline:
    """A heap of steps and a heap of lapses. Instants in virtual milliseconds."""

    __slots__ = ("_dropped", "_lapse_seq", "_newest", "_seq", "fired", "lapses", "steps")

    def __init__(self) -> None:
        #: (instant, rank, order of scheduling, handler, what it is about or a `Run`)
        self.steps: list[tuple[int, int, int, Any, object]] = []
        self.lapses: list[tuple[int, int, str, object]] = []
        #: how many steps were fired
        self.fired = 0
        self._dropped = 0
        self._seq = 0
        self._lapse_seq = 0
        #: the run that was scheduled last, while all of it is to come
        self._newest: Run | None = None

    def at(self, instant: int, rank: int, handler: Handler, subject: object) -> None:
        """Schedules a step: `handler(subject)` at `instant`."""
        if instant > END:
            return
        self._seq = seq = self._seq + 1
        heappush(self.steps, (instant, rank, seq, handler, subject))

    def together(self, instant: int, rank: int, handler: RunHandler, whats: Sequence[object]) -> None:
        """Schedules a step for each of these, with ranks from `rank` on."""
        if instant > END:
            return
        run, seq = self._newest, self._seq
        if (
            run is None
            or run.seq != seq
            or run.next_rank != rank
            or run.instant != instant
            or run.handler != handler
            or len(run.whats) + len(whats) > LONGEST
        ):
            self._newest = run = Run(instant, handler)
            heappush(self.steps, (instant, rank, seq + 1, handler, run))
        run.whats += whats
        self._seq = run.seq = seq + len(whats)
        run.next_rank = rank + len(whats)

    def fire(self, now: int, most: int) -> int:
        """Fires what is due, in order and at most so many, until something lapses; returns how many were fired."""
        steps, lapses = self.steps, self.lapses
        fired = 0
        while fired < most and steps and steps[0][0] <= now and not (lapses and lapses[0][0] <= now):
            instant, rank, seq, handler, subject = heappop(steps)
            if type(subject) is not Run:
                handler(subject)
                fired += 1
                continue
            if subject is self._newest:
                self._newest = None
            whats, first = subject.whats, subject.first
            last = len(whats)
            if last - first > most - fired:
                last = first + most - fired
            if steps and steps[0][0] == instant:  # those before it
                apart = steps[0][1] - rank
                if last - first > apart:
                    last = first + apart + (steps[0][2] > seq + apart)
            place = handler(whats, first, last)
            done = place - first
            fired += done
            if place < len(whats):
                subject.first = place
                heappush(steps, (instant, rank + done, seq + done, handler, subject))
        self.fired += fired
        return fired

    @property
    def scheduled(self) -> int:
        """The number of steps that are scheduled."""
        return self._seq - self.fired - self._dropped

    def reschedule(self, instant_of: Callable[[int, Any, object], int | None]) -> None:
        """Gives each step another instant, by its instant, its handler and its subject; None takes it out.

        The order of those that come to stand at one instant stays that of their ranks and of scheduling.
        """
        steps = []
        for instant, rank, seq, handler, subject in self.steps:
            other = instant_of(instant, handler, subject)
            if other is not None:
                steps.append((other, rank, seq, handler, subject))
                if type(subject) is Run:
                    subject.instant = other
            else:
                self._dropped += len(subject.whats) - subject.first if type(subject) is Run else 1
        heapify(steps)
        self.steps[:] = steps
        self._newest = None

    def lapse(self, instant: int, kind: str, subject: object) -> None:
        """Notes that something of `kind` stops being true at `instant`."""
        if instant > END:
            return
        self._lapse_seq = seq = self._lapse_seq + 1
        heappush(self.lapses, (instant, seq, kind, subject))

    def clear(self) -> None:
        """Forgets what is to come, when the world ends."""
        self._newest = None
        self.steps.clear()
        self.lapses.clear()

    def next_due(self) -> int | None:
        """The instant of the next step; None if there is none."""
        return self.steps[0][0] if self.steps else None

    def lapsed(self, until: int, most: int = 1 << 60) -> list[tuple[int, str, object]]:
        """Takes out the lapses up to `until`, oldest first and `most` of them at a time."""
        passed: list[tuple[int, str, object]] = []
        while self.lapses and self.lapses[0][0] <= until and len(passed) < most:
            instant, _, kind, subject = heappop(self.lapses)
            passed.append((instant, kind, subject))
        return passed


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
        #: True if a step changed it since `World.run` last looked
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
