"""An app on a socket: served, stopped, and quiet about it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import pytest
import time_machine
from freezegun import freeze_time
from starlette.types import Receive, Scope, Send

from sendbox.server.listener import HEAD, TURNS, HttpServer
from sendbox.server.thread import ServerThread
from sendbox.server.tls import Tls, self_signed
from tests.box import KEY, WORLD, boxed, turns
from tests.serving import GET, LIMIT, asked, connected, hello, served, threaded


@pytest.fixture(params=["uvloop", "asyncio"])
def thread(request: pytest.FixtureRequest) -> Iterator[ServerThread]:
    with threaded(request.param) as thread:
        yield thread


def test_answer_on_the_wire(thread: ServerThread) -> None:
    """What the app answers is all there is on the wire: no date, no server."""
    server = served(thread)
    with connected(server) as sock:
        assert asked(sock, GET, b"/a") == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n/a"
        assert asked(sock, GET, b"/a") == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n/a"
    thread.run(server.stop())


def test_accepted_sockets_have_nodelay(thread: ServerThread) -> None:
    """Answers leave at once: without TCP_NODELAY each would wait 44 ms for the client's acknowledgement."""
    server = served(thread)
    with connected(server) as sock:
        asked(sock, GET, b"/a")
        assert nodelay(thread, server) == [True]
    thread.run(server.stop())


def nodelay(thread: ServerThread, server: HttpServer) -> list[bool]:
    def read() -> list[bool]:
        assert server._server is not None
        socks = [each.transport.get_extra_info("socket") for each in server._server.server_state.connections]
        return [bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) for sock in socks]

    return thread.call(read)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "freezer",
    [
        pytest.param(lambda: freeze_time("2026-03-01"), id="freezegun"),
        pytest.param(lambda: time_machine.travel("2026-03-01", tick=False), id="time-machine"),
    ],
)
def test_serves_while_the_clock_is_frozen(thread: ServerThread, freezer: Callable[[], Any]) -> None:
    """Start, requests and stop work inside a freeze, and across its borders."""
    before = served(thread)
    with connected(before) as kept, freezer():
        assert asked(kept, GET, b"/a").endswith(b"/a")
        within = served(thread)
        with connected(within) as sock:
            assert asked(sock, GET, b"/a").endswith(b"/a")
        thread.run(before.stop())
    with connected(within) as sock:
        assert asked(sock, GET, b"/a").endswith(b"/a")
    thread.run(within.stop())


def test_no_log_no_signals(thread: ServerThread, caplog: pytest.LogCaptureFixture) -> None:
    """Serving logs nothing, sets no signal handler and leaves the loggers of other uvicorns alone."""
    caplog.set_level(logging.DEBUG)
    handler = signal.getsignal(signal.SIGINT)
    loggers = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error", "uvicorn.access")]
    state = [(each.level, list(each.handlers), each.propagate) for each in loggers]
    server = served(thread)
    with connected(server) as sock:
        asked(sock, GET, b"/a")
    thread.run(server.stop())
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
    assert signal.getsignal(signal.SIGINT) == handler
    assert [(each.level, each.handlers, each.propagate) for each in loggers] == state


def test_environment_of_uvicorn_is_not_read(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables meant for another server, wrong ones too, do no harm."""
    monkeypatch.setenv("WEB_CONCURRENCY", "many")
    server = served(thread)
    thread.run(server.stop())


OFFER = b"upgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\n"
FIXED = b"content-length: 4\r\n\r\nbody"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"
JAVA = b"POST /a HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\n" + OFFER


@pytest.mark.parametrize(
    ("packets", "answers"),
    [
        pytest.param([JAVA + FIXED], [b"/abody"], id="one-packet"),
        pytest.param([JAVA + CHUNKED], [b"/abody"], id="chunked"),
        pytest.param([JAVA + FIXED[:-4], b"body"], [b"/abody"], id="body-apart"),
        pytest.param([(JAVA + CHUNKED)[n : n + 1] for n in range(len(JAVA + CHUNKED))], [b"/abody"], id="trickled"),
        pytest.param([JAVA + FIXED, JAVA + FIXED], [b"/abody"] * 2, id="twice"),
        pytest.param([(JAVA + FIXED) * 2 + GET], [b"/abody", b"/abody", b"/a"], id="pipelined"),
        pytest.param([GET + JAVA + FIXED], [b"/a", b"/abody"], id="pipelined-behind"),
        pytest.param(
            [b"GET /a HTTP/1.1\r\nhost: x\r\nconnection: keep-alive, upgrade\r\nupgrade: websocket\r\n\r\n"],
            [b"/a"],
            id="websocket",
        ),
        pytest.param([b"CONNECT /a HTTP/1.1\r\nhost: x\r\n\r\n"], [b"/a"], id="connect"),
    ],
)
def test_upgrade_is_declined_without_a_word(
    thread: ServerThread, packets: list[bytes], answers: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """A client that offers another protocol (Java's does, with every request) is served in HTTP/1.1, body and all."""
    server = served(thread)
    expected = b"".join(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(each), each) for each in answers)
    with connected(server) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            sock.sendall(packet)
        got = b""
        while len(got) < len(expected):
            got += sock.recv(65536)
        assert got == expected
        assert asked(sock, GET, b"/a").endswith(b"\r\n/a")
    thread.run(server.stop())
    assert caplog.text == ""


CONNECT = b"CONNECT /a HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize(
    "packets",
    [
        pytest.param([CONNECT + FIXED], id="one-packet"),
        pytest.param([CONNECT + FIXED[:-4], b"body"], id="body-apart"),
        pytest.param([CONNECT + FIXED[:-2], b"dy"], id="cut-in-the-body"),
        pytest.param([CONNECT + CHUNKED, GET], id="chunked"),
    ],
)
def test_connect_with_a_body_is_answered_once(thread: ServerThread, packets: list[bytes]) -> None:
    """However it is cut: a body has no meaning there, is not taken for a request, and the connection ends."""
    server = served(thread)
    with connected(server) as sock:
        with suppress(ConnectionError):  # it may have ended before the last packet
            for packet in packets:
                sock.sendall(packet)
        got = b""
        with suppress(ConnectionError):
            while piece := sock.recv(65536):
                got += piece
        assert got.startswith(b"HTTP/1.1 200 OK\r\n")
        assert got.count(b"HTTP/1.1 ") == 1
    thread.run(server.stop())


