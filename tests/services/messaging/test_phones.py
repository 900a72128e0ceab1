"""Phones: what they have, what arrives from them, conversations, opting out (§6; A66, A68, A81)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import iso
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.services.account.account import Account
from sendbox.services.account.http import ListName, enter_numbers
from sendbox.services.account.keys import Key
from sendbox.services.account.spec import AccountSpec
from sendbox.services.advice import NO_TARGET
from sendbox.services.assume import Assume
from sendbox.services.messaging.content.tags import DEFAULT, normalize
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.messaging.phones import DEFAULT_NUMBER, NoSuchThing
from tests.core.worlds import (
    HOUR,
    PHONE,
    START,
    advance,
    delivered,
    handset,
    journaled,
    make_world,
    path,
    rule,
    send_one,
    step,
)

OTHER = "420777000200"
DAY = 24 * HOUR


# --- what a phone is


def test_the_first_entry_that_matches_says_what_a_phone_has() -> None:
    """Of several entries that fit, the first holds; a phone without an entry, or without `channels`, has everything."""
    world = make_world(
        phones=(
            handset("42077700010?", channels=frozenset({"sms"})),
            handset("4207*", conversation=True),
            handset("42*"),
        )
    )
    phones = Messaging.of(world).phones
    assert [phones.has("420777000100", family) for family in ("sms", "richmsg", "chatapp")] == [True, False, False]
    assert [phones.has("420777000200", family) for family in ("sms", "richmsg", "chatapp")] == [True, True, True]
    assert phones.has("491701234567", "richmsg")
    assert [phones.conversation_open(number) for number in ("420777000100", "420777000200")] == [False, True]


def test_the_inbox_holds_what_arrived_in_the_order_of_arrival() -> None:
    """Attempts that were delivered or seen, the earliest arrival first; what failed never arrived."""
    late, seen = path("sending", "sent", ("delivered", 5_000)), path("sending", "sent", ("seen", 2_000))
    world = make_world(
        attempts=(
            rule(late, key="late", when=When(body=Pattern("late"))),
            rule(seen, key="seen", when=When(body=Pattern("seen"))),
            rule("failed", key="failed", when=When(body=Pattern("failed"))),
        )
    )
    for body in ("late", "failed", "seen", "plain"):
        send_one(world, steps=[step("richmsg", body)])
    send_one(world, OTHER)
    advance(world, HOUR)
    inbox = Messaging.of(world).phones.inbox(PHONE)
    assert [attempt.step.body for attempt in inbox] == ["seen", "plain", "late"]
    send_one(world, body="new")
    assert len(Messaging.of(world).phones.messages_of(PHONE)) == 5
    assert Messaging.of(world).phones.messages_of("1") == []


# --- inbound routing (§6, A68)


def test_s6_a_reply_is_given_by_its_message_id() -> None:
    """With a message id it is a reply to that message, from its phone to the sender that wrote, on its target."""
    world = make_world()
    first = delivered(world, steps=[step(sender="Acme")], callback="http://first")
    delivered(world, steps=[step(sender="Else")], callback="http://second")
    inbound = Messaging.of(world).phones.write("sms", PHONE, None, "Hi", message_id=first.id)
    assert (inbound.message, inbound.recipient, inbound.at) == (first, "Acme", START + 20_000)
    assert first.submission.outlet is not None
    assert first.submission.outlet.pending == [inbound]


def test_a68_a_reply_may_name_its_recipient_and_come_before_the_hand_over() -> None:
    """A named recipient stays; a message not handed over has no sender yet, so the default number is written to."""
    world = make_world()
    waiting = send_one(world)
    assert (
        Messaging.of(world).phones.write("sms", PHONE, "420900000001", "Hi", message_id=waiting.id).recipient
        == "420900000001"
    )
    assert Messaging.of(world).phones.write("sms", PHONE, None, "Hi", message_id=waiting.id).recipient == DEFAULT_NUMBER


def test_an_unknown_message_id_is_refused() -> None:
    """A reply to a message that is not of this world raises, and nothing is received."""
    world = make_world()
    with pytest.raises(NoSuchThing, match=r'^"m" is not a message of this world$'):
        Messaging.of(world).phones.write("sms", PHONE, None, "Hi", message_id="m")
    assert Messaging.of(world).phones.inbound == []


ROUTES: list[Any] = [
    pytest.param("sms", "Acme", True, id="to the sender of the newest message"),
    pytest.param("sms", None, True, id="to whoever wrote"),
    pytest.param("sms", "Else", False, id="to another sender"),
    pytest.param("richmsg", "Acme", False, id="on another channel"),
]


@pytest.mark.parametrize(("family", "to", "reply"), ROUTES)
def test_a68_what_is_written_to_the_newest_sender_is_a_reply(family: str, to: str | None, reply: bool) -> None:
    """A reply if the phone's newest message of that channel came from that sender; otherwise unsolicited."""
    world = make_world()
    delivered(world, steps=[step(sender="Else")])
    newest = delivered(world, steps=[step(sender="Acme")])
    delivered(world, OTHER, steps=[step(sender="Else")])
    delivered(world, steps=[step("chatapp_text")])
    inbound = Messaging.of(world).phones.write(family, PHONE, to, "Hi")
    assert inbound.message is (newest if reply else None)
    assert inbound.recipient == (to or "Acme")
    assert (newest.reactions.replied_at is not None) is reply


