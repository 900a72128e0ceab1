"""What a call does is the same however much its world has seen: as many calls of functions, which are counted here."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sendbox.runtime import wall
from tests.box import KEY, WORLD, Box, boxed
from tests.runtime.scenes import fill

pytestmark = pytest.mark.asyncio

FEW, MANY = 200, 4_000
ROW = "/v1/messages?date=2026-03-01"


async def counted(act: Callable[[], Awaitable[object]]) -> int:
    """How many functions are called meanwhile; the machine's clock stands, or a busy machine would add pauses."""
    count, reading = 0, wall.monotonic_ns()

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wall, "monotonic_ns", lambda: reading)
        sys.setprofile(note)
        try:
            await act()
        finally:
            sys.setprofile(None)
    return count


def acts(box: Box) -> dict[str, Callable[[], Awaitable[object]]]:
    """What clients and testers do often, by a name."""
    middle = len(box.runtime.worlds[KEY].world.journal) // 8
    return {
        "send": lambda: box.send("420777000101", body="Hello"),
        "advance": lambda: box.advance("1h"),
        "rows": lambda: box.get(ROW, x_api_key=KEY),
        "messages": lambda: box.get(f"{WORLD}/messages?limit=20&cursor={middle}"),
        "newest": lambda: box.get(f"{WORLD}/messages?last=20"),
        "journal": lambda: box.get(f"{WORLD}/journal?after={middle}&limit=20"),
        "deliveries": lambda: box.get(f"{WORLD}/deliveries?limit=2&cursor=0"),
        "world": lambda: box.get(WORLD),
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="all-is-kept"),
        pytest.param({"max_messages": 10**6, "max_journal": 10**7, "when_full": "forget"}, id="within-bounds"),
    ],
)
async def test_a_call_does_the_same_in_a_world_that_has_much(settings: dict[str, Any]) -> None:
    """Twenty times as many messages, and not a tenth more is done."""
    taken: list[dict[str, int]] = []
    async with boxed(check_answers=False, **settings) as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        for count in (FEW, MANY):
            fill(world, count)
            await box.advance("1h")
            for act in acts(box).values():  # what is made at the first time
                await act()
            taken.append({name: await counted(act) for name, act in acts(box).items()})
    few, many = taken
    assert {name: (few[name], many[name]) for name in few if many[name] > 1.1 * few[name]} == {}
