"""Control over HTTP: long answers in pieces, the stream of server-sent events, its own contract."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from openapi_spec_validator import validate

from sendbox.app import SERVED
from sendbox.control import routes
from sendbox.control.operation import Control
from sendbox.scenario.shape import schema
from tests.box import KEY, WORLD, Box, boxed, turns

pytestmark = pytest.mark.asyncio


async def test_a_long_list_is_sent_in_pieces_and_is_the_same_json() -> None:
    """Long answers do not hold the loop; whoever reads them sees no difference."""
    async with boxed() as box:
        for number in range(60):
            await box.send(f"42077700{number:02}01", "420777000105")
        await box.advance()
        messages = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert len(messages) == 120
        singly = [(await box.get(f"{WORLD}/messages/{each['message_id']}")).json for each in messages]
        assert messages == singly
        journal = (await box.get(f"{WORLD}/journal")).json
        assert (len(journal["entries"]), journal["length"]) == (journal["length"], journal["length"])
        assert len((await box.get(f"{WORLD}/hook")).json["events"]) == 300


async def test_pieces_of_every_shape() -> None:
    """Empty lists, short ones, values that are none: the pieces always make the object."""
    for value in (
        {"a": list(range(51))},
        {"a": list(range(100)), "b": [], "c": None, "d": {"e": [1]}},
        {"x": 1, "a": [[1, 2]] * 120, "é": "ž"},
    ):
        expected = copy.deepcopy(value)
        assert orjson.loads(b"".join([piece async for piece in routes._pieces(value)])) == expected


async def test_the_origin_of_control_may_be_public() -> None:
    """Addresses that control gives out begin with the public URL where there is one."""
    async with boxed(public_url="https://public.example/") as box:
        assert (await box.open())["addresses"]["base_url"] == "https://public.example/v2"
        assert (await box.get("/_sandbox/openapi.json")).json["servers"] == [{"url": "https://public.example"}]


async def test_the_contract_of_control_is_valid_and_complete() -> None:
    """`/_sandbox/openapi.json` holds every operation that is served, and stands up to the validator."""
    async with boxed() as box:
        document = (await box.get("/_sandbox/openapi.json")).json
        validate(document)
        found = {
            row["operationId"]: (method.upper(), path)
            for path, rows in document["paths"].items()
            for method, row in rows.items()
        }
        expected = {name: (row.method, f"/_sandbox{row.path}") for name, row in SERVED.by_name.items()}
        assert found == {**expected, "stream": ("GET", "/_sandbox/worlds/{id}/stream")}
        inbound = document["paths"]["/_sandbox/worlds/{id}/inbound"]["post"]
        body = inbound["requestBody"]["content"]["application/json"]["schema"]
        assert body["required"] == ["channel", "from", "body"]
        assert body["properties"]["channel"] == {"type": ["string"]}
        assert [each["name"] for each in inbound["parameters"]] == ["id"]


async def test_every_operation_says_what_it_does() -> None:
    """The contract, the documentation and the clients show the docstring."""
    assert [name for name, row in SERVED.by_name.items() if not row.function.__doc__] == []


# --- the stream -------------------------------------------------------------------------------------------------------


class Stream:
    """Server-sent events as they come."""

    def __init__(self, queue: asyncio.Queue[bytes]) -> None:
        self._queue = queue

    async def next(self) -> tuple[str, Any]:
        """The next event and its data; comments are (":", text)."""
        text = (await self._queue.get()).decode()
        assert text.endswith("\n\n")
        if text.startswith(":"):
            return ":", text[1:].strip()
        fields = dict(line.split(": ", 1) for line in text.strip().split("\n"))
        return fields["event"], orjson.loads(fields["data"])


@asynccontextmanager
async def streaming(box: Box) -> AsyncIterator[Stream]:
    queue: asyncio.Queue[bytes] = asyncio.Queue()

    async def receive() -> Any:
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message.get("body"):
            queue.put_nowait(message["body"])

    scope = {
        "type": "http", "method": "GET", "path": f"{WORLD}/stream", "headers": [(b"host", b"box")], "query_string": b"",
        "scheme": "http", "root_path": "", "raw_path": b"", "http_version": "1.1", "server": ("box", 80),
        "client": ("box", 1), "state": {}, "asgi": {"version": "3.0", "spec_version": "2.3"},
    }  # fmt: skip
    task = asyncio.create_task(box.app(scope, receive, send))
    try:
        yield Stream(queue)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_the_stream_tells_each_entry_and_the_clock() -> None:
    """Entries come as they are made, the clock whenever it has moved."""
    async with boxed() as box:
        await box.open()
        async with streaming(box) as stream:
            assert await stream.next() == (":", "open")
            assert (await stream.next())[1]["now"] == "2026-03-01T09:00:00.000Z"
            await box.send("420777000105")
            event, entry = await stream.next()
            assert (event, entry["kind"], entry["n"]) == ("entry", "request", 1)
            await box.advance("1s")
            kinds = [(await stream.next())[1]["kind"] for _ in range(6)]
            assert kinds == ["transition", "delivery", "try"] * 2
            event, clock = await stream.next()
            assert (event, clock["now"], clock["mode"]) == ("clock", "2026-03-01T09:00:01.000Z", "manual")


async def test_the_stream_begins_anew_after_a_reset_and_ends_with_the_world() -> None:
    """`reset` is told, then the entries of the new epoch; a closed world has no stream."""
    async with boxed() as box:
        await box.open()
        async with streaming(box) as stream:
            await stream.next()
            await stream.next()
            await box.post(f"{WORLD}/reset")
            assert await stream.next() == ("reset", {})
            assert (await stream.next())[1]["kind"] == "reset"
            await box.delete(WORLD)
            await turns()
        answer = await box.get(f"{WORLD}/stream")
        assert (answer.status, answer.json["error"]) == (404, "no_such_world")


async def test_the_stream_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no proxy takes it for dead."""
    monkeypatch.setattr(routes, "HEARTBEAT", 0.001)
    async with boxed() as box:
        await box.open()
        async with streaming(box) as stream:
            await stream.next()
            await stream.next()
            assert await stream.next() == (":", "alive")
            assert await stream.next() == (":", "alive")


