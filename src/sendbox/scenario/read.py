"""Finds and reads scenarios: by name, path, text or object, several of them, and with all they build on.

A scenario builds on what it includes, in that order, and then on what it extends; of several that are given, the later
ones on the earlier. Whatever is met twice counts once, after everything that builds on it: two files that both extend
the default scenario stand, one after the other, before it. What is included may also be written out in the scenario
that includes it; then it counts as a file of its own.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from sendbox.scenario import environment, library
from sendbox.scenario.model import Node, Problem, Source, listed, nearest, problem, show
from sendbox.scenario.shape import Shape

#: Longest scenario in characters, longest chain of scenarios that build on each other, most files of one scenario.
LONGEST: Final = 4_000_000
CHAIN: Final = 20
FILES: Final = 100

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_KEY_AT_START: Final = re.compile(r"\s*(?:[{#]|%YAML|---|[\"']?\w+[\"']?\s*:(?:\s|\Z))")
#: What a scenario says about itself, which is not passed on to those that build on it.
_OWN: Final = ("name", "extends", "include")
#: Settings in which a list is one value; every other list may have items of several scenarios.
WHOLE: Final = ("assume", "traffic", "receiver")
#: What a scenario of the library says about its own story; it holds only where the scenario itself is asked for.
_STORY: Final = ("traffic", "receiver", "expect")

#: Where `noting` notes what is read.
_NOTED: Final[ContextVar[list[Path] | None]] = ContextVar("noted", default=None)

One = str | Path | Mapping[str, Any]
#: One, or a list or tuple of them.
Given = One | Sequence[One]


def read(
    source: Given,
    shape: Shape,
    *,
    name: str | None = None,
    paths: bool = True,
    env: Mapping[str, str] | None = None,
) -> tuple[Node | None, list[Problem], Source]:
    """One scenario with everything it builds on, merged, and all problems of form and shape.

    Of a list each scenario builds on the one before it. `paths` False keeps it, and all it builds on, off the file
    system and the environment: only the library's names are known. `env` is what `${NAME}` asks.
    """
    reading = _Reading(shape, paths, {} if env is None else env)
    sources = _each(source)
    if not sources:
        origin = Source(name or "scenario")
        return None, [problem(Node(None, origin, ""), "file", "[] names no scenario; give one at least")], origin
    for at, each in enumerate(sources):
        reading.add(each, name or ("scenario" if len(sources) == 1 else f"scenario {at + 1}"), given=name)
    origin = reading.origins[-1]
    if not reading.roots:
        return None, reading.problems, origin
    return reading.merged(), reading.problems, origin


def merge(mine: Node, parents: Node, *, lists: bool = True) -> Node:
    """What one scenario makes of another it builds on: mappings are joined, lists begin with its own items.

    Everything else is its own word. Under `assume` a list is a value, and is not joined; nor is `traffic`, which is in
    order of time.
    """
    if isinstance(mine.value, dict) and isinstance(parents.value, dict):
        value = dict(mine.value)
        for key, theirs in parents.value.items():
            if mine.path == "$" and key in _OWN:
                continue
            own = value.get(key)
            value[key] = theirs if own is None else merge(own, theirs, lists=lists and key not in WHOLE)
        return Node(value, mine.source, mine.path, mine.line, mine.column, mine.keys, mine.cut or parents.cut)
    if lists and isinstance(mine.value, list) and isinstance(parents.value, list):
        return Node([*mine.value, *parents.value], mine.source, mine.path, mine.line, mine.column)
    return mine


@dataclass(slots=True, eq=False)
class _Layer:
    """One scenario by itself, and those it builds on, nearest first. Without a node nothing could be read."""

    node: Node | None
    bases: list[_Layer] = field(default_factory=list)
    #: whether it is a file of the library
    library: bool = False


class _Reading:
    """Reads scenarios and what they build on, each file once."""

    def __init__(self, shape: Shape, paths: bool, env: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        #: the scenarios that were given, in that order, as far as they could be found
        self.roots: list[_Layer] = []
        self.origins: list[Source] = []
        #: by file; a text or an object by itself
        self.layers: dict[object, _Layer] = {}
        self._shape = shape
        self._paths = paths
        self._env = env

    def add(self, source: One, name: str, *, given: str | None = None) -> None:
        """Reads one that was given."""
        key, node, origin = self._root(source, name, given)
        self.origins.append(origin)
        if node is None:
            return
        layer = self.layers.get(key)
        if layer is None:
            layer = self.layers[key] = _Layer(node)
            self._build(layer, [key])
        self.roots.append(layer)

    def merged(self) -> Node:
        """All of it in one. The name is that of the last which has one."""
        asked = {id(root) for root in self.roots}
        nodes = [
            _without_story(layer.node) if layer.library and id(layer) not in asked else layer.node
            for layer in self._in_order()
            if layer.node is not None
        ]
        merged = functools.reduce(merge, nodes)
        title = next((name for root in reversed(self.roots) if root.node and (name := root.node.get("name"))), None)
        if title is None or len(self.roots) == 1:
            return merged
        value = {**merged.entries(), "name": title}
        return Node(value, merged.source, merged.path, merged.line, merged.column, merged.keys, merged.cut)

    def _in_order(self) -> list[_Layer]:
        """Every scenario after all that build on it, and as near to them as that allows."""
        found: dict[int, _Layer] = {}

        def visit(layer: _Layer) -> None:
            if id(layer) not in found:
                for base in reversed(layer.bases):
                    visit(base)
                found[id(layer)] = layer

        for root in self.roots:
            visit(root)
        return list(reversed(found.values()))

    def _build(self, layer: _Layer, way: list[object]) -> None:
        """Reads what a scenario builds on; `way` are the files that led to it, itself the last."""
        if layer.node is None:
            return
        includes = layer.node.get("include")
        extends = layer.node.get("extends")
        asked = [("include", item) for item in ([] if includes is None else includes.items())]
        if extends is not None:
            asked.append(("extends", extends))
        for rule, node in asked:
            if isinstance(node.value, dict):
                written = _Layer(_written_out(node))
                self._build(written, way)
                layer.bases.append(written)
                continue
            file = self._base(node, rule, way)
            if file is None:
                continue
            known = self.layers.get(file)
            if known is None:
                if len(self.layers) >= FILES:
                    message = f"{show(node.value)} is file {FILES + 1} of this scenario; {FILES} are legal"
                    self.problems.append(problem(node, rule, message))
                    return
                read_node, found = _file(file, self._shape, self._env)
                self.problems += found
                known = self.layers[file] = _Layer(read_node, library=_of_library(file))
                self._build(known, [*way, file])
            layer.bases.append(known)

    def _root(self, source: One, name: str, given: str | None) -> tuple[object, Node | None, Source]:
        """What it is known by, the nodes, and where they came from."""
        folder = Path() if self._paths else None
        if isinstance(source, Mapping):
            from sendbox.scenario import parse

            origin = Source(name, folder)
            root, found = parse.from_object(source, origin)
            self.problems += found
            self.problems += environment.fill(root, self._shape, self._env, self._refused)
            self.problems += self._shape.check(root)
            return object(), root, origin
        if isinstance(source, str) and _is_text(source):
            origin = Source(name, folder)
            return object(), _text(source, origin, self.problems, self._shape, self._env, self._refused), origin
        text = str(source)
        if isinstance(source, str) and text in library.names():
            file = library.path(text)
        elif self._paths and (isinstance(source, Path) or _is_path(text)):
            file = Path(source)
        else:
            origin = Source(given or text)
            self.problems.append(_unknown(Node(None, origin, ""), "extends", text, paths=self._paths))
            return None, None, origin
        known = self.layers.get(file.resolve())
        if known is not None:
            return file.resolve(), known.node, Source(str(file), file.parent)
        node, found = _file(file, self._shape, self._env)
        self.problems += found
        return file.resolve(), node, Source(str(file), file.parent)

    @property
    def _refused(self) -> str | None:
        return None if self._paths else environment.FROM_AFAR

    def _base(self, node: Node, rule: str, way: list[object]) -> Path | None:
        """The file that `extends` or an item of `include` means, None with a problem when it means none."""
        text = str(node.value)
        folder = node.source.folder
        if node.cut:
            return None
        if text in library.names():
            file = library.path(text)
        elif _is_path(text) and folder is not None:
            file = folder / text
            if not file.is_file():
                self.problems.append(problem(node, rule, f"{show(text)} is no file: {file} does not exist"))
                return None
        else:
            self.problems.append(_unknown(node, rule, text, paths=folder is not None))
            return None
        file = file.resolve()
        if file in way:
            names = " -> ".join(Path(str(part)).name for part in [*way[way.index(file) :], file])
            self.problems.append(problem(node, rule, f"{show(text)} builds on itself: {names}"))
            return None
        if len(way) >= CHAIN:
            message = f"{show(text)} is scenario {CHAIN + 1} of a chain; {CHAIN} are legal"
            self.problems.append(problem(node, rule, message))
            return None
        return file


def _each(source: Given) -> list[One]:
    return list(source) if isinstance(source, list | tuple) else [source]  # type: ignore[list-item] # no other sequence


def _is_text(source: str) -> bool:
    return not source.strip() or "\n" in source or (not _is_path(source) and bool(_KEY_AT_START.match(source)))


def _is_path(text: str) -> bool:
    return "\n" not in text and (
        text.endswith(_SUFFIXES) or ((("/" in text) or ("\\" in text)) and ":" not in text[2:])
    )


def _of_library(file: Path) -> bool:
    return file.parent == library.folder()


def _without_story(node: Node) -> Node:
    """What others build on of a scenario of the library: its traffic is a sample, its expectations are about that."""
    if not any(key in node.entries() for key in _STORY):
        return node
    value = {key: item for key, item in node.entries().items() if key not in _STORY}
    return Node(value, node.source, node.path, node.line, node.column, node.keys, node.cut)


def _written_out(node: Node) -> Node:
    """A scenario that is written out within another one: a file of its own to all that is said once in a file."""
    source = replace(node.source)
    left = [node]
    while left:
        inner = left.pop()
        inner.source = source
        left += inner.entries().values() or inner.items()
    return node


def _unknown(node: Node, rule: str, text: str, *, paths: bool) -> Problem:
    known = library.names()
    if _is_path(text):
        message = f"{show(text)} is a path, and this scenario came without a folder; legal: {listed(known)}"
        return problem(node, rule, message, value=text)
    what = "neither a scenario of the library nor a path" if paths else "no scenario of the library"
    near = nearest(text, known)
    message = f"{show(text)} is {what}"
    if near is None:
        message = f"{message}; legal: {listed(known)}"
    return problem(node, rule, message, nearest=near, value=text)


@contextlib.contextmanager
def noting() -> Iterator[list[Path]]:
    """Within it every file that is read is noted, problems or not, and read anew, also one of the library."""
    files: list[Path] = []
    token = _NOTED.set(files)
    try:
        yield files
    finally:
        _NOTED.reset(token)


def _file(file: Path, shape: Shape, env: Mapping[str, str]) -> tuple[Node | None, list[Problem]]:
    noted = _NOTED.get()
    if noted is not None:
        noted.append(file.resolve())
    elif _of_library(file.resolve()):
        return _library(file.resolve(), shape)
    return _read_file(file, shape, env, None)


@functools.cache
def _library(file: Path, shape: Shape) -> tuple[Node | None, list[Problem]]:
    return _read_file(file, shape, {}, environment.FROM_LIBRARY)


def _read_file(
    file: Path, shape: Shape, env: Mapping[str, str], refused: str | None
) -> tuple[Node | None, list[Problem]]:
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
    return _text(text, source, problems, shape, env, refused), problems


def _text(
    text: str, source: Source, problems: list[Problem], shape: Shape, env: Mapping[str, str], refused: str | None
) -> Node | None:
    from sendbox.scenario import parse

    if len(text) > LONGEST:
        top = Node(None, source, "$", 1, 1)
        problems.append(problem(top, "size", f"{len(text)} characters are too many; at most {LONGEST} are legal"))
        return None
    node, found = parse.parse(text, source)
    problems += found
    if node is None:
        return None
    if environment.MARK in text:
        problems += environment.fill(node, shape, env, refused)
    problems += shape.check(node)
    return node
