"""Webhook events, derived from the records (§6, A23, A67, A82)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sendbox.contract.validators import Contract
from sendbox.engine.delivery.batches import Delivery, body_of
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.channels import CODES, FAMILY, STATES
from sendbox.services.messaging.events import DEFAULT_INFO, info_of, kind_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.templates.templates import TemplateUse
from tests.channels import USUAL
from tests.core.worlds import PHONE, START, advance, hook_events, make_world, path, rule, send, send_one, step

CONTRACT = Contract()
TEMPLATE = {
    "name": "otp",
    "language": "en",
    "category": "UTILITY",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": "Code"}],
}
COMMON = {"request_id", "message_id", "gateway", "timestamp", "payload", "type", "to", "result"}
BILLING = {"gateway", "sender", "country", "operator", "price_czk", "price_eur", "count"}
#: gateway, the name of its details and their fields (§6), its definition in the schema
GATEWAYS = [
    ("sms", "sms", BILLING, "SentMessageSms"),
    ("richmsg", "richmsg", BILLING - {"gateway"}, "SentMessageRichmsg"),
    ("chatapp_text", "chatapp_body", BILLING, "SentMessageChatappText"),
    ("chatapp_template", "chatapp_template", BILLING, "SentMessageChatappTemplate"),
]


def valid(events: list[dict[str, Any]], name: str) -> bool:
    """Whether each event keeps to a definition of the contract."""
    checker = CONTRACT.checker(f"webhooks.json#/$defs/{name}")
    return bool(events) and all(checker.findings(event) == [] for event in events)


def a_step(channel: str) -> Step:
    """A step by a channel that the phones of `a_world` can receive."""
    if channel == "chatapp_template":
        return step(channel, None, template=TemplateUse("otp", "en"))
    return step(channel)


def a_world(*rules: Rule, **account: Any) -> World:
    """A world with a template, in which the phone's conversation is open."""
    world = make_world(account=AccountSpec(templates=(TEMPLATE,), **account), attempts=rules)
    Messaging.of(world).phones.conversations[PHONE] = START + 10**9
    return world


def events_of(world: World, by: int = 60_000) -> list[dict[str, Any]]:
    """What the built-in receiver has got after a while."""
    advance(world, by)
    return hook_events(world)


@pytest.mark.parametrize(
    ("gateway", "details", "fields", "definition", "result"),
    [(*each, result) for each in GATEWAYS for result in STATES[1:] if (each[0], result) != ("sms", "seen")],
    ids=lambda value: value if value in (*STATES, *(each[0] for each in GATEWAYS)) else "",
)
def test_s6_sent_message_has_exactly_its_fields(
    gateway: str, details: str, fields: set[str], definition: str, result: str
) -> None:
    """Every result on every channel: the table's fields, the channel's details under their name, no other."""
    world = a_world(rule(result))
    send(world, steps=[a_step(gateway)], payload={"order": 7})
    events = events_of(world)
    assert events[-1]["result"] == result
    for event in events:
        info = {"result_info"} if CODES[event["result"]] in DEFAULT_INFO else set()
        assert set(event) == COMMON | {details} | info
        assert set(event[details]) == fields
        assert (event["gateway"], event["type"], event["payload"]) == (gateway, "outgoing", {"order": 7})
    assert valid(events, definition)
    assert valid([events], "Batch")  # type: ignore[list-item] # a batch is a list of events


