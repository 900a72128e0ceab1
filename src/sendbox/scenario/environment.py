"""Values of the environment in scenarios: `${NAME}` and `${NAME:default}` inside a text, `$${` for the characters.

The value is inserted once, as text: it is not read as YAML, and nothing in it is replaced again. Only where the
language takes a number or a boolean, a value that is one `${…}` and nothing else becomes what it looks like:
`seed: ${SEED:7}` is the number 7. In quotes it stays text where text is legal, too.

The environment is an argument. A scenario that came over the network has none: it could read values that are secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sendbox.engine.answer import JsonObject
from sendbox.scenario.model import Node, Problem, nearest, problem, show
from sendbox.scenario.parse import number_problem, scalar
from sendbox.scenario.shape import Shape, types_of

MARK: Final = "${"
#: Why a scenario may not use the environment, by its origin.
FROM_AFAR: Final = "a scenario that came over the network does not see the environment of the server"
FROM_LIBRARY: Final = "a scenario of the library is the same everywhere"

#: An escape, a use, or an opening that is neither. `${{1}}` is a variable of a template after a dollar sign.
_USE: Final = re.compile(r"\$\$\{|\$\{(?!\{)(?:([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\})?")
_NUMBERS: Final = ("integer", "number")
_KINDS: Final[dict[type, tuple[str, ...]]] = {bool: ("boolean",), int: ("integer", "number"), float: ("number",)}


def fill(root: Node, shape: Shape, environment: Mapping[str, str], refused: str | None = None) -> list[Problem]:
    """Puts values of the environment into the texts of a scenario, and answers the problems.

    `refused` says why this scenario may not use the environment. An empty variable counts as not set.
    """
    problems: list[Problem] = []
    for node, schemas in shape.leaves(root, [shape.schema]):
        if not (isinstance(node.value, str) and MARK in node.value):
            continue
        text, takes = node.value, shape.branches(schemas)
        values: list[str] = []

        def put_in(use: re.Match[str], node: Node = node, values: list[str] = values) -> str:
            if use[0] == "$${":
                return MARK
            try:
                values.append(_value(use, environment, refused))
            except _Refused as error:
                problems.append(problem(node, "environment", str(error), nearest=error.near, value=use[0]))
                node.incomplete = True  # the stand-in is legal nearly everywhere
                return "1"
            return values[-1]

        node.value = _USE.sub(put_in, text)
        if (
            len(values) == 1
            and _USE.fullmatch(text)
            and (node.bare or not any(_takes_text(branch, values[0]) for branch in takes))
        ):
            looked = scalar(values[0])
            kinds = {kind for branch in takes for kind in types_of(branch)}
            if kinds.intersection(_NUMBERS) and (wrong := number_problem(looked, values[0])) is not None:
                problems.append(problem(node, *wrong, value=text))
                node.value, node.incomplete = 1, True
            elif kinds.intersection(_KINDS.get(type(looked), ())):
                node.value = looked
    return problems


def escape_texts(value: object) -> Any:
    """A value with its texts escaped, so that `fill` gives the same value again."""
    if isinstance(value, dict):
        return {key: escape_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escape_texts(item) for item in value]
    return value.replace(MARK, f"${MARK}") if isinstance(value, str) else value


class _Refused(Exception):
    """A use of the environment that is not legal: the reason, and a similar name."""

    def __init__(self, message: str, near: str | None = None) -> None:
        super().__init__(message)
        self.near = near


def _value(use: re.Match[str], environment: Mapping[str, str], refused: str | None) -> str:
    """The value of one `${…}`. Raises `_Refused`."""
    use_text, name, default = use[0], use[1], use[2]
    if name is None:
        message = f"{show(use.string[use.start() :])} opens a value of the environment: ${{NAME}} or ${{NAME:default}}"
        raise _Refused(f"{message} are legal, and $${{ for the characters themselves")
    if refused is not None:
        message = f"{show(use_text)} asks for a value of the environment, and {refused}"
        raise _Refused(f"{message}; write the value, or $${{ for the characters themselves")
    value = environment.get(name) or default
    if value is None:
        message = (
            f"{show(use_text)} is empty or not set in the environment; set {name}, or give a default: ${{{name}:…}}"
        )
        raise _Refused(message, nearest(name, environment))
    if not _is_utf8(value):
        raise _Refused(f"{show(use_text)} is set to a value that is not UTF-8")
    return value


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _takes_text(schema: JsonObject, text: str) -> bool:
    """True if a text is legal for a schema; if the schema lists words, only these are legal."""
    return (
        "string" in types_of(schema)
        and text in schema.get("enum", (text,))
        and bool(re.search(schema.get("pattern", ""), text))
    )
