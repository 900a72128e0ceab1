"""Outages: what waits, what ends badly, and that everything around them goes on.

It is long because outages meet everything that a message can do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.draws import UNSEEDED
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.outages import Outage, named
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.explain import explain
from sendbox.services.messaging.rules.explained import explanation_lines
from sendbox.services.numbers.countries import operator
from tests.core.observed import digest, entry_view
from tests.core.worlds import (
    HOUR,
    PHONE,
    START,
    TEN,
    advance,
    go_back,
    journaled,
    make_world,
    moves,
    path,
    rule,
    send_one,
    step,
)

MINUTE: Final = 60_000
#: The outage of these tests lasts from the first minute to the eleventh.
BEGINS: Final = MINUTE
ENDS: Final = 11 * MINUTE


def out(at: int = BEGINS, **fields: Any) -> TimelineEntry:
    """An outage of ten minutes, of every channel unless told otherwise."""
    outage = Outage(**{"lasts": 10 * MINUTE} | fields)
    return TimelineEntry(at, True, "outage", {"for": outage.lasts}, means=outage)


def world_with(*outages: TimelineEntry, **blueprint: Any) -> World:
    """A world in which things go out."""
    return make_world(timeline=outages, **blueprint)


def sent_at(world: World, at: int, *numbers: str, **fields: Any) -> Message:
    """A message sent so long after the start."""
    advance(world, START + at - world.now)
    return send_one(world, *numbers, **fields)


def story(*outages: TimelineEntry, at: int, **blueprint: Any) -> list[tuple[int, int, str]]:
    """What becomes of a message that is sent at an instant."""
    world = world_with(*outages, **blueprint)
    message = sent_at(world, at)
    advance(world, HOUR)
    return moves(message)


USUAL: Final = [(0, 1, "sending"), (1_000, 1, "sent"), (3_000, 1, "delivered")]


def later(by: int) -> list[tuple[int, int, str]]:
    """The usual way of a message that is sent so much later."""
    return [(at + by, attempt, result) for at, attempt, result in USUAL]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        pytest.param(0, USUAL, id="over before it begins"),
        pytest.param(
            BEGINS - 500, [(59_500, 1, "sending"), (ENDS, 1, "sent"), (ENDS + 2_000, 1, "delivered")], id="sending"
        ),
        pytest.param(
            BEGINS - 1_000, [(59_000, 1, "sending"), (ENDS, 1, "sent"), (ENDS + 2_000, 1, "delivered")], id="at once"
        ),
        pytest.param(BEGINS - 2_000, [(58_000, 1, "sending"), (59_000, 1, "sent"), (ENDS, 1, "delivered")], id="sent"),
        pytest.param(
            BEGINS + 5_000, [(65_000, 1, "sending"), (ENDS, 1, "sent"), (ENDS + 2_000, 1, "delivered")], id="new"
        ),
        pytest.param(ENDS, later(ENDS), id="after its end"),
    ],
)
def test_what_is_out_waits(at: int, expected: list[tuple[int, int, str]]) -> None:
    """Unless told otherwise what falls due waits for the end, and goes on from there in its own times."""
    assert story(out(), at=at) == expected


@pytest.mark.parametrize(
    ("way", "at", "expected"),
    [
        pytest.param(
            {"in_flight": "undelivered"},
            BEGINS - 2_000,
            [(58_000, "sending"), (59_000, "sent"), (61_000, "undelivered")],
            id="sent, undelivered",
        ),
        pytest.param(
            {"in_flight": "undelivered"},
            BEGINS - 500,
            [(59_500, "sending"), (60_500, "failed")],
            id="sending, undelivered",
        ),
        pytest.param(
            {"in_flight": "failed"},
            BEGINS - 2_000,
            [(58_000, "sending"), (59_000, "sent"), (61_000, "failed")],
            id="sent, failed",
        ),
        pytest.param(
            {"in_flight": "failed"},
            BEGINS + 1,
            [(60_001, "sending"), (ENDS, "sent"), (ENDS + 2_000, "delivered")],
            id="new ones wait",
        ),
        pytest.param(
            {"new": "undelivered"},
            BEGINS,
            [(60_000, "sending"), (61_000, "sent"), (63_000, "undelivered")],
            id="new, undelivered",
        ),
        pytest.param({"new": "failed"}, BEGINS, [(60_000, "sending"), (61_000, "failed")], id="new, failed"),
        pytest.param({"new": "rejected"}, BEGINS, [(60_000, "rejected")], id="new, rejected"),
        pytest.param(
            {"new": "failed"},
            BEGINS - 500,
            [(59_500, "sending"), (ENDS, "sent"), (ENDS + 2_000, "delivered")],
            id="those on their way wait",
        ),
    ],
)
def test_what_is_out_may_end_badly(way: dict[str, Any], at: int, expected: list[tuple[int, str]]) -> None:
    """What is on its way ends when something of it falls due, what is new in the usual time; by the info given."""
    world = world_with(out(**way, info="[9] Network down"))
    message = sent_at(world, at)
    advance(world, HOUR)
    assert [(at, result) for at, _, result in moves(message)] == expected
    (attempt,) = message.attempts
    assert attempt.info(attempt.state) == ("[9] Network down" if expected[-1][1] != "delivered" else None)
    assert (attempt.price is None) == (expected[-1][1] == "rejected")


def flow() -> list[Step]:
    """A rich message that waits half a minute to be delivered, then an sms."""
    return [step("richmsg", ttl=30_000), step()]


@pytest.mark.parametrize(
    ("way", "falls_back"),
    [
        pytest.param({}, BEGINS + 31_000, id="waits: after its ttl"),
        pytest.param({"new": "failed"}, BEGINS + 2_000, id="fails: at once"),
        pytest.param({"new": "rejected"}, BEGINS + 1_000, id="rejected: at once"),
    ],
)
def test_s2_2_the_flow_falls_back_during_an_outage(way: dict[str, Any], falls_back: int) -> None:
    """TTLs run while a channel is out, and the next channel works; the receipts of the first come after the end."""
    world = world_with(out(channels=("richmsg",), **way))
    message = sent_at(world, BEGINS + 1_000, steps=flow())
    advance(world, 5 * MINUTE)
    assert [each[1:] for each in moves(message)][-3:] == [(2, "sending"), (2, "sent"), (2, "delivered")]
    assert moves(message)[-3][0] == falls_back
    advance(world, HOUR)
    late = [] if way else [(ENDS, 1, "sent"), (ENDS + 2_000, 1, "delivered")]
    assert [each for each in moves(message) if each[0] >= ENDS] == late


def test_a_hand_over_is_told_though_the_operator_would_take_it_at_once() -> None:
    """An operator that skips `sending` cannot take anything: it is sending until the end; a bad end comes as ever."""
    at_once = (rule(path(("sent", 0), ("delivered", 1_000))),)
    assert story(out(), at=BEGINS, attempts=at_once) == [
        (BEGINS, 1, "sending"),
        (ENDS, 1, "sent"),
        (ENDS + 1_000, 1, "delivered"),
    ]
    broken = (rule(path(("failed", 5_000))),)
    assert story(out(), at=BEGINS, attempts=broken) == [(BEGINS + 5_000, 1, "failed")]
    refused = (rule("rejected"),)
    assert story(out(new="failed"), at=BEGINS, attempts=refused) == [(BEGINS, 1, "rejected")]


def test_a_receipt_of_what_arrived_is_lost() -> None:
    """What the phone has cannot fail any more: that it was opened is never heard of."""
    read = (rule(path("sending", "sent", "delivered", ("seen", 2 * MINUTE))),)
    world = world_with(out(in_flight="failed"), attempts=read)
    message = send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    assert message.result == "delivered"
    assert message.last is not None
    assert message.last.plan is None


MNC: Final = operator(PHONE, UNSEEDED)
OTHER_MNC: Final = next(mnc for mnc in (1, 2, 3) if mnc != MNC)


@pytest.mark.parametrize(
    ("what", "number", "hit"),
    [
        pytest.param({"channels": ("sms",)}, PHONE, True, id="channel"),
        pytest.param({"channels": ("richmsg", "chatapp_text")}, PHONE, False, id="other channels"),
        pytest.param({"countries": frozenset({"CZ"})}, PHONE, True, id="country"),
        pytest.param({"countries": frozenset({"SK"})}, PHONE, False, id="other country"),
        pytest.param({"countries": frozenset({"CZ"}), "network": MNC}, PHONE, True, id="operator"),
        pytest.param({"countries": frozenset({"CZ"}), "network": OTHER_MNC}, PHONE, False, id="other operator"),
        pytest.param(
            {"countries": frozenset({"CZ"}), "channels": ("richmsg",)}, PHONE, False, id="country, other channel"
        ),
        pytest.param({"countries": frozenset({"CZ"})}, "21000000000", False, id="no country"),
        pytest.param({"phones": (Pattern("421*"), Pattern(PHONE))}, PHONE, True, id="phones"),
        pytest.param({"phones": (Pattern("421*"),)}, PHONE, False, id="other phones"),
        pytest.param({"share": 1.0}, PHONE, True, id="all of a share"),
    ],
)
def test_what_an_outage_hits(what: dict[str, Any], number: str, hit: bool) -> None:
    """A channel, a country, an operator of it, as events name them (§6); all that is given must hold."""
    world = world_with(out(0, **what))
    message = send_one(world, number)
    advance(world, MINUTE)
    assert message.result == ("sending" if hit else "delivered")


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param(out(5 * MINUTE), [(BEGINS, 1, "sending"), (15 * MINUTE, 1, "sent")], id="it waits for both"),
        pytest.param(
            out(5 * MINUTE, in_flight="failed"), [(BEGINS, 1, "sending"), (ENDS, 1, "failed")], id="then it fails"
        ),
        pytest.param(out(new="failed"), [(BEGINS, 1, "sending"), (BEGINS + 1_000, 1, "failed")], id="equal ones"),
    ],
)
def test_outages_overlap(second: TimelineEntry, expected: list[tuple[int, int, str]]) -> None:
    """What waited for one waits for the other, or ends badly in it."""
    first = out() if second.means.new == "wait" else out(new="failed")
    assert story(first, second, at=BEGINS)[:2] == expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        pytest.param(2 * MINUTE, [(2 * MINUTE, "sending"), (30 * MINUTE, "sent")], id="before the inner one"),
        pytest.param(
            6 * MINUTE,
            [(6 * MINUTE, "sending"), (6 * MINUTE + 1_000, "sent"), (6 * MINUTE + 3_000, "undelivered")],
            id="in the inner one",
        ),
        pytest.param(20 * MINUTE, [(20 * MINUTE, "sending"), (30 * MINUTE, "sent")], id="after it"),
        pytest.param(31 * MINUTE, [(31 * MINUTE, "sending"), (31 * MINUTE + 1_000, "sent")], id="after both"),
    ],
)
def test_an_outage_in_another(at: int, expected: list[tuple[int, str]]) -> None:
    """While the inner one lasts it decides, and its end does not end the outer one."""
    outer, inner = out(0, lasts=30 * MINUTE), out(5 * MINUTE, new="undelivered")
    assert [(when, result) for when, _, result in story(outer, inner, at=at)][: len(expected)] == expected


@pytest.mark.parametrize("outer", ["undelivered", "failed", "rejected"])
@pytest.mark.parametrize("inner", ["undelivered", "failed", "rejected"])
def test_the_bad_end_of_the_inner_outage(outer: str, inner: str) -> None:
    """New messages end as the inner one says."""
    assert story(out(new=outer), out(2 * MINUTE, new=inner), at=3 * MINUTE)[-1][2] == inner


@pytest.mark.parametrize(("new", "ends"), [("undelivered", ["sent", "undelivered"]), ("rejected", ["failed"])])
def test_what_waited_for_one_outage_ends_badly_in_another(new: str, ends: list[str]) -> None:
    """A new message waits while the inner outage lasts; then it goes the way of the outer one, as far as it can."""
    found = story(out(lasts=30 * MINUTE, new=new), out(2 * MINUTE, lasts=MINUTE), at=2 * MINUTE)
    assert [result for _, _, result in found] == ["sending", *ends]
    assert found[1][0] == 3 * MINUTE


def test_a_share_of_the_phones() -> None:
    """About half, the same ones whenever they are sent to; another outage hits others."""
    phones = [f"420777{number:06}" for number in range(200)]

    def hit(**fields: Any) -> set[str]:
        world = world_with(out(0, share=0.5, **fields))
        messages = [send_one(world, phone) for phone in phones]
        advance(world, MINUTE)
        return {message.phone for message in messages if message.result == "sending"}

    assert 70 < len(hit(key="a")) < 130
    assert hit(key="a") == hit(key="a") != hit(key="b")


def test_rules_are_asked_as_if_nothing_were_out() -> None:
    """What counts messages counts those of an outage: nobody else's decision depends on it."""
    third = (rule("failed", when=When(phone=Pattern(PHONE), nth=2)),)
    world = world_with(out(new="undelivered"), attempts=third)
    first = sent_at(world, BEGINS)
    advance(world, HOUR)
    second = send_one(world)
    advance(world, HOUR)
    assert (first.result, second.result) == ("undelivered", "failed")


