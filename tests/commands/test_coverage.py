"""`sendbox coverage`: reports of several runs are added up, shown, written, held to a minimum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sendbox.cli.main import sendbox
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(sendbox, ["coverage", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Reports of two jobs."""
    found = []
    for number, items in enumerate(({"sendMessage accepted": 2}, {"sendMessages accepted": 1})):
        path = tmp_path / f"job-{number}.json"
        path.write_text(json.dumps({"items": {"operations": items}, "leaned": {"A10": number}}))
        found.append(path)
    return found


@pytest.mark.unmeasured
def test_reports_add_up(files: list[Path]) -> None:
    """The sum of several files, as text unless asked for otherwise."""
    shown = run(*files)
    assert shown.exit_code == OK
    assert shown.stdout.startswith("2 of ")
    told: dict[str, Any] = json.loads(run(*files, "--format", "json").stdout)
    tried = {name: count for name, count in told["items"]["operations"].items() if count}
    assert tried == {"sendMessage accepted": 2, "sendMessages accepted": 1}
    assert told["leaned"] == {"A10": 1}


def test_into_a_file(files: list[Path], tmp_path: Path) -> None:
    """What is written can be added again; where nothing can be written, it is said."""
    out = tmp_path / "sum.json"
    assert run(*files, "--format", "json", "--output", out).stdout == ""
    assert json.loads(run(out, files[0], "--format", "json").stdout)["items"]["operations"]["sendMessage accepted"] == 4
    page = tmp_path / "sum.html"
    run(*files, "--format", "html", "--output", page)
    assert page.read_text("utf-8").startswith("<!doctype html>")
    failed = run(*files, "--output", tmp_path / "nowhere" / "x.txt")
    assert failed.exit_code == CANNOT
    assert "x.txt cannot be written: No such file or directory" in failed.stderr


def test_a_minimum(files: list[Path]) -> None:
    """Below a minimum the exit code says no, and a line says why; the report is there all the same."""
    assert run(*files, "--min", "0.1", "--min", "operations=2").exit_code == OK
    failed = run(*files, "--min", "fields=1")
    assert failed.exit_code == NO
    assert failed.stdout.startswith("2 of ")
    assert failed.stderr == "sendbox: coverage of fields is 0.0 %, below the minimum of 1 %\n"
    wrong = run(*files, "--min", "field=1")
    assert wrong.exit_code == USAGE
    assert '--min: "field" is not a dimension of coverage; legal: operations, results' in wrong.stderr


def test_a_scope(files: list[Path]) -> None:
    """Only what is about some operations counts; a name that no operation has is refused."""
    assert run(*files, "--scope", "used", "--min", "operations=50").exit_code == OK
    assert run(*files, "--scope", "sendMessage,createValidation").stdout.splitlines()[1] == (
        "in the scope of sendMessage, createValidation"
    )
    wrong = run(*files, "--scope", "sendMesage")
    assert (wrong.exit_code, wrong.stderr) == (
        USAGE,
        'sendbox: --scope: "sendMesage" is not an operation; did you mean "sendMessage"?\n',
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no", "is not JSON"), (b"\xff", "is not JSON"), (b"{}", "cannot be added: it is not a report of coverage")],
)
def test_what_is_no_report(tmp_path: Path, content: bytes, said: str) -> None:
    """A file of another kind is named."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    failed = run(path)
    assert failed.exit_code == CANNOT
    assert said in failed.stderr
