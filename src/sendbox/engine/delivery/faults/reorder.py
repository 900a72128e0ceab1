"""`reorder`: events are gathered, and leave one by one in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from sendbox.engine.delivery.faults.fault import Timed
from sendbox.engine.durations import Span
from sendbox.engine.forms import window

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Events


class Reorder(Timed, frozen=True):
    """`after` is how long they are gathered."""

    kind: ClassVar = "reorder"
    gathers: ClassVar = True
    places: ClassVar = 2**63
    #: the usual way of a message takes three seconds
    usual: ClassVar = {"after": Span(5_000, 5_000)}
    value: ClassVar = window(
        "Events within this time are sent at its end, one by one, in another order; 5s unless given."
    )
    examples: ClassVar = {
        "{reorder: 5s}": "events within this time are sent at its end, one by one, in another order",
        "reorder": "the same, within five seconds",
    }

    def leaving(self, gathered: Sequence[tuple[int, object]], rows: Events) -> list[object]:
        """By their places; never in the original order, where a message, or the window, has two."""
        threads: dict[int, list[int]] = {}
        for position, (_, event) in enumerate(gathered):
            threads.setdefault(id(rows[type(event)].thread(event)), []).append(position)
        places = [place for place, _ in gathered]
        for positions in threads.values():
            drawn = [places[position] for position in positions]
            if drawn == sorted(drawn):
                drawn = [*drawn[1:], drawn[0]]
            for position, place in zip(positions, drawn, strict=True):
                places[position] = place
        order = sorted(range(len(places)), key=places.__getitem__)
        if order == list(range(len(places))):
            order = [*order[1:], *order[:1]]
        return [gathered[position][1] for position in order]

    def size(self, _limit: int) -> int:
        return 1
