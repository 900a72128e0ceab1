"""`disconnect`: the connection ends, before the answer or in the middle of it."""

from __future__ import annotations

from typing import ClassVar, Self

from sendbox.engine.answer import JsonObject
from sendbox.engine.faults.fault import Act, ApiFault, End, Piece
from sendbox.engine.forms import word


class Disconnect(ApiFault, frozen=True):
    """`middle`: the answer has begun, and the call has its effect."""

    middle: bool = False

    kind: ClassVar = "disconnect"
    value: ClassVar = word(
        "The connection ends: before the answer, or in the middle of it.",
        ("before", "middle"),
        "a point at which the connection ends",
    )
    examples: ClassVar = {
        "disconnect": "the connection ends without an answer; the same as `{disconnect: before}`",
        "{disconnect: middle}": "the head and half of the body, then the connection ends",
    }

    @classmethod
    def of(cls, detail: object) -> Self:
        return cls(detail == "middle")

    @property
    def has_effect(self) -> bool:
        return self.middle

    def acts(self, size: int, _time: int) -> tuple[Act, ...]:
        # an answer without a body has no middle
        return (Piece(0, size // 2), End(b"")) if self.middle and size else (End(b""),)

    def shown(self, _time: int) -> JsonObject:
        return {self.kind: "middle" if self.middle else "before"}
