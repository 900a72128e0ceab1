"""The exploration of one test: the conditions for it, the search for misfortunes that break the test, and their proof.

A find is a *bug* where the service may do at any time what breaks the test, and a *question* where it changes what is
true: a correct client may rightly do something else then. Neither ends the search; there is one find for each pair of
kinds of misfortune and assertion.

The story of a find has its plan in words, and compares the run that failed with the run that passed. The module also
shows the progress in a pytest session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from sendbox.engine.durations import show
from sendbox.exploring import census
from sendbox.exploring.families import table
from sendbox.exploring.misfortune import Misfortune, Plan, kinds_of
from sendbox.exploring.search import RUNS, PlanCounts, Search
from sendbox.exploring.watcher import Line, ObservedWorld
from sendbox.runtime import wall

T = TypeVar("T")

#: The time limit of a run, as a multiple of the time of the first run; and its minimum in real seconds.
TIME_FACTOR: Final = 10
MIN_SECONDS: Final = 5.0
#: The number of runs that must fail again before a find is reported.
PROOF_RUNS: Final = 2
#: Real milliseconds between two lines of progress without a terminal.
PROGRESS_INTERVAL: Final = 10_000
#: The highest number of finds of a test; bugs take the place of questions.
MAX_FINDS: Final = 5
#: The kinds of finds, the worse one first.
FindKind = Literal["bug", "question"]
FIND_KINDS: Final[tuple[FindKind, ...]] = ("bug", "question")
#: The reasons why a find is a question.
REASON_CHANGING: Final = "this changes what is true"
REASON_SURVIVED: Final = "the client coped with it or gave the call up, and the test looked for something else"
#: The text for a result without finds.
NOTHING_FOUND: Final = "nothing found"


@dataclass(slots=True)
class Run:
    """A run of the test: its result (`failed`, None = it had none), its worlds if they were observed, and its output.

    `assertion` is a text for the assertion that failed, the same text in every run in which it fails.
    """

    failed: bool | None
    worlds: list[ObservedWorld] = field(default_factory=list)
    output: Any = None
    #: True if nothing of its plan happened
    idle: bool = False
    assertion: str = ""


#: Runs the test under a plan; the second argument is True if its worlds shall be observed.
RunTest = Callable[[Plan, bool], Run]
#: Runs the test under plans, in their order, possibly several at once.
RunAll = Callable[[Iterable[Plan]], Iterator[tuple[Plan, Run]]]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run for which an exploration asks: its plan, and True if its worlds shall be observed."""

    plan: Plan
    observing: bool = False


#: Yields requests, receives the plan and the run of each, and returns a result. A request that is an iterator asks for
#: a run of the next of its plans; the answer is None if there are no more.
Steps = Generator[RunRequest | Iterator[Plan], tuple[Plan, Run] | None, T]


@dataclass(frozen=True, slots=True)
class Find:
    """A plan that breaks the test each time, its last run, and its story. `effort` is a text about its runs."""

    kind: FindKind
    plan: Plan
    run: Run
    story: list[str]
    effort: str = ""

    @property
    def summary(self) -> str:
        """Its misfortunes in one line."""
        return "; ".join(map(str, self.plan))


@dataclass(slots=True)
class Result:
    """The result of an exploration: its finds, bugs first; `words` are lines about the runs, or about their absence.

    `runs_left` is the number of runs that were not made because the time was over, `unproved_plan` a plan that broke
    the test when the exploration was interrupted, `untried` are the families for which the test has no place.
    """

    words: list[str]
    finds: list[Find] = field(default_factory=list)
    tried: PlanCounts | None = None
    runs_left: int = 0
    unproved_plan: Plan = ()
    untried: Sequence[str] = ()


def time_limit(seconds: float) -> float:
    """The real seconds that a run may take, if the first run took this long."""
    return max(MIN_SECONDS, TIME_FACTOR * seconds)


def deadline(milliseconds: int | None) -> Callable[[], bool]:
    """A function that is true once `milliseconds` of real time have passed from now on; None: never."""
    if milliseconds is None:
        return lambda: False
    end = wall.monotonic_ns() + milliseconds * 1_000_000
    return lambda: wall.monotonic_ns() >= end


