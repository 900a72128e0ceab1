"""Statistics of a business account, from what was really sent (§4.3, A45)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import DAY, HOUR, MINUTE, instant, iso
from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.partner import analytics as analytics
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec
from tests.core.clients import form, send_template
from tests.core.worlds import START, advance, handset, make_world, rule, send_one, step

BUTTONS = {
    "type": "BUTTONS",
    "buttons": [{"type": "URL", "text": "Go", "url": "https://a.example"}, {"type": "QUICK_REPLY", "text": "Yes"},
                {"type": "QUICK_REPLY", "text": "No"}],
}  # fmt: skip
SPEC = PartnerSpec(
    accounts=(
        BusinessSpec("1", numbers=(NumberSpec("420777000600", "11"), NumberSpec("420777000601", "12"))),
        BusinessSpec("2", numbers=(NumberSpec("420777000602", "22"),)),
    )
)
POLISH = "48500000001"


def campaign(**blueprint: Any) -> World:
    """A world with an approved template, and numbers of two clients."""
    attempts = (rule("undelivered", when=When(channel=("richmsg",))), rule("seen", key="rest"))
    world = make_world(partner=SPEC, attempts=attempts, phones=(handset("*", conversation=True),), **blueprint)
    template = form("hello", {"type": "BODY", "text": "Hello {{1}}"}, BUTTONS)
    for account in Partner.of(world).accounts.values():
        Partner.of(world).templates.create(account, template)
    advance(world, 10_000)
    return world


def asked(world: World, granularity: str = "DAY", **fields: Any) -> analytics.Query:
    """Everything of the first client, unless more is said."""
    start, end = fields.pop("start", 0), fields.pop("end", START + 900 * DAY)
    return analytics.Query(Partner.of(world).accounts["1"], start, end, granularity, **fields)


def test_messages_are_counted_where_they_were_sent_and_arrived() -> None:
    """Sent and delivered each in its own half hour; only what this client's numbers really sent on the app."""
    world = campaign(account=AccountSpec(credit=1_000_000))
    advance(world, 30 * MINUTE - 10_000 - 2000)
    send_template(world, "11")
    send_one(world, steps=[step("chatapp_text", sender="12")])
    send_template(world, "22")  # another client's
    send_one(world, steps=[step("sms", sender="11")])  # another channel
    send_template(world, "11", "nothing")  # rejected, never sent
    advance(world, HOUR)
    assert analytics.messages(world, asked(world, "HALF_HOUR")) == [
        {"start": START // 1000, "end": START // 1000 + 1800, "sent": 2, "delivered": 0},
        {"start": START // 1000 + 1800, "end": START // 1000 + 3600, "sent": 0, "delivered": 2},
    ]
    only = asked(world, phone_numbers=frozenset({"420777000601"}))
    assert [point["sent"] for point in analytics.messages(world, only)] == [1]
    assert analytics.messages(world, asked(world, start=START + DAY)) == []
    assert analytics.messages(world, asked(world, end=START)) == []


def test_messages_by_country() -> None:
    """Countries are those of the recipients."""
    world = campaign()
    send_template(world, "11")
    send_template(world, "11", to=POLISH)
    advance(world, HOUR)
    assert analytics.countries_of(world, asked(world)) == ["CZ", "PL"]
    (point,) = analytics.messages(world, asked(world, countries=frozenset({"PL"})))
    assert point["sent"] == 1
    assert analytics._iso("0") == ""


@pytest.mark.parametrize(
    ("at", "granularity", "begin", "end"),
    [
        ("2026-03-01T09:29:59Z", "HALF_HOUR", "2026-03-01T09:00:00.000Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00Z", "HALF_HOUR", "2026-03-01T09:30:00.000Z", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T09:30:00Z", "DAY", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"),
        ("2026-03-01T09:30:00Z", "DAILY", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"),
        ("2026-02-28T23:59:59Z", "MONTH", "2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"),
        ("2026-12-31T23:59:59Z", "MONTHLY", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
        ("2028-02-29T12:00:00Z", "MONTH", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"),
        ("9999-12-31T12:00:00Z", "MONTH", "9999-12-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_stretches_of_utc(at: str, granularity: str, begin: str, end: str) -> None:
    """Half hours, days and months of UTC."""
    assert tuple(map(iso, analytics.stretch(instant(at), granularity))) == (begin, end)


@pytest.mark.parametrize(("currency", "cost"), [("EUR", 0.108), ("CZK", 2.7)])
def test_conversations(currency: Any, cost: float) -> None:
    """Messages that arrive within a day of the first in one category are one conversation; a free text answers it."""
    world = campaign(account=AccountSpec(currency=currency))
    send_template(world, "11")
    advance(world, HOUR)
    send_template(world, "11")
    send_one(world, steps=[step("chatapp_text", sender="11")])
    advance(world, 24 * HOUR)
    send_template(world, "11")
    advance(world, HOUR)
    for owner in Partner.of(world).accounts.values():
        Partner.of(world).templates.delete(owner, "hello")  # what was sent is counted all the same
    points = analytics.conversations(world, asked(world, "DAILY"))
    assert [(p["conversation_category"], p["conversation_direction"], p["conversation"]) for p in points] == [
        ("SERVICE", "USER_INITIATED", 1),
        ("UTILITY", "BUSINESS_INITIATED", 1),
        ("UTILITY", "BUSINESS_INITIATED", 1),
    ]
    assert points[1]["cost"] == cost
    assert {p["conversation_type"] for p in points} == {"REGULAR"}
    assert analytics.conversations(world, asked(world, "DAILY", end=START)) == []


def test_templates_are_counted_with_reads_and_presses() -> None:
    """Sent, delivered, read, and how often each quick reply was pressed, with or without a payload of its own."""
    world = campaign()
    first = send_template(world, "11", buttons=[None, {"payload": "y"}])
    second = send_template(world, "11", to=POLISH)
    send_one(world, steps=[step("chatapp_text", sender="11")])
    advance(world, HOUR)
    Messaging.of(world).phones.reply(first, Messaging.of(world).phones.pressed(first, "Yes"))
    Messaging.of(world).phones.reply(second, Messaging.of(world).phones.pressed(second, "Yes"))
    Messaging.of(world).phones.reply(second, Messaging.of(world).phones.pressed(second, 2))
    Messaging.of(world).phones.reply(second, "Something else")
    Messaging.of(world).phones.write("chatapp", "420777000999", None, "Yes")
    account = Partner.of(world).accounts["1"]
    (record,) = Partner.of(world).templates.of(account)
    (point,) = analytics.templates(world, asked(world), record)
    assert {name: point[name] for name in ("sent", "delivered", "read")} == {"sent": 2, "delivered": 2, "read": 2}
    assert point["clicked"] == [
        {"type": "quick_reply_button", "button_content": "Yes", "count": 2},
        {"type": "quick_reply_button", "button_content": "No", "count": 1},
    ]
    for owner in Partner.of(world).accounts.values():
        Partner.of(world).templates.delete(owner, "hello")
    (point,) = analytics.templates(world, asked(world), record)
    assert point["clicked"] == []  # nobody knows its buttons any more
