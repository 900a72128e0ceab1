"""A bare heap of tuples with a tuple appended per event.

`python -m benchmarks.heap LIVE STEPS` prints the seconds of processor time an event.
"""

from __future__ import annotations

import gc
import heapq
import sys
import time


def seconds(live: int, steps: int, events: int) -> float:
    """Processor time an event; `live` entries, each fired `steps` times, again until there were so many events."""
    fired, took = 0, 0.0
    while fired < events:
        heap = [(60_000 + number, number, 1) for number in range(live)]
        journal: list[tuple[int, int, int]] = []
        pop, push, append = heapq.heappop, heapq.heappush, journal.append
        gc.collect()
        gc.freeze()
        began = time.process_time()
        while heap:
            at, number, step = pop(heap)
            append((at, number, step))
            if step < steps:
                push(heap, (at + 1_000 + number % 7, number, step + 1))
        took += time.process_time() - began
        fired += len(journal)
        gc.unfreeze()
    return took / fired


if __name__ == "__main__":
    print(seconds(int(sys.argv[1]), int(sys.argv[2]), 200_000))
