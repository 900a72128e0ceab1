"""Scenarios before they are compiled: nodes with their places, and the problems found in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import orjson
from msgspec.structs import asdict

from sendbox.engine.answer import JsonObject
from sendbox.engine.texts import foreign
from sendbox.engine.texts import nearest as nearest
from sendbox.scenario import slips

#: Longest value that a message quotes whole, and longest that a problem carries as it is.
QUOTED: Final = 60
WHOLE: Final = 1_000

#: Rules of values that are ASCII.
_WORDS: Final = frozenset("enum unknown-key word duration span instant rate operation field range".split())

Scalar = str | int | float | bool | None
Severity = Literal["error", "warning"]


class Source(msgspec.Struct, frozen=True):
    """The origin of a scenario: `file` as messages name it, `folder` against which its `extends` is resolved.

    `folder` None means that it may extend the library only (a scenario that came over the network). `text` is all of
    it, None if it is an object.
    """

    file: str
    folder: Path | None = None
    text: str | None = None


class Node(msgspec.Struct, eq=False):
    """A value with its place.

    `line` and `column` count from 1 and are None in an object; `keys` are the places of a mapping's keys. It is
    `incomplete` if something was removed because its shape was not legal: then a missing key means nothing. `bare` says
    that a text was written without quotes.
    """

    value: dict[str, Node] | list[Node] | Scalar
    source: Source
    path: str
    line: int | None = None
    column: int | None = None
    keys: dict[str, tuple[int, int]] | None = None
    incomplete: bool = False
    bare: bool = False

    def get(self, key: str) -> Node | None:
        """The value of a mapping's key, None when the key is absent or this is not a mapping."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def part(self, *keys: str) -> Node | None:
        """The value at these keys, one within the other; None if there is none."""
        node: Node | None = self
        for key in keys:
            node = None if node is None else node.get(key)
        return node

    def entries(self) -> dict[str, Node]:
        """The entries of a mapping; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    def items(self) -> list[Node]:
        """The items of a list; empty for anything else."""
        return self.value if isinstance(self.value, list) else []

    def mappings(self) -> Iterator[Node]:
        """This one and all inside it that are mappings, from the outside in."""
        if isinstance(self.value, dict):
            yield self
        for inner in (*self.entries().values(), *self.items()):
            yield from inner.mappings()

    @property
    def where(self) -> str:
        """`line 7`, or the path inside an object."""
        return self.path if self.line is None else f"line {self.line}"

    @property
    def place(self) -> str:
        """`file:line`, or the path inside an object."""
        return self.path if self.line is None else f"{self.source.file}:{self.line}"


def plain(node: Node) -> Any:
    """The value without its places."""
    if isinstance(node.value, dict):
        return {key: plain(value) for key, value in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


class Problem(msgspec.Struct, frozen=True):
    """Why a scenario cannot be used: one value, the rule it breaks, and what would have been legal.

    With the severity `warning` it can be used, but is probably not intended. `line` and `column` count from
    1 and are None in an object, where `path` alone is the place. `rule` is a keyword of the schema (`enum`) or the name
    of a rule of meaning (`transition`). `message` begins with the value.
    """

    file: str
    line: int | None
    column: int | None
    path: str
    value: object
    rule: str
    message: str
    nearest: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        """`file:line:column: message`, or `path: message` for an object, the message alone where there is no place.

        The message of a warning begins with that word.
        """
        message = self.message if self.severity == "error" else f"warning: {self.message}"
        if self.line is None:
            return f"{self.path}: {message}" if self.path else message
        return f"{self.file}:{self.line}:{self.column}: {message}"

    def as_json(self) -> JsonObject:
        """The problem as control answers it; a value that is long, or beyond JSON, as the message quotes it."""
        return asdict(self) | {"value": _short(self.value)}


#: The rule of what is too long, or has too many parts.
SIZE: Final = "size"
#: So many problems of one kind are looked for; a text with more of them is no attempt at a scenario.
PROBLEMS: Final = 500
#: The greatest number of problems that have a line each.
MAX_PROBLEM_LINES: Final = 100


class ScenarioError(Exception):
    """A scenario that cannot be used, with every problem found in it; the text has a line for each of the first."""

    def __init__(self, problems: list[Problem]) -> None:
        further = [f"{len(problems) - MAX_PROBLEM_LINES:,} more problems"] if len(problems) > MAX_PROBLEM_LINES else []
        super().__init__("\n".join([*map(str, problems[:MAX_PROBLEM_LINES]), *further]))
        self.problems = problems


def errors(problems: Iterable[Problem]) -> list[Problem]:
    """The problems that make a scenario unusable."""
    return [reported for reported in problems if reported.severity == "error"]


def problem(
    node: Node,
    rule: str,
    message: str,
    *,
    key: str | None = None,
    nearest: str | None = None,
    value: object = ...,
    severity: Severity = "error",
) -> Problem:
    """A problem at a node, or at one of its keys. `nearest` is appended to the message as a question.

    Where a word is wanted, a character that is not ASCII is named instead: the nearest word may look the same.
    """
    path, line, column = node.path, node.line, node.column
    if key is not None:
        path = child(path, key)
        if node.keys is not None and key in node.keys:
            line, column = node.keys[key]
    if value is ...:
        value = plain(node) if key is None else key
    strange = foreign(value) if isinstance(value, str) and len(value) <= QUOTED else ""
    if strange and (rule in _WORDS if nearest is None else nearest.isascii()):
        message, nearest = f"{message}{strange}", None
    addition, meant = slips.hint(path, message)
    nearest = meant or (None if addition else nearest)
    message += addition
    if nearest is not None:
        message = f'{message}; did you mean "{nearest}"?'
    return Problem(node.source.file, line, column, path, value, rule, message, nearest, severity)


def in_order(problems: Iterable[Problem], first: str = "") -> list[Problem]:
    """Problems without repetitions: those of the file `first`, then file by file in the order met; each by place."""
    files = {first: 0}
    unique: dict[object, Problem] = {}
    for reported in problems:
        files.setdefault(reported.file, len(files))
        unique.setdefault(
            (reported.file, reported.line, reported.column, reported.line is None and reported.path, reported.message),
            reported,
        )
    return sorted(
        unique.values(), key=lambda reported: (files[reported.file], reported.line or 0, reported.column or 0)
    )


def child(path: str, key: str) -> str:
    """The path of a mapping's key: `$.a.b`, or `$.a['b c']` for a key that is not a plain word."""
    return f"{path}.{key}" if key.replace("-", "_").isidentifier() else f"{path}[{key!r}]"


def _short(value: object) -> object:
    try:
        return value if len(orjson.dumps(value)) <= WHOLE else show(value)
    except TypeError:
        return show(value)


def show(value: object) -> str:
    """A value as messages quote it: JSON, cut after 60 characters."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # a number beyond 64 bits
        text = repr(value)
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"


def listed(words: Iterable[str]) -> str:
    """Words with commas."""
    return ", ".join(words)


def article(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
