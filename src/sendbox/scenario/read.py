"""Finds and reads scenarios: by name, path, text or object, several of them, and with all they build on.

A scenario builds on what it includes, in that order, and then on what it extends; of several scenarios, the later build
on the earlier. A scenario that is reached twice counts once, after everything that builds on it: two files that both
extend the default scenario stand, one after the other, before it. An included scenario may also be written out in the
one that includes it; then it counts as a file of its own.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping
from sendbox.scenario import environment, library, parse, repair
from sendbox.scenario.model import SIZE, Node, Problem, Source, listed, nearest, problem, show
from sendbox.scenario.shape import Shape

#: Longest scenario in characters, longest chain of scenarios that build on each other, most files of one scenario.
MAX_SCENARIO: Final = 4_000_000
CHAIN: Final = 20
FILES: Final = 100

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_KEY_AT_START: Final = re.compile(r"\s*(?:[{#]|%YAML|---|[\"']?\w+[\"']?\s*:(?:\s|\Z))")
#: The keys by which a scenario describes itself, which are not passed on to those that build on it.
_NOT_INHERITED: Final = ("name", "extends", "include")
#: Settings in which a list is one value; every other list may have items from several scenarios.
WHOLE: Final = ("assume", "traffic", "receiver", "counterexamples")
#: Keys of a library scenario for its own demonstration; they count only where the scenario itself is loaded.
_STORY: Final = ("traffic", "receiver", "expect", "counterexamples")

#: Where `noting` collects the files that are read.
_NOTED: Final[ContextVar[list[Path] | None]] = ContextVar("noted", default=None)

#: Nodes, None if there are none, and what is wrong with them.
_Read = tuple[Node | None, list[Problem]]
Scenario = str | Path | JsonMapping
#: One scenario, or a list or tuple of them.
Scenarios = Scenario | Sequence[Scenario]


def read(
    source: Scenarios,
    shape: Shape,
    *,
    name: str | None = None,
    paths: bool = True,
    env: Mapping[str, str] | None = None,
    without: frozenset[str] = frozenset(),
    sent: bool = False,
) -> tuple[Node | None, list[Problem], Source]:
    """One scenario with everything it builds on, merged, and all problems of form and shape.

    Of a list each scenario builds on the one before it. `paths` False keeps it, and all it builds on, off the file
    system and the environment: only the library's names are known. `env` has the values of `${NAME}`. What builds on
    scenarios of the library named in `without` is read as if it did not. One that was `sent` has smaller bounds.
    """
    reading = _Reading(shape, paths, {} if env is None else env, without, sent=sent)
    # no other sequence is a scenario
    sources: list[Scenario] = list(source) if isinstance(source, list | tuple) else [source]  # type: ignore[list-item]
    if not sources:
        origin = Source(name or "scenario")
        return None, [problem(Node(None, origin, ""), "file", "[] names no scenario; give at least one")], origin
    for at, item in enumerate(sources):
        reading.add(item, name or ("scenario" if len(sources) == 1 else f"scenario {at + 1}"), given_name=name)
    origin = reading.origins[-1]
    if not reading.roots:
        return None, reading.problems, origin
    return reading.merged(), reading.problems, origin


def merge(node: Node, parents: Node, *, lists: bool = True) -> Node:
    """A scenario joined with one it builds on: mappings are joined, lists begin with its own items.

    Every other value of its own wins. Under `assume` a list is a value, and is not joined; nor is `traffic`, which is
    in order of time.
    """
    if isinstance(node.value, dict) and isinstance(parents.value, dict):
        value = dict(node.value)
        for key, parent in parents.value.items():
            if node.path == "$" and key in _NOT_INHERITED:
                continue
            existing = value.get(key)
            value[key] = parent if existing is None else merge(existing, parent, lists=lists and key not in WHOLE)
        return Node(
            value, node.source, node.path, node.line, node.column, node.keys, node.incomplete or parents.incomplete
        )
    if lists and isinstance(node.value, list) and isinstance(parents.value, list):
        return Node([*node.value, *parents.value], node.source, node.path, node.line, node.column)
    return node


class _Layer(msgspec.Struct, eq=False):
    """One scenario without those it builds on, and these in `bases`, nearest first. `node` None: not readable."""

    node: Node | None
    bases: list[_Layer] = msgspec.field(default_factory=list)
    #: whether it is a file of the library
    library: bool = False


def _add_after_bases(layer: _Layer, ordered: dict[int, _Layer]) -> None:
    """Adds a scenario, each once, behind all that it builds on."""
    if id(layer) not in ordered:
        for base in reversed(layer.bases):
            _add_after_bases(base, ordered)
        ordered[id(layer)] = layer


class _Reading:
    """Reads scenarios and what they build on, each file once."""

    def __init__(
        self, shape: Shape, paths: bool, env: Mapping[str, str], without: frozenset[str], *, sent: bool
    ) -> None:
        self.problems: list[Problem] = []
        #: the scenarios that were given, in that order, without those that were not found
        self.roots: list[_Layer] = []
        self.origins: list[Source] = []
        #: by file; a text or an object has a key of its own
        self.layers: dict[object, _Layer] = {}
        self._shape = shape
        self._paths = paths
        self._env = env
        self._without = without
        self._sent = sent

    def add(self, source: Scenario, name: str, *, given_name: str | None = None) -> None:
        """Reads one that was given."""
        key, node, origin = self._root(source, name, given_name)
        self.origins.append(origin)
        if node is None:
            return
        layer = self.layers.get(key)
        if layer is None:
            layer = self.layers[key] = _Layer(node)
            self._build(layer, [key])
        self.roots.append(layer)

    def merged(self) -> Node:
        """All scenarios merged into one. Its name is that of the last that has one."""
        root_ids = {id(root) for root in self.roots}
        nodes = [
            _without_story(layer.node) if layer.library and id(layer) not in root_ids else layer.node
            for layer in self._in_order()
            if layer.node is not None
        ]
        merged = functools.reduce(merge, nodes)
        title = next((name for root in reversed(self.roots) if root.node and (name := root.node.get("name"))), None)
        if title is None or len(self.roots) == 1:
            return merged
        return replace(merged, value={**merged.entries(), "name": title})

    def _in_order(self) -> list[_Layer]:
        """Every scenario after all that build on it, and as close to them as possible."""
        ordered: dict[int, _Layer] = {}
        for root in self.roots:
            _add_after_bases(root, ordered)
        return list(reversed(ordered.values()))

    def _build(self, layer: _Layer, path: list[object]) -> None:
        """Reads what a scenario builds on; `path` are the files that led to it, itself the last."""
        if layer.node is None:
            return
        includes = layer.node.get("include")
        extends = layer.node.get("extends")
        references = [("include", item) for item in ([] if includes is None else includes.items())]
        if extends is not None:
            references.append(("extends", extends))
        for rule, node in references:
            if isinstance(node.value, str) and node.value in self._without:
                continue
            if isinstance(node.value, dict):
                written = _Layer(_written_out(node))
                self._build(written, path)
                layer.bases.append(written)
                continue
            file = self._base(node, rule, path)
            if file is None:
                continue
            base = self.layers.get(file)
            if base is None:
                if len(self.layers) >= FILES:
                    message = f"{show(node.value)} is file {FILES + 1} of this scenario; {FILES} are legal"
                    self.problems.append(problem(node, rule, message))
                    return
                base = self.layers[file] = _Layer(self._file(file), library=_of_library(file))
                self._build(base, [*path, file])
            layer.bases.append(base)

    def _root(self, source: Scenario, name: str, given_name: str | None) -> tuple[object, Node | None, Source]:
        """Its key in `layers`, its nodes, and its source."""
        origin = Source(name, Path() if self._paths else None)
        asks = self._shape, self._env, None if self._paths else environment.FROM_AFAR
        if isinstance(source, Mapping):
            if self._sent and bounds.large(source, bounds.VALUES, bounds.TEXT):
                self.problems.append(problem(Node(None, origin, "$"), SIZE, bounds.too_many().message, value=None))
                return object(), None, origin
            node, problems = parse.from_object(source, origin)
            return object(), self._noted_problems(_checked(node, problems, *asks)), origin
        if isinstance(source, str) and _is_text(source):
            return object(), self._noted_problems(_text(source, origin, *asks, sent=self._sent)), origin
        text = str(source)
        if isinstance(source, str) and text in library.names():
            file = library.path(text)
        elif self._paths and (isinstance(source, Path) or _is_path(text)):
            file = Path(source)
        else:
            origin = Source(given_name or text)
            self.problems.append(_unknown(Node(None, origin, ""), "file", text, paths=self._paths))
            return None, None, origin
        layer = self.layers.get(_resolved(file))
        if layer is not None:
            return _resolved(file), layer.node, Source(str(file), file.parent)
        return _resolved(file), self._file(file), Source(str(file), file.parent)

    def _file(self, file: Path) -> Node | None:
        """The nodes of a file; a library file is read once, except within `noting`."""
        noted = _NOTED.get()
        if noted is not None:
            noted.append(_resolved(file))
        elif _of_library(_resolved(file)):
            return self._noted_problems(_library(_resolved(file), self._shape))
        return self._noted_problems(_read_file(file, self._shape, self._env, None))

    def _noted_problems(self, read: _Read) -> Node | None:
        """The nodes that were read; their problems are added to the others."""
        node, problems = read
        self.problems += problems
        return node

    def _base(self, node: Node, rule: str, path: list[object]) -> Path | None:
        """The file that `extends` or an item of `include` names; None, and a problem, where there is none."""
        text = str(node.value)
        folder = node.source.folder
        if node.incomplete:
            return None
        if text in library.names():
            file = library.path(text)
        elif _is_path(text) and folder is not None:
            file = folder / text
            if not os.path.isfile(file):  # Path's own raises where a name is too long, or a folder is closed
                why = "cannot be read as one" if os.path.lexists(file) else "does not exist"
                self.problems.append(problem(node, rule, f"{show(text)} is not a file: {file} {why}"))
                return None
        else:
            self.problems.append(_unknown(node, rule, text, paths=folder is not None))
            return None
        file = _resolved(file)
        if file in path:
            names = " -> ".join(Path(str(step)).name for step in [*path[path.index(file) :], file])
            self.problems.append(problem(node, rule, f"{show(text)} builds on itself: {names}"))
            return None
        if len(path) >= CHAIN:
            message = f"{show(text)} is scenario {CHAIN + 1} of a chain; {CHAIN} are legal"
            self.problems.append(problem(node, rule, message))
            return None
        return file


def _is_text(source: str) -> bool:
    return not source.strip() or "\n" in source or (not _is_path(source) and bool(_KEY_AT_START.match(source)))


def _is_path(text: str) -> bool:
    return "\n" not in text and (
        text.endswith(_SUFFIXES) or ((("/" in text) or ("\\" in text)) and ":" not in text[2:])
    )


def _resolved(file: Path) -> Path:
    """The file behind links; the path itself where they lead in a circle, or it cannot be one."""
    try:
        return Path(os.path.realpath(file))
    except ValueError:
        return file


def _of_library(file: Path) -> bool:
    return file.parent == library.folder()


def _without_story(node: Node) -> Node:
    """A library scenario as others build on it: without its sample traffic, and the expectations about that."""
    return replace(node, value={key: item for key, item in node.entries().items() if key not in _STORY})


def _written_out(node: Node) -> Node:
    """A scenario that is written out within another one, with a source of its own: it counts as a file of its own."""
    source = replace(node.source)
    nodes = [node]
    for inner in nodes:
        inner.source = source
        nodes += inner.entries().values() or inner.items()
    return node


def _unknown(node: Node, rule: str, text: str, *, paths: bool) -> Problem:
    names = library.names()
    if _is_path(text):
        message = f"{show(text)} is a path, and this scenario came without a folder; legal: {listed(names)}"
        return problem(node, rule, message, value=text)
    kind = "neither a scenario of the library nor a path" if paths else "not a scenario of the library"
    near = nearest(text, names)
    message = f"{show(text)} is {kind}"
    if near is None:
        message = f"{message}; legal: {listed(names)}"
    return problem(node, rule, message, nearest=near, value=text)


@contextlib.contextmanager
def noting() -> Iterator[list[Path]]:
    """Within it every file that is read is added to a list, problems or not, and library files are read again."""
    files: list[Path] = []
    token = _NOTED.set(files)
    try:
        yield files
    finally:
        _NOTED.reset(token)


@functools.cache
def _library(file: Path, shape: Shape) -> _Read:
    return _read_file(file, shape, {}, environment.FROM_LIBRARY)


def _read_file(file: Path, shape: Shape, env: Mapping[str, str], refused: str | None) -> _Read:
    source = Source(str(file), file.parent)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError as error:
        why = f"is not UTF-8 at byte {error.start}"
    except ValueError:
        why = "is not the name of a file: it has a character that no file can have"
    else:
        return _text(text, source, shape, env, refused)
    top = Node(None, source, "$", 1, 1)
    return None, [problem(top, "file", f"{show(str(file))} {why}", value=str(file))]


def _text(
    text: str, source: Source, shape: Shape, env: Mapping[str, str], refused: str | None, *, sent: bool = False
) -> _Read:
    top = Node(None, source, "$", 1, 1)
    if len(text) > MAX_SCENARIO:
        return None, [problem(top, SIZE, f"{len(text)} characters are too many; at most {MAX_SCENARIO} are legal")]
    size = len(text.encode(errors="surrogatepass")) if sent else 0
    if size > bounds.TEXT:
        return None, [problem(top, SIZE, f"{size} bytes are too many to be sent; legal: up to {bounds.TEXT}")]
    node, problems = parse.parse(text, replace(source, text=text), bounds.VALUES if sent else None)
    node, problems = _checked(node, problems, shape, env, refused, fills=environment.MARK in text)
    return node, repair.explain_comment_values(problems, text)


def _checked(
    node: Node | None,
    problems: list[Problem],
    shape: Shape,
    env: Mapping[str, str],
    refused: str | None,
    *,
    fills: bool = True,
) -> _Read:
    """The nodes with values of the environment, checked against the schema."""
    if node is not None:
        problems = problems + (environment.fill(node, shape, env, refused) if fills else []) + shape.check(node)
    return node, problems
