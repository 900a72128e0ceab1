"""The timeline: what falls due when, and in which order at one instant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.bounds import END
from sendbox.engine.timeline import LATE, LONGEST, Timeline


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


def schedule(timeline: Timeline, fired: list[str], text: str, instant: int = 1, rank: int = 0) -> None:
    """Schedules a run of steps, each of which appends its letter."""

    def due(letters: Sequence[str], first: int, last: int) -> int:
        fired.extend(letters[first:last])
        return last

    timeline.together(instant, rank, due, text)


@pytest.mark.parametrize(
    ("rank", "late", "expected"),
    [(-1, 0, "-abcd"), (0, 0, "a-bcd"), (2, 0, "abc-d"), (3, 0, "abcd-"), (2, LATE, "abcd-")],
    ids=["before all", "with the first", "with one within", "with the last", "late"],
)
@pytest.mark.parametrize("most", [1, 3, 100])
def test_a_run_is_steps_in_a_row(rank: int, late: int, expected: str, most: int) -> None:
    """Each of its steps has its own place: another step of the instant comes where it would without the run."""
    fired: list[str] = []
    timeline = Timeline()
    schedule(timeline, fired, "abcd")
    timeline.at(1, rank + late, fired.append, "-")
    assert timeline.scheduled == 5
    while timeline.steps:
        before = len(fired)
        assert timeline.fire(1, most) == len(fired) - before <= most
    assert ("".join(fired), timeline.scheduled, timeline.fired) == (expected, 0, 5)


def test_a_step_that_was_scheduled_before_a_run_comes_first_in_its_rank() -> None:
    """As it does among single steps."""
    fired: list[str] = []
    timeline = Timeline()
    timeline.at(1, 2, fired.append, "-")
    schedule(timeline, fired, "abcd")
    fire(timeline)
    assert "".join(fired) == "ab-cd"


def test_steps_get_other_instants() -> None:
    """Those that come to one instant keep their order; those that are taken out are not scheduled any more."""
    fired: list[object] = []
    timeline = Timeline()

    def run(whats: Sequence[object], first: int, last: int) -> int:
        fired.extend(whats[first:last])
        return last

    def other(whats: Sequence[object], first: int, last: int) -> int:
        return run(whats, first, last)

    timeline.at(9, 1, fired.append, "late")
    timeline.at(3, 0, fired.append, "gone")
    timeline.together(5, 1, run, ["a", "b", "c"])
    timeline.together(4, 1, other, ["x", "y"])
    assert timeline.fire(5, 4) == 4
    assert fired == ["gone", "x", "y", "a"]
    timeline.at(8, 0, fired.append, "gone")
    timeline.together(7, 9, other, ["x", "y"])
    timeline.together(9, 4, run, ["d"])
    assert timeline.scheduled == 7
    timeline.reschedule(lambda instant, handler, what: None if handler == other or what == "gone" else 5)
    assert (timeline.scheduled, timeline.next_due()) == (4, 5)
    timeline.together(5, 5, run, ["e"])
    fire(timeline)
    assert fired[4:] == ["late", "b", "c", "d", "e"]
    assert timeline.scheduled == 0


def test_runs_that_follow_each_other_are_one() -> None:
    """Where instant, handler, rank and order go on, and while none of it was fired; up to a length."""
    fired: list[int] = []

    def due(numbers: Sequence[int], first: int, last: int) -> int:
        fired.extend(numbers[first:last])
        return last

    timeline = Timeline()
    for number in range(LONGEST + 1):
        timeline.together(1, number, due, (number,))
    assert (len(timeline.steps), timeline.scheduled) == (2, LONGEST + 1)
    timeline.fire(1, LONGEST + 1)
    timeline.together(1, LONGEST + 1, due, (LONGEST + 1,))  # the one before has gone
    timeline.together(2, LONGEST + 2, due, (LONGEST + 2,))
    timeline.together(2, LONGEST + 4, due, (LONGEST + 4,))
    timeline.at(2, 0, fired.append, 0)
    timeline.together(2, LONGEST + 5, due, (LONGEST + 5,))
    timeline.together(END + 1, 0, due, (0,))
    assert len(timeline.steps) == 5
    fire(timeline)
    assert fired == [*range(LONGEST + 2), 0, LONGEST + 2, LONGEST + 4, LONGEST + 5]
    timeline.together(3, 0, due, (0,))
    timeline.clear()
    assert timeline.steps == []
