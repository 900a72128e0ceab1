"""Targets that cannot be reached, and targets that must be trusted first."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.sender import Sender
from sendbox.server.loop import Kind
from sendbox.server.tls import Tls, self_signed
from tests.webhooks.receiver import OK, answering, receiving
from tests.webhooks.sending import ANYWHERE, EVENTS, LONG, LOOPBACK, post, run


@pytest.fixture(scope="module")
def tls() -> Iterator[Tls]:
    with self_signed() as made:
        yield made


@pytest.fixture
def tls_server(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certfile, tls.keyfile)
    return context


async def tried(url: str, sender: Sender | None = None, headers: tuple[tuple[str, str], ...] = ()) -> Outcome:
    sender = sender or Sender(LOOPBACK)
    try:
        return await sender.send(HttpCall("POST", url, list(headers), EVENTS), LONG)
    finally:
        await sender.close()


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port that refuses connections and that nobody else is given meanwhile."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_refused(host: str, kind: Kind, unused_port: int) -> None:
    """A port where nobody listens refuses, also by a name with several addresses."""
    assert run(tried(f"http://{host}:{unused_port}/"), kind) == Outcome(None, "refused")


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param("hook", id="relative"),
        pytest.param("ftp://127.0.0.1/", id="other-scheme"),
        pytest.param("http://", id="no-host"),
        pytest.param("http://[::1/", id="broken-address"),
        pytest.param("http://127.0.0.1:99999/", id="port-too-high"),
        pytest.param("http://no-such-host.invalid/", id="unknown-host"),
        pytest.param("https://no-such-host.invalid/", id="unknown-host-tls"),
    ],
)
def test_unreachable(url: str) -> None:
    """An address that leads nowhere, or is none, is an outcome and no exception; it says what was wrong."""
    outcome = run(tried(url, Sender(ANYWHERE)))
    assert outcome == Outcome(None, "unreachable")
    assert outcome.detail


@pytest.mark.parametrize(
    "header", [pytest.param(("X-A", "a\r\nX-B: b"), id="value"), pytest.param(("X-A: a\r\nX-B", "b"), id="name")]
)
def test_header_that_cannot_be_sent(header: tuple[str, str]) -> None:
    """A header that would break the request is an outcome, and nothing of it reaches the receiver."""

    async def main() -> tuple[Outcome, list[bytes]]:
        async with receiving(answering(OK)) as receiver:
            return await tried(receiver.url, headers=(header,)), receiver.requests

    outcome, requests = run(main())
    assert not outcome.ok
    assert requests == []


# --- TLS --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        pytest.param("nothing", Outcome(None, "tls"), id="unknown-authority"),
        pytest.param("ca", Outcome(200), id="ca"),
        pytest.param("insecure", Outcome(200), id="insecure"),
    ],
)
def test_certificates_are_checked(
    trust: str, expected: Outcome, kind: Kind, tls: Tls, tls_server: ssl.SSLContext, tmp_path: Path
) -> None:
    """An https receiver must be trusted: by the system, by the authority given, or because checking is off."""
    ca = tmp_path / "ca.pem"
    ca.write_bytes(tls.ca_pem)

    async def main() -> list[Outcome]:
        async with receiving(answering(OK), tls_server) as receiver:
            sender = Sender(LOOPBACK, ca=str(ca) if trust == "ca" else None, insecure=trust == "insecure")
            url = f"https://localhost:{receiver.port}/"
            try:
                return [await sender.send(post(url), LONG) for _ in range(2)]
            finally:
                await sender.close()

    assert run(main(), kind) == [expected] * 2


def test_authorities_are_checked_at_the_start(tmp_path: Path) -> None:
    """A file without a certificate trusts nothing, which is said before a webhook fails."""
    ca = tmp_path / "ca.pem"
    ca.write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"^\S+/ca.pem holds no certificate \(.*\): it must be a PEM file"):
        Sender(LOOPBACK, ca=str(ca))


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
def test_tls_to_a_plain_receiver(kind: Kind) -> None:
    """An https address of a receiver that speaks plain HTTP fails as TLS."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main() -> Outcome:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            return await tried(
                f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", Sender(LOOPBACK, insecure=True)
            )

    assert run(main(), kind) == Outcome(None, "tls")


def test_ca_must_be_a_file() -> None:
    """A wrong path is told where it is set, not at the first delivery."""
    with pytest.raises(ValueError, match=r"^/no/such.pem is not a file: it must be a PEM file"):
        Sender(LOOPBACK, ca="/no/such.pem")
