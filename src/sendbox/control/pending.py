"""The operation that says what is still to come: steps, webhooks on their way, and what services add."""

from __future__ import annotations

from typing import Any

from sendbox.control.arguments import whole
from sendbox.control.operation import Call, operation
from sendbox.control.reading import chosen, each
from sendbox.engine.durations import iso
from sendbox.engine.kinds.own import delivery_view
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.kinds.upcoming import next_steps

#: How many of each are shown unless `limit` says otherwise.
SHOWN = 20
OPEN = ("waiting", "sending", "held")


@operation("GET", "/worlds/{id}/pending")
async def pending(call: Call, limit: Any = SHOWN) -> Any:
    """What is still to come: the next steps with their instants, webhooks not delivered yet, open codes, and
    entries of lists that are not in force."""
    most = whole(limit, "limit", 1)
    world = call.here.world
    on = Observer(world, call.served.kinds)
    waiting = await chosen(world.outlets.deliveries[:], lambda delivery: delivery.state in OPEN, most)
    return {
        "now": iso(world.now),
        "steps": next_steps(world, call.served.kinds.steps, most),
        "scheduled": world.timeline.scheduled,
        "deliveries": await each(waiting, lambda delivery: delivery_view(on, delivery)),
        **{name: await items(world, most) for name, items in call.served.pending.items()},
    }
