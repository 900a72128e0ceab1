"""Patterns of the scenario language: literal text with wildcards.

In every pattern `*` stands for any run of characters, at the end or inside. In phone patterns `?` stands for exactly
one digit (a phone number never holds a question mark); elsewhere `?` is the character itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable


class Pattern:
    """A compiled pattern. `text` as written; `matches(value)`; `literal` when it holds no wildcard."""

    __slots__ = ("literal", "matches", "phone", "text")

    def __init__(self, text: str, *, phone: bool = False) -> None:
        self.text = text
        self.phone = phone
        wild = "*" in text or (phone and "?" in text)
        self.literal = not wild
        self.matches: Callable[[str], bool] = _compile(text, phone) if wild else text.__eq__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self.text, self.phone) == (other.text, other.phone)

    def __hash__(self) -> int:
        return hash((self.text, self.phone))

    def __repr__(self) -> str:
        return f"Pattern({self.text!r}, phone={self.phone})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.text, self.phone)


def _restore(text: str, phone: bool) -> Pattern:
    return Pattern(text, phone=phone)


def _compile(text: str, phone: bool) -> Callable[[str], bool]:
    if text.endswith("*") and "*" not in text[:-1] and not (phone and "?" in text):
        prefix = text[:-1]
        return lambda value: value.startswith(prefix)
    parts = [
        "".join("[0-9]" if phone and char == "?" else re.escape(char) for char in part) for part in text.split("*")
    ]
    # Parts between stars are taken where they are first found, for good: that never hinders the parts after them, and
    # no text takes long because a pattern has many stars.
    middle = "".join(f"(?>.*?{part})" for part in parts[1:-1])
    expression = f"{parts[0]}{middle}.*{parts[-1]}" if len(parts) > 1 else parts[0]
    fullmatch = re.compile(expression, re.DOTALL).fullmatch
    return lambda value: fullmatch(value) is not None
