"""Coverage: what a client's tests tried of the service, and which assumptions it relied on, counted from the journal.

Nothing is collected while a world works. A `Catalog` is all that can be tried: the facts of the services
(`services/coverage/catalog.py`), and each operation with the fields of its requests; the engine is given both. A tally
counts what was tried: dimension, name, how often. Tallies of several worlds, workers or runs are added up. A world's
journal is read entry by entry; what an entry alone does not tell is remembered from those before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from sendbox.engine.journal import CODE
from sendbox.engine.kept import empty
from sendbox.engine.kinds.rows import KindTable, Observer

if TYPE_CHECKING:
    from sendbox.engine.remarks import Advice, Finding
    from sendbox.engine.world import World

#: Dimension to name to how often it was tried.
Tally = dict[str, dict[str, int]]
#: What a snippet is.
Form = Literal["scenario", "request", "python"]
#: So many entries of the journal are named for an assumption.
MOST_ENTRIES: Final = 5
#: The part of a path that stands for the items of an array.
_ITEM: Final = "[]"


class Leaned(msgspec.Struct):
    """The number of journal entries that rest on an assumption, and the first of these entries."""

    count: int = 0
    entries: list[int] = msgspec.field(default_factory=list)

    def note(self, entry: int) -> None:
        """An entry rests on the row; it counts once, however many things in it do."""
        if self.entries and self.entries[-1] == entry:
            return
        self.count += 1
        if len(self.entries) < MOST_ENTRIES:
            self.entries.append(entry)


class Collected(NamedTuple):
    """The tally of everything that was tried, and the assumptions that it rests on, by id."""

    tally: Tally
    leaned: dict[str, Leaned]


class Item(NamedTuple):
    """One thing that a client's tests may try: its name in its dimension, where it is written, and how to try it.

    `of` are the operations and interfaces that it is about, empty for all.
    """

    dimension: str
    name: str
    section: str
    form: Form
    snippet: str
    assumed: str | None = None
    of: tuple[str, ...] = ()


class Row(NamedTuple):
    """An operation: whose interface, where it is written, how its request comes, and what may become of it.

    `takes` is `json`, `form`, `query`, or empty if nothing is asked; `fields` are the paths of its request, with the
    assumptions that they rest on, and `snippet_with` makes the snippet of a request with such a field; `refused` is
    the snippet of a call that is refused, None if none is.
    """

    operation: str
    interface: str
    section: str
    takes: str
    fields: Mapping[str, str | None]
    snippet_with: Callable[[str], str]
    accepted: str
    refused: tuple[Form, str] | None


class Catalog:
    """All that can be tried, in dimensions that have `headings`; `rows` by their operations, `kinds` count.

    `assumed` are the assumptions that items rest on, by dimension and name; those of fields are there once `fields` was
    asked about their operation. So a row that nobody asks about need not be made.
    """

    def __init__(
        self, dimensions: Mapping[str, str], facts: Iterable[Item], rows: Mapping[str, Row], kinds: KindTable
    ) -> None:
        self.kinds = kinds
        self.headings = dimensions
        self.rows = rows
        self._facts = tuple(facts)
        self.assumed = {(item.dimension, item.name): item.assumed for item in self._facts if item.assumed is not None}
        #: operations by the words of items that are about them
        self._about: dict[tuple[str, ...], list[str]] = {}
        self._paths: dict[str, _Tree] = {}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All that can be tried."""
        rows = self.rows.values()
        of_operations = (item for row in rows for item in _of_operation(row))
        return (*of_operations, *self._facts, *(item for row in rows for item in _of_fields(row)))

    @cached_property
    def dimensions(self) -> dict[str, list[Item]]:
        """The items of each dimension."""
        dimensions: dict[str, list[Item]] = {name: [] for name in self.headings}
        for item in self.items:
            dimensions[item.dimension].append(item)
        return dimensions

    def fields(self, operation: str, request: object) -> set[str]:
        """The names of the fields that a parsed request of an operation has."""
        tree = self._paths.get(operation)
        if tree is None:
            row = self.rows[operation]
            self.assumed |= {("fields", _field(row, path)): assumed for path, assumed in row.fields.items() if assumed}
            tree = self._paths[operation] = _tree(row)
        names: set[str] = set()
        _find(tree, request, names)
        return names - {""}

    def operations(self, item: Item) -> list[str]:
        """The operations that an item is about."""
        if item.of not in self._about:
            self._about[item.of] = [
                name for name, row in self.rows.items() if not item.of or {name, row.interface} & {*item.of}
            ]
        return self._about[item.of]

    def named(self, tally: Tally) -> Tally:
        """A tally of everything that can be tried, with 0 where it was not; what is not in the catalog is left out."""
        none: dict[str, int] = {}
        return {
            name: {item.name: tally.get(name, none).get(item.name, 0) for item in items}
            for name, items in self.dimensions.items()
        }


