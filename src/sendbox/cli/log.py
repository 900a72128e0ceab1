"""The log of a server: its lines never block the server.

Standard error is often a pipe. A pipe that is not read is full after 64 kB, and the next write waits for ever. So a
separate thread writes, and the server gives it lines. Lines that it cannot take are dropped and counted, and the count
is written as soon as a line can be written again.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Final

from sendbox.cli.outcome import one_line

#: How many lines wait to be written.
WAITING: Final = 1_000
#: Real seconds that the end of the server waits for its last lines to be written.
PARTING: Final = 0.5


class Log:
    """A log. `write` writes one line with its end, and may block or raise OSError or ValueError."""

    def __init__(self, write: Callable[[str], object], *, waiting: int = WAITING) -> None:
        self._write = write
        self._lines: queue.Queue[str | None] = queue.Queue(waiting)
        #: lost lines so far; the loop counts those without a place, the thread those that it could not write
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
        """Adds one line. Never waits."""
        try:
            self._lines.put_nowait(one_line(text))
        except queue.Full:
            self._without_place += 1

    def close(self, within: float = PARTING) -> None:
        """Waits until all lines are written, at most `within` real seconds."""
        try:
            self._lines.put_nowait(None)
        except queue.Full:  # no one reads: the last lines are lost with the others
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
    """The records of libraries (uvicorn, asyncio) as lines: Python's own handler would wait for the pipe."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One record, a traceback with a line for each of its own."""
        for line in self.format(record).splitlines():
            self._log.line(line)
