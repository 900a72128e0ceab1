"""The notation of phone numbers for testers, in scenarios and in control: no character is dropped silently.

The emulated interfaces read the numbers of clients in another way (`normal.py`).
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.regex import regex
from sendbox.engine.texts import Pattern, named
from sendbox.services.numbers.normal import normalize

LEGAL: Final = "8 to 15 digits with an assigned calling code (A14)"
_SEPARATED: Final = "digits, which may have a + before them, and blanks or ( ) - . / between them"
_PLAIN: Final = regex(r"[0-9 \t()./-]*")
_PATTERN: Final = regex(r"[0-9*?]*")
#: What texts of each form look like, as patterns by which editors check them; not whether a number is assigned.
FORMS: Final = {
    "number": rf"[ \t]*\+?{_PLAIN.pattern}",
    "numberPattern": rf"{_PATTERN.pattern}|[ \t]*\+?{_PLAIN.pattern}",
}


def number(text: str, prefix: str) -> str:
    """The number in international form. Raises `ValueError`, whose text follows the value, if it is not one number."""
    wrong = number_problem(text)
    if wrong is not None:
        raise ValueError(wrong)
    normal = normalize(text, prefix)
    if normal is None:
        raise ValueError(f"is not a phone number: {LEGAL}")
    return normal


def number_problem(text: str) -> str | None:
    """The reason why a text of any length cannot be a number, in words that follow the text; None if it can be one."""
    if is_pattern(text):
        return f"is a pattern where one number is wanted: {LEGAL}"
    start = len(text) - len(text.lstrip(" \t"))
    end = _PLAIN.match(text, start + text.startswith("+", start)).end()  # type: ignore[union-attr] # it may be empty
    if end == len(text):
        return None
    return f"is not a phone number: it has {named(text, end)}; a number has {_SEPARATED}"


def pattern(text: str, prefix: str) -> Pattern:
    """A pattern of numbers; a text without wildcards is a number. Raises `ValueError` if a text can be neither.

    A text that has the length of no number stands for itself: a client may write to it so.
    """
    wrong = pattern_problem(text) if is_pattern(text) else number_problem(text)
    if wrong is not None:
        raise ValueError(f'"{text}" {wrong}')
    return Pattern(text if is_pattern(text) else normalize(text, prefix) or text, digits=True)


def is_pattern(text: str) -> bool:
    """True if a text is a pattern."""
    return "*" in text or "?" in text


def pattern_problem(text: str) -> str | None:
    """The reason why a text with wildcards is no pattern, in words to follow it: with + or blanks it cannot match."""
    end = _PATTERN.match(text).end()  # type: ignore[union-attr] # it may be empty
    if end == len(text):
        return None
    return f"is not a phone pattern: it has {named(text, end)}; legal: digits, * for any digits, ? for exactly one"
