"""Python's garbage collector in a server of its own: what worlds retain is never walked again.

A world keeps hundreds of thousands of records, and every full collection would walk them all while requests wait. So
whatever survived two young collections is moved out of the collector's sight at once; what a closed world leaves is
freed by its counts, because closing takes its cycles apart (`World.dispose`). Only for a process that is ours: the
collector of a user's test process is left alone.
"""

from __future__ import annotations

import gc
from typing import Any


def tune() -> None:
    """From now on survivors are frozen after each collection of the second generation."""
    gc.collect()
    gc.freeze()
    if _freeze not in gc.callbacks:
        gc.callbacks.append(_freeze)


def untune() -> None:
    """Back to the collector's own ways."""
    if _freeze in gc.callbacks:
        gc.callbacks.remove(_freeze)
    gc.unfreeze()


def _freeze(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] >= 1:
        gc.freeze()
