"""Reads scenarios: YAML text, or an object that was parsed elsewhere, into nodes with places.

The C parser of PyYAML splits the text into events; their meaning is decided here, because PyYAML itself follows YAML
1.1, where `off`, `YES`, `9:00` and `0777000101` are not what they look like, and because it loses a duplicate key. The
rules are those of the YAML 1.2 core schema, with three exceptions: a whole number has no leading zero (it is a phone
number then, and stays text), a key is the text as written, and `.inf` and `.nan` are errors, since no key takes them.
Nothing here recurses over the text, so that no nesting can overflow the stack. It is
long because each event of the parser has its meaning here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import yaml
from msgspec.structs import replace

from sendbox.engine import bounds
from sendbox.scenario import repair
from sendbox.scenario.model import SIZE, Node, Problem, Scalar, Source, child, problem, show

#: How often aliases may be used, and how many values a text with aliases may stand for.
ALIASES: Final = 100
EXPANDED: Final = 50_000
#: Digits beyond which a fraction stays text.
DIGITS: Final = 40

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_PREFIXED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def scalar(text: str) -> Scalar:
    """The value of a plain YAML scalar; `math.inf` for a number that is not finite."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return bounds.read_integer(text)
    if len(text) > DIGITS:
        return text
    if _FLOAT.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    return math.inf if _NOT_FINITE.fullmatch(text) else text


def number_problem(value: Scalar, text: str) -> tuple[str, str] | None:
    """The rule that a plain scalar breaks, and the reason; None for nearly all. `text` is how it was written."""
    broken = bounds.wrong(value)
    if broken is None:
        return None
    rule = broken[0]
    return rule, bounds.too_large(text) if rule == "range" else f"{text} is not a finite number"


def parse(text: str, source: Source, most: int | None = None) -> tuple[Node | None, list[Problem]]:
    """The nodes of a YAML text and the problems of its form; None when the text cannot be read.

    One with more than `most` values is read no further.
    """
    reader = _read_text(text, source, most)
    if reader.problems:
        if not isinstance(reader.root and reader.root.value, dict) and any(p.rule == "syntax" for p in reader.problems):
            reader.root = None  # it is a piece of what cannot be read
        return reader.root, repair.explain_problems(
            reader.problems, text, reader.context, lambda repaired: _read_text(repaired, source, most).problems
        )
    return reader.root, []


def parse_unfinished(text: str, source: Source) -> Node | None:
    """The nodes of a text that may be unfinished: as far as it can be read, None if that is nothing."""
    reader = _read_text(text, source, bounds.VALUES)
    reader.end()
    return reader.root


def _read_text(text: str, source: Source, most: int | None) -> _Reader:
    """The reader of a text, which has its nodes and problems."""
    reader = _Reader(source, most)
    try:
        reader.read(yaml.parse(text, Loader=_LOADER))
    except _Stop:
        pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(filter(None, (error.context, error.problem)))
        if error.context_mark is not None:
            reader.context = error.context_mark.line + 1
            if "quoted scalar" in reason:  # it did not end, and the text does not end where it began
                mark = error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = f"this is not YAML: {reason}{_remedy(reason, _line(text, line), column)}"
        reader.problems.append(_at(source, line, column, "syntax", message))
    except (yaml.reader.ReaderError, UnicodeEncodeError) as error:
        position = error.start if isinstance(error, UnicodeEncodeError) else error.position
        before, character = text[:position], text[position : position + 1]
        message = f"{show(character)} is a character that YAML does not allow"
        if isinstance(error, UnicodeEncodeError):
            message = f"{character!a} is half of a character and cannot be encoded"
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        reader.problems.append(_at(source, *place, "character", message))
    if reader.root is None and not reader.problems:
        reader.problems.append(_at(source, 1, 1, "empty", 'this is empty; a scenario begins with "sendbox: 1"'))
    return reader


def from_object(value: object, source: Source) -> tuple[Node, list[Problem]]:
    """The nodes of an object as JSON or Python gives it; places are its paths."""
    problems: list[Problem] = []
    return _wrap(value, source, "$", 0, problems), problems


