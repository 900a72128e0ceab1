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


def test_the_cases_are_read() -> None:
    """No case of the file is lost by the way it is written."""
    text = (Path(__file__).parent / "wrong.txt").read_text("utf-8")
    assert len(CASES) == text.count("\n### ")
    assert all(expected for _, expected in CASES.values())
