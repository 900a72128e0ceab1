"""Whether a message costs the same in a large world, and a call and a world the same among many worlds."""

from __future__ import annotations

import statistics
from dataclasses import replace

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import Load
from benchmarks.processes import Process
from benchmarks.scenes.calls import to_recipients
from benchmarks.scenes.clock import WORLD, drained, load_of, opened
from benchmarks.scenes.memory import RECIPIENTS

#: Messages of one request while a world is filled.
FILLING = 100


def messages(bench: Bench) -> Samples:
    """A world grows; at each size some typical requests are made and their messages moved to their ends."""
    sizes = [1_000, 10_000, 100_000] if bench.quick else [1_000, 10_000, 100_000, 1_000_000]
    load = replace(load_of(None), requests=bench.size(500, 300))
    for tree in bench.trees:
        with bench.trying(tree), tree.serve("--scenario", bench.scenario()) as server:
            opened(server)
            retained = 0
            costs: dict[int, float] = {}
            figures: dict[str, float] = {}
            for size in sizes:
                requests = max(0, size - retained) // FILLING
                if requests:
                    server.load(Load(requests, path="/v2/messages", body=to_recipients(10), first=retained // FILLING))
                    drained(server)
                    retained += requests * FILLING
                costs[size] = statistics.median(message_cost(server, load) / bench.machine() for _ in range(5)) * 1e6
                retained += 5 * load.requests * RECIPIENTS
                figures[f"flat-messages:{size}"] = costs[size]
                before = server.cpu
                server.ask("GET", f"{WORLD}/messages?last=10")
                figures[f"flat-messages:the newest 10 of {size:,} by control, ms"] = (server.cpu - before) * 1e3
                figures[f"flat-messages:memory with {size:,}, MB"] = server.rss / 1e6
            yield tree.name, {"flat-messages": costs[sizes[-1]] / costs[sizes[0]]} | figures


def message_cost(server: Process, load: Load) -> float:
    """Seconds of processor time a message, from its request to its end."""
    before = server.cpu
    server.load(load)
    drained(server)
    return (server.cpu - before) / load.requests / RECIPIENTS


def worlds(bench: Bench) -> Samples:
    """More and more worlds are opened, each by its first call; at each number calls go to all of them in turn."""
    counts = [1, 10, 100, 1_000] if bench.quick else [1, 10, 100, 1_000, 10_000]
    load = replace(load_of(None), headers={"x-api-key": "test-w@n"})
    for tree in bench.trees:
        with bench.trying(tree), tree.serve() as server:
            calls: dict[int, float] = {}
            firsts: dict[int, float] = {}
            made = 0
            for count in counts:
                first, _ = server.cost(replace(load, requests=count - made, first=made))
                if count > 1:
                    firsts[count] = first * 1e6 / bench.machine()
                made = count
                among = replace(load, requests=2_000, among=count)
                samples = [server.cost(among)[0] / bench.machine() for _ in range(3)]
                calls[count] = statistics.median(samples) * 1e6
            figures = {"flat-worlds": calls[counts[-1]] / calls[1], "flat-opening": firsts[counts[-1]] / firsts[100]}
            figures |= {f"flat-worlds:{count}": cost for count, cost in calls.items()}
            yield tree.name, figures | {f"flat-opening:{count}": cost for count, cost in firsts.items()}
