"""No correct client is accused: one with narrow tests, and the examples of the documentation, under all families."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from sendbox.exploring.families.table import FAMILIES
from tests.documentation.markdown import ROOT
from tests.fixture.support import LEAN
from tests.tiers import DEEP

CLINIC: Final = Path(__file__).parent / "narrow" / "test_clinic.py"


def explored(folder: Path, runs: int, *options: str) -> str:
    """What a session that explores the tests of a folder under all families says; it must end well."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    families = f"--sendbox-families={','.join(FAMILIES)}"
    arguments = [f"--sendbox-explore={runs}", families, "--sendbox-explore-time=1h", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", *LEAN, *arguments],
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


def test_narrow_tests_of_a_correct_client_accuse_nobody(tmp_path: Path) -> None:
    """Counts of calls, quiet hours, one reply, a look after a minute: they break, and each find is a question."""
    (tmp_path / CLINIC.name).write_text(CLINIC.read_text("utf-8"), "utf-8")
    options = () if DEEP else ("-k", "minute or third or sleep or reply")
    text = explored(tmp_path, 400 if DEEP else 15, *options)
    assert ": question: " in text
    assert "not repeatable" not in text
