"""The future of a world: the next steps of its timeline, in words.

Steps that will have no effect, a ttl whose condition is met or a path that was dropped, are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import Delivery, Outlet
from sendbox.engine.delivery.faults.fault import FaultyDelivery
from sendbox.engine.delivery.injection import Window
from sendbox.engine.durations import iso
from sendbox.engine.timeline import Run
from sendbox.engine.world import World

#: What a step is about, in words; None for one that will do nothing any more.
About = JsonObject | None
#: So many steps are looked at for each that is asked for.
LOOKED_AT: Final = 20


def next_steps(world: World, words: Mapping[str, Callable[[Any], About]], limit: int) -> list[JsonObject]:
    """The next steps, at most so many, soonest first: `at`, `what`, and the phone they are about, if any.

    `words` say what the subject of a step means, by the name of its handler; others are called by that name.
    """
    steps: list[JsonObject] = []
    for looked, (instant, handler, subject) in enumerate(_soonest(world)):
        if len(steps) == limit or looked >= limit * LOOKED_AT:
            break
        describe = words.get(handler.__name__)
        about = {"what": handler.__name__.strip("_").removesuffix("_due")} if describe is None else describe(subject)
        if about is not None:
            steps.append({"at": iso(instant), **about})
    return steps


def _soonest(world: World) -> Iterator[tuple[int, Callable[..., object], object]]:
    """The steps in order, by a walk down the heap: it takes as long as steps are asked for, however many there are."""
    steps = world.timeline.steps
    front = [(steps[0][:3], 0, 0)] if steps else []
    while front:
        (instant, rank, seq), index, passed = heappop(front)
        handler, subject = steps[index][3:]
        if isinstance(subject, Run):
            if subject.first + passed + 1 < len(subject.whats):
                heappush(front, ((instant, rank + 1, seq + 1), index, passed + 1))
            subject = subject.whats[subject.first + passed]
        yield instant, handler, subject
        for child in (2 * index + 1, 2 * index + 2):
            if not passed and child < len(steps):
                heappush(front, (steps[child][:3], child, 0))


def _faulty(step: tuple[FaultyDelivery, object]) -> About:
    faulty, rule = step[0], step[0].rule
    does = rule.fault.upcoming(faulty)
    return None if does is None else {"what": f'{_webhook(faulty)} {does} by the rule "{rule.title}"'}


def _window(window: Window) -> About:
    count, rule = len(window.gathered), window.rule
    return {"what": f'{count} events that were gathered are sent, {rule.fault.text} by the rule "{rule.title}"'}


def _webhook(delivery: Delivery) -> str:
    return f"webhook to {delivery.outlet.target.url or 'hook'}"


def _retry(retry: tuple[Delivery, int]) -> About:
    delivery, tries = retry
    if delivery.state != "waiting" or len(delivery.tries) != tries:
        return None
    return {"what": f"{_webhook(delivery)}, try {tries + 1}"}


def _free(outlet: Outlet) -> About:
    return {"what": f"{outlet.target.url or 'hook'} takes webhooks again"}


#: The steps of the engine itself, by the names of their handlers.
STEP_DESCRIPTIONS: Final[Mapping[str, Callable[[Any], About]]] = {
    "retry_due": _retry,
    "free_due": _free,
    "webhook_due": _faulty,
    "window_due": _window,
    "call_due": lambda _instant: {"what": "the time in Retry-After is over"},
    "entry_due": lambda entry: {
        "what": f"{'put by the test' if entry.place is None else 'timeline of the scenario'}: {entry.kind}"
    },
}
