"""The load of worlds whose servers are killed, and what must be there afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx

from sendbox.cli.replay import replay
from tests.receivers import Events, Receiver, receiving
from tests.serving import free_port

#: Worlds that are loaded at a time, and clients of each.
WORLDS, CLIENTS = 3, 2
#: The clocks of the worlds, in turn.
MODES = ("manual", "auto", "real")


class Server:
    """A program with a store, killed again and again."""

    def __init__(self, data: object, scenario: object = "default", *more: str) -> None:
        self.port = free_port()
        self.data = data
        given = ("--port", str(self.port), "--scenario", str(scenario), "--data", str(data))
        self._arguments = ("serve", *given, "--quiet", *more)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it, and waits until it listens."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sendbox", *self._arguments, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert await self._process.stdout.readline()

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        """Kills it where it stands, or asks it to end."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(by)

    async def gone(self) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        return await self._process.wait()


class Load:
    """Clients that send and move clocks, and what they were told."""

    def __init__(self, port: int, kill: Callable[[], None]) -> None:
        self.port = port
        self.kill = kill
        #: ids of messages that were acknowledged, by world
        self.accepted: dict[str, list[str]] = defaultdict(list)
        self.opened: set[str] = set()
        #: the statuses of answers
        self.statuses: Counter[int] = Counter()
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
            self.kill()

    async def run(self, first: int) -> None:
        """Loads worlds until the server is killed."""
        async with self.client() as client:
            worlds = [f"test-{first + number}" for number in range(WORLDS)]
            await asyncio.gather(*(self._until_killed(client, world) for world in worlds for _ in range(CLIENTS)))

    def client(self) -> httpx.AsyncClient:
        """A client of the server."""
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=120)

    async def _until_killed(self, client: httpx.AsyncClient, world: str) -> None:
        with contextlib.suppress(httpx.TransportError):
            while True:
                await self.turn(client, world)

    async def turn(self, client: httpx.AsyncClient, world: str) -> None:
        """Sends messages in a world, and moves its clock."""
        mode = MODES[int(world.removeprefix("test-")) % len(MODES)]
        if world not in self.opened:
            await client.put(f"/_sandbox/worlds/{world}", json={"clock": {"mode": mode}})
            self.opened.add(world)
        for _ in range(3):
            await self._send(client, world)
        answer = await client.post(f"/_sandbox/worlds/{world}/clock/advance", json={"by": "10s"})
        self.statuses[answer.status_code] += 1
        self.happened("answer")

    async def _send(self, client: httpx.AsyncClient, world: str) -> None:
        self._sent += 1
        to = [{"phone_number": f"420777{self._sent:06}"}]
        answer = await client.post("/v2/message", json={"body": "x" * 100, "to": to}, headers={"x-api-key": world})
        self.statuses[answer.status_code] += 1
        if answer.status_code == 200:
            self.accepted[world] += [message["message_id"] for message in answer.json()["accepted"]]
        self.happened("answer")


async def control(client: httpx.AsyncClient, method: str, path: str, **json: Any) -> Any:
    """The answer of control about a world."""
    answer = await client.request(method, f"/_sandbox/worlds/{path}", json=json or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def check_messages(load: Load) -> None:
    """Each message that was acknowledged is there."""
    async with load.client() as client:
        for world, accepted in load.accepted.items():
            messages = (await control(client, "GET", f"{world}/messages"))["messages"]
            assert {message["message_id"] for message in messages} >= set(accepted)


async def digests(load: Load, file: Path) -> dict[str, str]:
    """The digests of all worlds once nothing is due in them; their records make equal ones."""
    proofs = {}
    async with load.client() as client:
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


@contextlib.asynccontextmanager
async def hooked(folder: Path) -> AsyncIterator[tuple[Receiver, Path, list[Load]]]:
    """A receiver, a scenario whose webhooks go there, and the loads that are told of each webhook."""
    loads: list[Load] = []

    async def react(_events: Events) -> int:
        for load in loads:
            load.happened("webhook")
        return 200

    async with receiving(react) as receiver:
        scenario = folder / "hooked.yaml"
        scenario.write_text(f"sendbox: 1\naccount: {{default_callback_url: {receiver.url}}}\n")
        yield receiver, scenario, loads
