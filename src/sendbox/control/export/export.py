"""The operation that turns a world into something that can be run again: a pytest file, or a scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from sendbox import __version__
from sendbox.control.export.pytest import About, pytest_file
from sendbox.control.export.scenario import scenario_of
from sendbox.control.export.script import script
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.records import digest
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.durations import show
from sendbox.scenario import library
from sendbox.scenario.language import Language
from sendbox.scenario.write import dump

if TYPE_CHECKING:
    from sendbox.engine.world import World

FORMS: Final = ("pytest", "scenario")


@operation("GET", "/worlds/{id}/export")
async def export(call: Call, as_: Any = "pytest") -> Any:
    """The world as a file that does again what was done to it and ends in the same digest: `as` pytest, or scenario."""
    if as_ not in FORMS:
        raise ControlError(400, "bad_argument", f"as: {as_!r} is no form of an export; legal: {', '.join(FORMS)}")
    hosted, language = call.here, call.runtime.language
    call.runtime.not_advancing(hosted)
    proof = await digest(call)
    world = hosted.world
    made = script(world)
    stem = re.sub(r"[^0-9A-Za-z]+", "_", world.id).strip("_").lower() or "world"
    left_out = made.left_out
    if as_ == "pytest":
        about = About(_scenario(language, world.blueprint), proof["digest"], proof["engine"], __version__)
        file, text = f"test_{stem}.py", pytest_file(world, made, about, call.served.exported)
    else:
        value, left_out = scenario_of(language, world, made, _base(language, world.blueprint), call.served.exported)
        head = [f"# {world.id}, exported by Sendbox {__version__}; its digest was {proof['digest']}"]
        file = f"{stem}.yaml"
        until = f" --until {show(world.now - world.start)}" if _ends_early(world) else ""
        head.append(f"# sendbox play{until} {file} {'is as near to it as a scenario is' if left_out else 'ends in it'}")
        head += [f"# not as it was: {line}" for line in left_out]
        text = "\n".join(head) + "\n" + dump(value)
    return {"as": as_, "file": file, "text": text, **proof, "left_out": left_out}


def _ends_early(world: World) -> bool:
    """Whether playing on until nothing is due any more would not stop where the world is."""
    lapsed = next(world.journal.numbers(frozenset({"lapse"})), None)
    return world.timeline.next_due() is not None or lapsed is not None


def _scenario(language: Language, blueprint: Blueprint) -> str:
    """The name of a scenario of the library, or the text of any other."""
    return blueprint.name if _of_the_library(language, blueprint) else dump(_source(blueprint))


def _of_the_library(language: Language, blueprint: Blueprint) -> bool:
    if blueprint.name not in library.names():
        return False
    known = language.load(blueprint.name)
    return known is blueprint or (known.source is not None and known.source == blueprint.source)


def _base(language: Language, blueprint: Blueprint) -> dict[str, Any]:
    """What the scenario of an export begins with."""
    if _of_the_library(language, blueprint):
        return {"sendbox": 1, "name": f"{blueprint.name}, exported", "extends": blueprint.name}
    return _source(blueprint)


def _source(blueprint: Blueprint) -> dict[str, Any]:
    return {"sendbox": 1, "name": blueprint.name} if blueprint.source is None else blueprint.source
