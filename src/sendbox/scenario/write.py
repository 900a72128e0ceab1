"""Writes scenarios as YAML that this package reads as it was meant."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any, Final

from sendbox.scenario.environment import escaped
from sendbox.scenario.model import Node, Source, plain
from sendbox.scenario.read import WHOLE

#: So many scenarios one may include; the last of them includes the others (`include` in the schema).
MOST: Final = 50


def standalone(root: Node) -> dict[str, Any]:
    """A scenario and all that it builds on as one that builds on nothing, and means the same.

    What a file says once, a list of several files says more than once: a template that another one overrides, a rule
    that has its own version. So the items of other files are scenarios that are written out under `include`.
    """
    parts: list[dict[str, Any]] = [{}]
    for key, node in root.entries().items():
        if key not in ("extends", "include"):
            _put(node, (key,), parts)
    for at in range(len(parts) // MOST * MOST, -1, -MOST):  # the last first, since the others hold it
        if others := parts[at + 1 : at + 1 + MOST]:
            numbered = enumerate(others, at + 2)
            parts[at]["include"] = [{"sendbox": 1, "name": f"part {number}", **part} for number, part in numbered]
    return parts[0]


def _put(node: Node, path: tuple[str, ...], parts: list[dict[str, Any]]) -> None:
    """Puts a value into the parts; the items of a list into one after the other, as the file changes."""
    if node.entries() and path[0] not in WHOLE:
        for key, item in node.entries().items():
            _put(item, (*path, key), parts)
    elif node.items() and path[0] not in WHOLE:
        for at, (_, items) in enumerate(groupby(node.items(), lambda item: id(item.source))):
            if at == len(parts):
                parts.append({})
            _set(parts[at], path, [plain(item) for item in items])
    else:
        _set(parts[0], path, plain(node))


def _set(part: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *way, last = path
    for key in way:
        part = part.setdefault(key, {})
    part[last] = value


def dump(value: dict[str, Any]) -> str:
    """A scenario as YAML, keys in their order. What plain YAML would make something else of is JSON, which is YAML."""
    import yaml

    from sendbox.scenario import parse

    value = escaped(value)
    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))
    node, problems = parse.parse(text, Source("scenario"))
    if problems or node is None or plain(node) != value:
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text
