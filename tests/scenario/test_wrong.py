"""Wrong scenarios: all problems at once, each with line, column, value, rule, legal words and the nearest of them.

The cases are data, in `wrong.txt`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from sendbox.scenario.compile import check

_CASE: Final = re.compile(
    r"^### (?P<id>\S+)\n(?P<text>.*?)^--->\n(?P<expected>.*?)(?=\n### |\Z)", re.DOTALL | re.MULTILINE
)
CASES: Final = {
    match["id"]: (match["text"], match["expected"].splitlines())
    for match in _CASE.finditer((Path(__file__).parent / "wrong.txt").read_text("utf-8"))
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_wrong_scenarios(text: str, expected: list[str]) -> None:
    """Each problem is named with its place, and none hides another."""
    found = check("sendbox: 1\n" + text, name="a.yaml")
    assert [str(problem).removeprefix("a.yaml:") for problem in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("sendbox: one", '"one" is not the version of the language, which is 1; legal: 1', id="word"),
        pytest.param("sendbox: 2", "2 is not the version of the language, which is 1; legal: 1", id="number"),
        pytest.param("sendbox: .inf", ".inf is not a finite number", id="not-finite"),
    ],
)
def test_a_place_is_reported_once(text: str, expected: str) -> None:
    """A value that breaks two rules of the shape is named with the one that says what is legal."""
    assert list(map(str, check(text, name="a.yaml"))) == [f"a.yaml:1:10: {expected}"]


def test_what_stands_in_for_a_value_is_not_reported() -> None:
    """An object's value that cannot be held is one problem; what is put in its place is none, through aliases too."""
    rate = {"sendbox": 1, "clock": {"rate": float("inf")}}
    assert list(map(str, check(rate))) == ["$.clock.rate: inf is not a finite number"]
    text = "sendbox: 1\nseed: &x .inf\nname: *x\n"
    assert list(map(str, check(text, name="a.yaml"))) == ["a.yaml:2:7: .inf is not a finite number"]


def test_the_cases_are_read() -> None:
    """No case of the file is lost by the way it is written."""
    text = (Path(__file__).parent / "wrong.txt").read_text("utf-8")
    assert len(CASES) == text.count("\n### ")
    assert all(expected for _, expected in CASES.values())
