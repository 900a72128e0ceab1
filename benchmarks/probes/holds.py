"""The longest hold of the event loop in each scene: nanoseconds of work of its thread between two of its turns.

The scenes of worlds with much to do are those of a test, which counts their calls (`tests/runtime/scenes.py`). Those
below ask what any client may ask of a world with many messages. Collections of garbage are told apart.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.types import Message

from benchmarks.scenes.inside import LARGE
from sendbox.control.stream import MAX_STREAMS
from sendbox.engine.bounds import ESCAPES
from sendbox.runtime import collector
from sendbox.server.listener import HEAD, HttpServer
from sendbox.server.loop import new_loop
from sendbox.server.wire import AsgiCall
from sendbox.services.http.requests import MAX_FORM_BYTES
from tests.box import KEY, WORLD, Box, boxed
from tests.runtime.scenes import SCENES

#: How a form of a client begins, and how much of a body comes at once.
_FORM: Final = f"apikey={KEY}&number=420777000101&message=Hello&".encode()
_PIECE: Final = 64 * 1024
#: Name, method, path and body of what any client may ask of a world with many messages.
ASKED: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("checkpoint", "PUT", f"{WORLD}/checkpoints/c", None),
    ("restore", "POST", f"{WORLD}/checkpoints/c", None),
    ("export", "GET", f"{WORLD}/export", None),
    ("record", "GET", f"{WORLD}/record", None),
    ("digest", "GET", f"{WORLD}/digest", None),
    ("coverage", "GET", f"{WORLD}/coverage", None),
    ("coverage of all worlds as HTML", "GET", "/_sandbox/coverage?format=html", None),
    ("coverage of one dimension", "GET", f"{WORLD}/coverage/fields", None),
    ("report", "GET", f"{WORLD}/report", None),
    ("assumptions", "GET", f"{WORLD}/assumptions", None),
    ("20,000 unknown keys", "PUT", f"{WORLD}/scenario", {"sendbox": 1, **{f"key{n}": 1 for n in range(20_000)}}),
    (
        "10,000 rules",
        "PUT",
        f"{WORLD}/scenario",
        {"sendbox": 1, "attempts": [{"when": {"phone": f"4207{n:08}"}, "then": "failed"} for n in range(10_000)]},
    ),
    (
        "5,000 patterns",
        "PUT",
        f"{WORLD}/scenario",
        {"sendbox": 1, "attempts": [{"when": {"phone": f"4207{n:05}*"}, "then": "failed"} for n in range(5_000)]},
    ),
    ("100,000 opt-outs", "PATCH", f"{WORLD}/account", {"optout": [f"4207{n:08}" for n in range(100_000)]}),
    ("a rule of 10 MB", "POST", f"{WORLD}/rules", {"when": {"body": "x" * 10_000_000}, "then": "failed"}),
    ("a form of 3,000,000 fields", "POST", "/Send", b"a=1&" * 3_000_000),
    ("a form of 15 MB with a good key", "POST", "/Send", _FORM + b"message=" + b"x" * 15_000_000),
    ("a form of 64 KiB, all fields", "POST", "/Send", (_FORM + b"a=1&" * 20_000)[:MAX_FORM_BYTES]),
    (
        "a form of 64 KiB, all numbers",
        "POST",
        "/Send",
        (_FORM + b"number=" + b"1;" * 40_000)[:MAX_FORM_BYTES],
    ),
    ("a form with all escapes", "POST", "/Send", _FORM + b"message=" + b"%41" * ESCAPES),
    ("a body of 100 MB", "POST", "/_sandbox/worlds", b"x" * 100_000_000),
    (
        LARGE,
        "POST",
        "/v2/message",
        {"body": "x" * 16_000_000, "to": [{"phone_number": "420777000101"}]},
    ),
)


@dataclass
class Hold:
    """The longest turn of a scene without its collections of garbage, and the longest collection; nanoseconds."""

    work: int = 0
    collection: int = 0


class Clock:
    """Measures turns of the loop. Collections are noted by the collector itself."""

    def __init__(self) -> None:
        self.hold = Hold()
        self._collecting = self._collected = 0
        gc.callbacks.append(self._collect)

    def _collect(self, phase: str, _info: object) -> None:
        now = time.thread_time_ns()
        if phase == "start":
            self._collecting = now
        else:
            took = now - self._collecting
            self._collected += took
            self.hold.collection = max(self.hold.collection, took)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Notes the longest turn while the context lasts."""
        loop = asyncio.get_running_loop()
        over = False
        began, self._collected = 0, 0

        def tick() -> None:
            nonlocal began
            now = time.thread_time_ns()
            if began:
                self.hold.work = max(self.hold.work, now - began - self._collected)
            self._collected = 0
            if not over:
                loop.call_soon(tick)
            began = time.thread_time_ns()

        loop.call_soon(tick)
        await asyncio.sleep(0)
        self.hold = Hold()
        try:
            yield
        finally:
            over = True
            await asyncio.sleep(0)

    async def of(self, work: Awaitable[object]) -> Hold:
        """The longest turn while this is done."""
        async with self.watch():
            await work
        return self.hold

    def close(self) -> None:
        """Collections are not noted any more."""
        gc.callbacks.remove(self._collect)


