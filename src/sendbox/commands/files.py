"""`sendbox check` and `sendbox init`: scenario files that are looked at, and the first one, written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sendbox.commands.outcome import CANNOT, Failure

if TYPE_CHECKING:
    from sendbox.scenario.model import Problem


#: What may be meant for a scenario of the library: no folder, no suffix.
_NAME: Final = re.compile(r"[\w-]+")


def check(names: tuple[str, ...]) -> list[tuple[str, list[Problem]]]:
    """Each file or scenario of the library, with every problem of it."""
    from sendbox.scenario.compile import check as problems

    return [(name, problems(meant(name))) for name in names]


def meant(name: str) -> str | Path:
    """What a name on the command line means: a scenario of the library, or else a path."""
    return name if _NAME.fullmatch(name) and not Path(name).exists() else Path(name)


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
