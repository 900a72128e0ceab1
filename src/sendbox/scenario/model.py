"""What scenarios are made of before they are compiled: nodes with places, and the problems found in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal

import orjson

#: Longest value that a message quotes whole, and longest that a problem carries as it is.
QUOTED: Final = 60
WHOLE: Final = 1_000

Scalar = str | int | float | bool | None
Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a scenario came from: `file` as messages name it, `folder` against which its `extends` is resolved.

    `folder` None means that it may extend the library only (a scenario that came over the network).
    """

    file: str
    folder: Path | None = None


@dataclass(slots=True, eq=False)
class Node:
    """A value with its place.

    `line` and `column` count from 1 and are None in an object; `keys` are the places of a mapping's keys. `cut` says
    that something was taken out of it because it had no legal shape, so that what is missing proves nothing. `bare` is
    a text that was written without quotes.
    """

    value: dict[str, Node] | list[Node] | Scalar
    source: Source
    path: str
    line: int | None = None
    column: int | None = None
    keys: dict[str, tuple[int, int]] | None = None
    cut: bool = False
    bare: bool = False

    def get(self, key: str) -> Node | None:
        """The value of a mapping's key, None when the key is absent or this is no mapping."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def entries(self) -> dict[str, Node]:
        """The entries of a mapping; empty when this is none."""
        return self.value if isinstance(self.value, dict) else {}

    def items(self) -> list[Node]:
        """The items of a list; empty when this is none."""
        return self.value if isinstance(self.value, list) else []

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


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a scenario cannot be used: one value, the rule it breaks, and what would have been legal.

    With the severity `warning` it can be used, and probably does not do what was meant. `line` and `column` count from
    1 and are None in an object, where `path` alone is the place. `rule` is a keyword of the schema (`enum`) or the name
    of a rule of meaning (`transition`). `message` begins with the value.
    """

    file: str
    line: int | None
    column: int | None
    path: str
    value: Any
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

    def as_json(self) -> dict[str, Any]:
        """The problem as control answers it; a value that is long, or beyond JSON, as the message quotes it."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "value": _short(self.value),
            "rule": self.rule,
            "message": self.message,
            "nearest": self.nearest,
            "severity": self.severity,
        }


class ScenarioError(Exception):
    """A scenario that cannot be used, with every problem found in it; the text has one line for each."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def errors(problems: Iterable[Problem]) -> list[Problem]:
    """Those for which a scenario cannot be used."""
    return [found for found in problems if found.severity == "error"]


def problem(
    node: Node,
    rule: str,
    message: str,
    *,
    key: str | None = None,
    nearest: str | None = None,
    value: Any = ...,
    severity: Severity = "error",
) -> Problem:
    """A problem at a node, or at one of its keys. `nearest` is appended to the message as a question."""
    path, line, column = node.path, node.line, node.column
    if key is not None:
        path = child(path, key)
        if node.keys is not None and key in node.keys:
            line, column = node.keys[key]
    if nearest is not None:
        message = f'{message}; did you mean "{nearest}"?'
    if value is ...:
        value = plain(node) if key is None else key
    return Problem(node.source.file, line, column, path, value, rule, message, nearest, severity)


def in_order(problems: Iterable[Problem], first: str = "") -> list[Problem]:
    """Problems without repetitions: those of the file `first`, then file by file in the order met; each by place."""
    files = {first: 0}
    seen: dict[object, Problem] = {}
    for found in problems:
        files.setdefault(found.file, len(files))
        seen.setdefault((found.file, found.line, found.column, found.line is None and found.path, found.message), found)
    return sorted(seen.values(), key=lambda found: (files[found.file], found.line or 0, found.column or 0))


def child(path: str, key: str) -> str:
    """The path of a mapping's key: `$.a.b`, or `$.a['b c']` for a key that is no plain word."""
    return f"{path}.{key}" if key.replace("-", "_").isidentifier() else f"{path}[{key!r}]"


def _short(value: Any) -> Any:
    try:
        return value if len(orjson.dumps(value)) <= WHOLE else show(value)
    except TypeError:
        return show(value)


def show(value: Any) -> str:
    """A value as messages quote it: JSON, cut after 60 characters."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # a number beyond 64 bits
        text = repr(value)
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"


def listed(words: Iterable[str]) -> str:
    """Words with commas."""
    return ", ".join(words)


def nearest(word: object, words: Iterable[str]) -> str | None:
    """The legal word most like `word`, case aside, None when none is like it."""
    if not isinstance(word, str) or len(word) > QUOTED:
        return None
    folded = {legal.lower(): legal for legal in words}
    found = get_close_matches(word.lower(), folded, 1)
    return folded[found[0]] if found else None
