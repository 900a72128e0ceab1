"""Families `calls` and `codes`: a call of the client fails, before or after its effect, is slow, or is made twice.

Where the test itself makes calls of an operation fail, these calls are left to it: what it counts is its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import dropwhile, takewhile
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.exploring.census import Census, ObservedCall
from sendbox.exploring.misfortune import Kind, Misfortune, Spot, Value, call_when, call_words, duration_text
from sendbox.services.operations import STATUS_QUERIES

#: The `Retry-After` of a refusal for too many calls, in seconds.
_AFTER: Final = 1


def free_calls(world: Census) -> Iterator[ObservedCall]:
    """The calls of operations of which no call failed without misfortune."""
    failed = {call.operation for call in world.calls if call.faulty or call.failed}
    return (call for call in world.calls if call.operation not in failed)


def _spots(kind: Kind, world: Census, values: Sequence[tuple[str, JsonObject]], calls: int = 1) -> Iterator[Spot]:
    """A spot at each call, and so many from it on: (what happens, the rule without its conditions)."""
    for call in free_calls(world):
        when = call_when(call)
        if calls > 1:
            when["nth"] = [*range(call.ordinal, call.ordinal + calls)]
        parts = [Value(says, {"api": [{"when": when, **rule}]}) for says, rule in values]
        yield from _spot(kind, world, call, parts, calls)


def _spot(kind: Kind, world: Census, call: ObservedCall, values: list[Value], calls: int = 1) -> Iterator[Spot]:
    place = f"{call_words(call)}{' and the next' if calls > 1 else ''}"
    row = (call.operation, tuple(range(call.ordinal, call.ordinal + calls)))
    return kind.at(world, place, call.operation, values, like=call.operation, phone=call.phone, row=row)


def _limited(kind: Kind, world: Census) -> Iterator[Spot]:
    """One call is refused; or all until the clock has moved, where it moves by itself or the test moves it later."""
    fault = {"status": {"code": 429, "headers": {"Retry-After": str(_AFTER)}}}
    for call in free_calls(world):
        once = {"api": [{"when": call_when(call), "fault": fault}]}
        values = [Value(f"is refused with 429 for {_AFTER} s, and the next is taken", once)]
        end = call.at + _AFTER * 1000
        if world.runs or any(call.at <= move.began and end <= move.ended for move in world.moves):
            window = {"operation": call.operation, "from": duration_text(call.at), "until": duration_text(end)}
            says = f"is refused with 429, as all of its operation, until {_AFTER} s have passed"
            values.append(Value(says, {"api": [{"when": window, "fault": fault}]}, changing=True))
        yield from _spot(kind, world, call, values)


def _repeated(misfortune: Misfortune, passed: Census, broken: Census) -> bool:
    """True if the client gave up a call that failed, or repeated it until it was accepted and sent nothing twice.

    A client that gives up a call may tell its own caller so; only its author knows if it should have tried again.
    It repeated none if no phone has more calls than in the run that passed.
    """
    assert misfortune.spot.row is not None
    operation, ordinals = misfortune.spot.row
    calls = [call for call in broken.calls if call.operation == operation]
    phones = Counter(call.phone for call in calls)
    if phones <= Counter(call.phone for call in passed.calls if call.operation == operation):
        return True
    return sum(not call.failed for call in calls) >= ordinals[0] and _count_made(broken) <= _count_made(passed)


def _looked(misfortune: Misfortune, passed: Census, broken: Census) -> bool:
    """True if the client did not repeat a call whose answer was lost, or asked for its result before it did.

    The question may stand anywhere between the two. While the clock does not move, no list has the messages that were
    just sent.
    """
    if _count_made(broken) <= _count_made(passed):
        return True
    assert misfortune.spot.row is not None
    operation, (ordinal,) = misfortune.spot.row
    lost, *following = dropwhile(lambda call: (call.operation, call.ordinal) != (operation, ordinal), broken.calls)
    before = takewhile(lambda call: (call.operation, call.phone) != (operation, lost.phone), following)
    return any(call.operation in STATUS_QUERIES for call in before)


def _count_made(world: Census) -> Counter[tuple[str, ...]]:
    """The messages and sessions that calls have made, counted by their phones."""
    messages = (("message", message.phone, message.operation, *message.channels) for message in world.messages)
    return Counter([*messages, *(("session", session.phone) for session in world.sessions)])


#: What a client has of a call that is carried out twice.
_ANSWERS: Final = {"last": "the answer to the second time", "first": "the answer to the first time"}


def _done_twice(kind: Kind, world: Census, operation: str, says: str, answers: tuple[str, ...]) -> Iterator[Spot]:
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
            yield from kind.at(world, call_words(call), operation, values, phone=call.phone)


_of_calls = partial(Kind, "calls")
_of_codes = partial(Kind, "codes")
#: The kinds of both families, in the order of the documentation.
KINDS: Final = (
    _of_calls(
        "failed",
        ("§7.1", "A26"),
        "At most two calls in a row of an operation fail; a call that is answered with an error of the server may be "
        "made again.",
        partial(
            _spots,
            values=(
                ("is answered with 500 and has no effect", {"fault": {"status": 500}}),
                ("is answered with 503 and has no effect", {"fault": {"status": 503}}),
                ("loses its connection and has no effect", {"fault": "disconnect"}),
                ("is reset and has no effect", {"fault": "reset"}),
                ("is never answered and has no effect", {"fault": "timeout"}),
            ),
        ),
        _repeated,
    ),
    _of_calls(
        "failed twice",
        ("§7.1", "A26"),
        "After two calls in a row that failed the third is taken.",
        partial(
            _spots,
            values=(
                ("are answered with 500 and have no effect", {"fault": {"status": 500}}),
                ("lose their connections and have no effect", {"fault": "disconnect"}),
            ),
            calls=2,
        ),
        _repeated,
    ),
    _of_calls(
        "answer lost",
        ("§7.1", "§2.3"),
        "A call that got no answer may have had its effect; who repeats it finds out, or sends twice.",
        partial(
            _spots,
            values=(
                ("has its effect, and is answered with 502", {"fault": {"status": 502}, "processed": True}),
                ("has its effect, and loses its connection", {"fault": "disconnect", "processed": True}),
                ("has its effect, and is never answered", {"fault": "timeout", "processed": True}),
            ),
        ),
        _looked,
    ),
    _of_calls(
        "rate limit",
        ("§7.1", "A26"),
        "Behind the time in `Retry-After` the call is taken again; before it every call of the operation may be "
        "refused.",
        _limited,
        _repeated,
    ),
    _of_calls(
        "slow",
        ("§7.1",),
        "An answer that is late is whole and right.",
        partial(_spots, values=(("is answered 200 ms later", {"fault": {"delay": "200ms"}}),)),
    ),
    _of_codes(
        "entered twice",
        ("§3.2", "A48", "A72"),
        "The right code is verified again with the same answer; a wrong one uses an attempt each time.",
        partial(_done_twice, operation="verifyCode", says="enters the code twice", answers=("last", "first")),
    ),
    _of_codes(
        "session replaced",
        ("§3.2", "A72"),
        "Sessions of one number are independent: a code belongs to the token of its own session.",
        # the newest code on the phone is of a session of which the client has no token, or the one before is
        partial(_done_twice, operation="createValidation", says="begins two sessions", answers=("first", "last")),
    ),
)
