"""Patterns compared with each other: whether one matches everything that another matches, or anything of it.

A pattern is text with `*` for any characters; in phone patterns `?` stands for exactly one digit, elsewhere for itself.
"""

from __future__ import annotations

import re
from typing import Final

from sendbox.services.numbers.notation import LONGEST, SHORTEST, normalize

_ANY: Final = "*"
_ONE: Final = "?"
#: The order in a run of wildcards does not matter; here the single ones come first.
_RUN: Final = re.compile(r"[*?]{2,}")


def covers(wide: str, narrow: str, *, phone: bool = False) -> bool:
    """True if `wide` matches every text that `narrow` matches. True is always right; False may be too careful."""
    head = re.split("[*?]", wide, maxsplit=1)[0]  # most pairs differ here
    return narrow.startswith(head) and _covers(_tidy(wide, phone), _tidy(narrow, phone), phone)


def _covers(wide: str, narrow: str, phone: bool) -> bool:
    # A star of the narrow pattern is matched only by a star of the wide one; every other character by itself.
    reached = _after_stars({0}, wide)
    for char in narrow:
        step = set()
        for at in reached:
            if at == len(wide):
                continue
            pattern_char = wide[at]
            if pattern_char == _ANY:
                step.add(at)
            elif char != _ANY and (pattern_char == char or (phone and pattern_char == _ONE)):
                step.add(at + 1)
        reached = _after_stars(step, wide)
        if not reached:
            return False
    return len(wide) in reached


def _after_stars(places: set[int], pattern: str) -> set[int]:
    """The places of a pattern, and those after its stars, which may match nothing."""
    reached = set(places)
    for at in places:
        while at < len(pattern) and pattern[at] == _ANY:
            at += 1
            reached.add(at)
    return reached


def overlaps(first: str, second: str) -> bool:
    """True if both phone patterns may match the same number."""
    #: the remaining text of both
    reached = [(first, second)]
    visited = set(reached)
    for one, two in reached:
        if not one and not two:
            return True
        steps = []
        if _ANY in (one[:1], two[:1]):
            steps = [(one[1:], two), (one, two[1:])]
        elif one and two and (one[0] == two[0] or _ONE in (one[0], two[0])):
            steps = [(one[1:], two[1:])]
        reached += [step for step in steps if step not in visited]
        visited.update(steps)
    return False


def why_no_number(pattern: str) -> str | None:
    """The reason why no phone number can match a phone pattern with wildcards; None when one can."""
    digits = pattern.replace(_ANY, "")
    if len(digits) > LONGEST:
        return f"it has {len(digits)} digits, and a number has at most {LONGEST}"
    if _ANY not in pattern and len(digits) < SHORTEST:
        return f"it has {len(digits)} digits, and a number has at least {SHORTEST}"
    head = re.match("[0-9]*", pattern)
    start = "" if head is None else head[0]
    if start.startswith("0"):
        return "a number is compared in international form, which begins with a calling code, not with 0"
    if len(start) >= 3 and normalize(f"{start[:3]}{'0' * 9}", "") is None:
        return f"no calling code begins with {start[:3]}"
    return None


def _tidy(pattern: str, phone: bool) -> str:
    if not phone:
        return re.sub(r"\*{2,}", _ANY, pattern)
    return _RUN.sub(lambda run: _ONE * run[0].count(_ONE) + _ANY * (_ANY in run[0]), pattern)
