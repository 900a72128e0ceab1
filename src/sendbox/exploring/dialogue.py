"""Explorations whose runs are made by clients of control: how far each is, and the hooks of its worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from sendbox.control.operation import Call, ControlError, unreadable
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.timeline import Goal
from sendbox.exploring import find_files
from sendbox.exploring.answers import Exploration, ExplorationFind, ExploredWorld, FindFile, NextRun, State
from sendbox.exploring.exploration import (
    NOTHING_FOUND,
    Find,
    Result,
    Run,
    RunRequest,
    Steps,
    deadline,
    explore_by_steps,
)
from sendbox.exploring.families.table import USUAL, parse_families, read_kept_kinds
from sendbox.exploring.misfortune import Plan, scenarios
from sendbox.exploring.watcher import Watcher
from sendbox.runtime import wall
from sendbox.runtime.interface import WorldHooks
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.store.store import StoredWorld
from sendbox.runtime.worlds import BEGINS, Runtime
from sendbox.scenario.model import ScenarioError

#: The most explorations of a server.
MAX_EXPLORATIONS: Final = 32
#: How the ids of the worlds of explorations go on, behind the prefix of the token that began them.
PREFIX: Final = "explore-"


class _Exploring:
    """One exploration, between its runs and in one."""

    def __init__(self, id: str, test: str, watcher: Watcher, start: int, begins: str) -> None:
        self.id = id
        self.test = test
        #: the beginning of the ids of all its worlds
        self.begins = begins
        self.state: State = "ready"
        self.watcher = watcher
        #: the instant at which worlds start for which nothing says another
        self.start = start
        self.number = 0
        self.plan: Plan = ()
        self.observing = True
        self.names: list[str] = []
        self.progress = f"0 runs, {NOTHING_FOUND}"
        self.words: list[str] | None = None
        self.finds: list[ExplorationFind] = []
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
        """The beginning of the ids of the worlds of the present run."""
        return f"{self.begins}{PREFIX}{self.id}-{self.number}-"

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
            self.words, self.finds = end.value.words, [self._find(find) for find in end.value.finds]
            self._steps = None
        self.state = "ready" if self.words is None else "over"

    def next(self) -> NextRun:
        """Begins the next run. Raises `ControlError`."""
        if self.state in ("running", "busy"):
            raise ControlError(409, "run_under_way", f"run {self.number} is under way; POST its result first")
        if self.state == "over":
            return NextRun(done=True, run=self.number, prefix=self.prefix, worlds=[], misfortunes=[])
        self.number += 1
        self.state = "running"
        by_world = scenarios(self.plan)
        self.watcher.begin(by_world, observing=self.observing, prefix=self.prefix)
        return NextRun(
            done=False,
            run=self.number,
            prefix=self.prefix,
            worlds=[
                ExploredWorld(id=f"{self.prefix}{name}", scenario=by_world.get(ordinal, {"sendbox": 1}))
                for ordinal, name in enumerate(self.names or ["1"], 1)
            ],
            misfortunes=[str(item) for item in self.plan],
        )

    async def end_run(self, runtime: Runtime, number: int, failed: bool | None, message: str, assertion: str) -> None:
        """Takes the result of the present run, and goes on. Raises `ControlError`."""
        if self.state != "running" or number != self.number:
            text = f"run {number} is not under way; POST the result of the last run, once"
            raise ControlError(409, "no_such_run", text)
        try:
            worlds = self.watcher.end(runtime)
            run = Run(failed, worlds, message, self.watcher.idle)
            if failed:
                run.assertion = assertion or message.partition("\n")[0] or "the test"
        except ScenarioError as error:
            self.words = [f"a plan cannot be laid over its worlds: {error}"]
            raise unreadable(error) from None
        finally:
            self.close_worlds(runtime)
            self.state = "busy" if self.words is None else "over"
        await asyncio.get_running_loop().run_in_executor(None, self.proceed, run)

    def close_worlds(self, runtime: Runtime) -> None:
        """Closes the worlds of the present run."""
        for hosted in [hosted for id, hosted in runtime.worlds.items() if id.startswith(self.prefix)]:
            runtime.close(hosted)

    def view(self) -> Exploration:
        """The exploration as control answers it."""
        return Exploration(
            id=self.id,
            test=self.test,
            state=self.state,
            runs=self.number,
            words=[self.progress] if self.words is None else self.words,
            finds=self.finds,
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

    def open(
        self,
        call: Call,
        test: str,
        families: Sequence[str] | None,
        keep: Sequence[str],
        *,
        seed: int | str,
        runs: int | None,
        time: int | None,
    ) -> _Exploring:
        """One more exploration; the oldest that is over gives way. Raises `ControlError`, also at the bound."""
        try:
            explore = partial(explore_by_steps, families=parse_families(families or USUAL), keep=read_kept_kinds(keep))
        except ValueError as error:
            raise ControlError(400, "bad_argument", str(error)) from None
        if len(self.by_id) >= MAX_EXPLORATIONS:
            over = next((item.id for item in self.by_id.values() if item.state == "over"), None)
            if over is None:
                count = f"{MAX_EXPLORATIONS} explorations are open, the most of a server"
                text = f"{count}; DELETE /_sandbox/explorations/ID ends one"
                raise ControlError(409, "too_many_explorations", text)
            del self.by_id[over]
        start, begins = call.runtime.settings.start, call.token.prefix or BEGINS
        exploring = _Exploring(
            self._draw_id(call.runtime, begins),
            test,
            Watcher(call.served),
            wall.present()[0] if start is None else start,
            begins,
        )
        explore = partial(explore, name=test, seed=seed, runs=runs, over=deadline(time), progress=exploring.count)
        exploring.begin(_explore_test(exploring, explore))
        self.by_id[exploring.id] = exploring
        return exploring

    def _draw_id(self, runtime: Runtime, begins: str) -> str:
        """The next id with whose prefix no world begins: one of an earlier process may be in the store."""
        ids = [world.id if isinstance(world, StoredWorld) else world.world.id for world in runtime.all_after(0)]
        while True:
            self._count += 1
            if not any(id.startswith(f"{begins}{PREFIX}{self._count}-") for id in ids):
                return str(self._count)

    def delete(self, call: Call, id: str) -> None:
        """Ends an exploration. Raises `ControlError`."""
        exploring = self.get(call, id)
        del self.by_id[id]
        exploring.close_worlds(call.runtime)

    def own(self, call: Call) -> list[_Exploring]:
        """The explorations whose worlds are those of the token."""
        return [item for item in self.by_id.values() if call.token.covers(item.begins)]

    def get(self, call: Call, id: str) -> _Exploring:
        """An exploration of the token. Raises `ControlError`."""
        exploring = self.by_id.get(id)
        if exploring is None or not call.token.covers(exploring.begins):
            text = f'"{id}" is not an exploration of this server; POST /_sandbox/explorations begins one'
            raise ControlError(404, "no_such_exploration", text)
        return exploring

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


def _explore_test(exploring: _Exploring, explore: Callable[[Run], Steps[Result]]) -> Steps[Result]:
    """Explores a test from its first run on."""
    answer = yield RunRequest((), True)
    assert answer is not None
    passed = answer[1]
    if passed.failed is not False:
        return Result(["not explored: the first run, without misfortune, did not pass"])
    if not passed.worlds:
        return Result([f"not explored: it opened no world whose id begins with {exploring.prefix}"])
    exploring.names = [world.name for world in passed.worlds]
    return (yield from explore(passed))
