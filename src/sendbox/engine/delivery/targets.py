"""Outlets: events on their way out, batched by target, tried, retried (§6, A20, A22).

Events of one instant for one target travel together. A target's batches go one after another, targets side by side; a
failed batch is retried whole with the same bytes, and later batches do not wait for it. The built-in receiver answers
at once, by itself. Everything else waits here until it is taken, and its outcome is handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final, NamedTuple

from msgspec import Struct

from sendbox.engine.commands.tracing import Traces
from sendbox.engine.delivery.batches import (
    Delivery,
    Home,
    KeptAnswers,
    Outlet,
    Target,
    Try,
    in_one_row,
    paired,
    succeeded,
)
from sendbox.engine.delivery.faults.fault import FaultyDelivery
from sendbox.engine.delivery.injection import FakedTry, Injection
from sendbox.engine.delivery.rules import WebhookFaults, WebhookRule
from sendbox.engine.journal import CODE
from sendbox.engine.kept import Index, Kept

#: The error of a try that a restore cut off, until it is made again.
DROPPED: Final = "dropped"
#: The error of a try that the setting `callbacks` does not allow: the next try would not be allowed either.
NOT_ALLOWED: Final = "not_allowed"
#: The error of a try that waited in the outbox, where no client fetched it.
NOT_FETCHED: Final = "not_fetched"
#: So many events are bundled in one tick; where rules are asked about each of them, so many times fewer.
_EVENTS_PER_TICK: Final = 512
_FAULTY_EVENTS_PER_TICK: Final = 8
#: So many targets are begun with in one tick.
_TARGETS_PER_TICK: Final = 256
#: So many deliveries are forgotten between two pauses; an even number, since an event has two places.
_DELIVERIES_PER_PAUSE: Final = 1_000


class Mark(Struct, frozen=True):
    """A place in what was sent: the number of the next delivery, and of the next place in the row of events."""

    deliveries: int
    posted: int

    def covers(self, delivery: Delivery) -> bool:
        """True if a delivery was made before this mark."""
        return delivery.number < self.deliveries


#: What a tester may do with a delivery, and in which states.
ACTS: Final = {
    "hold": ("waiting", "sending"),
    "release": ("held",),
    "replay": ("delivered", "failed", "dropped"),
}


def _is_over(delivery: Delivery) -> bool:
    return delivery.state in ACTS["replay"]


class Hold(NamedTuple):
    """A wish of a tester: webhooks about a phone, to a target, or all of them are held before their first try."""

    phone: str | None = None
    target: str | None = None

    def fits(self, world: Home, delivery: Delivery) -> bool:
        """True if a delivery is to be held."""
        if self.target is not None and self.target != delivery.address:
            return False
        return self.phone is None or any(
            world.events[type(event)].case(event).subject == self.phone for event in delivery.events
        )


class Outlets:
    """All lines of one world to its targets."""

    def __init__(self, world: Home, rules: Sequence[WebhookRule]) -> None:
        self._world = world
        self._lines: dict[Target, Outlet] = {}
        self.deliveries: Kept[Delivery] = Kept()
        self.by_id: Index[Delivery] = Index(self.deliveries, self.id_of)
        #: what the built-in receiver got, oldest first
        self.hook: Kept[Delivery] = Kept()
        #: every event that was posted, in the order in which it occurred, in one row as those of a delivery
        self._posted: list[object] = []
        #: how many of them were forgotten
        self._unposted = 0
        #: lines with events of this instant
        self.dirty: list[Outlet] = []
        #: lines with a batch that may be tried now, in order; the values say nothing
        self.waiting: dict[Outlet, None] = {}
        #: what is under way, in the order in which its tries began; the values say which try it is, as the journal does
        self.under_way: dict[Delivery, tuple[Delivery, int]] = {}
        #: batches of which a try has begun, for the runtime to carry out
        self._begun: list[Delivery] = []
        #: how many milliseconds those tries took that took any
        self.took: dict[Try, int] = {}
        self.answers = KeptAnswers()
        #: which webhooks are held before their first try
        self.holds: list[Hold] = []
        #: those that are held now
        self.held: dict[Delivery, None] = {}
        #: how many deliveries have failed finally, and how many wait for a later try
        self.failed = self.retrying = 0
        self.faults = WebhookFaults(world, rules)
        self.injection = Injection(world, self.faults)
        #: True while an app in process or an outbox also takes the deliveries of the built-in receiver
        self.captured = False
        self.traces = Traces()

    @property
    def ready(self) -> bool:
        """True if something must be delivered at this instant."""
        return bool(self.waiting or self.dirty)

    @property
    def in_flight(self) -> int:
        """The number of tries that are under way."""
        return len(self.under_way)

    @property
    def leaving(self) -> int:
        """The number of batches that are under way, or leave without a step of the timeline; at least one a line."""
        going = sum(1 + len(delivery.outlet.first) for delivery in self.under_way)
        return going + sum(len(outlet.queue) for outlet in self.waiting) + len(self.dirty)

    @property
    def backlog(self) -> int:
        """The number of batches that wait for their turn, for a later try, or for the outcome of a try."""
        queued = sum(len(outlet.queue) + len(outlet.first) for outlet in self._lines.values())
        return queued + self.retrying + len(self.under_way)

    def line(self, target: Target) -> Outlet:
        """The line to a target; equal targets share one."""
        outlet = self._lines.get(target)
        if outlet is None:
            builtin = target.url == "" or target.url.endswith(f"/_sandbox/worlds/{self._world.id}/hook")
            outlet = self._lines[target] = Outlet(target, builtin)
        return outlet

    def post(self, outlet: Outlet, *events: object) -> None:
        """Events for a target."""
        if not outlet.pending:
            self.dirty.append(outlet)
        outlet.pending += events
        self._posted += in_one_row(events)

    @property
    def posted(self) -> Iterator[object]:
        """Every event that was posted, in the order in which it occurred; once for each of its targets."""
        return paired(self._posted)

    @property
    def mark(self) -> Mark:
        """The numbers of deliveries made and of events posted so far."""
        return Mark(self.deliveries.made, self._unposted + len(self._posted))

    def forget(self, mark: Mark) -> Iterator[None]:
        """Forgets what was posted before a mark, and the deliveries before it that have ended; with pauses."""
        place, left = 0, mark.deliveries - self.deliveries.lost
        while place < left:
            gone, place = self.deliveries.forget(place, min(place + _DELIVERIES_PER_PAUSE, left), _is_over)
            self.by_id.forget(gone)
            for delivery in gone:
                for tried in delivery.tries:
                    self.took.pop(tried, None)
                    self.answers.forget(tried)
            left -= len(gone)
            yield
        place = 0
        while received := sum(
            1 for _ in takewhile(mark.covers, islice(self.hook, place, place + _DELIVERIES_PER_PAUSE))
        ):
            place = self.hook.forget(place, place + received, _is_over).place
            yield
        while self._unposted < mark.posted:
            count = min(_DELIVERIES_PER_PAUSE, mark.posted - self._unposted)
            del self._posted[:count]
            self._unposted += count
            yield

    def no_target(self, event: object) -> None:
        """An event that has no target (A68)."""
        self._world.journal.add(self._world.clock.now, CODE["no_target"], event)

    def requests_of(self, delivery: Delivery) -> Iterator[str]:
        """The ids of the requests that the events of a batch belong to, "" for none."""
        for event in delivery.events:
            yield self._world.events[type(event)].case(event).request

    def flush(self) -> bool:
        """Makes deliveries of a part of the events of this instant; True if more are left, which stay in `dirty`."""
        flushed = 0
        faulty = bool(self.faults.rules)
        # each is asked about, and may travel alone
        budget = _EVENTS_PER_TICK // _FAULTY_EVENTS_PER_TICK if faulty else _EVENTS_PER_TICK
        for outlet in self.dirty:
            size = outlet.target.batch_size if self._world.assume.bundle else 1
            first = 0
            while first < len(outlet.pending) and budget > 0:
                step = max(size, budget // size * size) if faulty else size
                events = tuple(outlet.pending[first : first + step])
                first += step
                budget -= len(events)
                if faulty:
                    self.injection.sort(outlet, events, size)
                else:
                    delivery = Delivery(self.deliveries.made, "", outlet, events, self._world.clock.now)
                    self.made(delivery)
                    self.queue(delivery)
            outlet.pending = outlet.pending[first:]
            if outlet.pending:
                break
            flushed += 1
        del self.dirty[:flushed]
        return bool(self.dirty)

    def made(self, delivery: Delivery) -> int:
        """Adds a batch, and returns its entry's number."""
        self.deliveries.append(delivery)
        return self._world.journal.add(delivery.made_at, CODE["delivery"], delivery)

    def queue(self, delivery: Delivery) -> None:
        """Puts a batch at the end of its line, unless it is to be held before its first try."""
        if self.holds and not delivery.tries and any(hold.fits(self._world, delivery) for hold in self.holds):
            self._hold(delivery)
            return
        delivery.state = "waiting"
        if self._answers_itself(delivery.outlet):
            self._answer(delivery)
            return
        delivery.queued = True
        delivery.outlet.queue.append(delivery)
        if not delivery.outlet.busy:
            self.waiting[delivery.outlet] = None

    def send(self, delivery: Delivery) -> None:
        """Puts a batch before those that wait in its line; it leaves at once if nothing is under way there."""
        outlet = delivery.outlet
        delivery.state = "waiting"  # no longer held
        delivery.queued = True
        outlet.first.append(delivery)
        self._begin_first(outlet)

    def _begin_first(self, outlet: Outlet) -> None:
        """Begins a try of the next batch that a tester sent; several where the built-in receiver answers."""
        while outlet.first and not outlet.busy:
            delivery = outlet.first.popleft()
            delivery.queued = False
            if self._answers_itself(outlet):
                self._answer(delivery)
            else:
                self.waiting.pop(outlet, None)
                outlet.busy = True
                self.begin(delivery)

    def _answers_itself(self, outlet: Outlet) -> bool:
        """True if webhooks of a line are answered here: by the built-in receiver, left to itself."""
        return outlet.builtin and not self.captured

    def _answer(self, delivery: Delivery) -> None:
        """The built-in receiver answers at once."""
        self._begin_try(delivery)
        begun = delivery.tries[-1]
        if isinstance(begun, FakedTry):
            begun.status, begun.error = begun.ending
            self._finish_try(delivery, self._world.clock.now)
            return
        begun.status = 200
        delivery.state = "delivered"

    def _begin_try(self, delivery: Delivery) -> tuple[Delivery, int]:
        """Begins a try; the delivery with the number of the try, as the journal has them."""
        if delivery.tries and delivery.tries[-1].error == DROPPED:  # the same try again, so that the future is the same
            delivery.tries[-1].error = None
            return delivery, len(delivery.tries) - 1
        now = self._world.clock.now
        faked: FakedTry | None = None
        order_sensitive = False
        if self.faults.answers:
            faked, order_sensitive = self.injection.faked(delivery)
        begun = faked or Try(now)
        # what was faked did not reach the receiver; of a real try the first is what it got
        if faked is None and delivery.outlet.builtin and all(isinstance(past, FakedTry) for past in delivery.tries):
            self.hook.append(delivery)
        delivery.tries.append(begun)
        numbered = (delivery, len(delivery.tries) - 1)
        entry = self._world.journal.add(now, CODE["try"], numbered)
        if faked is not None:
            self.injection.answered(delivery, faked, order_sensitive=order_sensitive)
        elif order_sensitive:
            self._world.journal.mark(entry)
        return numbered

    def begin(self, delivery: Delivery) -> None:
        """A batch is under way from now on, and must come back through `outcome`; `take` hands it out."""
        delivery.state = "sending"
        self.under_way[delivery] = self._begin_try(delivery)
        self._begun.append(delivery)

    def begin_round(self) -> bool:
        """Begins a try for each target that waits, `_TARGETS_PER_TICK` targets at a time; True if there are more."""
        for outlet in list(islice(self.waiting, _TARGETS_PER_TICK)):
            del self.waiting[outlet]
            if self._answers_itself(outlet):  # the app or outbox that took these has gone
                queued, outlet.queue = outlet.queue, deque()
                for delivery in queued:
                    delivery.queued = False
                    self._answer(delivery)
                continue
            delivery = outlet.queue.popleft()
            delivery.queued = False
            outlet.busy = True
            self.begin(delivery)
        return bool(self.waiting)

    @property
    def has_begun(self) -> bool:
        """True if there is something to take."""
        return bool(self._begun)

    def take(self) -> list[Delivery]:
        """The batches of which a try has begun since the last call; each must come back to `outcome`."""
        begun, self._begun = self._begun, []
        return begun

    def outcome(self, delivery: Delivery, status: int | None, error: str | None) -> None:
        """Takes the outcome of the last try of a batch: an HTTP status, or a word for why there was none."""
        world = self._world
        now = world.clock.now
        del self.under_way[delivery]
        last = delivery.tries[-1]
        last.status = status
        last.error = error
        if now > last.at:
            self.took[last] = now - last.at
        outlet = delivery.outlet
        free_at = now
        if error == "timeout" and not isinstance(last, FakedTry):  # whose turn is next must not go by what was faked
            free_at = max(now, last.at + (outlet.target.timeout_ms or world.assume.webhook_timeout))
        if isinstance(delivery, FaultyDelivery) and delivery.ahead:  # it was never in the line; its retries are
            delivery.ahead = False
        elif free_at > now:
            world.timeline.at(free_at, -1, self.free_due, outlet)
        else:
            self.free_due(outlet)
        self._finish_try(delivery, free_at)

    def _finish_try(self, delivery: Delivery, free_at: int) -> None:
        """Sets the state of a batch whose last try has ended: delivered, failed, or waiting for a retry (A20)."""
        world = self._world
        last = delivery.tries[-1]
        if succeeded(last.status, last.error):
            if delivery.state == "held":
                del self.held[delivery]
            delivery.state = "delivered"
            delivery.body = None
            return
        if delivery.state == "held":
            return
        retries = world.assume.webhook_retry
        if len(delivery.tries) > len(retries) or last.error == NOT_ALLOWED:
            delivery.state = "failed"
            delivery.body = None
            self.failed += 1
            return
        delivery.state = "waiting"
        self.retrying += 1
        again = max(world.clock.now, free_at, last.at + retries[len(delivery.tries) - 1])
        world.timeline.at(again, -1, self.retry_due, (delivery, len(delivery.tries)))

    def free_due(self, outlet: Outlet) -> None:
        """The target can take its next batch."""
        outlet.busy = False
        self._begin_first(outlet)
        if outlet.queue and not outlet.busy:
            self.waiting[outlet] = None

    def retry_due(self, retry: tuple[Delivery, int]) -> None:
        """A failed batch is due again, unless it was held, or released and tried, meanwhile."""
        delivery, tries = retry
        self.retrying -= 1
        if delivery.state == "waiting" and not delivery.queued and len(delivery.tries) == tries:
            self.queue(delivery)

    # -- by control

    def id_of(self, delivery: Delivery) -> str:
        """The id of a delivery: its `X-Request-Id`, the same on every try (A21). Made when first asked."""
        if not delivery.id:
            key = self.key_of(delivery.first, delivery.made_at)
            if isinstance(delivery, FaultyDelivery):
                if delivery.of is not None:
                    return self.id_of(delivery.of)
                if delivery.mark:
                    key = f"{key} {delivery.mark}"
            delivery.id = self._world.delivery_name(key.encode())
        return delivery.id

    def key_of(self, event: object, at: int) -> str:
        """The key of an event that leaves at an instant."""
        return self._world.events[type(event)].key(self._world, event, at)

    def find(self, delivery_id: str) -> Delivery | None:
        """A delivery by its id: of those that have one id, the first."""
        return self.by_id.get(delivery_id)

    def hold(self, delivery: Delivery) -> bool:
        """Stops further tries until released; False when it has ended."""
        if delivery.state not in ACTS["hold"]:
            return False
        outlet = delivery.outlet
        if delivery.queued:
            delivery.queued = False
            (outlet.first if delivery in outlet.first else outlet.queue).remove(delivery)
            if not outlet.queue:
                self.waiting.pop(outlet, None)
        self._hold(delivery)
        return True

    def _hold(self, delivery: Delivery) -> None:
        delivery.state = "held"
        self.held[delivery] = None

    def release(self, delivery: Delivery) -> bool:
        """Sends a held batch, before those that wait in its line; False when it is not held."""
        if delivery.state not in ACTS["release"]:
            return False
        del self.held[delivery]
        if delivery.under_way:
            delivery.state = "sending"
        else:
            self.send(delivery)
        return True

    def replay(self, delivery: Delivery) -> bool:
        """Sends an ended batch once more, before those that wait in its line; False while it has not ended.

        Should it fail, it is retried as often as the schedule has tries left.
        """
        if not _is_over(delivery):
            return False
        self.send(delivery)
        return True

    def clear(self) -> None:
        """Forgets what is on its way, when the world ends."""
        self._posted.clear()
        del self.by_id
        for outlet in self._lines.values():
            outlet.queue.clear()
            outlet.first.clear()
            outlet.pending.clear()
        self.injection.clear()

    def land(self) -> None:
        """After a restore: what was under way no longer is, and is the first to be tried at this instant."""
        self.under_way.clear()
        self._begun.clear()
        self.injection.land()
        for delivery in self.deliveries:
            if delivery.under_way:
                if isinstance(delivery, FaultyDelivery):
                    delivery.ahead = False
                delivery.tries[-1].error = DROPPED
                outlet = delivery.outlet
                outlet.busy = False
                outlet.queue.extendleft(reversed(outlet.first))
                outlet.first.clear()
                if delivery.state == "sending":
                    delivery.state = "waiting"
                    delivery.queued = True
                    outlet.queue.appendleft(delivery)
                if outlet.queue:
                    self.waiting[outlet] = None
