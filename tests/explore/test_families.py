"""The families of misfortunes: each kind has a right to what it does, and its scenarios are legal."""

from __future__ import annotations

from dataclasses import fields

import pytest

from sendbox.exploring.census import Census, ObservedMessage
from sendbox.exploring.families import table
from sendbox.exploring.families.table import FAMILIES, WHY_NOT
from sendbox.exploring.misfortune import MAX_MISFORTUNES, Kind, Misfortune
from sendbox.exploring.search import Search
from sendbox.services.assumptions import registry
from tests.explore.rich import Ran, Rich, others, problems, told_by
from tests.tiers import turn
from tests.traceability.sentences import SECTIONS

KNOWN = {f"§{section}" for section in SECTIONS} | {row.id for row in registry()}
KINDS = [kind for kinds in FAMILIES.values() for kind in kinds]


def unfounded(kind: Kind) -> list[str]:
    """What is wrong with what a kind cites."""
    if not kind.cites:
        return ["it cites nothing"]
    return [cited for cited in kind.cites if cited not in KNOWN]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.family} {kind.name}")
def test_a_kind_cites_what_exists(kind: Kind) -> None:
    """Sections and assumptions by which the service may do it; and what a client may rely on, in a sentence."""
    assert unfounded(kind) == []
    assert kind.relies.endswith(".")
    assert kind.relies[0].isupper()


def test_a_kind_that_cites_nothing_is_found() -> None:
    """So is one that cites a section or an assumption that does not exist."""
    kind = KINDS[0]
    assert unfounded(Kind(kind.family, kind.name, (), kind.relies, kind.spots)) == ["it cites nothing"]
    cites = ("§3.1", "§3.9", "A05", "A999")
    assert unfounded(Kind(kind.family, kind.name, cites, kind.relies, kind.spots)) == ["§3.9", "A999"]


def test_families_are_whole() -> None:
    """Each kind belongs to its family and has a name of its own there; each family says why it was not tried."""
    for family, kinds in FAMILIES.items():
        assert {kind.family for kind in kinds} == {family}
        assert len({kind.name for kind in kinds}) == len(kinds)
    assert FAMILIES.keys() == WHY_NOT.keys()


@pytest.mark.sample(6)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_value_is_a_scenario(base: Ran, family: str) -> None:
    """Without a problem, in its own words; each kind has a place in the sample, but for what it does not use."""
    places = table.spots([base.census], [family])
    for kind in FAMILIES[family]:
        spots = [spot for spot in places if spot.kind is kind]
        assert spots or family in ("assumptions", "codes"), kind.name
        assert len({(spot.place, spot.about) for spot in spots}) == len(spots), kind.name
        for spot in turn(spots, 0, 6):
            assert len({value.says for value in spot.values}) == len(spot.values) > 0, spot.place
            for number in range(len(spot.values)):
                assert problems(Misfortune(spot, number)) == [], spot.place


@pytest.mark.parametrize("family", ["delivery", "results", "people", "account"])
def test_a_run_without_messages_has_no_place(family: str) -> None:
    """Then the report says so."""
    empty = Census(1, (), (), (), (), (), ())
    assert table.spots([empty], [family]) == []
    assert table.families_without_place([empty], [family]) == [family]
    assert table.untried_lines({family: 1}, 1) == [f"{family} not tried: {WHY_NOT[family]}"]
    assert table.untried_lines({family: 1}, 3) == [f"{family} not tried in 1 of 3 tests: {WHY_NOT[family]}"]


@pytest.mark.parametrize("family", ["results", "people", "account"])
def test_a_message_that_was_never_handed_over_has_no_place(family: str) -> None:
    """Nothing is known of it."""
    waiting = ObservedMessage("420777000101", 1, "sendMessage", 0, 0, ("sms",), (), (), (), 1)
    assert table.spots([Census(1, (), (), (waiting,), (), (), ())], [family]) == []


def test_the_sample_is_the_same_in_each_run(base: Ran, again: Ran) -> None:
    """Otherwise nothing could be said about a misfortune."""
    for field in fields(base.census):
        assert getattr(base.census, field.name) == getattr(again.census, field.name), field.name
    assert others(base) == others(again)


@pytest.mark.deep
def test_plans_of_many_misfortunes_are_scenarios(rich: Rich, base: Ran) -> None:
    """Whatever the search puts together can be laid in front, and breaks nothing in the sandbox."""
    spots = table.spots([base.census], ["results", "people", "account"])
    plans = list(Search(spots, seed=16, name="plans", runs=12).plans())
    assert max(map(len, plans)) == MAX_MISFORTUNES
    for plan in plans:
        rich.run(plan)


@pytest.mark.sample(2)
@pytest.mark.parametrize("family", ["results", "people"])
def test_one_misfortune_changes_nothing_of_other_phones(rich: Rich, base: Ran, family: str) -> None:
    """Each kind alone, with its first value, for the first and the last of its places."""
    for kind in FAMILIES[family]:
        spots = list(kind.spots(kind, base.census))
        for item in (Misfortune(spots[0]), Misfortune(spots[-1])):
            phone = told_by(item)
            ran = rich.run((item,))
            assert others(ran, phone) == others(base, phone), str(item)
            assert others(ran) != others(base), str(item)


def test_an_advance_ends_where_it_ends_without_a_move_before_an_answer(rich: Rich, base: Ran) -> None:
    """Each value is legal; and a test whose calls moved the clock finds it where it left it otherwise."""
    (kind,) = (kind for kind in FAMILIES["delivery"] if kind.moving)
    spots = list(kind.spots(kind, base.census))
    assert len({spot.place for spot in spots}) == len(spots) > 10
    tried = [Misfortune(spot, number) for spot in spots for number in range(len(spot.values))]
    assert [problems(misfortune) for misfortune in tried] == [[]] * len(tried)
    moving = [misfortune for misfortune in tried if "all until" in str(misfortune)]
    assert moving
    for misfortune in [moving[0], moving[-1], tried[0], tried[1]]:
        ran = rich.run((misfortune,))
        assert [move.ended for move in ran.census.moves] == [move.ended for move in base.census.moves], misfortune
