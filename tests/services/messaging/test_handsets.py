"""What the owner of a phone does: off and on, seen, pressed, clicked; the links that are there (A17, A68, A77)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Span
from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.channels import IllegalTransition
from sendbox.services.messaging.flow import NotHandedOver
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.phones import NoSuchThing
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.rules import Click, Reply
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import (
    HOUR,
    PHONE,
    START,
    advance,
    delivered,
    handset,
    journaled,
    make_world,
    moves,
    path,
    results,
    rule,
    send_one,
    step,
)

OTHER = "420777000200"
DAY = 24 * HOUR
LINK = "https://acme.example/a"


# --- offline


def test_while_a_phone_is_off_receipts_wait() -> None:
    """A message to a phone that is off stays sent, is delivered the instant it is back, and then goes on."""
    world = make_world(attempts=(rule("seen"),))
    message = send_one(world, steps=[step("richmsg")])
    Messaging.of(world).phones.go_offline(PHONE)
    advance(world, HOUR)
    assert message.result == "sent"
    Messaging.of(world).phones.go_online(PHONE)
    assert message.result == "sent"
    advance(world, HOUR)
    assert [(at, result) for at, _, result in moves(message)][2:] == [(HOUR, "delivered"), (HOUR + 5_000, "seen")]
    assert journaled(world, "phone") == [(0, (PHONE, "offline")), (HOUR, (PHONE, "online"))]


def test_seen_waits_for_the_phone_too() -> None:
    """A phone that is switched off after it received a message reports that it was seen when it is back."""
    world = make_world(attempts=(rule("seen"),))
    message = send_one(world, steps=[step("richmsg")])
    advance(world, 4_000)
    Messaging.of(world).phones.go_offline(PHONE)
    advance(world, HOUR)
    assert message.result == "delivered"
    Messaging.of(world).phones.go_online(PHONE)
    advance(world)
    assert message.result == "seen"


def test_a_phone_may_be_off_from_the_start() -> None:
    """A scenario's phone that is `offline` gets nothing until it is switched on; the others do."""
    world = make_world(phones=(handset(offline=True),))
    here, there = send_one(world), send_one(world, OTHER)
    advance(world, HOUR)
    assert (here.result, there.result) == ("sent", "delivered")
    Messaging.of(world).phones.go_online(PHONE)
    Messaging.of(world).phones.go_online(PHONE)
    advance(world)
    assert here.result == "delivered"


def test_a_phone_off_again_before_it_received_keeps_waiting() -> None:
    """Switched on and off within one instant, before the clock moves, it received nothing."""
    world = make_world()
    message = send_one(world)
    Messaging.of(world).phones.go_offline(PHONE)
    advance(world, HOUR)
    Messaging.of(world).phones.go_online(PHONE)
    Messaging.of(world).phones.go_offline(PHONE)
    advance(world, HOUR)
    assert message.result == "sent"


def test_what_was_moved_by_hand_meanwhile_does_not_arrive() -> None:
    """An attempt that waited and was ended by hand is left alone when the phone is back."""
    world = make_world()
    message = send_one(world)
    Messaging.of(world).phones.go_offline(PHONE)
    advance(world, HOUR)
    Messaging.of(world).simulator.move_by_hand(message, "undelivered", None)
    Messaging.of(world).phones.go_online(PHONE)
    advance(world, HOUR)
    assert results(message)[-1] == (1, "undelivered")


# --- seen, pressed


def test_s3_1_the_owner_opens_a_message() -> None:
    """A delivered message on a readable channel becomes seen; an sms does not, and one not handed over neither."""
    world = make_world()
    rich, plain = delivered(world, steps=[step("richmsg")]), delivered(world)
    Messaging.of(world).phones.see(rich)
    assert rich.result == "seen"
    assert journaled(world, "phone") == [(20_000, (PHONE, "seen"))]
    with pytest.raises(IllegalTransition, match="on the sms channel"):
        Messaging.of(world).phones.see(plain)
    with pytest.raises(NotHandedOver):
        Messaging.of(world).phones.see(send_one(world))
    assert len(journaled(world, "phone")) == 1


