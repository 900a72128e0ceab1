"""Injected faults: what is delayed, gathered, sent again or too early."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.delivery.faults.fault import FaultyDelivery
from sendbox.engine.durations import Moment
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Message
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Onboarding
from tests.core.faulty import SECOND, fault, run, sent, told
from tests.core.observed import digest
from tests.core.runs import END, RULES, SENDINGS, STOPS, Sending, carry_out, request, to
from tests.core.worlds import (
    HOOK,
    HOUR,
    ONE_EVENT,
    PHONE,
    START,
    TEN,
    advance,
    go_back,
    journaled,
    make_world,
    rule,
    send,
    send_one,
    step,
    take,
)
from tests.tiers import examples

# --- the same again

MANY = (
    fault("drop", result=("undelivered",), share=0.5),
    fault("duplicate", result=("sent",), share=0.3, after=(0, 5_000), copies=2),
    fault("stale", result=("delivered",), share=0.4, after=2_000),
    fault("delay", after=(0, 60_000), share=0.3),
    fault("reorder", after=5_000, phone=Pattern("420777000100")),
    fault("bundle", after=20_000, event=("incomingReplyMessage",)),
    fault("answer", by=503, share=0.3),
    fault("answer", "down", by="refused", begins=Moment(40_000, relative=True), ends=Moment(90_000, relative=True)),
)
INBOUND = {"channel": "sms", "from": PHONE, "to": "420900000001", "body": "Hello"}


def played(sendings: list[Sending], stops: list[int] = [], **more: Any) -> World:  # noqa: B006 - only read
    """A run in a world with rules of every kind, interrupted here and there."""
    return carry_out(make_world(attempts=RULES, webhooks=MANY, **more), sendings, stops)


@given(SENDINGS, STOPS)
@settings(max_examples=examples(20))
def test_in_one_step_or_in_many(sendings: list[Sending], stops: list[int]) -> None:
    """The digest is the same however the clock is moved."""
    assert digest(played(sendings)) == digest(played(sendings, stops))


@given(SENDINGS, st.randoms(use_true_random=False))
@settings(max_examples=examples(20))
def test_in_any_order_of_arrival(sendings: list[Sending], random: Any) -> None:
    """Requests of one instant in another order: the same digest, unless something is marked."""
    shuffled = list(sendings)
    random.shuffle(shuffled)
    first, second = played(sendings), played(sorted(shuffled, key=lambda each: each.at))
    if not first.journal.order_sensitive:
        assert digest(first) == digest(second)


@given(SENDINGS, st.integers(0, 100_000))
@settings(max_examples=examples(20))
def test_a_restore_has_the_same_future(sendings: list[Sending], stop: int) -> None:
    """What is delayed, gathered, counted and drawn survives a restore."""
    webhooks = (*MANY, fault("split", "n", nth=3))
    world, restored = (make_world(attempts=RULES, webhooks=webhooks) for _ in range(2))
    for one in (world, restored):
        for each in sendings:
            if each.at <= stop:
                to(one, each.at)
                request(one, each)
        to(one, stop)
    go_back(restored)
    for one in (world, restored):
        to(one, END)
    assert digest(restored) == digest(world)
    assert [told(each.events) for each in restored.outlets.deliveries] == [
        told(each.events) for each in world.outlets.deliveries
    ]


def test_the_timeline_sees_what_is_on_its_way() -> None:
    """A delayed batch and an open window are steps: the world is not idle, and knows what comes next."""
    for rules in ((fault("delay", after=HOUR),), (fault("bundle", after=HOUR),), (fault("reorder", after=HOUR),)):
        world = make_world(
            webhooks=rules, attempts=ONE_EVENT, timeline=(TimelineEntry(2 * HOUR, True, "inbound", INBOUND),)
        )
        send(world, callback=HOOK)
        advance(world)
        assert (world.timeline.next_due(), world.idle, sent(world)) == (START + HOUR, False, [])
        advance(world, HOUR)
        assert sent(world) == [(3600, ["sending"])]


def test_a_closed_world_forgets_its_windows() -> None:
    """What was gathered goes with the world."""
    world = make_world(webhooks=(fault("bundle", after=HOUR),))
    send(world)
    advance(world)
    for _ in world.dispose():
        pass
    assert not world.outlets.injection.windows


def test_rules_that_meet_nothing_change_nothing() -> None:
    """Without a rule that fits nothing is different."""
    with_rules, without = run(fault("drop", phone=Pattern("421"))), run()
    assert Counter(map(str, sent(with_rules))) == Counter(map(str, sent(without)))
    assert digest(with_rules) == digest(without)


def test_signups_have_windows_too() -> None:
    """Notifications of a signup are gathered like other events, and all of them are sent."""
    world = make_world(webhooks=(fault("reorder", after=2 * HOUR),))
    Partner.of(world).sign_up("manual", None, {}, HOOK, Account.of(world).keys[world.id], b"{}")
    Messaging.of(world).phones.write("sms", TEN[2], "420900000001", "Hello")
    advance(world, 9 * HOUR)
    happened = [event for _, applied in journaled(world, "webhook_fault") for event in applied.events]
    order = [each.events[0] for each in world.outlets.deliveries]
    assert (len(happened), set(order)) == (3, set(happened))
    signups = [event for event in happened if event in order and isinstance(event, Onboarding)]
    assert [event for event in order if isinstance(event, Onboarding)] == signups[::-1]


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.unmeasured
def test_a_window_is_never_in_the_order_of_its_events(count: int) -> None:
    """Whatever was drawn: of each message, and of all of them."""
    for seed in range(40):
        world = make_world(webhooks=(fault("reorder", after=5 * SECOND),), seed=seed, attempts=ONE_EVENT)
        for number in TEN[:count]:
            send(world, number, callback=HOOK)
            advance(world, 1)
        advance(world, HOUR)
        assert [each.events[0][0].message.phone for each in world.outlets.deliveries] != list(TEN[:count])


def test_the_event_before_a_reply_is_the_last_of_its_message() -> None:
    """A reply may be followed by a stale `delivered`; what was not reported before has none."""
    world = make_world(webhooks=(fault("stale", event=("incomingReplyMessage", "incomingMessage")),))
    message = send_one(world, callback=HOOK)
    advance(world, 10 * SECOND)
    Messaging.of(world).phones.reply(message, "Hi")
    Messaging.of(world).phones.write("sms", TEN[2], "420900000001", "Hello")
    advance(world)
    told_of = [kinds for at, kinds in sent(world) if at == 10]
    assert sorted(told_of) == [["delivered"], ["incomingMessage"], ["incomingReplyMessage"]]
    assert told_of.index(["delivered"]) == told_of.index(["incomingReplyMessage"]) + 1


def test_a_stale_event_may_be_of_the_attempt_before() -> None:
    """When a flow goes on, the first event of the next attempt comes after the last of the one before."""
    world = make_world(
        webhooks=(fault("stale", gateway=("sms",), result=("sending",)),),
        attempts=(rule("undelivered", when=When(channel=("richmsg",))),),
    )
    send(world, steps=[step("richmsg"), step("sms")], callback=HOOK)
    advance(world, HOUR)
    assert [kinds for _, kinds in sent(world)] == [
        *(["sending"], ["sent"]),
        *(["undelivered"], ["sending"], ["undelivered"]),
        *(["sent"], ["delivered"]),
    ]


def racing(world: World, **fields: Any) -> Message:
    """A message whose answer waits for its events, up to the flush of them."""
    message = send_one(world, **fields)
    world.outlets.injection.racing.add(message.submission.request_id)
    world.run(world.now, 1_000)
    return message


@pytest.mark.parametrize("taken", [False, True])
def test_after_a_restore_nothing_overtakes(taken: bool) -> None:
    """A batch that was to leave before an answer, or was under way, is first to be tried after a restore."""
    world = make_world(webhooks=(fault("overtake"),), attempts=ONE_EVENT)
    message = racing(world, callback=HOOK)
    assert world.outlets.injection.overtaking_requests == [message.submission.request_id]
    if taken:
        world.outlets.injection.begin_ahead()
        (under_way,) = world.outlets.take()
        assert isinstance(under_way, FaultyDelivery)
        assert (under_way.ahead, world.outlets.in_flight) == (True, 1)
    go_back(world)
    assert (world.outlets.in_flight, world.outlets.injection.racing) == (0, set())
    advance(world, HOUR)
    (delivery,) = world.outlets.deliveries
    assert (delivery.state, len(delivery.tries), world.idle) == ("delivered", 1, True)


def test_nothing_leaves_while_an_answer_is_waited_for() -> None:
    """What goes the usual way is bundled, and its try begins when no answer is waited for any more."""
    world = make_world(webhooks=(fault("overtake", phone=Pattern(PHONE)),), attempts=ONE_EVENT)
    usual = send_one(world, TEN[1], callback="http://else.example")
    message = racing(world, callback=HOOK)
    outlets = world.outlets
    assert (outlets.ready, outlets.in_flight, world.run(world.now + HOUR, 1_000), world.now) == (True, 0, 0, START)
    outlets.injection.begin_ahead()
    (ahead,) = outlets.take()
    assert [attempt.message for attempt, _ in ahead.events] == [message]
    outlets.injection.racing.clear()
    (other,) = take(world)
    assert [attempt.message for attempt, _ in other.events] == [usual]
    assert list(outlets.under_way) == [ahead, other]


def test_a_line_goes_on_beside_what_overtakes() -> None:
    """It is not part of its line: a batch under way there stays alone until it has its own answer."""
    world = make_world(webhooks=(fault("overtake"),), attempts=ONE_EVENT)
    send(world, callback=HOOK)
    (first,) = take(world)
    racing(world, body="b", callback=HOOK)
    world.outlets.injection.begin_ahead()
    (ahead,) = world.outlets.take()
    assert ahead is not first
    world.outlets.injection.racing.clear()
    world.outlets.outcome(ahead, 500, None)
    assert first.outlet.busy
    world.outlets.outcome(first, 200, None)
    advance(world, HOUR)
    assert [each.state for each in world.outlets.deliveries] == ["delivered", "delivered"]
