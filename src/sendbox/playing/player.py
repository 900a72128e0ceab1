"""Plays a scenario: opens a world in this process, sends the traffic, moves the clock, and keeps everything.

Nothing leaves the process: deliveries with a target of their own are answered here as the built-in receiver answers.
World, keys and start are fixed, so that the same scenario gives the same names, entries and digest, on any machine.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sendbox.assembly import make_app
from sendbox.contract.validators import contract_of
from sendbox.control.operation import Control, Served
from sendbox.engine.answer import JsonMapping, plain
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.durations import instant
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.traffic import WORLD
from sendbox.language import LANGUAGE
from sendbox.playing.play_result import Played
from sendbox.playing.steps import Player
from sendbox.runtime.slot import HostedWorld
from sendbox.server.loop import new_loop
from sendbox.settings import Settings

#: Where the world says it is; nothing listens there.
ORIGIN: Final = "http://127.0.0.1:7357"
#: The start of a world whose scenario does not set it: a Monday morning.
START: Final = instant("2026-03-02T09:00:00Z")
#: The salt of the world's names.
SALT: Final = "play"


def play(
    scenario: str | Path | JsonMapping | Blueprint,
    *,
    seed: int | str | None = None,
    until: int | None = None,
    served: Served | None = None,
) -> Played:
    """Plays a scenario: a name of the library, a path, text, an object, or a blueprint.

    Its counterexamples are played after it, each in a world of its own. `until` in milliseconds from the start (30 days
    after the last entry unless given); `served` None stands for what Sendbox itself serves. Raises `ScenarioError`. Not
    from a running loop.
    """
    blueprint = (
        scenario if isinstance(scenario, Blueprint) else (served.language if served else LANGUAGE).load(scenario)
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        played = runner.run(aplay(blueprint, seed=seed, until=until, served=served))
        for counterexample in blueprint.counterexamples:
            other = replace(blueprint, traffic=counterexample.traffic, receiver=counterexample.receiver)
            result = runner.run(aplay(other, seed=seed, until=until, served=served))
            played.counterexamples.append((counterexample, result))
            # a rule or a name may be there for a counterexample only
            played.unused = [rule for rule in played.unused if rule in result.unused]
            played.warnings = [warning for warning in played.warnings if warning in result.warnings]
        return played


async def aplay(
    blueprint: Blueprint, *, seed: int | str | None = None, until: int | None = None, served: Served | None = None
) -> Played:
    """The same on a loop that runs."""
    from sendbox.app import SERVED  # which imports this package

    served = served or SERVED
    app = make_app(Settings(mode="manual", public_url=ORIGIN), blueprint, contract_of(*served.schemas), served)
    runtime = app.runtime
    try:
        start = START if blueprint.start is None else blueprint.start
        # only the opening is set here: a later reset uses the blueprint again
        pinned = replace(blueprint, start=start, mode="manual")
        hosted = runtime.open(WORLD, blueprint=pinned, seed=seed, salt=SALT)
        end = None if until is None else start + until
        player = Player(app.control, hosted, blueprint, origin=ORIGIN, end=end)
        while (await player.step()).did != "ended":
            pass
        if until is not None and hosted.world.now < start + until:
            await player.move(start + until)
        await asyncio.gather(*player.end(), return_exceptions=True)
        await _look(app.control, hosted, player.played)
        return player.played
    finally:
        await runtime.aclose()


async def _look(control: Control, hosted: HostedWorld, played: Played) -> None:
    """Renders everything that is kept, while the world is open."""
    world = hosted.world
    played.entries = list(map(Observer(world, played.served.kinds).entry, range(len(world.journal))))
    journal = await control.perform(ORIGIN, "journal", world.id, {"form": "canonical", "limit": len(world.journal)})
    played.canonical = journal["entries"]
    answer = await control.perform(ORIGIN, "digest", world.id)
    played.digest, played.order_sensitive = answer["digest"], answer["order_sensitive"]
    verdict = plain(await control.perform(ORIGIN, "verdict", world.id, {"ended": True}))
    played.unused, played.warnings = verdict["unused"], verdict["warnings"]
    if played.blueprint.expect:
        played.verdict = verdict
