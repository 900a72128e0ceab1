"""`delay`: the batch is sent later."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Timed, Way
from sendbox.engine.forms import span


class Delay(Timed, frozen=True):
    """Meanwhile it waits."""

    kind: ClassVar = "delay"
    bare: ClassVar = False
    value: ClassVar = span("The batch is sent that much later.")
    examples: ClassVar = {
        "{delay: 5s}": "the batch is sent that much later",
        "{delay: 1s..5s}": "the same, with a time drawn for each event",
    }

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        way.later(after, faulty)

    def due(self, way: Way, faulty: FaultyDelivery, _detail: object) -> None:
        if waits(faulty):
            way.world.outlets.queue(faulty)

    def upcoming(self, faulty: FaultyDelivery) -> str | None:
        return f"is sent, {self.text}" if waits(faulty) else None


def waits(faulty: FaultyDelivery) -> bool:
    """True if the batch still waits: it was not held, queued or tried in the meantime."""
    return faulty.state == "waiting" and not faulty.queued and not faulty.tries
