"""The end of worlds that no client uses any more, and the record of worlds that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from sendbox.engine.durations import show
from sendbox.runtime.interface import RuntimeInterface
from sendbox.runtime.slot import CloseReason, HostedWorld, spread

#: The greatest number of worlds that are gone that are remembered; the oldest are forgotten.
MAX_CLOSED_WORLDS: Final = 10_000
#: Real seconds between two looks at all worlds: this share of the time that a world may be idle, in these bounds.
SHARE: Final = 0.1
SHORTEST: Final = 0.05
LONGEST: Final = 60.0
_NS: Final = 1_000_000_000


#: A tester closed it.
CLOSED: Final = CloseReason("it was closed", denied=True)

#: Why a world is not open that this server does not know, without a store and with one.
UNKNOWN: Final = "this server knows none of that name; a restart ends all worlds, and changes Sendbox-Instance"
NOT_STORED: Final = "this server knows none of that name, and its store has none"


class CloseReasons:
    """The reasons why worlds are gone, by their ids. An id is `in` it if its key is denied."""

    def __init__(self, most: int = MAX_CLOSED_WORLDS) -> None:
        self._most = most
        self._gone: dict[str, CloseReason] = {}

    def __contains__(self, world_id: object) -> bool:
        gone = self._gone.get(world_id) if isinstance(world_id, str) else None
        return gone is not None and gone.denied

    def __len__(self) -> int:
        return len(self._gone)

    def add(self, world_id: str, gone: CloseReason) -> None:
        """A world ended."""
        self._gone.pop(world_id, None)
        self._gone[world_id] = gone
        if len(self._gone) > self._most:
            del self._gone[next(iter(self._gone))]

    def why(self, world_id: str) -> str | None:
        """The reason why a world is gone; None if it was never open, or only long ago."""
        gone = self._gone.get(world_id)
        return None if gone is None else gone.why

    def opened(self, world_id: str) -> str | None:
        """A world opens; why the one before ended, where no tester closed it."""
        gone = self._gone.pop(world_id, None)
        return None if gone is None or gone.denied else gone.why

    def clear(self) -> None:
        """Nothing is remembered."""
        self._gone.clear()


class IdleWorlds:
    """Ends the worlds of one runtime that were not used for `world_ttl` of real time, now and then, in slices."""

    def __init__(self, runtime: RuntimeInterface, ttl: float) -> None:
        self._runtime = runtime
        self._ttl = round(ttl * _NS)
        self._gone = CloseReason(f"it ended after {show(round(ttl * 1000))} without use", denied=False)
        strict = runtime.settings.strict_keys
        self._next = "its key is denied until control opens it again" if strict else "its key opens a new world"
        self._period = min(max(ttl * SHARE, SHORTEST), LONGEST)
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._period, self._tick)

    def close(self) -> None:
        """No more looks."""
        self._timer.cancel()

    def _tick(self) -> None:
        spread(self.look(), self._again)

    def _again(self) -> None:
        self._timer = self._loop.call_later(self._period, self._tick)

    def look(self) -> Iterator[None]:
        """Ends the worlds whose time is over; pauses behind each world."""
        for hosted in self._runtime.open_worlds.after(0):
            if not hosted.gone and self._over(hosted):
                self._runtime.end_world(hosted, self._gone)
                self._runtime.log(hosted.world.id, f"{self._gone.why}; {self._next}")
            yield
        for world_id in self._runtime.unused_stored():
            self._runtime.close_stored(world_id, self._gone)
            self._runtime.log(world_id, f"{self._gone.why}; {self._next}")
            yield

    def _over(self, hosted: HostedWorld) -> bool:
        reading = self._runtime.reading()
        if reading - hosted.used < self._ttl or hosted.in_use:
            return False
        world = hosted.world
        if world.clock.mode == "auto":  # it goes on by itself, unless a loop has stopped it
            return world.idle or hosted.calls.loop is not None
        if world.clock.mode != "real":
            return True
        due = world.timeline.next_due()
        wait = None if due is None else world.clock.real_ns_until(due, reading)
        return not world.outlets.ready and (wait is None or wait > self._ttl)
