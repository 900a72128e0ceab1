"""Rules of `verify:`: which code a session gets, what becomes of its SMS, and whether limits hold for its number.

First match wins for each thing decided, as in `services/messaging/rules/rules.py`. A code is a fate: it is derived from
the rule's key, the phone and how-manieth session of this phone drew from the rule, and from nothing that a client
varies from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sendbox.engine.identity import Draw
from sendbox.engine.patterns import Pattern

#: The code of a rule that wants one to be drawn.
RANDOM: Final = "random"
#: What codes are derived from where no rule names one.
_NO_RULE: Final = "verify"


@dataclass(frozen=True, slots=True)
class VerifyRule:
    """One entry of `verify: rules`. `key` is its name, or its canonical text.

    `code` is six digits or `RANDOM`, `sms` the result that the SMS comes to, `limited` False lifts the limits (A53);
    None = the rule does not decide that. `phone` None = every number.
    """

    key: str
    phone: Pattern | None = None
    code: str | None = None
    sms: str | None = None
    limited: bool | None = None
    name: str | None = None
    place: str | None = None
    #: set when control put the rule in front
    id: str | None = None


class Decision(NamedTuple):
    """What a session gets. `sms` None = the rules of attempts decide alone.

    `rules` name the rules that decided; `raced` says that the code depended on who came first.
    """

    code: str
    sms: str | None
    rules: tuple[str, ...]
    raced: bool


class Draws:
    """Which sessions drew a code: (rule key, phone) to how many, and when the last one did."""

    __slots__ = ("_drawn",)

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, str], tuple[int, int]] = {}

    def next(self, key: str, phone: str, now: int) -> tuple[int, bool]:
        """How many drew before, and whether the last of them did at this instant too."""
        count, last = self._drawn.get((key, phone), (0, -1))
        self._drawn[key, phone] = (count + 1, now)
        return count, count > 0 and last == now


def _first(rules: Sequence[VerifyRule], phone: str, what: str) -> VerifyRule | None:
    for rule in rules:
        if getattr(rule, what) is not None and (rule.phone is None or rule.phone.matches(phone)):
            return rule
    return None


def limited(rules: Sequence[VerifyRule], phone: str) -> bool:
    """Whether the limits hold for a number."""
    rule = _first(rules, phone, "limited")
    return rule is None or rule.limited is True


def decide(rules: Sequence[VerifyRule], phone: str, draws: Draws, seed: bytes, now: int) -> Decision:
    """What a new session of a number gets."""
    coding = _first(rules, phone, "code")
    sending = _first(rules, phone, "sms")
    raced = False
    if coding is not None and coding.code is not None and coding.code != RANDOM:
        code = coding.code
    else:
        key = _NO_RULE if coding is None else coding.key
        number, raced = draws.next(key, phone, now)
        draw = Draw(seed, f"{key}\0{phone}".encode(), number)
        code = f"{draw.between(0, 999_999, 'code'):06}"
    deciding = tuple(dict.fromkeys(rule.name or rule.key for rule in (coding, sending) if rule is not None))
    return Decision(code, None if sending is None else sending.sms, deciding, raced)
