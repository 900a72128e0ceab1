"""`before_answer` and `before_read`: the webhooks of a call come before its client has the answer."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.faults.fault import Act, Advance, Piece, Timed
from sendbox.engine.forms import span


class BeforeAnswer(Timed, frozen=True):
    """`time` is how far the clock of the world moves, after the call had its effect and before its answer."""

    kind: ClassVar = "before_answer"
    bare: ClassVar = False
    value: ClassVar = span(
        "The clock of the world moves by this time before the answer; the receivers of its webhooks are waited for."
    )
    examples: ClassVar = {
        "{before_answer: 1m}": "the answer, once the webhooks of the next minute have been sent and answered"
    }
    waits: ClassVar = True

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        return Advance(time, self.waits), Piece(0, size)


class BeforeRead(BeforeAnswer, frozen=True):
    """The same, but the answer goes out as soon as the first webhook has been sent."""

    kind: ClassVar = "before_read"
    value: ClassVar = span(
        "The clock of the world moves by this time before the client reads the answer; no receiver is waited for."
    )
    examples: ClassVar = {"{before_read: 1m}": "the answer, while the webhooks of the next minute are being sent"}
    waits: ClassVar = False
