"""Sends deliveries: one try at a time, to their receivers, and their outcome back into the world."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import islice
from typing import Final, cast

import orjson

from sendbox.engine.commands.command import Overtake
from sendbox.engine.delivery.batches import Delivery, body_of
from sendbox.engine.delivery.faults.fault import NOT_SPOILT, FaultyDelivery
from sendbox.engine.delivery.injection import FakedTry
from sendbox.engine.delivery.targets import NOT_FETCHED
from sendbox.engine.world import World
from sendbox.runtime import policy
from sendbox.runtime.interface import Level, RuntimeInterface
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import HostedWorld, Slice

#: The number of tries that are begun before the loop gets its turn.
TRIES_PER_TURN: Final = 16
#: The number of steps that are fired at once before a request is answered whose events overtake the answer.
STEPS_PER_RUN: Final = 32
#: The reason that a receiver has to deny a webhook without a signature (A21).
UNSIGNED: Final = f", it has no {policy.SIGNATURE}: no default_callback_secret is set"
#: Real seconds that an advance gives a client to ask for its outbox, where none has asked.
CLIENT_GRACE_SECONDS: Final = 2.0
#: The same in words, for the log and the answer of an advance.
UNATTENDED: Final = (
    "no client fetches the outbox, where its webhooks wait: run `sendbox forward`, "
    "or fetch them (POST /_sandbox/worlds/{id}/outbox), before the clock is moved"
)


class Dispatcher:
    """Sends the deliveries of the worlds of one runtime."""

    def __init__(self, runtime: RuntimeInterface) -> None:
        self._runtime = runtime
        self._loop = asyncio.get_running_loop()

    async def launch(self, hosted: HostedWorld, batches: list[Delivery]) -> None:
        """Begins a try of each of these batches, side by side; does not wait for their outcome."""
        world = hosted.world
        work = Slice()
        for number, delivery in enumerate(batches, 1):
            call = encode_delivery(world, delivery, urgent=hosted.answering > 0)
            self._runtime.keep_task(hosted, self._loop.create_task(self._deliver(hosted, world, delivery, call)))
            if number % TRIES_PER_TURN == 0 or work.over:
                await asyncio.sleep(0)
                work.begin()
                if hosted.gone or hosted.world is not world:
                    return

    def launch_begun(self, hosted: HostedWorld) -> None:
        """Begins what a tester sent; a move of the clock that goes on does it itself, so that it is waited for."""
        if hosted.advancing:
            hosted.stir()
        elif batches := hosted.world.outlets.take():
            self._runtime.keep_task(hosted, self._loop.create_task(self.launch(hosted, batches)))

    async def overtake(self, hosted: HostedWorld, requests: tuple[str, ...]) -> None:
        """Sends the events of these requests that overtake their answers (the fault `overtake`); waits for receivers.

        What is due at this instant happens first. Waits for receivers no longer than `patience`.
        """
        world, runtime = hosted.world, self._runtime
        injection, timeline = world.outlets.injection, world.timeline
        first = world.outlets.deliveries.made
        world.enter(Overtake(requests, leaves=False))
        work = Slice()
        own: list[Delivery] = []
        try:
            for _ in range(runtime.settings.max_rounds):
                due = timeline.next_due()
                if not world.outlets.dirty and (due is None or due > world.now):
                    break
                world.run(world.now, STEPS_PER_RUN)
                await work.pause()
            await hosted.wait_until_idle()
        finally:
            if hosted.world is world and not hosted.gone:
                # those of another request that is answered just now may share a batch with these
                batches = islice(world.outlets.deliveries, max(first - world.outlets.deliveries.lost, 0), None)
                own = [batch for batch in batches if injection.concerns(batch, requests)]
                world.enter(Overtake(requests, leaves=True))
        if hosted.gone or hosted.world is not world:
            return
        await self.launch(hosted, world.outlets.take())

        def have_ended() -> bool:
            return hosted.gone or hosted.world is not world or not any(batch.under_way for batch in own)

        # tries end by themselves, except for those of a test's app that is not being run just now
        timeout = None if hosted.deliverer is None else (hosted.settings or runtime.settings).patience
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not have_ended():
                    await hosted.change()

    async def _deliver(self, hosted: HostedWorld, world: World, delivery: Delivery, call: HttpCall) -> None:
        """One try of one delivery; its outcome is fed back unless the world began a new epoch meanwhile."""
        await self._runtime.persist(hosted)
        chain = hosted.calls.begin_delivery(world.outlets.requests_of(delivery), world.clock)
        try:
            outcome = await self._send(hosted, delivery, call)
        except Exception as error:  # a receiver in this process that broke: to the world it is one that hung up
            outcome = Outcome(None, "closed", repr(error))
        finally:
            hosted.calls.end_delivery(chain)
        await hosted.wait_until_idle()
        if hosted.world is world and not hosted.gone:
            self._note_outcome(hosted, delivery, call, outcome)

    def _note_outcome(self, hosted: HostedWorld, delivery: Delivery, call: HttpCall, outcome: Outcome) -> None:
        """A try has ended.

        Where time does not pass meanwhile the outcomes of a round come into the world in the order in which its tries
        began, once all of them are there; but what a call waits for comes in at once.
        """
        self.launch_begun(hosted)  # what its receiver sent meanwhile belongs to the round
        world, outcomes = hosted.world, hosted.round_outcomes
        under_way = world.outlets.under_way
        outcomes[delivery] = (call, outcome)
        settles = world.clock.mode != "real" or hosted.advancing
        ended = [delivery]
        if not _ahead(delivery):
            if settles and len(outcomes) < len(under_way):
                in_order = not world.outlets.faults.overtakes
                if in_order or not all(other in outcomes or _ahead(other) for other in under_way):
                    return
            if len(outcomes) > 1:
                ended = [other for other in under_way if other in outcomes]
        for other in ended:
            self._enter_outcome(hosted, other, *outcomes.pop(other))
        self.launch_begun(hosted)
        hosted.stir()
        self._runtime.note_change(hosted)

    def _enter_outcome(self, hosted: HostedWorld, delivery: Delivery, call: HttpCall, outcome: Outcome) -> None:
        world, log, tries = hosted.world, self._runtime.log, len(delivery.tries)
        if outcome.answer is not None:
            world.outlets.answers.add(delivery.tries[-1], outcome.answer)
        world.outcome(delivery, outcome.status, outcome.error)
        self._runtime.counts.count_try(delivery.state, outcome)
        if outcome.ok:
            return
        denied_unsigned = outcome.status in (401, 403) and all(name != policy.SIGNATURE for name, _ in call.headers)
        why = f"{outcome.error or outcome.status}{UNSIGNED if denied_unsigned else ''}"
        if outcome.error != NOT_FETCHED and not _is_spoilt(delivery):
            hosted.failures.add(delivery.address, why)
        if outcome.error == "not_allowed":
            if call.url not in hosted.not_allowed:
                hosted.not_allowed.add(call.url)
                message = f"webhooks to {call.url} are not sent: {outcome.detail}"
                log(world.id, message, "warning", "webhook", url=call.url, error=outcome.error)
        else:
            detail = f" ({outcome.detail})" if outcome.detail else ""
            message = f"webhook to {call.url or 'the hook'} {why}{detail}, try {tries}"
            level: Level = "info" if isinstance(delivery.tries[-1], FakedTry) else "warning"
            fields = {"url": call.url or None, "status": outcome.status, "error": outcome.error, "try": tries}
            log(world.id, message, level, "webhook", **fields)

    async def _send(self, hosted: HostedWorld, delivery: Delivery, call: HttpCall) -> Outcome:
        last = delivery.tries[-1]
        if isinstance(last, FakedTry):
            status, error = last.ending
            return Outcome(status, cast("policy.Failure | None", error), f'by the rule "{last.rule.title}"')
        settings = hosted.settings or self._runtime.settings
        patience = settings.patience
        timeout_ms = delivery.outlet.target.timeout_ms
        if timeout_ms is not None:
            patience = min(patience, timeout_ms / 1000)
        if hosted.pulling:
            return await self._wait_for_client(hosted, delivery, call, patience)
        if hosted.deliverer is not None:  # the test's own code: it takes the time it takes, at a breakpoint too
            return await hosted.deliverer(call)
        return await self._runtime.senders.of(settings.callbacks).send(call, patience)

    async def _wait_for_client(
        self, hosted: HostedWorld, delivery: Delivery, call: HttpCall, patience: float
    ) -> Outcome:
        """Puts a call into the outbox and waits until a client carries it out."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        delivery_id = hosted.world.outlets.id_of(delivery)
        hosted.outbox[delivery_id] = (call, delivery, future, patience)
        hosted.touch()
        try:
            left = await self._seconds_left(hosted, future, patience)
            async with asyncio.timeout(left):
                return await future
        except TimeoutError:
            if delivery_id in hosted.fetched:
                return Outcome(None, "timeout")
            hosted.attendance.unfetched += 1
            return Outcome(None, "not_fetched", "no client fetched it from the outbox")
        finally:
            hosted.fetched.discard(delivery_id)
            if hosted.outbox.get(delivery_id, (None, None, None))[2] is future:
                del hosted.outbox[delivery_id]

    async def _seconds_left(self, hosted: HostedWorld, future: asyncio.Future[Outcome], patience: float) -> float:
        """The real seconds that are left for a call, after a wait for a client where none asks for the outbox.

        The log says so at once. An advance waits for a client only once, and not for as long as for a receiver:
        with every further try it would take longer and end no better.
        """
        attendance, reading = hosted.attendance, self._runtime.reading
        if hosted.fetched or attendance.present(reading(), patience):
            return patience
        if not attendance.warned:
            attendance.warned = True
            self._runtime.log(hosted.world.id, UNATTENDED.format(id=hosted.world.id), "warning")
        if not hosted.advancing or hosted.auto is not None:
            return patience
        grace = 0.0 if attendance.missed else min(CLIENT_GRACE_SECONDS, patience)
        await asyncio.wait({future}, timeout=grace)
        if future.done() or hosted.fetched or attendance.present(reading(), patience):
            return patience - grace
        attendance.missed = True
        return 0.0

    def check(self, hosted: HostedWorld) -> None:
        """In tests: what is about to go out keeps to the contract, also what the built-in receiver gets."""
        check = self._runtime.check_batch
        if check is None:
            return
        world = hosted.world
        deliveries = world.outlets.deliveries
        while hosted.checked < deliveries.made:
            delivery = deliveries[hosted.checked - deliveries.lost]
            hosted.checked += 1
            batch = body_of(world, delivery)
            for message in check(orjson.loads(batch)):
                self._runtime.violations.append(f"webhook {batch!r}: {message}")


def _is_spoilt(delivery: Delivery) -> bool:
    """True if a rule answered the last try in the receiver's place, or made its request illegal."""
    faulty = isinstance(delivery, FaultyDelivery) and delivery.rule.fault.spoilt != NOT_SPOILT
    return faulty or isinstance(delivery.tries[-1], FakedTry)


def _ahead(delivery: Delivery) -> bool:
    """True if the answer of a request waits for this delivery."""
    return isinstance(delivery, FaultyDelivery) and delivery.ahead


def encode_delivery(world: World, delivery: Delivery, *, urgent: bool = False) -> HttpCall:
    """A delivery as a request, with what a rule of `webhooks:` makes of it; `urgent` if an answer waits for it."""
    target, outlets = delivery.outlet.target, world.outlets
    batch, name = body_of(world, delivery), outlets.id_of(delivery)
    trace = outlets.traces.onward(outlets.requests_of(delivery), name, len(delivery.tries))
    if not isinstance(delivery, FaultyDelivery):
        return policy.encode(target, batch, name, urgent=urgent, trace=trace)
    return policy.encode(target, batch, name, delivery.rule.fault.spoilt, urgent=urgent or delivery.ahead, trace=trace)
