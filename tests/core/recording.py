"""Choosers that note what is drawn, and plans as a scenario has them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from sendbox.engine.draws import Chooser
from sendbox.engine.durations import show
from sendbox.engine.plan import NO_PLAN, Form, Option, Place, Plan, PlannedChooser, T, Time, Value


def as_scenario(plan: Plan) -> list[dict[str, Value]]:
    """The entries of `plan:` in a scenario."""
    return [{**asdict(place), "value": value} for place, value in plan.entries]


def written(form: object, drawn: Any) -> Value:
    """The drawn value in the form that a plan has."""
    match form:
        case Time():
            return show(drawn)
        case Option(words=words):
            word: Value = words[drawn]
            return word if words.count(word) == 1 else drawn + 1
    value: Value = drawn
    return value


class Overlay(PlannedChooser):
    """A chooser laid over another one, without a plan."""

    def __init__(self, beneath: Chooser) -> None:
        super().__init__(beneath, NO_PLAN, lambda _place, _why: None)


class Recording(Overlay):
    """Notes each draw: its place, and what was drawn. The notes are a plan of the same run."""

    def __init__(self, beneath: Chooser) -> None:
        super().__init__(beneath)
        self._notes: dict[Place, Value] = {}

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        """The ordinary value, noted."""
        self._notes[place] = written(form, ordinary)
        return ordinary

    @property
    def asked(self) -> list[tuple[Place, Value]]:
        """Each place once, in the order in which they were first asked for."""
        return list(self._notes.items())
