"""Families `delivery` and `late`: webhooks come again, in another order, alone, together, later, or in other bytes.

Those of `delivery` come within the advance of their event, or before the answer to their call, where the clock moves
then. Those of `late` come beyond that advance, at most 450 seconds after their event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise, zip_longest
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.faults.requests import WAYS
from sendbox.engine.durations import instant, iso
from sendbox.exploring.census import Census, ObservedCall, ObservedEvent
from sendbox.exploring.families.calls import free_calls
from sendbox.exploring.families.world import MIDNIGHTS
from sendbox.exploring.misfortune import (
    Kind,
    Spot,
    Value,
    call_when,
    call_words,
    duration_text,
    event_when,
    event_words,
    message_words,
    ordinal,
)

#: The first retry comes so long after the try before (A20).
_RETRY: Final = 30_000


def rule(event: ObservedEvent, fault: object) -> JsonObject:
    """A scenario with a rule about one event."""
    return {"webhooks": [{"when": event_when(event), "fault": fault}]}


def _spot(kind: Kind, world: Census, event: ObservedEvent, values: Iterable[Value]) -> Iterator[Spot]:
    """A spot at an event, if anything may go wrong there."""
    about = f"webhook {event.thread}"
    return kind.at(world, event_words(event), about, values, like=_like(event), phone=event.phone)


def _like(event: ObservedEvent) -> str:
    return f"{event.event} {event.gateway} {event.result}"


def _first_alike(events: Iterable[ObservedEvent]) -> Iterable[ObservedEvent]:
    """Of events that are alike the first."""
    first: dict[str, ObservedEvent] = {}
    for event in events:
        first.setdefault(_like(event), event)
    return first.values()


def deciding(world: Census) -> bool:
    """True if the test itself decides about deliveries, by a rule or as a receiver that refuses: it may count tries."""
    return any(event.own and (event.faulty or event.refused) for event in world.events)


def pauses(world: Census, event: ObservedEvent) -> list[tuple[int, str]]:
    """The delays that are possible for an event within its advance: behind each later event there, and at the end."""
    room = event.until - event.at
    following = [
        other
        for other in world.received
        if event.at <= other.at < event.until and other != event and other.thread == event.thread
    ]
    times = {
        other.at - event.at + 1: f"behind {event_words(other)}"
        for other in following
        if other.at - event.at + 1 <= room
    }
    if room > 0:
        times.setdefault(room, "at the end of its advance")
    return list(times.items())


def _repeated(kind: Kind, world: Census) -> Iterator[Spot]:
    counted = deciding(world)
    for event in world.received:
        values = [Value("comes twice, with the same X-Request-Id", rule(event, "duplicate"), counted)]
        room = event.until - event.at
        times = dict(pauses(world, event))
        # one about another message or conversation of the same phone
        following = (
            other for other in world.received if other.thread > event.thread and event.phone == other.phone != ""
        )
        newer = next((other for other in following if event.at <= other.at < event.until), None)
        if newer is not None:
            times.setdefault(newer.at - event.at + 1, f"behind {event_words(newer)}")
        if room >= _RETRY:
            times.setdefault(_RETRY, "as a retry after a lost answer")
        for after, when in times.items():
            fault = {"duplicate": {"after": duration_text(after)}}
            values.append(Value(f"comes again after {duration_text(after)}, {when}", rule(event, fault), counted))
        yield from _spot(kind, world, event, values)


def _moved(kind: Kind, world: Census) -> Iterator[Spot]:
    counted = deciding(world)
    for event in world.received:
        changing = counted or event.called  # it would call later, too
        values = [
            Value(f"comes {duration_text(after)} later, {when}", rule(event, {"delay": duration_text(after)}), changing)
            for after, when in pauses(world, event)
        ]
        yield from _spot(kind, world, event, values)


def _split(kind: Kind, world: Census) -> Iterator[Spot]:
    counted = deciding(world)
    for event in world.received:
        if event.size > 1:
            yield from _spot(
                kind, world, event, [Value("comes in a delivery of its own", rule(event, "split"), counted)]
            )


def _bundled(kind: Kind, world: Census) -> Iterator[Spot]:
    events = world.received
    counted = deciding(world)
    for first, second in pairwise(events):
        if first.batch == second.batch or not first.at <= second.at <= first.until:
            continue
        after = second.at - first.at + 1
        if second.at + 1 > first.until:
            continue
        window = {"from": duration_text(first.at), "until": duration_text(second.at + 1)}
        gathered = [event for event in world.events if first.at <= event.at <= second.at]
        changing = counted or any(event.faulty or event.called for event in gathered)
        values = []
        if first.phone == second.phone:
            values.append((f"comes in one delivery with {event_words(second)}", {"phone": first.phone}))
        values.append((f"comes in one delivery with all until {event_words(second)}", {}))
        yield from _spot(
            kind,
            world,
            first,
            [
                Value(
                    says,
                    {"webhooks": [{"when": {**window, **whom}, "fault": {"bundle": duration_text(after)}}]},
                    changing,
                )
                for says, whom in values
            ],
        )


def _coming(world: Census, call: ObservedCall) -> tuple[list[ObservedEvent], int]:
    """The webhooks of the messages that a call made within the next advance, in their order, and its end.

    What is posted at the end may belong to a call that came then.
    """
    phones = {
        message.phone for message in world.messages if (message.operation, message.at) == (call.operation, call.at)
    }
    events = [event for event in world.received if event.phone in phones and event.at >= call.at]
    ends = [move.ended for move in world.moves if move.began >= call.at]
    if world.runs:
        ends += [event.until for event in events]
    end = min(ends, default=call.at)
    last = end - any(other.at == end > call.at for other in world.calls)
    return sorted((event for event in events if event.at <= last and ends), key=lambda event: event.at), end


def _early(kind: Kind, world: Census) -> Iterator[Spot]:
    """The calls that made messages, with the times until their first and last webhook in the next advance.

    What later calls cause before that advance comes as much later, and must still be within it.
    """
    counted = deciding(world)
    instants = [event.at for event in world.events]
    instants += [at for message in world.messages for attempt in message.attempts for _, at in attempt.results]
    calls = {call for call in free_calls(world) if call.attended}
    for call, following in zip_longest(world.calls, world.calls[1:]):
        events, end = _coming(world, call) if call in calls else ([], 0)
        if not events:
            continue
        first, last = events[0], events[-1]
        is_last = following is None or following.at > (last if world.runs else call).at
        room = end - (call.at if is_last else max(at for at in instants if at <= end))
        values = [
            Value(
                f"{says} {event_words(event)}",
                {"api": [{"when": call_when(call), "fault": {fault: duration_text(event.at - call.at)}}]},
                counted,
            )
            for fault, says, event in (
                ("before_answer", "is answered after", first),
                *([("before_answer", "is answered after all until", last)] if last is not first else ()),
                ("before_read", "is answered, and its answer read, after", first),
            )
            if event.at - call.at <= room
        ]
        row = (call.operation, (call.ordinal,))
        yield from kind.at(world, call_words(call), f"webhook {first.thread}", values, like=call.operation, row=row)


def _written(kind: Kind, world: Census) -> Iterator[Spot]:
    counted = deciding(world)
    for event in _first_alike(world.received):
        values = [
            Value(f"comes as the same JSON {writing.says}", rule(event, {"reformat": name}), counted)
            for name, writing in WAYS.items()
        ]
        yield from _spot(kind, world, event, values)


def _with_newer(kind: Kind, world: Census) -> Iterator[Spot]:
    """A question: a delivery that comes again has the same id (A91), so a client may know events by their delivery."""
    begun: set[int] = set()
    followed = []
    for event in world.received:
        if event.thread in begun:
            followed.append(event)
        begun.add(event.thread)
    for event in _first_alike(followed):
        says = "comes in one delivery with the webhook before it, which came already with another X-Request-Id"
        yield from _spot(kind, world, event, [Value(says, rule(event, "repeat"))])


#: So late the last retry would be (A20, A93), in milliseconds.
LATEST: Final = 450_000
#: So long after the end of its advance, a second before midnight, an event comes again, in milliseconds.
_BEYOND: Final = 2_000


def _late(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        room = event.until - event.at
        times = [time for time in (LATEST, room + 1_000) if room < time <= LATEST]
        values = [
            Value(f"comes {duration_text(time)} late", rule(event, {"delay": duration_text(time)})) for time in times
        ]
        yield from _spot(kind, world, event, values)


def _repeated_late(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        room = event.until - event.at
        times = {LATEST: ""} if room < LATEST else {}
        times |= {after: f", {when}" for after, when in _later(world, event) if room < after < LATEST}
        values = [
            Value(f"comes again {duration_text(after)} later{when}", _again(event, after))
            for after, when in times.items()
        ]
        if room + _BEYOND <= min(LATEST, world.last - event.at):
            values += [_across(event, room + _BEYOND, *start) for start in MIDNIGHTS]
        yield from _spot(kind, world, event, values)


def _again(event: ObservedEvent, after: int) -> JsonObject:
    return rule(event, {"duplicate": {"after": duration_text(after)}})


def _later(world: Census, event: ObservedEvent) -> Iterator[tuple[int, str]]:
    """Times in later advances: at the end of the next one, and behind the next message to the same phone."""
    move = next((move for move in world.moves if move.began >= event.until and move.ended > event.until), None)
    if move is not None:
        yield min(move.ended - event.at, LATEST - 1), f"in the {ordinal(move.ordinal)} advance"
    messages = (message for message in world.messages if message.phone == event.phone and message.at >= event.until)
    message = next(messages, None)
    if message is not None and message.at < world.last:
        yield message.at - event.at + 1, f"behind {message_words(message)}"


def _across(event: ObservedEvent, after: int, before: str, moment: str) -> Value:
    """The event comes a second before midnight at the latest, and again a second after it."""
    start = iso(instant(before) - event.until)
    says = f"comes again {duration_text(after)} later, behind {moment}, as the world begins at {start}"
    return Value(says, {**_again(event, after), "clock": {"start": start}})


_of_delivery = partial(Kind, "delivery")
_of_late = partial(Kind, "late")
#: The kinds of both families, in the order of the documentation.
KINDS: Final = (
    _of_delivery(
        "repeated",
        ("A91", "A20"),
        "A delivery that comes again has the same `X-Request-Id` and the same bytes.",
        _repeated,
    ),
    _of_delivery(
        "out of order",
        ("A92", "A93"),
        "A result does not become untrue: of the results of an attempt the one that is furthest counts.",
        _moved,
    ),
    _of_delivery(
        "before answer",
        ("§1", "A93"),
        "The answer to a call is whole and right, and names its messages; their webhooks do not wait for it.",
        _early,
        moving=True,
    ),
    _of_delivery("split", ("A92",), "Each delivery has at least one event.", _split),
    _of_delivery("bundled", ("A92", "A22"), "A delivery has at most `batch_size` events.", _bundled),
    _of_delivery(
        "other bytes",
        ("§6", "A21"),
        "The signature is that of the bytes as they came. The same JSON may be written with spaces, with escapes, or "
        "with its keys in another order.",
        _written,
    ),
    _of_delivery(
        "in two batches",
        ("A91", "A92"),
        "An event that comes again says the same; another `X-Request-Id` does not make it another event.",
        _with_newer,
        asks=True,
    ),
    _of_late(
        "late",
        ("A93", "A20"),
        "A webhook comes at most 450 seconds after its event, unless the receiver failed before.",
        _late,
    ),
    _of_late(
        "repeated late",
        ("A91", "A93"),
        "A delivery that comes again has the same `X-Request-Id` and the same bytes.",
        _repeated_late,
    ),
)
