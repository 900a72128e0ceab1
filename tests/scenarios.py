"""Scenarios for tests, in the language that is served; and blueprints that never were a scenario."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from sendbox.engine.blueprint import Blueprint
from sendbox.language import LANGUAGE

load: Final = LANGUAGE.load
check: Final = LANGUAGE.check
compile_rule: Final = LANGUAGE.compile_rule
_OWN: Final = set(Blueprint.__struct_fields__)


def make_blueprint(**parts: Any) -> Blueprint:
    """A blueprint of which these parts are compiled, by their keys of the language (`attempts=…`, `account=…`)."""
    empty = load({"sendbox": 1})
    compiled = {**empty.compiled, **{key: part for key, part in parts.items() if key not in _OWN}}
    own = {key: part for key, part in parts.items() if key in _OWN}
    return replace(empty, **{"name": "empty", "source": None, "compiled": compiled, **own})


def compiled(blueprint: Blueprint) -> Blueprint:
    """A blueprint without the text that it was compiled from."""
    return replace(blueprint, source=None, written=None)
