"""What it costs to keep worlds in a file: a call, a start, and a world that is made again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import KEY, Load
from benchmarks.trees import Tree

#: Stored worlds at a start, and messages of the world that is made again.
WORLDS, MESSAGES = 1_000, 10_000
ONE = '{"to":[{"phone_number":"420777000101"}],"body":"Hello @n"}'


@contextmanager
def stored(bench: Bench, tree: Tree, load: Load) -> Iterator[str]:
    """A file with the worlds of a load."""
    with TemporaryDirectory(prefix="sendbox-bench-") as folder:
        with tree.serve("--data", f"{folder}/worlds.db") as server:
            server.load(load)
        yield f"{folder}/worlds.db"


def call(bench: Bench) -> Samples:
    """Processor time of what clients really send where it is kept in a file, against a server without one."""
    requests = bench.size(2_500, 2_000)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="sendbox-bench-"))
        for tree in bench.trees:
            with bench.trying(tree):
                without, kept_by_call, kept_by_second = servers = [
                    stack.enter_context(tree.serve(*options))
                    for options in (
                        (),
                        ("--data", f"{folder}/{tree.name}-call.db"),
                        ("--data", f"{folder}/{tree.name}-second.db", "--durability", "second"),
                    )
                ]
                for server in servers:
                    server.load(Load(requests, mix=-1))
                for number in bench.rounds(9):
                    load = Load(requests, mix=number)
                    base, usual = without.cost(load)
                    kept, result = kept_by_call.cost(load)
                    later, _ = kept_by_second.cost(load)
                    figures = {"durable": kept / base, "durable:second, times": later / base}
                    figures |= {"durable:without, µs": base * 1e6, "durable:call, µs": kept * 1e6}
                    figures |= {"durable:without, requests a second": usual.rate}
                    yield tree.name, figures | {"durable:call, requests a second": result.rate}


def start(bench: Bench) -> Samples:
    """Processor time to the first 200 of health with many stored worlds, against that without a file."""
    load = Load(WORLDS, body=ONE, headers={"x-api-key": "test-@n"})
    for tree in bench.trees:
        with bench.trying(tree), stored(bench, tree, load) as file:
            for _ in bench.rounds(9):
                costs = []
                for options in ((), ("--data", file)):
                    with tree.serve(*options) as server:
                        server.ask("GET", "/_sandbox/health")
                        costs.append(server.cpu)
                without, kept = costs
                figures = {"durable-start:without, ms": without * 1e3, "durable-start:with, ms": kept * 1e3}
                yield tree.name, {"durable-start": kept / without, **figures}


def wake(bench: Bench) -> Samples:
    """Processor time of the first call to a stored world with many messages."""
    load = Load(MESSAGES, body=ONE)
    for tree in bench.trees:
        with bench.trying(tree), stored(bench, tree, load) as file:
            for _ in bench.rounds(5):
                factor = bench.machine()
                with tree.serve("--data", file) as server:
                    server.ask("GET", "/_sandbox/worlds")
                    before, began = server.cpu, time.perf_counter()
                    assert server.ask("GET", f"/_sandbox/worlds/{KEY}")["messages"] == MESSAGES
                    took, wall = server.cpu - before, time.perf_counter() - began
                figures = {"durable-wake:measured, s": took, "durable-wake:by the clock on the wall, s": wall}
                yield tree.name, {"durable-wake": took / factor, **figures}
