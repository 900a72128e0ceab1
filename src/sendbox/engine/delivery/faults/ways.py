"""Faults of deliveries that change the way of an event: its time, its batch, its order, the number of its copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from sendbox.engine.delivery.batches import Events, Target
from sendbox.engine.delivery.faults.fault import FaultyDelivery, Timed, Way, WebhookFault, span_text
from sendbox.engine.durations import Span
from sendbox.engine.faults.fault import AT_ONCE
from sendbox.engine.forms import mapping, span, whole, window, word


class Drop(WebhookFault, frozen=True):
    """With all its tries."""

    kind: ClassVar = "drop"
    examples: ClassVar = {"drop": "the batch is never delivered; no try is made"}

    def send(self, _way: Way, faulty: FaultyDelivery, _after: int) -> None:
        faulty.state = "dropped"


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
        return f"{self.times}, {'another' if self.id == 'new' else 'the same'} id, after {span_text(self.after)}"

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


class Delay(Timed, frozen=True):
    """Meanwhile it waits."""

    kind: ClassVar = "delay"
    bare: ClassVar = False
    value: ClassVar = span("The batch is sent that much later.")
    examples: ClassVar = {
        "{delay: 5s}": "the batch is sent that much later",
        "{delay: 1s..5s}": "the same, with a time drawn for each event",
    }

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        way.later(after, faulty)

    def due(self, way: Way, faulty: FaultyDelivery, _detail: object) -> None:
        if waits(faulty):
            way.world.outlets.queue(faulty)

    def upcoming(self, faulty: FaultyDelivery) -> str | None:
        return f"is sent, {self.text}" if waits(faulty) else None


def waits(faulty: FaultyDelivery) -> bool:
    """True if the batch still waits: it was not held, queued or tried in the meantime."""
    return faulty.state == "waiting" and not faulty.queued and not faulty.tries


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


class Split(WebhookFault, frozen=True):
    """Nothing else happens to it."""

    kind: ClassVar = "split"
    split: ClassVar = True
    examples: ClassVar = {"split": "each event is sent in a batch of its own"}


class Bundle(Timed, frozen=True):
    """`after` is how long they are gathered."""

    kind: ClassVar = "bundle"
    bare: ClassVar = False
    gathers: ClassVar = True
    value: ClassVar = window("Events within this time are sent at its end in one batch.")
    examples: ClassVar = {"{bundle: 5s}": "events within this time are sent at its end in one batch"}


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


_NO_ROOM: Final = "a batch has one event here (batch_size), so no event before can come with it"


class Repeat(WebhookFault, frozen=True):
    """The batch has an id of its own, and as many events more as it has room for."""

    kind: ClassVar = "repeat"
    follows: ClassVar = True
    lenient: ClassVar = True
    examples: ClassVar = {
        "repeat": "the event before, of the same message, arrives once more, in one batch with this one"
    }

    def note(self, target: Target) -> str | None:
        return _NO_ROOM if target.batch_size == 1 else None

    def send(self, way: Way, faulty: FaultyDelivery, _after: int) -> None:
        events = faulty.events
        older = (way.world.events[type(event)].older(event) for event in events)
        repeated = [event for event in dict.fromkeys(older) if event not in events]
        faulty.repeat(repeated[: faulty.outlet.target.batch_size - len(events)])
        way.world.outlets.queue(faulty)


class Overtake(WebhookFault, frozen=True):
    """Only what happens at the instant of the request can do that."""

    kind: ClassVar = "overtake"
    racing: ClassVar = True
    lenient: ClassVar = True
    examples: ClassVar = {
        "overtake": "the event is sent, and answered by its receiver, before the answer to its own request goes out"
    }

    def send(self, way: Way, faulty: FaultyDelivery, _after: int) -> None:
        if faulty.outlet.builtin and not way.world.outlets.captured:
            way.world.outlets.queue(faulty)  # it answers at once
            return
        faulty.ahead = True
        way.ahead.append(faulty)