def test_the_journal_tells_when_it_began_and_ended() -> None:
    """One entry each, with what is out and until when."""
    world = world_with(out())
    advance(world, HOUR)
    entries = journaled(world, "outage")
    assert [(at, state) for at, (_, state) in entries] == [(BEGINS, "began"), (ENDS, "ended")]
    shown = [entry_view(world, number) for number in world.journal.numbers(frozenset({"outage"}))]
    assert [entry["state"] for entry in shown] == ["began", "ended"]
    assert {entry["until"] for entry in shown} == {"2026-03-01T09:11:00.000Z"}
    assert Messaging.of(world).outages.current == []


def busy(advancing: Callable[[World], None]) -> World:
    """A world with messages before, during and after two outages, advanced somehow."""
    world = world_with(
        out(channels=("sms",)), out(3 * MINUTE, channels=("richmsg",), in_flight="undelivered", new="failed")
    )
    for index, number in enumerate(TEN):
        send_one(world, number, steps=flow(), at=START + index * MINUTE)
        send_one(world, number, at=START + index * 90_000)
    advancing(world)
    return world


def in_steps(world: World) -> None:
    """Seven seconds at a time."""
    while world.now < START + HOUR:
        advance(world, min(7_000, START + HOUR - world.now))


def test_one_step_or_many() -> None:
    """An outage leaves the same digest however the world is moved through it."""
    straight = busy(lambda world: advance(world, HOUR))
    stepped = busy(in_steps)
    assert digest(straight) == digest(stepped)
    assert [moves(message) for message in Messaging.of(straight).messages] == [
        moves(message) for message in Messaging.of(stepped).messages
    ]


