"""Rules of `webhooks:`: which events they meet, in which order, and what is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.engine.delivery.faults.ways import Drop
from sendbox.engine.delivery.injection import InjectedFault
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Moment
from sendbox.engine.journal import CODE
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.assume import Assume
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.partner.partner import Partner
from tests.core.faulty import SECOND, fault, met, run, sent
from tests.core.observed import digest, entry_view
from tests.core.worlds import (
    EVENTS,
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
    send,
    send_one,
)

# --- which events


TEN_SECONDS = 10 * SECOND
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
        pytest.param({"phone": Pattern("4207*", digits=True)}, ALL, id="phone"),
        pytest.param({"phone": Pattern("421*", digits=True)}, [], id="other phone"),
        pytest.param({"tag": Pattern("promo*")}, ALL, id="tag"),
        pytest.param({"tag": Pattern("other")}, [], id="other tag"),
        pytest.param({"nth": 2}, ALL[1:2], id="nth"),
        pytest.param({"nth": 2, "result": ("sent",)}, [], id="nth of what fits"),
        pytest.param({"every": 2}, ALL[1:2], id="every"),
        pytest.param({"every": 3}, ALL[2:], id="every third"),
        pytest.param({"times": 2}, ALL[:2], id="times"),
        pytest.param({"share": 1.0}, ALL, id="all of them"),
        pytest.param({"share": 0.0}, [], id="none of them"),
        pytest.param({"begins": Moment(SECOND, relative=True)}, ALL[1:], id="from"),
        pytest.param({"ends": Moment(SECOND, relative=True)}, ALL[:1], id="until, which does not count"),
        pytest.param(
            {"begins": Moment(START + SECOND, relative=False), "ends": Moment(START + 3 * SECOND, relative=False)},
            ALL[1:2],
            id="instants",
        ),
    ],
)
def test_conditions(given: dict[str, Any], expected: list[Any]) -> None:
    """All that is given must hold; what a rule does not meet travels as ever."""
    world = run(fault("drop", **given))
    assert met(world) == expected
    assert sent(world) == [each for each in ALL if each not in expected]


def applied_line(world: World, applied: InjectedFault) -> str:
    """The line of the log."""
    (line,) = SERVED.kinds.logged[CODE["webhook_fault"]](world, applied)
    return line


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
    Messaging.of(world).phones.reply(message, "Hi")
    Messaging.of(world).phones.write("sms", TEN[1], "420900000001", "Hello")
    Messaging.of(world).phones.write("sms", TEN[2], "420900000001", "Hello")
    advance(world)
    assert met(world) == [(10, ["incomingReplyMessage"]), (10, ["incomingMessage"])]


def test_the_first_rule_wins_and_answers_are_another_thing() -> None:
    """One rule says how an event travels, another how its tries end; each is the first of its kind that fits."""
    world = run(
        fault("answer", by=503, times=1),
        fault("split", "first", result=("sent",)),
        fault("drop", "second", result=("sent", "delivered")),
    )
    assert met(world) == [(0, ["sending"]), (1, ["sent"]), (3, ["delivered"])]
    assert [applied.rule.key for _, applied in journaled(world, "webhook_fault")] == ["answer", "first", "second"]
    assert sent(world) == [(0, ["sending"]), (1, ["sent"]), (30, ["sending"])]


@pytest.mark.unmeasured
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


def test_a_share_and_a_span_are_of_one_draw() -> None:
    """Who is met by a share is late by a time out of the span: the same in each run, and within it."""
    worlds = [run(fault("delay", after=(5 * SECOND, 9 * SECOND), share=1.0)) for _ in range(2)]
    first, again = (sent(world) for world in worlds)
    assert first == again
    expected = dict(zip(("sending", "sent", "delivered"), (0, 1, 3), strict=True))
    assert {result for _, (result,) in first} == expected.keys()
    assert all(expected[result] + 5 <= at <= expected[result] + 9 for at, (result,) in first)


def test_a_rule_counts_what_another_one_met() -> None:
    """The second and the third event are that, whatever became of the second; two equal rules count it once."""
    second, third = fault("split", "second", nth=2), fault("split", "third", nth=3)
    for rules in ((second, third), (second, second, third, third)):
        found = [applied.rule.key for _, applied in journaled(run(*rules), "webhook_fault")]
        assert found == ["second", "third"]

    half = fault("split", "half", share=0.5)

    def told_by_half(*rules: WebhookRule) -> list[Any]:
        world = make_world(webhooks=rules)
        for number in range(9):
            send(world, f"42077700010{number}")
        advance(world, HOUR)
        entries = [applied for _, applied in journaled(world, "webhook_fault") if applied.rule is half]
        return [(attempt.message.phone, code) for applied in entries for attempt, code in applied.events]

    alone = told_by_half(half)
    behind = told_by_half(fault("drop", "first", nth=1), half)
    assert set(behind) == set(alone) - {("420777000100", 1)}


def test_a_held_batch_of_the_built_in_receiver_goes_on() -> None:
    """Released while a rule still answers for the receiver, it is tried again by its schedule, and gets through."""
    world = make_world(webhooks=(fault("answer", by=503, times=2),), attempts=ONE_EVENT)
    send_one(world)
    advance(world, SECOND)
    (delivery,) = world.outlets.deliveries
    assert world.outlets.hold(delivery)
    advance(world, HOUR)
    assert world.outlets.release(delivery)
    assert (delivery.state, len(delivery.tries)) == ("waiting", 2)
    advance(world, HOUR)
    assert (delivery.state, len(delivery.tries)) == ("delivered", 3)


@pytest.mark.parametrize("kind", ["reorder", "bundle"])
def test_a_full_window_leaves_in_several_steps(kind: str) -> None:
    """So that it holds nobody up; every event leaves once, at the end of the window, and a restored world agrees."""
    rules = (fault(kind, after=TEN_SECONDS),)
    world, again = (make_world(webhooks=rules, attempts=ONE_EVENT, assume=Assume(bundle=True)) for _ in range(2))
    for one in (world, again):
        for number in range(250):
            send(one, f"42077700{number:04}")
        advance(one, SECOND)
    go_back(again)
    for one in (world, again):
        advance(one, HOUR)
        told = [event[0].message.phone for delivery in one.outlets.deliveries for event in delivery.events]
        assert len(told) == len(set(told)) == 250
        assert {at for at, _ in journaled(one, "try")} == {TEN_SECONDS}
    assert digest(world) == digest(again)


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
        (fault("duplicate", copies=2, id="new", after=(1000, 2000)), "duplicate 2, another id, after 1s..2s"),
        (fault("delay", after=90_000), "delay 1m30s"),
        (fault("reorder", after=5_000), "reorder 5s"),
        (fault("bundle", after=5_000), "bundle 5s"),
        (fault("stale", after=0), "stale 0s"),
        (fault("bad_signature"), "bad_signature"),
        (fault("content_type", says="text/plain"), "content_type text/plain"),
        (fault("repeat"), "repeat"),
        (fault("reformat", by="escapes"), "reformat escapes"),
        (fault("answer", by=503), "answer 503"),
        (fault("answer", by="timeout"), "answer timeout"),
    ],
)
def test_the_words_for_a_fault(of: WebhookRule, text: str) -> None:
    """The journal and the log say what happened in a few words."""
    assert of.fault.text == text


def test_the_journal_says_which_rule_and_the_log_too() -> None:
    """Rule, fault, delivery and events; a line begins with the number."""
    world = run(WebhookRule(key="k", when=When(result=("sent",)), fault=Drop(), name="lost on the way"))
    (number,) = world.journal.numbers(frozenset({"webhook_fault"}))
    shown = entry_view(world, number)
    delivery = next(each for each in world.outlets.deliveries if each.state == "dropped")
    assert (shown["rule"], shown["fault"]) == ("lost on the way", "drop")
    assert shown["delivery"] == world.outlets.id_of(delivery)
    assert [event["result"] for event in shown["events"]] == ["sent"]
    (_, applied) = journaled(world, "webhook_fault")[0]
    assert applied_line(world, applied) == f'{PHONE}: sent: drop, by the rule "lost on the way" of webhooks'
    several = make_world(webhooks=(fault("bad_signature"),), attempts=ONE_EVENT)
    send(several, *TEN[:3])
    advance(several)
    assert applied_line(several, journaled(several, "webhook_fault")[0][1]) == (
        f'{TEN[0]}: sending and 2 more: bad_signature, by the rule "bad_signature" of webhooks, '
        "nothing is signed here: the target has no secret, so no signature can be wrong (A21)"
    )


def test_a_signup_is_an_event_as_well() -> None:
    """Its notification can be lost; it has no result, and often no number."""
    world = make_world(webhooks=(fault("drop", event=("partnerOnboarding",)),))
    Partner.of(world).sign_up("manual", None, {}, HOOK, Account.of(world).keys[world.id], b"{}")
    advance(world, 8 * 24 * HOUR)
    assert {kind for _, kinds in met(world) for kind in kinds} == {"partnerOnboarding"}
    assert applied_line(world, journaled(world, "webhook_fault")[0][1]).startswith("a signup: partnerOnboarding: drop")
    assert all(
        EVENTS[type(event)].older(event) is None
        for _, applied in journaled(world, "webhook_fault")
        for event in applied.events
    )
