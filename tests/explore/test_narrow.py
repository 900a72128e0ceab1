"""No correct client is accused: one with narrow tests, and the examples of the documentation, under all families."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from sendbox.exploring.families.table import FAMILIES
from tests.documentation.markdown import ROOT, blocks
from tests.fixture.support import LEAN

CLINIC: Final = Path(__file__).parent / "narrow" / "test_clinic.py"
EXAMPLES: Final = ROOT / "tests" / "examples" / "test_docs_examples.py"


def explored(folder: Path, runs: int, *options: str) -> str:
    """What a session says that explores tests under all families; it must end well, and accuse nobody.

    The tests are those of a folder, unless the options name others.
    """
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    chosen = f"--sendbox-families={','.join(FAMILIES)}"
    arguments = [f"--sendbox-explore={runs}", chosen, "--sendbox-explore-time=1h", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", *LEAN, *arguments, f"--rootdir={folder}", *options],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
        | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.OK, text
    assert ": bug: " not in text
    return text


@pytest.mark.deep
def test_a_narrow_test_of_a_correct_client_accuses_nobody(tmp_path: Path) -> None:
    """One that looks after a minute: what breaks it is a question."""
    (tmp_path / CLINIC.name).write_text(CLINIC.read_text("utf-8"), "utf-8")
    assert ": question: " in explored(tmp_path, 8, "-k", "minute")


@pytest.mark.deep
def test_narrow_tests_of_a_correct_client_accuse_nobody(tmp_path: Path) -> None:
    """Counts of calls, quiet hours, one reply, a look after a minute: they break, and each find is a question."""
    (tmp_path / CLINIC.name).write_text(CLINIC.read_text("utf-8"), "utf-8")
    text = explored(tmp_path, 500)
    assert ": question: " in text
    assert "not repeatable" not in text


@pytest.mark.deep
def test_the_examples_of_the_documentation_accuse_nobody(tmp_path: Path) -> None:
    """That of the README for pytest, and those of every page: under all families."""
    (block,) = (block for block in blocks(ROOT / "README.md") if block.file == "test_otp.py")
    (tmp_path / "test_otp.py").write_text(block.text, "utf-8")
    assert "1 passed" in explored(tmp_path, 60)
    options = ("-p", "timeout", "-o", "timeout=0", "-n", "0", "-k", "__", str(EXAMPLES))
    explored(tmp_path, 40, *options)
