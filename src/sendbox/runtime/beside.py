"""Side worlds that are kept for a while: each shows something of an open world, and nothing leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.runtime.slot import Hosted

#: So many side worlds are kept of one world, and of all worlds of a process together.
OF_ONE: Final = 2
OF_ALL: Final = 8


class Side:
    """A side world, with what it is hosted by, and the world `of` which it shows something."""

    def __init__(self, of: World, hosted: Hosted) -> None:
        self.of = of
        self.hosted = hosted


S = TypeVar("S", bound=Side)


class Beside(Generic[S]):
    """The side worlds of one runtime. The one that was not used for the longest time goes first.

    `discard` takes a world apart once it has no readers.
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
