"""Attempts that ask, and rules to ask: for the tests of `services/messaging/rules/rules.py`."""

from __future__ import annotations

from typing import Any

from sendbox.engine.durations import Span
from sendbox.engine.identity import seed_bytes
from sendbox.engine.patterns import Pattern
from sendbox.services.messaging.rules.rules import Ask, Click, Fate, Memory, Path, PathEntry, Reply, Rule, When, decide

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


def ask(**fields: Any) -> Ask:
    """An attempt that asks; each message of its own request and instant unless the test says so."""
    ordinal = fields.get("ordinal", 0)
    usual: dict[str, Any] = {
        "channel": "sms",
        "phone": "420777000100",
        "tags": ("promo", "a-b"),
        "body": "Hello",
        "sender": "Acme",
        "operation": "sendMessage",
        "attempt": 1,
        "key": "test-w",
        "payload": lambda: {"order": {"id": 7, "paid": True, "who": "Jana"}},
        "accepted_at": ordinal,
        "request": f"r{ordinal}",
        "now": ordinal,
    }
    return Ask(**(usual | fields))


def rule(key: str = "r", when: When = ANY, **fields: Any) -> Rule:
    """A rule of that key."""
    return Rule(key, when, **fields)


def fate_of(rules: list[Rule], memory: Memory | None = None, **fields: Any) -> Fate:
    """The fate of an attempt that some rule has a say in."""
    found = decide(rules, ask(**fields), memory or Memory(), SEED)
    assert found is not None
    return found


PHONES = [f"42077700{n:04}" for n in range(4)]
RULES = [
    rule("zero", When(phone=Pattern(PHONES[0])), mix=((DELIVERED, 1), (FAILED, 1))),
    rule("one", When(phone=Pattern(PHONES[1])), path=SPANNED),
    rule("two", When(phone=Pattern(PHONES[2])), path=DELIVERED, replies=(Reply(Span(0, 10**6), "YES"),)),
    rule("three", When(phone=Pattern(PHONES[3])), path=SPANNED, click=(Click(Span(0, 10**6)),)),
]
