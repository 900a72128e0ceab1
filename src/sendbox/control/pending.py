"""The operation that says what is still to come: steps, webhooks on their way, and what services add."""

from __future__ import annotations

from typing import Annotated, Any

from sendbox.control.arguments import Count
from sendbox.control.operation import Call, operation
from sendbox.control.reading import map_in_slices, select
from sendbox.engine.answer import Answer, Instant, JsonObject, keywords, moment, reference
from sendbox.engine.kinds.answers import Webhook
from sendbox.engine.kinds.engine_kinds import delivery_view
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.kinds.upcoming import next_steps

#: The number of items of each kind that are shown unless `limit` says otherwise.
DEFAULT_LIMIT = 20
OPEN_STATES = ("waiting", "sending", "held")


class Step(Answer):
    """A step that is still to come; services add what it is about."""

    EXTRA_FIELDS_TYPE = Any

    at: Instant
    what: str


class Pending(Answer):
    """The things that are still to come: so many steps are `scheduled`; each service adds a list of its own."""

    EXTRA_FIELDS_TYPE = list[Annotated[Any, keywords(description="Something to come, as its service shows it.")]]

    now: Instant
    steps: list[Annotated[JsonObject, reference("Step", Step)]]
    scheduled: int
    deliveries: list[Webhook]


@operation("GET", "/worlds/{id}/pending", answers=Pending)
async def pending(call: Call, limit: Count = DEFAULT_LIMIT) -> JsonObject:
    """The things that are still to come: the next steps with their instants, webhooks that are not delivered yet, open
    codes, and entries of lists that are not in force."""
    world = call.hosted.world
    on = Observer(world, call.served.kinds)
    waiting = await select(world.outlets.deliveries[:], lambda delivery: delivery.state in OPEN_STATES, limit)
    result = Pending(
        now=moment(world.now),
        steps=next_steps(world, call.served.kinds.steps, limit),
        scheduled=world.timeline.scheduled,
        deliveries=await map_in_slices(waiting, lambda delivery: delivery_view(on, delivery)),
    )
    return result.extended({name: await items(world, limit) for name, items in call.served.pending.items()})
