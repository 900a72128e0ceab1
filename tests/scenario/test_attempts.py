"""Compiling rules: conditions, paths, keys, and single rules as control puts them in front of a list."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Span
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.scenario.model import ScenarioError
from sendbox.services.assume import Assume, Timing
from sendbox.services.messaging.channels import WAYS
from sendbox.services.messaging.rules.conditions import Payload
from sendbox.services.messaging.rules.rules import Click, PathEntry, Reply
from sendbox.services.messaging.rules.rules import Path as Way
from tests.scenarios import check, compile_rule, load


def at(milliseconds: int) -> Span:
    """A span of no width."""
    return Span(milliseconds, milliseconds)


def test_conditions() -> None:
    """Every condition reaches the core; chatapp stands for both of its steps, and alone or in a list is the same."""
    rule = compile_rule(
        "attempts",
        {
            "when": {
                "channel": ["chatapp", "sms", "chatapp_text"],
                "phone": "420777????02",
                "tag": "promo",
                "body": "*?",
                "sender": "Ac*",
                "operation": "sendMessage",
                "attempt": 2,
                "nth": 3,
                "key": "test-*",
                "payload": {"order.id": "A*", "paid": True},
            },
            "then": "delivered",
        },
    )
    assert rule.when == When(
        channel=("chatapp_text", "chatapp_template", "sms"),
        phone=Pattern("420777????02", digits=True),
        tag=Pattern("promo"),
        body=Pattern("*?"),
        sender=Pattern("Ac*"),
        operation=("sendMessage",),
        attempt=2,
        nth=3,
        key=Pattern("test-*"),
        payload=Payload(((("order", "id"), Pattern("A*")), (("paid",), True))),
    )
    assert compile_rule(
        "attempts", {"when": {"channel": "sms", "operation": ["sendMessage", "legacySend"]}, "then": "sent"}
    ).when == When(channel=("sms",), operation=("sendMessage", "legacySend"))


def test_paths() -> None:
    """An entry is a word, a word with a time, or with time and info; one without a time takes the usual one (A63)."""
    rule = compile_rule(
        "attempts",
        {"then": ["sending", {"sent": "1s..5s"}, {"undelivered": {"after": "30s", "info": "[1] Undelivered"}}]},
    )
    assert rule.path == Way(
        (
            PathEntry("sending", at(0)),
            PathEntry("sent", Span(1_000, 5_000)),
            PathEntry("undelivered", at(30_000), "[1] Undelivered"),
        )
    )
    usual = compile_rule(
        "attempts", {"then": ["sending", "sent", {"delivered": {"info": "ok"}}]}, assume=Assume(timing=Timing(sent=7))
    )
    assert usual.path == Way(
        (PathEntry("sending", at(0)), PathEntry("sent", at(7)), PathEntry("delivered", at(2_000), "ok"))
    )
    assert compile_rule("attempts", {"then": "seen"}).path == Way(goal="seen")


def test_the_timing_of_the_scenario_is_the_usual_one() -> None:
    """The times that a path leaves out are those of `assume: {timing: …}`."""
    rule = load(
        {"sendbox": 1, "assume": {"timing": {"seen": "9ms"}}, "attempts": [{"then": ["sent", "seen"]}]}
    ).compiled["attempts"][0]
    assert rule.path == Way((PathEntry("sent", at(1_000)), PathEntry("seen", at(9))))


def test_what_else_a_rule_decides() -> None:
    """Mix, replies, click, times and illegal reach the core."""
    rule = compile_rule(
        "attempts",
        {
            "name": "losses",
            "mix": {"delivered": 95, "failed": 0.5},
            "replies": [{"after": "20s", "body": "YES"}, {"body": "and no"}],
            "click": {"after": "1m..2m"},
            "times": 2,
        },
    )
    assert (rule.name, rule.key, rule.times) == ("losses", "losses", 2)
    assert not rule.illegal
    assert rule.mix == ((Way(goal="delivered"), 95.0), (Way(goal="failed"), 0.5))
    assert rule.replies == (Reply(at(20_000), "YES"), Reply(at(0), "and no"))
    assert rule.click == (Click(Span(60_000, 120_000)),)
    assert compile_rule("attempts", {"then": ["delivered", "sent"], "illegal": True}).illegal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            {"when": {"phone": "420777000101", "tag": "a"}, "then": [{"sending": "1s"}]},
            {"then": [{"sending": {"after": "1000ms"}}], "when": {"tag": "a", "phone": "+420 777 000 101"}},
            id="written-differently",
        ),
        pytest.param({"then": "sent"}, {"then": "sent", "times": 3}, id="times"),
        pytest.param({"name": "a", "then": "sent"}, {"name": "a", "then": "failed"}, id="name"),
    ],
)
def test_rules_that_share_a_key(one: dict[str, Any], other: dict[str, Any]) -> None:
    """What a rule asks and decides makes its key, or its name does; never its place, order or spelling."""
    assert compile_rule("attempts", one).key == compile_rule("attempts", other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"then": "sent"}, {"then": ["sent"]}, id="goal-or-path"),
        pytest.param({"then": "sent"}, {"mix": {"sent": 1}}, id="mix"),
        pytest.param({"then": "sent"}, {"when": {"nth": 1}, "then": "sent"}, id="condition"),
        pytest.param({"click": {"after": "1ms"}}, {"replies": [{"after": "1ms", "body": "x"}]}, id="kind"),
        pytest.param({"when": {"body": "1"}, "then": "sent"}, {"when": {"tag": "1"}, "then": "sent"}, id="field"),
    ],
)
def test_rules_that_differ_have_keys_of_their_own(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two nameless rules share draws only if they are equal."""
    assert compile_rule("attempts", one).key != compile_rule("attempts", other).key


