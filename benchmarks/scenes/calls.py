"""`POST /v2/message` and its relatives, at a server in a process of its own, against the bare app."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import Load
from benchmarks.processes import Process

#: Messages that are retained before the p99 is measured.
RETAINED = 100_000


def call(bench: Bench) -> Samples:
    """Processor time of a typical request, with everything on."""
    load = Load(bench.size(2_500, 2_000))
    with bench.served() as servers:
        for server in servers.values():
            server.load(load)
        for _ in bench.rounds(21, 5):
            base, _ = bench.bare.cost(load)
            for tree, server in bench.turn(servers):
                ours, result = server.cost(load)
                figures = {"call": base / ours, "call:bare, µs": base * 1e6, "call:ours, µs": ours * 1e6}
                yield tree.name, figures | {"call:requests a second": result.rate}


def mix(bench: Bench) -> Samples:
    """Processor time of what clients really send; no two requests are equal."""
    requests = bench.size(2_500, 2_000)
    with bench.served() as servers:
        for server in servers.values():
            server.load(Load(requests, mix=-1))
        for number in bench.rounds(21, 5):
            load = Load(requests, mix=number)
            base, _ = bench.bare.cost(load)
            for tree, server in bench.turn(servers):
                ours, result = server.cost(load)
                figures = {"mix": base / ours, "mix:bare, µs": base * 1e6, "mix:ours, µs": ours * 1e6}
                yield tree.name, figures | {"mix:requests a second": result.rate}


def tail(bench: Bench) -> Samples:
    """The 99th percentile while many messages are retained."""
    load = Load(bench.size(4_000, 2_000))
    with bench.served() as servers:
        for server in servers.values():
            server.load(Load(bench.size(RETAINED, RETAINED // 5) // 3))
        for _ in bench.rounds(15):
            base = bench.bare.load(load).p99
            for tree, server in bench.turn(servers):
                ours = server.load(load).p99
                yield tree.name, {"call-p99": ours / base, "call-p99:bare, ms": base, "call-p99:ours, ms": ours}


def to_recipients(count: int) -> str:
    """A body of `/v2/messages`: ten messages to so many phones each, at most ten (§2.1), others in each request."""
    to = [{"phone_number": f"4207{number}@7"} for number in range(count)]
    return json.dumps([{"body": f"Hello @n {number}", "to": to} for number in range(10)])


def recipients(bench: Bench) -> Samples:
    """What one more recipient of `/v2/messages` takes."""
    few, many = 1, 10
    loads = [Load(bench.size(600, 200), path="/v2/messages", body=to_recipients(count)) for count in (few, many)]
    with bench.served("--scenario", bench.scenario()) as servers:
        for server in servers.values():
            server.load(loads[0])
        for _ in bench.rounds():
            factor = bench.machine()
            for tree, server in bench.turn(servers):
                (low, _), (high, _) = (server.cost(load) for load in loads)
                one = (high - low) / (many - few) / 10 * 1e6
                yield tree.name, {"recipient": one / factor, "recipient:measured, µs": one}


def bulk(bench: Bench) -> Samples:
    """A bulk file from its upload until its messages are accepted: with more recipients a line, and with more lines."""
    sizes = [1_000, 10_000, 100_000] if not bench.quick else [1_000, 10_000]
    many = 10
    with bench.served("--scenario", bench.scenario()) as servers:
        for server in servers.values():
            bulk_cost(server, "test-bulk", 1_000)
        for number in bench.rounds(3, 2):
            factor = bench.machine()
            for tree, server in bench.turn(servers):
                costs = {size: bulk_cost(server, f"test-bulk-{number}-{size}", size) * 1e6 for size in sizes}
                high = bulk_cost(server, f"test-bulk-{number}-many", sizes[1], recipients=many) * 1e6
                one = (high - costs[sizes[1]]) / (many - 1)
                figures = {"bulk-recipient": one / factor, "bulk-recipient:measured, µs": one}
                figures["bulk-line"] = costs[sizes[-1]] / factor
                figures["bulk-flat"] = costs[sizes[-1]] / costs[sizes[0]]
                yield tree.name, figures | {f"bulk-flat:{size}": cost / factor for size, cost in costs.items()}


def bulk_cost(server: Process, world: str, lines: int, recipients: int = 1) -> float:
    """Seconds of processor time a line: a file is uploaded and read."""
    address = server.ask("POST", "/v1/messaging/url", {"bulk_id": "b", "filetype": "jsonl"}, key=world)
    path = urlsplit((address.get("data") or address)["url"]).path
    file = []
    for line in range(lines):
        to = ",".join(f'{{"phone_number":"4207{line * recipients + each:08}"}}' for each in range(recipients))
        file.append(f'{{"to":[{to}],"body":"Hello {line}"}}\n')
    before = server.cpu
    server.ask("PUT", path, "".join(file).encode(), kind="application/jsonl")
    server.ask("POST", f"/_sandbox/worlds/{world}/clock/advance", {"by": 0})
    return (server.cpu - before) / lines
