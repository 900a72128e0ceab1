"""`sendbox play`: runs scenarios against traffic and shows the result."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import click
import orjson

from sendbox.cli.files import source_of, unusable
from sendbox.cli.options import DURATION, FILES, SEED, format_option
from sendbox.cli.outcome import CANNOT, NO, OK, Failure
from sendbox.playing import text
from sendbox.playing.play_result import Played, objects
from sendbox.playing.player import play as run
from sendbox.playing.text import mermaid
from sendbox.runtime.slot import Conflict
from sendbox.scenario.model import ScenarioError

#: Replacements for characters that the encoding of a terminal does not have.
_ASCII: Final = str.maketrans({"→": ">", "…": "~"})
#: Columns where the terminal does not say how many it has.
WIDTH: Final = 120


@click.command()
@FILES
@format_option("text", "json", "mermaid")
@click.option("--seed", **SEED)
@click.option(
    "--until",
    **DURATION,
    help="Stop this long after the start.  [default: when nothing is due any more, at most 30d after the last entry]",
)
def play_command(files: tuple[str, ...], format: str, seed: int | str | None, until: int | None) -> int:
    """Each FILE, a path or a name of the library, is opened in this process: nothing is served, and nothing is sent
    anywhere. Its requests are in `traffic` of the file; without it a message is sent for each rule. The text of
    several files ends with a line for each of them. Exit
    code 1 when a request does not get the status that it expects, or the scenario's expectations are not met, or one
    has a condition that nothing can meet.

    \b
    Examples:
      sendbox play otp-fallback
      sendbox play --format mermaid --until 2h scenarios/first.yaml
    """
    played = []
    width = min(shutil.get_terminal_size((WIDTH, 24)).columns, 160)
    colour = uses_colour(sys.stdout.isatty(), os.environ)
    for number, name in enumerate(files):
        result = play(name, seed=seed, until=until)
        played.append(result)
        text = format_played(result, format, width=width, colour=colour)
        click.echo(fit(f"\n{text}" if number else text, sys.stdout.encoding or "utf-8"))
    if len(files) > 1 and format == "text":
        click.echo(f"\n{summary(files, played)}")
    return code(played)


def play(name: str, *, seed: int | str | None = None, until: int | None = None) -> Played:
    """One scenario, played. Raises `Failure` with its problems where it has any, or where it cannot be played."""
    try:
        return run(source_of(name), seed=seed, until=until)
    except ScenarioError as error:
        raise unusable(name, error) from None
    except Conflict as conflict:
        raise Failure(CANNOT, f"{name}: {conflict.message}") from None


def format_played(played: Played, form: str, *, width: int, colour: bool) -> str:
    """The played scenario in a format: text, json, mermaid."""
    if form == "json":
        return orjson.dumps(objects(played), option=orjson.OPT_INDENT_2).decode()
    if form == "mermaid":
        return mermaid(played)

    return text.text(played, width=width, colour=colour)


def summary(names: Sequence[str], played: Sequence[Played]) -> str:
    """The result of each of several scenarios."""
    return text.summary(names, played)


def uses_colour(terminal: bool, environment: Mapping[str, str]) -> bool:
    """True if output is to be coloured: on a terminal with colours, unless NO_COLOR forbids it."""
    return terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def fit(text: str, encoding: str) -> str:
    """The text, with replacements where the encoding needs them."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(_ASCII)
    return text


def code(played: list[Played]) -> int:
    """0 when everything went as expected, else 1."""
    return OK if all(result.passed for result in played) else NO
