"""`late`: webhooks come beyond the advance of their event, at most 450 seconds after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from sendbox.exploring.families.delivery import rule, spot
from sendbox.exploring.misfortune import Kind, Spot, Value, later

if TYPE_CHECKING:
    from sendbox.exploring.census import Census

#: So late the last retry would be (A20, A93), in milliseconds.
LATEST: Final = 450_000


def _late(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        room = event.until - event.at
        times = [time for time in (LATEST, room + 1_000) if room < time <= LATEST]
        values = [Value(f"comes {later(time)} late", rule(event, {"delay": later(time)})) for time in times]
        if values:
            yield spot(kind, world, event, values)


def _repeated(kind: Kind, world: Census) -> Iterator[Spot]:
    for event in world.received:
        if event.until - event.at < LATEST:
            fault = {"duplicate": {"after": later(LATEST)}}
            yield spot(kind, world, event, [Value(f"comes again {later(LATEST)} later", rule(event, fault))])


KINDS: Final = (
    Kind(
        "late",
        "late",
        ("A93", "A20"),
        "A webhook comes at most 450 seconds after its event, unless the receiver failed before.",
        _late,
    ),
    Kind(
        "late",
        "repeated late",
        ("A91", "A93"),
        "A delivery that comes again has the same `X-Request-Id` and the same bytes.",
        _repeated,
    ),
)
