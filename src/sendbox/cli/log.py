"""The log of a server: lines that another program reads, or does not.

Standard error is often a pipe, and a pipe that its reader leaves alone is full after 64 kB: whoever then writes waits
for ever. So a thread of its own writes, and the server hands it lines. What it cannot take is dropped and counted, and
the count is written as soon as a line can be written again.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Final

from sendbox.cli.outcome import one_line

#: So many lines wait to be written.
WAITING: Final = 1_000
#: Real seconds that the end of the server waits for its last lines to be written.
PARTING: Final = 0.5


class Log:
    """A log. `write` writes one line with its end, and may block or raise OSError or ValueError."""

    def __init__(self, write: Callable[[str], object], *, waiting: int = WAITING) -> None:
        self._write = write
        self._lines: queue.Queue[str | None] = queue.Queue(waiting)
        #: lines that were given up so far; the loop counts those that had no place, the thread those it could not write
        self._without_place = 0
        self._unwritten = 0
        self._told = 0
        self._thread = threading.Thread(target=self._run, name="sendbox-log", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """How many lines could not be written."""
        return self._without_place + self._unwritten

    def line(self, text: str) -> None:
        """Hands in one line. Never waits."""
        try:
            self._lines.put_nowait(one_line(text))
        except queue.Full:
            self._without_place += 1

    def close(self, within: float = PARTING) -> None:
        """Waits for the lines that were handed in to be written, so many real seconds at most."""
        try:
            self._lines.put_nowait(None)
        except queue.Full:  # nobody reads: the last lines are lost with the others
            return
        self._thread.join(within)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            dropped = self.dropped
            if dropped > self._told:
                self._put(f"{dropped - self._told} lines of this log were dropped: they could not be written")
                self._told = dropped
            self._put(line)

    def _put(self, line: str) -> None:
        try:
            self._write(f"{line}\n")
        except (OSError, ValueError):  # it was closed
            self._unwritten += 1


class Handler(logging.Handler):
    """What libraries log (uvicorn, asyncio), as lines of ours: Python's own handler would wait for the pipe."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One record, a traceback with a line for each of its own."""
        for line in self.format(record).splitlines():
            self._log.line(line)
