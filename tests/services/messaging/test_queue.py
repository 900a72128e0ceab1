"""What holds a message back: the normal queue and promotional hours (§1; A18, A84)."""

from __future__ import annotations

import pytest

from sendbox.engine.durations import Rate, iso
from sendbox.services.assume import Assume, PromotionalHours
from sendbox.services.messaging.records import Message
from sendbox.services.windows import Window
from tests.core.worlds import (
    HOUR,
    START,
    advance,
    journaled,
    make_world,
    moves,
    send,
    send_one,
    step,
)

# --- queue (A18)


def begun(messages: list[Message]) -> list[int]:
    """When each was handed over, in milliseconds from the start."""
    return [moves(message)[0][0] for message in messages]


def test_a18_no_limit_unless_the_world_has_one() -> None:
    """Without a limit everything is handed over at its instant."""
    world = make_world()
    messages = send(world, *(f"4207770001{n:02}" for n in range(10)))
    advance(world, HOUR)
    assert begun(messages) == [0] * 10


def test_a18_the_normal_queue_is_limited_and_priority_is_never_behind_it() -> None:
    """With 10/s, normal messages leave every 100 ms; a priority message leaves at once, and takes no turn."""
    world = make_world(assume=Assume(queue=Rate(10, 1_000)))
    normal = send(world, *(f"4207770001{n:02}" for n in range(4)))
    urgent = send_one(world, "420777000199", priority=True)
    after = send_one(world)
    advance(world, HOUR)
    assert begun([*normal, after]) == [0, 100, 200, 300, 400]
    assert begun([urgent]) == [0]


def test_a18_turns_are_given_in_the_order_in_which_messages_come_due() -> None:
    """A message accepted earlier and scheduled for later stands behind those who wait already; each waits once."""
    world = make_world(assume=Assume(queue=Rate(1, 60_000)))
    scheduled = send_one(world, at=START + 60_001)
    waiting = [send_one(world, body=f"{n}") for n in range(4)]
    advance(world, HOUR)
    assert begun(waiting) == [0, 60_000, 120_000, 180_000]
    assert begun([scheduled]) == [240_000]
    entries = journaled(world, "postponed")
    assert [(what[0], what[1] - START) for _, what in entries] == [
        (waiting[1], 60_000),
        (waiting[2], 120_000),
        (waiting[3], 180_000),
        (scheduled, 240_000),
    ]
    numbers = world.journal.numbers(frozenset({"postponed"}))
    assert world.journal.order_sensitive == set(numbers)


def test_a18_an_idle_queue_saves_no_turns() -> None:
    """After a pause the queue is as it was at the start: one at once, the next an interval later."""
    world = make_world(assume=Assume(queue=Rate(3, 1_000)))
    advance(world, HOUR)
    messages = [send_one(world, body=f"{n}") for n in range(3)]
    advance(world, HOUR)
    assert begun(messages) == [HOUR, HOUR + 334, HOUR + 668]


# --- promotional hours (A84)


@pytest.mark.parametrize(
    ("hours", "tags", "handed_over"),
    [
        pytest.param(None, ("promotional",), 0, id="none"),
        pytest.param((8 * 60, 20 * 60), ("promotional",), 0, id="inside"),
        pytest.param((10 * 60, 20 * 60), ("promotional",), HOUR, id="before they begin"),
        pytest.param((6 * 60, 9 * 60), ("promotional",), 21 * HOUR, id="after they ended"),
        pytest.param((10 * 60, 20 * 60), ("transactional",), 0, id="another tag"),
        pytest.param((10 * 60, 20 * 60), ("news", "promotional"), HOUR, id="among other tags"),
    ],
)
def test_a84_promotional_hours_hold_promotional_messages_back(
    hours: tuple[int, int] | None, tags: tuple[str, ...], handed_over: int
) -> None:
    """Promotional messages wait for the hours, in the priority queue too, not order-sensitive; others do not."""
    window = None if hours is None else PromotionalHours(Window(None, *hours))
    world = make_world(assume=Assume(promotional_window=window))
    message = send_one(world, tags=tags, priority=True)
    advance(world, 48 * HOUR)
    assert begun([message]) == [handed_over]
    postponed = [(0, (message, START + handed_over))] if handed_over else []
    assert journaled(world, "postponed") == postponed
    assert world.journal.order_sensitive == set()


