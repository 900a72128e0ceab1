"""Lists of rules as a world asks them: those that control put in front, then the scenario's; and what they decide.

What is drawn for a rule is keyed by the rule, the subject and the ordinal of the case among those that drew with this
key, never by when it came; a turn (`nth`, `every`, `times`) follows the order of arrival. A memory keeps the cases that
drew, were counted, or were decided, each in order of arrival.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import UNSEEDED, Chooser, Draw
from sendbox.engine.durations import iso
from sendbox.engine.rules.conditions import Case, several
from sendbox.engine.rules.rule import Rule, difference, differences

#: The number of places of a series that are always kept.
_MIN_PLACES: Final = 16


class Place(Struct, frozen=True):
    """A case in a series: how many came before it, and whether it could have come before another one as well."""

    ordinal: int
    number: int
    raced: bool
    at: Hashable
    request: str | bytes


class Series:
    """Cases in order of arrival; one that comes again has the place that it had."""

    __slots__ = ("_full", "_known", "latest")

    def __init__(self, *, returning: bool) -> None:
        self._known: dict[int, Place] | None = {} if returning else None
        #: how many places are kept before those of forgotten cases are looked for
        self._full = _MIN_PLACES
        self.latest: Place | None = None

    def forget(self, before: int) -> None:
        """Forgets the places of cases before an ordinal, which do not come again, once there are twice as many."""
        known = self._known
        if known is not None and len(known) > self._full:
            self._known = known = {ordinal: place for ordinal, place in known.items() if ordinal >= before}
            self._full = 2 * len(known) + _MIN_PLACES

    def __len__(self) -> int:
        return 0 if self.latest is None else self.latest.number + 1

    def find(self, ordinal: int) -> Place | None:
        """The place of a case that came before; where cases do not return, only the latest is known."""
        if self._known is not None:
            return self._known.get(ordinal)
        return self.latest if self.latest is not None and self.latest.ordinal == ordinal else None

    def place(self, ordinal: int, at: Hashable = None, request: str | bytes = "") -> Place:
        """The place of a case that comes at an instant; those of one request cannot race."""
        place = self.find(ordinal)
        if place is None:
            before = self.latest
            raced = before is not None and before.at == at and (before.raced or before.request != request)
            place = self.latest = Place(ordinal, len(self), raced, at, request)
            if self._known is not None:
                self._known[ordinal] = place
        return place


class Memory:
    """All series of one list, by what is counted and for whom."""

    __slots__ = ("_returning", "_series", "before")

    def __init__(self, *, returning: bool) -> None:
        self._returning = returning
        self._series: dict[tuple[str, ...], Series] = {}
        #: cases before this ordinal are forgotten; what is counted stays
        self.before = 0

    def series(self, *key: str) -> Series:
        """The series of a key."""
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = Series(returning=self._returning)
        elif self.before:
            series.forget(self.before)
        return series

    def known(self, *key: str) -> Series | None:
        """The series of a key; None if no case came."""
        return self._series.get(key)


R = TypeVar("R", bound=Rule)

#: What memories count.
DRAWN: Final = "drawn"
COUNTED: Final = "counted"
USED: Final = "used"


class Drawn(NamedTuple):
    """The draw of a case from a rule: `number` cases drew before, and if `raced` another one could have been first."""

    draw: Draw
    number: int
    raced: bool


#: A rule that decides something about a case: which things, and what it drew for it already.
Decision = tuple[R, frozenset[str], Case, Drawn | None]


class Rulebook(Generic[R]):
    """One list of rules, in the order in which they are asked, and what it remembers of its cases."""

    #: what ids of rules put in front begin with
    PREFIX: ClassVar[str]
    #: True if the list is asked about a case more than once, so that every one is kept in mind
    RETURNING: ClassVar[bool] = False

    def __init__(self, rules: Sequence[R], chooser: Chooser = UNSEEDED, start: int = 0) -> None:
        self.rules: list[R] = list(rules)
        self.memory = Memory(returning=self.RETURNING)
        self._chooser = chooser
        #: when the epoch began, from which windows count
        self._start = start
        #: how many rules were put in front so far, and how many cases came
        self._put = 0
        self._came = 0
        #: how often each rule decided something, by what it counts by
        self.fired: dict[str, int] = {}

    @property
    def from_scenario(self) -> tuple[R, ...]:
        """The scenario's rules, without those that control put in front."""
        return tuple(rule for rule in self.rules if rule.id is None)

    @property
    def unused(self) -> Iterator[R]:
        """The scenario's rules that never decided anything, in their order."""
        return (rule for rule in self.rules if rule.id is None and rule.key not in self.fired)

    @property
    def put(self) -> bool:
        """True if control ever put a rule in front."""
        return self._put > 0

    def set_rules(self, rules: Sequence[R]) -> None:
        """Replaces the scenario's rules; those that control put in front stay in front."""
        arranged = [rule for rule in self.rules if rule.id is not None]
        arranged.extend(rules)
        self._arrange(arranged)

    def put_rule(self, rule: R) -> str:
        """Puts a rule in front and returns its id; holds for decisions not yet made."""
        self._put += 1
        rule_id = f"{self.PREFIX}{self._put}"
        rules = self.rules.copy()
        rules.insert(0, replace(rule, id=rule_id))
        self._arrange(rules)
        return rule_id

    def drop_rule(self, rule_id: str) -> bool:
        """Takes a rule away that control put there; False when there is none of that id."""
        remaining = [rule for rule in self.rules if rule.id != rule_id]
        dropped = len(remaining) < len(self.rules)
        self._arrange(remaining)
        return dropped

    def _arrange(self, rules: list[R]) -> None:
        """Takes a new list; a subclass that derives something from the list does so here."""
        self.rules = rules

    # -- deciding

    def decide(self, rules: Iterable[R], case: Case, *others: Case) -> tuple[list[Decision[R]], bool]:
        """The rules that decide, for each thing the first that takes a case; and whether by order of arrival.

        Of several cases each rule looks at the first that it is about. A rule behind those that decided counts and
        draws all the same, as if nothing had come before it.
        """
        if not self.RETURNING:
            self._came += 1
            for other in (case, *others):
                other.ordinal = self._came
        decisions: list[Decision[R]] = []
        order_sensitive = False
        decided: frozenset[str] | None = None
        for rule in rules:
            undecided = rule.decides if decided is None else rule.decides - decided
            if not undecided and rule.plain:
                continue
            when = rule.when
            if when.looks_back and undecided and any(other.raced(case) for other in when.looks_back):
                order_sensitive = True
            if rule.about is not None and not rule.about.matches(case.subject) and not others:
                continue
            matched = case
            if difference(rule, case):
                matching = [other for other in others if not difference(rule, other)]
                if not matching:
                    continue
                matched = matching[0]
            drawn: Drawn | None = None
            if not rule.plain:
                comes, drawn, by_arrival = self._comes(rule, matched, takes=bool(undecided))
                order_sensitive = order_sensitive or (by_arrival and bool(undecided))
                if not comes or not undecided or not self.strikes(rule, matched):
                    continue
                if rule.times is not None:
                    self.memory.series(USED, *counter(rule, matched)).place(matched.ordinal)
            decided = undecided if decided is None else decided | undecided
            decisions.append((rule, undecided, matched, drawn))
            name = rule.id or rule.key
            self.fired[name] = self.fired.get(name, 0) + 1
        return decisions, order_sensitive

    def _comes(self, rule: R, case: Case, *, takes: bool) -> tuple[bool, Drawn | None, bool]:
        """(True if a rule takes a case that it is about; its draw; True if that depended on the order of arrival)."""
        when = rule.when
        drawn: Drawn | None = None
        by_arrival = False
        if when.closed(case.instant, self._start) is not None:
            return False, None, False
        if rule.draws:
            drawn = self.draw(rule.key, case)
            by_arrival = drawn.raced
            if when.share is not None and not drawn.draw.below(when.share, "share"):
                return False, drawn, by_arrival
        if rule.counts:
            counted = None
            if when.turns or when.per is not None:
                series = self.memory.series(COUNTED, *counter(rule, case))
                counted = series.place(case.ordinal, self.came_at(case), case.request)
            # what one owner sends has an order, unless it comes at once
            by_arrival = by_arrival or when.per is None or (counted is not None and counted.raced)
            if when.turns and counted is not None and not self._turn(rule, counted.number):
                return False, drawn, by_arrival
            if takes and not self._left(rule, case):
                return False, drawn, by_arrival
        return True, drawn, by_arrival

    @staticmethod
    def _turn(rule: R, before: int) -> bool:
        """True if it is the turn of a case that came after `before` others."""
        nth, every = rule.when.nth, rule.when.every
        return (nth is None or before + 1 in several(nth)) and (every is None or (before + 1) % every == 0)

    def _left(self, rule: R, case: Case) -> bool:
        """True if a rule may still be used for a case; a case that it decided before is not counted again."""
        used = self.memory.known(USED, *counter(rule, case))
        return rule.times is None or used is None or len(used) < rule.times or used.find(case.ordinal) is not None

    def strikes(self, rule: R, case: Case) -> bool:
        """True if a rule whose turn has come decides; overridden by lists whose rules may let a case pass."""
        return True

    def not_its_turn(self, rule: R, case: Case) -> str | None:
        """The reason why a rule that is about a case did not take it, or None; nothing is changed."""
        when, name, kind = rule.when, counter(rule, case), case.kind
        of = "" if when.per is None else f" of this {when.per}"
        if (closed := when.closed(case.instant, self._start)) is not None:
            return "window: it is not open" if closed == "window" else f"hours: {iso(case.instant)} is not in them"
        if when.share is not None:
            drawn = self._place(DRAWN, case, rule.key, self.whose(case))
            draw = None if drawn is None else self._chooser.draw(rule.key, self.whose(case), drawn.number)
            if draw is None or not draw.below(when.share, "share"):
                return f"share: this {kind} is not in the share of {when.share}"
        if when.turns:
            counted = self._place(COUNTED, case, *name)
            if counted is None or not self._turn(rule, counted.number):
                position = "was never counted"
                if counted is not None:
                    position = f"this is {kind} {counted.number + 1}{of} that asked"
                nth = " or ".join(map(str, several(when.nth)))
                word, expected = ("nth", f"{kind} {nth}") if nth else ("every", f"one in {when.every}")
                return f"{word}: {position}, wanted {expected}"
        if rule.times is not None and self._place(USED, case, *name) is None:
            return f"times: it decided {rule.times} {kind}s{of} already, which is all it may"
        return None

    def _place(self, counter: str, case: Case, *key: str) -> Place | None:
        """The place of a case in a series; None if it has none."""
        series = self.memory.known(counter, *key)
        return None if series is None else series.find(case.ordinal)

    # -- drawing

    def draw(self, key: str, case: Case) -> Drawn:
        """The draw of a rule, by its key, for a case."""
        whose = self.whose(case)
        place = self.memory.series(DRAWN, key, whose).place(case.ordinal, self.came_at(case), case.request)
        return Drawn(self._chooser.draw(key, whose, place.number), place.number, place.raced)

    def whose(self, case: Case) -> str:
        """The owner whose draws are counted together."""
        return case.subject

    def came_at(self, case: Case) -> Hashable:
        """The time at which a case came: of two that came at once either could be first."""
        return case.instant


def counter(rule: Rule, case: Case) -> tuple[str, ...]:
    """By what a rule counts a case: one counter for all, or with `per` one for each owner."""
    name = rule.id or rule.key
    return (name,) if rule.when.per is None else (name, owner(rule.when.per, case))


def owner(per: str, case: Case) -> str:
    """The owner of the counter of a case, by a field; one for those without the field, and for the whole world."""
    return "\0".join(case.words(per))


_LATE: Final = "all that it decides was decided before"
_NOT_THEN: Final = "all of it holds now; when the attempt began something did not, or the rule was not there"


def explain_rules(
    book: Rulebook[R],
    rules: Iterable[R],
    case: Case,
    decided: Collection[str] | None = None,
    *,
    then: bool = False,
) -> list[JsonObject]:
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
