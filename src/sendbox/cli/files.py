"""Scenario files, as all commands read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sendbox import compiled
from sendbox.cli.outcome import CANNOT, NO, OK, Failure, one_line

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.scenario.model import Problem, ScenarioError

#: What may be the name of a library scenario: no folder, no suffix.
_NAME: Final = re.compile(r"[\w-]+")


def source_of(name: str) -> str | Path:
    """A name of the library, or a path; an existing file wins over a name."""
    return name if _NAME.fullmatch(name) and not Path(name).exists() else Path(name)


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


def code_of(problems: Iterable[Problem], *, strict: bool = False) -> int:
    """The exit code of a command that found these problems; with `strict` a warning counts as well."""
    rules = [problem.rule for problem in problems if strict or problem.severity == "error"]
    return CANNOT if "file" in rules else NO if rules else OK
