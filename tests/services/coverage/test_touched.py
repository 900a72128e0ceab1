"""Limits that a request touches: at the bound, and over it; one below does not (§8)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.coverage.limits import limits_of
from tests.core.worlds import START

TO = {"phone_number": "420777000101"}
SOON = "2026-03-01T09:01:00Z"
LATER = "2026-03-01T09:01:00.001"


def flow(**step: Any) -> dict[str, Any]:
    return {"flow": [{"sms": step}]}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"to": [TO] * 9}, []),
        ({"to": [TO] * 10}, ["10 recipients a message"]),
        ({"to": [TO] * 11}, ["10 recipients a message"]),
        ({"to": "420777000101"}, []),
        ({"body": "x" * 999}, []),
        ({"body": "x" * 1000}, ["body of 1000 characters"]),
        (flow(body="x" * 1001), ["body of 1000 characters"]),
        ({"sender": "TenLetters"}, []),
        ({"sender": "ElevenChars"}, ["sender of 11 characters"]),
        ({"sender": "420900000001"}, []),
        (flow(ttl=0.51), []),
        (flow(ttl=0.5), ["ttl of 0.5 minutes"]),
        (flow(ttl=0.4), ["ttl of 0.5 minutes"]),
        (flow(ttl="0.5"), []),
        (flow(buttons=[{}]), ["1 button"]),
        (flow(template_name="t" * 99), []),
        (flow(template_name="t" * 100), ["template_name of 100 characters"]),
        ({"datetime": SOON}, []),
        ({"datetime": LATER}, ["scheduled over a minute ahead"]),
        ({"datetime": f"{LATER}Z"}, ["scheduled over a minute ahead"]),
        ({"datetime": "tomorrow"}, []),
        ({"flow": ["sms", {"sms": "now"}]}, []),
        (None, []),
    ],
)
def test_s8_limits_of_a_message(message: Any, expected: list[str]) -> None:
    """§8: what is at a bound or over it has touched it; what is no message touches nothing."""
    assert list(limits_of("sendMessage", message, START)) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"to": [TO]}] * 9, []),
        ([{"to": [TO]}] * 10, ["10 messages a call"]),
        ([{"to": [TO] * 9}] * 12, ["10 messages a call", "100 recipients a call"]),
        ([None, {"ttl": 0.5}], ["ttl of 0.5 minutes"]),
        ({"to": [TO] * 10}, []),
    ],
)
def test_s8_limits_of_a_call(messages: Any, expected: list[str]) -> None:
    """§8: messages of a call, and recipients of all of them together."""
    assert list(limits_of("sendMessages", messages, START)) == expected


def test_other_operations_touch_none_of_these() -> None:
    """An operation that sends no Message has no such limits."""
    assert list(limits_of("blacklist", {"to": [TO] * 10}, START)) == []
