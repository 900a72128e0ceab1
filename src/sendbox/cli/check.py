"""`sendbox check`: the problems of scenario files, and their repairs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from sendbox.cli.files import code_of, source_of
from sendbox.cli.options import FILES, format_option
from sendbox.cli.outcome import CANNOT, OK, Failure, one_line
from sendbox.language import LANGUAGE
from sendbox.scenario.model import Problem
from sendbox.scenario.shape import UNIT


@click.command()
@FILES
@format_option("text", "json", "github", help="github: annotations of GitHub Actions.")
@click.option("--together", is_flag=True, help="Check the files as one, each over the one before it.")
@click.option("--strict", is_flag=True, help="A warning counts as well.")
@click.option("--fix", is_flag=True, help="Repair the files first: a length of time without a unit gets ms.")
def check_command(files: tuple[str, ...], format: str, together: bool, strict: bool, fix: bool) -> int:
    """FILE is a path, a name of the library, or a directory: of this every .yaml and .yml below it, but not what is
    hidden. A problem is FILE:LINE:COLUMN: MESSAGE, or an object with --format json. A warning is about something that
    can be used, but is probably not intended. Exit code 1 when there is any other problem, with --strict also when
    there is a warning, and 3 when a file cannot be read. What --fix changed is printed to stderr; comments, quotes and
    layout of the file stay.

    \b
    Example:
      sendbox check scenarios
      sendbox check --fix scenarios/*.yaml
      sendbox check --strict --format github scenarios/*.yaml
    """
    names = expand_folders(files)
    checked = check(names, os.environ, together=together)
    if fix and (changes := repair(names, checked)):
        for change in changes:
            click.echo(change, err=True)
        checked = check(names, os.environ, together=together)
    code, text = report(checked, format, strict=strict)
    if text:
        click.echo(text)
    return code


def expand_folders(names: Iterable[str]) -> tuple[str, ...]:
    """The names, with the scenario files below each directory in its place. Raises `Failure` where there is none."""
    return tuple(file for name in names for file in (_below(Path(name)) if os.path.isdir(name) else [name]))


def _below(folder: Path) -> list[str]:
    files = [
        str(file)
        for file in sorted(folder.rglob("*"))
        if file.suffix in (".yaml", ".yml")
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise Failure(CANNOT, f"{folder} holds no scenario: no file below it ends in .yaml or .yml")
    return files


def check(
    names: tuple[str, ...], env: Mapping[str, str] | None = None, *, together: bool = False
) -> list[tuple[str, list[Problem]]]:
    """Each file or library scenario with its problems; with `together` all of them as one."""
    if together:
        return [(" + ".join(names), LANGUAGE.check([source_of(name) for name in names], env=env))]
    return [(name, LANGUAGE.check(source_of(name), env=env)) for name in names]


def report(checked: Iterable[tuple[str, list[Problem]]], form: str, *, strict: bool = False) -> tuple[int, str]:
    """The exit code, and the report: `form` is `text`, `json` or `github`.

    With `strict` a warning counts as well.
    """
    checked = list(checked)
    code = code_of((problem for _, problems in checked for problem in problems), strict=strict)
    return code, _FORMATS[form](checked, code == OK)


def _as_text(checked: list[tuple[str, list[Problem]]], _ok: bool) -> str:
    lines = [line for name, problems in checked for line in (list(map(str, problems)) or [f"{name}: ok"])]
    return "\n".join(map(one_line, lines))


def _as_json(checked: list[tuple[str, list[Problem]]], ok: bool) -> str:
    listed = [problem.as_json() for _, problems in checked for problem in problems]
    return json.dumps({"ok": ok, "problems": listed}, indent=2, ensure_ascii=False, default=str)


def _as_commands(checked: list[tuple[str, list[Problem]]], _ok: bool) -> str:
    """Workflow commands of GitHub Actions, which show a problem at its line."""
    lines = dict.fromkeys(_command(problem) for _, problems in checked for problem in problems)
    return "\n".join(lines)


def _command(problem: Problem) -> str:
    place = {"file": _from_here(problem.file), "line": problem.line, "col": problem.column, "title": problem.rule}
    properties = ",".join(
        f"{key}={_escaped(value, in_property=True)}" for key, value in place.items() if value is not None
    )
    return f"::{problem.severity} {properties}::{_escaped(problem.message)}"


def _from_here(file: str) -> str:
    """A path as GitHub knows it: from the top of the repository, where a workflow runs."""
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file


def _escaped(value: object, *, in_property: bool = False) -> str:
    """A text escaped for workflow commands; in a property also colon and comma, which would end it."""
    text = str(value)
    for char in "%\r\n:," if in_property else "%\r\n":
        text = text.replace(char, f"%{ord(char):02X}")
    return one_line(text)


_FORMATS: Final[dict[str, Callable[[list[tuple[str, list[Problem]]], bool], str]]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_commands,
}


# --- `sendbox check --fix`: repairs at the exact place, everything else in a file stays as it is

#: A whole number as YAML and JSON write it, with nothing more behind it, or in quotes.
_WHOLE: Final = re.compile(r"""(?P<quote>["']?)(?P<number>[0-9]+)(?P=quote)(?=[\s,\]}]|\Z)""")
#: A line as YAML counts them; Unicode has three more ends of one.
_LINES: Final = re.compile("[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029]|\\Z)")


def repair(names: Iterable[str], checked: Iterable[tuple[str, list[Problem]]]) -> list[str]:
    """Repairs these files and says of each change what it is: a whole number without its unit gets `ms`.

    `checked` has the problems of the files. What cannot be repaired stays. Raises `Failure` for a file that cannot be
    written.
    """
    problems = [problem for _, file_problems in checked for problem in file_problems]
    files = [Path(name) for name in dict.fromkeys(names) if os.path.isfile(name)]
    return [line for file in files for line in _repair(file, problems)]


def _repair(file: Path, problems: list[Problem]) -> list[str]:
    own = [problem for problem in problems if problem.rule == UNIT and Path(problem.file).resolve() == file.resolve()]
    places = {(problem.line, problem.column) for problem in own if problem.line and problem.column}
    text = file.read_bytes().decode() if places else ""
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines = _LINES.findall(text)
    changes = []
    for line, column in sorted(places, reverse=True):  # from the back, so that places before stay right
        text = lines[line - 1] if line <= len(lines) else ""
        number = _WHOLE.match(text, column - 1)
        if number is not None:
            quote = number["quote"] or ('"' if file.suffix == ".json" else "")
            length = f"{quote}{number['number']}ms{quote}"
            lines[line - 1] = text[: column - 1] + length + text[number.end() :]
            changes.append(f"{file}:{line}:{column}: {number[0]} is now {length}")
    if changes:
        try:
            file.write_bytes("".join([mark, *lines]).encode())
        except OSError as error:
            raise Failure(CANNOT, f"{file} cannot be written: {error.strerror}") from None
    return changes[::-1]