def _of_operation(row: Row) -> Iterator[Item]:
    of = (row.operation,)
    yield Item("operations", f"{row.operation} accepted", row.section, "request", row.accepted, of=of)
    if row.refused is not None:
        yield Item("operations", f"{row.operation} refused", row.section, *row.refused, of=of)


def _of_fields(row: Row) -> Iterator[Item]:
    for path, assumed in row.fields.items():
        yield Item(
            "fields", _field(row, path), row.section, "request", row.snippet_with(path), assumed, (row.operation,)
        )


def _field(row: Row, path: str) -> str:
    """The name of the item of a field."""
    return f"{row.operation} {path}"


class _Tree(msgspec.Struct):
    """The fields of an operation by the parts of their paths: the item of this one, and what is below it."""

    item: str = ""
    below: dict[str, _Tree] = msgspec.field(default_factory=dict)


def _tree(row: Row) -> _Tree:
    root = _Tree()
    for path in row.fields:
        node = root
        for part in path.replace("[]", ".[]").split(".")[1:]:
            node = node.below.setdefault(part, _Tree())
        node.item = _field(row, path)
    return root


def _find(tree: _Tree, value: object, names: set[str]) -> None:
    names.add(tree.item)
    if isinstance(value, list):
        if _ITEM in tree.below:
            for item in value:
                _find(tree.below[_ITEM], item, names)
    elif isinstance(value, dict):
        for name, below in tree.below.items():
            if name in value and name != _ITEM:
                _find(below, value[name], names)


def merge(into: Tally, added: Mapping[str, Mapping[str, int]]) -> Tally:
    """Adds a tally to another, and returns that."""
    for dimension, counts in added.items():
        totals = into.setdefault(dimension, {})
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    return into


def last_restore(world: World) -> int:
    """The number of the first entry since the world was restored from a checkpoint, 0 where it never was."""
    journal = world.journal
    place = journal.kind.rfind(CODE["restored"])
    return 0 if place < 0 else place + journal.first + 1


class Sum:
    """Counts of several worlds: items tried, and by id how many entries rest on an assumption.

    `declared` are the operations that are to be tried, as the scenarios of these worlds say.
    """

    def __init__(
        self,
        tally: Tally | None = None,
        leaned: Mapping[str, int] | None = None,
        declared: Iterable[str] = (),
    ) -> None:
        self.tally: Tally = tally or {}
        self.leaned = Counter(leaned or {})
        self.declared = set(declared)

    def add(self, collected: Collected, declared: Iterable[str] = ()) -> None:
        """Adds what was tried in one world."""
        self.add_counts(collected.tally, {id_: leaned.count for id_, leaned in collected.leaned.items()})
        self.declared.update(declared)

    def add_counts(self, tally: Mapping[str, Mapping[str, int]], leaned: Mapping[str, int]) -> None:
        """Adds counts from elsewhere."""
        merge(self.tally, tally)
        self.leaned.update(leaned)


Memory = TypeVar("Memory")
#: So much is looked at between two pauses.
_SLICE: Final = 20


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

    def remarked(self, findings: Iterable[Finding], advice: Iterable[Advice]) -> None:
        """Findings and advice rest on the assumptions that they name."""
        self.lean(*(finding.assumed for finding in findings), *(remark.assumed for remark in advice))

    def memory(self, kind: type[Memory]) -> Memory:
        """The one object of a class in which a row remembers earlier entries."""
        memory: Memory = self._memories.get(kind) or self._memories.setdefault(kind, kind())
        return memory

    def clear(self) -> Iterator[None]:
        """Forgets earlier entries, with pauses."""
        for memory in self._memories.values():
            yield from empty(*vars(memory).values())


def collect_in_slices(world: World, catalog: Catalog, first: int = 0) -> Generator[None, None, Collected]:
    """Collects everything that was tried in a world, from entry `first` of its journal on; pauses every few entries."""
    collector = Collector(world, catalog)
    for number in range(world.journal.first, len(world.journal)):
        collector.look(number, counting=number >= first)
        if collector.work >= _SLICE:  # a batch of events is many entries' work
            collector.work = 0
            yield
    yield from collector.clear()
    return Collected(collector.tally, collector.leaned)
