"""`/simple/message`: query and form become one sms, refusals have the shapes of §7.2 and A12."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from sendbox.contract.validators import Contract
from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused, Route
from sendbox.services.messaging.http.sending.simple import ROUTES, simple_error
from sendbox.services.messaging.model import Recipient, Step
from tests.interfaces.fakes import FakeContract, FakeWorld, exchange, world_of
from tests.interfaces.sending.support import steps_of

GET, POST = ROUTES
CONTRACT = Contract()
LEAST: dict[str, Any] = {"phone_number": "420777000101", "message": "Hello"}


def get(world: FakeWorld | None = None, contract: FakeContract | None = None, **fields: Any) -> Exchange:
    """A call by GET with these parameters."""
    return exchange(GET, query=urlencode(fields).encode(), content_type=None, world=world, contract=contract)


def post(world: FakeWorld | None = None, **fields: Any) -> Exchange:
    """A call by POST with these fields."""
    return exchange(POST, body=urlencode(fields).encode(), world=world)


def run(call: Exchange) -> Answer:
    """What the handler answers."""
    return call.route.handler(call)


def refused(call: Exchange) -> Refused:
    """The refusal that the handler raises."""
    with pytest.raises(Refused) as caught:
        run(call)
    assert world_of(call).taken == []
    return caught.value


def answered(refusal: Refused) -> tuple[int, Any]:
    """The status and the object of a refusal."""
    assert refusal.answer is not None
    assert refusal.answer.status == refusal.status
    return refusal.status, orjson.loads(refusal.answer.body)


def test_s4_1_routes() -> None:
    """GET takes the key as query parameter too, POST in the header only (§5.2)."""
    assert [(each.method, each.path, each.auth, each.operation) for each in ROUTES] == [
        ("GET", "/v2/simple/message", "header-or-query", "sendSimpleMessageByQuery"),
        ("POST", "/v2/simple/message", "header", "sendSimpleMessage"),
    ]


@pytest.mark.parametrize("call", [get, post])
def test_s4_1_one_sms_is_sent(call: Any) -> None:
    """The least call is one sms step to one recipient; the answer has request and message id (A12)."""
    asked = call(**LEAST)
    answer = run(asked)
    assert (answer.status, answer.content_type, orjson.loads(answer.body)) == (
        200,
        b"application/json",
        {"request_id": "r1", "message_id": "m0", "accepted": True},
    )
    send = world_of(asked).send
    assert send.recipients == [Recipient("420777000101")]
    assert steps_of(send) == [Step("sms", "Hello", "Acme")]
    assert (send.tags, send.payload, send.callback, send.at) == (("promotional",), b"{}", None, None)
    assert not asked.findings
    assert asked.advice == []
    ((operation, _, key, content, origin),) = world_of(asked).taken
    assert (operation, key, origin) == (asked.route.operation, asked.key, asked.origin)
    assert content == b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'


def test_s4_1_every_parameter_lands() -> None:
    """Sender, gateway, datetime and customID have their places; the key is no part of the content."""
    call = get(
        apikey="test-a",
        sender="Shop",
        gateway="lowcost",
        datetime="2026-03-01T09:00:00Z",
        customID="7",
        callback="https://a.example/hook",
        **LEAST,
    )
    run(call)
    send = world_of(call).send
    assert steps_of(send) == [Step("sms", "Hello", "Shop", gateway="lowcost")]
    assert (send.at, send.payload) == (1772355600000, b'{"customID":"7"}')
    assert send.callback is not None
    assert send.callback.url == "https://a.example/hook"
    assert b"test-a" not in world_of(call).taken[0][3]
    assert b"hook" not in world_of(call).taken[0][3]
    assert call.advice == []


def test_a12_other_names() -> None:
    """`number`, `body` and `time` are other names of their parameters, without advice."""
    call = get(number="420777000101", body="Hello", time="2026-03-01T09:00:00Z")
    run(call)
    send = world_of(call).send
    assert (send.recipients[0].number, send.text(send.steps[0]), send.at) == ("420777000101", "Hello", 1772355600000)
    assert call.advice == []


def test_a86_another_name_beside_its_own_is_ignored() -> None:
    """The own name wins, advice tells."""
    call = get(number="420777000102", **LEAST)
    run(call)
    assert world_of(call).send.recipients[0].number == "420777000101"
    assert [(each.code, each.path, each.message) for each in call.advice] == [
        (
            "old-name-ignored",
            "$.number",
            '"number" stands beside "phone_number", of which it is another name, and is ignored',
        )
    ]


def test_s2_1_body_over_1000_is_truncated() -> None:
    """The first 1000 characters are sent; advice has the client's name of the parameter."""
    call = post(number="420777000101", body="x" * 1001)
    run(call)
    assert steps_of(world_of(call).send)[0].body == "x" * 1000
    assert [(each.code, each.path) for each in call.advice] == [("body-truncated", "$.body")]
    call = post(phone_number="420777000101", message="x" * 1001, gateway="high")
    run(call)
    assert [(each.code, each.path) for each in call.advice] == [("body-truncated", "$.message")]


