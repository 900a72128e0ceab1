"""Forms of what is drawn: which values are legal at a place, and how a plan writes them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from sendbox.engine.durations import duration, show

T = TypeVar("T")

#: The purposes of times in rules of the shipped services.
TIMES: Final = re.compile(r"(?:after|reply|click)[0-9]*(?:\.[0-9]+)?|time")
#: What a place has in a plan.
Value = bool | int | str
#: So many words of options are listed.
_LISTED: Final = 10


class Form(Protocol[T]):
    """The values that can be drawn at a place, and their form in a plan."""

    @property
    @abstractmethod
    def legal(self) -> str:
        """The legal values in words."""

    @abstractmethod
    def read(self, value: Value) -> T | None:
        """The meaning of a value in a plan; None if the value is not legal."""

    @abstractmethod
    def written(self, drawn: T) -> Value:
        """The drawn value in the form that a plan has."""


class Between(NamedTuple):
    """A whole number, both ends included."""

    low: int
    high: int

    @property
    def legal(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: Value) -> int | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
        return int(value) if fits else None

    def written(self, drawn: int) -> Value:
        return drawn


class Time(NamedTuple):
    """Milliseconds as a duration, both ends included."""

    low: int
    high: int

    @property
    def legal(self) -> str:
        return f"a duration from {show(self.low)} to {show(self.high)}"

    def read(self, value: Value) -> int | None:
        try:
            time = duration(value)
        except ValueError:
            return None
        return time if self.low <= time <= self.high else None

    def written(self, drawn: int) -> Value:
        return show(drawn)


class Truth(NamedTuple):
    """True or false: the answer to a draw with a probability (`share`)."""

    @property
    def legal(self) -> str:
        return "true or false"

    def read(self, value: Value) -> bool | None:
        return value if isinstance(value, bool) else None

    def written(self, drawn: bool) -> Value:
        return drawn


class Option(NamedTuple):
    """One of several: by its word, where only one option has it, or by its number in the list, from 1.

    An option is a text or a number, or has a `word`. Options that are numbers stand for themselves.
    """

    options: Sequence[Any]

    @property
    def words(self) -> list[Value]:
        """The words of the options, in order."""
        return [getattr(option, "word", option) for option in self.options]

    @property
    def legal(self) -> str:
        words, count = self.words, len(self.options)
        own = [str(word) for word in words if words.count(word) == 1 and word != ""]
        if self._numbers:
            return f"one of {', '.join(own)}"
        numbers = "1" if count == 1 else f"a whole number from 1 to {count}"
        return f"{numbers}, or one of {', '.join(own[:_LISTED])}{', …' * (len(own) > _LISTED)}" if own else numbers

    @property
    def _numbers(self) -> bool:
        return all(isinstance(word, int) for word in self.words)

    def read(self, value: Value) -> int | None:
        words = self.words
        if isinstance(value, bool):
            return None
        if isinstance(value, int) and not self._numbers:
            return value - 1 if 1 <= value <= len(words) else None
        return words.index(value) if words.count(value) == 1 else None

    def written(self, drawn: int) -> Value:
        words = self.words
        return words[drawn] if words.count(words[drawn]) == 1 else drawn + 1


class Digits(NamedTuple):
    """A number as a text of fixed length behind a prefix: a code, a phone number."""

    low: int
    high: int
    prefix: str

    @property
    def legal(self) -> str:
        first, last = (f"{self.prefix}{end:0{len(str(self.high))}}" for end in (self.low, self.high))
        return f"{len(last)} digits from {first} to {last}"

    def read(self, value: Value) -> str | None:
        text = "" if isinstance(value, bool) else str(value)
        digits = text.removeprefix(self.prefix)
        long = text.startswith(self.prefix) and len(digits) == len(str(self.high))
        fits = long and digits.isascii() and digits.isdigit()
        return text if fits and self.low <= int(digits) <= self.high else None

    def written(self, drawn: str) -> Value:
        return drawn
