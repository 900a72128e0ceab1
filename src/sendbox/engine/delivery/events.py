"""Events: what a delivery carries. A service has one row for each type of event that it makes.

An event is any value; its row, found by its type, says all that a delivery has to know about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from sendbox.engine.cases import Case

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.world import World


class EventKind(NamedTuple):
    """What there is to know about the events of one type (§6).

    `case` is an event as rules see it; `older` the one before it of the same thing, None where there is none; `thread`
    the thing whose events have an order; `key` names it among the events of its world that leave at an instant; `body`
    is what goes out, as it stood at an instant. `single`: it travels alone, as an object and not in an array (A24).
    """

    case: Callable[[Any], Case]
    older: Callable[[Any], Any]
    thread: Callable[[Any], Any]
    key: Callable[[Any, Any, int], str]
    body: Callable[[Any, Any, int], dict[str, Any]]
    single: bool = False


#: The rows of all services, by the type of event.
Events = Mapping[type, EventKind]


def body_of(world: World, delivery: Delivery) -> bytes:
    """The JSON array of a delivery, or its one object (A24); the same bytes on every try while it lives (A22)."""
    if delivery.body is not None:
        return delivery.body
    rows = world.events
    events = delivery.events
    told = [rows[type(event)].body(world, event, delivery.made_at) for event in events]
    body = orjson.dumps(told[0] if rows[type(events[0])].single else told)
    if delivery.state == "sending":
        delivery.body = body
    return body


def listed(batch: Any) -> list[dict[str, Any]]:
    """The events of a batch as a list, also of one that is a single object (A24)."""
    return batch if isinstance(batch, list) else [batch]
