"""What a random world is drawn with: whole numbers and choices, the same on every machine and every Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Draws from a seed. It uses the 32 bits of the generator alone, which no version of Python changes."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, end: int) -> int:
        """A number from 0, below `end`."""
        return self._random.getrandbits(32) % end

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        """One of the items, by their weights."""
        at = self.below(sum(weight for weight, _ in items))
        for weight, item in items:
            at -= weight
            if at < 0:
                return item
        raise AssertionError("the weights add up")

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """One to `most` different items, in their order."""
        wanted = min(self.between(1, most), len(items))
        chosen: set[int] = set()
        while len(chosen) < wanted:
            chosen.add(self.below(len(items)))
        return [items[index] for index in sorted(chosen)]
