"""The exploration of one test, whichever way it is run: what must hold before, the search, the proof of finds.

A find is a *bug* where the service may do at any time what breaks the test, and a *question* where it changes what is
true: a correct client may rightly do something else then. Neither ends the search; there is one find for each pair of
kinds of misfortune and assertion.

Its story: the plan in words, and the run that broke beside the run that passed. And its progress in a pytest session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from sendbox.engine.durations import show
from sendbox.exploring import census
from sendbox.exploring.families import table
from sendbox.exploring.misfortune import Misfortune, Plan, kinds_of
from sendbox.exploring.search import RUNS, Search, Tried
from sendbox.runtime import wall

if TYPE_CHECKING:
    from sendbox.exploring.watcher import Line, Observed

#: A run may take so many times as long as the first, and at least so many real seconds.
TIMES: Final = 10
LEAST: Final = 5.0
#: So often a find is run again before it is reported.
AGAIN: Final = 2
#: So often progress is told where there is no terminal, in real milliseconds.
EVERY: Final = 10_000
#: So many finds a test has at most; of more, bugs are kept.
FINDS: Final = 5
#: What a find may be, the worse one first.
FindKind = Literal["bug", "question"]
KINDS: Final[tuple[FindKind, ...]] = ("bug", "question")
#: Why a find is a question.
CHANGES: Final = "this changes what is true"
COPED: Final = "the client coped with it or gave the call up, and the test looked for something else"
#: What is said where nothing was found.
NOTHING: Final = "nothing found"


@dataclass(slots=True)
class Run:
    """A run of the test: whether it broke (None: it said nothing), its worlds if they were observed, what it showed.

    `assertion` is what failed, in words that are the same whenever the same fails.
    """

    broke: bool | None
    worlds: list[Observed] = field(default_factory=list)
    shown: Any = None
    #: whether nothing of its plan happened
    idle: bool = False
    assertion: str = ""


#: Runs the test under a plan; with True its worlds are observed.
RunTest = Callable[[Plan, bool], Run]
#: Runs the test under plans, in their order; so many at once as it may.
RunAll = Callable[[Iterable[Plan]], Iterator[tuple[Plan, Run]]]


@dataclass(frozen=True, slots=True)
class Find:
    """A plan that breaks the test each time, its last run, and its story. `effort` says how many runs it took."""

    kind: FindKind
    plan: Plan
    run: Run
    story: list[str]
    effort: str = ""

    @property
    def says(self) -> str:
        """Its misfortunes in one line."""
        return "; ".join(map(str, self.plan))


@dataclass(slots=True)
class Result:
    """The result of an exploration: its finds, bugs first; `words` say what was tried, or why not.

    `left` is the number of runs that were not made because the time was over, `unproved` a plan that broke the test
    when the exploration was interrupted.
    """

    words: list[str]
    finds: list[Find] = field(default_factory=list)
    tried: Tried | None = None
    left: int = 0
    unproved: Plan = ()


def longest(took: float) -> float:
    """The real seconds that a run may take where the first took so many."""
    return max(LEAST, TIMES * took)


def deadline(milliseconds: int | None) -> Callable[[], bool]:
    """Says whether so much real time has passed since now; None: it never says so."""
    if milliseconds is None:
        return lambda: False
    end = wall.monotonic_ns() + milliseconds * 1_000_000
    return lambda: wall.monotonic_ns() >= end


class Shares:
    """The real time of a session, which so many tests share: each gets an equal part of what is left."""

    def __init__(self, milliseconds: int, tests: int) -> None:
        self._left = milliseconds
        self._tests = tests

    @contextmanager
    def share(self) -> Iterator[Callable[[], bool]]:
        """The part of the next test: says whether it is over. What the test does not need is left to the others."""
        began = wall.monotonic_ns()
        part = max(0, self._left // max(1, self._tests))
        self._tests -= 1
        try:
            yield deadline(part)
        finally:
            self._left -= (wall.monotonic_ns() - began) // 1_000_000


def runs_of(value: object) -> int:
    """A number of runs. Raises ValueError."""
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{value!r} is not a number of runs; legal: a whole number from 1")
    return number


class Interrupted(KeyboardInterrupt):
    """The search was interrupted. `result` is what had come of it."""

    def __init__(self, result: Result) -> None:
        super().__init__("; ".join(result.words))
        self.result = result


def explore(
    passed: Run,
    run: RunTest,
    *,
    name: str,
    families: Sequence[str],
    keep: Sequence[str] = (),
    seed: int | str,
    runs: int | None = None,
    over: Callable[[], bool] = lambda: False,
    run_all: RunAll | None = None,
    progress: Callable[[int, int, str], object] = lambda done, runs, finds: None,
) -> Result:
    """Explores a test that passed.

    Kinds of misfortune to `keep` are left out; `runs` is how many plans are drawn, unless given `Search` decides;
    `over` says that the time is over; `progress` is given how many runs the search has made, of how many, and in words
    what it has found, before the first and after each of them. Raises `Interrupted`.
    """
    if over():
        return Result(["not explored: the time of the session was over"], left=runs or RUNS)
    second = run((), True)
    if second.broke is not False:
        return Result(["not repeatable, so not explored: the second run without misfortune did not pass"])
    differs = census.difference(*([item.census for item in passing.worlds] for passing in (passed, second)))
    if differs is not None:
        return Result([f"not repeatable, so not explored: {differs}"])
    censuses = [item.census for item in passed.worlds]
    missing = table.untried(censuses, families, keep)
    search = Search(table.spots(censuses, families, keep), seed=seed, name=name, runs=runs)
    exploration = _Exploration(search, passed, run, over, progress)
    every = run_all or (lambda plans: ((plan, run(plan, False)) for plan in plans))
    plans = search.plans()
    try:
        exploration.search(every(_until(plans, over)))
    except KeyboardInterrupt:
        stopped = Result([search.tried.words()], exploration.ordered(), search.tried, unproved=exploration.examined)
        raise Interrupted(stopped) from None
    finds = exploration.ordered()
    words = [search.tried.words()] if search.singles or not missing else []
    if words and not finds:
        words = [f"{NOTHING}: {words[0]}"]
    words += [f"it broke only now and then: {'; '.join(map(str, plan))}" for plan in search.tried.unsteady]
    left = sum(1 for _ in plans) if over() and not exploration.full else 0
    ended = ["the time of the session was over before all was tried"] if left else []
    return Result([*words, *missing, *ended], finds, search.tried, left)


class _Exploration:
    """The search of one test, and what it has found."""

    def __init__(
        self,
        search: Search,
        passed: Run,
        run: RunTest,
        over: Callable[[], bool],
        progress: Callable[[int, int, str], object],
    ) -> None:
        self._search = search
        self._passed = passed
        self._run = run
        self._over = over
        self._progress = progress
        self._finds: list[Find] = []
        #: a plan that broke the test, while it is made small and proved
        self.examined: Plan = ()
        #: the kinds of misfortune of which it is known that they break an assertion
        self._known: dict[str, list[frozenset[tuple[str, str, bool]]]] = {}

    @property
    def full(self) -> bool:
        """True if no further find would be kept."""
        return len(self._finds) >= FINDS and all(find.kind == "bug" for find in self._finds)

    def ordered(self) -> list[Find]:
        """The finds, bugs first."""
        return sorted(self._finds, key=lambda find: KINDS.index(find.kind))

    def search(self, outcomes: Iterator[tuple[Plan, Run]]) -> None:
        """Looks at all plans that the test ran under, until no further find would be kept."""
        tried = self._search.tried
        self._progress(0, self._search.runs, NOTHING)
        for plan, outcome in outcomes:
            if self._search.leave_out(plan):  # it was begun before that was known
                continue
            self._search.count(plan)
            tried.idle += outcome.idle
            if outcome.broke is None:
                tried.silent += 1
                tried.mute = tried.mute or plan
            elif outcome.broke:
                self.examined = plan
                self._examine(plan, outcome)
                self.examined = ()
            self._progress(tried.runs, self._search.runs, self._count())
            if self.full:
                tried.known = 0  # depends on how many runs were begun at once
                return

    def _count(self) -> str:
        counts = {kind: sum(find.kind == kind for find in self._finds) for kind in KINDS}
        words = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in counts.items() if number)
        return words or NOTHING

    def _examine(self, plan: Plan, outcome: Run) -> None:
        """Makes a plan that broke the test small, and keeps it where it is not known."""
        tried = self._search.tried
        before = tried.shrinking
        while True:
            rest = self._unknown(plan, outcome.assertion)
            if rest == plan:
                break
            if not rest:
                self._search.broke(plan, new=False)
                return
            plan = rest
            outcome = self._smaller(plan)
            tried.shrinking += 1
            if not outcome.broke:
                return
        assertion = outcome.assertion

        def breaks(smaller: Plan) -> bool:
            ran = self._smaller(smaller)
            return ran.broke is True and ran.assertion == assertion

        small = self._search.shrunk(plan, breaks)
        kinds = kinds_of(small)
        if any(known <= kinds for known in self._known.get(assertion, ())):
            self._search.broke(small, new=False)
            return
        again = [self._run(small, True) for _ in range(AGAIN)]
        if not all(result.broke and result.assertion == assertion for result in again):
            tried.unsteady.append(small)
            return
        self._known.setdefault(assertion, []).append(kinds)
        self._search.broke(small, new=True)
        question = self._question(small, again[-1])
        lines = story(small, self._passed.worlds, again[-1].worlds, question)
        kind: FindKind = "question" if question else "bug"
        effort = f"found by run {tried.runs}, made small by {tried.shrinking - before} more"
        self._keep(Find(kind, small, again[-1], lines, effort))

    def _smaller(self, plan: Plan) -> Run:
        """A run under a part of a plan that broke the test; where the time is over it says nothing."""
        return Run(None) if self._over() else self._run(plan, False)

    def _unknown(self, plan: Plan, assertion: str) -> Plan:
        """A plan without those of its misfortunes of which it is known that they break the assertion.

        Where so many finds are kept as may be, another question would not be: only bugs are looked for.
        """
        for known in self._known.get(assertion, ()):
            if known <= kinds_of(plan):
                plan = tuple(item for item in plan if not kinds_of((item,)) <= known)
        if len(self._finds) >= FINDS:
            plan = tuple(item for item in plan if not item.changing)
        return plan

    def _question(self, plan: Plan, broken: Run) -> str:
        """Why a find is a question, "" where it is a bug."""
        if any(item.changing for item in plan):
            return CHANGES
        worlds = [(world.census for world in run.worlds) for run in (self._passed, broken)]
        pairs = {passed.ordinal: (passed, other) for passed, other in zip(*worlds, strict=False)}

        def survived(item: Misfortune) -> bool:
            pair = pairs.get(item.spot.world)
            return pair is not None and item.spot.kind.survived(item, *pair)

        return COPED if all(map(survived, plan)) else ""

    def _keep(self, find: Find) -> None:
        """Keeps a find; of too many, a bug takes the place of the last question."""
        if len(self._finds) >= FINDS:
            questions = [place for place, kept in enumerate(self._finds) if kept.kind == "question"]
            if find.kind == "question" or not questions:
                return
            del self._finds[questions[-1]]
        self._finds.append(find)
        self._search.bugs_only = len(self._finds) >= FINDS


def _until(plans: Iterator[Plan], over: Callable[[], bool]) -> Iterator[Plan]:
    while not over():
        plan = next(plans, None)
        if plan is None:
            return
        yield plan


# --- the story of a find

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


# --- progress in a pytest session: a bar on a terminal, elsewhere a line every ten seconds of real time

#: How wide the bar is, and the line that it is in.
_BAR: Final = 20
_WIDTH: Final = 79
#: Between two bars on a terminal, in real milliseconds.
_OFTEN: Final = 100


class Progress:
    """The progress that a session shows while it explores; `tests` is the number of tests that are explored."""

    def __init__(self, config: Any) -> None:
        self.tests = 0
        self._config = config
        self._begun = 0
        self._over = deadline(EVERY)

    @contextmanager
    def next(self) -> Iterator[Callable[[int, int, str], object]]:
        """The progress of the next test: takes how many runs were made, of how many, and what was found."""
        self._begun += 1
        reporter: Any = self._config.pluginmanager.getplugin("terminalreporter")
        if reporter is None:  # a worker of xdist
            yield lambda done, runs, finds: None
            return
        terminal, written = bool(reporter.isatty), False
        every = _OFTEN if terminal else EVERY
        if terminal:
            self._over = deadline(every)

        def show(done: int, runs: int, finds: str) -> None:
            nonlocal written
            if not self._over():
                return
            self._over = deadline(every)
            text = f"{done} of {runs} runs, {finds}"
            if not written:
                reporter.ensure_newline()
            written = True
            if terminal:
                bar = ("#" * (_BAR * done // runs)).ljust(_BAR, ".")
                reporter.rewrite(f"exploring {self._begun} of {self.tests} [{bar}] {text}"[:_WIDTH], erase=True)
                reporter.flush()
            else:
                reporter.write_line(f"exploring test {self._begun} of {self.tests}: {text}", flush=True)

        try:
            yield show
        finally:
            if written and terminal:
                reporter.rewrite("", erase=True)
                reporter.write("\r", flush=True)
