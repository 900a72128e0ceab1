"""Which messages may be forgotten, and what goes with them (`engine/forgetting.py`)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Rate
from sendbox.engine.forgetting import Forgetting
from sendbox.engine.kept import Fingerprints, Kept
from sendbox.engine.rules.book import Memory
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services import limits
from sendbox.services.account.account import Account
from sendbox.services.assume import Assume
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.verify.verify import Verify
from tests.core.worlds import HOUR, PHONE, START, TEN, advance, send, send_one
from tests.scenarios import make_blueprint

BOUND = "--max-messages=2"


def opened(**blueprint: Any) -> tuple[World, Forgetting]:
    """A world that may forget."""
    world = World("test-w", make_blueprint(**blueprint), start=START, forgets=True, services=PARTS)
    return world, Forgetting(world)


def forget(world: World, forgetting: Forgetting, most: int) -> int:
    """A pass over the messages; returns how many parts it had."""
    forgetting.note()
    forgetting.of_messages(most, BOUND)
    forgetting.of_messages(most, BOUND)  # one pass at a time
    parts = 0
    while not forgetting.step():
        parts += 1
    return parts


def test_recipients_of_one_request_go_one_by_one() -> None:
    """Those that have ended; the others go on, and their request with them."""
    world, forgetting = opened()
    messages = send(world, *TEN)
    messaging = Messaging.of(world)
    advance(world, 10_000)
    assert forget(world, forgetting, 4) > 0
    assert messaging.messages == messages[-len(messaging.messages) :]
    assert len(messaging.messages) < 4
    assert messaging.made == 10
    (submission,) = {message.submission for message in messages}
    assert len(submission.messages) == 10
    for number in range(3):
        send_one(world, body=f"Hello {number}")
        advance(world, 10_000)
        forget(world, forgetting, 2)
    assert all(message.id in (messaging.past or ()) for message in messages)
    assert submission.messages == ()


def test_a_recipient_that_waits_is_handed_over_after_another_was_forgotten() -> None:
    """Its turn in the queue comes when nothing is left of the first recipient of its request."""
    world, forgetting = opened(assume=Assume(queue=Rate(1, 60_000)))
    first, second, third = send(world, *TEN[:3])
    for _ in range(4):
        advance(world, 10_000)
        forget(world, forgetting, 1)
        send_one(world, priority=True)
    assert (first.last, first.submission.messages) == (None, (second, third))
    advance(world, HOUR)
    assert (second.result, third.result) == ("delivered", "delivered")


def test_a_message_to_the_test_number_has_ended() -> None:
    """It is never handed over (A89), and goes like others."""
    world, forgetting = opened()
    test = send_one(world, limits.TEST_NUMBER)
    waiting = send_one(world, at=START + HOUR)
    advance(world, 10_000)
    forget(world, forgetting, 2)
    assert Messaging.of(world).messages == [waiting]
    assert test.id in (Messaging.of(world).past or ())


def test_a_message_on_its_way_has_not_ended() -> None:
    """As long as a result is to come, whatever it has reached."""
    world, forgetting = opened()
    message = send_one(world)
    advance(world, 1_500)
    assert message.result == "sent"
    forget(world, forgetting, 1)
    assert Messaging.of(world).messages == [message]
    advance(world, 10_000)
    forget(world, forgetting, 1)
    assert Messaging.of(world).messages == []
    assert Messaging.of(world).attempts.memory.before == Messaging.of(world).accepted


def test_a_world_without_messages_forgets_none() -> None:
    """A world of other services has none that could be counted."""
    world = World("test-w", make_blueprint(), start=START, forgets=True, services=PARTS[:1])
    forgetting = Forgetting(world)
    assert forgetting.messages == 0
    forgetting.of_messages(1, BOUND)
    assert forgetting.work is None


def test_sessions_go_when_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older ones first, each from its phone too; a code that arrives later finds none, and that is all."""
    monkeypatch.setattr("sendbox.services.verify.verify._FORGET_BATCH", 1)
    world, _ = opened()
    verify, key = Verify.of(world), Account.of(world).keys["test-w"]
    old = [verify.create(PHONE, {}, key, b"%d" % number, "http://box") for number in range(2)]
    advance(world, limits.SESSION)
    young = verify.create(PHONE, {}, key, b"young", "http://box")
    other = verify.create(TEN[1], {}, key, b"other", "http://box")
    assert len(list(verify.forget(2, BOUND, 9))) == 2
    assert list(verify.sessions.values()) == [young, other]
    assert list(verify.sessions_of(PHONE)) == [young]
    assert verify.made == 4
    list(verify.forget(4, BOUND, 9))
    assert len(verify.sessions) == 2
    verify.arrived(old[0].token)
    advance(world, limits.SESSION)
    list(verify.forget(4, BOUND, 9))
    assert (verify.sessions, list(verify.sessions_of(PHONE)), verify.made) == ({}, [], 4)


def test_a_part_has_nothing_to_forget_unless_it_says_so() -> None:
    """The account's things stay."""
    world, _ = opened()
    account = world.parts["account"]
    assert (account.made, list(account.forget(0, BOUND, 1))) == (0, [])


def test_places_of_forgotten_cases_go() -> None:
    """A series of cases that may come again keeps those after the first message, and its count."""
    memory = Memory(returning=True)
    for ordinal in range(100):
        memory.series("nth").place(ordinal)
    memory.before = 90
    series = memory.series("nth")
    assert (series.find(89), len(series)) == (None, 100)
    place = series.find(90)
    assert place is not None
    assert place.number == 90
    assert series.place(100).number == 100
    once = Memory(returning=False)
    once.series("call").place(0)
    once.before = 1
    assert len(once.series("call")) == 1


def test_a_kept_list_has_numbers() -> None:
    """They go on behind what was forgotten; as soon as enough is found the rest is not looked at."""
    kept: Kept[int] = Kept()
    kept += range(10)
    looked: list[int] = []

    def even(number: int) -> bool:
        looked.append(number)
        return number % 2 == 0

    gone, place = kept.forget(1, 9, even, 2)
    assert (gone, place, looked) == ([2, 4], 3, [1, 2, 3, 4])
    assert (kept, kept.lost, kept.made) == ([0, 1, 3, 5, 6, 7, 8, 9], 2, 10)


def test_names_are_counted_in_eight_bytes() -> None:
    """Each how often it came before; a name of the same beginning is the same name."""
    names = Fingerprints()
    first, second = b"\1" * 16, b"\1" * 7 + b"\2" * 9
    assert [names.add(first), names.add(second), names.add(first), names.add(first)] == [0, 0, 1, 2]
    assert names.add(b"\2" * 16) == 0
    assert (first in names, second in names, b"\3" * 8 in names, b"\1" * 6 + b"\0\0" in names) == (
        True, True, False, False
    )  # fmt: skip
