"""`stale`: the event before arrives once more."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Timed, Way
from sendbox.engine.forms import span


class Stale(Timed, frozen=True):
    """`after` is how much later than the newer one."""

    kind: ClassVar = "stale"
    follows: ClassVar = True
    lenient: ClassVar = True
    value: ClassVar = span(
        "The event before, of the same message, arrives again, that much later than this one; "
        "directly after it unless given.",
    )
    examples: ClassVar = {
        "stale": "the event before, of the same message, arrives once more, directly after this one",
        "{stale: 10s}": "the same, ten seconds after this one",
    }

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        way.world.outlets.queue(faulty)
        for event in faulty.events:
            way.then(after, faulty, (event, way.world.events[type(event)].older(event)))

    def due(self, way: Way, faulty: FaultyDelivery, detail: object) -> None:
        assert isinstance(detail, tuple)
        newer, older = detail
        stale = way.another(faulty, [older])
        stale.mark = f"stale {way.world.outlets.key_of(newer, faulty.made_at)}"
        way.world.outlets.queue(stale)

    def upcoming(self, _faulty: FaultyDelivery) -> str:
        return "delivers an older event,"
