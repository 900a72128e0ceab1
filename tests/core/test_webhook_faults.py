"""Rules of `webhooks:`: which events they meet, in which order, and what is drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.core import checkpoint
from sendbox.core.blueprint import TimelineEntry
from sendbox.core.digest import digest
from sendbox.core.entries import entry_view
from sendbox.core.partner_records import Onboarding
from sendbox.core.patterns import Pattern
from sendbox.core.records import Message
from sendbox.core.rules import Span, When
from sendbox.core.webhook_faults import Fault, WebhookRule, WebhookWhen, older_of
from sendbox.core.why import applied_line
from sendbox.core.world import World
from tests.core.runs import END, RULES, SENDINGS, STOPS, Sending, carry_out, request, to
from tests.core.worlds import (
    HOOK,
    HOUR,
    ONE_EVENT,
    PHONE,
    START,
    TEN,
    advance,
    journaled,
    make_world,
    rule,
    send,
    send_one,
    step,
)

SECOND = 1_000


def fault(kind: str, key: str | None = None, times: int | None = None, **given: Any) -> WebhookRule:
    """A rule; `after` in milliseconds, a pair for a span; whatever is no field of the fault is a condition."""
    after = given.pop("after", 0)
    low, high = after if isinstance(after, tuple) else (after, after)
    fields = {name: given.pop(name) for name in ("copies", "new_id", "value") if name in given}
    return WebhookRule(key or kind, WebhookWhen(**given), Fault(kind, Span(low, high), **fields), times)


def met(world: World) -> list[tuple[int, list[Any]]]:
    """(seconds, results or kinds) of each time that a rule was applied."""
    return [(at // SECOND, told(applied.events)) for at, applied in journaled(world, "webhook_fault")]


def told(events: list[Any]) -> list[Any]:
    """What events tell, in short."""
    from sendbox.core.webhook_faults import subject_of

    return [subject_of(event).result or subject_of(event).event for event in events]


def sent(world: World) -> list[tuple[int, list[Any]]]:
    """(seconds, what the batch tells) of each try, in the order in which they were made."""
    return [(at // SECOND, told(what[0].events)) for at, what in journaled(world, "try")]


def run(*rules: WebhookRule, callback: str | None = HOOK, **blueprint: Any) -> World:
    """A world in which one message went the usual way: sending at 0, sent at 1, delivered at 3 seconds."""
    world = make_world(webhooks=rules, **blueprint)
    send(world, **({} if callback is None else {"callback": callback}))
    advance(world, HOUR)
    return world


# --- which events


ALL = [(0, ["sending"]), (1, ["sent"]), (3, ["delivered"])]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, ALL, id="all"),
        pytest.param({"result": ("sent", "delivered")}, ALL[1:], id="result"),
        pytest.param({"event": ("sentMessage",)}, ALL, id="event"),
        pytest.param({"event": ("incomingMessage",)}, [], id="other event"),
        pytest.param({"gateway": ("sms",)}, ALL, id="gateway"),
        pytest.param({"gateway": ("richmsg",)}, [], id="other gateway"),
        pytest.param({"phone": Pattern("4207*", phone=True)}, ALL, id="phone"),
        pytest.param({"phone": Pattern("421*", phone=True)}, [], id="other phone"),
        pytest.param({"tag": Pattern("promo*")}, ALL, id="tag"),
        pytest.param({"tag": Pattern("other")}, [], id="other tag"),
        pytest.param({"nth": 2}, ALL[1:2], id="nth"),
        pytest.param({"nth": 2, "result": ("sent",)}, [], id="nth of what fits"),
        pytest.param({"every": 2}, ALL[1:2], id="every"),
        pytest.param({"every": 3}, ALL[2:], id="every third"),
        pytest.param({"times": 2}, ALL[:2], id="times"),
        pytest.param({"share": 1.0}, ALL, id="all of them"),
        pytest.param({"share": 0.0}, [], id="none of them"),
        pytest.param({"begins": (SECOND, True)}, ALL[1:], id="from"),
        pytest.param({"ends": (SECOND, True)}, ALL[:1], id="until, which does not count"),
        pytest.param({"begins": (START + SECOND, False), "ends": (START + 3 * SECOND, False)}, ALL[1:2], id="instants"),
    ],
)
def test_conditions(given: dict[str, Any], expected: list[Any]) -> None:
    """All that is given must hold; what a rule does not meet travels as ever."""
    world = run(fault("drop", **given))
    assert met(world) == expected
    assert sent(world) == [each for each in ALL if each not in expected]


def test_events_of_phones() -> None:
    """A phone's own number counts, its channel is the family, and a reply has the tags of its message."""
    world = make_world(
        webhooks=(
            fault("drop", "a", event=("incomingReplyMessage",), tag=Pattern("promo*"), gateway=("chatapp", "sms")),
            fault("split", "b", event=("incomingMessage",), phone=Pattern(TEN[1])),
        )
    )
    message = send_one(world)
    advance(world, 10 * SECOND)
    world.phones.reply(message, "Hi")
    world.phones.write("sms", TEN[1], "420900000001", "Hello")
    world.phones.write("sms", TEN[2], "420900000001", "Hello")
    advance(world)
    assert met(world) == [(10, ["incomingReplyMessage"]), (10, ["incomingMessage"])]


