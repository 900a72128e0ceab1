"""Events: what a delivery carries. A service has one row for each type of event that it makes.

An event is any value; its row, found by its type, says all that a delivery has to know about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sendbox.engine.cases import Case


class EventKind(NamedTuple):
    """The properties of the events of one type (§6).

    `case` is an event as rules see it; `older` is the previous event of the same thing, None if there is none; `thread`
    is the thing whose events have an order; `key` is a name that no other event has that leaves at this instant; `body`
    is the content that is sent, as it was at an instant. `single`: the event travels alone, as an object and not in an
    array (A24). `bodies` makes the contents of several events of this type, if that is less work than one by one.
    """

    case: Callable[[Any], Case]
    older: Callable[[Any], Any]
    thread: Callable[[Any], Any]
    key: Callable[[Any, Any, int], str]
    body: Callable[[Any, Any, int], dict[str, Any]]
    single: bool = False
    bodies: Callable[[Any, Sequence[Any], int], list[dict[str, Any]]] | None = None


#: The rows of all services, by the type of event.
Events = Mapping[type, EventKind]
