"""Webhooks as a world keeps them: events, their batches, the lines to targets, and the tries of each (§6, A20, A22).

A service has one row for each type of event that it makes. An event is any value; its row, found by its type, says all
that a delivery has to know about it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import msgspec
import orjson
from msgspec import Struct

from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import Chooser

if TYPE_CHECKING:
    from sendbox.engine.journal import Journal
    from sendbox.engine.kept import Kept
    from sendbox.engine.rules.conditions import Case
    from sendbox.engine.timeline import Clock, Timeline


#: The world of an event, and its type.
W = TypeVar("W")
E = TypeVar("E")


class EventKind(Struct, Generic[W, E], frozen=True):
    """The properties of the events of one type (§6).

    `case` is an event as rules see it; `older` is the previous event of the same thing, None if there is none; `thread`
    is the thing whose events have an order; `key` is a name that no other event has that leaves at this instant; `body`
    is the content that is sent, as it was at an instant. `single`: the event travels alone, as an object and not in an
    array (A24). `bodies` makes the contents of several events of this type, if that is less work than one by one.
    """

    case: Callable[[E], Case]
    older: Callable[[E], E | None]
    thread: Callable[[E], object]
    key: Callable[[W, E, int], str]
    body: Callable[[W, E, int], JsonObject]
    single: bool = False
    bodies: Callable[[W, Sequence[E], int], list[JsonObject]] | None = None


#: The rows of all services, by the type of event.
Events = Mapping[type, EventKind[Any, Any]]


class Target(msgspec.Struct, frozen=True, cache_hash=True):
    """The target of deliveries (§6, A01, A22). `url` "" is the world's built-in receiver. `secret` signs (A21)."""

    url: str
    method: str = "POST"
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    batch_size: int = 100
    timeout_ms: int | None = None
    secret: str | None = None


def succeeded(status: int | None, error: str | None) -> bool:
    """True if the outcome of a try is a success: a complete answer with any 2xx (A20)."""
    return status is not None and error is None and 200 <= status < 300


def in_one_row(events: Sequence[object]) -> Iterator[object]:
    """Events in a row in which each has two places."""
    return chain.from_iterable(event if isinstance(event, tuple) else (event, None) for event in events)


def paired(row: Sequence[object]) -> Iterator[object]:
    """The events of a row in which each has two places."""
    places = iter(row)
    return (event if code is None else (event, code) for event, code in zip(places, places, strict=True))


class Try:
    """One POST of a delivery. `status` is the answer's, `error` a word when there was none; both None = under way."""

    __slots__ = ("at", "error", "status")

    def __init__(self, at: int) -> None:
        self.at = at
        self.status: int | None = None
        self.error: str | None = None


#: Bytes of the body of an answer that are kept, and of its headers.
MAX_ANSWER_BYTES: Final = 4 * 1024
#: The answers of receivers that a world keeps, the newest ones.
MAX_ANSWERS: Final = 1_000


class ReceiverAnswer(Struct, frozen=True):
    """The answer of a receiver to one try: for people, who read it through control. Nothing that happens depends on it.

    `whole` is false if only its beginning is kept.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    whole: bool

    @classmethod
    def of(cls, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> ReceiverAnswer:
        """An answer, of which the beginning is kept."""
        kept: list[tuple[str, str]] = []
        left, whole = MAX_ANSWER_BYTES, len(body) <= MAX_ANSWER_BYTES
        for name, value in headers:
            left -= len(name) + len(value)
            if left < 0:
                whole = False
                break
            kept.append((name.decode("latin-1"), value.decode("utf-8", "replace")))
        return cls(status, tuple(kept), body[:MAX_ANSWER_BYTES], whole)

    @property
    def size(self) -> int:
        """The bytes of what is kept."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers)


class KeptAnswers:
    """The answers of receivers by the tries that they answer, oldest first; `size` is the bytes of all."""

    __slots__ = ("_by_try", "size")

    def __init__(self) -> None:
        self._by_try: dict[Try, ReceiverAnswer] = {}
        self.size = 0

    def get(self, this_try: Try) -> ReceiverAnswer | None:
        """The answer to a try, None where none is kept."""
        return self._by_try.get(this_try)

    def add(self, this_try: Try, answer: ReceiverAnswer) -> None:
        """Keeps the answer to a try; the oldest one goes if there are too many."""
        self._by_try[this_try] = answer
        self.size += answer.size
        if len(self._by_try) > MAX_ANSWERS:
            self.forget(next(iter(self._by_try)))

    def forget(self, this_try: Try) -> None:
        """Forgets the answer to a try, if there is one."""
        answer = self._by_try.pop(this_try, None)
        if answer is not None:
            self.size -= answer.size


