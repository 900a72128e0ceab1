"""Forgetting: a world that may not keep all lets the oldest go, with all that hangs on it.

Now and then a world is marked: how many entries, deliveries and things of its services there are. What was there at a
mark can later go together: the entries before it, and of everything else what has ended. What has not ended stays, and
numbers stay what they were. A record that was cut so says which bound did it (`commands/record.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from sendbox.engine.delivery.targets import Mark as Sent
from sendbox.engine.journal import CODE, Capped
from sendbox.engine.kept import ALL
from sendbox.engine.part import Part
from sendbox.engine.world import World

#: So many marks lie about what is kept: a mark each time that a further such part of it was added.
_MARKS: Final = 64
#: Entries that are forgotten between two pauses.
_ENTRIES: Final = 2_000
#: What `--max-messages` counts, among the `counts` of the parts.
MESSAGES: Final = "messages"
#: The bytes of a journal entry with what belongs to it, apart from the bodies of a call.
ENTRY_SIZE: Final = 200
_REQUEST: Final = CODE["request"]


class Mark(Struct, frozen=True):
    """The state of a world at one moment: the number of its entries, its mark of deliveries, a count for each part."""

    entries: int
    sent: Sent
    made: tuple[int, ...]


class Forgetting:
    """Forgets the oldest items of one world. One pass at a time: `work` is the rest of it, None between two passes."""

    __slots__ = ("_looked", "_marks", "_messages", "_next", "waits", "work", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.work: Iterator[None] | None = None
        #: True if the next part of the work is arranged for
        self.waits = False
        self._marks: list[Mark] = []
        #: how many entries there are at the next mark
        self._next = 0
        self._messages = next((at for at, part in enumerate(world.parts.values()) if MESSAGES in part.counts), None)
        #: how many messages and steps there had been when messages were last looked for that may go
        self._looked = (0, 0)

    @property
    def entries(self) -> int:
        """The number of journal entries that are kept."""
        return len(self.world.journal) - self.world.journal.first

    @property
    def messages(self) -> int:
        """The number of messages that are kept."""
        return self.world.counts.get(MESSAGES, 0)

    def note(self) -> None:
        """Marks the world, if enough was added since the last mark."""
        world = self.world
        length = len(world.journal)
        if length >= self._next:
            self._marks.append(Mark(length, world.outlets.mark, tuple(part.made for part in world.parts.values())))
            self._next = length + max(1, self.entries // _MARKS)

    def of_entries(self, most: int, bound: str) -> None:
        """Begins to forget the oldest entries if there are more than `most`: the surplus, and a tenth of `most`."""
        count = self.entries
        if self.work is None and count > most:
            self.work = self._before(self.world.journal.first + count - most + most // 10, bound)

    def of_messages(self, most: int, bound: str) -> None:
        """Begins to forget the oldest ended messages if there are `most` or more: the surplus, and a tenth of `most`.

        If too few have ended, the next search begins when enough has happened.
        """
        if self._messages is None or self.work is not None or self.messages < most:
            return
        part = list(self.world.parts.values())[self._messages]
        few = max(1, most // 10)
        total, fired = part.made, self.world.fired
        last_made, last_fired = self._looked
        if total < last_made + few and fired < last_fired + few and not (fired > last_fired and self.world.idle):
            return
        self._looked = (total, fired)
        self.work = self._oldest(part, self._messages, self.messages - most + few, bound)

    def step(self) -> bool:
        """Does a part of the pass; True if the pass has ended."""
        if self.work is not None and next(self.work, self) is self:
            self.work = None
        return self.work is None

    def _before(self, entry: int, bound: str) -> Iterator[None]:
        """Forgets the entries before one, and all else that was there at the last mark before it."""
        journal = self.world.journal
        assert isinstance(journal, Capped)
        if self.world.record.cut_by is None:
            self.world.record.forget_all(bound)
        while journal.first < entry:
            journal.forget(min(_ENTRIES, entry - journal.first), bound)
            yield
        passed = bisect_right(self._marks, entry, key=lambda mark: mark.entries)
        if passed:
            mark = self._marks[passed - 1]
            del self._marks[:passed]
            yield from self.world.outlets.forget(mark.sent)
            for part, count in zip(self.world.parts.values(), mark.made, strict=True):
                yield from part.forget(count, bound, ALL)

    def _oldest(self, part: Part, place: int, count: int, bound: str) -> Iterator[None]:
        """Forgets so many of the oldest messages that have ended, and all else that was there before them."""
        if self.world.record.cut_by is None:
            self.world.record.forget_all(bound)
        number = yield from part.forget(part.made, bound, count)
        passed = bisect_right(self._marks, number, key=lambda mark: mark.made[place])
        if passed:
            yield from self._before(self._marks[passed - 1].entries, bound)


class Memory(Struct, eq=False):
    """The bytes that a world keeps, estimated: `bodies` are those of the calls among the entries up to `number`.

    The answers of receivers are counted where they are kept.
    """

    world: World
    number: int = 0
    bodies: int = 0

    def measure(self) -> int:
        """The bytes now. Of forgotten calls a share is taken away, since nobody knows their bodies any more."""
        journal = self.world.journal
        for number in journal.find(_REQUEST, self.number):
            self.bodies += journal.entry(number)[2].size
        self.number = count = len(journal)
        kept = count - journal.first
        bodies = self.bodies * kept // count if count else 0
        return kept * ENTRY_SIZE + bodies + self.world.outlets.answers.size