async def ask(app: Any, method: str, path: str, value: Any = None) -> None:
    """One request whose body comes in pieces; the answer is dropped."""
    body = value if isinstance(value, bytes) else b"" if value is None else orjson.dumps(value)
    kind = "application/x-www-form-urlencoded" if path == "/Send" else "application/json"
    headers = [(b"host", b"box"), (b"content-type", kind.encode()), (b"x-api-key", KEY.encode())]
    address, _, query = path.partition("?")
    call = AsgiCall(method, "http", ("127.0.0.1", 80), address, query, headers)
    places = iter(range(0, max(1, len(body)), _PIECE))

    async def receive() -> Message:
        at = next(places, None)
        if at is None:
            return {"type": "http.disconnect"}
        await asyncio.sleep(0)  # as between two packets
        return {"type": "http.request", "body": body[at : at + _PIECE], "more_body": at + _PIECE < len(body)}

    await app(call.scope, receive, call.send)
    assert call.status not in (None, 404, 421), (method, path, call.status, call.body)  # it came where it should


async def send_many(app: Any, requests: int) -> None:
    """Requests of two messages to ten phones each."""
    for number in range(requests):
        to = [{"phone_number": f"4207{each:02}{number:06}"} for each in range(10)]
        await ask(app, "POST", "/v2/messages", [{"body": f"Hello {number}", "to": to}] * 2)
        await asyncio.sleep(0)


async def unread(box: Box, port: int) -> None:
    """All streams that a world may have, whose readers take nothing, while it has much to say."""
    readers = [await asyncio.open_connection("127.0.0.1", port, limit=1) for _ in range(MAX_STREAMS)]
    for _, writer in readers:
        writer.write(b"GET %b/stream HTTP/1.1\r\nhost: box\r\n\r\n" % WORLD.encode())
    while len(box.runtime.worlds[KEY].streams) < MAX_STREAMS:
        await asyncio.sleep(0)
    await send_many(box.app, 100)
    await ask(box.app, "POST", f"{WORLD}/clock/advance", {"by": "1h"})
    for _, writer in readers:
        writer.transport.abort()


async def headed(port: int) -> None:
    """Heads of requests with as many bytes as are read, in many headers and in one."""
    for lines in (b"".join(b"x-%d: 1\r\n" % n for n in range(5_000)), b"x: " + b"x" * (HEAD - 1_000) + b"\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /v1/apikey/me HTTP/1.1\r\nhost: box\r\nx-api-key: %b\r\n%b\r\n" % (KEY.encode(), lines))
        assert b" 200 " in await reader.readline()
        writer.transport.abort()


async def asked(clock: Clock, requests: int) -> dict[str, Hold]:
    """What is asked of a world with many messages; the hold by what is asked."""
    found = {}
    async with boxed({"sendbox": 1}, check_answers=False) as box:
        await send_many(box.app, requests)
        await ask(box.app, "POST", f"{WORLD}/clock/advance", {"by": "1h"})
        server = HttpServer(box.app)
        port = await server.start()
        found["streams that are not read"] = await clock.of(unread(box, port))
        found["headers of 64 KiB"] = await clock.of(headed(port))
        await server.stop()
        for name, method, path, value in ASKED:
            body = value if isinstance(value, bytes | None) else orjson.dumps(value)
            found[name] = await clock.of(ask(box.app, method, path, body))
    return found


def main() -> None:
    """Measures and prints; with `quick` on standard input in smaller worlds."""
    quick = sys.stdin.read() == "quick"
    much = 4_000 if quick else 20_000
    found = {}
    collector.tune()
    clock = Clock()
    for scene in SCENES:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(scene(clock.watch, much))
        found[scene.__name__.replace("_", " ")] = clock.hold
    with asyncio.Runner(loop_factory=new_loop) as runner:
        found |= runner.run(asked(clock, much // 40))
    clock.close()
    print(
        orjson.dumps(
            {name: {"work": hold.work / 1e9, "collection": hold.collection / 1e9} for name, hold in found.items()}
        ).decode()
    )


if __name__ == "__main__":
    main()
