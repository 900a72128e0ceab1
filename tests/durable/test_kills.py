"""A loaded server is killed at drawn instants, and nothing that it acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.durable.load import WORLDS, Load, Server, check_messages, check_webhooks, digests, hooked
from tests.tiers import DEEP, LONG

KILLS = 500 if DEEP else 8
#: Kills after which other worlds are loaded.
TURN = 20


@pytest.mark.asyncio
@pytest.mark.timeout(LONG)
async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """Whenever the server is killed: between two answers, in the middle of a move, while a receiver answers."""
    chooser = random.Random(7)
    async with hooked(tmp_path) as (receiver, scenario, loads):
        server = Server(tmp_path / "a.db", scenario)
        load = Load(server.port, server.kill)
        loads.append(load)
        for number in range(KILLS):
            await server.start()
            load.draw(chooser)
            await load.run(number // TURN * WORLDS)
            await server.gone()
        await server.start()
        await check_messages(load)
        proofs = await digests(load, tmp_path / "record.json")
        server.kill()
        await server.gone()
        await server.start()
        assert await digests(load, tmp_path / "record.json") == proofs
        server.kill()
        await server.gone()
        check_webhooks(receiver, load)
