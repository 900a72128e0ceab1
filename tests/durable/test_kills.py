"""A loaded server is killed at drawn instants, and nothing that it acknowledged is lost."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from sendbox.cli.replay import replay
from tests.receivers import Events, Receiver, receiving
from tests.serving import free_port
from tests.tiers import DEEP, LONG

KILLS = 500 if DEEP else 20
#: Worlds that are loaded at a time, clients of each, and kills after which other worlds are loaded.
WORLDS, CLIENTS, TURN = 3, 2, 20
#: The clocks of the worlds, in turn.
MODES = ("manual", "auto", "real")


class Server:
    """A program with a store, killed again and again."""

    def __init__(self, file: Path, scenario: Path) -> None:
        self.port = free_port()
        self._arguments = ("serve", "--port", str(self.port), "--scenario", str(scenario), "--data", str(file))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it, and waits until it listens."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sendbox", *self._arguments, "--quiet", stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert await self._process.stdout.readline()

    def kill(self) -> None:
        """Kills it where it stands."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def gone(self) -> None:
        """Waits until it has ended."""
        assert self._process is not None
        await self._process.wait()


class Load:
    """Clients that send and move clocks, and what they were told."""

    def __init__(self, server: Server) -> None:
        self.server = server
        #: ids of messages that were acknowledged, by world
        self.accepted: dict[str, list[str]] = defaultdict(list)
        #: answers, or webhooks, until the server is killed
        self.left = {"answer": 0, "webhook": 0}
        self._sent = 0

    def draw(self, chooser: random.Random) -> None:
        """Draws when the server is killed."""
        self.left = {"answer": 0, "webhook": 0, chooser.choice(["answer", "webhook"]): chooser.randint(1, 20)}

    def happened(self, kind: str) -> None:
        """Kills the server where it is time."""
        self.left[kind] -= 1
        if self.left[kind] == 0:
            self.server.kill()

    async def run(self, first: int) -> None:
        """Loads worlds until the server is killed."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.server.port}", timeout=60) as client:
            worlds = [f"test-{first + number}" for number in range(WORLDS)]
            await asyncio.gather(*(self._client(client, world) for world in worlds for _ in range(CLIENTS)))
            await self.server.gone()

    async def _client(self, client: httpx.AsyncClient, world: str) -> None:
        mode = MODES[int(world.removeprefix("test-")) % len(MODES)]
        try:
            await client.put(f"/_sandbox/worlds/{world}", json={"clock": {"mode": mode}})
            while True:
                for _ in range(3):
                    await self._send(client, world)
                await client.post(f"/_sandbox/worlds/{world}/clock/advance", json={"by": "10s"})
                self.happened("answer")
        except httpx.TransportError:
            pass

    async def _send(self, client: httpx.AsyncClient, world: str) -> None:
        self._sent += 1
        to = [{"phone_number": f"420777{self._sent:06}"}]
        answer = await client.post("/v2/message", json={"body": "x" * 100, "to": to}, headers={"x-api-key": world})
        self.accepted[world] += [message["message_id"] for message in answer.json()["accepted"]]
        self.happened("answer")


async def control(client: httpx.AsyncClient, method: str, path: str, **json: Any) -> Any:
    """The answer of control about a world."""
    answer = await client.request(method, f"/_sandbox/worlds/{path}", json=json or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def check_messages(load: Load) -> None:
    """Each message that was acknowledged is there."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{load.server.port}", timeout=120) as client:
        for world, accepted in load.accepted.items():
            messages = (await control(client, "GET", f"{world}/messages"))["messages"]
            assert {message["message_id"] for message in messages} >= set(accepted)


async def digests(load: Load, file: Path) -> dict[str, str]:
    """The digests of all worlds once nothing is due in them; their records make equal ones."""
    proofs = {}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{load.server.port}", timeout=120) as client:
        for world in load.accepted:
            while not (await control(client, "POST", f"{world}/clock/advance", by="1h"))["idle"]:
                pass
            proofs[world] = (await control(client, "GET", f"{world}/digest"))["digest"]
            file.write_text((await client.get(f"/_sandbox/worlds/{world}/record")).text, "utf-8")
            lines, code = await asyncio.to_thread(replay, file)
            assert (code, proofs[world] in lines[0]) == (0, True), lines
    return proofs


def check_webhooks(receiver: Receiver, load: Load) -> None:
    """What came again is the same (A91), nothing came in two deliveries, nothing acknowledged is missing."""
    bodies: dict[str, bytes] = {}
    carried: dict[tuple[str, str], str] = {}
    for events, body, headers in zip(receiver.calls, receiver.bodies, receiver.headers, strict=True):
        delivery = headers["x-request-id"]
        assert bodies.setdefault(delivery, body) == body
        for event in events:
            assert carried.setdefault((event["message_id"], event["result"]), delivery) == delivery
    ended = {message for message, result in carried if result == "delivered"}
    assert ended >= {message for accepted in load.accepted.values() for message in accepted}


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
        load = Load(server)
        for number in range(KILLS):
            await server.start()
            load.draw(chooser)
            await load.run(number // TURN * WORLDS)
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
