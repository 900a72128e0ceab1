"""`delay`: the answer comes later."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.faults.fault import Act, Piece, Timed, Wait
from sendbox.engine.forms import span


class Delay(Timed, frozen=True):
    """`time` is how much later."""

    kind: ClassVar = "delay"
    bare: ClassVar = False
    value: ClassVar = span("The answer is delayed by this real time.")
    examples: ClassVar = {"{delay: 2s}": "the answer, later"}

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        return Wait(time), Piece(0, size)
