"""Requests that are begun and not ended: their connections end, by a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn

from sendbox.control.routes import Streamed
from sendbox.server.listener import KEEP_ALIVE, SILENCE, Protocol
from tests.box import boxed
from tests.serving import GET, asked, connected, hello, served, threaded


class Clock:
    """A loop whose time the test says, and whose timers it calls."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.now = 0.0
        self.timers: list[tuple[float, Callable[..., Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[..., Any], *_: Any) -> Any:
        timer = self.now + delay, callback
        self.timers.append(timer)
        return Timer(self.timers, timer)

    def move(self, seconds: float) -> None:
        """So many seconds pass, and what is due is called."""
        self.now += seconds
        for timer in [timer for timer in self.timers if timer[0] <= self.now]:
            self.timers.remove(timer)
            timer[1]()


class Timer:
    """The handle of a timer."""

    def __init__(self, timers: list[Any], timer: Any) -> None:
        self._timers, self._timer = timers, timer

    def cancel(self) -> None:
        if self._timer in self._timers:
            self._timers.remove(self._timer)


class Wire(asyncio.Transport):
    """A connection that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Nothing comes by itself."""

    def resume_reading(self) -> None:
        """Nothing comes by itself."""


class Connection:
    """A connection to an application that says hello."""

    def __init__(self, app: Any = None) -> None:
        self.clock = Clock(asyncio.get_running_loop())
        config = uvicorn.Config(hello, lifespan="off", log_config=None, timeout_keep_alive=KEEP_ALIVE)
        config.load()
        state = uvicorn.server.ServerState()
        self.protocol = Protocol(app, config=config, server_state=state, app_state={}, _loop=self.clock)
        self.wire = Wire()
        self.protocol.connection_made(self.wire)

    def ended(self) -> bool:
        """Whether the server has closed it."""
        return self.wire.closed

    async def send(self, data: bytes) -> None:
        """Something comes, and is worked on."""
        self.protocol.data_received(data)
        for _ in range(10):
            await asyncio.sleep(0)


HEAD = b"POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n"
REFUSED = b"HTTP/1.1 408 Request Timeout\r\n"
#: A call without a key is refused at once.
KEYLESS = b"POST /v2/message HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.parametrize("part", [b"G", b"GET /a HTTP/1.1\r\nhost: x\r\n", HEAD, HEAD + b"bod"])
@pytest.mark.asyncio
async def test_half_a_request_ends_its_connection(part: bytes) -> None:
    """Ten seconds after the last byte that counts it is told so, and the connection ends; not a moment before."""
    connection = Connection()
    await connection.send(part)
    connection.clock.move(SILENCE - 0.1)
    assert not connection.ended()
    connection.clock.move(0.1)
    await asyncio.sleep(0)
    assert connection.ended()
    assert connection.wire.written.startswith(REFUSED)
    assert connection.wire.written.endswith(b"the request did not come whole: nothing came for 10 s")
    connection.protocol.connection_lost(None)


@pytest.mark.asyncio
async def test_a_head_must_be_whole_in_time() -> None:
    """A byte now and then does not keep a connection whose head does not end."""
    connection = Connection()
    for byte in b"GET /a HTTP":
        await connection.send(bytes([byte]))
        connection.clock.move(1)
    assert connection.ended()
    connection.protocol.connection_lost(None)


@pytest.mark.asyncio
async def test_a_slow_body_may_take_its_time() -> None:
    """A body of which something comes now and then is taken, however long it takes, and the connection stays."""
    connection = Connection()
    await connection.send(HEAD)
    for byte in b"body":
        connection.clock.move(SILENCE - 0.1)
        await connection.send(bytes([byte]))
    assert connection.wire.written.endswith(b"/abody")
    connection.clock.move(SILENCE)
    assert not connection.ended()
    await connection.send(GET)
    assert connection.wire.written.endswith(b"\r\n\r\n/a")
    connection.protocol.connection_lost(None)


@pytest.mark.asyncio
async def test_a_request_in_one_packet_needs_no_timer() -> None:
    """Only what is unfinished is watched."""
    connection = Connection()
    await connection.send(GET)
    assert [timer[1] for timer in connection.clock.timers if timer[1] == connection.protocol._check_silence] == []
    connection.protocol.connection_lost(None)


@pytest.mark.asyncio
async def test_one_timer_looks_after_an_idle_connection() -> None:
    """It ends a connection that had no request for so long, however many were answered at once before."""
    async with boxed() as box:
        connection = Connection(box.app)
        for _ in range(3):
            connection.clock.move(KEEP_ALIVE - 1)
            await connection.send(KEYLESS)
        idle = [timer for timer in connection.clock.timers if timer[1] == connection.protocol._check_idle]
        assert len(idle) == 1
        connection.clock.move(KEEP_ALIVE - 1)
        assert not connection.ended()
        connection.clock.move(1)
        assert connection.ended()
        connection.protocol.connection_lost(None)
        assert connection.clock.timers == []


@pytest.mark.parametrize("part", [HEAD[:-10], GET])
@pytest.mark.asyncio
async def test_a_connection_with_a_request_is_not_idle(part: bytes) -> None:
    """One that is begun, or was not answered at once, has a timer of its own."""
    async with boxed() as box:
        connection = Connection(box.app)
        await connection.send(KEYLESS)
        connection.clock.move(KEEP_ALIVE - 5)
        await connection.send(part)
        connection.clock.move(5)
        assert not connection.ended()
        connection.protocol.connection_lost(None)


def test_a_stream_that_has_ended_closes_its_connection() -> None:
    """Its answer says that the connection closes, and it does so when the stream ends."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def pieces() -> Any:
            yield b"data: 1\n\n"

        endless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await Streamed(pieces(), media_type="text/event-stream", endless=endless)(scope, receive, send)

    with threaded("asyncio") as thread:
        server = served(thread, app)
        with connected(server) as sock:
            got = asked(sock, GET, b"never")
        assert b"connection: close\r\n" in got
        assert got.endswith(b"0\r\n\r\n")
        thread.run(server.stop())
