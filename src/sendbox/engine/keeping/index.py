"""Indexes of things by their names, made as far as they are asked for: in most worlds no thing is looked for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from sendbox.engine.keeping.kept import Kept

T = TypeVar("T")
#: So many are read between two pauses.
STEP: Final = 100


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
            for item in items[first : first + STEP]:
                self._take(self._name(item), item)
            self._read = items.lost + min(first + STEP, len(items))
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
