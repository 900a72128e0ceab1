"""`sendbox check --fix`: repairs of scenario files at the exact place, everything else in a file stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sendbox.cli.outcome import CANNOT, Failure

if TYPE_CHECKING:
    from sendbox.scenario.model import Problem

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