def test_a84_a_message_without_a_tag_that_waits_for_the_hours_has_advice() -> None:
    """§2.1: without a tag it counts as promotional; it is said once for all recipients, when they begin to wait."""
    world = make_world(assume=Assume(promotional_window=PromotionalHours(Window(None, 10 * 60, 20 * 60))))
    send(world, "420777000101", "420777000102")
    advance(world, 48 * HOUR)
    ((advice, _),) = (what for _, what in journaled(world, "advice"))
    assert advice.code == "untagged-promotional"
    assert f"promotional hours are closed until {iso(START + HOUR)}" in advice.message


@pytest.mark.parametrize(
    ("hours", "own", "handed_over"),
    [
        pytest.param((6 * 60, 20 * 60), Window(None, 8 * 60, 10 * 60), 0, id="inside both"),
        pytest.param((10 * 60, 20 * 60), Window(None, 9 * 60, 12 * 60), HOUR, id="the hours begin later"),
        pytest.param((6 * 60, 9 * 60), Window(None, 8 * 60, 10 * 60), 23 * HOUR, id="the hours have ended"),
        pytest.param((9 * 60 + 30, 20 * 60), Window(None, 19 * 60, 9 * 60 + 15), 10 * HOUR, id="not when they begin"),
        pytest.param((6 * 60, 9 * 60), Window(frozenset({2}), 8 * 60), (3 * 24 - 1) * HOUR, id="on its day"),
        pytest.param((10 * 60, 20 * 60), Window(None, 21 * 60, 22 * 60), 12 * HOUR, id="never both: its own"),
        pytest.param((10 * 60, 20 * 60), Window(None, 8 * 60, 9 * 60 + 30), 0, id="never both: in its own"),
    ],
)
def test_s2_1_promotional_hours_do_not_lead_out_of_the_delivery_window(
    hours: tuple[int, int], own: Window, handed_over: int
) -> None:
    """A message waits for the first instant that suits its `delivery_time` and the hours (§2.1, A84)."""
    world = make_world(assume=Assume(promotional_window=PromotionalHours(Window(None, *hours))))
    message = send_one(world, window=own)
    advance(world, 96 * HOUR)
    assert begun([message]) == [handed_over]


@pytest.mark.parametrize(
    ("number", "steps", "handed_over"),
    [
        pytest.param("420777000101", ["sms"], 2 * HOUR, id="its country and channel"),
        pytest.param("33612345678", ["sms"], 2 * HOUR, id="another of the countries"),
        pytest.param("421900000001", ["sms"], 0, id="another country"),
        pytest.param("420777000101", ["chatapp_template"], 0, id="another channel"),
        pytest.param("420777000101", ["richmsg", "sms"], 0, id="the first step decides"),
        pytest.param("420777x", ["sms"], 0, id="not a number"),
    ],
)
def test_a84_hours_of_countries_and_channels(number: str, steps: list[str], handed_over: int) -> None:
    """They hold in their time zone, for the countries and channels that they name; 12:00 in Prague is 11:00 UTC."""
    hours = PromotionalHours(Window(None, 12 * 60, 20 * 60, "Europe/Prague"), ("CZ", "FR"), ("sms",))
    world = make_world(assume=Assume(promotional_window=hours))
    message = send_one(world, number, steps=[step(channel) for channel in steps])
    advance(world, 48 * HOUR)
    assert begun([message]) == [handed_over]


def test_a84_hours_that_close_before_the_turn_hold_a_message_back_again() -> None:
    """A message whose turn in the queue comes after hours waits for the next ones, and for a new turn there."""
    world = make_world(
        assume=Assume(promotional_window=PromotionalHours(Window(None, 8 * 60, 9 * 60 + 1)), queue=Rate(1, 60_000))
    )
    first, second, third = (send_one(world, body=body) for body in "abc")
    other = send_one(world, tags=("news",))
    advance(world, 48 * HOUR)
    assert begun([first, other]) == [0, 180_000]
    assert begun([second, third]) == [23 * HOUR, 23 * HOUR + 60_000]
