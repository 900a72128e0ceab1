"""The run: each mutant meets, in a process of its own, the tests that run its lines, until one of them fails.

A process that has collected every test forks for each mutant, exchanges the code of the functions that differ, and runs
the tests that were chosen. A mutant that an import would have to see runs in a new process, on a copy of the tree.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.main import pytest_runtestloop as run_tests

from tests.mutation.mutants import ROOT, Mutant, rank
from tests.mutation.swap import exchanges, swap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.mutation.contexts import Coverings

BUDGET = 10.0
"""Seconds of processor time of tests that one mutant may cost, as they were measured, which was under a tracer."""
PATIENCE = 60
"""Seconds of processor time after which a mutant that still runs counts as seen: it does not end."""
FILES = 12
"""How many files of tests a new process collects."""
STUCK = 600.0
"""Seconds after which a mutant that still runs counts as seen, though it uses no processor time."""


@dataclass(slots=True)
class Fate:
    """What became of a mutant: `seen` by a test, or not; `by` is the first test that failed."""

    mutant: Mutant
    seen: bool
    by: str


@dataclass(slots=True)
class Trial:
    """A forked process with one mutant: `reader` is our end of its pipe, `place` its copy of the tree."""

    pid: int
    mutant: Mutant
    reader: int
    place: Path
    begun: float

    def outcome(self) -> str | None:
        """The first test that failed, empty if none did; None while the process runs. Raises `RuntimeError`."""
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        if not ended and time.monotonic() - self.begun <= STUCK:
            return None
        if not ended:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        stopped = not ended or os.WIFSIGNALED(status)
        said = os.read(self.reader, 4096).decode()
        os.close(self.reader)
        # A process that was stopped could not take the mutant out of its copy.
        (self.place / self.mutant.path.relative_to(ROOT)).write_text(self.mutant.path.read_text("utf-8"), "utf-8")
        if not stopped and os.waitstatus_to_exitcode(status) != 0:
            raise RuntimeError(f"{self.mutant.name} could not be tried: {said or status}")
        return "does not end" if stopped else said


@dataclass(slots=True)
class Run:
    """A plugin of pytest that runs mutants instead of tests."""

    mutants: list[Mutant]
    coverings: Coverings
    jobs: int
    say: Callable[[str], None]
    fates: list[Fate] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """For each mutant a forked process, `jobs` of them at once."""
        _import_all()
        items = {item.nodeid: item for item in session.items}
        waiting = list(reversed(self.mutants))
        trials: list[Trial] = []
        with _copies(self.jobs) as free:
            while waiting or trials:
                while waiting and free:
                    trials.append(self._begin(session, items, waiting.pop(), free.pop()))
                select.select([trial.reader for trial in trials], [], [], 1.0)
                for trial in trials[:]:
                    by = trial.outcome()
                    if by is not None:
                        self._note(trial.mutant, by)
                        trials.remove(trial)
                        free.append(trial.place)
        return True

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Says why the run broke off; pytest writes to where nothing is read."""
        self.say(excinfo.exconly())

    def _begin(self, session: pytest.Session, items: dict[str, pytest.Item], mutant: Mutant, place: Path) -> Trial:
        """Forks; the child tries the mutant, writes the first test that fails, and ends."""
        names, at_import = self._chosen(mutant)
        chosen = [items[name] for name in names if name in items]
        reader, writer = os.pipe()
        if pid := os.fork():
            os.close(writer)
            return Trial(pid, mutant, reader, place, time.monotonic())
        code = 1
        try:
            os.setpgid(0, 0)
            silence()
            resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
            os.write(writer, _try(session, mutant, chosen, place, at_import=at_import).encode())
            code = 0
        except BaseException as error:
            os.write(writer, repr(error).encode()[:4096])
        finally:
            os._exit(code)

    def _note(self, mutant: Mutant, by: str) -> None:
        self.fates.append(Fate(mutant, bool(by), by))
        self.say(f"{len(self.fates):4} {'seen    ' if by else 'NOT SEEN'} {mutant.name}  [{by}]")

    def _chosen(self, mutant: Mutant) -> tuple[list[str], bool]:
        """The tests for a mutant, and whether an import runs its lines.

        They are those of its lines, else of its file; cheap ones first, from many files.
        """
        names, at_import = self.coverings.of_lines(mutant.path, mutant.lines)
        if not names:
            names, _ = self.coverings.of_lines(mutant.path, range(1, len(mutant.source.splitlines()) + 1))
        files: dict[str, list[str]] = {}
        for name in sorted(
            names or self.coverings.costs, key=lambda name: (self.coverings.costs[name] > 1.0, rank(name))
        ):
            files.setdefault(name.partition("::")[0], []).append(name)
        chosen: list[str] = []
        left = BUDGET
        rows = [list(reversed(files[name])) for name in sorted(files, key=rank)]
        while rows and left > 0:
            for row in rows:
                chosen.append(row.pop())
                left -= self.coverings.costs[chosen[-1]]
                if left <= 0:
                    break
            rows = [row for row in rows if row]
        return chosen, at_import


def _try(session: pytest.Session, mutant: Mutant, chosen: list[pytest.Item], place: Path, *, at_import: bool) -> str:
    """The first test that fails; empty if none does."""
    pairs = exchanges(mutant.path, mutant.path.read_text("utf-8"), mutant.source)
    if pairs is None or at_import or not swap(mutant.path, pairs):
        files = list(dict.fromkeys(item.nodeid.partition("::")[0] for item in chosen))[:FILES]
        return _in_new_process(mutant, [item.nodeid for item in chosen if item.nodeid.startswith(tuple(files))], place)
    failed = _Failed()
    session.config.pluginmanager.register(failed)
    session.items = chosen
    session.config.option.maxfail = 1
    try:
        run_tests(session)
    except (session.Failed, session.Interrupted):
        pass
    except BaseException as error:  # the mutant is in a plugin's way too
        return failed.by or f"the run breaks: {error!r}"
    return failed.by


class _Failed:
    """Notes the first test that fails."""

    by = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.by:
            self.by = report.nodeid


def _import_all() -> None:
    """What is imported when it is first used is imported now: a mutant exchanges what exists."""
    from tests.mutation.mutants import ROOMS

    for room in ROOMS:
        for path in sorted((ROOT / "src" / "sendbox" / room).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            __import__(module.removesuffix(".__init__"))


def _in_new_process(mutant: Mutant, names: list[str], place: Path) -> str:
    """The first test that fails on the copy of the tree at `place` with the mutant, and passes there without it."""
    path = place / mutant.path.relative_to(ROOT)
    before = path.read_text("utf-8")
    while names:
        path.write_text(mutant.source, "utf-8")
        failed = _first_failure(names, place)
        path.write_text(before, "utf-8")
        if not failed or failed not in names or not _first_failure(names[: names.index(failed) + 1], place):
            return failed
        names = [name for name in names if name != failed]
    return ""


def _first_failure(names: list[str], place: Path) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *names],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode in (0, 5):
        return ""
    lines = [line for line in result.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return lines[0].split(" ", 1)[1].partition(" - ")[0] if lines else "does not start"


@contextlib.contextmanager
def _copies(count: int) -> Iterator[list[Path]]:
    """Copies of the tree, one for each job."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(count)]
        for copy in copies:
            shutil.copytree(
                ROOT,
                copy,
                symlinks=True,
                ignore=shutil.ignore_patterns(".git", ".venv*", "*cache*", "build", ".coverage*"),
            )
        yield copies


def silence() -> None:
    """What this process prints from here on goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
