"""`scripts/test`: what it runs and how it ends, with other programs in place of its own; and the limit of a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.documentation.markdown import ROOT
from tests.fixture.support import LEAN

pytest_plugins = ["pytester"]
#: What each program does in place of its own work: it tells its name, and fails where it is told to.
PROGRAM: Final = '#!/bin/sh\nline="$(basename "$0") $*"\necho "ran: $line"\ncase "$line" in {fails}) exit 3 ;; esac\n'
TESTS: Final = "tests (pytest under coverage), beside the types"


@pytest.mark.parametrize(
    ("fails", "failed"),
    [
        pytest.param("nothing", [], id="none"),
        pytest.param("mypy*", ["types (mypy --strict)"], id="types"),
        pytest.param("coverage?run*", [TESTS], id="tests"),
        pytest.param(
            "ruff*|coverage?report*100",
            ["format (ruff format --check)", "lint (ruff check)", "coverage (engine and services: 100 %)"],
            id="several",
        ),
    ],
)
def test_a_failure_hides_nothing(tmp_path: Path, fails: str, failed: list[str]) -> None:
    """Every section runs whatever failed before it; the end names each that failed, and the exit code tells of them."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "ruff", "mypy", "coverage"):
        (programs / name).write_text(PROGRAM.format(fails=fails))
        (programs / name).chmod(0o755)
    # the environment counts as made: what the script asks about it, the programs answer
    (tmp_path / ".venv" / ".installed-dev").write_text(f"ran: python - {tmp_path}\n")
    done = subprocess.run(
        [tmp_path / "scripts" / "test"], cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    sections = [line.removeprefix("== ") for line in done.stdout.splitlines() if line.startswith("== ")]
    assert sections == [
        "format (ruff format --check)",
        "lint (ruff check)",
        TESTS,
        "types (mypy --strict)",
        "coverage (all: 95 %, engine and services: 100 %)",
        "not passed" if failed else "all checks passed",
    ], done.stderr
    assert [line.removeprefix("failed: ") for line in done.stdout.splitlines() if line.startswith("failed: ")] == failed
    assert done.stdout.count("ran: coverage report") == 2
    assert done.returncode == (1 if failed else 0)


def test_a_run_in_the_background_takes_interrupts() -> None:
    """Where a shell had the run ignore Ctrl-C, tests of interrupts pass as elsewhere, and none waits for ever."""
    tests = f"{sys.executable} -m pytest -q -p no:cacheprovider -k ctrl_c tests/commands/test_serve.py"
    done = subprocess.run(
        ["bash", "-c", f"trap '' INT; exec {tests}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout


@pytest.mark.sample(2)
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "in-a-worker"])
def test_a_test_that_hangs_fails(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    """It ends at its limit, and is named with the line where it hung; the tests after it run."""
    pytester.makepyfile(
        """
        import threading

        import pytest

        @pytest.mark.timeout(0.2)
        def test_hangs():
            threading.Lock().acquire() and threading.Event().wait()

        def test_goes_on():
            pass
        """
    )
    result = pytester.runpytest_subprocess(*LEAN, "-p", "timeout", "-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*threading.Event().wait()*", "*Failed: Timeout*>0.2s*"])
