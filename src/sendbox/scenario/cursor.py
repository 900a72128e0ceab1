"""The keys and words that may be written at a place of an unfinished scenario, by the schema of the language.

A mark is put at the cursor, and the text is read as far as possible. If that does not reach the mark, the lines before
and after it are reduced to their keys, by indentation, and read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sendbox.engine.answer import JsonObject
from sendbox.scenario import parse
from sendbox.scenario.model import Node, Source
from sendbox.scenario.shape import Shape

#: Stands for the word at the cursor; its first character is of no script.
MARK: Final = "\ue000cursor"
#: The column up to which a cursor may stand behind the end of its line.
WIDEST: Final = 1_000
_MARKED: Final = f'"{MARK}"'
#: A word behind the cursor, or backwards before it; what may stand before the first word of a line; a key of a line.
_WORD: Final = re.compile(r"[^\s,:{}\[\]]*")
_START: Final = re.compile(r"\s*(?:-\s+)*")
_KEY: Final = re.compile(r"(\s*(?:-\s+)*(?:[\w.-]+|\"[^\"]*\"|'[^']*')\s*:)(?:\s|$)")


class LegalInput(NamedTuple):
    """The legal input at a cursor: keys in the form of `Shape.keys`, without those already there, words, and examples.

    `place` is the path of the mapping or the value, empty for the scenario itself, None if it is not known.
    """

    place: str | None
    keys: list[JsonObject]
    values: list[object]
    examples: list[object]

    def as_json(self) -> JsonObject:
        """The same as control answers it."""
        return self._asdict()


#: At no place.
NOWHERE: Final = LegalInput(None, [], [], [])


class _NodeAtCursor(NamedTuple):
    """The node at the mark, and the steps to it. A mapping has the mark as a key."""

    node: Node
    steps: tuple[str | int, ...]


def legal(text: str, line: int, column: int | None, shape: Shape) -> LegalInput:
    """The legal input at the cursor, which is before a column of a line; both count from 1, and None is the line's end.

    A line number after the last line means the next line. A column after the end of a line is filled with blanks, up to
    a column that is enough for every indentation.
    """
    lines = [*text.splitlines(), ""]
    at = min(line, len(lines)) - 1
    padded = lines[at] if column is None else lines[at].ljust(min(column - 1, WIDEST))
    before, after = (padded, "") if column is None else (padded[: column - 1], padded[column - 1 :])
    head = before[: len(before) - len(_WORD.match(before[::-1])[0])]  # type: ignore[index] # it matches the empty text too
    word, first = before[len(head) :], _START.fullmatch(head) is not None
    if (first and word == "-") or before.endswith(":"):  # a blank is still to come
        head, word = f"{before} ", ""
        first = not before.endswith(":")
    rest = after[len(_WORD.match(after)[0]) :]  # type: ignore[index] # it matches the empty text too
    as_key = first and not rest.lstrip().startswith(":")
    lines[at] = f"{head}{_MARKED}{':' * as_key}{rest}"
    for written in (lines, _outline(lines, at)):
        root = parse.parse_unfinished("\n".join(written), Source("scenario"))
        marked = None if root is None else next(_marked(root, ()), None)
        if root is not None and marked is not None:
            return _legal(root, marked, shape, begun=bool(word), whole=as_key)
    return NOWHERE


def _legal(root: Node, marked: _NodeAtCursor, shape: Shape, *, begun: bool, whole: bool) -> LegalInput:
    """The legal input at the mark. `begun`: a word is there already; `whole`: it can be the whole value."""
    present = marked.node.entries()
    keys = [] if begun and not present else shape.keys(root, marked.steps)
    values, examples = [], []
    if not present or (whole and len(present) == 1):
        for branch in shape.at(marked.steps):
            values += branch.get("enum", [True, False] if branch.get("type") == "boolean" else ())
            examples += branch.get("examples", ())
    place = marked.node.path.removeprefix("$").removeprefix(".")
    return LegalInput(
        place,
        [row for row in keys if row["key"] not in present],
        list(dict.fromkeys(values)),
        [example for at, example in enumerate(examples) if example not in examples[:at]],
    )


def _marked(node: Node, steps: tuple[str | int, ...]) -> Iterator[_NodeAtCursor]:
    if MARK in node.entries() or (isinstance(node.value, str) and MARK in node.value):
        yield _NodeAtCursor(node, steps)
    for key, inner in node.entries().items():
        yield from _marked(inner, (*steps, key))
    for at, inner in enumerate(node.items()):
        yield from _marked(inner, (*steps, at))


def _outline(lines: list[str], at: int) -> list[str]:
    """The marked line with what can be told by indentation: keys and items around it, and keys beside it."""
    above = []
    depth = _indent(lines[at])
    for line in reversed(lines[:at]):
        if line.strip() and _indent(line) <= depth and (reduced := _reduced(line)):
            above.append(reduced)
            depth = _indent(line)
    below = []
    depth = len(_START.match(lines[at])[0])  # type: ignore[index] # it matches the empty text too
    for line in lines[at + 1 :]:
        if line.strip() and _indent(line) < depth:
            break
        if _indent(line) == depth and (key := _KEY.match(line)):
            below.append(key[1])
    return [*reversed(above), lines[at], *below]


def _reduced(line: str) -> str:
    """The dashes of a line and its key, where it has any; a comment has none."""
    key = _KEY.match(line) or _START.match(line)
    return key[0].rstrip() if key else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
