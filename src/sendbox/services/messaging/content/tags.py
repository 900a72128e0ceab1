"""Tags of a message (§2.1 `tag`; A60)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sendbox.engine.texts import regex

#: What a message without tags carries; it is checked against the opt-out list (§2.1).
DEFAULT: Final = ("promotional",)

_ONE: Final = regex(r"[a-z0-9._-]+")
_DROPPED: Final = regex(r"[^a-z0-9._-]+")


@lru_cache(1024)
def normalize(text: str) -> tuple[str, ...]:
    """The tags of a comma-separated text: lower case, only `a-z 0-9 - . _` kept, each once, in order.

    Empty ones are dropped; nothing left is the default tag `promotional`.
    """
    if _ONE.fullmatch(text):
        return (text,)
    cleaned = (_DROPPED.sub("", tag) for tag in text.lower().split(","))
    return tuple(dict.fromkeys(tag for tag in cleaned if tag)) or DEFAULT
