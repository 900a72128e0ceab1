"""The channel rcs where a setting has it, from the client's side and from the recipient's (A02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.channels import USUAL_TEXT

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PHONE = "420777000101"
CARD = {
    "title": "Shoes",
    "file": "https://acme.example/shoes.png",
    "buttons": [
        {"type": "url", "text": "Look", "url": "https://acme.example/shoes"},
        {"type": "reply", "text": "Buy", "postback": "buy-17"},
    ],
}
ON = {"sendbox": 1, "assume": {"rcs": True}, "account": {"senders": {"rcs": ["acme_agent_2026"]}}}


def post(sendbox: Sandbox, *steps: dict[str, Any], **fields: Any) -> httpx.Response:
    """Sends one message with a flow."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as http:
        body = {"to": [{"phone_number": PHONE}], "flow": list(steps), **fields}
        return http.post(f"{sendbox.base_url}/message", json=body)


@pytest.mark.sendbox(scenario={**ON, "clock": {"start": "2026-03-01T09:00:00Z"}})
def test_a02_a_card_is_answered_by_a_tap(sendbox: Sandbox) -> None:
    """A step of its own: agent, price, events with an object of its own, no text; a tap comes in as its postback."""
    answer = post(sendbox, {"rcs": {"sender": "acme_agent_2026", "card": CARD}})
    assert answer.status_code == 200
    sendbox.advance("1m")
    events = sendbox.events
    assert [event["result"] for event in events] == ["sending", "sent", "delivered"]
    assert {event["gateway"] for event in events} == {"rcs"}
    assert events[-1]["rcs"] == {
        "sender": "acme_agent_2026",
        "country": 230,
        "operator": events[-1]["rcs"]["operator"],
        "price_czk": 0.3,
        "price_eur": 0.012,
        "count": 1,
    }
    phone = sendbox.phone(PHONE)
    assert (phone.latest.body, phone.latest["content"]) == ("", {"card": CARD})
    phone.press("Buy")
    sendbox.advance("1s")
    reply = sendbox.events[-1]
    assert (reply["gateway"], reply["recipient"], reply["body"]) == ("rcs", "acme_agent_2026", "buy-17")
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as http:
        (row,) = http.get(f"{sendbox.rest_url}/messages", params={"date": "2026-03-01"}).json()["messages"]
    assert (row["flow"], row["body"], row["replied"], row["price_eur"]) == ("rcs", "", 1, "0.012")
    assert "A02" in {each["id"] for each in sendbox.assumptions}


@pytest.mark.sendbox(scenario={**ON, "account": {"senders": "any"}})
def test_a02_suggestions_stand_in_order_and_may_lack_a_postback(sendbox: Sandbox) -> None:
    """Those under the text come first, then those of the cards; without a postback the label comes in."""
    buttons = [{"type": "reply", "text": "Yes"}]
    cards = [
        {"type": "image", **CARD},
        {"type": "video", "title": "Hats", "buttons": [{"type": "reply", "text": "No"}]},
    ]
    step = {"sender": "Acme", "buttons": buttons, "carousel": cards, "raw": {"any": ["thing"]}}
    post(sendbox, {"rcs": step}, body="Which?")
    sendbox.advance("1m")
    phone = sendbox.phone(PHONE)
    assert phone.latest.body == "Which?"
    for button in (0, "1", "No"):
        phone.press(button)
    sendbox.advance("1s")
    assert [event["body"] for event in sendbox.events if event["type"] == "incoming"] == ["Yes", "buy-17", "No"]
    with pytest.raises(Exception, match='"Look" is not a quick reply of this message; there are: Yes, Buy, No'):
        phone.press("Look")


@pytest.mark.sendbox(scenario={**ON, "account": {"senders": "any"}, "phones": [{"number": "*", "channels": ["sms"]}]})
def test_a62_a_phone_without_it_refuses_the_step(sendbox: Sandbox) -> None:
    """The flow goes on at once."""
    post(sendbox, {"rcs": {"sender": "Acme", "ttl": 5}}, {"sms": {}}, body="Hello")
    sendbox.advance("1m")
    assert [(each.channel, each.result) for each in sendbox.message().attempts] == [
        ("rcs", "rejected"),
        ("sms", "delivered"),
    ]
    assert sendbox.phone(PHONE).state.channels == ["sms"]


@pytest.mark.sendbox(scenario=ON)
def test_a02_an_agent_is_registered(sendbox: Sandbox) -> None:
    """A step of an agent that is not registered is rejected (A59, A62)."""
    post(sendbox, {"rcs": {"sender": "other_agent", "body": "Hello"}})
    sendbox.advance("1m")
    assert sendbox.message().result == "rejected"
    assert "rcs" in sendbox.phone(PHONE).state.channels


SCENARIO = {
    **ON,
    "account": {"senders": {"rcs": ["Acme"]}},
    "attempts": [{"when": {"channel": "rcs"}, "then": "seen", "replies": [{"after": "5s", "body": "YES"}]}],
    "timeline": [{"at": "2m", "inbound": {"channel": "rcs", "from": PHONE, "to": "Acme", "body": "Hello"}}],
    "expect": [
        {"that": "messages", "where": {"channel": "rcs", "result": "seen"}, "count": 1},
        {"that": "inbound", "where": {"channel": "rcs"}, "count": 2},
    ],
}
SCENARIO["assume"] = {"rcs": True, "prices": {"rcs": {"default": {"eur": 1, "czk": 25}}}}


@pytest.mark.sendbox(scenario=SCENARIO)
def test_a02_scenarios_speak_of_it(sendbox: Sandbox) -> None:
    """Rules, prices, what phones write, and what is expected know the channel; the root's sender and body serve."""
    post(sendbox, {"rcs": {}}, sender="Acme", body="Hello")
    sendbox.advance("5m")
    assert sendbox.message().result == "seen"
    assert [event["gateway"] for event in sendbox.events if event["type"] == "incoming"] == ["rcs", "rcs"]
    assert {event["rcs"]["price_eur"] for event in sendbox.events if event["type"] == "outgoing"} == {1}
    assert sendbox.verdict.passed


def test_a02_off_there_is_no_such_channel(sendbox: Sandbox) -> None:
    """Off, a step named `rcs` is a 400, and phones do not have it."""
    answer = post(sendbox, {"rcs": {"sender": "Acme", "body": "Hello"}})
    text = f'"rcs" is a channel that the specification does not show and that is off; legal: {USUAL_TEXT}'
    assert answer.status_code == 400
    assert answer.json()["Message"] == f"{text} (§2.2, A02) at $.flow[0]"
    assert "rcs" not in sendbox.phone(PHONE).state.channels
