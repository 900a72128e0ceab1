"""A census: what happened in the worlds of a run, by places that are the same in each run.

A place is a phone, the ordinal of a message, a result, the ordinal of a call of an operation: never an id, a text, or
the order of arrival of what has no order. Instants are milliseconds from the start of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.journal import CODE
from sendbox.services.http.addressee import phones_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.results import STATES
from sendbox.services.operations import EMULATED
from sendbox.services.verify.verify import Verify

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.messaging.records import Message

#: So long after the last event of its world a webhook may come where the clock jumps by itself, in milliseconds.
UNMOVED: Final = 10_000
#: The longest time after its event at which a webhook comes all the same (A93), in milliseconds.
LONGEST: Final = 450_000


@dataclass(frozen=True, slots=True)
class Moved:
    """An advance by a tester, the `ordinal`-th of its world."""

    ordinal: int
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Posted:
    """An event that was sent to a target, the `ordinal`-th of its phone, kind, channel and result.

    `until` ends the advance within which it was sent; `own`: its receiver is the client's, not the built-in one.
    `thread` numbers the message or conversation that it is about, `batch` the delivery, of `size` events.
    """

    phone: str
    event: str
    gateway: str
    result: str | None
    ordinal: int
    at: int
    until: int
    own: bool
    thread: int
    batch: int
    size: int


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the client, the `ordinal`-th of its operation."""

    operation: str
    ordinal: int
    phone: str
    at: int
    status: int


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt of a message: its channel and the results that it reached, with their instants."""

    channel: str
    results: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, the `ordinal`-th to its phone. `until` ends the advance in which it was last heard of."""

    phone: str
    ordinal: int
    operation: str
    at: int
    until: int
    channels: tuple[str, ...]
    attempts: tuple[Tried, ...]
    senders: tuple[str, ...]
    templates: tuple[str, ...]
    links: int


@dataclass(frozen=True, slots=True)
class Session:
    """A validation session, the `ordinal`-th of its phone."""

    phone: str
    ordinal: int
    at: int
    expires: int
    state: str


@dataclass(frozen=True, slots=True)
class Census:
    """One world, the `ordinal`-th that the run opened. `happened` are the instants at which something happened.

    `runs`: its clock was not moved by a tester alone, so instants, and how often a client asked, may differ.
    """

    ordinal: int
    moves: tuple[Moved, ...]
    calls: tuple[Called, ...]
    messages: tuple[Sent, ...]
    events: tuple[Posted, ...]
    sessions: tuple[Session, ...]
    happened: tuple[int, ...]
    runs: bool = False

    @property
    def received(self) -> tuple[Posted, ...]:
        """The events that the client's own receiver got."""
        return tuple(event for event in self.events if event.own)


def census(world: World, ordinal: int, moves: Sequence[tuple[int, int]], *, taken: bool) -> Census:
    """The census of a world; `moves` are its advances, `taken`: an application or an outbox takes its deliveries."""
    start = world.start
    moved = [Moved(number, began - start, ended - start) for number, (began, ended) in enumerate(moves, 1)]
    mode = world.clock.mode
    last = max((delivery.made_at for delivery in world.outlets.deliveries), default=start) - start

    def until(at: int) -> int:
        end = next((move.ended for move in moved if move.began <= at <= move.ended or at < move.began), None)
        if end is not None or mode == "manual":
            return at if end is None else end
        if mode == "real":  # the client waits in real time, and did not wait longer than until now
            return max(at, world.now - start)
        return min(max(at, last) + UNMOVED, at + LONGEST)

    journal = world.journal
    return Census(
        ordinal,
        tuple(moved),
        tuple(_calls(world)),
        tuple(_messages(world, until)),
        tuple(_events(world, until, taken=taken)),
        tuple(_sessions(world)),
        tuple(sorted({journal.entry(number)[0] - start for number in range(journal.first, len(journal))})),
        mode != "manual",
    )


