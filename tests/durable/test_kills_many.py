"""Processes with one database end, in order or by a kill; others go on with their worlds, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.durable.databases import Database
from tests.durable.load import CLIENTS, WORLDS, Load, Server, check_messages, check_webhooks, digests, hooked
from tests.serving import free_port
from tests.tiers import LONG

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(LONG)]
KILLS = 200
#: Kills after which other worlds are loaded; every so many kills the database starts anew, or two processes end.
TURN, RESTART, TWO = 20, 10, 4
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    upstream sandbox {{ {servers} }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header Connection "";
            proxy_read_timeout 1h; proxy_pass http://sandbox;
        }}
    }}
}}
"""


async def test_others_go_on(database: Database, tmp_path: Path) -> None:
    """At once where a process ends in order, without an error; after its lease where it is killed."""
    data = database.make()
    async with running([Server(data), Server(data)]) as servers:
        one, other = (Load(server.port, server.kill) for server in servers)
        async with one.client() as client, other.client() as passing:
            for world in ("test-0", "test-1", "test-3"):
                await one.turn(client, world)
                await other.turn(passing, world)
            polling = asyncio.create_task(passing.get("/_sandbox/worlds/test-0/journal?wait=30s&after=1000"))
            sending = asyncio.create_task(turns(other, passing, "test-0"))
            servers[0].kill(signal.SIGTERM)
            assert await servers[0].gone() == 0
            assert (await polling).status_code == 200
            await other.turn(passing, "test-0")
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        assert max(other.statuses) < 500
        await servers[0].start()
        proofs = await digests(other, tmp_path / "record.json")
        servers[1].kill()
        assert await digests(one, tmp_path / "record.json") == {world: proofs[world] for world in one.accepted}
        other.port = one.port
        await check_messages(one)
        await check_messages(other)


async def turns(load: Load, client: httpx.AsyncClient, world: str) -> None:
    """Loads a world without end."""
    while True:
        await load.turn(client, world)


@asynccontextmanager
async def proxied(servers: list[Server], folder: Path) -> AsyncIterator[int]:
    """The port of nginx in front of some servers."""
    port = free_port()
    lines = " ".join(f"server 127.0.0.1:{server.port} max_fails=0;" for server in servers)
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, servers=lines, port=port))
    process = await asyncio.create_subprocess_exec("nginx", "-p", str(folder), "-c", str(config))
    try:
        yield port
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def running(servers: list[Server]) -> AsyncIterator[list[Server]]:
    """Servers that run until the context is left."""
    for server in servers:
        await server.start()
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()
            await server.gone()


async def restart_in_turn(load: Load, servers: list[Server]) -> None:
    """Ends one server after another in order, and starts it again; no client sees an error."""
    async with load.client() as client:
        for server in servers:  # the database may have started anew just before
            while (await client.get(f"http://127.0.0.1:{server.port}/_sandbox/health")).status_code != 200:
                pass
        load.statuses.clear()
        loading = [asyncio.create_task(turns(load, client, f"test-{place}")) for place in range(WORLDS)]
        for server in servers:
            await load.turn(client, "test-0")
            server.kill(signal.SIGTERM)
            assert await server.gone() == 0
            await load.turn(client, "test-1")
            await server.start()
        for task in loading:
            task.cancel()
        ends = await asyncio.gather(*loading, return_exceptions=True)
        assert [end for end in ends if not isinstance(end, asyncio.CancelledError)] == []
    assert max(load.statuses) < 500


@pytest.mark.deep
async def test_nothing_acknowledged_is_lost(database: Database, tmp_path: Path) -> None:
    """Three processes behind a proxy; one is killed, or two at once, or the database is started anew."""
    chooser = random.Random(7)
    async with hooked(tmp_path) as (receiver, scenario, loads):
        data = database.make()
        async with running([Server(data, scenario) for _ in range(3)]) as servers, proxied(servers, tmp_path) as port:
            load = Load(port, lambda: None)
            loads.append(load)
            for number in range(KILLS):
                await _round(load, servers, database, number, chooser)
            await restart_in_turn(load, servers)
            await check_messages(load)
            proofs = await digests(load, tmp_path / "record.json")
            for server in servers:
                server.kill()
                await server.gone()
                await server.start()
            assert await digests(load, tmp_path / "record.json") == proofs
        check_webhooks(receiver, load)


async def _round(load: Load, servers: list[Server], database: Database, number: int, chooser: random.Random) -> None:
    """Loads worlds, kills at a drawn instant, and goes on until each client has had answers again."""
    victims = chooser.sample(servers, 2 if number % TWO == TWO - 1 else 1)
    restarts = number % RESTART == RESTART - 1
    killed = asyncio.Event()

    def kill() -> None:
        killed.set()
        for server in [] if restarts else victims:
            server.kill()

    async def keep_on(client: httpx.AsyncClient, world: str) -> None:
        answered_after = False
        while not answered_after:
            after = killed.is_set()
            with contextlib.suppress(httpx.TransportError):
                await load.turn(client, world)
                answered_after = after

    load.kill = kill
    load.draw(chooser)
    worlds = [f"test-{number // TURN * WORLDS + place}" for place in range(WORLDS)]
    async with load.client() as client:
        clients = [asyncio.create_task(keep_on(client, world)) for world in worlds for _ in range(CLIENTS)]
        await killed.wait()
        if restarts:
            await asyncio.to_thread(database.stop)
            await asyncio.to_thread(database.start)
        else:
            for server in victims:
                await server.gone()
                await server.start()
        await asyncio.gather(*clients)
