"""Problems of the form of a text, told with the line that would be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from msgspec.structs import replace

from sendbox.scenario import slips
from sendbox.scenario.model import Problem

#: So many problems of a text are given a line: each is tried. A text with more problems than FEW is given none.
MOST: Final = 3
FEW: Final = 100
#: Rules of problems that a line may solve, and of those of a text whose line breaks were lost.
_REPAIRED: Final = ("syntax", "alias", "key", "tag")
_COMMENT: Final = "; what follows is a comment: a text that begins with # needs quotes"
_FORM: Final = ("syntax", "empty")

#: The problems of a text.
Read = Callable[[str], Sequence[Problem]]


def explain_problems(problems: Sequence[Problem], text: str, context: int, read: Read) -> list[Problem]:
    """The problems of a text, with the line that would be right. What cannot be read began in the line `context`."""
    for broken in problems:
        if broken.rule in _FORM and slips.breaks_lost(text):
            return [replace(broken, line=1, column=1, message=slips.LOST_BREAKS)]
    return list(_with_lines(problems, text, context, read))


def commented(problems: Sequence[Problem], text: str) -> list[Problem]:
    """The problems of values; a value that is missing because a comment stands there is told so."""
    lines = text.splitlines() if any(_missing(broken) for broken in problems) else []
    return [
        replace(broken, message=f"{broken.message}{_COMMENT}")
        if lines and _missing(broken) and re.match(r" +#", lines[(broken.line or 0) - 1][(broken.column or 0) - 1 :])
        else broken
        for broken in problems
    ]


def _missing(broken: Problem) -> bool:
    return broken.value is None and broken.rule == "type" and broken.line is not None


def _with_lines(problems: Sequence[Problem], text: str, context: int, read: Read) -> Iterator[Problem]:
    """The first problems with the line that would be right; what one line repairs is one problem."""
    known = _places(problems)
    reported: set[tuple[int, str]] = set()
    tries = MOST if len(problems) <= FEW else 0
    for broken in problems:
        repair = None
        if tries and broken.line is not None and broken.rule in _REPAIRED:
            tries -= 1
            repair = _line(broken, broken.line, text, context, read, known)
        if repair is None and broken.rule == "syntax":
            repair = slips.named(text, broken.line or 0, broken.column or 0)
        if repair is None:
            yield broken
        elif (repair.line, repair.text) not in reported:
            reported.add((repair.line, repair.text))
            message = f"this is not YAML: {repair.says}"
            if broken.rule != "syntax":
                message = f"{broken.message}; {repair.instead}"
            message += f": {repair.text}" if repair.text else ""
            yield replace(broken, line=repair.line, column=repair.column, message=message)


def _line(
    broken: Problem, line: int, text: str, context: int, read: Read, known: Set[tuple[int, str]]
) -> slips.Repaired | None:
    """The line with which a problem is gone, and no other one comes up to there. `known` are all problems."""

    def readable(better: str, until: int) -> bool:
        left = _places(read(better))
        return (line, broken.message) not in left and not any(place <= until for place, _ in left - known)

    repair = slips.repaired(text, (line, context, line - 1), readable)
    if repair is None or broken.rule == "syntax":
        return repair
    # elsewhere it is a text only if it begins right there, or in the brace before
    begins = repair.instead is not None and repair.line == line and (broken.column or 0) - repair.column in (0, 1)
    return repair if begins else None


def _places(problems: Sequence[Problem]) -> set[tuple[int, str]]:
    return {(problem.line or 0, problem.message) for problem in problems}
