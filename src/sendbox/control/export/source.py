"""The scenario of a world as text, which means what was compiled."""

from __future__ import annotations

from typing import Any

from sendbox.engine.blueprint import Blueprint
from sendbox.scenario import library
from sendbox.scenario.language import Language
from sendbox.scenario.write import dump


def name_or_text(language: Language, blueprint: Blueprint) -> str:
    """The name of a scenario of the library, or the text of any other."""
    return blueprint.name if of_the_library(language, blueprint) else dump(source_of(blueprint))


def of_the_library(language: Language, blueprint: Blueprint) -> bool:
    """Whether it is the scenario of its name in the library."""
    if blueprint.name not in library.names():
        return False
    known = language.load(blueprint.name)
    return known is blueprint or (known.source is not None and known.source == blueprint.source)


def source_of(blueprint: Blueprint) -> dict[str, Any]:
    """The scenario as an object."""
    return {"sendbox": 1, "name": blueprint.name} if blueprint.source is None else blueprint.source
