"""The diagnosis of refused calls: all findings of every interface, each with what stood at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from sendbox.services.http.requests import steps_of

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

TO = [{"phone_number": "420777000101"}]
JSON = {"content-type": "application/json"}
Found = list[tuple[str, str, str | None]]


def post(path: str, **given: Any) -> dict[str, Any]:
    return {"method": "POST", "url": path, **given}


CASES: list[tuple[str, dict[str, Any], Found]] = [
    (
        "shape and meaning of a message",
        post(
            "/v2/message",
            json={
                "to": [],
                "body": 1,
                "flow": [{"sms": {"ttl": 0.1, "sender": "too long a name"}}, {"richmsg": {"body": "x"}}],
                "datetime": "soon",
                "delivery_time": {"tz": "Nowhere"},
                "params": {"_url": {"domain": "x.example", "type": "none"}},
            },
        ),
        [
            ("$.to", "minItems", "[]"),
            ("$.body", "type", "1"),
            ("$.flow[0].sms.ttl", "minimum", "0.1"),
            ("$.datetime", "pattern", '"soon"'),
            ("$.params._url.type", "enum", '"none"'),
            ("$.flow[0].sms.sender", "sender", '"too long a name"'),
            ("$.flow[1].richmsg.sender", "sender", None),
            ("$.delivery_time.tz", "time-zone", '"Nowhere"'),
            ("$.params._url.domain", "domain", '"x.example"'),
        ],
    ),
    (
        "recipients, steps, callback",
        post(
            "/v2/message",
            json={
                "to": [{"phone": "1"}, 5],
                "flow": [{"smss": {}}, {"sms": {"gateway": "hih"}}, {"sms": {}, "richmsg": {}}],
                "callback": "ftp://x",
            },
        ),
        [
            ("$.to[0].phone_number", "required", None),
            ("$.to[1]", "type", "5"),
            ("$.flow[0]", "additionalProperties", '{"smss":{}}'),
            ("$.flow[1].sms.gateway", "enum", '"hih"'),
            ("$.flow[2]", "maxProperties", '{"sms":{},"richmsg":{}}'),
            ("$.callback", "pattern", '"ftp://x"'),
            ("$.flow[1].sms.body", "body", None),
        ],
    ),
    (
        "a flow that is none",
        post("/v2/message", json={"to": TO, "flow": 1, "datetime": "2026-99-01T09:00:00Z"}),
        [("$.flow", "type", "1"), ("$.datetime", "pattern", '"2026-99-01T09:00:00Z"')],
    ),
    (
        "several messages",
        post("/v2/messages", json=[{"to": TO, "body": "x", "datetime": "never"}, {"to": TO}, 5]),
        [("$[0].datetime", "pattern", '"never"'), ("$[2]", "type", "5"), ("$[1].body", "body", None)],
    ),
    ("not an object", post("/v2/message", json=5), [("$", "type", None)]),
    (
        "more than can be repaired",
        post("/v2/message", json={"to": TO, "body": "x", "params": {"_url": {"expires_at": {}}}, "payload": 5}),
        [("$.params._url.expires_at", "type", "{}"), ("$.payload", "type", "5")],
    ),
    (
        "nothing that stands in makes it legal",
        post("/v2/message", json={"to": TO, "body": "x", "flow": [{"richmsg": {"sender": "A", "buttons": [5]}}]}),
        [("$.flow[0].richmsg.buttons[0]", "type", "5")],
    ),
    (
        "a template without its name",
        post("/v2/message", json={"to": TO, "flow": [{"chatapp_template": {"language": 5, "sender": "x"}}]}),
        [
            ("$.flow[0].chatapp_template.template_name", "required", None),
            ("$.flow[0].chatapp_template.language", "type", "5"),
            ("$.flow[0].chatapp_template.sender", "sender", '"x"'),
        ],
    ),
    ("no JSON", post("/v2/message", content=b"{", headers=JSON), [("$", "json", None)]),
    (
        "a query",
        {"method": "GET", "url": "/v2/simple/message?gateway=x&datetime=soon&callback=no&sender=%2B123"},
        [
            ("$.gateway", "enum", '"x"'),
            ("$.datetime", "pattern", '"soon"'),
            ("$.phone_number", "required", None),
            ("$.message", "required", None),
            ("$.callback", "pattern", '"no"'),
            ("$.sender", "sender", '"+123"'),
        ],
    ),
    (
        "a form",
        post("/v2/simple/message", data={"number": "1", "gateway": "hi", "time": "soon"}),
        [("$.gateway", "enum", '"hi"'), ("$.time", "pattern", '"soon"'), ("$.message", "required", None)],
    ),
    (
        "another content type",
        post("/v2/simple/message", json={}),
        [("header content-type", "content-type", '"application/json"')],
    ),
    (
        "legacy",
        post("/Send", data={"apikey": "KEY", "sender": "+1"}),
        [("$.number", "required", None), ("$.message", "required", None), ("$.sender", "sender", '"+1"')],
    ),
    (
        "a session",
        post("/v1/validations", json={"phoneNumber": "+420", "payload": {"x": 1}}),
        [("$.phoneNumber", "pattern", '"+420"'), ("$.payload.x", "type", "1")],
    ),
    (
        "a code of no session",
        post("/v1/validations/abc/verify", json={"code": 5}),
        [("path", "token", None), ("$.code", "type", "5")],
    ),
    (
        "a code of no session, well formed",
        post("/v1/validations/abc/verify", json={"code": "123456"}),
        [("path", "token", None)],
    ),
    (
        "a day and a sub-account",
        {"method": "GET", "url": "/v1/messages?date=2026-02-31&subid=zz"},
        [("$.date", "date", '"2026-02-31"'), ("$.subid", "subid", '"zz"')],
    ),
    (
        "no such day",
        {"method": "GET", "url": "/v1/messages?date=2026-02-31"},
        [("$.date", "date", '"2026-02-31"')],
    ),
    (
        "a device",
        post("/v1/push/device", json={"token": 5}),
        [("$.id", "required", None), ("$.token", "type", "5")],
    ),
    (
        "a sub-key",
        post("/v1/apikey/add", json={"shared": "yes", "currency": "USD"}),
        [("$.shared", "type", '"yes"'), ("$.currency", "pattern", '"USD"')],
    ),
    (
        "a mode that was removed",
        post("/v1/chatapp/signup", json={"partner_callback_url": "nothing", "phone_number": "automatic"}),
        [("$.phone_number", "removed", '"automatic"'), ("$.partner_callback_url", "pattern", '"nothing"')],
    ),
    (
        "parameters of a template",
        post(
            "/v2/message",
            json={
                "to": TO,
                "flow": [
                    {
                        "chatapp_template": {
                            "template_name": "otp",
                            "language": "en",
                            "sender": "1",
                            "params": ["a", "b"],
                            "params_buttons": ["z"],
                        }
                    }
                ],
            },
        ),
        [
            ("$.flow[0].chatapp_template.params", "count", '["a","b"]'),
            ("$.flow[0].chatapp_template.params_buttons[0]", "count", '"z"'),
        ],
    ),
]


@pytest.mark.parametrize(("call", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_refusal_leaves_all_findings(sendbox: Sandbox, call: dict[str, Any], expected: Found) -> None:
    """The journal has every finding of a call with what stood there; the answer tells of the first."""
    headers = {"x-api-key": sendbox.api_key, **call.pop("headers", {})}
    if "apikey" in call.get("data", {}):
        call["data"]["apikey"] = sendbox.api_key
    with httpx.Client(transport=sendbox.transport, base_url=sendbox.origin) as client:
        client.request(headers=headers, **call)
    (request,) = sendbox.requests
    assert [(each.path, each.rule, each.value) for each in request.findings] == expected
    assert all(each.section.startswith("§") for each in request.findings)


def test_a_bad_line_of_a_bulk_file_has_all_findings(sendbox: Sandbox) -> None:
    """So has each line of a bulk file."""
    with httpx.Client(transport=sendbox.transport, base_url=sendbox.origin) as client:
        asked = {"bulk_id": "b", "filetype": "jsonl"}
        url = client.post("/v1/messaging/url", headers={"x-api-key": sendbox.api_key}, json=asked).json()["url"]
        line = b'{"to": [], "body": 5, "datetime": "2026-99-01T09:00:00Z"}'
        client.put(url, content=line, headers={"content-type": "application/jsonl"})
    sendbox.settle()
    (entry,) = [entry for entry in sendbox.journal if entry.kind == "bulk_line"]
    assert [(each.path, each.value) for each in entry.findings] == [
        ("$.to", "[]"),
        ("$.body", "5"),
        ("$.datetime", '"2026-99-01T09:00:00Z"'),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"to": x}', "x at line 3, column 8 is not JSON"),
        (b'{"to": \xff}', "byte 0xff at line 3, column 8 is not UTF-8"),
        (b"\xef\xbb\xbf{}", "a byte order mark at line 3, column 1 is not JSON"),
    ],
    ids=["json", "utf-8", "mark"],
)
def test_a_bad_line_of_a_bulk_file_has_its_number(sendbox: Sandbox, line: bytes, said: str) -> None:
    """An error in the third line of the file names line 3."""
    with httpx.Client(transport=sendbox.transport, base_url=sendbox.origin) as client:
        asked = {"bulk_id": "b", "filetype": "jsonl"}
        url = client.post("/v1/messaging/url", headers={"x-api-key": sendbox.api_key}, json=asked).json()["url"]
        good = b'{"to": [{"phone_number": "420777000101"}], "body": "Hello"}\n'
        client.put(url, content=good + b"\n" + line, headers={"content-type": "application/jsonl"})
    sendbox.settle()
    entry = [entry for entry in sendbox.journal if entry.kind == "bulk_line"][-1]
    assert entry.line == 3
    assert entry.findings[0].message.startswith(said)


def test_what_stood_in_a_long_body_is_not_looked_up(sendbox: Sandbox) -> None:
    """A body of a quarter of a mebibyte is not read a second time."""
    body = {"to": [], "body": "x", "payload": {"x": "y" * (1 << 18)}}
    with httpx.Client(transport=sendbox.transport) as client:
        client.post(f"{sendbox.base_url}/message", headers={"x-api-key": sendbox.api_key}, json=body)
    (request,) = sendbox.requests
    assert [(each.path, each.value) for each in request.findings] == [("$.to", None)]


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$", []),
        ("$.flow[1].sms.ttl", ["flow", 1, "sms", "ttl"]),
        ("$[3].to[0]", [3, "to", 0]),
        ("$['a b'].x", ["a b", "x"]),
        ('$["it\'s"]', ["it's"]),
    ],
)
def test_steps_of_a_path(path: str, steps: list[str | int]) -> None:
    """A path is taken apart, whatever its names are."""
    assert steps_of(path) == steps
