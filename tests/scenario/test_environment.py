"""Values of the environment: where they stand, what they become, and who may not ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sendbox.engine.delivery.faults.requests import Answer
from sendbox.engine.expect.expectation import Condition, Range
from sendbox.engine.texts import Pattern
from sendbox.language import LANGUAGE
from sendbox.scenario import library
from sendbox.scenario.environment import FROM_AFAR, FROM_LIBRARY, MARK
from sendbox.scenario.read import read
from sendbox.services.messaging.rules.conditions import Payload
from tests.scenario.test_read import write
from tests.scenarios import check, load

ENV = {"SEED": "7", "NAME": "otp", "PHONE": "0777000101", "RATE": "2.5", "OFF": "true", "EMPTY": "", "YAML": "{a: b}"}


@pytest.mark.parametrize(
    ("expected", "key", "text"),
    [
        pytest.param(7, "seed", "${SEED}", id="a number where numbers are legal"),
        pytest.param(8, "seed", "${OTHER:8}", id="a default"),
        pytest.param("7", "seed", '"${SEED}"', id="in quotes it is text"),
        pytest.param("x7", "seed", "x${SEED}", id="with more around it it is text"),
        pytest.param("77", "seed", "${SEED}${SEED}", id="two are text"),
        pytest.param("${SEED}", "seed", "$${SEED}", id="escaped"),
        pytest.param("$", "name", "$", id="alone"),
        pytest.param("7", "name", "${SEED}", id="text where only text is legal"),
        pytest.param("a-otp-b", "name", "a-${NAME}-b", id="inside"),
        pytest.param("none", "name", "${EMPTY:none}", id="empty counts as not set"),
        pytest.param("a: b", "name", '"${OTHER:a: b}"', id="a default in quotes"),
        pytest.param("${{1}}", "name", '"${{1}}"', id="a variable of a template after a dollar"),
        pytest.param("{a: b}", "name", "${YAML}", id="no YAML comes from it"),
        pytest.param("$ {SEED}", "name", "$ {SEED}", id="something else"),
    ],
)
def test_values(expected: object, key: str, text: str) -> None:
    """What a text with `${…}` in it becomes."""
    root, problems, _ = read(f"sendbox: 1\n{key}: {text}\n", LANGUAGE.shape, env=ENV)
    assert problems == []
    assert root is not None
    assert root.entries()[key].value == expected
    assert type(root.entries()[key].value) is type(expected)


def test_values_everywhere() -> None:
    """Lists, unions and mappings: what becomes a number or a boolean is asked of the language, place by place."""
    text = """
sendbox: 1
clock: {rate: "${RATE}"}
phones:
  - number: ${PHONE}
    offline: ${OFF}
attempts:
  - when:
      attempt: ${ATTEMPT:2}
      payload: {"${KEY}": 1, b: "${SEED}"}
      tag: ${NAME}
    then:
      - sending
      - sent: ${AFTER:1500ms}
"""
    found = load(text, env=ENV)
    (rule,), (phone,) = found.compiled["attempts"], found.compiled["phones"]
    assert (found.rate, phone.number.text, phone.offline) == (2.5, "420777000101", True)
    assert (rule.when.asked["attempt"], rule.when.pattern("tag")) == (2, Pattern("otp"))
    payload = rule.when.asked["payload"]
    assert isinstance(payload, Payload)
    assert [path for path, _ in payload.expected] == [("${KEY}",), ("b",)]
    assert rule.path is not None
    assert rule.path.entries[1].after.low == 1500


@pytest.mark.parametrize(("asked", "value"), [("SEED:503", 503), ("WORD:refused", "refused")], ids=["number", "word"])
def test_words_of_which_only_some_are_legal(asked: str, value: str | int) -> None:
    """In quotes a value is text where text is legal, and a number where that text would not be: inside `{ }` it must
    have quotes, and there is no other way to say a status."""
    found = load(f'sendbox: 1\nwebhooks: [{{fault: {{answer: "${{{asked}}}"}}}}]\n', env={})
    assert [rule.fault for rule in found.webhooks] == [Answer(value)]


def test_a_share_and_a_count_in_quotes() -> None:
    """A share as a number or as a percentage, and how many attempts there must be."""
    text = """
