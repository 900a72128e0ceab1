"""`sendbox replay`: makes a world again from its record, and says whether it is the same.

`sendbox assumptions --leaned`: the assumptions that a run relied on, with what other values would have shown.

`sendbox compare`: calls that were recorded at the service, made again, and their answers beside ours.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import click

from sendbox import __version__
from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.cli import address
from sendbox.cli.files import load, source_of
from sendbox.cli.options import ASSUME, scenario_option
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, content, format_json, one_line, write_output
from sendbox.comparing import recording, report
from sendbox.comparing.agreement import agree, scenario_text
from sendbox.comparing.comparison import comparison
from sendbox.contract.validators import contract_of
from sendbox.control.export import record
from sendbox.control.operation import Control, Served
from sendbox.control.replaying import Diverged, Replay
from sendbox.control.replicas.leaning import lines as told
from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonObject, plain
from sendbox.engine.commands.command import Open
from sendbox.runtime.slot import Conflict
from sendbox.server.loop import new_loop
from sendbox.settings import Settings

T = TypeVar("T")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def replay_command(file: Path) -> int:
    """The world is made in this process, command by command; nothing is sent. Exit code 0 when all entries of the
    journal and the digest are equal, 1 when some are not: then the first one that differs is shown. So a record of an
    older version shows what a newer one does differently.

    \b
    Example:
      sendbox export test-demo --as record --output demo.json && sendbox replay demo.json
    """
    report, code = replay(file)
    for line in report:
        click.echo(line)
    return code


def replay(file: Path, served: Served | None = None) -> tuple[list[str], int]:
    """The lines of the result, and the exit code: 0 where everything is equal, 1 where something differs.

    `served` None stands for what Sendbox itself serves. Raises `Failure` for a file that cannot be read.
    """
    served = served or SERVED
    recorded = read(file, served)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_replay(recorded, served))


def read(file: Path, served: Served) -> record.Recorded:
    """The record that a file holds. Raises `Failure`."""
    try:
        return record.read(content(file), served.language)
    except record.Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be replayed: {error}") from None


@asynccontextmanager
async def replayed_world(
    recorded: record.Recorded, served: Served
) -> AsyncIterator[tuple[Control, Replay, str | None]]:
    """The replay of a record in this process, with its control; and why it ended early, None = it did not."""
    opening = recorded.commands[0][1]
    assert isinstance(opening, Open)
    app = make_app(Settings(mode="manual"), opening.blueprint, contract_of(*served.schemas), served)
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


async def _replay(recorded: record.Recorded, served: Served) -> tuple[list[str], int]:
    async with replayed_world(recorded, served) as (_, replayed, stopped):
        return _report(recorded, record.compare(recorded, replayed.world, served.kinds), stopped)


def _report(recorded: record.Recorded, comparison: record.Comparison, stopped: str | None) -> tuple[list[str], int]:
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


async def _of_record(file: Path, recorded: record.Recorded) -> JsonObject:
    async with replayed_world(recorded, SERVED) as (control, replayed, stopped):
        world = replayed.world
        if stopped is not None or record.compare(recorded, world, SERVED.kinds).first is not None:
            message = f"{file}: this version makes another world of it; sendbox replay shows the first difference"
            raise Failure(CANNOT, message)
        control.runtime.worlds[world.id] = replayed.hosted
        answer: JsonObject = plain(await control.perform("", "leaning", world.id))
        return answer


def lines(answer: JsonObject) -> list[str]:
    """The answer for people."""
    return told(answer) or ["no assumption was relied on"]


# --- recorded calls and answers of the service


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@scenario_option("the world opens")
@click.option("--assume", **ASSUME)
@click.option("--values", is_flag=True, help="Compare values too, except ids, times and prices.")
@click.option("--json", "as_json", is_flag=True, help="Print the report to send: no bodies, values, keys or numbers.")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a scenario with the settings under which the sandbox agrees, and the evidence of each.",
)
def compare_command(
    file: Path, scenarios: tuple[str, ...], assume: tuple[str, ...], values: bool, as_json: bool, write: Path | None
) -> int:
    """FILE is a HAR file with calls and answers, or a journal of Sendbox. The same calls are made in a fresh world, in
    this process; nothing is sent anywhere. Each answer that differs in status or structure is shown, with the
    assumption that it touches, and with the setting under which it would agree. Exit code 0 when no answer differs, 1
    when one does; with --write, when one differs under the settings that were written.

    \b
    Examples:
      sendbox compare service.har
      sendbox compare --assume legacy_error=plain --json service.har
      sendbox compare --write assume.yaml service.har
    """
    agreed = None
    if write is None:
        compared = compare(file, scenarios, assume, os.environ, comparison, values=values)
    else:
        agreed = compare(file, scenarios, assume, os.environ, agree, values=values)
        compared = agreed.compared
        extends = scenarios[0] if len(scenarios) == 1 and isinstance(source_of(scenarios[0]), str) else None
        settings = dict(entry.split("=", 1) for entry in assume)
        write_output(scenario_text(agreed, one_line(file.name), extends, settings), write)
    if as_json:
        click.echo(format_json(report.as_object(compared)))
    else:
        for line in report.lines(compared):
            click.echo(one_line(line))
        if agreed is not None:
            click.echo(f"{write}: {agreed.summary}")
    return NO if (report.differing(compared) if agreed is None else agreed.left) else OK


def compare(
    file: Path,
    scenarios: tuple[str, ...],
    assume: tuple[str, ...],
    env: Mapping[str, str],
    comparer: Callable[..., T],
    *,
    values: bool,
) -> T:
    """The result of `comparer` for the calls of a file. Raises `Failure`."""
    blueprint = load(*scenarios, env=env, texts=Settings(assume=assume).assumptions)
    try:
        return comparer(recording.read(content(file)), blueprint, values=values)
    except recording.Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be compared: {error}") from None
    except Conflict as conflict:
        raise Failure(CANNOT, f"{file} cannot be compared: {conflict.message}") from None
