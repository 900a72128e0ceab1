"""Patterns of the scenario language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.texts import Pattern

CASES = [
    # pattern, digits, value, matches
    ("otp", False, "otp", True),
    ("otp", False, "otp2", False),
    ("otp", False, "OTP", False),
    ("*", False, "", True),
    ("*", False, "a\nb", True),
    ("otp*", False, "otp", True),
    ("otp*", False, "otp\n2", True),
    ("otp*", False, "no otp", False),
    ("*otp", False, "my otp", True),
    ("*otp", False, "otp\n", False),
    ("a*z", False, "az", True),
    ("a*z", False, "a", False),
    ("aa*aa", False, "aaa", False),
    ("*b*c*", False, "abracadabra", True),
    ("*c*b*", False, "bc", False),
    ("**", False, "x", True),
    ("*?", False, "Ready?", True),
    ("*?", False, "Ready", False),
    ("a.c*", False, "abc", False),
    ("[a]*[b]", False, "[a][b]", True),
    ("420777????00", True, "420777123400", True),
    ("420777????00", True, "42077712300", False),
    ("420777????00", True, "420777123x00", False),
    ("420777????00", True, "42077712340٣", False),
    ("????", True, "1234\n", False),
    ("4207*00", True, "420700", True),
    ("420?*", True, "4207", True),
    ("420?*", True, "420", False),
    ("*??9", True, "129", True),
    ("*??9", True, "29", False),
]


@pytest.mark.parametrize(
    ("text", "digits", "value", "expected"), CASES, ids=[f"{text}~{value!r}" for text, _, value, _ in CASES]
)
def test_what_matches(text: str, digits: bool, value: str, expected: bool) -> None:
    """`*` is any run of characters, `?` one digit in patterns of digits only, everything else itself."""
    assert bool(Pattern(text, digits=digits).matches(value)) is expected


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_a_pattern_is_its_plain_regular_expression(text: str, value: str) -> None:
    """Taking parts where they are first found finds exactly what trying every place would find."""
    plain = re.fullmatch("".join(".*" if char == "*" else char for char in text), value)
    assert bool(Pattern(text).matches(value)) is (plain is not None)


def test_many_stars_take_no_time() -> None:
    """A body that almost matches a pattern of many stars is refused at once, not after the end of the world."""
    assert not Pattern("*a" * 30 + "*b").matches("a" * 1000)


@pytest.mark.parametrize(
    ("text", "digits", "literal"),
    [("420?", False, True), ("420?", True, False), ("a*", False, False), ("abc", True, True)],
)
def test_literal_means_without_wildcards(text: str, digits: bool, literal: bool) -> None:
    """A question mark is a wildcard for digits only."""
    assert Pattern(text, digits=digits).literal is literal


def test_patterns_are_values() -> None:
    """Equal text and kind are equal and hash alike; a pattern shows how to make it."""
    pattern = Pattern("420*", digits=True)
    assert pattern == Pattern("420*", digits=True)
    assert hash(pattern) == hash(Pattern("420*", digits=True))
    assert pattern not in (Pattern("420*"), Pattern("421*", digits=True), "420*")
    assert repr(pattern) == "Pattern('420*', digits=True)"