class Delivery:
    """One batch of events on its way to one target. An event is (attempt, state code) or an `Inbound`.

    `state` is one of `waiting` (in the queue, or until a later try), `sending`, `delivered`, `failed`, `held`,
    `dropped` (never delivered, because of a rule).
    """

    __slots__ = ("_events", "body", "id", "made_at", "number", "outlet", "queued", "state", "tries")

    def __init__(self, number: int, delivery_id: str, outlet: Outlet, events: tuple[object, ...], at: int) -> None:
        self.number = number
        self.id = delivery_id
        self.outlet = outlet
        # event by event in one row: a pair each would cost more than what it holds
        self._events = tuple(in_one_row(events))
        self.made_at = at
        self.state = "waiting"
        #: True if it is in the queue of its line
        self.queued = False
        self.tries: list[Try] = []
        #: the bytes of the first try, kept until the delivery ends: a retry sends the same bytes (A22)
        self.body: bytes | None = None

    @property
    def events(self) -> list[Any]:
        """The events in the batch, in order."""
        return list(paired(self._events))

    @property
    def first(self) -> object:
        """The first event that it carries."""
        event, code = self._events[:2]
        return event if code is None else (event, code)

    @property
    def address(self) -> str:
        """The address of its target; `hook` stands for the built-in receiver."""
        return "hook" if self.outlet.builtin else self.outlet.target.url

    @property
    def under_way(self) -> bool:
        """True if the last try has no outcome yet, also while the delivery is held."""
        return bool(self.tries) and self.tries[-1].status is None and self.tries[-1].error is None


class Outlet:
    """The line to one target: events of this instant, batches waiting, and whether one is under way (A22).

    The batches in `first` leave as soon as the target is free, without waiting for the clock: a tester sent them.
    """

    __slots__ = ("builtin", "busy", "first", "pending", "queue", "target")

    def __init__(self, target: Target, builtin: bool) -> None:
        self.target = target
        self.builtin = builtin
        self.pending: list[object] = []
        self.queue: deque[Delivery] = deque()
        self.first: deque[Delivery] = deque()
        self.busy = False


class Carriage(Protocol):
    """The settings of deliveries: bundled or not, the times of retries, the time limit of an answer in world time."""

    @property
    def bundle(self) -> bool: ...
    @property
    def webhook_retry(self) -> tuple[int, ...]: ...
    @property
    def webhook_timeout(self) -> int: ...


class Lines(Protocol):
    """The lines of a world to its targets, as far as faults of deliveries use them."""

    deliveries: Kept[Delivery]
    captured: bool

    def queue(self, delivery: Delivery) -> None:
        """Puts a batch at the end of its line."""

    def made(self, delivery: Delivery) -> int:
        """Adds a batch, and returns its entry's number."""

    def begin(self, delivery: Delivery) -> None:
        """A batch is under way from now on."""

    def key_of(self, event: object, at: int) -> str:
        """The key of an event that leaves at an instant."""


class Home(Protocol):
    """The world of deliveries."""

    id: str
    chooser: Chooser
    start: int
    clock: Clock
    timeline: Timeline
    journal: Journal

    @property
    def assume(self) -> Carriage: ...
    @property
    def events(self) -> Events: ...
    @property
    def outlets(self) -> Lines: ...

    def delivery_name(self, key: bytes) -> str:
        """The id of a delivery, derived from the key of its first event."""


def body_of(world: Home, delivery: Delivery) -> bytes:
    """The JSON array of a delivery, or its one object (A24); the same bytes on every try while it lives (A22)."""
    if delivery.body is not None:
        return delivery.body
    events = delivery.events
    bodies = bodies_of(world, delivery, events)
    body = orjson.dumps(bodies[0] if world.events[type(events[0])].single else bodies)
    if delivery.state == "sending":
        delivery.body = body
    return body


def bodies_of(world: Home, delivery: Delivery, events: Iterable[object]) -> list[JsonObject]:
    """The contents of some events of a delivery."""
    bodies: list[JsonObject] = []
    for kind, alike in groupby(events, type):
        row = world.events[kind]
        if row.bodies is not None:
            bodies += row.bodies(world, list(alike), delivery.made_at)
        else:
            bodies += [row.body(world, event, delivery.made_at) for event in alike]
    return bodies
