"""What the lints ask about a scenario, and the warnings that they find."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sendbox.scenario.model import Node, Problem, errors, problem
from sendbox.services.blueprint import Blueprint

#: Where a path goes a step deeper.
_STEP: Final = re.compile(r"[.\[]")


class Doubts:
    """What is asked about, and the warnings that were found."""

    def __init__(self, root: Node, blueprint: Blueprint, problems: Iterable[Problem]) -> None:
        self.root = root
        self.blueprint = blueprint
        self.found: list[Problem] = []
        #: (file, path) of everything in which something is wrong
        self._wrong = {
            (each.file, each.path[:end])
            for each in errors(problems)
            for end in (*(found.start() for found in _STEP.finditer(each.path)), len(each.path))
        }

    def warn(
        self,
        node: Node,
        rule: str,
        message: str,
        *,
        key: str | None = None,
        near: str | None = None,
        value: Any = ...,
    ) -> None:
        """Adds a warning, at a node or at one of its keys."""
        self.found.append(problem(node, rule, message, key=key, nearest=near, value=value, severity="warning"))

    def sound(self, node: Node) -> bool:
        """Whether nothing in a part is wrong, so that it means what it says."""
        return not node.cut and (node.source.file, node.path) not in self._wrong

    def part(self, *keys: str) -> Node | None:
        """A part of the scenario, None when it does not have it."""
        node: Node | None = self.root
        for key in keys:
            node = None if node is None else node.get(key)
        return node

    def entries(self, *keys: str) -> Iterator[tuple[int, Node]]:
        """The sound entries of a list, each with its position."""
        part = self.part(*keys)
        for at, item in enumerate([] if part is None else part.items()):
            if self.sound(item):
                yield at, item
