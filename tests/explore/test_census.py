"""Where clocks run by themselves: how much room a webhook has, and which differences of two runs count."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.exploring.census import MAX_WEBHOOK_DELAY, UNMOVED, Census, census, difference
from tests.box import KEY, START, Box, Reading, boxed

pytestmark = pytest.mark.asyncio


def taken(box: Box, *moves: tuple[float, float]) -> Census:
    """The census of the world; `moves` are in seconds from its start."""
    instants = [(START + round(began * 1000), START + round(ended * 1000)) for began, ended in moves]
    return census(box.runtime.worlds[KEY].world, 1, instants, taken=True)


@pytest.mark.parametrize(
    ("mode", "moves", "until"),
    [
        pytest.param("manual", [(0, 60)], [60_000] * 3, id="moved"),
        pytest.param("manual", [], [0, 1_000, 3_000], id="manual"),
        pytest.param("auto", [], [3_000 + UNMOVED] * 3, id="auto"),
        pytest.param("auto", [(0, 60)], [60_000] * 3, id="auto-moved"),
        pytest.param("real", [], [60_000] * 3, id="real"),
    ],
)
async def test_the_room_of_a_webhook(mode: Any, moves: list[tuple[float, float]], until: list[int]) -> None:
    """Its advance; where none is made, until after the last one of its world, or as long as the client waited."""
    async with boxed(mode=mode, reading=Reading(), quiet=30.0) as box:
        await box.send()
        await box.advance("1m")
        assert [event.until for event in taken(box, *moves).events] == until


async def test_a_webhook_comes_at_most_so_late() -> None:
    """However much later something else happens in its world."""
    async with boxed(mode="auto", quiet=30.0) as box:
        for _ in range(2):
            await box.send()
            await box.advance("30m")
        assert taken(box).events[0].until == MAX_WEBHOOK_DELAY


async def run(mode: Any, *phones: str, asked: int = 0) -> list[Census]:
    async with boxed(mode=mode, quiet=30.0) as box:
        for phone in phones:
            await box.send(phone)
            await box.advance("1s")
        for _ in range(asked):
            await box.get("/v1/message?id=1", x_api_key=KEY)
        return [taken(box)]


@pytest.mark.parametrize("mode", ["auto", "manual"])
async def test_differences(mode: str) -> None:
    """How often a client asks, and when something happens, counts only where the tester moves the clock."""
    first = await run(mode, "420777000101", asked=1)
    assert difference(first, await run(mode, "420777000101", asked=1)) is None
    often = difference(first, await run(mode, "420777000101", asked=3))
    assert often == (None if mode == "auto" else "the calls of world 1: 2 of them, then 4")
    other = difference(first, await run(mode, "420777000102", asked=1))
    assert other is not None
    assert other.startswith("number 1 of the messages of world 1: " if mode == "auto" else "number 1 of the calls")
    assert difference(first, []) == "the number of worlds that the run opened: 1, then 0"
