"""The family `calls`: which clients coped with a call whose answer was lost."""

from __future__ import annotations

from typing import Final

import pytest

from sendbox.exploring.census import Census, ObservedCall, ObservedMessage
from sendbox.exploring.families.calls import KINDS
from sendbox.exploring.misfortune import Misfortune

LOST: Final = next(kind for kind in KINDS if kind.name == "answer lost")
ANNA, BERT = "420777000101", "420777000201"


def ran(*calls: str, messages: int) -> Census:
    """A world with these calls, each an operation and perhaps the phone that it names, and so many messages to Anna."""
    made: list[ObservedCall] = []
    for ordinal, call in enumerate(calls):
        operation, _, phone = call.partition(" ")
        number = 1 + sum(other.operation == operation for other in made)
        made.append(ObservedCall(operation, number, phone, ordinal, 200))
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
