"""`sendbox export` and `sendbox report`: fetch a world as a file, and a document about it.

`sendbox coverage`: reports of several runs and jobs, added up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sendbox.app import SERVED
from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, USAGE, Failure, json_of, one_line
from sendbox.control.catalog import catalog
from sendbox.control.reports import coverage
from sendbox.control.reports.coverage import Report, Unreadable, scope_of

if TYPE_CHECKING:
    from sendbox.engine.texts import Pattern


def export(world: str, url: str, form: str) -> str:
    """The text of the file. Raises `Failure`."""
    return str(address.call(address.origin(url), "export", world, {"as": form})["text"])


def report(world: str | None, url: str, form: str) -> str:
    """The document in a format: html, json. The verdict in it is that at the end of the world. Raises `Failure`."""
    origin = address.origin(url)
    answer = address.call(origin, "report", address.world_at(origin, world), {"format": form, "ended": "true"})
    return answer if isinstance(answer, str) else json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def reports(pattern: Pattern, url: str, form: str) -> Iterator[tuple[str, str | Failure]]:
    """The documents and records of all worlds, open or kept closed, that fit: the name of each file and its text.

    Where a world has no record there is the failure that says why. Raises `Failure`, also where no world fits.
    """
    origin = address.origin(url)
    worlds = list(dict.fromkeys([*_fitting(origin, pattern, "false"), *_fitting(origin, pattern, "true")]))
    if not worlds:
        raise Failure(CANNOT, f"{one_line(pattern.text)} fits no world that is open or kept closed")
    for world in worlds:
        name = quote(world, safe="")
        yield f"{name}.report.{form}", report(world, url, form)
        try:
            yield f"{name}.record.json", export(world, url, "record")
        except Failure as failure:
            yield f"{name}.record.json", failure


def _fitting(origin: str, pattern: Pattern, closed: str) -> list[str]:
    """The names of the open worlds, or of the closed ones, that fit. Raises `Failure`."""
    pages = address.fitting(pattern)
    arguments = next(pages)
    while True:
        page = address.call(origin, "worlds", None, {**arguments, "closed": closed})
        try:
            arguments = pages.send(page)
        except StopIteration as end:
            names: list[str] = end.value
            return names


# --- coverage


def merged(files: tuple[str, ...], scope: str | None) -> Report:
    """The sum of several reports. Raises `Failure` for a file that is not a report."""
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
    try:
        return coverage.minimum(text, SERVED.dimensions)
    except ValueError as error:
        raise Failure(USAGE, f"--min: {error}") from None
