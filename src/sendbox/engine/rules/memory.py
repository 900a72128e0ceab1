"""The memory of a list of rules: the cases that drew, were counted, or were decided, each in order of arrival."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

#: So many places of a series are always kept.
_FEW: Final = 16


class Place(NamedTuple):
    """A case in a series: how many came before it, and whether it could have come before another one as well."""

    ordinal: int
    number: int
    raced: bool
    at: Hashable
    request: str | bytes


class Series:
    """Cases in order of arrival; one that comes again has the place that it had."""

    __slots__ = ("_full", "_known", "latest")

    def __init__(self, *, returning: bool) -> None:
        self._known: dict[int, Place] | None = {} if returning else None
        #: how many places are kept before those of forgotten cases are looked for
        self._full = _FEW
        self.latest: Place | None = None

    def forget(self, before: int) -> None:
        """Forgets the places of cases before an ordinal, which do not come again, once there are twice as many."""
        known = self._known
        if known is not None and len(known) > self._full:
            self._known = known = {ordinal: place for ordinal, place in known.items() if ordinal >= before}
            self._full = 2 * len(known) + _FEW

    def __len__(self) -> int:
        return 0 if self.latest is None else self.latest.number + 1

    def find(self, ordinal: int) -> Place | None:
        """The place of a case that came before; where cases do not return, only the latest is known."""
        if self._known is not None:
            return self._known.get(ordinal)
        return self.latest if self.latest is not None and self.latest.ordinal == ordinal else None

    def place(self, ordinal: int, at: Hashable = None, request: str | bytes = "") -> Place:
        """The place of a case that comes at an instant; those of one request cannot race."""
        place = self.find(ordinal)
        if place is None:
            before = self.latest
            raced = before is not None and before.at == at and (before.raced or before.request != request)
            place = self.latest = Place(ordinal, len(self), raced, at, request)
            if self._known is not None:
                self._known[ordinal] = place
        return place


class Memory:
    """All series of one list, by what is counted and for whom."""

    __slots__ = ("_returning", "_series", "before")

    def __init__(self, *, returning: bool) -> None:
        self._returning = returning
        self._series: dict[tuple[str, ...], Series] = {}
        #: cases before this ordinal are forgotten; what is counted stays
        self.before = 0

    def series(self, *key: str) -> Series:
        """The series of a key."""
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = Series(returning=self._returning)
        elif self.before:
            series.forget(self.before)
        return series

    def known(self, *key: str) -> Series | None:
        """The series of a key; None if no case came."""
        return self._series.get(key)
