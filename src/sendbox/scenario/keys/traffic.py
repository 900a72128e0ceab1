"""Compiles `traffic:`, what a sample client sends and a tester does: operations that exist, in order of time, and
references backwards. And `receiver:`, how a sample receiver answers."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, Protocol

from sendbox.engine.traffic import NONE, PARENT, Reception, Traffic, reference
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader

_SUFFIX: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Called(Protocol):
    """How an operation is called: what it carries (None = nothing), and the parameters that stand in its path."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def part(self) -> str | None: ...
    @property
    def params(self) -> tuple[str, ...]: ...


def compile_traffic(nodes: list[Node], reader: Reader, calls: Mapping[str, Called]) -> tuple[Traffic, ...]:
    """The entries of a list, which ask for `calls`. Where the scenario pins the start, all moments are compared."""
    found: list[Traffic] = []
    names: dict[str, Node] = {}
    later = {str(name.value) for node in nodes if (name := node.get("name")) is not None}
    last: dict[bool, tuple[int, Node]] = {}
    for node in nodes:
        entry = _entry(node, reader, calls, names, later)
        _in_time(node, entry, last, reader)
        name = node.get("name")
        if name is not None and entry.name in names:
            first = names[entry.name]
            where = first.path if first.line is None else f"line {first.line}"
            reader.complain(name, "name", f"{show(entry.name)} is the name of another entry already, at {where}")
        elif name is not None:
            names[str(name.value)] = name
        found.append(entry)
    return tuple(found)


def _entry(node: Node, reader: Reader, calls: Mapping[str, Called], names: dict[str, Node], later: set[str]) -> Traffic:
    parts = node.entries()
    at, relative = reader.moment(parts["at"])
    if "request" in parts and "control" in parts:
        reader.complain(
            node, "traffic", '"control" stands beside "request"; one thing is done in an entry', key="control"
        )
    name, expect = node.get("name"), node.get("expect")
    status = None if expect is None else expect.get("status")
    entry = Traffic(
        at=at,
        relative=relative,
        operation="",
        name=None if name is None else str(name.value),
        status=None if status is None else 0 if status.value == NONE else int(str(status.value)),
        place=node.place,
    )
    request = parts["request"] if "request" in parts else parts["control"]
    _references(request, reader, names, later)
    if "request" not in parts:
        given = request.get("arguments")
        operation = str(request.entries()["operation"].value)
        return replace(entry, form="control", operation=operation, value={} if given is None else plain(given))
    return _request(entry, request, reader, calls)


def _request(entry: Traffic, request: Node, reader: Reader, calls: Mapping[str, Called]) -> Traffic:
    """An entry that is a call, with all that the call carries."""
    asked = request.entries()
    if "call" in asked and "operation" in asked:
        reader.complain(request, "traffic", '"call" stands beside "operation"; a request has one of them', key="call")
    free = "call" in asked
    operation = str(asked["call" if free else "operation"].value)
    call = calls.get(operation)
    if free:
        for word in (*_parts(calls), "params"):
            if word in asked and word != "content":
                message = f'{show(word)} does not go with "call", which has its query, and "content"'
                reader.complain(request, "traffic", message, key=word)
    elif call is None:
        near = nearest(operation, calls)
        legal = "" if near else f"; legal: {listed(calls)}"
        reader.complain(asked["operation"], "operation", f"{show(operation)} is not an operation{legal}", near=near)
    carried = [part for part in _parts(calls) if part in asked]
    if call is not None:
        for part in carried:
            if part != call.part and (part != "content" or call.part in asked or call.part in (None, "query")):
                takes = "nothing" if call.part is None else f'"{call.part}"'
                message = f"{show(part)} does not go with {operation}, which takes {takes} ({call.method} {call.path})"
                reader.complain(request, "traffic", message, key=part)
        _params(request, operation, call.params, reader)
    key, kind = request.get("key"), asked.get("type")
    if kind is not None and "content" not in asked:
        reader.complain(request, "traffic", '"type" is that of "content", which is not given', key="type")
    value = asked.get(call.part) if call is not None and call.part is not None else None
    params = request.get("params")
    return replace(
        entry,
        form="call" if free else "operation",
        operation=operation,
        value=None if value is None else plain(value),
        params=() if params is None else tuple((word, plain(item)) for word, item in params.entries().items()),
        key=None if key is None else _key(key, reader),
        content=_content(asked.get("content"), call, kind),
        type=None if kind is None else str(kind.value),
    )