def test_a_restore_in_the_middle_of_an_outage() -> None:
    """A world restored during an outage has the same future, and the end of the outage in it."""
    straight = busy(lambda world: advance(world, HOUR))
    stopped = busy(lambda world: advance(world, 5 * MINUTE))
    restored = go_back(stopped)
    advance(restored, HOUR - 5 * MINUTE)
    assert digest(restored) == digest(straight)
    assert Messaging.of(restored).outages.current == []


@pytest.mark.parametrize("before", [2_000, 500, -5_000], ids=["sent", "sending", "new"])
def test_an_outage_that_is_ended_early(before: int) -> None:
    """What waited for its end is due at once, and goes on in its own times; nothing is left of the end to come."""
    world = world_with(out())
    message = sent_at(world, BEGINS - before)
    advance(world, START + 5 * MINUTE - world.now)
    waited = len(moves(message))
    assert Messaging.of(world).outages.end("") == [""]
    assert Messaging.of(world).outages.current == []
    advance(world, 0)
    assert [at for at, _, _ in moves(message)[waited:]] == [5 * MINUTE]
    advance(world, HOUR)
    assert message.result == "delivered"
    assert world.timeline.scheduled == 0
    assert [(at, state) for at, (_, state) in journaled(world, "outage")] == [(BEGINS, "began"), (5 * MINUTE, "ended")]
    shown = [entry_view(world, number)["until"] for number in world.journal.numbers(frozenset({"outage"}))]
    assert shown == ["2026-03-01T09:11:00.000Z", "2026-03-01T09:05:00.000Z"]