def test_a68_newest_is_what_was_handed_over_last() -> None:
    """A message accepted earlier and scheduled for later is newer than one sent meanwhile."""
    world = make_world()
    scheduled = send_one(world, at=START + HOUR, steps=[step(sender="Acme")])
    meanwhile = delivered(world, steps=[step(sender="Else")])
    assert Messaging.of(world).phones.write("sms", PHONE, None, "Hi").message is meanwhile
    advance(world, 2 * HOUR)
    assert Messaging.of(world).phones.write("sms", PHONE, None, "Hi").message is scheduled


@pytest.mark.parametrize("result", ["rejected", "undelivered", "failed"])
def test_a68_what_never_reached_the_phone_is_not_replied_to(result: str) -> None:
    """A message that ended badly is not on the phone, so it is not the newest there, and cannot be answered."""
    world = make_world(attempts=(rule(result, when=When(body=Pattern("bad"))),))
    good, bad = delivered(world), delivered(world, body="bad")
    assert Messaging.of(world).phones.write("sms", PHONE, None, "Hi").message is good
    with pytest.raises(NoSuchThing, match=f'^"{bad.id}" is {result}, so it cannot be answered$'):
        Messaging.of(world).phones.reply(bad, "Hi")


def test_a68_the_families_of_a_flow_are_asked_apart() -> None:
    """Of a flow that fell back, the attempt on the channel written on has the sender that counts."""
    world = make_world(attempts=(rule("sent", when=When(attempt=1)),))
    message = send_one(world, steps=[step("richmsg", ttl=30_000, sender="Rich"), step(sender="Plain")])
    advance(world, HOUR)
    for family, sender in [("richmsg", "Rich"), ("sms", "Plain")]:
        inbound = Messaging.of(world).phones.write(family, PHONE, None, "Hi")
        assert (inbound.message, inbound.recipient) == (message, sender)
        assert Messaging.of(world).phones.write(family, PHONE, None, "Hi", message_id=message.id).recipient == sender
    assert Messaging.of(world).phones.write("chatapp", PHONE, None, "Hi", message_id=message.id).recipient == "Plain"


@pytest.mark.parametrize(
    ("numbers", "to", "recipient"),
    [
        pytest.param(frozenset(), None, DEFAULT_NUMBER, id="none"),
        pytest.param(frozenset({"420900000002", "420900000001"}), None, "420900000001", id="the account's first"),
        pytest.param(frozenset({"420900000002"}), "420900000003", "420900000003", id="named"),
    ],
)
def test_s6_an_unsolicited_message_goes_to_the_parents_default(
    numbers: frozenset[str], to: str | None, recipient: str
) -> None:
    """It goes to a number of the account's, and is reported to the default callback of the parent key (A68)."""
    world = make_world(account=AccountSpec(numbers=numbers, default_callback_url="http://parent"))
    inbound = Messaging.of(world).phones.write("sms", PHONE, to, "Hello")
    assert (inbound.message, inbound.recipient) == (None, recipient)
    advance(world)
    (delivery,) = world.outlets.deliveries
    assert (delivery.outlet.target.url, delivery.events) == ("http://parent", [inbound])


