"""The operations that turn a world into something that can be run again: a pytest file, a scenario, or its record."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from sendbox import __version__
from sendbox.control.export.pytest import About, pytest_file
from sendbox.control.export.record import written
from sendbox.control.export.scenario import scenario_of
from sendbox.control.export.script import script
from sendbox.control.export.source import name_or_text, of_the_library, source_of
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.records import digest
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.digest import digest_in_slices
from sendbox.engine.durations import show
from sendbox.scenario.language import Language
from sendbox.scenario.write import dump

if TYPE_CHECKING:
    from collections.abc import Generator

    from sendbox.engine.kinds.rows import Kinds
    from sendbox.engine.world import World

FORMS: Final = ("pytest", "scenario", "record")


@operation("GET", "/worlds/{id}/record")
async def record(call: Call) -> Any:
    """All commands that came into the world, in order, each with its place: what `sendbox replay` makes it again from.

    409 `record_cut` where a bound did not let all of it be kept.
    """
    hosted = call.here
    await hosted.free()
    call.runtime.not_advancing(hosted)
    return await hosted.whole(_record(hosted.world, call.served.kinds))


def _record(world: World, kinds: Kinds) -> Generator[None, None, dict[str, Any]]:
    """All of it is of one moment: whoever does it holds everything else back meanwhile. Raises `Cut`."""
    _ = world.record.opening
    proof = yield from digest_in_slices(world, kinds)
    return (yield from written(world, kinds, proof))


@operation("GET", "/worlds/{id}/export")
async def export(call: Call, as_: Any = "pytest") -> Any:
    """The world as a file that does again what was done to it: `as` pytest, scenario, or record (`sendbox replay`).

    409 `record_cut` where a bound did not let all of it be kept.
    """
    if as_ not in FORMS:
        raise ControlError(400, "bad_argument", f"as: {as_!r} is no form of an export; legal: {', '.join(FORMS)}")
    hosted, language = call.here, call.runtime.language
    call.runtime.not_advancing(hosted)
    proof = await digest(call)
    world = hosted.world
    if as_ == "record":
        text = json.dumps(await record(call), indent=1)
        return {"as": as_, "file": f"{_stem(world)}.record.json", "text": text, **proof, "left_out": []}
    made = script(world)
    stem = _stem(world)
    left_out = made.left_out
    if as_ == "pytest":
        about = About(name_or_text(language, world.blueprint), proof["digest"], proof["engine"], __version__)
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


def _stem(world: World) -> str:
    """What a file of this world is called."""
    return re.sub(r"[^0-9A-Za-z]+", "_", world.id).strip("_").lower() or "world"


def _ends_early(world: World) -> bool:
    """Whether playing on until nothing is due any more would not stop where the world is."""
    lapsed = next(world.journal.numbers(frozenset({"lapse"})), None)
    return world.timeline.next_due() is not None or lapsed is not None


def _base(language: Language, blueprint: Blueprint) -> dict[str, Any]:
    """What the scenario of an export begins with."""
    if of_the_library(language, blueprint):
        return {"sendbox": 1, "name": f"{blueprint.name}, exported", "extends": blueprint.name}
    return source_of(blueprint)
