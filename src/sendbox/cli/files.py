"""Scenario files: how commands read them, and the first one of `sendbox init`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sendbox import compiled, data
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, one_line, write_output
from sendbox.engine.texts import regex

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.scenario.model import Problem, ScenarioError

#: What may be the name of a library scenario: no folder, no suffix.
_NAME: Final = regex(r"[\w-]+")


def source_of(name: str) -> str | Path:
    """A name of the library, or a path; an existing file wins over a name."""
    return name if _NAME.fullmatch(name) and not os.path.exists(name) else Path(name)


def load(*names: str, env: Mapping[str, str] | None = None, texts: Iterable[str] = ()) -> Blueprint:
    """The scenario of a name of the library, or of a file, or of several joined. Raises `Failure`.

    `texts` are further scenarios, over these.
    """
    texts = tuple(texts)
    if names == (compiled.NAME,) and not texts and not os.path.isfile(compiled.NAME):
        return compiled.default()  # the language is not needed for it
    from sendbox.language import LANGUAGE
    from sendbox.scenario.model import ScenarioError

    # An existing file is read as one, also without a suffix that says so.
    sources: list[Path | str] = [Path(name) if os.path.isfile(name) else name for name in names]
    sources += texts
    try:
        return LANGUAGE.load(sources[0] if len(sources) == 1 else sources, env=env)
    except ScenarioError as error:
        raise unusable(" + ".join(names), error) from None


def unusable(name: str, error: ScenarioError) -> Failure:
    """The failure for a scenario that cannot be used, with every problem."""
    code = code_of(error.problems)
    problems = tuple(one_line(str(problem)) for problem in error.problems)
    if len(problems) == 1:
        return Failure(code, problems[0])
    return Failure(code, f"{name} has {len(problems)} problems, all above", problems)


def code_of(problems: Iterable[Problem], *, strict: bool = False) -> int:
    """The exit code of a command that found these problems; with `strict` a warning counts as well."""
    rules = [problem.rule for problem in problems if strict or problem.severity == "error"]
    return CANNOT if "file" in rules else NO if rules else OK


def schema() -> str:
    """The text of the language's schema."""
    return (data.folder("schemas") / "scenario.schema.json").read_text("utf-8")


# --- `sendbox init`

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
    if os.path.lexists(file):
        raise Failure(CANNOT, f"{file} exists already, and is left as it is: name another file")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(CANNOT, f"{file.parent} cannot be made: {error.strerror or error}") from None
    write_output(FIRST, file, new=True)
    schema_file = file.with_name(SCHEMA)
    if not os.path.lexists(schema_file):
        write_output(schema(), schema_file, new=True)
    click.echo(f"{file} is written, with its schema {schema_file}; read it, then:")
    for command in ("explain {} --channel richmsg", "play {}", "serve --scenario {}"):
        click.echo(f"  sendbox {command.format(shlex.quote(str(file)))}")
