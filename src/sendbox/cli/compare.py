"""`sendbox compare`: recorded calls and answers of the service beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sendbox.cli.files import load
from sendbox.cli.outcome import CANNOT, Failure, content
from sendbox.settings import Settings

if TYPE_CHECKING:
    from sendbox.comparing.comparison import Compared


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
