"""A loaded server is killed at drawn instants, and nothing that it acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.durable.load import WORLDS, Load, Server, check_messages, check_webhooks, digests
from tests.receivers import Events, receiving
from tests.tiers import DEEP, LONG

KILLS = 500 if DEEP else 8
#: Kills after which other worlds are loaded.
TURN = 20


@pytest.mark.asyncio
@pytest.mark.timeout(LONG)
async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """Whenever the server is killed: between two answers, in the middle of a move, while a receiver answers."""
    chooser = random.Random(7)
    load: Load | None = None

    async def react(_events: Events) -> int:
        if load is not None:
            load.happened("webhook")
        return 200

    async with receiving(react) as receiver:
        scenario = tmp_path / "hooked.yaml"
        scenario.write_text(f"sendbox: 1\naccount: {{default_callback_url: {receiver.url}}}\n")
        server = Server(tmp_path / "a.db", scenario)
        load = Load(server.port, server.kill)
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
