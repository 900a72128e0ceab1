"""Compiles `timeline:`: what happens by itself at an instant. Which kinds of happenings there are, services say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.texts import Text
from sendbox.scenario.model import Node, listed, plain, show
from sendbox.scenario.values import Reader

if TYPE_CHECKING:
    from sendbox.scenario.lint.doubts import Doubts


def as_written(_node: Node, _what: dict[str, Any], _reader: Reader) -> None:
    """Nothing but what is written."""


class Happening(NamedTuple):
    """A kind of happening: what compiles it, and what doubts it.

    What is compiled is what the entry means beyond what is written. `compile` puts the values of what is written into
    the form in which the world and its journal take them.
    """

    kind: str
    compile: Callable[[Node, dict[str, Any], Reader], Any] = as_written
    doubt: Callable[[Node, Doubts], None] | None = None


def compile_timeline(
    nodes: list[Node], reader: Reader, happenings: Mapping[str, Happening]
) -> tuple[TimelineEntry, ...]:
    """The entries in their order."""
    equal: Counter[str] = Counter()
    entries = []
    for node in nodes:
        entry = _entry(node, reader, happenings)
        if entry.key:  # texts that are written twice say two things
            equal[entry.key] += 1
            entry = replace(entry, key=f"{entry.key}{equal[entry.key]}")
        entries.append(entry)
    return tuple(entries)


def _entry(node: Node, reader: Reader, happenings: Mapping[str, Happening]) -> TimelineEntry:
    parts = node.entries()
    at, relative = reader.moment(parts["at"])
    kind = next((kind for kind in happenings if kind in parts), None)
    if kind is None:  # the schema has the kinds of all shipped services
        given = show(next(key for key in parts if key != "at"))
        reader.complain(node, "happening", f"{given} does not happen here; legal: {listed(happenings)}")
        return TimelineEntry(at, relative, "", {}, node.place)
    others = [key for key in parts if key not in ("at", kind)]
    if others:
        message = f"{show(others[0])} stands beside {show(kind)}; one thing happens in an entry"
        reader.complain(node, "happening", message, key=others[0])
    part = parts[kind]
    what: dict[str, Any] = plain(part)
    means = happenings[kind].compile(part, what, reader)
    key = orjson.dumps([kind, what], option=orjson.OPT_SORT_KEYS).decode() if isinstance(means, Text) else ""
    return TimelineEntry(at, relative, kind, what, node.place, means, key)
