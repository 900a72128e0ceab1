"""`drop`: the batch is never delivered."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Way, WebhookFault


class Drop(WebhookFault, frozen=True):
    """With all its tries."""

    kind: ClassVar = "drop"
    examples: ClassVar = {"drop": "the batch is never delivered; no try is made"}

    def send(self, _way: Way, faulty: FaultyDelivery, _after: int) -> None:
        faulty.state = "dropped"
