"""The calls of one instant: polling, and races.

A client that polls while time stands still always gets the same answer. Calls race of which one changes what another
uses, so that their order decides.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

#: So many equal answers to one question, at one instant, are worth a remark.
MANY: Final = 20
#: So many questions are remembered at a time.
REMEMBERED: Final = 16


class Polling:
    """The questions of one instant and how often each had the same answer; a remark is made once a world."""

    __slots__ = ("_instant", "_questions", "told")

    def __init__(self) -> None:
        self._instant = -1
        #: question -> its last answer, and how many times in a row
        self._questions: dict[bytes, tuple[bytes, int]] = {}
        self.told = False

    def asked(self, instant: int, question: bytes, answer: bytes) -> bool:
        """Notes one question that came at an instant; True if now is the moment for the remark."""
        if self.told:
            return False
        if instant != self._instant:
            self._instant = instant
            self._questions = {}
        hashed = blake2b(question, digest_size=8).digest()
        answered = blake2b(answer, digest_size=8).digest()
        last, count = self._questions.pop(hashed, (answered, 0))
        count = count + 1 if last == answered else 1
        if len(self._questions) >= REMEMBERED:
            del self._questions[next(iter(self._questions))]
        self._questions[hashed] = (answered, count)
        self.told = count >= MANY
        return self.told


class Races:
    """The subjects that the calls of one instant used and changed; a subject is any hashable value."""

    __slots__ = ("_changed", "_instant", "_used")

    def __init__(self) -> None:
        self._instant = -1
        self._used: set[Any] = set()
        self._changed: set[Any] = set()

    def uses(self, instant: int, subject: Any) -> bool:
        """Notes that a call uses something; True if an earlier call of this instant changed it."""
        if instant != self._instant:
            self._at(instant)
        self._used.add(subject)
        return subject in self._changed

    def changes(self, instant: int, subject: Any) -> bool:
        """Notes that a call changes something; True if an earlier call of this instant used or changed it."""
        if instant != self._instant:
            self._at(instant)
        raced = subject in self._used or subject in self._changed
        self._changed.add(subject)
        return raced

    def _at(self, instant: int) -> None:
        self._instant = instant
        self._used, self._changed = set(), set()
