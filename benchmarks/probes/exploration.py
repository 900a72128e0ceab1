"""Tests in a session that explores: the first run of each, which is watched. Seconds of processor time."""

from __future__ import annotations

import http.client
import json
import statistics
import time

from benchmarks.probes.timing import tell
from sendbox.app import SERVED
from sendbox.exploring.watcher import Watcher
from sendbox.fixture.server import SandboxServer
from sendbox.runtime.interface import WorldHooks

#: Tests of a session.
TESTS = 40
#: The recipients of its message.
TO = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]


def once(server: SandboxServer, connection: http.client.HTTPConnection, name: str, *, watched: bool) -> float:
    """A test: two messages, their webhooks, and what became of them."""
    began = time.process_time()
    watcher = Watcher(SERVED)
    server.runtime.hooks = watcher if watched else WorldHooks()
    if watched:
        server.thread.call(lambda: watcher.begin({}, observing=True))
    sandbox = server.sandbox(name)
    body = json.dumps({"body": "Hello", "to": TO, "callback": sandbox.callback_url})
    headers = {"content-type": "application/json", "x-api-key": sandbox.api_key}
    connection.request("POST", "/v2/message", body, headers)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200
    sandbox.advance("1h")
    assert len(sandbox.events) == 6
    sandbox.close()
    if watched:
        assert len(server.thread.call(lambda: watcher.end(server.runtime))) == 1
    return time.process_time() - began


def main() -> None:
    """Measures and prints."""
    server = SandboxServer().start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    plain, watched = [], []
    once(server, connection, "warm", watched=False)
    for number in range(TESTS):
        plain.append(once(server, connection, f"tests/test_a.py::test_{number}", watched=False))
        watched.append(once(server, connection, f"tests/test_b.py::test_{number}", watched=True))
    connection.close()
    server.stop()
    test = statistics.median(plain)
    tell({"first": statistics.median(watched) - test, "first of a session": watched[0] - test, "test": test})


if __name__ == "__main__":
    main()
