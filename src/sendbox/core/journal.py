"""The journal: the append-only record of all that happened in a world.

An entry is (instant, kind, subject). Entries are kept in three columns, and what they show is rendered from the subject
when somebody asks: a transition costs 17 bytes, not a dictionary. A kind's renderer is registered in `core/views.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Final

#: Every kind of entry, in the order of their codes. Transitions have one kind a result (codes 0 to 7 are the states).
KINDS: Final = (
    "accepted", "sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed",
    "request", "refusal", "fallback", "postponed", "illegal",
    "delivery", "try", "no_target", "inbound", "click", "phone", "opt_out", "timeline", "lapse",
    "advice", "opened", "reset", "restored", "control",
    "validation", "limited",
    "signup", "template", "number", "notice",
    "key", "listed", "order", "bulk", "bulk_line",
    "webhook_fault",
)  # fmt: skip
CODE: Final = {kind: code for code, kind in enumerate(KINDS)}
#: Entries that tell what a tester did, not what the world did: left out of the digest.
CONTROL_KINDS: Final = frozenset({"opened", "reset", "restored", "control"})


class Journal:
    """Three columns: instants, kinds, subjects. The number of an entry is its position."""

    __slots__ = ("at", "kind", "order_sensitive", "what")

    def __init__(self) -> None:
        self.at = array("q")
        self.kind = bytearray()
        self.what: list[Any] = []
        #: numbers of entries whose decision depended on the order of arrival
        self.order_sensitive: set[int] = set()

    def add(self, at: int, kind: int, what: Any) -> int:
        """Appends an entry and returns its number."""
        self.at.append(at)
        self.kind.append(kind)
        self.what.append(what)
        return len(self.kind) - 1

    def mark(self, number: int) -> None:
        """Marks an entry as order-sensitive."""
        self.order_sensitive.add(number)

    def __len__(self) -> int:
        return len(self.kind)

    def numbers(self, kinds: frozenset[str] | None = None, after: int = -1) -> Iterator[int]:
        """The numbers of the entries of `kinds` (None = all) that come after number `after`."""
        numbers = range(max(after, -1) + 1, len(self.kind))
        if kinds is None:
            yield from numbers
            return
        codes = frozenset(CODE[kind] for kind in kinds)
        yield from (number for number in numbers if self.kind[number] in codes)