def test_the_owner_opens_the_attempt_that_can_be_seen() -> None:
    """Of a flow that fell back to sms, the rich message that arrived late is the one that is seen."""
    late = path("sending", "sent", ("delivered", 60_000))
    world = make_world(attempts=(rule(late, when=When(attempt=1)),))
    message = send_one(world, steps=[step("richmsg", ttl=30_000), step()])
    advance(world, HOUR)
    Messaging.of(world).phones.see(message)
    assert results(message)[-4:] == [(1, "seen"), (2, "sending"), (2, "sent"), (2, "delivered")]


BUTTONS = [
    {"type": "QUICK_REPLY", "text": "Yes"},
    {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "420900000001"},
    {"type": "QUICK_REPLY", "text": "No"},
    {"type": "QUICK_REPLY", "text": "Maybe"},
]
TEMPLATE: dict[str, Any] = {
    "name": "t",
    "language": "en",
    "category": "UTILITY",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": "Well?"}, {"type": "BUTTONS", "buttons": BUTTONS}],
}


def asked(buttons: list[Any] | None) -> tuple[World, Message]:
    """A message by that template on its phone."""
    world = make_world(account=AccountSpec(templates=(TEMPLATE,)))
    use = TemplateUse("t", "en", buttons=buttons)
    return world, delivered(world, steps=[step("chatapp_template", None, template=use)])


@pytest.mark.parametrize(
    ("button", "given", "body"),
    [
        pytest.param(0, [{"payload": "y"}, None, {"payload": "n"}], "y", id="payload"),
        pytest.param("2", [{"payload": "y"}, None, {"payload": "n"}], "n", id="position as text"),
        pytest.param("Maybe", [{"payload": "y"}, None, {"payload": "n"}], "Maybe", id="none given for it"),
        pytest.param(2, [{"payload": "y"}, None, None], "No", id="null"),
        pytest.param("Yes", None, "Yes", id="no parameters"),
    ],
)
def test_a68_a_pressed_quick_reply_sends_its_payload(button: int | str, given: list[Any] | None, body: str) -> None:
    """Its payload where the step gave one, else its title."""
    world, message = asked(given)
    assert message.result == "delivered"
    assert Messaging.of(world).phones.pressed(message, button) == body


def test_only_quick_replies_can_be_pressed() -> None:
    """Another button, or none of that name, raises and names those that there are."""
    world, message = asked(None)
    for button in (1, "Call", 9):
        with pytest.raises(NoSuchThing) as raised:
            Messaging.of(world).phones.pressed(message, button)
        assert str(raised.value) == f'"{button}" is not a quick reply of this message; there are: Yes, No, Maybe'
    Account.of(world).set_templates(())
    for other in (message, delivered(world)):
        with pytest.raises(NoSuchThing, match=r"there are: none$"):
            Messaging.of(world).phones.pressed(other, 0)


# --- links (A17, A77)


def linked(world: World, **fields: Any) -> Message:
    """A message with two links on its phone."""
    return delivered(world, body=f"{LINK} {LINK}?b", shortening=Shortening(**fields))


def test_a17_short_links_are_of_the_requests_origin_and_named_by_the_world() -> None:
    """`<origin>/s/<code>`: the code begins with the world's tag and is found in the world."""
    world = make_world()
    message = linked(world)
    first, second = message.reactions.links[0]
    for link in (first, second):
        assert link.url == f"http://sandbox.example/s/{link.code}"
        assert link.code.startswith(world.tag)
        assert Messaging.of(world).links[link.code] is link
    assert first.code != second.code


def test_a17_equal_worlds_give_equal_links() -> None:
    """A link's code is derived from its message, so it is the same in an equal run."""
    codes = [[link.code for link in linked(make_world()).reactions.links[0]] for _ in range(2)]
    assert codes[0] == codes[1]


def test_a77_a_custom_domain_is_shown() -> None:
    """With `_url.domain` the link shows it."""
    message = linked(make_world(), domain="go.acme.example")
    assert all(link.url == f"https://go.acme.example/s/{link.code}" for link in message.reactions.links[0])


def test_s2_1_get_enhance_appends_the_message_id() -> None:
    """The link ends in the message's id, under `_` or the name given, quoted where it must be."""
    for name, query in [("_", "_"), ("ref", "ref"), ("a b", "a%20b")]:
        message = linked(make_world(), enhance=True, name=name)
        first = message.reactions.links[0][0]
        assert first.url == f"http://sandbox.example/s/{first.code}?{query}={message.id}"


