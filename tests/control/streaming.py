"""A reader of server-sent events, for tests of the streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import orjson

from sendbox.server.wire import AsgiCall
from tests import answers
from tests.box import WORLD, Box

ONE: Final = f"{WORLD}/stream"
SEVERAL: Final = "/_sandbox/stream"


class Event(NamedTuple):
    """An event: comments have the name ":" and their text as data."""

    name: str
    data: Any
    id: str | None = None


class Stream:
    """Server-sent events as they come."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.ids: list[str] = []
        self.task: asyncio.Task[None]

    async def next(self) -> Event:
        """The next event."""
        async with asyncio.timeout(60):  # a failure, and not a test that never ends
            text = (await self.queue.get()).decode()
        assert text.endswith("\n\n")
        if text.startswith(":"):
            return Event(":", text[1:].strip())
        fields = dict(line.split(": ", 1) for line in text.strip().split("\n"))
        if "id" in fields:
            self.ids.append(fields["id"])
        data = orjson.loads(fields["data"])
        several = "world" in data or fields["event"] == "worlds"
        answers.event("/stream" if several else "/worlds/{id}/stream", fields["event"], data)
        return Event(fields["event"], data, fields.get("id"))

    async def until(self, name: str) -> list[Event]:
        """The events up to the next one of this name."""
        events = [await self.next()]
        while events[-1].name != name:
            events.append(await self.next())
        return events

    async def told(self, count: int) -> list[tuple[str, Any]]:
        """So many events, without their ids."""
        return [(await self.next())[:2] for _ in range(count)]


def asked(target: str, last_id: str | None = None) -> AsgiCall:
    """A call for a stream."""
    path, _, query = target.partition("?")
    resumed = [] if last_id is None else [(b"last-event-id", last_id.encode())]
    return AsgiCall("GET", "http", ("127.0.0.1", 80), path, query, [(b"host", b"box:7357"), *resumed])


@asynccontextmanager
async def streaming(box: Box, target: str = ONE, last_id: str | None = None) -> AsyncIterator[Stream]:
    """A stream whose first comment was read."""
    stream = Stream()

    async def receive() -> Any:
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message.get("body"):
            stream.queue.put_nowait(message["body"])

    stream.task = asyncio.create_task(box.app(asked(target, last_id).scope, receive, send))
    try:
        assert await stream.next() == (":", "open\nretry: 1000", None)
        yield stream
    finally:
        stream.task.cancel()
        await asyncio.gather(stream.task, return_exceptions=True)


def several(*worlds: str, **given: Any) -> str:
    """The address of a stream of these worlds."""
    names = quote(",".join(quote(world, safe="") for world in worlds), safe="")
    rest = "".join(f"&{name}={quote(str(value), safe='')}" for name, value in given.items())
    return f"{SEVERAL}?worlds={names}{rest}"