def test_a68_without_a_target_it_is_journaled_with_advice() -> None:
    """No callback at all: the message is received, and the journal says that nobody was told."""
    world = make_world(account=AccountSpec(default_callback_url=""))
    inbound = Messaging.of(world).phones.write("sms", PHONE, None, "Hello")
    advance(world)
    assert journaled(world, "no_target") == [(0, inbound)]
    ((_, (advice, about)),) = journaled(world, "advice")
    assert (advice.code, advice.assumed, about) == (NO_TARGET, "A68", PHONE)
    assert world.outlets.deliveries == []


def test_replies_by_sub_keys_show_their_default_sender() -> None:
    """Where a step names no sender, the phone shows its key's, else one of the service's."""
    world = make_world()
    for key, sender in [(Key("test-w~1", default_sender="Child"), "Child"), (None, "InfoSMS")]:
        message = delivered(world, key=key)
        assert message.last is not None
        assert message.last.shown_sender == sender
        assert Messaging.of(world).phones.reply(message, "Hi").recipient == sender


def test_s2_4_the_first_reply_is_noted_on_the_message() -> None:
    """`replied` and its time are those of the first reply."""
    world = make_world()
    message = delivered(world)
    Messaging.of(world).phones.reply(message, "one")
    advance(world, 1_000)
    Messaging.of(world).phones.reply(message, "two")
    assert message.reactions.replied_at == START + 10_000
    assert [inbound.number for inbound in Messaging.of(world).phones.inbound] == [0, 1]


def test_nobody_answers_what_was_not_handed_over() -> None:
    """A reply needs a message that reached the phone."""
    world = make_world()
    message = send_one(world)
    with pytest.raises(NoSuchThing, match=f'^"{message.id}" was not handed over yet, so it cannot be answered$'):
        Messaging.of(world).phones.reply(message, "Hi")


# --- conversations (A66)


def test_a66_a_conversation_is_open_for_a_day_from_the_last_message() -> None:
    """Writing on the messaging app opens a conversation for 24 hours; writing again prolongs it."""
    world = make_world()
    phones = Messaging.of(world).phones
    phones.write("chatapp", PHONE, None, "Hi")
    advance(world, 20 * HOUR)
    phones.write("chatapp", PHONE, None, "Hi again")
    for wait, expected in [(DAY - 1, True), (1, False)]:
        advance(world, wait)
        assert phones.conversation_open(PHONE) is expected


def test_a66_an_open_one_of_the_scenario_does_not_lapse() -> None:
    """A phone with `conversation: open` has always written lately: after days free text may still be sent."""
    world = make_world(phones=(PhoneSpec(Pattern(PHONE, digits=True), conversation=True),))
    for _ in range(3):
        assert Messaging.of(world).phones.conversation_open(PHONE)
        advance(world, 2 * DAY)
    assert journaled(world, "lapse") == []


def test_a66_only_the_messaging_app_opens_one() -> None:
    """An sms opens no conversation."""
    world = make_world()
    Messaging.of(world).phones.write("sms", PHONE, None, "Hi")
    assert not Messaging.of(world).phones.conversation_open(PHONE)


def test_a66_a_conversation_that_ended_is_journaled_at_its_instant() -> None:
    """The lapse is journaled when the clock passes it, once, and not for a conversation that was prolonged."""
    world = make_world()
    Messaging.of(world).phones.write("chatapp", PHONE, None, "Hi")
    advance(world, HOUR)
    Messaging.of(world).phones.write("chatapp", PHONE, None, "Hi")
    waits = world.idle
    advance(world)
    assert (waits, world.idle) == (False, True)
    advance(world, 3 * DAY)
    assert journaled(world, "lapse") == [(25 * HOUR, ("conversation", (PHONE, START + 25 * HOUR)))]


def test_s2_2_free_text_may_be_sent_after_the_recipient_wrote() -> None:
    """Free text is rejected until the recipient replied to a template or wrote first, and again a day later."""
    world = make_world(assume=Assume(conversation=DAY))
    found = []
    for _ in range(2):
        found.append(delivered(world, steps=[step("chatapp_text")]))
        Messaging.of(world).phones.write("chatapp", PHONE, None, "Hi")
    advance(world, DAY)
    found.append(delivered(world, steps=[step("chatapp_text")]))
    assert [message.result for message in found] == ["rejected", "delivered", "rejected"]


