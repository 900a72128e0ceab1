"""Advice on accepted messages, where it is due and where it is not; docs/advice has a test for each code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from sendbox.engine.polling import MANY

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PINNED = {"start": "2026-03-01T09:00:00Z"}
TEMPLATE = {"template_name": "otp", "language": "en", "sender": "109876543210987"}


def advised(sandbox: Sandbox, **fields: Any) -> list[tuple[str, str]]:
    """(code, path) of the advice on a message."""
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello", **fields}
    with httpx.Client(transport=sandbox.transport) as client:
        answer = client.post(f"{sandbox.base_url}/message", headers={"x-api-key": sandbox.api_key}, json=message)
    assert answer.status_code == 200, answer.text
    return [(each.code, each.path) for each in sandbox.advice]


ONE = "\u2019"
LONG = "a" * 100


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"body": LONG}, []),
        ({"body": LONG + ONE}, [("unicode-by-one-character", "$.body")]),
        ({"body": LONG + ONE + "č"}, []),
        ({"body": "a" * 161}, [("one-character-over", "$.body")]),
        ({"body": "č" * 71}, [("unicode-by-one-character", "$.body")]),
        ({"body": "čď" * 35 + "č"}, [("one-character-over", "$.body")]),
        ({"body": "a" * 200}, []),
        ({"flow": [{"sms": {"body": LONG + ONE}}]}, [("unicode-by-one-character", "$.flow[0].sms.body")]),
        ({"flow": [{"sms": {"body": LONG + ONE, "type": "sms"}}]}, []),
        ({"flow": [{"sms": {"body": "a" * 161, "type": "sms"}}]}, [("one-character-over", "$.flow[0].sms.body")]),
        ({"body": "a" * 161, "params": {"_url": {}}}, []),
        ({"to": [{"phone_number": "+420 612 345 678"}]}, ["number-converted", "number-doubtful"]),
        ({"flow": [{"sms": {"ttl": 0.5}}, {"sms": {}}]}, []),
        ({"delivery_time": {"start": "08:00"}}, []),
        ({"flow": [{"chatapp_template": TEMPLATE | {"params": ["x" * 900]}}]}, ["sender-not-registered"]),
        (
            {"flow": [{"chatapp_template": TEMPLATE | {"params": ["x" * 950]}}]},
            ["sender-not-registered", "template-near-limit"],
        ),
        (
            {"flow": [{"chatapp_template": TEMPLATE | {"params": ["x" * 1000]}}]},
            ["sender-not-registered", "template-near-limit"],
        ),
        ({"flow": [{"chatapp_template": TEMPLATE | {"template_name": "none"}}]}, ["sender-not-registered"]),
    ],
)
@pytest.mark.sendbox(clock=PINNED)
def test_advice_on_messages(sendbox: Sandbox, fields: dict[str, Any], expected: list[Any]) -> None:
    """Each remark comes where it is due, with its path, and only there."""
    found = advised(sendbox, **fields)
    assert [
        pair if isinstance(each, tuple) else pair[0] for pair, each in zip(found, expected, strict=True)
    ] == expected


SLOW = {"sendbox": 1, "name": "slow", "assume": {"timing": {"sent": "40s", "delivered": "1m", "seen": "1m"}}}


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        ({"richmsg": {"ttl": 0.5, "ttl_condition": "sent", "sender": "Acme"}}, "0.666667"),
        ({"richmsg": {"ttl": 1.5, "ttl_condition": "delivered", "sender": "Acme"}}, "1.66667"),
        ({"richmsg": {"ttl": 2, "ttl_condition": "seen", "sender": "Acme"}}, "2.66667"),
        ({"sms": {"ttl": 0.5}}, "0.666667"),
    ],
)
@pytest.mark.sendbox(scenario=SLOW)
def test_a63_a_ttl_that_is_too_short(sendbox: Sandbox, step: dict[str, Any], needed: str) -> None:
    """It is held against the timing of the world, up to the condition it waits for; a last step's is not."""
    advised(sendbox, flow=[step, {"sms": {}}])
    (advice,) = [each for each in sendbox.advice if each.code == "ttl-too-short"]
    assert f"shorter than {needed}" in advice.message


