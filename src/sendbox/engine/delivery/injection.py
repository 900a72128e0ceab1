"""Injection of faults into deliveries: events that do not travel as usual, because of a rule of `webhooks:`.

An event with a fault leaves the bundling of its instant (A22) and shares a batch only with events of the same rule. The
order of the events of one subject is kept, however they travel, unless the fault is about the order. What goes out
later is a step of the timeline. A world without rules never comes here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from sendbox.engine.delivery.batches import Delivery, Home, Outlet, Try
from sendbox.engine.delivery.faults.fault import FaultyDelivery, Rule
from sendbox.engine.delivery.rules import Decision, WebhookFaults, WebhookRule
from sendbox.engine.draws import Draw
from sendbox.engine.journal import CODE
from sendbox.engine.rules.conditions import Case

#: So many batches of a window leave in one step, so that other work does not wait long.
_AT_ONCE: Final = 100


class FakedTry(Try):
    """A try that does not reach the receiver: a rule answers instead, `ending` as `Outlets.outcome` takes it."""

    __slots__ = ("ending", "rule")

    def __init__(self, at: int, rule: WebhookRule, ending: tuple[int | None, str | None]) -> None:
        super().__init__(at)
        self.rule = rule
        self.ending = ending


class InjectedFault(msgspec.Struct, eq=False):
    """A rule was applied: to which events, and the delivery that came of it, where there is one already."""

    rule: WebhookRule
    events: list[object]
    delivery: Delivery | None
    note: str | None


def log_fault(world: Home, applied: InjectedFault) -> Iterator[str]:
    """The line of a server's log: the number, what the event says, and the rule."""
    first = world.events[type(applied.events[0])].case(applied.events[0])
    others = f" and {len(applied.events) - 1} more" if len(applied.events) > 1 else ""
    note = "" if applied.note is None else f", {applied.note}"
    text = f"{first.subject or 'a signup'}: {' '.join(first.words('result')) or first.kind}{others}"
    yield f'{text}: {applied.rule.fault.text}, by the rule "{applied.rule.title}" of webhooks{note}'


class _Parcel(msgspec.Struct):
    """Events of one instant that travel together."""

    rule: WebhookRule | None
    after: int
    events: list[object] = msgspec.field(default_factory=list)
    order_sensitive: bool = False

    def take(self, event: object, *, order_sensitive: bool) -> None:
        """One more event."""
        self.events.append(event)
        self.order_sensitive = self.order_sensitive or order_sensitive


class Window(msgspec.Struct, eq=False):
    """Events of one line that are gathered until the window closes, each with its drawn place.

    Once it has closed, `leaving` are its events in the order in which they leave; `sent` counts those that have left.
    """

    key: tuple[Outlet, str]
    outlet: Outlet
    rule: WebhookRule
    gathered: list[tuple[int, object]] = msgspec.field(default_factory=list)
    leaving: list[object] | None = None
    sent: int = 0


