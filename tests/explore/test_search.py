"""The search over plans: what it tries, in which order, and how a plan becomes small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice, takewhile
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.exploring.exploration import Run, explore, parse_runs
from sendbox.exploring.families.table import FIRST
from sendbox.exploring.misfortune import (
    ANY_TIME,
    MAX_MISFORTUNES,
    Kind,
    Misfortune,
    Plan,
    Spot,
    Value,
    legal,
    scenarios,
)
from sendbox.exploring.search import PLACES, SHRINKING, Search

KIND: Final = Kind("calls", "failed", ("§7.1",), "It ends.", lambda _kind, _world: iter(()))


def spot(name: str, values: int = 1, about: str = "one", row: tuple[str, tuple[int, ...]] | None = None) -> Spot:
    """A spot with so many values."""
    parts = {"api": [{"when": {"nth": 1}, "fault": "reset"}]}
    return Spot(KIND, 1, name, about, name[0], tuple(Value(f"says {n}", parts) for n in range(values)), row=row)


def search(spots: list[Spot], runs: int | None = 100, seed: int = 0) -> Search:
    """A search of a test."""
    return Search(spots, seed=seed, name="test_it", runs=runs)


def counted(of: Search) -> list[Plan]:
    """All plans of a search, which were tried."""
    plans = []
    for plan in of.plans():
        plans.append(plan)
        of.count(plan)
    return plans


def shrunk(of: Search, plan: Plan, breaks: Callable[[Plan], bool]) -> Plan:
    """The plan that remains of one that breaks a client."""
    steps = of.shrink(plan)
    answer = None
    while True:
        try:
            answer = breaks(steps.send(answer))
        except StopIteration as end:
            minimal: Plan = end.value
            return minimal


def names(plan: Plan) -> set[str]:
    """The spots of a plan."""
    return {item.spot.place for item in plan}


def test_a_small_census_is_enumerated() -> None:
    """Each single misfortune, then every pair about the same, and other plans; none of them twice."""
    of = search([spot(f"a{n}", values=2) for n in range(4)])
    plans = counted(of)
    assert [len(plan) for plan in plans[:8]] == [1] * 8
    assert len({frozenset(map(str, plan)) for plan in plans}) == len(plans)
    assert of.tried.singles == of.tried.all_singles == 8
    assert of.tried.pairs == of.tried.all_pairs == 24
    assert of.tried.words().startswith("all 8 single misfortunes and 24 of 24 pairs about one message or call, ")


def test_a_drawn_plan_of_two_is_a_pair_only_where_both_are_about_one() -> None:
    """So never more pairs were tried than there are."""
    of = search([spot(f"a{n}", about=str(n // 2)) for n in range(6)], runs=200)
    plans = counted(of)
    assert of.tried.pairs == of.tried.all_pairs == 3
    assert of.tried.larger == len(plans) - 3 - 6


def test_of_a_large_census_plans_of_many_come_first() -> None:
    """So each single misfortune is tried early, though not alone."""
    of = search([spot(f"{chr(97 + n % 20)}{n}", about=str(n)) for n in range(100)], runs=40)
    plans = counted(of)
    assert [len(plan) for plan in plans[:12]] == [MAX_MISFORTUNES] * 12
    assert len(set().union(*map(names, plans[:13]))) == 100
    assert len(plans) == of.tried.runs == 40
    assert of.tried.words() == "27 of 100 single misfortunes, 13 other plans tried"


def test_unlike_misfortunes_come_first() -> None:
    """Of kinds of which nothing was tried yet there is one before there are two."""
    of = search([spot(f"{letter}{n}") for letter in "abc" for n in range(5)])
    firsts = [plan[0].spot.like for plan in islice(of.plans(), 6)]
    assert sorted(firsts[:3]) == sorted(firsts[3:]) == ["a", "b", "c"]


def test_of_unlike_misfortunes_the_kinds_that_break_most_clients_come_first() -> None:
    """In the order of the table; then the kinds that have no place there."""
    names = ("no kind of the table", *reversed(FIRST))
    spots = [replace(spot(name), kind=replace(KIND, name=name), like=name) for name in names]
    plans = search(spots, runs=100).plans()
    assert [plan[0].spot.kind.name for plan in islice(plans, len(names))] == [*FIRST, names[0]]


def test_of_a_large_census_each_misfortune_has_its_place_in_one_plan() -> None:
    """What does not fit with those before it stands in a later plan."""
    spots = [replace(spot(f"a{n}"), place=f"a{n // 2}") for n in range(40)]
    plans = list(takewhile(lambda plan: len(plan) > 1, search(spots, runs=60).plans()))
    chosen = [item.spot for plan in plans for item in plan]
    assert len(chosen) == len(set(chosen)) == 40
    assert all(legal(plan) for plan in plans)


def test_the_same_seed_tries_the_same_plans() -> None:
    """And another one others."""
    spots = [spot(f"a{n}", values=3) for n in range(12)]
    first, again, other = ([tuple(map(str, plan)) for plan in search(spots, seed=seed).plans()] for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.sample(2)
@pytest.mark.parametrize(("singles", "runs"), [(0, 30), (4, 30), (22, 44), (50, 100), (400, 100)])
def test_a_search_is_as_long_as_its_census_needs(singles: int, runs: int) -> None:
    """As many other plans as single misfortunes, within limits."""
    assert search([spot(f"a{n}") for n in range(singles)], runs=None).runs == runs


def test_what_broke_alone_is_not_tried_with_others() -> None:
    """Nor, after some places, is its kind at others; plans in which two others remain are tried."""
    spots = [spot(f"a{n}") for n in range(12)]
    items = [Misfortune(each) for each in spots]
    of = search(spots)
    of.record_failure((items[0],), new=True)
    of.record_failure((items[1], items[2]), new=False)
    assert of.leave_out((items[0], items[1]))
    assert not of.leave_out((items[0], items[1], items[2]))
    assert not of.leave_out((items[1],))
    for item in items[: PLACES + 1]:
        assert not of.leave_out((items[-1],))
        of.record_failure((item,), new=False)
    assert of.leave_out((items[-1],))
    assert [plan for plan in of.plans() if len(plan) < 3] == []
    assert " not tried, because a part of them was known to break the test" in of.tried.words() or of.tried.all_singles


def test_nothing_to_spoil() -> None:
    """A census without a spot has no plan."""
    of = search([])
    assert list(of.plans()) == []
    assert of.tried.words() == "there was nothing to spoil"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("breaks", "small"),
    [
        (lambda plan: {"a1", "a6"} <= names(plan), {"a1", "a6"}),
        (lambda plan: "a3" in names(plan), {"a3"}),
        (lambda plan: {"a0", "a4", "a7"} <= names(plan), {"a0", "a4", "a7"}),
    ],
    ids=["pair", "single", "three"],
)
def test_a_plan_is_made_small(breaks: Callable[[Plan], bool], small: set[str]) -> None:
    """Exactly what is needed remains, with the simplest values."""
    spots = [spot(f"a{n}", values=3) for n in range(8)]
    of = search(spots)
    plan = shrunk(of, tuple(Misfortune(one, 2) for one in spots), breaks)
    assert names(plan) == small
    assert {item.number for item in plan} == {0}
    assert of.tried.shrinking < 60


def test_one_misfortune_takes_the_place_of_several() -> None:
    """Where a find came before the singles were tried, one of them may do what two of its own do."""
    spots = [*(spot(f"a{n}") for n in range(3)), spot("b", values=2), spot("c", about="other")]
    of = search(spots)

    def breaks(plan: Plan) -> bool:
        return {"a0", "a1"} <= names(plan) or any(item.spot.place in "bc" and item.number == 1 for item in plan)

    plan = shrunk(of, tuple(Misfortune(one) for one in spots), breaks)
    assert [(item.spot.place, item.number) for item in plan] == [("b", 1)]
    tried = search(spots)
    assert any(len(each) == 2 for each in counted(tried))
    assert names(shrunk(tried, tuple(Misfortune(one) for one in spots), breaks)) == {"a0", "a1"}


@given(st.sets(st.integers(0, 7), min_size=1), st.integers(0, 2))
def test_any_cause_is_what_remains(cause: set[int], number: int) -> None:
    """Whichever misfortunes break the client together, by whichever values from one on."""
    spots = [spot(f"a{n}", values=3) for n in range(8)]
    wanted = {f"a{n}" for n in cause}

    def breaks(plan: Plan) -> bool:
        return wanted <= {item.spot.place for item in plan if item.number >= number}

    plan = shrunk(search(spots), tuple(Misfortune(one, 2) for one in spots), breaks)
    assert {(item.spot.place, item.number) for item in plan} == {(name, number) for name in wanted}


def test_making_small_has_an_end() -> None:
    """After so many runs it stays as it is."""
    spots = [spot(f"a{n}", values=400) for n in range(2)]
    calls = []

    def breaks(plan: Plan) -> bool:
        calls.append(plan)
        return all(item.number == 399 for item in plan) and len(plan) == 2

    assert len(shrunk(search(spots), tuple(Misfortune(one, 399) for one in spots), breaks)) == 2
    assert len(calls) == SHRINKING


def test_at_most_two_calls_in_a_row_fail() -> None:
    """Of an operation and an object; and one thing at a spot, eight in a plan."""
    row = [Misfortune(spot(f"a{n}", row=("sendMessage", (n,)))) for n in range(1, 5)]
    assert legal((row[0], row[1], row[3]))
    assert not legal((row[0], row[1], row[2]))
    assert not legal((row[0], Misfortune(spot("b", row=("sendMessage", (1, 2))))))
    one = spot("a", values=2)
    assert not legal((Misfortune(one), Misfortune(one, 1)))
    assert legal(tuple(Misfortune(spot(f"b{n}")) for n in range(MAX_MISFORTUNES)))
    assert not legal(tuple(Misfortune(spot(f"b{n}")) for n in range(MAX_MISFORTUNES + 1)))


def test_what_moves_a_phone_is_not_joined_with_what_was_placed_by_its_instants() -> None:
    """Families of one phone are apart, but for those of webhooks, and for what moves no instants."""

    def of(family: str, phone: str, world: int = 1) -> Misfortune:
        kind = Kind(family, "kind", ("§1",), "It ends.", lambda _kind, _world: iter(()))
        return Misfortune(Spot(kind, world, f"{family} {phone}", "", "", (Value("says", {}),), phone))

    assert legal((of("delivery", "420"), of("late", "420")))
    assert legal((of("delivery", "420"), of("people", "421")))
    assert legal((of("delivery", "420"), of("people", "420", world=2)))
    assert legal((of("delivery", "420"), of("time", ANY_TIME)))
    assert not legal((of("delivery", "420"), of("people", "420")))
    assert not legal((of("delivery", "420"), of("account", "")))


def test_a_plan_is_a_scenario_for_each_world() -> None:
    """Rules are named after their misfortune, in at most 100 characters; lists of several are joined."""
    first, second = spot("a" * 120), spot("b")
    rules = scenarios((Misfortune(first), Misfortune(second)))[1]["api"]
    assert [rule["name"] for rule in rules] == [f"{'a' * 94}…", "b: failed"]
    assert all(len(rule["name"]) <= 100 for rule in rules)
    both = {"api": [{"fault": "reset"}, {"fault": "timeout"}], "clock": {"start": "2026-01-01T00:00:00Z"}}
    two = Spot(KIND, 2, "c", "", "", (Value("says", both),))
    named = scenarios((Misfortune(two),))[2]
    assert [rule["name"] for rule in named["api"]] == ["c: failed", "c: failed, 2"]
    assert named["clock"] == {"start": "2026-01-01T00:00:00Z"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("value", [0, -1, True, "three", "0", None])
def test_a_number_of_runs(value: object) -> None:
    """A whole number from 1."""
    with pytest.raises(ValueError, match="is not a number of runs; legal: a whole number from 1"):
        parse_runs(value)


def test_a_second_run_that_fails_is_not_explored() -> None:
    """The test must pass twice without misfortune."""
    result = explore(Run(False), lambda _plan, _observing: Run(True), name="test_it", families=["calls"], seed=0)
    assert result.words == ["not repeatable, so not explored: the second run without misfortune did not pass"]
    assert result.finds == []


def test_a_kind_that_moves_the_clock_is_alone_in_its_world() -> None:
    """What else is placed there was placed by instants that it changes."""
    moving = Kind("delivery", "early", ("§1",), "It ends.", lambda _kind, _world: iter(()), moving=True)
    parts = {"api": [{"when": {"nth": 1}, "fault": {"before_answer": "1s"}}]}
    early, elsewhere = (Spot(moving, world, "early", "one", "e", (Value("says", parts),)) for world in (1, 2))
    other = Misfortune(spot("a"))
    assert not legal((Misfortune(early), other))
    assert legal((Misfortune(elsewhere), other))
