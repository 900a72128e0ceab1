"""Plans, and the chooser that lays a plan over the ordinary one.

A plan has values for some places; what is not in it is drawn as usual. A planned value that is not legal at its
place is not used either, and is reported: the form of a place says which values are legal.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from sendbox.engine.draws import Chooser, Draw
from sendbox.engine.durations import duration, show
from sendbox.engine.texts import regex

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: The purposes of times in rules of the shipped services.
TIME_PURPOSES: Final = regex(r"(?:after|reply|click)[0-9]*(?:\.[0-9]+)?|time")
#: What a place has in a plan.
Value = bool | int | str
#: So many words of options are listed.
_LISTED: Final = 10


class Form(Protocol[T_co]):
    """The values that can be drawn at a place, and their form in a plan."""

    @property
    @abstractmethod
    def legal(self) -> str:
        """The legal values in words."""

    @abstractmethod
    def read(self, value: Value) -> T_co | None:
        """The meaning of a value in a plan; None if the value is not legal."""


class Between(Struct, frozen=True):
    """A whole number, both ends included."""

    low: int
    high: int

    @property
    def legal(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: Value) -> int | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
        return int(value) if fits else None


class Time(Struct, frozen=True):
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


class Truth(Struct, frozen=True):
    """True or false: the answer to a draw with a probability (`share`)."""

    @property
    def legal(self) -> str:
        return "true or false"

    def read(self, value: Value) -> bool | None:
        return value if isinstance(value, bool) else None


class Option(Struct, frozen=True):
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


class Digits(Struct, frozen=True):
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


class Place(Struct, frozen=True):
    """A place where something is drawn.

    `rule` is the key of a rule (its name, where it has one), or the word of a draw that no rule of a scenario has.
    `subject` is whom the draw is about: a phone, or several texts with blanks between them. `ordinal` counts the draws
    of this rule for this subject, from 1. `purpose` says what is drawn.
    """

    rule: str
    subject: str
    ordinal: int
    purpose: str


class _Asked(Draw):
    """Draws of a planned chooser, which is asked for the value at each place."""

    __slots__ = ("_beneath", "_chooser", "_place")

    def __init__(self, chooser: PlannedChooser, beneath: Draw, rule: str, subject: str, number: int) -> None:
        self._chooser = chooser
        self._beneath = beneath
        self._place = rule, subject.replace("\0", " "), number + 1

    def _answer(self, purpose: str, form: Form[T], ordinary: T) -> T:
        return self._chooser.answer(Place(*self._place, purpose), form, ordinary)

    def between(self, low: int, high: int, purpose: str) -> int:
        return self._answer(purpose, Between(low, high), self._beneath.between(low, high, purpose))

    def interval(self, low: int, high: int, purpose: str) -> int:
        return self._answer(purpose, Time(low, high), self._beneath.between(low, high, purpose))

    def below(self, share: float, purpose: str) -> bool:
        return self._answer(purpose, Truth(), self._beneath.below(share, purpose))

    def weighted(self, weights: Sequence[float], purpose: str, options: Sequence[object] = ()) -> int:
        form = Option(options or range(1, len(weights) + 1))
        return self._answer(purpose, form, self._beneath.weighted(weights, purpose, options))

    def pick(self, options: Sequence[object], purpose: str) -> int:
        return self._answer(purpose, Option(options), self._beneath.pick(options, purpose))

    def digits(self, low: int, high: int, purpose: str, prefix: str = "") -> str:
        form = Digits(low, high, prefix)
        return self._answer(purpose, form, self._beneath.digits(low, high, purpose, prefix))


class Plan(msgspec.Struct, frozen=True):
    """Places with their values; the first entry of a place counts."""

    entries: tuple[tuple[Place, Value], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)


NO_PLAN: Final = Plan()


class PlannedChooser(Chooser):
    """A plan laid over a chooser. `unusable` is called once for a value that is not legal at its place."""

    noted = True
    __slots__ = ("_beneath", "_reported", "_unusable", "_values")

    def __init__(self, beneath: Chooser, plan: Plan, unusable: Callable[[Place, str], None]) -> None:
        self._beneath = beneath
        self._values = dict(reversed(plan.entries))
        self._unusable = unusable
        self._reported: set[Place] = set()

    def draw(self, rule: str, subject: str, number: int) -> Draw:
        """The draws of a rule."""
        return _Asked(self, self._beneath.draw(rule, subject, number), rule, subject, number)

    def scoped(self, scope: str, subject: str, number: int, size: int = 8) -> Draw:
        """A draw that no rule of a scenario has."""
        return _Asked(self, self._beneath.scoped(scope, subject, number, size), scope, subject, number)

    def constant(self, scope: str, subject: str) -> Draw:
        """A draw that is the same in every world."""
        return _Asked(self, self._beneath.constant(scope, subject), scope, subject, 0)

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        """The planned value, where there is one that is legal; else the ordinary one, of the chooser beneath."""
        value = self._values.get(place)
        if value is None:
            return ordinary
        drawn = form.read(value)
        if drawn is not None:
            return drawn
        if place not in self._reported:
            self._reported.add(place)
            self._unusable(place, f"{_as_written(value)} is not legal at its place in the plan; legal: {form.legal}")
        return ordinary


def _as_written(value: Value) -> str:
    """A value as a scenario writes it."""
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
