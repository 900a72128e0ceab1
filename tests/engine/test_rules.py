"""Rules: what they ask, and who decides what."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sendbox.engine.rules.rule import When, difference
from sendbox.engine.texts import Pattern
from sendbox.services.account.account import Account
from sendbox.services.messaging.channels import STATES
from sendbox.services.messaging.rules.conditions import After, Payload
from sendbox.services.messaging.rules.rules import Click, Decision, Path, PathEntry, Reply
from sendbox.services.verify.verify import Verify
from tests.core.asking import DELIVERED, FAILED, SPANNED, ask, book, decision_of, now, rule
from tests.core.worlds import HOUR, advance, make_world, path, send, send_one, step
from tests.core.worlds import rule as made

# --- conditions

HOLDS = [
    ("nothing asked", When(), True),
    ("phone", When(phone=Pattern("4207*", digits=True)), True),
    ("other phone", When(phone=Pattern("421*", digits=True)), False),
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
    ("payload number", When(payload=Payload(((("order", "id"), 7),))), True),
    ("payload number of another kind", When(payload=Payload(((("order", "id"), 7.0),))), False),
    ("payload truth is no number", When(payload=Payload(((("order", "paid"), 1),))), False),
    ("payload truth", When(payload=Payload(((("order", "paid"), True),))), True),
    ("payload text", When(payload=Payload(((("order", "who"), Pattern("J*")),))), True),
    ("payload other text", When(payload=Payload(((("order", "who"), Pattern("P*")),))), False),
    ("payload pattern and number", When(payload=Payload(((("order", "id"), Pattern("*")),))), False),
    ("payload path too short", When(payload=Payload(((("order",), 7),))), False),
    ("payload path into nothing", When(payload=Payload(((("order", "id", "x"), 7),))), False),
    ("payload absent", When(payload=Payload(((("trace",), None),))), False),
    ("payload both", When(payload=Payload(((("order", "id"), 7), (("order", "who"), Pattern("Jana"))))), True),
    ("payload one of both", When(payload=Payload(((("order", "id"), 7), (("order", "who"), Pattern("Petr"))))), False),
]


@pytest.mark.parametrize(("when", "expected"), [each[1:] for each in HOLDS], ids=[each[0] for each in HOLDS])
def test_conditions(when: When, expected: bool) -> None:
    """A rule holds when everything that it asks does."""
    assert difference(rule(when=when), ask()) is not expected


@pytest.mark.parametrize(("value", "expected"), [(None, True), (0, False)], ids=["null", "something"])
def test_a_payload_null_is_a_value(value: object, expected: bool) -> None:
    """`null` in a rule asks for a null that is there."""
    asked = rule(when=When(payload=Payload(((("x",), None),))))
    assert difference(asked, ask(payload=lambda: {"x": value})) is not expected


# --- who decides what


def test_nobody_decides() -> None:
    """Without rules, or when none holds, there is no decision."""
    assert book().decision([], ask()) is None
    assert book().decision([rule(when=When(attempt=2), path=DELIVERED)], ask()) is None
    assert book().decision([rule()], ask()) is None


def test_the_first_match_wins_per_thing_decided() -> None:
    """Path, replies and click come each from the first rule that names them; the deciding rules are named in order."""
    rules = [
        rule("never", When(attempt=2), path=FAILED),
        rule("click", click=(Click(now(60_000)),)),
        rule("path", path=DELIVERED, name="the path"),
        rule("replies", path=FAILED, replies=(Reply(now(5_000), "YES"),), illegal=True),
        rule("late", path=FAILED, replies=(), click=(Click(now(1)),)),
    ]
    assert decision_of(rules) == Decision(
        "delivered", None, ((5_000, "YES"),), ((60_000, None),), False, ("click", "the path", "replies"), False
    )


def test_a_rule_that_comes_first_wins_over_a_better_one() -> None:
    """The order of the list decides, not how exact a rule is."""
    assert (
        decision_of([rule(path=FAILED), rule("exact", When(phone=Pattern("420777000100")), path=DELIVERED)]).goal
        == "failed"
    )


def test_no_replies_is_a_decision() -> None:
    """An empty list of replies decides that there are none."""
    assert decision_of([rule(replies=()), rule("r2", replies=(Reply(now(0), "YES"),))]).replies == ()


def test_a_path_is_taken_entry_by_entry() -> None:
    """Results, times after the entry before, and infos as they are written; `illegal` belongs to the path's rule."""
    path = Path((PathEntry("sending", now(0)), PathEntry("undelivered", now(30_000), "[1] Undelivered")))
    decision = decision_of([rule(path=path, illegal=True)])
    assert decision.entries == (("sending", 0, None), ("undelivered", 30_000, "[1] Undelivered"))
    assert (decision.goal, decision.illegal) == (None, True)


