"""Finds of an exploration: bugs and questions, one for each pair of kinds and assertion, and those of an interrupt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sendbox.exploring.exploration import MAX_FINDS, Interrupted, Result, Run, TimeBudget, explore
from sendbox.exploring.families import table
from sendbox.exploring.misfortune import ANY_TIME, Kind, Plan, Spot, Value


def spots(*kinds: tuple[str, str], places: int = 2) -> list[Spot]:
    """Spots of kinds: (family, name), so many places each."""
    return [
        Spot(
            Kind(family, name, ("§1",), "It ends.", lambda _kind, _world: iter(())),
            1,
            f"{family} {name} {place}",
            "one",
            name,
            (Value("happens", {}),),
            ANY_TIME,
        )
        for family, name in kinds
        for place in range(places)
    ]


def explored(
    monkeypatch: pytest.MonkeyPatch,
    found: list[Spot],
    breaks: Callable[[Plan], str],
    over: Callable[[], bool] = lambda: False,
) -> Result:
    """An exploration of a test that breaks at an assertion, "" where it does not."""
    monkeypatch.setattr(table, "spots", lambda *_: found)
    monkeypatch.setattr(table, "families_without_place", lambda *_: [])

    def run(plan: Plan, _observing: bool) -> Run:
        assertion = breaks(plan)
        return Run(bool(assertion), assertion=assertion)

    return explore(Run(False), run, name="test_it", families=[], seed=0, runs=60, over=over)


def families(plan: Plan) -> set[str]:
    """The families of a plan."""
    return {item.spot.kind.family for item in plan}


@pytest.mark.unmeasured
def test_a_question_hides_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bugs come first, whatever was found first; what changes the truth is a question."""
    of = spots(("people", "reply"), ("delivery", "repeated"))
    result = explored(monkeypatch, of, lambda plan: "a" if families(plan) else "")
    assert [(find.kind, len(find.plan)) for find in result.finds] == [("bug", 1), ("question", 1)]
    assert "a question, not a bug: this changes what is true" in "\n".join(result.finds[1].story)


def test_one_find_for_each_kind_and_assertion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other places of a kind that breaks the same assertion are no find of their own; another assertion is."""
    of = spots(("delivery", "repeated"), places=6)

    def breaks(plan: Plan) -> str:
        places = {int(item.spot.place[-1]) for item in plan}
        return "" if not places else "first" if min(places) < 4 else "second"

    result = explored(monkeypatch, of, breaks)
    assert sorted(find.run.assertion for find in result.finds) == ["first", "second"]


def test_bugs_are_kept_of_too_many_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most five a test; a bug takes the place of a question."""
    kinds = [*(("people", f"person {number}") for number in range(8)), ("delivery", "last")]
    result = explored(monkeypatch, spots(*kinds, places=1), lambda plan: "a" if plan else "")
    assert [find.kind for find in result.finds] == ["bug", *["question"] * (MAX_FINDS - 1)]


def test_five_bugs_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more would be kept."""
    kinds = [("delivery", f"fault {number}") for number in range(8)]
    result = explored(monkeypatch, spots(*kinds, places=4), lambda plan: "a" if plan else "")
    assert [find.kind for find in result.finds] == ["bug"] * MAX_FINDS
    assert result.tried is not None
    assert result.tried.runs < 32


def test_nothing_found_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was tried."""
    result = explored(monkeypatch, spots(("delivery", "repeated")), lambda _plan: "")
    assert result.words[0].startswith("nothing found: all 2 single misfortunes")
    assert result.runs_left == 0


def test_runs_that_were_not_made_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that the search would have made; all of them where the time was over before."""
    of = spots(("delivery", "repeated"), places=4)
    looked = []

    def over() -> bool:
        looked.append(1)
        return len(looked) > 3

    result = explored(monkeypatch, of, lambda _plan: "", over)
    assert result.tried is not None
    assert (result.tried.runs, result.runs_left > 0) == (2, True)
    assert result.words[-1] == "the time of the session was over before all was tried"
    assert explored(monkeypatch, of, lambda _plan: "", lambda: True).runs_left == 60


def test_an_interrupt_leaves_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finds, and the plan that broke the test when it came."""
    runs = []

    def breaks(plan: Plan) -> str:
        runs.append(plan)
        if len(runs) == 8:
            raise KeyboardInterrupt
        return "first" if plan and plan[0].spot.place[-1] == "0" else "second" if plan else ""

    with pytest.raises(Interrupted) as stopped:
        explored(monkeypatch, spots(("delivery", "repeated"), places=6), breaks)
    result = stopped.value.result
    assert len(result.finds) + bool(result.unproved_plan) >= 1
    assert result.words


def test_the_time_is_shared() -> None:
    """A test that needs none leaves it to the others; where all is used, none is left."""
    shares = TimeBudget(10**9, 2)
    for _ in range(3):  # one more than were counted
        with shares.share() as over:
            assert not over()
    with TimeBudget(0, 4).share() as over:
        assert over()
