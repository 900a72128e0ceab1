"""The log of a server never makes it wait."""

from __future__ import annotations

import logging
import queue
import threading

import pytest

from sendbox.cli.log import Handler, Log

#: Real seconds: a test that waits so long has failed.
LONG = 20.0


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
    log = Log(pipe.write, waiting=2)
    log.line("first")
    assert pipe.waits.wait(LONG)
    for number in range(5):
        log.line(f"line {number}")
    assert log.dropped == 3
    pipe.has_room.set()
    assert pipe.written.get(timeout=LONG) == "first\n"
    log.close(LONG)
    assert pipe.read() == [
        "3 lines of this log were dropped: they could not be written\n",
        "line 0\n",
        "line 1\n",
    ]


def test_the_end_does_not_wait_for_a_full_pipe() -> None:
    """A log that nobody reads is closed all the same, with lines waiting or without a place for more."""
    pipe = Pipe()
    log = Log(pipe.write, waiting=2)
    log.line("first")
    assert pipe.waits.wait(LONG)
    log.line("second")
    log.close(0.01)
    log.close(0.01)
    log.close(0.01)
    pipe.has_room.set()


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("it was closed")], ids=["broken", "closed"])
def test_a_log_that_is_gone_is_counted(error: Exception) -> None:
    """Nothing that goes wrong with the log is an error of the server."""

    def write(line: str) -> None:
        raise error

    log = Log(write)
    log.line("a")
    log.close(LONG)
    assert log.dropped == 1


def test_a_line_is_one_line() -> None:
    """What a client puts into a line neither ends it nor moves a cursor."""
    written: list[str] = []
    log = Log(written.append)
    log.line("a\nb\x1b[2J")
    log.close(LONG)
    assert written == ["a\\nb\\x1b[2J\n"]


def test_what_libraries_log_goes_the_same_way() -> None:
    """A record of a library is lines of the log, its traceback too, from the level that Python shows unasked."""
    written: list[str] = []
    log = Log(written.append)
    logger = logging.getLogger("tests.library")
    logger.propagate = False
    logger.addHandler(Handler(log))
    logger.info("not this")
    try:
        raise KeyError("x")
    except KeyError:
        logger.exception("it broke")
    log.close(LONG)
    assert written[:2] == ["it broke\n", "Traceback (most recent call last):\n"]
    assert written[-1] == "KeyError: 'x'\n"
