"""Plays a scenario: opens a world in this process, sends the traffic, moves the clock, and keeps everything.

Nothing leaves the process: deliveries with a target of their own are answered here as the built-in receiver answers.
World, keys and start are fixed, so that the same scenario gives the same names, entries and digest, on any machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sendbox.engine.clock import Goal
from sendbox.engine.durations import DAY, instant
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.traffic import WORLD, Reception, Traffic
from sendbox.playing.played import Asked, Played

if TYPE_CHECKING:
    from sendbox.control.operation import Served
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.world import World
    from sendbox.runtime.policy import Failure, HttpCall, Outcome
    from sendbox.runtime.worlds import Hosted, Runtime
    from sendbox.scenario.language import Language

#: Where the world says it is; nothing listens there.
ORIGIN: Final = "http://127.0.0.1:7357"
#: The start of a world whose scenario does not set it: a Monday morning.
START: Final = instant("2026-03-02T09:00:00Z")
#: The salt of the world's names.
SALT: Final = "play"
#: Virtual milliseconds after the last entry of traffic and timeline at which playing ends, unless `until` is given; so
#: far the clock moves at once.
LONGEST: Final = 30 * DAY
#: Real seconds that an answer may take while the clock stands; a later answer needs the world's time to pass.
PATIENCE: Final = 1.0


def play(
    scenario: str | Path | Mapping[str, Any] | Blueprint,
    *,
    seed: int | str | None = None,
    until: int | None = None,
    served: Served | None = None,
) -> Played:
    """Plays a scenario: a name of the library, a path, text, an object, or a blueprint.

    `until` in milliseconds from the start (30 days after the last entry unless given); `served` None stands for
    what Sendbox itself serves. Raises `ScenarioError`. Not from a running loop.
    """
    from sendbox.engine.blueprint import Blueprint
    from sendbox.server.loop import new_loop

    blueprint = scenario if isinstance(scenario, Blueprint) else _language(served).load(scenario)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(aplay(blueprint, seed=seed, until=until, served=served))


async def aplay(
    blueprint: Blueprint, *, seed: int | str | None = None, until: int | None = None, served: Served | None = None
) -> Played:
    """The same on a loop that runs."""
    from sendbox.app import SERVED, make_app
    from sendbox.contract.validators import Contract
    from sendbox.playing.sample import sample
    from sendbox.runtime.worlds import Runtime
    from sendbox.settings import Settings

    served = served or SERVED
    runtime = Runtime(Settings(mode="manual", public_url=ORIGIN), blueprint, served.parts)
    try:
        app = make_app(runtime, Contract(*served.schemas), served)
        start = START if blueprint.start is None else blueprint.start
        # only the opening is set here: a later reset uses the blueprint again
        pinned = replace(blueprint, start=start, mode="manual")
        hosted = runtime.open(WORLD, blueprint=pinned, seed=seed, salt=SALT)
        # the built-in receiver stays, unless the scenario has one; other targets are answered here
        hosted.deliverer = _Receiver(blueprint.receiver, hosted.world).received
        if blueprint.receiver:
            runtime.deliver_to(hosted, hosted.deliverer)
        # an empty list says that no client sends anything
        sampled = not blueprint.traffic and (blueprint.source or {}).get("traffic") is None
        played = Played(blueprint, hosted.world, sampled, served)
        traffic = sample(blueprint) if sampled else blueprint.traffic
        player = _Player(runtime, hosted, app, played, _end(blueprint, start) if until is None else start + until)
        player.waits = until is not None
        await player.play(traffic)
        return played
    finally:
        await runtime.aclose()


def _language(served: Served | None) -> Language:
    if served is not None:
        return served.language
    from sendbox.language import LANGUAGE  # who has a problem in a scenario need not load an application

    return LANGUAGE


def _end(blueprint: Blueprint, start: int) -> int:
    """The instant at which playing ends: when all that the scenario sends and does has had its time."""
    sent = [at for at, _ in _in_order(blueprint.traffic, start)]
    happening = [
        entry.due(start) if entry.until is None else entry.until.instant(start) for entry in blueprint.timeline
    ]
    return max([start, *sent, *happening]) + LONGEST


def _in_order(traffic: tuple[Traffic, ...], start: int) -> list[tuple[int, Traffic]]:
    """Each request with its instant: in the order of the list, where none is sent several times."""
    timed = [(at, entry) for entry in traffic for at in entry.instants(start)]
    return timed if len(timed) == len(traffic) else sorted(timed, key=lambda sent: sent[0])


def _due(world: World) -> bool:
    due = world.timeline.next_due()
    return due is not None and due <= world.now


class _Receiver:
    """Answers the webhooks of a world as its scenario says, and 200 without it."""

    def __init__(self, receptions: tuple[Reception, ...], world: World) -> None:
        self._outlets = world.outlets
        self._ends = {reception.webhook: reception.ends for reception in receptions}
        #: by the id of a webhook, which its copies share: the outcomes of its further tries
        self._left: dict[str, list[int | str]] = {}

    async def received(self, call: HttpCall) -> Outcome:
        """One try."""
        from sendbox.runtime.policy import Outcome

        name = next((value for header, value in call.headers if header.lower() == "x-request-id"), "")
        if name not in self._left:
            delivery = self._outlets.find(name)
            number = None if delivery is None else delivery.number
            self._left[name] = list(self._ends.get(number, self._ends.get(None, ())))
        remaining = self._left[name]
        end = remaining.pop(0) if remaining else 200
        if isinstance(end, str):
            return Outcome(None, cast("Failure", end))
        return Outcome(end, "redirect" if 300 <= end < 400 else None)


class _Player:
    """Sends the traffic of one world, and moves it."""

    def __init__(self, runtime: Runtime, hosted: Hosted, app: Any, played: Played, end: int) -> None:
        from sendbox.control.operation import Control
        from sendbox.playing.calls import Caller

        self._runtime = runtime
        self._hosted = hosted
        self._played = played
        self._end = end
        self._caller = Caller(app, Control(runtime, played.served), hosted.world, ORIGIN)
        #: whether time goes on to the end, after the last step that is due
        self.waits = False
        self._open: list[asyncio.Task[None]] = []

    async def play(self, traffic: tuple[Traffic, ...]) -> None:
        """Sends everything, until nothing is due any more or the time is over."""
        world, played = self._hosted.world, self._played
        for at, entry in _in_order(traffic, world.start):
            if at > self._end:
                played.stopped = True
                break
            # at one instant the scenario's steps come before requests, at the start too
            if at > world.now or (not played.asked and _due(world)):
                await self._near(at)
                await self._move(Goal("to", at))
            await self._send(entry)
        await self._move(Goal("to", world.now))  # webhooks of the last request are sent at its instant
        while (due := world.timeline.next_due()) is not None and due <= self._end:
            await self._near(due)
            await self._move(Goal("next", 1))
        played.stopped = played.stopped or due is not None
        if self.waits and world.now < self._end:
            await self._near(self._end)
            await self._move(Goal("to", self._end))
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._look()

    async def _near(self, at: int) -> None:
        """Moves the world in pieces until an instant is near enough for one more."""
        world = self._hosted.world
        while at - world.now > LONGEST:
            await self._move(Goal("to", world.now + LONGEST))

    async def _move(self, goal: Goal) -> None:
        """Moves the world. Its clock stands afterwards, whatever mode the scenario's timeline sets."""
        await self._runtime.advance(self._hosted, goal)
        if self._hosted.world.clock.mode != "manual":
            self._hosted.world.clock.switch("manual")
            self._runtime.kick(self._hosted)

    async def _send(self, entry: Traffic) -> None:
        request = Asked(entry, self._hosted.world.now)
        self._played.asked.append(request)
        task = asyncio.ensure_future(self._caller.send(request))
        # a fault may delay an answer until time passes, or for ever: then the world goes on
        finished, _ = await asyncio.wait({task}, timeout=PATIENCE)
        if not finished:
            request.error = "no answer"
            self._open.append(task)

    async def _look(self) -> None:
        """Renders everything that is kept, while the world is open."""
        from sendbox.control.operation import Control

        world, played = self._hosted.world, self._played
        control = Control(self._runtime, played.served)
        played.entries = list(map(Observer(world, played.served.kinds).entry, range(len(world.journal))))
        journal = await control.perform(ORIGIN, "journal", world.id, {"form": "canonical", "limit": len(world.journal)})
        played.canonical = journal["entries"]
        answer = await control.perform(ORIGIN, "digest", world.id)
        played.digest, played.order_sensitive = answer["digest"], answer["order_sensitive"]
        verdict = await control.perform(ORIGIN, "verdict", world.id, {"ended": True})
        played.unused = verdict["unused"]
        if self._played.blueprint.expect:
            played.verdict = verdict