def test_of_two_outages_one_is_ended() -> None:
    """What waited for it goes on waiting for the other one, if that hits it too."""
    one, other = replace(out(), id="one"), replace(out(2 * MINUTE), id="other")
    world = world_with(one, other, replace(out(HOUR), id="other"))
    message = sent_at(world, 3 * MINUTE)
    advance(world, MINUTE)
    assert Messaging.of(world).outages.end("other") == ["other"]
    advance(world, MINUTE)
    assert message.result == "sending"
    assert [current.entry.id for current in Messaging.of(world).outages.current] == ["one"]
    advance(world, 2 * HOUR)
    assert moves(message) == [(3 * MINUTE, 1, "sending"), (ENDS, 1, "sent"), (ENDS + 2_000, 1, "delivered")]
    assert len(journaled(world, "outage")) == 4
    assert Messaging.of(world).outages.end("other") == []


def test_an_outage_counts_in_the_digest() -> None:
    """An outage that hits nobody is another story all the same."""
    worlds = [world_with(), world_with(out(channels=("richmsg",))), world_with(out(channels=("richmsg",), lasts=5))]
    for world in worlds:
        advance(world, HOUR)
    assert len({digest(world) for world in worlds}) == 3


@pytest.mark.parametrize(
    ("fields", "before", "after"),
    [
        ({}, "an outage of everything holds it until 2026-03-01T09:11:00.000Z", None),
        ({"in_flight": "failed"}, "an outage ends it: failed", "an outage ends it: failed"),
        ({"channels": ("richmsg",), "in_flight": "failed"}, None, None),
    ],
    ids=["waits", "ends", "elsewhere"],
)
def test_an_explanation_names_the_outage(fields: dict[str, Any], before: str | None, after: str | None) -> None:
    """While it lasts, and afterwards where it decided the end: no rule did."""
    world = world_with(out(**fields))
    message = sent_at(world, BEGINS - 2_000)
    for at, says in ((BEGINS + MINUTE, before), (ENDS + MINUTE, after)):
        advance(world, START + at - world.now)
        (attempt,) = explain(world, message)["attempts"]
        assert attempt["outage"] == says
        assert (f"    {says}" in explanation_lines(explain(world, message))) is (says is not None)


def test_an_explanation_names_the_outage_of_what_was_new() -> None:
    """It is on the way to its bad end, which its rules did not choose."""
    world = world_with(out(new="undelivered"))
    message = sent_at(world, BEGINS + 1_000)
    advance(world, 1_500)
    (attempt,) = explain(world, message)["attempts"]
    assert (attempt["outage"], attempt["planned"]) == ("an outage ends it: undelivered", ["undelivered"])


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({}, "everything"),
        ({"channel": "sms"}, "sms"),
        ({"channel": ["sms", "richmsg"], "country": 230}, "sms, richmsg in 230"),
        ({"country": "CZ", "operator": 2}, "operator 2 in CZ"),
        ({"phone": "420*", "share": "10%"}, "phones 420* for a share of 10%"),
        ({"phone": ["420*", 421905000001]}, "phones 420*, 421905000001"),
    ],
    ids=str,
)
def test_what_is_out_in_words(what: dict[str, Any], expected: str) -> None:
    """All that the scenario says of it."""
    assert named(what) == expected
