"""Detours: events that do not travel as usual, because a rule of `webhooks:` says so.

An event with a fault leaves the bundling of its instant (A22) and shares a batch only with events of the same rule. The
order of the events of one phone is kept, whatever travels how, unless the fault is about the order. What goes out later
is a step of the timeline. A world without rules never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.cases import Case
from sendbox.engine.delivery.batches import Delivery, Outlet, Try
from sendbox.engine.delivery.rules import GATHERING, Decision, WebhookFaults, WebhookRule
from sendbox.engine.identity import Draw
from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.delivery.events import Events
    from sendbox.engine.delivery.home import Home

#: Draws of places in a new order are below this.
_PLACES: Final = 2**63
#: So many batches of a window leave in one step, so that nobody has to wait long meanwhile.
_AT_ONCE: Final = 100
_UNSIGNED: Final = "nothing is signed here: the target has no secret, so that there is no signature to spoil (A21)"
_NO_BODY: Final = "a GET has no body, so that there is no content type to get wrong (A69)"


class FaultyDelivery(Delivery):
    """A batch that a rule made, or made something of.

    `of` is the delivery whose id it repeats; `mark` tells it from others of the same event where the id is its own.
    `ahead` while it is outside its line, on its way before the answer of its own request.
    """

    __slots__ = ("ahead", "mark", "of", "rule")

    def __init__(self, number: int, outlet: Outlet, events: tuple[Any, ...], at: int, rule: WebhookRule) -> None:
        super().__init__(number, "", outlet, events, at)
        self.rule = rule
        self.of: Delivery | None = None
        self.mark = ""
        self.ahead = False

    @property
    def again(self) -> bool:
        """Whether its events left before, in another batch: it is a copy, or stale."""
        return self.of is not None or self.mark != ""


class FakedTry(Try):
    """A try that reaches nobody: a rule answers in the receiver's place, `given` as `Outlets.outcome` takes it."""

    __slots__ = ("given", "rule")

    def __init__(self, at: int, rule: WebhookRule) -> None:
        super().__init__(at)
        self.rule = rule
        value = rule.fault.value
        self.given: tuple[int | None, str | None] = (None, value) if isinstance(value, str) else (value, None)
        if isinstance(value, int) and 300 <= value < 400:
            self.given = value, "redirect"


class Detoured:
    """A rule was applied: to which events, and the delivery that came of it, where there is one already."""

    __slots__ = ("delivery", "events", "note", "rule")

    def __init__(self, rule: WebhookRule, events: list[Any], delivery: Delivery | None, note: str | None) -> None:
        self.rule = rule
        self.events = events
        self.delivery = delivery
        self.note = note


class _Parcel:
    """Events of one instant that travel together."""

    __slots__ = ("after", "events", "order_sensitive", "rule")

    def __init__(self, rule: WebhookRule | None, after: int) -> None:
        self.rule = rule
        self.after = after
        self.events: list[Any] = []
        self.order_sensitive = False


class Window:
    """Events of one line that are gathered until the window closes, each with its drawn place.

    Once it has closed, `leaving` are its events in the order in which they leave, the first `left` of them gone.
    """

    __slots__ = ("gathered", "key", "leaving", "left", "outlet", "rule")

    def __init__(self, key: tuple[Outlet, str], outlet: Outlet, rule: WebhookRule) -> None:
        self.key = key
        self.outlet = outlet
        self.rule = rule
        self.gathered: list[tuple[int, Any]] = []
        self.leaving: list[Any] | None = None
        self.left = 0

    def in_new_order(self, rows: Events) -> list[Any]:
        """The events by their places; never as they happened, where a message, or the window, has two."""
        threads: dict[int, list[int]] = {}
        for position, (_, event) in enumerate(self.gathered):
            threads.setdefault(id(rows[type(event)].thread(event)), []).append(position)
        places = [place for place, _ in self.gathered]
        for positions in threads.values():
            mine = [places[position] for position in positions]
            if mine == sorted(mine):
                mine = [*mine[1:], mine[0]]
            for position, place in zip(positions, mine, strict=True):
                places[position] = place
        order = sorted(range(len(places)), key=places.__getitem__)
        if order == list(range(len(places))):
            order = [*order[1:], *order[:1]]
        return [self.gathered[position][1] for position in order]


