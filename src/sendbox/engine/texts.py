"""Texts of the scenario language: patterns, which are literal text with wildcards, and texts with gaps.

In every pattern `*` stands for any run of characters, at the end or inside. In patterns of `digits`, which services
compile for numbers, `?` stands for exactly one digit (a number never holds a question mark); elsewhere `?` is the
character itself.

A gap is `{{name}}`. Which names there are, the service knows that fills them; `FAKES` are those for which something is
invented: out of a pool that was made when the scenario was compiled, so that no world needs the library that invents,
and a choice is one draw.

An error names characters that look like others, and the word that was probably meant.

The expressions of `regex` are compiled at their first use: a start needs few of them, and lost a twentieth to all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import AnyStr, Final, Generic, cast

import msgspec
from msgspec import Struct

_METHODS: Final = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")


class _Late(Generic[AnyStr]):
    """An expression that has its methods from its first use on. Its `pattern` needs no compiled one."""

    def __init__(self, source: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, compiled at its first use. It has the methods; functions of `re` do not take it."""
    return cast("re.Pattern[AnyStr]", _Late(source, flags))


#: The word for the account's own key, among the keys of an account.
PARENT: Final = "parent"


class Pattern:
    """A compiled pattern. `text` as written; `matches(value)` is true or not; `literal` when it holds no wildcard.

    With `mark` the part of a value behind its last mark may match, too, unless the pattern has the mark itself; the
    word `parent` stands for a value without a mark.
    """

    __slots__ = ("digits", "literal", "mark", "matches", "text")

    def __init__(self, text: str, *, digits: bool = False, mark: str = "") -> None:
        self.text = text
        self.digits = digits
        self.mark = mark
        wild = "*" in text or (digits and "?" in text)
        self.literal = not wild
        self.matches: Callable[[str], object] = _compile(text, digits) if wild else text.__eq__
        if mark and text == PARENT:
            self.matches = lambda value: mark not in value
        elif mark and mark not in text:
            whole = self.matches
            self.matches = lambda value: whole(value) or whole(value.rpartition(mark)[2])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self.text, self.digits) == (other.text, other.digits)

    def __hash__(self) -> int:
        return hash((self.text, self.digits))

    def __repr__(self) -> str:
        return f"Pattern({self.text!r}, digits={self.digits})"


def _compile(text: str, digits: bool) -> Callable[[str], object]:
    if text.endswith("*") and "*" not in text[:-1] and not (digits and "?" in text):
        prefix = text[:-1]
        return lambda value: value.startswith(prefix)
    if digits and "*" not in text and set(text[text.index("?") : text.rindex("?")]) <= {"?"}:
        return _one_gap(text)
    parts = [
        "".join("[0-9]" if digits and char == "?" else re.escape(char) for char in part) for part in text.split("*")
    ]
    # Parts between stars are matched where they first occur, without going back: that never hinders the parts after
    # them, and a pattern with many stars takes no longer.
    middle = "".join(f"(?>.*?{part})" for part in parts[1:-1])
    expression = f"{parts[0]}{middle}.*{parts[-1]}" if len(parts) > 1 else parts[0]
    return re.compile(expression, re.DOTALL).fullmatch


def _one_gap(text: str) -> Callable[[str], object]:
    """A pattern of digits whose `?` stand together: the common form of magic numbers needs no regular expression."""
    first, last, size = text.index("?"), text.rindex("?") + 1, len(text)
    head, tail = text[:first], text[last:]

    def matches(value: str) -> bool:
        return (
            value.startswith(head)
            and len(value) == size
            and value.endswith(tail)
            and (gap := value[first:last]).isascii()
            and gap.isdigit()
        )

    return matches


#: Gaps for which something is invented, by what follows `fake.`; each is a method of the same name in Faker.
FAKES: Final = {
    "first_name": "a first name",
    "first_name_female": "a woman's first name",
    "first_name_male": "a man's first name",
    "last_name": "a family name",
    "name": "a whole name",
    "user_name": "a login",
    "free_email": "an e-mail address at a free provider",
    "company": "the name of a company",
    "job": "an occupation",
    "city": "a city",
    "street_address": "a street and a number",
    "postcode": "a postal code",
    "country": "a country",
    "color_name": "a colour",
    "word": "a word",
    "sentence": "a sentence",
    "paragraph": "a few sentences",
}
#: How many of a kind are invented, in any version of the library, so that equal draws pick equal places.
POOL: Final = 256


class Gap(Struct, frozen=True):
    """A gap that a message fills; `path` leads into its payload."""

    name: str
    path: tuple[str, ...] = ()


class Fake(Struct, frozen=True):
    """A gap for something invented: its name, the locale, and the pool to draw from."""

    name: str
    locale: str
    pool: tuple[str, ...]


class Text(msgspec.Struct, frozen=True):
    """A text with gaps. `source` as it was written."""

    source: str
    parts: tuple[str | Gap | Fake, ...]

    @property
    def draws(self) -> bool:
        """True if some part of the text is invented."""
        return any(isinstance(part, Fake) for part in self.parts)


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


def shorten(text: str, most: int) -> str:
    """A text of at most so many characters, the last one an ellipsis where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


#: Longer words are not compared.
_LONGEST: Final = 60
#: What turns a word into its opposite: before it, or as a word of its own.
_NEGATIONS: Final = ("un", "in", "im", "ir", "il", "non", "not", "dis", "de", "no", "never", "without")
_WORD: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+")
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