class Injection:
    """The injection of one world."""

    __slots__ = ("_faults", "ahead", "overtaking_requests", "racing", "windows", "world")

    def __init__(self, world: Home, faults: WebhookFaults) -> None:
        #: whose deliveries these are
        self.world = world
        self._faults = faults
        self.windows: dict[tuple[Outlet, str], Window] = {}
        #: requests just accepted whose events may have to leave before their answer
        self.overtaking_requests: list[str] = []
        #: requests whose answer waits for that, and the batches that are to leave now, outside their lines
        self.racing: set[str] = set()
        self.ahead: list[FaultyDelivery] = []

    def sort(self, outlet: Outlet, events: tuple[object, ...], size: int) -> None:
        """Sends events of this instant, each as the rules say; `size` is the most that bundling allows."""
        faults, rows = self._faults, self.world.events
        parcels: list[_Parcel] = []
        newest: dict[tuple[int, tuple[bool, ...], int], int] = {}
        of_subject: dict[str, int] = {}
        gathered: dict[Window, _Parcel] = {}
        for event in events:
            case = rows[type(event)].case(event)
            decision = faults.travel(event, case, racing=case.request in self.racing)
            rule = decision.rule
            if rule is not None and rule.fault.gathers:
                self._gather(outlet, rule, event, case, decision, gathered)
                continue
            after, raced = (0, False) if rule is None else self._after(rule, case, decision)
            key = (id(rule), faults.group(case), after)
            at = newest.get(key, -1)
            alone = (rule is not None and rule.fault.split) or faults.alone(case)
            # never into a batch before one that this subject is in: its events keep their order
            if alone or at < of_subject.get(case.subject, 0) or len(parcels[at].events) >= size:
                at = len(parcels)
                parcels.append(_Parcel(rule, after))
                newest[key] = -1 if alone else at
            of_subject[case.subject] = at
            parcels[at].take(event, order_sensitive=decision.order_sensitive or raced)
        for window, parcel in gathered.items():
            self._journal(window.rule, parcel.events, None, order_sensitive=parcel.order_sensitive)
        for parcel in parcels:
            self._dispatch(outlet, parcel)

    def _after(self, rule: WebhookRule, case: Case, decision: Decision) -> tuple[int, bool]:
        """The time of a fault, drawn where there is something to draw, and whether the draw depended on who came."""
        span = rule.fault.after
        if span.low == span.high:
            return span.low, False
        draw, raced = self._draw(rule, case, decision)
        return draw.interval(span.low, span.high, "after"), raced

    def _draw(self, rule: WebhookRule, case: Case, decision: Decision) -> tuple[Draw, bool]:
        if decision.draw is not None:
            return decision.draw, False
        drawn = self._faults.draw(rule.key, case)
        return drawn.draw, drawn.raced

    # -- what is sent at once

    def _dispatch(self, outlet: Outlet, parcel: _Parcel) -> None:
        outlets = self.world.outlets
        rule, events = parcel.rule, tuple(parcel.events)
        if rule is None:
            delivery = Delivery(outlets.deliveries.made, "", outlet, events, self.world.clock.now)
            entry = outlets.made(delivery)
            if parcel.order_sensitive:
                self.world.journal.mark(entry)
            outlets.queue(delivery)
            return
        faulty = self._made(outlet, rule, events)
        note = rule.fault.note(outlet.target)
        self._journal(rule, parcel.events, faulty, order_sensitive=parcel.order_sensitive, note=note)
        rule.fault.send(self, faulty, parcel.after)

    def _made(self, outlet: Outlet, rule: Rule, events: tuple[object, ...]) -> FaultyDelivery:
        outlets = self.world.outlets
        faulty = FaultyDelivery(outlets.deliveries.made, outlet, events, self.world.clock.now, rule)
        outlets.made(faulty)
        return faulty

    def _journal(
        self,
        rule: WebhookRule,
        events: list[object],
        delivery: Delivery | None,
        *,
        order_sensitive: bool,
        note: str | None = None,
    ) -> None:
        journal = self.world.journal
        entry = journal.add(self.world.clock.now, CODE["webhook_fault"], InjectedFault(rule, events, delivery, note))
        if order_sensitive:
            journal.mark(entry)

    # -- what faults may do

    def later(self, after: int, faulty: FaultyDelivery, detail: object = None) -> None:
        """Schedules a step of a fault, so many milliseconds from now."""
        self.world.timeline.at(self.world.clock.now + after, -1, self.webhook_due, (faulty, detail))

    def then(self, after: int, faulty: FaultyDelivery, detail: object) -> None:
        """The same, and at once where there is no time between."""
        if after:
            self.later(after, faulty, detail)
        else:
            self.webhook_due((faulty, detail))

    def another(self, faulty: FaultyDelivery, events: Sequence[object]) -> FaultyDelivery:
        """Another batch by the same rule to the same target, not yet sent."""
        return self._made(faulty.outlet, faulty.rule, tuple(events))

    def webhook_due(self, step: tuple[FaultyDelivery, object]) -> None:
        """A step that a fault scheduled."""
        faulty, detail = step
        faulty.rule.fault.due(self, faulty, detail)

    def _gather(
        self,
        outlet: Outlet,
        rule: WebhookRule,
        event: object,
        case: Case,
        decision: Decision,
        gathered: dict[Window, _Parcel],
    ) -> None:
        """Puts an event into the window of its rule and line, which opens with the first one."""
        key = (outlet, rule.id or rule.key)
        window = self.windows.get(key)
        if window is None:
            window = self.windows[key] = Window(key, outlet, rule)
            self.world.timeline.at(self.world.clock.now + rule.fault.after.low, -1, self.window_due, window)
        place, raced = 0, False
        if rule.fault.places:
            draw, raced = self._draw(rule, case, decision)
            place = draw.between(0, rule.fault.places, "place")
        window.gathered.append((place, event))
        parcel = gathered.setdefault(window, _Parcel(rule, 0))
        parcel.take(event, order_sensitive=decision.order_sensitive or raced)

    def window_due(self, window: Window) -> None:
        """A window closes: what it gathered is sent, in another order or in one batch; many in several steps."""
        fault = window.rule.fault
        if window.leaving is None:
            self.windows.pop(window.key, None)
            window.leaving = fault.leaving(window.gathered, self.world.events)
        events = window.leaving
        size = fault.size(window.outlet.target.batch_size)
        until = min(len(events), window.sent + _AT_ONCE * size)
        for first in range(window.sent, until, size):
            fault.release(self, self._made(window.outlet, window.rule, tuple(events[first : min(first + size, until)])))
        window.sent = until
        if until < len(events):
            self.world.timeline.at(self.world.clock.now, -1, self.window_due, window)

    # -- before the answer

    def _case(self, event: object) -> Case:
        return self.world.events[type(event)].case(event)

    def concerns(self, delivery: Delivery, requests: Sequence[str]) -> bool:
        """True if a batch must leave before the answer to one of these requests."""
        return (
            isinstance(delivery, FaultyDelivery)
            and delivery.ahead
            and any(self._case(event).request in requests for event in delivery.events)
        )

    def begin_ahead(self) -> None:
        """Begins a try of each batch that leaves before the answer of its request."""
        batches, self.ahead = self.ahead, []
        for faulty in batches:
            self.world.outlets.begin(faulty)

    def faked(self, delivery: Delivery) -> tuple[FakedTry | None, bool]:
        """The try that a rule answers in the receiver's place, and whether that went by the order of arrival."""
        world = self.world
        decision = self._faults.answer([self._case(event) for event in delivery.events])
        rule = decision.rule
        if rule is None or rule.fault.ending is None:
            return None, decision.order_sensitive
        return FakedTry(world.clock.now, rule, rule.fault.ending), decision.order_sensitive

    def answered(self, delivery: Delivery, faked: FakedTry, *, order_sensitive: bool) -> None:
        """Journals that a rule answered a try."""
        note = f"try {len(delivery.tries)}"
        self._journal(faked.rule, delivery.events, delivery, order_sensitive=order_sensitive, note=note)

    # -- ends

    def clear(self) -> None:
        """Forgets what is gathered, when the world ends."""
        self.windows.clear()

    def land(self) -> None:
        """After a restore no client waits for an answer: what was to overtake one goes the usual way."""
        self.racing.clear()
        ahead, self.ahead = self.ahead, []
        for faulty in ahead:
            faulty.ahead = False
            self.world.outlets.queue(faulty)
