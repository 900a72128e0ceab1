"""The past of a world: answers of reading operations for an earlier place (`THEN`).

A replica is made from the record of the world up to that place, read only. It is kept for a while: a later call for the
same place uses it again, and a replica without readers can go on to a later place.
"""

from __future__ import annotations

from typing import NamedTuple

from sendbox.control.operation import Call, Control, ControlError, Operation, converted, not_closed
from sendbox.control.reading import entry_of
from sendbox.control.replaying import TICKS_PER_PAUSE, Diverged, Replay, Steps
from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping
from sendbox.engine.commands.command import Command, Stamp
from sendbox.engine.durations import instant, iso
from sendbox.engine.world import World
from sendbox.runtime.registry import Replica
from sendbox.runtime.slot import Slice


class Place(NamedTuple):
    """A place in the past: right after the command or tick that made an `entry`; else the end of the instant `at`."""

    at: int
    entry: int | None = None


class PastReplica(Replica):
    """A replica in the past of its world. It moves from place to place, forward only. Raises `RecordIncomplete`."""

    def __init__(self, control: Control, of: World) -> None:
        self._replay = Replay(control, [next(of.record.commands())])
        super().__init__(of, self._replay.hosted)
        self.world = self._replay.world
        #: how many commands were carried out
        self.done = 1
        self._place: Place | None = None
        #: how many entries there were before the last command or tick
        self._entries_before = 0

    def is_at(self, place: Place) -> bool:
        """True if this is the place, or if the same command or tick made that entry."""
        if place.entry is None or self._place is None or self._place.entry is None:
            return place == self._place and self._ended(place.at)
        return self._entries_before <= place.entry < len(self.world.journal)

    def _ended(self, at: int) -> bool:
        """True if the world, too, has done nothing more up to that instant."""
        stamp, command = self._next_command()
        return stamp.at > at or (command is None and stamp.ticks == self.world.ticks)

    def can_reach(self, place: Place) -> bool:
        """True if the replica has not passed the place."""
        return self.world.now <= place.at if place.entry is None else len(self.world.journal) <= place.entry

    def go(self, place: Place) -> Steps:
        """Moves forward to a place. Raises `Diverged`."""
        if place.entry is None:
            yield from self._run_to_instant(place.at)
        else:
            yield from self._run_to_instant(place.at - 1)
            yield from self._run_to_entry(place.entry)
        self._place = place

    def _next_command(self) -> tuple[Stamp, Command | None]:
        """The next command and its place; None at the present of the world."""
        of, number = self.of, self.done
        if number < len(of.record):
            stamp = Stamp(self.world.epoch, of.record.at[number], of.record.ticks[number])
            return stamp, of.record.command(number)
        return Stamp(of.epoch, of.now, of.ticks), None

    def _carry_out(self, stamp: Stamp, command: Command) -> Steps:
        self._entries_before = len(self.world.journal)
        yield from self._replay.carry_out(stamp, command)
        self.done += 1
        yield None

    def _run_to_instant(self, at: int) -> Steps:
        """Does all that was done up to an instant, and moves the clock there."""
        world = self.world
        if at < world.now:
            return
        while (coming := self._next_command())[0].at <= at:
            stamp, command = coming
            yield from self._replay.reach(stamp)
            if command is None:
                return
            yield from self._carry_out(stamp, command)
        while world.run(at, TICKS_PER_PAUSE, settle=False):
            world.outlets.take()
            yield None

    def _run_to_entry(self, entry: int) -> Steps:
        """Carries out commands, and ticks one by one, until one has made an entry."""
        world = self.world
        while len(world.journal) <= entry:
            stamp, command = self._next_command()
            while world.ticks < stamp.ticks and self._tick():
                if len(world.journal) > entry:
                    return
                yield None
            yield from self._replay.reach(stamp)
            if command is None:
                raise Diverged(f"entry {entry} of {self.of.id} was not made again")
            yield from self._carry_out(stamp, command)

    def _tick(self) -> int:
        """Does one tick, and leaves the clock at its instant; returns 0 if there was none."""
        world, timeline = self.world, self.world.timeline
        self._entries_before = len(world.journal)
        done = world.run(world.now, 1, settle=False)
        if not done and (due := [heap[0][0] for heap in (timeline.steps, timeline.lapses) if heap]):
            done = world.run(min(due), 1, settle=False)
        world.outlets.take()
        return done


async def read(call: Call, row: Operation, values: JsonMapping, then: object) -> object:
    """The answer of an operation for a place in the past of its world. Raises `ControlError` and `RecordIncomplete`."""
    if values.get("wait") is not None:
        raise ControlError(400, "bad_argument", 'wait: nothing more comes in the past; leave out "wait" or "then"')
    replica = await _replica_at(call, then)
    try:
        return await row.function(Call(call.control, call.origin, replica.hosted), **values)
    finally:
        replica.hosted.readers -= 1


async def _replica_at(call: Call, then: object) -> PastReplica:
    """A replica at the place, with one reader more. The clock of the world runs on meanwhile."""
    hosted, replicas = call.hosted, call.runtime.replicas
    hosted.controls -= 1
    try:
        await hosted.wait_until_idle()
        not_closed(hosted)
        world = hosted.world
        world.record.check_complete()
        place = place_of(world, then)
        async with hosted.replaying:
            kept: list[PastReplica] = replicas.of(world)
            replica = next((one for one in kept if one.is_at(place)), None)
            arrived = replica is not None
            if replica is None:
                idle = [one for one in kept if not one.hosted.readers and one.can_reach(place)]
                nearest = max(idle, key=lambda one: (one.done, one.world.ticks), default=None)
                replica = PastReplica(call.control, world) if nearest is None else nearest
            replicas.use(replica)
            replica.hosted.readers += 1
            if not arrived:
                try:
                    await Slice().through(replica.go(place))
                except BaseException:
                    replica.hosted.readers -= 1
                    replicas.drop(replica)
                    raise
            return replica
    finally:
        hosted.controls += 1


def place_of(world: World, then: object) -> Place:
    """The place that an argument names. Raises `ControlError`."""
    if not isinstance(then, str) or bounds.looks_whole(then):
        entry = entry_of(world, converted("then", then, int))
        return Place(world.journal.entry(entry)[0], entry)
    try:
        at = instant(then)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"then: {error}, and so is the number of an entry") from None
    if not world.start <= at <= world.now:
        legal = f"{iso(world.start)} to {iso(world.now)}, and the number of an entry"
        raise ControlError(400, "bad_argument", f"then: {iso(at)} is not in the past of {world.id}; legal: {legal}")
    return Place(at)
