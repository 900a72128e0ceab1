"""`sendbox coverage`: reports of several runs and jobs, added up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sendbox.cli.outcome import CANNOT, USAGE, Failure

if TYPE_CHECKING:
    from sendbox.control.report import Report


def merged(files: tuple[str, ...]) -> Report:
    """The sum of several reports. Raises `Failure` for a file that is none."""
    from sendbox.app import SERVED
    from sendbox.control.catalog import catalog
    from sendbox.control.report import Report, Unreadable

    report = Report(catalog(SERVED))
    for name in files:
        try:
            report.add_json(json.loads(Path(name).read_bytes()))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise Failure(CANNOT, f"{name} is no JSON: {error}") from None
        except Unreadable as unreadable:
            raise Failure(CANNOT, f"{name} cannot be added: {unreadable}") from None
    return report


def write(text: str, output: str | None, echo: Callable[..., None]) -> None:
    """Puts a report where it is wanted. Raises `Failure` where it cannot be written."""
    if output is None:
        echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(CANNOT, f"{output} cannot be written: {error.strerror or error}") from None


def minimum(given: str) -> tuple[str | None, float]:
    """A minimum as it is given: `60`, or `operations=80`. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.control import report

    try:
        return report.minimum(given, SERVED.dimensions)
    except ValueError as error:
        raise Failure(USAGE, f"--min: {error}") from None
