"""Compilation of `plan:`, which sets the values of single draws."""

from __future__ import annotations

from sendbox.engine.draws import UNSEEDED
from sendbox.engine.plan import TIME_PURPOSES, Place, Plan, PlannedChooser, Value
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, items, whole_number


def compile_plan(node: Node | None, reader: Reader) -> Plan:
    """The compiled plan. From now on the reader also uses it for texts that other keys generate."""
    entries: list[tuple[Place, Value]] = []
    value_nodes: dict[Place, Node] = {}
    items_by_source: dict[tuple[int, Place], Node] = {}
    for item in items(node):
        place, value = _read_place(item), item.entries()["value"]
        earlier = item if item.incomplete else items_by_source.setdefault((id(item.source), place), item)
        if earlier is not item:
            name = f'"{place.purpose}" of "{place.rule}" for "{place.subject}", number {place.ordinal}'
            reader.add_problem(item, "place", f"{name}, has a value already, at {earlier.where}")
        assert isinstance(value.value, bool | int | str)
        if TIME_PURPOSES.fullmatch(place.purpose):
            reader.duration(value)
        entries.append((place, value.value))
        value_nodes.setdefault(place, value)
    plan = Plan(tuple(entries))
    if plan:
        reader.chooser = PlannedChooser(
            UNSEEDED, plan, lambda place, reason: reader.add_problem(value_nodes[place], "planned", reason)
        )
    return plan


def _read_place(node: Node) -> Place:
    entries = node.entries()
    ordinal = whole_number(entries["ordinal"]) if "ordinal" in entries else 1
    return Place(str(entries["rule"].value), str(entries["subject"].value), ordinal, str(entries["purpose"].value))
