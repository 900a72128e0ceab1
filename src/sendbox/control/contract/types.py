"""JSON Schemas of Python types: of answers, which are typed dictionaries, and of arguments.

A `TypedDict` becomes a component that has its name; its fields are all that there is, and its docstring describes it.
`Annotated` adds keywords of JSON Schema, or names a component that is made elsewhere (`Component`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

COMPONENTS: Final = "#/components/schemas/"
Schema = dict[str, Any]
_PLAIN: Final = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class Component(NamedTuple):
    """Stands in `Annotated` for a component that is not made of a type."""

    name: str


def further(kind: Any, values: Any = Any) -> None:
    """Says that a typed dictionary may have more fields, which services add, with values of this type."""
    kind.__further__ = values


class Keywords(Schema):
    """Keywords of JSON Schema that stand in `Annotated`, whose parts must have a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Each is itself."""
        return id(self)


def enum(legal: Iterable[Any]) -> Keywords:
    """The keywords of a text that is one of some words."""
    return Keywords(enum=list(legal))


class Types:
    """The schemas of types; what they refer to is collected in `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def schema(self, kind: Any) -> Schema:
        """The schema of a type. Raises `TypeError` for one that JSON does not have."""
        if is_typeddict(kind):
            return {"$ref": COMPONENTS + self._component(kind)}
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(*parts)
        if origin in (NotRequired, Required):
            return self.schema(parts[0])
        if origin is Literal:
            return {"enum": list(parts)} | ({"type": "string"} if all(isinstance(part, str) for part in parts) else {})
        if origin in (Union, UnionType):
            return self._any_of([self.schema(part) for part in parts])
        if origin in (list, Sequence):
            return {"type": "array", "items": self.schema(parts[0])}
        if kind is dict or origin in (dict, Mapping):
            values = self.schema(parts[1]) if parts else {}
            return {"type": "object", "additionalProperties": values or True}
        if kind is Any:
            return {}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        raise TypeError(f"{kind!r} is not a type of JSON")

    def fields(self, kind: Any) -> Schema:
        """The schema of a typed dictionary itself."""
        hints = get_type_hints(kind, include_extras=True)
        optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired} | kind.__optional_keys__
        schema: Schema = {"type": "object"}
        if kind.__doc__ is not None and not kind.__doc__.startswith("dict("):
            schema["description"] = cleandoc(kind.__doc__)
        schema["properties"] = {name: self.schema(hint) for name, hint in hints.items()}
        schema["required"] = [name for name in hints if name not in optional]
        schema["additionalProperties"] = False
        if hasattr(kind, "__further__"):
            schema["additionalProperties"] = self.schema(kind.__further__) or True
        return schema

    def _component(self, kind: Any) -> str:
        """The name of the component of a typed dictionary; two that have one name are told apart by their modules."""
        if kind in self._names:
            return self._names[kind]
        name: str = kind.__name__
        if name in self.components:
            name = f"{kind.__module__}.{name}"
        self._names[kind] = name
        self.components[name] = {}  # its fields may refer to it
        self.components[name] = self.fields(kind)
        return name

    def _annotated(self, kind: Any, *more: Any) -> Schema:
        """A type with keywords beside it. A component stands for the type."""
        schema = next(({"$ref": COMPONENTS + item.name} for item in more if isinstance(item, Component)), None)
        if schema is None:
            schema = self.schema(kind)
        for keywords in (item for item in more if isinstance(item, Mapping)):
            schema = {**schema, **keywords}
        return schema

    @staticmethod
    def _any_of(schemas: list[Schema]) -> Schema:
        """One of several schemas; in short where each is a plain type."""
        if {} in schemas:
            return {}
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}
