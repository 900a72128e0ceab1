"""Bodies of deliveries: what goes out, made of the events that a batch carries (§6)."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.delivery.home import Home


def body_of(world: Home, delivery: Delivery) -> bytes:
    """The JSON array of a delivery, or its one object (A24); the same bytes on every try while it lives (A22)."""
    if delivery.body is not None:
        return delivery.body
    rows = world.events
    events = delivery.events
    bodies: list[dict[str, Any]] = []
    for kind, alike in groupby(events, type):
        row = rows[kind]
        if row.bodies is not None:
            bodies += row.bodies(world, list(alike), delivery.made_at)
        else:
            bodies += [row.body(world, event, delivery.made_at) for event in alike]
    body = orjson.dumps(bodies[0] if rows[type(events[0])].single else bodies)
    if delivery.state == "sending":
        delivery.body = body
    return body


def listed(batch: Any) -> list[dict[str, Any]]:
    """The events of a batch as a list, also of one that is a single object (A24)."""
    return batch if isinstance(batch, list) else [batch]
