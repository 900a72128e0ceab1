"""Python's garbage collector in a server of its own: what worlds retain is never walked again.

A world keeps hundreds of thousands of records, and every full collection would walk them all while requests wait. So
what survived two young collections is hidden from the collector at once; what a closed world leaves is
freed by its counts, because closing takes its cycles apart (`World.dispose`). Only for a process that is ours: the
collector of a user's test process is left alone.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: Objects made before a young collection, and young collections before one that freezes. Each walks two thousand
#: objects at most, which takes less than a millisecond; with Python's own it takes five.
THRESHOLDS: Final = (1_000, 1, 10)
_own: tuple[int, int, int] | None = None
#: how many blocks of `collecting` are entered
_collecting = 0


def tune() -> None:
    """From now on collections are small, and survivors are frozen after each one of the second generation."""
    global _own
    gc.freeze()  # without a collection before: a start makes next to no garbage, and a collection takes a tenth of it
    if _own is None:
        _own = gc.get_threshold()
        gc.set_threshold(*THRESHOLDS)
        gc.callbacks.append(_freeze)


def untune() -> None:
    """Restores the settings of the collector."""
    global _own
    if _own is not None:
        gc.callbacks.remove(_freeze)
        gc.set_threshold(*_own)
        _own = None
    gc.unfreeze()


@contextmanager
def collecting() -> Iterator[None]:
    """Frees the cycles that are made in the block, at its end; survivors are frozen after it.

    What was frozen with its cycles would stay for ever, such as the errors of a schema that refused a long text.
    """
    global _collecting
    if _own is None:
        yield
        return
    if not _collecting:
        gc.collect(1)  # and freezes: only what comes from here on is walked
    _collecting += 1
    try:
        yield
    finally:
        if _collecting == 1:
            gc.collect()
        _collecting -= 1


def collect() -> None:
    """Frees all cycles of the process, frozen ones too. It blocks the loop: only when memory is almost used up."""
    if _own is not None and not _collecting:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def _freeze(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] >= 1 and not _collecting:
        gc.freeze()
