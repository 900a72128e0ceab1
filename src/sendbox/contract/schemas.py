"""The schema files as one space of names: definitions by name, and what is made of them.

Names are unique over all files, so that `sending.json#/$defs/Message` is simply `Message` wherever the file no longer
matters (OpenAPI's components, the validators). Our own keywords, which both validators pass over:

- `x-spec` the sections a node rests on, the first one leading; inherited by what is below it
- `x-assumed` the assumption it rests on; with `x-assumed-for`, only for the keywords listed there
- `x-setting` keywords that a setting of `assume:` relaxes, with its name; code checks those (see `without_settings`)
- `x-switch` of a property: the setting of `assume:` without which it is refused; messages do not count it as legal
- `x-truncate` the length to which a text is cut (`maxLength` would make generated clients refuse what is taken)
- `x-legal`, `x-noun`, `x-unit` words for messages: what is legal, what a thing is called, what a number counts
- `x-replaced-by` the name that took the place of a deprecated one
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import orjson

Node = dict[str, Any]

LOCAL: Final = "#/$defs/"


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
        for name, node in orjson.loads(path.read_bytes())["$defs"].items():
            if name in definitions:
                raise ValueError(
                    f"{name} is defined twice, the second time in {path.name}; names are unique over files"
                )

            def local(ref: str, by: str = name) -> str:
                referring.setdefault(name_of(ref), by)
                return LOCAL + name_of(ref)

            definitions[name] = _with_references(node, local)
    for name, by in referring.items():
        if name not in definitions:
            raise ValueError(f"{name} is not defined; {by} refers to it")
    return definitions


def name_of(ref: str) -> str:
    """The definition that a reference names: `sending.json#/$defs/Message` is `Message`."""
    return ref.rpartition(LOCAL)[2]


def moved(node: Node, prefix: str) -> Node:
    """The node with its references under another prefix, for example `#/components/schemas/`."""
    copy: Node = _with_references(node, lambda ref: prefix + ref.rpartition("/")[2])
    return copy


def reachable(definitions: dict[str, Node], names: Iterable[str]) -> list[str]:
    """`names` and every definition that they lead to, in order of first sight; `ValueError` for one that is nowhere."""
    found: dict[str, None] = {}

    def visit(name: str, by: str) -> None:
        if name in found:
            return
        if name not in definitions:
            raise ValueError(f"{name} is not defined; {by} refers to it")
        found[name] = None
        seen: list[str] = []

        def note(ref: str) -> str:
            seen.append(name_of(ref))
            return ref

        _with_references(definitions[name], note)
        for child in seen:
            visit(child, name)

    for name in names:
        visit(name, "a route")
    return list(found)


def inlined(definitions: dict[str, Node], name: str) -> Node:
    """The definition with every reference replaced by what it names; what stands beside a reference wins.

    The validators get this form: it costs them no look-ups. The schemas hold no recursion.
    """
    node: Node = _inline(definitions[name], definitions)
    return node


def without_settings(node: Any) -> Any:
    """An inlined schema without the keywords that a setting may relax; code decides about those."""
    if isinstance(node, dict):
        relaxed = node.get("x-setting") or ()
        return {key: without_settings(value) for key, value in node.items() if key not in relaxed}
    if isinstance(node, list):
        return [without_settings(item) for item in node]
    return node


def _inline(node: Any, definitions: dict[str, Node]) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            target = _inline(definitions[name_of(node["$ref"])], definitions)
            return {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return {key: _inline(value, definitions) for key, value in node.items()}
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    return node


def _with_references(node: Any, change: Callable[[str], str]) -> Any:
    """A copy in which `$ref`s, and the references in a discriminator's `mapping`, went through `change`."""
    if isinstance(node, dict):
        copy = {key: _with_references(value, change) for key, value in node.items()}
        if "$ref" in node:
            copy["$ref"] = change(node["$ref"])
        if "discriminator" in node:
            mapping = node["discriminator"]["mapping"]
            copy["discriminator"]["mapping"] = {value: change(ref) for value, ref in mapping.items()}
        return copy
    if isinstance(node, list):
        return [_with_references(item, change) for item in node]
    return node
