"""Checkpoints: a whole world as bytes, and back to the same future."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.app import PARTS
from sendbox.engine import checkpoint
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.bodies import body_of
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.views import message_view
from tests.core.observed import digest, entry_view
from tests.core.runs import END, RULES, SENDINGS, Sending, request, to
from tests.core.worlds import HOUR, PHONE, START, advance, make_world, rule, send, send_one
from tests.scenarios import make_blueprint

CALLBACK = "http://127.0.0.1:9000"
TEMPLATE = {"name": "otp", "language": "en", "status": "APPROVED", "components": [{"type": "BODY", "text": "Code"}]}


def back(world: World) -> World:
    """The world restored from a checkpoint of itself."""
    restored: World = checkpoint.restore(checkpoint.take(world), world.blueprint, world.epoch + 1)
    return restored


@given(SENDINGS, st.integers(0, 200_000))
def test_the_future_is_the_same(sendings: list[Sending], stop: int) -> None:
    """A run that is restored on the way ends as one that is not, in digest and names, and so does the original."""
    straight, taken = make_world(attempts=RULES), make_world(attempts=RULES)
    restored: World | None = None
    for sending in sorted(sendings, key=lambda each: each.at):
        if restored is None and sending.at > stop:
            to(taken, stop)
            restored = back(taken)
        for world in (straight, taken, restored):
            if world is not None:
                to(world, sending.at)
                request(world, sending)
    if restored is None:
        restored = back(taken)
    for world in (straight, taken, restored):
        to(world, END)
    assert digest(straight) == digest(taken) == digest(restored)
    assert list(Messaging.of(straight).by_id) == list(Messaging.of(restored).by_id)
    assert [message_view(straight, m) for m in Messaging.of(straight).messages] == [
        message_view(restored, m) for m in Messaging.of(restored).messages
    ]


def test_a_restored_world_lives_its_own_life() -> None:
    """What happens after the checkpoint in one of the two never shows in the other; time goes back only this way."""
    world = make_world()
    message = send_one(world)
    taken = checkpoint.take(world)
    advance(world, HOUR)
    restored = checkpoint.restore(taken, world.blueprint, 4)
    assert (restored.now, restored.epoch, restored.id) == (START, 4, world.id)
    assert (Messaging.of(restored).by_id[message.id].result, message.result) == ("accepted", "delivered")
    assert Account.of(restored).balance > Account.of(world).balance
    again = checkpoint.restore(taken, world.blueprint, 5)
    advance(again, HOUR)
    assert Messaging.of(restored).by_id[message.id].result == "accepted"


def test_what_worlds_share_is_not_copied() -> None:
    """The blueprint, its rules, settings, senders and templates are the very same; what is the world's is not."""
    world = make_world(
        attempts=(rule("delivered"),),
        account=AccountSpec(templates=(TEMPLATE,), senders={"sms": frozenset({"Acme"})}, numbers=frozenset({"1"})),
        timeline=(TimelineEntry(HOUR, True, "inbound", {"channel": "sms", "from": PHONE, "body": "Hello"}),),
    )
    Messaging.of(world).attempts.put_rule(rule("failed", key="front"))
    restored = back(world)
    spec = world.blueprint.settled["account"]
    assert restored.blueprint is world.blueprint
    assert restored.assume is world.blueprint.assume
    assert Messaging.of(restored).attempts.rules[1] is Messaging.of(world).attempts.rules[1]
    assert Messaging.of(restored).attempts.rules[0] is not Messaging.of(world).attempts.rules[0]
    assert Account.of(restored).senders is spec.senders
    assert Account.of(restored).templates is spec.templates
    assert restored.timeline.steps[0][4] is world.blueprint.timeline[0]
    assert Account.of(restored) is not Account.of(world)


def test_rules_put_in_front_are_kept_with_their_counts() -> None:
    """A rule of control that was used up stays used up, and can be taken away by its id."""
    world = make_world()
    name = Messaging.of(world).attempts.put_rule(rule("failed", key="front", times=1))
    send(world)
    advance(world, HOUR)
    restored = back(world)
    message = send_one(restored)
    advance(restored, HOUR)
    assert message.result == "delivered"
    assert Messaging.of(restored).attempts.drop_rule(name)


