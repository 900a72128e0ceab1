"""Reading YAML: values are what they look like, places are kept, and whatever loses or hides something is an error."""

from __future__ import annotations

import math
from datetime import date

import pytest

from sendbox.scenario.model import Node, Scalar, Source, plain
from sendbox.scenario.parse import ALIASES, from_object, parse, scalar

SOURCE = Source("a.yaml")
RANGE = "is outside the range of integers; legal: -9223372036854775808 to 9223372036854775807 (64 bits)"
NO_TOKEN = "while scanning for the next token found character that cannot start any token"


def lines(text: str) -> list[str]:
    """The problems of a text, as they are printed."""
    return [str(problem) for problem in parse(text, SOURCE)[1]]


def read(text: str) -> Node:
    """The nodes of a text that has no problem."""
    node, problems = parse(text, SOURCE)
    assert node is not None
    assert not problems
    return node


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(None, "", id="empty"),
        pytest.param(None, "~", id="tilde"),
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "False", id="False"),
        pytest.param("YES", "YES", id="yes-is-text"),
        pytest.param("off", "off", id="off-is-text"),
        pytest.param("n", "n", id="n-is-text"),
        pytest.param("9:00", "9:00", id="time-is-text"),
        pytest.param("2026-03-01", "2026-03-01", id="date-is-text"),
        pytest.param("0777000101", "0777000101", id="leading-zero-is-text"),
        pytest.param("1_000", "1_000", id="underscore-is-text"),
        pytest.param(0, "0", id="zero"),
        pytest.param(-17, "-17", id="negative"),
        pytest.param(420777000101, "+420777000101", id="plus"),
        pytest.param(15, "0o17", id="octal"),
        pytest.param(255, "0xfF", id="hexadecimal"),
        pytest.param(0.5, ".5", id="float-without-zero"),
        pytest.param(5.0, "5.", id="float-without-fraction"),
        pytest.param(1000.0, "1e3", id="exponent"),
        pytest.param("1e", "1e", id="half-an-exponent-is-text"),
        pytest.param(math.inf, "-.Inf", id="infinite"),
        pytest.param(9223372036854775807, "9223372036854775807", id="the-highest"),
        pytest.param("0." + "9" * 40, "0." + "9" * 40, id="too-long-for-a-fraction"),
    ],
)
def test_plain_scalars_are_what_they_look_like(expected: Scalar, text: str) -> None:
    """A plain scalar follows the YAML 1.2 core schema, and a number with a leading zero stays text."""
    found = scalar(text)
    assert found == expected
    assert type(found) is type(expected)


def test_quoted_scalars_are_text() -> None:
    """Quotes and block styles always give text."""
    assert plain(read("- '1'\n- \"true\"\n- |\n  5\n- 5\n")) == ["1", "true", "5\n", 5]


def test_places_of_keys_values_and_items() -> None:
    """Every key, value and item knows its line and column, counted from 1."""
    node = read("a:\n  - 1\n  - {b c: x}\n")
    item = node.entries()["a"].items()[1]
    assert (node.line, node.column, node.path) == (1, 1, "$")
    assert node.keys == {"a": (1, 1)}
    assert (item.line, item.column, item.path) == (3, 5, "$.a[1]")
    assert item.keys == {"b c": (3, 6)}
    value = item.entries()["b c"]
    assert (value.line, value.column, value.path, value.place) == (3, 11, "$.a[1]['b c']", "a.yaml:3")


def test_keys_are_the_text_as_written() -> None:
    """A key that looks like a number, a truth or nothing is still the text that stands there."""
    assert plain(read("420: a\ntrue: b\n~: c\n")) == {"420": "a", "true": "b", "~": "c"}


