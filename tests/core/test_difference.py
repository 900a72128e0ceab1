"""Why conditions do not hold: the tracing sibling of `holds`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.core.difference import DIFFERENCES, differences
from sendbox.core.patterns import Pattern
from sendbox.core.rules import When, holds
from tests.core.asking import ask


def test_the_table_is_total() -> None:
    """Every field of `When` has a row: a new condition cannot be forgotten here."""
    assert set(DIFFERENCES) == set(When.__slots__)


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
    ).map(tuple),
)
ASKS = st.fixed_dictionaries(
    {
        "channel": st.sampled_from(["sms", "chatapp_text"]),
        "phone": TEXTS,
        "tags": st.lists(TEXTS, max_size=2).map(tuple),
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
    assert (differences(when, asked) == []) is holds(when, asked)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (When(phone=Pattern("4207770001*", phone=True)), 'phone: 420888000102 does not match "4207770001*"'),
        (When(channel=("sms", "richmsg")), "channel: chatapp_text is not sms or richmsg"),
        (When(tag=Pattern("otp")), 'tag: none of "promo", "a-b" matches "otp"'),
        (When(body=Pattern("*?")), 'body: "Hello" does not match "*?"'),
        (When(sender=Pattern("Bcme")), 'sender: "Acme" does not match "Bcme"'),
        (When(operation=("legacySend",)), "operation: sendMessage is not legacySend"),
        (When(attempt=2), "attempt: this is attempt 1, wanted attempt 2"),
        (When(key=Pattern("test-x")), 'key: "test-w" does not match "test-x"'),
        (
            When(payload=((("order", "id"), 8), (("order", "who"), Pattern("P*")), (("order", "due"), True))),
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
    assert differences(When(tag=Pattern("otp")), ask(tags=())) == ['tag: there is no tag, wanted "otp"']


def test_every_path_of_a_payload_must_hold() -> None:
    """One that does is no difference, whatever the others do."""
    wanted = ((("order", "id"), 7), (("order", "who"), Pattern("J*")))
    assert differences(When(payload=wanted), ask()) == []
    assert differences(When(payload=(*wanted, (("order", "id"), 8))), ask()) == ["payload: order.id is 7, wanted 8"]