def _wrap(value: object, source: Source, path: str, depth: int, problems: list[Problem]) -> Node:
    node = Node(None, source, path)
    container = isinstance(value, Mapping | list | tuple)
    if container and depth >= bounds.DEEPEST:
        problems.append(problem(node, "depth", bounds.too_deep().message))
    elif container and len(path) > bounds.PATH:
        problems.append(problem(node, SIZE, bounds.too_far(path), value=None))
    elif isinstance(value, Mapping):
        node.value = {
            key: _wrap(item, source, child(path, key), depth + 1, problems)
            for key, item in zip(map(str, value), value.values(), strict=True)
            if not _broken(Node(key, source, path), problems)
        }
    elif isinstance(value, list | tuple):
        node.value = [_wrap(item, source, f"{path}[{at}]", depth + 1, problems) for at, item in enumerate(value)]
    elif isinstance(value, str):
        node.value = value
        _broken(node, problems)
    elif (broken := bounds.wrong(value)) is not None:
        problems.append(problem(node, *broken, value=broken[1].partition(" ")[0]))
        _stand_in(node)
    elif value is None or isinstance(value, bool | int | float):
        node.value = value
    else:
        reason = f"is a {type(value).__name__}, which a scenario cannot hold"
        problems.append(problem(node, "type", f"{value} {reason}", value=str(value)))
        _stand_in(node)
    return node


def _stand_in(node: Node) -> None:
    """Gives a node with a problem a value that is legal nearly everywhere, and marks it."""
    node.value, node.incomplete = 1, True


def _broken(node: Node, problems: list[Problem]) -> bool:
    """True if a text has half of a surrogate pair, which JSON can write and nothing can send."""
    try:
        str(node.value).encode()
    except UnicodeEncodeError:
        message = f"{node.value!a} holds half of a character and cannot be encoded"
        problems.append(problem(node, "character", message, value=ascii(node.value)))
        return True
    return False


class _Stop(Exception):
    """Reading cannot continue; the reason is among the problems."""


class _Frame(msgspec.Struct):
    """A mapping or list that is being read. `key` is the key whose value comes next; `lost` drops that value."""

    node: Node
    anchor: str | None
    as_key: bool
    key: str | None = None
    key_place: tuple[int, int] = (0, 0)
    lost: bool = False
    size: int = 1


