"""A recorder as `sendbox record` runs it, on a free port, and calls of plain sockets through it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sendbox.cli.record import record
from tests.commands.sandbox import options
from tests.webhooks.receiver import Answer as ReceiverAnswer
from tests.webhooks.receiver import Receiver, receiving


@dataclass
class Recording:
    """A recorder; its `lines` come from a thread."""

    file: Path
    lines: list[str] = field(default_factory=list)
    port: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def entries(self) -> list[dict[str, Any]]:
        """The calls that are in the file."""
        found: list[dict[str, Any]] = json.loads(self.file.read_bytes())["log"]["entries"]
        return found

    async def line(self, text: str) -> str:
        """The first line with a text, as soon as it is printed."""
        while not (found := [line for line in self.lines if text in line]):
            self.changed.clear()
            await self.changed.wait()
        return found[0]


@asynccontextmanager
async def recording(
    to: str, file: Path, *, more: dict[str, Any] | None = None, **given: Any
) -> AsyncIterator[Recording]:
    """A recorder in front of an origin; once the context has ended, everything is in the file.

    `more` are arguments of `record`, the others options of a server.
    """
    recorder = Recording(file)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def say(line: str) -> None:
        recorder.lines.append(line)
        loop.call_soon_threadsafe(recorder.changed.set)

    task = asyncio.create_task(record(options(**given), to, file, say, stop, **(more or {})))
    begun = asyncio.create_task(recorder.line("calls to "))
    await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if not task.done():
            match = re.search(r":(\d+) go to ", begun.result())
            assert match is not None
            recorder.port = int(match[1])
            yield recorder
    finally:
        begun.cancel()
        stop.set()
        await task


@asynccontextmanager
async def in_front_of(answer: ReceiverAnswer, file: Path, **more: Any) -> AsyncIterator[tuple[Receiver, Recording]]:
    """A service of plain sockets, and a recorder in front of it."""
    async with (
        receiving(answer) as service,
        recording(f"http://127.0.0.1:{service.port}", file, more=more) as recorder,
    ):
        yield service, recorder


async def exchanged(port: int, raw: bytes) -> bytes:
    """The bytes that come back for a request on a connection of its own; all until its end. Raises ConnectionError."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(raw)
        return await reader.read()
    finally:
        writer.transport.abort()


def request(line: str, body: bytes = b"", **headers: str) -> bytes:
    """A request whose answer ends the connection."""
    named = {"host": "api.service.example", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body:
        named["content-length"] = str(len(body))
    lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items()), "connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
