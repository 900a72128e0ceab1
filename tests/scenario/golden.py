"""The golden file of messages, `wrong.txt`: its cases, and what is said about them.

`python -m tests.scenario.golden` writes what is said now into the file; look at the difference before it is committed.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from sendbox.scenario.model import Problem
from tests.scenarios import check

FILE: Final = Path(__file__).parent / "wrong.txt"
_CASE: Final = re.compile(
    r"^### (?P<id>\S+)\n(?P<text>.*?)^--->\n(?P<expected>.*?)(?=\n### |\Z)", re.DOTALL | re.MULTILINE
)
_PART: Final = re.compile(r"^=== (\S+)\n", re.MULTILINE)


class Case(NamedTuple):
    """A scenario `a.yaml`, the files beside it, the environment, and what is said."""

    text: str
    files: dict[str, str]
    environment: dict[str, str]
    expected: list[str]


def cases(text: str | None = None) -> dict[str, Case]:
    """Every case by its id."""
    return {match["id"]: _case(match) for match in _CASE.finditer(FILE.read_text("utf-8") if text is None else text)}


def _case(match: re.Match[str]) -> Case:
    first, *rest = _PART.split(match["text"])
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    variables = dict(line.split("=", 1) for line in parts.pop("environment", "").splitlines())
    return Case(first, parts, variables, match["expected"].splitlines())


def problems(case: Case, folder: Path) -> list[Problem]:
    """The problems of a case; `folder` is empty, and the current one."""
    if not case.files:
        return check(f"sendbox: 1\n{case.text}", name="a.yaml", env=case.environment)
    for name, text in {"a.yaml": case.text, **case.files}.items():
        (folder / name).write_text(f"sendbox: 1\n{text}", "utf-8")
    return check(Path("a.yaml"), env=case.environment)


def lines(case: Case, folder: Path) -> list[str]:
    """What is said about a case, without the name of its own file and without the folder."""
    found = [str(problem) for problem in problems(case, folder)]
    return [line.replace(f"{folder.resolve()}/", "").removeprefix("a.yaml:") for line in found]


def main() -> None:
    """Writes the file anew."""

    def written(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
            said = lines(_case(match), Path(name))
        return f"### {match['id']}\n{match['text']}--->\n" + "".join(f"{line}\n" for line in said)

    FILE.write_text(_CASE.sub(written, FILE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
