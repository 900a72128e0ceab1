"""Patterns compared with each other: whether one takes everything that another takes, or anything of it.

A pattern is text with `*` for any characters; in phone patterns `?` stands for exactly one digit, elsewhere for itself.
"""

from __future__ import annotations

import re
from typing import Final

from sendbox.services.numbers.normal import LONGEST, SHORTEST, normalize

_ANY: Final = "*"
_ONE: Final = "?"
#: A run of wildcards takes as much in any order; here the single ones come first.
_RUN: Final = re.compile(r"[*?]{2,}")


def covers(wide: str, narrow: str, *, phone: bool = False) -> bool:
    """Whether every text that `narrow` takes is taken by `wide`. Never wrongly so."""
    head = re.split("[*?]", wide, maxsplit=1)[0]  # most pairs differ here
    return narrow.startswith(head) and _covers(_tidy(wide, phone), _tidy(narrow, phone), phone)


def _covers(wide: str, narrow: str, phone: bool) -> bool:
    # A star of the narrow one stands for texts that only a star of the wide one takes, all else for itself.
    reached = _after_stars({0}, wide)
    for char in narrow:
        step = set()
        for at in reached:
            if at == len(wide):
                continue
            own = wide[at]
            if own == _ANY:
                step.add(at)
            elif char != _ANY and (own == char or (phone and own == _ONE)):
                step.add(at + 1)
        reached = _after_stars(step, wide)
        if not reached:
            return False
    return len(wide) in reached


def _after_stars(places: set[int], pattern: str) -> set[int]:
    """The places of a pattern, and those behind its stars, which may stand for nothing."""
    found = set(places)
    for at in places:
        while at < len(pattern) and pattern[at] == _ANY:
            at += 1
            found.add(at)
    return found


def overlaps(first: str, second: str) -> bool:
    """Whether there may be a number that both phone patterns take."""
    reached = {(0, 0)}
    seen: set[tuple[int, int]] = set()
    while reached:
        here = reached.pop()
        if here in seen:
            continue
        seen.add(here)
        one, two = here
        if one == len(first) and two == len(second):
            return True
        a = first[one] if one < len(first) else ""
        b = second[two] if two < len(second) else ""
        if a == _ANY:
            reached.add((one + 1, two))
            if b:
                reached.add((one, two + 1))
        if b == _ANY:
            reached.add((one, two + 1))
            if a:
                reached.add((one + 1, two))
        if a and b and _ANY not in (a, b) and (a == b or _ONE in (a, b)):
            reached.add((one + 1, two + 1))
    return False


def why_no_number(pattern: str) -> str | None:
    """Why no phone number can be like a phone pattern with wildcards, in words; None when one can."""
    digits = pattern.replace(_ANY, "")
    if len(digits) > LONGEST:
        return f"it has {len(digits)} digits, and a number has at most {LONGEST}"
    if _ANY not in pattern and len(digits) < SHORTEST:
        return f"it has {len(digits)} digits, and a number has at least {SHORTEST}"
    head = re.match("[0-9]*", pattern)
    start = "" if head is None else head[0]
    if start.startswith("0"):
        return "a number is compared in international form, which begins with a calling code and no 0"
    if len(start) >= 3 and normalize(f"{start[:3]}{'0' * 9}", "") is None:
        return f"no calling code begins with {start[:3]}"
    return None


def _tidy(pattern: str, phone: bool) -> str:
    if not phone:
        return re.sub(r"\*{2,}", _ANY, pattern)
    return _RUN.sub(lambda run: _ONE * run[0].count(_ONE) + _ANY * (_ANY in run[0]), pattern)
