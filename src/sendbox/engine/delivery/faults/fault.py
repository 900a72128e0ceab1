"""The base of all faults of deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol

from msgspec import Struct

from sendbox.engine.delivery.batches import Delivery, Events, Home, Outlet, Target, in_one_row
from sendbox.engine.durations import Span, show
from sendbox.engine.faults.fault import AT_ONCE, Fault


class Rule(Protocol):
    """The rule that a fault belongs to, as far as a batch knows it."""

    @property
    def title(self) -> str: ...
    @property
    def fault(self) -> WebhookFault: ...


class FaultyDelivery(Delivery):
    """A batch that a rule made or changed.

    `of` is the delivery whose id it repeats; `mark` tells it from others of the same event where the id is its own;
    `repeated` is how many of its events, the first ones, left in another batch already. `ahead` while it is outside its
    line, on its way before the answer of its own request.
    """

    __slots__ = ("ahead", "mark", "of", "repeated", "rule")

    def __init__(self, number: int, outlet: Outlet, events: tuple[object, ...], at: int, rule: Rule) -> None:
        super().__init__(number, "", outlet, events, at)
        self.rule = rule
        self.of: Delivery | None = None
        self.mark = ""
        self.repeated = 0
        self.ahead = False

    def repeat(self, events: Sequence[object]) -> None:
        """Puts events in front that left in another batch already."""
        self._events = (*in_one_row(events), *self._events)
        self.repeated = len(events)

    @property
    def first(self) -> object:
        return self.events[self.repeated]

    @property
    def fresh(self) -> list[object]:
        """Its events without those that left earlier in another batch, as all did of a copy or a stale one."""
        return [] if self.of is not None or self.mark else self.events[self.repeated :]


class Way(Protocol):
    """The operations that a fault has for a batch that is about to leave."""

    #: batches that leave outside their lines, before the answer of their request
    ahead: list[FaultyDelivery]

    world: Home

    def later(self, after: int, faulty: FaultyDelivery, detail: object = None) -> None:
        """Schedules a step: the fault's `due` is called with `detail`, so many milliseconds from now."""

    def then(self, after: int, faulty: FaultyDelivery, detail: object) -> None:
        """The same, and at once where there is no time between."""

    def another(self, faulty: FaultyDelivery, events: Sequence[object]) -> FaultyDelivery:
        """Another batch by the same rule to the same target, not yet sent."""


class Spoilt(Struct, frozen=True):
    """The errors in the request of a batch: another content type than the target's, the signature of another secret.

    `way` is another way to write its JSON (`WAYS`), "" the usual one.
    """

    content_type: str | None = None
    bad_signature: bool = False
    way: str = ""


NOT_SPOILT: Final = Spoilt()


class WebhookFault(Fault, frozen=True):
    """A fault that happens to an event on its way to the target.

    `split`: the event travels alone. `racing`: it meets only what happens before the answer of its own request.
    `follows`: it meets only events that another one of the same thing came before. `gathers`: the events of some time
    are gathered before anything is sent; `places` > 0: each of them draws one of so many places.
    """

    split: ClassVar[bool] = False
    racing: ClassVar[bool] = False
    follows: ClassVar[bool] = False
    gathers: ClassVar[bool] = False
    places: ClassVar[int] = 0

    @property
    def after(self) -> Span:
        """A time that is drawn from for each event, or the window of a fault that gathers."""
        return AT_ONCE

    @property
    def detail(self) -> str:
        """The text behind its word."""
        return ""

    @property
    def text(self) -> str:
        """The fault in words, such as `delay 30s`."""
        return f"{self.kind} {self.detail}" if self.detail else self.kind

    @property
    def ending(self) -> tuple[int | None, str | None] | None:
        """The outcome of each try, for `Outlets.outcome`; None = tries are made, and the fault is about the way."""
        return None

    @property
    def spoilt(self) -> Spoilt:
        """The errors that the fault puts into its requests."""
        return NOT_SPOILT

    def note(self, target: Target) -> str | None:
        """The reason why the fault has no visible effect on this target; None if it has one."""
        return None

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        """Handles a batch that is about to leave; `after` is the drawn time."""
        way.world.outlets.queue(faulty)

    def release(self, way: Way, faulty: FaultyDelivery) -> None:
        """Handles a batch of events that were gathered."""
        way.world.outlets.queue(faulty)

    def due(self, way: Way, faulty: FaultyDelivery, detail: object) -> None:
        """A step that it scheduled."""

    def upcoming(self, faulty: FaultyDelivery) -> str | None:
        """The effect of a scheduled step, in words; None if it has none."""
        return None

    # -- of those that gather

    def leaving(self, gathered: Sequence[tuple[int, object]], rows: Events) -> list[object]:
        """Gathered events, each with its place, in the order in which they leave."""
        return [event for _, event in gathered]

    def size(self, limit: int) -> int:
        """So many of them share a batch, where the target takes so many."""
        return limit


def span_text(span: Span) -> str:
    """A time as a fault's text has it."""
    return show(span.low) if span.low == span.high else f"{show(span.low)}..{show(span.high)}"


class Timed(WebhookFault, frozen=True):
    """A fault that takes a time."""

    after: Span = AT_ONCE

    @property
    def detail(self) -> str:
        return span_text(self.after)
