"""The journal: the append-only record of all that happened in a world.

An entry is (instant, kind, subject). Entries are kept in three columns, and what they show is rendered from the subject
on request: a transition costs 13 bytes, not a dictionary. What is said about a kind stands in its row
(`engine/kinds/`), which only those who observe know.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

#: The code of every kind of entry, by its name. A service enters its own; codes hold in this process only.
CODE: Final[dict[str, int]] = {}


def enter(*kinds: str) -> tuple[int, ...]:
    """Gives codes to kinds of entries, and returns them; a kind that has one keeps it."""
    return tuple(CODE.setdefault(kind, len(CODE)) for kind in kinds)


enter("request", "delivery", "try", "no_target", "timeline", "lapse", "fault", "webhook_fault")
enter("advice", "opened", "reset", "restored", "control")


class Instants(Sequence[int]):
    """A column of instants: of four bytes each within 49 days from the first one, of eight once it goes further."""

    __slots__ = ("_first", "_since")

    def __init__(self) -> None:
        self._first = 0
        self._since = array("I")

    def append(self, at: int) -> None:
        """Appends an instant."""
        try:
            self._since.append(at - self._first)
        except OverflowError:
            self._make_room(at)
            self._since.append(at - self._first)

    def extend(self, at: int, count: int) -> None:
        """Appends an instant so many times."""
        self.append(at)
        self._since += self._since[-1:] * (count - 1)

    def _make_room(self, at: int) -> None:
        """Makes it fit for an instant: the first one, or one that is far from it."""
        if self._since:
            self._since = array("q", self._since)
        else:
            self._first = at

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> list[int]: ...

    def __getitem__(self, place: int | slice) -> int | list[int]:
        first, since = self._first, self._since[place]
        return first + since if isinstance(since, int) else [first + milliseconds for milliseconds in since]

    def __delitem__(self, place: slice) -> None:
        del self._since[place]

    def __len__(self) -> int:
        return len(self._since)


class Journal:
    """Three columns: instants, kinds, subjects. The number of an entry is its position among all that were made."""

    __slots__ = ("at", "kind", "order_sensitive", "subject")

    def __init__(self) -> None:
        self.at = Instants()
        self.kind = bytearray()
        self.subject: list[Any] = []
        #: numbers of entries whose decision depended on the order of arrival
        self.order_sensitive: set[int] = set()

    def add(self, at: int, kind: int, subject: object) -> int:
        """Appends an entry and returns its number."""
        self.at.append(at)
        self.kind.append(kind)
        self.subject.append(subject)
        return len(self.kind) - 1

    def extend(self, at: int, kinds: bytes, subjects: Sequence[object]) -> None:
        """Appends, for each of these subjects in turn, an entry of each kind."""
        step, count = len(kinds), len(kinds) * len(subjects)
        self.at.extend(at, count)
        self.kind += kinds * len(subjects)
        if step == 1:
            self.subject += subjects
            return
        entries: list[object] = [None] * count
        for place in range(step):
            entries[place::step] = subjects
        self.subject += entries

    @property
    def first(self) -> int:
        """The number of the first entry that is still there: so many were forgotten."""
        return 0

    @property
    def ordered(self) -> bool:
        """True if any decision so far depended on the order of arrival."""
        return bool(self.order_sensitive)

    def entry(self, number: int) -> tuple[int, int, Any]:
        """(instant, kind's code, subject) of an entry. Raises `Forgotten`, and IndexError for one that never was."""
        return self.at[number], self.kind[number], self.subject[number]

    def find(self, code: int, after: int) -> Iterator[int]:
        """The numbers of entries of one kind from number `after` on."""
        first = self.first
        place = self.kind.find(code, max(after - first, 0))
        while place >= 0:
            yield place + first
            place = self.kind.find(code, place + 1)

    def find_back(self, code: int, before: int) -> Iterator[int]:
        """The numbers of entries of one kind that are less than `before`, highest first."""
        place = self.kind.rfind(code, 0, max(before - self.first, 0))
        while place >= 0:
            yield place + self.first
            place = self.kind.rfind(code, 0, place)

    def mark(self, number: int) -> None:
        """Marks an entry as order-sensitive."""
        self.order_sensitive.add(number)

    def __len__(self) -> int:
        return len(self.kind)

    def numbers(self, kinds: frozenset[str] | None = None, after: int = -1) -> Iterator[int]:
        """The numbers of the entries of `kinds` (None = all) that come after number `after`."""
        first = self.first
        numbers = range(max(after + 1, first), len(self))
        if kinds is None:
            yield from numbers
            return
        codes = frozenset(CODE[kind] for kind in kinds)
        yield from (number for number in numbers if self.kind[number - first] in codes)


class Forgotten(LookupError):
    """An entry that a journal has forgotten, because of a bound."""

    def __init__(self, number: int, first: int, bound: str) -> None:
        super().__init__(f"entry {number} is forgotten; the journal begins with entry {first} ({bound})")


class Capped(Journal):
    """A journal that can forget its oldest entries (`engine/forgetting.py`), because of a `bound`.

    Numbers stay what they were, and `len` counts what was forgotten too.
    """

    __slots__ = ("_first", "_ordered", "bound")

    def __init__(self) -> None:
        super().__init__()
        self.bound = ""
        self._first = 0
        self._ordered = False

    @property
    def first(self) -> int:
        """The number of the first entry that is still there: so many were forgotten."""
        return self._first

    @property
    def ordered(self) -> bool:
        """True if any decision so far, also a forgotten one, depended on the order of arrival."""
        return self._ordered or bool(self.order_sensitive)

    def add(self, at: int, kind: int, subject: object) -> int:
        """Appends an entry and returns its number."""
        return super().add(at, kind, subject) + self._first

    def entry(self, number: int) -> tuple[int, int, Any]:
        """(instant, kind's code, subject) of an entry. Raises `Forgotten`, and IndexError for one that never was."""
        if number < self._first:
            raise Forgotten(number, self._first, self.bound)
        return super().entry(number - self._first)

    def __len__(self) -> int:
        return len(self.kind) + self._first

    def forget(self, count: int, bound: str) -> None:
        """Forgets so many of the oldest entries, because of a bound, which a text names."""
        del self.at[:count], self.kind[:count], self.subject[:count]
        self._first += count
        self.bound = bound
        if self.order_sensitive:
            self._ordered = True
            self.order_sensitive = {number for number in self.order_sensitive if number >= self._first}
