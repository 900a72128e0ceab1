"""Commands as child processes, each in a group of its own, so that all that it started ends with it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

from sendbox.cli.outcome import CANNOT, Failure, one_line

#: The greatest number of lines of the output of a command that are kept, the last ones.
MAX_OUTPUT_LINES: Final = 20
#: The most that is read for them, in bytes.
_LAST_BYTES: Final = 64 * 1024
#: Real seconds in which a command that is told to end may do so.
_TERMINATION_TIMEOUT: Final = 1.0
#: What colours a line on a terminal.
_COLOUR_CODE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class CommandsStopped(Exception):
    """No more commands are run."""


@dataclass(frozen=True, slots=True)
class EndedCommand:
    """A command has ended: its exit code, None where it took too long, and the last lines that it wrote."""

    code: int | None
    output: tuple[str, ...]


class Children:
    """The commands that run. `run` may be called from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, command: Sequence[str], environment: Mapping[str, str], limit: float | None) -> EndedCommand:
        """Runs a command to its end, at most `limit` real seconds. Raises `Failure` where it cannot be started."""
        with tempfile.TemporaryFile() as output:
            child = self._start_process(command, environment, output)
            timed_out = threading.Event()

            def kill_late() -> None:
                timed_out.set()
                _send_signal(child, "SIGKILL")

            # a wait with a limit would look only now and then whether the child has ended
            timer = threading.Timer(threading.TIMEOUT_MAX if limit is None else limit, kill_late)
            timer.daemon = True
            timer.start()
            code = child.wait()
            timer.cancel()
            _send_signal(child, "SIGKILL")  # what it left behind
            with self._lock:
                self._running.discard(child)
            return EndedCommand(None if timed_out.is_set() else code, _last_lines(output))

    def _start_process(
        self, command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise CommandsStopped
            try:
                child = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise Failure(CANNOT, f"{command[0]} cannot be run: {why}") from None
            self._running.add(child)
            return child

    def end(self) -> None:
        """Ends all commands; no other one is started."""
        with self._lock:
            self._ended = True
            running = list(self._running)
        for child in running:
            _send_signal(child, "SIGTERM")
        try:
            for child in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_TERMINATION_TIMEOUT)
        finally:
            for child in running:
                _send_signal(child, "SIGKILL")


def _send_signal(child: subprocess.Popen[bytes], name: str) -> None:
    """Sends a signal to a command and to all of its group; where there are no groups, the command alone is ended."""
    group: Callable[[int, int], None] | None = getattr(os, "killpg", None)
    if group is None:  # Windows
        child.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all of it has ended
        group(child.pid, getattr(signal, name))


def _last_lines(output: IO[bytes]) -> tuple[str, ...]:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _LAST_BYTES))
    text = _COLOUR_CODE.sub("", output.read().decode("utf-8", "replace"))
    lines = [one_line(line.expandtabs().rstrip()) for line in text.rstrip().splitlines()]
    return tuple(lines[-MAX_OUTPUT_LINES:])
