"""The OpenAPI 3.1 document of control, from the rows of its operations and the types that they name."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from sendbox.contract.schemas import OF_TYPE, boolean_of, load, name_of, with_cases, with_optional
from sendbox.control.arguments import Duration, Moment, Written
from sendbox.control.operation import THEN, Operation, Served, Text
from sendbox.control.stream import STREAMED
from sendbox.engine.answer import COMPONENTS, REFERENCES, Answer, Instant, JsonObject
from sendbox.engine.kinds.rows import KindTable
from sendbox.services.http.openapi import LICENSE, components

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


_ERROR: Final = {
    "type": "object",
    "description": "Why an operation was not done; further fields are details of that error.",
    "required": ["error", "message"],
    "properties": {
        "error": {"type": "string", "description": "A stable word."},
        "message": {"type": "string", "description": "A line for people."},
    },
    "additionalProperties": True,
}
_REFUSED: Final = {
    "description": "It was not done.",
    "content": {"application/json": {"schema": {"$ref": f"{COMPONENTS}Error"}}},
}
_FAILED: Final = {
    **_REFUSED,
    "description": "A bound of the server is reached (503, for example `too_many_worlds`), or the sandbox failed (500, "
    "`internal`).",
}
_TOKEN: Final = {"type": "http", "scheme": "bearer", "description": "A token, where the server asks for one."}
_RESUMED: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last event that was read; the stream goes on behind it.",
    "required": False,
    "schema": {"type": "string"},
}
_DATA: Final = "The data of an event; `x-events` has it by the name of the event."
#: The fields of every entry of the journal. The order of arrival mattered where it is `order_sensitive`.
_HEAD: Final[dict[str, Schema]] = {
    "n": {"type": "integer"},
    "at": {"type": "string", "format": "date-time"},
    "order_sensitive": boolean_of(True),
}
_STRICT: Final = ["n", "at", "kind"]


def document(served: Served, *, prefix: str, origin: str, version: str) -> JsonObject:
    """The document of all operations that are served, and of the streams, under `prefix`.

    `origin` is the address under which the operations are served. The first call takes long. Raises `TypeError` for an
    answer or argument whose type JSON does not have.
    """
    paths, schemas = _described(served, prefix)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sendbox control",
            "version": version,
            "license": LICENSE,
            "summary": "Worlds, time, phones and what happened",
        },
        "servers": [{"url": origin}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": _TOKEN}},
    }


@cache
def _described(served: Served, prefix: str) -> tuple[dict[str, JsonObject], dict[str, Schema]]:
    """The paths, and the components."""
    types = Schemas()
    types.components["Error"] = _ERROR
    types.components |= {kind.__name__: kind.SCHEMA for kind in WRITTEN}
    types.components |= _webhook_events(served)
    types.components |= _entries(types, served.kinds)
    paths: dict[str, JsonObject] = {}
    for row in served.operations:
        paths.setdefault(prefix + row.path, {})[row.method.lower()] = _operation(types, row)
    for row in STREAMED:
        paths[prefix + row.path] = {row.method.lower(): _operation(types, row, _RESUMED)}
    return paths, types.components


def _webhook_events(served: Served) -> dict[str, Schema]:
    """The schemas of events, which the contract of the service has too, and one component that is any of them."""
    names = [name_of(webhook.schema) for webhook in served.webhooks.values()]
    schemas = components(load(*served.schemas), names)
    events: list[Schema] = []
    for name in names:
        event = {"$ref": COMPONENTS + name}
        if schemas[name]["type"] == "array":
            event = schemas.pop(name)["items"]
        if event not in events:
            events.append(event)
    text = "An event as a webhook carries it; the contract of the service has it under `webhooks`."
    either: Schema = {"anyOf": events} if events else {"type": "object", "additionalProperties": True}
    return {**schemas, "WebhookEvent": {"description": text, **either}}


def _entries(types: Schemas, kinds: KindTable) -> dict[str, Schema]:
    """The entries of the journal: one component for each kind that says what it shows, one for all others."""
    classes = {
        kind.shown_as or kind.name: kind.view_type for kind in kinds.by_code.values() if kind.view_type is not None
    }
    entries: dict[str, Schema] = {}
    for name, view_type in classes.items():
        fields = types.component(view_type)
        del types.components[view_type.__name__]  # an entry has these fields and the head
        entries[f"{name.title().replace('_', '')}Entry"] = {
            **fields,
            "properties": {**_HEAD, "kind": {"const": name}, **fields["properties"]},
            "required": [*_STRICT, *fields["required"]],
        }
    entries["OtherEntry"] = {
        "type": "object",
        "description": "An entry of any other kind.",
        "properties": {**_HEAD, "kind": {"enum": [name for name in kinds.by_view_name if name not in classes]}},
        "required": _STRICT,
        "additionalProperties": True,
    }
    either = [{"$ref": COMPONENTS + name} for name in entries]
    return {**entries, "Entry": {"description": "An entry of the journal.", "anyOf": either}}


def _operation(types: Schemas, row: Operation, *further: JsonObject) -> JsonObject:
    """An operation; `further` are parameters that its function does not take."""
    text = inspect.getdoc(row.function) or row.name
    schemas = arguments_of(row.arguments)
    parameters = [_parameter("id", "path", {"type": "string"}, required=True)] if row.worldly else []
    parameters += [_parameter(name, "path", schemas[name], required=True) for name in schemas if row.in_path(name)]
    others = {name: schemas[name] for name in schemas if name != "raw" and not row.in_path(name)}
    required = [name for name in others if row.takes[name].required]
    operation: JsonObject = {
        "operationId": row.name,
        "tags": [row.tag],
        "summary": text.partition("\n")[0],
        "description": text,
    }
    if row.deprecated:
        operation["deprecated"] = True
    if row.scope == "open":
        operation["security"] = []
    if row.method in ("GET", "DELETE") or row.raw:
        parameters += [
            _parameter(name, "query", in_query(schema), required=name in required) for name, schema in others.items()
        ]
    elif others:
        operation["requestBody"] = {
            "required": bool(required),
            "content": {"application/json": {"schema": _body(others, required)}},
        }
    if THEN in row.legal:
        parameters.append(_parameter(THEN, "query", {"type": "string"}, required=False))
    if row.raw:
        operation["requestBody"] = {"required": False, "content": {"application/json": {"schema": schemas["raw"]}}}
    if parameters or further:
        operation["parameters"] = [*parameters, *further]
    answer = {"description": "It was done.", "content": _content(types, row.answers)}
    statuses = [row.status, *([201] if row.makes else [])]
    operation["responses"] = {**{str(status): answer for status in statuses}, "4XX": _REFUSED, "5XX": _FAILED}
    return operation


def _content(types: Schemas, answers: object) -> JsonObject:
    """The forms of an answer: JSON, and text of its media types; or a stream, with the data of each event."""
    if isinstance(answers, Mapping):
        events = {name: types.schema(data) for name, data in answers.items()}
        distinct = [data for index, data in enumerate(events.values()) if data not in [*events.values()][:index]]
        schema = {"type": "string", "contentSchema": {"description": _DATA, "anyOf": distinct}}
        return {"text/event-stream": {"schema": schema, "x-events": events}}
    texts = {part: get_args(part)[1:] for part in get_args(answers) if get_args(part)[:1] == (Text,)}
    if not texts:
        return {"application/json": {"schema": types.schema(answers)}}
    (kind,) = (part for part in get_args(answers) if part not in texts)
    media = {name: {"schema": {"type": "string"}} for names in texts.values() for name in names}
    return {"application/json": {"schema": types.schema(kind)}, **media}


def _parameter(name: str, where: str, schema: Schema, *, required: bool) -> JsonObject:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _body(fields: Mapping[str, Schema], required: list[str]) -> JsonObject:
    body: JsonObject = {"type": "object", "properties": fields, "additionalProperties": False}
    if required:
        body["required"] = required
    return with_optional(body)
