"""Rules of `verify:`: first match wins for each thing, and codes are derived."""

from __future__ import annotations

import re

import pytest

from sendbox.engine.patterns import Pattern
from sendbox.services.verify.rules import RANDOM, Draws, VerifyRule, decide, limited

PHONE = "420777000101"
OTHER = "420777000102"
SEED = b"7"


def to(phone: str) -> Pattern:
    """A phone pattern."""
    return Pattern(phone, phone=True)


def code(*rules: VerifyRule, phone: str = PHONE, draws: Draws | None = None, seed: bytes = SEED, now: int = 0) -> str:
    """The code that a session gets."""
    return decide(rules, phone, draws or Draws(), seed, now).code


def test_s8_a_code_has_six_digits() -> None:
    """§8: whatever is drawn, a code has six digits, leading zeros kept; and a thousand phones differ."""
    codes = [code(phone=str(number)) for number in range(420777000000, 420777001000)]
    assert all(re.fullmatch("[0-9]{6}", each) for each in codes)
    assert len(set(codes)) > 990
    assert any(each.startswith("0") for each in codes)


def test_a_code_is_derived() -> None:
    """The same seed, rule, phone and count give the same code; each of them makes another."""
    draws = Draws()
    first, second = code(draws=draws), code(draws=draws)
    named = code(VerifyRule("a", code=RANDOM))
    assert first == code()
    assert named == code(VerifyRule("a", code=RANDOM, sms="sent"))
    assert len({first, second, named, code(phone=OTHER), code(seed=b"8"), code(VerifyRule("b", code=RANDOM))}) == 6


def test_first_match_wins_for_each_thing() -> None:
    """A rule decides what it names; the rest is asked of the rules after it."""
    rules = (
        VerifyRule("elsewhere", to(OTHER), code="000000", sms="failed", limited=False),
        VerifyRule("sms", to("420777*"), sms="undelivered", name="sms"),
        VerifyRule("code", code="123456", sms="sent"),
        VerifyRule("late", code="654321", limited=False),
    )
    decided = decide(rules, PHONE, Draws(), SEED, 0)
    assert decided == ("123456", "undelivered", ("code", "sms"), False)
    assert not limited(rules, PHONE)
    assert limited(rules[1:3], PHONE)
    assert decide(rules, OTHER, Draws(), SEED, 0).rules == ("elsewhere",)


def test_without_rules() -> None:
    """A code is drawn, limits hold, and the SMS is left to the rules of attempts."""
    decided = decide((), PHONE, Draws(), SEED, 0)
    assert (decided.sms, decided.rules, decided.raced) == (None, (), False)
    assert limited((), PHONE)


@pytest.mark.parametrize(
    ("rule", "second", "raced"),
    [
        (VerifyRule("a", code=RANDOM), (PHONE, 5), True),
        (VerifyRule("a", code=RANDOM), (PHONE, 6), False),
        (VerifyRule("a", code=RANDOM), (OTHER, 5), False),
        (VerifyRule("a", code="123456"), (PHONE, 5), False),
        (VerifyRule("a", sms="sent"), (PHONE, 5), True),
    ],
    ids=["same-instant", "later", "another-phone", "fixed", "drawn-by-no-rule"],
)
def test_a_code_may_depend_on_who_came_first(rule: VerifyRule, second: tuple[str, int], raced: bool) -> None:
    """Two sessions of one phone at one instant draw in the order in which they came, and that is said."""
    draws = Draws()
    assert not decide((rule,), PHONE, draws, SEED, 5).raced
    assert decide((rule,), second[0], draws, SEED, second[1]).raced is raced
