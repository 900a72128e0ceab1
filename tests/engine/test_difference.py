"""Why conditions do not hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import When, difference
from sendbox.engine.rules.rule import differences as of_rule
from sendbox.engine.texts import Pattern
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.rules.conditions import After, Payload
from tests.core.asking import ask, rule
from tests.core.worlds import HOUR, advance, make_world, send_one, step
from tests.core.worlds import rule as made


def differences(when: When, case: Case) -> list[str]:
    """What differs between the conditions of a rule and a case."""
    return of_rule(rule(when=when), case)


TEXTS = st.sampled_from(["", "a", "ab", "Hello", "4207", "promo"])
PATTERNS = st.none() | st.sampled_from(["a", "a*", "*", "Hello", "*o", "4207*"]).map(Pattern)
VALUES: Any = st.sampled_from([1, 1.0, True, None, "a", "ab", {"b": 1}, {"b": "a"}])
WHENS = st.builds(
    When,
    channel=st.none() | st.sampled_from([("sms",), ("richmsg", "sms")]),
    phone=PATTERNS,
    tag=PATTERNS,
    body=PATTERNS,
    sender=PATTERNS,
    operation=st.none() | st.just(("sendMessage",)),
    attempt=st.none() | st.integers(1, 2),
    nth=st.none() | st.just(1),
    key=PATTERNS,
    payload=st.none()
    | st.lists(
        st.tuples(
            st.sampled_from([("a",), ("a", "b"), ("c",)]),
            st.sampled_from([1, True, None, Pattern("a"), Pattern("a*")]),
        ),
        min_size=1,
        max_size=2,
    ).map(lambda wanted: Payload(tuple(wanted))),
)
ASKS = st.fixed_dictionaries(
    {
        "channel": st.sampled_from(["sms", "chatapp_text"]),
        "phone": TEXTS,
        "tag": st.lists(TEXTS, max_size=2).map(tuple),
        "body": TEXTS,
        "sender": TEXTS,
        "operation": st.sampled_from(["sendMessage", "legacySend"]),
        "attempt": st.integers(1, 2),
        "key": TEXTS,
        "payload": st.dictionaries(st.sampled_from(["a", "c"]), VALUES).map(lambda value: lambda: value),
    }
)


@given(when=WHENS, fields=ASKS)
def test_there_is_no_difference_exactly_when_the_conditions_hold(when: When, fields: dict[str, Any]) -> None:
    """For every rule and every attempt."""
    asked = ask(**fields)
    assert (differences(when, asked) == []) is not difference(rule(when=when), asked)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (When(phone=Pattern("4207770001*", digits=True)), 'phone: 420888000102 does not match "4207770001*"'),
        (When(channel=("sms", "richmsg")), "channel: chatapp_text is not sms or richmsg"),
        (When(tag=Pattern("otp")), 'tag: none of "promo", "a-b" matches "otp"'),
        (When(body=Pattern("*?")), 'body: "Hello" does not match "*?"'),
        (When(sender=Pattern("Bcme")), 'sender: "Acme" does not match "Bcme"'),
        (When(operation=("legacySend",)), "operation: sendMessage is not legacySend"),
        (When(attempt=2), "attempt: this is attempt 1, wanted attempt 2"),
        (When(key=Pattern("test-x")), 'key: "test-w" does not match "test-x"'),
        (
            When(payload=Payload(((("order", "id"), 8), (("order", "who"), Pattern("P*")), (("order", "due"), True)))),
            (
                'payload: order.id is 7, wanted 8; order.who is "Jana", which does not match "P*"; '
                "order.due is not there, wanted true"
            ),
        ),
    ],
    ids=lambda value: str(value)[:9] if isinstance(value, str) else "",
)
def test_a_difference_says_what_there_is_and_what_was_wanted(when: When, expected: str) -> None:
    """One line a condition, beginning with its name."""
    assert differences(when, ask(phone="420888000102", channel="chatapp_text")) == [expected]


def test_a_message_without_tags() -> None:
    """It has none that could match."""
    assert differences(When(tag=Pattern("otp")), ask(tag=())) == ['tag: there is no tag, wanted "otp"']


def test_every_path_of_a_payload_must_hold() -> None:
    """One that does is no difference, whatever the others do."""
    wanted = ((("order", "id"), 7), (("order", "who"), Pattern("J*")))
    assert differences(When(payload=Payload(wanted)), ask()) == []
    assert differences(When(payload=Payload((*wanted, (("order", "id"), 8)))), ask()) == [
        "payload: order.id is 7, wanted 8"
    ]


INFO = Pattern("[1]*")
#: What `after` asks, and the differences for the second attempt of a message that comes after a delivered one.
AFTER = [
    (After(result=("undelivered",)), []),
    (After(channel=("sms",)), ["the attempts before are richmsg undelivered, wanted one sms"]),
    (
        After(result=("failed", "rejected"), channel=("richmsg",), info=INFO),
        ['the attempts before are richmsg undelivered, wanted one richmsg failed or rejected with an info like "[1]*"'],
    ),
    (After(message=("delivered",)), []),
    (After(message=("seen", "failed")), ["the message before is delivered, wanted one that is seen or failed"]),
    (
        After(message=("delivered",), result=("failed",)),
        ["the attempts before are richmsg undelivered, wanted one failed"],
    ),
    (After(message=("seen",), result=("undelivered",)), ["the message before is delivered, wanted one that is seen"]),
    (
        After(message=("seen",), result=("failed",)),
        [
            (
                "the message before is delivered, wanted one that is seen; "
                "the attempts before are richmsg undelivered, wanted one failed"
            )
        ],
    ),
]


@pytest.mark.parametrize(("wanted", "expected"), AFTER, ids=[str(number) for number in range(len(AFTER))])
def test_what_happened_before(wanted: After, expected: list[str]) -> None:
    """Only what does not hold is told, the message before apart from the attempts before."""
    world = make_world(attempts=(made("undelivered", when=When(channel=("richmsg",))), made("delivered")))
    send_one(world)
    advance(world, HOUR)
    message = send_one(world, steps=[step("richmsg", sender="Acme", ttl=60_000), step()])
    advance(world, HOUR)
    assert message.last is not None
    asked = Messaging.of(world).simulator.case(message.last, world.now)
    assert differences(When(after=wanted), asked) == [f"after: {text}" for text in expected]
    assert difference(rule(when=When(after=wanted)), asked) is bool(expected)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (After(result=("failed",)), "after: there is no attempt before this one, wanted one failed"),
        (After(message=("failed",)), "after: there is no message before this one, wanted one that is failed"),
    ],
)
def test_nothing_happened_before(wanted: After, expected: str) -> None:
    """The first attempt of the first message has nothing before it, whether or not there is somebody to ask."""
    world = make_world()
    message = send_one(world)
    advance(world, HOUR)
    assert message.last is not None
    for asked in (ask(), Messaging.of(world).simulator.case(message.last, world.now)):
        assert differences(When(after=wanted), asked) == [expected]