def test_s6_an_event_says_what_happened() -> None:
    """Ids of request and message, the instant in whole seconds, the recipient, price and segments as charged."""
    world = a_world()
    message = send_one(world, steps=[step(body="x" * 161, sender="Acme", gateway="lowcost")])
    events = events_of(world)
    assert [event["timestamp"] - START // 1000 for event in events] == [0, 1, 3]
    assert events[2] == {
        "request_id": message.submission.request_id,
        "message_id": message.id,
        "gateway": "sms",
        "timestamp": START // 1000 + 3,
        "payload": {},
        "type": "outgoing",
        "to": {"phone_number": PHONE},
        "result": "delivered",
        "result_info": "[0] Delivered",
        "sms": {
            "gateway": "lowcost",
            "sender": "Acme",
            "country": 230,
            "operator": message.attempts[0].mnc,
            "price_czk": 1.8,
            "price_eur": 0.072,
            "count": 2,
        },
    }
    assert events[2]["sms"]["operator"] > 0


def test_s6_integers_are_integers() -> None:
    """Timestamp, country, operator and count are JSON integers."""
    world = a_world()
    message = send_one(world)
    advance(world, 1_500)
    Messaging.of(world).simulator.move_by_hand(message, "delivered", None)
    event = events_of(world)[-1]
    assert event["timestamp"] == START // 1000 + 1
    assert all(type(event["sms"][name]) is int for name in ("country", "operator", "count"))
    assert type(event["timestamp"]) is int


@pytest.mark.parametrize(
    "payload",
    [b'{"b": 1,  "a":{"x":[1.10, 1e2]}, "\\u0161": "\\u0161"}', b"{}", b'{"deep":[[{}]],"n":null}'],
    ids=["spaces, order and spelling", "none given", "nested"],
)
def test_s2_1_the_payload_is_unchanged_to_the_byte(payload: bytes) -> None:
    """§2.1, §6: what came as `payload` goes out as it came."""
    world = a_world()
    send(world, payload=payload)
    advance(world)
    assert b'"payload":' + payload + b',"type"' in body_of(world, world.outlets.hook[0])


# --- result_info


@pytest.mark.parametrize(
    ("result", "info"),
    [
        ("sending", None),
        ("sent", "Sent"),
        ("delivered", "[0] Delivered"),
        ("seen", None),
        ("undelivered", "[1] Undelivered"),
        ("rejected", "[2] Rejected"),
        ("failed", "[3] Failed"),
    ],
)
def test_a23_result_info_by_default(result: str, info: str | None) -> None:
    """A23: each result has its text, or the field is left out; it is never an empty string."""
    world = a_world(rule(result))
    send(world, steps=[step("richmsg")])
    event = events_of(world)[-1]
    assert (event["result"], event.get("result_info")) == (result, info)


def test_s7_3_result_info_of_a_rule() -> None:
    """A rule's own text, code only or text only as well, stands in the event; an empty one leaves the field out."""
    world = a_world(rule(path(("sending", 0, "[368]"), ("sent", 0, "Unauthorized error"), ("delivered", 0, ""))))
    send(world)
    events = events_of(world)
    assert [event.get("result_info") for event in events] == ["[368]", "Unauthorized error", None]
    assert valid(events, "SentMessageSms")
    attempt = Messaging.of(world).messages[0].attempts[0]
    assert [info_of(attempt, code) for code, _ in attempt.transitions()] == ["[368]", "Unauthorized error", None]


# --- refused messages (A67)


@pytest.mark.parametrize(
    ("blueprint", "number", "country"),
    [({}, "nonsense", 0), ({"blacklist": frozenset({PHONE})}, PHONE, 230), ({"credit": 0}, PHONE, 230)],
    ids=["no number", "blacklisted", "no credit"],
)
def test_a67_a_refused_message_has_details_of_nothing(blueprint: dict[str, Any], number: str, country: int) -> None:
    """A67: the first step's gateway, the channel's object with count, prices and operator 0, and the reason."""
    world = a_world(**blueprint)
    send(world, number, steps=[step("richmsg"), step()])
    (event,) = events_of(world)
    assert (event["gateway"], event["result"]) == ("richmsg", "rejected")
    assert event["to"] == {"phone_number": number}
    assert event["richmsg"] == {
        "sender": "Acme",
        "country": country,
        "operator": 0,
        "price_czk": 0,
        "price_eur": 0,
        "count": 0,
    }
    assert event["result_info"].startswith("[30")
    assert valid([event], "SentMessageRichmsg")


def test_a67_the_payload_is_an_object_when_none_was_given() -> None:
    """A67: `{}` stands for a payload that the request did not have."""
    world = a_world()
    send(world)
    assert all(event["payload"] == {} for event in events_of(world))


def test_the_sender_is_the_steps_else_the_keys_else_the_services() -> None:
    """§2.1: a step's sender wins over what the key has by default; somebody is always shown."""
    world = a_world()
    key = Key("test-w~1", default_sender="Shop")
    send(world, steps=[step(sender="Acme")], key=key)
    send(world, key=key)
    send(world)
    assert [event["sms"]["sender"] for event in events_of(world, 0)] == ["Acme", "Shop", "InfoSMS"]


def test_s2_2_each_attempt_reports_its_own_gateway() -> None:
    """§2.2: the events of the second step carry that step's channel and details."""
    world = a_world(rule("undelivered"))
    send(world, steps=[step("richmsg"), step()])
    events = events_of(world)
    assert [(event["gateway"], event["result"]) for event in events] == [
        ("richmsg", "sending"),
        ("richmsg", "sent"),
        ("richmsg", "undelivered"),
        ("sms", "sending"),
        ("sms", "sent"),
        ("sms", "undelivered"),
    ]
    assert valid([events], "Batch")  # type: ignore[list-item] # a batch is a list of events


def test_a_state_that_comes_twice_has_two_timestamps() -> None:
    """A lawless path (`illegal: true`) may repeat a result; each event tells its own instant."""
    world = a_world(rule(path("sent", ("delivered", 1_000), ("sent", 1_000), ("delivered", 1_000)), illegal=True))
    send(world)
    events = events_of(world)
    assert [(event["result"], event["timestamp"] - START // 1000) for event in events] == [
        ("sent", 0),
        ("delivered", 1),
        ("sent", 2),
        ("delivered", 3),
    ]


# --- incoming


def test_s6_a_reply_has_exactly_its_fields() -> None:
    """§6 `incomingReplyMessage`: the ids and the payload of the message, unchanged, and who wrote what to whom."""
    world = a_world()
    message = send_one(world, steps=[step(sender="Acme")], payload={"order": 7})
    advance(world, 60_000)
    Messaging.of(world).phones.reply(message, "YES")
    event = events_of(world, 0)[-1]
    assert event == {
        "request_id": message.submission.request_id,
        "message_id": message.id,
        "payload": {"order": 7},
        "gateway": "sms",
        "timestamp": START // 1000 + 60,
        "type": "incoming",
        "sender": PHONE,
        "recipient": "Acme",
        "body": "YES",
    }
    assert valid([event], "IncomingReplyMessage")


@pytest.mark.parametrize("family", dict.fromkeys(FAMILY[name] for name in USUAL))
def test_s6_an_unsolicited_message_has_exactly_its_fields(family: str) -> None:
    """§6 `incomingMessage`: no ids and no payload."""
    world = a_world()
    Messaging.of(world).phones.write(family, "420777000999", "420900000001", "Hello")
    (event,) = events_of(world, 0)
    assert event == {
        "gateway": family,
        "timestamp": START // 1000,
        "type": "incoming",
        "sender": "420777000999",
        "recipient": "420900000001",
        "body": "Hello",
    }
    assert valid([event], "IncomingMessage")


@pytest.mark.parametrize("channel", ["chatapp_text", "chatapp_template"])
def test_s6_a_reply_on_the_messaging_app_is_chatapp(channel: str) -> None:
    """§6: for the messaging-app channel the gateway of a reply is always `chatapp`."""
    world = a_world()
    message = send_one(world, steps=[a_step(channel)])
    advance(world, 60_000)
    Messaging.of(world).phones.reply(message, "YES")
    assert events_of(world, 0)[-1]["gateway"] == "chatapp"


def test_kinds() -> None:
    """The three kinds of §6, told apart by what the event is made of."""
    world = a_world()
    message = send_one(world)
    advance(world, 60_000)
    Messaging.of(world).phones.reply(message, "YES")
    Messaging.of(world).phones.write("sms", "420777000999", None, "Hello")
    advance(world)
    kinds = [kind_of(event) for delivery in world.outlets.hook for event in delivery.events]
    assert kinds == ["sentMessage"] * 3 + ["incomingReplyMessage", "incomingMessage"]


# --- batches


def test_s6_a_batch_is_always_an_array() -> None:
    """§6: one event or many, an array; events of one instant for one target in the order in which they happened."""
    world = a_world()
    send(world, PHONE, "420777000101", "nonsense")
    advance(world)
    ((delivery,), body) = world.outlets.deliveries, orjson.loads(body_of(world, world.outlets.hook[0]))
    assert len(delivery.events) == 3
    assert [(event["to"]["phone_number"], event["result"]) for event in body] == [
        (PHONE, "sending"),
        ("420777000101", "sending"),
        ("nonsense", "rejected"),
    ]


def test_a22_a_retry_sends_the_same_bytes() -> None:
    """A22: the bytes of the first try are kept until the delivery ends, whatever changes meanwhile, and then let go."""
    world = make_world()
    key = Account.of(world).keys[world.id]
    send(world, callback="https://example.com/hook")
    sent: list[bytes] = []

    def answer(delivery: Delivery) -> tuple[int | None, str | None]:
        sent.append(body_of(world, delivery))
        key.default_sender = f"Shop {len(sent)}"
        return (503 if len(sent) == 1 else 200), None

    advance(world, 500, answer=answer)
    advance(world, 30_000, answer=answer)
    retried = [body for body in sent if b'"sending"' in body]
    assert len(retried) == 2
    assert retried[0] == retried[1]
    assert world.outlets.deliveries[0].body is None
    assert b"Shop 4" in body_of(world, world.outlets.deliveries[0])
    assert world.outlets.deliveries[0].body is None
