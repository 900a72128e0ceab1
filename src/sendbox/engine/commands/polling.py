"""Polling: a client that repeats a request while time stands still always gets the same answer."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

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
