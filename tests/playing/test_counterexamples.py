"""Counterexamples: clients that must not pass, played after the client of the scenario."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.playing.play_result import Played, objects
from sendbox.playing.player import play
from sendbox.playing.text import summary, text
from tests.scenarios import check

#: Nothing for a phone, and the webhooks are taken at the first try.
SCENARIO: Final[dict[str, Any]] = {
    "sendbox": 1,
    "extends": "default",
    "expect": [
        {"name": "quiet", "that": "sends", "where": {"phone": "420777000101"}, "count": 0},
        {"name": "prompt", "that": "deliveries", "where": {"tries": ">1"}, "count": 0},
    ],
}


def sent(phone: str, status: int = 200) -> dict[str, Any]:
    body = {"body": "Hello", "to": [{"phone_number": phone}]}
    return {"at": "1m", "request": {"operation": "sendMessage", "body": body}, "expect": {"status": status}}


def played(**counterexample: Any) -> Played:
    """A good client, and one that must fail."""
    other = {"name": "a bad client", "fails": "quiet", "traffic": [sent("420777000101")], **counterexample}
    return play({**SCENARIO, "traffic": [sent("420777000202")], "counterexamples": [other]})


@pytest.mark.parametrize(
    ("counterexample", "line"),
    [
        pytest.param({}, "counterexample, a bad client: fails as it must: quiet", id="one"),
        pytest.param(
            {"fails": ["prompt", "quiet"], "receiver": [{"webhook": 0, "ends": [503]}]},
            "counterexample, a bad client: fails as it must: quiet, prompt",
            id="two",
        ),
        pytest.param(
            {"traffic": [sent("420777000202")]},
            "counterexample, a bad client: fails nothing; expected: quiet",
            id="holds",
        ),
        pytest.param({"fails": "prompt"}, "counterexample, a bad client: fails quiet; expected: prompt", id="another"),
        pytest.param(
            {"traffic": [sent("420777000101", 400)]},
            "counterexample, a bad client: fails quiet; expected: quiet; sendMessage: 200, expected 400",
            id="another answer",
        ),
    ],
)
def test_a_counterexample_fails_what_it_names_and_no_more(counterexample: dict[str, Any], line: str) -> None:
    """The page, the table of several scenarios, the object, and whether all passed."""
    result = played(**counterexample)
    passed = "as it must" in line
    assert line in text(result).splitlines()
    assert result.passed is passed
    assert objects(result)["counterexamples"][0]["passed"] is passed
    details = "1 counterexample" if passed else "1 counterexample, 1 of them not as expected"
    assert summary(["a.yaml"], [result]).endswith(f"expectations met, {details}")


def test_a_rule_for_a_counterexample_is_not_unused() -> None:
    """No warning says that it never decided anything, nor that its key is unknown."""
    rule = {"name": "lost", "when": {"phone": "420777000101"}, "then": "failed"}
    other = {"name": "a bad client", "fails": "quiet", "traffic": [sent("420777000101")]}
    scenario = {**SCENARIO, "attempts": [rule], "traffic": [sent("420777000202")]}
    assert [warning["rule"] for warning in play(scenario).warnings] == ["rule-unused"]
    assert play({**scenario, "counterexamples": [other]}).warnings == []


def test_it_names_an_expectation_of_the_scenario() -> None:
    """Another name is a problem, which shows those that there are."""
    other = {"name": "a bad client", "fails": "quite", "traffic": []}
    (problem,) = check({**SCENARIO, "counterexamples": [other]})
    message = '"quite" is not the name of an expectation of this scenario; legal: quiet, prompt'
    assert problem.message.startswith(message)
