"""The zoo: each planted bug is found and made small, the correct client survives, and the documentation says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from sendbox.exploring.families.table import FAMILIES, FIRST
from tests.explore.zoo.bugs import BUGS, Bug, NotIdempotent
from tests.explore.zoo.running import KEPT, Explored, entries, explored, kept, written
from tests.tiers import DEEP, LONG

#: A find has at most so many entries, and takes at most so many runs to become so small.
MOST: Final = 3
SHRINKING: Final = 300


def proved(session: Explored, bugs: Iterable[type[Bug]] = BUGS) -> None:
    """Each bug was found, and nothing else: as a scenario of so few entries."""
    assert session.code == pytest.ExitCode.TESTS_FAILED, session.text
    assert set(session.finds) == {bug.__name__ for bug in bugs}, session.text
    for find in session.finds.values():
        assert find.runs > 0, find
        assert find.shrinking <= SHRINKING, find
        assert 0 < find.entries <= MOST, find
        assert find.says, find


def test_one_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """Within fewer runs than a deep run takes for all of them."""
    session = explored(tmp_path, "bugs", 12, NotIdempotent.__name__)
    proved(session, [NotIdempotent])


@pytest.mark.deep
def test_each_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """With the usual options, as the documentation has it; `scripts/docs` writes its table anew."""
    session = explored(tmp_path, "bugs")
    proved(session)
    assert KEPT.read_text("utf-8") == written(session.finds), "run scripts/docs"


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
    session = explored(tmp_path, "correct", runs, only)
    assert session.code == pytest.ExitCode.OK, session.text
    assert session.finds == {}
    assert "not repeatable" not in session.text


def test_entries_are_counted() -> None:
    """Those of each list, and a value such as the start of the clock."""
    plan = {
        "sendbox": 1,
        "webhooks": [{"fault": "duplicate"}, {"fault": "split"}],
        "verify": {"rules": [{"then": {"sms": "failed"}}]},
        "clock": {"start": "2026-03-09T23:59:59Z"},
    }
    assert entries(plan) == 4
