"""`sendbox replay`: makes a world again from its record, and says whether it is the same.

`sendbox assumptions --leaned`: the assumptions that a run relied on, with what other values would have shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sendbox import __version__
from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, content, one_line
from sendbox.contract.validators import Contract
from sendbox.control.export.record import Comparison, Recorded, Unreadable, compare
from sendbox.control.export.record import read as read_record
from sendbox.control.replaying import Diverged, Replay
from sendbox.control.replicas.leaning import lines as told
from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonObject, plain
from sendbox.engine.commands.command import Open
from sendbox.server.loop import new_loop
from sendbox.settings import Settings

if TYPE_CHECKING:
    from sendbox.control.operation import Control, Served


def replay(file: Path, served: Served | None = None) -> tuple[list[str], int]:
    """The lines of the result, and the exit code: 0 where everything is equal, 1 where something differs.

    `served` None stands for what Sendbox itself serves. Raises `Failure` for a file that cannot be read.
    """
    served = served or SERVED
    recorded = read(file, served)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_replay(recorded, served))


def read(file: Path, served: Served) -> Recorded:
    """The record that a file holds. Raises `Failure`."""
    try:
        return read_record(content(file), served.language)
    except Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be replayed: {error}") from None


@asynccontextmanager
async def replayed_world(recorded: Recorded, served: Served) -> AsyncIterator[tuple[Control, Replay, str | None]]:
    """The replay of a record in this process, with its control; and why it ended early, None = it did not."""
    opening = recorded.commands[0][1]
    assert isinstance(opening, Open)
    app = make_app(Settings(mode="manual"), opening.blueprint, Contract(*served.schemas), served)
    try:
        replayed = Replay(app.control, recorded.commands, recorded.ends)
        stopped = None
        try:
            replayed.finish()
        except Diverged as diverged:
            stopped = str(diverged)
        yield app.control, replayed, stopped
    finally:
        await app.runtime.aclose()


async def _replay(recorded: Recorded, served: Served) -> tuple[list[str], int]:
    async with replayed_world(recorded, served) as (_, replayed, stopped):
        return _report(recorded, compare(recorded, replayed.world, served.kinds), stopped)


def _report(recorded: Recorded, comparison: Comparison, stopped: str | None) -> tuple[list[str], int]:
    by = f"recorded by Sendbox {recorded.version}, engine {recorded.engine}; replayed by {__version__}, engine {ENGINE}"
    if comparison.first is None and stopped is None and comparison.digest == recorded.digest:
        return [f"{recorded.world}: equal, {len(recorded.journal)} entries, digest {comparison.digest}", by], OK
    lines = [f"{recorded.world}: different", by]
    if stopped is not None:
        lines.append(f"the replay ended early: {one_line(stopped)}")
    if comparison.first is not None:
        before, now = comparison.recorded, comparison.replayed
        lines.append(f"entry {comparison.first} is the first that differs")
        lines.append(f"  recorded: {'nothing' if before is None else f'{before.at} {before.kind}'}")
        lines.append(f"  replayed: {'nothing' if now is None else one_line(json.dumps(now, ensure_ascii=False))}")
    elif comparison.digest != recorded.digest:
        lines.append(f"the digest was {recorded.digest}, and is {comparison.digest}")
    return lines, NO


# --- the assumptions of a run


def of_world(url: str, world: str) -> JsonObject:
    """The answer of a sandbox about the assumptions of one of its worlds. Raises `Failure`."""
    answer: JsonObject = address.call(address.origin(url), "leaning", world, {})
    return answer


def of_file(file: Path) -> JsonObject:
    """The same about a world that is made again from its record. Raises `Failure`."""
    recorded = read(file, SERVED)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_of_record(file, recorded))


async def _of_record(file: Path, recorded: Recorded) -> JsonObject:
    async with replayed_world(recorded, SERVED) as (control, replayed, stopped):
        world = replayed.world
        if stopped is not None or compare(recorded, world, SERVED.kinds).first is not None:
            message = f"{file}: this version makes another world of it; sendbox replay shows the first difference"
            raise Failure(CANNOT, message)
        control.runtime.worlds[world.id] = replayed.hosted
        answer: JsonObject = plain(await control.perform("", "leaning", world.id))
        return answer


def lines(answer: JsonObject) -> list[str]:
    """The answer for people."""
    return told(answer) or ["no assumption was relied on"]
