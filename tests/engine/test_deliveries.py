"""Deliveries in other hands: the built-in receiver, a tester's hold and replay, a restore (§6; A20, A22)."""

from __future__ import annotations

import pytest

from sendbox.engine.delivery.batches import Target, body_of
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from tests.core.worlds import (
    HOOK,
    HOUR,
    ONE_EVENT,
    PHONE,
    PLENTY,
    START,
    TEN,
    advance,
    bundle,
    go_back,
    hook_events,
    journaled,
    make_world,
    one_delivery,
    send,
    send_one,
    take,
    tried_at,
)

# --- the built-in receiver


@pytest.mark.parametrize("callback", [None, "http://host:7357/_sandbox/worlds/test-w/hook"])
def test_the_built_in_receiver_answers_at_once(callback: str | None) -> None:
    """Without a callback, or at its address, nobody outside is needed: it takes everything with 200."""
    world = make_world()
    send_one(world, callback=callback)
    while not world.settled(START + HOUR):
        world.run(START + HOUR, PLENTY)
        assert world.outlets.take() == []
    assert [event["result"] for event in hook_events(world)] == ["sending", "sent", "delivered"]
    assert [(each.state, tried_at(each), each.tries[0].status) for each in world.outlets.hook] == [
        ("delivered", [second], 200) for second in (0, 1, 3)
    ]
    assert world.outlets.hook == world.outlets.deliveries
    assert [what for _, what in journaled(world, "try")] == [(each, 0) for each in world.outlets.hook]


def test_the_hook_of_another_world_is_a_target_like_any_other() -> None:
    """Only the world's own address is the built-in receiver."""
    world, delivery = one_delivery("http://host:7357/_sandbox/worlds/test-x/hook")
    assert not delivery.outlet.builtin
    assert take(world) == [delivery]


def test_captured_deliveries_of_the_built_in_receiver_are_taken_like_others() -> None:
    """While an app takes its deliveries too, they wait to be taken and retried; each is received once."""
    world = make_world(attempts=ONE_EVENT)
    world.outlets.captured = True
    send_one(world)
    advance(world, HOUR, answer=lambda each: (200 if len(each.tries) == 2 else 500, None))
    (delivery,) = world.outlets.deliveries
    assert (tried_at(delivery), delivery.state, world.outlets.hook) == ([0, 30], "delivered", [delivery])


def test_when_the_app_is_gone_the_built_in_receiver_takes_over() -> None:
    """What still waited for the app is answered by the built-in receiver, what waits for a retry too."""
    world = make_world(attempts=ONE_EVENT, assume=Assume(bundle=False))
    world.outlets.captured = True
    send(world, *TEN[:3])
    bundle(world)
    first, second, third = world.outlets.deliveries
    (taken,) = take(world)
    world.outlets.outcome(taken, 500, None)
    world.outlets.captured = False
    assert take(world) == []
    assert [each.state for each in (first, second, third)] == ["waiting", "delivered", "delivered"]
    advance(world, HOUR)
    assert (tried_at(first), first.state, world.outlets.hook) == ([0, 30], "delivered", [first, second, third])


def test_a68_events_without_a_target_are_journaled() -> None:
    """A request whose key wants no events: each is journaled as lost, without advice, and nothing is delivered."""
    world = make_world(account=AccountSpec(default_callback_url=""))
    message = send_one(world)
    advance(world, HOUR)
    assert journaled(world, "no_target") == [(when, message.last) for when in (0, 1_000, 3_000)]
    assert (journaled(world, "advice"), world.outlets.deliveries) == ([], [])


# --- by hand


def test_a_held_delivery_is_not_tried_until_released() -> None:
    """Held while it waits in the queue; released, it is tried at that instant. Others of its target go on."""
    world = make_world(attempts=ONE_EVENT, assume=Assume(bundle=False))
    send(world, *TEN[:2], callback=HOOK)
    bundle(world)
    first, second = world.outlets.deliveries
    assert world.outlets.hold(first)
    assert (first.state, world.outlets.hold(first)) == ("held", False)
    advance(world, 60_000)
    assert (tried_at(first), tried_at(second)) == ([], [0])
    assert world.outlets.release(first)
    assert not world.outlets.release(first)
    advance(world)
    assert (tried_at(first), first.state) == ([60], "delivered")
    assert not world.outlets.hold(first)


def test_holding_the_only_delivery_leaves_nothing_to_do() -> None:
    """A line whose queue is empty is not waited for."""
    world, delivery = one_delivery()
    world.outlets.hold(delivery)
    assert (world.outlets.ready, take(world), world.settled(START)) == (False, [], True)


def test_a_delivery_held_between_tries_skips_them() -> None:
    """The try that was due meanwhile does not happen; released, it goes on from there by its schedule."""
    world, delivery = one_delivery()
    advance(world, 1_000, answer=lambda _: (500, None))
    world.outlets.hold(delivery)
    advance(world, 59_000)
    world.outlets.release(delivery)
    advance(world, HOUR, answer=lambda _: (500, None))
    assert tried_at(delivery) == [0, 60, 120, 240, 480]


@pytest.mark.parametrize("answer", [500, 200])
def test_a_delivery_released_before_its_next_try_was_due_is_not_tried_twice(answer: int) -> None:
    """Its old appointment is void, whether the try that replaced it failed or not."""
    world, delivery = one_delivery()
    advance(world, 10_000, answer=lambda _: (500, None))
    world.outlets.hold(delivery)
    world.outlets.release(delivery)
    advance(world, 59_000, answer=lambda _: (answer, None))
    assert tried_at(delivery) == [0, 10]


