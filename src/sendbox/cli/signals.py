"""The signals that end a command."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def on_signals(end: Callable[[], object]) -> Iterator[None]:
    """Calls `end` at SIGINT and SIGTERM. Process 1 of a container ignores a signal that has no handler.

    Where a loop takes no signals (Windows) Ctrl-C is KeyboardInterrupt, as without this.
    """
    loop = asyncio.get_running_loop()
    ends = (signal.SIGINT, signal.SIGTERM)
    with contextlib.suppress(NotImplementedError):
        for number in ends:
            loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in ends:
                loop.remove_signal_handler(number)
