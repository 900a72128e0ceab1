"""What a retained message takes, seen from outside: resident memory over the number of messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import Load
from benchmarks.processes import Process
from benchmarks.scenes.clock import WORLD, drained, load_of, opened

#: Recipients of a typical request.
RECIPIENTS = 3
#: What a byte of a request may take: more is memory of its messages, and so is what is kept in less than one copy.
LEAST, MOST = 1.0, 1.5
#: So many more bytes has the body of a padded request.
PADDING = 4_000


def slope(points: Sequence[tuple[float, float]]) -> float:
    """By how much y grows with x: least squares."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    over = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return over / sum((x - middle_x) ** 2 for x, _ in points)


def growth(server: Process, load: Load, counts: Sequence[int]) -> tuple[float, float]:
    """Bytes of resident memory a request, and bytes of its body and answer, over these counts of requests.

    A mix goes on with other bodies after each count.
    """
    opened(server)
    server.load(replace(load, requests=counts[0] // 2 or 1))
    drained(server)
    points = []
    sent = made = 0
    for count in counts:
        mix = None if load.mix is None else count
        result = server.load(replace(load, requests=count - made, first=made, mix=mix))
        sent += result.sent + result.received
        drained(server)
        points.append((float(count), float(server.rss)))
        made = count
    return slope(points), sent / made


def memory(bench: Bench) -> Samples:
    """A typical request without a callback, its messages moved to their ends; and the same with a longer body."""
    plain = load_of(None)
    body = json.loads(plain.body)
    body["payload"]["padding"] = "@n " + "0123456789 abcde" * (PADDING // 16)
    padded = replace(plain, body=json.dumps(body, separators=(",", ":")))
    counts = [bench.size(each, each // 4) for each in (4_000, 8_000, 12_000, 16_000, 20_000)]
    for tree in bench.trees:
        with bench.trying(tree):
            with tree.serve("--scenario", bench.scenario()) as server:
                whole, bytes_of = growth(server, plain, counts)
            with tree.serve("--scenario", bench.scenario()) as server:
                more, bytes_of_more = growth(server, padded, [count // 2 for count in counts])
            a_byte = (more - whole) / (bytes_of_more - bytes_of)
            own = min(max(LEAST, a_byte), MOST) * bytes_of
            message = (whole - own) / RECIPIENTS
            figures = {"memory-message": message, "memory-bytes": a_byte}
            figures |= {"memory-message:a request whole, bytes": whole, "memory-message:its own bytes": bytes_of}
            yield tree.name, figures


def mix(bench: Bench) -> Samples:
    """What clients really send, without callbacks, moved to its end."""
    counts = [bench.size(each, each // 4) for each in (4_000, 8_000, 12_000, 16_000, 20_000)]
    load = Load(1, mix=0, callbacks=False)
    for _ in bench.rounds(5):  # memory comes in arenas of a megabyte: the rounds differ by 20 bytes a message
        for tree in bench.trees:
            with bench.trying(tree), tree.serve("--scenario", bench.scenario()) as server:
                whole, bytes_of = growth(server, load, counts)
                recipients = server.ask("GET", WORLD)["messages"] / (counts[-1] + (counts[0] // 2))
                figures = {"memory-mix": (whole - bytes_of) / recipients, "memory-mix:messages a request": recipients}
                figures |= {"memory-mix:a request whole, bytes": whole, "memory-mix:its own bytes": bytes_of}
                yield tree.name, figures
