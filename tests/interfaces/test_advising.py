"""Advice on accepted messages, where it is due and where it is not; docs/advice has a test for each code."""

from __future__ import annotations

import contextlib
import gzip
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from sendbox.engine.commands.record import MANY

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


def test_a84_hours_outside_the_delivery_time(sendbox: Sandbox) -> None:
    """A promotional message whose window has no time in common with the hours goes in its window, with advice."""
    hours = {"hours": "08:00-20:00", "countries": ["CZ"]}
    sendbox.load({"sendbox": 1, "name": "hours", "assume": {"promotional_window": hours}})
    late, common = {"start": "21:00", "end": "22:00"}, {"start": "19:00", "end": "22:00"}
    never = ("hours-never-met", "$.delivery_time")
    for fields in ({"tag": "transactional"}, {"to": [{"phone_number": "421900000001"}]}, {"delivery_time": common}):
        assert never not in advised(sendbox, **{"delivery_time": late, **fields})
    assert never in advised(sendbox, delivery_time=late)


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


@pytest.mark.parametrize(
    ("fault", "again"),
    [
        ("timeout", True),
        ({"status": 500}, True),
        ("bad_json", True),
        ({"disconnect": "middle"}, True),
        ("reset", True),
        ({"delay": "1s"}, False),
        ({"trickle": "1s"}, False),
    ],
    ids=str,
)
@pytest.mark.sendbox(clock=PINNED)
def test_the_same_call_again_after_a_lost_answer_is_remarked_on(sendbox: Sandbox, fault: Any, again: bool) -> None:
    """Only where the first call had its effect and the client got no good answer."""
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello", "callback": "http://127.0.0.1:1/a"}
    sendbox.fault(fault, processed=True, times=1)
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        with contextlib.suppress(httpx.TransportError):
            client.post(f"{sendbox.base_url}/message", json=message)
        client.post(f"{sendbox.base_url}/message", json={**message, "body": "Other"})
        client.post(f"{sendbox.base_url}/message/priority", json=message)
        assert sendbox.advice == []
        client.post(f"{sendbox.base_url}/message", json={**message, "callback": "http://127.0.0.1:1/b"})
    assert [each.code for each in sendbox.advice] == (["sent-again"] if again else [])
    if again:
        accepted = "the same sendMessage was accepted at 2026-03-01T09:00:00.000Z, though its answer was lost"
        assert sendbox.advice[0].message == f"{accepted}; what it sends is sent twice now"


def test_a_call_without_effect_may_come_again(sendbox: Sandbox) -> None:
    """Neither one that a fault kept from its effect, nor one that was refused, nor one that sends nothing."""
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}
    sendbox.fault("timeout", times=1)
    sendbox.fault({"status": 500}, when={"operation": "optout"}, processed=True, times=1)
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        for _ in range(2):
            with contextlib.suppress(httpx.TransportError):
                client.post(f"{sendbox.base_url}/message", json=message)
            client.post(f"{sendbox.origin}/v1/optout", json={"to": "420777000109"})
        sendbox.fault({"status": 500}, processed=True, times=1)
        client.post(f"{sendbox.base_url}/message", json={"to": []})
        client.post(f"{sendbox.base_url}/message", json={"to": []})
    assert sendbox.advice == []


