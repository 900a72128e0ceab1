"""The same script over a socket: control and all calls go to the port of a server of this process."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
import pytest

from sendbox.fixture import SandboxServer
from sendbox.fixture.opening import world_id
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.server.wire import Line
from tests.recorded.box import ORIGIN
from tests.recorded.messages import Step
from tests.recorded.names import Names
from tests.recorded.player import Broken, Player
from tests.recorded.receiver import CALLS, Receiver
from tests.replaying.ways import outcome_of

#: Real seconds a client waits for an answer that comes, and for one that does not.
PATIENT: Final = 60.0
IMPATIENT: Final = 0.3
#: Milliseconds that a client waits for an answer in process; a fault that takes longer is its timeout.
_READ: Final = 5_000


class OverHttp(Player):
    """A player without a handle of the fixture.

    The world has the id that it has in process: a request that was refused is in the digest as it came, and may quote
    names of the world that are made of its id.
    `inside` has the answers of the same script played in process: where a client gave up there, it does so here soon.
    """

    def __init__(self, server: SandboxServer, script: dict[str, Any], inside: list[dict[str, Any]]) -> None:
        self.script = {**script, "receiver": "hook"} if script["receiver"] == "app" else script
        self._inside = inside
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=PATIENT)
        pulled = {"deliveries": "pull"} if script["receiver"] == "pull" else {}
        given = {"id": world_id(script["name"]), "salt": script["name"], **pulled, **script["open"]}
        opened = self.client.post("/_sandbox/worlds", json=given)
        assert opened.status_code in (200, 201), opened.text
        self.world = opened.json()["id"]
        self.names = Names(self.world, f"{ORIGIN}/_sandbox/worlds/{self.world}/hook")
        self.receiver = Receiver(script["answers"])
        self.answers: list[dict[str, Any]] = []
        self.calls: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._taking = script["receiver"] == "app"
        if self._taking:
            taking = _Taking(self, calls_back=script["calls_back"])
            server.thread.run(_taken(server, self.world, taking))

    def close(self) -> None:
        """The world is over."""
        self.client.delete(f"/_sandbox/worlds/{self.world}")
        self.client.close()

    def step(self, step: Step) -> dict[str, Any]:
        """One step, with a client that waits as long as is of use."""
        raised = self._inside[len(self.answers)].get("raised", "")
        self.client.timeout = httpx.Timeout(IMPATIENT if raised.startswith("ReadTimeout") else PATIENT)
        return super().step(step)

    def _advance(self, how: dict[str, Any]) -> dict[str, Any]:
        """As a handle of the fixture does it: names in the answer are not learnt where an application receives."""
        if not self._taking or len(how) != 1:
            return super()._advance(how)
        answer = self.client.post(f"/_sandbox/worlds/{self.world}/clock/advance", json=how)
        if answer.status_code >= 500:
            raise Broken(f"advance {how} answered {answer.status_code}: {answer.text}")
        return {"did": f"advance {how}", "status": answer.status_code, "body": answer.json()}


class _Taking:
    """The receiver of a world, on the loop of the server; what it calls back goes over the socket as well."""

    def __init__(self, player: OverHttp, *, calls_back: bool) -> None:
        self._player = player
        self._calls_left = CALLS if calls_back else 0

    async def __call__(self, call: HttpCall) -> Outcome:
        named = next((value for name, value in call.headers if name.lower() == "x-request-id"), call.url)
        if self._calls_left and b'"type":"incoming"' in call.body:
            self._calls_left -= 1
            await asyncio.to_thread(self._player._called_back)
        return outcome_of(self._player.receiver.outcome(named))


async def _taken(server: SandboxServer, world: str, taking: _Taking) -> None:
    server.runtime.deliver_to(server.runtime.worlds[world], taking)


@contextmanager
def hurried() -> Iterator[None]:
    """Faults that a client waits for take no time over a socket either; those that outlast it still do."""
    wait = Line.wait

    async def shortly(line: Line, milliseconds: int | None, ended: Any, receive: Any) -> bool:
        return await wait(line, milliseconds if milliseconds is None or milliseconds > _READ else 0, ended, receive)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "wait", shortly)
        yield
