"""The end of commands: exit codes, the exception that carries one with its message, files that are read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click

OK: Final = 0
NO: Final = 1
USAGE: Final = 2
CANNOT: Final = 3
#: As shells have it; `serve`, `forward` and `record` are meant to be ended so, and have 0.
INTERRUPTED: Final = 130

#: The exit codes of all commands. The same case has the same code in every command.
CODES: Final[dict[int, str]] = {
    OK: "success",
    NO: "the answer is no: a scenario has problems, an expectation does not hold, two runs differ, less was tried than "
    "the minimum, a request is refused, the sandbox is not ready, a misfortune breaks the client",
    USAGE: "the arguments are wrong",
    CANNOT: "it cannot be done here: a file cannot be read, used or written, the port is in use, no sandbox answers, "
    "the world is not open, a command fails without misfortune",
    INTERRUPTED: "Ctrl-C ended the command; serve, forward and record are meant to be ended so, and have 0",
}


class Failure(Exception):
    """A command ends here. `message` is one line, which begins with the value; `details` are lines before it."""

    def __init__(self, code: int, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


def one_line(text: str) -> str:
    """A text as one line without control characters, whatever a client put into it."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def content(file: Path) -> bytes:
    """The content of a file. Raises `Failure`."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be read: {error.strerror or error}") from None


def json_of(file: Path, kind: str = "JSON") -> Any:
    """The JSON value of a file. Raises `Failure`."""
    import orjson

    try:
        return orjson.loads(content(file))
    except orjson.JSONDecodeError as error:
        raise Failure(CANNOT, f"{file} is not {kind}: {error}") from None


def write_output(text: str, file: Path | None, *, new: bool = False) -> None:
    """Writes a text into a file, or prints it; with `new` the file must not exist. Raises `Failure`."""
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        with file.open("x" if new else "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be written: {error.strerror or error}") from None


def format_json(value: object) -> str:
    """A value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)
