"""`plan:` of a scenario: places with their values."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec.structs import asdict

from sendbox.control.worlds import blueprint_differences
from sendbox.engine.plan import NO_PLAN, Place, Plan, Value
from sendbox.engine.texts import Fake
from sendbox.language import LANGUAGE
from sendbox.scenario.model import ScenarioError
from sendbox.services.verify.verify import Verify
from tests.core.recording import as_scenario
from tests.core.worlds import HOUR, PHONE, START, advance, go_back, journaled, make_world, send_one
from tests.playing.test_planned import ONCE
from tests.scenarios import check, load

ENTRY: Final = {"rule": "mixed", "subject": PHONE, "purpose": "mix1", "value": "failed"}
MIXED: Final = {"name": "mixed", "mix": {"delivered": 1, "failed": 1}}


def planned(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A scenario with a plan."""
    return {"sendbox": 1, "plan": list(entries), **more}


def test_entries_become_places_with_values() -> None:
    """The ordinal is the first unless given; a phone may be written as a number."""
    found = load(
        planned(
            ENTRY, {**ENTRY, "subject": int(PHONE), "ordinal": 2, "value": 1}, {**ENTRY, "purpose": "x", "value": False}
        )
    )
    assert found.plan == Plan(
        (
            (Place("mixed", PHONE, 1, "mix1"), "failed"),
            (Place("mixed", PHONE, 2, "mix1"), 1),
            (Place("mixed", PHONE, 1, "x"), False),
        )
    )
    assert load({"sendbox": 1}).plan == NO_PLAN


def test_a_plan_is_written_as_it_is_read() -> None:
    """Out and back: the same places and values, of the same types."""
    values: list[Value] = [True, False, 0, 1, -7, "1", "čaj"]
    plan = Plan(tuple((Place("mixed", PHONE, ordinal, "mix1"), value) for ordinal, value in enumerate(values, 1)))
    again = load(planned(*as_scenario(plan))).plan
    assert again == plan
    assert [type(value) for _, value in again.entries] == [type(value) for _, value in plan.entries]


def test_a_place_stands_once_in_a_file() -> None:
    """A second value is a mistake in one file; of two files the nearer one counts."""
    with pytest.raises(ScenarioError) as raised:
        load(planned(ENTRY, {**ENTRY, "value": "delivered"}))
    assert str(raised.value) == (
        f'$.plan[1]: "mix1" of "mixed" for "{PHONE}", number 1, has a value already, at $.plan[0]'
    )
    found = load(planned(ENTRY, include=[planned({**ENTRY, "value": "delivered"}, attempts=[MIXED])]))
    assert [value for _, value in found.plan.entries] == ["failed", "delivered"]
    world = make_world(plan=found.plan, attempts=found.compiled["attempts"])
    message = send_one(world)
    advance(world, HOUR)
    assert message.result == "failed"


NAMED: Final = {"rule": "fake", "subject": "en_US.name", "purpose": "seed", "value": "Jana"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            {**ENTRY, "value": 1.5},
            '.value: 1.5 is not a value: true, false, a duration, a whole number or a text; write it in quotes: "1.5"',
        ),
        (
            {**ENTRY, "purpose": "after0.1", "value": 5000},
            ".value: 5000 has no unit; 5000s or 5000ms is legal, only 0 needs no unit",
        ),
        (
            {**ENTRY, "purpose": "reply1.1", "value": "soon"},
            '.value: "soon" is not a duration: 500ms, 2s, 1m30s, 1.5h, 2d or PT1M30S are legal',
        ),
        ({**ENTRY, "ordinal": 0}, ".ordinal: 0 is below the minimum of 1; wanted: a whole number from 1"),
        (
            {**ENTRY, "rules": "x"},
            '.rules: "rules" is not a key of a planned draw; legal: rule, subject, ordinal, purpose, value',
        ),
        (
            {"rule": "mixed"},
            ': {"rule":"mixed"} has no "subject" and "purpose" and "value", which every planned draw needs',
        ),
        (
            NAMED,
            f'.value: "Jana" is not legal at its place in the plan; legal: a whole number from 0 to {2**64 - 1}',
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(entry: dict[str, Any], said: str) -> None:
    """What no place can have is a problem of shape; what is invented is drawn when the scenario is read."""
    replies = [{"body": "{{fake.name}}"}]
    assert list(map(str, check(planned(entry, attempts=[{"replies": replies}])))) == [f"$.plan[0]{said}"]


def test_a_value_that_its_place_cannot_have_is_advice() -> None:
    """Whether it can is known when it is drawn: then the seed decides, and the journal says so, once."""
    found = load(planned({**ENTRY, "value": "seen"}, attempts=[MIXED]))
    world = make_world(plan=found.plan, attempts=found.compiled["attempts"])
    ordinary = make_world(attempts=found.compiled["attempts"])
    messages = [send_one(each) for each in (world, ordinary)]
    for each in (world, ordinary):
        advance(each, HOUR)
    assert messages[0].result == messages[1].result
    ((at, (advice, about)),) = journaled(world, "advice")
    assert (at, advice.code, about) == (0, "plan-value-unusable", asdict(Place("mixed", PHONE, 1, "mix1")))
    assert advice.message == (
        '"seen" is not legal at its place in the plan; legal: a whole number from 1 to 2, or one of delivered, failed'
    )


def test_a_plan_outlives_a_restore() -> None:
    """What was not drawn before is drawn by the plan afterwards, and what was told is not told again."""
    plan = Plan(((Place("verify", PHONE, 1, "code"), "000001"), (Place("verify", PHONE, 2, "code"), "x")))
    world, again = make_world(plan=plan), go_back(make_world(plan=plan))
    for each in (world, again):
        verify = Verify.of(each)
        codes = [verify.book.code(verify.book.begin(PHONE, "key", START))[0] for _ in range(2)]
        assert codes[0] == "000001"
        assert len(journaled(each, "advice")) == 1


def test_what_a_plan_invents() -> None:
    """It holds for texts of its own scenario only; the others, compiled before and after, have their usual words."""
    texts = {"attempts": [{"replies": [{"body": "{{fake.first_name}}"}]}]}
    place = {"rule": "fake", "subject": "en_US.first_name", "ordinal": 3, "purpose": "seed", "value": 7}

    def pool(scenario: dict[str, Any]) -> tuple[str, ...]:
        (rule,) = load(scenario).compiled["attempts"]
        (part,) = rule.replies[0].text.parts
        assert isinstance(part, Fake)
        return part.pool

    usual = pool({"sendbox": 1, **texts})
    own = pool(planned(place, **texts))
    assert [at for at, (a, b) in enumerate(zip(usual, own, strict=True)) if a != b] == [2]
    assert pool({"sendbox": 1, **texts}) == usual
    assert ONCE in usual


def test_what_is_not_whole_is_not_compared() -> None:
    """Two entries without a place say so each, and nothing of standing at one place."""
    problems = check(planned({"rule": "mixed"}, {"rule": "mixed"}))
    assert [(each.path, each.rule) for each in problems] == [("$.plan[0]", "required"), ("$.plan[1]", "required")]


def test_a_plan_of_a_running_world_holds_from_its_next_reset_on() -> None:
    """Control says so of a scenario that it loads."""
    assert blueprint_differences(LANGUAGE, load({"sendbox": 1}), load(planned(ENTRY))) == ["plan"]
