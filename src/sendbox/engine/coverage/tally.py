"""Coverage: what a client's tests tried of the service, counted from the journal when somebody asks.

Nothing is collected while a world works. A tally counts what was tried: dimension, name, how often. Tallies of several
worlds, workers or runs are added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from sendbox.engine.coverage.assumptions import Leaned
from sendbox.engine.coverage.catalog import Catalog, Tally
from sendbox.engine.coverage.collector import Collector
from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.world import World

_SLICE: Final = 100


class Collected(NamedTuple):
    """What was tried, and the assumptions that it rests on, by id."""

    tally: Tally
    leaned: dict[str, Leaned]


def merge(into: Tally, other: Mapping[str, Mapping[str, int]]) -> Tally:
    """Adds a tally to another, and returns that."""
    for dimension, counts in other.items():
        mine = into.setdefault(dimension, {})
        for name, count in counts.items():
            mine[name] = mine.get(name, 0) + count
    return into


def collect(world: World, catalog: Catalog, first: int = 0) -> Collected:
    """What was tried in a world, from entry `first` of its journal on."""
    steps = collect_in_slices(world, catalog, first)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            collected: Collected = done.value
            return collected


def collect_in_slices(world: World, catalog: Catalog, first: int = 0) -> Generator[None, None, Collected]:
    """The same, pausing every few entries so that a loop can breathe; the generator returns what was collected."""
    collector = Collector(world, catalog)
    for number in range(world.journal.first, len(world.journal)):
        collector.look(number, counting=number >= first)
        if collector.work >= _SLICE:  # a batch of events is many entries' work
            collector.work = 0
            yield
    return Collected(collector.tally, collector.leaned)


def last_restore(world: World) -> int:
    """The number of the first entry since the world was restored from a checkpoint, 0 where it never was."""
    journal = world.journal
    place = journal.kind.rfind(CODE["restored"])
    return 0 if place < 0 else place + journal.first + 1


class Sum:
    """Counts of several worlds: items tried, and assumptions leaned on by id."""

    __slots__ = ("leaned", "tally")

    def __init__(self) -> None:
        self.tally: Tally = {}
        self.leaned: Counter[str] = Counter()

    def add(self, collected: Collected) -> None:
        """One more world."""
        merge(self.tally, collected.tally)
        self.leaned.update({id_: mine.count for id_, mine in collected.leaned.items()})


def denied(path: str, key: str | None) -> str | None:
    """The item of a call whose key opened no world, which no journal tells of (§5, §7)."""
    if path.startswith("/v2/"):
        return "sending denied key"
    if path.startswith("/v1/validations"):
        return "verify MISSING_API_KEY" if key is None else "verify INVALID_API_KEY"
    if path.startswith("/v1/"):
        return "rest denied key"
    return "legacy denied key" if path in ("/Send", "/api-send.php") else None
