"""`api:` of a scenario, compiled: conditions, faults, and the text by which a rule is known."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Moment, Rate, Span
from sendbox.engine.faults.answers import BadJson, RateLimit, Status, Twice
from sendbox.engine.faults.connections import Delay, Disconnect, Garbage, Timeout, Trickle
from sendbox.engine.faults.fault import ApiFault
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.scenario.model import ScenarioError
from tests.scenarios import compile_rule, load


def compiled(**rule: Any) -> Any:
    return load({"sendbox": 1, "api": [rule]}).api[0]


FAULTS: list[tuple[Any, ApiFault]] = [
    ({"status": 503}, Status(status=503)),
    (
        {"status": {"code": 503, "message": "Later", "headers": {"Retry-After": 30, "X-A": "b"}}},
        Status(status=503, message="Later", headers=(("Retry-After", "30"), ("X-A", "b"))),
    ),
    ({"delay": "2s"}, Delay(time=Span(2000, 2000))),
    ({"delay": "1s..3s"}, Delay(time=Span(1000, 3000))),
    ("disconnect", Disconnect()),
    ({"disconnect": "before"}, Disconnect()),
    ({"disconnect": "middle"}, Disconnect(middle=True)),
    ("garbage", Garbage()),
    ("bad_json", BadJson()),
    ("trickle", Trickle(time=Span(2000, 2000))),
    ({"trickle": "500ms"}, Trickle(time=Span(500, 500))),
    ("timeout", Timeout()),
    ("twice", Twice()),
    ({"twice": "last"}, Twice()),
    ({"twice": "first"}, Twice(doubled="first")),
    ({"rate_limit": "10/s"}, RateLimit(rate=Rate(10, 1000))),
    ({"rate_limit": {"max": 5, "within": "1h"}}, RateLimit(rate=Rate(5, 3_600_000))),
    (
        {"rate_limit": {"max": 5, "within": "1h", "per": "phone"}},
        RateLimit(rate=Rate(5, 3_600_000), per="phone"),
    ),
]


@pytest.mark.parametrize(("given", "expected"), FAULTS, ids=[str(each[0]) for each in FAULTS])
def test_faults(given: Any, expected: ApiFault) -> None:
    """Every form of every fault."""
    assert compiled(fault=given).fault == expected


WHENS: list[tuple[dict[str, Any], When]] = [
    ({"operation": "sendMessage"}, When(operation=("sendMessage",))),
    ({"operation": ["sendMessage", "verifyCode"]}, When(operation=("sendMessage", "verifyCode"))),
    ({"key": "*~shop"}, When(key=Pattern("*~shop"))),
    ({"phone": "777 000 101"}, When(phone=Pattern("420777000101", digits=True))),
    ({"from": "5m"}, When(begins=Moment(300_000, relative=True))),
    ({"until": "1970-01-01T00:00:01Z"}, When(ends=Moment(1000, relative=False))),
    (
        {"from": "10m", "until": "1970-01-01T00:00:01Z"},
        When(begins=Moment(600_000, relative=True), ends=Moment(1000, relative=False)),
    ),
    ({"share": 0.1}, When(share=0.1)),
    ({"share": "10%"}, When(share=0.1)),
    ({"share": 1}, When(share=1.0)),
    ({"call": 3}, When(nth=3)),
    ({"every": 10}, When(every=10)),
]


@pytest.mark.parametrize(("given", "expected"), WHENS, ids=[str(each[0]) for each in WHENS])
def test_conditions(given: dict[str, Any], expected: When) -> None:
    """Every condition, in each of its forms."""
    assert compiled(when=given, fault="timeout").when == expected


def test_the_rest_of_a_rule() -> None:
    """`name`, `times` and `processed`; a rule that says nothing applies to every call, for good."""
    rule = compiled(name="mine", fault="timeout", times=2, processed=True)
    assert (rule.key, rule.name, rule.times, rule.processed) == ("mine", "mine", 2, True)
    rule = compiled(fault="timeout")
    assert (rule.when, rule.name, rule.times, rule.processed) == (When(), None, None, None)
    assert rule.place == "$.api[0]"


def test_a_rule_without_a_name_is_known_by_its_text() -> None:
    """Equal rules have equal texts, however their times are written; any difference makes another."""
    text = '{"fault":{"kind":"delay","time":{"low":90000,"high":90000}},"processed":null,"when":{"phone":"4*"}}'
    for time in ("1m30s", "PT1M30S", "90000ms", "90s..90s"):
        assert compiled(when={"phone": "4*"}, fault={"delay": time}).key == text
    others = [
        compiled(fault={"delay": "1ms"}),
        compiled(fault={"trickle": "1ms"}),
        compiled(fault={"delay": "1ms"}, processed=True),
        compiled(fault={"delay": "1ms"}, when={"call": 1}),
    ]
    assert len({each.key for each in others}) == 4


def test_rules_of_control() -> None:
    """A rule alone, held to the same shape and meaning; national numbers are the account's."""
    rule = compile_rule("api", {"when": {"phone": "905000001"}, "fault": "timeout"}, country="421")
    assert rule.when.pattern("phone") == Pattern("421905000001", digits=True)
    assert rule.place is None
    with pytest.raises(ScenarioError) as caught:
        compile_rule("api", {"when": {"nth": 1, "call": 1, "every": 1}, "fault": {"status": 200}})
    assert [each.path for each in caught.value.problems] == ["$.fault.status", "$.when.call"]
