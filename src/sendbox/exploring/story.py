"""The story of a find: the plan in words, and the run that broke beside the run that passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sendbox.engine.durations import show

if TYPE_CHECKING:
    from sendbox.exploring.misfortune import Plan
    from sendbox.exploring.watcher import Line, Observed

#: So many lines stand before the first difference, and so many from it on.
_BEFORE: Final = 3
_FROM: Final = 8
#: What is said where the entries of both runs are the same.
SAME: Final = "the same happens in both runs; only the instants differ at which the client and the test look"
#: What may differ in runs that are the same: ids, which come from the key of a world, and the ports of receivers.
_VARIES: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=://)[^/\s]+:\d+")


def story(plan: Plan, passed: Sequence[Observed], broken: Sequence[Observed], question: str = "") -> list[str]:
    """The story of a failure: its cause, the rules that allow it, and the place where the two runs part.

    If it is a question, the story begins with the reason, which is `question`.
    """
    lines = [f"{'what breaks it:' if len(plan) == 1 else 'what breaks it, all of it together:'}"]
    for item in plan:
        lines.append(f"  {item}")
        lines.append(f"    the service may do so by {', '.join(item.spot.kind.cites)}; a client may rely on this:")
        lines.append(f"    {item.spot.kind.relies}")
    if question:
        lines.append(f"a question, not a bug: {question}. Would a correct client pass?")
    parting: list[str] = []
    for first, second in zip(passed, broken, strict=False):
        parting += _parting(first.lines, second.lines, f" in world {first.census.ordinal}" if len(passed) > 1 else "")
    return [*lines, *(parting or [SAME])]


def _parting(passed: Sequence[Line], broken: Sequence[Line], where: str) -> list[str]:
    """The last lines that both have, then those of each."""
    pairs = zip(map(_alike, passed), map(_alike, broken), strict=False)
    same = next(
        (place for place, (one, other) in enumerate(pairs) if one != other),
        min(len(passed), len(broken)),
    )
    if same == len(passed) == len(broken):
        return []
    return [
        f"both runs{where}, until they part:",
        *_told(passed[max(0, same - _BEFORE) : same]),
        "the run that passed:",
        *_told(passed[same : same + _FROM], len(passed) - same),
        "the run that broke:",
        *_told(broken[same : same + _FROM], len(broken) - same),
    ]


def _alike(line: Line) -> Line:
    return line[0], _VARIES.sub("", line[1])


def _told(lines: Sequence[Line], all_of_them: int = 0) -> list[str]:
    texts = [f"  {show(at):>10}  {line}" for at, line in lines] or ["  (nothing more)"]
    return texts + ([f"  and {all_of_them - len(lines)} more"] if all_of_them > len(lines) else [])
