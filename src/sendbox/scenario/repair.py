"""Problems of the form of a text, with the corrected line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from msgspec.structs import replace

from sendbox.scenario import slips
from sendbox.scenario.model import Problem

#: The greatest number of problems of a text for which a corrected line is tried.
MAX_REPAIRS: Final = 3
#: In a text with more problems no line is corrected.
MAX_PROBLEMS_FOR_REPAIR: Final = 100
#: Rules of problems that a corrected line may solve, and of those of a text whose line breaks were lost.
_REPAIRABLE: Final = ("syntax", "alias", "key", "tag")
_COMMENT: Final = "; what follows is a comment: a text that begins with # needs quotes"
_FORM: Final = ("syntax", "empty")

#: Returns the problems of a text.
FindProblems = Callable[[str], Sequence[Problem]]


def explain_problems(
    problems: Sequence[Problem], text: str, context: int, find_problems: FindProblems
) -> list[Problem]:
    """The problems of a text, with the corrected line. The part that cannot be read began in the line `context`."""
    for broken in problems:
        if broken.rule in _FORM and slips.breaks_lost(text):
            return [replace(broken, line=1, column=1, message=slips.LOST_BREAKS)]
    return list(_with_lines(problems, text, context, find_problems))


def explain_comment_values(problems: Sequence[Problem], text: str) -> list[Problem]:
    """The problems of values; where a value is missing because it is written as a comment, the problem says so."""
    lines = text.splitlines() if any(_missing(broken) for broken in problems) else []
    return [
        replace(broken, message=f"{broken.message}{_COMMENT}")
        if lines and _missing(broken) and re.match(r" +#", _rest(lines, broken))
        else broken
        for broken in problems
    ]


def _rest(lines: Sequence[str], broken: Problem) -> str:
    """The line of a problem from its column on; empty where the text ends before it."""
    line = broken.line or 0
    return lines[line - 1][(broken.column or 0) - 1 :] if line <= len(lines) else ""


def _missing(broken: Problem) -> bool:
    return broken.value is None and broken.rule == "type" and broken.line is not None


def _with_lines(problems: Sequence[Problem], text: str, context: int, find_problems: FindProblems) -> Iterator[Problem]:
    """The problems, the first with the corrected line; those that one line corrects are one problem."""
    places = _places(problems)
    reported: set[tuple[int, str]] = set()
    tries = MAX_REPAIRS if len(problems) <= MAX_PROBLEMS_FOR_REPAIR else 0
    for broken in problems:
        repair = None
        if tries and broken.line is not None and broken.rule in _REPAIRABLE:
            tries -= 1
            repair = _corrected_line(broken, broken.line, text, context, find_problems, places)
        if repair is None and broken.rule == "syntax":
            repair = slips.find_slip(text, broken.line or 0, broken.column or 0)
        if repair is None:
            yield broken
        elif (repair.line, repair.text) not in reported:
            reported.add((repair.line, repair.text))
            message = f"this is not YAML: {repair.says}"
            if broken.rule != "syntax":
                message = f"{broken.message}; {repair.instead}"
            message += f": {repair.text}" if repair.text else ""
            yield replace(broken, line=repair.line, column=repair.column, message=message)


def _corrected_line(
    broken: Problem, line: int, text: str, context: int, find_problems: FindProblems, places: Set[tuple[int, str]]
) -> slips.Repaired | None:
    """The corrected line that removes the problem and adds no new one up to there. `places` are all problems."""

    def readable(better: str, until: int) -> bool:
        remaining = _places(find_problems(better))
        return (line, broken.message) not in remaining and not any(place <= until for place, _ in remaining - places)

    repair = slips.repair_text(text, (line, context, line - 1), readable)
    if repair is None or broken.rule == "syntax":
        return repair
    # an alias, a key or a tag may be meant as such: it is a text that lacks quotes only if that text begins at the
    # column of the problem, or one column before it, with a brace
    starts_here = repair.instead is not None and repair.line == line and (broken.column or 0) - repair.column in (0, 1)
    return repair if starts_here else None


def _places(problems: Sequence[Problem]) -> set[tuple[int, str]]:
    return {(problem.line or 0, problem.message) for problem in problems}
