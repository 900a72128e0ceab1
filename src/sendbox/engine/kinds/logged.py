"""The lines of a server's log for entries of the engine, by kind: the rows that a server loads at its start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sendbox.engine.delivery.injection import InjectedFault
    from sendbox.engine.world import World


def _webhook_fault(world: World, applied: InjectedFault) -> Iterator[str]:
    """The number, what the event says, and the rule."""
    first = world.events[type(applied.events[0])].case(applied.events[0])
    others = f" and {len(applied.events) - 1} more" if len(applied.events) > 1 else ""
    note = "" if applied.note is None else f", {applied.note}"
    text = f"{first.subject or 'a signup'}: {' '.join(first.words('result')) or first.kind}{others}"
    yield f'{text}: {applied.rule.fault.text}, by the rule "{applied.rule.title}" of webhooks{note}'


LOGGED: Final[Mapping[str, Callable[[World, Any], Iterable[str]]]] = {"webhook_fault": _webhook_fault}
