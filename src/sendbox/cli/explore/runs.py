"""Runs of a command, each with a server of its own under a plan; several at once, their results in order.

A command is a child process in a group of its own, so that all that it started ends with it. The JUnit files of a run:
where they are written, which test failed by them, and its assertion.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import IO, Final
from xml.etree import ElementTree as ET

from sendbox.app import SERVED
from sendbox.cli.outcome import CANNOT, Failure, one_line
from sendbox.engine.answer import JsonMapping
from sendbox.engine.timeline import Mode
from sendbox.exploring.exploration import Run, time_limit
from sendbox.exploring.misfortune import Plan, scenarios
from sendbox.exploring.watcher import ObservedWorld, Watcher
from sendbox.fixture.server import SandboxServer
from sendbox.runtime import wall
from sendbox.runtime.callbacks import Callbacks
from sendbox.scenario.model import ScenarioError
from sendbox.settings import Settings

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


@dataclass(frozen=True, slots=True)
class JUnitResult:
    """The result in JUnit files: the first test that failed, None if all passed, and its assertion, line by line."""

    failed: str | None
    assertion: tuple[str, ...] = ()


class Reports:
    """The JUnit files of all runs of a command, which names `path` in its arguments: a file, or a folder of them.

    Each run has a path of its own below `folder`, whose name stands in place of `path`. Where no argument names `path`
    all runs write it, so they have to run one at a time (`shared`).
    """

    def __init__(self, path: str, command: Sequence[str], folder: Path) -> None:
        self._path = path = path.rstrip("/\\") or path
        self._folder = folder
        #: not within a longer path
        self._named = re.compile(rf"(?<![\w./\\-]){re.escape(path)}(?![\w/\\-]|\.\w)")
        self.shared = not any(map(self._named.search, command))

    def prepare(self, command: Sequence[str]) -> tuple[list[str], Path]:
        """The command of one run, and the path that it writes, where no JUnit file is yet. Raises `Failure`."""
        if self.shared:
            file = Path(self._path)
            try:
                for report in _files(file):
                    if not file.is_dir() or _cases(report) is not None:
                        report.unlink(missing_ok=True)
            except OSError as error:
                raise Failure(CANNOT, f"{file} cannot be removed: {error.strerror or error}") from None
            return list(command), file
        file = Path(mkdtemp(dir=self._folder)) / Path(self._path).name
        return [self._named.sub(lambda _: str(file), word) for word in command], file


def read_junit_result(path: Path) -> JUnitResult | None:
    """The result in a JUnit file, or in those of a folder; None if there is none."""
    results = [cases for file in _files(path) if (cases := _cases(file)) is not None]
    if not results:
        return None
    failed = next((case for cases in results for case in cases if _failed(case)), None)
    return JUnitResult(None) if failed is None else JUnitResult(_name(failed), _assertion(failed))


def _files(path: Path) -> list[Path]:
    """The files of a report, which may be a folder with folders."""
    return sorted(path.rglob("*.xml")) if path.is_dir() else [path]


def _cases(file: Path) -> list[ET.Element] | None:
    """The tests in a JUnit file; None if the file does not exist, or is not a JUnit file."""
    try:
        root = ET.parse(file).getroot()
    except (OSError, ET.ParseError):
        return None
    cases = list(root.iter("testcase"))
    return cases if cases or root.tag in ("testsuite", "testsuites") else None


def _assertion(case: ET.Element) -> tuple[str, ...]:
    """The first lines of the message of a test that failed, and of its text where that says more."""
    node = case.find("failure") if case.find("failure") is not None else case.find("error")
    assert node is not None
    message, text = node.get("message", "").strip(), (node.text or "").strip()
    assertion = text if message in text else f"{message}\n{text}"
    return tuple(one_line(line.rstrip()) for line in assertion.splitlines()[:MAX_OUTPUT_LINES])


def _failed(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _name(case: ET.Element) -> str:
    return "::".join(filter(None, (case.get("classname"), case.get("name")))) or "a test without a name"


#: Where webhooks may go.
_CALLBACKS: Final = "loopback"

#: A plan as data: a scenario for each world, by the ordinal of the world.
Scenarios = Mapping[int, JsonMapping]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A run: its exit code (None if it took too long), last lines of output and, by a JUnit file, its failed test."""

    code: int | None
    output: tuple[str, ...]
    failed: str | None
    assertion: tuple[str, ...] = ()

    @property
    def ended(self) -> str:
        """The end of the run, in words."""
        if self.failed is not None:
            return f"{self.failed} failed"
        if self.code is None:
            return "it took too long"
        return f"exit code {self.code}" if self.code >= 0 else f"ended by signal {-self.code}"


