"""A world: its time, its rules, its timeline, its names; what a reset and an end leave of it.

It is long because each of these is tried on a whole world.
"""

from __future__ import annotations

import gc
import weakref
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.bounds import END
from sendbox.engine.delivery.injection import FakedTry
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.advice import UNKNOWN_FIELD, advise
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec, Shortening
from sendbox.services.messaging.records import Message
from sendbox.services.windows import Window
from tests.core.asked import asked
from tests.core.faulty import fault
from tests.core.observed import digest, entry_view
from tests.core.runs import RULES
from tests.core.worlds import (
    HOOK,
    HOUR,
    PHONE,
    PLENTY,
    START,
    TEN,
    advance,
    go_back,
    journaled,
    make_world,
    moves,
    names_of,
    results,
    rule,
    send,
    send_one,
    step,
)
from tests.scenarios import make_blueprint
from tests.tiers import examples

# --- run


def test_the_clock_comes_to_rest_where_it_was_sent() -> None:
    """When nothing more is due, `now` is the instant asked for; the steps up to it, and it included, have fired."""
    world = make_world()
    message = send_one(world)
    assert world.run(START + 1_000, PLENTY) == 4  # handed over, bundled; sent, bundled
    assert (world.now, message.result) == (START + 1_000, "sent")
    assert world.run(START + 2_999, PLENTY) == 0  # the clock moves in no tick
    assert (world.now, message.result) == (START + 2_999, "sent")
    assert world.run(START + 2_999, PLENTY) == 0
    assert (world.fired, world.instants, world.ticks) == (2, 2, 4)


def test_without_rest_the_clock_stays_at_the_last_step() -> None:
    """An advance until idle does not run on to its bound."""
    world = make_world()
    send_one(world)
    world.run(START + HOUR, PLENTY, rest=False)
    assert world.now == START + 3_000
    assert world.settled(START + 3_000)


def test_a_run_to_the_present_only_fires_what_is_due() -> None:
    """An advance by nothing settles this instant and moves no clock."""
    world = make_world()
    message = send_one(world)
    world.run(START, PLENTY)
    assert (message.result, world.now, world.instants) == ("sending", START, 0)


def test_a_run_stops_at_its_budget() -> None:
    """So many ticks and no more; the rest follows on the next call, with the same outcome."""
    world, other = make_world(), make_world()
    for each in (world, other):
        send(each, *TEN)
    ticks = [world.run(START + HOUR, 7) for _ in range(7)]
    assert ticks == [7, 7, 7, 7, 5, 0, 0]  # thirty steps, three bundles
    assert other.run(START + HOUR, PLENTY) == 33 == other.ticks == world.ticks
    assert (world.now, world.fired) == (other.now, other.fired) == (START + HOUR, 30)
    assert digest(world) == digest(other)


def test_a_run_stops_at_the_end_of_an_instant_with_deliveries() -> None:
    """All steps of the instant fire, their events are bundled, and the tries begin; there the clock waits."""
    world = make_world()
    messages = send(world, *TEN, callback=HOOK)
    assert world.run(START + HOUR, PLENTY) == 12
    assert (world.now, {message.result for message in messages}) == (START, {"sending"})
    assert (len(world.outlets.deliveries), world.outlets.in_flight, world.idle) == (1, 1, False)
    (delivery,) = world.outlets.take()
    world.outlets.outcome(delivery, 200, None)
    world.run(START + HOUR, PLENTY)
    assert (world.now, world.outlets.in_flight, world.settled(START + 1_000)) == (START + 1_000, 1, True)


def test_without_settling_a_run_goes_on_while_tries_are_under_way() -> None:
    """All of it in one call: a target has one try under way, and what is made meanwhile waits behind it."""
    world = make_world()
    send(world, *TEN, callback=HOOK)
    world.run(START + HOUR, PLENTY, settle=False)
    assert (world.now, world.outlets.in_flight) == (START + HOUR, 1)
    assert [each.state for each in world.outlets.deliveries] == ["sending", "waiting", "waiting"]
    assert world.outlets.take() == world.outlets.deliveries[:1]


