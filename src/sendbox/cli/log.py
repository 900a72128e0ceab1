"""The log of a server: its lines never block the server.

Standard error is often a pipe. A pipe that is not read is full after 64 kB, and the next write waits for ever. So a
separate thread writes, and the server gives it lines. Lines that it cannot take are dropped and counted, and the count
is written as soon as a line can be written again.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable
from typing import Final, Literal

from sendbox.cli.outcome import one_line
from sendbox.engine.durations import iso
from sendbox.engine.kinds.masking import MASK
from sendbox.runtime import wall
from sendbox.runtime.interface import Level, LogLine

#: How lines are written.
Form = Literal["text", "json"]
#: How many lines wait to be written.
MAX_WAITING_LINES: Final = 1_000
#: Real seconds that the end of the server waits for its last lines to be written.
FLUSH_TIMEOUT: Final = 0.5


def as_json(line: LogLine, at: int) -> str:
    """A line as an object: `time`, `level`, `world`, `operation`, `message`, and what else is known.

    `world` and `operation` are null where there is none.
    """
    head = {"time": iso(at), "level": line.level, "world": line.world or None, "operation": line.operation}
    return json.dumps({**head, "message": line.message, **line.more})


def as_text(line: LogLine, at: int) -> str:
    """A line for people: the same in one row, `-` where there is no world or operation."""
    return one_line(f"{iso(at)} {line.level} {line.world or '-'} {line.operation or '-'} {line.message}")


class Log:
    """A log. `write` writes one line with its end, and may block or raise OSError or ValueError.

    A `quiet` one leaves out what is neither a warning nor an error. `now` is the time of the machine, in milliseconds.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        form: Form = "text",
        *,
        quiet: bool = False,
        waiting: int = MAX_WAITING_LINES,
        now: Callable[[], int] = wall.now_ms,
    ) -> None:
        self._write = write
        self._format_line = as_json if form == "json" else as_text
        self._quiet = quiet
        self._now = now
        self._lines: queue.Queue[tuple[LogLine, int] | None] = queue.Queue(waiting)
        #: lost lines so far; the loop counts those without a place, the thread those that it could not write
        self._refused = 0
        self._unwritten = 0
        self._reported = 0
        self._thread = threading.Thread(target=self._run, name="sendbox-log", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """The number of lines that could not be written."""
        return self._refused + self._unwritten

    def line(self, line: LogLine) -> None:
        """Adds one line. Never waits."""
        if self._quiet and line.level == "info":
            return
        try:
            self._lines.put_nowait((line, self._now()))
        except queue.Full:
            self._refused += 1

    def close(self, within: float = FLUSH_TIMEOUT) -> None:
        """Waits until all lines are written, at most `within` real seconds."""
        try:
            self._lines.put_nowait(None)
        except queue.Full:  # no one reads: the last lines are lost with the others
            return
        self._thread.join(within)

    def _run(self) -> None:
        while (item := self._lines.get()) is not None:
            dropped = self.dropped
            if dropped > self._reported:
                text = f"{dropped - self._reported} lines of this log were dropped: they could not be written"
                self._write_line(LogLine(text, level="warning"), self._now())
                self._reported = dropped
            self._write_line(*item)

    def _write_line(self, line: LogLine, at: int) -> None:
        try:
            self._write(f"{self._format_line(line, at)}\n")
        except (OSError, ValueError):  # it was closed
            self._unwritten += 1


class Handler(logging.Handler):
    """The records of libraries (uvicorn, asyncio) as lines: Python's own handler would wait for the pipe."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One record, a traceback with a line for each of its own."""
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        for line in self.format(record).splitlines():
            self._log.line(LogLine(MASK.text(line), level=level, more={"logger": record.name}))