def test_the_position_of_a_rule_is_not_in_its_key() -> None:
    """Keys stay when rules move, and say where the rule stands only in `place`."""
    first, second = load("sendbox: 1\nattempts:\n  - then: sent\n  - click: {after: 1s}\n", name="a.yaml").compiled[
        "attempts"
    ]
    moved = load("sendbox: 1\nattempts:\n  - click: {after: 1s}\n  - then: sent\n").compiled["attempts"]
    assert (second.key, first.key) == (moved[0].key, moved[1].key)
    assert (first.place, second.place) == ("a.yaml:3", "a.yaml:4")


def test_paths_need_only_one_channel_when_the_rule_names_none() -> None:
    """`seen` in a path is legal for a rule that does not say sms; chatapp, said alone, has it too."""
    assert not check({"sendbox": 1, "attempts": [{"then": ["sending", "sent", "delivered", "seen"]}]})
    assert not check({"sendbox": 1, "attempts": [{"when": {"channel": "chatapp"}, "then": ["sent", "seen"]}]})
    assert not check({"sendbox": 1, "attempts": [{"when": {"channel": ["sms", "richmsg"]}, "then": "seen"}]})


def test_a_rule_of_control_has_paths_for_places() -> None:
    """A rule that is put in front of a list is checked like one in a file."""
    assert compile_rule("attempts", {"then": "failed", "times": 1}).place is None
    with pytest.raises(ScenarioError) as error:
        compile_rule("attempts", {"when": {"phone": "77"}, "then": "fail"})
    assert str(error.value).splitlines() == [
        '$.then: "fail" is not a result; legal: ' + ", ".join(WAYS) + '; did you mean "failed"?',
        '$.when.phone: "77" is not a phone number: 8 to 15 digits with an assigned calling code (A14)',
    ]
    with pytest.raises(ScenarioError, match=r"^\$: \[1\] is not a rule such as \{then: delivered\}"):
        compile_rule("attempts", [1])  # type: ignore[arg-type] # what a client may post
    rule = compile_rule("attempts", {"when": {"phone": "905 123 456"}, "then": "sent"}, country="421")
    assert rule.when.pattern("phone") == Pattern("421905123456", digits=True)
