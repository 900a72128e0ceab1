"""The table of what is measured: every figure that the project has a goal for, its goal, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.bench import Bench

#: Samples of a scene: the name of a tree, and its figures of one round by the names of rows. A name with a colon is a
#: detail of the row before the colon.
Samples = Iterator[tuple[str, dict[str, float]]]
Scene = Callable[["Bench"], Samples]


class Verdict(StrEnum):
    """How a figure stands to its goal."""

    AIM = "aim reached"
    MET = "met"
    MISSED = "missed"
    NOTE = "no goal"
    UNMEASURED = "not measured"


@dataclass(frozen=True)
class Goal:
    """What a figure has to be: `owed`, and better still `aim`; the larger the better where `larger`."""

    owed: float | None
    aim: float | None = None
    larger: bool = False

    def verdict(self, figure: float | None) -> Verdict:
        """How a figure stands to it; None = not measured."""
        if figure is None:
            return Verdict.UNMEASURED
        if self.owed is None:
            return Verdict.NOTE
        if self.aim is not None and self._reached(figure, self.aim):
            return Verdict.AIM
        return Verdict.MET if self._reached(figure, self.owed) else Verdict.MISSED

    def _reached(self, figure: float, wanted: float) -> bool:
        return figure >= wanted if self.larger else figure <= wanted

    def loss(self, figure: float, before: float) -> float:
        """Which share worse a figure is than one before; below 0 = better."""
        if self.larger:
            return before / figure - 1 if figure else float("inf")
        return figure / before - 1 if before else 0.0

    def __str__(self) -> str:
        if self.owed is None:
            return ""
        words = "at least" if self.larger else "at most"
        return f"{words} {self.owed:g}" + (f" (aim {self.aim:g})" if self.aim is not None else "")


@dataclass(frozen=True)
class Row:
    """One figure. `name` calls it on the command line; `figure` is its title; `unit` of figure and goal.

    `scene` measures it, perhaps together with other rows; `meaning` says what it is in a sentence or two.
    """

    name: str
    figure: str
    unit: str
    goal: Goal
    scene: Scene
    meaning: str
    #: measured only when it is asked for by name
    apart: bool = False


def at_least(owed: float, aim: float | None = None) -> Goal:
    """A goal for which larger is better."""
    return Goal(owed, aim, larger=True)


def at_most(owed: float, aim: float | None = None) -> Goal:
    """A goal for which smaller is better."""
    return Goal(owed, aim)
