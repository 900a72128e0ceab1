"""A scenario as lints see it, the warnings that they find, and the lints of single keys and values.

Those are about durations that never end, because no advance is that long, and about likely misspellings: of keys that
are kept because the provider may know them, and curly quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sendbox.engine import durations as spans
from sendbox.engine.answer import JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import CURLY, Pattern, named
from sendbox.scenario.lint import globs
from sendbox.scenario.model import Node, Problem, errors, nearest, plain, problem, show
from sendbox.scenario.shape import Shape, property_of
from sendbox.scenario.values import Reader

_NO_TAG: Final = re.compile(r"[^a-z0-9._*-]+")
#: The start of a step in a path.
_STEP: Final = re.compile(r"[.\[]")


class Linter:
    """A scenario with its blueprint, as `reader` read it, and its warnings."""

    def __init__(self, root: Node, blueprint: Blueprint, reader: Reader, problems: Iterable[Problem]) -> None:
        self.root = root
        self.blueprint = blueprint
        self.country = reader.country
        self.families = reader.families
        self.warnings: list[Problem] = []
        #: (file, path) of every part with a problem inside
        self._wrong = {
            (reported.file, reported.path[:end])
            for reported in errors(problems)
            for end in (*(step.start() for step in _STEP.finditer(reported.path)), len(reported.path))
        }

    def warn(
        self,
        node: Node,
        rule: str,
        message: str,
        *,
        key: str | None = None,
        near: str | None = None,
        value: object = ...,
    ) -> None:
        """Adds a warning, at a node or at one of its keys."""
        self.warnings.append(problem(node, rule, message, key=key, nearest=near, value=value, severity="warning"))

    def sound(self, node: Node) -> bool:
        """True if a part has no problem, so that its meaning is known."""
        return not node.incomplete and (node.source.file, node.path) not in self._wrong

    def part(self, *keys: str) -> Node | None:
        """The part at these keys, None if there is none."""
        return self.root.part(*keys)

    def entries(self, *keys: str) -> Iterator[tuple[int, Node]]:
        """The entries of a list that have no problem, each with its position."""
        node = self.part(*keys)
        for at, item in enumerate([] if node is None else node.items()):
            if self.sound(item):
                yield at, item

    def happens(self, kind: str, *keys: str) -> bool:
        """True if an entry of the timeline, with a problem or not, is of a kind and has one of these keys."""
        timeline = self.part("timeline")
        contents = [item.get(kind) for item in ([] if timeline is None else timeline.items())]
        return any(content is not None and content.get(key) is not None for content in contents for key in keys)

    def number(self, node: Node, pattern: Pattern) -> None:
        """Warns about a phone pattern that no number can match."""
        if not pattern.literal and (why := globs.why_no_number(pattern.text)) is not None:
            self.warn(node, "no-number", f"{show(node.value)} matches no phone number: {why}")

    def numbers(self, rule: Node, when: When) -> None:
        """Warns about each pattern of a rule that no number can match."""
        for item, pattern in patterns_of(rule, when, "phone"):
            self.number(item, pattern)

    def tags(self, rule: Node, when: When) -> None:
        """Warns about each pattern of a rule that no tag can match."""
        for item, _ in patterns_of(rule, when, "tag"):
            self.tag(item)

    def tag(self, node: Node) -> None:
        """Warns about a pattern that no tag can match."""
        text = str(node.value)
        if _NO_TAG.search(text) or not text:
            # what is left of a negated pattern would be the opposite
            near = None if text.startswith("!") else _NO_TAG.sub("", text.lower()) or None
            message = f"{show(text)} is not a tag after cleaning: lower case, a-z 0-9 . _ - (A60)"
            self.warn(node, "tag", message, near=near)


def patterns_of(rule: Node, when: When, name: str) -> list[tuple[Node, Pattern]]:
    """The patterns that a rule has for a field, each with its node."""
    patterns = when.patterns(name)
    if not patterns:
        return []
    node = rule.entries()["when"].entries()[name]
    return list(zip(node.items() or [node], patterns, strict=True))


def nothing_like_it(pattern: Pattern, texts: list[str]) -> bool:
    """True if a pattern matches none of the known names; if no name is known, only for a literal pattern."""
    return (pattern.literal or bool(texts)) and pattern.text != "*" and not any(map(pattern.matches, texts))


#: How far one advance reaches (`Settings.max_reach_ms`).
REACH: Final = 400 * spans.DAY
LEGAL: Final = f"an advance reaches {spans.show(REACH)}"
#: The keys that have durations, beside those that a key of the language names itself.
_LENGTHS: Final = ("after", "delay", "for", "ttl", "within", "timeout")
_CURLY: Final = frozenset(CURLY)


def lint_durations(linter: Linter, keys: Mapping[str, tuple[str, ...]]) -> None:
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


def lint_spelling(linter: Linter, shape: Shape) -> None:
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
