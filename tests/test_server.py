"""An app on a socket: served, stopped, and quiet about it."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import time_machine
from freezegun import freeze_time

from sendbox.loop import Kind
from sendbox.server import App, CannotListen, HttpServer, Message, Receive, Scope, Send
from sendbox.thread import ServerThread
from sendbox.tls import Tls, self_signed

#: Seconds a client of these tests waits at most for a socket; reached only when something is broken.
LIMIT = 10


@pytest.fixture(params=["uvloop", "asyncio"])
def thread(request: pytest.FixtureRequest) -> Iterator[ServerThread]:
    kind: Kind = request.param
    thread = ServerThread(kind)
    thread.start()
    yield thread
    errors = thread.errors
    thread.stop()
    assert errors == []


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body it got, and the path."""
    message: Message = {"more_body": True, "body": b""}
    body = b""
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    answer = scope["path"].encode() + body
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(answer))]})
    await send({"type": "http.response.body", "body": answer})


def served(thread: ServerThread, app: App = hello, **given: Any) -> HttpServer:
    server = HttpServer(app, **given)
    thread.run(server.start())
    return server


def connected(server: HttpServer, host: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection((host, server.port), timeout=LIMIT)


def asked(sock: socket.socket, raw: bytes, end: bytes) -> bytes:
    """Sends `raw` and reads until the answer ends with `end`, or the connection ends."""
    sock.sendall(raw)
    got = b""
    while not got.endswith(end) and (more := sock.recv(65536)):
        got += more
    return got


GET = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n"


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


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n", b"HTTP/1.1 ", id="connect"),
        pytest.param(JAVA + b"content-length: x\r\n\r\n", b"HTTP/1.1 400 ", id="offer-with-nonsense"),
        pytest.param(
            JAVA.replace(b"Upgrade,", b"close, Upgrade,") + FIXED, b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n/abody", id="offer-and-close",
        ),
    ],
)  # fmt: skip
def test_end_of_a_connection(thread: ServerThread, raw: bytes, expected: bytes) -> None:
    """A tunnel, nonsense and a last request are answered and end the connection."""
    server = served(thread)
    with connected(server) as sock:
        assert asked(sock, raw, b"no end").startswith(expected)
    thread.run(server.stop())


def test_limit(thread: ServerThread, caplog: pytest.LogCaptureFixture) -> None:
    """Beyond the limit the answer is 503."""
    server = served(thread, limit=1)
    with connected(server) as sock:
        assert asked(sock, GET, b"Unavailable").startswith(b"HTTP/1.1 503 ")
    thread.run(server.stop())


# --- where it listens -------------------------------------------------------------------------------------------------


def test_port_is_returned_kept_and_free_after_the_stop(thread: ServerThread) -> None:
    """Port 0 is a free one; after the stop the same server gets it again."""
    server = HttpServer(hello)
    port = thread.run(server.start())
    assert port == server.port != 0
    thread.run(server.stop())
    assert thread.run(server.start()) == port
    with connected(server) as sock:
        assert asked(sock, GET, b"/a").endswith(b"/a")
    thread.run(server.stop())


def test_a_server_starts_once(thread: ServerThread) -> None:
    """A second start says that there was a first."""
    server = served(thread)
    with pytest.raises(RuntimeError, match=rf"^127.0.0.1:{server.port} is being served already: stop it first$"):
        thread.run(server.start())
    thread.run(server.stop())


def test_every_address_of_a_name(thread: ServerThread) -> None:
    """`localhost` is served on each address that it has here, on one port."""
    server = served(thread, host="localhost")
    addresses = {each[4][0] for each in socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)}
    assert addresses
    for address in addresses:
        with connected(server, str(address)) as sock:
            assert asked(sock, GET, b"/a").endswith(b"/a")
    thread.run(server.stop())


def cannot(thread: ServerThread, **given: Any) -> CannotListen:
    with pytest.raises(CannotListen) as caught:
        thread.run(HttpServer(hello, **given).start())
    return caught.value


