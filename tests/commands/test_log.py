"""The log of a server never makes it wait."""

from __future__ import annotations

import json
import logging
import queue
import threading
from typing import get_args

import pytest

from sendbox.cli.log import Handler, Log
from sendbox.runtime.interface import Level, LogLine

#: Real seconds: a test that waits so long has failed.
LONG = 60.0
#: How a line of the server begins at `noon`.
INFO, WARNING, ERROR = (f"2026-03-01T12:00:00.000Z {level} - - " for level in ("info", "warning", "error"))


def noon() -> int:
    return 1_772_366_400_000


class Pipe:
    """What a log writes to: it blocks while it is full."""

    def __init__(self) -> None:
        self.written: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.waits = threading.Event()
        self.has_room = threading.Event()

    def write(self, line: str) -> None:
        self.waits.set()
        assert self.has_room.wait(LONG)
        self.written.put(line)

    def read(self) -> list[str]:
        return [self.written.get_nowait() for _ in range(self.written.qsize())]


def test_lines_that_cannot_be_written_are_dropped_and_counted() -> None:
    """While its reader leaves the pipe alone `line` returns at once; then what was dropped is told, with its number."""
    pipe = Pipe()
    log = Log(pipe.write, waiting=2, now=noon)
    log.line(LogLine("first"))
    assert pipe.waits.wait(LONG)
    for number in range(5):
        log.line(LogLine(f"line {number}"))
    assert log.dropped == 3
    pipe.has_room.set()
    assert pipe.written.get(timeout=LONG) == f"{INFO}first\n"
    log.close(LONG)
    assert pipe.read() == [
        f"{WARNING}3 lines of this log were dropped: they could not be written\n",
        f"{INFO}line 0\n",
        f"{INFO}line 1\n",
    ]


def test_the_end_does_not_wait_for_a_full_pipe() -> None:
    """A log that nobody reads is closed all the same, with lines waiting or without a place for more."""
    pipe = Pipe()
    log = Log(pipe.write, waiting=2, now=noon)
    log.line(LogLine("first"))
    assert pipe.waits.wait(LONG)
    log.line(LogLine("second"))
    log.close(0.01)
    log.close(0.01)
    log.close(0.01)
    pipe.has_room.set()


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("it was closed")], ids=["broken", "closed"])
def test_a_log_that_is_gone_is_counted(error: Exception) -> None:
    """Nothing that goes wrong with the log is an error of the server."""

    def write(line: str) -> None:
        raise error

    log = Log(write, now=noon)
    log.line(LogLine("a"))
    log.close(LONG)
    assert log.dropped == 1


def test_a_line_is_one_line() -> None:
    """What a client puts into a line neither ends it nor moves a cursor."""
    written: list[str] = []
    log = Log(written.append, now=noon)
    log.line(LogLine("a\nb\x1b[2J"))
    log.close(LONG)
    assert written == [f"{INFO}a\\nb\\x1b[2J\n"]


def test_what_libraries_log_goes_the_same_way() -> None:
    """A record of a library is lines of the log, its traceback too, from the level that Python shows unasked."""
    written: list[str] = []
    log = Log(written.append, now=noon)
    logger = logging.getLogger("tests.library")
    logger.propagate = False
    logger.addHandler(Handler(log))
    logger.info("not this")
    try:
        raise KeyError("x")
    except KeyError:
        logger.exception("it broke")
    log.close(LONG)
    assert written[:2] == [f"{ERROR}it broke\n", f"{ERROR}Traceback (most recent call last):\n"]
    assert written[-1] == f"{ERROR}KeyError: 'x'\n"


@pytest.mark.parametrize(
    ("line", "text", "value"),
    [
        (
            LogLine("denied", "prod…", "warning", more={"path": "/v2/message"}),
            "2026-03-01T12:00:00.000Z warning prod… - denied\n",
            {"level": "warning", "world": "prod…", "operation": None, "message": "denied", "path": "/v2/message"},
        ),
        (
            LogLine("refused\nit", "test-a", operation="sendMessage"),
            "2026-03-01T12:00:00.000Z info test-a sendMessage refused\\nit\n",
            {"level": "info", "world": "test-a", "operation": "sendMessage", "message": "refused\nit"},
        ),
        (
            LogLine("half \ud800"),
            f"{INFO}half \\ud800\n",
            {"level": "info", "world": None, "operation": None, "message": "half \ud800"},
        ),
    ],
    ids=["warning", "info", "server"],
)
def test_formats(line: LogLine, text: str, value: dict[str, object]) -> None:
    """Text has time, level, world, operation and message in a row; JSON has them by name, and what else is known."""
    written: list[str] = []
    for form in ("text", "json"):
        log = Log(written.append, form, now=noon)
        log.line(line)
        log.close(LONG)
    assert written[0] == text
    assert written[1].endswith("}\n")
    assert json.loads(written[1]) == {"time": "2026-03-01T12:00:00.000Z", **value}


def test_a_quiet_log_has_warnings_and_errors() -> None:
    """What is neither is left out, and does not count as dropped."""
    written: list[str] = []
    log = Log(written.append, quiet=True, now=noon)
    for level in get_args(Level):
        log.line(LogLine(level, level=level))
    log.close(LONG)
    assert written == [f"{WARNING}warning\n", f"{ERROR}error\n"]
    assert log.dropped == 0
