"""Where a server listens, and what it says where it cannot."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sendbox.server.listener import CannotListen, HttpServer, _new_socket
from sendbox.server.thread import ServerThread
from tests.serving import GET, asked, connected, hello, served, threaded


@pytest.fixture(params=["uvloop", "asyncio"])
def thread(request: pytest.FixtureRequest) -> Iterator[ServerThread]:
    with threaded(request.param) as thread:
        yield thread


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


@pytest.mark.parametrize("port", [-1, 65536])
def test_port_that_there_is_not(thread: ServerThread, port: int) -> None:
    """The system would listen on another one."""
    assert str(cannot(thread, port=port)) == f"{port} is not a port: give 1 to 65535, or 0 for any that is free"


def test_port_is_taken_on_the_second_address(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is served on all of its addresses or on none."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1")]
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        monkeypatch.setattr(
            "sendbox.server.listener.socket.getaddrinfo",
            lambda *_, **__: [(*each[:4], (each[4][0], port)) for each in found],
        )
        error = cannot(thread, host="two", port=port)
    assert str(error) == f"two:{port} is taken by another program: give another port, or 0 for any that is free"


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
        pytest.param(
            "a..b",
            None,
            "a..b is not a host name that resolves: give 127.0.0.1, 0.0.0.0 or a name of this machine",
            id="no-name",
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

    monkeypatch.setattr("sendbox.server.listener._new_socket", lambda family: Refusing(family))
    assert cannot(thread, host=host, port=80).strerror == message


def test_address_family_that_is_missing_is_left_out(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that also has an address this machine lacks is served on the others."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("192.0.2.1", "127.0.0.1")]
    monkeypatch.setattr("sendbox.server.listener.socket.getaddrinfo", lambda *_, **__: found)
    server = served(thread, host="both")
    monkeypatch.undo()
    with connected(server) as sock:
        assert asked(sock, GET, b"/a").endswith(b"/a")
    thread.run(server.stop())


def test_sockets_without_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SO_REUSEADDR would let two programs share a port (Windows) it is not set."""
    with monkeypatch.context() as windows:
        windows.setattr("sendbox.server.listener.os.name", "nt")
        sock = _new_socket(socket.AF_INET)
    with sock:
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 0


def test_sockets_of_both_families_share_a_port() -> None:
    """An IPv6 socket takes no IPv4 connections, so that `localhost` can have both on one port."""
    try:
        sock = _new_socket(socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with sock:
        assert sock.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == 1


@pytest.mark.parametrize("missing", [True, False], ids=["missing", "junk"])
def test_certificate_that_cannot_be_served(thread: ServerThread, tmp_path: Path, missing: bool) -> None:
    """A certificate that is not there, or is none, is told by its path."""
    path = tmp_path / "certificate.pem"
    if not missing:
        path.write_text("junk")
    assert str(cannot(thread, ssl=(str(path), str(path)))).startswith(f"{path} cannot be served with the key {path}: ")