class Detours:
    """The detours of one world."""

    __slots__ = ("_faults", "_world", "ahead", "hasty", "racing", "windows")

    def __init__(self, world: Home, faults: WebhookFaults) -> None:
        self._world = world
        self._faults = faults
        self.windows: dict[tuple[Outlet, str], Window] = {}
        #: requests just accepted whose events may have to leave before their answer
        self.hasty: list[str] = []
        #: requests whose answer waits for that, and the batches that are to leave now, outside their lines
        self.racing: set[str] = set()
        self.ahead: list[FaultyDelivery] = []

    def sort(self, outlet: Outlet, events: tuple[Any, ...], size: int) -> None:
        """Sends events of this instant, each as the rules say; `size` is the most that bundling allows."""
        faults, rows = self._faults, self._world.events
        parcels: list[_Parcel] = []
        newest: dict[tuple[int, tuple[bool, ...], int], int] = {}
        of_subject: dict[str, int] = {}
        gathered: dict[Window, _Parcel] = {}
        for event in events:
            case = rows[type(event)].case(event)
            decision = faults.travel(event, case, racing=case.request in self.racing)
            rule = decision.rule
            if rule is not None and rule.fault.kind in GATHERING:
                self._gather(outlet, rule, event, case, decision, gathered)
                continue
            after, raced = (0, False) if rule is None else self._after(rule, case, decision)
            key = (id(rule), faults.group(case), after)
            at = newest.get(key, -1)
            alone = (rule is not None and rule.fault.kind == "split") or faults.alone(case)
            # never into a batch before one that this subject is in: its events keep their order
            if alone or at < of_subject.get(case.subject, 0) or len(parcels[at].events) >= size:
                at = len(parcels)
                parcels.append(_Parcel(rule, after))
                newest[key] = -1 if alone else at
            of_subject[case.subject] = at
            parcel = parcels[at]
            parcel.events.append(event)
            parcel.order_sensitive = parcel.order_sensitive or decision.order_sensitive or raced
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
        return draw.between(span.low, span.high, "after"), raced

    def _draw(self, rule: WebhookRule, case: Case, decision: Decision) -> tuple[Draw, bool]:
        if decision.draw is not None:
            return decision.draw, False
        return self._faults.draw(rule, case)

    # -- what is sent at once

    def _dispatch(self, outlet: Outlet, parcel: _Parcel) -> None:
        outlets = self._world.outlets
        rule, events = parcel.rule, tuple(parcel.events)
        if rule is None:
            delivery, entry = outlets.made(Delivery(len(outlets.deliveries), "", outlet, events, self._world.clock.now))
            if parcel.order_sensitive:
                self._world.journal.mark(entry)
            outlets.queue(delivery)
            return
        faulty = self._made(outlet, rule, events)
        self._journal(
            rule, parcel.events, faulty, order_sensitive=parcel.order_sensitive, note=_note(outlet, rule.fault.kind)
        )
        _SEND.get(rule.fault.kind, Detours._send)(self, faulty, parcel.after)

    def _made(self, outlet: Outlet, rule: WebhookRule, events: tuple[Any, ...]) -> FaultyDelivery:
        outlets = self._world.outlets
        faulty = FaultyDelivery(len(outlets.deliveries), outlet, events, self._world.clock.now, rule)
        outlets.made(faulty)
        return faulty

    def _journal(
        self,
        rule: WebhookRule,
        events: list[Any],
        delivery: Delivery | None,
        *,
        order_sensitive: bool,
        note: str | None = None,
    ) -> None:
        journal = self._world.journal
        entry = journal.add(self._world.clock.now, CODE["webhook_fault"], Detoured(rule, events, delivery, note))
        if order_sensitive:
            journal.mark(entry)

    def _send(self, faulty: FaultyDelivery, _after: int) -> None:
        self._world.outlets.queue(faulty)

    def _drop(self, faulty: FaultyDelivery, _after: int) -> None:
        faulty.state = "dropped"

    def _delay(self, faulty: FaultyDelivery, after: int) -> None:
        self._world.timeline.at(self._world.clock.now + after, -1, self.delayed_due, faulty)

    def _duplicate(self, faulty: FaultyDelivery, after: int) -> None:
        self._world.outlets.queue(faulty)
        now = self._world.clock.now
        for number in range(1, faulty.rule.fault.copies + 1):
            if after:
                self._world.timeline.at(now + number * after, -1, self.copy_due, (faulty, number))
            else:
                self.copy_due((faulty, number))

    def _stale(self, faulty: FaultyDelivery, after: int) -> None:
        self._world.outlets.queue(faulty)
        for event in faulty.events:
            older = self._world.events[type(event)].older(event)
            if after:
                self._world.timeline.at(self._world.clock.now + after, -1, self.stale_due, (faulty, event, older))
            else:
                self.stale_due((faulty, event, older))

    def _overtake(self, faulty: FaultyDelivery, _after: int) -> None:
        if faulty.outlet.builtin and not self._world.outlets.captured:
            self._world.outlets.queue(faulty)  # it answers at once
            return
        faulty.ahead = True
        self.ahead.append(faulty)

    # -- what is sent later

    def delayed_due(self, faulty: FaultyDelivery) -> None:
        """A delayed batch sets out, unless it was held, or released and sent, meanwhile."""
        if faulty.state == "waiting" and not faulty.queued and not faulty.tries:
            self._world.outlets.queue(faulty)

    def copy_due(self, what: tuple[FaultyDelivery, int]) -> None:
        """A batch is sent once more, whatever became of it."""
        faulty, number = what
        copy = self._made(faulty.outlet, faulty.rule, tuple(faulty.events))
        if faulty.rule.fault.new_id:
            copy.mark = f"copy {number}"
        else:
            copy.of = faulty
        self._world.outlets.queue(copy)

    def stale_due(self, what: tuple[FaultyDelivery, Any, Any]) -> None:
        """An older event arrives again after a newer one."""
        faulty, newer, older = what
        stale = self._made(faulty.outlet, faulty.rule, (older,))
        stale.mark = f"stale {self._world.outlets.key_of(newer, faulty.made_at)}"
        self._world.outlets.queue(stale)

    def _gather(
        self,
        outlet: Outlet,
        rule: WebhookRule,
        event: Any,
        case: Case,
        decision: Decision,
        gathered: dict[Window, _Parcel],
    ) -> None:
        """Puts an event into the window of its rule and line, which opens with the first one."""
        key = (outlet, rule.id or rule.key)
        window = self.windows.get(key)
        if window is None:
            window = self.windows[key] = Window(key, outlet, rule)
            self._world.timeline.at(self._world.clock.now + rule.fault.after.low, -1, self.window_due, window)
        place, raced = 0, False
        if rule.fault.kind == "reorder":
            draw, raced = self._draw(rule, case, decision)
            place = draw.between(0, _PLACES, "place")
        window.gathered.append((place, event))
        parcel = gathered.setdefault(window, _Parcel(rule, 0))
        parcel.events.append(event)
        parcel.order_sensitive = parcel.order_sensitive or decision.order_sensitive or raced

    def window_due(self, window: Window) -> None:
        """A window closes: what it gathered is sent, in another order or in one batch; many in several steps."""
        outlets = self._world.outlets
        reorder = window.rule.fault.kind == "reorder"
        if window.leaving is None:
            self.windows.pop(window.key, None)
            gathered = [event for _, event in window.gathered]
            window.leaving = window.in_new_order(self._world.events) if reorder else gathered
        events = window.leaving
        size = 1 if reorder else window.outlet.target.batch_size
        until = min(len(events), window.left + _AT_ONCE * size)
        for first in range(window.left, until, size):
            outlets.queue(self._made(window.outlet, window.rule, tuple(events[first : min(first + size, until)])))
        window.left = until
        if until < len(events):
            self._world.timeline.at(self._world.clock.now, -1, self.window_due, window)

    # -- before the answer

    def _case(self, event: Any) -> Case:
        return self._world.events[type(event)].case(event)

    def concerns(self, delivery: Delivery, requests: Sequence[str]) -> bool:
        """Whether a batch is to leave before the answer of one of these requests."""
        return (
            isinstance(delivery, FaultyDelivery)
            and delivery.ahead
            and any(self._case(event).request in requests for event in delivery.events)
        )

    def taken(self) -> list[FaultyDelivery]:
        """The batches that leave before the answer of their request, each with a try begun.

        Each must come back through `Outlets.outcome`.
        """
        taken, self.ahead = self.ahead, []
        for faulty in taken:
            self._world.outlets.begin(faulty)
        return taken

    def faked(self, delivery: Delivery) -> tuple[FakedTry | None, bool]:
        """The try that a rule answers in the receiver's place, and whether that went by the order of arrival."""
        world = self._world
        decision = self._faults.answer([self._case(event) for event in delivery.events])
        made = None if decision.rule is None else FakedTry(world.clock.now, decision.rule)
        return made, decision.order_sensitive

    def answered(self, delivery: Delivery, faked: FakedTry, *, order_sensitive: bool) -> None:
        """Journals that a rule answered a try."""
        note = f"try {len(delivery.tries)}"
        self._journal(faked.rule, delivery.events, delivery, order_sensitive=order_sensitive, note=note)

    # -- ends

    def clear(self) -> None:
        """Forgets what is gathered, when the world ends."""
        self.windows.clear()

    def land(self) -> None:
        """After a restore nobody waits for an answer any more: what was to overtake one goes the usual way."""
        self.racing.clear()
        ahead, self.ahead = self.ahead, []
        for faulty in ahead:
            faulty.ahead = False
            self._world.outlets.queue(faulty)


def _note(outlet: Outlet, kind: str) -> str | None:
    """Why a fault of the request shows nowhere, where it does not."""
    if kind == "content_type" and outlet.target.method == "GET":
        return _NO_BODY
    if kind == "bad_signature" and (not outlet.target.secret or outlet.target.method == "GET"):
        return _UNSIGNED
    return None


_SEND: Final[dict[str, Callable[[Detours, FaultyDelivery, int], None]]] = {
    "drop": Detours._drop,
    "delay": Detours._delay,
    "duplicate": Detours._duplicate,
    "stale": Detours._stale,
    "overtake": Detours._overtake,
}
