"""`timeline:`: what each kind of entry becomes, and stories that are told with it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.durations import Span
from sendbox.engine.texts import Fake, Text
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.scenario.keys.texts import LOCALE
from sendbox.scenario.shape import schema
from sendbox.services.account.account import Account
from sendbox.services.messaging.content.text import GAPS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.outages import Outage
from sendbox.services.messaging.phones import ACTS
from sendbox.services.messaging.records import Message
from tests.core.worlds import HOUR, PHONE, START, advance, hook_events, journaled, moves, send_one, step
from tests.scenarios import check, load

MINUTE: Final = 60_000
HALF_HOUR: Final = 30 * MINUTE


def compiled(entry: dict[str, Any], **scenario: Any) -> Any:
    """The only entry of a scenario's timeline."""
    (found,) = load({"sendbox": 1, "timeline": [{"at": "1m", **entry}], **scenario}).timeline
    return found


def test_a_reply() -> None:
    """Its phone is normalized; a text without gaps stays what it is."""
    found = compiled({"reply": {"phone": "777 000 002", "body": "YES", "channel": "sms", "message_id": "m-1"}})
    assert (found.kind, found.means) == ("reply", None)
    assert found.what == {"phone": "420777000002", "body": "YES", "channel": "sms", "message_id": "m-1"}


def test_an_act() -> None:
    """Its number is normalized."""
    found = compiled({"phone": {"number": "777000002", "act": "press", "button": "Yes"}})
    assert (found.kind, found.what) == ("phone", {"number": "420777000002", "act": "press", "button": "Yes"})


def test_every_act_can_be_written() -> None:
    """The language has the acts that the core knows."""
    assert schema()["$defs"]["happening"]["properties"]["phone"]["properties"]["act"]["enum"] == list(ACTS)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param({"channel": "richmsg"}, {"channels": ("richmsg",)}, id="channel"),
        pytest.param(
            {"channel": ["sms", "chatapp"]}, {"channels": ("sms", "chatapp_text", "chatapp_template")}, id="channels"
        ),
        pytest.param({"country": 230}, {"countries": frozenset({"CZ"})}, id="mcc"),
        pytest.param({"country": "CZ", "operator": 2}, {"countries": frozenset({"CZ"}), "network": 2}, id="operator"),
        pytest.param(
            {"channel": "sms", "in_flight": "failed", "new": "rejected", "info": "[9] Out"},
            {"channels": ("sms",), "in_flight": "failed", "new": "rejected", "info": "[9] Out"},
            id="bad ends",
        ),
    ],
)
def test_an_outage(written: dict[str, Any], expected: dict[str, Any]) -> None:
    """Countries by MCC or by two letters; what is not said waits."""
    found = compiled({"outage": {"for": "30m", **written}})
    assert found.means == Outage(HALF_HOUR, **expected)
    assert found.what == {"for": "30m", **written}


def test_a_change_of_the_account() -> None:
    """As control takes it: credit in millionths of the account's currency, lists normalized; the rest is not there."""
    found = compiled(
        {"account": {"credit": {"czk": 2}, "optout": ["777000002"]}}, account={"currency": "CZK", "credit": {"czk": 9}}
    )
    assert found.means == {"credit": 2_000_000, "optout": frozenset({"420777000002"})}
    other = compiled({"account": {"currency": "CZK", "credit": {"czk": 2}}})
    assert other.means == {"currency": "CZK", "credit": 2_000_000}


def test_a_change_of_the_clock() -> None:
    """Mode and rate as they were written."""
    assert compiled({"clock": {"mode": "real", "rate": 0.5}}).what == {"mode": "real", "rate": 0.5}


def test_texts_may_have_gaps() -> None:
    """Names that the message fills, and invented ones of the nearest locale; blanks in the braces are nothing."""
    entries = [
        {"at": 0, "reply": {"phone": "420777000002", "body": "{{ body }}! {{fake.first_name}}"}},
        {"at": 0, "reply": {"phone": "420777000002", "body": "{{fake.city}}", "locale": "de_DE"}},
        {"at": 0, "inbound": {"channel": "sms", "from": "420777000002", "body": "{{phone}} {{fake.word}}"}},
    ]
    texts: list[Text] = [each.means for each in load({"sendbox": 1, "locale": "cs_CZ", "timeline": entries}).timeline]
    assert [[getattr(part, "name", part) for part in text.parts] for text in texts] == [
        ["body", "! ", "first_name"],
        ["city"],
        ["phone", " ", "word"],
    ]
    assert [part.locale for text in texts for part in text.parts if isinstance(part, Fake)] == [
        "cs_CZ",
        "de_DE",
        "cs_CZ",
    ]
    assert len({each.key for each in load({"sendbox": 1, "timeline": [*entries, *entries]}).timeline}) == 6


def test_replies_of_rules_have_a_locale() -> None:
    """The reply's own wins over the rule's, and that over the scenario's; without any it is English."""
    replies = [{"body": "{{fake.name}}"}, {"body": "{{fake.name}}", "locale": "sk_SK"}, {"body": "plain"}]
    rule: dict[str, Any] = {"replies": replies}
    for scenario, expected in (
        ({"attempts": [rule]}, [LOCALE, "sk_SK"]),
        ({"attempts": [rule], "locale": "pl_PL"}, ["pl_PL", "sk_SK"]),
        ({"attempts": [{**rule, "locale": "fr_FR"}], "locale": "pl_PL"}, ["fr_FR", "sk_SK"]),
    ):
        (found,) = load({"sendbox": 1, **scenario}).compiled["attempts"]
        assert found.replies is not None
        assert [reply.text.parts[0].locale for reply in found.replies if reply.text] == expected
        assert found.replies[2].text is None


