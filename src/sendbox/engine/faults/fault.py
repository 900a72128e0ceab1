"""The base of every fault of calls and of deliveries, and that of faults of calls.

The class is the row of its table; an instance is the fault as a rule has it, with the values that the rule gives. A
fault of calls decides about a call that it struck, in words that every server understands: it replaces
the answer (`replacement`), or does something to the connection (`acts`). Both are pure: the code that carries them out
knows no fault by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Self

import msgspec
from msgspec import Struct

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Rate, Span, show
from sendbox.engine.forms import Value

#: No time at all.
AT_ONCE: Final = Span(0, 0)


class Fault(msgspec.Struct, frozen=True):
    """A fault. Every field of a subclass has a default, so that the fault can be made without any.

    `kind` is its word in scenarios and views. `value` is what may stand behind the word, None = nothing: it is the
    first field, or a mapping with the fields as keys. `bare`: the word by itself is a fault too, with fields `usual`.
    `examples` are forms in which a scenario may write it, each with what it does; the first one is what coverage
    proposes. `lenient`: it may let pass what its rule fits.
    """

    kind: ClassVar[str]
    value: ClassVar[Value | None] = None
    bare: ClassVar[bool] = True
    usual: ClassVar[Mapping[str, object]] = {}
    examples: ClassVar[Mapping[str, str]]
    lenient: ClassVar[bool] = False

    @classmethod
    def of(cls, detail: object) -> Self:
        """The fault from what was read behind its word, or from fields."""
        factory: Callable[..., Self] = cls
        return factory(**detail) if isinstance(detail, dict) else factory(detail)


#: What stands for the body of an answer that was not made, because the call had no effect.
NO_ANSWER: Final = b'{"request_id":"00000000-0000-4000-8000-000000000000","accepted":[]}'


class Error(Struct, frozen=True):
    """An error in the shape of the interface that was called; `text` None = the usual words of its status."""

    status: int
    text: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Body(Struct, frozen=True):
    """Another body with status 200, all else as it would have been."""

    data: bytes


class Whole(Struct, frozen=True):
    """Another answer, all of it."""

    status: int
    data: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...]


class Wait(Struct, frozen=True):
    """Waits in real time, None = without end; nothing comes after it when the client leaves meanwhile."""

    milliseconds: int | None


class Piece(Struct, frozen=True):
    """Sends a piece of the answer's body; status and headers go before the first one."""

    begin: int
    end: int


class Advance(Struct, frozen=True):
    """Moves the clock of the world, so that webhooks leave before what comes next; `waits` for their receivers."""

    milliseconds: int
    waits: bool


class End(Struct, frozen=True):
    """Ends the connection, after bytes that are not of the answer; `reset`: at once, and the client is told so."""

    data: bytes = b""
    reset: bool = False


Act = Wait | Piece | Advance | End


class ApiFault(Fault, frozen=True):
    """A fault that happens to a call.

    `has_effect`: True if the call has its effect, unless its rule says otherwise. `time` is the span of the drawn time,
    in milliseconds, real ones unless it moves the clock of the world. `rate` and `per`: only calls beyond a rate are
    struck, counted for each `key`, `phone` or `world`.
    """

    effective: ClassVar[bool] = True

    @property
    def has_effect(self) -> bool:
        return self.effective

    @property
    def time(self) -> Span:
        return AT_ONCE

    @property
    def rate(self) -> Rate | None:
        return None

    @property
    def per(self) -> str:
        return "key"

    @property
    def doubled(self) -> str:
        """The answer that the client gets where the call is carried out twice: `first` or `last`; "" if it is not."""
        return ""

    def replacement(self, body: bytes, wait: int) -> Error | Body | Whole | None:
        """The answer that replaces the real one; None = the real answer.

        `body` is that of the answer; `wait` the milliseconds until a rate lets calls in again.
        """
        return None

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        """The acts on the connection for an answer of `size` bytes; `time` is the drawn time."""
        return (Piece(0, size),)

    def as_written(self, time: int) -> str | JsonObject:
        """The fault as a scenario would write it, with the time that was drawn."""
        return self.kind

    # -- what follows from its acts

    @property
    def silent(self) -> bool:
        """True if the client gets no status at all."""
        return not any(isinstance(act, Piece) for act in self.acts(1, 0))

    @property
    def broken(self) -> bool:
        """True if the client does not get a whole answer."""
        return Piece(0, 1) not in self.acts(1, 0)

    @property
    def moves(self) -> bool:
        """True if it moves the clock of the world."""
        return any(isinstance(act, Advance) for act in self.acts(1, 0))

    @property
    def late(self) -> bool:
        """True if the whole answer comes in the end: such an answer exists only if the call has its effect."""
        return not self.broken and (self.moves or any(isinstance(act, Wait) for act in self.acts(1, 0)))


class Timed(ApiFault, frozen=True):
    """A fault that takes a time."""

    time: Span = AT_ONCE

    def as_written(self, time: int) -> JsonObject:
        return {self.kind: show(time)}
