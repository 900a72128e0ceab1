"""Which messages have a row, and since when (§2.4, A65); `http/rest/listing.py` shows them."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Message

#: Messages of this operation have no row (A73).
_WITHOUT_ROW: Final = "createValidation"


class Rows:
    """The messages of a world that have a row, oldest first, and the instants from which they have it."""

    __slots__ = ("at", "messages")

    def __init__(self) -> None:
        self.at = array("q")
        self.messages: list[Message] = []

    def add(self, message: Message, now: int) -> None:
        """A message is about to be handed over, or refused, for the first time."""
        if message.submission.operation != _WITHOUT_ROW:
            self.at.append(now)
            self.messages.append(message)