def test_s2_1_number_is_converted() -> None:
    """Any form of a number is taken; advice tells what it became."""
    call = get(phone_number="+420 777 000 101", message="Hello")
    run(call)
    assert world_of(call).send.recipients == [Recipient("420777000101")]
    assert [(each.code, each.path) for each in call.advice] == [("number-converted", "$.phone_number")]


#: The id of a request that the fake world names.
REQUEST_ID = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("call", [get, post])
def test_a12_a_number_that_cannot_be_normalized_is_not_accepted(call: Any) -> None:
    """It is looked at at once, and the answer is 200; the finding has the client's own name of the parameter."""
    asked = call(number="12", message="Hello", callback="https://a.example/hook")
    refusal = refused(asked)
    assert answered(refusal) == (200, {"request_id": REQUEST_ID, "accepted": False})
    assert [(each.path, each.rule, each.assumed) for each in refusal.findings] == [
        ("$.number", "phone-number", "A12"),
    ]  # fmt: skip
    assert [(each.code, each.path) for each in asked.advice] == [("number-invalid", "$.number")]
    assert world_of(asked).names == [("request", asked.route.operation, b'{"message":"Hello","number":"12"}')]


@pytest.mark.parametrize("call", [get, post])
def test_a12_without_credit_it_is_not_accepted(call: Any) -> None:
    """The credit is looked at at once too, and the answer is 200; by webhook nothing is told."""
    refusal = refused(call(FakeWorld(credit=False), **LEAST))
    assert answered(refusal) == (200, {"request_id": REQUEST_ID, "accepted": False})
    (finding,) = refusal.findings
    assert finding.message == "1 message costs more than the account's credit (§4.1, A12)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"message": "Hello"},
            "no phone_number is given; legal is a call with phone_number (or number) that is not empty (§4.1, A12)"
            " at $.phone_number",
            id="no-number",
        ),
        pytest.param(
            {"phone_number": "420777000101", "message": ""},
            "no message is given; legal is a call with message (or body) that is not empty (§4.1, A12) at $.message",
            id="empty-message",
        ),
        pytest.param(
            {**LEAST, "time": "tomorrow"},
            '"tomorrow" is not a date-time of RFC 3339; legal is the form 2026-03-01T09:00:00Z (§2.1) at $.time',
            id="datetime",
        ),
        pytest.param(
            {**LEAST, "sender": "Twelve chars"},
            '"Twelve chars" is over the 11 characters of an alphanumeric sender; legal: an alphanumeric name of at'
            " most 11 characters, or a number without `+` (§2.1, A59) at $.sender",
            id="sender",
        ),
        pytest.param(
            {**LEAST, "callback": "http://[a]/"},
            '"http://[a]/" is not an address: its brackets hold no IPv6 address (§2.1) at $.callback',
            id="callback",
        ),
    ],
)
def test_s7_1_missing_or_bad_parameter(fields: dict[str, Any], message: str) -> None:
    """By POST 400 with value, rule and the client's own name of the parameter (A11), by GET 200 (A12)."""
    not_taken = {"request_id": REQUEST_ID, "accepted": False}
    assert answered(refused(post(**fields))) == (400, {"Message": message, **not_taken})
    refusal = refused(get(**fields))
    assert answered(refusal) == (200, not_taken)
    assert [f"{each.message} at {each.path}" for each in refusal.findings] == [message]


