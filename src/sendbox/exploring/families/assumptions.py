"""`assumptions`: a setting of an assumption on which the run rests has another value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.exploring.misfortune import Kind, Spot, Value
from sendbox.services.assume import SETTINGS

if TYPE_CHECKING:
    from sendbox.control.replicas.leaning import Alternative
    from sendbox.exploring.census import Census


def _other_value(kind: Kind, world: Census) -> Iterator[Spot]:
    """The kind has the name of the setting."""
    values = [_value(other) for other in world.others if other.setting == kind.name]
    if values:
        place = f"the setting {kind.name} ({kind.cites[0]})"
        yield Spot(kind, world.ordinal, place, f"{world.ordinal} {place}", kind.name, tuple(values))


def _value(other: Alternative) -> Value:
    text = other.value if isinstance(other.value, str) else orjson.dumps(other.value).decode()
    return Value(f"is {text}", {"assume": {other.setting: other.value}})


KINDS: Final = tuple(
    Kind(
        "assumptions",
        name,
        (row.assumption,),
        "The specification leaves this open, so a client may rely on no value of the setting.",
        _other_value,
    )
    for name, row in SETTINGS.items()
)
