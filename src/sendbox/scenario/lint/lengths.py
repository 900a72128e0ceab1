"""Times that are not kept, because they are longer than anybody waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sendbox.engine import durations as spans
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, plain, show
from sendbox.services.messaging.rules.rules import GOALS

#: As far as one advance reaches (`Settings.max_reach_ms`).
REACH: Final = 400 * spans.DAY
_LEGAL: Final = f"an advance reaches {spans.show(REACH)}"
#: Parts in which times are said, and the keys under which they stand.
_PARTS: Final = ("attempts", "partner", "timeline", "api", "webhooks", "expect")
_LENGTHS: Final = ("after", "delay", "for", "ttl", "within", "timeout")


def find(doubts: Doubts) -> None:
    """Warns about every time that is too long."""
    for at, item in doubts.entries("attempts"):
        path = doubts.blueprint.attempts[at].path
        if path is not None and (total := sum(entry.after.high for entry in path.entries)) > REACH:
            then = item.entries()["then"]
            longest = max(path.entries, key=lambda entry: entry.after.high).after.high
            if longest <= REACH:
                doubts.warn(then, "too-long", f"{_brief(then)} takes {spans.show(total)} in all; {_LEGAL}")
    for part in _PARTS:
        node = doubts.part(part)
        for each in [] if node is None else _mappings(node):
            if doubts.sound(each):
                _lengths(each, doubts)


def _brief(node: Node) -> str:
    return show(plain(node))


def _mappings(node: Node) -> Iterator[Node]:
    if isinstance(node.value, dict):
        yield node
    for item in [*node.entries().values(), *node.items()]:
        yield from _mappings(item)


def _lengths(node: Node, doubts: Doubts) -> None:
    for key, item in node.entries().items():
        if key in _LENGTHS or key in GOALS:
            length = _length(item)
            if length is not None and length > REACH:
                doubts.warn(item, "too-long", f"{_brief(item)} is longer than anybody waits; {_LEGAL}")


def _length(node: Node) -> int | None:
    if isinstance(node.value, dict | list | bool):
        return None
    try:
        return spans.span(node.value).high
    except ValueError:
        return None
