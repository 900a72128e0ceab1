"""Faults of calls that act on the connection: they wait, end it, or move the clock of the world before the answer."""

from __future__ import annotations

from typing import ClassVar, Final, Self

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Span
from sendbox.engine.faults.fault import Act, Advance, ApiFault, End, Piece, Timed, Wait
from sendbox.engine.forms import span, word


class Delay(Timed, frozen=True):
    """`time` is how much later."""

    kind: ClassVar = "delay"
    bare: ClassVar = False
    value: ClassVar = span("The answer is delayed by this real time.")
    examples: ClassVar = {"{delay: 2s}": "the answer, later"}

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        return Wait(time), Piece(0, size)


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

    def as_written(self, _time: int) -> JsonObject:
        return {self.kind: "middle" if self.middle else "before"}


class Reset(ApiFault, frozen=True):
    """The client learns that the connection was reset; the call has no effect."""

    kind: ClassVar = "reset"
    examples: ClassVar = {"reset": "the connection is reset (`ECONNRESET`), without an answer"}
    effective: ClassVar = False

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(reset=True),)


#: What a client gets that speaks HTTP to something else.
GARBAGE: Final = b"\x00\x15\xff\xfe this is no HTTP \x80\x81\r\n\r\n"


class Garbage(ApiFault, frozen=True):
    """The call has its effect."""

    kind: ClassVar = "garbage"
    examples: ClassVar = {"garbage": "bytes that are not HTTP"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(GARBAGE),)


#: So many pieces an answer trickles in, where it has so many bytes.
PIECES: Final = 20


class Trickle(Timed, frozen=True):
    """`time` is how long the whole body takes."""

    kind: ClassVar = "trickle"
    value: ClassVar = span("The answer comes in small pieces during this real time.")
    usual: ClassVar = {"time": Span(2_000, 2_000)}
    examples: ClassVar = {
        "trickle": "the head at once, the body in up to twenty pieces over two seconds",
        "{trickle: 5s}": "the same during the given time",
    }

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        pieces = max(1, min(PIECES, size))
        acts: list[Act] = [Piece(0, 0)]
        for number in range(pieces):
            acts.append(Wait((number + 1) * time // pieces - number * time // pieces))
            acts.append(Piece(number * size // pieces, (number + 1) * size // pieces))
        return tuple(acts)


class Timeout(ApiFault, frozen=True):
    """The connection stays open."""

    kind: ClassVar = "timeout"
    effective: ClassVar = False
    examples: ClassVar = {"timeout": "no answer, ever"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (Wait(None),)


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
