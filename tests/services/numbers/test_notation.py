"""Phone numbers as testers write them: nothing is dropped in silence."""

from __future__ import annotations

import re

import pytest

from sendbox.services.numbers import notation


@pytest.mark.parametrize(
    "text", ["420601000001", "+420 601 000 001", "00420601000001", "(601) 000-001", "601/000.001", " 601000001"]
)
def test_what_people_write_between_digits_is_legal(text: str) -> None:
    """Blanks, brackets, dashes, dots and slashes separate; a plus or 00 comes first."""
    assert notation.number(text, "420") == "420601000001"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4206010000*", "is a pattern where one number is wanted"),
        ("4206020000?", "is a pattern where one number is wanted"),
        ("+420 777 123 xyz", 'it has "x" (U+0078, LATIN SMALL LETTER X) at place 14'),
        ("420601#00001", 'it has "#" (U+0023, NUMBER SIGN) at place 7'),
        ("420601000001x5", 'it has "x" (U+0078, LATIN SMALL LETTER X) at place 13'),
        ("\u201c420601000001\u201d", "(U+201C, LEFT DOUBLE QUOTATION MARK) at place 1"),
        ("42\uff10601000001", "(U+FF10, FULLWIDTH DIGIT ZERO) at place 3"),
        ("42\u041e601000001", "(U+041E, CYRILLIC CAPITAL LETTER O) at place 3"),
        ("420\u00a0601000001", "a character that cannot be shown (U+00A0, NO-BREAK SPACE) at place 4"),
        ("420+601000001", 'it has "+" (U+002B, PLUS SIGN) at place 4'),
        ("12", "8 to 15 digits with an assigned calling code (A14)"),
        ("", "8 to 15 digits with an assigned calling code (A14)"),
    ],
)
def test_what_is_not_one_number_is_named(text: str, why: str) -> None:
    """The error names the character, its code point and its place."""
    with pytest.raises(ValueError, match=re.escape(why)):
        notation.number(text, "420")


def test_a_pattern_has_digits_and_wildcards() -> None:
    """The error names the characters that a pattern could never match."""
    assert notation.pattern_problem("4206*0?") is None
    assert "U+FF11, FULLWIDTH DIGIT ONE" in (notation.pattern_problem("42*\uff11") or "")
