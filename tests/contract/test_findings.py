"""The text of a refusal: the value, the rule, the legal values, and the section of the specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sendbox.contract.findings import json_path, show
from sendbox.contract.validators import Contract
from tests.channels import USUAL_TEXT
from tests.contract.settled import settled_checker

CONTRACT = Contract()
TO = [{"phone_number": "420777000101"}]


def message(**fields: Any) -> dict[str, Any]:
    return {"body": "Hello", "to": TO, **fields}


def sms(**fields: Any) -> dict[str, Any]:
    return message(flow=[{"sms": fields}])


def template(**fields: Any) -> dict[str, Any]:
    return {"to": TO, "flow": [{"chatapp_template": {"template_name": "t", "language": "en", **fields}}]}


STEP = "$.flow[0].chatapp_template"
ACCEPTED = {"request_id": "0b5f0b4e-8c39-4c5c-9a51-0c6d8a2a7f10", "accepted": True}


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("$.flow[0].sms.ttl", "0.2 is below the minimum ttl of 0.5 minutes (§2.2)", sms(ttl=0.2)),
        (
            "$.flow[0].sms.gateway",
            (
                '"hgh" is not a legal gateway; legal: high, lowcost, direct, custom, simhost, gsm; '
                'did you mean "high"? (§2.2)'
            ),
            sms(gateway="hgh"),
        ),
        (
            "$.flow[0].sms.type",
            '"UTF" is not a legal type; legal: sms, utf; did you mean "utf"? (§2.2)',
            sms(type="UTF"),
        ),
        ("$.flow[0].sms.type", '"x" is not a legal type; legal: sms, utf (§2.2)', sms(type="x")),
        ("$", "5 is not a legal JSON body; legal: an object (§2.1)", 5),
        ("$", "[] is not a legal JSON body; legal: an object (§2.1)", []),
        ("$.to", "to is missing; required: an array (§2.1)", {}),
        ("$.to", "[] has fewer entries than the minimum of 1 in to; legal: 1 to 10 (§2.1)", {"to": []}),
        ("$.to", "11 entries are more than the maximum of 10 in to; legal: 1 to 10 (§2.1)", {"to": TO * 11}),
        (
            "$.to[0].phone_number",
            'phone_number is missing; required: a string; you sent "phone"; the field is phone_number (§2.1)',
            {"to": [{"phone": "420777000101"}]},
        ),
        (
            "$.to[0].phone_number",
            'phone_number is missing; required: a string; you sent "phoneNumber"; the field is phone_number (§2.1)',
            {"to": [{"phoneNumber": "420777000101"}]},
        ),
        ("$.to[0]", '"420777000101" is not a legal entry of to; legal: an object (§2.1)', {"to": ["420777000101"]}),
        ("$.body", '{"text":"Hello"} is not a legal body; legal: a string (§2.1)', message(body={"text": "Hello"})),
        ("$.tag", "null is not a legal tag; legal: a string, or leave it out (§2.1, A56)", message(tag=None)),
        ("$.to", "null is not a legal to; legal: an array (§2.1, A56)", {"to": None}),
        ("$.to[0]", "null is not a legal entry of to; legal: an object (§2.1, A56)", {"to": [None]}),
        ("$", "null is not a legal JSON body; legal: an object (§2.1, A56)", None),
        ("$.flow", "[] has fewer entries than the minimum of 1 in flow; legal: 1 or more (§2.1)", message(flow=[])),
        (
            "$.flow[0]",
            f'"smss" is not a legal flow step; legal: {USUAL_TEXT}; did you mean "sms"? (§2.2)',
            message(flow=[{"smss": {}}]),
        ),
        (
            "$.flow[0]",
            f"2 keys (sms, richmsg) are not a legal flow step; legal: exactly one of {USUAL_TEXT} (§2.2)",
            message(flow=[{"sms": {}, "richmsg": {}}]),
        ),
        ("$.flow[0]", f"{{}} is not a legal flow step; legal: exactly one of {USUAL_TEXT} (§2.2)", message(flow=[{}])),
        (
            "$.callback",
            "5 is not a legal callback; legal: an http or https URI, or an object with url (§2.1)",
            message(callback=5),
        ),
        (
            "$.callback",
            '"hooks" is not a legal callback; legal: an http or https URI, or an object with url (§2.1, A01)',
            message(callback="hooks"),
        ),
        (
            "$.callback.url",
            "url is missing; required: an http or https URI of 8 to 2048 characters (§2.1, A01)",
            message(callback={}),
        ),
        (
            "$.callback.url",
            '"ftp://x" (7 characters) is shorter than the minimum url of 8 characters; legal: 8 to 2048 (§2.1, A01)',
            message(callback={"url": "ftp://x"}),
        ),
        (
            "$.callback.batch_size",
            "501 is above the maximum batch_size of 500 (§2.1, A01)",
            message(callback={"url": "http://a.b", "batch_size": 501}),
        ),
        (
            "$.callback.headers",
            "21 keys (0, 1, 2, 3, 4, …) are not a legal headers; legal: at most 20 keys (§2.1, A01)",
            message(callback={"url": "http://a.b", "headers": {str(i): "" for i in range(21)}}),
        ),
        (
            "$.callback.headers",
            '"a b" is not a legal header name; legal: letters, digits and !#$%&\'*+.^_`|~- (§2.1, A01)',
            message(callback={"url": "http://a.b", "headers": {"a b": "c"}}),
        ),
        (
            "$.callback.headers.a",
            '"b\\nc" is not a legal header value; legal: a string of one line (§2.1, A01)',
            message(callback={"url": "http://a.b", "headers": {"a": "b\nc"}}),
        ),
        (
            "$.datetime",
            '"tomorrow" is not a legal datetime; legal: an RFC 3339 date-time such as 2026-03-01T09:00:00Z (§2.1, A58)',
            message(datetime="tomorrow"),
        ),
        (
            "$.delivery_time.days[1]",
            (
                '"funday" is not a legal entry of days; legal: monday, tuesday, wednesday, thursday, friday, saturday, '
                'sunday; did you mean "sunday"? (§2.1)'
            ),
            message(delivery_time={"days": ["monday", "funday"]}),
        ),
        (
            "$.sender",
            (
                '"TwelveChars1" is not a legal sender; legal: a name of at most 11 characters, or a virtual number in '
                "digits without + (§2.1, A59)"
            ),
            message(sender="TwelveChars1"),
        ),
        (
            f"{STEP}.template_name",
            (
                f'"{"t" * 60}…" (101 characters) is longer than the maximum template_name of 100 characters; legal: '
                "at most 100 (§2.2)"
            ),
            template(template_name="t" * 101),
        ),
        (
            f"{STEP}.params[0]",
            "{} is not a legal body variable; legal: one name and its value (§2.2)",
            template(params=[{}]),
        ),
        (f"{STEP}.params[0].a", "1 is not a legal variable value; legal: a string (§2.2)", template(params=[{"a": 1}])),
        (
            f"{STEP}.params_buttons[0]",
            (
                '"coupon" is not a legal button parameter; legal: url, payload, code, catalog, voice_call, mpm, flow '
                "(§2.2)"
            ),
            template(params_buttons=[{"coupon": "x"}]),
        ),
        (
            f"{STEP}.params_buttons[0].flow",
            "5 is not a legal flow; legal: an object or null (§2.2)",
            template(params_buttons=[{"flow": 5}]),
        ),
        (
            "$.params._url.expires_at",
            '"1" is not a legal expires_at; legal: an integer (§2.1)',
            message(params={"_url": {"expires_at": "1"}}),
        ),
    ],
)
def test_message_begins_with_the_value(path: str, text: str, value: object) -> None:
    """Each keyword has its sentence, pinned: value, rule, what was legal, source."""
    finding = settled_checker(CONTRACT, "sending.json#/$defs/Message").findings(value)[0]
    assert (finding.path, finding.message) == (path, text)


@pytest.mark.parametrize(
    ("name", "path", "text", "value"),
    [
        ("Messages", "$[0]", "5 is not a legal entry of the array; legal: an object (§2.1)", [5]),
        ("Messages", "$", "{} is not a legal JSON body; legal: an array (§4.1, A10)", {}),
        ("Error", "$", '"x" is not a legal field of JSON body; legal: Message (§7.2)', {"Message": "a", "x": 1}),
        (
            "Error",
            "$.Message",
            '"" (0 characters) is shorter than the minimum Message of 1 characters; legal: 1 or more (§7.2, A11)',
            {"Message": ""},
        ),
        (
            "IncomingMessage",
            "$.type",
            '"out" is not a legal type; legal: "incoming" (§6)',
            {"gateway": "sms", "timestamp": 1, "type": "out", "sender": "1", "recipient": "2", "body": ""},
        ),
        ("SimpleResponse", "$.message_id", "message_id is missing; required: any value (§4.1)", ACCEPTED),
        (
            "SimpleResponse",
            "$",
            "3 keys (request_id, accepted, message_id) are not a legal JSON body; legal: at most 2 keys (§4.1)",
            {**ACCEPTED, "accepted": False, "message_id": "m"},
        ),
    ],
)
def test_other_schemas(name: str, path: str, text: str, value: object) -> None:
    """Answers and arrays speak the same way."""
    finding = CONTRACT.checker(f"x.json#/$defs/{name}").findings(value)[0]
    assert (finding.path, finding.message.replace('; you sent "request_id"; the field is message_id', "")) == (
        path,
        text,
    )


def test_findings_come_in_the_order_of_the_document() -> None:
    """The findings follow the order of the text, the whole before its parts."""
    value = {
        "flow": [{"sms": {"type": 1, "ttl": 0}}, {"x": {}, "sms": {}}],
        "sender": None,
        "to": [{"phone_number": 1}, {}],
        "body": 5,
    }
    findings = CONTRACT.checker("sending.json#/$defs/Message").findings(value)
    assert [(finding.path, finding.rule) for finding in findings] == [
        ("$.flow[0].sms.type", "type"),
        ("$.flow[0].sms.ttl", "minimum"),
        ("$.flow[1]", "additionalProperties"),
        ("$.flow[1]", "maxProperties"),
        ("$.sender", "type"),
        ("$.to[0].phone_number", "type"),
        ("$.to[1].phone_number", "required"),
        ("$.body", "type"),
    ]


def test_what_is_missing_comes_before_the_parts() -> None:
    """A missing field belongs to its object, and each is named once."""
    findings = CONTRACT.checker("sending.json#/$defs/Message").findings({"body": 5, "flow": [{"chatapp_template": {}}]})
    assert [finding.path for finding in findings] == ["$.to", "$.body", f"{STEP}.template_name", f"{STEP}.language"]


def test_a_wrong_type_is_all_there_is_to_say() -> None:
    """Where the type is wrong, the enum is not spoken of too."""
    assert [finding.rule for finding in CONTRACT.checker("sending.json#/$defs/SmsStep").findings({"gateway": 5})] == [
        "type"
    ]


def test_a_union_speaks_for_its_nearest_branch() -> None:
    """A webhook with one fault has one finding, not one for every kind of event."""
    event = {"gateway": "sms", "timestamp": "x", "type": "incoming", "sender": "1", "recipient": "2", "body": ""}
    findings = CONTRACT.checker("webhooks.json#/$defs/Batch").findings([event])
    assert [(finding.path, finding.rule, finding.section) for finding in findings] == [("$[0].timestamp", "type", "§6")]


def test_many_unknown_names_are_named_up_to_a_limit() -> None:
    """A step with a thousand unknown keys does not become a thousand findings."""
    findings = CONTRACT.checker("sending.json#/$defs/FlowStep").findings({f"key{i}": 1 for i in range(1000)})
    assert [finding.rule for finding in findings] == ["additionalProperties"] * 10 + ["maxProperties"]


def test_a_keyword_without_a_sentence_is_refused_all_the_same(tmp_path: Path) -> None:
    """Schemas may grow a keyword before its sentence is written; the finding is short then, but it is there."""
    (tmp_path / "a.json").write_text('{"$defs": {"A": {"multipleOf": 2}}}')
    (finding,) = Contract(tmp_path).checker("a.json#/$defs/A").findings(3)
    assert (finding.rule, finding.message) == ("multipleOf", "3 is not legal here (§2)")


def test_a_very_long_word_gets_no_hint() -> None:
    """Nothing is near to a word that is longer than any."""
    (finding,) = CONTRACT.checker("sending.json#/$defs/SmsStep").findings({"gateway": "high" * 100})
    assert finding.message.startswith('"highhigh')
    assert "did you mean" not in finding.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a"', "a"),
        ('"č\\n"', "č\n"),
        (f'"{"a" * 60}"', "a" * 60),
        (f'"{"a" * 60}…" (61 characters)', "a" * 61),
        ("1.5", 1.5),
        ("null", None),
        ("true", True),
        ("[…] (100 entries)", list(range(100))),
        ("{…} (61 entries)", {str(i): i for i in range(61)}),
        ('{"a":"' + "b" * 54 + "…", {"a": "b" * 100}),
        ("{…}", [{1: {2, 3}}]),
        ("{1}", {1}),
    ],
)
def test_values_are_shown_on_one_line(text: str, value: object) -> None:
    """As JSON, cut where long, whatever the value is."""
    assert show(value) == text


def test_paths() -> None:
    """JSONPath, with quotes where a name is no identifier."""
    assert json_path(["flow", 1, "sms", "a b", "x" * 61]) == f"$.flow[1].sms['a b']['{'x' * 60}']"
