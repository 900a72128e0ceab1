"""`webhooks:` of a scenario: rules in order, what they ask, and what goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.delivery.faults.requests import SILENCES, Answer, BadSignature, ContentType, Reformat
from sendbox.engine.delivery.faults.ways import Bundle, Delay, Drop, Duplicate, Overtake, Reorder, Repeat, Split, Stale
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Moment, Span, instant
from sendbox.engine.faults.table import DELIVERIES
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.shape import schema
from tests.scenarios import compile_rule, load


def rule(fault: Any = "drop", **more: Any) -> WebhookRule:
    """The one rule of a scenario."""
    (found,) = load({"sendbox": 1, "webhooks": [{"fault": fault, **more}]}).webhooks
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("drop", Drop()),
        ("duplicate", Duplicate()),
        ({"duplicate": {"id": "same"}}, Duplicate()),
        (
            {"duplicate": {"id": "new", "times": 3, "after": "1s..2s"}},
            Duplicate(Span(1_000, 2_000), 3, "new"),
        ),
        ({"delay": "30s"}, Delay(Span(30_000, 30_000))),
        ({"delay": "1s..5s"}, Delay(Span(1_000, 5_000))),
        ("reorder", Reorder(Span(5_000, 5_000))),
        ({"reorder": "1m"}, Reorder(Span(60_000, 60_000))),
        ("split", Split()),
        ({"bundle": "5000ms"}, Bundle(Span(5_000, 5_000))),
        ("bad_signature", BadSignature()),
        ("stale", Stale()),
        ({"stale": "10s"}, Stale(Span(10_000, 10_000))),
        ("repeat", Repeat()),
        ("reformat", Reformat()),
        ({"reformat": "order"}, Reformat("order")),
        ("overtake", Overtake()),
        ({"content_type": "text/plain"}, ContentType("text/plain")),
        ({"answer": 503}, Answer(503)),
        ({"answer": "timeout"}, Answer("timeout")),
    ],
)
def test_faults(given: Any, expected: WebhookFault) -> None:
    """Each word, and each mapping of one key."""
    assert rule(given).fault == expected


def test_the_schema_names_every_fault() -> None:
    """As a word or as a key, and every way in which a try may fail."""
    words, mapping = schema()["$defs"]["oneWebhookFault"]["anyOf"]
    assert {*words["enum"], *mapping["properties"]} == set(DELIVERIES)
    assert tuple(mapping["properties"]["answer"]["anyOf"][1]["enum"]) == SILENCES


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, When()),
        ({"result": "sent"}, When(result=("sent",))),
        ({"result": ["sent", "seen", "sent"]}, When(result=("sent", "seen"))),
        ({"event": "incomingMessage"}, When(event=("incomingMessage",))),
        ({"gateway": "sms"}, When(gateway=("sms",))),
        (
            {"gateway": ["chatapp", "chatapp_text"]},
            When(gateway=("chatapp_text", "chatapp_template", "chatapp")),
        ),
        ({"phone": "777 000 101"}, When(phone=Pattern("420777000101", digits=True))),
        ({"tag": "promo*"}, When(tag=Pattern("promo*"))),
        ({"nth": [2, 4], "per": "phone"}, When(nth=(2, 4), per="phone")),
        ({"share": 0.1}, When(share=0.1)),
        ({"share": "10%"}, When(share=0.1)),
        ({"share": "0.5%"}, When(share=0.005)),
        (
            {"from": "1m", "until": "2026-03-01T09:00:00Z"},
            When(begins=Moment(60_000, relative=True), ends=Moment(instant("2026-03-01T09:00:00Z"), relative=False)),
        ),
    ],
)
def test_conditions(given: dict[str, Any], expected: When) -> None:
    """Words alone or in lists, `chatapp` for all of its kinds, shares in two forms, instants of either kind."""
    assert rule(when=given).when == expected


def test_rules_stand_in_order_and_have_keys() -> None:
    """In the order of the file; a rule is known by its name, or by its text, which its place is not part of."""
    text = """
sendbox: 1
webhooks:
  - {name: lost, fault: drop, times: 2}
  - {when: {phone: "4207*", result: sent}, fault: {delay: 60s}}
"""
    first, second = load(text, name="a.yaml").webhooks
    assert (first.key, first.name, first.times, first.place) == ("lost", "lost", 2, "a.yaml:4")
    assert second.key == '{"fault":"delay 1m","when":{"phone":"4207*","result":["sent"]}}'
    assert (
        second.key
        == compile_rule("webhooks", {"fault": {"delay": "1m"}, "when": {"result": ["sent"], "phone": "4207*"}}).key
    )


def test_a_rule_of_control() -> None:
    """It is checked like one in a file, with paths for places."""
    assert compile_rule("webhooks", {"when": {"phone": "905 123 456"}, "fault": "drop"}, country="421") == WebhookRule(
        key='{"fault":"drop","when":{"phone":"421905123456"}}',
        when=When(phone=Pattern("421905123456", digits=True)),
        fault=Drop(),
    )
    with pytest.raises(ScenarioError) as error:
        compile_rule("webhooks", {"fault": "dropp"})
    assert str(error.value).startswith('$.fault: "dropp" is not a fault that is a word; legal: drop, ')
