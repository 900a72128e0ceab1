"""The past of a world as lists keep it, with what finds their items by name: indexes, groups, firsts, fingerprints.

A list only grows at its end, and its oldest items may be forgotten (`engine/forgetting.py`). Names are read as
far as they are asked for: in most worlds no thing is looked for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

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


def empty(*collections: dict[Any, Any] | set[Any] | list[Any]) -> Generator[None, None, None]:
    """Empties large collections, with pauses: to free many items at once takes long."""
    for collection in collections:
        take = collection.popitem if isinstance(collection, dict) else collection.pop
        while collection:
            for _ in range(min(len(collection), ITEMS_PER_PAUSE)):
                take()
            yield


#: The number of items that are read, or freed, between two pauses.
ITEMS_PER_PAUSE: Final = 100


class Reading(Generic[T]):
    """A list that is read as far as it goes, each item once."""

    __slots__ = ("_items", "_name", "_read")

    def __init__(self, items: Kept[T], name: Callable[[T], str]) -> None:
        self._items = items
        self._name = name
        #: the number of the first item that was not read; some before it may be forgotten
        self._read = 0

    @property
    def behind(self) -> int:
        """The number of items that were not read yet."""
        return self._items.made - self._read

    def read(self) -> Generator[None, None, None]:
        """Reads the items that are new; pauses now and then."""
        items = self._items
        while self._read < items.made:
            first = max(self._read - items.lost, 0)
            for item in items[first : first + ITEMS_PER_PAUSE]:
                self._take(self._name(item), item)
            self._read = items.lost + min(first + ITEMS_PER_PAUSE, len(items))
            yield

    def read_now(self) -> None:
        """The same without pauses."""
        for _ in self.read():
            pass

    def _take(self, name: str, item: T) -> None:
        """Takes an item that was read."""


class Index(Reading[T], Mapping[str, T]):
    """The items of a list by their names; of those that have one name, the first."""

    __slots__ = ("_by_name",)

    def __init__(self, items: Kept[T], name: Callable[[T], str]) -> None:
        super().__init__(items, name)
        self._by_name: dict[str, T] = {}

    def _take(self, name: str, item: T) -> None:
        self._by_name.setdefault(name, item)

    def forget(self, gone: Iterable[T]) -> None:
        """Items that are no longer in the list."""
        if not self._by_name:  # their names are not needed
            return
        for item in gone:
            name = self._name(item)
            if self._by_name.get(name) is item:
                del self._by_name[name]

    def __getitem__(self, name: str) -> T:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    @property
    def _whole(self) -> dict[str, T]:
        self.read_now()
        return self._by_name


class Groups(Reading[T]):
    """The items of a list in groups, by the name that those of one group have in common."""

    __slots__ = ("_groups",)

    def __init__(self, items: Kept[T], name: Callable[[T], str]) -> None:
        super().__init__(items, name)
        self._groups: dict[str, list[T]] = {}

    def _take(self, name: str, item: T) -> None:
        self._groups.setdefault(name, []).append(item)

    def of(self, name: str) -> list[T]:
        """The items of a group, in their order."""
        self.read_now()
        return self._groups.get(name, [])

    def look_again(self) -> None:
        """Items were forgotten: those that are left are read anew, when a group is asked for."""
        self._groups = {}
        self._read = 0


class Source(Struct, frozen=True):
    """A list, the instant of an item, and its name; an item of name None does not count."""

    items: Kept[Any]
    at: Callable[[Any], int]
    name: Callable[[Any], str | None]


class Firsts:
    """The `names` in order of first appearance in lists that go by time, and the place of each of them.

    At one instant the items of an earlier list come first.
    """

    __slots__ = ("_before", "_instant", "_newest", "_read", "_sources", "names", "places")

    def __init__(self, *sources: Source) -> None:
        self._sources = sources
        self.look_again()

    def look_again(self) -> None:
        """Items were forgotten: those that are left are read anew."""
        #: by list, the number of the first item that was not read; some before it may be forgotten
        self._read = [0] * len(self._sources)
        self.names: list[str] = []
        self.places: dict[str, int] = {}
        #: the instant of the newest item that was read, the last list with one of it, and how far all was read before
        self._instant: int | None = None
        self._newest = 0
        self._before = [*self._read], 0

    def read(self) -> Generator[None, None, None]:
        """Reads the items that are new; pauses now and then."""
        while following := self._following():
            if any(self._comes_late(*pair) for pair in following):
                self._go_back()
                following = self._following()
            for _ in range(ITEMS_PER_PAUSE):
                number, source = min(following, key=lambda pair: pair[1].at(self._next(*pair)))
                item = self._next(number, source)
                if (at := source.at(item)) != self._instant:
                    self._instant, self._newest, self._before = at, number, ([*self._read], len(self.names))
                self._newest = max(self._newest, number)
                name = source.name(item)
                self._read[number] = max(self._read[number], source.items.lost) + 1
                if name is not None and name not in self.places:
                    self.places[name] = len(self.names)
                    self.names.append(name)
                following = self._following()
                if not following:
                    break
            yield

    def _comes_late(self, number: int, source: Source) -> bool:
        """True if the next item of a list comes before one that was read, as the lists stand at its instant."""
        return number < self._newest and source.at(self._next(number, source)) == self._instant

    def _go_back(self) -> None:
        """Forgets what was read of the newest instant, so that it is read again in its order.

        Who has the names and places still has those from before.
        """
        read, count = self._before
        self._read, self._instant = [*read], None
        self.names = self.names[:count]
        self.places = {name: place for place, name in enumerate(self.names)}

    def _following(self) -> list[tuple[int, Source]]:
        """The lists that have items which were not read, with their places."""
        return [
            (number, source)
            for number, source in enumerate(self._sources)
            if source.items and self._read[number] < source.items.made
        ]

    def _next(self, number: int, source: Source) -> object:
        return source.items[max(self._read[number] - source.items.lost, 0)]


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