def test_what_waited_behind_another_call_is_answered_or_not_carried_out() -> None:
    """After a half-close a call that cannot be answered any more has no effect."""

    async def main() -> None:
        async with boxed() as box:
            await box.open()
            hosted = box.runtime.worlds[KEY]
            server = HttpServer(box.app)
            reader, writer = await asyncio.open_connection("127.0.0.1", await server.start())
            hosted.working = asyncio.get_running_loop().create_future()
            body = b'{"body":"x"}'
            head = f"POST {WORLD}/phones/420777000101/write HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            while not hosted.controls:
                await asyncio.sleep(0)
            writer.write((head.encode() + body) * 4)
            writer.write_eof()
            await turns(20)
            working, hosted.working = hosted.working, None
            working.set_result(None)
            answered = (await reader.read()).count(b"HTTP/1.1 201")
            await turns(20)
            writer.close()
            carried_out = (await box.get(f"{WORLD}/journal?kind=inbound")).json["entries"]
            assert answered == len(carried_out) < 5
            await server.stop()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n", b"HTTP/1.1 400 ", id="tunnel"),
        pytest.param(JAVA + b"content-length: x\r\n\r\n", b"HTTP/1.1 400 ", id="offer-with-nonsense"),
        pytest.param(
            JAVA.replace(b"Upgrade,", b"close, Upgrade,") + FIXED,
            b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n/abody",
            id="offer-and-close",
        ),
    ],
)
def test_end_of_a_connection(thread: ServerThread, raw: bytes, expected: bytes) -> None:
    """A tunnel, nonsense and a last request are answered and end the connection."""
    server = served(thread)
    with connected(server) as sock:
        assert asked(sock, raw, b"no end").startswith(expected)
    thread.run(server.stop())


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(GET[:-2] + b"a: " + b"x" * HEAD + b"\r\n\r\n", id="long"),
        pytest.param(GET[:-2] + b"a: bc\r\n" * (HEAD // 3) + b"\r\n", id="many"),
        pytest.param(GET[:-2] + b"a: " + b"x" * 2 * HEAD, id="without-end"),
        pytest.param(b"GET /" + b"x" * HEAD + GET[6:], id="target"),
    ],
)
def test_the_head_of_a_request_is_bounded(thread: ServerThread, raw: bytes) -> None:
    """Target and headers have 64 KiB; a longer head is refused, whole or not. Bodies do not count."""
    server = served(thread)
    with connected(server) as sock:
        assert asked(sock, raw, b"bytes").startswith(b"HTTP/1.1 431 ")
    with connected(server) as sock:
        body = b"POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n" + b"x" * 100_000
        assert asked(sock, body, b"x" * 10).startswith(b"HTTP/1.1 200 ")
    thread.run(server.stop())


def test_limit(thread: ServerThread, caplog: pytest.LogCaptureFixture) -> None:
    """Beyond the limit the answer is 503."""
    server = served(thread, limit=1)
    with connected(server) as sock:
        assert asked(sock, GET, b"Unavailable").startswith(b"HTTP/1.1 503 ")
    thread.run(server.stop())


# --- TLS --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tls() -> Iterator[Tls]:
    with self_signed() as made:
        yield made


