"""A trivial receiver of webhooks: answers 200, counts, and keeps bodies in a file, if one is named.

`python -m benchmarks.receiver [FILE]` prints its address. `GET /` answers the counts, `DELETE /` begins anew.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import cast

import httptools
import uvloop

#: At most so many bytes of bodies are kept.
KEPT = 64 * 1024 * 1024
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


class Counts:
    """What came, of all connections."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self.bodies: list[bytes] = []
        self.posts = self.events = self.size = 0

    def take(self, body: bytes) -> None:
        """One POST. Its events are counted later, so that nothing is parsed here."""
        self.posts += 1
        self.size += len(body)
        if self.size <= KEPT:
            self.bodies.append(body)

    def answer(self) -> bytes:
        """The counts as JSON; what was kept is written now, when no client waits for its answer."""
        self.events = sum(len(json.loads(body)) for body in self.bodies)
        if self.path is not None:
            Path(self.path).write_bytes(b"\n".join(self.bodies))
        return json.dumps({"posts": len(self.bodies), "events": self.events}).encode()


class Taking(asyncio.Protocol):
    """One connection."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpRequestParser(self)
        self.body = b""

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self.body += body

    def on_message_complete(self) -> None:
        """A whole request."""
        method, body, self.body = self.parser.get_method(), self.body, b""
        answer = OK
        if method == b"POST":
            self.counts.take(body)
        elif method == b"DELETE":
            self.counts.clear()
        else:
            text = self.counts.answer()
            answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text)
        self.transport.write(answer)


async def serve(path: str | None) -> None:
    """Serves on a free port until the process ends."""
    counts = Counts(path)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Taking(counts), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1] if len(sys.argv) > 1 else None))
