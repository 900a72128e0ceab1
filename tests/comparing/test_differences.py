"""One recorded answer beside ours: what counts as a difference, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sendbox.comparing.differences import Difference, StatusAndBody, compare, mask_text, passed_over
from tests.box import CONTRACT

ID = "f92bfde5-3d39-4a91-ab82-a23aab0ae9b7"
OTHER = "91007d49-6aa7-4e83-a2db-6824150ba94c"
SCHEMA = "sending.json#/$defs/MessageResponse"


def found(recorded: Any, here: Any, *, values: bool = False, schema: str | None = None) -> list[Difference]:
    answers = [
        StatusAndBody(200, value if isinstance(value, bytes) else json.dumps(value).encode())
        for value in (recorded, here)
    ]
    return compare(answers[0], answers[1], CONTRACT, schema, values=values)


def signs(*pair: Any, **more: Any) -> list[tuple[str, str]]:
    return [(difference.kind, difference.path) for difference in found(*pair, **more)]


@pytest.mark.parametrize(
    ("recorded", "here", "differ"),
    [
        ({"a": 1}, {"a": 2.5}, []),
        ({"a": 1}, {"a": True}, [("type", "$.a")]),
        ({"a": "1"}, {"a": 1}, [("type", "$.a")]),
        ({"a": None}, {"a": 1}, []),
        ({"a": {}}, {"a": None}, [("type", "$.a")]),
        ({"a": None}, {"a": [1]}, [("type", "$.a")]),
        ({"a": True}, {"a": None}, []),
        ({"a": 1, "b": 1}, {"a": 1}, [("extra", "$.b")]),
        ({"a": 1}, {"a": 1, "b": 1}, [("missing", "$.b")]),
        ({"a": [1, 2]}, {"a": [1]}, [("length", "$.a")]),
        ({"a": [{"b": 1}, {"b": 1}]}, {"a": [{"b": "x"}, {"b": "y"}]}, [("type", "$.a[0].b")]),
        ({"a": "x"}, {"a": "y"}, []),
        ([], {}, [("type", "$")]),
        (b"OK", {}, [("type", "$")]),
    ],
)
def test_structure(recorded: Any, here: Any, differ: list[tuple[str, str]]) -> None:
    """Fields, types and lengths; all numbers are one type; null beside a scalar is left to the schema."""
    assert signs(recorded, here) == differ


@pytest.mark.parametrize(
    ("recorded", "here", "differ"),
    [
        ({"text": "x"}, {"text": "y"}, [("value", "$.text")]),
        ({"done": True}, {"done": False}, [("value", "$.done")]),
        ({"left": 5}, {"left": 6}, [("value", "$.left")]),
        ({"message_id": "x"}, {"message_id": "y"}, []),
        ({"name": ID}, {"name": OTHER}, []),
        ({"created_at": "yesterday"}, {"created_at": "today"}, []),
        ({"when": "2026-03-01T09:00:00Z"}, {"when": "2026-03-02T09:00:00Z"}, []),
        ({"price_eur": 1}, {"price_eur": 2}, []),
    ],
)
def test_values(recorded: Any, here: Any, differ: list[tuple[str, str]]) -> None:
    """Values count when they are asked for, except ids, times and prices, by name or by form."""
    assert signs(recorded, here, values=True) == differ
    assert signs(recorded, here) == []


def test_a_status() -> None:
    """Of answers with another status only the status is compared."""
    (status,) = compare(StatusAndBody(400, b'{"a": 1}'), StatusAndBody(200, b"{}"), CONTRACT, SCHEMA, values=False)
    assert (status.kind, status.recorded, status.here) == ("status", "400", "200")


@pytest.mark.parametrize(
    ("recorded", "here", "differ"),
    [
        (f"OK|{ID}", f"OK|{OTHER}", []),
        (f"OK|{ID}\nOK|{ID}", f"OK|{OTHER}", [("length", "lines")]),
        ("OK|17", f"OK|{OTHER}", []),
        ("OK|m-ab", f"OK|{OTHER}", []),
        ("OK|17|420777000101", f"OK|{OTHER}", [("line", "line 1")]),
        ("ERROR", "ERROR|202", [("line", "line 1")]),
        (f"OK|{ID}\nERROR|201", f"OK|{ID}\nERROR|202", [("line", "line 2")]),
    ],
)
def test_lines(recorded: str, here: str, differ: list[tuple[str, str]]) -> None:
    """A plain text is compared line by line, and its ids are passed over."""
    assert signs(recorded.encode(), here.encode()) == differ


def test_a_line_in_the_report_has_no_text_of_a_client() -> None:
    """Only words in capitals and short numbers are told."""
    (line,) = found(b"ERROR|hello 420777000101", b"ERROR|202")
    assert (line.recorded, line.here) == ("ERROR|…", "ERROR|202")


def test_the_schema() -> None:
    """A value that our schema does not allow is one difference; its assumption is that of the schema's node."""
    here = {"request_id": ID, "accepted": [], "rejected": []}
    assert found(here, here, schema=SCHEMA) == []
    (null,) = found({**here, "accepted": None}, here, schema=SCHEMA)
    assert (null.kind, null.path, null.recorded) == ("type", "$.accepted", "null")
    (text,) = found({**here, "request_id": None}, here, schema=SCHEMA)
    assert (text.kind, text.path, text.recorded) == ("schema", "$.request_id", "breaks the rule type")
    rejected = {"rejected": [{"key": "0", "reason": "x"}]}
    differences = found({**here, **rejected}, {**here, "rejected": [{"key": "0"}]}, schema=SCHEMA)
    assert [(difference.kind, difference.path, difference.assumed) for difference in differences] == [
        ("extra", "$.rejected[0].reason", "A07")
    ]


