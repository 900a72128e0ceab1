"""`sendbox compare`, recorded calls and answers of the service beside ours, and `sendbox assumptions --leaned`, the
assumptions that a run relied on, with what other values would have shown."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sendbox.cli.files import load
from sendbox.cli.outcome import CANNOT, Failure, content
from sendbox.engine.answer import plain
from sendbox.settings import Settings

if TYPE_CHECKING:
    from sendbox.comparing.comparison import Compared
    from sendbox.control.export.record import Recorded


def of_world(url: str, world: str) -> dict[str, Any]:
    """The answer of a sandbox about the assumptions of one of its worlds. Raises `Failure`."""
    from sendbox.cli import address

    answer: dict[str, Any] = address.call(address.origin(url), "leaning", world, {})
    return answer


def of_file(file: Path) -> dict[str, Any]:
    """The same about a world that is made again from its record. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.cli.replay import read
    from sendbox.server.loop import new_loop

    recorded = read(file, SERVED)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_of_record(file, recorded))


async def _of_record(file: Path, recorded: Recorded) -> dict[str, Any]:
    from sendbox.app import SERVED
    from sendbox.cli.replay import made
    from sendbox.control.export.record import compare

    async with made(recorded, SERVED) as (control, replayed, stopped):
        world = replayed.world
        if stopped is not None or compare(recorded, world, SERVED.kinds).first is not None:
            message = f"{file}: this version makes another world of it; sendbox replay shows the first difference"
            raise Failure(CANNOT, message)
        control.runtime.worlds[world.id] = replayed.hosted
        answer: dict[str, Any] = plain(await control.perform("", "leaning", world.id))
        return answer


def lines(answer: dict[str, Any]) -> list[str]:
    """The answer for people."""
    from sendbox.control.beside.leaning import lines as told

    return told(answer) or ["no assumption was relied on"]


def compare(
    file: Path, scenarios: tuple[str, ...], assume: tuple[str, ...], env: Mapping[str, str], *, values: bool
) -> list[Compared]:
    """Every call of a file with its differences. Raises `Failure`."""
    from sendbox.comparing.comparison import comparison
    from sendbox.comparing.recording import Unreadable, read
    from sendbox.runtime.worlds import Conflict

    blueprint = load(*scenarios, env=env, texts=Settings(assume=assume).assumptions)
    try:
        return comparison(read(content(file)), blueprint, values=values)
    except Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be compared: {error}") from None
    except Conflict as conflict:
        raise Failure(CANNOT, f"{file} cannot be compared: {conflict.message}") from None
