"""Texts: how long they may be (§8), and how many segments they are billed as (§6)."""

from __future__ import annotations

import unicodedata
from typing import Final

#: The alphabet of an sms, and its extension, whose characters take the room of two (GSM 03.38).
BASIC: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
EXTENSION: Final = frozenset("\f^{}\\[~]|€")
LONGEST: Final = 1000


def cut(text: str) -> str:
    """A body as it is kept: longer text is truncated (§2.1)."""
    return text[:LONGEST]


def reduced(text: str) -> str:
    """A text of `type` `sms`: characters that an sms has no room for are converted or removed (§2.2)."""
    kept = []
    for character in text:
        if character in BASIC or character in EXTENSION:
            kept.append(character)
        else:
            kept += [part for part in unicodedata.normalize("NFKD", character) if part in BASIC]
    return "".join(kept)


def segments(text: str) -> int:
    """How many sms a text is: 160 characters or 153 in each of several, 70 or 67 where one is not of the alphabet."""
    if all(character in BASIC or character in EXTENSION for character in text):
        sizes, alone, together = [2 if character in EXTENSION else 1 for character in text], 160, 153
    else:
        sizes, alone, together = [2 if ord(character) > 0xFFFF else 1 for character in text], 70, 67
    if sum(sizes) <= alone:
        return 1
    count, room = 1, together
    for size in sizes:  # a character of two places is never parted
        if size > room:
            count, room = count + 1, together
        room -= size
    return count