def test_a_run_does_not_wait_for_deliveries_under_way() -> None:
    """What was taken and has no answer yet does not hold the clock: where time passes by itself, it goes on."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback=HOOK)
    world.run(START, PLENTY)
    world.outlets.take()
    world.run(START + HOUR, PLENTY)
    assert (world.now, world.idle) == (START + HOUR, False)


def test_events_that_wait_for_the_next_run_keep_a_world_busy() -> None:
    """A phone that wrote to a resting world: it is neither idle nor settled until the event went out."""
    world = make_world()
    Messaging.of(world).phones.write("sms", PHONE, None, "Hi")
    assert (world.idle, world.settled(START)) == (False, False)
    world.run(START, PLENTY)
    waits = (world.idle, world.settled(START))
    assert (waits, len(world.outlets.hook)) == ((True, True), 1)


def test_what_a_phone_did_is_reported_at_its_instant() -> None:
    """Events of a resting world are bundled before its clock moves on."""
    world = make_world()
    send_one(world, at=START + HOUR)
    Messaging.of(world).phones.write("sms", PHONE, None, "Hi")
    advance(world, 2 * HOUR)
    assert [each.made_at - START for each in world.outlets.hook] == [0, HOUR, HOUR + 1_000, HOUR + 3_000]


def test_much_to_bundle_stops_a_run() -> None:
    """Where more events wait than a tick bundles, the run stops within the instant and goes on when called again."""
    world = make_world()
    send_one(world, at=START + HOUR)
    for _ in range(3):
        for _ in range(700):
            Messaging.of(world).phones.write("sms", PHONE, None, "Hi")
        world.run(world.now, 1)
        assert (bool(world.outlets.dirty), world.settled(world.now)) == (True, False)
        until = world.now + 10
        while not world.settled(until):
            world.run(until, 1)
    assert sum(len(each.events) for each in world.outlets.hook) == 2_100
    assert [each.made_at - START for each in world.outlets.hook] == [0] * 7 + [10] * 7 + [20] * 7


# --- ticks

#: Something of everything that a rule may do to a webhook.
FAULTS = (
    fault("drop", result=("undelivered",), share=0.5),
    fault("duplicate", result=("sent",), share=0.3, after=(0, 5_000), copies=2),
    fault("stale", result=("delivered",), share=0.4, after=2_000),
    fault("delay", after=(0, 60_000), share=0.3),
    fault("reorder", after=5_000, phone=Pattern(PHONE)),
)
#: What is done to a world after a pause: how many messages are sent, and how many a phone writes.
Act = tuple[int, int, int]
ACTS = st.lists(
    st.tuples(st.sampled_from([0, 1_000, 7_000, 90_000, HOUR]), st.integers(0, 10), st.sampled_from([0, 1, 80, 150])),
    min_size=1,
    max_size=4,
)
BUDGETS = st.lists(st.integers(1, 40), min_size=1, max_size=6)


def do(world: World, act: Act) -> None:
    """Carries out the calls of an act."""
    _, sent, written = act
    if sent:
        shortening = Shortening(expires_at=START // 1000 + 60)
        send(world, *TEN[:sent], body="https://a.example", callback=HOOK, shortening=shortening)
        send(world, PHONE, callback="http://else.example")
    for _ in range(written):
        Messaging.of(world).phones.write("sms", PHONE, None, "Hi")


def answered(world: World) -> int:
    """Answers what is under way, every third with an error, if a round of tries has ended; returns how many."""
    outlets = world.outlets
    if outlets.ready or (world.timeline.next_due() or END) <= world.now:
        return 0
    taken = outlets.take()
    for delivery in taken:
        last = delivery.tries[-1]
        status = 500 if (delivery.number + len(delivery.tries)) % 3 == 0 else 200
        outlets.outcome(delivery, *(last.ending if isinstance(last, FakedTry) else (status, None)))
    return len(taken)


def told_of(world: World) -> list[Any]:
    """Every entry of the journal, as it is shown, and how far the world is."""
    entries = [entry_view(world, number) for number in range(len(world.journal))]
    return [*entries, world.now, world.ticks, world.fired, world.instants]


def in_portions(rules: bool, acts: list[Act], budgets: list[int]) -> World:
    """A world in which these things were done, moved in portions of so many ticks, again and again."""
    world = make_world(attempts=RULES, webhooks=FAULTS if rules else ())
    portions = cycle(budgets)
    for act in (*acts, (2 * HOUR, 0, 0)):
        until = world.now + act[0]
        while not world.settled(until) or world.outlets.in_flight:
            budget = next(portions)
            assert world.run(until, budget) <= budget
            answered(world)
        do(world, act)
    return world


@settings(max_examples=examples(10))
@given(st.booleans(), ACTS, BUDGETS)
@pytest.mark.unmeasured
def test_portions_leave_no_trace(rules: bool, acts: list[Act], budgets: list[int]) -> None:
    """However many ticks are done at a time, the journal is the same, entry by entry, and so are the ticks."""
    whole = told_of(in_portions(rules, acts, [PLENTY]))
    for each in ([1], [7], budgets):
        assert told_of(in_portions(rules, acts, each)) == whole


@settings(max_examples=examples(10))
@given(st.booleans(), ACTS, BUDGETS)
@pytest.mark.unmeasured
def test_a_place_is_found_again_by_its_ticks(rules: bool, acts: list[Act], budgets: list[int]) -> None:
    """A world is brought to the place of each call, in the middle of an instant too, by its instant and its ticks."""
    world, again = (make_world(attempts=RULES, webhooks=FAULTS if rules else ()) for _ in range(2))

    def follow() -> None:
        while again.ticks < world.ticks:
            assert again.run(world.now, world.ticks - again.ticks)
        again.run(world.now, 0)  # where nothing is due the clock moves on
        assert (again.now, again.ticks, len(again.journal)) == (world.now, world.ticks, len(world.journal))

    for act, budget in zip((*acts, (2 * HOUR, 0, 0)), cycle(budgets)):
        until = world.now + act[0]
        world.run(until, budget)  # as far as this goes, and the calls of the act come in between
        follow()
        for each in (world, again):
            do(each, act)
        while not world.settled(until) or world.outlets.in_flight:
            world.run(until, PLENTY)
            follow()
            assert answered(again) == answered(world)
    assert told_of(again)[:-1] == told_of(world)[:-1]


# --- lapses


def linked(world: World, *minutes: int) -> None:
    """Messages with links that expire after so many minutes."""
    for minute in minutes:
        expiry = Shortening(expires_at=START // 1000 + 60 * minute)
        send_one(world, body="https://a.example", shortening=expiry)
    advance(world, 10_000)


def test_lapses_are_journaled_at_their_own_instant() -> None:
    """However far the clock is moved, a lapse stands in the journal at the instant at which it came, in order."""
    world = make_world()
    linked(world, 30, 10, 20)
    send_one(world, at=START + 15 * 60_000)
    advance(world, HOUR)
    assert [at for at, _ in journaled(world, "lapse")] == [600_000, 1_200_000, 1_800_000]
    instants = [at for at, _ in sorted(zip(world.journal.at, range(len(world.journal)), strict=True))]
    assert list(world.journal.at) == instants


def test_lapses_never_pull_the_clock() -> None:
    """A world that only waits for lapses is idle, and nothing is due in it."""
    world = make_world()
    linked(world, 10)
    assert (world.idle, world.timeline.next_due()) == (True, None)
    world.run(START + HOUR, PLENTY, rest=False)
    assert (world.now, journaled(world, "lapse")) == (START + 10_000, [])


def test_many_lapses_are_passed_in_slices() -> None:
    """Each instant at which something lapses is a tick, before a step and at rest alike."""
    world = make_world()
    linked(world, *range(10, 20), *range(30, 40), *[45] * 40)
    send_one(world, at=START + 20 * 60_000)
    calls = 0
    while not world.settled(START + HOUR):
        world.run(START + HOUR, 1)
        calls += 1
    assert len(journaled(world, "lapse")) == 60
    assert calls > 21
    assert world.now == START + HOUR


# --- timeline of the scenario


def entry(at: int, *, relative: bool = True, **what: Any) -> TimelineEntry:
    """A phone writes at an instant."""
    return TimelineEntry(at, relative, "inbound", {"channel": "sms", "from": PHONE, "body": "Hello"} | what)


@pytest.mark.parametrize(
    ("happening", "at"),
    [
        pytest.param(entry(HOUR), HOUR, id="from the start"),
        pytest.param(entry(0), 0, id="at the start"),
        pytest.param(entry(START + HOUR, relative=False), HOUR, id="an instant"),
        pytest.param(entry(START - HOUR, relative=False), 0, id="an instant before the start"),
    ],
)
def test_timeline_entries_come_at_their_instant(happening: TimelineEntry, at: int) -> None:
    """A phone of the scenario writes at its instant, journaled, and reported like any other message."""
    world = make_world(timeline=(happening,))
    advance(world, 2 * HOUR)
    assert journaled(world, "timeline") == [(at, {"kind": "inbound", **happening.what})]
    ((when, inbound),) = journaled(world, "inbound")
    assert (when, inbound.sender, inbound.body, inbound.message) == (at, PHONE, "Hello", None)
    assert [each.events for each in world.outlets.hook] == [[inbound]]


def test_a_timeline_entry_comes_before_the_messages_of_its_instant() -> None:
    """What the scenario lets happen is there when the messages of that instant are handed over."""
    opens = entry(HOUR, channel="chatapp", to="109876543210987")
    world = make_world(timeline=(opens,))
    message = send_one(world, at=START + HOUR, steps=[step("chatapp_text")])
    advance(world, HOUR)
    assert message.result == "sending"
    assert Messaging.of(world).phones.inbound[0].recipient == "109876543210987"


def test_a_timeline_entry_may_be_a_reply() -> None:
    """With the id of a message it replies to that; with one of no message, it finds its way as any other does."""
    first = make_world().name("request", b"", 0)  # any name will do for a message that never was
    probe = make_world()
    ids = [send_one(probe, body=body).id for body in ("one", "two")]
    world = make_world(timeline=(entry(HOUR, message_id=ids[0]), entry(HOUR, message_id=first.hex())))
    one, two = (send_one(world, body=body) for body in ("one", "two"))
    advance(world, HOUR)
    assert [inbound.message for inbound in Messaging.of(world).phones.inbound] == [one, two]


# --- rules


def test_a_rule_put_in_front_holds_for_what_comes() -> None:
    """It decides from now on, before those of the scenario, and can be taken away again."""
    world = make_world(attempts=(rule("sent"),))
    first = send_one(world)
    advance(world, 10_000)
    failed, sending = (
        Messaging.of(world).attempts.put_rule(rule("failed", key="a")),
        Messaging.of(world).attempts.put_rule(rule("sending", key="b")),
    )
    assert (failed, sending) == ("r1", "r2")
    second = send_one(world)
    advance(world, 10_000)
    assert Messaging.of(world).attempts.drop_rule(sending)
    third = send_one(world)
    advance(world, 10_000)
    assert [Messaging.of(world).attempts.drop_rule(name) for name in (failed, failed, "rule")] == [True, False, False]
    fourth = send_one(world)
    advance(world, 10_000)
    assert [message.result for message in (first, second, third, fourth)] == ["sent", "sending", "failed", "sent"]


def test_other_rules_leave_those_in_front() -> None:
    """A scenario's rules are replaced; what control put in front stays there."""
    world = make_world(attempts=(rule("sent"),))
    Messaging.of(world).attempts.put_rule(rule("failed", when=When(phone=Pattern(PHONE, digits=True))))
    Messaging.of(world).attempts.set_rules((rule("sending"),))
    messages = send(world, PHONE, TEN[5])
    advance(world, 10_000)
    assert [message.result for message in messages] == ["failed", "sending"]


