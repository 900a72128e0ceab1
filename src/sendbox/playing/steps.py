"""The sample client of one world: it carries a scenario out step by step, by its traffic and by what is due.

A step sends the next request at its instant, or moves the clock to the next instant at which something is due, where
that comes before. `sendbox play` takes all steps at once, control as many as it is asked for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Literal, NamedTuple, cast

from sendbox.control.operation import Control
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.durations import DAY
from sendbox.engine.timeline import Goal
from sendbox.engine.traffic import ReceiverBehavior, Traffic
from sendbox.engine.world import World
from sendbox.playing.play_result import Asked, Played
from sendbox.playing.sample import sample
from sendbox.playing.sample_client import SampleClient
from sendbox.runtime.policy import Failure, HttpCall, Outcome
from sendbox.runtime.slot import HostedWorld

#: Virtual milliseconds after the last entry of traffic and timeline at which playing ends, unless `until` is given; so
#: far the clock moves at once.
LONGEST: Final = 30 * DAY
#: Real seconds that an answer may take while the clock stands; a later answer needs the world's time to pass.
ANSWER_TIMEOUT: Final = 1.0


class Step(NamedTuple):
    """The result of a step: its kind, the instant of the world after it, and the request that was sent."""

    did: Literal["sent", "moved", "ended"]
    at: int
    request: Asked | None = None


class Player:
    """Sends the traffic of one world, and moves it.

    `control` answers its calls, and those of its application. `end` is the instant at which playing ends;
    None = when all that the scenario sends and does has had its time.
    """

    def __init__(
        self,
        control: Control,
        hosted: HostedWorld,
        blueprint: Blueprint,
        *,
        origin: str,
        end: int | None = None,
    ) -> None:
        self._runtime = runtime = control.runtime
        self._hosted = hosted
        world = hosted.world
        self._end = _end(blueprint, world.start) if end is None else end
        self._caller = SampleClient(control, world, origin)
        # an empty list says that no client sends anything
        sampled = not blueprint.traffic and (blueprint.source or {}).get("traffic") is None
        self.played = Played(blueprint, world, sampled, control.served)
        self._remaining = deque(_ordered_requests(sample(blueprint) if sampled else blueprint.traffic, world.start))
        #: True if webhooks of the last request were sent, at its instant
        self._settled = False
        self._open: list[asyncio.Task[None]] = []
        self._receiver = None
        if hosted.deliverer is None and not hosted.pulling:
            # the built-in receiver stays, unless the scenario has one; other targets are answered here
            hosted.deliverer = self._receiver = _Receiver(blueprint.receiver, world).received
            if blueprint.receiver:
                runtime.deliver_to(hosted, hosted.deliverer)

    @property
    def left(self) -> int:
        """The number of requests that are still to be sent."""
        return len(self._remaining)

    @property
    def done(self) -> bool:
        """True if nothing is left to do."""
        return not self._remaining and self._settled and self._next_due() is None

    async def step(self) -> Step:
        """Does what comes next."""
        world, played = self._hosted.world, self.played
        if self._remaining and self._remaining[0][0] > self._end:
            played.stopped = True
            self._remaining.clear()
        if self._remaining:
            at, entry = self._remaining[0]
            # at one instant the scenario's steps come before requests, at the start too
            due = world.timeline.next_due()
            if at > world.now or (not played.asked and due is not None and due <= world.now):
                if due is not None and due < at:
                    return await self._move_to(due)
                await self.move(at)
            self._remaining.popleft()
            return Step("sent", world.now, await self._send(entry))
        if not self._settled:
            await self.move(world.now)
            self._settled = True
        due = self._next_due()
        if due is not None:
            return await self._move_to(due)
        played.stopped = played.stopped or world.timeline.next_due() is not None
        return Step("ended", world.now)

    async def move(self, at: int) -> None:
        """Moves the world to an instant."""
        await self._approach(at)
        await self._move(Goal("to", at))

    def end(self) -> list[asyncio.Task[None]]:
        """Ends what is under way; webhooks go to their targets again. Returns what must be waited for."""
        for task in self._open:
            task.cancel()
        if self._receiver is not None and self._hosted.deliverer == self._receiver:
            self._hosted.deliverer = None
        return self._open

    def _next_due(self) -> int | None:
        """The next instant at which something is due, before the end."""
        due = self._hosted.world.timeline.next_due()
        return None if due is None or due > self._end else due

    async def _move_to(self, due: int) -> Step:
        await self._approach(due)
        await self._move(Goal("next", 1))
        return Step("moved", self._hosted.world.now)

    async def _approach(self, at: int) -> None:
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

    async def _send(self, entry: Traffic) -> Asked:
        request = Asked(entry, self._hosted.world.now)
        self.played.asked.append(request)
        task = asyncio.ensure_future(self._caller.send(request))
        # a fault may delay an answer until time passes, or for ever: then the world goes on
        finished, _ = await asyncio.wait({task}, timeout=ANSWER_TIMEOUT)
        if not finished:
            request.error = "no answer"
            self._open.append(task)
        return request


def _end(blueprint: Blueprint, start: int) -> int:
    """The instant at which playing ends: when all that the scenario sends and does has had its time."""
    sent = [at for at, _ in _ordered_requests(blueprint.traffic, start)]
    happening = [
        entry.due(start) if entry.until is None else entry.until.instant(start) for entry in blueprint.timeline
    ]
    return max([start, *sent, *happening]) + LONGEST


def _ordered_requests(traffic: tuple[Traffic, ...], start: int) -> list[tuple[int, Traffic]]:
    """Each request with its instant: in the order of the list, where none is sent several times."""
    timed = [(at, entry) for entry in traffic for at in entry.instants(start)]
    return timed if len(timed) == len(traffic) else sorted(timed, key=lambda sent: sent[0])


class _Receiver:
    """Answers the webhooks of a world as its scenario says, and 200 without it."""

    def __init__(self, behaviors: tuple[ReceiverBehavior, ...], world: World) -> None:
        self._outlets = world.outlets
        self._outcomes = {behavior.webhook: behavior.outcomes for behavior in behaviors}
        #: by the id of a webhook, which its copies share: the outcomes of its further tries
        self._remaining: dict[str, list[int | str]] = {}

    async def received(self, call: HttpCall) -> Outcome:
        """One try."""
        name = next((value for header, value in call.headers if header.lower() == "x-request-id"), "")
        if name not in self._remaining:
            delivery = self._outlets.find(name)
            number = None if delivery is None else delivery.number
            self._remaining[name] = list(self._outcomes.get(number, self._outcomes.get(None, ())))
        remaining = self._remaining[name]
        end = remaining.pop(0) if remaining else 200
        if isinstance(end, str):
            return Outcome(None, cast("Failure", end))
        return Outcome(end, "redirect" if 300 <= end < 400 else None)
