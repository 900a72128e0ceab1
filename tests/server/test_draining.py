"""The stop of a server: nothing more is taken, calls under way are answered, and nothing waits any longer."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import orjson
import pytest

from sendbox.cli.log import Log
from sendbox.cli.serve import serve
from sendbox.server.listener import HttpServer
from sendbox.server.tls import self_signed
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.commands.sandbox import options

pytestmark = pytest.mark.asyncio

#: Seconds of grace that no test needs.
GRACE = 60.0
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[..., Awaitable[Connection]]


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Box, HttpServer, Connect]]:
    """A box on a port; what connects to it sends bytes at once."""
    writers = []
    async with boxed() as box:
        server = HttpServer(box.app)
        port = await server.start()

        async def connect(data: bytes = b"") -> Connection:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writers.append(writer)
            writer.write(data)
            await writer.drain()
            return reader, writer

        try:
            yield box, server, connect
        finally:
            await server.stop()
            for writer in writers:
                writer.close()


def call(method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: box\r\nx-api-key: {KEY}\r\ncontent-type: application/json\r\n"
    return head.encode() + b"content-length: %d\r\n\r\n%b" % (len(body), body)


async def until(holds: Callable[[], object]) -> None:
    """Waits until something holds."""
    while not holds():
        await turns(1)


SEND = orjson.dumps({"to": [{"phone_number": "420777000101"}], "body": "Hello"})


async def test_nothing_more_is_taken() -> None:
    """An idle connection ends at once, and a new one is refused."""
    async with served() as (box, server, connect):
        reader, _ = await connect()
        await until(lambda: box.runtime.counts.connections)
        assert await server.drain(GRACE, 0) == 0
        assert await reader.read() == b""
        with pytest.raises(OSError):  # noqa: PT011  # each system has its own
            await connect()


async def test_the_next_request_of_a_client_is_answered() -> None:
    """On a connection that is idle when the server stops: the answer says that it is the last one."""
    async with served() as (box, server, connect):
        reader, writer = await connect()
        await until(lambda: box.runtime.counts.connections)
        box.runtime.leave()
        draining = asyncio.create_task(server.drain(GRACE, GRACE))
        await turns(50)
        assert not draining.done()
        writer.write(call("GET", "/_sandbox/health"))
        head, _, _ = (await reader.read()).lower().partition(b"\r\n\r\n")
        assert head.count(b"connection: close") == 1
        assert await draining == 0


async def test_what_has_come_is_answered() -> None:
    """Also what the server has not read yet, on a connection that it has not accepted yet."""
    async with served() as (_, server, connect):
        reader, _ = await connect(call("POST", "/v2/message", SEND))
        assert await server.drain(GRACE, 0) == 0
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")


async def test_tls_says_no_long_farewell() -> None:
    """An idle client that does not read is not waited for."""
    async with boxed() as box:
        with self_signed([]) as certificate:
            server = HttpServer(box.app, ssl=(certificate.certfile, certificate.keyfile))
            port = await server.start()
            context = ssl.create_default_context(cadata=certificate.ca_pem.decode())

            def connect() -> ssl.SSLSocket:
                plain = socket.create_connection(("127.0.0.1", port), timeout=GRACE)
                return context.wrap_socket(plain, server_hostname="localhost")

            with await asyncio.get_running_loop().run_in_executor(None, connect):
                await until(lambda: box.runtime.counts.connections)
                assert await server.drain(GRACE, 0) == 0
                await server.stop()


async def test_a_request_that_has_begun_is_answered() -> None:
    """Whether its head or its body is on its way: the answer comes, and ends the connection."""
    async with served() as (box, server, connect):
        whole = call("POST", "/v2/message", SEND)
        parts = [(whole[:20], whole[20:]), (whole[:-4], whole[-4:])]
        open_ones = [(*await connect(first), rest) for first, rest in parts]
        await until(lambda: box.runtime.counts.connections == 2)
        await turns(20)
        draining = asyncio.create_task(server.drain(GRACE, 0))
        await turns(20)
        assert not draining.done()
        for reader, writer, rest in open_ones:
            writer.write(rest)
            assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert await draining == 0


async def test_long_polls_are_answered_and_streams_end() -> None:
    """With what there is, and whole."""
    async with served() as (box, server, connect):
        await box.open()
        paths = [f"{WORLD}/hook?wait=1h", f"{WORLD}/stream", "/_sandbox/stream"]
        readers = [(await connect(call("GET", path)))[0] for path in paths]
        hosted = box.runtime.worlds[KEY]
        await until(lambda: hosted.waits and hosted.streams and box.runtime.open_worlds.streams)
        box.runtime.leave()
        assert await server.drain(GRACE, 0) == 0
        answers = [await reader.read() for reader in readers]
        assert answers[0].startswith(b"HTTP/1.1 200 OK\r\n")
        assert b'"events":[]' in answers[0]
        assert [answer.endswith(b"0\r\n\r\n") for answer in answers[1:]] == [True, True]


async def test_who_asks_later_does_not_wait() -> None:
    """A long poll or a stream on a connection that is still there, also for a world that opens then."""
    async with boxed() as box:
        box.runtime.leave()
        await box.open()
        assert (await box.get(f"{WORLD}/hook?wait=1h")).json["events"] == []
        for path in (f"{WORLD}/stream", "/_sandbox/stream"):
            assert (await box.get(path)).body.startswith(b": open")


@pytest.mark.parametrize("begun", [False, True], ids=["under-way", "later"])
async def test_an_answer_that_never_comes_ends(begun: bool) -> None:
    """A fault that holds its call for ever does not hold the stop."""
    async with served() as (box, server, connect):
        rule = {"in": "api", "when": {"operation": "sendMessage"}, "fault": "timeout"}
        await box.open()
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        if begun:
            box.runtime.leave()
        reader, _ = await connect(call("POST", "/v2/message", SEND))
        await until(lambda: begun or box.runtime.worlds[KEY].endless)
        box.runtime.leave()
        assert await reader.read() == b""
        assert await server.drain(GRACE, 0) == 0


async def test_the_grace_ends() -> None:
    """What takes longer is counted, and cut off by the stop."""
    async with served() as (box, server, connect):
        reader, _ = await connect(b"GET")
        await until(lambda: box.runtime.counts.connections)
        await turns(20)
        assert await server.drain(0) == 1
        await server.stop()
        assert await reader.read() == b""


async def test_what_is_cut_off_is_logged() -> None:
    """The command says what it cut off."""
    stop, lines = asyncio.Event(), list[str]()
    log = Log(lines.append, "text")
    started: list[str] = []
    serving = asyncio.create_task(serve(options(grace=0.0), stop, started.append, log, in_full=False))
    await until(lambda: started)
    port = int(started[0].split(",")[0].rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET")
    await writer.drain()
    await turns(50)
    stop.set()
    await serving
    log.close()
    assert await reader.read() == b""
    writer.close()
    text = "connections whose calls took longer than --grace (0s) are cut off: 1"
    assert [line for line in lines if text in line]
