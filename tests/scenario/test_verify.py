"""`verify:` of a scenario: limits over limits, rules in order, and a rule of control (§8, A53)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Rate
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.scenario.model import ScenarioError
from sendbox.services.assume import Proof, VerifyLimits
from sendbox.services.verify.rules import VerifyRule
from tests.scenarios import compile_rule, load

MINUTE = 60_000
DEFAULT = VerifyLimits()


def limits(text: str) -> VerifyLimits:
    """The limits of a scenario."""
    found: VerifyLimits = load(f"sendbox: 1\n{text}").assume.verify_limits
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", DEFAULT),
        ("verify: {}", DEFAULT),
        ("verify: {limits: off}", VerifyLimits(None, None)),
        ("verify: {limits: {number: off}}", VerifyLimits(DEFAULT.account, None)),
        ("verify: {limits: {account: 3/10s}}", VerifyLimits(Rate(3, 10_000), DEFAULT.number)),
        ("verify: {limits: {number: {max: 2, within: 1h}}}", VerifyLimits(DEFAULT.account, Rate(2, 60 * MINUTE))),
        ("assume: {verify_limits: off}", VerifyLimits(None, None)),
        ("assume: {verify_limits: {account: 1/s}}", VerifyLimits(Rate(1, 1_000), DEFAULT.number)),
        (
            "assume: {verify_limits: {account: 1/s, number: 7/1m}}\nverify: {limits: {number: 2/1m}}",
            VerifyLimits(Rate(1, 1_000), Rate(2, MINUTE)),
        ),
        ("assume: {verify_limits: {account: 1/s}}\nverify: {limits: off}", VerifyLimits(None, None)),
    ],
)
def test_limits(text: str, expected: VerifyLimits) -> None:
    """What is not said stays; `limits` of `verify` wins over the setting, each of the two by itself."""
    assert limits(text) == expected


def test_limits_of_what_it_builds_on() -> None:
    """Mappings are joined: a scenario that lifts one limit keeps the other of its parent; `off` lifts all."""
    child = {"sendbox": 1, "extends": "otp-lockout", "verify": {"limits": {"account": "off"}}}
    assert load(child).assume.verify_limits == VerifyLimits(None, Rate(2, 10 * MINUTE))
    assert load(child | {"verify": {"limits": "off"}}).assume.verify_limits == VerifyLimits(None, None)


def test_rules() -> None:
    """In the order of the file, those of the parent after them; a rule without a name is known by its text."""
    text = """
sendbox: 1
extends: default
verify:
  rules:
    - {name: known, when: {phone: "777 000 101"}, then: {code: "012345", limits: off}}
    - {then: {code: random, sms: sent}}
    - {when: {}, then: {sms: failed}}
"""
    known, drawn, failed, *inherited = load(text, name="a.yaml").compiled["verify"]
    phone = Pattern("420777000101", digits=True)
    assert known == VerifyRule("known", When(phone=phone), code="012345", limited=False, name="known", place="a.yaml:6")
    assert drawn == VerifyRule(
        '{"phone":null,"then":{"code":"random","sms":"sent"}}', code="random", sms="sent", place="a.yaml:7"
    )
    assert (failed.when, failed.sms, failed.code) == (When(), "failed", None)
    assert [rule.name for rule in inherited] == [
        "a Verify SMS never arrives; messages do",
        "no limits of Verify sessions",
    ]


def test_equal_rules_have_equal_texts() -> None:
    """Where a rule stands, and in which order its keys are, does not change the codes that it draws."""
    first = load('sendbox: 1\nverify: {rules: [{when: {phone: "4207*"}, then: {code: random, sms: sent}}]}')
    second = load('sendbox: 1\nverify:\n  rules:\n    - {then: {sms: sent, code: random}, when: {phone: "4207*"}}')
    assert first.compiled["verify"][0].key == second.compiled["verify"][0].key


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Proof()),
        ({"hash": "sha1"}, Proof(hash="sha1")),
        (
            {"encoding": "base64", "separator": "", "order": ["code", "token", "phoneNumber", "timestamp"]},
            Proof("sha256", "base64", ("code", "token", "phoneNumber", "timestamp"), ""),
        ),
    ],
)
def test_proof(given: dict[str, Any], expected: Proof) -> None:
    """A52: each part can be set by itself."""
    assume = {"assume": {"proof": given}} if given else {}
    assert load({"sendbox": 1, **assume}).assume.proof == expected


def test_a_rule_of_control() -> None:
    """It is checked like one in a file, with paths for places."""
    rule = compile_rule("verify", {"when": {"phone": "905 123 456"}, "then": {"code": "123456"}}, country="421")
    assert (rule.when.pattern("phone"), rule.code, rule.place) == (Pattern("421905123456", digits=True), "123456", None)
    with pytest.raises(ScenarioError) as error:
        compile_rule("verify", {"when": {"phone": "77"}, "then": {"cod": "1"}})
    assert str(error.value).splitlines() == [
        '$.then.cod: "cod" is not a key of a verify then; legal: code, sms, limits; did you mean "code"?',
        '$.when.phone: "77" is not a phone number: 8 to 15 digits with an assigned calling code (A14)',
    ]
