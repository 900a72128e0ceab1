"""Entries of the timeline: what each kind does to a world."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.texts import Fake, Gap, Text
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec, SubKeySpec
from sendbox.services.messaging.channels import ROWS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.templates.templates import TemplateUse
from tests.core.observed import digest, entry_view
from tests.core.worlds import (
    HOUR,
    PHONE,
    START,
    advance,
    delivered,
    hook_events,
    journaled,
    make_world,
    rule,
    send_one,
    step,
)

MINUTE: Final = 60_000
OTHER: Final = "420777000200"


def entry(
    kind: str, what: dict[str, Any], *, at: int = MINUTE, relative: bool = True, means: Any = None
) -> TimelineEntry:
    """An entry a minute after the start."""
    return TimelineEntry(at, relative, kind, what, "a.yaml:5", means, "key")


def acts(world: World) -> list[tuple[int, tuple[str, str]]]:
    """What owners of phones did."""
    return journaled(world, "phone")


def test_every_kind_is_told_in_the_journal() -> None:
    """An entry is journaled when it comes, as it was written."""
    what = {"number": PHONE, "act": "offline"}
    world = make_world(timeline=(entry("phone", what),))
    advance(world, HOUR)
    assert journaled(world, "timeline") == [(MINUTE, {"kind": "phone", **what})]


@pytest.mark.parametrize(
    ("at", "relative", "told"),
    [
        pytest.param(START - 1, False, True, id="before the start"),
        pytest.param(START, False, False, id="at the start"),
        pytest.param(0, True, False, id="counted from the start"),
    ],
)
def test_an_entry_before_the_start_is_remarked_on(at: int, relative: bool, told: bool) -> None:
    """It happens at the start, and advice says so, with the place in the scenario."""
    world = make_world(timeline=(entry("phone", {"number": PHONE, "act": "offline"}, at=at, relative=relative),))
    advance(world)
    assert Messaging.of(world).phones.is_offline(PHONE)
    found = [entry_view(world, number) for number in world.journal.numbers(frozenset({"advice"}))]
    assert [each["advice"]["code"] for each in found] == ["happening-before-start"] * told
    assert all(each["about"] == {"entry": 0, "place": "a.yaml:5"} for each in found)


# --- reply


def test_a_reply_answers_the_newest_message() -> None:
    """The newest that the phone has on any channel, or on the one that is named, or the one with that id."""
    probe = make_world()
    first_id = send_one(probe, body="one").id
    world = make_world(
        timeline=(
            entry("reply", {"phone": PHONE, "body": "newest"}),
            entry("reply", {"phone": PHONE, "body": "sms", "channel": "sms"}),
            entry("reply", {"phone": PHONE, "body": "first", "message_id": first_id}),
        )
    )
    first = send_one(world, body="one")
    advance(world, 5_000)
    second = send_one(world, body="two")
    advance(world, 5_000)
    third = send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    assert [(each.body, each.channel, each.message) for each in Messaging.of(world).phones.inbound] == [
        ("newest", "richmsg", third),
        ("sms", "sms", second),
        ("first", "sms", first),
    ]


@pytest.mark.parametrize(
    "what",
    [
        pytest.param({"phone": OTHER}, id="no message"),
        pytest.param({"phone": PHONE, "channel": "chatapp"}, id="none on that channel"),
        pytest.param({"phone": PHONE, "message_id": "m-1"}, id="none of that id"),
    ],
)
def test_a_reply_to_nothing_is_noted(what: dict[str, Any]) -> None:
    """A phone that has nothing to answer says nothing."""
    world = make_world(timeline=(entry("reply", {**what, "body": "YES"}),))
    delivered(world)
    advance(world, HOUR)
    assert (Messaging.of(world).phones.inbound, acts(world)) == ([], [(MINUTE, (what["phone"], "nothing_to_answer"))])


def test_what_never_reached_the_phone_is_not_answered() -> None:
    """Only what the phone may have can be answered."""
    world = make_world(timeline=(entry("reply", {"phone": PHONE, "body": "YES"}),), attempts=(rule("undelivered"),))
    send_one(world)
    advance(world, HOUR)
    assert Messaging.of(world).phones.inbound == []


def test_texts_of_the_timeline_are_filled() -> None:
    """A reply knows the message that it answers; a phone that writes first knows its own number."""
    pool = tuple(f"name-{number}" for number in range(256))
    answer = Text("…", (Gap("body"), "! ", Fake("first_name", "en_US", pool)))
    hello = Text("…", ("I am ", Gap("phone"), Gap("sender")))
    world = make_world(
        timeline=(
            entry("reply", {"phone": PHONE, "body": "…"}, means=answer),
            entry("inbound", {"channel": "sms", "from": OTHER, "body": "…"}, means=hello),
        )
    )
    delivered(world)
    advance(world, HOUR)
    reply, inbound = Messaging.of(world).phones.inbound
    assert reply.body.startswith("Hello! name-")
    assert reply.canonical == "{{body}}! {{fake.first_name en_US " + reply.body.rpartition("-")[2] + "}}"
    assert (inbound.body, inbound.canonical) == (f"I am {OTHER}", f"I am {OTHER}")
    assert [event["body"] for event in hook_events(world)[-2:]] == [reply.body, inbound.body]


# --- what owners do


def doing(act: str, **more: Any) -> TimelineEntry:
    """The owner does something after a minute."""
    return entry("phone", {"number": PHONE, "act": act, **more})


def test_a_phone_goes_off_and_on() -> None:
    """While it is off nothing reaches it; then what waited does."""
    on = entry("phone", {"number": PHONE, "act": "online"}, at=HOUR)
    world = make_world(timeline=(doing("offline"), on))
    advance(world, 2 * MINUTE)
    message = send_one(world)
    advance(world, 10 * MINUTE)
    assert message.result == "sent"
    advance(world, HOUR)
    assert message.result == "delivered"
    assert acts(world) == [(MINUTE, (PHONE, "offline")), (HOUR, (PHONE, "online"))]


def test_an_owner_opts_out() -> None:
    """No promotional message reaches the phone any more."""
    world = make_world(timeline=(doing("opt_out"),))
    advance(world, HOUR)
    message = send_one(world)
    advance(world, HOUR)
    assert (message.result, journaled(world, "opt_out")) == ("rejected", [(MINUTE, (PHONE, None))])


def test_an_owner_reads() -> None:
    """The newest message that can be seen is opened, though an sms came after it."""
    world = make_world(timeline=(doing("seen"),))
    rich = delivered(world, steps=[step("richmsg")])
    sms = delivered(world)
    advance(world, HOUR)
    assert (rich.result, sms.result) == ("seen", "delivered")


LINKS: Final = "https://a.example and https://b.example"


def test_an_owner_follows_a_link() -> None:
    """The first link that works of the newest message that has one, or the one with that number in its text."""
    world = make_world(timeline=(doing("click"), doing("click", link=2), doing("click", link=3)))
    message = delivered(world, body=LINKS, shortening=Shortening())
    delivered(world)
    advance(world, HOUR)
    assert [link.target for _, link in journaled(world, "click")] == ["https://a.example", "https://b.example"]
    assert message.reactions.clicked_at == START + MINUTE
    assert acts(world) == [(MINUTE, (PHONE, "nothing_to_click"))]


def test_an_expired_link_is_not_followed() -> None:
    """A link that has lapsed is none."""
    world = make_world(timeline=(doing("click", link=1),))
    delivered(world, body=LINKS, shortening=Shortening(expires_at=START // 1000 + 30))
    advance(world, HOUR)
    assert (journaled(world, "click"), acts(world)) == ([], [(MINUTE, (PHONE, "nothing_to_click"))])


TEMPLATE: Final = {
    "name": "otp",
    "language": "en",
    "status": "APPROVED",
    "components": [
        {"type": "BODY", "text": "Code"},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": "Yes"}, {"type": "QUICK_REPLY", "text": "No"}]},
    ],
}


@pytest.mark.parametrize(
    ("button", "body"),
    [
        pytest.param({}, "Yes", id="the first"),
        pytest.param({"button": 1}, "No", id="by position"),
        pytest.param({"button": "No"}, "No", id="by title"),
        pytest.param({"button": "Perhaps"}, None, id="there is none"),
    ],
)
def test_an_owner_presses_a_button(button: dict[str, Any], body: str | None) -> None:
    """A quick reply of the newest message that has it is pressed, and its title or payload comes in (A68)."""
    world = make_world(timeline=(doing("press", **button),), account=AccountSpec(templates=(TEMPLATE,)))
    delivered(world, steps=[step("chatapp_template", None, template=TemplateUse("otp", "en"))])
    delivered(world)
    advance(world, HOUR)
    assert [each.body for each in Messaging.of(world).phones.inbound] == ([] if body is None else [body])
    assert acts(world) == ([(MINUTE, (PHONE, "nothing_to_press"))] if body is None else [])


@pytest.mark.parametrize(("act", "noted"), [("seen", "see"), ("click", "click"), ("press", "press")])
def test_an_act_that_needs_a_message(act: str, noted: str) -> None:
    """Without any it is noted that there was nothing to do it with."""
    world = make_world(timeline=(doing(act),))
    advance(world, HOUR)
    assert acts(world) == [(MINUTE, (PHONE, f"nothing_to_{noted}"))]


# --- account and clock


def test_the_account_changes() -> None:
    """What is named changes at that instant: credit, lists, the default callback, sub-keys; the rest stays."""
    means = {
        "credit": 0,
        "optout": frozenset({OTHER}),
        "senders": {"sms": frozenset({"Acme"})},
        "templates": (TEMPLATE,),
        "default_callback_url": "http://hook.example",
        "default_callback_secret": "quiet",
        "subkeys": (SubKeySpec("shop"),),
    }
    world = make_world(timeline=(entry("account", {"credit": {"eur": 0}}, means=means),))
    paid = delivered(world)
    advance(world, HOUR)
    unpaid = delivered(world)
    assert (paid.result, unpaid.result) == ("delivered", "rejected")
    account, key = Account.of(world), Account.of(world).keys[world.id]
    assert (account.balance, account.opted_out(OTHER, world.now)) == (0, True)
    assert (account.registered(ROWS["sms"], "Acme"), account.registered(ROWS["sms"], "Other")) == (True, False)
    assert account.template("otp", "en") is not None
    assert (key.default_callback_url, key.default_callback_secret) == ("http://hook.example", "quiet")
    assert "test-w~shop" in Account.of(world).keys


def test_what_is_not_named_stays() -> None:
    """A change of credit leaves callbacks and lists alone."""
    spec = AccountSpec(default_callback_url="http://hook.example", optout=frozenset({OTHER}))
    world = make_world(account=spec, timeline=(entry("account", {"credit": {"eur": 1}}, means={"credit": 1_000_000}),))
    advance(world, HOUR)
    assert (Account.of(world).balance, Account.of(world).opted_out(OTHER, world.now)) == (1_000_000, True)
    assert Account.of(world).keys[world.id].default_callback_url == "http://hook.example"


def test_the_clock_changes() -> None:
    """Mode and rate are others from that instant on; the world stops there once, so that whoever moves it can look."""
    world = make_world(timeline=(entry("clock", {"mode": "real", "rate": 60}),))
    world.run(START + HOUR, 1000)
    assert (world.now, world.clock.mode, world.clock.rate) == (START + MINUTE, "real", 60_000)
    world.run(START + HOUR, 1000)
    assert world.now == START + HOUR
    assert (world.clock.own_mode, world.clock.own_rate) == ("manual", 1_000)


def test_happenings_count_in_the_digest() -> None:
    """Two stories that differ in one entry have two digests."""
    lines: list[tuple[TimelineEntry, ...]] = [(), (doing("offline"),), (doing("online"),), (doing("click"),)]
    digests = set()
    for timeline in lines:
        world = make_world(timeline=timeline)
        advance(world, HOUR)
        digests.add(digest(world))
    assert len(digests) == len(lines)
