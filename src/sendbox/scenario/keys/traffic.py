"""Compiles `traffic:`, what a sample client sends and a tester does: existing operations, in order of time, with
references to earlier answers. And `receiver:`, how a sample receiver answers."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from msgspec.structs import replace

from sendbox.engine.texts import PARENT
from sendbox.engine.traffic import NONE, Counterexample, ReceiverBehavior, Traffic, parse_reference
from sendbox.scenario.keys.when import values_at
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader, items, whole_number, words

#: Suffix that marks a required argument.
REQUIRED: Final = "*"
_SUFFIX: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class CallSpec(Protocol):
    """The signature of an operation: the part that a call carries (None = nothing), and the parameters in its path."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def part(self) -> str | None: ...
    @property
    def params(self) -> tuple[str, ...]: ...


def compile_traffic(
    nodes: list[Node], reader: Reader, calls: Mapping[str, CallSpec], acts: Mapping[str, Mapping[str, str]]
) -> tuple[Traffic, ...]:
    """The entries of a list, which may use `calls`, and operations of control with the arguments of `acts`.

    `acts` has the legal values of each argument, in words. Where the scenario sets the start, all moments are compared.
    """
    compiled: list[Traffic] = []
    names: dict[str, Node] = {}
    all_names = {str(name.value) for node in nodes if (name := node.get("name")) is not None}
    last: dict[bool, tuple[int, Node]] = {}
    for node in nodes:
        entry = _entry(node, reader, calls, acts, names, all_names)
        _check_order(node, entry, last, reader)
        name = node.get("name")
        if name is not None and entry.name in names:
            where = names[entry.name].where
            reader.add_problem(name, "name", f"{show(entry.name)} is the name of another entry already, at {where}")
        elif name is not None:
            names[str(name.value)] = name
        compiled.append(entry)
    return tuple(compiled)


def _entry(
    node: Node,
    reader: Reader,
    calls: Mapping[str, CallSpec],
    acts: Mapping[str, Mapping[str, str]],
    names: dict[str, Node],
    all_names: set[str],
) -> Traffic:
    entries = node.entries()
    at, relative = reader.moment(entries["at"])
    if "request" in entries and "control" in entries:
        reader.add_problem(
            node, "traffic", '"control" stands beside "request"; one thing is done in an entry', key="control"
        )
    name, expect = node.get("name"), node.get("expect")
    status, body = (None, None) if expect is None else (expect.get("status"), expect.get("body"))
    repeat = {} if (node_of_repeat := node.get("repeat")) is None else node_of_repeat.entries()
    entry = Traffic(
        at=at,
        relative=relative,
        operation="",
        name=None if name is None else str(name.value),
        statuses=tuple(0 if word == NONE else int(word) for word in words(status) or ()),
        place=node.place,
        expected_values=() if body is None else values_at(body, reader, "body"),
        every=reader.duration(repeat["every"]) if repeat else 0,
        times=whole_number(repeat["times"]) if repeat else 1,
    )
    request = entries["request"] if "request" in entries else entries["control"]
    _check_references(request, reader, names, all_names)
    if "request" not in entries:
        arguments = request.get("arguments")
        operation = str(request.entries()["operation"].value)
        if operation in acts and not request.incomplete and all(status < 400 for status in entry.statuses):
            _check_arguments(request, operation, acts[operation], reader)
        return replace(entry, form="control", operation=operation, value={} if arguments is None else plain(arguments))
    return _request(entry, request, reader, calls)


