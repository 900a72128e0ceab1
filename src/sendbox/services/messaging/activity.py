"""The phones of a world in the order in which something happened on them last."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from sendbox.engine.journal import CODE
from sendbox.services.messaging.results import ENTRY

if TYPE_CHECKING:
    from sendbox.engine.journal import Journal
    from sendbox.engine.kept import Kept
    from sendbox.services.messaging.records import Message

#: Entries that are something new on a phone: a message has another result, or its owner wrote.
_INBOUND: Final = CODE["inbound"]
_RESULTS: Final = frozenset(ENTRY)
#: So many entries of the journal are looked at between two pauses.
_LOOKED: Final = 500


class Activity:
    """The numbers of phones with numbers that rise: the last of them is the phone on which something happened last.

    It is read as far as it is asked for. A message counts when it is accepted, and with each result.
    """

    def __init__(self, journal: Journal, messages: Kept[Message]) -> None:
        self._journal = journal
        self._messages = messages
        self.look_again()

    def look_again(self) -> None:
        """Something was forgotten: what is left is read anew."""
        self.places: dict[str, int] = {}
        self._count = 0
        self._entry = 0
        self._message = 0

    def read(self) -> Generator[None, None, None]:
        """Reads what is new; pauses now and then."""
        journal = self._journal
        while self._entry < len(journal):
            first = max(self._entry, journal.first)
            self._entry = min(first + _LOOKED, len(journal))
            for number in range(first, self._entry):
                at, code, subject = journal.entry(number)
                if code in _RESULTS or code == _INBOUND:
                    self._accept(at)
                    self._note(subject.sender if code == _INBOUND else subject.message.phone)
            yield
        self._accept(None)

    def _accept(self, at: int | None) -> None:
        """Notes the messages that were accepted until an instant; None: all."""
        messages = self._messages
        self._message = max(self._message, messages.lost)
        while self._message < messages.made:
            message = messages[self._message - messages.lost]
            if at is not None and message.accepted_at > at:
                return
            self._message += 1
            if message.valid:
                self._note(message.phone)

    def _note(self, number: str) -> None:
        self._count += 1
        self.places.pop(number, None)
        self.places[number] = self._count
