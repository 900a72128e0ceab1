"""`sendbox export` and `sendbox report`: fetch a world as a file, and a document about it.

`sendbox coverage`: reports of several runs and jobs, added up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import click

from sendbox.app import SERVED
from sendbox.cli import address
from sendbox.cli.options import FILE, TEXT, TOKEN, URL, WORLD, format_option
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE, Failure, json_of, one_line, write_output
from sendbox.control.catalog import catalog
from sendbox.control.reports import coverage
from sendbox.control.reports.coverage import Report, Unreadable, scope_of
from sendbox.engine.texts import Pattern


@click.command()
@click.argument("world", type=TEXT)
@URL
@TOKEN
@click.option(
    "--as",
    "form",
    type=click.Choice(("pytest", "scenario", "record")),
    default="pytest",
    show_default=True,
    help="The form of the file.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write; nothing is overwritten.  [default: print it]"
)
def export_command(world: str, url: str | None, form: str, output: Path | None) -> None:
    """A pytest file ends in the world's digest, so it proves that the result is the same. What cannot be repeated is
    listed in the first lines of the file. A record has everything that came into the world (sendbox replay).

    \b
    Example:
      sendbox export test-demo --output test_demo.py && pytest test_demo.py
    """
    write_output(export(world, url or address.default(), form), output, new=True)


@click.command()
@URL
@TOKEN
@WORLD
@format_option("html", "json")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File to write it to; with * in --world, a directory.  [default: stdout]",
)
def report_command(url: str | None, world: str | None, format: str, output: Path | None) -> None:
    """The sandbox must be running. The document has what happened, what was refused or failed, advice, the verdict at
    the end of the world, coverage in short, the scenario, settings, and the digest. As HTML it is one page without
    scripts and further files, made to be kept by a CI job.

    With * in --world it stands for all worlds whose names fit, open ones and closed ones that are kept. The document
    and the record of each are written into the directory --output, as WORLD.report.html and WORLD.record.json.

    \b
    Examples:
      sendbox report --url http://sandbox:7357 --world test-demo --output report.html
      sendbox report --url http://sandbox:7357 --world 'test-job42-*' --output reports
    """
    at = url or address.default()
    pattern = address.pattern_of_worlds(world)
    if pattern is None:
        write_output(report(world, at, format), output)
        return
    if output is None:
        raise Failure(USAGE, f"{one_line(pattern.text)} stands for several worlds: name a directory with --output")
    for name, text in reports(pattern, at, format):
        if isinstance(text, Failure):
            click.echo(f"sendbox: {name} is not written: {text.message}", err=True)
            continue
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(CANNOT, f"{output} cannot be made: {error.strerror or error}") from None
        write_output(text, output / name)
        click.echo(f"{output / name} is written")


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


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@format_option("text", "json", "html")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write the report to.  [default: stdout]"
)
@click.option(
    "--min",
    "minima",
    multiple=True,
    metavar="PERCENT",
    help="Exit code 1 if less was tried; DIMENSION=PERCENT sets it for one dimension.",
)
@click.option(
    "--scope",
    metavar="LIST",
    help="Only what is about these operations, with commas between them; used: those that were called.  [default: all]",
)
def coverage_command(
    files: tuple[str, ...], format: str, output: Path | None, minima: tuple[str, ...], scope: str | None
) -> int:
    """FILE is what `--sendbox-coverage=FILE.json` wrote, or what a server says at /_sandbox/coverage.

    \b
    Example:
      sendbox coverage job-*.json --format html --output coverage.html --min 40 --scope used
    """
    minimum_by_dimension = dict(map(minimum, minima))
    total = merge_reports(files, scope)
    write_output(total.render(format), output)
    missed_minima = total.below(minimum_by_dimension)
    for line in missed_minima:
        click.echo(f"sendbox: {line}", err=True)
    return NO if missed_minima else OK


def merge_reports(files: tuple[str, ...], scope: str | None) -> Report:
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
