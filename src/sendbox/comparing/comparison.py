"""All differences of a recording, with the assumption that each touches and the settings that agree."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.comparing.differences import STATUS, Difference, StatusAndBody, compare
from sendbox.comparing.recording import RecordedCall
from sendbox.comparing.running import CallOutcome, Run
from sendbox.contract.findings import Pairs
from sendbox.contract.validators import Contract, contract_of
from sendbox.control.catalog import catalog
from sendbox.control.replicas.leaning import Alternative, alternatives, with_setting
from sendbox.engine.blueprint import Blueprint
from sendbox.playing.player import ORIGIN
from sendbox.scenario.model import ScenarioError
from sendbox.server.application import Application
from sendbox.server.loop import new_loop
from sendbox.services.assumptions import registry
from sendbox.settings import Settings

Differences = dict[int, dict[tuple[str, str], Difference]]


class NamedDifference(NamedTuple):
    """A difference of a call, the assumptions that it touches, and the values of settings under which it is gone.

    `partly`: under these the statuses are equal, and something else of the answers differs.
    """

    difference: Difference
    assumptions: tuple[str, ...]
    agreeing: tuple[Alternative, ...]
    partly: bool = False


class ComparedCall(NamedTuple):
    """A call, and its differences."""

    call: RecordedCall
    made: CallOutcome
    named: tuple[NamedDifference, ...]


class Session:
    """Runs of the same calls under one scenario after another, in one process."""

    def __init__(self, app: Application, contract: Contract, calls: Sequence[RecordedCall], *, values: bool) -> None:
        self.calls = calls
        self._app = app
        self._contract = contract
        self._catalog = catalog(SERVED)
        self._values = values
        self._runs = 0

    async def differences(self, scenario: Blueprint) -> tuple[list[CallOutcome], Differences]:
        """The outcomes of all calls under a scenario, and their differences."""
        run = Run(self._app, self._catalog, self.calls, scenario, self._runs)
        self._runs += 1
        outcomes = await run.make_calls()
        return outcomes, _differences(self.calls, outcomes, self._contract, run.names.similar, values=self._values)

    async def trials(self, blueprint: Blueprint, candidates: Iterable[Alternative]) -> list[Trial]:
        """The differences under each other value of a setting."""
        trials = []
        for other in candidates:
            try:
                changed = with_setting(SERVED.language, blueprint, other)
            except ScenarioError:
                continue
            trials.append(Trial(other, (await self.differences(changed))[1]))
        return trials


class Trial(NamedTuple):
    """A value of a setting, and the differences that are left under it."""

    other: Alternative
    left: Differences


@asynccontextmanager
async def open_session(calls: Sequence[RecordedCall], blueprint: Blueprint, *, values: bool) -> AsyncIterator[Session]:
    """The session of some calls; it ends with the block."""
    contract = contract_of(*SERVED.schemas)
    app = make_app(Settings(mode="manual", public_url=ORIGIN), blueprint, contract, SERVED)
    try:
        yield Session(app, contract, calls, values=values)
    finally:
        await app.runtime.aclose()


def comparison(calls: Sequence[RecordedCall], blueprint: Blueprint, *, values: bool = False) -> list[ComparedCall]:
    """Every call with its differences. Raises `Conflict` if the recorded times cannot be reached."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_comparison(calls, blueprint, values=values))


async def _comparison(calls: Sequence[RecordedCall], blueprint: Blueprint, *, values: bool) -> list[ComparedCall]:
    async with open_session(calls, blueprint, values=values) as session:
        outcomes, differing = await session.differences(blueprint)
        trials = await session.trials(blueprint, candidates(outcomes, differing, blueprint.assume))
        return compared_calls(calls, outcomes, differing, trials)


def compared_calls(
    calls: Sequence[RecordedCall], outcomes: Sequence[CallOutcome], differing: Differences, trials: Sequence[Trial]
) -> list[ComparedCall]:
    """The calls, with the settings under which each difference is gone."""
    agreeing: dict[tuple[int, tuple[str, str]], list[Alternative]] = {}
    partly: dict[int, list[Alternative]] = {}
    for other, left in trials:
        for place, before in differing.items():
            if place not in left:
                continue
            if STATUS in before and STATUS not in left[place] and left[place]:
                partly.setdefault(place, []).append(other)
            elif left[place].keys() < before.keys():
                for sign in before.keys() - left[place].keys():
                    agreeing.setdefault((place, sign), []).append(other)
    return [
        ComparedCall(
            call,
            one,
            tuple(
                NamedDifference(
                    difference, _assumptions_of(difference, one, settings), settings, bool(settings) and not agreed
                )
                for sign, difference in differing.get(place, {}).items()
                for agreed in [agreeing.get((place, sign), [])]
                for settings in [tuple(agreed or partly.get(place, []))]
            ),
        )
        for place, (call, one) in enumerate(zip(calls, outcomes, strict=True))
    ]


def _differences(
    calls: Sequence[RecordedCall], outcomes: Sequence[CallOutcome], contract: Contract, pair: Pairs, *, values: bool
) -> Differences:
    """The differences, by the place of the call and the sign of the difference."""
    differing: Differences = {}
    for place, (call, one) in enumerate(zip(calls, outcomes, strict=True)):
        if one.answer is None:
            continue
        route = None if one.place is None else one.place.route
        schema = None if route is None else route.responses.get(call.status)
        listed = compare(
            StatusAndBody(call.status, call.answer), one.answer, contract, schema, values=values, pair=pair
        )
        differing[place] = {difference.sign: difference for difference in listed}
    return differing


def candidates(outcomes: Sequence[CallOutcome], differing: Differences, settings: object) -> list[Alternative]:
    """Other values of each setting of the assumptions that the calls with differences rest on."""
    ids: set[str] = set()
    for place, differences in differing.items():
        if differences:
            ids.update(outcomes[place].leaned, _of_operation(outcomes[place]))
            ids.update(difference.assumed for difference in differences.values() if difference.assumed is not None)
    return alternatives(settings, ids)


def _of_operation(one: CallOutcome) -> Iterable[str]:
    return () if one.place is None or one.place.route is None else one.place.route.assumed


def _assumptions_of(difference: Difference, one: CallOutcome, agreeing: Sequence[Alternative]) -> tuple[str, ...]:
    """The assumptions of settings that agree, else that of our schema, else those that our answer relied on."""
    if agreeing:
        return tuple(dict.fromkeys(other.assumption for other in agreeing))
    if difference.assumed is not None:
        return (difference.assumed,)
    order = [row.id for row in registry()]
    return tuple(sorted(one.leaned or _of_operation(one), key=order.index))
