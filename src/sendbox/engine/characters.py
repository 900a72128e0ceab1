"""Characters that look like others: how an error names them."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Quotes that word processors write, which YAML and JSON read as part of the text.
CURLY: Final = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb"


def named(text: str, at: int) -> str:
    """The character at an index as errors name it: `"ж" (U+0436, CYRILLIC SMALL LETTER ZHE) at place 3`, from 1."""
    char = text[at]
    shown = f'"{char}"' if char.isprintable() else "a character that cannot be shown"
    return f"{shown} (U+{ord(char):04X}, {unicodedata.name(char, 'a character without a name')}) at place {at + 1}"


def foreign(text: str) -> str:
    """`; it has …` with the first character that is not ASCII, "" where all are: words and numbers have no other."""
    at = next((at for at, char in enumerate(text) if not char.isascii()), None)
    return "" if at is None else f"; it has {named(text, at)}"
