"""`overtake`: the event arrives before the answer to its own request."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Way, WebhookFault


class Overtake(WebhookFault, frozen=True):
    """Only what happens at the instant of the request can do that."""

    kind: ClassVar = "overtake"
    racing: ClassVar = True
    lenient: ClassVar = True
    examples: ClassVar = {
        "overtake": "the event is sent, and answered by its receiver, before the answer to its own request goes out"
    }

    def send(self, way: Way, faulty: FaultyDelivery, _after: int) -> None:
        if faulty.outlet.builtin and not way.world.outlets.captured:
            way.world.outlets.queue(faulty)  # it answers at once
            return
        faulty.ahead = True
        way.ahead.append(faulty)