def test_clicks() -> None:
    """One or several, of the first link that works or of one by its number; one written alone keeps its old key."""
    one, two = load(
        {
            "sendbox": 1,
            "attempts": [{"click": {"after": "1m"}}, {"click": [{"after": "1m"}, {"after": "2m", "link": 2}]}],
        }
    ).compiled["attempts"]
    assert one.click is not None
    assert two.click is not None
    assert [(each.after, each.link) for each in one.click] == [(Span(60_000, 60_000), None)]
    assert [each.link for each in two.click] == [None, 2]
    assert one.key == '{"click":[60000,60000],"when":{}}'
    assert two.key == '{"click":[[60000,60000],[120000,120000,2]],"when":{}}'


def test_after_is_part_of_a_rules_text() -> None:
    """Rules that look back differ by what they look for; one that does not keeps its old key."""
    rules: list[dict[str, Any]] = [
        {"then": "sent"},
        *({"when": {"after": {"result": each}}, "then": "sent"} for each in ("failed", "undelivered")),
    ]
    found = load({"sendbox": 1, "attempts": rules}).compiled["attempts"]
    assert found[0].key == '{"then":"sent","when":{}}'
    assert len({rule.key for rule in found}) == 3


@pytest.mark.parametrize("gap", GAPS)
def test_every_gap_is_legal_in_a_reply(gap: str) -> None:
    """Each name of the table, a payload with a path."""
    written = f"{{{{{gap}.a.b}}}}" if gap == "payload" else f"{{{{{gap}}}}}"
    assert check({"sendbox": 1, "attempts": [{"replies": [{"body": written}]}]}) == []


# --- stories


def told(text: str) -> World:
    """A world of a scenario that was written out."""
    return World("test-w", load("sendbox: 1\n" + text, name="a.yaml"), start=START, services=PARTS)


def otp(world: World) -> Message:
    """A code as a rich message that falls back to SMS after a minute."""
    return send_one(world, steps=[step("richmsg", ttl=60_000), step()])


def test_a_code_falls_back_while_the_rich_message_channel_is_out() -> None:
    """The SMS is there two minutes later; the rich message arrives when the outage is over (A05)."""
    world = told("timeline: [{at: 5m, outage: {channel: richmsg, for: 15m}}]\n")
    advance(world, 10 * MINUTE)
    message = otp(world)
    advance(world, HOUR)
    assert moves(message, START + 10 * MINUTE) == [
        (0, 1, "sending"),
        (MINUTE, 2, "sending"),
        (MINUTE + 1_000, 2, "sent"),
        (MINUTE + 3_000, 2, "delivered"),
        (10 * MINUTE, 1, "sent"),
        (10 * MINUTE + 2_000, 1, "delivered"),
    ]


def test_a_late_receipt_after_the_flow_moved_on() -> None:
    """A05: the receipt of a step that the flow has left is still told, and stops nothing."""
    world = told(
        """attempts:
  - when: {channel: richmsg}
    then: [sending, sent, {delivered: {after: 10m}}]
"""
    )
    message = otp(world)
    advance(world, HOUR)
    told_of = [(event["gateway"], event["result"]) for event in hook_events(world)]
    assert told_of[-2:] == [("sms", "delivered"), ("richmsg", "delivered")]
    assert moves(message)[-1] == (10 * MINUTE + 1_000, 1, "delivered")


def test_a_missing_receipt() -> None:
    """What is only ever sent stays so; a condition of delivered is not met, and the flow moves on by its TTL."""
    world = told("attempts: [{when: {channel: richmsg}, then: sent}]\n")
    message = otp(world)
    advance(world, HOUR)
    assert [each[1:] for each in moves(message)] == [
        (1, "sending"),
        (1, "sent"),
        (2, "sending"),
        (2, "sent"),
        (2, "delivered"),
    ]


def test_a_reply_quotes_and_opts_out() -> None:
    """Several replies come in their times; the one with a stop word opts out."""
    world = told(
        """locale: cs_CZ
attempts:
  - replies:
      - {after: 5s, body: "{{fake.first_name}}: {{body}} ({{payload.order.id}}{{payload.nothing}})"}
      - {after: 10s, body: stop}
"""
    )
    send_one(world, body="Your order is on its way", payload={"order": {"id": "A-17"}})
    advance(world, HOUR)
    first, second = Messaging.of(world).phones.inbound
    assert first.body.endswith(": Your order is on its way (A-17)")
    assert (second.at - first.at, list(Account.of(world).optout)) == (5_000, [PHONE])


def test_links_are_opened_one_after_the_other() -> None:
    """Each click at its time, of the link that it names; one that is not there is left out."""
    world = told("attempts: [{click: [{after: 1m}, {after: 2m, link: 2}, {after: 3m, link: 3}]}]\n")
    send_one(world, body="https://a.example or https://b.example", shortening=Shortening())
    advance(world, HOUR)
    assert [(at, link.target) for at, link in journaled(world, "click")] == [
        (63_000, "https://a.example"),
        (123_000, "https://b.example"),
    ]


def test_the_second_attempt_depends_on_the_first() -> None:
    """An sms after an undelivered rich message is delivered late, any other at once."""
    world = told(
        """attempts:
  - when: {channel: sms, after: {channel: richmsg, result: undelivered}}
    then: [sending, sent, {delivered: 5m}]
  - when: {channel: richmsg, phone: "420777000100"}
    then: undelivered
  - when: {channel: richmsg}
    then: failed
"""
    )
    slow = otp(world)
    fast = send_one(world, "420777000200", steps=[step("richmsg"), step()])
    advance(world, HOUR)
    assert (moves(slow)[-1], moves(fast)[-1]) == ((304_000, 2, "delivered"), (4_000, 2, "delivered"))
