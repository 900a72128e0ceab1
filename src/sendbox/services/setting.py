"""A setting of the assumptions: one row, from which all texts about it are made.

The language's schema, how a scenario is read, the registry of assumptions and the documentation read the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, get_args

import msgspec
from msgspec.structs import asdict

from sendbox.engine import durations, forms
from sendbox.engine.answer import JsonMapping
from sendbox.engine.durations import Rate
from sendbox.engine.forms import Node, Value, ValueNode, word
from sendbox.engine.texts import Pattern

#: The keys that a node ends with, in order.
_LAST: Final = ("default", "examples", "x-assumed", "x-says")


class SettingReader(forms.ValueReader, Protocol):
    """A reader of values, which notes the problems of a value."""

    def add_problem(self, node: Any, rule: str, message: str, *, near: str | None = None) -> None:
        """Notes that a value breaks a rule; `near` is the value that is probably meant."""

    def countries(self, node: Any) -> Sequence[Any]:
        """The countries that an MCC or an ISO code means, each with its `iso`."""

    def country_code(self, node: Any) -> str:
        """A calling code that is assigned."""

    def money(self, node: Any) -> int:
        """Millionths of a currency's unit."""

    def phones(self, node: Any) -> Pattern:
        """A phone pattern."""


class Setting(NamedTuple):
    """The row of a setting.

    `assumption` is the id of the assumption that it changes, `also` has those of others. `default` is its value if a
    scenario does not set it. `node` is the schema of the value in a scenario, without the default, and `read` reads it.
    `unset` gives the meaning of None as default, in words. `other` is a value, as a scenario has it, that shows the
    effect of the setting; a choice of words needs none.
    """

    assumption: str
    default: object
    node: Node
    read: Callable[[ValueNode, SettingReader], object]
    unset: str
    other: object = None
    also: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The ids of all assumptions that it changes."""
        return (self.assumption, *self.also)

    def written(self, value: object) -> object:
        """A value as a scenario has it; None = the scenario leaves the setting out."""
        return _scenario_value(value, self.node)

    def others(self, value: object) -> list[object]:
        """Other values than this one, as a scenario has them: all of them if these are words, else the usual ones."""
        if self.node.get("type") == "boolean":
            legal = [False, True]
        else:
            examples = [] if self.other is None else [self.other]
            legal = self.node.get("enum") or [self.written(self.default), *examples]
        return [other for other in legal if other != self.written(value)]

    def definition(self) -> Node:
        """Its node in the schema."""
        node = self.node | {"x-assumed": self.assumption}
        if self.default is not None or "null" in node.get("type", ()):
            node["default"] = _scenario_value(self.default, node)
        return {key: node[key] for key in sorted(node, key=lambda key: _LAST.index(key) if key in _LAST else -1)}


def setting(
    assumption: str, form: Value, unset: str = "", *, other: object = None, also: tuple[str, ...] = ()
) -> Setting:
    """The row of a setting (see `Setting`), which `rows` gives its default."""
    return Setting(assumption, None, *form, unset, other, also)


def rows(defaults: msgspec.Struct, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The rows of all settings by name, in the order of `defaults`, of which each has its default."""
    names = defaults.__struct_fields__
    return {name: settings[name]._replace(default=getattr(defaults, name)) for name in names}


def definition(settings: Mapping[str, Setting], profiles: Mapping[str, JsonMapping]) -> Node:
    """The key `assume` in the language's schema."""
    return {
        "title": "assume",
        "description": "Settings for points that the specification does not define; sendbox assumptions lists them.",
        "type": "object",
        "properties": {"profile": _profile(profiles), **{name: row.definition() for name, row in settings.items()}},
        "additionalProperties": False,
        "x-says": "a mapping of settings",
    }


def _profile(profiles: Mapping[str, JsonMapping]) -> Node:
    says = "; ".join(
        f"{name} is {', '.join(f'{setting}: {value}' for setting, value in values.items())}"
        for name, values in profiles.items()
    )
    return {
        "description": f"Several settings at once, over which settings beside it win: {says}.",
        "type": "string",
        "enum": list(profiles),
        "x-says": "a profile",
    }


def choice(description: str, words: object) -> Value:
    """One of the words of a `Literal`."""
    return word(description, get_args(words), "a choice")


def _scenario_value(value: object, node: Node) -> object:
    """A value as a scenario has it."""
    if isinstance(value, Rate):
        return f"{value.count}/{durations.show(value.within)}"
    if isinstance(value, msgspec.Struct):
        keys = node.get("properties", {})
        return {name: _scenario_value(part, keys.get(name, {})) for name, part in asdict(value).items()}
    if isinstance(value, tuple) and "items" in node:
        return [_scenario_value(member, node["items"]) for member in value]
    return durations.show(value) if isinstance(value, int) and node.get("$ref") == "#/$defs/duration" else value
