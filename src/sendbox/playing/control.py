"""The operation of control that plays the scenario of a world step by step."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from sendbox.control.answers import Clock
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.worlds import clock_view
from sendbox.engine.answer import Answer, Instant, moment
from sendbox.playing.steps import Player, Step
from sendbox.runtime.slot import Conflict, HostedWorld, ScenarioPlayer
from sendbox.runtime.worlds import Runtime

#: The most steps of one call.
STEPS: Final = 1_000
StepsAtOnce = Annotated[int, Meta(ge=1, le=STEPS, description="the number of steps")]


class _Play:
    """A scenario that is played in a world: how far it is, and whether a call takes a step right now."""

    def __init__(self, player: Player, hosted: HostedWorld) -> None:
        self.player = player
        self.busy = False
        self._hosted = hosted
        self._played = hosted.loaded

    @property
    def holds(self) -> bool:
        """True if the world still has the scenario that is played."""
        return self._played is self._hosted.loaded

    async def step(self) -> Step:
        """The next step. Raises `Conflict` if the world began anew meanwhile."""
        step = await self.player.step()
        if self._hosted.playing is not self:
            raise Conflict("began_anew", f"{self._hosted.world.id} began anew, or was closed, while it was played")
        self._played = self._hosted.loaded  # its own traffic may load another scenario
        return step

    def end(self) -> None:
        """The epoch ends."""
        self.player.end()


def _leave(play: ScenarioPlayer, hosted: HostedWorld, runtime: Runtime) -> None:
    """Ends the playing of a world; webhooks go to their own targets again."""
    play.end()
    runtime.deliver_to(hosted, hosted.deliverer)


class PlayedStep(Answer):
    """A step of a scenario: a request was `sent`, the clock was `moved`, or it has `ended`."""

    step: Literal["sent", "moved", "ended"]
    at: Instant
    operation: str | None = None
    name: str | None = None
    n: int | None = None
    status: int | None = None
    error: str | None = None


class Played(Answer):
    """The steps that were carried out; `left` counts the requests to come."""

    did: list[PlayedStep]
    clock: Clock
    left: int
    done: bool


@operation("POST", "/worlds/{id}/play", answers=Played)
async def play(call: Call, steps: StepsAtOnce = 1) -> Played:
    """Carries out the next steps of the scenario, as `sendbox play` does: `{did, clock, left, done}`.

    Each of `did` has a `step` and the instant `at` after it: `sent` the next request of the traffic, at its instant,
    with `operation`, `name`, `status`, `error` and `n`, its entry in the journal; or `moved` the clock to the next
    instant at which something is due, where that comes before; or `ended`, when nothing is left. `left` counts the
    requests to come, `done` says that nothing is. A scenario without traffic is played with a message for each of its
    rules. Meanwhile webhooks are answered as the `receiver` of the scenario says, 200 without one, unless the world has
    a receiver of its own. Reset the world, or load another scenario, to begin again. 409 `not_manual` unless the clock
    is manual; 409 `playing` or `advancing` while another call moves the world.
    """
    hosted, runtime = call.hosted, call.runtime
    world = hosted.world
    if world.clock.mode != "manual":
        text = f'{world.id} has a clock that is {world.clock.mode}; send PATCH …/clock with {{"mode": "manual"}} first'
        raise ControlError(409, "not_manual", text, mode=world.clock.mode)
    runtime.check_not_advancing(hosted)
    play = hosted.playing
    if isinstance(play, _Play) and play.busy:
        raise ControlError(409, "playing", f"{world.id} is being played; wait until that call has answered")
    if not isinstance(play, _Play) or not play.holds:
        if play is not None:
            _leave(play, hosted, runtime)
        player = Player(call.control, hosted, hosted.loaded, origin=call.origin)
        hosted.playing = play = _Play(player, hosted)
    play.busy = True
    did: list[Step] = []
    try:
        while len(did) < steps:
            did.append(await play.step())
            if did[-1].did == "ended":
                break
        if play.player.done:
            _leave(play, hosted, runtime)
    finally:
        play.busy = False
    return Played(
        did=[_step_view(step) for step in did],
        clock=clock_view(hosted),
        left=play.player.left,
        done=play.player.done,
    )


def _step_view(step: Step) -> PlayedStep:
    """A step as it is answered; what a request does not have is left out."""
    if step.request is None:
        return PlayedStep(step=step.did, at=moment(step.at))
    request = step.request
    return PlayedStep(
        step=step.did,
        at=moment(step.at),
        operation=request.traffic.operation,
        name=request.traffic.name,
        n=request.number,
        status=request.status,
        error=request.error,
    )
