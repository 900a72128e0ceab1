"""The worlds of a runtime: the open ones in the order of their opening, closed ones that can be read, and replicas."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final, Generic, TypeVar

import msgspec

from sendbox.engine.world import World
from sendbox.runtime.slot import Changing, HostedWorld

_number = attrgetter("number")


class OpenWorlds(Changing):
    """The open worlds, oldest first, with rising numbers. An opening and a closing are changes to wait for."""

    _worlds: list[HostedWorld] = msgspec.field(default_factory=list)
    #: how many worlds were opened so far, and how many of these and of earlier ones were closed or have ended
    opened: int = 0
    closed: int = 0
    #: the highest number of a world, also of an earlier process
    highest: int = 0

    def add(self, hosted: HostedWorld, number: int | None = None) -> None:
        """Adds a world that was opened; its number is the next one, unless the store has said another."""
        self.opened += 1
        if number is None:
            number = self.highest = self.highest + 1
        hosted.number = number
        insort(self._worlds, hosted, key=_number)
        self.touch()

    def resume(self, hosted: HostedWorld) -> None:
        """Adds a world that has its number from an earlier process."""
        insort(self._worlds, hosted, key=_number)
        self.touch()

    def remove(self, hosted: HostedWorld) -> None:
        """Removes a world that was closed."""
        del self._worlds[bisect_left(self._worlds, hosted.number, key=_number)]
        self.touch()

    def after(self, number: int) -> Iterator[HostedWorld]:
        """The worlds with a higher number; those opened or closed meanwhile may be missing."""
        while (place := bisect_right(self._worlds, number, key=_number)) < len(self._worlds):
            hosted = self._worlds[place]
            number = hosted.number
            yield hosted

    def backwards(self, number: int | None = None) -> Iterator[HostedWorld]:
        """The worlds with a lower number (None: all), newest first; those closed meanwhile may be missing."""
        while place := len(self._worlds) if number is None else bisect_left(self._worlds, number, key=_number):
            hosted = self._worlds[place - 1]
            number = hosted.number
            yield hosted


class ClosedWorlds:
    """The newest closed worlds, which can still be read, by id in the order of their closing.

    `drop` is called with a world that is removed.
    """

    def __init__(self, most: int, drop: Callable[[HostedWorld], None]) -> None:
        self.worlds: dict[str, HostedWorld] = {}
        self._most = most
        self._drop = drop
        self._closed = 0

    def add(self, hosted: HostedWorld) -> None:
        """Adds a world that was closed; removes the oldest if there are too many."""
        self._closed += 1
        hosted.closed = self._closed
        hosted.kept = True
        self.worlds[hosted.world.id] = hosted
        if len(self.worlds) > self._most:
            self.drop(next(iter(self.worlds)))

    def drop(self, world_id: str) -> None:
        """Removes a world, if it is there."""
        hosted = self.worlds.pop(world_id, None)
        if hosted is not None:
            hosted.kept = False
            self._drop(hosted)

    def forget(self) -> None:
        """Removes all worlds."""
        for world_id in list(self.worlds):
            self.drop(world_id)


#: The highest number of replicas of one world, and of all worlds of a process together.
MOST_OF_ONE_WORLD: Final = 2
MOST_OF_ALL_WORLDS: Final = 8


class Replica:
    """A world that was made again from the record of an open world, `of`; `hosted` is its own slot in the runtime."""

    def __init__(self, of: World, hosted: HostedWorld) -> None:
        self.of = of
        self.hosted = hosted


S = TypeVar("S", bound=Replica)


class Replicas(Generic[S]):
    """The replicas of one runtime. If there are too many, the least recently used one is removed.

    A replica sends nothing. `discard` disposes of a world when it has no readers any more.
    """

    def __init__(self, discard: Callable[[HostedWorld, World], None]) -> None:
        self._discard = discard
        #: the most recently used one is the last
        self._replicas: list[S] = []

    def __len__(self) -> int:
        return len(self._replicas)

    def of(self, world: World) -> list[S]:
        """The replicas of a world."""
        return [replica for replica in self._replicas if replica.of is world]

    def use(self, replica: S) -> None:
        """Marks a replica as the most recently used one, and removes those that are too many."""
        if replica in self._replicas:
            self._replicas.remove(replica)
        self._replicas.append(replica)
        for replicas, most in ((self.of(replica.of), MOST_OF_ONE_WORLD), (self._replicas[:], MOST_OF_ALL_WORLDS)):
            for oldest in replicas[: max(0, len(replicas) - most)]:
                self.drop(oldest)

    def drop(self, replica: S) -> None:
        """Removes a replica."""
        if replica in self._replicas:
            self._replicas.remove(replica)
            self._discard(replica.hosted, replica.hosted.world)

    def forget(self, world: World | None = None) -> None:
        """Removes the replicas of a world; without an argument, all of them."""
        for replica in self._replicas[:] if world is None else self.of(world):
            self.drop(replica)