class TimeBudget:
    """The real time of a session, divided among its tests: each gets an equal part of the rest."""

    def __init__(self, milliseconds: int, tests: int) -> None:
        self._left = milliseconds
        self._tests = tests

    @contextmanager
    def share(self) -> Iterator[Callable[[], bool]]:
        """A function that is true once the part of the next test is over. The other tests get the time that is left."""
        began = wall.monotonic_ns()
        part = max(0, self._left // max(1, self._tests))
        self._tests -= 1
        try:
            yield deadline(part)
        finally:
            self._left -= (wall.monotonic_ns() - began) // 1_000_000


def parse_runs(value: object) -> int:
    """The number of runs in a value of a setting. Raises ValueError."""
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{value!r} is not a number of runs; legal: a whole number from 1")
    return number


class Interrupted(KeyboardInterrupt):
    """The search was interrupted. `result` is its result so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("; ".join(result.words))
        self.result = result


def explore(passed: Run, run: RunTest, *, run_all: RunAll | None = None, **settings: Any) -> Result:
    """Explores a test that passed; `settings` are those of `explore_by_steps`. Raises `Interrupted`."""
    run_plans = run_all or (lambda plans: ((plan, run(plan, False)) for plan in plans))
    steps = explore_by_steps(passed, **settings)
    outcomes: Iterator[tuple[Plan, Run]] | None = None
    answer: tuple[Plan, Run] | None = None
    while True:
        try:
            request = steps.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            if isinstance(request, RunRequest):
                answer = request.plan, run(request.plan, request.observing)
            else:
                outcomes = outcomes or run_plans(request)
                answer = next(outcomes, None)
        except KeyboardInterrupt as interrupt:
            steps.throw(interrupt)


def explore_by_steps(
    passed: Run,
    *,
    name: str,
    families: Sequence[str],
    keep: Sequence[str] = (),
    seed: int | str,
    runs: int | None = None,
    over: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int, str], object] = lambda done, runs, finds: None,
) -> Steps[Result]:
    """Explores a test that passed, by runs that its caller makes.

    `keep` are kinds of misfortune that are left out; `runs` is the number of plans, by default `Search` decides; `over`
    is true if the time is over; `progress` is called before the first run and after each run with the number of runs
    made, the number of all runs, and the finds in words. Raises `Interrupted` for a KeyboardInterrupt.
    """
    if over():
        return Result(["not explored: the time of the session was over"], runs_left=runs or RUNS)
    repeated = yield from _run(())
    if repeated.failed is not False:
        return Result(["not repeatable, so not explored: the second run without misfortune did not pass"])
    differs = census.difference(*([item.census for item in compared_run.worlds] for compared_run in (passed, repeated)))
    if differs is not None:
        return Result([f"not repeatable, so not explored: {differs}{_other_ids(passed.worlds, repeated.worlds)}"])
    censuses = [item.census for item in passed.worlds]
    untried = table.families_without_place(censuses, families, keep)
    search = Search(table.spots(censuses, families, keep), seed=seed, name=name, runs=runs)
    exploration = _Exploration(search, passed, over, progress)
    plans = search.plans()
    try:
        yield from exploration.search(_take_until(plans, over))
    except KeyboardInterrupt:
        partial = Result(
            [search.tried.words()], exploration.ordered(), search.tried, unproved_plan=exploration.examined
        )
        raise Interrupted(partial) from None
    finds = exploration.ordered()
    words = [search.tried.words()] if search.singles or not untried else []
    if words and not finds:
        words = [f"{NOTHING_FOUND}: {words[0]}"]
    words += [f"it broke only now and then: {'; '.join(map(str, plan))}" for plan in search.tried.unsteady]
    left = sum(1 for _ in plans) if over() and not exploration.full else 0
    time_over = ["the time of the session was over before all was tried"] if left else []
    return Result([*words, *time_over], finds, search.tried, left, untried=untried)


def _other_ids(first: Sequence[ObservedWorld], second: Sequence[ObservedWorld]) -> str:
    """A question about the first of several worlds whose id did not repeat, "" where each did."""
    ids = ((one.census.ordinal, one.name, other.name) for one, other in _pairs(first, second) if len(first) > 1)
    return next(
        (
            f"; world {number} was {one}, then {other}: do tests run in parallel? "
            "Then give their worlds ids that are the same in each run"
            for number, one, other in ids
            if one != other
        ),
        "",
    )


def _pairs(
    first: Sequence[ObservedWorld], second: Sequence[ObservedWorld]
) -> list[tuple[ObservedWorld, ObservedWorld]]:
    """The worlds of two runs, those of the same ordinal side by side."""
    others = {world.census.ordinal: world for world in second}
    return [(world, others[world.census.ordinal]) for world in first if world.census.ordinal in others]


def _run(plan: Plan, *, observing: bool = True) -> Steps[Run]:
    """A run under a plan."""
    answer = yield RunRequest(plan, observing)
    assert answer is not None
    return answer[1]


class _Exploration:
    """The search for one test, with its finds."""

    def __init__(
        self,
        search: Search,
        passed: Run,
        over: Callable[[], bool],
        progress: Callable[[int, int, str], object],
    ) -> None:
        self._search = search
        self._passed = passed
        self._over = over
        self._progress = progress
        self._finds: list[Find] = []
        #: a plan that broke the test, while it is made small and proved
        self.examined: Plan = ()
        #: the sets of kinds of misfortune that are known to break an assertion, by assertion
        self._known: dict[str, list[frozenset[tuple[str, str, bool]]]] = {}

    @property
    def full(self) -> bool:
        """True if no further find would be kept."""
        return len(self._finds) >= MAX_FINDS and all(find.kind == "bug" for find in self._finds)

    def ordered(self) -> list[Find]:
        """The finds, bugs first."""
        return sorted(self._finds, key=lambda find: FIND_KINDS.index(find.kind))

    def search(self, plans: Iterator[Plan]) -> Steps[None]:
        """Examines the runs under plans in order, until no further find would be kept."""
        tried = self._search.tried
        self._progress(0, self._search.runs, NOTHING_FOUND)
        while (answer := (yield plans)) is not None:
            plan, outcome = answer
            if self._search.leave_out(plan):  # it was begun before that was known
                continue
            self._search.count(plan)
            tried.idle += outcome.idle
            if outcome.failed is None:
                tried.silent += 1
                tried.mute = tried.mute or plan
            elif outcome.failed:
                self.examined = plan
                yield from self._examine(plan, outcome)
                self.examined = ()
            self._progress(tried.runs, self._search.runs, self._count_text())
            if self.full:
                tried.known = 0  # depends on how many runs were begun at once
                return

    def _count_text(self) -> str:
        counts = {kind: sum(find.kind == kind for find in self._finds) for kind in FIND_KINDS}
        words = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in counts.items() if number)
        return words or NOTHING_FOUND

    def _examine(self, plan: Plan, outcome: Run) -> Steps[None]:
        """Makes a plan that broke the test small, and keeps it where it is not known."""
        tried = self._search.tried
        before = tried.shrinking
        while True:
            unknown = self._without_known(plan, outcome.assertion)
            if unknown == plan:
                break
            if not unknown:
                self._search.record_failure(plan, new=False)
                return
            plan = unknown
            outcome = yield from self._run_smaller(plan)
            tried.shrinking += 1
            if not outcome.failed:
                return
        assertion = outcome.assertion
        minimal = yield from self._shrink(plan, assertion)
        kinds = kinds_of(minimal)
        if any(known <= kinds for known in self._known.get(assertion, ())):
            self._search.record_failure(minimal, new=False)
            return
        proof_runs: list[Run] = []
        while len(proof_runs) < PROOF_RUNS:
            proof_runs.append((yield from _run(minimal)))
        if not all(result.failed and result.assertion == assertion for result in proof_runs):
            tried.unsteady.append(minimal)
            return
        self._known.setdefault(assertion, []).append(kinds)
        self._search.record_failure(minimal, new=True)
        question = self._question_reason(minimal, proof_runs[-1])
        lines = story(minimal, self._passed.worlds, proof_runs[-1].worlds, question)
        kind: FindKind = "question" if question else "bug"
        effort = f"found by run {tried.runs}, made small by {tried.shrinking - before} more"
        self._keep_find(Find(kind, minimal, proof_runs[-1], lines, effort))

    def _shrink(self, plan: Plan, assertion: str) -> Steps[Plan]:
        """The smallest plan that still breaks the assertion."""
        shrinking = self._search.shrink(plan)
        breaks: bool | None = None
        while True:
            try:
                smaller = shrinking.send(breaks)
            except StopIteration as end:
                minimal: Plan = end.value
                return minimal
            run = yield from self._run_smaller(smaller)
            breaks = run.failed is True and run.assertion == assertion

    def _run_smaller(self, plan: Plan) -> Steps[Run]:
        """A run under a part of a plan that broke the test; without a result if the time is over."""
        return Run(None) if self._over() else (yield from _run(plan, observing=False))

    def _without_known(self, plan: Plan, assertion: str) -> Plan:
        """A plan without the misfortunes that are known to break the assertion.

        If the number of finds has reached its maximum, also without those that could only make another question.
        """
        for known in self._known.get(assertion, ()):
            if known <= kinds_of(plan):
                plan = tuple(item for item in plan if not kinds_of((item,)) <= known)
        if len(self._finds) >= MAX_FINDS:
            plan = tuple(item for item in plan if not item.changing)
        return plan

    def _question_reason(self, plan: Plan, broken: Run) -> str:
        """The reason why a find is a question, "" if it is a bug."""
        if any(item.changing for item in plan):
            return REASON_CHANGING
        worlds = _pairs(self._passed.worlds, broken.worlds)
        pairs = {passed.census.ordinal: (passed.census, other.census) for passed, other in worlds}

        def survived(item: Misfortune) -> bool:
            pair = pairs.get(item.spot.world)
            return pair is not None and item.spot.kind.survived(item, *pair)

        return REASON_SURVIVED if all(map(survived, plan)) else ""

    def _keep_find(self, find: Find) -> None:
        """Adds a find; if there are too many, a bug takes the place of the last question."""
        if len(self._finds) >= MAX_FINDS:
            questions = [place for place, other in enumerate(self._finds) if other.kind == "question"]
            if find.kind == "question" or not questions:
                return
            del self._finds[questions[-1]]
        self._finds.append(find)
        self._search.bugs_only = len(self._finds) >= MAX_FINDS


def _take_until(plans: Iterator[Plan], over: Callable[[], bool]) -> Iterator[Plan]:
    while not over():
        plan = next(plans, None)
        if plan is None:
            return
        yield plan


# --- the story of a find

#: The number of lines before the first difference, and from it on.
_LINES_BEFORE: Final = 3
_LINES_AFTER: Final = 8
#: The text for two runs with the same entries.
SAME_ENTRIES: Final = "the same happens in both runs; only the instants differ at which the client and the test look"
#: Texts that may differ between equal runs: ids, which come from the key of a world, and the ports of receivers.
_VARIES: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=://)[^/\s]+:\d+")


def story(
    plan: Plan, passed: Sequence[ObservedWorld], broken: Sequence[ObservedWorld], question: str = ""
) -> list[str]:
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
    for passed_world, broken_world in _pairs(passed, broken):
        where = f" in world {passed_world.census.ordinal}" if len(passed) > 1 else ""
        parting += _divergence(passed_world.lines, broken_world.lines, where)
    return [*lines, *(parting or [SAME_ENTRIES])]


def _divergence(passed: Sequence[Line], broken: Sequence[Line], where: str) -> list[str]:
    """The last lines that both runs have in common, then the lines of each."""
    pairs = zip(map(_normalized, passed), map(_normalized, broken), strict=False)
    same = next(
        (place for place, (one, other) in enumerate(pairs) if one != other),
        min(len(passed), len(broken)),
    )
    if same == len(passed) == len(broken):
        return []
    return [
        f"both runs{where}, until they part:",
        *_format_lines(passed[max(0, same - _LINES_BEFORE) : same]),
        "the run that passed:",
        *_format_lines(passed[same : same + _LINES_AFTER], len(passed) - same),
        "the run that broke:",
        *_format_lines(broken[same : same + _LINES_AFTER], len(broken) - same),
    ]


def _normalized(line: Line) -> Line:
    return line[0], _VARIES.sub("", line[1])


def _format_lines(lines: Sequence[Line], all_of_them: int = 0) -> list[str]:
    texts = [f"  {show(at):>10}  {line}" for at, line in lines] or ["  (nothing more)"]
    return texts + ([f"  and {all_of_them - len(lines)} more"] if all_of_them > len(lines) else [])


# --- progress in a pytest session: a bar on a terminal, elsewhere a line every ten seconds of real time

#: The width of the bar, and of its line.
_BAR_WIDTH: Final = 20
_LINE_WIDTH: Final = 79
#: Real milliseconds between two bars on a terminal.
_BAR_INTERVAL: Final = 100


class Progress:
    """The progress that a session shows while it explores; `tests` is the number of tests that are explored."""

    def __init__(self, config: Any) -> None:
        self.tests = 0
        self._config = config
        self._begun = 0
        self._over = deadline(PROGRESS_INTERVAL)

    @contextmanager
    def next(self) -> Iterator[Callable[[int, int, str], object]]:
        """A function that shows the progress of the next test: runs made, all runs, and the finds in words."""
        self._begun += 1
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if reporter is None:  # a worker of xdist
            yield lambda done, runs, finds: None
            return
        terminal, line_written = bool(reporter.isatty), False
        interval = _BAR_INTERVAL if terminal else PROGRESS_INTERVAL
        if terminal:
            self._over = deadline(interval)

        def show(done: int, runs: int, finds: str) -> None:
            nonlocal line_written
            if not self._over():
                return
            self._over = deadline(interval)
            text = f"{done} of {runs} runs, {finds}"
            if not line_written:
                reporter.ensure_newline()
            line_written = True
            if terminal:
                bar = ("#" * (_BAR_WIDTH * done // runs)).ljust(_BAR_WIDTH, ".")
                reporter.rewrite(f"exploring {self._begun} of {self.tests} [{bar}] {text}"[:_LINE_WIDTH], erase=True)
                reporter.flush()
            else:
                reporter.write_line(f"exploring test {self._begun} of {self.tests}: {text}", flush=True)

        try:
            yield show
        finally:
            if line_written and terminal:
                reporter.rewrite("", erase=True)
                reporter.write("\r", flush=True)
