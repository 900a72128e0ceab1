"""What is kept beside a world: who waits for it, and work in slices."""

from __future__ import annotations

import asyncio

import pytest

from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.runtime.slot import SLICE_NS, HostedWorld, Portion, Slice
from tests.scenarios import make_blueprint

pytestmark = pytest.mark.asyncio


def hosted(world_id: str = "test-a") -> HostedWorld:
    return HostedWorld(World(world_id, make_blueprint(), start=0, services=PARTS), make_blueprint())


async def test_who_stopped_waiting_is_not_woken() -> None:
    """A wait that was cancelled at the same moment as something happened is no error for the others."""
    box = hosted()
    waits = [asyncio.create_task(box.change()) for _ in range(2)]
    await asyncio.sleep(0)
    waits[0].cancel()
    await asyncio.sleep(0)
    gone = next(iter(box.changed))
    gone.cancel()
    box.touch()
    await asyncio.gather(*waits, return_exceptions=True)
    assert (box.changes, box.changed) == (1, set())


@pytest.mark.parametrize(
    ("world_id", "path"),
    [
        ("test-a", "/_sandbox/worlds/test-a"),
        ("a b/c?", "/_sandbox/worlds/a%20b%2Fc%3F"),
        ("é", "/_sandbox/worlds/%C3%A9"),
    ],
)
async def test_the_path_of_a_world_is_an_address(world_id: str, path: str) -> None:
    """Whatever an id holds, the path that control shows it at is a legal one."""
    assert hosted(world_id).path == path


async def test_a_slice_pauses_only_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before that the loop keeps its turn; afterwards a new slice begins."""
    now = 0
    monkeypatch.setattr("sendbox.runtime.slot.wall.monotonic_ns", lambda: now)
    turned = False

    def turn() -> None:
        nonlocal turned
        turned = True

    work = Slice()
    asyncio.get_running_loop().call_soon(turn)
    now = SLICE_NS
    await work.pause()
    assert (work.over, turned) == (False, False)
    now = SLICE_NS + 1
    await work.pause()
    assert (work.over, turned) == (False, True)


async def test_a_portion_fits_what_it_took() -> None:
    """Cheap ticks make it larger, up to a bound; where it took long it begins anew, else it stays."""
    portion = Portion()
    sizes = []
    for took in (0, 200_000, 0, 0, 600_000):
        portion.fit(took)
        sizes.append(portion.ticks)
    assert sizes == [64, 64, 128, 128, 32]
