"""Expectations and verdicts: counted by hand over the story of `tests/told.py`, and worded as in `verdicts.txt`."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import yaml

from sendbox.engine.durations import DAY
from sendbox.engine.expect.verdict import lines
from sendbox.engine.faults.answers import Status
from sendbox.engine.faults.calls import ApiRule, Applied
from sendbox.engine.journal import CODE
from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.playing import play
from sendbox.services.account import orders
from sendbox.services.account.account import Account
from tests.core.faulty import fault, run
from tests.core.observed import occurrences, verdict, verdict_in_slices
from tests.core.worlds import PHONE, advance, go_back, make_world, send_one
from tests.scenarios import load
from tests.told import told

_CASE: Final = re.compile(
    r"^### (?P<id>\S+)\n(?P<text>.*?)^--->\n(?P<expected>.*?)(?=\n### |\Z)", re.DOTALL | re.MULTILINE
)
GOLDEN: Final = Path(__file__).parent / "verdicts.txt"
CASES: Final = {
    match["id"]: (match["text"], match["expected"].splitlines()) for match in _CASE.finditer(GOLDEN.read_text("utf-8"))
}


def judged(*entries: dict[str, Any]) -> dict[str, Any]:
    """The verdict on some entries over the story."""
    return verdict(told(), load({"sendbox": 1, "extends": "default", "expect": list(entries)}).expect)


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_what_a_verdict_says(text: str, expected: list[str]) -> None:
    """Which expectation failed, what came nearest, and why it did not count."""
    assert lines(judged(*yaml.safe_load(text))) == expected


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("that", "where", "count"),
    [
        # two at 09:00, one at 09:01, two at 09:02, the validation and the code at 09:03
        ("requests", {}, 7),
        ("requests", {"operation": "sendMessage"}, 5),
        ("requests", {"operation": ["createValidation", "verifyCode"]}, 2),
        ("requests", {"status": 400}, 2),
        ("requests", {"status": "<400"}, 5),
        ("requests", {"status": "200..299", "path": "/v2/*"}, 4),
        ("requests", {"finding": "required"}, 1),
        ("requests", {"advice": "unknown-field"}, 1),
        ("requests", {"body": "*Hello*", "method": "POST"}, 1),
        ("requests", {"key": "test-2"}, 0),
        # to 101, 102, 107, 109 and the SMS of the validation to 113
        ("messages", {}, 5),
        ("messages", {"result": "delivered"}, 3),
        ("messages", {"channel": "sms"}, 5),
        ("messages", {"result": ["undelivered", "failed"]}, 2),
        ("messages", {"tag": "otp"}, 2),
        ("messages", {"payload": {"order.id": 17, "order.who": "J*"}}, 1),
        ("messages", {"payload": {"order.id": [16, 18]}}, 0),
        ("messages", {"payload": {"order.who.name": "Jana"}}, 0),
        ("messages", {"attempts": ">1"}, 0),
        ("messages", {"attempts": "<=1"}, 5),
        ("messages", {"operation": "createValidation"}, 1),
        ("messages", {"rule": "undelivered"}, 1),
        ("attempts", {"channel": "sms", "attempt": 1}, 5),
        ("attempts", {"channel": "chatapp"}, 0),
        ("attempts", {"refused": "*"}, 0),
        # sending, sent, and an end for each of five attempts
        ("transitions", {}, 15),
        ("transitions", {"result": "delivered"}, 3),
        ("transitions", {"info": "[1]*"}, 2),
        # of 101 and 102 three batches of two; of 107 and 109 three and a reply each; of 113 none (A73)
        ("deliveries", {}, 11),
        ("deliveries", {"events": 2}, 3),
        ("deliveries", {"status": 200, "tries": 1, "state": "delivered"}, 11),
        ("deliveries", {"phone": "420777000101", "result": "delivered"}, 1),
        ("events", {}, 14),
        ("events", {"type": "incomingReplyMessage"}, 2),
        ("events", {"gateway": "sms", "phone": "42077700010?"}, 14),
        ("events", {"result": "undelivered"}, 1),
        ("inbound", {}, 2),
        ("inbound", {"reply": True, "body": ["YES", "STOP"]}, 2),
        ("inbound", {"reply": False}, 0),
        ("opt_outs", {"phone": "420777000109"}, 1),
        ("clicks", {}, 0),
        ("codes", {"state": "pending", "attempts": 1, "sms": "undelivered"}, 1),
        ("validations", {}, 2),
        ("validations", {"event": "code_wrong"}, 1),
        ("templates", {}, 0),
        ("signups", {}, 0),
        ("orders", {}, 0),
        ("faults", {}, 0),
    ],
    ids=str,
)
def test_counts(that: str, where: dict[str, Any], count: int) -> None:
    """As many count as were counted by hand."""
    found = judged({"that": that, **({"where": where} if where else {}), "count": count})
    assert (found["passed"], found["expectations"][0]["found"]) == (True, count)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({}, 3),
        ({"fault": "drop"}, 1),
        ({"fault": ["status", "stale"], "phone": PHONE}, 2),
        ({"phone": "420777000102"}, 0),
        ({"rule": "a receipt*"}, 1),
        ({"rule": "*fault*stale*"}, 1),
        ({"operation": "sendMessage"}, 1),
        ({"operation": "*", "fault": "drop"}, 0),
    ],
    ids=str,
)
def test_faults_of_calls_and_of_webhooks(where: dict[str, Any], count: int) -> None:
    """Both kinds are counted: by what they did, to whom, to which call, and by the rule, or its text without a name."""
    found = verdict(
        _faulty(), load({"sendbox": 1, "expect": [{"that": "faults", "where": where, "count": count}]}).expect
    )
    assert lines(found)[0] == "verdict: the expectation holds"


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({}, 3),
        ({"service": "sender_sms_*", "state": ["new", "active"]}, 3),
        ({"subject": "Acme", "period": "month", "currency": "EUR", "state": "active", "fee": ">0"}, 1),
        ({"fee": "<1"}, 0),
    ],
    ids=str,
)
def test_orders_are_counted_by_the_states_they_enter(where: dict[str, Any], count: int) -> None:
    """One that is active at once enters one state, one that takes time two; a miss names what came nearest."""
    world = make_world()
    account = Account.of(world)
    services = orders.services()
    account.orders.place(services["sender_sms_420_alnum"], "Acme", "month", account, b"{}")
    account.orders.place(services["sender_sms_420_simhost"], "420900000001", "year", account, b"{}")
    advance(world, 30 * DAY)
    found = verdict(world, load({"sendbox": 1, "expect": [{"that": "orders", "where": where, "count": count}]}).expect)
    assert lines(found)[0] == "verdict: the expectation holds"
    missed = verdict(world, load({"sendbox": 1, "expect": [{"that": "orders", "where": {"subject": "Acne"}}]}).expect)
    near = [each["what"] for each in missed["expectations"][0]["nearest"]]
    assert near[0] == "order of sender_sms_420_alnum for Acme: active"


def test_a_fault_that_should_not_be_is_shown() -> None:
    """What came nearest says which fault it was, and whose."""
    expected = load({"sendbox": 1, "expect": [{"that": "faults", "count": 0}]}).expect
    near = [each["what"] for each in verdict(_faulty(), expected)["expectations"][0]["nearest"]]
    assert near[0] == 'status on sendMessage, by "busy"'
    assert near[2] == 'drop of delivered, by "a receipt is lost"'


def _faulty() -> World:
    """A call that was refused, and a message of which one webhook comes twice and the next is lost."""
    drop = {"name": "a receipt is lost", "when": {"result": "delivered"}, "fault": "drop"}
    stale = {"when": {"result": "sent"}, "fault": "stale"}
    world = make_world(webhooks=load({"sendbox": 1, "webhooks": [drop, stale]}).webhooks)
    rule = ApiRule(key="r", when=When(), fault=Status(status=503), name="busy")
    world.journal.add(world.now, CODE["fault"], Applied(rule, "sendMessage", "test-1", PHONE, 0, 0, False))
    send_one(world)
    advance(world, 60_000)
    return world


@pytest.mark.parametrize(
    ("entry", "passed"),
    [
        ({"that": "messages"}, True),
        ({"that": "clicks"}, False),
        ({"that": "messages", "at_least": 5}, True),
        ({"that": "messages", "at_least": 6}, False),
        ({"that": "messages", "at_most": 5}, True),
        ({"that": "messages", "at_most": 4}, False),
        ({"that": "clicks", "at_most": 4}, True),
        ({"that": "messages", "at_least": 5, "at_most": 5}, True),
        ({"that": "messages", "count": 0}, False),
        # times: 101 and 102 end at 3 s, the last of all at 3m3s
        ({"that": "messages", "count": 2, "within": "3s"}, True),
        ({"that": "messages", "count": 0, "within": "2999ms"}, True),
        ({"that": "messages", "count": 3, "after": "4s"}, True),
        ({"that": "messages", "count": 3, "before": "2026-03-01T09:01:03Z"}, True),
        # order: YES comes five seconds after the delivery, STOP a minute after that
        ({"that": "inbound", "where": {"body": "YES"}, "then": [{"that": "inbound", "within": "1m"}]}, True),
        ({"that": "inbound", "where": {"body": "YES"}, "then": [{"that": "inbound", "within": "59s"}]}, False),
        ({"that": "inbound", "where": {"body": "STOP"}, "then": [{"that": "inbound"}]}, False),
        ({"that": "inbound", "where": {"body": "STOP"}, "then": [{"that": "opt_outs"}, {"that": "events"}]}, True),
        ({"that": "opt_outs", "then": [{"that": "inbound"}]}, False),
        ({"that": "opt_outs", "then": [{"that": "inbound", "count": 0}, {"that": "requests", "count": 2}]}, True),
        ({"that": "messages", "then": [{"that": "messages", "at_least": 4}]}, True),
        ({"that": "clicks", "at_least": 0, "then": [{"that": "messages", "count": 99}]}, True),
        # two events of one batch follow each other in its order
        ({"that": "events", "where": {"phone": "*01"}, "then": [{"that": "events", "within": 0}]}, True),
        ({"that": "events", "where": {"phone": "*02"}, "then": [{"that": "events", "within": 0}]}, False),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_counts_times_and_order(entry: dict[str, Any], passed: bool) -> None:
    """Counts bound from both sides, times count from the start, a chain goes on from the first that counted."""
    assert judged(entry)["passed"] is passed


def test_what_is_told_of_a_thing() -> None:
    """Every field of every thing of the story can be read, and each thing has its line."""
    world = told()
    for that, thing in SUBJECTS.items():
        for found in occurrences(world, that):
            if found is not None:
                assert thing.line(world, found.record)
                for reading, name in product(thing.readings(world, found), thing.fields):
                    value = reading.of(name)
                    assert value is None or isinstance(value, str | int | bool | tuple | dict)


FAULTY: Final = """
sendbox: 1
api:
  - {name: down, when: {operation: sendMessage, call: 1}, fault: {status: 503}}
  - {when: {operation: showKey}, fault: {delay: 1ms}}