def test_the_first_rule_wins_and_answers_are_another_thing() -> None:
    """One rule says how an event travels, another how its tries end; each is the first of its kind that fits."""
    world = run(
        fault("answer", value=503, times=1),
        fault("split", "first", result=("sent",)),
        fault("drop", "second", result=("sent", "delivered")),
    )
    assert met(world) == [(0, ["sending"]), (1, ["sent"]), (3, ["delivered"])]
    assert [applied.rule.key for _, applied in journaled(world, "webhook_fault")] == ["answer", "first", "second"]
    assert sent(world) == [(0, ["sending"]), (1, ["sent"]), (30, ["sending"])]


def test_a_share_is_drawn_for_each_phone_and_event() -> None:
    """Of a thousand events a tenth, whoever comes first; another seed has other victims."""
    phones = [f"4207771{n:05}" for n in range(400)]

    def victims(order: list[str], seed: int = 1) -> set[str]:
        world = make_world(webhooks=(fault("drop", share=0.1),), seed=seed, attempts=ONE_EVENT)
        for phone in order:
            send(world, phone)
        advance(world)
        return {applied.events[0][0].message.phone for _, applied in journaled(world, "webhook_fault")} | {
            event[0].message.phone for _, applied in journaled(world, "webhook_fault") for event in applied.events
        }

    first = victims(phones)
    assert 20 < len(first) < 60
    assert victims(phones[::-1]) == first
    assert victims(phones, seed=2) != first


def test_what_counts_is_order_sensitive() -> None:
    """A rule that counts marks its entry, and where its turn has not come, that of the batch."""
    for when, marked in (({"nth": 2}, True), ({"every": 2}, True), ({"times": 1}, True), ({"share": 0.5}, False)):
        world = run(fault("split", **when))
        assert bool(world.journal.order_sensitive) is marked, when
    world = run(fault("split", nth=2))
    kinds = [entry_view(world, number)["kind"] for number in sorted(world.journal.order_sensitive)]
    assert kinds == ["delivery", "webhook_fault", "delivery"]


def test_two_requests_of_one_instant_race_for_a_draw() -> None:
    """Two events of one phone that ask at one instant: which draws first depends on which request came first."""
    for phones, raced in (((PHONE, PHONE), True), ((PHONE, TEN[1]), False)):
        world = make_world(webhooks=(fault("split", share=0.5),), attempts=ONE_EVENT)
        for n, phone in enumerate(phones):
            send(world, phone, body=f"{n}")
        advance(world)
        assert bool(world.journal.order_sensitive) is raced


# --- rules put there


def test_rules_of_control() -> None:
    """One that is put in front is asked first, counts by itself, stays when a scenario comes, and can be dropped."""
    world = make_world(webhooks=(fault("drop"),), attempts=ONE_EVENT)
    faults = world.outlets.faults
    one, two = faults.put_rule(fault("split", "s", times=1)), faults.put_rule(fault("split", "s", times=1))
    assert (one, two) == ("w1", "w2")
    for phone in TEN[:3]:
        send(world, phone, callback=HOOK)
        advance(world, SECOND)
    assert [applied.rule.id for _, applied in journaled(world, "webhook_fault")] == ["w2", "w1", None]
    faults.set_rules(())
    assert [each.id for each in faults.rules] == ["w2", "w1"]
    assert faults.drop_rule("w1")
    assert not faults.drop_rule("w1")
    assert [each.id for each in faults.rules] == ["w2"]


