"""What the tests of faults of deliveries share: rules, and what was told to whom and when."""

from __future__ import annotations

from typing import Any

from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Span
from sendbox.engine.faults.table import DELIVERIES
from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from tests.core.worlds import (
    EVENTS,
    HOOK,
    HOUR,
    advance,
    journaled,
    make_world,
    send,
)

SECOND = 1_000


def fault(kind: str, key: str | None = None, times: int | None = None, **given: Any) -> WebhookRule:
    """A rule; `after` in milliseconds, a pair for a span; whatever is not a field of the fault is a condition.

    `copies` are the `times` of a duplicate.
    """
    row = DELIVERIES[kind]
    values = {name: given.pop(name) for name in row.__struct_fields__ if name in given}
    if "copies" in given:
        values["times"] = given.pop("copies")
    if "after" in values:
        after = values["after"]
        values["after"] = Span(*after) if isinstance(after, tuple) else Span(after, after)
    return WebhookRule(key=key or kind, when=When(**given), fault=row(**values), times=times)


def met(world: World) -> list[tuple[int, list[Any]]]:
    """(seconds, results or kinds) of each time that a rule was applied."""
    return [(at // SECOND, told(applied.events)) for at, applied in journaled(world, "webhook_fault")]


def told(events: list[Any]) -> list[Any]:
    """What events tell, in short."""
    return [
        " ".join(case.words("result")) or case.kind for case in (EVENTS[type(event)].case(event) for event in events)
    ]


def sent(world: World) -> list[tuple[int, list[Any]]]:
    """(seconds, what the batch tells) of each try, in the order in which they were made."""
    return [(at // SECOND, told(what[0].events)) for at, what in journaled(world, "try")]


def run(*rules: WebhookRule, callback: str = HOOK, **blueprint: Any) -> World:
    """A world in which one message went the usual way: sending at 0, sent at 1, delivered at 3 seconds."""
    world = make_world(webhooks=rules, **blueprint)
    send(world, callback=callback)
    advance(world, HOUR)
    return world
