"""Keys that are kept as they are, since the provider may know them, and that look like a slip of the pen."""

from __future__ import annotations

from typing import Any

from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, nearest, show
from sendbox.scenario.shape import Shape, property_of


def find(doubts: Doubts, shape: Shape) -> None:
    """Warns about every key that the language does not list, where one that it does list is like it."""
    _find(doubts.root, shape.branches([shape.schema]), shape, doubts)


def _find(node: Node, parts: list[dict[str, Any]], shape: Shape, doubts: Doubts) -> None:
    for item in node.items():
        _find(item, shape.branches([part["items"] for part in parts if "items" in part]), shape, doubts)
    for key, item in node.entries().items():
        known = [found for part in parts if (found := property_of(part, key)) is not None]
        _find(item, shape.branches(known), shape, doubts)
        if not known and doubts.sound(node):
            listed = {name for part in parts for name in part.get("properties", ()) if node.get(name) is None}
            if (near := nearest(key, listed)) is not None:
                message = f"{show(key)} is no key that is listed here, and is kept as it is"
                doubts.warn(node, "misspelt", message, near=near, key=key)
