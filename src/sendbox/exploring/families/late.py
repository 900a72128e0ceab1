"""`late`: webhooks come beyond the advance of their event, at most 450 seconds after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import instant, iso
from sendbox.exploring.families.delivery import rule, spot
from sendbox.exploring.families.time import MIDNIGHTS
from sendbox.exploring.misfortune import Kind, Spot, Value, later, message_words, ordinal

if TYPE_CHECKING:
    from sendbox.exploring.census import Census, Posted

#: So late the last retry would be (A20, A93), in milliseconds.
LATEST: Final = 450_000
#: So long after the end of its advance, a second before midnight, an event comes again, in milliseconds.
_BEYOND: Final = 2_000


def _late(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        room = event.until - event.at
        times = [time for time in (LATEST, room + 1_000) if room < time <= LATEST]
        values = [Value(f"comes {later(time)} late", rule(event, {"delay": later(time)})) for time in times]
        if values:
            yield spot(kind, world, event, values)


def _repeated(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        room = event.until - event.at
        times = {LATEST: ""} if room < LATEST else {}
        times |= {after: f", {when}" for after, when in _later(world, event) if room < after < LATEST}
        values = [
            Value(f"comes again {later(after)} later{when}", _again(event, after)) for after, when in times.items()
        ]
        if room + _BEYOND <= min(LATEST, world.last - event.at):
            values += [_across(event, room + _BEYOND, *start) for start in MIDNIGHTS]
        if values:
            yield spot(kind, world, event, values)


def _again(event: Posted, after: int) -> JsonObject:
    return rule(event, {"duplicate": {"after": later(after)}})


def _later(world: Census, event: Posted) -> Iterator[tuple[int, str]]:
    """Times in later advances: at the end of the next one, and behind the next message to the same phone."""
    move = next((move for move in world.moves if move.began >= event.until and move.ended > event.until), None)
    if move is not None:
        yield min(move.ended - event.at, LATEST - 1), f"in the {ordinal(move.ordinal)} advance"
    messages = (message for message in world.messages if message.phone == event.phone and message.at >= event.until)
    message = next(messages, None)
    if message is not None and message.at < world.last:
        yield message.at - event.at + 1, f"behind {message_words(message)}"


def _across(event: Posted, after: int, before: str, moment: str) -> Value:
    """The event comes a second before midnight at the latest, and again a second after it."""
    start = iso(instant(before) - event.until)
    says = f"comes again {later(after)} later, behind {moment}, as the world begins at {start}"
    return Value(says, {**_again(event, after), "clock": {"start": start}})


KINDS: Final = (
    Kind(
        "late",
        "late",
        ("A93", "A20"),
        "A webhook comes at most 450 seconds after its event, unless the receiver failed before.",
        _late,
    ),
    Kind(
        "late",
        "repeated late",
        ("A91", "A93"),
        "A delivery that comes again has the same `X-Request-Id` and the same bytes.",
        _repeated,
    ),
)
