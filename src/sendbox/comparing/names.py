"""Names that answers gave out, and with them the entries of arrays that are the same thing in both answers.

An entry is known by its names, which earlier answers gave out, and by its texts where no other entry has the same. Its
place says nothing: of what is listed here and there, one side may have less, or another order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from sendbox.comparing.differences import is_label

#: An entry of an array, with its place.
Entry = tuple[int, Any]


class Names:
    """Recorded names, and ours in their place. An id may have an index behind it."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}
        self._here: set[str] = set()

    def learn(self, recorded: str, ours: str) -> None:
        """Notes our name for a recorded one; the first one counts."""
        if recorded not in self._ours:
            self._ours[recorded] = ours
            self._here.add(ours)

    def ours(self, recorded: str) -> str | None:
        """Our name for a recorded one, None for a text that is no name."""
        if recorded in self._ours:
            return self._ours[recorded]
        base, dash, index = recorded.rpartition("-")
        return f"{self._ours[base]}{dash}{index}" if base in self._ours else None

    def same(self, recorded: list[Any], here: list[Any]) -> Iterator[tuple[int, Any, Any]]:
        """The entries of two arrays that are the same thing, with the place of the recorded one."""
        pairs, _, _ = self._match(recorded, here)
        yield from sorted(pairs, key=lambda pair: pair[0])

    def similar(self, recorded: list[Any], here: list[Any]) -> Iterator[tuple[int, Any, Any]]:
        """The same, and the entries that nothing identifies in their order: enough to compare their form."""
        pairs, left, right = self._match(recorded, here)
        unnamed = [entry for entry in left if not self._names(entry[1], recorded=True)]
        others = [entry for entry in right if not self._names(entry[1], recorded=False)]
        pairs += [(place, a, b) for (place, a), (_, b) in zip(unnamed, others, strict=False)]
        yield from sorted(pairs, key=lambda pair: pair[0])

    def _match(
        self, recorded: list[Any], here: list[Any]
    ) -> tuple[list[tuple[int, Any, Any]], list[Entry], list[Entry]]:
        """The entries that are the same thing, and what is left of both arrays.

        They are the same by names and texts, or else by names alone. Where neither has a name, one entry on each side
        is the same thing, unless their phone numbers differ.
        """
        left, right = list(enumerate(recorded)), list(enumerate(here))
        pairs: list[tuple[int, Any, Any]] = []
        for with_labels in (True, False):
            groups: dict[Hashable, tuple[list[Entry], list[Entry]]] = defaultdict(lambda: ([], []))
            for side, entries in enumerate((left, right)):
                for entry in entries:
                    names = self._names(entry[1], recorded=side == 0)
                    labels = frozenset(label for label in _texts(entry[1]) if is_label(*label))
                    about = labels if with_labels else None if names else frozenset(filter(_is_number, labels))
                    groups[names, about][side].append(entry)
            for ours, others in groups.values():
                if len(ours) == len(others) == 1:
                    pairs.append((*ours[0], others[0][1]))
                    left.remove(ours[0])
                    right.remove(others[0])
        return pairs, left, right

    def _names(self, entry: object, *, recorded: bool) -> frozenset[tuple[str, str]]:
        """The known names in an entry with their fields, as they are here."""
        if recorded:
            return frozenset((field, ours) for field, text in _texts(entry) if (ours := self.ours(text)) is not None)
        return frozenset((field, text) for field, text in _texts(entry) if {text, text.rpartition("-")[0]} & self._here)


def _texts(entry: object) -> Iterable[tuple[str, str]]:
    """The texts of an entry with their fields; the field of an entry that is a text has no name."""
    fields = entry if isinstance(entry, dict) else {"": entry}
    return [(field, value) for field, value in fields.items() if isinstance(value, str)]


def _is_number(label: tuple[str, str]) -> bool:
    """True for a phone number."""
    return label[1].isdigit()
