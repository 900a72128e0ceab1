"""Lints of single keys and values: durations that never end, because no advance is that long; and likely misspellings.

Misspelt may be keys that are kept because the provider may know them, and curly quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sendbox.engine import durations as spans
from sendbox.engine.answer import JsonObject
from sendbox.engine.texts import CURLY, named
from sendbox.scenario.model import Node, nearest, plain, show
from sendbox.scenario.shape import Shape, property_of

if TYPE_CHECKING:
    from sendbox.scenario.lint.linter import Linter

#: How far one advance reaches (`Settings.max_reach_ms`).
REACH: Final = 400 * spans.DAY
LEGAL: Final = f"an advance reaches {spans.show(REACH)}"
#: The keys that have durations, beside those that a key of the language names itself.
_LENGTHS: Final = ("after", "delay", "for", "ttl", "within", "timeout")
_CURLY: Final = frozenset(CURLY)


def lengths(linter: Linter, keys: Mapping[str, tuple[str, ...]]) -> None:
    """Warns about every duration that is too long in these keys, each with further keys that have durations."""
    legal = {*_LENGTHS, *(word for words in keys.values() for word in words)}
    for key in keys:
        node = linter.part(key)
        for mapping in () if node is None else node.mappings():
            if linter.sound(mapping):
                _lengths(mapping, legal, linter)


def _lengths(node: Node, legal: set[str], linter: Linter) -> None:
    for key, item in node.entries().items():
        if key in legal:
            length = _length(item)
            if length is not None and length > REACH:
                linter.warn(item, "too-long", f"{show(plain(item))} is longer than a world can wait; {LEGAL}")


def _length(node: Node) -> int | None:
    if isinstance(node.value, dict | list | bool):
        return None
    try:
        return spans.span(node.value).high
    except ValueError:
        return None


def spelling(linter: Linter, shape: Shape) -> None:
    """Warns about every key that the language does not list, where a listed one is similar, and about curly quotes."""
    _spelling(linter.root, shape.branches([shape.schema]), shape, linter)


def _spelling(node: Node, branches: list[JsonObject], shape: Shape, linter: Linter) -> None:
    if isinstance(node.value, str) and len(node.value) > 1 and node.bare and {node.value[0], node.value[-1]} <= _CURLY:
        message = f"{show(node.value)}: {named(node.value, 0)} is part of the text"
        linter.warn(node, "curly", message + ", quotes of YAML are straight")
    for item in node.items():
        _spelling(item, shape.branches([branch["items"] for branch in branches if "items" in branch]), shape, linter)
    for key, item in node.entries().items():
        schemas = [schema for branch in branches if (schema := property_of(branch, key)) is not None]
        _spelling(item, shape.branches(schemas), shape, linter)
        if not schemas and linter.sound(node):
            listed = {name for branch in branches for name in branch.get("properties", ()) if node.get(name) is None}
            if (near := nearest(key, listed)) is not None:
                message = f"{show(key)} is not a key that is listed here; it is kept as it is"
                linter.warn(node, "misspelt", message, near=near, key=key)
