"""From the start of a process to its first 200, and the memory that it has then."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import KEY
from benchmarks.processes import Process
from benchmarks.scenes.clock import load_of
from benchmarks.trees import bare


def first(make: Callable[[], Process], *, call: bool) -> dict[str, float]:
    """Seconds of processor time and of the wall until the first 200 of health or of a call, and memory after it."""
    with make() as server:
        if call:
            server.ask("POST", "/v2/message", load_of(None).body.encode(), key=KEY)
        else:
            server.ask("GET", "/_sandbox/health")
        wall = time.perf_counter() - server.began
        return {"cpu": server.cpu, "wall": wall, "rss": float(server.rss)}


def start(bench: Bench) -> Samples:
    """Bare and ours in turn; what they compiled before is there."""
    for number in range(len(bench.rounds(9)) + 1):
        for call in (False, True):
            base = first(lambda: bare(bench.trees[0]), call=call)
            for tree in bench.trees:
                with bench.trying(tree):
                    ours = first(tree.serve, call=call)
                    if not number:  # compiles
                        continue
                    if call:
                        yield tree.name, {"start-call": ours["cpu"] / base["cpu"]}
                        continue
                    figures = {"start": ours["cpu"] / base["cpu"], "start-wall": ours["wall"] / base["wall"]}
                    figures |= {"start:bare, ms": base["cpu"] * 1e3, "start:ours, ms": ours["cpu"] * 1e3}
                    figures |= {"start-wall:bare, ms": base["wall"] * 1e3, "start-wall:ours, ms": ours["wall"] * 1e3}
                    figures |= {"memory-start": ours["rss"] / base["rss"]}
                    figures |= {"memory-start:bare, MB": base["rss"] / 1e6, "memory-start:ours, MB": ours["rss"] / 1e6}
                    yield tree.name, figures


#: The receiver is asked at most so often whether a webhook came.
_LOOKS = 5_000


def first_webhook(bench: Bench) -> Samples:
    """Resident memory after the first webhook, against that of bare after its start."""
    with ExitStack() as stack:
        command = [bench.trees[0].python, "-m", "benchmarks.receiver"]
        receiver = stack.enter_context(Process(command, env=bench.trees[0].env))
        target = f"http://127.0.0.1:{receiver.port}/hook"
        for _ in bench.rounds(5):
            base = first(lambda: bare(bench.trees[0]), call=True)["rss"]
            for tree in bench.trees:
                with bench.trying(tree), tree.serve("--clock", "auto") as server:
                    receiver.ask("DELETE", "/")
                    server.ask("POST", "/v2/message", load_of(target).body.encode(), key=KEY)
                    for _ in range(_LOOKS):
                        if receiver.ask("GET", "/")["posts"]:
                            break
                    rss = float(server.rss)
                    yield tree.name, {"memory-webhook": rss / base, "memory-webhook:ours, MB": rss / 1e6}