def test_a_released_delivery_that_waits_behind_another_is_not_queued_twice() -> None:
    """Its old appointment comes while it stands in the queue: it stands there once."""
    world = make_world(attempts=ONE_EVENT)
    target = Target(HOOK, timeout_ms=10_000)
    send_one(world, callback=target)
    advance(world, 25_000, answer=lambda _: (500, None))
    send_one(world, callback=target)
    advance(world, 0, answer=lambda _: (None, "timeout"))
    first = world.outlets.deliveries[0]
    world.outlets.hold(first)
    world.outlets.release(first)
    advance(world, 20_000)
    assert tried_at(first) == [0, 35]


@pytest.mark.parametrize(
    ("status", "state"), [pytest.param(200, "delivered", id="answered"), pytest.param(500, "held", id="failed")]
)
def test_a_delivery_held_while_it_is_under_way(status: int, state: str) -> None:
    """A try that is under way ends as it ends; after a failure no other follows."""
    world, delivery = one_delivery()
    take(world)
    assert world.outlets.hold(delivery)
    world.outlets.outcome(delivery, status, None)
    advance(world, HOUR)
    assert (delivery.state, tried_at(delivery)) == (state, [0])


def test_a_delivery_held_and_released_while_it_is_under_way() -> None:
    """It is as if nothing had happened: the try goes on, and its failure is retried."""
    world, delivery = one_delivery()
    take(world)
    world.outlets.hold(delivery)
    assert world.outlets.release(delivery)
    assert (delivery.state, take(world)) == ("sending", [])
    world.outlets.outcome(delivery, 500, None)
    advance(world, HOUR)
    assert (delivery.state, tried_at(delivery)) == ("delivered", [0, 30])


def test_an_ended_delivery_can_be_replayed() -> None:
    """Delivered or failed, it is sent once more with the same id and events; while it lives it is not."""
    world, delivery = one_delivery()
    name, body = world.outlets.id_of(delivery), body_of(world, delivery)
    assert not world.outlets.replay(delivery)
    advance(world)
    assert world.outlets.replay(delivery)
    advance(world)
    assert (tried_at(delivery), delivery.state) == ([0, 0], "delivered")
    assert (world.outlets.id_of(delivery), body_of(world, delivery)) == (name, body)


def test_a_replay_that_fails_is_retried_as_far_as_tries_are_left() -> None:
    """After one try a failing replay has three more; after all five it has none."""
    world, delivery = one_delivery()
    advance(world)
    world.outlets.replay(delivery)
    advance(world, HOUR, answer=lambda _: (500, None))
    assert (len(delivery.tries), delivery.state) == (5, "failed")
    world.outlets.replay(delivery)
    advance(world, HOUR, answer=lambda _: (500, None))
    assert (len(delivery.tries), delivery.state) == (6, "failed")


def test_a_replay_to_the_built_in_receiver_is_answered_at_once() -> None:
    """It is tried and answered again, and not listed twice."""
    world = make_world(attempts=ONE_EVENT)
    send_one(world)
    advance(world)
    (delivery,) = world.outlets.hook
    assert world.outlets.replay(delivery)
    assert (len(delivery.tries), delivery.state, take(world)) == (2, "delivered", [])
    assert world.outlets.hook == [delivery]


# --- after a restore


def test_what_was_under_way_is_tried_again_after_a_restore() -> None:
    """The try that nobody will answer is made again, and its batch goes before those that wait behind it."""
    world = make_world(attempts=ONE_EVENT, assume=Assume(bundle=False))
    send(world, *TEN[:3], callback=HOOK)
    send_one(world, TEN[3], callback="http://else.example")
    advance(world, 0, answer=lambda each: (200 if each.number == 0 else 500, None))
    send(world, *TEN[4:6], callback=HOOK)
    take(world)
    assert world.outlets.in_flight == 1
    go_back(world)
    assert world.outlets.in_flight == 0
    numbers = [each.number for each in take(world)]
    assert numbers == [4]
    again = world.outlets.deliveries[4]
    assert [(each.status, each.error) for each in again.tries] == [(None, None)]
    assert world.outlets.in_flight == 1
    world.outlets.outcome(again, 200, None)
    advance(world, HOUR)
    assert {each.state for each in world.outlets.deliveries} == {"delivered"}


@pytest.mark.parametrize("behind", [0, 1])
def test_a_delivery_held_under_way_frees_its_line_after_a_restore(behind: int) -> None:
    """It stays held; what waits behind it goes on."""
    world, held = one_delivery()
    take(world)
    world.outlets.hold(held)
    send(world, *TEN[:behind] or [PHONE], callback=HOOK if behind else None)
    world.run(START, PLENTY)
    go_back(world)
    assert [each.number for each in take(world)] == [1] * behind
    assert world.outlets.deliveries[0] is held
    assert held.state == "held"
    assert world.outlets.release(held)


def test_a_delivery_is_found_by_its_id() -> None:
    """Those that came since the last time too; one that was forgotten is not there any more."""
    world = make_world()
    for number in range(5):
        send_one(world, body=f"Hello {number}", callback=HOOK)
        advance(world, 60_000)
    outlets = world.outlets
    assert [outlets.find(outlets.id_of(delivery)) for delivery in outlets.deliveries] == outlets.deliveries
    assert outlets.find("never") is None
    (oldest, *_), mark = outlets.deliveries, outlets.mark
    send_one(world, body="Last", callback=HOOK)
    advance(world, 60_000)
    for _ in outlets.forget(mark):
        pass
    assert outlets.find(oldest.id) is None
    assert outlets.took.keys() <= {tried for delivery in outlets.deliveries for tried in delivery.tries}
    assert all(outlets.find(outlets.id_of(delivery)) is delivery for delivery in outlets.deliveries)
    assert len(outlets.deliveries) > 0
    assert outlets.deliveries[0].number == mark.deliveries == outlets.deliveries.lost