# --- journal


def test_what_shells_tell_a_world_stands_in_its_journal() -> None:
    """Requests, advice and a tester's acts are entries at the present instant."""
    world = make_world()
    advance(world, HOUR)
    record = asked(key=world.id)
    remark = advise(UNKNOWN_FIELD, '"a" is no field', "$.a")
    numbers = [
        world.request(record),
        world.advise(remark),
        world.advise(remark, "about"),
        world.journal_act("rule", {"id": 1}),
    ]
    assert numbers == [0, 1, 2, 3]
    assert names_of(world.journal) == ["request", "advice", "advice", "control"]
    assert list(world.journal.at) == [START + HOUR] * 4
    assert world.journal.subject == [record, (remark, None), (remark, "about"), {"what": "rule", "id": 1}]


def test_messages_are_found_by_id() -> None:
    """A message by its id, None for an id of none."""
    world = make_world()
    message = send_one(world)
    assert (Messaging.of(world).by_id.get(message.id), Messaging.of(world).by_id.get("nothing")) == (message, None)


# --- opening, reset, end


def test_what_the_blueprint_settles_and_what_the_opener() -> None:
    """Seed, mode and salt are the opener's where given, else the blueprint's; the salt else the world's id."""
    plan = make_blueprint(
        seed=3, mode="real", account=AccountSpec(default_callback_url="http://a", default_callback_secret="s")
    )
    world = World("test-a", plan, start=START, services=PARTS)
    key = Account.of(world).keys["test-a"]
    assert (world.seed_given, world.clock.mode, world.salt) == (3, "real", "test-a")
    assert (key.id, key.default_callback_url, key.default_callback_secret) == ("test-a", "http://a", "s")
    other = World("test-a", plan, start=START, seed="x", mode="auto", salt="y", shard=255, epoch=4, services=PARTS)
    assert (other.seed_given, other.clock.mode, other.salt, other.epoch) == ("x", "auto", "y", 4)
    assert (world.tag[:2], other.tag[:2], world.tag[2:]) == ("00", "ff", other.tag[2:])
    assert World("test-a", make_blueprint(), start=START, services=PARTS).clock.mode == "manual"


