"""Every scenario of the library is played: with its own traffic, or with the built-in one."""

from __future__ import annotations

import pytest

from sendbox.playing import Played, play
from sendbox.scenario import library


@pytest.mark.parametrize("name", library.names())
def test_a_scenario_plays(name: str) -> None:
    """Nothing is refused that is not expected to be, expectations are met, and a second time gives the same."""
    first, second = play(name), play(name)
    assert [each for each in first.asked if not each.ok] == []
    refused = [each for each in first.asked if each.traffic.status is None and (each.status or 500) >= 400]
    assert [(each.traffic.place, each.traffic.name, each.answer or each.error) for each in refused] == []
    assert first.passed, first.verdict
    assert first.digest == second.digest
    assert _story(first) == _story(second)


def _story(played: Played) -> list[object]:
    """Everything that is printed depends on it."""
    return [*played.entries, *played.canonical]
