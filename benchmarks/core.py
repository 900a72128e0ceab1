"""Figures of the core, in process: worlds, events, memory, validation, holds of the event loop.

    python -m benchmarks.core

Absolute figures of the machine at hand, each with its goal; medians of some repetitions.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import orjson
from starlette.types import Message

from benchmarks.load import TYPICAL
from sendbox.app import PARTS, make_app
from sendbox.contract.validators import Contract
from sendbox.control.routes import STREAMS
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.bounds import ESCAPES
from sendbox.engine.world import World
from sendbox.language import LANGUAGE
from sendbox.runtime import collector
from sendbox.runtime.worlds import Runtime
from sendbox.server.asgi import AsgiCall
from sendbox.server.listener import HEAD, HttpServer
from sendbox.server.loop import new_loop
from sendbox.services.account.account import Account
from sendbox.services.http import forms
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send, Step
from sendbox.settings import Settings

REPETITIONS = 5


def timed(work: Callable[[], object], times: int = 1) -> float:
    """Median seconds of one call."""
    taken = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        for _ in range(times):
            work()
        taken.append((time.perf_counter() - began) / times)
    return statistics.median(taken)


def row(name: str, value: str, goal: str) -> None:
    """One line."""
    print(f"{name:<58} {value:>18}   goal {goal}")


def filled(live: int, blueprint: Blueprint) -> World:
    """A world with so many messages accepted, none handed over yet."""
    world = World("test-bench", blueprint, start=0, services=PARTS)
    key = Account.of(world).keys[world.id]
    for number in range(live):
        send = Send([Recipient(f"420777{number % 10**6:06}")], [Step("sms", "Hello")], at=120_000 + number)
        Messaging.of(world).accept("sendMessage", [send], key, b"%d" % number)
    return world


def events_per_second(live: int) -> float:
    """Steps fired a second while a world with so many live messages runs to its end, nobody being told."""
    blueprint = LANGUAGE.load({"sendbox": 1, "account": {"credit": {"eur": 10**9}, "default_callback_url": None}})
    rates = []
    for _ in range(3):
        world = filled(live, blueprint)
        gc.collect()
        gc.freeze()
        began = time.perf_counter()
        while not world.idle:
            world.run(10**10, 10_000, rest=False)
        rates.append(world.fired / (time.perf_counter() - began))
        gc.unfreeze()
    return statistics.median(rates)


def bytes_per_message(count: int = 20_000) -> float:
    """What a message with its four transitions keeps, the request's own bytes apart."""
    blueprint = LANGUAGE.load({"sendbox": 1, "account": {"credit": {"eur": 10**9}, "default_callback_url": None}})
    gc.collect()
    tracemalloc.start()
    world = filled(count, blueprint)
    while not world.idle:
        world.run(10**10, 10_000, rest=False)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / count


WORLD: Final = "/_sandbox/worlds/test-bench"
#: How a form of a client begins, and how much of a body comes at once.
_FORM: Final = b"apikey=test-bench&number=420777000101&message=Hello&"
_PIECE: Final = 64 * 1024
#: Name, method, path and body of what any client may ask of a world with many messages.
HELD: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("checkpoint", "PUT", f"{WORLD}/checkpoints/c", None),
    ("restore", "POST", f"{WORLD}/checkpoints/c", None),
    ("export", "GET", f"{WORLD}/export", None),
    ("record", "GET", f"{WORLD}/record", None),
    ("digest", "GET", f"{WORLD}/digest", None),
    ("coverage", "GET", f"{WORLD}/coverage", None),
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
    ("a form of 64 KiB, all fields", "POST", "/Send", (_FORM + b"a=1&" * 20_000)[: forms.LONGEST]),
    ("a form of 64 KiB, all numbers", "POST", "/Send", (_FORM + b"number=" + b"1;" * 40_000)[: forms.LONGEST]),
    ("a form with all escapes", "POST", "/Send", _FORM + b"message=" + b"%41" * ESCAPES),
    ("a body of 100 MB", "POST", "/_sandbox/worlds", b"x" * 100_000_000),
)


