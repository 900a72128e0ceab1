"""The scenario library: the files that travel with the package, by name; and the magic numbers, as the default scenario
defines them.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from sendbox import data
from sendbox.scenario import parse
from sendbox.scenario.model import Source


class Row(NamedTuple):
    """A scenario of the library: its `name` for `extends`, its title, the story that its comment tells, and whether it
    has traffic of its own."""

    name: str
    title: str
    summary: str
    traffic: bool


def folder() -> Path:
    """The folder of the library."""
    return data.folder("scenarios").resolve()


@cache
def names() -> tuple[str, ...]:
    """The names of the library's scenarios, `default` first."""
    stems = sorted(file.stem for file in folder().glob("*.yaml"))
    return tuple(sorted(stems, key=lambda name: name != "default"))


def path(name: str) -> Path:
    """The file of a scenario of the library. Raises KeyError for a name it does not have."""
    if name not in names():
        raise KeyError(name)
    return folder() / f"{name}.yaml"


def text(name: str) -> str:
    """The text of a scenario of the library. Raises KeyError for a name it does not have."""
    return path(name).read_text("utf-8")


@cache
def rows() -> tuple[Row, ...]:
    """Every scenario of the library; the first call reads all files."""
    return tuple(map(_row, names()))


def _row(name: str) -> Row:
    node, _ = parse.parse(text(name), Source(name))
    title = None if node is None else node.get("name")
    traffic = None if node is None else node.get("traffic")
    return Row(name, "" if title is None else str(title.value), _story(text(name)), bool(traffic and traffic.value))


def _story(text: str) -> str:
    """The first paragraph of the comment that a scenario begins with."""
    comment = [line[1:].strip() for line in text.partition("\nsendbox: 1")[0].splitlines() if line.startswith("#")]
    lines = comment[comment.index("") + 1 :]
    return " ".join(takewhile(bool, lines))


_MAGIC: Final = re.compile(r"(420777)\?{4}([0-9]{2})")
#: The free digits of the example numbers.
_FREE: Final = "0001"


class Magic(NamedTuple):
    """The digits that a magic number ends in, an example, and what happens to a message to it."""

    ends: str
    example: str
    meaning: str


def magic() -> list[Magic]:
    """Each magic number, in order of its ends.

    They are the entries of the default scenario that have a name and a number 420777????NN.
    """
    root, _ = parse.parse(text("default"), Source("default"))
    assert root is not None
    rows = []
    for entry in root.mappings():
        conditions, name = entry.get("when") or entry, entry.get("name")
        number = conditions.get("phone") or conditions.get("number")
        match = _MAGIC.fullmatch(str(number.value)) if number is not None else None
        if match and name is not None:
            rows.append(Magic(match[2], f"{match[1]}{_FREE}{match[2]}", str(name.value)))
    return sorted(rows)
