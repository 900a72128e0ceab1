"""Processor time of a function."""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping


def seconds(works: Mapping[str, Callable[[], object]], times: int, rounds: int = 5) -> dict[str, float]:
    """Median seconds of processor time of each function, over rounds in which they take turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, work in works.items():
            began = time.process_time()
            for _ in range(times):
                work()
            taken[name].append((time.process_time() - began) / times)
    return {name: statistics.median(each) for name, each in taken.items()}


def tell(figures: Mapping[str, float]) -> None:
    """Prints the figures."""
    print(json.dumps(dict(figures)))
