"""Events on their way out: bundles, lines, tries and retries (§6; A20, A22)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.delivery.batches import Delivery, Target, body_of
from sendbox.engine.texts import Pattern
from sendbox.services.account.account import Account
from sendbox.services.assume import Assume
from sendbox.services.messaging.messaging import Messaging
from tests.core.faulty import fault
from tests.core.worlds import (
    HOOK,
    HOUR,
    ONE_EVENT,
    PLENTY,
    START,
    TEN,
    advance,
    bundle,
    journaled,
    make_world,
    one_delivery,
    path,
    rule,
    send,
    send_one,
    take,
    tried_at,
)

# --- bundles


def test_a22_events_of_one_instant_for_one_target_travel_together() -> None:
    """One batch an instant and target, in the order of the events; other instants and targets have their own."""
    world = make_world()
    first, second = send(world, *TEN[:2], callback=HOOK), send(world, *TEN[2:4], callback=HOOK)
    other = send(world, TEN[4], callback="http://else.example")
    advance(world, HOUR)
    assert [
        ((each.made_at - START), each.outlet.target.url, [attempt.message for attempt, _ in each.events])
        for each in world.outlets.deliveries
    ] == [
        (at, url, those)
        for at in (0, 1_000, 3_000)
        for url, those in ((HOOK, first + second), ("http://else.example", other))
    ]


@pytest.mark.parametrize(
    ("target", "bundle", "sizes"),
    [
        pytest.param(Target(HOOK), True, [100, 20], id="at most 100"),
        pytest.param(Target(HOOK, batch_size=50), True, [50, 50, 20], id="batch_size"),
        pytest.param(Target(HOOK, batch_size=500), True, [120], id="a larger batch_size"),
        pytest.param(Target(HOOK, batch_size=500), False, [1] * 120, id="bundle: false"),
    ],
)
def test_a22_a_batch_holds_at_most_its_size(target: Target, bundle: bool, sizes: list[int]) -> None:
    """More events than a batch holds are cut into several; without bundling each travels alone."""
    world = make_world(attempts=ONE_EVENT, assume=Assume(bundle=bundle))
    for _ in range(12):
        send(world, *TEN, callback=target)
    advance(world)
    assert [len(each.events) for each in world.outlets.deliveries] == sizes


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Target("http://else.example"), id="address"),
        pytest.param(Target(HOOK, method="PUT"), id="method"),
        pytest.param(Target(HOOK, content_type="application/x-www-form-urlencoded"), id="content type"),
        pytest.param(Target(HOOK, headers=(("X-A", "1"),)), id="headers"),
        pytest.param(Target(HOOK, secret="s"), id="signing key"),
    ],
)
def test_a22_what_makes_a_target_of_its_own(other: Target) -> None:
    """Method, address, headers, content type and signing key: where one differs, events do not travel together."""
    world = make_world(attempts=ONE_EVENT)
    for target in (Target(HOOK), other, Target(HOOK)):
        send_one(world, callback=target)
    advance(world)
    assert [len(each.events) for each in world.outlets.deliveries] == [2, 1]


def test_a_reply_travels_with_the_other_events_of_its_instant() -> None:
    """Events of both kinds are in one batch."""
    world = make_world(attempts=ONE_EVENT)
    first = send_one(world, callback=HOOK)
    advance(world)
    second = send_one(world, callback=HOOK)
    reply = Messaging.of(world).phones.reply(first, "Hi")
    advance(world)
    assert world.outlets.deliveries[1].events == [reply, (second.last, 1)]


def test_much_of_one_instant_is_bundled_in_parts() -> None:
    """A tick makes the batches of about 512 events, whole ones; no try begins before all are made."""
    world = make_world(attempts=ONE_EVENT)
    messages = [send_one(world, callback=Target(url, batch_size=15)) for url in ("http://a", "http://b", "http://c")]
    advance(world)
    for message in messages * 200:
        Messaging.of(world).phones.reply(message, "Hi")
    outlets = world.outlets
    made = [len(outlets.deliveries)]
    while outlets.dirty:
        assert (world.run(world.now, 1), outlets.take(), outlets.in_flight) == (1, [], 0)
        made.append(len(outlets.deliveries))
    assert made == [3, 39, 45]
    assert [len(each.events) for each in outlets.deliveries[3:]] == [*[15] * 13, 5] * 3
    assert (world.run(world.now, PLENTY), len(outlets.take())) == (1, 3)


def test_much_is_asked_of_rules_in_smaller_parts() -> None:
    """Where rules are asked about each event a tick bundles about 64 of them."""
    world = make_world(attempts=ONE_EVENT, webhooks=(fault("duplicate", phone=(Pattern(TEN[9], digits=True),)),))
    message = send_one(world, callback=Target(HOOK, batch_size=15))
    advance(world)
    for _ in range(200):
        Messaging.of(world).phones.reply(message, "Hi")
    made = [len(world.outlets.deliveries)]
    while world.outlets.dirty:
        assert (world.run(world.now, 1), world.outlets.take()) == (1, [])
        made.append(len(world.outlets.deliveries))
    assert made == [1, 6, 11, 15]


def test_tries_begin_in_rounds() -> None:
    """A tick begins a try for 256 targets; whoever takes gets what has begun since somebody last took."""
    world = make_world(attempts=ONE_EVENT)
    for number in range(300):
        send_one(world, callback=f"http://host{number}.example")
    bundle(world)
    outlets = world.outlets
    assert (len(outlets.deliveries), outlets.take(), outlets.in_flight) == (300, [], 0)
    assert (world.run(START, 1), outlets.in_flight, outlets.ready) == (1, 256, True)
    first = outlets.take()
    assert (outlets.take(), outlets.in_flight) == ([], 256)
    assert (world.run(START, PLENTY), outlets.in_flight, outlets.ready) == (1, 300, False)
    assert first + outlets.take() == list(outlets.under_way) == outlets.deliveries
    assert world.run(START, PLENTY) == 0


def test_every_transition_is_an_event() -> None:
    """Every transition is one event, in the order of the path, each at its instant."""
    way = path("sending", ("sent", 1_000), ("delivered", 0))
    world = make_world(attempts=(rule(way),))
    send_one(world, callback=HOOK)
    advance(world, HOUR)
    assert [[code for _, code in each.events] for each in world.outlets.deliveries] == [[1], [2, 3]]


# --- lines


def test_a22_targets_side_by_side_and_batches_one_after_another() -> None:
    """All targets are tried at once, but each has one batch under way; the next one goes when that has its answer."""
    world = make_world(attempts=ONE_EVENT, assume=Assume(bundle=False))
    send(world, *TEN[:2], callback=HOOK)
    send(world, TEN[2], callback="http://else.example")
    taken = take(world)
    first, second, other = world.outlets.deliveries
    assert taken == [first, other]
    assert ([each.state for each in (first, second, other)], world.outlets.in_flight) == (
        ["sending", "waiting", "sending"],
        2,
    )
    assert (take(world), world.outlets.ready, world.idle) == ([], False, False)
    world.outlets.outcome(other, 200, None)
    assert not world.outlets.ready
    world.outlets.outcome(first, 200, None)
    assert take(world) == [second]
    world.outlets.outcome(second, 200, None)
    assert [each.state for each in (first, second, other)] == ["delivered"] * 3
    assert (world.outlets.ready, world.outlets.in_flight, world.idle) == (False, 0, True)


def test_new_batches_wait_while_one_is_under_way() -> None:
    """Events of a later instant wait behind the batch that has no answer yet."""
    world = make_world()
    send_one(world, callback=HOOK)
    (first,) = take(world)
    world.run(START + HOUR, PLENTY)
    assert (world.now, len(world.outlets.deliveries), world.outlets.take()) == (START + HOUR, 3, [])
    world.outlets.outcome(first, 200, None)
    second, third = world.outlets.deliveries[1:]
    assert take(world) == [second]
    world.outlets.outcome(second, 200, None)
    assert take(world) == [third]


# --- outcome and retries (A20)


@pytest.mark.parametrize(
    ("status", "error", "state"),
    [
        pytest.param(200, None, "delivered", id="200"),
        pytest.param(204, None, "delivered", id="another 2xx"),
        pytest.param(299, None, "delivered", id="299"),
        pytest.param(199, None, "waiting", id="1xx"),
        pytest.param(300, None, "waiting", id="300"),
        pytest.param(302, "redirect", "waiting", id="redirect"),
        pytest.param(404, None, "waiting", id="4xx"),
        pytest.param(500, None, "waiting", id="5xx"),
        pytest.param(200, "closed", "waiting", id="an answer that broke off"),
        pytest.param(None, "refused", "waiting", id="refused"),
        pytest.param(None, "timeout", "waiting", id="timeout"),
    ],
)
def test_a20_a_2xx_is_success_and_anything_else_a_failure(status: int | None, error: Any, state: str) -> None:
    """After a success nothing is kept of the body; after a failure the batch waits for its next try."""
    world, delivery = one_delivery()
    assert take(world) == [delivery]
    body_of(world, delivery)
    world.outlets.outcome(delivery, status, error)
    assert delivery.state == state
    assert (delivery.body is None) is (state == "delivered")
    assert (delivery.tries[0].status, delivery.tries[0].error) == (status, error)


def test_a20_five_tries_at_0_30_90_210_and_450_seconds() -> None:
    """30, 60, 120 and 240 s after the start of the try before; then the batch has failed."""
    world, delivery = one_delivery()
    advance(world, HOUR, answer=lambda _: (500, None))
    assert tried_at(delivery) == [0, 30, 90, 210, 450]
    assert (delivery.state, delivery.body, world.idle) == ("failed", None, True)
    assert [(when // 1000, what) for when, what in journaled(world, "try")] == [
        (when, (delivery, number)) for number, when in enumerate(tried_at(delivery))
    ]


@pytest.mark.parametrize(
    ("retries", "expected"),
    [pytest.param((), [0], id="none"), pytest.param((5_000, 10_000), [0, 5, 15], id="5s, 10s")],
)
def test_a20_the_schedule_is_a_setting(retries: tuple[int, ...], expected: list[int]) -> None:
    """`webhook_retry` holds the times from try to try."""
    world, delivery = one_delivery(assume=Assume(webhook_retry=retries))
    advance(world, HOUR, answer=lambda _: (None, "refused"))
    assert (tried_at(delivery), delivery.state) == (expected, "failed")


def test_a20_a_try_that_succeeds_ends_the_tries() -> None:
    """The third try is answered 200: no fourth one."""
    world, delivery = one_delivery()
    advance(world, HOUR, answer=lambda each: (200 if len(each.tries) == 3 else 503, None))
    assert (tried_at(delivery), delivery.state) == ([0, 30, 90], "delivered")


def test_a22_a_failed_batch_is_retried_whole_with_the_same_bytes_and_id() -> None:
    """Every try has the same bytes and request id, whatever changed meanwhile, and no event joins it."""
    world, delivery = one_delivery()
    seen = []

    def receive(each: Delivery) -> tuple[int | None, str | None]:
        if each is delivery:
            seen.append((body_of(world, each), world.outlets.id_of(each)))
            Account.of(world).keys[world.id].default_sender = f"Sender {len(seen)}"
            return 500, None
        return 200, None

    advance(world, 30_000 - 1, answer=receive)
    send_one(world, TEN[5], callback=HOOK)
    advance(world, 1, answer=receive)
    advance(world, HOUR, answer=receive)
    assert len(seen) == 5
    assert len(set(seen)) == 1
    assert world.outlets.find(seen[0][1]) is delivery
    assert world.outlets.find("nothing") is None


def test_a22_later_events_do_not_wait_for_a_failed_batch() -> None:
    """While a batch waits for its next try, later batches of the target are delivered."""
    world = make_world()
    send_one(world, callback=HOOK)
    advance(world, 10_000, answer=lambda each: (500 if each.number == 0 else 200, None))
    first, second, third = world.outlets.deliveries
    assert [tried_at(each) for each in (first, second, third)] == [[0], [1], [3]]
    assert [each.state for each in (first, second, third)] == ["waiting", "delivered", "delivered"]


@pytest.mark.parametrize(
    ("target", "assume", "seconds"),
    [
        pytest.param(Target(HOOK), Assume(), 5, id="5 s"),
        pytest.param(Target(HOOK, timeout_ms=2_000), Assume(), 2, id="timeout_ms"),
        pytest.param(Target(HOOK), Assume(webhook_timeout=10_000), 10, id="webhook_timeout"),
    ],
)
def test_a20_a_try_without_an_answer_takes_its_time(target: Target, assume: Assume, seconds: int) -> None:
    """A timeout takes five seconds of the world's time, in which the target takes no other batch."""
    world = make_world(attempts=ONE_EVENT, assume=assume)
    send_one(world, callback=target)
    advance(world, 1_000, answer=lambda _: (None, "timeout"))
    send_one(world, callback=target)
    advance(world, HOUR)
    first, second = world.outlets.deliveries
    assert (tried_at(first), tried_at(second)) == ([0, 30], [seconds])


