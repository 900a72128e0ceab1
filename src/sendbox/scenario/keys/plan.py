"""Compiles `plan:`, which says of single draws what they give."""

from __future__ import annotations

from sendbox.engine.chooser.draws import UNSEEDED
from sendbox.engine.chooser.forms import Value
from sendbox.engine.chooser.plan import Place, Plan, Planned
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, items, whole


def compile_plan(node: Node | None, reader: Reader) -> Plan:
    """The plan. From now on it lies over what the reader's other keys ask for their invented texts."""
    entries: list[tuple[Place, Value]] = []
    values: dict[Place, Node] = {}
    files: dict[tuple[int, Place], Node] = {}
    for item in items(node):
        place, value = _place(item), item.entries()["value"]
        known = item if item.cut else files.setdefault((id(item.source), place), item)
        if known is not item:
            where = known.path if known.line is None else f"line {known.line}"
            reader.complain(item, "place", f"{_said(place)} has a value already, at {where}")
        assert isinstance(value.value, bool | int | str)
        entries.append((place, value.value))
        values.setdefault(place, value)
    plan = Plan(tuple(entries))
    if plan:
        reader.chooser = Planned(UNSEEDED, plan, lambda place, why: reader.complain(values[place], "planned", why))
    return plan


def _place(node: Node) -> Place:
    asked = node.entries()
    ordinal = whole(asked["ordinal"]) if "ordinal" in asked else 1
    return Place(str(asked["rule"].value), str(asked["subject"].value), ordinal, str(asked["purpose"].value))


def _said(place: Place) -> str:
    return f'"{place.purpose}" of "{place.rule}" for "{place.subject}", number {place.ordinal},'
