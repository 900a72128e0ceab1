"""`sendbox numbers`, `assumptions` and `schema`: the magic numbers, what is assumed, the schema of the language."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path

import click

from sendbox.cli import address
from sendbox.cli.files import schema
from sendbox.cli.options import OUTPUT, TEXT, TOKEN, URL
from sendbox.cli.outcome import USAGE, Failure, format_json, one_line, write_output
from sendbox.scenario.library import magic
from sendbox.services.assumptions import registry


@click.command()
def numbers_command() -> None:
    """The last two digits decide the result of a message. The four digits before them are free, so that every test has
    phones of its own.

    \b
    Example:
      a message to 420777123402 ends undelivered
    """
    click.echo(format_table(("ends in", "example", "what happens to a message"), magic()))


def format_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Rows with aligned columns."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--leaned", is_flag=True, help="List only those that a run relied on, with what their settings change.")
@click.option("--world", type=TEXT, metavar="KEY", help="With --leaned: the run is this world of a sandbox.")
@URL
@TOKEN
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the defaults.")
def assumptions_command(file: Path | None, leaned: bool, world: str | None, url: str | None, as_json: bool) -> None:
    """A setting is a key under `assume:` of a scenario that changes the row. The letter says how sure it is: F observed
    or documented, L likely, O our choice.

    With --leaned the list has the assumptions that a run relied on. FILE is the run's record (sendbox export --as
    record); --world names a world of a sandbox instead. The run is made again with other values of the settings, and
    the first answer or webhook that would have been different is shown.

    \b
    Examples:
      sendbox assumptions --json
      sendbox assumptions --leaned demo.json
      sendbox assumptions --leaned --world test-demo
    """
    if leaned == (file is None and world is None) or (file is not None and world is not None):
        raise Failure(USAGE, "--leaned needs a run: FILE or --world KEY; without --leaned there is neither")
    if leaned:
        from sendbox.cli import replay  # it makes worlds, which the list does not need

        answer = replay.of_file(file) if file is not None else replay.of_world(url or address.default(), str(world))
        click.echo(format_json(answer) if as_json else "\n".join(map(one_line, replay.lines(answer))))
        return
    if as_json:
        click.echo(format_json([row.as_json() for row in registry()]))
        return
    width = min(shutil.get_terminal_size().columns, 120)
    for row in registry():
        click.echo(f"{row.id}  {row.section}  {row.title}")
        click.echo(textwrap.fill(row.default, width, initial_indent="     ", subsequent_indent="     "))
        notes = [f"confidence {row.confidence}"]
        if row.setting:
            notes.append(f"setting {', '.join(row.setting)}")
        for profile, settings in row.profiles.items():
            notes.append(f"profile {profile}: {', '.join(f'{name} {value}' for name, value in settings.items())}")
        if not row.built:
            notes.append("not built yet")
        click.echo(f"     [{'; '.join(notes)}]")


@click.command()
@OUTPUT
def schema_command(output: Path | None) -> None:
    """Editors complete and check scenarios by it. A comment in the first line of a scenario names it:
    # yaml-language-server: $schema=sendbox.schema.json. A running sandbox has it too, at /_sandbox/schema.

    \b
    Example:
      sendbox schema --output scenarios/sendbox.schema.json
    """
    write_output(schema(), output)
