"""Outlets: events on their way out, batched by target, tried, retried (§6, A20, A22).

Events of one instant for one target travel together. A target's batches go one after another, targets side by side; a
failed batch is retried whole with the same bytes, and later batches do not wait for it. The built-in receiver answers
at once, without anybody outside. Everything else waits here until it is taken, and its outcome is handed in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.core.journal import CODE
from sendbox.core.model import Target
from sendbox.core.records import Attempt, Delivery, Inbound, Outlet, Try

if TYPE_CHECKING:
    from sendbox.core.world import World


class Outlets:
    """All lines of one world to its targets."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lines: dict[Target, Outlet] = {}
        self.deliveries: list[Delivery] = []
        #: what the built-in receiver got, oldest first
        self.hook: list[Delivery] = []
        #: lines with events of this instant
        self.dirty: list[Outlet] = []
        #: lines with a batch that may be tried now
        self.waiting: list[Outlet] = []
        self.in_flight = 0
        #: True while somebody outside takes the built-in receiver's deliveries too (an app in process, an outbox)
        self.captured = False

    def line(self, target: Target) -> Outlet:
        """The line to a target; equal targets share one."""
        outlet = self._lines.get(target)
        if outlet is None:
            builtin = target.url == "" or target.url.endswith(f"/_sandbox/worlds/{self._world.id}/hook")
            outlet = self._lines[target] = Outlet(target, builtin)
        return outlet

    def emit(self, outlet: Outlet | None, event: Inbound) -> None:
        """An event for a target; without one it is journaled and lost."""
        if outlet is None:
            self.no_target(event)
            return
        if not outlet.pending:
            self.dirty.append(outlet)
        outlet.pending.append(event)

    def no_target(self, event: Attempt | Inbound) -> None:
        """Nobody asked for this event (A68)."""
        self._world.journal.add(self._world.clock.now, CODE["no_target"], event)

    def flush(self) -> None:
        """Makes deliveries of the events of this instant."""
        dirty, self.dirty = self.dirty, []
        for outlet in dirty:
            events, outlet.pending = outlet.pending, []
            size = outlet.target.batch_size if self._world.assume.bundle else 1
            for first in range(0, len(events), size):
                self._make(outlet, tuple(events[first : first + size]))

    def _make(self, outlet: Outlet, events: tuple[Any, ...]) -> None:
        world = self._world
        now = world.clock.now
        number = len(self.deliveries)
        delivery = Delivery(number, "", outlet, events, now)
        self.deliveries.append(delivery)
        world.journal.add(now, CODE["delivery"], delivery)
        if outlet.builtin and not self.captured:
            attempt = Try(now)
            attempt.status = 200
            delivery.tries.append(attempt)
            delivery.state = "delivered"
            self.hook.append(delivery)
            world.journal.add(now, CODE["try"], (delivery, 0))
            return
        self._enqueue(delivery)

    def _enqueue(self, delivery: Delivery) -> None:
        outlet = delivery.outlet
        delivery.state = "waiting"
        outlet.queue.append(delivery)
        if not outlet.busy and outlet not in self.waiting:
            self.waiting.append(outlet)

    def take(self) -> list[Delivery]:
        """The batches to be tried now, at most one a target. Each must come back through `outcome`."""
        now = self._world.clock.now
        taken = []
        waiting, self.waiting = self.waiting, []
        for outlet in waiting:
            delivery = outlet.queue.pop(0)
            outlet.busy = True
            self.in_flight += 1
            delivery.state = "sending"
            if not delivery.tries and delivery.outlet.builtin:
                self.hook.append(delivery)
            delivery.tries.append(Try(now))
            self._world.journal.add(now, CODE["try"], (delivery, len(delivery.tries) - 1))
            taken.append(delivery)
        return taken

    def outcome(self, delivery: Delivery, status: int | None, error: str | None) -> None:
        """How the last try of a batch went: an HTTP status, or a word for why there was none."""
        world = self._world
        now = world.clock.now
        self.in_flight -= 1
        last = delivery.tries[-1]
        last.status = status
        last.error = error
        outlet = delivery.outlet
        free_at = now
        if error == "timeout":
            free_at = max(now, last.at + (outlet.target.timeout_ms or world.assume.webhook_timeout))
        if free_at > now:
            world.timeline.at(free_at, -1, self._free, outlet)
        else:
            self._free(outlet)
        if status is not None and error is None and 200 <= status < 300:
            delivery.state = "delivered"
            delivery.body = None
            return
        if delivery.state == "held":
            return
        retries = world.assume.webhook_retry
        if len(delivery.tries) > len(retries):
            delivery.state = "failed"
            delivery.body = None
            return
        delivery.state = "waiting"
        again = max(now, free_at, last.at + retries[len(delivery.tries) - 1])
        world.timeline.at(again, -1, self._again, delivery)

    def _free(self, outlet: Outlet) -> None:
        outlet.busy = False
        if outlet.queue and outlet not in self.waiting:
            self.waiting.append(outlet)

    def _again(self, delivery: Delivery) -> None:
        if delivery.state == "waiting" and delivery not in delivery.outlet.queue:
            self._enqueue(delivery)

    # -- by hand

    def id_of(self, delivery: Delivery) -> str:
        """The id of a delivery: its `X-Request-Id`, the same on every try (A21). Made when first asked."""
        if not delivery.id:
            first = delivery.events[0]
            if isinstance(first, Inbound):
                key = f"inbound {first.number}"
            else:
                attempt, code = first
                key = f"{attempt.message.id} {attempt.number} {code} {delivery.made_at}"
            delivery.id = self._world.delivery_name(key.encode())
        return delivery.id

    def find(self, delivery_id: str) -> Delivery | None:
        """A delivery by its id."""
        return next((d for d in self.deliveries if self.id_of(d) == delivery_id), None)

    def hold(self, delivery: Delivery) -> bool:
        """Stops further tries until released; False when it has ended."""
        if delivery.state not in ("waiting", "sending"):
            return False
        if delivery in delivery.outlet.queue:
            delivery.outlet.queue.remove(delivery)
            if not delivery.outlet.queue and delivery.outlet in self.waiting:
                self.waiting.remove(delivery.outlet)
        delivery.state = "held"
        return True

    def release(self, delivery: Delivery) -> bool:
        """Tries a held batch again, at this instant; False when it is not held."""
        if delivery.state != "held":
            return False
        self._enqueue(delivery)
        return True

    def replay(self, delivery: Delivery) -> bool:
        """Sends an ended batch once more, with the same events and id; False while it has not ended."""
        if delivery.state not in ("delivered", "failed"):
            return False
        self._enqueue(delivery)
        return True

    def land(self) -> None:
        """After a restore: whatever was under way is not any more, and waits to be tried at this instant."""
        self.in_flight = 0
        for delivery in self.deliveries:
            if delivery.state == "sending":
                delivery.tries.pop()
                delivery.outlet.busy = False
                self._enqueue(delivery)