def test_s7_1_both_missing_are_told() -> None:
    """The journal gets every finding."""
    assert [each.path for each in refused(get()).findings] == ["$.phone_number", "$.message"]


def test_s4_1_the_schema_is_asked() -> None:
    """What the schema of the route finds is the refusal."""
    finding = Finding("$.gateway", "enum", "'fast' is not a gateway", "§2.2")
    contract = FakeContract({"sending.json#/$defs/SimpleQuery": [finding]})
    refusal = refused(get(contract=contract, gateway="fast", **LEAST))
    assert refusal.findings == [finding]
    assert contract.seen == [("sending.json#/$defs/SimpleQuery", {"gateway": "fast", **LEAST})]


def test_s4_1_bytes_that_are_no_text() -> None:
    """Invalid UTF-8 is malformed: 400 by POST, 200 by GET, never 500."""
    raw = b"phone_number=420777000101&message=%FF"
    for call, status in ((exchange(GET, query=raw), 200), (exchange(POST, body=raw), 400)):
        refusal = refused(call)
        assert (refusal.status, refusal.findings[0].rule) == (status, "encoding")
        assert answered(refusal)[1]["accepted"] is False


def test_s5_6_no_other_text_has_the_words_of_a_denied_key() -> None:
    """What a client sent is quoted without them (A11)."""
    refusal = refused(post(gateway="high", time="explicit deny", **LEAST))
    assert "explicit-deny" in answered(refusal)[1]["Message"]


def test_s2_unknown_parameters_get_advice() -> None:
    """A parameter that is not known has no effect; `apikey` is one in the query only (§5.2)."""
    call = get(apikey="test-a", sendr="x", **LEAST)
    run(call)
    assert [(each.code, each.path) for each in call.advice] == [("unknown-field", "$.sendr")]
    call = post(apikey="test-a", **LEAST)
    run(call)
    assert [(each.code, each.path) for each in call.advice] == [("unknown-field", "$.apikey")]


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        pytest.param(b"application/json", '"application/json" is not the content type of this call', id="json"),
        pytest.param(b"multipart/form-data; boundary=x", '"multipart/form-data" is not the', id="multipart"),
        pytest.param(None, "no content type is not the content type of this call", id="none"),
    ],
)
def test_s7_1_another_content_type_is_415(content_type: bytes | None, text: str) -> None:
    """POST takes a form only; the refusal has `message` (A12)."""
    refusal = refused(exchange(POST, body=urlencode(LEAST).encode(), content_type=content_type))
    answer = simple_error(refusal.status, refusal.text)
    (message,) = orjson.loads(answer.body).items()
    assert answer.status == 415
    assert message[0] == "message"
    assert message[1].startswith(text)
    assert message[1].endswith("legal: application/x-www-form-urlencoded (§4.1)")


def test_s4_1_charset_of_a_form_is_no_other_type() -> None:
    """Parameters of the content type do not matter."""
    call = exchange(
        POST,
        body=urlencode(LEAST).encode(),
        content_type=b"application/x-www-form-urlencoded; charset=UTF-8",
    )
    assert run(call).status == 200