# --- deliveries


def pending(world: World) -> Delivery:
    """The delivery of a message just handed over, under way."""
    send(world, callback=CALLBACK)
    world.run(world.now, 1_000)
    (delivery,) = world.outlets.take()
    body_of(world, delivery)
    return delivery


def test_what_was_under_way_waits_to_be_tried_again() -> None:
    """The try is made again at this instant, first in its line, with the same bytes and id, and is the same try."""
    world = make_world()
    delivery = pending(world)
    send(world, "420777000101", callback=CALLBACK)
    world.run(world.now, 1_000)
    restored = back(world)
    assert restored.outlets.in_flight == 0
    assert not restored.settled(restored.now)
    assert all(entry_view(restored, number) for number in range(len(restored.journal)))
    (again,) = restored.outlets.take()
    assert restored.outlets.id_of(again) == world.outlets.id_of(delivery)
    assert body_of(restored, again) == body_of(world, delivery)
    assert (len(again.tries), again.tries[0].error) == (1, None)
    for one, under_way in ((world, delivery), (restored, again)):
        one.outlets.outcome(under_way, 200, None)
        advance(one, HOUR)
    assert digest(restored) == digest(world)


def test_the_digest_does_not_see_the_restore() -> None:
    """Before the try is made again the digest is that of the checkpoint."""
    world = make_world()
    pending(world)
    assert digest(back(world)) == digest(world)


def failing(delivery: Delivery) -> tuple[int | None, str | None]:
    """A receiver that never takes the first delivery."""
    return (503 if delivery.number == 0 else 200), None


def test_retries_go_on_where_they_were() -> None:
    """A try that failed before the checkpoint and one cut off by it are two of five, at the instants of all others."""
    ends = []
    for interrupted in (False, True):
        world = make_world()
        world.outlets.outcome(pending(world), 503, None)
        advance(world, 29_999, answer=failing)
        world.run(world.now + 1, 1_000)
        under_way = world.outlets.take()
        if interrupted:
            world = back(world)
            under_way = world.outlets.take()
        (second,) = under_way
        world.outlets.outcome(second, 503, None)
        advance(world, HOUR, answer=failing)
        first = world.outlets.deliveries[0]
        ends.append((first.state, [(each.at - START, each.status) for each in first.tries]))
    assert ends[0] == ends[1]
    assert ends[0] == ("failed", [(at, 503) for at in (0, 30_000, 90_000, 210_000, 450_000)])


def test_a_held_delivery_stays_held_and_its_line_goes_on() -> None:
    """What was held while it was under way is not tried again by itself, and blocks nobody."""
    world = make_world()
    delivery = pending(world)
    assert world.outlets.hold(delivery)
    restored = back(world)
    held = restored.outlets.deliveries[0]
    send(restored, callback=CALLBACK)
    advance(restored, HOUR)
    assert (held.state, restored.outlets.deliveries[1].state) == ("held", "delivered")
    assert restored.outlets.release(held)
    advance(restored)
    assert held.state == "delivered"


@pytest.mark.parametrize("count", [2_000])
def test_large_worlds_can_be_taken(count: int) -> None:
    """Thousands of messages with links, events and plans do not exhaust the stack."""
    world = make_world()
    for n in range(count // 10):
        numbers = [f"42060{n * 10 + k:07}" for k in range(10)]
        send(world, *numbers, body="https://acme.example", shortening=Shortening(), callback=CALLBACK)
    advance(world, 1_500)
    restored = back(world)
    assert len(Messaging.of(restored).messages) == count
    advance(restored, HOUR)
    assert {message.result for message in Messaging.of(restored).messages} == {"delivered"}


def test_a_world_has_slots() -> None:
    """A world has no dictionary, what is read from it for every message is found faster; checkpoints take it so."""
    assert not hasattr(World("test-w", make_blueprint(), start=0, services=PARTS), "__dict__")
