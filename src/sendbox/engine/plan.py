"""Plans, and other choosers that are laid over the ordinary one.

A plan has values for some places; what is not in it is drawn as usual. A planned value that is not legal at its
place is not used either, and is reported: the form of a place says which values are legal, and how a plan writes them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from sendbox.engine.draws import Chooser, Draw
from sendbox.engine.durations import duration, show
from sendbox.engine.regex import regex

T = TypeVar("T")

#: The purposes of times in rules of the shipped services.
TIME_PURPOSES: Final = regex(r"(?:after|reply|click)[0-9]*(?:\.[0-9]+)?|time")
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

    def written(self, drawn: int) -> Value:
        return drawn


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

    def written(self, drawn: int) -> Value:
        return show(drawn)


class Truth(Struct, frozen=True):
    """True or false: the answer to a draw with a probability (`share`)."""

    @property
    def legal(self) -> str:
        return "true or false"

    def read(self, value: Value) -> bool | None:
        return value if isinstance(value, bool) else None

    def written(self, drawn: bool) -> Value:
        return drawn


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

    def written(self, drawn: int) -> Value:
        words = self.words
        return words[drawn] if words.count(words[drawn]) == 1 else drawn + 1


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

    def written(self, drawn: str) -> Value:
        return drawn


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
    """Draws of which each is shown, with its place, to the chooser that was laid over another."""

    __slots__ = ("_beneath", "_overlay", "_place")

    def __init__(self, overlay: Overlay, beneath: Draw, rule: str, subject: str, number: int) -> None:
        self._overlay = overlay
        self._beneath = beneath
        self._place = rule, subject.replace("\0", " "), number + 1

    def _answer(self, purpose: str, form: Form[T], ordinary: T) -> T:
        return self._overlay.answer(Place(*self._place, purpose), form, ordinary)

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


class Overlay(Chooser):
    """A chooser laid over another one: it is asked about each draw, with what would be drawn without it."""

    noted = True
    __slots__ = ("_beneath",)

    def __init__(self, beneath: Chooser) -> None:
        self._beneath = beneath

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        """The value that is drawn at a place; `ordinary` is what the chooser beneath draws."""
        raise NotImplementedError

    def draw(self, rule: str, subject: str, number: int) -> Draw:
        """The draws of a rule."""
        return _Asked(self, self._beneath.draw(rule, subject, number), rule, subject, number)

    def scoped(self, scope: str, subject: str, number: int, size: int = 8) -> Draw:
        """A draw that no rule of a scenario has."""
        return _Asked(self, self._beneath.scoped(scope, subject, number, size), scope, subject, number)

    def constant(self, scope: str, subject: str) -> Draw:
        """A draw that is the same in every world."""
        return _Asked(self, self._beneath.constant(scope, subject), scope, subject, 0)


class Plan(msgspec.Struct, frozen=True):
    """Places with their values; the first entry of a place counts."""

    entries: tuple[tuple[Place, Value], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    def as_scenario(self) -> list[dict[str, Value]]:
        """The entries of `plan:` in a scenario."""
        return [{**asdict(place), "value": value} for place, value in self.entries]


NO_PLAN: Final = Plan()


class PlannedChooser(Overlay):
    """A plan laid over a chooser. `unusable` is called once for a value that is not legal at its place."""

    __slots__ = ("_told", "_unusable", "_values")

    def __init__(self, beneath: Chooser, plan: Plan, unusable: Callable[[Place, str], None]) -> None:
        super().__init__(beneath)
        self._values = dict(reversed(plan.entries))
        self._unusable = unusable
        self._told: set[Place] = set()

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        """The planned value, where there is one that is legal."""
        value = self._values.get(place)
        if value is None:
            return ordinary
        drawn = form.read(value)
        if drawn is not None:
            return drawn
        if place not in self._told:
            self._told.add(place)
            self._unusable(place, f"{_shown(value)} is not legal at its place in the plan; legal: {form.legal}")
        return ordinary


class Recording(Overlay):
    """Notes each draw: its place, and what was drawn. The notes are a plan of the same run."""

    __slots__ = ("_notes",)

    def __init__(self, beneath: Chooser) -> None:
        super().__init__(beneath)
        self._notes: dict[Place, Value] = {}

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        """The ordinary value, noted."""
        self._notes[place] = form.written(ordinary)
        return ordinary

    @property
    def asked(self) -> list[tuple[Place, Value]]:
        """Each place once, in the order in which they were first asked for."""
        return list(self._notes.items())


def _shown(value: Value) -> str:
    """A value as a scenario writes it."""
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
