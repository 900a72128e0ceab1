"""Operations of control that explore a test whose runs its client makes, in any language.

The client asks for the next run, runs the test in worlds whose ids begin with the prefix of this run, and says how it
ended. The plan is laid over these worlds as they open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec

from sendbox.control.arguments import Duration
from sendbox.control.operation import Call, ControlError, operation, unreadable
from sendbox.engine.answer import Answer, enum, keywords
from sendbox.exploring import find_files
from sendbox.exploring.exploration import (
    NOTHING_FOUND,
    FindKind,
    Result,
    Run,
    RunRequest,
    Steps,
    deadline,
    explore_by_steps,
)
from sendbox.exploring.families.table import USUAL, kept, parse_families
from sendbox.exploring.misfortune import scenarios
from sendbox.exploring.watcher import Watcher
from sendbox.runtime import wall
from sendbox.runtime.interface import WorldHooks
from sendbox.scenario.model import ScenarioError

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.timeline import Goal
    from sendbox.exploring.exploration import Find
    from sendbox.exploring.misfortune import Plan
    from sendbox.runtime.worlds import HostedWorld, Runtime

#: The most explorations of a server, the most runs of one, and the longest text of an argument.
MOST: Final = 32
MOST_RUNS: Final = 10_000
LONGEST: Final = 10_000
#: What the ids of the worlds of explorations begin with.
PREFIX: Final = "test-explore-"
#: The results of a run, and whether it failed.
RESULTS: Final = {"passed": False, "failed": True, "unknown": None}
Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
RunCount = Annotated[int, msgspec.Meta(ge=1, le=MOST_RUNS)]
State = Literal["ready", "running", "busy", "over"]


class ExploredWorld(Answer):
    """A world of a run: its id, and the scenario that is laid over it."""

    id: str
    scenario: Annotated[dict[str, Any], keywords(description="A scenario in front of that of the world.")]


class NextRun(Answer):
    """A run to make: its number, the worlds that it is known to have, and its misfortunes in words."""

    done: bool
    run: int
    prefix: str
    worlds: list[ExploredWorld]
    misfortunes: list[str]


class FindFile(Answer):
    """A scenario of a find, under the name of its file in `.sendbox/found`."""

    name: str
    text: str


class ExplorationFind(Answer):
    """A find: what breaks the test, the assertion that it breaks, and the scenarios that repeat it."""

    kind: FindKind
    misfortunes: list[str]
    assertion: str
    message: str
    story: list[str]
    effort: str
    scenarios: list[FindFile]


class Exploration(Answer):
    """An exploration of a test: its state, the number of runs that were made, and once it is over its finds."""

    id: str
    test: str
    state: State
    runs: int
    words: list[str]
    finds: list[ExplorationFind]


class ExplorationList(Answer):
    """The explorations of a server, oldest first."""

    explorations: list[Exploration]


class ForgottenExploration(Answer):
    """The exploration that was ended, and forgotten."""

    deleted: str


class _Exploring:
    """One exploration, between its runs and in one."""

    def __init__(self, id: str, test: str, watcher: Watcher, start: int) -> None:
        self.id = id
        self.test = test
        self.state: State = "ready"
        self.watcher = watcher
        #: the instant at which worlds start for which nothing says another
        self.start = start
        self.number = 0
        self.plan: Plan = ()
        self.observing = True
        self.names: list[str] = []
        self.progress = f"0 runs, {NOTHING_FOUND}"
        self.result: Result | None = None
        self._steps: Steps[Result] | None = None

    def begin(self, steps: Steps[Result]) -> None:
        """The steps that are to be made."""
        self._steps = steps
        self.proceed(None)

    def count(self, done: int, runs: int, finds: str) -> None:
        """Notes the progress of the search."""
        self.progress = f"{done} of {runs} runs, {finds}"

    @property
    def prefix(self) -> str:
        """What the ids of the worlds of the present run begin with."""
        return f"{PREFIX}{self.id}-{self.number}-"

    def proceed(self, run: Run | None) -> None:
        """Goes on to the next run that is to be made, after a run of the present plan."""
        assert self._steps is not None
        answer = None if run is None else (self.plan, run)
        try:
            request = self._steps.send(answer)
            while not isinstance(request, RunRequest):
                plan = next(request, None)
                request = self._steps.send(None) if plan is None else RunRequest(plan)
            self.plan, self.observing = request.plan, request.observing
        except StopIteration as end:
            self.result = end.value
        self.state = "ready" if self.result is None else "over"

    def view(self) -> Exploration:
        """How it stands."""
        result = self.result
        return Exploration(
            id=self.id,
            test=self.test,
            state=self.state,
            runs=self.number,
            words=[self.progress] if result is None else result.words,
            finds=[] if result is None else [self._find(find) for find in result.finds],
        )

    def _find(self, find: Find) -> ExplorationFind:
        texts = find_files.texts(self.test, find)
        return ExplorationFind(
            kind=find.kind,
            misfortunes=[str(item) for item in find.plan],
            assertion=find.run.assertion,
            message=find.run.output,
            story=find.story,
            effort=find.effort,
            scenarios=[FindFile(name=name, text=text) for name, text in texts.items()],
        )


class Explorations(WorldHooks):
    """The explorations of a server: the hooks of their worlds. Other worlds have the hooks that were there before."""

    def __init__(self, others: WorldHooks) -> None:
        self._others = others
        self._count = 0
        self.by_id: dict[str, _Exploring] = {}

    @staticmethod
    def of(runtime: Runtime) -> Explorations:
        """Those of a runtime."""
        if not isinstance(runtime.hooks, Explorations):
            runtime.hooks = Explorations(runtime.hooks)
        return runtime.hooks

    def open(self, call: Call, test: str) -> _Exploring:
        """One more exploration; the oldest that is over gives way. Raises `ControlError` at the bound."""
        if len(self.by_id) >= MOST:
            over = next((item.id for item in self.by_id.values() if item.state == "over"), None)
            if over is None:
                text = f"{MOST} explorations are open, the most of a server; DELETE /_sandbox/explorations/ID ends one"
                raise ControlError(409, "too_many_explorations", text)
            del self.by_id[over]
        self._count += 1
        start = call.runtime.settings.start
        exploring = _Exploring(
            str(self._count), test, Watcher(call.served), wall.present()[0] if start is None else start
        )
        self.by_id[exploring.id] = exploring
        return exploring

    def get(self, id: str) -> _Exploring:
        """An exploration. Raises `ControlError`."""
        if id not in self.by_id:
            text = f'"{id}" is not an exploration of this server; POST /_sandbox/explorations begins one'
            raise ControlError(404, "no_such_exploration", text)
        return self.by_id[id]

    def _exploring(self, world_id: str) -> _Exploring | None:
        running = (item for item in self.by_id.values() if item.state == "running")
        return next((item for item in running if world_id.startswith(item.prefix)), None)

    def _hooks(self, world_id: str) -> WorldHooks:
        exploring = self._exploring(world_id)
        return self._others if exploring is None else exploring.watcher

    def before_open(self, world_id: str, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """A world is about to open."""
        exploring = self._exploring(world_id)
        if exploring is not None and start is None and blueprint.start is None:
            start = exploring.start  # the same in each run
        return self._hooks(world_id).before_open(world_id, blueprint, start)

    def after_open(self, hosted: HostedWorld) -> None:
        """A world has opened."""
        self._hooks(hosted.world.id).after_open(hosted)

    def before_load(self, hosted: HostedWorld, blueprint: Blueprint) -> Blueprint:
        """A world gets another scenario."""
        return self._hooks(hosted.world.id).before_load(hosted, blueprint)

    def before_advance(self, hosted: HostedWorld, goal: Goal) -> Goal:
        """A tester is about to move a clock."""
        return self._hooks(hosted.world.id).before_advance(hosted, goal)

    def after_advance(self, hosted: HostedWorld, began: int) -> None:
        """A tester has moved a clock."""
        self._hooks(hosted.world.id).after_advance(hosted, began)

    def before_close(self, hosted: HostedWorld) -> None:
        """A world is about to close."""
        self._hooks(hosted.world.id).before_close(hosted)


def _explored(exploring: _Exploring, **settings: Any) -> Steps[Result]:
    """Explores a test from its first run on."""
    answer = yield RunRequest((), True)
    assert answer is not None
    passed = answer[1]
    if passed.failed is not False:
        return Result(["not explored: the first run, without misfortune, did not pass"])
    if not passed.worlds:
        return Result([f"not explored: it opened no world whose id begins with {exploring.prefix}"])
    exploring.names = [world.name for world in passed.worlds]
    explored: Generator[Any, Any, Result] = explore_by_steps(passed, progress=exploring.count, **settings)
    return (yield from explored)


@operation("POST", "/explorations", status=201, answers=Exploration)
async def begin_exploration(
    call: Call,
    test: Text,
    runs: RunCount | None = None,
    time: Duration | None = None,
    families: list[str] | None = None,
    keep: list[str] | None = None,
    seed: int | str = "0",
) -> Exploration:
    """Begins to explore a test, by its name. `runs` and `time`, a real time, bound it; the rest is as in a session.

    409 `too_many_explorations`: of a server's explorations, the oldest that is over is forgotten for a new one.
    """
    try:
        chosen, left_out = parse_families(families or USUAL), kept(keep or ())
    except ValueError as error:
        raise ControlError(400, "bad_argument", str(error)) from None
    exploring = Explorations.of(call.runtime).open(call, test)
    settings = {"families": chosen, "keep": left_out, "seed": seed, "runs": runs, "over": deadline(time)}
    exploring.begin(_explored(exploring, name=test, **settings))
    return exploring.view()


@operation("GET", "/explorations", answers=ExplorationList)
async def explorations(call: Call) -> ExplorationList:
    """The explorations of this server."""
    return ExplorationList(explorations=[item.view() for item in Explorations.of(call.runtime).by_id.values()])


@operation("GET", "/explorations/{id}", answers=Exploration)
async def exploration(call: Call, id: str) -> Exploration:
    """An exploration: how it stands, and once it is over what it found. `scenarios` are the files of a find."""
    return Explorations.of(call.runtime).get(id).view()


@operation("POST", "/explorations/{id}/next", answers=NextRun, whole=True, asked=True)
async def next_run(call: Call, id: str) -> NextRun:
    """The next run that is to be made, or `done`. The first two have no misfortune.

    Each world whose id begins with `prefix` is a world of this run, however it is opened: the plan is laid over it. Use
    the same ids behind the prefix in each run. `worlds` has those of the first run, with what is laid over each.
    """
    exploring = Explorations.of(call.runtime).get(id)
    if exploring.state in ("running", "busy"):
        raise ControlError(409, "run_under_way", f"run {exploring.number} is under way; POST its result first")
    if exploring.state == "over":
        return NextRun(done=True, run=exploring.number, prefix=exploring.prefix, worlds=[], misfortunes=[])
    exploring.number += 1
    exploring.state = "running"
    by_world = scenarios(exploring.plan)
    exploring.watcher.begin(by_world, observing=exploring.observing, prefix=exploring.prefix)
    return NextRun(
        done=False,
        run=exploring.number,
        prefix=exploring.prefix,
        worlds=[
            ExploredWorld(id=f"{exploring.prefix}{name}", scenario=by_world.get(ordinal, {"sendbox": 1}))
            for ordinal, name in enumerate(exploring.names or ["1"], 1)
        ],
        misfortunes=[str(item) for item in exploring.plan],
    )


@operation("POST", "/explorations/{id}/result", answers=Exploration, asked=True)
async def end_run(
    call: Call,
    id: str,
    run: int,
    result: Annotated[str, enum(RESULTS)],
    message: Text = "",
    assertion: Text = "",
) -> Exploration:
    """Takes the result of a run, and closes its worlds.

    `assertion` is the same text whenever the same assertion fails, such as its place in the code; without it, it is the
    first line of `message`. A run is `unknown` that was skipped, took too long, or in which an act of the test itself
    was refused.
    """
    exploring = Explorations.of(call.runtime).get(id)
    if exploring.state != "running" or run != exploring.number:
        raise ControlError(409, "no_such_run", f"run {run} is not under way; POST the result of the last run, once")
    runtime, failed = call.runtime, RESULTS[result]
    try:
        worlds = exploring.watcher.end(runtime)
        outcome = Run(failed, worlds, message, exploring.watcher.idle)
        if failed:
            outcome.assertion = assertion or message.partition("\n")[0] or "the test"
    except ScenarioError as error:
        exploring.result = Result([f"a plan cannot be laid over its worlds: {error}"])
        raise unreadable(error) from None
    finally:
        _close_worlds(runtime, exploring)
        exploring.state = "busy" if exploring.result is None else "over"
    await asyncio.get_running_loop().run_in_executor(None, exploring.proceed, outcome)
    return exploring.view()


@operation("DELETE", "/explorations/{id}", answers=ForgottenExploration)
async def end_exploration(call: Call, id: str) -> ForgottenExploration:
    """Ends an exploration, closes the worlds of its run, and forgets it. Its finds are gone too."""
    open_explorations = Explorations.of(call.runtime)
    exploring = open_explorations.get(id)
    del open_explorations.by_id[id]
    _close_worlds(call.runtime, exploring)
    return ForgottenExploration(deleted=id)


def _close_worlds(runtime: Runtime, exploring: _Exploring) -> None:
    """Closes the worlds of the present run."""
    for hosted in [hosted for id, hosted in runtime.worlds.items() if id.startswith(exploring.prefix)]:
        runtime.close(hosted)
