"""A random script, played in several ways that must come to the same."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from sendbox.fixture import SandboxServer
from sendbox.runtime.policy import HttpCall, Outcome
from tests.recorded.player import Player
from tests.recorded.receiver import Receiver


def outcome_of(ended: int | str) -> Outcome:
    """What a receiver's script says, as the fixture tells it."""
    if isinstance(ended, str):
        return Outcome(None, "closed")
    return Outcome(ended, "redirect" if 300 <= ended < 400 else None)


class Shuffled:
    """A receiver in this process whose answers land in an order that is drawn, once all of a round have come."""

    def __init__(self, script: Any, seed: int) -> None:
        self._receiver = Receiver(script)
        self._drawn = random.Random(seed)
        self._waiting: list[tuple[asyncio.Future[Outcome], Outcome]] = []
        self._task: asyncio.Task[None] | None = None
        #: how many answers were there at once, at most
        self.most = 0

    async def __call__(self, call: HttpCall) -> Outcome:
        """One webhook."""
        named = next(value for name, value in call.headers if name.lower() == "x-request-id")
        ended = self._receiver.outcome(named)
        outcome = outcome_of(ended)
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, outcome))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._land())
        return await future

    async def _land(self) -> None:
        for _ in range(10):  # all of the round have come by then
            await asyncio.sleep(0)
        while self._waiting:
            self.most = max(self.most, len(self._waiting))
            future, outcome = self._waiting.pop(self._drawn.randrange(len(self._waiting)))
            if not future.done():
                future.set_result(outcome)
            await asyncio.sleep(0)


def journal(player: Player, form: str = "plain") -> list[dict[str, Any]]:
    """All entries of a world; in the form `canonical` as the digest reads them."""
    found: list[dict[str, Any]] = []
    while True:
        after = str(found[-1]["n"]) if found else "-1"
        page = player.control("/journal", limit="1000", form=form, after=after)["entries"]
        found += page
        if not page or (form == "plain" and len(page) < 1000):  # not every entry has lines in canonical form
            return found


def landing(server: SandboxServer, script: dict[str, Any], seed: int) -> tuple[list[dict[str, Any]], str, int]:
    """The journal and the digest of a world whose answers land in an order drawn by `seed`; how many landed at once."""
    server.thread.run(_forgotten(server, script["name"]))
    player = Player(server, {**script, "receiver": "hook", "calls_back": False})
    receiver = Shuffled(script["answers"], seed)
    try:
        server.thread.run(_taken(server, player.world, receiver))
        player.play()
        return journal(player), player.control("/digest")["digest"], receiver.most
    finally:
        player.close()


async def _taken(server: SandboxServer, world: str, receiver: Shuffled) -> None:
    server.runtime.deliver_to(server.runtime.worlds[world], receiver)


async def _forgotten(server: SandboxServer, _name: str) -> None:
    """A world of this name may be opened again under the same id."""
    server.runtime.closed.clear()


def played(server: SandboxServer, script: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The journal and the digest of a world that is played."""
    player = Player(server, script)
    try:
        player.play()
        return journal(player), player.control("/digest")["digest"]
    finally:
        player.close()
        server.thread.run(_forgotten(server, script["name"]))


def ended(server: SandboxServer, player: Player) -> tuple[list[dict[str, Any]], str]:
    """Plays a world to its end: its journal in canonical form, and its digest."""
    try:
        player.play()
        return journal(player, "canonical"), player.control("/digest")["digest"]
    finally:
        player.close()
        server.thread.run(_forgotten(server, player.script["name"]))
