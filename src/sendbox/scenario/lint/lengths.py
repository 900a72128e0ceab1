"""Times that are not kept, because they are longer than anybody waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sendbox.engine import durations as spans
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, plain, show

#: As far as one advance reaches (`Settings.max_reach_ms`).
REACH: Final = 400 * spans.DAY
LEGAL: Final = f"an advance reaches {spans.show(REACH)}"
#: The keys under which times stand, beside those that a key of the language has of its own.
_LENGTHS: Final = ("after", "delay", "for", "ttl", "within", "timeout")


def find(doubts: Doubts, parts: Mapping[str, tuple[str, ...]]) -> None:
    """Warns about every time that is too long in these parts of the scenario, each with words for times of its own."""
    lengths = {*_LENGTHS, *(word for words in parts.values() for word in words)}
    for part in parts:
        node = doubts.part(part)
        for each in [] if node is None else _mappings(node):
            if doubts.sound(each):
                _lengths(each, lengths, doubts)


def _mappings(node: Node) -> Iterator[Node]:
    if isinstance(node.value, dict):
        yield node
    for item in [*node.entries().values(), *node.items()]:
        yield from _mappings(item)


def _lengths(node: Node, lengths: set[str], doubts: Doubts) -> None:
    for key, item in node.entries().items():
        if key in lengths:
            length = _length(item)
            if length is not None and length > REACH:
                doubts.warn(item, "too-long", f"{show(plain(item))} is longer than anybody waits; {LEGAL}")


def _length(node: Node) -> int | None:
    if isinstance(node.value, dict | list | bool):
        return None
    try:
        return spans.span(node.value).high
    except ValueError:
        return None
