"""The forms of rules, faults and settings in the scenario language: values, each with its node of the JSON Schema and
its reader.

`schemas/scenario.schema.json` is written from the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Rate, Span

Node = JsonObject


class ValueNode(Protocol):
    """A value of a scenario, its shape already checked."""

    @property
    def value(self) -> Any: ...

    def get(self, key: str) -> ValueNode | None:
        """The value of a key; None if there is none."""

    def entries(self) -> Mapping[str, ValueNode]:
        """The entries of a mapping; empty if this is not a mapping."""

    def items(self) -> Sequence[ValueNode]:
        """The items of a list; empty if this is not a list."""


class ValueReader(Protocol):
    """Reads times, and notes what is wrong with one."""

    def duration(self, node: Any) -> int:
        """Milliseconds."""

    def span(self, node: Any) -> Span:
        """A span of milliseconds."""

    def rate(self, node: Any) -> Rate:
        """A count in a span of time, from either form."""


class Value(NamedTuple):
    """A legal value at some place of a scenario, and its reader, which takes what is there and a reader of values."""

    node: Node
    read: Callable[[Any, Any], Any]


def as_it_is(source: ValueNode, _reader: ValueReader) -> object:
    """A text, a number, true or false."""
    return source.value


def reference(
    name: str, description: str = "", read: Callable[[Any, Any], object] = as_it_is, **rules: object
) -> Value:
    """A value of which the schema has the definition under a name; without a description that of the definition."""
    return Value({"$ref": f"#/$defs/{name}"} | ({"description": description} if description else {}) | rules, read)


def duration(description: str) -> Value:
    """A time."""
    return reference("duration", description, lambda source, reader: reader.duration(source))


def rate(description: str) -> Value:
    """A count in a span of time."""
    return reference("rate", description, lambda source, reader: reader.rate(source))


def span(description: str, **rules: object) -> Value:
    """A time, or a span from which one is drawn."""
    return reference("span", description, lambda source, reader: reader.span(source), **rules)


def window(description: str) -> Value:
    """A time, as a span of which both ends are the same."""
    return reference("duration", description, lambda source, reader: Span(*[reader.duration(source)] * 2))


def positive(description: str) -> Value:
    """A whole number from 1."""
    return reference("positive", description)


def switch(description: str, **rules: object) -> Value:
    """True or false."""
    return Value({"description": description, "type": "boolean", **rules, "x-says": "true or false"}, as_it_is)


def word(description: str, words: Iterable[str], says: str, **rules: object) -> Value:
    """One of some words."""
    return Value({"description": description, "type": "string", "enum": list(words), **rules, "x-says": says}, as_it_is)


def whole(description: str, lowest: int, highest: int, says: str) -> Value:
    """A whole number within bounds."""
    node = {"description": description, "type": "integer", "minimum": lowest, "maximum": highest, "x-says": says}
    return Value(node, as_it_is)


def text(description: str, says: str, form: str = "", *examples: str, **rules: object) -> Value:
    """A text within rules such as `maxLength`; a parser reads its `form`, of which there are examples."""
    shape = {"x-form": form, "examples": [*examples]} if form else {}
    return Value({"description": description, "type": "string", **rules, **shape, "x-says": says}, as_it_is)


def mapping(title: str, description: str, keys: Mapping[str, Value], says: str, **rules: object) -> Value:
    """A mapping with these keys; `required` names those that it must have."""
    node = {
        "title": title,
        "description": description,
        "type": "object",
        "properties": {key: value.node for key, value in keys.items()},
        "additionalProperties": False,
        **rules,
        "x-says": says,
    }
    return Value(
        node, lambda source, reader: {key: keys[key].read(item, reader) for key, item in source.entries().items()}
    )


def any_keys(title: str, description: str, item: Value, says: str, **rules: object) -> Value:
    """A mapping of any keys."""
    node = {
        "title": title,
        "description": description,
        "type": "object",
        **rules,
        "additionalProperties": item.node,
        "x-says": says,
    }
    return Value(
        node, lambda source, reader: {key: item.read(value, reader) for key, value in source.entries().items()}
    )


def sequence(description: str, item: Value, says: str, **rules: object) -> Value:
    """A list."""
    node = {"description": description, "type": "array", "items": item.node, **rules, "x-says": says}
    return Value(node, lambda source, reader: tuple(item.read(entry, reader) for entry in source.items()))


def either(description: str, plain: Value, other: Value, says: str) -> Value:
    """One of two forms, of which the second one is a mapping or a list, and the first one is no such thing."""
    node = {"description": description, "anyOf": [plain.node, other.node], "x-says": says}
    structure: type = list if other.node["type"] == "array" else dict

    def read(source: ValueNode, reader: ValueReader) -> object:
        form = other if isinstance(source.value, structure) else plain
        return form.read(source, reader)

    return Value(node, read)


def into(make: Callable[..., object], form: Value) -> Value:
    """The result of a call with the keys of a mapping as arguments."""
    return Value(form.node, lambda node, reader: make(**form.read(node, reader)))