def test_a20_a_timeout_longer_than_the_retry_delays_it() -> None:
    """The next try cannot begin before the one without an answer has ended."""
    world, delivery = one_delivery(Target(HOOK, timeout_ms=10_000), assume=Assume(webhook_retry=(1_000,)))
    advance(world, HOUR, answer=lambda _: (None, "timeout"))
    assert tried_at(delivery) == [0, 10]


def test_a_slow_answer_of_a_world_whose_time_passes() -> None:
    """Where the clock went on meanwhile, a timeout is over when it is told, and a retry that is overdue is due now."""
    world, delivery = one_delivery(assume=Assume(webhook_retry=(1_000,)))
    assert take(world) == [delivery]
    world.run(START + 60_000, PLENTY)
    world.outlets.outcome(delivery, None, "timeout")
    assert take(world) == [delivery]
    assert tried_at(delivery) == [0, 60]


# --- names


def test_the_id_of_a_delivery_is_named_after_its_first_event() -> None:
    """Equal runs name deliveries equally, whatever else was under way; another world names them otherwise."""
    ids = []
    for world_id, start in [("test-a", START), ("test-a", START + HOUR), ("test-b", START)]:
        world = make_world(world_id, start=start)
        if start != START:
            send_one(world, TEN[9], callback="http://else.example")
        message = send_one(world, callback=HOOK)
        advance(world)
        Messaging.of(world).phones.reply(message, "Hi")
        advance(world)
        ids.append([world.outlets.id_of(each) for each in world.outlets.deliveries if each.outlet.target.url == HOOK])
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])
    assert len(set(ids[0])) == 2
