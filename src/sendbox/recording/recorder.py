"""The thread beside the proxy that masks, checks and writes calls, and prints lines. Nothing waits for it."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sendbox.recording.exchange import Budget, NotRecorded
from sendbox.recording.har import FileFull, entry_of
from sendbox.recording.standins import StandIns

if TYPE_CHECKING:
    from sendbox.recording.checking import Checker
    from sendbox.recording.exchange import Exchange
    from sendbox.recording.har import HarFile

#: So many calls and lines wait to be written.
MAX_WAITING: Final = 1_000
#: Real seconds that the end waits for the last calls to be written.
FLUSH_TIMEOUT: Final = 30.0


class Recorder:
    """Writes calls into a file; `write` gets the lines, and may block or raise OSError or ValueError.

    `make_checker` is called in the thread: to load the contract takes its time.
    """

    def __init__(
        self,
        file: HarFile,
        make_checker: Callable[[], Checker],
        write: Callable[[str], object],
        waiting: int = MAX_WAITING,
    ) -> None:
        self.budget = Budget()
        self.file = file
        #: lines about the contract, and calls that are not in the file
        self.differences = 0
        self.missing = 0
        self._make_checker = make_checker
        self._write = write
        self._stand_ins = StandIns()
        self._queue: queue.Queue[Exchange | str | None] = queue.Queue(waiting)
        self._refused = self._reported = 0
        self._full = False
        self._thread = threading.Thread(target=self._run, name="sendbox-record", daemon=True)
        self._thread.start()

    def say(self, line: str) -> None:
        """Prints a line, masked, after those that wait. Never waits; drops it where too many wait."""
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(line)

    def add(self, exchange: Exchange) -> None:
        """Records a call. Never waits; drops it where too many wait, which a line then says."""
        try:
            self._queue.put_nowait(exchange)
        except queue.Full:
            self._refused += 1
            _release(exchange)

    def close(self, within: float = FLUSH_TIMEOUT) -> None:
        """Writes what waits, for at most `within` real seconds, and closes the file."""
        try:
            self._queue.put(None, timeout=within)
        except queue.Full:
            return
        self._thread.join(within)
        self.missing += self._refused
        self.file.close()

    def _run(self) -> None:
        checker = self._make_checker()
        while (item := self._queue.get()) is not None:
            if self._refused > self._reported:
                count, self._reported = self._refused - self._reported, self._refused
                self._print(f"{count} calls are not recorded: too many waited to be written")
            if isinstance(item, str):
                self._print_masked(item)
                continue
            try:
                self._record(item, checker)
            except Exception as error:  # whatever is wrong with a call, the next ones are recorded
                self.missing += 1
                self._explain(item, error)
            finally:
                _release(item)

    def _record(self, exchange: Exchange, checker: Checker) -> None:
        for name, value in checker.parameters(exchange.method, exchange.url).items():
            self._stand_ins.field(value, name, ())
        masked = exchange.masked(self._stand_ins)
        for line in checker.differences(masked):
            self.differences += 1
            self._print(line)
        if self._full:
            raise FileFull
        self.file.add(entry_of(masked))

    def _explain(self, exchange: Exchange, error: Exception) -> None:
        if isinstance(error, FileFull | OSError):
            if not self._full:
                self._full = True
                why = "is full (--max-size)" if isinstance(error, FileFull) else f"cannot be written: {error.strerror}"
                self._print(f"the file {why}; further calls are handed on, and not recorded")
            return
        why = str(error) if isinstance(error, NotRecorded) else f"it cannot be read ({type(error).__name__})"
        self._print_masked(f"{exchange.method} {urlsplit(exchange.url).path} is not recorded: {why}")

    def _print_masked(self, line: str) -> None:
        with contextlib.suppress(RecursionError):  # JSON in an address
            self._print(self._stand_ins.text(line))

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # standard output is closed
            self._write(line)


def _release(exchange: Exchange) -> None:
    exchange.body.release()
    exchange.answer.release()
