"""Clients in Node, one of them wrong, through `sendbox explore`."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from click.testing import Result

from sendbox.cli.outcome import NO, OK
from sendbox.exploring import find_files
from tests.commands.sandbox import sendbox
from tests.examples.running import need
from tests.tiers import examples

CLIENTS: Final = Path(__file__).parent / "clients"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("node")
    monkeypatch.chdir(tmp_path)


def explore(client: str, runs: int, *options: str) -> Result:
    return sendbox("explore", "--runs", str(runs), *options, "--", "node", str(CLIENTS / client))


@pytest.mark.deep
def test_the_wrong_client_is_found() -> None:
    """It takes one webhook that comes late; the scenario is right, and breaks the client again, but not the other."""
    result = explore("last.mjs", 40, "--keep", "repeated")
    assert result.exit_code == NO, result.output
    broken_by = [after for line, after in pairwise(result.stdout.splitlines()) if line == "what breaks it:"]
    assert sum(line.endswith("behind the 1st webhook delivered by sms of 420777000101") for line in broken_by) == 1
    assert "  the message is sen" in result.stdout
    files = [file for find in find_files.read(find_files.FOLDER) for file in find.files.values()]
    (file,) = [file for file in files if "order" in file.name]
    assert sendbox("check", "--strict", str(file)).exit_code == OK
    assert sendbox("explore", "--found").exit_code == NO
    assert sendbox("explore", "--found", "--", "node", str(CLIENTS / "furthest.mjs")).exit_code == OK


@pytest.mark.deep
def test_the_correct_client_survives() -> None:
    """Its clock jumps by itself, and it waits for it."""
    result = explore("furthest.mjs", examples(4, 200))
    progress = re.compile(r"sendbox: \d+ runs, the search has \d+(; found: 1 misfortune\(s\), made small)?")
    assert (result.exit_code, [line for line in result.stderr.splitlines() if not progress.fullmatch(line)]) == (OK, [])
    assert "only now and then" not in result.stdout
    assert "single misfortunes" in result.stdout