def test_port_is_taken(thread: ServerThread) -> None:
    """A port in use is told by its number, and no socket is left open."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        error = cannot(thread, port=port)
    assert error.errno == errno.EADDRINUSE
    assert (
        error.strerror == f"127.0.0.1:{port} is taken by another program: give another port, or 0 for any that is free"
    )


def test_port_is_taken_on_the_second_address(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is served on all of its addresses or on none."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1")]
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        monkeypatch.setattr(
            "sendbox.server.socket.getaddrinfo", lambda *_, **__: [(*each[:4], (each[4][0], port)) for each in found]
        )
        error = cannot(thread, host="two", port=port)
    assert str(error).endswith(f"two:{port} is taken by another program: give another port, or 0 for any that is free")


@pytest.mark.parametrize(
    ("host", "number", "message"),
    [
        pytest.param(
            "192.0.2.1",
            errno.EADDRNOTAVAIL,
            "192.0.2.1 is not an address of this machine: give 127.0.0.1, 0.0.0.0 or one of its own",
            id="foreign-address",
        ),
        pytest.param(
            "no-such-host.invalid",
            None,
            "no-such-host.invalid is not a host name that resolves: give 127.0.0.1, 0.0.0.0 or a name of this machine",
            id="unknown-name",
        ),
    ],
)
def test_host_is_not_here(thread: ServerThread, host: str, number: int | None, message: str) -> None:
    """A host that cannot be served is told by its name, with what would do."""
    error = cannot(thread, host=host)
    assert error.strerror == message
    assert number in (None, error.errno)


@pytest.mark.parametrize(
    ("host", "number", "message"),
    [
        pytest.param(
            "::1",
            errno.EACCES,
            "[::1]:80 needs a privilege: give a port from 1024 up, or 0 for any that is free",
            id="privilege",
        ),
        pytest.param("", errno.EMFILE, "*:80 cannot be listened on: [Errno 24] no more", id="anything-else"),
    ],
)
def test_what_else_the_system_refuses(
    thread: ServerThread, monkeypatch: pytest.MonkeyPatch, host: str, number: int, message: str
) -> None:
    """Whatever the system says no to has address and reason in the message."""

    class Refusing(socket.socket):
        def bind(self, address: Any) -> None:
            raise OSError(number, "no more")

    monkeypatch.setattr("sendbox.server._new_socket", lambda family: Refusing(family))
    assert cannot(thread, host=host, port=80).strerror == message


def test_address_family_that_is_missing_is_left_out(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that also has an address this machine lacks is served on the others."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("192.0.2.1", "127.0.0.1")]
    monkeypatch.setattr("sendbox.server.socket.getaddrinfo", lambda *_, **__: found)
    server = served(thread, host="both")
    monkeypatch.undo()
    with connected(server) as sock:
        assert asked(sock, GET, b"/a").endswith(b"/a")
    thread.run(server.stop())


def test_sockets_without_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SO_REUSEADDR would let two programs share a port (Windows) it is not set."""
    from sendbox import server

    monkeypatch.setattr(server.os, "name", "nt")
    with server._new_socket(socket.AF_INET) as sock:
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 0


# --- TLS --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tls() -> Iterator[Tls]:
    with self_signed() as made:
        yield made


def test_tls_stop_does_not_wait_for_clients(thread: ServerThread, tls: Tls) -> None:
    """A TLS client that is connected and silent does not hold the stop up; requests are https."""
    import ssl

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


@pytest.mark.parametrize("missing", [True, False], ids=["missing", "junk"])
def test_certificate_that_cannot_be_served(thread: ServerThread, tmp_path: Path, missing: bool) -> None:
    """A certificate that is not there, or is none, is told by its path."""
    path = tmp_path / "certificate.pem"
    if not missing:
        path.write_text("junk")
    assert str(cannot(thread, ssl=(str(path), str(path)))).startswith(f"{path} cannot be served with the key {path}: ")


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
