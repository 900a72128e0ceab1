"""The scenario of a world as text, which means what was compiled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sendbox.scenario import library
from sendbox.scenario.write import dump

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.scenario.language import Language


def stem(world_id: str) -> str:
    """The name of a file of this world, without its ending."""
    return re.sub(r"[^0-9A-Za-z]+", "_", world_id).strip("_").lower() or "world"


def name_or_text(language: Language, blueprint: Blueprint) -> str:
    """The name of a scenario of the library, or the text of any other."""
    return blueprint.name if of_the_library(language, blueprint) else dump(source_of(blueprint))


def of_the_library(language: Language, blueprint: Blueprint) -> bool:
    """True if it is the scenario that has this name in the library."""
    return blueprint.name in library.names() and _is(language.load(blueprint.name), blueprint)


def library_name(language: Language, blueprint: Blueprint) -> str | None:
    """The name of a scenario of the library, which may have another title; None for any other scenario."""
    named = (row.name for row in library.rows() if blueprint.name in (row.name, row.title))
    return next((name for name in named if _is(language.load(name), blueprint)), None)


def _is(in_library: Blueprint, blueprint: Blueprint) -> bool:
    return in_library is blueprint or (in_library.source is not None and in_library.source == blueprint.source)


def source_of(blueprint: Blueprint) -> dict[str, Any]:
    """The scenario as an object."""
    return {"sendbox": 1, "name": blueprint.name} if blueprint.source is None else blueprint.source
