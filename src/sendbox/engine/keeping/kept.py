"""A list that only grows at its end, and whose oldest items may be forgotten (`engine/keeping/forgetting.py`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")
#: As many as there are.
ALL: Final = 1 << 60


class Forgotten(NamedTuple, Generic[T]):
    """The items that were taken out of a list, and the place of the first item that was not examined."""

    gone: list[T]
    place: int


class Kept(list[T]):
    """Items in their order. `lost` counts those that were forgotten, so the next one has the number `made`."""

    __slots__ = ("lost",)

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0

    @property
    def made(self) -> int:
        """The number of all items so far, including the forgotten ones."""
        return self.lost + len(self)

    def forget(self, first: int, until: int, goes: Callable[[T], bool], most: int = ALL) -> Forgotten[T]:
        """Takes out those of the places `first` to `until` that may go, so many of them at most.

        What stays keeps its order. As soon as enough are found the rest is not looked at.
        """
        gone: list[T] = []
        stays: list[T] = []
        for item in islice(self, first, until):
            (gone if goes(item) else stays).append(item)
            if len(gone) == most:
                break
        self[first : first + len(gone) + len(stays)] = stays
        self.lost += len(gone)
        return Forgotten(gone, first + len(stays))
