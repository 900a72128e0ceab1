"""`repeat`: the event before arrives once more, in one batch with the newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Way, WebhookFault

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Target

_NO_ROOM: Final = "a batch has one event here (batch_size), so no event before can come with it"


class Repeat(WebhookFault, frozen=True):
    """The batch has an id of its own, and as many events more as it has room for."""

    kind: ClassVar = "repeat"
    follows: ClassVar = True
    lenient: ClassVar = True
    examples: ClassVar = {
        "repeat": "the event before, of the same message, arrives once more, in one batch with this one"
    }

    def note(self, target: Target) -> str | None:
        return _NO_ROOM if target.batch_size == 1 else None

    def send(self, way: Way, faulty: FaultyDelivery, _after: int) -> None:
        events = faulty.events
        older = (way.world.events[type(event)].older(event) for event in events)
        repeated = [event for event in dict.fromkeys(older) if event not in events]
        faulty.repeat(repeated[: faulty.outlet.target.batch_size - len(events)])
        way.world.outlets.queue(faulty)
