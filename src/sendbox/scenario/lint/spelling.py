"""Keys that are kept as they are, since the provider may know them, and that look like a slip of the pen."""

from __future__ import annotations

from typing import Any

from sendbox.scenario import shape
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, nearest, show


def find(doubts: Doubts) -> None:
    """Warns about every key that the language does not list, where one that it does list is like it."""
    _find(doubts.root, shape.branches([shape.schema()]), doubts)


def _find(node: Node, parts: list[dict[str, Any]], doubts: Doubts) -> None:
    for item in node.items():
        _find(item, shape.branches([part["items"] for part in parts if "items" in part]), doubts)
    for key, item in node.entries().items():
        known = [found for part in parts if (found := shape.property_of(part, key)) is not None]
        _find(item, shape.branches(known), doubts)
        if not known and doubts.sound(node):
            listed = {name for part in parts for name in part.get("properties", ()) if node.get(name) is None}
            if (near := nearest(key, listed)) is not None:
                message = f"{show(key)} is no key that is listed here, and is kept as it is"
                doubts.warn(node, "misspelt", message, near=near, key=key)
