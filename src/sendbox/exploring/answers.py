"""The answers of control about explorations."""

from __future__ import annotations

from typing import Annotated, Literal

from sendbox.engine.answer import Answer, JsonObject, keywords

#: Between two runs, in one, after one whose result is examined, or at the end.
State = Literal["ready", "running", "busy", "over"]


class ExploredWorld(Answer):
    """A world of a run: its id, and the scenario that is laid over it."""

    id: str
    scenario: Annotated[JsonObject, keywords(description="A scenario in front of that of the world.")]


class NextRun(Answer):
    """A run to make: its number, the worlds that it is known to have, and its misfortunes in words."""

    done: bool
    run: int
    prefix: str
    worlds: list[ExploredWorld]
    misfortunes: list[str]


class FindFile(Answer):
    """A scenario of a find, under the name of its file in `.sendbox/found`."""

    name: str
    text: str


class ExplorationFind(Answer):
    """A find: what breaks the test, the assertion that it breaks, and the scenarios that repeat it."""

    kind: Literal["bug", "question"]
    misfortunes: list[str]
    assertion: str
    message: str
    story: list[str]
    effort: str
    scenarios: list[FindFile]


class Exploration(Answer):
    """An exploration of a test: its state, the number of runs that were made, and once it is over its finds."""

    id: str
    test: str
    state: State
    runs: int
    words: list[str]
    finds: list[ExplorationFind]


class ExplorationList(Answer):
    """The explorations of a server, oldest first."""

    explorations: list[Exploration]


class ForgottenExploration(Answer):
    """The exploration that was ended, and forgotten."""

    deleted: str
