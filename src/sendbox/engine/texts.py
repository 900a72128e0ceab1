"""Texts of the scenario language: patterns, which are literal text with wildcards, and texts with gaps.

In every pattern `*` stands for any run of characters, at the end or inside. In patterns of `digits`, which services
compile for numbers, `?` stands for exactly one digit (a number never holds a question mark); elsewhere `?` is the
character itself.

A gap is `{{name}}`. Which names there are, the service knows that fills them; `FAKES` are those for which something is
invented: out of a pool that was made when the scenario was compiled, so that no world needs the library that invents,
and a choice is one draw.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec


class Pattern:
    """A compiled pattern. `text` as written; `matches(value)` is true or not; `literal` when it holds no wildcard.

    With `mark` the part of a value behind its last mark may match, too, unless the pattern has the mark itself.
    """

    __slots__ = ("digits", "literal", "mark", "matches", "text")

    def __init__(self, text: str, *, digits: bool = False, mark: str = "") -> None:
        self.text = text
        self.digits = digits
        self.mark = mark
        wild = "*" in text or (digits and "?" in text)
        self.literal = not wild
        self.matches: Callable[[str], object] = _compile(text, digits) if wild else text.__eq__
        if mark and mark not in text:
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


class Gap(NamedTuple):
    """A gap that a message fills; `path` leads into its payload."""

    name: str
    path: tuple[str, ...] = ()


class Fake(NamedTuple):
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
