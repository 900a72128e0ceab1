"""Thirty sentences of a bank's plan (docs/plan): a file each, with a client that keeps it and one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from sendbox.language import LANGUAGE
from sendbox.playing.play_result import Played
from sendbox.playing.player import play
from tests.documentation.markdown import ROOT

FILES: Final = sorted((ROOT / "docs" / "plan").glob("*.yaml"))


def test_there_are_thirty() -> None:
    """They are numbered without a gap."""
    assert [path.name[:2] for path in FILES] == [f"{number:02}" for number in range(1, 31)]


@pytest.mark.sample(4)
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_both_clients_are_judged_rightly(path: Path) -> None:
    """All holds for the client that keeps the sentence; the other one fails just what it must. No call is malformed."""
    assert LANGUAGE.check(path) == []
    played = play(path)
    assert (played.passed, played.warnings) == (True, [])
    assert [counterexample.fails for counterexample, _ in played.counterexamples] == [
        result.failed for _, result in played.counterexamples
    ]
    assert len(played.counterexamples) == 1
    for result in (played, *(result for _, result in played.counterexamples)):
        assert {*refused(result)} <= {"verifyCode"}


def refused(played: Played) -> list[str]:
    """The operations of which calls were refused, though neither a rule nor a wrong code was the reason."""
    return sorted(
        {
            request.traffic.operation
            for request in played.asked
            if (request.status or 0) >= 400 and not request.traffic.statuses and request.status != 503
        }
    )
