"""A week of a company: many jobs at a time, each with worlds of its own; nothing of them is left at the end."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from typing import Any, Final

import httpx
import pytest

from tests.box import Box, Reading, boxed, end_idle
from tests.runtime.test_ending import swept
from tests.tiers import examples

#: Jobs that run side by side, and the worlds that they open one after the other in the week.
JOBS: Final = 50
WORLDS: Final = examples(2, 100)
HOUR: Final = 3_600.0
SCENARIOS: Final = ("default", "otp-fallback", "flaky-api", "receiver-down", "replies-and-clicks", "duplicate-storm")
#: The most threads of the loop's executor.
EXECUTOR: Final = min(32, (os.cpu_count() or 1) + 4)
#: One world in so many is left open by its job, as by one that was killed.
LEFT: Final = 5


async def job(client: httpx.AsyncClient, box: Box, number: int, seen: list[weakref.ref[Any]]) -> None:
    """A job of a pipeline: it opens worlds, uses them, looks at them, and closes them, mostly."""
    for turn in range(WORLDS):
        key = f"test-job{number}-{turn}"
        world = f"/_sandbox/worlds/{key}"
        clock = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
        scenario = SCENARIOS[(number + turn) % len(SCENARIOS)]
        opened = await client.put(world, json={"scenario": scenario, "clock": clock})
        assert opened.status_code == 201
        seen.append(weakref.ref(box.runtime.worlds[key].world))
        to = [{"phone_number": f"420777{turn % 100:02}{number:02}{fate:02}"} for fate in (1, 2, 7)]
        for _ in range(2):
            await client.post("/v2/message", json={"to": to, "body": f"{key}"}, headers={"x-api-key": key})
        await client.put(f"{world}/checkpoints/before")
        assert (await client.post(f"{world}/clock/advance", json={"until": "idle"})).status_code == 200
        numbers = {message["phone"] for message in (await client.get(f"{world}/messages")).json()["messages"]}
        assert numbers <= {each["phone_number"] for each in to}
        assert (await client.get(f"{world}?then=0")).status_code == 200
        assert (await client.get(f"{world}/report")).status_code == 200
        if turn % 3 == 0:
            await client.post(f"{world}/checkpoints/before")
        if turn % LEFT:
            await client.delete(world)


def handles() -> int:
    """Files and sockets that are open."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.mark.asyncio
@pytest.mark.deep
async def test_a_week_of_a_company() -> None:
    """Worlds, tasks, threads, files and remembered names: none of any kind grows with the worlds that were."""
    reading = Reading()
    seen: list[weakref.ref[Any]] = []
    async with boxed(reading=reading, world_ttl=HOUR, keep_closed=3) as box:
        transport = httpx.ASGITransport(app=box.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://box", timeout=600) as client:
            await client.get("/_sandbox/worlds")
            await job(client, box, 99, [])  # what is loaded once is loaded
            files, tasks, threads = handles(), len(asyncio.all_tasks()), threading.active_count()
            await asyncio.gather(*(job(client, box, number, seen) for number in range(JOBS)))
        left = len(box.runtime.worlds)
        assert left == sum(1 for turn in range(WORLDS) if turn % LEFT == 0) * (JOBS + 1)
        reading.passes(HOUR + 1)
        end_idle(box)
        await swept(box)
        gc.collect()
        alive = [name for name in map(_named, seen) if name is not None]
        leaks = {
            "open worlds": len(box.runtime.worlds),
            "worlds in memory": max(0, len(alive) - 3),  # those that are kept to be read
            "tags": max(0, len(box.runtime._tags) - 3),
            "places in the past": max(0, len(box.runtime.replicas) - 3),
            "closed names": max(0, len(box.runtime.closed) - 10_000),
            "tasks": max(0, len(asyncio.all_tasks()) - tasks - 1),
            "threads": max(0, threading.active_count() - threads - EXECUTOR),
            "files": max(0, handles() - files - 2),
        }
        assert {name: count for name, count in leaks.items() if count} == {}
        assert len(seen) == JOBS * WORLDS


def _named(world: weakref.ref[Any]) -> str | None:
    there = world()
    return None if there is None else str(there.id)
