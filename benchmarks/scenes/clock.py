"""`advance` over scheduled events, and webhooks, by the processor time of a server that is moved from outside."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bench import REFERENCE, Bench
from benchmarks.goals import Samples
from benchmarks.load import KEY, TYPICAL, Load
from benchmarks.processes import Process, output_of
from benchmarks.trees import Tree

WORLD = f"/_sandbox/worlds/{KEY}"
#: Messages of a move whose answer has as many entries as any.
FEW = 100
#: Recipients of a message at most (§2.1), and messages of a request while a world is filled.
EACH = 10
MESSAGES = 10


def filled(server: Process, count: int, *, apart: float = 0.0, **fields: Any) -> None:
    """Accepts so many messages of one recipient each; every ten of them `apart` seconds from those before, or now."""
    begin = dt.datetime.fromisoformat(server.ask("GET", f"{WORLD}/clock")["now"]) + dt.timedelta(hours=1)
    messages: list[dict[str, Any]] = []
    for number in range(0, count, EACH):
        to = [{"phone_number": f"4207{each:08}"} for each in range(number, min(count, number + EACH))]
        message: dict[str, Any] = {"body": f"Hello {number}", "to": to, **fields}
        if apart:
            due = begin + dt.timedelta(seconds=round(apart * number / EACH))
            message["datetime"] = due.strftime("%Y-%m-%dT%H:%M:%S+00:00")
        messages.append(message)
        if len(messages) == MESSAGES or number + EACH >= count:
            server.ask("POST", "/v2/messages", messages, key=KEY)
            messages.clear()


def opened(server: Process) -> None:
    """Opens the world of the benchmark."""
    server.ask("POST", "/_sandbox/worlds", {"id": KEY})


def drained(server: Process) -> dict[str, int]:
    """Moves the world until nothing is due; the sums of what the answers count."""
    sums = {"fired": 0, "deliveries": 0, "failed": 0}
    while True:
        moved = server.ask("POST", f"{WORLD}/clock/advance", {"until": "idle"})
        for name in sums:
            sums[name] += moved[name]
        if moved["idle"]:
            return sums


def heap(tree: Tree, live: int, steps: int) -> float:
    """Seconds an event of a bare heap of tuples with a tuple appended for each, so many live, so many steps each."""
    done = output_of([tree.python, "-m", "benchmarks.heap", str(live), str(steps)], env=tree.env)
    return float(done)


def moved(server: Process, live: int, times: int) -> tuple[int, float]:
    """Events, and seconds of processor time, of as many moves over so many messages each."""
    fired, took = 0, 0.0
    for _ in range(times):
        filled(server, live, apart=1)
        before = server.cpu
        fired += drained(server)["fired"]
        took += server.cpu - before
    return fired, took


def advance(bench: Bench) -> Samples:
    """Events by the clock, journal on, no webhooks, with few and with many messages live."""
    large = bench.size(250_000, 50_000)
    for name, live, rounds, times in (("advance", 1_000, 7, 20), ("advance-many", large, 3, 1)):
        for _ in bench.rounds(rounds, 2):
            for tree in bench.trees:
                with bench.trying(tree), tree.serve("--scenario", bench.scenario()) as server:
                    opened(server)
                    fired, took = moved(server, live, times)
                    # what each move takes besides its events: a request, and an answer with the first of its entries
                    few, besides = moved(server, FEW, times)
                    ours = (took - besides) / (fired - few)
                    bare = heap(tree, live, max(1, round(fired / live / times)))
                    figures = {name: bare / ours, f"{name}:events a second": 1 / ours}
                    figures[f"{name}:with request and answer, events a second"] = fired / took
                    yield tree.name, figures | {f"{name}:bare heap, events a second": 1 / bare}


def posted(tree: Tree, kept: Path) -> float:
    """Seconds a POST of aiohttp alone with the bodies of a file, one at a time, to a receiver of its own."""
    with Process([tree.python, "-m", "benchmarks.receiver"], env=tree.env) as receiver:
        command = [tree.python, "-m", "benchmarks.poster", str(receiver.port), str(kept)]
        return float(output_of(command, env=tree.env))


def webhooks(bench: Bench) -> Samples:
    """Deliveries to a receiver on a socket: one event a POST, and bundles of 100."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sendbox-bench-")))
        kept = folder / "bodies"
        python = bench.trees[0].python
        command = [python, "-m", "benchmarks.receiver", str(kept)]
        receiver = stack.enter_context(Process(command, env=bench.trees[0].env))
        target = f"http://127.0.0.1:{receiver.port}/hook"
        servers = stack.enter_context(bench.served("--scenario", bench.scenario()))
        for server in servers.values():
            opened(server)
            filled(server, 100, callback=target)
            drained(server)
        for _ in bench.rounds(5):
            factor = bench.machine()
            for tree, server in bench.turn(servers):
                receiver.ask("DELETE", "/")
                spread(server, bench.size(1_000, 300), target)
                before = server.cpu
                done = drained(server)
                ours = (server.cpu - before) / done["deliveries"]
                got = receiver.ask("GET", "/")
                alone = posted(tree, kept)
                figures = {"webhook": alone / ours, "webhook:ours, µs": ours * 1e6, "webhook:aiohttp, µs": alone * 1e6}
                figures["webhook:events a POST"] = got["events"] / got["posts"]
                receiver.ask("DELETE", "/")
                filled(server, bench.size(20_000, 5_000), callback=target)
                before = server.cpu
                drained(server)
                took = server.cpu - before
                got = receiver.ask("GET", "/")
                one = took / got["events"]
                alone = posted(tree, kept)
                figures |= {"webhook-bundle": factor * REFERENCE / 1e6 / one}
                figures |= {"webhook-bundle:events a POST": got["events"] / got["posts"]}
                figures |= {"webhook-bundle:events a second": 1 / one}
                figures |= {"webhook-bundle:aiohttp alone, of ours": alone / (took / got["posts"])}
                yield tree.name, figures


def spread(server: Process, count: int, target: str) -> None:
    """Messages a minute from each other, so that no two events share a delivery."""
    begin = dt.datetime.fromisoformat(server.ask("GET", f"{WORLD}/clock")["now"]) + dt.timedelta(hours=1)
    for first in range(0, count, MESSAGES):
        messages = []
        for number in range(first, min(count, first + MESSAGES)):
            due = (begin + dt.timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
            to = [{"phone_number": f"4207{number:08}"}]
            messages.append({"body": "Hello", "to": to, "datetime": due, "callback": target})
        server.ask("POST", "/v2/messages", messages, key=KEY)


def load_of(callback: str | None) -> Load:
    """A typical request, with a callback or with none."""
    body = json.loads(TYPICAL)
    if callback is None:
        del body["callback"]
    else:
        body["callback"] = callback
    return Load(1, body=json.dumps(body, separators=(",", ":")))
