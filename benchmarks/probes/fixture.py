"""The fixture's server: its start to the first 200, its stop, the set-up of a test. Seconds of the wall."""

from __future__ import annotations

import http.client
import statistics
import time

from benchmarks.probes.timing import tell
from sendbox.fixture.server import SandboxServer


def once() -> tuple[float, float, float]:
    """First 200, a test's set-up (its world is open), stop."""
    began = time.perf_counter()
    server = SandboxServer().start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/_sandbox/health")
    answer = connection.getresponse()
    answered = time.perf_counter()
    assert answer.status == 200
    connection.close()
    made = []
    for number in range(20):
        start = time.perf_counter()
        server.sandbox(f"tests/test_a.py::test_{number}").settle()
        made.append(time.perf_counter() - start)
    stopping = time.perf_counter()
    server.stop()
    return answered - began, statistics.median(made), time.perf_counter() - stopping


def main() -> None:
    """Measures and prints; what the first round imports is not counted."""
    once()
    first, setup, stop = (statistics.median(each) for each in zip(*(once() for _ in range(9)), strict=True))
    tell({"first": first, "setup": setup, "stop": stop})


if __name__ == "__main__":
    main()
