"""Several faults of one event, such as late and out of order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import force_setattr

from sendbox.engine.delivery.batches import Events, Target
from sendbox.engine.delivery.faults.fault import FaultyDelivery, Spoilt, Way, WebhookFault
from sendbox.engine.delivery.faults.ways import Delay, waits
from sendbox.engine.durations import Span

#: What a step of the delay has as its detail.
_DELAYED: Final = "delayed"
#: What holds of all where it holds of one.
_ONE_IS_ENOUGH: Final = ("split", "racing", "follows", "gathers", "lenient")


class Several(WebhookFault, frozen=True):
    """Faults that meet an event together: at most one says how it leaves, a delay comes before that, and others spoil
    its requests. It is called by the first of them.
    """

    faults: tuple[WebhookFault, ...] = ()
    _delay: Delay | None = None
    _main: WebhookFault | None = None
    kind: str = ""  # type: ignore[misc] # of the first of them; other faults have it from their class
    places: int = 0  # type: ignore[misc] # as are these
    split: bool = False  # type: ignore[misc]
    racing: bool = False  # type: ignore[misc]
    follows: bool = False  # type: ignore[misc]
    gathers: bool = False  # type: ignore[misc]
    lenient: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        faults = self.faults
        values = {
            "_delay": next((fault for fault in faults if isinstance(fault, Delay)), None),
            "_main": next((fault for fault in faults if leaves(fault)), None),
            "kind": faults[0].kind,
            "places": max(fault.places for fault in faults),
            **{name: any(getattr(fault, name) for fault in faults) for name in _ONE_IS_ENOUGH},
        }
        for name, value in values.items():
            force_setattr(self, name, value)

    @property
    def after(self) -> Span:
        timed = self._main if self._delay is None or self.gathers else self._delay
        return super().after if timed is None else timed.after

    @property
    def text(self) -> str:
        return " and ".join(fault.text for fault in self.faults)

    @property
    def spoilt(self) -> Spoilt:
        parts = [fault.spoilt for fault in self.faults]
        types = [part.content_type for part in parts if part.content_type is not None]
        ways = "".join(part.way for part in parts)
        return Spoilt(types[0] if types else None, any(part.bad_signature for part in parts), ways)

    def note(self, target: Target) -> str | None:
        return "; ".join(note for fault in self.faults if (note := fault.note(target)) is not None) or None

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        if self._delay is not None:
            way.later(after, faulty, _DELAYED)
        else:
            self._leave(way, faulty, after)

    def release(self, way: Way, faulty: FaultyDelivery) -> None:
        if self._delay is not None:
            way.later(self._delay.after.low, faulty, _DELAYED)
        else:
            super().release(way, faulty)

    def _leave(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        if self._main is None or self.gathers:
            super().send(way, faulty, after)
        else:
            self._main.send(way, faulty, after)

    def due(self, way: Way, faulty: FaultyDelivery, detail: object) -> None:
        if detail != _DELAYED:
            assert self._main is not None
            self._main.due(way, faulty, detail)
        elif waits(faulty):
            self._leave(way, faulty, 0 if self._main is None else self._main.after.low)

    def upcoming(self, faulty: FaultyDelivery) -> str | None:
        if self._delay is not None and waits(faulty):
            return f"is sent, {self.text}"
        return None if self._main is None else self._main.upcoming(faulty)

    def leaving(self, gathered: Sequence[tuple[int, object]], rows: Events) -> list[object]:
        assert self._main is not None
        return self._main.leaving(gathered, rows)

    def size(self, limit: int) -> int:
        return limit if self._main is None else self._main.size(limit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Several) and self.faults == other.faults

    def __hash__(self) -> int:
        return hash(self.faults)


def leaves(fault: WebhookFault) -> bool:
    """True if a fault decides how an event leaves: two such faults contradict each other."""
    return not isinstance(fault, Delay) and (fault.gathers or type(fault).send is not WebhookFault.send)


def misfit(faults: Sequence[WebhookFault]) -> str | None:
    """The reason why faults cannot be combined for one event; None if they can."""
    kinds = [fault.kind for fault in faults]
    for kind in kinds:
        if kinds.count(kind) > 1:
            return f'"{kind}" stands twice'
    for fault in faults:
        if fault.ending is not None:
            return f'"{fault.kind}" is about the tries of a batch, which have a rule of their own'
    ways = [fault for fault in faults if leaves(fault)]
    if len(ways) > 1:
        return f'"{ways[0].kind}" and "{ways[1].kind}" both say how an event leaves'
    if ways and "delay" in kinds:
        way = ways[0]
        if way.racing or way.kind == "drop":
            return f'"{way.kind}" is not late'
        drawn = [fault for fault in faults if fault.after.low != fault.after.high]
        if len(drawn) > 1 or any(fault is way or way.gathers for fault in drawn):
            return f'the times of "delay" and "{way.kind}" cannot both be drawn; give a fixed one'
    return None
