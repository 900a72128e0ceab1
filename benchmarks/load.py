"""A load generator on raw sockets: so many connections, each sending its next request when the last was answered.

Runs in a process of its own, against loopback only, for a bounded number of requests.
"""

from __future__ import annotations

import asyncio
import sys
import time

TYPICAL = (
    b'{"body":"Hello %d, your order 48151623 left our store and is on its way, expected tomorrow between 9 and 12. '
    b'Follow it in the application or answer STOP to receive no more of these messages.",'
    b'"to":[{"phone_number":"420777123401"},{"phone_number":"420777123411"},{"phone_number":"420777123421"}],'
    b'"tag":"transactional","callback":"http://127.0.0.1:9/hooks/delivery?tenant=17",'
    b'"payload":{"order":48151623,"tenant":17,"trace":"4bf92f3577b34da6a3ce929d0e0e4736"},'
    b'"flow":[{"richmsg":{"sender":"Acme","ttl":5,"ttl_condition":"delivered"}},'
    b'{"sms":{"sender":"Acme","gateway":"high"}}]}'
)


class Caller(asyncio.Protocol):
    """One connection."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """Sends the next request, or closes."""
        if self.run.left <= 0:
            self.transport.close()
            self.run.ended()
            return
        self.run.left -= 1
        body = TYPICAL % self.run.left
        self.began = time.perf_counter()
        self.transport.write(  # type: ignore[attr-defined]
            b"POST /v2/message HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: test-bench\r\n"
            b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        )

    def data_received(self, data: bytes) -> None:
        self.rest += data
        head, found, body = self.rest.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"not a 200: {self.rest!r}")
        self.run.times.append(time.perf_counter() - self.began)
        self.rest = b""
        self.ask()


class Run:
    """One measurement."""

    def __init__(self, requests: int, connections: int) -> None:
        self.left = requests
        self.open = connections
        self.times: list[float] = []
        self.done = asyncio.Event()

    def ended(self) -> None:
        """A connection is through."""
        self.open -= 1
        if not self.open:
            self.done.set()


async def measure(port: int, requests: int, connections: int) -> tuple[float, float]:
    """Requests a second, and the 99th percentile in milliseconds."""
    run = Run(requests, connections)
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Caller(run), "127.0.0.1", port)
    await run.done.wait()
    took = time.perf_counter() - began
    run.times.sort()
    return requests / took, run.times[int(len(run.times) * 0.99)] * 1000


def main() -> None:
    """`python -m benchmarks.load PORT REQUESTS CONNECTIONS`: prints rate and p99."""
    import uvloop

    port, requests, connections = map(int, sys.argv[1:4])
    rate, p99 = uvloop.run(measure(port, requests, connections))
    print(f"{rate:.1f} {p99:.3f}")


if __name__ == "__main__":
    main()
