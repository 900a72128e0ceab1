"""Counters for a very large number of names, with eight bytes for each name."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Final

#: So many bytes of a name tell it from others. Among a million names two are alike once in 30 million times.
SIZE: Final = 8


class Fingerprints:
    """Counts names, of which the first bytes are those of a hash.

    Each name is a number in one of 256 sorted arrays, as a dictionary would take a hundred bytes for it. Those that
    came again are few, and have their count beside.
    """

    __slots__ = ("_again", "_seen")

    def __init__(self) -> None:
        self._seen: dict[int, array[int]] = {}
        self._again: dict[int, int] = {}

    def add(self, name: bytes) -> int:
        """One more of a name; returns how many came before."""
        number = int.from_bytes(name[:SIZE])
        numbers = self._seen.get(name[0])
        if numbers is None:
            self._seen[name[0]] = array("Q", (number,))
            return 0
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            count = self._again[number] = self._again.get(number, 0) + 1
            return count
        numbers.insert(place, number)
        return 0

    def __contains__(self, name: bytes) -> bool:
        number = int.from_bytes(name[:SIZE])
        numbers = self._seen.get(name[0], ())
        place = bisect_left(numbers, number)
        return place < len(numbers) and numbers[place] == number
