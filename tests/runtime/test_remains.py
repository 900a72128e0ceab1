"""Closed worlds leave nothing behind that only Python's collector of cycles would free.

`sendbox serve` hides what lives for a while from the collector, so a circle that is left is kept for ever.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from sendbox.engine.world import World
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import HostedWorld
from tests.box import KEY, WORLD, Box, boxed, turns

pytestmark = pytest.mark.asyncio

#: Worlds that are opened and closed.
WORLDS: Final = 3
HELD: Final = (World, HostedWorld)


async def send(box: Box) -> None:
    """Sends a message and moves it to its end."""
    await box.send()
    await box.advance()


async def explain(box: Box) -> None:
    """Asks why a message has its result: its world is made again."""
    (message_id,) = await box.send()
    await box.advance()
    assert (await box.get(f"{WORLD}/explain?message_id={message_id}")).status == 200


async def look_back(box: Box) -> None:
    """Lists messages as they were at an entry: its number comes as a text, which is not legal as one."""
    await send(box)
    assert (await box.get(f"{WORLD}/messages?then=1")).status == 200


async def step(box: Box) -> None:
    """Lets an `auto` clock take a step whose webhook is under way when the world is closed."""

    async def hang(_: HttpCall) -> Outcome:
        await asyncio.Event().wait()
        return Outcome(200)

    hosted = box.runtime.worlds[KEY]
    box.runtime.deliver_to(hosted, hang)
    await box.patch(f"{WORLD}/clock", {"mode": "auto"})
    await box.send()
    while not hosted.world.outlets.in_flight:
        await asyncio.sleep(0)


ACTS: Final = (send, explain, look_back, step)


def count_held() -> dict[str, int]:
    """How many objects there are of each class that a closed world must not leave."""
    objects: list[Any] = gc.get_objects()
    return {held.__name__: sum(type(item) is held for item in objects) for held in HELD}


@pytest.mark.sample(3)
@pytest.mark.parametrize("act", ACTS, ids=[act.__name__ for act in ACTS])
async def test_closed_worlds_are_freed_without_the_collector(act: Callable[[Box], Awaitable[None]]) -> None:
    """However many worlds come and go, of all their objects those of the last one may be left, a replica too."""
    async with boxed(quiet=0.0) as box:
        gc.collect()
        gc.disable()
        try:
            before = count_held()
            for _ in range(WORLDS):
                await visit(box, act)
            left = {name: count - before[name] for name, count in count_held().items()}
            assert max(left.values()) < WORLDS, left
        finally:
            gc.enable()


async def visit(box: Box, act: Callable[[Box], Awaitable[None]]) -> None:
    """Opens a world, does something in it, and closes it."""
    await box.open()
    await act(box)
    assert (await box.delete(WORLD)).status == 200
    while box.runtime._gone or box.runtime._sweeper:
        await asyncio.sleep(0)
    await turns()