def a_story(world: World) -> list[Any]:
    """Messages, replies and links, and what they were called."""
    first = send(world, *TEN, body="https://a.example", shortening=Shortening())
    second = send(world, *TEN, body="https://a.example", shortening=Shortening(), callback=HOOK)
    advance(world, HOUR)
    Messaging.of(world).phones.reply(first[0], "Hi")
    advance(world, HOUR)
    return [
        [message.id for message in first + second],
        list(Messaging.of(world).links),
        [world.outlets.id_of(each) for each in world.outlets.deliveries],
        [results(message) for message in first + second],
        digest(world),
    ]


def test_a_reset_gives_the_same_names_and_digest_again() -> None:
    """A world opened anew, with the same salt in a later epoch, names and does everything as before."""
    assert a_story(make_world()) == a_story(make_world())
    again = World("test-w", make_blueprint(), start=START, salt="test-w", epoch=1, services=PARTS)
    assert a_story(again) == a_story(make_world())


def test_worlds_share_a_blueprint_and_nothing_else() -> None:
    """What happens in one world is not seen in another of the same blueprint."""
    plan = make_blueprint(attempts=(rule("failed", times=1),), phones=(PhoneSpec(Pattern(TEN[0], digits=True)),))
    one, other = World("test-a", plan, start=START, services=PARTS), World("test-b", plan, start=START, services=PARTS)
    Account.of(one).optout[PHONE] = 0
    Messaging.of(one).attempts.put_rule(rule("sent"))
    for world in (one, other, other):
        send_one(world)
        advance(world, 10_000)
    assert [message.result for message in Messaging.of(one).messages] == ["rejected"]
    assert [message.result for message in Messaging.of(other).messages] == ["failed", "delivered"]


