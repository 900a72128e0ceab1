"""`bundle`: events are gathered, and leave in one batch."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import Timed
from sendbox.engine.forms import window


class Bundle(Timed, frozen=True):
    """`after` is how long they are gathered."""

    kind: ClassVar = "bundle"
    bare: ClassVar = False
    gathers: ClassVar = True
    value: ClassVar = window("Events within this time are sent at its end in one batch.")
    examples: ClassVar = {"{bundle: 5s}": "events within this time are sent at its end in one batch"}
