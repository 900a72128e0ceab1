"""How much is done between two turns of the event loop while a world has much to do.

What counts is work, not time: the calls of functions that the loop's thread makes between two turns, where every place
that may give the loop its turn does. So a place that is missing is found, on any machine; how long the loop is held is
measured by `benchmarks`. A deep run fills its worlds with five times as much.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sendbox.engine.delivery.batches import Target
from sendbox.engine.world import World
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import Slice
from sendbox.server.loop import new_loop
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send, Step
from tests.box import KEY, WORLD, boxed
from tests.receivers import answering, receiving
from tests.scenarios import load
from tests.tiers import DEEP

#: Messages in a world: all of them take far more calls than the limit.
MESSAGES = 20_000 if DEEP else 4_000
#: Messages with a delivery each: of one target each, or under a rule that sends their events one by one.
FEWER = 7_500 if DEEP else 1_500
#: The most calls of functions between two turns of the loop: about a millisecond of work.
LIMIT = 20_000
#: A world that is listed in every way, and the limit for that: as many calls a message as for the others.
LISTED = 20_000 if DEEP else 1_000
LIST_LIMIT = 5_000


@pytest.fixture(autouse=True)
def pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in slices pauses wherever it may."""
    monkeypatch.setattr(Slice, "over", True)


#: Of every kind of thing there is much of, one that counts and one that never does.
EXPECTING = {
    "sendbox": 1,
    "expect": [
        {"that": that, "where": {"phone": phone}}
        for that in ("messages", "attempts", "transitions", "events", "deliveries")
        for phone in ("4207*", "421*")
    ],
}


@asynccontextmanager
async def ticking(holds: list[int]) -> AsyncIterator[None]:
    """Appends the most calls that the thread made between two turns of the loop while the context lasts."""
    loop = asyncio.get_running_loop()
    calls = longest = 0
    over = False

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" or event == "c_call"

    def tick() -> None:
        nonlocal calls, longest
        longest, calls = max(longest, calls), 0
        if not over:
            loop.call_soon(tick)

    loop.call_soon(tick)
    await asyncio.sleep(0)
    longest = 0
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
        over = True
    holds.append(longest)


def fill(world: World, count: int, *, every: int = 0, callback: Any = None, recipients: int = 1) -> None:
    """Messages that are due at once, or one `every` so many milliseconds; `callback` may depend on the number."""
    key = Account.of(world).keys[world.id]
    for number in range(count):
        to = [Recipient(f"4207{number % 100:02}{n:02}{number % 10000:04}00"[:12]) for n in range(recipients)]
        at = world.now + 61_000 + number * every if every else None
        target = callback(number) if callback else None
        send = Send(to, [Step("sms", "Hello")], at=at, callback=target)
        Messaging.of(world).accept("sendMessage", [send], key, b"%d" % number, "http://box")


async def at_one_instant(holds: list[int]) -> None:
    """All messages at one instant: their events in three instants, to the built-in receiver."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, MESSAGES)
        async with ticking(holds):
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * MESSAGES


async def faulty(holds: list[int]) -> None:
    """Messages of which each event leaves by itself, since a rule of the scenario is asked about each."""
    async with boxed(check_answers=False) as box:
        await box.open(scenario={"sendbox": 1, "extends": "default", "webhooks": [{"fault": "split"}]})
        fill(box.runtime.worlds[KEY].world, FEWER)
        async with ticking(holds):
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * FEWER


async def spread_over_time(holds: list[int]) -> None:
    """The same over nine hours, each message at its own instant."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, MESSAGES, every=1_000)
        async with ticking(holds):
            moved = await box.advance("10h")
        assert moved["fired"] >= 3 * MESSAGES


async def to_a_receiver(holds: list[int]) -> None:
    """All events in bundles of a hundred to a receiver on a socket."""
    async with boxed(check_answers=False) as box, receiving(answering(200)) as receiver:
        await box.open()
        target = Target(receiver.url)
        fill(box.runtime.worlds[KEY].world, MESSAGES, callback=lambda _: target)
        async with ticking(holds):
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * MESSAGES
        assert moved["failed"] == 0


async def to_many_targets(holds: list[int]) -> None:
    """Many targets, each with a delivery at each of three instants."""

    async def take(_: HttpCall) -> Outcome:
        return Outcome(200)

    async with boxed(check_answers=False) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, take)
        fill(hosted.world, FEWER, callback=lambda number: Target(f"http://a.example/{number}"))
        async with ticking(holds):
            moved = await box.advance("1h")
        assert moved["deliveries"] == 3 * FEWER


async def lapses(holds: list[int]) -> None:
    """50,000 phones whose windows end in one move, more than one move tells."""
    async with boxed(check_answers=False) as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        for number in range(50_000):
            Messaging.of(world).phones.write("chatapp", f"4207{number:08}", None, "Hi")
        await box.advance("0s")
        async with ticking(holds):
            moved = await box.advance("2d")
        assert moved["truncated"]


async def lists(holds: list[int]) -> None:
    """Messages, journal, deliveries, events, advice, digest and verdict of a world with many events, over HTTP."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, LISTED)
        await box.advance("1h")
        box.runtime.worlds[KEY].world.expect = load(EXPECTING).expect
        async with ticking(holds):
            for path in (
                "messages",
                "messages?tag=none",
                "messages?last=10",
                "journal?kind=inbound",
                "journal?limit=5000",
                "deliveries",
                "hook",
                "advice",
                "digest",
                "verdict",
            ):
                assert (await box.call("GET", f"{WORLD}/{path}", keep=False)).status == 200


@pytest.mark.parametrize(
    ("scene", "limit"),
    [
        *(
            (scene, LIMIT)
            for scene in (at_one_instant, faulty, spread_over_time, to_a_receiver, to_many_targets, lapses)
        ),
        (lists, LIST_LIMIT),
    ],
)
def test_the_loop_has_its_turn_after_little_work(scene: Any, limit: int) -> None:
    """Whatever a world has to do, no other client waits for it."""
    holds: list[int] = []
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene(holds))
    assert max(holds) < limit
