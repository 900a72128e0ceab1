"""A receiver of webhooks that answers with whatever bytes a test wants, and keeps the bytes it got."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET
from typing import Final

#: What a receiver does with the connection once a request is read; whether it reads another is what it returns.
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]]

OK: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass(slots=True)
class Receiver:
    """`requests` are raw: head and body as they came. `connections` counts those accepted."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


def answering(raw: bytes, *, keep: bool = True) -> Answer:
    """Answers with these bytes; closes the connection unless it is to be kept."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(raw)
        await writer.drain()
        return keep

    return answer


def hanging(raw: bytes = b"") -> Answer:
    """Answers with these bytes, and then nothing more until the client goes away."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(raw)
        await reader.read()
        return False

    return answer


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Closes the connection with a reset."""
    # Lingering for no time makes the kernel send RST in place of FIN.
    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    return False


async def trickling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Answers in small pieces that never end."""
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    try:
        while not writer.is_closing():
            writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        pass
    return False


@asynccontextmanager
async def receiving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver on a free port of 127.0.0.1, on the running loop."""
    receiver = Receiver()
    writers: set[asyncio.StreamWriter] = set()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.connections += 1
        try:
            while raw := await _request(reader):
                receiver.requests.append(raw)
                if not await answer(reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


async def _request(reader: asyncio.StreamReader) -> bytes:
    """The next request as it came, empty at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    return head + await reader.readexactly(int(header(head, "Content-Length") or 0))


def header(raw: bytes, name: str) -> str | None:
    """The value of a header of a raw request, None where it has none."""
    for line in raw.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        key, _, value = line.decode().partition(": ")
        if key.lower() == name.lower():
            return value
    return None
