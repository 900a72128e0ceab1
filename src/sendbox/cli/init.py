"""`sendbox init`: the first scenario of a project, and `sendbox schema`: the schema of the language, for its editor."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import click

from sendbox import data
from sendbox.cli.options import OUTPUT
from sendbox.cli.outcome import CANNOT, Failure, write_output

#: The schema as `init` writes it, beside the scenario: the line that names it works in every checkout.
SCHEMA: Final = "sendbox.schema.json"
FIRST: Final = (
    f"# yaml-language-server: $schema={SCHEMA}"
    """
#
# The line above gives editors completion and checks. The file that it names stands beside this one; `sendbox schema`
# prints that of a newer version.
#
#   sendbox check FILE                        says whether all of it is right
#   sendbox explain FILE --channel richmsg    shows what happens to a message, and why
#   sendbox serve --scenario FILE             opens every world with it
#
sendbox: 1
name: My first scenario

# Everything of the default scenario comes after what is said here, the magic numbers too (sendbox numbers).
extends: default

# Whatever looks random comes from the seed: the same seed, the same run.
seed: 7

# A manual clock stands still until a test moves it. `real` runs, `auto` jumps from step to step by itself.
clock: {mode: manual, start: "2026-03-01T09:00:00Z"}

account:
  credit: {eur: 25}
  # Where webhooks go when a message names no callback. Without it the built-in receiver of the world takes them.
  # default_callback_url: http://127.0.0.1:9000/hooks

phones:
  # These handsets have no rich-message app.
  - {number: "4207770002*", channels: [sms]}

# What becomes of messages: asked for each attempt, the first rule that fits decides.
attempts:
  - name: rich messages never arrive
    when: {channel: richmsg}
    then:
      # `after` counts from the entry before.
      - sending
      - sent: {after: 2s}
      - undelivered: {after: 30s, info: "[1] Undelivered"}

  - name: one in twenty advertisements is lost
    when: {tag: promo}
    mix: {delivered: 95, undelivered: 5}

  - name: questions are answered
    when: {body: "*?"}
    then: delivered
    replies: [{after: 20s, body: "YES"}]
"""
)


@click.command()
@click.argument("file", default="sendbox.yaml", type=click.Path(path_type=Path))
def init_command(file: Path) -> None:
    """It goes to FILE, sendbox.yaml unless given, and the schema of the language beside it, which its first line names
    for editors. Its folder is made where it is missing. Keep both under version control. Nothing is ever overwritten.

    \b
    Example:
      sendbox init scenarios/first.yaml && sendbox explain scenarios/first.yaml --channel richmsg
    """
    if file.exists():
        raise Failure(CANNOT, f"{file} exists already, and is left as it is: name another file")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(CANNOT, f"{file.parent} cannot be made: {error.strerror or error}") from None
    write_output(FIRST, file, new=True)
    schema_file = file.with_name(SCHEMA)
    if not schema_file.exists():
        write_output(schema(), schema_file, new=True)
    click.echo(f"{file} is written, with its schema {schema_file}; read it, then:")
    for command in ("explain {} --channel richmsg", "play {}", "serve --scenario {}"):
        click.echo(f"  sendbox {command.format(shlex.quote(str(file)))}")


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


def schema() -> str:
    """The text of the language's schema."""
    return (data.folder("schemas") / "scenario.schema.json").read_text("utf-8")
