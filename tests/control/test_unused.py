"""Which rules of a scenario never decided anything, as the verdict and `play` say it."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.expect.verdict import WARNINGS, lines, warning_lines
from sendbox.playing import play
from sendbox.playing.play_result import objects
from sendbox.playing.text import text
from tests.box import KEY, WORLD, boxed

#: In each list of rules one rule that is used by `_use`, and one that is not.
SCENARIO: dict[str, Any] = {
    "sendbox": 1,
    "extends": "default",
    "attempts": [
        {"name": "used", "when": {"tag": "a"}, "then": "delivered"},
        {"name": "attempt", "when": {"tag": "b"}, "then": "failed"},
    ],
    "verify": {
        "rules": [
            {"name": "code used", "when": {"phone": "420777000101"}, "then": {"code": "123456"}},
            {"name": "code", "when": {"phone": "420777000102"}, "then": {"code": "123456"}},
        ]
    },
    "api": [
        {"name": "call used", "when": {"operation": "showKey"}, "fault": {"status": 503}},
        {"name": "call", "when": {"operation": "addSubKey"}, "fault": {"status": 503}},
    ],
    "webhooks": [
        {"name": "webhook used", "when": {"result": "delivered"}, "fault": "drop"},
        {"name": "webhook", "when": {"result": "failed"}, "fault": "drop"},
    ],
    "partner": {
        "template_review": [{"name": "review", "when": {"template": "x"}, "result": "REJECTED"}],
        "signup": [{"name": "signup", "result": "failed"}],
    },
}
EXPECTED = [
    {"rule": "review", "in": "partner.template_review", "place": "$.partner.template_review[0]"},
    {"rule": "signup", "in": "partner.signup", "place": "$.partner.signup[0]"},
    {"rule": "attempt", "in": "attempts", "place": "$.attempts[1]"},
    {"rule": "code", "in": "verify", "place": "$.verify.rules[1]"},
    {"rule": "call", "in": "api", "place": "$.api[1]"},
    {"rule": "webhook", "in": "webhooks", "place": "$.webhooks[1]"},
]


@pytest.mark.asyncio
async def test_the_verdict_lists_rules_of_every_list() -> None:
    """A rule that decided is not listed, nor are those of the default scenario; it is not a failure."""
    async with boxed() as box:
        await box.open(scenario=SCENARIO)
        await box.send(tag="a")
        await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        assert (await box.get("/v1/apikey/me", x_api_key=KEY)).status == 503
        await box.advance()
        verdict = (await box.get(f"{WORLD}/verdict")).json
        assert (verdict["passed"], sorted(verdict["unused"], key=str)) == (True, sorted(EXPECTED, key=str))
        assert "warning: attempt of attempts never decided anything ($.attempts[1])" in lines(verdict)
        assert [warning["rule"] for warning in verdict["warnings"]] == ["rule-unused"] * len(EXPECTED)
        await box.post(f"{WORLD}/rules", {"name": "put", "when": {"tag": "z"}, "then": "failed"})
        assert len((await box.get(f"{WORLD}/verdict")).json["unused"]) == len(EXPECTED)


def test_play_says_it_with_and_without_expectations() -> None:
    """The table ends with the rules; the objects have them too."""
    request = {"operation": "sendMessage", "body": {"to": [{"phone_number": "420777000101"}], "body": "x", "tag": "a"}}
    scenario = {**SCENARIO, "traffic": [{"at": 0, "request": request}]}
    for expect in ({}, {"expect": [{"that": "messages"}]}):
        played = play({**scenario, **expect})
        warning = "warning: signup of partner.signup never decided anything ($.partner.signup[0])"
        assert text(played).count(warning) == 1
        assert {"rule": "attempt", "in": "attempts", "place": "$.attempts[1]"} in objects(played)["unused"]
        assert played.passed


def test_a_long_list_is_cut() -> None:
    """People see the first twenty warnings, and the beginning of a long one."""
    warnings = [{"message": "r" * 300, "place": f"/a/b.yaml:{at}"} for at in range(WARNINGS + 5)]
    shown = warning_lines({"warnings": warnings})
    assert (len(shown), shown[-1]) == (WARNINGS + 1, "warning: and 5 more")
    assert shown[0] == f"warning: {'r' * 199}… (b.yaml:0)"


@pytest.mark.asyncio
async def test_many_unused_rules_are_looked_at_in_slices() -> None:
    """A verdict over a thousand rules pauses, and lists each of them once."""
    rules = [{"name": f"rule {number}", "when": {"tag": f"t{number}"}, "then": "failed"} for number in range(1_000)]
    async with boxed({"sendbox": 1, "attempts": rules}) as box:
        await box.open()
        unused = (await box.get(f"{WORLD}/verdict")).json["unused"]
        assert [rule["rule"] for rule in unused] == [rule["name"] for rule in rules]
