"""The scenario library: the files that travel with the package, by name."""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from sendbox import data


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
    from sendbox.scenario import parse
    from sendbox.scenario.model import Source

    node, _ = parse.parse(text(name), Source(name))
    title = None if node is None else node.get("name")
    traffic = None if node is None else node.get("traffic")
    return Row(name, "" if title is None else str(title.value), _story(text(name)), bool(traffic and traffic.value))


def _story(text: str) -> str:
    """The first paragraph of the comment that a scenario begins with."""
    comment = [line[1:].strip() for line in text.partition("\nsendbox: 1")[0].splitlines() if line.startswith("#")]
    lines = comment[comment.index("") + 1 :]
    return " ".join(takewhile(bool, lines))
