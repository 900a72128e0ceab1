"""`codes`: a call of the Verify interface is carried out twice, as when a proxy makes it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from sendbox.exploring.families.calls import free_calls
from sendbox.exploring.misfortune import Kind, Spot, Value, call_when, call_words

if TYPE_CHECKING:
    from sendbox.exploring.census import Census

#: What a client has of a call that is carried out twice.
_ANSWERS: Final = {"last": "the answer to the second time", "first": "the answer to the first time"}


def _twice(kind: Kind, world: Census, operation: str, says: str, answers: tuple[str, ...]) -> Iterator[Spot]:
    """A spot at each call of an operation."""
    for call in free_calls(world):
        if call.operation == operation:
            values = [
                Value(
                    f"{says}, and the client has {_ANSWERS[answer]}",
                    {"api": [{"when": call_when(call), "fault": {"twice": answer}}]},
                )
                for answer in answers
            ]
            about = f"{world.ordinal} {operation}"
            yield Spot(kind, world.ordinal, call_words(call), about, kind.name, tuple(values), call.phone)


def _entered(kind: Kind, world: Census) -> Iterator[Spot]:
    return _twice(kind, world, "verifyCode", "enters the code twice", ("last", "first"))


def _replaced(kind: Kind, world: Census) -> Iterator[Spot]:
    """The newest code on the phone belongs to a session of which the client has no token, or the one before does."""
    return _twice(kind, world, "createValidation", "begins two sessions", ("first", "last"))


KINDS: Final = (
    Kind(
        "codes",
        "entered twice",
        ("§3.2", "A48", "A72"),
        "The right code is verified again with the same answer; a wrong one uses an attempt each time.",
        _entered,
    ),
    Kind(
        "codes",
        "session replaced",
        ("§3.2", "A72"),
        "Sessions of one number are independent: a code belongs to the token of its own session.",
        _replaced,
    ),
)
