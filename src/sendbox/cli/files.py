"""`sendbox check` and `sendbox init`: scenario files that are looked at, and the first one, written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sendbox.cli.outcome import CANNOT, Failure, one_line

if TYPE_CHECKING:
    from sendbox.scenario.model import Problem


#: What may be meant for a scenario of the library: no folder, no suffix.
_NAME: Final = re.compile(r"[\w-]+")


def meant(name: str) -> str | Path:
    """A name of the library, or else a path; a file comes before a name."""
    return name if _NAME.fullmatch(name) and not Path(name).exists() else Path(name)


def check(
    names: tuple[str, ...], env: Mapping[str, str] | None = None, *, together: bool = False
) -> list[tuple[str, list[Problem]]]:
    """Each file or scenario of the library, with every problem of it; or all of them, joined into one."""
    from sendbox.language import LANGUAGE

    if together:
        return [(" + ".join(names), LANGUAGE.check([meant(name) for name in names], env=env))]
    return [(name, LANGUAGE.check(meant(name), env=env)) for name in names]


def report(found: Iterable[tuple[str, list[Problem]]], how: str, *, strict: bool = False) -> tuple[bool, str]:
    """Whether all is well, and the text that says so: `how` is `text`, `json` or `github`.

    With `strict` a warning is as bad as an error.
    """
    found = list(found)
    ok = not any(strict or each.severity == "error" for _, problems in found for each in problems)
    return ok, _FORMATS[how](found, ok)


def _as_text(found: list[tuple[str, list[Problem]]], _ok: bool) -> str:
    lines = [line for name, problems in found for line in (list(map(str, problems)) or [f"{name}: ok"])]
    return "\n".join(map(one_line, lines))


def _as_json(found: list[tuple[str, list[Problem]]], ok: bool) -> str:
    listed = [problem.as_json() for _, problems in found for problem in problems]
    return json.dumps({"ok": ok, "problems": listed}, indent=2, ensure_ascii=False, default=str)


def _as_commands(found: list[tuple[str, list[Problem]]], _ok: bool) -> str:
    """Workflow commands of GitHub Actions, which show a problem at its line of the change."""
    lines = dict.fromkeys(_command(problem) for _, problems in found for problem in problems)
    return "\n".join(lines)


def _command(problem: Problem) -> str:
    place = {"file": _from_here(problem.file), "line": problem.line, "col": problem.column, "title": problem.rule}
    given = ",".join(f"{key}={_escaped(value, more=True)}" for key, value in place.items() if value is not None)
    return f"::{problem.severity} {given}::{_escaped(problem.message)}"


def _from_here(file: str) -> str:
    """A path as GitHub knows it: from the top of the repository, where a workflow runs."""
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file


def _escaped(value: object, *, more: bool = False) -> str:
    """A text as workflow commands have it; in a property a colon and a comma would end it."""
    text = str(value)
    for char in "%\r\n:," if more else "%\r\n":
        text = text.replace(char, f"%{ord(char):02X}")
    return one_line(text)


_FORMATS: Final[dict[str, Callable[[list[tuple[str, list[Problem]]], bool], str]]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_commands,
}


def init(file: Path) -> None:
    """Writes a first scenario. Raises `Failure` where there is a file already, or none can be written."""
    from sendbox import data

    schema = (data.folder("schemas") / "scenario.schema.json").resolve().as_uri()
    try:
        with file.open("x", encoding="utf-8", newline="\n") as out:
            out.write(FIRST.replace("SCHEMA", schema))
    except FileExistsError:
        raise Failure(CANNOT, f"{file} is there already, and is left as it is: name another file") from None
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be written: {error.strerror or error}") from None


FIRST = """\
# yaml-language-server: $schema=SCHEMA
#
# The line above gives editors completion and checks; it names the schema of the Sendbox that wrote this file.
#
#   sendbox check FILE              says whether all of it is right
#   sendbox serve --scenario FILE   opens every world with it
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
  - {number: "4207770001*", channels: [sms]}

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
