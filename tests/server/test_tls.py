"""The certificate that the server makes for itself."""

from __future__ import annotations

import gc
import os
import ssl
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import time_machine
from freezegun import freeze_time
from starlette.types import Receive, Scope, Send

from sendbox.server.listener import HttpServer
from sendbox.server.thread import ServerThread
from sendbox.server.tls import NoTls, Tls, self_signed


@pytest.fixture
def tls() -> Iterator[Tls]:
    with self_signed(["extra.test", "192.0.2.7"]) as made:
        yield made


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
def port(tls: Tls) -> Iterator[int]:
    thread = ServerThread()
    thread.start()
    server = HttpServer(hello, "localhost", ssl=(tls.certfile, tls.keyfile))
    yield thread.run(server.start())
    thread.run(server.stop())
    thread.stop()


def trusting(tls: Tls) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=tls.ca_pem.decode())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_client_that_trusts_the_authority_connects(tls: Tls, port: int, host: str) -> None:
    """The authority is all a client needs, by name and by address."""
    with httpx.Client(verify=trusting(tls), trust_env=False, timeout=60) as client:
        assert client.get(f"https://{host}:{port}/").text == "hello"


def test_client_that_does_not_trust_it_is_refused(port: int) -> None:
    """Nobody trusts the certificate by accident."""
    with (
        httpx.Client(verify=ssl.create_default_context(), trust_env=False, timeout=60) as client,
        pytest.raises(httpx.ConnectError, match="certificate verify failed"),
    ):
        client.get(f"https://localhost:{port}/")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "extra.test", "192.0.2.7"])
def test_names_of_the_certificate(tls: Tls, name: str) -> None:
    """The certificate holds for this machine and for what was asked besides."""
    assert name in tls.names
    assert agreed(tls, name)


@pytest.mark.parametrize("name", ["other.test", "192.0.2.8"])
def test_names_that_are_not_in_the_certificate(tls: Tls, name: str) -> None:
    """The certificate holds for nothing else."""
    with pytest.raises(ssl.SSLCertVerificationError):
        agreed(tls, name)


def agreed(tls: Tls, name: str) -> bool:
    """Whether a client that calls `name` takes the certificate; without a socket."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certfile, tls.keyfile)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = trusting(tls).wrap_bio(to_client, to_server, server_hostname=name)
    left = {server, client}
    while left:
        for side in tuple(left):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            left.discard(side)
    return True


@pytest.mark.parametrize(
    "freezer",
    [
        pytest.param(lambda: freeze_time("1999-01-01"), id="freezegun-past"),
        pytest.param(lambda: freeze_time("2999-01-01"), id="freezegun-future"),
        pytest.param(lambda: time_machine.travel("2999-01-01", tick=False), id="time-machine"),
    ],
)
def test_validity_does_not_depend_on_a_frozen_clock(freezer: Callable[[], Any]) -> None:
    """A certificate made at a frozen time is valid then and after."""
    with freezer():
        made = self_signed()
        assert agreed(made, "localhost")
    assert agreed(made, "localhost")
    made.close()


def test_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's name is in the certificate, in lower case."""
    monkeypatch.setattr("sendbox.server.tls.socket.gethostname", lambda: "Build-7.Local")
    with self_signed() as tls:
        assert tls.names == ("localhost", "127.0.0.1", "::1", "build-7.local")
        assert agreed(tls, "build-7.local")


@pytest.mark.parametrize("name", ["", "under_score", "a" * 64])
def test_own_name_that_no_certificate_can_hold(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A machine with an odd name gets its certificate without it."""
    monkeypatch.setattr("sendbox.server.tls.socket.gethostname", lambda: name)
    with self_signed() as tls:
        assert tls.names == ("localhost", "127.0.0.1", "::1")


def test_name_that_no_certificate_can_hold() -> None:
    """A name that was asked for and cannot be is told."""
    with pytest.raises(NoTls, match=r"^under_score\b.* cannot be in a certificate \(.*\): give host names and IP"):
        self_signed(["under_score"])


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are POSIX")
def test_files_are_private(tls: Tls) -> None:
    """Only the user who made the key can read it."""
    folder = Path(tls.keyfile).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(tls.keyfile).stat().st_mode) == 0o600
    assert b"PRIVATE" not in Path(tls.certfile).read_bytes() + tls.ca_pem


@pytest.mark.parametrize("end", ["close", "forgotten"])
def test_files_go(end: str) -> None:
    """The folder goes when it is closed, more than once too, and when nobody holds it any more."""
    tls: Tls | None = self_signed()
    assert tls is not None
    folder = Path(tls.certfile).parent
    assert folder.exists()
    if end == "close":
        tls.close()
        tls.close()
    tls = None
    gc.collect()
    assert not folder.exists()


def test_files_stay_when_a_fork_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked child that ends does not take its parent's files along."""
    tls = self_signed()
    folder = Path(tls.certfile).parent
    monkeypatch.setattr("sendbox.server.tls.os.getpid", lambda: -1)
    tls.close()
    assert folder.exists()
    monkeypatch.undo()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_without_trustme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error says which to install."""
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(
        NoTls, match=r"^trustme is not installed, and makes the certificate: pip install 'sendbox\[tls\]'$"
    ):
        self_signed()
