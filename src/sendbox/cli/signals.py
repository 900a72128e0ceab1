"""The signals that end a command."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Collection, Iterator


@contextlib.contextmanager
def on_signals(end: Callable[[], object]) -> Iterator[None]:
    """Calls `end` at SIGINT and SIGTERM. Process 1 of a container ignores a signal that has no handler.

    After one of them has come the process ends: further ones are ignored until then, and do not change its exit code.
    Where a loop takes no signals (Windows) Ctrl-C is KeyboardInterrupt, as without this.
    """
    loop = asyncio.get_running_loop()
    ends = (signal.SIGINT, signal.SIGTERM)
    came = False

    def called() -> None:
        nonlocal came
        came = True
        end()

    with contextlib.suppress(NotImplementedError):
        for number in ends:
            loop.add_signal_handler(number, called)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError), _block_signals(ends if came else ()):
            for number in ends:
                loop.remove_signal_handler(number)
                if came:
                    signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def _block_signals(numbers: Collection[signal.Signals]) -> Iterator[None]:
    """Holds these signals back meanwhile, where the system can."""
    if sys.platform == "win32" or not numbers:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
