"""Scenario files: how commands read them, `sendbox check` with its repairs, and the first one of `sendbox init`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sendbox import compiled, data
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, one_line

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.scenario.model import Problem, ScenarioError

#: What may be the name of a library scenario: no folder, no suffix.
_NAME: Final = re.compile(r"[\w-]+")


def source_of(name: str) -> str | Path:
    """A name of the library, or a path; an existing file wins over a name."""
    return name if _NAME.fullmatch(name) and not Path(name).exists() else Path(name)


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """The names, with the scenario files below each directory in its place. Raises `Failure` where there is none."""
    return tuple(file for name in names for file in (_below(Path(name)) if Path(name).is_dir() else [name]))


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


def load(*names: str, env: Mapping[str, str] | None = None, texts: Iterable[str] = ()) -> Blueprint:
    """The scenario of a name of the library, or of a file, or of several joined. Raises `Failure`.

    `texts` are further scenarios, over these.
    """
    texts = tuple(texts)
    if names == (compiled.NAME,) and not texts and not Path(compiled.NAME).is_file():
        return compiled.default()  # the language is not needed for it
    from sendbox.language import LANGUAGE
    from sendbox.scenario.model import ScenarioError

    # An existing file is read as one, also without a suffix that says so.
    sources: list[Path | str] = [Path(name) if Path(name).is_file() else name for name in names]
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


def check(
    names: tuple[str, ...], env: Mapping[str, str] | None = None, *, together: bool = False
) -> list[tuple[str, list[Problem]]]:
    """Each file or library scenario with its problems; with `together` all of them as one."""
    from sendbox.language import LANGUAGE

    if together:
        return [(" + ".join(names), LANGUAGE.check([source_of(name) for name in names], env=env))]
    return [(name, LANGUAGE.check(source_of(name), env=env)) for name in names]


def code_of(problems: Iterable[Problem], *, strict: bool = False) -> int:
    """The exit code of a command that found these problems; with `strict` a warning counts as well."""
    rules = [problem.rule for problem in problems if strict or problem.severity == "error"]
    return CANNOT if "file" in rules else NO if rules else OK


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


def schema() -> str:
    """The text of the language's schema."""
    return (data.folder("schemas") / "scenario.schema.json").read_text("utf-8")


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


# --- `sendbox check --fix`: repairs at the exact place, everything else in a file stays as it is

#: A whole number as YAML and JSON write it, with nothing more behind it, or in quotes.
_WHOLE: Final = re.compile(r"""(?P<quote>["']?)(?P<number>[0-9]+)(?P=quote)(?=[\s,\]}]|\Z)""")
_LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def repair(names: Iterable[str], checked: Iterable[tuple[str, list[Problem]]]) -> list[str]:
    """Repairs these files and says of each change what it is: a whole number without its unit gets `ms`.

    `checked` has the problems of the files. What cannot be repaired stays. Raises `Failure` for a file that cannot be
    written.
    """
    problems = [problem for _, file_problems in checked for problem in file_problems]
    files = [Path(name) for name in dict.fromkeys(names) if Path(name).is_file()]
    return [line for file in files for line in _repair(file, problems)]


def _repair(file: Path, problems: list[Problem]) -> list[str]:
    from sendbox.scenario.shape import UNIT

    own = [problem for problem in problems if problem.rule == UNIT and Path(problem.file).resolve() == file.resolve()]
    places = {(problem.line, problem.column) for problem in own if problem.line and problem.column}
    lines = _LINES.findall(file.read_bytes().decode()) if places else []
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
            file.write_bytes("".join(lines).encode())
        except OSError as error:
            raise Failure(CANNOT, f"{file} cannot be written: {error.strerror}") from None
    return changes[::-1]
