"""`duplicate`: the batch is sent again, delivered or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sendbox.engine.delivery.faults.fault import FaultyDelivery, Way, WebhookFault, shown
from sendbox.engine.faults.fault import AT_ONCE
from sendbox.engine.forms import mapping, span, whole, word

if TYPE_CHECKING:
    from sendbox.engine.durations import Span


class Duplicate(WebhookFault, frozen=True):
    """`times` copies, `after` lies between one and the next; each has an `id` of its own where that is `new`."""

    after: Span = AT_ONCE
    times: int = 1
    id: str = "same"

    kind: ClassVar = "duplicate"
    value: ClassVar = mapping(
        "duplicate",
        "The batch is sent again, delivered or not.",
        {
            "id": word(
                "Whether the copy has the same X-Request-Id or one of its own.",
                ("same", "new"),
                "a word for the id",
            ),
            "times": whole("How many copies; 1 unless given.", 1, 1000, "a number of copies from 1 to 1000"),
            "after": span("How long after the one before; at once unless given."),
        },
        "a mapping such as {id: new, times: 2, after: 5s}",
        minProperties=1,
    )
    examples: ClassVar = {
        "duplicate": "the batch is sent again, delivered or not, with the same `X-Request-Id`",
        "{duplicate: {id: new, times: 2, after: 5s}}": "two copies, five seconds apart, each with a new id",
    }

    @property
    def detail(self) -> str:
        return f"{self.times}, {'another' if self.id == 'new' else 'the same'} id, after {shown(self.after)}"

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        way.world.outlets.queue(faulty)
        for number in range(1, self.times + 1):
            way.then(number * after, faulty, number)

    def due(self, way: Way, faulty: FaultyDelivery, detail: object) -> None:
        copy = way.another(faulty, faulty.events)
        if self.id == "new":
            copy.mark = f"copy {detail}"
        else:
            copy.of = faulty
        way.world.outlets.queue(copy)

    def upcoming(self, _faulty: FaultyDelivery) -> str:
        return "is sent again,"
