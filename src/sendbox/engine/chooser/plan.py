"""Plans, and other choosers that are laid over the ordinary one.

A plan has values for some places; what is not in it is drawn as usual. A planned value that is not legal at its
place (`forms`) is not used either, and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from sendbox.engine.chooser.draws import Chooser, Draw
from sendbox.engine.chooser.forms import Between, Digits, Form, Option, Time, Truth, Value
from sendbox.engine.classes import dataclass

T = TypeVar("T")


class Place(NamedTuple):
    """Where something is drawn.

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

    def weighted(self, weights: Sequence[float], purpose: str, options: Sequence[Any] = ()) -> int:
        form = Option(options or range(1, len(weights) + 1))
        return self._answer(purpose, form, self._beneath.weighted(weights, purpose, options))

    def pick(self, options: Sequence[Any], purpose: str) -> int:
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


@dataclass(frozen=True, slots=True)
class Plan:
    """Places with their values; the first entry of a place counts."""

    entries: tuple[tuple[Place, Value], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    def as_scenario(self) -> list[dict[str, Value]]:
        """The entries of `plan:` in a scenario."""
        return [{**place._asdict(), "value": value} for place, value in self.entries]


NO_PLAN: Final = Plan()


class Planned(Overlay):
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
