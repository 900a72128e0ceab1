"""JSON Schemas of the classes that control answers, and of arguments, as the contract of control has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from sendbox.contract.schemas import OF_TYPE, boolean_of, with_cases
from sendbox.control.arguments import Duration, Moment, Written
from sendbox.engine.answer import COMPONENTS, REFERENCES, Answer, Instant, JsonObject

Schema = JsonObject
#: Arguments in a form of their own. Each is a component, so that clients have one class for it, and not one each time.
WRITTEN: Final = (Duration, Moment)
_INSTANT: Final = {"type": "string", "format": "date-time"}
_OF_NUMBERS: Final = ("minimum", "maximum")


class Schemas:
    """The schemas of types; the classes that they refer to are collected in `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def schema(self, kind: object) -> Schema:
        """The schema of a type. Raises `TypeError` for one that JSON does not have, and for two classes of one name."""
        (schema,), components = msgspec.json.schema_components(
            [kind], schema_hook=_schema_of, ref_template=f"{COMPONENTS}{{name}}"
        )
        for name, component in components.items():
            self._add(name, component)
        plain: Schema = _plain(schema)
        for name in _references(plain):
            self._refer(name)
        return plain

    def component(self, answer: type[Answer]) -> Schema:
        """The schema of a class itself."""
        self.schema(answer)
        return self.components[answer.__name__]

    def _add(self, name: str, component: Schema) -> None:
        component = _component(_classes()[name], component)
        if self.components.setdefault(name, component) != component:
            raise TypeError(f"{name} is the name of two classes of answers")
        for other in _references(component):
            self._refer(other)

    def _refer(self, name: str) -> None:
        """A component that is named, and not made of a field's type."""
        if name in self.components or name not in REFERENCES:
            return
        classes = REFERENCES[name]
        if classes[0] is _classes().get(name):
            self.schema(classes[0])
            return
        self.components[name] = {}  # its classes may refer to it
        self.components[name] = {"anyOf": [self.schema(answer_class) for answer_class in classes]}


def arguments_of(arguments: type[msgspec.Struct]) -> dict[str, Schema]:
    """The schemas of arguments by public name, from the class of them. Raises `TypeError` as `Schemas.schema` does."""
    _, components = msgspec.json.schema_components([arguments], schema_hook=_schema_of)
    return {name: _field(field) for name, field in components[arguments.__name__]["properties"].items()}


def inlined(schema: Mapping[str, Any]) -> Schema:
    """The schema, with that of an argument in a form of its own in place of its name."""
    written = {f"{COMPONENTS}{kind.__name__}": kind.SCHEMA for kind in WRITTEN}
    if (name := schema.get("$ref", "")) not in written:
        return dict(schema)
    return {**written[name], **{key: part for key, part in schema.items() if key != "$ref"}}


def in_query(schema: Schema) -> Schema:
    """The schema of an argument in a query, where all is text: of several types, generators make no code there."""
    schema = inlined(schema)
    if not isinstance(schema.get("type"), list):
        return schema
    examples = {"examples": [str(example) for example in schema["examples"]]} if "examples" in schema else {}
    return {**{key: part for key, part in schema.items() if key not in _OF_NUMBERS}, "type": "string", **examples}


def _schema_of(kind: type) -> Schema:
    if kind is Instant:
        return dict(_INSTANT)
    if issubclass(kind, Written):
        return {"$ref": f"{COMPONENTS}{kind.__name__}"} if kind in WRITTEN else dict(kind.SCHEMA)
    raise TypeError(f"{kind!r} is not a type of JSON")


@cache
def _classes() -> Mapping[str, type[Answer]]:
    """The classes of answers by their names."""

    def below(answer: type[Answer]) -> Iterator[type[Answer]]:
        for subclass in answer.__subclasses__():
            yield subclass
            yield from below(subclass)

    return {answer.__name__: answer for answer in below(Answer)}


def _references(schema: object) -> Iterator[str]:
    """The names of the components that a schema refers to."""
    if isinstance(schema, Mapping):
        if isinstance(name := schema.get("$ref"), str):
            yield name.removeprefix(COMPONENTS)
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _component(answer: type[Answer], schema: Schema) -> Schema:
    """The schema of a class: all its fields, and nothing else unless services add fields."""
    fields = {name: _field(field) for name, field in schema["properties"].items()}
    for name, hint in zip(answer.__struct_encode_fields__, _hints(answer), strict=True):
        if get_origin(hint) is Literal:  # in the order in which they are written
            fields[name]["enum"] = list(get_args(hint))
    extra: object = False
    if answer.EXTRA_FIELDS_TYPE is not None:
        extra = Schemas().schema(answer.EXTRA_FIELDS_TYPE) or True
    description = {"description": cleandoc(answer.__doc__)} if answer.__doc__ else {}
    return {
        "type": "object",
        **description,
        "properties": fields,
        "required": schema.get("required", []),
        "additionalProperties": extra,
    }


def _hints(answer: type[Answer]) -> list[object]:
    """The types of the fields of a class, in their order."""
    hints = get_type_hints(answer, include_extras=True)
    return [hints[name] for name in answer.__struct_fields__]


def _field(schema: Schema) -> Schema:
    """The schema of a field; one that is left out where it is None is never null."""
    if "default" in schema and schema["default"] is None:
        schema = {name: part for name, part in schema.items() if name != "default"}
        parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
        if parts:
            rest = {name: part for name, part in schema.items() if name != "anyOf"}
            schema = {**parts[0], **rest} if len(parts) == 1 else {**rest, "anyOf": parts}
    field: Schema = _plain(schema)
    return field


def _plain(schema: object) -> Any:
    """A schema in its shortest form."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: _plain(part) for name, part in schema.items()}
    if "$ref" in schema:
        return {name: part for name, part in schema.items() if name in ("$ref", "description")}
    parts = schema.get("anyOf", [])
    if {} in parts:
        return {name: part for name, part in schema.items() if name != "anyOf"}
    if parts and all(part.keys() <= {"type", *OF_TYPE.get(part.get("type"), ())} for part in parts):
        schema = {"type": [part["type"] for part in parts], **schema}
        for part in schema.pop("anyOf"):
            schema = {**part, **schema}
    words = schema.get("enum", [])
    if words == [True]:
        schema = boolean_of(True) | {key: part for key, part in schema.items() if key != "enum"}
    if "type" not in schema and words and all(isinstance(word, str) for word in words):
        schema["type"] = "string"
    if schema.get("type") == "object" and "properties" not in schema:
        schema.setdefault("additionalProperties", True)
    return with_cases(schema)
