"""Rules of `verify:`: first match wins for each thing, and codes are derived."""

from __future__ import annotations

import re

import pytest

from sendbox.engine.draws import Chooser
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.services.verify.rules import RANDOM, Codes, SessionDecisions, VerifyRule

PHONE = "420777000101"
OTHER = "420777000102"
CHOOSER = Chooser(b"7")


def to(phone: str) -> Pattern:
    """A phone pattern."""
    return Pattern(phone, digits=True)


def asked(*rules: VerifyRule, phone: str = PHONE) -> SessionDecisions:
    """The decisions of rules about a session."""
    return Codes(rules, CHOOSER).begin(phone, "key", 0)


def code(*rules: VerifyRule, phone: str = PHONE, book: Codes | None = None, chooser: Chooser = CHOOSER) -> str:
    """The code that a session gets."""
    codes = Codes(rules, chooser) if book is None else book
    return codes.code(codes.begin(phone, "key", 0))[0]


def test_s8_a_code_has_six_digits() -> None:
    """§8: whatever is drawn, a code has six digits, leading zeros kept; and a thousand phones differ."""
    codes = [code(phone=str(number)) for number in range(420777000000, 420777001000)]
    assert all(re.fullmatch("[0-9]{6}", drawn) for drawn in codes)
    assert len(set(codes)) > 990
    assert any(drawn.startswith("0") for drawn in codes)


def test_a_code_is_derived() -> None:
    """The same seed, rule, phone and count give the same code; each of them makes another."""
    book = Codes((), CHOOSER)
    first, second = code(book=book), code(book=book)
    named = code(VerifyRule("a", code=RANDOM))
    assert first == code()
    assert named == code(VerifyRule("a", code=RANDOM, sms="sent"))
    others = code(phone=OTHER), code(chooser=Chooser(b"8")), code(VerifyRule("b", code=RANDOM))
    assert len({first, second, named, *others}) == 6


def test_first_match_wins_for_each_thing() -> None:
    """A rule decides what it names; the rest is asked of the rules after it."""
    rules = (
        VerifyRule("elsewhere", When(phone=to(OTHER)), code="000000", sms="failed", limited=False),
        VerifyRule("sms", When(phone=to("420777*")), sms="undelivered", name="sms"),
        VerifyRule("code", code="123456", sms="sent"),
        VerifyRule("late", code="654321", limited=False),
    )
    decided = asked(*rules)
    assert (decided.code, decided.sms, decided.rules) == (rules[2], rules[1], ("code", "sms"))
    assert not decided.limited
    assert asked(*rules[1:3]).limited
    assert asked(*rules, phone=OTHER).rules == ("elsewhere",)


def test_without_rules() -> None:
    """A code is drawn, limits hold, and the SMS is left to the rules of attempts."""
    decided = asked()
    assert (decided.sms, decided.rules, decided.limited) == (None, (), True)
    assert not Codes((), CHOOSER).code(decided)[1]


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
    book = Codes((rule,), CHOOSER)
    assert not book.code(book.begin(PHONE, "key", 5))[1]
    phone, now = second
    assert book.code(book.begin(phone, "key", now))[1] is raced
