"""Attempts that ask, and rules to ask: for the tests of `services/messaging/rules/rules.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sendbox.engine.draws import Chooser, seed_bytes
from sendbox.engine.durations import Span
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.services.messaging.rules.rules import Attempts, Click, Decision, Path, PathEntry, Reply, Rule

SEED = seed_bytes(0)
ANY = When()


def now(milliseconds: int) -> Span:
    """A time that is not drawn."""
    return Span(milliseconds, milliseconds)


DELIVERED = Path(goal="delivered")
FAILED = Path(goal="failed")
SPANNED = Path(
    (PathEntry("sending", now(0)), PathEntry("sent", Span(0, 10**9)), PathEntry("delivered", Span(0, 10**9)))
)


def ask(**fields: Any) -> Case:
    """An attempt that asks; each message of its own request and instant unless the test says so."""
    ordinal = fields.pop("ordinal", 0)
    request, instant = fields.pop("request", f"r{ordinal}"), fields.pop("now", ordinal)
    usual: dict[str, Any] = {
        "channel": "sms",
        "phone": "420777000100",
        "tag": ("promo", "a-b"),
        "body": "Hello",
        "sender": "Acme",
        "operation": "sendMessage",
        "attempt": 1,
        "key": "test-w",
        "payload": lambda: {"order": {"id": 7, "paid": True, "who": "Jana"}},
        "accepted_at": ordinal,
    }
    given = usual | fields
    return Case("message", given["phone"], ordinal, request, instant, given)


def rule(key: str = "r", when: When = ANY, **fields: Any) -> Rule:
    """A rule of that key."""
    return Rule(key, when, **fields)


def book(seed: bytes = SEED) -> Attempts:
    """A list that was not asked yet."""
    return Attempts((), Chooser(seed))


def decision_of(rules: Sequence[Rule], asked: Attempts | None = None, **fields: Any) -> Decision:
    """The decision of an attempt that some rule has a say in."""
    found = (asked or book()).decision(rules, ask(**fields))
    assert found is not None
    return found


PHONES = [f"42077700{n:04}" for n in range(4)]
RULES = [
    rule("zero", When(phone=Pattern(PHONES[0])), mix=((DELIVERED, 1), (FAILED, 1))),
    rule("one", When(phone=Pattern(PHONES[1])), path=SPANNED),
    rule("two", When(phone=Pattern(PHONES[2])), path=DELIVERED, replies=(Reply(Span(0, 10**6), "YES"),)),
    rule("three", When(phone=Pattern(PHONES[3])), path=SPANNED, click=(Click(Span(0, 10**6)),)),
]
