"""`expect:` compiles, and its schema is the table of things."""

from __future__ import annotations

import pytest

from sendbox.engine.durations import Moment
from sendbox.engine.expect.expectation import Condition, Expectation, Range
from sendbox.engine.texts import Pattern
from sendbox.language import SUBJECTS
from sendbox.scenario.shape import schema
from tests.scenarios import load


def test_the_schema_has_what_the_table_has() -> None:
    """Every kind of thing and every field, and no other."""
    parts = schema()["$defs"]
    for title in ("expectation", "following"):
        assert parts[title]["properties"]["that"]["$ref"] == "#/$defs/thing"
    assert sorted(parts["thing"]["enum"]) == sorted(SUBJECTS)
    fields = dict.fromkeys(field for thing in SUBJECTS.values() for field in thing.fields)
    words = dict.fromkeys(word for thing in SUBJECTS.values() for word in thing.words)
    assert sorted(parts["where"]["properties"]) == sorted([*fields, *words, "hours", "not"])


@pytest.mark.parametrize("field", sorted({name for thing in SUBJECTS.values() for name in thing.fields}))
def test_the_schema_says_what_the_table_says(field: str) -> None:
    """An editor shows the sentence of the table, for each kind of thing that has the field."""
    said = schema()["$defs"]["where"]["properties"][field]["description"]
    for thing in SUBJECTS.values():
        if field in thing.fields:
            assert thing.fields[field].says.lower() in said.lower()


def test_an_expectation_compiles() -> None:
    """With all that it may say."""
    text = """
sendbox: 1
expect:
  - name: all of it
    that: messages
    where: {phone: "777 000 101", channel: [sms, chatapp], attempts: [2, ">3", "<9"], payload: {order.id: [7, "x*"]}}
    at_least: 2
    at_most: 3
    within: 5m
    after: 1s
    before: "2026-03-01T09:00:00Z"
    then: [{that: inbound, where: {reply: true}, at_most: 1, within: 2s}]
"""
    assert load(text, name="a.yaml").expect == (
        Expectation(
            "messages",
            (
                Condition("phone", (Pattern("420777000101", digits=True),)),
                Condition("channel", ("sms", "chatapp"), means=("chatapp_text", "chatapp_template")),
                Condition("attempts", (Range("2", 2, 2), Range(">3", 4, None), Range("<9", None, 8))),
                Condition("payload", (7, Pattern("x*")), ("order", "id")),
            ),
            2,
            3,
            300_000,
            Moment(1000, True),
            Moment(1_772_355_600_000, False),
            (Expectation("inbound", (Condition("reply", (True,)),), None, 1, 2000, place="a.yaml:12"),),
            "all of it",
            "a.yaml:4",
        ),
    )


@pytest.mark.parametrize(
    ("given", "bounds", "wanted"),
    [
        ({}, (1, None), "at least 1"),
        ({"count": 0}, (0, 0), "none"),
        ({"count": 2}, (2, 2), "exactly 2"),
        ({"at_least": 0}, (0, None), "at least 0"),
        ({"at_most": 2}, (None, 2), "at most 2"),
        ({"at_least": 1, "at_most": 2}, (1, 2), "at least 1 and at most 2"),
    ],
    ids=str,
)
def test_how_many(given: dict[str, int], bounds: tuple[int | None, int | None], wanted: str) -> None:
    """At least one, unless something else is said."""
    (found,) = load({"sendbox": 1, "expect": [{"that": "messages", **given}]}).expect
    assert ((found.low, found.high), found.expected_count) == (bounds, wanted)


def test_groups_that_must_not_hold() -> None:
    """A list of groups, as in `when`: none of them may hold."""
    text = "sendbox: 1\nexpect: [{that: messages, where: {not: [{tag: x}, {tag: y, channel: sms}]}}]\n"
    (expectation,) = load(text).expect
    assert [condition.text for condition in expectation.where] == [
        'not (tag "x")',
        'not (tag "y" and channel "sms")',
    ]


def test_expectations_of_a_scenario_that_is_built_on_come_after() -> None:
    """Lists are joined, those of the scenario itself first."""
    assert load({"sendbox": 1, "extends": "default", "expect": [{"that": "clicks"}]}).expect[0].that == "clicks"