ROWS = "rest.json#/$defs/MessagesListResponse"
MESSAGE = "rest.json#/$defs/MessageStatusResponse"


def row(**fields: Any) -> dict[str, Any]:
    """A row with the values that the specification has (§2.4)."""
    names = "sent delivered updated clicked seen replied optout"
    stamps = dict.fromkeys((f"ts_{name}" for name in names.split()), None)
    flags = dict.fromkeys("sent delivered seen clicked replied optout nondelivered".split(), 0)
    texts = {"message_id": ID, "body": "Hi", "flow": "sms", "sender": "InfoSMS", "phone_number": "420777000101"}
    return {"message_parts": 1, **texts, **stamps, **flags, "price_czk": "0.90", "price_eur": "0.036", **fields}


@pytest.mark.parametrize(
    ("fields", "legal"),
    [
        ({"ts_sent": "2026-07-30T10:00:01Z", "price_czk": "1.2"}, True),
        ({"ts_sent": "2026-07-30T10:00+00:00", "price_czk": "1"}, True),
        ({"ts_sent": "2026-07-30T10:00:01.123456Z", "price_czk": "0.1234567"}, True),
        ({"ts_sent": "2026-07-30T10:00:01+02:00"}, False),
        ({"ts_sent": "yesterday"}, False),
        ({"price_czk": "1,2"}, False),
        ({"price_czk": 1.2}, False),
        ({"sent": 2}, False),
    ],
)
def test_s2_4_rows_that_others_recorded(fields: dict[str, Any], legal: bool) -> None:
    """§2.4, A98: ISO 8601 in UTC and a decimal, in any precision; ours are held to milliseconds and 2 to 6 digits."""
    recorded = {"success": True, "messages": [row(**fields)], "next_cursor": None}
    assert signs(recorded, {**recorded, "messages": [row()]}, schema=ROWS) == ([] if legal else signs_of(fields))
    assert not CONTRACT.checker(ROWS).is_valid(recorded)
    assert CONTRACT.checker(ROWS, recorded=True).is_valid(recorded) is legal


@pytest.mark.parametrize(
    ("schema", "recorded"),
    [
        ("rest.json#/$defs/ListResponse", {"success": True, "accepted": 0, "invalid": []}),
        (
            "partner.json#/$defs/NumberRecordResponse",
            {
                "name": "Bakery",
                "phone_number_id": "1",
                "phone_number": "420777000101",
                "phone_number_formated": "+420 777-000-101",
                "phone_number_status": "CONNECTED",
                "phone_number_quality": "GREEN",
            },
        ),
        (
            "webhooks.json#/$defs/SentMessageSms",
            {
                "request_id": ID,
                "message_id": OTHER,
                "gateway": "sms",
                "timestamp": 1772355600,
                "payload": {},
                "type": "outgoing",
                "to": {"phone_number": "420777000101"},
                "result": "sending",
                "result_info": "",
                "sms": {
                    "gateway": "high",
                    "sender": "InfoSMS",
                    "country": 230,
                    "operator": 0,
                    "price_czk": 0.9,
                    "price_eur": 0.036,
                    "count": 1,
                },
            },
        ),
    ],
)
def test_other_places_where_ours_is_tighter(schema: str, recorded: Any) -> None:
    """§2.5, §4.4, §6: a count of 0, another form of a number and an empty text are legal where others answered them."""
    assert CONTRACT.checker(schema, recorded=True).is_valid(recorded)
    assert not CONTRACT.checker(schema).is_valid(recorded)


def signs_of(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """The difference that a wrong field makes."""
    return [("type" if value == 1.2 else "schema", f"$.messages[0].{name}") for name, value in fields.items()]


def test_a_problem_of_an_object_that_may_be_null() -> None:
    """§2.4, A98: the words are about its field; that the whole might be null says nothing of it."""
    message = dict.fromkeys(("status_code", "delivery_code", "status_info", "flow_index", "price"))
    message |= dict.fromkeys(("ts_sent", "ts_delivered", "ts_seen", "ts_clicked", "ts_updated"))
    message |= {"body": "Hi", "to": {"phone_number": "420777000101"}, "flow": [{"sms": {}}], "flow_status": {}}
    lacking = {"tag": None, "request_id": None, "ts_created": None}
    recorded = {"success": True, "message": {**message, **lacking}}
    assert CONTRACT.checker(MESSAGE, recorded=True).findings(recorded) == []
    assert [(one.path, "legal: null" in one.message) for one in CONTRACT.checker(MESSAGE).findings(recorded)] == [
        (f"$.message.{name}", False) for name in lacking
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [("/x/420777000101", "/x/…"), (f"/y/{ID}/z", "/y/…/z"), ("test-shop", "…"), ("/v2/message", "/v2/message")],
)
def test_masked(text: str, left: str) -> None:
    """Phone numbers, ids and keys are not told."""
    assert mask_text(text) == left


def test_names_of_fields() -> None:
    """The end of a name counts, not a part of it."""
    assert passed_over("token", "x")
    assert passed_over("verifiedAt", "x")
    assert not passed_over("idle", "x")
    assert not passed_over("format", "x")
    assert not passed_over("valid", "x")