class Runs:
    """All runs of one command. A context: at its end every child has ended."""

    def __init__(
        self, command: Sequence[str], *, scenario: tuple[str, ...], junit: str | None, jobs: int, limit: float | None
    ) -> None:
        self._command = tuple(command)
        self._folder = TemporaryDirectory(prefix="sendbox-", ignore_cleanup_errors=True)
        self._reports = None if junit is None else Reports(junit, command, Path(self._folder.name))
        self._jobs = 1 if self._reports is not None and self._reports.shared else jobs
        self._pool = ThreadPoolExecutor(self._jobs, "sendbox-explore")
        self._children = Children()
        #: real seconds of one run
        self._limit = limit
        self._scenario = scenario
        self._start = wall.present()[0]
        self._mode: Mode = "auto"
        #: the worlds of the run without misfortune
        self._baseline_worlds: list[ObservedWorld] = []
        #: called after each run of a plan, with True for one of `run_plans`
        self.on_run: Callable[[Plan, Run, bool], None] = lambda plan, run, searching: None

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._folder.cleanup()

    def end(self) -> None:
        """Ends what runs; nothing else is begun."""
        try:
            self._children.end()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def first(self) -> Run:
        """The run without misfortune. Where the command moves clocks it is made again with clocks that stand still."""
        run, seconds = self._timed()
        if any(world.census.runs and world.census.moves for world in run.worlds):
            self._mode, self._limit = "manual", self._limit or time_limit(seconds)
            still, seconds_of_still = self._timed()
            if still.failed is False or run.failed is not False:
                run, seconds = still, seconds_of_still
            else:  # it waits for a clock that runs by itself, too
                self._mode = "auto"
        self._limit = time_limit(seconds)
        self._baseline_worlds = run.worlds
        return run

    def _timed(self) -> tuple[Run, float]:
        began = wall.monotonic_ns()
        run = self.run_scenarios({})
        return run, (wall.monotonic_ns() - began) / 1e9

    def run_scenarios(self, plan: Scenarios) -> Run:
        """One run, with a scenario for each world."""
        # on a thread of the pool: an interrupt comes to this one, and would leave behind what a run has begun
        return self._pool.submit(self._run, plan).result()

    def run_plan(self, plan: Plan) -> Run:
        """One run under a plan."""
        run = self.run_scenarios(scenarios(plan))
        self.on_run(plan, run, False)
        return run

    def run_plans(self, plans: Iterable[Plan]) -> Iterator[tuple[Plan, Run]]:
        """Runs under plans, in their order; as many as there are jobs run at once."""
        left = iter(plans)
        begun: deque[tuple[Plan, Future[Run]]] = deque()
        while True:
            while len(begun) < self._jobs and (plan := next(left, None)) is not None:
                begun.append((plan, self._pool.submit(self._run, scenarios(plan))))
            if not begun:
                return
            plan, future = begun.popleft()
            run = future.result()
            self.on_run(plan, run, True)
            yield plan, run

    # -- one run

    def _run(self, plan: Scenarios) -> Run:
        settings = Settings(
            port=0,
            mode=self._mode,
            start=self._start,
            scenario=self._scenario,
            public_url=None,
            callbacks=Callbacks.parse(_CALLBACKS),
        )
        server = SandboxServer(settings).start()
        try:
            watcher = server.runtime.hooks = Watcher(SERVED)
            watcher.set_baseline(self._baseline_worlds)
            watcher.begin(plan, observing=True)
            failed, result = self._run_command(server.origin)
            worlds = server.thread.call(lambda: watcher.end(server.runtime))
        except ScenarioError as error:
            raise Failure(
                CANNOT, f"the plan cannot be combined with the scenario that the command opens: {error}"
            ) from None
        finally:
            server.stop()
        return Run(failed, worlds, result, watcher.idle, result.ended)

    def _run_command(self, origin: str) -> tuple[bool | None, CommandResult]:
        """Runs the command; returns True if it failed, None if it took too long, and its result."""
        command, file = (self._command, None) if self._reports is None else self._reports.prepare(self._command)
        ended = self._children.run(command, {**os.environ, "SENDBOX_URL": origin}, self._limit)
        report = None if file is None else read_junit_result(file)
        test = None if report is None else report.failed
        result = CommandResult(ended.code, ended.output, test, () if report is None else report.assertion)
        return (None if ended.code is None else ended.code != 0 or test is not None), result
