"""Views: messages, links, phones and the account as plain objects, for control, page and fixture."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.engine.answer import moment
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.services.account.control import account_view
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.answers import Text
from sendbox.services.messaging.channels import channels_on
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec, Shortening
from sendbox.services.messaging.views import link_view, message_view, phone_view
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import HOUR, PHONE, advance, make_world, path, rule, send, send_one, step

#: What a phone has in a world without settings.
USUAL_FAMILIES = sorted({channel.family for channel in channels_on(Assume())})

CALLBACK = "https://example.com/hook"
OTHER = "420777000101"
SECOND = 1_000


# --- messages


def test_a_message_before_its_hand_over() -> None:
    """What was asked for, `accepted`, and nothing yet about what became of it."""
    world = make_world()
    message = send_one(world, steps=[step(sender="Acme", body="Hi")], payload={"a": 1}, tags=("x", "y"))
    assert message_view(world, message) == {
        "message_id": message.id,
        "request_id": message.submission.request_id,
        "operation": "sendMessage",
        "phone": PHONE,
        "result": "accepted",
        "channel": "sms",
        "sender": "Acme",
        "body": "Hi",
        "tags": ["x", "y"],
        "payload": {"a": 1},
        "priority": False,
        "accepted_at": "2026-03-01T09:00:00.000Z",
        "clicked_at": None,
        "replied_at": None,
        "optout_at": None,
        "links": [],
        "attempts": [],
        "timeline": [],
    }


def test_a_template_before_its_hand_over_has_no_text_yet() -> None:
    """A template step has no body of its own; it is rendered when it is sent."""
    world = make_world()
    message = send_one(world, steps=[step("chatapp_template", None, template=TemplateUse("otp", "en"))])
    assert message_view(world, message)["body"] == ""


def test_a_message_with_a_flow() -> None:
    """Each attempt with its own timeline, and one timeline of all in order of time, a late receipt in its place."""
    world = make_world(
        attempts=(
            rule(
                path("sending", ("sent", SECOND), ("delivered", 40 * SECOND, "late")),
                key="r",
                when=When(channel=("richmsg",)),
                name="slow",
            ),
            rule("delivered", key="rest"),
        )
    )
    message = send_one(world, steps=[step("richmsg", ttl=30 * SECOND), step(sender="Acme", body="By sms")])
    advance(world, 31 * SECOND)
    view = message_view(world, message)
    assert [(a["number"], a["channel"], a["result"], a["rules"], a["planned"]) for a in view["attempts"]] == [
        (1, "richmsg", "sent", ["slow"], ["delivered"]),
        (2, "sms", "sent", ["rest"], ["delivered"]),
    ]
    assert (view["channel"], view["sender"], view["body"]) == ("sms", "Acme", "By sms")
    advance(world, HOUR)
    view = message_view(world, message)
    assert [(entry["at"][17:19], entry["channel"], entry["result"]) for entry in view["timeline"]] == [
        ("00", "richmsg", "sending"),
        ("01", "richmsg", "sent"),
        ("30", "sms", "sending"),
        ("31", "sms", "sent"),
        ("33", "sms", "delivered"),
        ("41", "richmsg", "delivered"),
    ]
    assert view["attempts"][0]["timeline"][-1] == {
        "at": "2026-03-01T09:00:41.000Z",
        "result": "delivered",
        "info": "late",
    }
    assert view["attempts"][0]["planned"] == []
    assert view["attempts"][0]["details"]["sender"] == "Acme"


def test_a_refused_attempt_says_why() -> None:
    """The journal's word stands on the attempt; nothing is planned, and no rule had a say."""
    world = make_world(account=AccountSpec(blacklist=frozenset({PHONE})), attempts=(rule("delivered"),))
    message = send_one(world)
    advance(world)
    (attempt,) = message_view(world, message)["attempts"]
    assert (attempt["refused"], attempt["planned"], attempt["rules"]) == ("blacklist", [], [])


def test_a_message_with_links_and_marks() -> None:
    """The text as the phone got it, its links with each click, and the first click and reply."""
    world = make_world()
    message = send_one(world, body="see https://acme.example now", shortening=Shortening())
    advance(world, HOUR)
    link = Messaging.of(world).phones.click(message)
    Messaging.of(world).phones.reply(message, "STOP")
    advance(world, HOUR)
    Messaging.of(world).phones.click(message)
    view = message_view(world, message)
    assert view["body"] == f"see {link.url} now"
    ten = "2026-03-01T10:00:00.000Z"
    assert (view["clicked_at"], view["replied_at"], view["optout_at"]) == (ten, ten, ten)
    assert view["links"] == [link_view(link)]
    assert link_view(link) == {
        "url": link.url,
        "target": "https://acme.example",
        "expires_at": "2026-03-08T09:00:00.000Z",
        "clicks": [ten, "2026-03-01T11:00:00.000Z"],
        "message_id": message.id,
    }


