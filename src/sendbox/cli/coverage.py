"""`sendbox coverage`: reports of several runs and jobs, added up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sendbox.cli.outcome import CANNOT, USAGE, Failure, json_of

if TYPE_CHECKING:
    from sendbox.control.reports.coverage import Report


def merged(files: tuple[str, ...], scope: str | None) -> Report:
    """The sum of several reports. Raises `Failure` for a file that is not a report."""
    from sendbox.app import SERVED
    from sendbox.control.catalog import catalog
    from sendbox.control.reports.coverage import Report, Unreadable, scope_of

    everything = catalog(SERVED)
    try:
        report = Report(everything, scope=None if scope is None else scope_of(scope.split(","), everything.rows))
    except ValueError as error:
        raise Failure(USAGE, f"--scope: {error}") from None
    for name in files:
        try:
            report.add_json(json_of(Path(name)))
        except Unreadable as unreadable:
            raise Failure(CANNOT, f"{name} cannot be added: {unreadable}") from None
    return report


def minimum(text: str) -> tuple[str | None, float]:
    """A minimum from its text: `60`, or `operations=80`. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.control.reports import coverage as report

    try:
        return report.minimum(text, SERVED.dimensions)
    except ValueError as error:
        raise Failure(USAGE, f"--min: {error}") from None
