"""The exploration of one test, whichever way it is run: what must hold before, the search, the proof of a find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sendbox.exploring import census, story
from sendbox.exploring.families import table
from sendbox.exploring.misfortune import Plan
from sendbox.exploring.search import Search, Tried
from sendbox.runtime import wall

if TYPE_CHECKING:
    from sendbox.exploring.watcher import Observed

#: So many runs a test gets unless told.
RUNS: Final = 100
#: A run may take so many times as long as the first, and at least so many real seconds.
TIMES: Final = 10
LEAST: Final = 5.0
#: So often a find is run again before it is reported.
AGAIN: Final = 2


@dataclass(slots=True)
class Run:
    """A run of the test: whether it broke (None: it said nothing), its worlds if they were observed, what it showed."""

    broke: bool | None
    worlds: list[Observed] = field(default_factory=list)
    shown: Any = None
    #: whether nothing of its plan happened
    idle: bool = False


#: Runs the test under a plan; with True its worlds are observed.
RunTest = Callable[[Plan, bool], Run]
#: Runs the test under plans, in their order; so many at once as it may.
RunAll = Callable[[Iterable[Plan]], Iterator[tuple[Plan, Run]]]


@dataclass(slots=True)
class Result:
    """What came of an exploration. Without a `plan` nothing was found, and `words` say what was tried, or why not."""

    words: list[str]
    plan: Plan = ()
    run: Run | None = None
    story: list[str] = field(default_factory=list)
    tried: Tried | None = None


def longest(took: float) -> float:
    """The real seconds that a run may take where the first took so many."""
    return max(LEAST, TIMES * took)


def deadline(milliseconds: int | None) -> Callable[[], bool]:
    """Says whether so much real time has passed since now; None: it never says so."""
    if milliseconds is None:
        return lambda: False
    end = wall.monotonic_ns() + milliseconds * 1_000_000
    return lambda: wall.monotonic_ns() >= end


def runs_of(value: object) -> int:
    """A number of runs. Raises ValueError."""
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{value!r} is not a number of runs; legal: a whole number from 1")
    return number


class Interrupted(KeyboardInterrupt):
    """The search was interrupted. `words` say what had been tried."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


def explore(
    passed: Run,
    run: RunTest,
    *,
    name: str,
    families: Sequence[str],
    keep: Sequence[str] = (),
    seed: int | str,
    runs: int = RUNS,
    over: Callable[[], bool] = lambda: False,
    run_all: RunAll | None = None,
) -> Result:
    """Explores a test that passed.

    Kinds of misfortune to `keep` are left out; `over` says that the time of the session is over. Raises `Interrupted`.
    """
    second = run((), True)
    if second.broke is not False:
        return Result(["not repeatable, so not explored: the second run without misfortune did not pass"])
    differs = census.difference(*([item.census for item in each.worlds] for each in (passed, second)))
    if differs is not None:
        return Result([f"not repeatable, so not explored: {differs}"])
    seen = [item.census for item in passed.worlds]
    missing = table.untried(seen, families, keep)
    search = Search(table.spots(seen, families, keep), seed=seed, name=name, runs=runs)
    every = run_all or (lambda plans: ((plan, run(plan, False)) for plan in plans))
    try:
        found = _search(search, every(_until(search.plans(), over)), run)
    except KeyboardInterrupt:
        raise Interrupted(search.tried.words()) from None
    if found is not None:
        small, broken = found
        lines = story.story(small, passed.worlds, broken.worlds)
        return Result([search.tried.words(), *missing], small, broken, lines, search.tried)
    words = [search.tried.words()] if search.singles or not missing else []
    words += [f"it broke only now and then: {'; '.join(map(str, plan))}" for plan in search.tried.unsteady]
    ended = ["the time of the session was over before all was tried"] if over() else []
    return Result([*words, *missing, *ended], tried=search.tried)


def _search(search: Search, outcomes: Iterator[tuple[Plan, Run]], run: RunTest) -> tuple[Plan, Run] | None:
    """The first plan that breaks the test each time, made small, and the last run that it broke."""
    for plan, outcome in outcomes:
        search.count(plan)
        search.tried.idle += outcome.idle
        if outcome.broke is None:
            search.tried.silent += 1
            search.tried.mute = search.tried.mute or plan
        if not outcome.broke:
            continue
        small = search.shrunk(plan, lambda smaller: run(smaller, False).broke)
        again = [run(small, True) for _ in range(AGAIN)]
        if all(each.broke for each in again):
            return small, again[-1]
        search.tried.unsteady.append(small)
    return None


def _until(plans: Iterator[Plan], over: Callable[[], bool]) -> Iterator[Plan]:
    while not over():
        plan = next(plans, None)
        if plan is None:
            return
        yield plan