def _check_arguments(request: Node, operation: str, legal: Mapping[str, str], reader: Reader) -> None:
    """Checks the arguments of an operation of control, as far as its row says what they are."""
    arguments = request.get("arguments")
    entries = {} if arguments is None else arguments.entries()
    for word, item in entries.items():
        expected = legal.get(word, "").removesuffix(REQUIRED)
        if not expected:
            message = f"{show(word)} is not an argument of {operation}; legal: {listed(legal) or 'none'}"
            reader.add_problem(arguments or request, "arguments", message, key=word, near=nearest(word, legal))
        elif (
            expected != "a value" and parse_reference(item.value) is None and _kind(item) not in expected.split(" or ")
        ):
            reader.add_problem(item, "arguments", f"{show(plain(item))} is not legal as {word}; legal: {expected}")
    needed = [word for word in legal if legal[word].endswith(REQUIRED)]
    missing = [word for word in needed if word not in entries]
    if missing and all(word in legal for word in entries):
        message = f"{show(operation)} has no {listed(missing)} in arguments; it needs {listed(needed)}"
        reader.add_problem(request, "arguments", message)


def _kind(node: Node) -> str:
    """The kind of a value, as an argument; a number is the same as its text."""
    if isinstance(node.value, dict):
        return "a mapping"
    if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
        return "a text"
    return show(plain(node))


def _request(entry: Traffic, request: Node, reader: Reader, calls: Mapping[str, CallSpec]) -> Traffic:
    """An entry that is a call, with everything that the call carries."""
    entries = request.entries()
    if "call" in entries and "operation" in entries:
        reader.add_problem(
            request, "traffic", '"call" stands beside "operation"; a request has one of them', key="call"
        )
    is_raw_call = "call" in entries
    operation = str(entries["call" if is_raw_call else "operation"].value)
    call = calls.get(operation)
    if is_raw_call:
        for word in (*_parts(calls), "params"):
            if word in entries and word != "content":
                message = f'{show(word)} does not go with "call", which has its query, and "content"'
                reader.add_problem(request, "traffic", message, key=word)
    elif call is None:
        near = nearest(operation, calls)
        legal = "" if near else f"; legal: {listed(calls)}"
        reader.add_problem(
            entries["operation"], "operation", f"{show(operation)} is not an operation{legal}", near=near
        )
    present_parts = [part for part in _parts(calls) if part in entries]
    if call is not None:
        for part in present_parts:
            if part != call.part and (part != "content" or call.part in entries or call.part in (None, "query")):
                takes = "nothing" if call.part is None else f'"{call.part}"'
                message = f"{show(part)} does not go with {operation}, which takes {takes} ({call.method} {call.path})"
                reader.add_problem(request, "traffic", message, key=part)
        _check_params(request, operation, call.params, reader)
    key, kind = request.get("key"), entries.get("type")
    if kind is not None and "content" not in entries:
        reader.add_problem(request, "traffic", '"type" is that of "content", which is not given', key="type")
    value = entries.get(call.part) if call is not None and call.part is not None else None
    params = request.get("params")
    return replace(
        entry,
        form="call" if is_raw_call else "operation",
        operation=operation,
        value=None if value is None else plain(value),
        params=() if params is None else tuple((word, plain(item)) for word, item in params.entries().items()),
        key=None if key is None else _key(key, reader),
        content=_content(entries.get("content"), call, kind),
        type=None if kind is None else str(kind.value),
    )


def _content(node: Node | None, call: CallSpec | None, kind: Node | None) -> bytes | None:
    """A body as it is written; None for an upload with the type that was announced."""
    if node is None or (call is not None and call.part == "content" and kind is None and not node.entries()):
        return None
    body = plain(node)
    return b64decode(body["base64"]) if isinstance(body, dict) else str(body).encode()


def compile_receiver(nodes: list[Node]) -> tuple[ReceiverBehavior, ...]:
    """The entries, as they are written."""
    return tuple(ReceiverBehavior(entry.get("webhook"), tuple(entry["ends"])) for entry in map(plain, nodes))


