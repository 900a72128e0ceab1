"""Nothing changes in a world but by a command, or by the passing of time: no read does, and nothing on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.engine.world import World
from sendbox.fixture import SandboxServer
from tests.box import KEY, WORLD, Reading, boxed
from tests.recorded.box import served
from tests.replaying.guard import Guard, guarded
from tests.replaying.own_time import Timed, moved
from tests.tiers import DEEP

NUMBERS: Final = range(0, 500, 5) if DEEP else (0, 23, 60)


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    """On for all worlds of this module."""
    with guarded() as guard:
        yield guard


@pytest.fixture(scope="module")
def server(guard: Guard) -> Iterator[SandboxServer]:
    """One server for all worlds that are played."""
    with served() as server:
        server.runtime.reading = Reading()
        yield server


def reads(player: Timed) -> list[str]:
    """The path of every operation of control that reads a world, and ends."""
    messages = player.control("/messages")["messages"]
    names = {"message_id": messages[0]["message_id"] if messages else "none", "number": "420777000101", "n": "0"}
    found = []
    for row in SERVED.operations:
        if row.method == "GET" and row.worldly and row.name != "stream":
            query = "?message_id=" + names["message_id"] if row.name == "explain" else ""
            path = row.path.removeprefix("/worlds/{id}")
            for name in row.takes:
                path = path.replace(f"{{{name}}}", names.get(name, "none"))
            found.append(path + query)
    return found


@pytest.mark.parametrize("number", NUMBERS)
def test_only_commands_change_a_random_world(number: int, server: SandboxServer, guard: Guard) -> None:
    """While it is played, and while everything is read that control shows of it."""
    guard.changes.clear()
    before = guard.scopes
    reading = server.runtime.reading
    assert isinstance(reading, Reading)
    player = Timed(server, moved(number), reading)
    try:
        player.play()

        async def look(what: str) -> None:
            hosted = server.runtime.worlds[player.world]
            guard.look(hosted.world, what)

        server.thread.run(look("the reads"))
        for path in reads(player):
            if server.runtime.worlds[player.world].world.clock.mode != "manual":
                break  # time passes meanwhile, and looks at it are looks at another world
            player.client.get(f"/_sandbox/worlds/{player.world}{path}")
            server.thread.run(look(f"the end of GET {path}"))
    finally:
        player.close()
    assert guard.changes == []
    assert guard.scopes > before + 3


async def world_of(box: Any) -> World:
    """The world of a box, with something in it."""
    await box.send()
    await box.advance("2s")
    found: World = box.runtime.worlds[KEY].world
    return found


BY_HAND: Final[dict[str, Any]] = {
    "an assumption": lambda world: setattr(world, "assume", None),
    "a balance": lambda world: setattr(world.parts["account"], "balance", 1),
    "an entry": lambda world: world.journal_act("nothing", {}),
    "a step": lambda world: world.timeline.at(world.now + 1, -1, world.entry_due, None),
    "a state": lambda world: setattr(world.outlets.deliveries[0], "state", "failed"),
    "the clock": lambda world: world.clock.move(world.now + 1),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("what", BY_HAND)
async def test_the_guard_sees_what_was_not_commanded(what: str) -> None:
    """Whatever is changed by hand is told before the next command, with its place."""
    with guarded() as guard:
        async with boxed() as box:
            world = await world_of(box)
            assert guard.changes == []
            BY_HAND[what](world)
            guard.look(world, "the end")
            assert len(guard.changes) == 1
            assert "world." in guard.changes[0]


@pytest.mark.asyncio
async def test_the_guard_sees_an_act_that_is_not_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that a replay would not make again."""
    with guarded() as guard:
        async with boxed() as box:
            world = await world_of(box)
            monkeypatch.setattr(type(world.record), "add", lambda *given: None)
            await box.post(f"{WORLD}/rules", {"when": {}, "then": "failed"})
            assert any("is not on record" in line for line in guard.changes)