def test_s6_a_callback_of_the_message_s_own(sendbox: Sandbox) -> None:
    """Nobody is missed where a callback is given, or a default is set, or the built-in receiver stands in."""
    sendbox.load({"sendbox": 1, "name": "deaf", "account": {"default_callback_url": None}})
    assert advised(sendbox, callback="http://127.0.0.1:9/hook") == []
    assert advised(sendbox) == [("callback-missing", "$.callback")]
    sendbox.set_account(default_callback_url="http://127.0.0.1:9/hook")
    assert advised(sendbox) == [("callback-missing", "$.callback")]


def window(sandbox: Sandbox) -> list[str]:
    return [code for code, _ in advised(sandbox, delivery_time={"start": "08:00"})]


def test_s2_1_an_open_start(sendbox: Sandbox) -> None:
    """A window in a world that starts now draws advice; one that is always open does not."""
    assert advised(sendbox, delivery_time={"tz": "Europe/Prague"}) == []
    assert window(sendbox) == ["start-not-pinned"]
    sendbox.reset()
    assert window(sendbox) == ["start-not-pinned"]
    sendbox.load({"sendbox": 1, "name": "pinned", "clock": {"start": "2026-03-01T09:00:00Z"}})
    assert window(sendbox) == []


@pytest.mark.sendbox(clock="real")
def test_s2_1_a_real_clock_is_what_was_asked_for(sendbox: Sandbox) -> None:
    """Nothing is remarked where the world's time is the machine's."""
    assert window(sendbox) == []


@pytest.mark.parametrize("library", ["freezegun", "time_machine"])
def test_s2_1_a_frozen_test_pins_the_start(sendbox: Sandbox, library: str) -> None:
    """A world that opens under a frozen clock starts at the same instant in each run."""
    module = pytest.importorskip(library)
    freeze = module.freeze_time if library == "freezegun" else module.travel
    with freeze("2026-03-01 09:00:00"):
        assert window(sendbox) == []


def test_a84_promotional_hours(sendbox: Sandbox) -> None:
    """They look at the hour too, for promotional messages."""
    sendbox.load({"sendbox": 1, "name": "hours", "assume": {"promotional_window": "08:00-20:00"}})
    assert advised(sendbox, tag="transactional") == []
    assert advised(sendbox) == [("start-not-pinned", "$.tag")]


def test_s4_4_the_day_of_a_list(sendbox: Sandbox) -> None:
    """So does the day that rows are asked for."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        client.get(f"{sendbox.rest_url}/messages?date=2026-03-01")
    assert [(each.code, each.path) for each in sendbox.advice] == [("start-not-pinned", "$.date")]


@pytest.mark.sendbox(clock=PINNED)
def test_polling_while_the_clock_stands(sendbox: Sandbox) -> None:
    """It is remarked on once a world; a clock that moves on in between is no matter."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        for _ in range(MANY):
            client.get(f"{sendbox.rest_url}/message?id=none")
            sendbox.advance("1s")
        assert sendbox.advice == []
        for _ in range(2 * MANY):
            client.get(f"{sendbox.rest_url}/message?id=none")
    assert [each.code for each in sendbox.advice] == ["polling-stopped-clock"]


def test_advice_on_a_line_of_a_bulk_file(sendbox: Sandbox) -> None:
    """A line of a bulk file is advised on as a message is."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        asked = {"bulk_id": "b", "filetype": "jsonl"}
        url = client.post(f"{sendbox.rest_url}/messaging/url", json=asked).json()["url"]
        line = b'{"to": [{"phone_number": "42077700010"}], "body": "Hello", "sender": "Acme"}'
        client.put(url, content=line, headers={"content-type": "application/jsonl"})
    sendbox.settle()
    assert [each.code for each in sendbox.advice] == ["number-doubtful", "sender-not-registered"]


@pytest.mark.parametrize("path", ["/Send", "/v1/validations"])
def test_numbers_that_look_wrong_elsewhere(sendbox: Sandbox, path: str) -> None:
    """The legacy and the Verify interface say the same of a number."""
    with httpx.Client(transport=sendbox.transport, base_url=sendbox.origin) as client:
        if path == "/Send":
            client.post(path, data={"apikey": sendbox.api_key, "number": "42077700010", "message": "x"})
        else:
            client.post(path, headers={"x-api-key": sendbox.api_key}, json={"phoneNumber": "42077700010"})
    assert [each.code for each in sendbox.advice] == ["number-doubtful"]