class _Reader:
    """Builds nodes from the parser's events."""

    def __init__(self, source: Source, most: int | None) -> None:
        self.problems: list[Problem] = []
        self._most = most
        #: how many values and keys were read
        self._values = 0
        self.root: Node | None = None
        #: the line in which what cannot be read began
        self.context = 0
        self._source = source
        self._frames: list[_Frame] = []
        #: anchor -> what it names, and how many values that is
        self._anchors: dict[str, tuple[Node, int]] = {}
        #: anchor -> the warning that nothing refers to it, until something does
        self._unused: dict[str, Problem] = {}
        self._aliases = 0
        self._expanded = 0
        self._documents = 0

    def read(self, events: Iterator[yaml.Event]) -> None:
        for event in events:
            self._values += isinstance(event, yaml.NodeEvent)
            if self._most is not None and self._values + self._expanded > self._most:
                self._complain(event, SIZE, bounds.too_many().message)
                raise _Stop
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._open(event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                frame = self._frames.pop()
                if frame.anchor is not None:
                    self._anchors[frame.anchor] = (frame.node, frame.size)
                self._put(frame.node, frame.size, as_key=frame.as_key)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    self._complain(event, "document", "a second document begins here; a file holds one scenario")
                    raise _Stop
        self.problems += self._unused.values()

    def end(self) -> None:
        """Ends every mapping and list that is still open; a key without a value gets an empty one."""
        while self._frames:
            frame = self._frames[-1]
            if frame.key is not None:
                self._put(Node(None, self._source, self._next_path()), 1)
            self._frames.pop()
            self._put(frame.node, frame.size, as_key=frame.as_key)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        node = self._node(event, event.value)
        tagged = node.incomplete = self._tagged(event)
        if self._wants_key():
            self._key(node)
            return
        if event.implicit[0] and not tagged:
            node.value = scalar(event.value)
            node.bare = True
            if (wrong := number_problem(node.value, event.value)) is not None:
                self.problems.append(problem(node, *wrong, value=event.value))
                _stand_in(node)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1)
            self._note_anchor(event, event.anchor)
        self._put(node, 1)

    def _note_anchor(self, event: yaml.NodeEvent, anchor: str) -> None:
        """Remembers that nothing refers to an anchor yet. An earlier one of the same name can no longer be used."""
        if (lost := self._unused.pop(anchor, None)) is not None:
            self.problems.append(lost)
        name = f"&{anchor}"
        message = f"{show(name)} names this value, and nothing refers to it"
        self._unused[anchor] = problem(self._node(event, None), "anchor", message, value=name, severity="warning")

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._frames) >= bounds.DEEPEST:
            self._complain(event, "depth", bounds.too_deep().message)
            raise _Stop
        if len(path := self._next_path()) > bounds.PATH:
            self._complain(event, SIZE, bounds.too_far(path))
            raise _Stop
        mapping = isinstance(event, yaml.MappingStartEvent)
        node = self._node(event, {} if mapping else [])
        if mapping:
            node.keys = {}
        self._tagged(event)
        if event.anchor is not None:
            self._note_anchor(event, event.anchor)
        self._frames.append(_Frame(node, event.anchor, as_key=self._wants_key()))

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = show(f"*{event.anchor}")
        if any(frame.anchor == event.anchor for frame in self._frames):
            self._complain(event, "alias", f"{name} refers to a value that contains it, which would never end")
            raise _Stop
        if event.anchor not in self._anchors:
            self._complain(event, "alias", f"{name} refers to no anchor; &{event.anchor} must stand before it")
            raise _Stop
        target, size = self._anchors[event.anchor]
        self._unused.pop(event.anchor, None)
        self._aliases += 1
        self._expanded += size
        if self._aliases > ALIASES or self._expanded > EXPANDED:
            limits = f"{ALIASES} aliases and {EXPANDED} values through them"
            self._complain(event, "alias", f"{name} is one alias too many: a scenario has at most {limits}")
            raise _Stop
        if self._wants_key():
            self._complain(event, "key", f"{name} stands where a key is expected; write the key itself")
            self._frames[-1].key, self._frames[-1].lost = "", True
            return
        self._put(_copy(target, self._next_path()), size)

    def _key(self, node: Node) -> None:
        frame = self._frames[-1]
        key = str(node.value)
        frame.key, frame.lost = key, False
        frame.key_place = (node.line or 0, node.column or 0)
        assert frame.node.keys is not None
        node.path = child(frame.node.path, key)
        if key == "<<":
            self.problems.append(
                problem(node, "merge", '"<<" does not merge here; a scenario builds on one by "extends"')
            )
            frame.lost = True
        elif key in frame.node.keys:
            first = frame.node.keys[key][0]
            self.problems.append(problem(node, "duplicate", f"{show(key)} stands here twice, first on line {first}"))
            frame.lost = True

    def _put(self, node: Node, size: int, *, as_key: bool = False) -> None:
        """Puts a finished value into the mapping or list around it."""
        if not self._frames:
            self.root = node
            return
        frame = self._frames[-1]
        if as_key:
            kind = "a mapping" if isinstance(node.value, dict) else "a list"
            self.problems.append(problem(node, "key", f"{kind} stands where a key is expected; a key is text"))
            frame.key, frame.lost = "", True
            frame.node.incomplete = True
            return
        frame.size += size
        parent = frame.node
        if isinstance(parent.value, list):
            parent.value.append(node)
            return
        key, frame.key = frame.key, None
        if not frame.lost and isinstance(parent.value, dict) and parent.keys is not None and key is not None:
            parent.value[key] = node
            parent.keys[key] = frame.key_place

    def _wants_key(self) -> bool:
        if not self._frames:
            return False
        frame = self._frames[-1]
        return isinstance(frame.node.value, dict) and frame.key is None

    def _node(self, event: Any, value: str | dict[str, Node] | list[Node] | None) -> Node:
        mark = event.start_mark
        return Node(value, self._source, self._next_path(), mark.line + 1, mark.column + 1)

    def _next_path(self) -> str:
        """The path of the value that is read next."""
        if not self._frames:
            return "$"
        frame = self._frames[-1]
        if isinstance(frame.node.value, list):
            return f"{frame.node.path}[{len(frame.node.value)}]"
        return frame.node.path if frame.key is None else child(frame.node.path, frame.key)

    def _tagged(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> bool:
        if event.tag is None:
            return False
        tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        self._complain(event, "tag", f"{show(tag)} is a tag; scenarios have none, a value is what it looks like")
        return True

    def _complain(self, event: object, rule: str, message: str) -> None:
        self.problems.append(problem(self._node(event, None), rule, message))


def _copy(node: Node, path: str) -> Node:
    """A copy of a node for an alias: with a path of its own, and the place of the original."""
    value = node.value
    if isinstance(value, dict):
        value = {key: _copy(item, child(path, key)) for key, item in value.items()}
    elif isinstance(value, list):
        value = [_copy(item, f"{path}[{at}]") for at, item in enumerate(value)]
    return replace(node, value=value, path=path)


def _remedy(reason: str, line: str, column: int) -> str:
    if "cannot start any token" in reason and line[column - 1 : column] == "\t":
        return "; tabs cannot indent, use spaces"
    if "mapping values are not allowed" in reason:
        return '; a value that holds ": " needs quotes; a key must stand under its neighbours'
    if "${" in line:
        return "; inside { } and [ ] a value with ${ needs quotes"
    return ""


def _line(text: str, line: int) -> str:
    return next(iter(text.splitlines()[line - 1 : line]), "")


def _at(source: Source, line: int, column: int, rule: str, message: str) -> Problem:
    return problem(Node(None, source, "$", line, column), rule, message)
