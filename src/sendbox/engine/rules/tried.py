"""Which rules of a list were tried for a case, which of them decided, and why the others did not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sendbox.engine.rules.rule import Rule, differences

if TYPE_CHECKING:
    from sendbox.engine.cases import Case
    from sendbox.engine.rules.book import Rulebook

R = TypeVar("R", bound=Rule)

_LATE: Final = "all that it decides was decided before"
_NOT_THEN: Final = "all of it holds now; when the attempt began something did not, or the rule was not there"


def tried(
    book: Rulebook[R],
    rules: Iterable[R],
    case: Case,
    decided: Collection[str] | None = None,
    *,
    then: bool = False,
) -> list[Any]:
    """Each rule in the order asked: `{rule, place, outcome, decides, why_not, seen}`.

    `outcome` is `decided`, `differs` (a condition does not hold), `not its turn` (it counts, or takes a share) or
    `too late` (what it decides was decided before); `decides` names what it decided. `decided` names the rules that
    did decide, where that was recorded: `seen` is `then` for these, and `today` for all that is decided anew. With
    `then` it is the moment of the decision, and all is.
    """
    decided_before: frozenset[str] = frozenset()
    views = []
    for rule in rules:
        undecided = rule.decides - decided_before
        recorded = decided is not None and rule.title in decided and not differences(rule, case, lasting=True)
        outcome, why_not = "decided", None
        if not undecided:
            outcome, why_not = "too late", [_LATE]
        elif not recorded:
            if why_not := differences(rule, case):
                outcome = "differs"
            elif (turn := book.not_its_turn(rule, case)) is not None:
                outcome, why_not = "not its turn", [turn]
            elif decided is not None:
                outcome, why_not = "differs", [_NOT_THEN]
        if outcome == "decided":
            decided_before |= undecided
        views.append(
            {
                "rule": rule.title,
                "place": rule.place,
                "outcome": outcome,
                "decides": [name for name in rule.DECISIONS if name in undecided] if outcome == "decided" else [],
                "why_not": why_not or [],
                "seen": "then" if then or (recorded and outcome == "decided") else "today",
            }
        )
    return views
