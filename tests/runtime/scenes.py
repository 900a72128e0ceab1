"""Worlds that have much to do: what the event loop does meanwhile is counted by a test, and measured by `benchmarks`.

A scene fills a world, and enters the context that it is given for the part in which other clients would wait.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from sendbox.engine.delivery.batches import Target
from sendbox.engine.world import World
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send, Step
from tests.box import KEY, WORLD, boxed
from tests.receivers import answering, receiving
from tests.scenarios import load

#: Watches the loop while its context lasts.
Watch = Callable[[], AbstractAsyncContextManager[None]]
#: A scene with so many messages. Those with a delivery of its own for each have fewer.
Scene = Callable[[Watch, int], Coroutine[Any, Any, None]]

#: Of every kind of thing there is much of, one that counts and one that never does.
EXPECTING = {
    "sendbox": 1,
    "expect": [
        {"that": that, "where": {"phone": phone}}
        for that in ("messages", "attempts", "transitions", "events", "deliveries")
        for phone in ("4207*", "421*")
    ],
}


def fill(world: World, count: int, *, every: int = 0, callback: Any = None, recipients: int = 1) -> None:
    """Messages that are due at once, or one `every` so many milliseconds; `callback` may depend on the number."""
    key = Account.of(world).keys[world.id]
    for number in range(count):
        to = [Recipient(f"4207{number % 100:02}{n:02}{number % 10000:04}00"[:12]) for n in range(recipients)]
        at = world.now + 61_000 + number * every if every else None
        target = callback(number) if callback else None
        send = Send(to, [Step("sms", "Hello")], at=at, callback=target)
        Messaging.of(world).accept("sendMessage", [send], key, b"%d" % number, "http://box")


async def at_one_instant(watch: Watch, much: int) -> None:
    """All messages at one instant: their events in three instants, to the built-in receiver."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, much)
        async with watch():
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * much


async def faulty(watch: Watch, much: int) -> None:
    """Messages of which each event leaves by itself, since a rule of the scenario is asked about each."""
    fewer = much * 3 // 8
    async with boxed(check_answers=False) as box:
        await box.open(scenario={"sendbox": 1, "extends": "default", "webhooks": [{"fault": "split"}]})
        fill(box.runtime.worlds[KEY].world, fewer)
        async with watch():
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * fewer


async def spread_over_time(watch: Watch, much: int) -> None:
    """The same over nine hours, each message at its own instant."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, much, every=1_000)
        async with watch():
            moved = await box.advance("10h")
        assert moved["fired"] >= 3 * much


async def to_a_receiver(watch: Watch, much: int) -> None:
    """All events in bundles of a hundred to a receiver on a socket."""
    async with boxed(check_answers=False) as box, receiving(answering(200)) as receiver:
        await box.open()
        target = Target(receiver.url)
        fill(box.runtime.worlds[KEY].world, much, callback=lambda _: target)
        async with watch():
            moved = await box.advance("1h")
        assert moved["fired"] >= 3 * much
        assert moved["failed"] == 0


async def to_many_targets(watch: Watch, much: int) -> None:
    """Many targets, each with a delivery at each of three instants."""
    fewer = much * 3 // 8

    async def take(_: HttpCall) -> Outcome:
        return Outcome(200)

    async with boxed(check_answers=False) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, take)
        fill(hosted.world, fewer, callback=lambda number: Target(f"http://a.example/{number}"))
        async with watch():
            moved = await box.advance("1h")
        assert moved["deliveries"] == 3 * fewer


async def lapses(watch: Watch, much: int) -> None:
    """50,000 phones whose windows end in one move, more than one move tells."""
    async with boxed(check_answers=False) as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        for number in range(50_000):
            Messaging.of(world).phones.write("chatapp", f"4207{number:08}", None, "Hi")
        await box.advance("0s")
        async with watch():
            moved = await box.advance("2d")
        assert moved["truncated"]


async def lists(watch: Watch, much: int) -> None:
    """Messages, journal, deliveries, events, advice, digest and verdict of a world with many events, over HTTP."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, much)
        await box.advance("1h")
        box.runtime.worlds[KEY].world.expect = load(EXPECTING).expect
        async with watch():
            for path in (
                "messages",
                "messages?tag=none",
                "messages?last=10",
                "journal?kind=inbound",
                "journal?limit=5000",
                "deliveries",
                "hook",
                "events",
                "advice",
                "digest",
                "verdict",
            ):
                assert (await box.call("GET", f"{WORLD}/{path}", keep=False)).status == 200


#: All of them.
SCENES: Final[tuple[Scene, ...]] = (
    at_one_instant,
    faulty,
    spread_over_time,
    to_a_receiver,
    to_many_targets,
    lapses,
    lists,
)
