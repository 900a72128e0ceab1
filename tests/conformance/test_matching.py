"""How a case's expectations are compared with what came."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.matching import Names, difference


@pytest.mark.parametrize(
    ("expected", "actual", "lines"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="equal"),
        pytest.param({"a": 1}, {"a": 2}, ["$.a is 2, expected 1"], id="other"),
        pytest.param({"a": 1}, {}, ["$.a is absent, expected 1"], id="missing"),
        pytest.param({}, {"a": 1}, ["$.a is there, but not expected"], id="surplus"),
        pytest.param([1], [1, 2], ["$ has 2 items, expected 1: [1, 2]"], id="longer"),
        pytest.param(1, True, ["$ is True, expected 1"], id="no-truth-for-a-number"),
        pytest.param({"a": "<absent>"}, {}, [], id="absent"),
        pytest.param({"a": "<absent>"}, {"a": 1}, ["$.a is 1, expected to be absent"], id="not-absent"),
        pytest.param({"a": "<any>"}, {}, ["$.a is absent, expected <any>"], id="any-is-something"),
        pytest.param("<uuid>", "11111111-2222-3333-4444-555555555555", [], id="uuid"),
        pytest.param("<uuid>", "1", ["$ is '1', expected <uuid>"], id="no-uuid"),
        pytest.param("<int>", 1.5, ["$ is 1.5, expected <int>"], id="no-int"),
        pytest.param("<number>", 1.5, [], id="number"),
        pytest.param("<object>", {}, [], id="object"),
        pytest.param("<2 items>", [1, 2], [], id="items"),
        pytest.param("<2 items>", [1], ["$ is [1], expected <2 items>"], id="other-items"),
        pytest.param("<match ^a.c$>", "abc", [], id="match"),
        pytest.param("<match ^a.c$>", "abd", ["$ is 'abd', expected <match ^a.c$>"], id="no-match"),
        pytest.param(["<int=n>", "<int=n>"], [1, 2], ["$[1] is 2, expected what was kept as n before"], id="kept"),
        pytest.param(["<string=n>", "{n}-0"], ["a", "a-0"], [], id="kept-and-used"),
        pytest.param("{ab*3}", "ababab", [], id="repeated"),
        pytest.param("{{1}} {b}", "{{1}} {b}", [], id="no-placeholders"),
    ],
)
def test_difference(expected: Any, actual: Any, lines: list[str]) -> None:
    """What is not as expected is found, and said with its path."""
    assert difference(expected, actual, Names(), exact=True) == lines


def test_difference_that_allows_more_fields() -> None:
    """Objects may have more fields where only some are compared, lists not more items."""
    assert difference([{"a": 1}], [{"a": 1, "b": 2}], Names(), exact=False) == []
    assert difference([], [1], Names(), exact=False) == ["$ has 1 items, expected 0: [1]"]
