"""The legacy interface: `OK|<id>` a line, or `ERROR|<code>` (§4.1, A13)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from sendbox.contract.validators import Contract
from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused, Route
from sendbox.services.messaging.http.legacy import ROUTES, error
from sendbox.services.messaging.model import Recipient, Step
from tests.interfaces.fakes import FakeContract, FakeWorld, exchange, world_of
from tests.interfaces.sending.support import steps_of

SEND, SEND_GET, API_SEND, API_SEND_GET = ROUTES
LEAST = {"apikey": "test-a", "number": "420777000101", "message": "Hello"}
PLAIN = Assume(legacy_error="plain")


def call_of(route: Route, fields: dict[str, str], **more: Any) -> Exchange:
    """A call of a route with these fields, where its method has them."""
    raw = urlencode(fields).encode()
    return exchange(route, body=raw, **more) if route.method == "POST" else exchange(route, query=raw, **more)


def run(call: Exchange) -> Answer:
    """What goes to the client, also when the handler refuses, as the app has it."""
    try:
        return call.route.handler(call)
    except Refused as refused:
        answer = call.route.error(refused.status, refused.text)
        told = bool(refused.findings)
    assert told
    assert world_of(call).taken == []
    return answer


def test_s4_1_routes() -> None:
    """Both addresses take POST and GET, with the key among the fields (A13)."""
    assert [(each.method, each.path, each.auth, each.interface) for each in ROUTES] == [
        ("POST", "/Send", "form", "legacy"),
        ("GET", "/Send", "form", "legacy"),
        ("POST", "/api-send.php", "form", "legacy"),
        ("GET", "/api-send.php", "form", "legacy"),
    ]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_s4_1_one_text_to_one_number(route: Route) -> None:
    """`OK|<id>` in plain text; the variant takes the recipient as `to`."""
    name = "to" if "api" in route.path else "number"
    call = call_of(route, {"apikey": "test-a", name: "420777000101", "message": "Hello"})
    answer = run(call)
    assert (answer.status, answer.body, answer.content_type) == (200, b"OK|m0", b"text/plain; charset=utf-8")
    send = world_of(call).send
    assert (send.recipients, steps_of(send), send.tags) == (
        [Recipient("420777000101")],
        [Step("sms", "Hello", "Acme")],
        ("promotional",),
    )
    ((operation, _, key, content, origin),) = world_of(call).taken
    assert (operation, key, origin) == (route.operation, call.key, call.origin)
    assert content == b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'
    assert not call.findings
    assert call.advice == []


def test_a13_several_numbers() -> None:
    """Numbers with `;` or `,` between them have one line each, in their order; those that are none are left out."""
    call = call_of(SEND, {**LEAST, "number": "420777000101; 777000102 ;;12,420777000103", "sender": "Shop"})
    assert run(call).body == b"OK|m0\nOK|m1\nOK|m2"
    send = world_of(call).send
    assert send.recipients == [Recipient("420777000101"), Recipient("420777000102"), Recipient("420777000103")]
    assert send.steps[0].sender == "Shop"
    assert [(each.code, each.path, each.message) for each in call.advice] == [
        ("number-converted", "$.number", '"777000102" is converted to 420777000102'),
        (
            "number-invalid",
            "$.number",
            '"12" cannot be normalized to a number in international format and is left out (A13)',
        ),
    ]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_a13_the_answer_may_have_the_number(route: Route) -> None:
    """`legacy_answer: number` writes the normalized number behind each id."""
    name = "to" if "api" in route.path else "number"
    fields = {"apikey": "test-a", name: "12;+420777000101,777000102", "message": "Hello"}
    call = call_of(route, fields, world=FakeWorld(assume=Assume(legacy_answer="number")))
    assert run(call).body == b"OK|m0|420777000101\nOK|m1|420777000102"


def test_a13_gateway_time_and_callback() -> None:
    """They work as in a Message; the callback has no part in names."""
    more = {"gateway": "lowcost", "time": "2026-03-01T12:00:00Z", "callback": "https://a.example/hook"}
    call = call_of(SEND, {**LEAST, **more})
    assert run(call).status == 200
    send = world_of(call).send
    assert steps_of(send) == [Step("sms", "Hello", "Acme", gateway="lowcost")]
    assert send.at == 1_772_366_400_000
    assert send.callback is not None
    assert send.callback.url == "https://a.example/hook"
    assert b"hook" not in world_of(call).taken[0][3]
    assert call.advice == []


def test_s2_1_body_over_1000_is_truncated() -> None:
    """A long text is cut, not refused."""
    call = call_of(SEND, {**LEAST, "message": "x" * 1001})
    assert run(call).status == 200
    assert steps_of(world_of(call).send)[0].body == "x" * 1000
    assert [(each.code, each.path) for each in call.advice] == [("body-truncated", "$.message")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"message": "x"}, (400, b"ERROR|201"), id="no-number"),
        pytest.param({"number": " ; ", "message": "x"}, (400, b"ERROR|201"), id="empty-numbers"),
        pytest.param({"number": "12,x;+", "message": "x"}, (400, b"ERROR|201"), id="no-number-that-is-one"),
        pytest.param({"number": "420777000101"}, (400, b"ERROR|202"), id="no-message"),
        pytest.param({**LEAST, "time": "tomorrow"}, (400, b"ERROR|102"), id="time"),
        pytest.param({**LEAST, "callback": "http://[a]/"}, (400, b"ERROR|102"), id="callback"),
        pytest.param({**LEAST, "callback": "{"}, (400, b"ERROR|102"), id="callback-that-is-not-json"),
        pytest.param({**LEAST, "sender": "Twelve chars"}, (400, b"ERROR|203"), id="long-sender"),
        pytest.param({**LEAST, "sender": "+420900000001"}, (400, b"ERROR|203"), id="sender-with-plus"),
        pytest.param({**LEAST, "number": "1;" * 101}, (400, b"ERROR|109"), id="too-many-numbers"),
    ],
)
@pytest.mark.parametrize("route", [SEND, SEND_GET], ids=["post", "get"])
def test_a13_codes(route: Route, fields: dict[str, str], expected: tuple[int, bytes]) -> None:
    """Each bad field has its code; `plain` leaves the code out."""
    answer = run(call_of(route, fields))
    assert (answer.status, answer.body, answer.content_type) == (*expected, b"text/plain; charset=utf-8")
    assert run(call_of(route, fields, world=FakeWorld(assume=PLAIN))).body == b"ERROR"


def test_s8_a_number_as_sender_may_be_long() -> None:
    """Only an alphanumeric sender has a limit of 11 characters; a name of 11 is legal."""
    for sender in ("420900000001", "Eleven char"):
        assert run(call_of(SEND, {**LEAST, "sender": sender})).status == 200


def test_a59_sender_form_may_be_accepted() -> None:
    """`sender_form: accept` lets a bad sender through, with advice."""
    world = FakeWorld(assume=Assume(sender_form="accept"))
    call = call_of(SEND, {**LEAST, "sender": "Twelve chars"}, world=world)
    assert run(call).status == 200
    assert [(each.code, each.path) for each in call.advice] == [("sender-form", "$.sender")]


def test_a13_no_credit_is_402() -> None:
    """An account that cannot pay at the time of the call gets 105."""
    for number in ("420777000101", "420777000101;420777000102"):
        answer = run(call_of(SEND, {**LEAST, "number": number}, world=FakeWorld(credit=False)))
        assert (answer.status, answer.body) == (402, b"ERROR|105")


def test_a13_bytes_that_are_no_text() -> None:
    """What is not UTF-8 is 101."""
    answer = run(exchange(SEND, body=b"number=420777000101&message=%E9"))
    assert (answer.status, answer.body) == (400, b"ERROR|101")


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        pytest.param(b"application/json", (400, b"ERROR|102"), id="json"),
        pytest.param(None, (200, b"OK|m0"), id="none"),
        pytest.param(b"application/x-www-form-urlencoded; charset=x", (200, b"OK|m0"), id="charset"),
    ],
)
def test_a13_content_type(content_type: bytes | None, expected: tuple[int, bytes]) -> None:
    """A body that says it is something else is 102, one that says nothing is a form."""
    answer = run(call_of(SEND, LEAST, content_type=content_type))
    assert (answer.status, answer.body) == expected


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("$.number", b"201"),
        ("$.message", b"202"),
        ("$.sender", b"203"),
        ("$.gateway", b"104"),
        ("$.apikey", b"102"),
        ("$", b"102"),
    ],
)
def test_a13_the_schema_is_asked(path: str, code: bytes) -> None:
    """What the schema finds has the code of its field; the key counts wherever it came from."""
    contract = FakeContract({"legacy.json#/$defs/SendForm": [Finding(path, "x", "x", "§4.1")]})
    fields = {"number": "420777000101", "message": "Hello"}
    assert run(call_of(SEND, fields, contract=contract)).body == b"ERROR|" + code
    assert contract.seen == [("legacy.json#/$defs/SendForm", LEAST)]


def test_s2_unknown_parameters_get_advice() -> None:
    """`to` is no field of `/Send`."""
    call = call_of(SEND, {**LEAST, "to": "1"})
    assert run(call).status == 200
    assert [(each.code, each.path) for each in call.advice] == [("unknown-field", "$.to")]


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, b"101"), (401, b"103"), (402, b"105"), (404, b"101"), (405, b"101"), (500, b"901"), (503, b"900")],
)
def test_a13_errors_that_the_app_answers(status: int, code: bytes) -> None:
    """A refusal without a line of its own has the code of its status."""
    answer = error(status, "some text")
    assert (answer.status, answer.body) == (status, b"ERROR|" + code)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_s4_1_the_contract_holds(route: Route) -> None:
    """Calls and answers are legal by the schemas as they are published."""
    contract = Contract()
    name = "to" if "api" in route.path else "number"
    fields = {name: "420777000101;12,777000102", "message": "Hello", "sender": "Shop", "apikey": "test-a"}
    result = contract.checker(route.responses[200] or "")
    numbered = FakeWorld(assume=Assume(legacy_answer="number"))
    for world in (FakeWorld(), numbered, FakeWorld(assume=PLAIN, credit=False)):
        call = call_of(route, fields, world=world)
        call.contract = contract
        assert result.findings(run(call).body.decode()) == []