def test_equal_fates_are_one_object() -> None:
    """A world keeps a decision once, not once a message."""
    attempts, rules = book(), [rule(path=DELIVERED)]
    assert decision_of(rules, attempts, ordinal=1) is decision_of(rules, attempts, ordinal=2)
    spanned = [rule(path=SPANNED)]
    assert decision_of(spanned, attempts, ordinal=1) is not decision_of(spanned, attempts, ordinal=1)


def test_the_payload_is_read_only_when_asked() -> None:
    """Conditions that fail before it spare the parsing."""

    def never() -> object:
        raise AssertionError("the payload was read")

    never_read: Callable[[], object] = never
    assert difference(rule(when=When(attempt=2, payload=Payload(((("x",), 1),)))), ask(payload=never_read))
    assert not difference(rule(when=When(attempt=1)), ask(payload=never_read))


# --- what happened before


def second_attempt(*, first: str = "undelivered", info: str | None = None, when: After) -> list[str]:
    """How the attempts of a message end whose rich message ended first, under a rule that looks back."""
    ended = path("sending", "sent", (first, 1_000, info)) if info else first
    world = make_world(
        attempts=(
            made("delivered", key="back", when=When(after=when)),
            made(ended, key="first", when=When(channel=("richmsg",))),
            made("failed", key="else"),
        )
    )
    message = send_one(world, steps=[step("richmsg", ttl=30_000), step()])
    advance(world, HOUR)
    return [STATES[attempt.state] for attempt in message.attempts]


@pytest.mark.parametrize(
    ("first", "when", "holds_"),
    [
        pytest.param("undelivered", After(result=("undelivered",)), True, id="result"),
        pytest.param("undelivered", After(result=("failed", "undelivered")), True, id="one of several"),
        pytest.param("undelivered", After(result=("sent",)), False, id="where it stands, not what it passed"),
        pytest.param("sent", After(result=("sent",)), True, id="its ttl ran out"),
        pytest.param("failed", After(channel=("richmsg",)), True, id="channel"),
        pytest.param("failed", After(channel=("sms",)), False, id="other channel"),
        pytest.param("failed", After(info=Pattern("[3]*")), True, id="info"),
        pytest.param("failed", After(info=Pattern("[9]*")), False, id="other info"),
        pytest.param("failed", After(("failed",), ("richmsg",), Pattern("*")), True, id="all of it"),
        pytest.param("failed", After(("failed",), ("sms",), Pattern("*")), False, id="not all of it"),
    ],
)
def test_a_rule_may_ask_about_an_earlier_attempt(first: str, when: After, holds_: bool) -> None:
    """By the result at which it stands, its channel and its info; the first attempt has none before it."""
    assert second_attempt(first=first, when=when) == [first, "delivered" if holds_ else "failed"]


def test_an_info_of_a_rule_can_be_asked_for() -> None:
    """What an earlier rule said in `info` is what a later one sees."""
    after = After(info=Pattern("*Gone"))
    assert second_attempt(info="[7] Gone", when=after) == ["undelivered", "delivered"]


def test_any_earlier_attempt_counts() -> None:
    """The third attempt sees the first as well as the second, but one of them must be all that is asked."""
    world = make_world(
        attempts=(
            made("delivered", key="back", when=When(attempt=3, after=After(("undelivered",), ("richmsg",)))),
            made("undelivered", key="rich", when=When(channel=("richmsg",))),
            made("failed", key="else"),
        )
    )
    message = send_one(world, steps=[step("richmsg"), step(), step()])
    advance(world, HOUR)
    assert [STATES[attempt.state] for attempt in message.attempts] == ["undelivered", "failed", "delivered"]


def test_a_rule_may_ask_about_the_message_before() -> None:
    """The message accepted before this one to the same phone, by its result now; the first has none, codes are none."""
    world = make_world(attempts=(made("failed", when=When(after=After(message=("delivered",)))),))
    found = []
    for number in ("420777000100", "420777000200", "420777000100", "420777000100"):
        message = send_one(world, number)
        Verify.of(world).create(number, {}, Account.of(world).keys[world.id], number.encode(), "")
        advance(world, HOUR)
        found.append(message.result)
    assert found == ["delivered", "delivered", "failed", "delivered"]
    (both,) = (made("failed", when=When(after=After(message=("delivered",), result=("failed",)))),)
    assert difference(both, ask())


@pytest.mark.parametrize("apart", [0, 1], ids=["one instant", "one after the other"])
def test_what_could_have_come_first_is_order_sensitive(apart: int) -> None:
    """Which of two requests of one instant is the one before is for nobody to say."""
    world = make_world(attempts=(made("failed", when=When(after=After(message=("accepted", "sending")))),))
    send_one(world, body="one")
    advance(world, apart) if apart else None
    send_one(world, body="two")
    advance(world, HOUR)
    assert bool(world.journal.order_sensitive) == (apart == 0)


def test_recipients_of_one_request_have_an_order() -> None:
    """Nobody but the client decides which recipient of a request comes first."""
    world = make_world(attempts=(made("failed", when=When(after=After(message=("delivered",)))),))
    send(world, "420777000100", "420777000100")
    advance(world, HOUR)
    assert not world.journal.order_sensitive
