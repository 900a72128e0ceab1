"""Values of the environment in scenarios: `${NAME}` and `${NAME:default}` inside a text, `$${` for the characters.

What stands there is put in once and is text; nothing in it is read as YAML, and nothing in it is replaced again. Only
where the language takes a number or a boolean, a value that is one `${…}` and nothing else becomes what it looks like:
`seed: ${SEED:7}` is the number 7. In quotes it stays text where text is legal, too.

The environment is passed in, and a scenario that came from elsewhere has none: it could ask for what is not its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sendbox.scenario.model import Node, Problem, nearest, problem, show
from sendbox.scenario.shape import Shape, property_of

MARK: Final = "${"
#: Why a scenario may not ask, by where it came from.
FROM_AFAR: Final = "a scenario that came over the network does not see the environment of the server"
FROM_LIBRARY: Final = "a scenario of the library is the same everywhere"

#: An escape, a use, or an opening that is neither. `${{1}}` is a variable of a template after a dollar sign.
_USE: Final = re.compile(r"\$\$\{|\$\{(?!\{)(?:([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\})?")
_NUMBERS: Final = ("integer", "number")
_KINDS: Final[dict[type, tuple[str, ...]]] = {bool: ("boolean",), int: ("integer", "number"), float: ("number",)}


def fill(root: Node, shape: Shape, environment: Mapping[str, str], refused: str | None = None) -> list[Problem]:
    """Puts values of the environment into the texts of a scenario; what is wrong with that.

    `refused` says why this scenario may not ask. A variable that is empty counts as one that is not set.
    """
    from sendbox.scenario.parse import scalar, unfit

    problems: list[Problem] = []
    for node, takes in _texts(root, shape, [shape.schema]):
        text = str(node.value)
        found: list[str] = []
        parts, end = [], 0
        for use in _USE.finditer(text):
            parts += [text[end : use.start()], _value(use, node, environment, refused, problems, found)]
            end = use.end()
        node.value = "".join([*parts, text[end:]])
        if len(found) == 1 and _USE.fullmatch(text) and (node.bare or not any(_text(part, found[0]) for part in takes)):
            looked = scalar(found[0])
            kinds = {kind for part in takes for kind in _kinds(part)}
            if kinds.intersection(_NUMBERS) and (wrong := unfit(looked, found[0])) is not None:
                problems.append(problem(node, *wrong, value=text))
                node.value, node.cut = 1, True
            elif kinds.intersection(_KINDS.get(type(looked), ())):
                node.value = looked
    return problems


def escaped(value: Any) -> Any:
    """A value whose texts `fill` would make the same of, whatever they hold."""
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return value.replace(MARK, f"${MARK}") if isinstance(value, str) else value


def _value(
    use: re.Match[str],
    node: Node,
    environment: Mapping[str, str],
    refused: str | None,
    problems: list[Problem],
    found: list[str],
) -> str:
    """What stands in place of one `${…}`; the values of the environment are added to `found`."""
    whole, name, default = use[0], use[1], use[2]
    if whole == "$${":
        return MARK
    message, near = None, None
    value = None if name is None else environment.get(name) or default
    if name is None:
        rest = use.string[use.start() :]
        message = f"{show(rest)} opens a value of the environment: ${{NAME}} or ${{NAME:default}} are legal"
        message = f"{message}, and $${{ for the characters themselves"
    elif refused is not None:
        message = f"{show(whole)} asks for a value of the environment, and {refused}"
        message = f"{message}; write the value, or $${{ for the characters themselves"
    elif value is None:
        near = nearest(name, environment)
        message = f"{show(whole)} is empty or not set in the environment; set {name}, or give a default: ${{{name}:…}}"
    elif not _sound(value):
        message = f"{show(whole)} is set to something that is no text in UTF-8"
    if message is None and value is not None:
        found.append(value)
        return value
    problems.append(problem(node, "environment", str(message), nearest=near, value=whole))
    # legal nearly everywhere, and not its own
    node.cut = True
    return "1"


def _sound(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(node: Node, shape: Shape, parts: list[dict[str, Any]]) -> Iterator[tuple[Node, list[dict[str, Any]]]]:
    """Every text with a `${`, and what the language takes there."""
    value = node.value
    if isinstance(value, str):
        if MARK in value:
            yield node, list(shape.branches(parts))
    elif isinstance(value, dict):
        branches = shape.branches(parts)
        for key, item in value.items():
            yield from _texts(item, shape, [part for branch in branches if (part := property_of(branch, key))])
    elif isinstance(value, list):
        inner = [branch["items"] for branch in shape.branches(parts) if "items" in branch]
        for item in value:
            yield from _texts(item, shape, inner)


def _text(part: dict[str, Any], text: str) -> bool:
    """Whether a text is legal where a part of the language stands: not every one is, where words are listed."""
    return (
        "string" in _kinds(part)
        and text in part.get("enum", (text,))
        and bool(re.search(part.get("pattern", ""), text))
    )


def _kinds(part: dict[str, Any]) -> list[str]:
    kinds = part.get("type", ())
    return [kinds] if isinstance(kinds, str) else list(kinds)
