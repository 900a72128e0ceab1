"""What a call does is the same however much its world has seen: as many calls of functions, which are counted here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.box import KEY, WORLD, Box, boxed, count_calls
from tests.runtime.scenes import fill

pytestmark = pytest.mark.asyncio

FEW, MANY = 200, 4_000
ROW = "/v1/messages?date=2026-03-01"


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
            taken.append({name: await count_calls(act) for name, act in acts(box).items()})
    few, many = taken
    assert {name: (few[name], many[name]) for name in few if many[name] > 1.1 * few[name]} == {}
