"""Operations of control that explore a test whose runs its client makes, in any language.

The client asks for the next run, runs the test in worlds whose ids begin with the prefix of this run, and says how it
ended. The plan is laid over these worlds as they open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from sendbox.control.arguments import Duration, described
from sendbox.control.operation import Call, operation
from sendbox.engine.answer import enum
from sendbox.exploring.answers import Exploration, ExplorationList, ForgottenExploration, NextRun

if TYPE_CHECKING:
    from sendbox.exploring.dialogue import Explorations

#: The most runs of an exploration, and the longest text of an argument.
MOST_RUNS: Final = 10_000
LONGEST: Final = 10_000
#: The results of a run, and whether it failed.
RESULTS: Final = {"passed": False, "failed": True, "unknown": None}
Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
RunCount = Annotated[int, msgspec.Meta(ge=1, le=MOST_RUNS)]


def _explorations(call: Call) -> Explorations:
    """Those of the server."""
    from sendbox.exploring.dialogue import Explorations  # a server starts without it

    return Explorations.of(call.runtime)


@operation("POST", "/explorations", status=201, answers=Exploration, own_scope="worlds")
async def begin_exploration(
    call: Call,
    test: Annotated[Text, described("the name of the test")],
    runs: Annotated[RunCount | None, described("the most runs")] = None,
    time: Annotated[Duration | None, described("the real time that it may take")] = None,
    families: Annotated[list[str] | None, described("families of misfortunes, default all")] = None,
    keep: Annotated[list[str] | None, described("what the test relies on, so that no misfortune touches it")] = None,
    seed: Annotated[int | str, described("what the plans are drawn from")] = "0",
) -> Exploration:
    """Begins to explore a test, by its name, as in a session of pytest.

    409 `too_many_explorations`: of a server's explorations, the oldest that is over is forgotten for a new one.
    """
    await call.runtime.look_at_store()
    return _explorations(call).open(call, test, families, keep or (), seed=seed, runs=runs, time=time).view()


@operation("GET", "/explorations", answers=ExplorationList, own_scope="worlds")
async def explorations(call: Call) -> ExplorationList:
    """The explorations of this server."""
    return ExplorationList(explorations=[item.view() for item in _explorations(call).own(call)])


@operation("GET", "/explorations/{id}", answers=Exploration, own_scope="worlds")
async def exploration(call: Call, id: str) -> Exploration:
    """An exploration: how it stands, and once it is over what it found. `scenarios` are the files of a find."""
    return _explorations(call).get(call, id).view()


@operation("POST", "/explorations/{id}/next", answers=NextRun, unmasked=True, unlogged=True, own_scope="worlds")
async def next_run(call: Call, id: str) -> NextRun:
    """The next run that is to be made, or `done`. The first two have no misfortune.

    Each world whose id begins with `prefix` is a world of this run, however it is opened: the plan is laid over it. Use
    the same ids behind the prefix in each run. `worlds` has those of the first run, with what is laid over each.
    """
    return _explorations(call).get(call, id).next()


@operation("POST", "/explorations/{id}/result", answers=Exploration, unlogged=True, own_scope="worlds")
async def end_run(
    call: Call,
    id: str,
    run: Annotated[int, described("the number of the run")],
    result: Annotated[str, enum(RESULTS)],
    message: Annotated[Text, described("why the run failed")] = "",
    assertion: Annotated[
        Text, described("the same text whenever the same assertion fails; the first line of `message` unless given")
    ] = "",
) -> Exploration:
    """Takes the result of a run, and closes its worlds.

    A good `assertion` is its place in the code. A run is `unknown` that was skipped, took too long, or in which an act
    of the test itself was refused.
    """
    exploring = _explorations(call).get(call, id)
    await exploring.end_run(call.runtime, run, RESULTS[result], message, assertion)
    return exploring.view()


@operation("DELETE", "/explorations/{id}", answers=ForgottenExploration, own_scope="worlds")
async def end_exploration(call: Call, id: str) -> ForgottenExploration:
    """Ends an exploration, closes the worlds of its run, and forgets it. Its finds are gone too."""
    _explorations(call).delete(call, id)
    return ForgottenExploration(deleted=id)
