"""How much is done between two turns of the event loop while a world has much to do.

What counts is work, not time: the calls of functions that the loop's thread makes between two turns, where every place
that may give the loop its turn does. So a place that is missing is found, on any machine; how long the loop is held is
measured by `benchmarks`, in the same scenes. A deep run fills its worlds with five times as much.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sendbox.runtime.slot import Slice
from sendbox.server.loop import new_loop
from tests.runtime.scenes import SCENES, Scene, lists
from tests.tiers import DEEP

#: Messages in a world: all of them take far more calls than the limit.
MESSAGES = 20_000 if DEEP else 4_000
#: The most calls of functions between two turns of the loop: about a millisecond of work.
LIMIT = 20_000
#: Of a world that is listed in every way there is less, and the limit is as much lower.
LISTED = 4


@pytest.fixture(autouse=True)
def pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in slices pauses wherever it may."""
    monkeypatch.setattr(Slice, "over", True)


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


@pytest.mark.sample(7)
@pytest.mark.parametrize("scene", SCENES)
def test_the_loop_has_its_turn_after_little_work(scene: Scene) -> None:
    """Whatever a world has to do, no other client waits for it."""
    holds: list[int] = []
    share = LISTED if scene is lists else 1

    async def run() -> None:
        await scene(lambda: ticking(holds), MESSAGES // share)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(run())
    assert max(holds) < LIMIT // share
