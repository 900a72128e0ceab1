"""The notation of phone numbers, as clients and testers write them, and the international form (§2.1 `to`, §7.3; A14).

Only length and calling code count: a number is never refused for being unassigned or fictional. A number that
already is international stays as it is, also when it has the length of a national one: `12025550123` is a number of
the United States in every account, as its `1` is followed by the ten digits that `1` wants. So does a number that is
written with `+` or `00` before it, which is never a national one.

Of the numbers that testers write, in scenarios and in control, no character is dropped silently; of those that clients
send, `normalize` drops what is no digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from sendbox.engine.texts import Pattern, named, regex
from sendbox.services.numbers.countries import Code, beginnings, codes, heads

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


SHORTEST: Final = 8
LONGEST: Final = 15

_NO_DIGITS: Final = bytes(byte for byte in range(256) if byte not in b"0123456789")
#: The beginning of a number that is written as an international one.
_INTERNATIONAL: Final = regex(r"[^0-9+]*(?:\+|0[^0-9+]*0)")


def normalize(raw: str, prefix: str = "420") -> str | None:
    """The number in international form, digits only, or None if it cannot be normalized (A14).

    `prefix` is the calling code of the account's country. Only ASCII digits count; other characters are dropped, and
    so are leading zeros (`00` and a trunk `0`).
    """
    national, assigned = _codes(prefix)
    size = len(raw)
    if SHORTEST <= size <= LONGEST and size not in national and raw[:3] in assigned and raw.isdigit() and raw.isascii():
        return raw
    digits = raw.encode("ascii", "ignore").translate(None, _NO_DIGITS).lstrip(b"0").decode()
    size = len(digits)
    if size in national or (size == 9 and prefix == "420"):
        if raw[0] not in "123456789" and _INTERNATIONAL.match(raw) is not None:
            pass
        elif size in national and not _international(digits):
            digits = prefix + digits
        elif size == 9 and prefix == "420" and digits[0] in "67":
            digits = "420" + digits
    return digits if SHORTEST <= len(digits) <= LONGEST and digits[:3] in assigned else None


@lru_cache(1024)
def _codes(prefix: str) -> tuple[tuple[int, ...], Mapping[str, Code]]:
    """The lengths of national numbers of a calling code, none if it is not assigned; and all beginnings."""
    own = codes().get(prefix)
    return () if own is None else own.lengths, heads()


def doubtful(number: str) -> bool:
    """True if a normalized number has a length or a beginning that its country does not assign. On the hot path."""
    return _odd(number[:5], len(number))


@lru_cache(4096)
def _odd(head: str, length: int) -> bool:
    """The same by the first five digits, which hold the code and the beginning, and the length."""
    plan = heads().get(head[:3])
    if plan is None or not plan.lengths:
        return False
    cut = len(plan.code)
    return length - cut not in plan.lengths or head[cut : cut + 2] not in beginnings(plan.begins)


def doubt(number: str) -> str:
    """The reason why a doubtful number is doubtful, in words that follow the number."""
    plan = heads()[number[:3]]
    national = number[len(plan.code) :]
    if len(national) not in plan.lengths:
        legal = " or ".join(map(str, sorted(plan.lengths)))
        return f"has {len(national)} digits behind {plan.code}, where numbers of {plan.name} have {legal}"
    return f"begins with {national[:2]} behind {plan.code}, as no number of {plan.name} does"


def _international(digits: str) -> bool:
    """True if the digits begin with an assigned calling code and continue with a possible rest."""
    plan = heads().get(digits[:3])
    return plan is not None and len(digits) - len(plan.code) in plan.lengths
