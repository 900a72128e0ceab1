"""A sandbox in this process, called through its application without a socket, for tests of runtime, app and control."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson
import pytest

from sendbox import app as served  # `SERVED` is looked up in it: a proof switches a part off
from sendbox.assembly import make_app
from sendbox.contract.validators import Contract
from sendbox.engine.durations import instant, iso
from sendbox.runtime.slot import Slice
from sendbox.runtime.store.store import Store
from sendbox.runtime.wall import monotonic_ns
from sendbox.server.application import Application
from sendbox.server.wire import AsgiCall
from sendbox.settings import Settings
from tests.scenarios import load

KEY: Final = "test-1"
WORLD: Final = f"/_sandbox/worlds/{KEY}"
#: 2026-03-01T09:00:00Z, a Sunday.
START: Final = 1_772_355_600_000
ORIGIN: Final = "http://box:7357"
#: One contract for all: it takes a while to load, and nothing changes it.
CONTRACT: Final = Contract()


class Answer:
    """What the application answered."""

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = {name.decode().lower(): value.decode("latin-1") for name, value in headers}
        self.body = body

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def __repr__(self) -> str:
        return f"{self.status} {self.body[:500]!r}"


class Box:
    """A runtime and its application. Calls name a path; a method of the kind `get`, `post` … answers an `Answer`."""

    def __init__(self, app: Application) -> None:
        self.runtime = runtime = app.runtime
        self.app: Any = app
        self.log: list[tuple[str, str]] = []
        runtime.on_log = lambda line: self.log.append((line.world, line.message))

    async def call(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        *,
        receive: Callable[[], Any] | None = None,
        scheme: str = "http",
        keep: bool = True,
    ) -> Answer:
        """One HTTP call. A `host` header is added unless `headers` have one, or say "" for none, as only HTTP/1.0 may.

        Without `keep` the body of the answer is dropped as it comes: to put a large one together takes its time.
        """
        path, _, query = target.partition("?")
        given = {"host": "box:7357", **(headers or {})}
        sent = [(name.encode(), value.encode()) for name, value in given.items() if value or name != "host"]
        asked = AsgiCall(method, scheme, ("127.0.0.1", 80), path, query, sent, body)
        asked.scope["http_version"] = "1.1" if given["host"] else "1.0"
        coming = [await asked.receive()]

        async def feed() -> Any:
            return coming.pop() if coming else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            await asked.send(message if keep else {**message, "body": b""})

        await self.app(asked.scope, receive or feed, send)
        return Answer(asked.status or 0, asked.headers, asked.body)

    async def get(self, target: str, **headers: str) -> Answer:
        return await self.call("GET", target, headers=_headers(headers))

    async def post(self, target: str, json: Any = None, **headers: str) -> Answer:
        return await self.call("POST", target, _json(json), _headers(headers))

    async def put(self, target: str, json: Any = None) -> Answer:
        return await self.call("PUT", target, _json(json))

    async def patch(self, target: str, json: Any = None) -> Answer:
        return await self.call("PATCH", target, _json(json))

    async def delete(self, target: str) -> Answer:
        return await self.call("DELETE", target)

    async def send(self, *numbers: str, key: str = KEY, body: str = "Hello", **fields: Any) -> list[str]:
        """Sends one message and answers the ids it got."""
        message = {"body": body, "to": [{"phone_number": number} for number in numbers or ("420777000101",)], **fields}
        answer = await self.post("/v2/message", message, x_api_key=key)
        assert answer.status == 200, answer
        return [each["message_id"] for each in answer.json["accepted"]]

    async def advance(self, by: Any = "1m", key: str = KEY, **how: Any) -> Any:
        """Moves a world (`by` unless `how` says otherwise) and answers what control answered."""
        answer = await self.post(f"/_sandbox/worlds/{key}/clock/advance", how or {"by": by})
        assert answer.status == 200, answer
        return answer.json

    async def results(self, message_id: str, key: str = KEY) -> list[str]:
        """The results a message went through."""
        shown = (await self.get(f"/_sandbox/worlds/{key}/messages/{message_id}")).json
        return [entry["result"] for entry in shown["timeline"]]

    async def events(self, key: str = KEY) -> list[Any]:
        """What the built-in receiver got."""
        found: list[Any] = (await self.get(f"/_sandbox/worlds/{key}/hook")).json["events"]
        return found

    async def final(self, *numbers: str) -> str:
        """The last result of a message that is sent, and given a minute."""
        (message_id,) = await self.send(*numbers)
        await self.advance()
        return (await self.results(message_id))[-1]

    async def clock(self) -> dict[str, Any]:
        """The clock of the world, as control shows it."""
        shown: dict[str, Any] = (await self.get(f"{WORLD}/clock")).json
        return shown

    async def only_sending(self) -> None:
        """From now on every message stays at `sending`, so that it makes one event."""
        assert (await self.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})).status == 201

    async def tries(self) -> list[list[tuple[float, int | None, str | None]]]:
        """Seconds from the start, status and error of each try of each delivery."""
        found = (await self.get(f"{WORLD}/deliveries")).json["deliveries"]
        return [
            [((instant(each["at"]) - START) / 1000, each["status"], each["error"]) for each in delivery["tries"]]
            for delivery in found
        ]

    async def open(self, world_id: str = KEY, **settings: Any) -> Any:
        """Opens a world through control."""
        answer = await self.post("/_sandbox/worlds", {"id": world_id, **settings})
        assert answer.status == 201, answer
        return answer.json


class Reading:
    """A monotonic clock of the test."""

    def __init__(self) -> None:
        self.ns = 5_000_000_000

    def __call__(self) -> int:
        return self.ns

    def passes(self, seconds: float) -> None:
        self.ns += round(seconds * 1_000_000_000)


def at(seconds: float) -> str:
    """The instant so many seconds after `START`, as control shows it."""
    return iso(START + round(seconds * 1000))


@asynccontextmanager
async def boxed(
    scenario: Any = "default",
    *,
    reading: Callable[[], int] | None = None,
    store: Store | None = None,
    **settings: Any,
) -> AsyncIterator[Box]:
    """A sandbox until the context is left; manual clocks from `START` unless `settings` say otherwise.

    What goes out is held against the contract, and nothing may break it.
    """
    defaults = {"mode": "manual", "start": START, "check_answers": True, "public_url": None}
    given = Settings(**{**defaults, **settings})
    app = make_app(given, load(scenario), CONTRACT, served.SERVED, reading=reading or monotonic_ns, store=store)
    runtime = app.runtime
    box = Box(app)
    try:
        yield box
        assert runtime.violations == []
    finally:
        await runtime.aclose()


def end_idle(box: Box) -> None:
    """Ends the worlds that are not used any more, as the server does now and then."""
    assert box.runtime.idle is not None
    for _ in box.runtime.idle.look():
        pass


async def count_calls(act: Callable[[], Awaitable[object]]) -> int:
    """How many functions are called meanwhile. Work in slices pauses nowhere: a busy machine would add its pauses."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Slice, "over", False)
        sys.setprofile(note)
        try:
            await act()
        finally:
            sys.setprofile(None)
    return count


async def turns(count: int = 5) -> None:
    """Lets the loop turn a few times."""
    for _ in range(count):
        await asyncio.sleep(0)


def _json(value: Any) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else orjson.dumps(value)


def _headers(given: dict[str, str]) -> dict[str, str]:
    return {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in given.items()}
