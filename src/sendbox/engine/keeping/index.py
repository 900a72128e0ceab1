"""An index of things by their names, made as far as it is asked for: in most worlds no thing is looked for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from sendbox.engine.keeping.kept import Kept

T = TypeVar("T")
#: So many are read between two pauses.
STEP: Final = 100


class Index(Mapping[str, T], Generic[T]):
    """The items of a list by their names; of those that have one name, the first."""

    __slots__ = ("_by_name", "_items", "_name", "_read")

    def __init__(self, items: Kept[T], name: Callable[[T], str]) -> None:
        self._items = items
        self._name = name
        self._by_name: dict[str, T] = {}
        #: the number of the first item that was not read; some before it may be forgotten
        self._read = 0

    @property
    def behind(self) -> int:
        """How many items were not read yet."""
        return self._items.made - self._read

    def read(self) -> Generator[None, None, None]:
        """Reads the items that are new; pauses now and then."""
        items = self._items
        while self._read < items.made:
            first = max(self._read - items.lost, 0)
            for item in items[first : first + STEP]:
                self._by_name.setdefault(self._name(item), item)
            self._read = items.lost + min(first + STEP, len(items))
            yield

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
        for _ in self.read():
            pass
        return self._by_name
