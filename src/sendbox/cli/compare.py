"""`sendbox compare`: recorded calls and answers of the service beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sendbox.cli.files import unusable
from sendbox.cli.outcome import CANNOT, USAGE, Failure, content

if TYPE_CHECKING:
    from sendbox.comparing.comparison import Compared
    from sendbox.engine.blueprint import Blueprint


def compare(
    file: Path, scenarios: tuple[str, ...], assume: tuple[str, ...], env: Mapping[str, str], *, values: bool
) -> list[Compared]:
    """Every call of a file with its differences. Raises `Failure`."""
    from sendbox.comparing.comparison import comparison
    from sendbox.comparing.recording import Unreadable, read
    from sendbox.runtime.worlds import Conflict

    blueprint = scenario(scenarios, assume, env)
    try:
        return comparison(read(content(file)), blueprint, values=values)
    except Unreadable as error:
        raise Failure(CANNOT, f"{file} cannot be compared: {error}") from None
    except Conflict as conflict:
        raise Failure(CANNOT, f"{file} cannot be compared: {conflict.message}") from None


def scenario(names: tuple[str, ...], assume: tuple[str, ...], env: Mapping[str, str]) -> Blueprint:
    """The scenarios joined, with settings of assumptions as NAME=VALUE over them. Raises `Failure`."""
    from sendbox.cli.files import source_of
    from sendbox.language import LANGUAGE
    from sendbox.scenario.model import ScenarioError

    sources: list[Any] = [source_of(name) for name in names]
    for given in assume:
        name, equals, value = given.partition("=")
        if not equals:
            raise Failure(USAGE, f"--assume {given} has no value; legal: NAME=VALUE, such as legacy_error=plain")
        sources.append(f"sendbox: 1\nassume:\n  {name}: {value}\n")
    try:
        return LANGUAGE.load(sources[0] if len(sources) == 1 else sources, env=env)
    except ScenarioError as error:
        raise unusable(" + ".join((*names, *assume)), error, USAGE if assume else CANNOT) from None
