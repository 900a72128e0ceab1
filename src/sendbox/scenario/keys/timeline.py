"""Compiles `timeline:`: what happens at an instant without a call. Services define the kinds of happenings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import orjson
from msgspec.structs import replace

from sendbox.engine.answer import JsonObject
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.durations import Moment
from sendbox.engine.texts import Text
from sendbox.scenario.keys.when import never
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, listed, plain, show
from sendbox.scenario.values import Reader


def as_written(_node: Node, _what: JsonObject, _reader: Reader) -> None:
    """Compiles to nothing: the entry means what is written."""


class Happening(NamedTuple):
    """A kind of happening, with the functions that compile it and that warn about it.

    The compiled value is what the entry means beyond what is written. `compile` also brings the written values into the
    form that the world and its journal take.
    """

    kind: str
    compile: Callable[[Node, JsonObject, Reader], object] = as_written
    lint: Callable[[Node, Linter], None] | None = None


def compile_timeline(
    nodes: list[Node], reader: Reader, happenings: Mapping[str, Happening]
) -> tuple[TimelineEntry, ...]:
    """The entries in their order, each with its number as its id."""
    equal: Counter[str] = Counter()
    entries = []
    for number, node in enumerate(nodes, 1):
        entry = replace(_entry(node, reader, happenings), id=f"timeline-{number}")
        if entry.key:  # the same text twice is two different messages
            equal[entry.key] += 1
            entry = replace(entry, key=f"{entry.key}{equal[entry.key]}")
        entries.append(entry)
    return tuple(entries)


def _entry(node: Node, reader: Reader, happenings: Mapping[str, Happening]) -> TimelineEntry:
    entries = node.entries()
    at, relative = reader.moment(entries["at"])
    kind = next((kind for kind in happenings if kind in entries), None)
    if kind is None:  # the schema has the kinds of all shipped services
        word = show(next(key for key in entries if key != "at"))
        reader.add_problem(node, "happening", f"{word} does not happen here; legal: {listed(happenings)}")
        return TimelineEntry(at, relative, "", {}, node.place)
    every, until = _again(node, entries, Moment(at, relative), reader)
    others = [key for key in entries if key not in ("at", "every", "until", kind)]
    if others:
        message = f"{show(others[0])} stands beside {show(kind)}; one thing happens in an entry"
        reader.add_problem(node, "happening", message, key=others[0])
    content = entries[kind]
    written: JsonObject = plain(content)
    means = happenings[kind].compile(content, written, reader)
    key = orjson.dumps([kind, written], option=orjson.OPT_SORT_KEYS).decode() if isinstance(means, Text) else ""
    return TimelineEntry(at, relative, kind, written, node.place, means, key, every, until)


def _again(node: Node, entries: Mapping[str, Node], first: Moment, reader: Reader) -> tuple[int, Moment | None]:
    """The interval at which an entry happens again (0: never), and the moment before which it does."""
    if "every" not in entries or "until" not in entries:
        for word, other in (("every", "until"), ("until", "every")):
            if word in entries and not node.incomplete:
                message = f"{show(word)} stands without {show(other)}; an entry that happens again has both"
                reader.add_problem(node, "again", message, key=word)
        return 0, None
    every, until = reader.duration(entries["every"]), reader.moment(entries["until"])
    if every == 0 and not any(problem.path == entries["every"].path for problem in reader.problems):
        reader.add_problem(
            entries["every"], "again", f"{show(plain(entries['every']))} is not a time between two of them"
        )
        return 0, None
    if never(first, until, reader.start):
        values = f"{show(plain(entries['at']))} to {show(plain(entries['until']))}"
        reader.add_problem(entries["until"], "again", f"{values} is not a time: it ends before it begins")
    return every, until