#: A refused call of each interface with a field that no operation has.
REFUSED = {
    "sending": ("POST", "/v2/message", {"json": {"to": [], "bdy": "Hello"}}),
    "sending, deeper": (
        "POST",
        "/v2/message",
        {"json": {"to": [{"phone_number": "1"}], "body": 5, "flow": [{"sms": {"bdy": "Hello"}}]}},
    ),
    "sending, several": ("POST", "/v2/messages", {"json": [{"to": [], "bdy": "Hello"}]}),
    "simple": ("POST", "/v2/simple/message", {"data": {"phone_number": "420777000101", "bdy": "Hello"}}),
    "legacy": ("POST", "/Send", {"data": {"number": "420777000101", "bdy": "Hello"}}),
    "rest": ("POST", "/v1/optout", {"json": {"bdy": "Hello"}}),
    "rest, wrong": ("POST", "/v1/optout", {"json": {"to": 5, "bdy": "Hello"}}),
    "rest, query": ("GET", "/v1/messages", {"params": {"bdy": "Hello"}}),
    "verify": ("POST", "/v1/validations", {"json": {"bdy": "Hello"}}),
    "partner": ("POST", "/v1/chatapp/templates/list", {"json": {"bdy": "Hello"}}),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a57_unknown_fields_of_a_refused_call_are_remarked_on(sendbox: Sandbox, case: Any) -> None:
    """A misspelled field is often the reason of the refusal."""
    method, path, content = case
    if path == "/Send":
        content = {"data": {**content["data"], "apikey": sendbox.api_key}}
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        answer = client.request(method, f"{sendbox.origin}{path}", **content)
    assert answer.status_code >= 400, answer.text
    (remark,) = (each for each in sendbox.advice if each.code == "unknown-field")
    assert remark.path.endswith(".bdy")


_TO = [{"phone_number": "420777000101"}]
#: A call of each interface that is legal but for a field that no operation has; its status, and the place of the field.
EXTRA = {
    "sending": ("POST", "/v2/message", {"json": {"to": _TO, "body": "Hello", "bdy": 1}}, 400, "$.bdy"),
    "sending, step": (
        "POST",
        "/v2/message",
        {"json": {"to": _TO, "body": "Hello", "flow": [{"sms": {"bdy": 1}}]}},
        400,
        "$.flow[0].sms.bdy",
    ),
    "sending, callback": (
        "POST",
        "/v2/message",
        {"json": {"to": _TO, "body": "Hello", "callback": {"url": "https://a.example/b", "bdy": 1}}},
        400,
        "$.callback.bdy",
    ),
    "sending, several": ("POST", "/v2/messages", {"json": [{"to": _TO, "body": "Hello", "bdy": 1}]}, 400, "$[0].bdy"),
    "simple": (
        "POST",
        "/v2/simple/message",
        {"data": {"number": "420777000101", "message": "x", "bdy": 1}},
        400,
        "$.bdy",
    ),
    "simple, query": (
        "GET",
        "/v2/simple/message",
        {"params": {"number": "420777000101", "message": "Hello", "bdy": 1}},
        200,
        "$.bdy",
    ),
    "legacy": ("POST", "/Send", {"data": {"number": "420777000101", "message": "Hello", "bdy": 1}}, 400, "$.bdy"),
    "rest": ("POST", "/v1/optout", {"json": {"to": "420777000101", "bdy": 1}}, 400, "$.bdy"),
    "rest, query": ("GET", "/v1/message", {"params": {"id": "x", "bdy": 1}}, 400, "$.bdy"),
    "verify": ("POST", "/v1/validations", {"json": {"phoneNumber": "420777000101", "bdy": 1}}, 400, "$.bdy"),
    "partner": ("POST", "/v1/chatapp/accounts/list", {"json": {"bdy": 1}}, 400, "$.bdy"),
}


@pytest.mark.sendbox(scenario={"sendbox": 1, "assume": {"unknown_fields": "refuse"}})
@pytest.mark.parametrize("case", EXTRA.values(), ids=EXTRA)
def test_a57_unknown_fields_may_be_refused(sendbox: Sandbox, case: Any) -> None:
    """With `unknown_fields: refuse` the call is a 400 that names the field and the nearest one, and nothing is done."""
    method, path, content, status, place = case
    if path == "/Send":
        content = {"data": {**content["data"], "apikey": sendbox.api_key}}
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        answer = client.request(method, f"{sendbox.origin}{path}", **content)
    assert answer.status_code == status, answer.text
    (entry,) = sendbox.requests
    (finding,) = entry.findings
    assert (finding.path, finding.rule, finding.assumed) == (place, "unknown-field", "A57")
    assert "effect" not in finding.message
    assert sendbox.messages() == []
    assert sendbox.advice == []


@pytest.mark.parametrize("path", ["/v2/message", "/v2/simple/message", "/Send"])
def test_a_compressed_body_is_named_as_such(sendbox: Sandbox, path: str) -> None:
    headers = {"x-api-key": sendbox.api_key, "content-encoding": "gzip"}
    headers["content-type"] = "application/json" if path == "/v2/message" else "application/x-www-form-urlencoded"
    with httpx.Client(transport=sendbox.transport, headers=headers) as client:
        answer = client.post(f"{sendbox.origin}{path}", content=gzip.compress(b"{}"))
    if path == "/Send":  # its key stands in the body, so that no world is found
        assert answer.text == "ERROR|103"
    else:
        assert (answer.status_code, "compressed with gzip" in answer.text) == (400, True)
