"""The schema files as one space of names: definitions by name, and the forms that are made of them.

Names are unique over all files, so that `sending.json#/$defs/Message` is simply `Message` wherever the file no longer
matters (OpenAPI's components, the validators). Our own keywords, which both validators pass over:

- `x-spec` the sections a node rests on, the first one leading; inherited by what is below it
- `x-assumed` the assumption it rests on; with `x-assumed-for`, only for the keywords listed there
- `x-setting` keywords that a setting of `assume:` relaxes, with its name; code checks those (see `without_settings`)
- `x-switch` of a property: the setting of `assume:` without which it is not legal; messages do not count it as legal
- `x-recorded` keywords as the specification has them, where those beside them are what we promise and tighter: what
  others recorded is judged by them (A98; see `as_recorded`)
- `x-truncate` the length to which a text is cut (`maxLength` would make generated clients refuse what is taken)
- `x-legal`, `x-noun`, `x-unit` words for messages: what is legal, what a thing is called, what a number counts
- `x-replaced-by` the name that took the place of a deprecated one

A definition with `unevaluatedProperties` extends others of its file (`allOf`): it is read with their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from sendbox.engine.answer import JsonObject

Node = JsonObject

LOCAL: Final = "#/$defs/"
#: The keywords that count for a map, or for a list, and for no value of another type.
OF_TYPE: Final = {
    "object": ("properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"),
    "array": ("items", "minItems", "maxItems"),
}


def load(*places: Path) -> dict[str, Node]:
    """Every definition of the `*.json` files in some folders, by name, references as `#/$defs/<name>`.

    Files named `*.schema.json` stand for themselves and are left out. Raises `ValueError` for a name given twice or
    a reference to nothing.
    """
    definitions: dict[str, Node] = {}
    referring: dict[str, str] = {}
    for path in (path for place in places for path in sorted(place.glob("*.json"))):
        if path.name.endswith(".schema.json"):
            continue
        defined, referred = _of_file(path)
        for name in defined:
            if name in definitions:
                raise ValueError(
                    f"{name} is defined twice, the second time in {path.name}; names are unique over files"
                )
        definitions |= defined
        referring = referred | referring
    for name, by in referring.items():
        if name not in definitions:
            raise ValueError(f"{name} is not defined; {by} refers to it")
    return definitions


class SchemaFiles:
    """The files of some folders, each of which is read when it is asked for."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._files: dict[str, dict[str, Node]] = {}

    @cached_property
    def definitions(self) -> dict[str, Node]:
        """The definitions of all files, by name. Raises `ValueError` where a file is wrong."""
        return load(*self._folders)

    def inlined(self, ref: str) -> Node:
        """The definition of a reference, inlined: out of its file alone, where that has all that it leads to."""
        file, name = ref.partition("#")[0], name_of(ref)
        if "definitions" not in self.__dict__:
            if file not in self._files:
                self._files[file] = load_alone(file, *self._folders)
            try:
                return inlined(self._files[file], name)
            except KeyError:  # it leads to another file, or to nothing
                pass
        return inlined(self.definitions, name)


def load_alone(file: str, *places: Path) -> dict[str, Node]:
    """The definitions of one file, by its name, as they stand there; empty where the file does not exist."""
    file_path = next((path for path in (place / file for place in places) if path.is_file()), None)
    return {} if file_path is None else _definitions(file_path)


def _definitions(path: Path) -> dict[str, Node]:
    """The definitions of a file, each with what it extends; a definition that others extend is none by itself."""
    nodes: dict[str, Node] = orjson.loads(path.read_bytes())["$defs"]
    extending = {name: node for name, node in nodes.items() if "unevaluatedProperties" in node}
    extended = {name_of(base["$ref"]) for node in extending.values() for base in node["allOf"]}
    whole = {name: _whole(node, nodes) for name, node in extending.items()}
    return {name: whole.get(name, node) for name, node in nodes.items() if name not in extended}


def _whole(node: Node, nodes: dict[str, Node]) -> Node:
    """A definition with the fields of those that it extends, in the order of its text; its own keywords win."""
    whole: Node = {"required": [], "properties": {}}
    for key, value in node.items():
        parts = [nodes[name_of(base["$ref"])] for base in value] if key == "allOf" else [{key: value}]
        for part in parts:
            whole["required"] += part.get("required", ())
            for name, field in part.get("properties", {}).items():
                whole["properties"][name] = {**whole["properties"].get(name, {}), **field}
    whole["additionalProperties"] = node["unevaluatedProperties"]
    return {key: value for key, value in node.items() if key not in ("allOf", "unevaluatedProperties")} | whole


def _of_file(path: Path) -> tuple[dict[str, Node], dict[str, str]]:
    """The definitions of a file, and the names that they refer to, each with a definition that does."""
    definitions: dict[str, Node] = {}
    referring: dict[str, str] = {}
    for name, node in _definitions(path).items():

        def local(ref: str, by: str = name) -> str:
            referring.setdefault(name_of(ref), by)
            return LOCAL + name_of(ref)

        definitions[name] = _with_references(node, local)
    return definitions, referring