sendbox: 1
api: [{when: {share: "${A:0.25}"}, fault: timeout}, {when: {share: "${B:25%}"}, fault: timeout}]
expect: [{that: messages, where: {attempts: "${N:2}"}}]
"""
    found = load(text, env={})
    assert [rule.when.share for rule in found.api] == [0.25, 0.25]
    assert found.expect[0].where == (Condition("attempts", (Range("2", 2, 2),)),)


@pytest.mark.unmeasured
def test_objects() -> None:
    """Texts of an object ask as well; they count as quoted."""
    found = load({"sendbox": 1, "seed": "${SEED}", "clock": {"rate": "${RATE}"}}, env=ENV)
    assert (found.seed, found.rate) == ("7", 2.5)


def test_aliases() -> None:
    """A value that is used twice is one text, and one problem."""
    text = "sendbox: 1\nname: &x a${GONE}\naccount: {default_callback_secret: *x}\n"
    (problem,) = check(text, name="a.yaml")
    assert (problem.line, problem.column, problem.value) == (2, 7, "${GONE}")
    found = load(text, env={"GONE": "$${SEED}"})
    assert (found.name, found.compiled["account"].default_callback_secret) == ("a$${SEED}",) * 2


def test_files_and_what_they_include(tmp_path: Path) -> None:
    """Every file may ask, for the name of another one too; a problem is in the file that asks."""
    write(tmp_path, a="include: ['${PART}.yaml']\n", b="name: x\nseed: ${SEEED}\n")
    assert load(tmp_path / "a.yaml", env={"PART": "b", "SEEED": "9"}).seed == 9
    (problem,) = check(tmp_path / "a.yaml", env={"PART": "b", "SEED": "9"})
    assert (Path(problem.file).name, problem.line, problem.rule, problem.nearest) == (
        "b.yaml",
        3,
        "environment",
        "SEED",
    )
    (problem,) = check(tmp_path / "a.yaml")
    assert (Path(problem.file).name, problem.line, problem.column) == ("a.yaml", 2, 11)


def test_what_is_no_text() -> None:
    """Bytes that are no UTF-8 are refused, not sent."""
    (problem,) = check("sendbox: 1\nname: ${RAW}\n", name="a.yaml", env={"RAW": "\udcff"})
    assert str(problem) == 'a.yaml:2:7: "${RAW}" is set to a value that is not UTF-8'


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("18446744073709551616 is outside the range of integers; legal: -92", "seed: ${X}", "18446744073709551616"),
        ("1e400 is not a finite number", "clock: {rate: '${X}'}", "1e400"),
    ],
)
def test_a_number_of_the_environment_is_held_to_the_range(said: str, key: str, value: str) -> None:
    """What becomes a number is one within the range, or a problem where it stands; what stays text may be any."""
    (problem,) = read(f"sendbox: 1\n{key}\nname: ${{X}}\n", LANGUAGE.shape, env={"X": value})[1]
    assert (problem.line, problem.value) == (2, "${X}")
    assert problem.message.startswith(said)


@pytest.mark.parametrize(
    "source", ["sendbox: 1\nname: ${SEED}\n", {"sendbox": 1, "name": "a ${SEED:x}"}], ids=["text", "object"]
)
def test_from_afar(source: Any) -> None:
    """What comes over the network sees nothing of the server's environment, and is told so; a default is no way in."""
    (problem,) = check(source, paths=False, env=ENV)
    assert (problem.rule, problem.path) == ("environment", "$.name")
    assert FROM_AFAR in problem.message
    assert "7" not in problem.message
    assert not check({"sendbox": 1, "name": "$${SEED}"}, paths=False)


def test_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No scenario of the library asks, and none could: it is compiled once for all."""
    assert [name for name in library.names() if MARK in library.path(name).read_text("utf-8")] == []
    write(tmp_path, odd="name: ${SEED}\n")
    monkeypatch.setattr(library, "folder", lambda: tmp_path)
    (problem,) = check(tmp_path / "odd.yaml", env=ENV)
    assert FROM_LIBRARY in problem.message
