"""The default scenario as `scenarios/default.yaml` compiles to it, kept as JSON in `default.json`.

A start reads it instead of the language, which would cost 0.4 times the processor time of a bare server's start.
`scripts/docs` writes the file, and a test compares it with what the language makes of the scenario. It is JSON and not
a pickle: what changed can be read in it, and reading it calls only classes of this package.

An object is `{"of": "module:Class", …}` with the arguments that make it, an array is a tuple; `{"set": […]}`,
`{"dict": {…}}` and `{"json": …}`, which is taken as it stands, are the rest. `{"line": 3}` is a place in the scenario.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson
from msgspec.structs import asdict

from sendbox import data
from sendbox.engine.answer import JsonObject
from sendbox.services.tables import table

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint

#: The scenario that is kept, and the package whose classes the file may name.
NAME: Final = "default"
_PACKAGE: Final = "sendbox."
#: Values that JSON has too.
_PLAIN: Final = (str, int, float, type(None))


@cache
def default() -> Blueprint:
    """The blueprint of the default scenario."""
    blueprint: Blueprint = read(table(__package__, f"{NAME}.json"))
    return blueprint


def encode_blueprint(blueprint: Blueprint) -> bytes:
    """The file for a blueprint. Raises `TypeError` for a value that cannot be read again from it."""
    return orjson.dumps(node(blueprint), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@cache
def _file() -> str:
    """The scenario, as places in it name it."""
    return str(data.folder("scenarios").resolve() / f"{NAME}.yaml")


def read(stored: object) -> Any:
    """The value of a node. Raises `ValueError` for a class of another package."""
    if isinstance(stored, list):
        return tuple(map(read, stored))
    if not isinstance(stored, dict):
        return stored
    if "of" in stored:
        return _build(stored)
    if "json" in stored:
        return stored["json"]
    if "line" in stored:
        return f"{_file()}:{stored['line']}"
    if "set" in stored:
        return frozenset(map(read, stored["set"]))
    return {key: read(value) for key, value in stored["dict"].items()}


def _build(stored: JsonObject) -> object:
    module, _, name = stored["of"].partition(":")
    if not module.startswith(_PACKAGE):
        raise ValueError(f"{stored['of']} is not a class of this package")
    arguments = {key: read(value) for key, value in stored.items() if key != "of"}
    return getattr(import_module(module), name)(**arguments)


def node(value: object) -> Any:
    """The node of a value, from which it can be read. Raises `TypeError` if it cannot."""
    if isinstance(value, str) and value.startswith(f"{_file()}:"):
        return {"line": int(value.rpartition(":")[2])}
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, frozenset):
        return {"set": sorted(map(node, value))}
    if isinstance(value, dict | list) and _is_json(value):
        return {"json": value}
    if isinstance(value, dict):
        return {"dict": {key: node(item) for key, item in value.items()}}
    if type(value) is tuple:
        return list(map(node, value))
    kind = type(value)
    if not kind.__module__.startswith(_PACKAGE):
        raise TypeError(f"{value!r} cannot be kept: {kind} is not a class of this package")
    arguments = _arguments_of_record(value) if isinstance(value, msgspec.Struct) else _arguments(value)
    return {
        "of": f"{kind.__module__}:{kind.__qualname__}",
        **{name: node(argument) for name, argument in arguments.items()},
    }


def _arguments_of_record(record: msgspec.Struct) -> dict[str, object]:
    """The fields of a record that have not their defaults, without those that it works out itself."""
    kind: Any = type(record)
    names = kind.__struct_fields__
    defaults = dict(zip(reversed(names), reversed(kind.__struct_defaults__), strict=False))
    derived = getattr(kind, "DERIVED", ())
    return {
        name: value
        for name, value in asdict(record).items()
        if name not in derived and (name not in defaults or value != defaults[name])
    }


def _arguments(value: object) -> dict[str, object]:
    """The arguments that make an object, without those that have their defaults."""
    arguments: dict[str, object] = {}
    for name, parameter in inspect.signature(type(value)).parameters.items():
        argument = getattr(value, name)
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= argument
        elif argument != parameter.default:
            arguments[name] = argument
    return arguments


def _is_json(value: object) -> bool:
    """True if JSON can represent all of a value, so that it stays the same."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return all(map(_is_json, value)) if type(value) is list else isinstance(value, _PLAIN)
