"""Segments of an SMS: alphabets, lengths, and how a text is cut (§6 `count`, §2.2 `type`; GSM 03.38, 03.40)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

_BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
#: Each takes two septets: an escape and its own, which are never cut apart.
_EXTENDED: Final = "\f^{}\\[~]|€"
_ESCAPE: Final = "\x1b"

_PLAIN_BYTES: Final = "".join(char for char in _BASIC if char.isascii()).encode()
_FOREIGN: Final = re.compile(f"[^{re.escape(_BASIC + _EXTENDED)}]")
_DOUBLE: Final = re.compile(f"([{re.escape(_EXTENDED)}])")
#: Characters that the transliteration keeps as they are although the alphabet lacks them.
_INSTEAD: Final = {"`": "'", "\t": " "}


class Segments(NamedTuple):
    """The encoding and the size of a text as it is sent.

    `encoding` is `GSM-7` or `UCS-2`; `units` are septets or UTF-16 units; `count` the segments billed, at least 1;
    `culprit` the first character that forced UCS-2, None in GSM-7.
    """

    encoding: str
    units: int
    count: int  # type: ignore[assignment] # §6 calls it so; `count` of a tuple is not needed
    culprit: str | None


def segment(text: str) -> Segments:
    """Counts the segments: 160 septets or 70 units in one, 153 or 67 in each of several."""
    if text.isascii() and not text.encode().translate(None, _PLAIN_BYTES):
        size = len(text)
        return Segments("GSM-7", size, 1 if size <= 160 else -(-size // 153), None)
    foreign = _FOREIGN.search(text)
    if foreign:
        units = text.encode("utf-16-be", "surrogatepass")
        return Segments("UCS-2", len(units) // 2, _pairs(units), foreign.group())
    septets = _DOUBLE.sub(rf"{_ESCAPE}\1", text)
    return Segments("GSM-7", len(septets), _septets(septets), None)


def only_foreign_character(text: str) -> tuple[str, int, int] | None:
    """The one character that makes a text travel in more segments than it would without: (it, position, segments).

    Position from 1; the segments are those of the text with a plain sign in its place. None where several characters
    are foreign, or where it adds no segment.
    """
    foreign = _FOREIGN.findall(text)
    if not foreign or any(char != foreign[0] for char in foreign):
        return None
    plain = segment(text.replace(foreign[0], "?")).count
    return (foreign[0], text.index(foreign[0]) + 1, plain) if plain < segment(text).count else None


def surely_not_over(text: str) -> bool:
    """A cheap test that no single character adds a segment: True is certain, False needs a closer look."""
    size = len(text)
    one_over = size == 161 if size < 307 else size % 153 == 1
    return not one_over and text.isascii() and not text.encode().translate(None, _PLAIN_BYTES)


def one_unit_over(segments: Segments) -> int | None:
    """The units that one segment less would hold, where the text has just one unit more; else None."""
    one, several = (160, 153) if segments.encoding == "GSM-7" else (70, 67)
    less = segments.count - 1
    room = one if less == 1 else several * less
    return room if less and segments.units == room + 1 else None


def _septets(septets: str) -> int:
    if len(septets) <= 160:
        return 1
    count = at = 0
    while at < len(septets):
        at += 153
        at -= septets[at - 1 : at] == _ESCAPE
        count += 1
    return count


def _pairs(units: bytes) -> int:
    if len(units) <= 140:
        return 1
    count = at = 0
    while at < len(units):
        at += 134
        if units[at - 2 : at - 1] in _HIGH and units[at : at + 1] in _LOW:
            at -= 2
        count += 1
    return count


#: First bytes of the two halves of a surrogate pair.
_HIGH: Final = frozenset(bytes([byte]) for byte in range(0xD8, 0xDC))
_LOW: Final = frozenset(bytes([byte]) for byte in range(0xDC, 0xE0))


def to_gsm(text: str) -> str:
    """The text in GSM-7 characters, for steps of `type: sms` (§2.2).

    What the alphabet has stays, other letters and signs are transliterated, the rest (emoji too) is dropped.
    """
    if not _FOREIGN.search(text):
        return text
    composed = unicodedata.normalize("NFC", text)
    return _FOREIGN.sub(lambda match: _transliterated(match.group()), composed)


@lru_cache(maxsize=4096)
def _transliterated(char: str) -> str:
    # Imported on first use: most worlds never send a text that needs it.
    from anyascii import anyascii

    plain = _INSTEAD.get(char) or anyascii(char)
    # Emoji come as `:name:`, which would lengthen what is to be kept short.
    return "" if len(plain) > 2 and plain[0] == plain[-1] == ":" else _FOREIGN.sub("", plain)