# --- what is said


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (fault("drop"), "drop"),
        (fault("duplicate"), "duplicate 1, the same id, after 0s"),
        (fault("duplicate", copies=2, new_id=True, after=(1000, 2000)), "duplicate 2, another id, after 1s..2s"),
        (fault("delay", after=90_000), "delay 1m30s"),
        (fault("reorder", after=5_000), "reorder 5s"),
        (fault("bundle", after=5_000), "bundle 5s"),
        (fault("stale", after=0), "stale 0s"),
        (fault("bad_signature"), "bad_signature"),
        (fault("content_type", value="text/plain"), "content_type text/plain"),
        (fault("answer", value=503), "answer 503"),
        (fault("answer", value="timeout"), "answer timeout"),
    ],
)
def test_the_words_for_a_fault(of: WebhookRule, text: str) -> None:
    """The journal and the log say what happened in a few words."""
    assert of.fault.text == text


def test_the_journal_says_which_rule_and_the_log_too() -> None:
    """Rule, fault, delivery and events; a line begins with the number."""
    world = run(WebhookRule("k", WebhookWhen(result=("sent",)), Fault("drop"), name="lost on the way"))
    (number,) = world.journal.numbers(frozenset({"webhook_fault"}))
    shown = entry_view(world, number)
    delivery = next(each for each in world.outlets.deliveries if each.state == "dropped")
    assert (shown["rule"], shown["fault"]) == ("lost on the way", "drop")
    assert shown["delivery"] == world.outlets.id_of(delivery)
    assert [event["result"] for event in shown["events"]] == ["sent"]
    (_, applied) = journaled(world, "webhook_fault")[0]
    assert applied_line(applied) == f'{PHONE}: sent: drop, by the rule "lost on the way" of webhooks'
    several = make_world(webhooks=(fault("bad_signature"),), attempts=ONE_EVENT)
    send(several, *TEN[:3])
    advance(several)
    assert applied_line(journaled(several, "webhook_fault")[0][1]) == (
        f'{TEN[0]}: sending and 2 more: bad_signature, by the rule "bad_signature" of webhooks, '
        "nothing is signed here: the target has no secret, so that there is no signature to spoil (A21)"
    )


def test_a_signup_is_an_event_as_well() -> None:
    """Its notification can be lost; it has no result, and often no number."""
    world = make_world(webhooks=(fault("drop", event=("partnerOnboarding",)),))
    world.partner.sign_up("manual", None, {}, HOOK, world.keys[world.id], b"{}")
    advance(world, 8 * 24 * HOUR)
    assert {kind for _, kinds in met(world) for kind in kinds} == {"partnerOnboarding"}
    assert applied_line(journaled(world, "webhook_fault")[0][1]).startswith("a signup: partnerOnboarding: drop")
    assert all(older_of(event) is None for _, applied in journaled(world, "webhook_fault") for event in applied.events)


# --- the same again

MANY = (
    fault("drop", result=("undelivered",), share=0.5),
    fault("duplicate", result=("sent",), share=0.3, after=(0, 5_000), copies=2),
    fault("stale", result=("delivered",), share=0.4, after=2_000),
    fault("delay", after=(0, 60_000), share=0.3),
    fault("reorder", after=5_000, phone=Pattern("420777000100")),
    fault("bundle", after=20_000, event=("incomingReplyMessage",)),
    fault("answer", value=503, share=0.3),
    fault("answer", "down", value="refused", begins=(40_000, True), ends=(90_000, True)),
)
INBOUND = {"channel": "sms", "from": PHONE, "to": "420900000001", "body": "Hello"}


def played(sendings: list[Sending], stops: list[int] = [], **more: Any) -> World:  # noqa: B006 - only read
    """A run in a world with rules of every kind, interrupted here and there."""
    return carry_out(make_world(attempts=RULES, webhooks=MANY, **more), sendings, stops)


@given(SENDINGS, STOPS)
@settings(max_examples=40)
def test_in_one_step_or_in_many(sendings: list[Sending], stops: list[int]) -> None:
    """The digest is the same however the clock is moved."""
    assert digest(played(sendings)) == digest(played(sendings, stops))


