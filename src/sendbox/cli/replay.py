"""`sendbox replay`: makes a world again from its record, and says whether it is the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sendbox.cli.outcome import CANNOT, NO, OK, Failure, one_line

if TYPE_CHECKING:
    from sendbox.control.export.record import Comparison, Recorded
    from sendbox.control.operation import Served


def replay(file: Path, served: Served | None = None) -> tuple[list[str], int]:
    """Lines that say what came of it, and the exit code: 0 where all is equal, 1 where something differs.

    `served` None stands for what Sendbox itself serves. Raises `Failure` for a file that cannot be read.
    """
    from sendbox.app import SERVED
    from sendbox.control.export.record import Unreadable, read
    from sendbox.server.loop import new_loop

    served = served or SERVED
    try:
        recorded = read(file.read_bytes(), served.language)
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be read: {error.strerror}") from None
    except Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be replayed: {error}") from None
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_replay(recorded, served))


async def _replay(recorded: Recorded, served: Served) -> tuple[list[str], int]:
    from sendbox.app import make_app
    from sendbox.contract.validators import Contract
    from sendbox.control.export.record import compare
    from sendbox.control.operation import Control
    from sendbox.control.replaying import Diverged, Replay
    from sendbox.engine.commands.command import Open
    from sendbox.runtime.worlds import Runtime
    from sendbox.settings import Settings

    opening: Any = recorded.commands[0][1]
    assert isinstance(opening, Open)
    runtime = Runtime(Settings(mode="manual"), opening.blueprint, served.parts)
    try:
        make_app(runtime, Contract(*served.schemas), served)
        made = Replay(Control(runtime, served), recorded.commands, recorded.ends)
        stopped = None
        try:
            made.finish()
        except Diverged as diverged:
            stopped = str(diverged)
        return _told(recorded, compare(recorded, made.world, served.kinds), stopped)
    finally:
        await runtime.aclose()


def _told(recorded: Recorded, found: Comparison, stopped: str | None) -> tuple[list[str], int]:
    from sendbox import __version__
    from sendbox.engine.digest import ENGINE

    by = f"recorded by Sendbox {recorded.version}, engine {recorded.engine}; replayed by {__version__}, engine {ENGINE}"
    if found.first is None and stopped is None and found.digest == recorded.digest:
        return [f"{recorded.world}: equal, {len(recorded.journal)} entries, digest {found.digest}", by], OK
    lines = [f"{recorded.world}: different", by]
    if stopped is not None:
        lines.append(f"the replay ended early: {one_line(stopped)}")
    if found.first is not None:
        there, here = found.recorded, found.replayed
        lines.append(f"entry {found.first} is the first that differs")
        lines.append(f"  recorded: {'nothing' if there is None else f'{there.at} {there.kind}'}")
        lines.append(f"  replayed: {'nothing' if here is None else one_line(json.dumps(here, ensure_ascii=False))}")
    elif found.digest != recorded.digest:
        lines.append(f"the digest was {recorded.digest}, and is {found.digest}")
    return lines, NO
