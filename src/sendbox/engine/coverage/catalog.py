"""All that can be tried: the facts, and each operation with the fields of its requests.

The engine is told the operations, because it knows no schemas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sendbox.engine.coverage.facts import DIMENSIONS, FACTS, Form, Item

#: Dimension to name to how often it was tried.
Tally = dict[str, dict[str, int]]
#: The part of a path that stands for the items of an array.
_ITEM: Final = "[]"


class FieldRow(NamedTuple):
    """A field of a request: its path, the assumption it rests on, and a request that has it."""

    path: str
    assumed: str | None
    snippet: str


class Row(NamedTuple):
    """An operation: whose interface, where it is written, how its request comes, and what may become of it.

    `takes` is `json`, `form`, `query`, or empty where nothing is asked; `refused` the snippet of a call that is
    refused, None where none is.
    """

    operation: str
    interface: str
    section: str
    takes: str
    fields: tuple[FieldRow, ...]
    accepted: str
    refused: tuple[Form, str] | None


class Catalog:
    """All that can be tried. `assumed` are the assumptions that items rest on, by dimension and name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows: Mapping[str, Row] = {row.operation: row for row in rows}
        self.items: tuple[Item, ...] = (*_of_operations(rows), *FACTS, *_of_fields(rows))
        self.dimensions: dict[str, list[Item]] = {name: [] for name in DIMENSIONS}
        for item in self.items:
            self.dimensions[item.dimension].append(item)
        self.assumed = {(item.dimension, item.name): item.assumed for item in self.items if item.assumed is not None}
        self._paths = {row.operation: _tree(row) for row in rows}

    def fields(self, operation: str, request: Any) -> set[str]:
        """The names of the fields that a parsed request of an operation has."""
        found: set[str] = set()
        _find(self._paths[operation], request, found)
        return found - {""}

    def named(self, tally: Tally) -> Tally:
        """A tally of everything that can be tried, with 0 where it was not; what is not in the catalog is left out."""
        none: dict[str, int] = {}
        return {
            name: {item.name: tally.get(name, none).get(item.name, 0) for item in items}
            for name, items in self.dimensions.items()
        }


def _of_operations(rows: Sequence[Row]) -> list[Item]:
    found = []
    for row in rows:
        found.append(Item("operations", f"{row.operation} accepted", row.section, "request", row.accepted))
        if row.refused is not None:
            found.append(Item("operations", f"{row.operation} refused", row.section, *row.refused))
    return found


def _of_fields(rows: Sequence[Row]) -> list[Item]:
    return [
        Item("fields", f"{row.operation} {field.path}", row.section, "request", field.snippet, field.assumed)
        for row in rows
        for field in row.fields
    ]


class _Tree:
    """The fields of an operation by the parts of their paths: the item of this one, and what is below it."""

    __slots__ = ("below", "item")

    def __init__(self) -> None:
        self.item = ""
        self.below: dict[str, _Tree] = {}


def _tree(row: Row) -> _Tree:
    root = _Tree()
    for field in row.fields:
        node = root
        for part in field.path.replace("[]", ".[]").split(".")[1:]:
            node = node.below.setdefault(part, _Tree())
        node.item = f"{row.operation} {field.path}"
    return root


def _find(tree: _Tree, value: Any, found: set[str]) -> None:
    found.add(tree.item)
    if isinstance(value, list):
        if _ITEM in tree.below:
            for item in value:
                _find(tree.below[_ITEM], item, found)
    elif isinstance(value, dict):
        for name, below in tree.below.items():
            if name in value and name != _ITEM:
                _find(below, value[name], found)
