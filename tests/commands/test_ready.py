"""`sendbox ready` against servers of every kind."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sendbox.cli import ready
from sendbox.cli.outcome import NO, Failure
from tests.commands.sandbox import sandbox
from tests.webhooks.receiver import answering, hanging, receiving


async def asked(url: str, wait_ms: int = 0) -> Any:
    return await asyncio.to_thread(ready.wait_ready, url, wait_ms)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.asyncio
async def test_a_sandbox_is_ready(tls: bool) -> None:
    """A sandbox that listens is ready, also behind a certificate that nobody here trusts."""
    async with sandbox(tls_self=tls) as served:
        health = await asked(served.origin)
        assert health["status"] == "ok"


@pytest.fixture
def closed() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"


def test_nobody_listens(closed: str) -> None:
    """Without a wait one refused connection is the answer."""
    with pytest.raises(Failure, match=f"{closed} is not ready: .*[Rr]efused") as caught:
        ready.wait_ready(closed)
    assert caught.value.code == NO


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}", "it answers {}"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "it answers 200, and is not a Sendbox"),
        (b'HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{"status": "loading"}', "it answers {'status': 'loading'}"),
        (b"SSH-2.0-OpenSSH\r\n", "SSH-2.0-OpenSSH"),
        (b"", "closed connection without response"),
    ],
    ids=["missing", "no-json", "loading", "no-http", "closed"],
)
@pytest.mark.asyncio
async def test_something_else_answers(raw: bytes, why: str) -> None:
    """Whatever answers there, it is not ready, and the message says what it said."""
    async with receiving(answering(raw, keep=False)) as receiver:
        with pytest.raises(Failure, match="is not ready") as caught:
            await asked(f"http://127.0.0.1:{receiver.port}")
    assert why in caught.value.message


@pytest.mark.asyncio
async def test_a_server_that_hangs_is_not_waited_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing costs no more than the time that was given."""
    monkeypatch.setattr(ready, "ANSWER_TIMEOUT", 0.01)
    async with receiving(hanging()) as receiver:
        with pytest.raises(Failure, match="it does not answer"):
            await asked(f"http://127.0.0.1:{receiver.port}")


class Clock:
    """A clock that moves by a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 1_000_000_000
        return self.now


def answers(*given: tuple[dict[str, Any] | None, str]) -> tuple[Callable[..., Any], list[float]]:
    timeouts: list[float] = []
    left = iter(given)

    def ask(origin: str, timeout: float) -> Any:
        timeouts.append(timeout)
        return next(left)

    return ask, timeouts


@pytest.mark.parametrize(
    ("wait_ms", "given", "expected"),
    [
        (60_000, [(None, "refused")] * 3 + [({"status": "ok"}, "")], 4),
        (10_000, [(None, "refused")] * 20, None),
    ],
    ids=["in-time", "too-late"],
)
def test_it_is_asked_until_it_is_ready(
    monkeypatch: pytest.MonkeyPatch, wait_ms: int, given: list[Any], expected: int | None
) -> None:
    """With a wait the question is asked again until the answer is good or the time is over."""
    ask, timeouts = answers(*given)
    monkeypatch.setattr(ready, "ask", ask)
    monkeypatch.setattr("sendbox.runtime.wall.monotonic_ns", Clock())
    monkeypatch.setattr(ready, "PAUSE", 0.0)
    if expected is None:
        with pytest.raises(Failure, match="http://box is not ready: refused"):
            ready.wait_ready("http://box", wait_ms)
    else:
        assert ready.wait_ready("http://box", wait_ms) == {"status": "ok"}
        assert len(timeouts) == expected
    assert max(timeouts) <= ready.ANSWER_TIMEOUT
