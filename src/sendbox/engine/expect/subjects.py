"""The subjects of expectations: the form of a row, and the search for its occurrences.

An occurrence in the journal is found by the kind of its entry, any other in a list of the world, which keeps all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from sendbox.engine.expect.expectation import INSTANT, Path, Reading
from sendbox.engine.journal import CODE, Journal

if TYPE_CHECKING:
    from sendbox.engine.world import World

#: How a condition is compared: a phone pattern, a text pattern, one of fixed words, a number or a range of numbers,
#: a duration, true or false, dotted paths inside an object.
Comparison = Literal["phone", "text", "word", "number", "time", "flag", "payload"]
#: Reads something of an occurrence, from the world and its record: a value, None, or a tuple of values.
Reads = Callable[["World", Any], object]
#: The name of that of which parts may be ignored: its reader takes the paths as a third argument.
CONTENT: Final = "content"
#: The subject whose occurrences are the calls of the client.
REQUESTS: Final = "requests"
#: Entries looked at between two pauses.
_LOOKED: Final = 256
_REQUEST: Final = CODE["request"]


class Field(NamedTuple):
    """A field of an occurrence: its comparison, its description in words, its reader, its legal words (a text must be
    one of them, or a pattern that matches one), the ranges that its numbers come from (empty: any number), and, if its
    values are names in a world, a function that lists all of them."""

    kind: Comparison
    says: str
    of: Reads
    words: tuple[str, ...] = ()
    numbers: tuple[tuple[int, float], ...] = ()
    known: Callable[[World], Iterable[str]] | None = None


class Occurrence(NamedTuple):
    """One occurrence: when it came, the number of its journal entry (None = it has none), its record.

    `part` tells the occurrences of one entry apart, in their order, and those that have no entry. `begun` and `ended`
    are the entries with which it came to be and was complete: of what the handling of a call brought about, that of the
    call. They are -1 where the entries are forgotten.
    """

    at: int
    entry: int | None
    record: Any
    part: int = 0
    begun: int = -1
    ended: int = -1


class Parts(NamedTuple):
    """The parts of an occurrence, at least one: each with the words that name it, and in a line.

    `name` says what a part is. `names` are the fields, and what else an occurrence belongs to, that are read from a
    part and not from the whole; `words` the conditions that ask the parts of a word, each with its meaning. Of the
    `shown` fields views have those of one part, and by the `sure` values of a field it is that part.
    """

    name: str
    of: Callable[[Any], Sequence[tuple[object, Collection[str]]]]
    names: frozenset[str]
    words: Mapping[str, str]
    line: Callable[[Any], str]
    visible: frozenset[str]
    sure: tuple[str, tuple[str, ...]]


class Subject(NamedTuple):
    """A row: what its occurrences are in words, one of them in a line, their fields, and where they are kept.

    Of the journal: `kinds` and `split`, which makes occurrences of an entry, and `begins`, those with which the world
    begins. Of a list: `kept` and `at`, and `made`, the records of the entries of these kinds with which an occurrence
    came to be (the first such entry) and was complete (the last one), None if both are the same entry. `about` says to
    what an occurrence belongs, by name, where that is not one of its fields. `own` are the names of which no two
    occurrences have the same value, `apart` those that mean something else than in other rows, `several` those of which
    an occurrence may have several values. Where it has `parts`, all conditions must hold for one and the same part.
    """

    says: str
    fields: dict[str, Field]
    line: Callable[[World, Any], str]
    kinds: tuple[str, ...] = ()
    split: Callable[[int, Any], Iterable[object]] = lambda _code, record: (record,)
    kept: Callable[[World], Iterable[object]] | None = None
    at: Callable[[Any], int] = lambda record: int(record.made_at)
    made: Callable[[Any], tuple[object, object]] = lambda record: (record, None)
    about: Mapping[str, Reads] = MappingProxyType({})
    own: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    parts: Parts | None = None
    begins: Callable[[World], Iterable[object]] = lambda _world: ()

    @property
    def names(self) -> dict[str, Reads]:
        """Everything that tells its occurrences apart, by name."""
        fields = {name: field.of for name, field in self.fields.items() if field.kind != "payload"}
        return {**fields, **self.about}

    @property
    def words(self) -> Mapping[str, str]:
        """The conditions that ask one of its parts."""
        return {} if self.parts is None else self.parts.words

    def readings(self, world: World, thing: Occurrence) -> list[Reading]:
        """The parts of an occurrence, or the occurrence itself, as conditions read them; its time is `INSTANT`."""
        record, fields, parts = thing.record, self.fields, self.parts
        if parts is None:
            return [Reading(lambda name: thing.at if name == INSTANT else fields[name].of(world, record))]

        def read(part: object) -> Callable[[str], object]:
            return lambda name: (
                thing.at if name == INSTANT else fields[name].of(world, part if name in parts.names else record)
            )

        return [Reading(read(part), words, parts.line(part)) for part, words in parts.of(record)]

    def belonging(
        self, names: Iterable[str], ignoring: tuple[Path, ...] = ()
    ) -> Callable[[World, object], list[tuple[object, ...]]]:
        """A function that finds the keys of an occurrence's subjects: in each key, a value for each of the names.

        `ignoring` are the paths in the content that make no difference.
        """
        known, parts = self.names, self.parts
        if ignoring and CONTENT in known:
            content: Callable[..., object] = known[CONTENT]
            known[CONTENT] = partial(content, ignoring=ignoring)
        reads = [(known[name], parts is not None and name in parts.names) for name in names]

        def belongs(world: World, record: object) -> list[tuple[object, ...]]:
            split = parts is not None and any(of_part for _, of_part in reads)
            keys: dict[tuple[object, ...], None] = {}
            for part in [part for part, _ in parts.of(record)] if parts is not None and split else [record]:
                values = [_several(read(world, part if of_part else record)) for read, of_part in reads]
                keys |= dict.fromkeys(product(*values))
            return list(keys)

        return belongs


def _several(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def occurrences_of(world: World, subject: Subject) -> Iterator[Occurrence | None]:
    """Every occurrence of a row, in the order kept; None now and then, so that the caller can pause."""
    if subject.kept is not None:
        yield from _of_list(world, subject, subject.kept)
        return
    for part, item in enumerate(subject.begins(world)):
        yield Occurrence(world.start, None, item, part)
    calls = _Calls(world.journal)
    for number, at, code, record in _entries(world.journal, subject):
        if number < 0:
            yield None
            continue
        call = calls.entry_of(number, record)
        for part, item in enumerate(subject.split(code, record)):
            yield Occurrence(at, number, item, part, call, call)


def _of_list(world: World, subject: Subject, kept: Callable[[World], Iterable[object]]) -> Iterator[Occurrence | None]:
    """Every occurrence that is kept in a list."""
    firsts: dict[int, int] = {}
    lasts: dict[int, int] = {}
    for number, _, _, record in _entries(world.journal, subject):
        if number < 0:
            yield None
        else:
            firsts.setdefault(id(record), number)
            lasts[id(record)] = number
    for part, record in enumerate(kept(world)):
        first, last = subject.made(record)
        ended = lasts.get(id(last), -1)
        begun = firsts.get(id(first), ended)
        ended = max(begun, ended)
        yield Occurrence(subject.at(record), None, record, part, begun, ended)


def _entries(journal: Journal, subject: Subject) -> Iterator[tuple[int, int, int, object]]:
    """The entries of a row's kinds: number, instant, code and record; the number is -1 now and then, for a pause."""
    codes = frozenset(CODE[kind] for kind in subject.kinds)
    for number in range(journal.first, len(journal)):
        if number % _LOOKED == 0:
            yield -1, 0, 0, None
        at, code, record = journal.entry(number)
        if code in codes:
            yield number, at, code, record


class _Calls:
    """The calls of a journal, asked in its order, by the entries that came with them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        #: the entry of the next call, and the first one that its handling made
        self._next = self._first = -1

    def entry_of(self, number: int, record: object) -> int:
        """The entry of the call that an entry came with: while it was handled, or as the fault that struck it; else
        the entry itself."""
        journal = self._journal
        if number > self._next:
            self._next = next(journal.find(_REQUEST, number), len(journal))
            handled = self._next < len(journal)
            self._first = self._next - (journal.entry(self._next)[2].effects if handled else 0)
        if number > journal.first and getattr(journal.entry(number - 1)[2], "fault", None) is record:
            return number - 1
        return self._next if number >= self._first else number
