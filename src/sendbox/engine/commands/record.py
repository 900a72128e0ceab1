"""The record of a world: its commands in their order, each with its place.

A straight line from the opening to the present: what a reset or a restore undid is not in it. Entries are kept
in four columns, like those of the journal, and share what the journal keeps: a call is the entry of its request, an
outcome is its try.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Final

from sendbox.engine.commands.command import COMMANDS, Call, Command, Move, Open, Outcome, Restore, Stamp
from sendbox.engine.commands.requests import RequestRecord

_CODE: Final = {command: code for code, command in enumerate(COMMANDS.values())}
_OUTCOME: Final = _CODE[Outcome]
_CALL: Final = _CODE[Call]
_MOVE: Final = _CODE[Move]


class Cut(Exception):
    """A record that does not reach back to the opening of its world: a bound cut it, which the text names."""

    def __init__(self, bound: str) -> None:
        super().__init__(
            f"the record of this world is not whole: {bound} cut it, and nothing can be done again from it"
        )
        self.bound = bound


class Record:
    """The commands of one world. `cut` names the bound that cut it, None while it is whole."""

    __slots__ = ("at", "cut", "kind", "ticks", "what")

    def __init__(self) -> None:
        self.at = array("q")
        self.ticks = array("q")
        self.kind = bytearray()
        self.what: list[Any] = []
        self.cut: str | None = None

    def __len__(self) -> int:
        return len(self.kind)

    def add(self, at: int, ticks: int, command: Command) -> None:
        """A command came at an instant, after so many ticks."""
        self._add(at, ticks, _CODE[type(command)], command)

    def call(self, at: int, ticks: int, record: RequestRecord) -> None:
        """A call came, which the journal keeps."""
        if self.cut is None:  # on the way of every call: not a function more
            self.at.append(at)
            self.ticks.append(ticks)
            self.kind.append(_CALL)
            self.what.append(record)

    def outcome(self, at: int, ticks: int, tried: tuple[Any, int]) -> None:
        """A try ended: (delivery, index of the try)."""
        self._add(at, ticks, _OUTCOME, tried)

    def moved(self, at: int, ticks: int, first: int, *, by_hand: bool) -> None:
        """The clock moved, and `first` was the number of the next command when it began. Moves in a row are one."""
        last = len(self.kind) - 1
        if last >= 0 and last + 1 == first and self.kind[last] == _MOVE and self.what[last].by_hand == by_hand:
            self.at[last], self.ticks[last] = at, ticks
        else:
            self._add(at, ticks, _MOVE, Move(by_hand, first))

    def _add(self, at: int, ticks: int, kind: int, entry: Any) -> None:
        if self.cut is None:
            self.at.append(at)
            self.ticks.append(ticks)
            self.kind.append(kind)
            self.what.append(entry)

    def cut_off(self, bound: str) -> None:
        """Forgets all: a bound does not allow it to be kept."""
        self.cut = bound
        del self.at[:], self.ticks[:], self.kind[:]
        self.what.clear()

    def head(self, length: int) -> Record:
        """The first commands, as a record that can go on in another way."""
        copy = Record()
        copy.cut = self.cut
        copy.at, copy.ticks, copy.kind = self.at[:length], self.ticks[:length], self.kind[:length]
        copy.what = self.what[:length]
        return copy

    @property
    def opening(self) -> Open:
        """The first command. Raises `Cut`."""
        if self.cut is not None:
            raise Cut(self.cut)
        opened: Open = self.what[0]
        return opened

    def commands(self) -> Iterator[tuple[Stamp, Command]]:
        """All of them. Raises `Cut`."""
        epoch = self.opening.epoch
        for number, kind in enumerate(self.kind):
            command = self.command(number)
            yield Stamp(epoch, self.at[number], self.ticks[number]), command
            if isinstance(command, Restore):
                epoch = command.begins
            assert kind == _CODE[type(command)]

    def command(self, number: int) -> Command:
        """One of them, by its number."""
        kind, entry = self.kind[number], self.what[number]
        if kind == _OUTCOME:
            delivery, index = entry
            this_try = delivery.tries[index]
            return Outcome(delivery.number, this_try.status, this_try.error)
        command: Command = entry.call if isinstance(entry, RequestRecord) else entry
        return command
