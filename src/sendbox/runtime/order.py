"""The order in which worlds were opened, so that a part of them is found without a look at all; and closed ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter

from sendbox.runtime.slot import Changing, Hosted

_number = attrgetter("number")


class Order(Changing):
    """The open worlds, oldest first. Each has a number, higher than those before it. It changes with each of them."""

    __slots__ = ("_worlds", "opened")

    def __init__(self) -> None:
        super().__init__()
        self._worlds: list[Hosted] = []
        #: how many worlds were opened so far
        self.opened = 0

    def add(self, hosted: Hosted) -> None:
        """A world was opened."""
        self.opened += 1
        hosted.number = self.opened
        self._worlds.append(hosted)
        self.touch()

    def remove(self, hosted: Hosted) -> None:
        """A world was closed."""
        del self._worlds[bisect_left(self._worlds, hosted.number, key=_number)]
        self.touch()

    def after(self, number: int) -> Iterator[Hosted]:
        """The worlds with a higher number; those opened or closed meanwhile may be missing."""
        while (place := bisect_right(self._worlds, number, key=_number)) < len(self._worlds):
            hosted = self._worlds[place]
            number = hosted.number
            yield hosted

    def backwards(self, number: int | None = None) -> Iterator[Hosted]:
        """The worlds with a lower number, newest first; those closed meanwhile may be missing. None = all of them."""
        number = self.opened + 1 if number is None else number
        while place := bisect_left(self._worlds, number, key=_number):
            hosted = self._worlds[place - 1]
            number = hosted.number
            yield hosted


class Kept:
    """Closed worlds that can still be read, by id in the order of their closing: the newest of them.

    `drop` is called with one that is kept no longer.
    """

    def __init__(self, most: int, drop: Callable[[Hosted], None]) -> None:
        self.worlds: dict[str, Hosted] = {}
        self._most = most
        self._drop = drop
        self._closed = 0

    def add(self, hosted: Hosted) -> None:
        """A world was closed; the oldest goes if it is one too many."""
        self._closed += 1
        hosted.closed = self._closed
        hosted.kept = True
        self.worlds[hosted.world.id] = hosted
        if len(self.worlds) > self._most:
            self.drop(next(iter(self.worlds)))

    def drop(self, world_id: str) -> None:
        """It is no longer kept, if it was."""
        hosted = self.worlds.pop(world_id, None)
        if hosted is not None:
            hosted.kept = False
            self._drop(hosted)

    def forget(self) -> None:
        """None is kept any longer."""
        for world_id in list(self.worlds):
            self.drop(world_id)