def compile_counterexample(
    node: Node, reader: Reader, calls: Mapping[str, CallSpec], acts: Mapping[str, Mapping[str, str]]
) -> Counterexample:
    """A wrong client, which must fail the expectations of the scenario that it names."""
    entries = node.entries()
    fails = words(entries["fails"]) or ()
    expected = None if reader.root is None else reader.root.get("expect")
    names = [str(name.value) for item in items(expected) if (name := item.get("name")) is not None]
    for failed in fails:
        if failed not in names:
            legal = listed(names) or "none"
            message = f"{show(failed)} is not the name of an expectation of this scenario; legal: {legal}"
            reader.add_problem(entries["fails"], "counterexample", message, near=nearest(failed, names))
    return Counterexample(
        str(entries["name"].value),
        fails,
        compile_traffic(entries["traffic"].items(), reader, calls, acts),
        compile_receiver(items(entries.get("receiver"))),
    )


def _parts(calls: Mapping[str, CallSpec]) -> list[str]:
    """The parts that calls carry, in one fixed order."""
    return list(dict.fromkeys(call.part for call in calls.values() if call.part is not None))


def _check_params(request: Node, operation: str, legal_names: tuple[str, ...], reader: Reader) -> None:
    """Checks that the parameters are those of the path."""
    params = request.get("params")
    entries = {} if params is None else params.entries()
    for word in entries:
        if word not in legal_names:
            legal = listed(legal_names) or "none"
            message = f"{show(word)} is not in the path of {operation}; legal: {legal}"
            reader.add_problem(params or request, "params", message, key=word, near=nearest(word, legal_names))
    missing = [word for word in legal_names if word not in entries]
    if missing and not request.incomplete and not any(word not in legal_names for word in entries):
        message = f"{show(operation)} has no {listed(missing)} in params, which stands in its path"
        reader.add_problem(request, "params", message)


def _check_references(node: Node, reader: Reader, names: dict[str, Node], all_names: set[str]) -> None:
    """Checks that every reference names an earlier entry; a call may have one as its path."""
    call = node.get("call")
    for inner in leaves(node):
        target = parse_reference(inner.value if inner is not call else str(inner.value).partition(" ")[2])
        if target is None or target[0] in names:
            continue
        name = target[0]
        why = "is sent later, or is this one" if name in all_names else "is not the name of an entry"
        legal = listed(names) or "none, because no entry before this one has a name"
        message = f'{show(inner.value)} refers to an answer, and "{name}" {why}; legal: {legal}'
        near = None if name in all_names else nearest(name, names)
        reader.add_problem(inner, "reference", message, near=near)


def leaves(node: Node) -> Iterator[Node]:
    """The scalar values inside a node."""
    if isinstance(node.value, dict | list):
        for inner in node.entries().values() or node.items():
            yield from leaves(inner)
    else:
        yield node


def _key(node: Node, reader: Reader) -> str | None:
    """The suffix of a sub-key, or a reference to a whole one; None is the account's own."""
    text = str(node.value)
    if parse_reference(text) is None and not _SUFFIX.fullmatch(text):
        message = (
            f"{show(text)} is not a suffix of a sub-key; legal: 1 to 64 of a-z A-Z 0-9 . _ -, {PARENT}, a reference"
        )
        reader.add_problem(node, "key", message)
    return None if text == PARENT else text


def _check_order(node: Node, entry: Traffic, last: dict[bool, tuple[int, Node]], reader: Reader) -> None:
    """Checks the order of time; moments that cannot be compared without the start are not checked."""
    at, relative, start = entry.at, entry.relative, reader.start
    place = node.entries()["at"]
    if place.incomplete:  # it is missing, which is reported already
        return
    if start is not None:
        if not relative and at < start:
            reader.add_problem(place, "order", f"{show(plain(place))} is before the world begins, at clock.start")
        at, relative = at + start if relative else at, False
    before = last.get(relative)
    if before is not None and at < before[0]:
        written = plain(before[1])
        message = f"{show(plain(place))} stands after {show(written)}; entries must be in order of time"
        reader.add_problem(place, "order", message)
        return
    last[relative] = (at, place)
