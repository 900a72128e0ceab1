"""What a scenario may expect: how a row of it looks, and how its occurrences are found.

An occurrence in the journal is found by the kind of its entry, any other in a list of the world, which keeps all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from sendbox.engine.expect.conditions import INSTANT
from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.world import World

#: How a condition is compared: a phone pattern, a text pattern, one of fixed words, a number or a range of numbers,
#: a duration, true or false, dotted paths inside the payload.
Comparison = Literal["phone", "text", "word", "number", "time", "flag", "payload"]
#: Reads something of an occurrence, from the world and its record: a value, None, or a tuple of values.
Reads = Callable[[Any, Any], Any]
#: The subject whose occurrences are the calls of the client.
REQUESTS: Final = "requests"
#: Entries looked at between two pauses.
_LOOKED: Final = 256


class Field(NamedTuple):
    """What can be asked of an occurrence: how it is compared, what it is in words, how it is read, its legal words
    (of a text: those of which it must be one, or a pattern like one), the ranges that its numbers come from (empty:
    any number), and, of names that a world has, all of them."""

    kind: Comparison
    says: str
    of: Reads
    words: tuple[str, ...] = ()
    numbers: tuple[tuple[int, float], ...] = ()
    known: Callable[[Any], Iterable[str]] | None = None


class Occurrence(NamedTuple):
    """One occurrence: when it came, the number of its journal entry (None = it has none), its record.

    `part` tells the occurrences of one entry apart, in their order, and those that have no entry.
    """

    at: int
    entry: int | None
    what: Any
    part: int = 0


class Subject(NamedTuple):
    """A row: what its occurrences are in words, one of them in a line, their fields, and where they are kept.

    Of the journal: `kinds` and `split`, which makes occurrences of an entry. Of a list: `kept` and `at`. `about` says
    to what an occurrence belongs, by name, where that is not one of its fields. `own` are the names of which no two
    occurrences have the same value, `apart` those that mean something else than in other rows, `several` those of which
    an occurrence may have several values.
    """

    says: str
    fields: dict[str, Field]
    line: Callable[[Any, Any], str]
    kinds: tuple[str, ...] = ()
    split: Callable[[int, Any], Iterable[Any]] = lambda _code, what: (what,)
    kept: Callable[[Any], Iterable[Any]] | None = None
    at: Callable[[Any], int] = lambda what: int(what.made_at)
    about: Mapping[str, Reads] = MappingProxyType({})
    own: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    several: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, Reads]:
        """Everything that tells its occurrences apart, by name."""
        fields = {name: field.of for name, field in self.fields.items() if field.kind != "payload"}
        return {**fields, **self.about}

    def reading(self, world: World, thing: Occurrence) -> Callable[[str], Any]:
        """What reads the fields of an occurrence, and its time by the name of `INSTANT`."""
        return lambda name: thing.at if name == INSTANT else self.fields[name].of(world, thing.what)

    def belonging(self, names: Iterable[str]) -> Callable[[World, Any], list[tuple[Any, ...]]]:
        """What finds the subjects that an occurrence belongs to: a value for each of the names."""
        known = self.names
        reads = [known[name] for name in names]

        def belongs(world: World, what: Any) -> list[tuple[Any, ...]]:
            values = [_several(read(world, what)) for read in reads]
            return list(dict.fromkeys(product(*values)))

        return belongs


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def occurrences_of(world: World, subject: Subject) -> Iterator[Occurrence | None]:
    """Every occurrence of a row, in the order kept; None now and then, so that the caller can pause."""
    if subject.kept is not None:
        for number, record in enumerate(subject.kept(world)):
            yield Occurrence(subject.at(record), None, record, number)
        return
    codes = frozenset(CODE[kind] for kind in subject.kinds)
    journal = world.journal
    for number in range(journal.first, len(journal)):
        if number % _LOOKED == 0:
            yield None
        at, code, record = journal.entry(number)
        if code in codes:
            for part, item in enumerate(subject.split(code, record)):
                yield Occurrence(at, number, item, part)