def _calls(world: World) -> Iterator[Called]:
    counts: Counter[str] = Counter()
    for number in world.journal.find(CODE["request"], world.journal.first):
        at, _, record = world.journal.entry(number)
        if record.operation not in EMULATED:
            continue
        counts[record.operation] += 1
        phone = next(iter(phones_of(world, record)), "")
        yield Called(record.operation, counts[record.operation], phone, at - world.start, record.status)


def _messages(world: World, until: Any) -> Iterator[Sent]:
    counts: Counter[str] = Counter()
    start = world.start
    for message in Messaging.of(world).messages:
        submission = message.submission
        if submission.carrier is not None:  # the SMS of a validation session: its session stands for it
            continue
        counts[message.phone] += 1
        attempts = tuple(
            Tried(attempt.step.channel, tuple((STATES[code], at - start) for code, at in attempt.transitions()))
            for attempt in message.attempts
        )
        last = max((at for attempt in attempts for _, at in attempt.results), default=message.accepted_at - start)
        steps = submission.send.steps
        yield Sent(
            message.phone,
            counts[message.phone],
            submission.operation,
            message.accepted_at - start,
            until(last),
            tuple(step.channel for step in steps),
            attempts,
            tuple(dict.fromkeys(step.sender for step in steps if step.sender)),
            tuple(dict.fromkeys(step.template.name for step in steps if step.template)),
            _links(message),
        )


def _links(message: Message) -> int:
    return sum(map(len, (message.links or {}).values()))


def _events(world: World, until: Any, *, taken: bool) -> Iterator[Posted]:
    counts: Counter[tuple[str, str, str, str | None]] = Counter()
    threads: dict[int, int] = {}
    seen: set[Any] = set()
    for delivery in world.outlets.deliveries:
        events = delivery.events
        for event in events:
            if event in seen:
                continue
            seen.add(event)
            row = world.events[type(event)]
            asked = row.case(event).fields
            place = (asked.get("phone") or "", asked["event"], asked.get("gateway") or "", asked.get("result"))
            counts[place] += 1
            at = delivery.made_at - world.start
            yield Posted(
                *place,
                counts[place],
                at,
                until(at),
                own=taken or not delivery.outlet.builtin,
                thread=threads.setdefault(id(row.thread(event)), len(threads)),
                batch=delivery.number,
                size=len(events),
            )


def _sessions(world: World) -> Iterator[Session]:
    counts: Counter[str] = Counter()
    for session in Verify.of(world).sessions.values():
        counts[session.phone] += 1
        begun, ends = session.created_at - world.start, session.expires_at - world.start
        yield Session(session.phone, counts[session.phone], begun, ends, session.recorded)


def difference(first: Sequence[Census], second: Sequence[Census]) -> str | None:
    """The first thing in which two runs differ, in words; None where they are the same."""
    if len(first) != len(second):
        return f"{len(first)} worlds, then {len(second)}"
    for one, other in zip(first, second, strict=True):
        first_of, second_of = _lasting(one), _lasting(other)
        for name, mine in first_of.items():
            theirs = second_of.get(name, ())
            if mine == theirs:
                continue
            what = f"{name} of world {one.ordinal}"
            for number, (left, right) in enumerate(zip(mine, theirs, strict=False), 1):
                if left != right:
                    return f"number {number} of the {what}: {left}, then {right}"
            return f"the {what}: {len(mine)} of them, then {len(theirs)}"
    return None


def _lasting(census: Census) -> dict[str, Any]:
    """What of a world is the same in each run; where its clock runs by itself, nothing that depends on the moment."""
    if not census.runs:
        return {field.name: getattr(census, field.name) for field in fields(census) if field.name not in _NOT_LISTS}
    return {
        "operations": sorted({call.operation for call in census.calls}),
        "messages": sorted((each.phone, each.ordinal, each.operation, each.channels) for each in census.messages),
    }


#: The fields of a census that are not lists.
_NOT_LISTS: Final = ("ordinal", "runs")
