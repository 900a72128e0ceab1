"""Compiles `plan:`, which sets the values of single draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.engine.draws import UNSEEDED
from sendbox.engine.plan import TIMES, Place, Plan, Planned, Value
from sendbox.scenario.values import Reader, items, whole

if TYPE_CHECKING:
    from sendbox.scenario.model import Node


def compile_plan(node: Node | None, reader: Reader) -> Plan:
    """The plan. From now on it also applies to the texts that the reader's other keys generate."""
    entries: list[tuple[Place, Value]] = []
    values: dict[Place, Node] = {}
    files: dict[tuple[int, Place], Node] = {}
    for item in items(node):
        place, value = _place(item), item.entries()["value"]
        earlier = item if item.cut else files.setdefault((id(item.source), place), item)
        if earlier is not item:
            reader.complain(item, "place", f"{_in_words(place)} has a value already, at {earlier.where}")
        assert isinstance(value.value, bool | int | str)
        if TIMES.fullmatch(place.purpose):
            reader.duration(value)
        entries.append((place, value.value))
        values.setdefault(place, value)
    plan = Plan(tuple(entries))
    if plan:
        reader.chooser = Planned(UNSEEDED, plan, lambda place, why: reader.complain(values[place], "planned", why))
    return plan


def _place(node: Node) -> Place:
    entries = node.entries()
    ordinal = whole(entries["ordinal"]) if "ordinal" in entries else 1
    return Place(str(entries["rule"].value), str(entries["subject"].value), ordinal, str(entries["purpose"].value))


def _in_words(place: Place) -> str:
    return f'"{place.purpose}" of "{place.rule}" for "{place.subject}", number {place.ordinal},'
