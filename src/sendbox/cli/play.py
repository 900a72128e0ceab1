"""`sendbox play`: scenarios that are run against traffic, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.cli.files import meant
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, one_line

if TYPE_CHECKING:
    from sendbox.playing.played import Played

#: What stands for characters that the encoding of a terminal does not have.
_ASCII: Final = str.maketrans({"→": ">", "…": "~"})
#: Columns where nobody says how many there are.
WIDTH: Final = 120


def play(name: str, *, seed: int | str | None = None, until: int | None = None) -> Played:
    """One scenario, played. Raises `Failure` with its problems where it has any, or where it cannot be played."""
    from sendbox.playing.player import play as run
    from sendbox.runtime.worlds import Conflict
    from sendbox.scenario.model import ScenarioError

    given: str | Path = meant(name)
    try:
        return run(given, seed=seed, until=until)
    except ScenarioError as error:
        found = tuple(one_line(str(problem)) for problem in error.problems)
        if len(found) == 1:
            raise Failure(NO, found[0]) from None
        raise Failure(NO, f"{name} has {len(found)} problems, all above", found) from None
    except Conflict as conflict:
        raise Failure(CANNOT, f"{name}: {conflict.message}") from None


def shown(played: Played, how: str, *, width: int, colour: bool) -> str:
    """What was played, in a format: text, json, mermaid."""
    if how == "json":
        from sendbox.playing.objects import objects

        return orjson.dumps(objects(played), option=orjson.OPT_INDENT_2).decode()
    if how == "mermaid":
        from sendbox.playing.mermaid import mermaid

        return mermaid(played)
    from sendbox.playing.text import text

    return text(played, width=width, colour=colour)


def coloured(terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: on a terminal that can, unless NO_COLOR forbids it."""
    return terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def fit(text: str, encoding: str) -> str:
    """The text with arrows that the encoding has."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(_ASCII)
    return text


def code(played: list[Played]) -> int:
    """0 when all went as expected, else 1."""
    return OK if all(each.passed for each in played) else NO
