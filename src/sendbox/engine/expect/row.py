"""Things of one subject in their order: how many come within bounds, and where they come too close together.

Things of one instant follow each other in the order of the journal entries with which they came to be. What came with
a call (a send, what was refused at once, what its handling changed) has the entry of the call, so none of it follows
another part of it. Things of one kind follow each other in the order in which they are kept.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Generator
from typing import Final

from sendbox.engine.durations import Rate
from sendbox.engine.expect.subjects import Occurrence

#: A place in the order: the instant, the journal entry with which a thing came to be, its own entry, its part of it.
Place = tuple[float, ...]
_LAST: Final = float("inf")
#: So many things are sorted between two pauses.
_SORTED: Final = 256


def place_of(thing: Occurrence) -> Place:
    """The place of a thing in the order of all."""
    return thing.at, thing.begun, -1 if thing.entry is None else thing.entry, thing.part


def end_of(before: Occurrence, *, alike: bool) -> Place:
    """The place behind which the things come that follow another one; `alike`: they are of the same kind."""
    return place_of(before) if alike else (before.at, before.ended, _LAST)


class Row:
    """Things of one kind that belong to one subject."""

    __slots__ = ("_close", "_places", "things")

    def __init__(self) -> None:
        self.things: list[Occurrence] = []
        self._places: list[Place] = []
        #: number and time of a rate -> for each thing the first from it on with which too many begin
        self._close: dict[tuple[int, int], list[int]] = {}

    def sort(self) -> Generator[None, None, None]:
        """Puts the things into their order, with pauses."""
        parts = []
        for first in range(0, len(self.things), _SORTED):
            parts.append(sorted(self.things[first : first + _SORTED], key=place_of))
            yield
        self.things = []
        for number, thing in enumerate(heapq.merge(*parts, key=place_of)):
            self.things.append(thing)
            self._places.append(place_of(thing))
            if number % _SORTED == 0:
                yield

    def clear(self) -> Generator[None, None, None]:
        """Forgets the things, with pauses: to free many at once holds the loop."""
        while self.things:
            del self.things[-_SORTED:], self._places[-_SORTED:]
            yield

    def follow(self, before: Occurrence, *, alike: bool, after: int | None, until: int | None) -> range:
        """The things that follow another one, from so many milliseconds after it up to so many; `alike`: they are of
        the same kind."""
        first, last = bisect_right(self._places, end_of(before, alike=alike)), len(self.things)
        if after is not None:
            first = max(first, bisect_left(self._places, (before.at + after,)))
        if until is not None:
            last = bisect_left(self._places, (before.at + until + 1,))
        return range(first, max(first, last))

    def find_crowd(self, rate: Rate, span: range) -> range | None:
        """The first things of a span that are more than a rate allows in its time; None if there are none."""
        close = self._close.get((rate.count, rate.within))
        if close is None:
            close = self._close[rate.count, rate.within] = self._crowds(rate)
        first = close[span.start] if span.start < len(close) else len(close)
        return range(first, first + rate.count + 1) if first + rate.count < span.stop else None

    def find_short_pause(
        self, pauses: tuple[int, ...], span: range, before: Occurrence | None
    ) -> tuple[Occurrence, int, int] | None:
        """The first thing of a span that came too soon, after how long, and the pause wanted; None if none did.

        The first pause is that after `before`, without it that after the first thing of the span.
        """
        things = self.things
        first = span.start if before is None else span.start - 1
        for number, minimum in enumerate(pauses, first):
            if number + 1 >= span.stop:
                return None
            earlier = before if before is not None and number < span.start else things[number]
            pause = things[number + 1].at - earlier.at
            if pause < minimum:
                return things[number + 1], pause, minimum
        close = self.find_crowd(Rate(1, pauses[-1]), range(first + len(pauses), span.stop))
        if close is None:
            return None
        return things[close[1]], things[close[1]].at - things[close[0]].at, pauses[-1]

    def _crowds(self, rate: Rate) -> list[int]:
        things = self.things
        crowds = [len(things)] * len(things)
        for place in range(len(things) - rate.count - 1, -1, -1):
            close = things[place + rate.count].at - things[place].at < rate.within
            crowds[place] = place if close else crowds[place + 1]
        return crowds
