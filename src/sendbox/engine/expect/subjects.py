"""What a scenario may expect: how a row of it looks, and how its occurrences are found.

An occurrence in the journal is found by the kind of its entry, any other in a list of the world, which keeps all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.world import World

#: How a condition is compared: a phone pattern, a text pattern, one of fixed words, a number or a range of numbers,
#: true or false, dotted paths inside the payload.
Comparison = Literal["phone", "text", "word", "number", "flag", "payload"]
#: Entries looked at between two pauses.
_LOOKED: Final = 256


class Field(NamedTuple):
    """What can be asked of an occurrence: how it is compared, what it is in words, how it is read, its legal words
    (of a text: those of which it must be one, or a pattern like one), the ranges that its numbers come from (empty:
    any number)."""

    kind: Comparison
    says: str
    of: Callable[[Any, Any], Any]
    words: tuple[str, ...] = ()
    numbers: tuple[tuple[int, float], ...] = ()


class Occurrence(NamedTuple):
    """One occurrence: when it came, the number of its journal entry (None = it has none), its record.

    `part` tells the occurrences of one entry apart, in their order.
    """

    at: int
    entry: int | None
    what: Any
    part: int = 0


class Subject(NamedTuple):
    """A row: what its occurrences are in words, one of them in a line, their fields, and where they are kept.

    Of the journal: `kinds` and `split`, which makes occurrences of an entry. Of a list: `kept` and `at`.
    """

    says: str
    fields: dict[str, Field]
    line: Callable[[Any, Any], str]
    kinds: tuple[str, ...] = ()
    split: Callable[[int, Any], Iterable[Any]] = lambda _code, what: (what,)
    kept: Callable[[Any], Iterable[Any]] | None = None
    at: Callable[[Any], int] = lambda what: int(what.made_at)


def occurrences_of(world: World, subject: Subject) -> Iterator[Occurrence | None]:
    """Every occurrence of a row, in the order kept; None now and then, so that the caller can pause."""
    if subject.kept is not None:
        for record in subject.kept(world):
            yield Occurrence(subject.at(record), None, record)
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
