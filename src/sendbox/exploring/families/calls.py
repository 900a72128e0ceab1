"""`calls`: a call of the client fails, before or after it had its effect, or is slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sendbox.exploring.families.places import call_when, call_words, later
from sendbox.exploring.misfortune import Kind, Spot, Value

if TYPE_CHECKING:
    from sendbox.exploring.census import Called, Census

#: The `Retry-After` of a refusal for too many calls, in seconds.
_AFTER: Final = 1


def _spots(kind: Kind, world: Census, values: list[tuple[str, dict[str, Any]]], calls: int = 1) -> Iterator[Spot]:
    """A spot at each call, and so many from it on: (what happens, the rule without its conditions)."""
    for call in world.calls:
        when = call_when(call)
        if calls > 1:
            when["nth"] = [*range(call.ordinal, call.ordinal + calls)]
        parts = [Value(says, {"api": [{"when": when, **rule}]}) for says, rule in values]
        yield _spot(kind, world, call, parts, calls)


def _spot(kind: Kind, world: Census, call: Called, values: list[Value], calls: int = 1) -> Spot:
    return Spot(
        kind,
        world.ordinal,
        f"{call_words(call)}{' and the next' if calls > 1 else ''}",
        f"{world.ordinal} {call.operation}",
        f"{kind.name} {call.operation}",
        tuple(values),
        call.phone,
        row=(call.operation, tuple(range(call.ordinal, call.ordinal + calls))),
    )


def _failed(kind: Kind, world: Census) -> Iterator[Spot]:
    return _spots(
        kind,
        world,
        [
            ("is answered with 500 and has no effect", {"fault": {"status": 500}}),
            ("is answered with 503 and has no effect", {"fault": {"status": 503}}),
            ("loses its connection and has no effect", {"fault": "disconnect"}),
            ("is reset and has no effect", {"fault": "reset"}),
            ("is never answered and has no effect", {"fault": "timeout"}),
        ],
    )


def _twice(kind: Kind, world: Census) -> Iterator[Spot]:
    values: list[tuple[str, dict[str, Any]]] = [
        ("are answered with 500 and have no effect", {"fault": {"status": 500}}),
        ("lose their connections and have no effect", {"fault": "disconnect"}),
    ]
    return _spots(kind, world, values, calls=2)


def _lost(kind: Kind, world: Census) -> Iterator[Spot]:
    return _spots(
        kind,
        world,
        [
            ("has its effect, and is answered with 502", {"fault": {"status": 502}, "processed": True}),
            ("has its effect, and loses its connection", {"fault": "disconnect", "processed": True}),
            ("has its effect, and is never answered", {"fault": "timeout", "processed": True}),
        ],
    )


def _limited(kind: Kind, world: Census) -> Iterator[Spot]:
    for call in world.calls:
        fault = {"status": {"code": 429, "headers": {"Retry-After": str(_AFTER)}}}
        window = {"operation": call.operation, "from": later(call.at), "until": later(call.at + _AFTER * 1000)}
        says = f"is refused with 429, as all of its operation, until {_AFTER} s have passed"
        yield _spot(kind, world, call, [Value(says, {"api": [{"when": window, "fault": fault}]})])


def _slow(kind: Kind, world: Census) -> Iterator[Spot]:
    return _spots(kind, world, [("is answered 200 ms later", {"fault": {"delay": "200ms"}})])


KINDS: Final = (
    Kind(
        "calls",
        "failed",
        ("§7.1", "A26"),
        "At most two calls in a row of an operation fail; a call that is answered with an error of the server may be "
        "made again.",
        _failed,
    ),
    Kind(
        "calls",
        "failed twice",
        ("§7.1", "A26"),
        "After two calls in a row that failed the third is taken.",
        _twice,
    ),
    Kind(
        "calls",
        "answer lost",
        ("§7.1", "§2.3"),
        "A call that got no answer may have had its effect; who repeats it finds out, or sends twice.",
        _lost,
    ),
    Kind(
        "calls",
        "rate limit",
        ("§7.1", "A26"),
        "Behind the time in `Retry-After` the call is taken again.",
        _limited,
    ),
    Kind("calls", "slow", ("§7.1",), "An answer that is late is whole and right.", _slow),
)