def test_an_alias_repeats_what_it_names() -> None:
    """An alias stands for a copy, so that a change of one leaves the other alone."""
    node = read("a: &x [1, {b: 2}]\nc: *x\nd: &y z\ne: *y\n")
    assert plain(node) == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": "z", "e": "z"}
    first, second = node.entries()["a"], node.entries()["c"]
    assert first is not second
    assert (second.path, second.line, second.items()[1].path) == ("$.c", 1, "$.c[1]")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(['a.yaml:1:1: this is empty; a scenario begins with "sendbox: 1"'], "# x\n", id="empty"),
        pytest.param(
            [
                'a.yaml:3:1: "a" stands here twice, first on line 1',
                'a.yaml:4:1: "a" stands here twice, first on line 1',
            ],
            "a: 1\nb: 2\na: 3\na: {c: 4}\n",
            id="duplicate",
        ),
        pytest.param(
            ['a.yaml:2:3: "<<" does not merge here; a scenario builds on one by "extends"'],
            "a:\n  <<: {b: 1}\n",
            id="merge",
        ),
        pytest.param(
            [
                'a.yaml:1:4: "!!str" is a tag; scenarios have none, a value is what it looks like',
                'a.yaml:2:4: "!m" is a tag; scenarios have none, a value is what it looks like; or quote it: b: "!m c"',
            ],
            "a: !!str 5\nb: !m c\n",
            id="tag",
        ),
        pytest.param(
            [
                "a.yaml:1:3: a list stands where a key is expected; a key is text",
                "a.yaml:3:3: a mapping stands where a key is expected; a key is text",
            ],
            "? [b]\n: 1\n? {c: 1}\n: {d: 2}\n",
            id="key-that-is-no-text",
        ),
        pytest.param(
            ['a.yaml:2:1: "*x" stands where a key is expected; write the key itself'],
            "a: &x b\n*x : 1\n",
            id="key-alias",
        ),
        pytest.param(
            ['a.yaml:1:4: "*x" refers to no anchor; &x must stand before it; or quote it: a: "*x"'],
            "a: *x\nb: &x 1\n",
            id="no-anchor",
        ),
        pytest.param(
            ['a.yaml:1:9: "*x" refers to a value that contains it, which would never end'],
            "a: &x [ *x]\n",
            id="in-itself",
        ),
        pytest.param(["a.yaml:1:4: .nan is not a finite number"], "a: .nan\n", id="not-a-number"),
        pytest.param(["a.yaml:1:4: 1e400 is not a finite number"], "a: 1e400\n", id="overflow"),
        pytest.param([f"a.yaml:1:4: 9223372036854775808 {RANGE}"], "a: 9223372036854775808\n", id="beyond-64-bits"),
        pytest.param([f"a.yaml:2:3: 0xFFFFFFFFFFFFFFFF {RANGE}"], "a:\n- 0xFFFFFFFFFFFFFFFF\n", id="hexadecimal"),
        pytest.param([f"a.yaml:1:4: {'9' * 40}… (5000 characters) {RANGE}"], f"a: {'9' * 5000}\n", id="without-end"),
        pytest.param(
            ["a.yaml:2:1: a second document begins here; a file holds one scenario"],
            "a: 1\n---\nb: 2\n",
            id="documents",
        ),
        pytest.param(
            ["a.yaml:1:201: the value is nested deeper than 200 levels; legal: up to 200 levels"],
            "[" * 200_000,
            id="deep",
        ),
        pytest.param(
            ["a.yaml:1:6: this is not YAML: while parsing a flow sequence did not find expected ',' or ']'"],
            "a: [1}]",
            id="syntax",
        ),
        pytest.param(
            [
                f"a.yaml:2:1: this is not YAML: {NO_TOKEN}; tabs cannot indent, use spaces",
            ],
            "a:\n\tb: @1\n",
            id="tab",
        ),
        pytest.param(
            [
                'a.yaml:2:5: this is not YAML: "@" at the beginning of a text means something else in YAML; quote it',
            ],
            "a: 1\nb: [@]c]\n",
            id="reserved-character",
        ),
        pytest.param(
            ['a.yaml:2:4: "\\u0001" is a character that YAML does not allow'], "a: 1\nb: \x01\n", id="control-character"
        ),
        pytest.param(
            ["a.yaml:2:2: '\\ud800' is half of a character and cannot be encoded"], "a: 1\nb\ud800: 1\n", id="surrogate"
        ),
        pytest.param(
            ['a.yaml:1:8: this is not YAML: "!" at the beginning of a text means something else in YAML; quote it'],
            "a: [1, !x!y z}]\n",
            id="undefined-tag",
        ),
    ],
)
def test_what_hides_or_loses_something_is_a_problem(expected: list[str], text: str) -> None:
    """Each mistake of form is named with its line and column; all of them where reading can go on."""
    assert lines(text) == expected


def test_a_duplicate_keeps_the_first() -> None:
    """The second value of a key is read for its own problems and then dropped."""
    node, _ = parse("a: 1\na: 2\n", SOURCE)
    assert node is not None
    assert plain(node) == {"a": 1}


def test_heaps_of_aliases_are_refused() -> None:
    """A text of a few lines cannot stand for millions of values."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    message = "is one alias too many: a scenario has at most 100 aliases and 50000 values through them"
    assert [line.split(" ", 2)[2] for line in lines(bomb)] == [message]
    many = "a: &x 1\nb: [" + ", ".join(["*x"] * (ALIASES + 1)) + "]\n"
    assert [line.split(" ", 2)[2] for line in lines(many)] == [message]
    assert lines("a: &x 1\nb: [" + ", ".join(["*x"] * ALIASES) + "]\n") == []


def test_objects_have_paths_for_places() -> None:
    """An object that was parsed elsewhere becomes the same nodes, with JSON paths only."""
    node, problems = from_object({"a": [1, {"b": None}], 420: (True, 0.5)}, SOURCE)
    assert not problems
    assert plain(node) == {"a": [1, {"b": None}], "420": [True, 0.5]}
    inner = node.entries()["a"].items()[1].entries()["b"]
    assert (inner.line, inner.column, inner.path, inner.place) == (None, None, "$.a[1].b", "$.a[1].b")


def test_objects_hold_what_json_holds() -> None:
    """Values that JSON does not know, and bottomless nesting, are problems at their paths."""
    endless: list[object] = []
    endless.append(endless)
    _, problems = from_object({"a": date(2026, 3, 1), "b": math.nan, "c": {1}}, SOURCE)
    assert list(map(str, problems)) == [
        "$.a: 2026-03-01 is a date, which a scenario cannot hold",
        "$.b: nan is not a finite number",
        "$.c: {1} is a set, which a scenario cannot hold",
    ]
    node, problems = from_object({"a": "x\ud800", "\udc00": 1}, SOURCE)
    assert plain(node) == {"a": "x\ud800"}
    assert (
        list(map(str, problems))
        == [
            "$: '\\udc00' holds half of a character and cannot be encoded",
            "$.a: 'x\\ud800' holds half of a character and cannot be encoded",
        ][::-1]
    )
    _, problems = from_object(endless, SOURCE)
    assert [problem.rule for problem in problems] == ["depth"]