@pytest.mark.parametrize("call", [get, post])
def test_a01_callback_as_an_object(call: Any) -> None:
    """`callback` may be the object of A01, written as JSON."""
    value = '{"url": "https://a.example/hook", "method": "PUT", "batch_size": 5}'
    asked = call(callback=f" {value}", **LEAST)
    run(asked)
    target = world_of(asked).send.callback
    assert target is not None
    assert (target.url, target.method, target.batch_size) == ("https://a.example/hook", "PUT", 5)


def test_a01_callback_that_is_no_json() -> None:
    """A broken object is named at `$.callback`."""
    (finding,) = refused(get(callback="{", **LEAST)).findings
    assert (finding.path, finding.rule, finding.assumed) == ("$.callback", "json", "A01")


def test_a01_callback_against_its_schema() -> None:
    """What the schema finds inside `callback` has its path below it."""
    contract = FakeContract({"sending.json#/$defs/Callback": [Finding("$.method", "enum", "'GO' is none", "§2.1")]})
    refusal = refused(get(contract=contract, callback='{"url":"https://a.example/","method":"GO"}', **LEAST))
    assert [(each.message, each.path) for each in refusal.findings] == [("'GO' is none", "$.callback.method")]


def test_a56_null_in_a_callback() -> None:
    """`nulls: absent` holds inside `callback` too."""
    call = get(FakeWorld(assume=Assume(nulls="absent")), callback='{"url":"https://a.example/","method":null}', **LEAST)
    run(call)
    target = world_of(call).send.callback
    assert target is not None
    assert target.method == "POST"


def test_a80_gateway_advice_has_the_parameter() -> None:
    """Advice on the step that the parameters make names the parameter."""
    world = FakeWorld(
        account=SimpleNamespace(
            country="420",
            domains=frozenset(),
            numbers=frozenset(),
            business={},
            senders={},
            registered=lambda family, sender: True,
        )
    )
    call = get(world, gateway="direct", sender="Shop", **LEAST)
    run(call)
    assert [(each.code, each.path) for each in call.advice] == [("gateway-direct-without-number", "$.gateway")]


@pytest.mark.parametrize(
    ("fields", "path", "rule"),
    [
        pytest.param({"gateway": "fast"}, "$.gateway", "enum", id="gateway"),
        pytest.param({"time": "2026-13-01T09:00:00Z"}, "$.time", "pattern", id="datetime"),
        pytest.param({"callback": "a.example"}, "$.callback", "pattern", id="callback"),
        pytest.param(
            {"callback": '{"url":"https://a.example/","method":"GO"}'},
            "$.callback.method",
            "enum",
            id="callback-method",
        ),
        pytest.param({"callback": "{}"}, "$.callback.url", "required", id="callback-url"),
    ],
)
@pytest.mark.parametrize("route", ROUTES, ids=["get", "post"])
def test_s2_1_the_contract_holds(route: Route, fields: dict[str, str], path: str, rule: str) -> None:
    """With the schemas as they are published, each bad parameter is found under its name."""
    raw = urlencode({**LEAST, **fields}).encode()
    call = exchange(route, query=raw, body=raw)
    call.contract = CONTRACT
    (finding,) = refused(call).findings
    assert (finding.path, finding.rule) == (path, rule)


@pytest.mark.parametrize("route", ROUTES, ids=["get", "post"])
def test_s4_1_answers_hold_the_contract(route: Route) -> None:
    """What is answered is legal by the route's response schemas."""
    fields = {**LEAST, "callback": "https://a.example/hook", "gateway": "high"}
    for changed in ({}, {"phone_number": "12"}, {"message": ""}):
        raw = urlencode({**fields, **changed}).encode()
        call = exchange(route, query=raw, body=raw, world=FakeWorld(request_id=REQUEST_ID))
        call.contract = CONTRACT
        answer = refused(call).answer if changed else run(call)
        assert answer is not None
        assert CONTRACT.checker(route.responses[answer.status] or "").findings(orjson.loads(answer.body)) == []