@given(SENDINGS, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_in_any_order_of_arrival(sendings: list[Sending], random: Any) -> None:
    """Requests of one instant in another order: the same digest, unless something is marked."""
    shuffled = list(sendings)
    random.shuffle(shuffled)
    first, second = played(sendings), played(sorted(shuffled, key=lambda each: each.at))
    if not first.journal.order_sensitive:
        assert digest(first) == digest(second)


@given(SENDINGS, st.integers(0, 100_000))
@settings(max_examples=30)
def test_a_checkpoint_has_the_same_future(sendings: list[Sending], stop: int) -> None:
    """What is delayed, gathered, counted and drawn survives a checkpoint."""
    world = make_world(attempts=RULES, webhooks=(*MANY, fault("split", "n", nth=3)))
    for each in sendings:
        if each.at <= stop:
            to(world, each.at)
            request(world, each)
    to(world, stop)
    restored = checkpoint.restore(checkpoint.take(world), world.blueprint, 1)
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
    assert not world.outlets.detours.windows


def test_rules_that_meet_nothing_change_nothing() -> None:
    """Without a rule that fits nothing is different."""
    with_rules, without = run(fault("drop", phone=Pattern("421"))), run()
    assert Counter(map(str, sent(with_rules))) == Counter(map(str, sent(without)))
    assert digest(with_rules) == digest(without)


def test_signups_have_windows_too() -> None:
    """Notifications of a signup are gathered like other events, and all of them are sent."""
    world = make_world(webhooks=(fault("reorder", after=2 * HOUR),))
    world.partner.sign_up("manual", None, {}, HOOK, world.keys[world.id], b"{}")
    world.phones.write("sms", TEN[2], "420900000001", "Hello")
    advance(world, 9 * HOUR)
    happened = [event for _, applied in journaled(world, "webhook_fault") for event in applied.events]
    order = [each.events[0] for each in world.outlets.deliveries]
    assert (len(happened), set(order)) == (3, set(happened))
    signups = [event for event in happened if event in order and isinstance(event, Onboarding)]
    assert [event for event in order if isinstance(event, Onboarding)] == signups[::-1]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_window_is_never_in_the_order_of_its_events(count: int) -> None:
    """Whatever was drawn: of each message, and of all of them."""
    for seed in range(40):
        world = make_world(webhooks=(fault("reorder", after=5 * SECOND),), seed=seed, attempts=ONE_EVENT)
        for number in TEN[:count]:
            send(world, number, callback=HOOK)
            advance(world, 1)
        advance(world, HOUR)
        assert [each.events[0][0].message.phone for each in world.outlets.deliveries] != TEN[:count]


def test_the_event_before_a_reply_is_the_last_of_its_message() -> None:
    """A reply may be followed by a stale `delivered`; what nobody was told of before has none."""
    world = make_world(webhooks=(fault("stale", event=("incomingReplyMessage", "incomingMessage")),))
    message = send_one(world, callback=HOOK)
    advance(world, 10 * SECOND)
    world.phones.reply(message, "Hi")
    world.phones.write("sms", TEN[2], "420900000001", "Hello")
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
    world.outlets.detours.racing.add(message.submission.request_id)
    world.run(world.now, 1_000)
    return message


@pytest.mark.parametrize("taken", [False, True])
def test_after_a_restore_nothing_overtakes(taken: bool) -> None:
    """A batch that was to leave before an answer, or was under way, is first to be tried after a restore."""
    world = make_world(webhooks=(fault("overtake"),), attempts=ONE_EVENT)
    message = racing(world, callback=HOOK)
    assert world.outlets.detours.hasty == [message.submission.request_id]
    if taken:
        (under_way,) = world.outlets.detours.taken()
        assert (under_way.ahead, world.outlets.in_flight) == (True, 1)
    restored = checkpoint.restore(checkpoint.take(world), world.blueprint, 1)
    assert (restored.outlets.in_flight, restored.outlets.detours.racing) == (0, set())
    advance(restored, HOUR)
    (delivery,) = restored.outlets.deliveries
    assert (delivery.state, len(delivery.tries), restored.idle) == ("delivered", 1, True)


def test_a_line_goes_on_beside_what_overtakes() -> None:
    """It is no part of its line: a batch under way there stays alone until it has its own answer."""
    world = make_world(webhooks=(fault("overtake"),), attempts=ONE_EVENT)
    send(world, callback=HOOK)
    world.run(world.now, 1_000)
    (first,) = world.outlets.take()
    racing(world, body="b", callback=HOOK)
    (ahead,) = world.outlets.detours.taken()
    world.outlets.outcome(ahead, 500, None)
    assert first.outlet.busy
    world.outlets.outcome(first, 200, None)
    advance(world, HOUR)
    assert [each.state for each in world.outlets.deliveries] == ["delivered", "delivered"]
