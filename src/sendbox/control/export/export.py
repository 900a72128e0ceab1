"""The operations that turn a world into a file that can be run again: a pytest file, a scenario, or its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import Annotated, Any, Final, Literal

from msgspec.structs import asdict

from sendbox import __version__
from sendbox.control.answers import Proof
from sendbox.control.export.pytest import About, PytestFile
from sendbox.control.export.record import build_record
from sendbox.control.export.scenario import name_or_text, of_the_library, scenario_of, source_of
from sendbox.control.export.script import build_script, file_stem
from sendbox.control.operation import Call, operation
from sendbox.control.records import proof_of
from sendbox.engine.answer import Answer, Instant, JsonObject, enum, reference
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.commands.record import RecordIncomplete
from sendbox.engine.digest import digest_in_slices
from sendbox.engine.durations import show
from sendbox.engine.kinds.rows import KindTable
from sendbox.engine.world import World
from sendbox.scenario.language import Language
from sendbox.scenario.write import dump

FORMS: Final = ("pytest", "scenario", "record")
FORM: Final = enum(FORMS)


class Place(Answer):
    """A place in the past of a world."""

    epoch: int
    at: Instant
    ticks: int


class RecordedCommand(Answer):
    """A command and its place; each command has fields of its own."""

    EXTRA_FIELDS_TYPE = Any

    command: str
    epoch: int
    at: Instant
    ticks: int


class Record(Answer):
    """All commands of a world; an entry of the `journal` is instant, kind and hash."""

    sendbox_record: int
    version: str
    engine: int
    world: str
    commands: list[Annotated[JsonObject, reference("RecordedCommand", RecordedCommand)]]
    ends: Place
    journal: list[list[str]]
    digest: str


class Exported(Proof):
    """A world as the text of a file; `left_out` lists what could not be in it."""

    as_: Literal["pytest", "scenario", "record"]
    file: str
    text: str
    left_out: list[str]


@operation("GET", "/worlds/{id}/record", present_only="it has all that was done", answers=Record, unmasked=True)
async def record(call: Call) -> JsonObject:
    """All commands of the world in order, each with its place: `sendbox replay` makes the world again from them.

    409 `record_cut` if a bound of the server removed a part of the record.
    """
    hosted = call.hosted
    await hosted.wait_until_idle()
    call.runtime.check_not_advancing(hosted)
    return await hosted.run_exclusively(_record(hosted.world, call.served.kinds))


def _record(world: World, kinds: KindTable) -> Generator[None, None, JsonObject]:
    """The record at one moment: the caller lets nothing else happen meanwhile. Raises `RecordIncomplete`."""
    world.record.check_complete()
    proof = yield from digest_in_slices(world, kinds)
    return (yield from build_record(world, kinds, proof))


@operation("GET", "/worlds/{id}/export", present_only="it has all that was done", answers=Exported, unmasked=True)
async def export(call: Call, as_: Annotated[str, FORM] = "pytest") -> Exported:
    """The world as a file that repeats what was done to it: `as` pytest, scenario, or record (`sendbox replay`).

    409 `record_cut` as for the record.
    """
    hosted = call.hosted
    await hosted.wait_until_idle()
    call.runtime.check_not_advancing(hosted)
    return await hosted.run_exclusively(_export(call, as_))


def _export(call: Call, as_: str) -> Generator[Callable[[], None] | None, None, Exported]:
    """The file, written on a worker thread while the world performs nothing else. Raises `RecordIncomplete`."""
    world, kinds = call.hosted.world, call.served.kinds
    proof = proof_of(world, (yield from digest_in_slices(world, kinds)))
    record_json = (yield from build_record(world, kinds, proof.digest)) if as_ == "record" else None
    files: list[Exported] = []
    failed: list[RecordIncomplete] = []

    def write() -> None:
        try:
            files.append(_file(call, as_, proof, record_json))
        except RecordIncomplete as incomplete:
            failed.append(incomplete)

    yield write
    if failed:
        raise failed[0]
    return files[0]


def _file(call: Call, as_: Any, proof: Proof, record_json: JsonObject | None) -> Exported:
    world, language = call.hosted.world, call.served.language
    if record_json is not None:
        text = json.dumps(record_json, indent=1)
        file = f"{file_stem(world.id)}.record.json"
        return Exported(**asdict(proof), as_=as_, file=file, text=text, left_out=[])
    actions = build_script(world)
    left_out = actions.left_out
    if as_ == "pytest":
        about = About(name_or_text(language, world.blueprint), proof.digest, proof.engine, __version__)
        file, text = f"test_{file_stem(world.id)}.py", PytestFile(world, actions, about, call.served.exported).text()
    else:
        value, left_out = scenario_of(language, world, actions, _base(language, world.blueprint), call.served.exported)
        head = [f"# {world.id}, exported by Sendbox {__version__}; its digest was {proof['digest']}"]
        file = f"{file_stem(world.id)}.yaml"
        until = f" --until {show(world.now - world.start)}" if _ends_early(world) else ""
        head.append(
            f"# sendbox play{until} {file} {'comes as close to it as a scenario can' if left_out else 'ends in it'}"
        )
        head += [f"# what differs: {line}" for line in left_out]
        text = "\n".join(head) + "\n" + dump(value)
    return Exported(**asdict(proof), as_=as_, file=file, text=text, left_out=left_out)


def _ends_early(world: World) -> bool:
    """True if the scenario, played until nothing is due, would go on beyond the present of the world."""
    lapsed = next(world.journal.numbers(frozenset({"lapse"})), None)
    return world.timeline.next_due() is not None or lapsed is not None


def _base(language: Language, blueprint: Blueprint) -> JsonObject:
    """The first keys of the scenario of an export."""
    if of_the_library(language, blueprint):
        return {"sendbox": 1, "name": f"{blueprint.name}, exported", "extends": blueprint.name}
    return source_of(blueprint)
