"""Flows: when the next step is used, and when not (§2.2; A03 to A05, A62, A64, A65)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from sendbox.services.assume import Assume
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.rules import Path, Rule
from tests.core.worlds import HOUR, PLENTY, START, advance, journaled, make_world, moves, path, rule, send_one, step

MINUTE = 60_000


def first_goes(way: str | Path) -> tuple[Rule, ...]:
    """The first attempt goes that way; the others are delivered."""
    return (rule(way, when=When(attempt=1)), rule("delivered", key="rest"))


def flow(first: Step, *others: Step, way: str | Path = "sent", **blueprint: Any) -> tuple[World, Message]:
    """A message by a flow, whose first step goes that way; an sms is its last step."""
    world = make_world(attempts=first_goes(way), **blueprint)
    return world, send_one(world, steps=[first, *others, step(body="Last")])


def began(message: Message, number: int) -> int | None:
    """When an attempt, from 1, had its first transition, in milliseconds from the start; None if there was none."""
    return next((at for at, each, _ in moves(message) if each == number), None)


def reasons(world: World) -> list[str]:
    """Why flows moved on."""
    return [what[1] for _, what in journaled(world, "fallback")]


DELIVERED_AT_A_MINUTE = path("sending", "sent", ("delivered", MINUTE))

CONDITIONS: list[Any] = [
    pytest.param("sms", "sent", "sending", MINUTE, id="sent, and it stays sending"),
    pytest.param("sms", "sent", "sent", None, id="sent, and it is sent"),
    pytest.param("sms", "sent", "delivered", None, id="sent, and it is delivered"),
    pytest.param("sms", "delivered", "sent", MINUTE, id="delivered, and it stays sent"),
    pytest.param("sms", "delivered", "delivered", None, id="delivered, and it is delivered"),
    pytest.param("sms", "seen", "delivered", MINUTE, id="seen, which sms never is"),
    pytest.param("richmsg", "seen", "delivered", MINUTE, id="seen, and it stays delivered"),
    pytest.param("richmsg", "seen", "seen", None, id="seen, and it is seen"),
    pytest.param("richmsg", "delivered", path("sending", "sent", "seen"), None, id="delivered, and it is seen at once"),
    pytest.param("richmsg", "sent", path("sending", "sent", "seen"), None, id="sent, and it is seen"),
]


@pytest.mark.parametrize(("first", "condition", "way", "moved_at"), CONDITIONS)
def test_s2_2_the_flow_moves_on_when_the_condition_is_not_met_within_the_ttl(
    first: str, condition: str, way: str | Path, moved_at: int | None
) -> None:
    """A state meets the condition that it names, and those before it (A64); what is met keeps the flow where it is."""
    world, message = flow(step(first, ttl=MINUTE, condition=condition), way=way)
    advance(world, HOUR)
    assert began(message, 2) == moved_at
    assert reasons(world) == ([] if moved_at is None else ["ttl"])


@pytest.mark.parametrize(
    ("ttl", "moved_at"),
    [
        pytest.param(MINUTE + 1, None, id="a millisecond before"),
        pytest.param(MINUTE, None, id="at that very instant"),
        pytest.param(MINUTE - 1, MINUTE - 1, id="a millisecond late"),
    ],
)
def test_a64_a_receipt_at_the_instant_of_the_ttl_is_in_time(ttl: int, moved_at: int | None) -> None:
    """The TTL is looked at when all receipts of its instant are in."""
    world, message = flow(step(ttl=ttl, condition="delivered"), way=DELIVERED_AT_A_MINUTE)
    advance(world, HOUR)
    assert began(message, 2) == moved_at


def test_a64_the_ttl_counts_from_sending() -> None:
    """A step that is handed over late has its whole TTL from then on."""
    world, message = flow(step(ttl=MINUTE), way=path(("sending", 10_000)))
    advance(world, HOUR)
    assert began(message, 2) == 10_000 + MINUTE


def test_a64_where_sending_is_skipped_the_ttl_counts_from_sent() -> None:
    """An operator that confirms at once starts the TTL with that."""
    world, message = flow(step(ttl=MINUTE, condition="delivered"), way=path(("sent", 5_000)))
    advance(world, HOUR)
    assert began(message, 2) == 5_000 + MINUTE


def test_a64_once_met_nothing_moves_the_flow_on() -> None:
    """After its condition was met, neither TTL nor a bad end uses the next step."""
    world, message = flow(step(ttl=MINUTE), way=path("sending", "sent", ("undelivered", 10_000)))
    advance(world, HOUR)
    assert (began(message, 2), message.result) == (None, "undelivered")


def test_a64_on_the_last_step_a_ttl_has_no_effect() -> None:
    """There is nothing to go on to: no step is scheduled for it."""
    world = make_world(attempts=(rule("sending"),))
    message = send_one(world, steps=[step(ttl=MINUTE)])
    advance(world)
    assert (message.result, world.idle) == ("sending", True)


def test_s2_2_without_a_ttl_the_flow_stays() -> None:
    """A step that has no TTL and no bad end is waited for."""
    world, message = flow(step("richmsg"), way="sent")
    advance(world, 30 * 24 * HOUR)
    assert (began(message, 2), world.idle) == (None, True)


BAD_ENDS: list[Any] = [
    pytest.param("undelivered", 3_000, id="undelivered"),
    pytest.param("failed", 1_000, id="failed"),
    pytest.param("rejected", 0, id="rejected"),
]


@pytest.mark.parametrize("ttl", [None, 10 * MINUTE])
@pytest.mark.parametrize(("end", "moved_at"), BAD_ENDS)
def test_a04_a_bad_end_moves_the_flow_on_at_once(end: str, moved_at: int, ttl: int | None) -> None:
    """The condition can no longer be met: with a TTL or without, the next step begins at that instant, once."""
    world, message = flow(step(ttl=ttl, condition="delivered"), way=end)
    advance(world, HOUR)
    assert began(message, 2) == moved_at
    assert reasons(world) == [end]
    assert message.result == "delivered"


@pytest.mark.parametrize("ttl", [None, 10 * MINUTE])
@pytest.mark.parametrize(("end", "at"), BAD_ENDS)
def test_a04_a_bad_end_may_wait_for_the_ttl(end: str, at: int, ttl: int | None) -> None:
    """With `fallback_on_failure: ttl` the flow waits for the TTL; without one it stays for ever."""
    assume = Assume(fallback_on_failure="ttl")
    world, message = flow(step(ttl=ttl, condition="delivered"), way=end, assume=assume)
    advance(world, HOUR)
    assert began(message, 2) == ttl
    assert reasons(world) == ([] if ttl is None else ["ttl"])


def test_a04_a_bad_end_of_the_last_step_is_the_end() -> None:
    """Nothing follows the last step."""
    world = make_world(attempts=(rule("failed"),))
    message = send_one(world, steps=[step("richmsg"), step()])
    advance(world, HOUR)
    assert [result for _, _, result in moves(message)] == ["sending", "failed", "sending", "failed"]
    assert world.idle


def test_a05_a_late_receipt_is_reported_and_stops_nothing() -> None:
    """The first step is delivered after the flow moved on: reported, and the second step goes its way."""
    world, message = flow(step("richmsg", ttl=MINUTE), way=path("sending", "sent", ("delivered", MINUTE + 500)))
    advance(world, HOUR)
    assert moves(message)[2:] == [
        (MINUTE, 2, "sending"),
        (MINUTE + 500, 1, "delivered"),
        (MINUTE + 1_000, 2, "sent"),
        (MINUTE + 3_000, 2, "delivered"),
    ]


def test_a05_a_late_bad_end_moves_nothing() -> None:
    """A step that the flow has left does not move it again."""
    world, message = flow(step(ttl=MINUTE, condition="delivered"), way=path("sending", ("failed", 2 * MINUTE)))
    advance(world, HOUR)
    assert [each for _, each, result in moves(message) if result == "sending"] == [1, 2]
    assert moves(message)[-1] == (2 * MINUTE, 1, "failed")


def test_a65_the_attempt_shown_is_the_one_that_got_furthest() -> None:
    """The last attempt is shown, unless an earlier one got further."""
    world = make_world(attempts=(rule("sent", when=When(attempt=1)), rule("failed", key="rest")))
    message = send_one(world, steps=[step(ttl=MINUTE, condition="delivered"), step("richmsg")])
    advance(world, HOUR)
    first, last = message.attempts
    assert (message.last, message.furthest_attempt, message.result) == (last, first, "sent")


def test_a_flow_goes_through_all_its_steps() -> None:
    """Each step has a TTL of its own, counted from its own `sending`."""
    world = make_world(attempts=(rule("sent"),))
    steps = [step("richmsg", ttl=minutes * MINUTE) for minutes in (1, 2, 3)]
    message = send_one(world, steps=[*steps, step()])
    advance(world, HOUR)
    assert [began(message, number) for number in (1, 2, 3, 4)] == [0, MINUTE, 3 * MINUTE, 6 * MINUTE]


def run_to_decision(world: World) -> None:
    """Until the TTL has decided and the next step is the next thing to begin."""
    while world.timeline.steps[0][3].__name__ != "fallback_due":
        world.run(START + MINUTE, 1)


def test_two_reasons_at_one_instant_move_the_flow_once() -> None:
    """The TTL has decided, and before the next step begins a tester's hand ends the attempt: one further step."""
    world, message = flow(step(ttl=MINUTE, condition="delivered"), step("richmsg"), way="sending")
    run_to_decision(world)
    Messaging.of(world).simulator.move_by_hand(message, "failed", None)
    world.run(START + MINUTE, PLENTY)
    assert (len(message.attempts), reasons(world)) == (2, ["ttl"])


def test_a_flow_may_be_saved_between_decision_and_next_step() -> None:
    """A tester's hand that meets the condition at the very instant of the TTL keeps the flow where it is."""
    world, message = flow(step("richmsg", ttl=MINUTE), way="sent")
    run_to_decision(world)
    Messaging.of(world).simulator.move_by_hand(message, "delivered", None)
    advance(world, HOUR)
    assert (len(message.attempts), reasons(world)) == (1, [])
