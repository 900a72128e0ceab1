"""Explanations: held against what really decided, rule by rule and check by check."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from msgspec.structs import replace

from sendbox.engine.durations import Rate, Span
from sendbox.engine.rules.book import explain_rules
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.checks import BY_WORD
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.conditions import After
from sendbox.services.messaging.rules.explain import checks, explain
from sendbox.services.messaging.rules.explained import explanation_lines
from sendbox.services.messaging.rules.rules import Click, Reply, Rule
from sendbox.services.templates.templates import TemplateUse
from sendbox.services.verify.rules import VerifyRule
from sendbox.services.verify.verify import Verify
from tests.core.asking import ANY, DELIVERED, FAILED, ask, book
from tests.core.clients import connect, partner_world
from tests.core.observed import occurrences
from tests.core.worlds import HOUR, PHONE, advance, handset, make_world, path, rule, send, send_one, step

REPLIES = (Reply(Span(1000, 1000), "YES"),)
RULES = [
    Rule("never", When(phone=Pattern("no")), path=DELIVERED),
    Rule("second", When(nth=2), path=FAILED),
    Rule("once", ANY, path=FAILED, times=1, id="r1"),
    Rule("replies", ANY, replies=REPLIES),
    Rule("mixed", ANY, mix=((DELIVERED, 1), (FAILED, 1)), name="a mix"),
    Rule("late", ANY, path=DELIVERED, replies=REPLIES),
    Rule("click", ANY, click=(Click(Span(0, 0)),)),
]


def test_the_rules_that_decided_are_those_that_are_explained() -> None:
    """For each message, in order: `decided` are exactly the rules of the decision; nothing is counted."""
    attempts = book()
    for ordinal in range(4):
        asked = ask(ordinal=ordinal)
        decision = attempts.decision(RULES, asked)
        before = pickle.dumps(attempts)
        found = explain_rules(attempts, RULES, asked)
        assert before == pickle.dumps(attempts)
        assert decision is not None
        assert [each["rule"] for each in found if each["outcome"] == "decided"] == list(decision.rules)
        assert [each["rule"] for each in found] == [each.title for each in RULES]


AFTERWARDS = [
    Rule("after a wait", When(channel=("sms",), after=After(result=("sending",), channel=("richmsg",))), path=FAILED),
    Rule("after one on its way", When(body=Pattern("again"), after=After(message=("sending",))), path=FAILED),
    Rule("slow", ANY, path=path("sending", ("sent", 400_000), ("delivered", 1_000))),
]


def test_what_happened_before_is_explained_as_it_stood_then() -> None:
    """Rules asked for earlier attempts and messages when they did not stand yet where they stand now."""
    world = make_world(attempts=AFTERWARDS)
    flow = send_one(world, steps=[step("richmsg", ttl=60_000), step()])
    advance(world, 90_000)
    second = send_one(world, body="again", steps=[step("sms", body="again")])
    advance(world, HOUR)
    for message in (flow, second):
        for shown in explain(world, message)["attempts"]:
            assert [each["rule"] for each in shown["rules"] if each["outcome"] == "decided"] == shown["decided_by"]
    assert explain(world, flow)["attempts"][1]["decided_by"] == ["after a wait"]
    assert explain(world, second)["attempts"][0]["rules"][1]["why_not"] == [
        "after: the message before is failed, wanted one that is sending"
    ]


@pytest.mark.parametrize(
    ("ordinal", "expected"),
    [
        (
            0,
            [
                ("differs", [], ['phone: 420777000100 does not match "no"']),
                ("not its turn", [], ["nth: this is message 1 that asked, wanted message 2"]),
                ("decided", ["path"], []),
                ("decided", ["replies"], []),
                ("too late", [], ["all that it decides was decided before"]),
                ("too late", [], ["all that it decides was decided before"]),
                ("decided", ["click"], []),
            ],
        ),
        (
            1,
            [
                ("differs", [], ['phone: 420777000100 does not match "no"']),
                ("decided", ["path"], []),
                ("too late", [], ["all that it decides was decided before"]),
                ("decided", ["replies"], []),
                ("too late", [], ["all that it decides was decided before"]),
                ("too late", [], ["all that it decides was decided before"]),
                ("decided", ["click"], []),
            ],
        ),
        (
            2,
            [
                ("differs", [], ['phone: 420777000100 does not match "no"']),
                ("not its turn", [], ["nth: this is message 3 that asked, wanted message 2"]),
                ("not its turn", [], ["times: it decided 1 messages already, which is all it may"]),
                ("decided", ["replies"], []),
                ("decided", ["path"], []),
                ("too late", [], ["all that it decides was decided before"]),
                ("decided", ["click"], []),
            ],
        ),
    ],
    ids=["first", "second", "third"],
)
def test_what_each_rule_came_to(ordinal: int, expected: list[Any]) -> None:
    """Outcome, what was decided, and why not."""
    attempts = book()
    for number in range(3):
        attempts.decision(RULES, ask(ordinal=number))
    found = explain_rules(attempts, RULES, ask(ordinal=ordinal))
    assert [(each["outcome"], each["decides"], each["why_not"]) for each in found] == expected


def test_a_rule_that_came_later_was_never_asked() -> None:
    """Its `nth` has counted nobody."""
    (found,) = explain_rules(book(), [Rule("second", When(nth=2), path=FAILED)], ask())
    assert found["why_not"] == ["nth: was never counted, wanted message 2"]


# --- checks


def template(status: str) -> dict[str, Any]:
    return {
        "name": "otp",
        "language": "en",
        "category": "AUTHENTICATION",
        "status": status,
        "components": [{"type": "BODY", "text": "Hi"}],
    }


OPTED = AccountSpec(optout=frozenset({PHONE}))
USE = TemplateUse("otp", "en")
WORLDS: dict[str, tuple[World, dict[str, Any]]] = {
    "nothing": (make_world(), {}),
    "number": (make_world(), {"to": "nonsense"}),
    "allowed": (make_world(assume=Assume(allowed=("420111*",))), {}),
    "blacklist": (make_world(account=AccountSpec(blacklist=frozenset({PHONE}))), {}),
    "optout": (make_world(account=OPTED), {}),
    "optout-of-others": (make_world(account=OPTED), {"tags": ("otp",)}),
    "identical": (make_world(assume=Assume(identical=Rate(1, 60_000))), {"twice": True}),
    "sender": (make_world(account=AccountSpec(senders={})), {"steps": [step("richmsg")]}),
    "sender-strict": (make_world(account=AccountSpec(senders={}), assume=Assume(sms_sender="strict")), {"sender": "X"}),
    "channel": (make_world(phones=(handset(channels=frozenset({"sms"})),)), {"steps": [step("richmsg")]}),
    "conversation": (make_world(), {"steps": [step("chatapp_text")]}),
    "template-unknown": (make_world(), {"steps": [step("chatapp_template", template=USE)]}),
    "template-not-approved": (
        make_world(account=AccountSpec(templates=(template("PENDING"),))),
        {"steps": [step("chatapp_template", template=USE)]},
    ),
    "template-approved": (
        make_world(account=AccountSpec(templates=(template("APPROVED"),))),
        {"steps": [step("chatapp_template", template=USE)]},
    ),
    "credit": (make_world(account=AccountSpec(credit=0)), {}),
    "credit-in-czk": (make_world(account=AccountSpec(credit=0, currency="CZK")), {}),
}


@pytest.mark.parametrize("case", WORLDS)
def test_the_first_check_that_refuses_is_the_one_that_refuses(case: str) -> None:
    """What is explained before the hand-over is what the hand-over then does; and asking changes nothing."""
    world, fields = WORLDS[case]
    if "sender" in fields:
        fields = {"steps": [step(sender=fields["sender"])]}
    to = fields.get("to", PHONE)
    given = {name: value for name, value in fields.items() if name not in ("to", "twice")}
    if "twice" in fields:
        send_one(world, to, **given)
        advance(world)
    message = send_one(world, to, **given)
    found = checks(world, message, 0)
    assert found == checks(world, message, 0)
    advance(world)
    (attempt,) = message.attempts
    refusing = [each["check"] for each in found if not each["passed"]]
    assert refusing[:1] == ([] if attempt.extra is None or "why" not in attempt.extra else [attempt.extra["why"]])
    word = case if case in BY_WORD else {"sender-strict": "sender", "credit-in-czk": "credit"}.get(case)
    assert refusing[:1] == ([] if word is None else [word])


# --- messages


def test_an_attempt_that_a_check_refuses_asks_no_rule() -> None:
    """Only credit is asked after the rules, when the price is known."""
    world = make_world(account=AccountSpec(credit=0), attempts=(rule("delivered"),))
    poor, unreached = send_one(world), send_one(world, "nonsense")
    advance(world)
    (first,) = explain(world, poor)["attempts"]
    assert (first["refused"], [each["outcome"] for each in first["rules"]]) == ("credit", ["decided"])
    (second,) = explain(world, unreached)["attempts"]
    assert (second["refused"], second["rules"]) == ("number", [])
    assert "    no rule was asked: checks come before rules" in explanation_lines(explain(world, unreached))


def test_a_message_that_waits() -> None:
    """Nothing was tried; then it says what is planned; steps that are not reached are named."""
    world = make_world(attempts=(rule("delivered"), replace(rule("failed"), key="other")))
    message = send_one(world, steps=[step("richmsg"), step()])
    assert explanation_lines(explain(world, message)) == [
        f"message to {PHONE} by sendMessage, richmsg then sms: accepted",
        "  not handed over yet; move the clock",
    ]
    advance(world)
    assert explanation_lines(explain(world, message)) == [
        f"message to {PHONE} by sendMessage, richmsg then sms: sending",
        "  attempt 1 by richmsg: sending",
        "    + rule: decides path",
        "    . not asked, as all that they decide was decided before: other",
        "    why the others did not decide is seen from today",
        "    still to come: sent, delivered",
        "  not tried: sms",
    ]


def test_nobody_decided_and_order_counted() -> None:
    """The usual way is said to be that, and so is a decision that depended on the order of arrival."""
    world = make_world(attempts=(rule("failed", when=When(nth=2)),))
    messages = send(world, PHONE, "420777000103")
    advance(world, 10_000)
    texts = [explanation_lines(explain(world, message)) for message in messages]
    assert "    no rule decided: it goes the usual way to delivered" in texts[0]
    assert "    this depended on the order of arrival" in texts[0]
    assert "    + rule: decides path" in texts[1]
    world = make_world()
    (message,) = send(world)
    advance(world, 10_000)
    assert explain(world, message)["attempts"][0]["decided_by"] == []


def test_a_client_that_is_connected_is_no_message() -> None:
    """What is told of a signup belongs to no message; it can be expected as an event and as a thing of its own."""
    world = partner_world()
    connect(world)
    send_one(world)
    advance(world, 10_000)
    for that in ("signups", "events", "templates", "deliveries"):
        for found in occurrences(world, that):
            if found is not None:
                assert SUBJECTS[that].line(world, found.record)
                for field in SUBJECTS[that].fields.values():
                    field.of(world, found.record)
    assert SUBJECTS["templates"].line(world, {"name": "otp", "status": "APPROVED", "reason": None}) == (
        "name otp, status APPROVED"
    )


# --- codes

VERIFY = (
    VerifyRule("known", When(phone=Pattern("420777000101")), code="123456"),
    VerifyRule("lost", When(phone=Pattern("4207770001*", digits=True)), sms="undelivered", name="the SMS is lost"),
    VerifyRule("free", limited=False, code="random"),
    VerifyRule("more", code="111111"),
)


def test_rules_of_codes_are_explained() -> None:
    """In their order, each thing decided once; what is explained is what the session got."""
    world = make_world(verify=VERIFY)
    session = Verify.of(world).create("420777000102", {}, Account.of(world).keys[world.id], b"{}", "http://sandbox")
    view = Verify.of(world).explain(session)
    assert [(each["outcome"], each["decides"]) for each in view["rules"]] == [
        ("differs", []),
        ("decided", ["sms"]),
        ("decided", ["code", "limits"]),
        ("too late", []),
    ]
    assert view["rules"][0]["why_not"] == ['phone: 420777000102 does not match "420777000101"']
    assert view["decided_by"] == ["free", "the SMS is lost"]
    other = Verify.of(world).book.case("420777000101", "key", world.now, 9)
    assert explain_rules(Verify.of(world).book, VERIFY, other)[0]["outcome"] == "decided"
    advance(world, 10_000)
    (attempt,) = explain(world, Messaging.of(world).by_id[session.message.id])["attempts"]
    assert attempt["decided_by"] == ["the SMS is lost"]


def outcomes(world: World, message: Message) -> list[tuple[str, str]]:
    """Each rule of the last attempt and what came of it, which agrees with those that decided."""
    attempt = explain(world, message)["attempts"][-1]
    assert [each["rule"] for each in attempt["rules"] if each["outcome"] == "decided"] == attempt["decided_by"]
    return [(each["rule"], each["outcome"]) for each in attempt["rules"]]


def test_what_held_when_the_attempt_began() -> None:
    """What a rule saw of the message before counts, not what became of that since."""
    before = [
        rule("failed", key=word, when=When(body=Pattern("second"), after=After(message=(word,))))
        for word in ("undelivered", "sending")
    ]
    world = make_world(attempts=(*before, rule("undelivered", key="rest")))
    send_one(world, body="first")
    advance(world, 0)
    second = send_one(world, body="second")
    advance(world, HOUR)
    assert outcomes(world, second) == [("undelivered", "differs"), ("sending", "decided"), ("rest", "too late")]


def test_a_rule_that_came_later() -> None:
    """It is told as one that had no part in what was decided before it was there."""
    world = make_world(attempts=(rule("undelivered", key="rest"),))
    message = send_one(world)
    advance(world, HOUR)
    Messaging.of(world).attempts.put_rule(rule("failed", key="late"))
    assert outcomes(world, message) == [("late", "differs"), ("rest", "decided")]
    (why,) = explain(world, message)["attempts"][0]["rules"][0]["why_not"]
    assert why.startswith("all of it holds now; ")
