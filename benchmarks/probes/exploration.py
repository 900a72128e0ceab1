"""Tests of a session that explores: the first run of each, which is watched. Seconds of processor time."""

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
TESTS = 20
#: The recipients of the message of a test.
TO = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]


def run_test(server: SandboxServer, connection: http.client.HTTPConnection, name: str, *, watched: bool) -> float:
    """A test: a message to two phones, and its webhooks."""
    began = time.process_time()
    watcher = Watcher(SERVED)
    server.runtime.hooks = watcher if watched else WorldHooks()
    server.thread.call(lambda: watcher.begin({}, observing=watched))
    sandbox = server.sandbox(name)
    body = json.dumps({"body": "Hello", "to": TO, "callback": sandbox.callback_url})
    connection.request("POST", "/v2/message", body, {"content-type": "application/json", "x-api-key": sandbox.api_key})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200
    sandbox.advance("1h")
    assert len(sandbox.events) == 3 * len(TO)
    sandbox.close()
    assert len(server.thread.call(lambda: watcher.end(server.runtime))) == watched
    return time.process_time() - began


def main() -> None:
    """Measures and prints."""
    server = SandboxServer().start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    run_test(server, connection, "before", watched=False)
    plain, watched = [], []
    for number in range(TESTS):
        plain.append(run_test(server, connection, f"plain {number}", watched=False))
        watched.append(run_test(server, connection, f"watched {number}", watched=True))
    connection.close()
    server.stop()
    test = statistics.median(plain)
    tell({"first": watched[0] - test, "later": statistics.median(watched) - test, "the test": test})


if __name__ == "__main__":
    main()