# --- opting out


@pytest.mark.parametrize("body", ["STOP", "stop", " Stop\n"])
def test_a_stop_word_opts_the_phone_out(body: str) -> None:
    """A reply that is a stop word puts the phone on the opt-out list at once (A81), and marks the message."""
    world = make_world()
    message = delivered(world)
    Messaging.of(world).phones.reply(message, body)
    assert message.reactions.optout_at == world.now
    assert Account.of(world).optout == {PHONE: world.now}
    assert journaled(world, "opt_out") == [(10_000, (PHONE, message))]
    assert delivered(world).result == "rejected"


def test_an_opt_out_makes_an_entry_of_a_client_hold_at_once() -> None:
    """A phone that the client put on the list, and that then opts out itself, is not in the client's second (A81)."""
    world = make_world()
    for _ in enter_numbers(world, "optout", Account.of(world), PHONE):
        pass
    assert Account.of(world).optout == {PHONE: world.now + 1_000}
    Messaging.of(world).phones.opt_out(PHONE)
    assert Account.of(world).optout == {PHONE: world.now}
    assert delivered(world).result == "rejected"


@pytest.mark.parametrize(("name", "tags", "listed"), [
    ("optout", ("promotional",), "the opt-out list"),
    ("optout", ("transactional",), None),
    ("blacklist", ("transactional",), "the blacklist"),
])  # fmt: skip
def test_a_message_that_slips_through_is_remarked_on(name: ListName, tags: tuple[str, ...], listed: str | None) -> None:
    """A81: within the second the message is sent, and advice says that the entry is not in force yet."""
    world = make_world()
    for _ in enter_numbers(world, name, Account.of(world), PHONE):
        pass
    assert delivered(world, tags=tags).result == "delivered"
    remarks = [(advice.code, advice.message) for advice, _ in (what for _, what in journaled(world, "advice"))]
    now, later = iso(START), iso(START + 1_000)
    said = f"{PHONE} is on {listed}, in force at {later}; a message handed over at {now} is sent all the same"
    assert remarks == ([] if listed is None else [("entry-not-in-force", said)])
    assert delivered(world, tags=tags).result == ("delivered" if listed is None else "rejected")
    assert len(journaled(world, "advice")) == len(remarks)


@pytest.mark.parametrize(("tags", "advised"), [(DEFAULT, True), (normalize("promotional"), False)], ids=["none", "own"])
def test_a_message_without_a_tag_that_met_an_opt_out_has_advice(tags: tuple[str, ...], *, advised: bool) -> None:
    """§2.1: without a tag it counts as promotional; who tagged it so knows that."""
    world = make_world()
    Messaging.of(world).phones.opt_out(PHONE)
    assert delivered(world, tags=tags).result == "rejected"
    remarks = [(advice.code, advice.message) for advice, _ in (what for _, what in journaled(world, "advice"))]
    text = f"no tag is given, so the message counts as promotional: {PHONE} opted out"
    assert remarks == ([("untagged-promotional", text)] if advised else [])


def test_only_a_stop_word_opts_out() -> None:
    """Other texts do not, nor those that only hold the word; the account says which words they are."""
    world = make_world(account=AccountSpec(stop_words=frozenset({"ENDE"})))
    for body in ("STOP", "Ende?", "am Ende"):
        Messaging.of(world).phones.write("sms", PHONE, None, body)
    assert Account.of(world).optout == {}
    Messaging.of(world).phones.write("sms", PHONE, None, "ende")
    assert PHONE in Account.of(world).optout


def test_opting_out_again_changes_nothing() -> None:
    """The first opt-out counts: its instant on the list and on the message stays."""
    world = make_world()
    message = delivered(world)
    Messaging.of(world).phones.opt_out(PHONE, message)
    before = (dict(Account.of(world).optout), message.reactions.optout_at)
    advance(world, HOUR)
    Messaging.of(world).phones.opt_out(PHONE, message)
    Messaging.of(world).phones.opt_out(PHONE)
    assert (Account.of(world).optout, message.reactions.optout_at) == before
