"""Moving worlds through time.

Settling. While a world advances, its steps are fired in order, and each instant is settled before the next: every
delivery made at it has its answer or has failed, every request that arrived meanwhile has been answered, and nothing is
due at this instant any more. A world in `real` mode is not settled but pumped: time passes there while a receiver
thinks.
"""

from __future__ import annotations

import asyncio
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.bounds import END
from sendbox.engine.durations import iso, show
from sendbox.engine.timeline import Goal
from sendbox.runtime import wall
from sendbox.runtime.dispatcher import Dispatcher
from sendbox.runtime.interface import RuntimeInterface
from sendbox.runtime.slot import MIN_TICKS, Conflict, FailedTries, HostedWorld, Portion, Slice

#: The longest real seconds a timer is set for; then it is set again.
LONGEST_TIMER: Final = 86_400.0
#: The most real seconds that an answer waits for the webhooks that come before it; a client of httpx waits for five.
HOLD: Final = 3.0


class Mover:
    """Moves the worlds of one runtime, each by its own clock."""

    def __init__(self, runtime: RuntimeInterface, dispatcher: Dispatcher) -> None:
        self._runtime = runtime
        self._dispatcher = dispatcher
        self._loop = asyncio.get_running_loop()

    # -- clocks that run by themselves

    def present(self, hosted: HostedWorld) -> None:
        """Brings a world in `real` mode to the present before something is done in it."""
        if hosted.world.clock.mode == "real":
            self._pump(hosted)

    def kick(self, hosted: HostedWorld) -> None:
        """Sets the timer of a world whose time passes by itself."""
        world = hosted.world
        if hosted.advancing or hosted.busy or hosted.gone or hosted.starts is not None:
            return
        if hosted.timer is not None:
            hosted.timer.cancel()
            hosted.timer = None
        if world.clock.mode == "auto":
            if (
                not world.idle and hosted.calls.loop is None and not self._is_out_of_reach(hosted)
            ):  # else until a command moves it
                hosted.timer = self._loop.call_later(self._runtime.settings.quiet, self._auto, hosted)
        elif world.clock.mode == "real":
            if world.outlets.ready:
                hosted.timer = self._loop.call_later(0, self._pump, hosted)
                return
            due = world.timeline.next_due()
            wait = None if due is None else world.clock.real_ns_until(due, self._runtime.reading())
            if wait is not None:
                hosted.timer = self._loop.call_later(min(wait / 1e9, LONGEST_TIMER), self._pump, hosted)

    def _pump(self, hosted: HostedWorld) -> None:
        """Fires what fell due in a world whose time passes, a slice at a time; deliveries go their own way."""
        runtime, world = self._runtime, hosted.world
        if world.clock.mode != "real" or hosted.advancing or hosted.busy or hosted.gone or hosted.working is not None:
            return
        hosted.busy = True
        first, before = len(world.record), (world.now, world.ticks)
        reading = runtime.reading()
        until = world.clock.read(reading)
        work = Slice()
        try:
            while True:
                ticks = world.run(until, MIN_TICKS, settle=False)
                until = world.clock.read(reading)  # the scenario may have changed the clock
                self._dispatcher.check(hosted)
                batches = world.outlets.take()
                if batches:
                    runtime.keep_task(hosted, self._loop.create_task(self._dispatcher.launch(hosted, batches)))
                if not ticks or world.settled(until) or work.over:
                    break
        finally:
            hosted.busy = False
            if (world.now, world.ticks) != before:
                world.record.moved(world.now, world.ticks, first, by_hand=False)
        runtime.note_change(hosted)

    def _auto(self, hosted: HostedWorld) -> None:
        """Nothing was open for a while: to the next step (mode `auto`)."""
        hosted.timer = None
        if hosted.advancing:
            return
        if hosted.open or hosted.controls or hosted.world.outlets.in_flight:
            hosted.timer = self._loop.call_later(self._runtime.settings.quiet, self._auto, hosted)
            return
        hosted.auto = step = self._loop.create_task(self._auto_step(hosted))
        self._runtime.keep_task(hosted, step)
        step.add_done_callback(lambda ended: self._auto_ended(hosted, ended))

    async def _auto_step(self, hosted: HostedWorld) -> None:
        try:
            await self._advance(hosted, Goal("next", 1), by_hand=False)
        except Conflict as conflict:
            due = hosted.world.timeline.next_due()
            if conflict.error != "too_far" or due != hosted.too_far:
                self._runtime.log(hosted.world.id, conflict.message, "warning")
            if conflict.error == "too_far" and due != hosted.too_far:
                hosted.too_far = due
                self.kick(hosted)  # it was wound when the step ended

    def _is_out_of_reach(self, hosted: HostedWorld) -> bool:
        """True if an `auto` clock has reported that its next step is out of its reach, and nothing comes before it."""
        world, due = hosted.world, hosted.too_far
        if due is None or world.outlets.ready or world.timeline.next_due() != due:
            return False
        return due > END or due - world.now > self._runtime.settings.max_reach_ms

    @staticmethod
    def _auto_ended(hosted: HostedWorld, step: asyncio.Task[None]) -> None:
        """Lets the step go: one that was cancelled holds its frames, and so the world."""
        if hosted.auto is step:
            hosted.auto = None

    async def ahead(self, hosted: HostedWorld, by: int, ended: asyncio.Future[None], *, waits: bool) -> None:
        """Moves a world before the answer to a call goes out (the faults `before_answer` and `before_read`).

        Returns when the receivers have answered, after `HOLD` or the patience of the world at the latest; unless it
        `waits`, as soon as a webhook has set out. The move then goes on. A world that moves already stays as it is, and
        one in `real` mode has its own time. `ended`: the epoch has ended.
        """
        world, longest = hosted.world, min(HOLD, (hosted.settings or self._runtime.settings).patience)
        if hosted.advancing or hosted.gone or hosted.auto is not None:
            return
        hosted.answering += waits
        try:
            if world.clock.mode == "real":
                wait = world.clock.real_ns_until(world.now + by, self._runtime.reading())
                if waits and wait is not None:
                    await asyncio.wait({ended}, timeout=min(longest, wait / 1e9))
                return
            if hosted.timer is not None:  # of an `auto` clock
                hosted.timer.cancel()
            hosted.auto = step = self._loop.create_task(self._step(hosted, Goal("by", by)))
            self._runtime.keep_task(hosted, step)
            step.add_done_callback(lambda _: self._auto_ended(hosted, step))
            if waits:
                await asyncio.wait({step, ended}, timeout=longest, return_when=asyncio.FIRST_COMPLETED)
            while not (waits or step.done() or ended.done() or world.outlets.in_flight):
                await asyncio.sleep(0)
        finally:
            hosted.answering -= waits

    async def _step(self, hosted: HostedWorld, goal: Goal) -> None:
        """A move that no tester waits for: why it did not come to its goal stands in the log."""
        try:
            await self._advance(hosted, goal)
        except Conflict as conflict:
            self._runtime.log(hosted.world.id, conflict.message, "warning")

    async def steady(self, hosted: HostedWorld) -> None:
        """Waits until the step that an `auto` clock is taking has ended, so that it disturbs no command."""
        if hosted.auto is not None:
            await asyncio.wait({hosted.auto}, timeout=self._runtime.settings.patience)

    # -- by command

    async def advance(self, hosted: HostedWorld, goal: Goal) -> JsonObject:
        """Moves a world forward and settles each instant.

        An instant counts among the n where steps are due, the present one too. Returns `{from, to, fired, deliveries,
        failed, first, last, idle, next_due, unfetched, failures}`; `first` and `last` bound the journal's entries made
        meanwhile, `unfetched` are tries that no client fetched from the outbox, `failures` those that failed otherwise
        (`FailedTries`). Raises `Conflict`: `advancing`, `past`, `loop`,
        `too_far`, `closed`.
        """
        await self.steady(hosted)
        self._runtime.check_not_advancing(hosted)
        self.present(hosted)
        began = hosted.world.now
        try:
            return await self._advance(hosted, self._runtime.hooks.before_advance(hosted, goal))
        finally:
            self._runtime.hooks.after_advance(hosted, began)

    async def _advance(self, hosted: HostedWorld, goal: Goal, *, by_hand: bool = True) -> JsonObject:
        world = hosted.world
        recorded = len(world.record)
        began, first, fired, failed = world.now, len(world.journal), world.fired, world.outlets.failed
        deliveries = len(world.outlets.deliveries)
        advance = _Advance(self._runtime, self._dispatcher, hosted)
        if by_hand:
            hosted.calls.begin()
        hosted.attendance.begin()
        failures = hosted.failures = FailedTries()
        hosted.advancing = True
        try:
            if goal.way == "next":
                await advance.to_next(goal.value)
            elif goal.way == "idle":
                await advance.until_idle()
            else:
                await advance.to(goal.value if goal.way == "to" else began + goal.value)
        finally:
            hosted.advancing = False
            self._dispatcher.launch_begun(hosted)
            world.record.moved(world.now, world.ticks, recorded, by_hand=by_hand)
            world.clock.rebase(self._runtime.reading())
            self._runtime.note_change(hosted)
        return {
            "from": began,
            "to": world.now,
            "fired": world.fired - fired,
            "deliveries": len(world.outlets.deliveries) - deliveries,
            "failed": world.outlets.failed - failed,
            "first": first,
            "last": len(world.journal),
            "next_due": world.timeline.next_due(),
            "idle": world.idle,
            "unfetched": hosted.attendance.unfetched,
            "failures": failures,
        }


