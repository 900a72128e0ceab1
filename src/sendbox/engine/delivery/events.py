"""Events: what a delivery carries. A service has one row for each type of event that it makes.

An event is any value; its row, found by its type, says all that a delivery has to know about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sendbox.engine.cases import Case


class EventKind(NamedTuple):
    """What there is to know about the events of one type (§6).

    `case` is an event as rules see it; `older` the one before it of the same thing, None where there is none; `thread`
    the thing whose events have an order; `key` names it among the events of its world that leave at an instant; `body`
    is what goes out, as it stood at an instant. `single`: it travels alone, as an object and not in an array (A24).
    `bodies` is what goes out for several events of this type, where that is less work than one after another.
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
