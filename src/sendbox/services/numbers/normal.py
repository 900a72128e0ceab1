"""Phone numbers: whatever a client writes, to the international form (§2.1 `to`, §7.3; A14).

Only length and calling code are asked: a number is never refused for being unassigned or fictional. A number that
already is international stays as it is, also when it has the length of a national one: `12025550123` is a number of
the United States in every account, as its `1` is followed by the ten digits that `1` wants.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sendbox.services.numbers.plan import CODES
from sendbox.services.numbers.prefixes import PREFIXES

SHORTEST: Final = 8
LONGEST: Final = 15

_LENGTHS: Final = {code: frozenset(lengths) for code, *_, lengths in CODES}


def _code_of(head: str) -> str | None:
    return next((code for code in (head, head[:2], head[:1]) if code in _LENGTHS), None)


#: First three digits of a number to its calling code. No code begins with 0, and none is a beginning of another.
_CODES: Final = {head: code for head in map(str, range(100, 1000)) if (code := _code_of(head))}
_NO_DIGITS: Final = re.compile("[^0-9]+")
_NONE: Final = frozenset[int]()


def normalize(raw: str, prefix: str = "420") -> str | None:
    """The number in international form, digits only, or None if it cannot be normalized (A14).

    `prefix` is the calling code of the account's country. Only ASCII digits count; other characters are dropped, and
    so are leading zeros (`00` and a trunk `0`).
    """
    national = _LENGTHS.get(prefix, _NONE)
    size = len(raw)
    if SHORTEST <= size <= LONGEST and size not in national and raw[:3] in _CODES and raw.isdigit() and raw.isascii():
        return raw
    digits = _NO_DIGITS.sub("", raw).lstrip("0")
    size = len(digits)
    if size in national and not _international(digits):
        digits = prefix + digits
    elif size == 9 and prefix == "420" and digits[0] in "67":
        digits = "420" + digits
    return digits if SHORTEST <= len(digits) <= LONGEST and digits[:3] in _CODES else None


class _Plan(NamedTuple):
    """What a number of one calling code looks like: lengths and first two digits behind the code."""

    code: str
    country: str
    lengths: frozenset[int]
    begins: frozenset[str]


def _begins(text: str) -> frozenset[str]:
    pairs = (part.partition("-") for part in text.split())
    return frozenset(f"{n:02d}" for low, _, high in pairs for n in range(int(low), int(high or low) + 1))


_ANY: Final = frozenset(f"{n:02d}" for n in range(100))
_BEGINS: Final = {code: _begins(text) for code, text in PREFIXES}
_PLANS: Final = {
    code: _Plan(code, country, frozenset(len(code) + n for n in lengths), _BEGINS.get(code, _ANY))
    for code, _, country, _, _, lengths in CODES
}
#: The plan of a number by its first three digits; codes without numbers of their own have none.
_PLAN_OF: Final = {head: _PLANS[code] for head, code in _CODES.items() if _PLANS[code].lengths}


def doubtful(number: str) -> bool:
    """Whether a normalized number has a length or a beginning that its country does not assign. On the hot path."""
    return _odd(number[:5], len(number))


@lru_cache(4096)
def _odd(head: str, length: int) -> bool:
    """The same of the first five digits, which hold the code and the beginning, and the length."""
    plan = _PLAN_OF.get(head[:3])
    if plan is None:
        return False
    cut = len(plan.code)
    return length not in plan.lengths or head[cut : cut + 2] not in plan.begins


def doubt(number: str) -> str:
    """What is doubtful about a number that is, in words that follow it."""
    plan = _PLAN_OF[number[:3]]
    rest = number[len(plan.code) :]
    if len(number) not in plan.lengths:
        legal = " or ".join(str(n - len(plan.code)) for n in sorted(plan.lengths))
        return f"has {len(rest)} digits behind {plan.code}, where numbers of {plan.country} have {legal}"
    return f"begins with {rest[:2]} behind {plan.code}, as no number of {plan.country} does"


def _international(digits: str) -> bool:
    """Whether the digits begin with an assigned calling code and a possible rest."""
    code = _CODES.get(digits[:3])
    return code is not None and len(digits) - len(code) in _LENGTHS[code]
