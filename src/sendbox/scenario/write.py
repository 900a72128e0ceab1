"""Writes scenarios as YAML, so that this package reads the same scenario again."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Final

import yaml

from sendbox.engine.answer import JsonObject
from sendbox.scenario import parse
from sendbox.scenario.environment import escape_texts
from sendbox.scenario.model import Node, Source, plain
from sendbox.scenario.read import WHOLE

#: How many scenarios one may include; the last of them includes the others (`include` in the schema).
MAX_INCLUDED: Final = 50


def standalone(root: Node) -> JsonObject:
    """A scenario and everything that it builds on, as one scenario with the same meaning that builds on no other.

    What may be said once in a file may be said several times in a list of several files: a template that another one
    overrides, a rule with a second version. So the items of other files become scenarios of their own under `include`.
    """
    contents: list[JsonObject] = [{}]
    for key, node in root.entries().items():
        if key not in ("extends", "include"):
            _split_by_file(node, (key,), contents)
    for index in range(
        len(contents) // MAX_INCLUDED * MAX_INCLUDED, -1, -MAX_INCLUDED
    ):  # from the last to the first: each includes the one after it
        if followers := contents[index + 1 : index + 1 + MAX_INCLUDED]:
            numbered = enumerate(followers, index + 2)
            contents[index]["include"] = [
                {"sendbox": 1, "name": f"part {number}", **content} for number, content in numbered
            ]
    return contents[0]


def _split_by_file(node: Node, path: tuple[str, ...], contents: list[JsonObject]) -> None:
    """Puts a value into `contents`; the items of a list into the next one wherever the file changes."""
    if node.entries() and path[0] not in WHOLE:
        for key, item in node.entries().items():
            _split_by_file(item, (*path, key), contents)
    elif node.items() and path[0] not in WHOLE:
        for index, (_, items) in enumerate(groupby(node.items(), lambda item: id(item.source))):
            if index == len(contents):
                contents.append({})
            _set_value(contents[index], path, [plain(item) for item in items])
    else:
        _set_value(contents[0], path, plain(node))


def _set_value(target: JsonObject, path: tuple[str, ...], value: object) -> None:
    *parents, last = path
    for key in parents:
        target = target.setdefault(key, {})
    target[last] = value


def items(root: Node, path: tuple[str, ...]) -> list[Node]:
    """The items of a list of a scenario that builds on no other, in the order in which they count."""
    node = root.part(*path)
    include = root.get("include")
    inner = [] if include is None else include.items()
    return [*([] if node is None else node.items()), *(item for part in inner for item in items(part, path))]


def dump(value: JsonObject) -> str:
    """A scenario as YAML, keys in their order; as JSON, which is YAML too, where plain YAML would change a value."""
    value = escape_texts(value)
    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))
    node, problems = parse.parse(text, Source("scenario"))
    if problems or node is None or plain(node) != value:
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text
