"""Faults of the interfaces, played: what the sample client sees of each, in no real time, and what can be expected."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.playing import Played, play
from sendbox.playing.rows import rows
from sendbox.services.messaging.messaging import Messaging

PHONE = "420777000101"
SEND = {"operation": "sendMessage", "body": {"body": "Hello", "to": [{"phone_number": PHONE}]}}
LATE = "The read operation timed out"
ENDED = "Server disconnected before its answer was complete"


def spoilt(fault: Any, status: Any, **more: Any) -> Played:
    """One message under a rule of `api`, whose answer is expected to have a status."""
    return play(
        {
            "sendbox": 1,
            "extends": "default",
            "api": [{"name": "trouble", "fault": fault}],
            "traffic": [{"at": "1s", "request": SEND, "expect": {"status": status}}],
            **more,
        }
    )


@pytest.mark.parametrize(
    ("fault", "status", "said", "messages"),
    [
        ({"status": 503}, 503, "503", 0),
        ({"delay": "20s"}, 200, "200 m1", 1),
        ({"delay": "1h"}, "none", LATE, 1),
        ({"trickle": "5m"}, 200, "200 m1", 1),
        ({"trickle": "1h"}, "none", LATE, 1),
        ("timeout", "none", LATE, 0),
        ("disconnect", "none", ENDED, 0),
        ({"disconnect": "middle"}, "none", ENDED, 1),
        ("bad_json", 200, "200 with a body that is not JSON", 1),
        ("garbage", "none", "illegal status line: b'\\x00\\x15\\xff\\xfe this is no HTTP \\x80\\x81\\r\\n\\r\\n'", 1),
    ],
    ids=str,
)
def test_what_the_client_sees(fault: Any, status: Any, said: str, messages: int) -> None:
    """Each fault as httpx would show it to a client that waits thirty seconds, though nobody waits here."""
    played = spoilt(fault, status)
    assert played.passed
    told, _ = rows(played)
    assert [row.narration.answer for row in told if row.narration.what.startswith("sendMessage")] == [said]
    assert sum("fault at sendMessage" in row.narration.what for row in told) == 1
    assert len(Messaging.of(played.world).messages) == messages


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"delay": "2s"}, "delay 2s"),
        ({"disconnect": "middle"}, "disconnect middle, and the call had its effect"),
        ({"status": 500}, "status 500, and the call had no effect"),
    ],
    ids=str,
)
def test_a_fault_says_whether_its_call_had_an_effect(fault: Any, said: str) -> None:
    """Where it could have been otherwise."""
    told, _ = rows(spoilt(fault, 200))
    assert [row.narration.what for row in told if row.narration.what.startswith("fault")] == [
        f'fault at sendMessage: {said}, by "trouble"'
    ]


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({}, 3),
        ({"fault": "delay"}, 1),
        ({"fault": ["duplicate", "drop"]}, 2),
        ({"operation": "sendMessage"}, 1),
        ({"phone": PHONE}, 3),
        ({"phone": "420777000102"}, 0),
        ({"rule": "trouble"}, 1),
        ({"rule": "tr*"}, 2),
    ],
    ids=str,
)
@pytest.mark.sample(2)
def test_faults_can_be_expected(where: dict[str, str], count: int) -> None:
    """Those of calls and those of webhooks, by what struck whom, and by whose rule."""
    webhooks = [
        {"name": "try again", "when": {"result": "sent"}, "fault": "duplicate"},
        {"name": "lost", "when": {"result": "delivered"}, "fault": "drop"},
    ]
    expect = [{"that": "faults", "where": where, "count": count}] if where else [{"that": "faults", "count": count}]
    verdict = spoilt({"delay": "2s"}, 200, webhooks=webhooks, expect=expect).verdict
    assert verdict is not None
    assert verdict["passed"], verdict
    failed = spoilt({"delay": "2s"}, 200, webhooks=webhooks, expect=[{"that": "faults", "count": 0}]).verdict
    assert failed is not None
    assert [near["what"] for near in failed["expectations"][0]["nearest"]] != []
