"""Finds and reads scenarios: by name, path, text or object, and with all they build on (`extends`)."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from sendbox.scenario import library, shape
from sendbox.scenario.model import Node, Problem, Source, listed, nearest, problem, show

#: Longest scenario in characters, and longest chain of scenarios that build on each other.
LONGEST: Final = 4_000_000
CHAIN: Final = 20

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_KEY_AT_START: Final = re.compile(r"\s*(?:[{#]|%YAML|---|[\"']?\w+[\"']?\s*:(?:\s|\Z))")

#: Where `noting` notes what is read.
_NOTED: Final[ContextVar[list[Path] | None]] = ContextVar("noted", default=None)

Given = str | Path | Mapping[str, Any]


def read(source: Given, *, name: str | None = None, paths: bool = True) -> tuple[Node | None, list[Problem], Source]:
    """One scenario with everything it builds on, merged, and all problems of form and shape.

    `paths` False keeps it, and all it extends, off the file system: only the library's names are known.
    """
    problems: list[Problem] = []
    file, node, origin = _root(source, name, problems, paths=paths)
    if node is None:
        return None, problems, origin
    merged, seen = node, [file or origin.file]
    extending = node
    while (extends := extending.get("extends")) is not None:
        parent_file = _parent(extends, seen, problems)
        if parent_file is None:
            break
        seen.append(parent_file)
        parent, found = _file(parent_file)
        problems += found
        if parent is None:
            break
        merged, extending = merge(merged, parent), parent
    return merged, problems, origin


def merge(mine: Node, parents: Node, *, lists: bool = True) -> Node:
    """What one scenario makes of another it builds on: mappings are joined, lists begin with its own items.

    Everything else is its own word. Under `assume` a list is a value, and is not joined; nor is `traffic`, which is in
    order of time.
    """
    if isinstance(mine.value, dict) and isinstance(parents.value, dict):
        value = dict(mine.value)
        for key, theirs in parents.value.items():
            if mine.path == "$" and key in ("name", "extends"):
                continue
            own = value.get(key)
            value[key] = theirs if own is None else merge(own, theirs, lists=lists and key not in ("assume", "traffic"))
        return Node(value, mine.source, mine.path, mine.line, mine.column, mine.keys, mine.cut or parents.cut)
    if lists and isinstance(mine.value, list) and isinstance(parents.value, list):
        return Node([*mine.value, *parents.value], mine.source, mine.path, mine.line, mine.column)
    return mine


def _root(
    source: Given, name: str | None, problems: list[Problem], *, paths: bool
) -> tuple[Path | None, Node | None, Source]:
    """The file if it is one, the nodes, and where they came from."""
    folder = Path() if paths else None
    if isinstance(source, Mapping):
        from sendbox.scenario import parse

        origin = Source(name or "scenario", folder)
        root, found = parse.from_object(source, origin)
        problems += found
        problems += shape.check(root)
        return None, root, origin
    if isinstance(source, str) and _is_text(source):
        origin = Source(name or "scenario", folder)
        return None, _text(source, origin, problems), origin
    text = str(source)
    if isinstance(source, str) and text in library.names():
        file = library.path(text)
    elif paths and (isinstance(source, Path) or _is_path(text)):
        file = Path(source)
    else:
        problems.append(_unknown(Node(None, Source(name or text), ""), text, paths=paths))
        return None, None, Source(name or text)
    node, found = _file(file)
    problems += found
    return file.resolve(), node, Source(str(file), file.parent)


def _is_text(source: str) -> bool:
    return not source.strip() or "\n" in source or (not _is_path(source) and bool(_KEY_AT_START.match(source)))


def _is_path(text: str) -> bool:
    return "\n" not in text and (
        text.endswith(_SUFFIXES) or ((("/" in text) or ("\\" in text)) and ":" not in text[2:])
    )


def _parent(extends: Node, seen: list[Any], problems: list[Problem]) -> Path | None:
    """The file that `extends` means, None with a problem when it means none."""
    text = str(extends.value)
    folder = extends.source.folder
    if text in library.names():
        file = library.path(text)
    elif _is_path(text) and folder is not None:
        file = folder / text
        if not file.is_file():
            problems.append(problem(extends, "extends", f"{show(text)} is no file: {file} does not exist"))
            return None
    else:
        problems.append(_unknown(extends, text, paths=folder is not None))
        return None
    file = file.resolve()
    if file in seen:
        way = " -> ".join(Path(part).name for part in [*seen[seen.index(file) :], file])
        problems.append(problem(extends, "extends", f"{show(text)} builds on itself: {way}"))
        return None
    if len(seen) >= CHAIN:
        problems.append(
            problem(extends, "extends", f"{show(text)} is scenario {CHAIN + 1} of a chain; {CHAIN} are legal")
        )
        return None
    return file


def _unknown(node: Node, text: str, *, paths: bool) -> Problem:
    known = library.names()
    if _is_path(text):
        message = f"{show(text)} is a path, and this scenario came without a folder; legal: {listed(known)}"
        return problem(node, "extends", message, value=text)
    what = "neither a scenario of the library nor a path" if paths else "no scenario of the library"
    message = f"{show(text)} is {what}; legal: {listed(known)}"
    return problem(node, "extends", message, nearest=nearest(text, known), value=text)


@contextlib.contextmanager
def noting() -> Iterator[list[Path]]:
    """Within it every file that is read is noted, problems or not, and read anew, also one of the library."""
    files: list[Path] = []
    token = _NOTED.set(files)
    try:
        yield files
    finally:
        _NOTED.reset(token)


def _file(file: Path) -> tuple[Node | None, list[Problem]]:
    noted = _NOTED.get()
    if noted is not None:
        noted.append(file.resolve())
    elif file.resolve().parent == library.folder():
        return _library(file.resolve())
    return _read_file(file)


@functools.cache
def _library(file: Path) -> tuple[Node | None, list[Problem]]:
    return _read_file(file)


def _read_file(file: Path) -> tuple[Node | None, list[Problem]]:
    source = Source(str(file), file.parent)
    top = Node(None, source, "$", 1, 1)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return None, [
            problem(top, "file", f"{show(str(file))} cannot be read: {error.strerror or error}", value=str(file))
        ]
    except UnicodeDecodeError as error:
        return None, [problem(top, "file", f"{show(str(file))} is not UTF-8 at byte {error.start}", value=str(file))]
    problems: list[Problem] = []
    return _text(text, source, problems), problems


def _text(text: str, source: Source, problems: list[Problem]) -> Node | None:
    from sendbox.scenario import parse

    if len(text) > LONGEST:
        top = Node(None, source, "$", 1, 1)
        problems.append(problem(top, "size", f"{len(text)} characters are too many; at most {LONGEST} are legal"))
        return None
    node, found = parse.parse(text, source)
    problems += found
    if node is None:
        return None
    problems += shape.check(node)
    return node
