"""Replays: a world made again from its record, in this process or another.

The world is brought to the place of each command, which is then carried out as it was the first time. Nothing leaves
it: outcomes of deliveries are commands. So it ends with the same journal, the same views and the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Final

from sendbox.control.operation import Call as Calling
from sendbox.control.operation import Control, ControlError, Operation, acting
from sendbox.engine.answer import JsonMapping
from sendbox.engine.commands.command import Act, Call, Command, Move, Open, Outcome, Stamp
from sendbox.engine.durations import iso
from sendbox.engine.world import World
from sendbox.runtime.slot import HostedWorld
from sendbox.services.ports import account_of

#: Ticks between two pauses.
TICKS_PER_PAUSE: Final = 32

#: The work of a replay, which the caller drives: it pauses at None, and calls any other value off the event loop.
Steps = Generator[Callable[[], None] | None, None, None]
#: The same, which makes a world.
Work = Generator[Callable[[], None] | None, None, World]


class Diverged(Exception):
    """The world did not come to the place of a command, or refused it: it was recorded under other rules."""


class Replay:
    """One replay. `commands` begin with the opening; `ends` is the place to reach after the last of them."""

    def __init__(self, control: Control, commands: Iterable[tuple[Stamp, Command]], ends: Stamp | None = None) -> None:
        self._control = control
        self._commands = iter(commands)
        self._ends = ends
        _, opening = next(self._commands)
        assert isinstance(opening, Open)
        self.world = control.runtime.make_world(opening)
        #: the place that it goes to, and the command that came there, None for the end
        self.goal: tuple[Stamp | None, Command | None] = (None, None)
        self.hosted = HostedWorld(self.world, opening.blueprint)
        self._calling = Calling(control, "", self.hosted)

    def work(self) -> Work:
        """Makes the world, and returns it. Raises `Diverged`."""
        for stamp, command in self._commands:
            self.goal = stamp, command
            yield from self.reach(stamp)
            yield from self.carry_out(stamp, command)
            yield None
        if self._ends is not None:
            self.goal = self._ends, None
            yield from self.reach(self._ends)
        return self.world

    def finish(self) -> World:
        """The same without pauses; what must be loaded is loaded at once."""
        work = self.work()
        try:
            while True:
                load = next(work)
                if load is not None:
                    load()
        except StopIteration as end:
            world: World = end.value
            return world

    def carry_out(self, stamp: Stamp, command: Command) -> Steps:
        """Carries out a command at its place, where the world stands. Raises `Diverged`."""
        control, world = self._control, self.world
        match command:
            case Call():
                executor = control.app.executor
                if not executor.takes(command.path):
                    raise Diverged(f"a call at {iso(stamp.at)}: {command.path} is at no interface")
                if command.key not in account_of(world).keys:
                    raise Diverged(f"a call at {iso(stamp.at)}: its key is not there")
                work = executor.work(world, command)
                if isinstance(work, Generator):
                    yield from work
            case Act(name, arguments, refused):
                row = self._act_of(stamp, name, arguments)
                try:
                    yield from acting(self._calling, row, row.convert(arguments))
                except ControlError as error:
                    if not refused:
                        why = f"{name} at {iso(stamp.at)} is no longer accepted: {error.message}"
                        raise Diverged(why) from None
            case Outcome(number, status, error):
                deliveries = world.outlets.deliveries
                delivery = deliveries[number] if number in range(len(deliveries)) else None
                if delivery is None or delivery not in world.outlets.under_way:
                    raise Diverged(
                        f"a try of delivery {number} ended at {iso(stamp.at)}; the replay has none under way"
                    )
                world.outcome(delivery, status, error)
            case Move(by_hand, first):
                world.record.moved(world.now, world.ticks, first, by_hand=by_hand)
            case Open():
                raise Diverged("a record has one opening")
            case _:
                world.enter(command)

    def _act_of(self, stamp: Stamp, name: str, arguments: JsonMapping) -> Operation:
        """The operation of an act. Raises `Diverged` where this version has none that takes these arguments."""
        row = self._control.served.by_name.get(name)
        if row is None or not row.act:
            raise Diverged(f"an act at {iso(stamp.at)}: {name!r} is not an act of this version")
        for argument in arguments:
            if argument not in row.takes:
                raise Diverged(f"an act at {iso(stamp.at)}: {argument!r} is not an argument of {name}")
        return row

    def reach(self, stamp: Stamp) -> Generator[None, None, None]:
        """Brings the world to a place. Raises `Diverged`."""
        world = self.world
        while world.ticks < stamp.ticks:
            arrived = world.run(stamp.at, min(TICKS_PER_PAUSE, stamp.ticks - world.ticks), settle=False)
            world.outlets.take()
            if not arrived:
                break
            yield
        world.run(stamp.at, 0)  # where nothing is due, the clock moves on
        place = Stamp(world.epoch, world.now, world.ticks)
        if place != stamp:
            raise Diverged(
                f"a command came at {iso(stamp.at)}, tick {stamp.ticks} of epoch {stamp.epoch}; "
                f"the replay stands at {iso(place.at)}, tick {place.ticks} of epoch {place.epoch}"
            )
