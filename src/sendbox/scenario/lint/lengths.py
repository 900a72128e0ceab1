"""Durations that never end, because no advance is that long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sendbox.engine import durations as spans
from sendbox.scenario.model import Node, plain, show

if TYPE_CHECKING:
    from sendbox.scenario.lint.linter import Linter

#: How far one advance reaches (`Settings.max_reach_ms`).
REACH: Final = 400 * spans.DAY
LEGAL: Final = f"an advance reaches {spans.show(REACH)}"
#: The keys that have durations, beside those that a key of the language names itself.
_LENGTHS: Final = ("after", "delay", "for", "ttl", "within", "timeout")


def find(linter: Linter, keys: Mapping[str, tuple[str, ...]]) -> None:
    """Warns about every duration that is too long in these keys, each with further keys that have durations."""
    lengths = {*_LENGTHS, *(word for words in keys.values() for word in words)}
    for key in keys:
        node = linter.part(key)
        for mapping in () if node is None else node.mappings():
            if linter.sound(mapping):
                _lengths(mapping, lengths, linter)


def _lengths(node: Node, lengths: set[str], linter: Linter) -> None:
    for key, item in node.entries().items():
        if key in lengths:
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