async def holds() -> dict[str, int]:
    """The longest hold of the loop by what is asked, in nanoseconds of work of its thread."""
    found: dict[str, int] = {}
    runtime = Runtime(Settings(mode="manual", public_url=None), LANGUAGE.load({"sendbox": 1}), PARTS)
    app = make_app(runtime, Contract())

    async def ask(method: str, path: str, body: bytes) -> None:
        kind = "application/x-www-form-urlencoded" if path == "/Send" else "application/json"
        headers = [(b"host", b"box"), (b"content-type", kind.encode()), (b"x-api-key", b"test-bench")]
        call = AsgiCall(method, "http", ("127.0.0.1", 80), path, "", headers)
        places = iter(range(0, max(1, len(body)), _PIECE))

        async def receive() -> Message:
            at = next(places, None)
            if at is None:
                return {"type": "http.disconnect"}
            await asyncio.sleep(0)  # as between two packets
            return {"type": "http.request", "body": body[at : at + _PIECE], "more_body": at + _PIECE < len(body)}

        await app(call.scope, receive, call.send)

    async def longest(asked: asyncio.Future[Any]) -> int:
        most, worked = 0, time.thread_time_ns()
        while not asked.done():
            await asyncio.sleep(0)
            now = time.thread_time_ns()
            most, worked = max(most, now - worked), now
        return most

    for number in range(500):
        to = [{"phone_number": f"4207{each:02}{number:06}"} for each in range(10)]
        await ask("POST", "/v2/messages", orjson.dumps([{"body": f"Hello {number}", "to": to}] * 2))
    await ask("POST", f"{WORLD}/clock/advance", b'{"by": "1h"}')

    async def unread() -> None:
        """All streams that a world may have, whose readers take nothing, while it has much to say."""
        readers = [await asyncio.open_connection("127.0.0.1", port, limit=1) for _ in range(STREAMS)]
        for _, writer in readers:
            writer.write(b"GET %b/stream HTTP/1.1\r\nhost: box\r\n\r\n" % WORLD.encode())
        while len(runtime.worlds["test-bench"].streams) < STREAMS:
            await asyncio.sleep(0)
        for number in range(100):
            to = [{"phone_number": f"4207{each:02}{number:06}"} for each in range(10)]
            await ask("POST", "/v2/messages", orjson.dumps([{"body": f"Hi {number}", "to": to}] * 2))
            await asyncio.sleep(0)
        await ask("POST", f"{WORLD}/clock/advance", b'{"by": "1h"}')
        for _, writer in readers:
            writer.transport.abort()

    async def headed() -> None:
        """Heads of requests with as many bytes as are read, in many headers and in one."""
        for lines in (b"".join(b"x-%d: 1\r\n" % n for n in range(5_000)), b"x: " + b"x" * (HEAD - 1_000) + b"\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /v1/apikey/me HTTP/1.1\r\nhost: box\r\nx-api-key: test-bench\r\n%b\r\n" % lines)
            assert b" 200 " in await reader.readline()
            writer.transport.abort()

    server = HttpServer(app)
    port = await server.start()
    found["streams that are not read"] = await longest(asyncio.create_task(unread()))
    found["headers of 64 KiB"] = await longest(asyncio.create_task(headed()))
    await server.stop()
    for name, method, path, value in HELD:
        body = value if isinstance(value, bytes) else b"" if value is None else orjson.dumps(value)
        found[name] = await longest(asyncio.create_task(ask(method, path, body)))
    await runtime.aclose()
    return found


def main() -> None:
    """Measures and prints."""
    default, least = LANGUAGE.load("default"), LANGUAGE.load({"sendbox": 1})
    empty = timed(lambda: World("w", least, start=0, services=PARTS), 1000)
    row("a new world, empty", f"{empty * 1e6:.1f} µs", "25 µs")
    row(
        "a new world, default scenario",
        f"{timed(lambda: World('w', default, start=0, services=PARTS), 1000) * 1e6:.1f} µs",
        "80 µs",
    )
    for live, goal in ((1_000, 450_000), (250_000, 220_000)):
        row(f"advance, {live:,} live messages", f"{events_per_second(live):,.0f} events/s", f"{goal:,}")
    row("memory of a message with four transitions", f"{bytes_per_message():.0f} B", "650 B")
    contract = Contract()
    one, many = contract.checker("sending.json#/$defs/Message"), contract.checker("sending.json#/$defs/Messages")
    typical = orjson.loads(TYPICAL % 1)
    big = [{**typical, "to": [{"phone_number": f"4207771234{n:02}"} for n in range(10)]} for _ in range(10)]
    row("validation, typical message", f"{timed(lambda: one.is_valid(typical), 1000) * 1e6:.1f} µs", "6 µs")
    row(
        "validation, 10 messages to 10 recipients each",
        f"{timed(lambda: many.is_valid(big), 100) * 1e6:.1f} µs",
        "25 µs",
    )
    wrong = {**typical, "flow": [{"sms": {"gateway": "hgh"}}]}
    one.findings(wrong)
    row("a refusal with its message", f"{timed(lambda: one.findings(wrong), 100) * 1e6:.0f} µs", "400 µs")
    collector.tune()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        for name, longest in runner.run(holds()).items():
            row(f"longest hold, {name}", f"{longest / 1e6:.1f} ms", "5 ms")


if __name__ == "__main__":
    main()
