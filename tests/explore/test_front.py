"""A scenario in front of another one."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.blueprint import Blueprint
from sendbox.exploring.misfortune import LISTS
from sendbox.exploring.watcher import in_front
from sendbox.language import LANGUAGE
from sendbox.scenario.environment import escape_texts

RULES: dict[str, Any] = {
    "attempts": [{"name": "first", "when": {"phone": "420777000101", "nth": 2}, "then": ["sending", "sent"]}],
    "api": [{"name": "second", "when": {"operation": "sendMessage", "nth": [1, 2]}, "fault": {"status": 500}}],
    "webhooks": [{"name": "third", "when": {"result": "sent", "gateway": "sms"}, "fault": {"delay": "2s1ms"}}],
}


def rules(blueprint: Blueprint) -> dict[str, list[tuple[Any, ...]]]:
    """What the rules of a blueprint are called, ask and decide, wherever they stand."""
    return {key: [(rule.key, rule.when, rule.times) for rule in blueprint.of(key)] for key in LISTS}


@pytest.mark.parametrize("base", ["default", "otp-fallback"])
def test_lists_of_rules_in_front_are_as_if_all_were_compiled_again(base: str) -> None:
    """Lists of rules alone need not compile what is behind them: the source that they get says the same."""
    blueprint = LANGUAGE.load(base)
    laid = in_front(LANGUAGE, blueprint, [{"sendbox": 1, **RULES}])
    assert laid.source is not None
    whole = LANGUAGE.load(escape_texts(laid.source))
    assert rules(laid) == rules(whole)
    assert [rule.key for rule in laid.of("attempts")][:1] == ["first"]
    assert laid.timeline == whole.timeline
    assert (laid.seed, laid.mode, laid.start, laid.assume) == (whole.seed, whole.mode, whole.start, whole.assume)


def test_nothing_in_front_changes_nothing() -> None:
    """It is the same blueprint."""
    blueprint = LANGUAGE.load("default")
    assert in_front(LANGUAGE, blueprint, [{"sendbox": 1, "clock": {"start": "2026-03-29T00:59:59Z"}}]) is blueprint