def test_links_are_made_for_each_step() -> None:
    """Each step of a flow has links of its own."""
    world = make_world(attempts=(rule("failed"),))
    steps = [step("richmsg", LINK), step(body=LINK)]
    message = send_one(world, steps=steps, shortening=Shortening())
    advance(world, HOUR)
    assert sorted(message.reactions.links) == [0, 1]
    assert len(Messaging.of(world).links) == 2


def test_s2_1_a_link_expires_seven_days_after_sending() -> None:
    """Seven days from the hand-over; at that instant it works no more (A17), and the journal says so then."""
    world = make_world()
    message = send_one(world, body=LINK, shortening=Shortening(), at=START + HOUR)
    advance(world, HOUR)
    (link,) = message.reactions.links[0]
    assert link.expires_at == START + HOUR + 7 * DAY
    advance(world, 7 * DAY - 1)
    assert Messaging.of(world).open_link(link.code) is link
    advance(world, 1)
    assert Messaging.of(world).open_link(link.code) is None
    assert link.clicks == [START + HOUR + 7 * DAY - 1]
    advance(world, 1)
    assert journaled(world, "lapse") == [(HOUR + 7 * DAY, ("link", link))]


def test_s2_1_expires_at_is_in_unix_seconds() -> None:
    """A given expiry holds instead; one in the past makes a link that never works, and that nothing lapses from."""
    world = make_world()
    for seconds, works in [(START // 1000 + 60, True), (START // 1000, False), (1, False)]:
        message = send_one(world, body=LINK, shortening=Shortening(expires_at=seconds))
        advance(world)
        (link,) = message.reactions.links[0]
        assert link.expires_at == seconds * 1000
        assert (Messaging.of(world).open_link(link.code, count=False) is link) is works
    advance(world, DAY)
    assert [at for at, _ in journaled(world, "lapse")] == [60_000]


def test_a17_a_click_is_counted_and_the_first_one_noted() -> None:
    """Every GET counts, a look without counting does not; the message keeps its first click."""
    world = make_world()
    message = linked(world)
    first, second = message.reactions.links[0]
    Messaging.of(world).open_link(first.code, count=False)
    assert (first.clicks, message.reactions.clicked_at) == ([], None)
    Messaging.of(world).open_link(first.code)
    advance(world, 1_000)
    Messaging.of(world).open_link(second.code)
    Messaging.of(world).open_link(second.code)
    assert message.reactions.clicked_at == START + 10_000
    assert ([len(link.clicks) for link in (first, second)]) == [1, 2]
    assert [what for _, what in journaled(world, "click")] == [first, second, second]
    assert Messaging.of(world).open_link("nothing") is None


def test_the_owner_follows_the_first_link_that_works() -> None:
    """The first link that has not expired; without one there is nothing to follow."""
    world = make_world()
    message = linked(world)
    first, second = message.reactions.links[0]
    assert Messaging.of(world).phones.click(message) is first
    first.expires_at = world.now
    assert Messaging.of(world).phones.click(message) is second
    for other in (delivered(world), send_one(world)):
        with pytest.raises(NoSuchThing, match=f'^"{other.id}" holds no short link that works now$'):
            Messaging.of(world).phones.click(other)


def test_a_rule_replies_and_clicks() -> None:
    """Replies and clicks of a rule happen as if the owner did them; without a link, a click is left out."""
    talkative = rule(replies=(Reply(Span(5_000, 5_000), "YES"),), click=(Click(Span(60_000, 60_000)),))
    world = make_world(attempts=(talkative,))
    with_link = send_one(world, body=LINK, shortening=Shortening())
    without = send_one(world)
    advance(world, HOUR)
    assert (with_link.reactions.replied_at, with_link.reactions.clicked_at) == (START + 8_000, START + 63_000)
    assert (without.reactions.replied_at, without.reactions.clicked_at) == (START + 8_000, None)
    assert [inbound.recipient for inbound in Messaging.of(world).phones.inbound] == ["InfoSMS"] * 2
