"""The zoo: each planted bug is found and made small, the correct client survives, and the documentation says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from tests.explore.zoo.bugs import BUGS, Bug, LastWins
from tests.explore.zoo.running import KEPT, RUNS, Explored, entries, explored, written
from tests.tiers import DEEP

#: A find has at most so many entries, and takes at most so many runs to become so small.
MOST: Final = 3
SHRINKING: Final = 300


def proved(session: Explored, bugs: Iterable[type[Bug]] = BUGS) -> None:
    """Each bug was found, and nothing else: within so many runs, as a scenario of so few entries."""
    assert session.code == pytest.ExitCode.TESTS_FAILED, session.text
    assert set(session.finds) == {bug.__name__ for bug in bugs}, session.text
    for find in session.finds.values():
        assert 0 < find.runs <= RUNS, find
        assert find.shrinking <= SHRINKING, find
        assert 0 < find.entries <= MOST, find
        assert find.says, find


def test_one_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """Within fewer runs than a deep run takes for all of them."""
    session = explored(tmp_path, "bugs", 12, LastWins.__name__)
    proved(session, [LastWins])


@pytest.mark.deep
def test_each_bug_is_found_and_made_small(tmp_path: Path) -> None:
    """As the documentation has it; `scripts/docs` writes its table anew."""
    session = explored(tmp_path, "bugs")
    proved(session)
    assert KEPT.read_text("utf-8") == written(session.finds), "run scripts/docs"


SURVIVED: Final = [("correct", RUNS, ""), ("whole", 2_000, "")] if DEEP else [("correct", 10, "delivery or calls")]


@pytest.mark.parametrize(("zoo", "runs", "only"), SURVIVED)
def test_the_correct_client_survives(tmp_path: Path, zoo: str, runs: int, only: str) -> None:
    """Each family on a test where it finds a bug; in a deep run every test, under all families together."""
    session = explored(tmp_path, zoo, runs, only)
    assert session.code == pytest.ExitCode.OK, session.text
    assert session.finds == {}
    assert "not repeatable" not in session.text


@pytest.mark.deep
def test_bugs_are_found_in_a_hurry(tmp_path: Path) -> None:
    """With few runs, plans of many come first, and are made as small."""
    proved(explored(tmp_path, "bugs", 20))


def test_entries_are_counted() -> None:
    """Those of each list, and a value such as the start of the clock."""
    plan = {
        "sendbox": 1,
        "webhooks": [{"fault": "duplicate"}, {"fault": "split"}],
        "verify": {"rules": [{"then": {"sms": "failed"}}]},
        "clock": {"start": "2026-03-09T23:59:59Z"},
    }
    assert entries(plan) == 4
