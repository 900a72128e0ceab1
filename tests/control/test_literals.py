"""Values as Python writes them."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.control.export.rows import Literals

NAMES = {"abc": "name", "abcdef": "longer"}


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        'a "quote" and a \\ and {braces}',
        "line\nbreak\ttab \u2028 \U0001f600 č",
        "xabcx {y} \\ \n",
        "abcdefabc",
        "abc",
        {"a": [1, 2.5, True, None], "abc": {"deep": "x" * 200}, "list": ["y" * 60, "z" * 60], "none": {}},
        [],
    ],
)
def test_values_are_written_as_they_are(value: Any) -> None:
    """What is written reads as the same value, with names in it standing for their texts."""
    written = Literals(NAMES).value(value, 4)
    assert eval(written, {"name": "abc", "longer": "abcdef"}) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [("abc", "name"), ("abcdef", "longer"), ("/abc/{x}", 'f"/{name}/{{x}}"'), ("abcdefabc", 'f"{longer}{name}"')],
)
def test_names_stand_for_their_texts(text: str, written: str) -> None:
    """The longest name wins, and what stands around is kept."""
    assert Literals(NAMES).text(text) == written


@pytest.mark.parametrize(
    ("positional", "named", "written"),
    [
        ([1], {"x": 2}, "f(1, x=2)"),
        ([], {"from": "1", "a-b": 2, "c": 3}, 'f(c=3, **{"from": "1", "a-b": 2})'),
        ([], {"x": {"k": "v" * 120}}, 'f(x={\n        "k": "' + "v" * 120 + '",\n    })'),
        (["a" * 60, "b" * 60], {}, f'f(\n        "{"a" * 60}",\n        "{"b" * 60}",\n    )'),
    ],
    ids=["short", "odd names", "last broken", "a line each"],
)
def test_calls(positional: list[Any], named: dict[str, Any], written: str) -> None:
    """A call in one line, else with its last argument broken open, else with a line for each."""
    assert Literals({}).call("f", positional, named) == written