def name_of(ref: str) -> str:
    """The definition that a reference names: `sending.json#/$defs/Message` is `Message`."""
    return ref.rpartition(LOCAL)[2]


def moved(node: Node, prefix: str) -> Node:
    """The node with its references under another prefix, for example `#/components/schemas/`."""
    return _with_references(node, lambda ref: prefix + ref.rpartition("/")[2])


def reachable(definitions: dict[str, Node], names: Iterable[str]) -> list[str]:
    """`names` and every definition that they lead to, in order. `ValueError` for one that is not defined."""
    reached: dict[str, None] = {}

    def visit(name: str, by: str) -> None:
        if name in reached:
            return
        if name not in definitions:
            raise ValueError(f"{name} is not defined; {by} refers to it")
        reached[name] = None
        references: dict[str, str] = {}
        _with_references(definitions[name], lambda ref: references.setdefault(ref, ref))
        for child in references:
            visit(name_of(child), name)

    for name in names:
        visit(name, "a route")
    return list(reached)


def inlined(definitions: dict[str, Node], name: str) -> Node:
    """The definition with every reference replaced by the definition it names; keywords beside a reference win.

    The validators get this form: it costs them no look-ups. The schemas hold no recursion.
    """

    def resolved(part: Node) -> Node:
        ref = part.pop("$ref", None)
        return part if ref is None else {**inlined(definitions, name_of(ref)), **part}

    node: Node = rebuilt(definitions[name], resolved)
    return node


def without_settings(node: Node) -> Node:
    """An inlined schema without the keywords that a setting may relax; code decides about those."""

    def strict(part: Node) -> Node:
        relaxed = part.get("x-setting") or ()
        return {key: value for key, value in part.items() if key not in relaxed}

    stripped: Node = rebuilt(node, strict)
    return stripped


def as_recorded(node: Node) -> Node:
    """An inlined schema with the keywords of the specification, in place of what we promise beyond them (§2.4, A98)."""
    looser: Node = rebuilt(node, lambda part: {**part, **part.get("x-recorded", {})})
    return looser


def rebuilt(node: object, change: Callable[[Node], Node]) -> Any:
    """A copy of a node in which each object, its parts before itself, went through `change`."""
    if isinstance(node, dict):
        return change({key: rebuilt(value, change) for key, value in node.items()})
    if isinstance(node, list):
        return [rebuilt(item, change) for item in node]
    return node


def with_optional(node: Node) -> Node:
    """An object whose properties that may be left out have `default` in an `allOf`; a constant is a `boolean_of`.

    It means the same. But generators of clients take a property with a `default` of its own for one that is always
    there, in requests too.
    """
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    required = node.get("required", ())
    optional = {name: _optional(value) for name, value in properties.items() if name not in required}
    return {**node, "properties": properties | optional}


def boolean_of(value: bool) -> Node:
    """A constant that may be left out, in the form of which generators of clients make code that compiles."""
    return {"type": "boolean", "not": {"const": not value}}


def _optional(node: Node) -> Node:
    if isinstance(node.get("const"), bool):
        return boolean_of(node["const"]) | {key: value for key, value in node.items() if key != "const"}
    if "default" not in node:
        return node
    other_keywords = {key: value for key, value in node.items() if key != "default"}
    return {**other_keywords, "allOf": [*other_keywords.get("allOf", ()), {"default": node["default"]}]}


def split_types(node: Node, kind: str) -> tuple[Node, Node, Node]:
    """A node of several types as three: its words, its part of one type, and its part of all others."""
    words = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
    own = {key: node[key] for key in OF_TYPE[kind] if key in node}
    others = [name for name in node["type"] if name != kind]
    rest = {key: value for key, value in node.items() if key != "type" and key not in words and key not in own}
    return words, {"type": kind, **own}, {"type": others[0] if len(others) == 1 else others, **rest}


def with_cases(node: Node) -> Node:
    """A node that is a map or a list, or else of another type, as `if`, `then` and `else`.

    It means the same. But in a list of types generators of clients pass over maps and lists, and of an `anyOf` with
    them some make code that does not compile. They take cases for a value of any type.
    """
    types = node.get("type")
    if not isinstance(types, list) or "properties" in node:
        return node
    kind = next((name for name in types if name in OF_TYPE), None)
    if kind is None or {*types} == {kind, "null"}:
        return node
    words, own, rest = split_types(node, kind)
    return {**words, "if": {"type": kind}, "then": own, "else": with_cases(rest)}


def _with_references(node: Node, change: Callable[[str], str]) -> Node:
    """A copy in which `$ref`s, and the references in a discriminator's `mapping`, went through `change`."""

    def referring(part: Node) -> Node:
        if isinstance(part.get("$ref"), str):
            part["$ref"] = change(part["$ref"])
        if "discriminator" in part:
            mapping = part["discriminator"]["mapping"]
            part["discriminator"]["mapping"] = {value: change(ref) for value, ref in mapping.items()}
        return part

    copy: Node = rebuilt(node, referring)
    return copy
