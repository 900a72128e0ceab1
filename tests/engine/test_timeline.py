"""The timeline: what falls due when, and in which order at one instant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.bounds import END
from sendbox.engine.timeline import LATE, Timeline


def fire(timeline: Timeline) -> None:
    """Fires every step in order, as a world does."""
    while timeline.steps:
        timeline.fire(END, 1)


@pytest.mark.parametrize(
    ("scheduled", "expected"),
    [
        ([(2, 0, "b"), (1, 9, "a")], "ab"),
        ([(1, 2, "b"), (1, 1, "a")], "ab"),
        ([(1, 1, "a"), (1, 1, "b")], "ab"),
        ([(1, 1 + LATE, "c"), (1, 2, "b"), (1, 1, "a")], "abc"),
        ([(1, 2 + LATE, "b"), (1, 1 + LATE, "a"), (2, 0, "c")], "abc"),
        ([(1, -1, "a"), (1, 0, "b")], "ab"),
    ],
    ids=[
        "instant",
        "rank",
        "scheduling",
        "late",
        "late ones by rank, before the next instant",
        "the world's own first",
    ],
)
def test_order_of_steps(scheduled: list[tuple[int, int, str]], expected: str) -> None:
    """By instant, then by rank with the late ones last, then as they were scheduled."""
    fired: list[str] = []
    timeline = Timeline()
    for instant, rank, name in scheduled:
        timeline.at(instant, rank, fired.append, name)
    fire(timeline)
    assert "".join(fired) == expected


def test_nothing_is_due_after_the_last_instant() -> None:
    """It never comes, so nothing waits for it."""
    timeline = Timeline()
    for instant in (END, END + 1):
        timeline.at(instant, 0, print, None)
        timeline.lapse(instant, "window", None)
    assert [instant for instant, *_ in timeline.steps] == [END]
    assert [instant for instant, *_ in timeline.lapses] == [END]


def test_cause_comes_before_effect() -> None:
    """What a step schedules at its own instant comes after it, before what is late there."""
    fired: list[str] = []
    timeline = Timeline()

    def cause(name: str) -> None:
        fired.append(name)
        timeline.at(1, 5, fired.append, "effect")

    timeline.at(1, 5 + LATE, fired.append, "late")
    timeline.at(1, 7, fired.append, "other")
    timeline.at(1, 5, cause, "cause")
    fire(timeline)
    assert fired == ["cause", "effect", "other", "late"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans())))
def test_order_is_total_and_stable(scheduled: list[tuple[int, int, bool]]) -> None:
    """Any schedule fires sorted by instant, lateness, rank and place."""
    fired: list[tuple[int, bool, int, int]] = []
    timeline = Timeline()
    for place, (instant, rank, late) in enumerate(scheduled):
        timeline.at(instant, rank + LATE * late, fired.append, (instant, late, rank, place))
    fire(timeline)
    assert fired == sorted(fired)
    assert len(fired) == len(scheduled)


def test_next_due_looks_at_steps_only() -> None:
    """A lapse never pulls the clock."""
    timeline = Timeline()
    assert timeline.next_due() is None
    timeline.lapse(1, "link", None)
    assert timeline.next_due() is None
    timeline.at(9, 0, print, None)
    timeline.at(5, 0, print, None)
    assert timeline.next_due() == 5


def test_lapses_are_taken_out_once_oldest_first() -> None:
    """Those up to the instant, in order of instant and of noting; what they are about is never compared."""
    timeline = Timeline()
    for instant, what in [(3, {}), (1, {"n": 1}), (1, {"n": 0}), (4, {})]:
        timeline.lapse(instant, "link", what)
    assert timeline.lapsed(3) == [(1, "link", {"n": 1}), (1, "link", {"n": 0}), (3, "link", {})]
    assert timeline.lapsed(3) == []
    assert timeline.lapsed(4) == [(4, "link", {})]


def test_lapses_can_be_taken_in_slices() -> None:
    """At most so many at a time; the rest stays for the next one."""
    timeline = Timeline()
    for n in range(3):
        timeline.lapse(1, "link", n)
    assert [what for _, _, what in timeline.lapsed(1, 2)] == [0, 1]
    assert [what for _, _, what in timeline.lapsed(1, 2)] == [2]
