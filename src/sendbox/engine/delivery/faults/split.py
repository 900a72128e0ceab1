"""`split`: each event travels in a batch of its own."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import WebhookFault


class Split(WebhookFault, frozen=True):
    """Nothing else happens to it."""

    kind: ClassVar = "split"
    split: ClassVar = True
    examples: ClassVar = {"split": "each event is sent in a batch of its own"}
