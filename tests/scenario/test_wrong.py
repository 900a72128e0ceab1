"""Wrong scenarios: all problems at once, each with line, column, value, rule, legal words and the nearest of them.

The cases are data, in `wrong.txt`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sendbox.scenario
from tests.scenario import golden
from tests.scenarios import check

CASES = golden.cases()


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_wrong_scenarios(case: golden.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each problem is named with its place, and none hides another."""
    monkeypatch.chdir(tmp_path)
    assert golden.lines(case, tmp_path) == case.expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("sendbox: one", '"one" is not the version of the language, which is 1; legal: 1', id="word"),
        pytest.param("sendbox: 2", "2 is not the version of the language, which is 1; legal: 1", id="number"),
        pytest.param(
            'sendbox: "1"',
            '"1" is not the version of the language, which is 1; legal: 1; it is a number, so write it without quotes: '
            "sendbox: 1",
            id="quotes",
        ),
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
    assert len(CASES) == golden.FILE.read_text("utf-8").count("\n### ")
    assert all(case.expected for case in CASES.values())


# --- no rule without a case

#: Rules whose problems are about what is not in a file of one case, with the test that shows them.
ELSEWHERE = {
    "file": "test_read.py: a file that cannot be read",
    "size": "test_read.py: a text that is too long",
    "empty": "test_read.py: nothing is written",
    "schema": "test_shape.py: a refusal that cannot be explained",
    "in": "rules of control: tests/scenario/test_compile.py",
    "character": "test_parse.py: characters that YAML does not allow",
    "after-reset": "test_doubts.py: a reset is not built yet",
}
#: Functions that make problems, and the position of the rule among their arguments.
MAKERS = {"problem": 1, "complain": 1, "warn": 1, "_by": 2, "_at": 3, "_complain": 1, "_unknown": 1}


def rule_words() -> Iterator[tuple[str, str]]:
    """Every rule word in the source, with the place where a problem gets it."""
    folder = Path(sendbox.scenario.__path__[0])
    brought = [*folder.parent.glob("services/**/language.py"), *folder.parent.glob("services/*/language/*.py")]
    for file in sorted([*folder.rglob("*.py"), *brought]):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            at = MAKERS.get(name)
            rule = None if at is None or len(node.args) <= at else node.args[at]
            if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
                yield rule.value, f"{file.name}:{node.lineno}"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The rule words of all problems of all cases."""
    with pytest.MonkeyPatch.context() as patch:
        found = set()
        for case in CASES.values():
            folder = tmp_path_factory.mktemp("case")
            patch.chdir(folder)
            found |= {problem.rule for problem in golden.problems(case, folder)}
        return found


def test_every_rule_has_a_case(said: set[str]) -> None:
    """No problem is made by a rule that the file has no case of, but for those that no file of a case can have."""
    assert [(word, place) for word, place in rule_words() if (word in said) == (word in ELSEWHERE)] == []


def test_every_keyword_of_the_schema_has_a_case(said: set[str]) -> None:
    """What the shape can refuse is refused in a case, keyword by keyword."""
    from sendbox.scenario.shape import _WORDING

    assert set(_WORDING) - said - {"maxItems"} == set()


def test_rules_are_words() -> None:
    """A rule is one word that can be grepped for."""
    words = {word for word, _ in rule_words()}
    assert len(words) > 40
    assert [word for word in words if not re.fullmatch(r"[a-z]+([-_]?[a-zA-Z]+)*", word)] == []
