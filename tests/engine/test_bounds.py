"""The bounds of all that comes in."""

from __future__ import annotations

import math
from typing import Any

import orjson
import pytest

from sendbox.engine.bounds import DEEPEST, HIGHEST, LOWEST, Outside, deeper, in_json, in_value, looks_whole, whole

LEGAL = "is outside the range of integers; legal: -9223372036854775808 to 9223372036854775807 (64 bits)"
TOO_DEEP = "the value is nested deeper than 200 levels; legal: up to 200 levels"


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (HIGHEST, "9223372036854775807"),
        (LOWEST, "-9223372036854775808"),
        (None, "9223372036854775808"),
        (None, "-9223372036854775809"),
        (7, "007"),
        (7, "+7"),
        (None, "9" * 5000),
        (None, "1.0"),
        (None, "1e3"),
        (None, " 1"),
        (None, "\u0663"),
        (None, ""),
    ],
)
def test_whole(expected: int | None, text: str) -> None:
    """Only ASCII digits write an integer, and only one of 64 bits."""
    assert whole(text) == expected


def test_what_looks_whole() -> None:
    """An integer out of range can be told from what is not an integer at all."""
    assert looks_whole("-" + "9" * 5000)
    assert not looks_whole("abc")


@pytest.mark.parametrize(
    ("expected", "raw"),
    [
        (None, b'{"a": [9223372036854775807, -9223372036854775808]}'),
        (None, b'["9223372036854775808", "[9223372036854775808]", "a,9223372036854775808,b"]'),
        (None, b"[0.9223372036854775808, 1e30, 92233720368547758080.5]"),
        (None, b'{"a": 18446744073709551616, "a": 1}'),
        (Outside((), "range", f"9223372036854775808 {LEGAL}"), b" 9223372036854775808\n"),
        (Outside(("a", 1), "range", f"-9223372036854775809 {LEGAL}"), b'{"a": [{"b": {}}, -9223372036854775809 ]}'),
        (Outside((0,), "range", f"{'9' * 40}… (60 characters) {LEGAL}"), b"[%s]" % (b"9" * 60)),
        (None, b"[" * DEEPEST + b"]" * DEEPEST),
        (None, b"[" + b"{}," * 500 + b"{}]"),
        (None, b'["' + b"[{" * 500 + b'\\"' + b"[{" * 500 + b'"]'),
        (Outside((), "depth", TOO_DEEP), b"[" * 201 + b"]" * 201),
        (Outside((1, "a"), "depth", TOO_DEEP), b'[0, {"a": [[' + b'{"x":' * 200 + b"1" + b"}" * 200 + b"]]}]"),
    ],
)
def test_json(expected: Outside | None, raw: bytes) -> None:
    """What is outside has its place; texts, fractions and wide values are not taken for it."""
    assert in_json(raw, orjson.loads(raw)) == expected


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (None, {"a": [1, (2.5, True, None, "x")]}),
        (Outside((), "range", f"{2**64} {LEGAL}"), 2**64),
        (Outside(("a",), "range", f"2^16609 or more {LEGAL}"), {"a": 10**5000}),
        (Outside((1,), "finite", "inf is not a finite number"), (1, math.inf)),
        (Outside((), "finite", "nan is not a finite number"), math.nan),
    ],
)
def test_values(expected: Outside | None, value: Any) -> None:
    """Values of Python are held to the same, and to what JSON cannot write."""
    assert in_value(value) == expected


def test_depth_of_values() -> None:
    """A value that holds itself has no end, and is refused like one that is too deep."""
    endless: list[Any] = []
    endless.append(endless)
    assert in_value({"x": endless}) == Outside(("x",), "depth", TOO_DEEP)
    assert deeper(b"[[[[]]]]", 3)
    assert not deeper(b"[[[]],[]]", 3)