def _content(node: Node | None, call: Called | None, kind: Node | None) -> bytes | None:
    """A body as it stands; not that of an upload whose type is the one that was announced."""
    if node is None or (call is not None and call.part == "content" and kind is None and not node.entries()):
        return None
    given = plain(node)
    return b64decode(given["base64"]) if isinstance(given, dict) else str(given).encode()


def compile_receiver(nodes: list[Node]) -> tuple[Reception, ...]:
    """The entries, as they are written."""
    return tuple(Reception(given.get("webhook"), tuple(given["ends"])) for given in map(plain, nodes))


def _parts(calls: Mapping[str, Called]) -> list[str]:
    """What calls carry, in one fixed order."""
    return list(dict.fromkeys(call.part for call in calls.values() if call.part is not None))


def _params(request: Node, operation: str, wanted: tuple[str, ...], reader: Reader) -> None:
    """What stands in the path, and nothing else."""
    params = request.get("params")
    given = {} if params is None else params.entries()
    for word in given:
        if word not in wanted:
            legal = listed(wanted) or "none"
            message = f"{show(word)} is not in the path of {operation}; legal: {legal}"
            reader.complain(params or request, "params", message, key=word, near=nearest(word, wanted))
    missing = [word for word in wanted if word not in given]
    if missing and not request.cut and not any(word not in wanted for word in given):
        message = f"{show(operation)} has no {listed(missing)} in params, which stands in its path"
        reader.complain(request, "params", message)


def _references(node: Node, reader: Reader, names: dict[str, Node], later: set[str]) -> None:
    """Every reference names an entry before this one; a call may have one for its path."""
    call = node.get("call")
    for inner in leaves(node):
        found = reference(inner.value if inner is not call else str(inner.value).partition(" ")[2])
        if found is None or found[0] in names:
            continue
        name = found[0]
        why = "is sent later, or is this one" if name in later else "is the name of no entry"
        legal = listed(names) or "none, because no entry before this one has a name"
        message = f'{show(inner.value)} refers to an answer, and "{name}" {why}; legal: {legal}'
        near = None if name in later else nearest(name, names)
        reader.complain(inner, "reference", message, near=near)


def leaves(node: Node) -> Iterator[Node]:
    """The values of a part that hold no others."""
    if isinstance(node.value, dict | list):
        for inner in node.entries().values() or node.items():
            yield from leaves(inner)
    else:
        yield node


def _key(node: Node, reader: Reader) -> str | None:
    """The suffix of a sub-key, or a reference to a whole one; None is the account's own."""
    text = str(node.value)
    if reference(text) is None and not _SUFFIX.fullmatch(text):
        message = f"{show(text)} is no suffix of a sub-key; legal: 1 to 64 of a-z A-Z 0-9 . _ -, {PARENT}, a reference"
        reader.complain(node, "key", message)
    return None if text == PARENT else text


def _in_time(node: Node, entry: Traffic, last: dict[bool, tuple[int, Node]], reader: Reader) -> None:
    """Entries stand in order of time; those that cannot be compared, because nobody knows the start, are left alone."""
    at, relative, start = entry.at, entry.relative, reader.start
    place = node.entries()["at"]
    if place.cut:  # it is missing, which was said
        return
    if start is not None:
        if not relative and at < start:
            reader.complain(place, "order", f"{show(plain(place))} is before the world begins, at clock.start")
        at, relative = at + start if relative else at, False
    before = last.get(relative)
    if before is not None and at < before[0]:
        written = plain(before[1])
        message = f"{show(plain(place))} comes after {show(written)}; entries stand in order of time"
        reader.complain(place, "order", message)
        return
    last[relative] = (at, place)
