"""Moving worlds through time.

Settling. While a world advances, its steps are fired in order, and each instant is settled before the next: every
delivery made at it has its answer or has failed, every request that arrived meanwhile has been answered, and nothing is
due at this instant any more. A world in `real` mode is not settled but pumped: time passes there while a receiver
thinks.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from sendbox.hosted import Conflict, Hosted, Slice

if TYPE_CHECKING:
    from sendbox.core.world import World
    from sendbox.runtime import Runtime

#: Steps fired between two looks at the machine's clock.
CHUNK: Final = 32
#: The longest real seconds a timer is wound for; then it is wound again.
LONGEST_TIMER: Final = 86_400.0


class Mover:
    """Moves the worlds of one runtime, each by its own clock."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loop = asyncio.get_running_loop()

    # -- clocks that run by themselves

    def present(self, hosted: Hosted) -> None:
        """Brings a world in `real` mode to the present before something is done in it."""
        if hosted.world.clock.mode == "real":
            self._pump(hosted)

    def kick(self, hosted: Hosted) -> None:
        """Winds the timer of a world whose time passes by itself."""
        world = hosted.world
        if hosted.advancing or hosted.busy or not self._runtime.is_open(hosted):
            return
        if hosted.timer is not None:
            hosted.timer.cancel()
            hosted.timer = None
        if world.clock.mode == "auto":
            if not world.idle:
                hosted.timer = self._loop.call_later(self._runtime.settings.quiet, self._auto, hosted)
        elif world.clock.mode == "real":
            if world.outlets.ready:
                hosted.timer = self._loop.call_later(0, self._pump, hosted)
                return
            due = world.timeline.next_due()
            wait = None if due is None else world.clock.real_ns_until(due, self._runtime.reading())
            if wait is not None:
                hosted.timer = self._loop.call_later(min(wait / 1e9, LONGEST_TIMER), self._pump, hosted)

    def _pump(self, hosted: Hosted) -> None:
        """Fires what fell due in a world whose time passes, a slice at a time; deliveries go their own way."""
        world = hosted.world
        if world.clock.mode != "real" or hosted.advancing or hosted.busy or not self._runtime.is_open(hosted):
            return
        hosted.busy = True
        until = world.clock.read(self._runtime.reading())
        work = Slice()
        try:
            while True:
                world.run(until, CHUNK)
                self._runtime.carrier.check(hosted)
                if world.outlets.waiting:
                    self._launch(hosted)
                done = world.settled(until) or hosted.launching
                if done or work.over:
                    break
        finally:
            hosted.busy = False
        hosted.touch()
        self.kick(hosted)

    def _launch(self, hosted: Hosted) -> None:
        if not hosted.launching:
            hosted.launching = True
            self._runtime.keep(hosted, self._launch_all(hosted))

    async def _launch_all(self, hosted: Hosted) -> None:
        world = hosted.world
        try:
            while hosted.world is world and await self._runtime.carrier.launch(hosted):
                pass
        finally:
            if hosted.world is world:
                hosted.launching = False
        self.kick(hosted)