def test_tls_stop_does_not_wait_for_clients(thread: ServerThread, tls: Tls) -> None:
    """A TLS client that is connected and silent does not hold the stop up; requests are https."""
    schemes: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        schemes.append(scope["scheme"])
        await hello(scope, receive, send)

    server = served(thread, app, ssl=(tls.certfile, tls.keyfile))
    context = ssl.create_default_context(cadata=tls.ca_pem.decode())
    with connected(server) as raw, context.wrap_socket(raw, server_hostname="localhost") as sock:
        assert asked(sock, GET, b"/a").endswith(b"/a")
        thread.run(server.stop())
        with pytest.raises(OSError):  # noqa: PT011 - an end without farewell, or a reset: either is at once
            raise OSError if not sock.recv(1) else AssertionError
    assert schemes == ["https"]


# --- the stop ---------------------------------------------------------------------------------------------------------


def test_stop_closes_idle_connections(thread: ServerThread) -> None:
    """Kept connections end with the server, and the port refuses new ones."""
    server = served(thread)
    with connected(server) as used, connected(server) as fresh:
        asked(used, GET, b"/a")
        asked(fresh, GET, b"/a")
        thread.run(server.stop())
        assert (used.recv(1), fresh.recv(1)) == (b"", b"")
    with pytest.raises(ConnectionRefusedError):
        connected(server)


@pytest.mark.asyncio
@pytest.mark.parametrize("before", range(4))
async def test_stop_closes_what_was_just_accepted(before: int) -> None:
    """A connection that the loop is about to accept, so many turns before the stop, is not left open."""
    server = HttpServer(hello)
    port = await server.start()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setblocking(False)
        await turns(before)
        await server.stop()
        await turns(1)
        with suppress(ConnectionResetError):  # nobody had accepted it
            assert client.recv(1) == b""


def test_stop_closes_what_connects_meanwhile(thread: ServerThread) -> None:
    """A connection made in any turn of a stop is refused, or closed: uvloop would wait for it as the loop is closed."""

    async def connect(turn: int) -> None:
        server = HttpServer(hello)
        port = await server.start()
        stopping = asyncio.create_task(server.stop())
        await turns(turn)
        with socket.socket() as client:
            with suppress(ConnectionRefusedError):
                client.connect(("127.0.0.1", port))
                client.setblocking(False)
                await stopping
                with suppress(ConnectionResetError):  # nobody had accepted it
                    assert client.recv(1) == b""
            await stopping

    for turn in range(4 * TURNS):
        thread.run(connect(turn))


def test_stop_twice_and_before_the_start(thread: ServerThread) -> None:
    """There is nothing to stop before the start and after the stop."""
    server = HttpServer(hello)
    thread.run(server.stop())
    thread.run(server.start())
    thread.run(server.stop())
    thread.run(server.stop())


async def nothing(send: Send) -> None:
    pass


async def half(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})


async def flood(send: Send) -> None:
    """More than the client's and the system's buffers hold."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * 2**24, "more_body": True})


@pytest.mark.parametrize("begin", [nothing, half, flood], ids=["unanswered", "half-answered", "unread"])
def test_stop_cancels_requests_under_way(
    thread: ServerThread, begin: Callable[[Send], Coroutine[Any, Any, None]], caplog: pytest.LogCaptureFixture
) -> None:
    """A request that is being answered is cancelled, however far it got, and nothing is logged about it."""
    arrived: Future[None] = Future()
    ended: Future[str] = Future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        arrived.set_result(None)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.set_result("cancelled")
            raise

    server = served(thread, app)
    with connected(server) as sock:
        sock.sendall(GET)
        arrived.result(LIMIT)
        thread.run(server.stop())
        assert ended.result(LIMIT) == "cancelled"
    assert caplog.text == ""


def test_stop_tells_requests_that_listen(thread: ServerThread) -> None:
    """An app that waits for the client to go is told that it went."""
    heard: Future[Any] = Future()
    arrived: Future[None] = Future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        arrived.set_result(None)
        heard.set_result((await receive())["type"])

    server = served(thread, app)
    with connected(server) as sock:
        sock.sendall(GET)
        arrived.result(LIMIT)
        thread.run(server.stop())
    assert heard.result(LIMIT) == "http.disconnect"


def test_cancelled_request_of_a_running_server_is_an_error(
    thread: ServerThread, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the stop makes a cancelled request normal; otherwise the client gets 500 and the log says why."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise asyncio.CancelledError

    server = served(thread, app)
    with connected(server) as sock:
        assert asked(sock, GET, b"Error").startswith(b"HTTP/1.1 500 ")
    thread.run(server.stop())
    assert "Exception in ASGI application" in caplog.text


def test_threads_are_gone_after_the_stop() -> None:
    """Server and thread leave no thread behind."""
    before = set(threading.enumerate())
    thread = ServerThread()
    thread.start()
    server = served(thread, host="localhost")
    thread.run(server.stop())
    thread.stop()
    assert set(threading.enumerate()) == before
