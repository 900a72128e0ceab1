"""The names in lists by their first appearance, made as far as it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from sendbox.engine.keeping.index import STEP

if TYPE_CHECKING:
    from sendbox.engine.keeping.kept import Kept


class Source(NamedTuple):
    """A list, the instant of an item, and its name; an item of name None does not count."""

    items: Kept[Any]
    at: Callable[[Any], int]
    name: Callable[[Any], str | None]


class Firsts:
    """The `names` in order of first appearance in lists that go by time, and the place of each of them.

    At one instant the items of an earlier list come first.
    """

    __slots__ = ("_read", "_sources", "names", "places")

    def __init__(self, *sources: Source) -> None:
        self._sources = sources
        self.look_again()

    def look_again(self) -> None:
        """Items were forgotten: those that are left are read anew."""
        #: by list, the number of the first item that was not read; some before it may be forgotten
        self._read = [0] * len(self._sources)
        self.names: list[str] = []
        self.places: dict[str, int] = {}

    def read(self) -> Generator[None, None, None]:
        """Reads the items that are new; pauses now and then."""
        while following := self._following():
            for _ in range(STEP):
                number, source = min(following, key=lambda pair: pair[1].at(self._next(*pair)))
                name = source.name(self._next(number, source))
                self._read[number] = max(self._read[number], source.items.lost) + 1
                if name is not None and name not in self.places:
                    self.places[name] = len(self.names)
                    self.names.append(name)
                following = self._following()
                if not following:
                    break
            yield

    def _following(self) -> list[tuple[int, Source]]:
        """The lists that have items which were not read, with their places."""
        return [
            (number, source)
            for number, source in enumerate(self._sources)
            if source.items and self._read[number] < source.items.made
        ]

    def _next(self, number: int, source: Source) -> Any:
        return source.items[max(self._read[number] - source.items.lost, 0)]
