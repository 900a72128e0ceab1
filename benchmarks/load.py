"""A load generator on raw sockets: so many connections, each sending its next request when the last was answered.

`python -m benchmarks.load` runs in a process of its own, against loopback only, for a bounded number of requests. It
reads a `Load` as JSON from standard input and writes a `Result` as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from benchmarks.mix import bodies

#: What stands for the number of the request in a body, a path or a header; and for its last seven digits.
NUMBER, PADDED = b"@n", b"@7"
#: 3 recipients, 2 steps, callback, payload.
TYPICAL = (
    '{"body":"Hello @n, your order 48151623 left our store and is on its way, expected tomorrow between 9 and 12. '
    'Follow it in the application or answer STOP to receive no more of these messages.",'
    '"to":[{"phone_number":"420777123401"},{"phone_number":"420777123411"},{"phone_number":"420777123421"}],'
    '"tag":"transactional","callback":"http://127.0.0.1:9/hooks/delivery?tenant=17",'
    '"payload":{"order":48151623,"tenant":17,"trace":"4bf92f3577b34da6a3ce929d0e0e4736"},'
    '"flow":[{"richmsg":{"sender":"Acme","ttl":5,"ttl_condition":"delivered"}},'
    '{"sms":{"sender":"Acme","gateway":"high"}}]}'
)
KEY = "test-bench"


@dataclass(frozen=True)
class Load:
    """Requests to send. `@n` in path, headers and body is the number of the request, from `first`, modulo `among`.

    `@7` in the body is its last seven digits. With `mix`, a seed, the bodies are those of `mix.bodies`, without their
    callbacks where not `callbacks`.
    """

    requests: int
    connections: int = 16
    path: str = "/v2/message"
    body: str = TYPICAL
    headers: dict[str, str] = field(default_factory=lambda: {"x-api-key": KEY})
    first: int = 0
    among: int = 10**9
    mix: int | None = None
    callbacks: bool = True


@dataclass(frozen=True)
class Result:
    """What it took: requests a second, percentiles in milliseconds, bytes of all bodies sent and received."""

    rate: float
    p50: float
    p99: float
    sent: int
    received: int


class Caller(asyncio.Protocol):
    """One connection."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.ask()

    def ask(self) -> None:
        """Sends the next request, or closes."""
        request = self.run.next()
        if request is None:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.rest += data
        head, found, body = self.rest.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        if b"content-length: " in lower:
            length = int(lower.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            whole = len(body) >= length
        else:  # in chunks, as some servers answer
            whole = body.endswith(b"0\r\n\r\n")
        if not whole:
            return
        if head[9:12] not in (b"200", b"201"):
            self.run.wrong = f"not a 200: {self.rest[:1000]!r}"
            self.transport.abort()
            return
        self.run.answered(time.perf_counter() - self.began, len(body))
        self.rest = b""
        if head.startswith(b"HTTP/1.0") or b"\r\nconnection: close" in lower:
            self.transport.close()  # each request has its own connection there
        else:
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is None and not self.run.wrong and self.run.left > 0:
            self.run.connect()
        else:
            self.run.ended(exc)


class Run:
    """One measurement."""

    def __init__(self, load: Load, port: int) -> None:
        self.load = load
        self.port = port
        self.opening: set[asyncio.Future[Any]] = set()
        self.left = load.requests
        self.open = load.connections
        self.times: list[float] = []
        self.sent = self.received = 0
        self.wrong = ""
        self.done = asyncio.Event()
        headers = {"host": f"127.0.0.1:{port}", "content-type": "application/json", **load.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.head = f"POST {load.path} HTTP/1.1\r\n{lines}".encode()
        self.body = load.body.encode()
        self.mix: list[bytes] | None = None
        if load.mix is not None:
            self.mix = [body.encode() for body in bodies(load.mix, load.requests, callbacks=load.callbacks)]

    def connect(self) -> None:
        """Opens a connection."""
        opening = asyncio.get_running_loop().create_connection(lambda: Caller(self), "127.0.0.1", self.port)
        task = asyncio.ensure_future(opening)
        self.opening.add(task)
        task.add_done_callback(self._opened)

    def _opened(self, task: asyncio.Future[Any]) -> None:
        self.opening.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.wrong = repr(task.exception())
            self.done.set()

    def next(self) -> bytes | None:
        """The next request, or None when all were sent."""
        if self.left <= 0:
            return None
        number = b"%d" % ((self.load.first + self.load.requests - self.left) % self.load.among)
        self.left -= 1
        if self.mix is None:
            body = self.body.replace(NUMBER, number).replace(PADDED, number[-7:].zfill(7))
        else:
            body = self.mix[self.left]
        self.sent += len(body)
        return self.head.replace(NUMBER, number) + b"content-length: %d\r\n\r\n" % len(body) + body

    def answered(self, took: float, length: int) -> None:
        """A request was answered."""
        self.times.append(took)
        self.received += length

    def ended(self, error: Exception | None) -> None:
        """A connection is through."""
        self.open -= 1
        if not self.open or self.wrong or error is not None:
            self.done.set()


async def measure(port: int, load: Load) -> Result:
    """Runs a load against a port of loopback. Raises `SystemExit` where an answer is missing."""
    run = Run(load, port)
    began = time.perf_counter()
    for _ in range(load.connections):
        run.connect()
    await run.done.wait()
    took = time.perf_counter() - began
    if len(run.times) != load.requests:
        raise SystemExit(run.wrong or f"{len(run.times)} of {load.requests} requests were answered")
    run.times.sort()
    middle, high = (run.times[int(len(run.times) * share)] * 1000 for share in (0.5, 0.99))
    return Result(load.requests / took, middle, high, run.sent, run.received)


def main() -> None:
    """Reads `{"port": …, "load": {…}}`, writes the result."""
    import uvloop

    given: dict[str, Any] = json.load(sys.stdin)
    gc.disable()  # of what it keeps little, and a collection would count as time of the server
    print(json.dumps(asdict(uvloop.run(measure(given["port"], Load(**given["load"]))))))


if __name__ == "__main__":
    main()
