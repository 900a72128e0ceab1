"""The family `calls`: which clients coped with a call that failed, or whose answer was lost."""

from __future__ import annotations

from typing import Final

import pytest

from sendbox.exploring.census import Census, ObservedCall, ObservedMessage
from sendbox.exploring.families.calls import KINDS
from sendbox.exploring.misfortune import Misfortune

LOST: Final = next(kind for kind in KINDS if kind.name == "answer lost")
TWICE: Final = next(kind for kind in KINDS if kind.name == "failed twice")
ANNA, BERT = "420777000101", "420777000201"


def ran(*calls: str, messages: int) -> Census:
    """A world with these calls, and so many messages to Anna.

    Each call is an operation, perhaps the phone that it names, and `!` if it failed.
    """
    made: list[ObservedCall] = []
    for ordinal, call in enumerate(calls):
        operation, _, phone = call.rstrip("!").partition(" ")
        number = 1 + sum(other.operation == operation for other in made)
        made.append(ObservedCall(operation, number, phone, ordinal, 500 if call.endswith("!") else 200))
    sent = [
        ObservedMessage(ANNA, number, "sendMessage", 0, 0, ("sms",), (), (), (), 0) for number in range(1, messages + 1)
    ]
    return Census(1, (), tuple(made), tuple(sent), (), (), ())


SEND, OTHER, LIST = f"sendMessage {ANNA}", f"sendMessage {BERT}", f"listMessages {ANNA}"


@pytest.mark.parametrize(
    ("calls", "messages", "coped"),
    [
        pytest.param([SEND], 1, True, id="not sent again"),
        pytest.param([SEND, SEND], 2, False, id="sent again at once"),
        pytest.param([SEND, LIST, SEND], 2, True, id="asked first"),
        pytest.param([SEND, "getMessage", SEND], 2, True, id="asked by id"),
        pytest.param([SEND, OTHER, LIST, SEND], 2, True, id="another message, then asked"),
        pytest.param([SEND, LIST, OTHER, SEND], 2, True, id="asked, then another message"),
        pytest.param([SEND, OTHER, SEND], 2, False, id="only another message between"),
        pytest.param([SEND, "showKey", SEND], 2, False, id="asked for something else"),
        pytest.param([SEND, SEND, LIST], 2, False, id="asked too late"),
        pytest.param([SEND, SEND, LIST, SEND], 3, False, id="asked behind the second of three"),
    ],
)
def test_who_asks_before_it_sends_again_has_coped(calls: list[str], messages: int, coped: bool) -> None:
    """Wherever the question stands between the lost answer and the call that is made again."""
    passed = ran(SEND, messages=1)
    (spot,) = LOST.spots(LOST, passed)
    assert LOST.survived(Misfortune(spot), passed, ran(*calls, messages=messages)) is coped


@pytest.mark.parametrize(
    ("calls", "messages", "coped"),
    [
        pytest.param([f"{SEND}!"], 0, True, id="gave up at the first"),
        pytest.param([f"{SEND}!", f"{OTHER}!"], 0, True, id="gave each call up"),
        pytest.param([f"{SEND}!", f"{SEND}!", SEND, OTHER], 1, True, id="repeated until it was taken"),
        pytest.param([f"{SEND}!", f"{SEND}!"], 0, False, id="repeated once, and gave up"),
        pytest.param([f"{SEND}!", f"{SEND}!", SEND, SEND], 2, False, id="repeated too often"),
    ],
)
def test_who_gives_up_a_call_at_once_has_coped(calls: list[str], messages: int, coped: bool) -> None:
    """Only a call that is made again for the same phone is repeated."""
    passed = ran(SEND, OTHER, messages=1)
    spot, *_ = TWICE.spots(TWICE, passed)
    assert TWICE.survived(Misfortune(spot), passed, ran(*calls, messages=messages)) is coped


def test_equal_calls_of_a_test_that_fail_are_not_repeated_calls() -> None:
    """A test that sends the same message twice itself repeated none of its calls."""
    passed = ran(SEND, SEND, messages=2)
    spot, *_ = TWICE.spots(TWICE, passed)
    assert TWICE.survived(Misfortune(spot), passed, ran(f"{SEND}!", f"{SEND}!", messages=0))