async def test_what_the_stream_is_reading_is_not_taken_apart() -> None:
    """A world that is closed while its stream shows an entry is left whole until the stream has gone."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        entries = routes._entries(Control(box.runtime, SERVED), hosted)
        assert await anext(entries) == b": open\n\n"
        hosted.world.control("x", {})
        assert (await anext(entries)).startswith(b"event: entry")
        assert hosted.readers == 1
        box.runtime.close(hosted)
        assert not hosted.still
        assert (await anext(entries)).startswith(b"event: clock")
        assert [each async for each in entries] == []
        assert hosted.readers == 0


async def test_a_stream_ends_when_nobody_listens_any_more() -> None:
    """A client that goes away takes its stream with it."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        leave = asyncio.Event()
        messages = [{"type": "http.request", "body": b""}]

        async def receive() -> Any:
            if not messages:
                await leave.wait()
                return {"type": "http.disconnect"}
            return messages.pop()

        asking = asyncio.create_task(box.call("GET", f"{WORLD}/stream", receive=receive))
        while not hosted.changed:
            await asyncio.sleep(0)
        leave.set()
        assert (await asking).body.startswith(b": open\n\nevent: clock")
        assert (hosted.changed, hosted.readers) == (set(), 0)


async def test_the_schema_is_served() -> None:
    """Editors can name its address; what is answered stays whole."""
    async with boxed() as box:
        for _ in range(2):
            answer = await box.get("/_sandbox/schema")
            assert (answer.status, answer.json) == (200, schema())


async def test_what_breaks_a_stream_is_not_swallowed() -> None:
    """An error while an answer is made is an error of the call."""

    async def broken() -> AsyncGenerator[bytes, None]:
        yield b"x"
        raise LookupError("out of paper")

    async def receive() -> Any:
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        pass

    with pytest.raises(LookupError, match="out of paper"):
        await routes.Streamed(
            broken(), media_type="text/event-stream", endless=asyncio.get_running_loop().create_future()
        )({}, receive, send)