# --- phones, the account


def test_a_phone_that_did_nothing() -> None:
    """Every number has a handset, with every channel unless the scenario says otherwise."""
    assert phone_view(make_world(), PHONE) == {
        "number": PHONE,
        "channels": USUAL_FAMILIES,
        "online": True,
        "conversation_open": False,
        "opted_out": False,
        "messages": [],
        "codes": [],
        "conversation": [],
    }


def test_a_phone_of_the_scenario() -> None:
    """Its channels, conversation and state are the entry's; an entry without channels has all."""
    world = make_world(
        phones=(
            PhoneSpec(Pattern(PHONE, digits=True), frozenset({"sms"}), conversation=True, offline=True),
            PhoneSpec(Pattern("*", digits=True)),
        )
    )
    view = phone_view(world, PHONE)
    assert (view["channels"], view["online"], view["conversation_open"]) == (["sms"], False, True)
    assert phone_view(world, OTHER)["channels"] == USUAL_FAMILIES


def test_a_conversation_in_order() -> None:
    """What arrived, once it arrived, and what the phone wrote, oldest first; other phones' messages are theirs."""
    world = make_world(attempts=(rule("seen", key="r", when=When(channel=("richmsg",))), rule("delivered", key="rest")))
    first = send_one(world, steps=[step(sender="Acme", body="One https://acme.example")], shortening=Shortening())
    second = send_one(world, steps=[step("richmsg", "Two")])
    send(world, OTHER)
    advance(world, 2 * SECOND)
    assert phone_view(world, PHONE)["conversation"] == []
    advance(world, SECOND)
    Messaging.of(world).phones.reply(first, "STOP")
    advance(world, HOUR)
    view = phone_view(world, PHONE)
    link = first.reactions.links[0][0]
    at = "2026-03-01T09:00:03.000Z"
    assert view["conversation"] == [
        {
            "at": at,
            "direction": "in",
            "channel": "sms",
            "message_id": first.id,
            "from": "Acme",
            "body": f"One {link.url}",
            "links": [link_view(link)],
            "seen": False,
        },
        {
            "at": at,
            "direction": "in",
            "channel": "richmsg",
            "message_id": second.id,
            "from": "Acme",
            "body": "Two",
            "links": [],
            "seen": True,
        },
        {
            "direction": "out",
            "at": at,
            "channel": "sms",
            "from": PHONE,
            "to": "Acme",
            "body": "STOP",
            "message_id": first.id,
        },
    ]
    assert view["messages"] == [first.id, second.id]
    assert view["opted_out"] is True


def test_the_account_in_units_of_money() -> None:
    """Credit and what was spent in the currency; lists sorted; senders by channel, or `any`."""
    spec = AccountSpec(
        credit=1_000_000,
        senders={"richmsg": frozenset({"B", "A"})},
        numbers=frozenset({"2", "1"}),
        domains=frozenset({"b.example", "a.example"}),
        default_callback_url=CALLBACK,
        optout=frozenset({"9", "8"}),
        blacklist=frozenset({"7", "6"}),
        templates=({"name": "otp", "language": "en"},),
    )
    world = make_world(account=spec)
    send(world)
    advance(world)
    view = account_view(world)
    assert view["credit"] + view["spent"] == pytest.approx(1)
    assert {**view, "credit": None, "spent": None} == {
        "currency": "EUR",
        "credit": None,
        "spent": None,
        "country": "420",
        "default_callback_url": CALLBACK,
        "senders": {"richmsg": ["A", "B"]},
        "numbers": ["1", "2"],
        "domains": ["a.example", "b.example"],
        "templates": [{"name": "otp", "language": "en"}],
        "optout": ["8", "9"],
        "blacklist": ["6", "7"],
        "stop_words": ["STOP"],
        "subkeys": [],
        "orders": [],
    }
    assert account_view(make_world())["senders"] == "any"


def test_events_in_short() -> None:
    """What a delivery carries: a result of a message, or who wrote what."""
    world = make_world()
    Messaging.of(world).phones.write("sms", OTHER, None, "Hello")
    ((inbound,),) = ([each] for each in Messaging.of(world).phones.inbound)
    assert Observer(world, SERVED.kinds).event(inbound) == {"event": "incomingMessage", "from": OTHER, "body": "Hello"}


@pytest.mark.parametrize(("fields", "recipient"), [({}, None), ({"to_": None}, None), ({"to_": "1"}, "1")])
def test_the_recipient_of_a_text(fields: dict[str, Any], recipient: str | None) -> None:
    """What arrived has none; what a phone wrote has the one that was named."""
    text = Text(at=moment(0), channel="sms", message_id=None, from_=None, body="hi", **fields)
    assert (text.to, text.get("to"), "to" in text) == (recipient, recipient, bool(fields))
