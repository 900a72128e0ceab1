"""Webhooks as a world keeps them: targets, lines to them, batches of events, and the tries of each (§6, A20, A22)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sendbox.engine.classes import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Where deliveries go (§6, A01, A22). `url` "" is the world's built-in receiver. `secret` signs (A21)."""

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


def in_one_row(events: Sequence[Any]) -> Iterator[Any]:
    """Events in a row in which each has two places."""
    return chain.from_iterable(event if isinstance(event, tuple) else (event, None) for event in events)


def paired(row: Sequence[Any]) -> Iterator[Any]:
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


class Delivery:
    """One batch of events on its way to one target. An event is (attempt, state code) or an `Inbound`.

    `state` is one of `waiting` (in the queue, or until a later try), `sending`, `delivered`, `failed`, `held`,
    `dropped` (never delivered, because of a rule).
    """

    __slots__ = ("_events", "body", "id", "made_at", "number", "outlet", "queued", "state", "tries")

    def __init__(self, number: int, delivery_id: str, outlet: Outlet, events: tuple[Any, ...], at: int) -> None:
        self.number = number
        self.id = delivery_id
        self.outlet = outlet
        # event by event in one row: a pair each would cost more than what it holds
        self._events = tuple(in_one_row(events))
        self.made_at = at
        self.state = "waiting"
        #: whether it is in the queue of its line
        self.queued = False
        self.tries: list[Try] = []
        #: the bytes of the first try, kept until the delivery ends: a retry sends the same bytes (A22)
        self.body: bytes | None = None

    @property
    def events(self) -> list[Any]:
        """The events in the batch, in order."""
        return list(paired(self._events))

    @property
    def first(self) -> Any:
        """The first event that it carries."""
        event, code = self._events[:2]
        return event if code is None else (event, code)

    @property
    def address(self) -> str:
        """Where it goes; `hook` stands for the built-in receiver."""
        return "hook" if self.outlet.builtin else self.outlet.target.url

    @property
    def under_way(self) -> bool:
        """True if the last try has no outcome yet, also while the delivery is held."""
        return bool(self.tries) and self.tries[-1].status is None and self.tries[-1].error is None


class Outlet:
    """The line to one target: events of this instant, batches waiting, and whether one is under way (A22)."""

    __slots__ = ("builtin", "busy", "pending", "queue", "target")

    def __init__(self, target: Target, builtin: bool) -> None:
        self.target = target
        self.builtin = builtin
        self.pending: list[Any] = []
        self.queue: deque[Delivery] = deque()
        self.busy = False
