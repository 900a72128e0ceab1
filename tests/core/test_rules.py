"""Rules: what they ask, and who decides what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sendbox.core.patterns import Pattern
from sendbox.core.rules import Click, Fate, Memory, Path, PathEntry, Reply, When, decide, holds
from tests.core.asking import DELIVERED, FAILED, SEED, SPANNED, ask, fate_of, now, rule

# --- conditions

HOLDS = [
    ("nothing asked", When(), True),
    ("phone", When(phone=Pattern("4207*", phone=True)), True),
    ("other phone", When(phone=Pattern("421*", phone=True)), False),
    ("channel", When(channel=("richmsg", "sms")), True),
    ("other channel", When(channel=("richmsg",)), False),
    ("tag among tags", When(tag=Pattern("a-b")), True),
    ("part of a tag", When(tag=Pattern("a")), False),
    ("tag pattern", When(tag=Pattern("pro*")), True),
    ("sender", When(sender=Pattern("Acme")), True),
    ("other sender", When(sender=Pattern("acme")), False),
    ("operation", When(operation=("sendMessage", "sendMessages")), True),
    ("other operation", When(operation=("sendMessages",)), False),
    ("attempt", When(attempt=1), True),
    ("other attempt", When(attempt=2), False),
    ("key", When(key=Pattern("test-*")), True),
    ("other key", When(key=Pattern("test-w~1")), False),
    ("body", When(body=Pattern("*ell*")), True),
    ("other body", When(body=Pattern("ell")), False),
    ("nth is not asked here", When(nth=99), True),
    ("all of several", When(channel=("sms",), body=Pattern("Hello"), attempt=1), True),
    ("one of several fails", When(channel=("sms",), body=Pattern("Hello"), attempt=2), False),
    ("payload number", When(payload=((("order", "id"), 7),)), True),
    ("payload number of another kind", When(payload=((("order", "id"), 7.0),)), False),
    ("payload truth is no number", When(payload=((("order", "paid"), 1),)), False),
    ("payload truth", When(payload=((("order", "paid"), True),)), True),
    ("payload text", When(payload=((("order", "who"), Pattern("J*")),)), True),
    ("payload other text", When(payload=((("order", "who"), Pattern("P*")),)), False),
    ("payload pattern and number", When(payload=((("order", "id"), Pattern("*")),)), False),
    ("payload path too short", When(payload=((("order",), 7),)), False),
    ("payload path into nothing", When(payload=((("order", "id", "x"), 7),)), False),
    ("payload absent", When(payload=((("trace",), None),)), False),
    ("payload both", When(payload=((("order", "id"), 7), (("order", "who"), Pattern("Jana")))), True),
    ("payload one of both", When(payload=((("order", "id"), 7), (("order", "who"), Pattern("Petr")))), False),
]


@pytest.mark.parametrize(("when", "expected"), [each[1:] for each in HOLDS], ids=[each[0] for each in HOLDS])
def test_conditions(when: When, expected: bool) -> None:
    """A rule holds when everything that it asks does."""
    assert holds(when, ask()) is expected


@pytest.mark.parametrize(("value", "expected"), [(None, True), (0, False)], ids=["null", "something"])
def test_a_payload_null_is_a_value(value: object, expected: bool) -> None:
    """`null` in a rule asks for a null that is there."""
    assert holds(When(payload=((("x",), None),)), ask(payload=lambda: {"x": value})) is expected


# --- who decides what


def test_nobody_decides() -> None:
    """Without rules, or when none holds, there is no fate."""
    assert decide([], ask(), Memory(), SEED) is None
    assert decide([rule(when=When(attempt=2), path=DELIVERED)], ask(), Memory(), SEED) is None
    assert decide([rule()], ask(), Memory(), SEED) is None


def test_the_first_match_wins_per_thing_decided() -> None:
    """Path, replies and click come each from the first rule that names them; the deciding rules are named in order."""
    rules = [
        rule("never", When(attempt=2), path=FAILED),
        rule("click", click=(Click(now(60_000)),)),
        rule("path", path=DELIVERED, name="the path"),
        rule("replies", path=FAILED, replies=(Reply(now(5_000), "YES"),), illegal=True),
        rule("late", path=FAILED, replies=(), click=(Click(now(1)),)),
    ]
    assert fate_of(rules) == Fate(
        "delivered", None, ((5_000, "YES"),), ((60_000, None),), False, ("click", "the path", "replies"), False
    )


def test_a_rule_that_comes_first_wins_over_a_better_one() -> None:
    """The order of the list decides, not how exact a rule is."""
    assert (
        fate_of([rule(path=FAILED), rule("exact", When(phone=Pattern("420777000100")), path=DELIVERED)]).goal
        == "failed"
    )


def test_no_replies_is_a_decision() -> None:
    """An empty list of replies decides that there are none."""
    assert fate_of([rule(replies=()), rule("r2", replies=(Reply(now(0), "YES"),))]).replies == ()


def test_a_path_is_taken_entry_by_entry() -> None:
    """Results, times after the entry before, and infos as they are written; `illegal` belongs to the path's rule."""
    path = Path((PathEntry("sending", now(0)), PathEntry("undelivered", now(30_000), "[1] Undelivered")))
    fate = fate_of([rule(path=path, illegal=True)])
    assert fate.entries == (("sending", 0, None), ("undelivered", 30_000, "[1] Undelivered"))
    assert (fate.goal, fate.illegal) == (None, True)


def test_equal_fates_are_one_object() -> None:
    """A world keeps a fate once, not once a message."""
    memory, rules = Memory(), [rule(path=DELIVERED)]
    assert fate_of(rules, memory, ordinal=1) is fate_of(rules, memory, ordinal=2)
    spanned = [rule(path=SPANNED)]
    assert fate_of(spanned, memory, ordinal=1) is not fate_of(spanned, memory, ordinal=1)
    assert len(memory.fates) == 1


def test_the_payload_is_read_only_when_asked() -> None:
    """Conditions that fail before it spare the parsing."""

    def never() -> object:
        raise AssertionError("the payload was read")

    never_read: Callable[[], object] = never
    assert not holds(When(attempt=2, payload=((("x",), 1),)), replace(ask(), payload=never_read))
    assert holds(When(attempt=1), replace(ask(), payload=never_read))
