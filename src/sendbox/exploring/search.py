"""The search: which plans are tried, in which order, and how one that breaks the client becomes small.

Small censuses are enumerated: every single misfortune, then pairs about the same message or call. Of a large one plans
of eight are tried first, so that much is tried early. Everything is derived from the seed: the same census, seed and
number of runs draw the same plans. Of these, plans that would only break what is known to break are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from sendbox.engine.draws import Chooser, Draw, seed_bytes
from sendbox.exploring.families.table import rank
from sendbox.exploring.misfortune import MAX_MISFORTUNES, Misfortune, Plan, Spot, kinds_of, legal

#: So many runs a test gets at most, and at least, unless a number is said.
RUNS: Final = 100
FEWEST: Final = 30
#: After so many places at which a kind of misfortune broke only what it was known to break, it is not tried at others.
PLACES: Final = 4
#: So many runs making a plan small may take.
SHRINKING: Final = 300
#: So many misfortunes are looked through for a plan of those that fit together.
WINDOW: Final = 8 * MAX_MISFORTUNES
#: So many pairs are counted in a report.
COUNTED: Final = 100_000

#: Yields plans, receives whether each of them breaks the client (None: its run said nothing), and returns a plan.
Shrinking = Generator[Plan, bool | None, Plan]


@dataclass(slots=True)
class PlanCounts:
    """The numbers of tried plans: singles and pairs of all that exist, larger plans, runs that said nothing."""

    runs: int = 0
    singles: int = 0
    all_singles: int = 0
    pairs: int = 0
    all_pairs: int = 0
    larger: int = 0
    silent: int = 0
    idle: int = 0
    #: plans that were left out, as they would have broken what was known to break
    known: int = 0
    shrinking: int = 0
    unsteady: list[Plan] = field(default_factory=list)
    #: a plan under which the run said nothing
    mute: Plan = ()

    def words(self) -> str:
        """In one line."""
        if not self.all_singles:
            return "there was nothing to spoil"
        all_singles = _many(self.all_singles, "single misfortune")
        line = f"all {all_singles}" if self.singles == self.all_singles else f"{self.singles:,} of {all_singles}"
        if self.all_pairs:
            more = "more than " if self.all_pairs >= COUNTED else ""
            line += f" and {self.pairs:,} of {more}{_many(self.all_pairs, 'pair')} about one message or call"
        larger = f", {_many(self.larger, 'other plan')}" if self.larger else ""
        silent = f"; {_many(self.silent, 'run')} took too long, or skipped the test" if self.silent else ""
        if self.mute:
            silent += f", the first when {', '.join(map(str, self.mute))}"
        idle = f"; {self.idle:,} of them had no effect" if self.idle else ""
        left_out = (
            f"; {self.known:,} not tried, because a part of them was known to break the test" if self.known else ""
        )
        return f"{line}{larger} tried{left_out}{idle}{silent}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Search:
    """The search of one test, over the spots of its census."""

    def __init__(self, spots: Sequence[Spot], *, seed: int | str, name: str, runs: int | None) -> None:
        self._chooser = Chooser(seed_bytes(seed))
        self._name = name
        self._spots = list(spots)
        self.singles = self._varied([Misfortune(spot, number) for spot in spots for number in range(len(spot.values))])
        #: how many plans are drawn; unless said, as many others as there are single misfortunes
        self.runs = runs or max(FEWEST, min(RUNS, 2 * len(self.singles)))
        self.tried = PlanCounts(all_singles=len(self.singles))
        #: True if so many finds are kept that only bugs are looked for
        self.bugs_only = False
        self._alone: set[Misfortune] = set()
        self._again: Counter[frozenset[tuple[str, str, bool]]] = Counter()
        self._drawn: set[Plan] = set()
        self._done: set[Plan] = set()
        self._pairs = self._all_pairs()
        self.tried.all_pairs = len(self._pairs)

    def plans(self) -> Iterator[Plan]:
        """Plans to try, at most so many as there are runs, none of them twice, without those that are known."""
        generators = self._ways()
        while len(self._drawn) < self.runs:
            plan = next(generators, None)
            if plan is None:
                return
            key = tuple(sorted(plan, key=str))
            if key in self._drawn or not legal(plan):
                continue
            self._drawn.add(key)
            if not self.leave_out(plan):
                yield plan

    def leave_out(self, plan: Plan) -> bool:
        """True if a plan is not tried, because less than two of its misfortunes are unknown; the plan is counted then.

        Known misfortunes stay known, so the answer for a plan is the same before and after its run.
        """
        left = sum(
            item not in self._alone
            and self._again[kinds_of((item,))] < PLACES
            and not (self.bugs_only and item.changing)
            for item in plan
        )
        is_known = left < min(2, len(plan))
        self.tried.known += is_known
        return is_known

    def record_failure(self, plan: Plan, *, new: bool) -> None:
        """A plan broke the test; `new` where the assertion was not known to be broken by its kinds."""
        if len(plan) > 1:  # which of them did is not known
            return
        (item,) = plan
        if item not in self._alone:
            self._alone.add(item)
            self._again[kinds_of((item,))] += not new

    def _ways(self) -> Iterator[Plan]:
        if not self.singles:
            return
        if len(self.singles) * 2 > self.runs:
            yield from self._packed()
        yield from ((single,) for single in self.singles)
        pairs = iter(self._pairs)
        for number in range(self.runs * 20):  # so many that a search ends where nearly all was tried
            pair = next(pairs, None)
            if pair is not None:
                yield pair
            yield self._larger(number)

    def count(self, plan: Plan) -> None:
        """A plan was tried."""
        self.tried.runs += 1
        self._done.add(plan)
        if len(plan) == 1:
            self.tried.singles += 1
        elif len(plan) == 2 and plan[0].spot.about == plan[1].spot.about:
            self.tried.pairs += 1
        else:
            self.tried.larger += 1

    def _draw(self, number: int) -> Draw:
        return self._chooser.draw("explore", self._name, number)

    def _varied(self, singles: list[Misfortune]) -> list[Misfortune]:
        """In an order in which the next one is as unlike those before it as possible, then in that of their kinds."""
        draw = self._draw(0)
        places = {id(single): draw.between(0, 2**32, f"place {number}") for number, single in enumerate(singles)}
        kinds: Counter[tuple[str, int]] = Counter()
        turn: dict[int, int] = {}
        for single in sorted(singles, key=lambda single: places[id(single)]):
            like = (single.spot.like, single.number)
            turn[id(single)] = kinds[like]
            kinds[like] += 1
        return sorted(
            singles,
            key=lambda single: (turn[id(single)], single.number, rank(single.spot.kind), places[id(single)]),
        )

    def _all_pairs(self) -> list[Plan]:
        about: dict[str, list[Misfortune]] = {}
        for single in self.singles:
            about.setdefault(single.spot.about, []).append(single)
        pairs: list[Plan] = []
        for singles in about.values():
            for pair in combinations(singles, 2):
                if pair[0].spot is not pair[1].spot and legal(pair):
                    pairs.append(pair)
                if len(pairs) >= COUNTED:
                    return pairs
        draw = self._draw(1)
        order = {id(pair): draw.between(0, 2**32, f"pair {number}") for number, pair in enumerate(pairs)}
        return sorted(pairs, key=lambda pair: order[id(pair)])

    def _packed(self) -> Iterator[Plan]:
        """Each single misfortune once, in plans of as many as fit together."""
        left = self.singles
        while left:
            plan = self._fitting(left[:WINDOW])
            yield plan
            left = [single for single in left if single not in plan]

    def _fitting(self, singles: Sequence[Misfortune]) -> Plan:
        """As many of them as a plan may have."""
        plan: Plan = ()
        for single in singles:
            if len(plan) < MAX_MISFORTUNES and legal((*plan, single)):
                plan = (*plan, single)
        return plan

    def _larger(self, number: int) -> Plan:
        """A plan of three to eight misfortunes, drawn."""
        draw = self._draw(number + 2)
        size = draw.between(min(3, len(self._spots)), min(MAX_MISFORTUNES, len(self._spots)), "size")
        chosen = []
        for place in range(size):
            spot = self._spots[draw.between(0, len(self._spots) - 1, f"spot {place}")]
            chosen.append(Misfortune(spot, draw.between(0, len(spot.values) - 1, f"value {place}")))
        return self._fitting(chosen)

    def shrink(self, plan: Plan) -> Shrinking:
        """The same with as few misfortunes as still break the client, and with the simplest values.

        One misfortune takes the place of several where it breaks the client alone.
        """
        left = SHRINKING

        def still(smaller: Plan) -> Generator[Plan, bool | None, bool]:
            nonlocal left
            left -= 1
            self.tried.shrinking += 1
            return left >= 0 and (yield smaller) is True

        removing = True
        while removing and len(plan) > 1:
            removing = False
            half = plan[: len(plan) // 2], plan[len(plan) // 2 :]
            for smaller in (*(half if len(plan) > 2 else ()), *(_without(plan, item) for item in plan)):
                if (yield from still(smaller)):
                    plan, removing = smaller, True
                    break
        if len(plan) > 1:
            for single in self._untried(plan):
                if (yield from still(single)):
                    plan = single
                    break
        for place, item in enumerate(plan):
            for number in range(item.number):
                simpler = (*plan[:place], replace(item, number=number), *plan[place + 1 :])
                if (yield from still(simpler)):
                    plan = simpler
                    break
        return plan

    def _untried(self, plan: Plan) -> Iterator[Plan]:
        """Single misfortunes about the same as a plan that were not tried alone."""
        about = {item.spot.about for item in plan}
        plans = ((single,) for single in self.singles if single.spot.about in about)
        return (single for single in plans if single not in self._done)


def _without(plan: Plan, item: Misfortune) -> Plan:
    return tuple(other for other in plan if other is not item)
