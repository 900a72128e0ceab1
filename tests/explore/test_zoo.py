"""The zoo: each planted bug is found and made small, the correct client survives, and the documentation says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from sendbox.cli.outcome import OK
from sendbox.exploring import find_files
from sendbox.exploring.families.table import FAMILIES, FIRST
from tests.commands.sandbox import sendbox
from tests.explore.zoo.bugs import BUGS, Bug, NotIdempotent
from tests.explore.zoo.running import KEPT, Explored, entries, explored, kept, session, written
from tests.tiers import DEEP, LONG

#: A find has at most so many entries, and takes at most so many runs to become so small.
MOST: Final = 3
SHRINKING: Final = 300


def proved(ran: Explored, bugs: Iterable[type[Bug]] = BUGS) -> None:
    """Each bug was found, and nothing else: as a scenario of so few entries."""
    assert ran.code == pytest.ExitCode.TESTS_FAILED, ran.text
    assert set(ran.finds) == {bug.__name__ for bug in bugs}, ran.text
    for find in ran.finds.values():
        assert find.runs > 0, find
        assert find.shrinking <= SHRINKING, find
        assert 0 < find.entries <= MOST, find
        assert find.says, find


def test_one_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """Within fewer runs than a deep run takes for all of them."""
    ran = explored(tmp_path, "bugs", 12, NotIdempotent.__name__)
    proved(ran, [NotIdempotent])


@pytest.mark.deep
def test_each_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """With the usual options, as the documentation has it; `scripts/docs` writes its table anew."""
    ran = explored(tmp_path, "bugs")
    proved(ran)
    assert KEPT.read_text("utf-8") == written(ran.finds), "run scripts/docs zoo"


def test_the_kinds_that_break_clients_are_tried_first() -> None:
    """Each kind that broke a client of the kept table has its place in the order."""
    names = {kind.name for kinds in FAMILIES.values() for kind in kinds}
    assert set(FIRST) <= names
    assert {name for row in kept() for name in row.get("kinds", ())} <= set(FIRST)


SURVIVED: Final = [(500, "")] if DEEP else [(10, "arrives")]


@pytest.mark.timeout(LONG)
@pytest.mark.parametrize(("runs", "only"), SURVIVED)
def test_the_correct_client_survives(tmp_path: Path, runs: int, only: str) -> None:
    """Under all families; in a deep run every test."""
    ran = explored(tmp_path, "correct", runs, only)
    assert ran.code == pytest.ExitCode.OK, ran.text
    assert ran.finds == {}
    assert "not repeatable" not in ran.text


@pytest.mark.deep
def test_a_find_is_shown_again_by_every_way_of_playing_it(tmp_path: Path) -> None:
    """By `--sendbox-found` without a path, which runs no other test; as a scenario; and `sendbox play` takes it."""
    proved(explored(tmp_path, "bugs"))
    finds = find_files.read(tmp_path / find_files.FOLDER)
    code, text = session(tmp_path, "--sendbox-found")
    lost = [find.test for find in finds if f"{find.file.name} still breaks it" not in text]
    assert (code, lost) == (pytest.ExitCode.TESTS_FAILED, []), text
    assert f"{len({find.test for find in finds})} failed, " in text
    for find in finds:
        scenarios = [f"--sendbox-scenario={file.relative_to(tmp_path)}" for file in find.files.values()]
        code, text = session(tmp_path, find.test, *scenarios)
        assert code == pytest.ExitCode.TESTS_FAILED, text
        assert "it passes without" in text
        played = sendbox("play", *map(str, find.files.values()))
        assert played.exit_code == OK, played.output
        assert find.test[:60] in played.stdout  # the page cuts a long title


def test_entries_are_counted() -> None:
    """Those of each list, and a value such as the start of the clock."""
    plan = {
        "sendbox": 1,
        "webhooks": [{"fault": "duplicate"}, {"fault": "split"}],
        "verify": {"rules": [{"then": {"sms": "failed"}}]},
        "clock": {"start": "2026-03-09T23:59:59Z"},
    }
    assert entries(plan) == 4
