"""The index of a world's messages by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from sendbox.services.messaging.records import Message

#: So many messages are read between two pauses.
READ: Final = 500


class Index(Mapping[str, "Message"]):
    """The messages of a world by their ids, made as far as it is asked for: most worlds are never asked."""

    __slots__ = ("_by_id", "_messages", "_read")

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages
        self._by_id: dict[str, Message] = {}
        self._read = 0

    @property
    def behind(self) -> int:
        """How many messages are new."""
        return len(self._messages) - self._read

    def read(self) -> Generator[None, None, None]:
        """Reads the messages that are new; pauses now and then."""
        while self._read < len(self._messages):
            for message in self._messages[self._read : self._read + READ]:
                self._by_id[message.submission.id_of(message.index)] = message
                self._read += 1
            yield

    def __getitem__(self, message_id: str) -> Message:
        return self._whole[message_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def _whole(self) -> dict[str, Message]:
        for _ in self.read():
            pass
        return self._by_id