def test_a_restored_world_goes_on_as_it_would_have() -> None:
    """A restored world, in its own epoch, has the same future as one that was never restored."""
    world, restored = make_world(), make_world()
    for each in (world, restored):
        send(each, *TEN, callback=HOOK)
        advance(each, 1_000, answer=lambda _: (500, None))
    go_back(restored)
    assert (restored.now, restored.epoch, restored.id) == (START + 1_000, 1, world.id)
    for each in (world, restored):
        advance(each, HOUR)
    assert [moves(message) for message in Messaging.of(restored).messages] == [
        moves(message) for message in Messaging.of(world).messages
    ]
    assert digest(restored) == digest(world)


def left_of(world_id: str) -> list[Message]:
    """The messages of a world that still take memory."""
    return [each for each in gc.get_objects() if type(each) is Message and each.submission.key.id == world_id]


def test_a_closed_world_is_freed_by_its_counts() -> None:
    """Taken apart, a world leaves nothing that only a collector of cycles would find, whatever was under way in it."""
    world = make_world("test-to-be-closed")
    for number in range(110):
        send(world, *TEN, body=f"https://a.example/{number}", shortening=Shortening())
    under_way = send(world, *TEN, callback=HOOK)
    advance(world, 1_000, answer=lambda _: (500, None))
    Messaging.of(world).phones.reply(under_way[0], "Hi")
    world.outlets.release(world.outlets.deliveries[0])
    world.run(world.now + 1_000, PLENTY)
    Messaging.of(world).phones.reply(under_way[0], "Hi")
    del under_way
    ghost = weakref.ref(world)
    gc.collect()
    gc.disable()
    try:
        assert len(list(world.dispose())) > 1
        del world
        assert (ghost(), left_of("test-to-be-closed")) == (None, [])
    finally:
        gc.enable()


def test_a_window_that_is_always_open_is_known() -> None:
    """The whole of every day is not a window at all."""
    assert Window().always
    assert Window(start=60, end=60).always
    assert not Window(days=frozenset({1})).always
    assert not Window(start=60).always


def test_lapses_that_are_left_wait_for_their_tick() -> None:
    """Many of one instant take several ticks, and without one nothing of them is noted."""
    world = make_world()
    for number in range(600):
        world.timeline.lapse(START + 10, "link", number)
    assert world.run(START + 10, 1) == 1
    assert (world.run(START + 10, 0), len(world.timeline.lapses)) == (0, 88)
    assert world.run(START + 10, PLENTY) == 1
    assert world.timeline.lapses == []
