"""The OpenAPI 3.1 document of control, from the rows of its operations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sendbox.control.operation import Argument, Operation

_TYPES: Final = {str: "string", int: "integer", dict: "object", NoneType: "null"}
_ERROR: Final = {
    "type": "object",
    "description": "Why an operation was not done; further fields are details of that error.",
    "required": ["error", "message"],
    "properties": {
        "error": {"type": "string", "description": "A stable word."},
        "message": {"type": "string", "description": "A line for people."},
    },
}
_REFUSED: Final = {
    "description": "It was not done.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_RESUMED: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last event that was read; the stream goes on behind it.",
    "required": False,
    "schema": {"type": "string"},
}
_ANYTHING: Final = {"description": "JSON; what is in it depends on the operation."}


def document(
    rows: Iterable[Operation], streamed: Iterable[Operation], *, prefix: str, origin: str, version: str
) -> dict[str, Any]:
    """The document of these operations, and of those that answer with a stream of events, under `prefix`.

    `origin` is the address under which they are served.
    """
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(prefix + row.path, {})[row.method.lower()] = _operation(row)
    for row in streamed:
        paths[prefix + row.path] = {row.method.lower(): _stream(row)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sendbox control", "version": version, "summary": "Worlds, time, phones and what happened"},
        "servers": [{"url": origin}],
        "paths": paths,
        "components": {"schemas": {"Error": _ERROR}},
    }


def _operation(row: Operation) -> dict[str, Any]:
    text = inspect.getdoc(row.function) or row.name
    parameters = [_in_path("id")] if row.worldly else []
    parameters += [_in_path(name) for name in row.takes if row.in_path(name)]
    others = [argument for argument in row.legal.values() if not row.in_path(argument.name) and argument.name != "raw"]
    operation: dict[str, Any] = {"operationId": row.name, "summary": text.partition("\n")[0], "description": text}
    if row.method in ("GET", "DELETE") or row.raw:
        parameters += [_in_query(argument) for argument in others]
    elif others:
        operation["requestBody"] = {
            "required": _needs(others),
            "content": {"application/json": {"schema": _body(others)}},
        }
    if row.raw:
        operation["requestBody"] = {"required": False, "content": {"application/json": {"schema": _ANYTHING}}}
    if parameters:
        operation["parameters"] = parameters
    answer = {"description": "It was done.", "content": {"application/json": {"schema": _ANYTHING}}}
    statuses = [row.status, *([201] if row.makes else [])]
    operation["responses"] = {**{str(status): answer for status in statuses}, "4XX": _REFUSED}
    return operation


def _stream(row: Operation) -> dict[str, Any]:
    operation = _operation(row)
    operation.setdefault("parameters", []).append(_RESUMED)
    text = {"schema": {"type": "string"}}
    operation["responses"]["200"] = {"description": "Events, as they happen.", "content": {"text/event-stream": text}}
    return operation


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(argument: Argument) -> dict[str, Any]:
    return {"name": argument.name, "in": "query", "required": argument.required, "schema": {"type": "string"}}


def _needs(arguments: list[Argument]) -> bool:
    return any(argument.required for argument in arguments)


def _body(arguments: list[Argument]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: _schema(argument) for argument in arguments},
        "additionalProperties": False,
    }
    if _needs(arguments):
        body["required"] = [argument.name for argument in arguments if argument.required]
    return body


def _schema(argument: Argument) -> dict[str, Any]:
    return {"type": [_TYPES[kind] for kind in argument.kinds]} if argument.kinds else {}