class _Advance:
    """One call of `advance`: how a world is moved, and how far it may go."""

    __slots__ = (
        "_began",
        "_dispatcher",
        "_hosted",
        "_instants",
        "_portion",
        "_runtime",
        "_sent_by_hand",
        "_settings",
        "_work",
        "_world",
    )

    def __init__(self, runtime: RuntimeInterface, dispatcher: Dispatcher, hosted: HostedWorld) -> None:
        self._runtime = runtime
        self._dispatcher = dispatcher
        self._settings = runtime.settings
        self._hosted = hosted
        self._world = hosted.world
        self._began = hosted.world.now
        self._instants = hosted.world.instants
        #: how often something set out that a tester sent during this move
        self._sent_by_hand = 0
        self._work = Slice()
        self._portion = Portion()

    async def to(self, instant: int) -> None:
        """To an instant."""
        if instant < self._began:
            raise Conflict("past", f"{iso(instant)} lies before the world's {iso(self._began)}; time only goes forward")
        self._check_reach(instant)
        await self._settle(instant)

    async def to_next(self, count: int) -> None:
        """To the next `count` instants at which steps are due, the present one included."""
        for _ in range(count):
            due = self._world.timeline.next_due()
            if due is None:
                break
            self._check_reach(due)
            self._check_instants()
            await self._settle(due)
        else:
            return
        await self._settle(self._world.now)  # nothing is scheduled; what is ready or under way still counts

    async def until_idle(self) -> None:
        """Until nothing is scheduled, waiting or under way."""
        await self._settle(self._began + self._settings.max_reach_ms, rest=False)
        due = self._world.timeline.next_due()
        if due is not None:
            self._check_reach(due)

    def _check_reach(self, instant: int) -> None:
        if instant > END:
            later = f"{show(instant - self._began)} after {iso(self._began)}"
            raise Conflict("too_far", f"{later} is past {iso(END)}, the last instant of every world")
        if instant - self._began > self._settings.max_reach_ms:
            busy = f": {self._busy_reason()}" if self._world.timeline.steps else ""
            raise Conflict(
                "too_far",
                f"{show(instant - self._began)} is more than {show(self._settings.max_reach_ms)}, the most in one call"
                f"; go there in steps{busy}",
            )

    def _check_instants(self) -> None:
        limit = self._settings.max_instants
        if self._world.instants - self._instants > limit:
            raise Conflict("too_far", f"{limit} instants are the most in one call: {self._busy_reason()}")

    def _check_rounds(self, rounds: int, tried: int) -> None:
        """A round is new events and their delivery. A long queue for one target is not a round: it comes to its end."""
        limit = self._settings.max_rounds
        if rounds > limit or tried > limit + len(self._world.outlets.deliveries):
            at = iso(self._world.now)
            raise Conflict("loop", f"{self._world.id} stays at {at}: {self._busy_reason()}", at=at)

    async def _settle(self, until: int, *, rest: bool = True) -> None:
        """Does what is due up to `until` and settles each instant; without `rest` stays at the last one."""
        hosted, world, runtime = self._hosted, self._world, self._runtime
        outlets = world.outlets
        at, rounds, tried = world.now, 0, 0
        work, portion = self._work, self._portion
        while True:
            if hosted.open or outlets.in_flight or hosted.working is not None:
                await self._wait_for_answers()
                await self._wait_for_deliveries()
                self._check_loop()
                await hosted.wait_until_idle()
                work.begin()
            if hosted.gone:
                raise Conflict("closed", f"{world.id} was closed while it advanced")
            fired, deliveries = world.fired, len(outlets.deliveries)
            remaining = self._settings.max_instants - (world.instants - self._instants)
            began = wall.monotonic_ns()
            world.run(until, min(portion.ticks, remaining + 1), rest=rest)
            portion.fit(wall.monotonic_ns() - began)
            self._dispatcher.check(hosted)
            if world.now != at:
                at, rounds, tried = world.now, 0, 0
            if batches := outlets.take():
                while batches:  # all of a round set out before any of it is waited for
                    await self._dispatcher.launch(hosted, batches)
                    tried += 1
                    self._check_rounds(rounds, tried)
                    if outlets.waiting:
                        world.run(world.now, MIN_TICKS)
                    batches = outlets.take()
                await self._wait_for_deliveries()
                self._check_loop()
                await asyncio.sleep(0)  # what the receivers asked of us meanwhile is on its way in
                work.begin()
                rounds += world.fired != fired or len(outlets.deliveries) != deliveries
            elif not hosted.open and self._is_finished(until, rest):
                return
            self._check_rounds(rounds, tried)
            self._check_instants()
            if work.over:
                await work.pause()  # there may be many lines, which have a turn of their own
                runtime.log_new_entries(hosted)
                hosted.touch()
                await work.pause()

    def _check_loop(self) -> None:
        loop = self._hosted.calls.loop
        if loop is not None:
            at = iso(self._world.now)
            raise Conflict("loop", f"{self._world.id} stays at {at}: {loop}", at=at)

    def _is_finished(self, until: int, rest: bool) -> bool:
        if rest:
            return self._world.settled(until)
        due = self._world.timeline.next_due()
        return not self._world.outlets.ready and (due is None or due > until)

    def _busy_reason(self) -> str:
        """The reason why the world stays busy, as a text for a tester."""
        timeline = self._world.timeline
        if not timeline.steps:
            return "its receivers cause deliveries without end"
        at, _, _, handler, _ = timeline.steps[0]
        count = f"{timeline.scheduled} steps are" if timeline.scheduled > 1 else "one step is"
        return f"{count} scheduled, next {handler.__name__.removesuffix('_due').strip('_')} at {iso(at)}"

    async def _wait_for_deliveries(self) -> None:
        """Waits until every delivery that is under way has its answer or has failed, or a loop is found.

        What a tester sends meanwhile sets out, too.
        """
        hosted, outlets = self._hosted, self._world.outlets

        def is_over() -> bool:
            return not outlets.in_flight or outlets.has_begun or hosted.gone or hosted.calls.loop is not None

        await hosted.until(is_over)
        while outlets.has_begun and not hosted.gone and hosted.calls.loop is None:
            batches = outlets.take()
            self._sent_by_hand += 1
            self._check_rounds(0, self._sent_by_hand)
            await self._dispatcher.launch(hosted, batches)
            await hosted.until(is_over)

    async def _wait_for_answers(self) -> None:
        """Waits until every request that arrived has been answered."""
        hosted = self._hosted
        try:
            async with asyncio.timeout(self._settings.patience):
                await hosted.until(lambda: not hosted.open)
        except TimeoutError:
            hosted.open.clear()
            message = "a request stays open; the world goes on without its answer"
            self._runtime.log(self._world.id, message, "warning")
