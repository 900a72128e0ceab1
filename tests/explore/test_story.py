"""The story of a find: where the run that broke parts from the run that passed."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.exploring.census import Census
from sendbox.exploring.exploration import SAME_ENTRIES, story
from sendbox.exploring.misfortune import Kind, Misfortune, Plan, Spot, Value
from sendbox.exploring.watcher import ObservedWorld

KIND = Kind("delivery", "repeated", ("A91",), "It has the same id.", lambda _kind, _world: iter(()))
PLAN: Plan = (Misfortune(Spot(KIND, 1, "the 1st webhook", "", "", (Value("comes twice", {}),))),)


def observed(*lines: str) -> ObservedWorld:
    """A world in which these things happened, a second apart."""
    nothing: Any = {name: () for name in Census.__slots__ if name != "ordinal"}
    return ObservedWorld(Census(ordinal=1, **nothing), tuple(enumerate(lines)), "2026-03-02T09:00:00.000Z", {})


def test_runs_part() -> None:
    """The plan and its right, the last that both have, then what each goes on with."""
    lines = story(PLAN, [observed("opened", "sent", "delivered")], [observed("opened", "sent", "sent again")])
    assert lines[:4] == [
        "what breaks it:",
        "  the 1st webhook comes twice",
        "    the service may do so by A91; a client may rely on this:",
        "    It has the same id.",
    ]
    assert [line.split("  ")[-1] for line in lines[4:]] == [
        "both runs, until they part:",
        "opened",
        "sent",
        "the run that passed:",
        "delivered",
        "the run that broke:",
        "sent again",
    ]


@pytest.mark.parametrize("worlds", [1, 2])
def test_runs_that_are_the_same(worlds: int) -> None:
    """As where the test looks at another instant: the story says so."""
    runs = [observed("opened", "sent")] * worlds
    assert story(PLAN, runs, runs)[4:] == [SAME_ENTRIES]
