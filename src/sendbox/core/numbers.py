"""Phone numbers: whatever a client writes, to the international form (§2.1 `to`, §7.3; A14).

Only length and calling code are asked: a number is never refused for being unassigned or fictional. A number that
already is international stays as it is, also when it has the length of a national one: `12025550123` is a number of
the United States in every account, as its `1` is followed by the ten digits that `1` wants.
"""

from __future__ import annotations

import re
from typing import Final

from sendbox.core.numbering import CODES

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


def _international(digits: str) -> bool:
    """Whether the digits begin with an assigned calling code and a possible rest."""
    code = _CODES.get(digits[:3])
    return code is not None and len(digits) - len(code) in _LENGTHS[code]
