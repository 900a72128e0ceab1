"""Lints for likely misspellings: keys that are kept because the provider may know them, and curly quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.characters import CURLY, named
from sendbox.scenario.model import Node, nearest, show
from sendbox.scenario.shape import Shape, property_of

if TYPE_CHECKING:
    from sendbox.scenario.lint.linter import Linter

_CURLY: Final = frozenset(CURLY)


def find(linter: Linter, shape: Shape) -> None:
    """Warns about every key that the language does not list, where a listed one is similar, and about curly quotes."""
    _find(linter.root, shape.branches([shape.schema]), shape, linter)


def _find(node: Node, branches: list[dict[str, Any]], shape: Shape, linter: Linter) -> None:
    if isinstance(node.value, str) and len(node.value) > 1 and node.bare and {node.value[0], node.value[-1]} <= _CURLY:
        message = f"{show(node.value)}: {named(node.value, 0)} is part of the text"
        linter.warn(node, "curly", message + ", quotes of YAML are straight")
    for item in node.items():
        _find(item, shape.branches([branch["items"] for branch in branches if "items" in branch]), shape, linter)
    for key, item in node.entries().items():
        schemas = [schema for branch in branches if (schema := property_of(branch, key)) is not None]
        _find(item, shape.branches(schemas), shape, linter)
        if not schemas and linter.sound(node):
            listed = {name for branch in branches for name in branch.get("properties", ()) if node.get(name) is None}
            if (near := nearest(key, listed)) is not None:
                message = f"{show(key)} is not a key that is listed here; it is kept as it is"
                linter.warn(node, "misspelt", message, near=near, key=key)
