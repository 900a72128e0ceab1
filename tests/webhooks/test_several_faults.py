"""Several faults of one event, played."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.delivery.batches import Outlet, Target
from sendbox.engine.delivery.faults.fault import FaultyDelivery, Spoilt
from sendbox.engine.delivery.faults.several import Several
from sendbox.engine.durations import instant
from sendbox.playing import Played, play
from tests.scenarios import compile_rule

SEND: dict[str, Any] = {
    "at": "0s",
    "request": {"operation": "sendMessage", "body": {"body": "Hello", "to": [{"phone_number": "420777000101"}]}},
}


def tries(played: Played) -> list[tuple[float, str]]:
    """(seconds after the start, result) of every try, in their order."""
    made = {entry["delivery"]: entry["events"] for entry in played.entries if entry["kind"] == "delivery"}
    return [
        ((instant(entry["at"]) - played.world.start) / 1000, event["result"])
        for entry in played.entries
        if entry["kind"] == "try"
        for event in made[entry["delivery"]]
    ]


def told(*faults: Any, **when: Any) -> list[tuple[float, str]]:
    """The tries where these faults meet every event together."""
    rule = {"when": when, "fault": list(faults)}
    return tries(play({"sendbox": 1, "seed": 7, "webhooks": [rule], "traffic": [SEND]}))


TOGETHER: list[tuple[str, list[Any], list[tuple[float, str]]]] = [
    ("late and twice", [{"delay": "1m"}, "duplicate"], [(60, "sending"), (60, "sending"), (61, "sent"), (61, "sent")]),
    ("twice and spoilt", ["duplicate", "bad_signature"], [(0, "sending"), (0, "sending"), (1, "sent"), (1, "sent")]),
    ("late and alone", ["split", {"delay": "1m"}], [(60, "sending"), (61, "sent"), (63, "delivered")]),
    (
        "late and in one batch",
        [{"bundle": "5s"}, {"delay": "1m"}],
        [(65, "sending"), (65, "sent"), (65, "delivered")],
    ),
    (
        "late and the one before again",
        [{"delay": "1m"}, {"stale": "2s"}],
        [(0, "sending"), (61, "sent"), (63, "delivered"), (63, "sending"), (65, "sent")],
    ),
    (
        "late and with the one before",
        [{"delay": "1m"}, "repeat"],
        [(0, "sending"), (61, "sending"), (61, "sent"), (63, "sent"), (63, "delivered")],
    ),
    ("lost and alone", ["drop", "split"], []),
    ("in one batch and spoilt", [{"bundle": "5s"}, {"content_type": "text/plain"}], [(5, "sending"), (5, "sent")]),
]


@pytest.mark.parametrize(("faults", "expected"), [each[1:] for each in TOGETHER], ids=[each[0] for each in TOGETHER])
def test_faults_that_meet_an_event_together(faults: list[Any], expected: list[tuple[float, str]]) -> None:
    """Each does what it does alone, the delay first."""
    found = told(*faults)
    assert found[: len(expected)] == expected
    assert bool(found) is bool(expected)


def test_late_and_out_of_order() -> None:
    """The events of the window come in another order, and all of them late."""
    found = told({"reorder": "5s"}, {"delay": "10m"})
    assert [at for at, _ in found] == [605] * 3
    assert [result for _, result in found] != ["sending", "sent", "delivered"]


def test_a_delay_is_drawn() -> None:
    """It may have a span where nothing else is drawn."""
    (first, _), *_ = told({"delay": "10s..50s"}, "duplicate", result="sent")
    assert 0 <= first <= 51


def test_what_is_said_of_several_faults() -> None:
    """Their text, what they spoil, their remarks, what is still to come; equal ones are equal."""
    source = {"fault": ["bad_signature", {"delay": "10s"}, {"content_type": "text/plain"}, {"reformat": "order"}]}
    rule, again = (compile_rule("webhooks", source) for _ in range(2))
    fault = rule.fault
    assert isinstance(fault, Several)
    assert (fault.text, fault.kind) == (
        "bad_signature and delay 10s and content_type text/plain and reformat order",
        "bad_signature",
    )
    assert rule.key == f'{{"fault":"{fault.text}","when":{{}}}}'
    assert (fault == again.fault, hash(fault) == hash(again.fault), fault == 1) == (True, True, False)
    assert fault.spoilt == Spoilt("text/plain", bad_signature=True, way="order")
    said = fault.note(Target("http://a.example", method="GET"))
    assert said is not None
    assert said.count("; ") == 1
    assert fault.note(Target("http://a.example", secret="s")) is None
    waiting = FaultyDelivery(0, Outlet(Target(""), builtin=True), (), 0, rule)
    assert fault.upcoming(waiting) == f"is sent, {fault.text}"
    assert compile_rule("webhooks", {"fault": ["drop", "bad_signature"]}).fault.upcoming(waiting) is None
    waiting.state = "delivered"
    assert fault.upcoming(waiting) is None
    twice = compile_rule("webhooks", {"fault": ["duplicate", "bad_signature"]})
    assert twice.fault.upcoming(FaultyDelivery(0, waiting.outlet, (), 0, twice)) == "is sent again,"


def test_a_held_batch_is_not_sent_late() -> None:
    """What was dropped meanwhile by a reset of the world or released by hand is not sent again by the delay."""
    rule = compile_rule("webhooks", {"fault": [{"delay": "10s"}, "duplicate"]})
    sent = FaultyDelivery(0, Outlet(Target(""), builtin=True), (), 0, rule)
    sent.state = "delivered"
    rule.fault.due(None, sent, "delayed")  # nothing is asked of its way


def test_an_event_that_comes_with_a_newer_one_counts_once() -> None:
    """Each event of a message is expected once, however often it came."""
    expected = {"name": "once", "that": "events", "count": 3}
    played = play({"sendbox": 1, "webhooks": [{"fault": "repeat"}], "traffic": [SEND], "expect": [expected]})
    assert played.passed
    assert [result for _, result in tries(played)] == ["sending", "sending", "sent", "sent", "delivered"]


def test_coverage_counts_each_of_them() -> None:
    """Both faults were seen."""
    played = play(
        {"sendbox": 1, "webhooks": [{"fault": [{"delay": "1s"}, "duplicate"]}], "traffic": [SEND],
         "expect": [{"that": "faults", "where": {"fault": "delay"}, "count": 3}]}
    )  # fmt: skip
    assert played.passed
