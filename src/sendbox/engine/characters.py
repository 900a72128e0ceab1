"""Characters and words that look like others: how an error names them, and the word that was probably meant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

#: Quotes that word processors write, which YAML and JSON read as part of the text.
CURLY: Final = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb"


def named(text: str, at: int) -> str:
    """The character at an index as errors name it: `"ж" (U+0436, CYRILLIC SMALL LETTER ZHE) at place 3`, from 1."""
    char = text[at]
    label = f'"{char}"' if char.isprintable() else "a character that cannot be shown"
    return f"{label} (U+{ord(char):04X}, {unicodedata.name(char, 'a character without a name')}) at place {at + 1}"


def foreign(text: str) -> str:
    """`; it has …` with the first character that is not ASCII, "" if all are: words and numbers have no other."""
    at = next((at for at, char in enumerate(text) if not char.isascii()), None)
    return "" if at is None else f"; it has {named(text, at)}"


#: Longer words are not compared.
_LONGEST: Final = 60
#: What turns a word into its opposite: before it, or as a word of its own.
_NEGATIONS: Final = ("un", "in", "im", "ir", "il", "non", "not", "dis", "de", "no", "never", "without")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: Shorter words have too many neighbours.
_SHORT: Final = 4


def nearest(word: object, words: Iterable[str]) -> str | None:
    """The word that was probably meant, whatever the case; None when none was.

    It differs in a few letters, or one of the two is a part of the other and of no other word. The opposite is never
    meant, nor the word itself.
    """
    if not isinstance(word, str) or not 0 < len(word) <= _LONGEST:
        return None
    written = word.lower()
    legal = [other for other in dict.fromkeys(words) if other != word and len(other) <= _LONGEST]
    close = [
        (distance, at)
        for at, other in enumerate(legal)
        if (distance := _distance(written, other.lower())) is not None and not _opposite(word, other)
    ]
    if close:
        return legal[min(close)[1]]
    parts = [other for other in legal if _part(written, other.lower()) and not _opposite(word, other)]
    return parts[0] if len(parts) == 1 else None


def _opposite(a: str, b: str) -> bool:
    """True if one word is the negation of the other: `undelivered`, `not_delivered`, `code-not-sent`."""
    first, second = ([word.lower() for word in _WORD.findall(text)] for text in (a, b))
    if _negations(first) != _negations(second):
        return True
    return any(x == f"{no}{y}" or y == f"{no}{x}" for x, y in zip(first, second, strict=False) for no in _NEGATIONS)


def _negations(words: list[str]) -> set[str]:
    """The negations among the words of a name; a name of one word has none."""
    return {word for word in words if word in _NEGATIONS} if len(words) > 1 else set()


def _part(a: str, b: str) -> bool:
    """True if one word is a part of the other: its beginning, or the last of its words."""
    short, long = sorted((a, b), key=len)
    if len(short) < _SHORT:
        return False
    return long.startswith(short) or (long.endswith(short) and (short[0] == "/" or long[-len(short) - 1] in "._-/"))


def _distance(a: str, b: str) -> int | None:
    """The number of letters to add, remove, replace or exchange; None if it is too high for a typing error."""
    same = a[0] == b[:1]
    most = max(1, (max(len(a), len(b)) + 2 * same) // 4)
    if abs(len(a) - len(b)) > most or (min(len(a), len(b)) < _SHORT and (not same or a.isdigit())):
        return None
    before, row = list(range(len(b) + 1)), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and (x, a[i - 2]) == (b[j - 2], y):
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1] if row[-1] <= most else None
