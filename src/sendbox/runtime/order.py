"""The order in which worlds were opened, so that a part of them is found without a look at all; and the worlds that are
kept beside the open ones: closed ones, and side worlds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import msgspec

from sendbox.runtime.slot import Changing, Hosted

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.runtime.slot import Hosted

_number = attrgetter("number")


class Order(Changing):
    """The open worlds, oldest first. Each has a number, higher than those before it. It changes with each of them."""

    _worlds: list[Hosted] = msgspec.field(default_factory=list)
    #: how many worlds were opened so far
    opened: int = 0

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


#: So many side worlds are kept of one world, and of all worlds of a process together.
OF_ONE: Final = 2
OF_ALL: Final = 8


class Side:
    """A side world, with what it is hosted by, and the open world `of` which it shows something."""

    def __init__(self, of: World, hosted: Hosted) -> None:
        self.of = of
        self.hosted = hosted


S = TypeVar("S", bound=Side)


class Beside(Generic[S]):
    """The side worlds of one runtime. The one that was not used for the longest time goes first.

    Nothing leaves a side world. `discard` takes a world apart once it has no readers.
    """

    def __init__(self, discard: Callable[[Hosted, World], None]) -> None:
        self._discard = discard
        #: the one that was used last stands last
        self._sides: list[S] = []

    def __len__(self) -> int:
        return len(self._sides)

    def of(self, world: World) -> list[S]:
        """Those that are kept of a world."""
        return [side for side in self._sides if side.of is world]

    def use(self, side: S) -> None:
        """It is used now, and kept; another one may go."""
        if side in self._sides:
            self._sides.remove(side)
        self._sides.append(side)
        for kept, most in ((self.of(side.of), OF_ONE), (self._sides[:], OF_ALL)):
            for oldest in kept[: max(0, len(kept) - most)]:
                self.drop(oldest)

    def drop(self, side: S) -> None:
        """It is no longer kept."""
        if side in self._sides:
            self._sides.remove(side)
            self._discard(side.hosted, side.hosted.world)

    def forget(self, world: World | None = None) -> None:
        """Those of a world that is gone are no longer kept; without a world none is."""
        for side in self._sides[:] if world is None else self.of(world):
            self.drop(side)
