"""Closed worlds that are kept: they can be read, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.control.operation import THEN
from sendbox.runtime.bounds import Bounds
from tests.box import KEY, WORLD, Box, Reading, boxed, end_idle
from tests.runtime.test_ending import swept

pytestmark = pytest.mark.asyncio
#: What operations that read a world need.
NEEDED = {"n": "0", "with": "test-2", "dimension": "channels"}


async def closed(box: Box) -> str:
    """A world with a message that is closed; answers the id of the message."""
    (message_id,) = await box.send()
    await box.advance()
    assert (await box.delete(WORLD)).status == 200
    return message_id


@pytest.mark.parametrize("name", [row.name for row in SERVED.operations if row.reads and row.name != "outbox"])
@pytest.mark.sample(3)
async def test_a_closed_world_can_be_read(name: str) -> None:
    """Every operation that reads a world answers as before it was closed, and for its past too."""
    async with boxed(keep_closed=2) as box:
        await box.open("test-2")
        await box.send()
        await box.advance()
        row = SERVED.by_name[name]
        path = row.path.removeprefix("/worlds/{id}")
        for argument, value in NEEDED.items():
            path = path.replace(f"{{{argument}}}", value)
        query = "&".join(f"{n}={NEEDED[n]}" for n, it in row.takes.items() if it.required and n in NEEDED)
        asked = f"{WORLD}{path}?{query}"
        before = await box.get(asked)
        await box.delete(WORLD)
        after = await box.get(asked)
        assert after.status == before.status
        if name == "world":
            assert after.json == {**before.json, "closed": True, "clock": after.json["clock"]}
        elif name == "report":
            assert {**after.json, "world": {}} == {**before.json, "world": {}}
        elif before.status == 200 and after.headers["content-type"] == "application/json":
            assert after.json == before.json
        if THEN in row.legal:
            assert (await box.get(f"{asked}&then=0")).status in (before.status, 400, 404)


async def test_the_past_of_a_closed_world() -> None:
    """It is made again from its record."""
    async with boxed(keep_closed=1) as box:
        await closed(box)
        assert [(await box.get(WORLD + then)).json["messages"] for then in ("?then=0", "")] == [0, 1]
        assert (await box.get(f"{WORLD}/clock?then=0")).json["now"] == "2026-03-01T09:00:00.000Z"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "", None),
        ("POST", "/reset", None),
        ("POST", "/start", {"now": "2026-03-01T09:00:00Z"}),
        ("POST", "/clock/advance", {"by": "1m"}),
        ("PATCH", "/clock", {"mode": "real"}),
        ("PUT", "/checkpoints/a", None),
        ("POST", "/rules", {"when": {}, "then": "failed"}),
        ("GET", "/outbox", None),
        ("GET", "/journal?after=1000&wait=1s", None),
    ],
)
async def test_nothing_can_be_done_with_it(method: str, path: str, body: Any) -> None:
    """409 `closed`, also for what would wait for something to happen."""
    async with boxed(keep_closed=1) as box:
        await closed(box)
        answer = await (box.post(WORLD + path, body) if method == "POST" else box.call(method, WORLD + path, b"{}"))
        assert (answer.status, answer.json["error"]) == (409, "closed")
        text = f"{KEY} is closed, and can only be read; POST /_sandbox/worlds opens its key again"
        assert answer.json["message"] == text
        assert (await box.get("/v1/message?id=x", x_api_key=KEY)).status == 401


async def test_what_waits_in_it_ends() -> None:
    """A long poll is told that the world was closed; so is an act that was being prepared."""
    async with boxed(keep_closed=1) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        waiting = asyncio.ensure_future(box.post(f"{WORLD}/outbox?wait=10s"))
        while not hosted.changed:
            await asyncio.sleep(0)
        working = hosted.working = asyncio.get_running_loop().create_future()
        acting = asyncio.ensure_future(box.post(f"{WORLD}/rules", {"when": {}, "then": "failed"}))
        await asyncio.sleep(0)
        box.runtime.close(hosted)
        hosted.working = None
        working.set_result(None)
        for answer in (await waiting, await acting):
            assert (answer.status, answer.json["error"]) == (404, "no_such_world")


async def test_closed_worlds_are_listed() -> None:
    """Those that are kept, in the order of their closing, in pages or the newest; open ones are not among them."""
    async with boxed(keep_closed=3) as box:
        for name in ("test-a", "test-b", "test-c", "test-d"):
            await box.open(name)
        for name in ("test-d", "test-b", "test-a"):
            await box.delete(f"/_sandbox/worlds/{name}")

        async def listed(query: str) -> tuple[list[str], Any]:
            answer = (await box.get(f"/_sandbox/worlds?closed=true{query}")).json
            assert all(each["closed"] and each["idle_since"] for each in answer["worlds"])
            return [each["id"] for each in answer["worlds"]], answer.get("next_cursor")

        assert await listed("") == (["test-d", "test-b", "test-a"], None)
        assert await listed("&last=2") == (["test-b", "test-a"], None)
        first, cursor = await listed("&limit=2")
        assert (first, (await listed(f"&limit=2&cursor={cursor}"))[0]) == (["test-d", "test-b"], ["test-a"])
        assert (await listed("&order=newest&limit=1"))[0] == ["test-a"]
        assert (await listed("&prefix=test-b"))[0] == ["test-b"]
        opened = (await box.get("/_sandbox/worlds")).json["worlds"]
        assert [(each["id"], "closed" in each) for each in opened] == [("test-c", False)]


async def test_the_oldest_are_forgotten() -> None:
    """Memory is bounded by their number; the key of one that opens again drops it, and no other world."""
    async with boxed(keep_closed=2) as box:
        worlds = []
        for number in range(5):
            await box.send(key=f"test-{number}")
            worlds.append(weakref.ref(box.runtime.worlds[f"test-{number}"].world))
            await box.delete(f"/_sandbox/worlds/test-{number}")
        await swept(box)
        gc.collect()
        assert [world() is None for world in worlds] == [True, True, True, False, False]
        assert (await box.get("/_sandbox/worlds/test-2")).json["error"] == "no_such_world"
        await box.open("test-3")
        assert (await box.get("/_sandbox/worlds/test-3")).json["messages"] == 0
        await box.delete("/_sandbox/worlds/test-3")
        assert list(box.runtime.closed_worlds.worlds) == ["test-4", "test-3"]


async def test_without_a_number_none_is_kept() -> None:
    """As in the server of the fixture."""
    async with boxed() as box:
        await closed(box)
        assert (await box.get(WORLD)).json["error"] == "no_such_world"


async def test_a_world_that_ended_by_itself_is_not_kept() -> None:
    """It is forgotten."""
    reading = Reading()
    async with boxed(keep_closed=2, world_ttl=60.0, reading=reading) as box:
        await box.send()
        reading.passes(60)
        end_idle(box)
        assert (await box.get(WORLD)).json["error"] == "no_such_world"


@pytest.mark.parametrize("collects", [False, True])
async def test_what_was_tried_in_it_counts_once(collects: bool) -> None:
    """In the coverage of all worlds, where the server collects that; before and after it is forgotten."""
    async with boxed(keep_closed=1, coverage=collects) as box:
        await closed(box)
        counted = (await box.get("/_sandbox/coverage")).json
        of_one = (await box.get(f"{WORLD}/coverage")).json
        box.runtime.closed_worlds.forget()
        again = (await box.get("/_sandbox/coverage")).json
        assert counted == again
        assert (counted["dimensions"] == of_one["dimensions"]) is collects


async def test_full_memory_forgets_them_first() -> None:
    """They are there to be looked at, and open worlds are there to work."""
    used = 100
    async with boxed(keep_closed=2) as box:
        box.runtime.settings.max_memory = 1_000
        bounds = Bounds(box.runtime, lambda: used, lambda: 0)
        await closed(box)
        bounds.look()
        assert list(box.runtime.closed_worlds.worlds) == [KEY]
        used = 2_000
        bounds.look()
        assert not box.runtime.closed_worlds.worlds
        bounds.close()