webhooks:
  - {name: lost, when: {result: sent}, fault: drop}
  - {name: gone, when: {result: delivered}, fault: {answer: 500}, times: 1}
traffic:
  - {at: 0s, request: {operation: sendMessage, body: {body: Hello, to: [{phone_number: "420777000101"}]}}}
  - {at: 1s, request: {operation: sendMessage, body: {body: Hello, to: [{phone_number: "420777000102"}]}}}
  - {at: 2s, request: {operation: showKey}}
"""


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("that", "where", "count"),
    [
        # 503 for 101, a delay of showKey; of 102 one event dropped and one try answered
        ("faults", {}, 4),
        ("faults", {"operation": "sendMessage"}, 1),
        ("faults", {"operation": "*"}, 2),
        ("faults", {"fault": "status", "rule": "down", "phone": "420777000101"}, 1),
        ("faults", {"fault": ["delay", "drop"]}, 2),
        ("faults", {"rule": ["lost", "gone"], "phone": "420777000102"}, 2),
        ("faults", {"rule": "*delay*"}, 1),
        ("deliveries", {"state": "dropped"}, 1),
        ("events", {"state": "dropped", "result": "sent"}, 1),
        ("deliveries", {"status": 500}, 1),
    ],
    ids=str,
)
def test_faults_are_counted(that: str, where: dict[str, Any], count: int) -> None:
    """Those of calls and those of webhooks, by hand, with what they did to deliveries."""
    world = play(FAULTY).world
    asked = {"that": that, **({"where": where} if where else {})}
    for wanted in (count, count + 1):
        found = verdict(world, load(f"{FAULTY}expect: {orjson.dumps([{**asked, 'count': wanted}]).decode()}\n").expect)
        assert (found["passed"], found["expectations"][0]["found"]) == (wanted == count, count)


def test_what_is_told_of_a_fault() -> None:
    """Each in a line, for what came nearest."""
    world = play(FAULTY).world
    told = [SUBJECTS["faults"].line(world, found.record) for found in occurrences(world, "faults") if found is not None]
    assert told == [
        'status on sendMessage, by "down"',
        'drop of sent, by "lost"',
        "delay on showKey",
        'answer of delivered, by "gone"',
    ]


def test_a_verdict_pauses_over_a_long_journal() -> None:
    """It is taken in slices, whether much counts or nothing does."""
    world = make_world()
    for _ in range(200):
        send_one(world)
    advance(world, 10_000)
    expected = load({"sendbox": 1, "expect": [{"that": "transitions"}, {"that": "clicks", "count": 0}]}).expect
    assert sum(1 for _ in verdict_in_slices(world, expected)) > 10


def test_expectations_survive_a_restore() -> None:
    """A restored world is judged by what it was opened with."""
    blueprint = load({"sendbox": 1, "expect": [{"that": "messages", "where": {"phone": "4207*"}}]})
    world = make_world(expect=blueprint.expect)
    send_one(world)
    before = verdict(world)
    go_back(world)
    assert world.expect == blueprint.expect
    assert verdict(world) == before


def test_an_event_counts_once() -> None:
    """However often it is sent, by a fault too; each batch is a delivery of its own."""
    world = run(fault("duplicate", result=("sent",), copies=2, id="new"), fault("stale", result=("delivered",)))
    for that, where, count in (("events", {"result": "sent"}, 1), ("events", {}, 3), ("deliveries", {}, 6)):
        expected = load({"sendbox": 1, "expect": [{"that": that, "where": where, "count": count}]}).expect
        assert verdict(world, expected)["passed"], (that, where)
