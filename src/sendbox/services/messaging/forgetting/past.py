"""The knowledge that is kept about forgotten messages, and the function that takes them apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from sendbox.engine.draws import UNSEEDED
from sendbox.engine.keeping.kept import SIZE, Fingerprints

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Message


class Past:
    """The knowledge that a world keeps about forgotten messages. `bound` names the bound that they passed."""

    __slots__ = ("_leaving", "bound", "names")

    def __init__(self) -> None:
        self.bound = ""
        self.names = Fingerprints()
        #: forgotten messages that entries of the journal before a number still show
        self._leaving: deque[tuple[int, Sequence[Message]]] = deque()

    def __contains__(self, message_id: str) -> bool:
        return _fingerprint(message_id) in self.names

    def leave(self, until: int, messages: Sequence[Message]) -> None:
        """Forgets messages; entries before number `until` show them."""
        for message in messages:
            self.names.add(_fingerprint(message.id))
        if messages:
            self._leaving.append((until, messages))

    def left(self, first: int) -> Iterator[None]:
        """Takes those apart that no entry from number `first` on can show, so that their counts free them."""
        while self._leaving and self._leaving[0][0] <= first:
            take_apart(self._leaving.popleft()[1])
            yield


def _fingerprint(message_id: str) -> bytes:
    return blake2b(message_id.encode(), digest_size=SIZE).digest()


def take_apart(messages: Sequence[Message]) -> None:
    """Breaks the circles of references between messages and their parts."""
    for message in messages:
        message.last = message.links = None
    for submission in {message.submission for message in messages}:
        if all(message.last is None for message in submission.messages):  # else another recipient's goes on
            submission.messages = ()
            submission.carrier = None
            submission.chooser = UNSEEDED  # a plan's knows the journal, which has the messages
