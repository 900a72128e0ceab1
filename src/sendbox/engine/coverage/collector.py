"""Counting: a world's journal entry by entry, into what was tried and the assumptions it rests on.

What an entry alone does not tell is remembered from those before it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sendbox.engine.coverage.tally import Collected, Leaned
from sendbox.engine.kinds.rows import Observer

if TYPE_CHECKING:
    from sendbox.engine.coverage.tally import Catalog, Tally
    from sendbox.engine.world import World

Memory = TypeVar("Memory")
#: So much is looked at between two pauses.
_SLICE: Final = 100


class Collector(Observer):
    """Counts the entries it is given in order. `tally` is what was tried, `leaned` the assumptions it rests on."""

    def __init__(self, world: World, catalog: Catalog) -> None:
        super().__init__(world, catalog.kinds)
        self.catalog = catalog
        self.tally: Tally = {}
        self.leaned: dict[str, Leaned] = {}
        #: how much was looked at since the last pause
        self.work = 0
        #: instant of the entry that is looked at
        self.at = 0
        self._counting = True
        self._number = 0
        self._memories: dict[type, Any] = {}

    def look(self, number: int, *, counting: bool) -> None:
        """Takes in the next entry; without `counting` it is only remembered for those after it."""
        self.work += 1
        self._number, self._counting = number, counting
        self.at, code, subject = self.world.journal.entry(number)
        count = self.kinds.by_code[code].count
        if count is not None:
            count(self, subject)

    def count(self, dimension: str, name: str) -> None:
        """One more of an item, and of the assumption it rests on."""
        if self._counting:
            counts = self.tally.setdefault(dimension, {})
            counts[name] = counts.get(name, 0) + 1
            self.lean(self.catalog.assumed.get((dimension, name)))

    def lean(self, *ids: str | None) -> None:
        """This entry rests on these assumptions."""
        for id_ in ids if self._counting else ():
            if id_ is not None:
                self.leaned.setdefault(id_, Leaned()).note(self._number)

    def remarked(self, subject: Any) -> None:
        """Findings and advice rest on the assumptions that they name."""
        self.lean(*(finding.assumed for finding in subject.findings), *(advice.assumed for advice in subject.advice))

    def memory(self, kind: type[Memory]) -> Memory:
        """The one object of a class in which a row remembers earlier entries."""
        memory: Memory = self._memories.get(kind) or self._memories.setdefault(kind, kind())
        return memory


def collect_in_slices(world: World, catalog: Catalog, first: int = 0) -> Generator[None, None, Collected]:
    """Collects everything that was tried in a world, from entry `first` of its journal on; pauses every few entries."""
    collector = Collector(world, catalog)
    for number in range(world.journal.first, len(world.journal)):
        collector.look(number, counting=number >= first)
        if collector.work >= _SLICE:  # a batch of events is many entries' work
            collector.work = 0
            yield
    return Collected(collector.tally, collector.leaned)
