"""Explanations: which rules were tried for a message, which decided, and why the others did not.

Which rules decided about an attempt was recorded. Everything else is seen by a `Witness` as it was then, in a world
that is made again from the record. Without a witness it is seen from today: the rules are those that hold now, their
conditions are evaluated anew, and what they count is read from their memory. Nothing is changed by it.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso
from sendbox.engine.rules.book import explain_rules
from sendbox.engine.world import World
from sendbox.services.messaging.channels import STATES
from sendbox.services.messaging.checks import CHECKS, refusal_line
from sendbox.services.messaging.events import timeline_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Message

#: What is known of the past without a witness.
_NOTHING: Final[Mapping[int, WitnessRecord]] = {}

# -- checks


def checks(world: World, message: Message, number: int) -> list[JsonObject]:
    """Each check of flow step `number` in the order asked, as it stands: `{check, passed, why}` (A61)."""
    step = message.submission.send.steps[number]
    prepared = message.submission.prepared
    views = []
    for check in CHECKS:
        refused = check.refuses(Messaging.of(world).simulator.checks, message, number, step)
        why = f"{check.says} ({check.source})" if refused else None
        views.append({"check": check.word, "passed": not refused, "why": why})
    message.submission.prepared = prepared
    return views


def _rules(world: World, attempt: Attempt, *, then: bool) -> list[JsonObject]:
    """The rules that were tried for an attempt, in the order asked."""
    if attempt.refused not in (None, "credit"):  # credit is asked last, when the price is known
        return []
    simulator = Messaging.of(world).simulator
    moves = attempt.transitions()
    case = simulator.case(attempt, moves[0][1] if moves else world.now)
    decided = () if attempt.decision is None else attempt.decision.rules
    return explain_rules(Messaging.of(world).attempts, simulator.rules_for(attempt.message), case, decided, then=then)


class WitnessRecord(NamedTuple):
    """The record of a witness: the checks before an attempt of a flow step, and the rules that were tried for it."""

    checks: list[JsonObject]
    rules: Sequence[object]


class Witness:
    """Sees the attempts of one message begin, in a world that is made again for this alone."""

    def __init__(self, message_id: str) -> None:
        self._id = message_id
        self.seen: dict[int, WitnessRecord] = {}

    def watch(self, world: World) -> None:
        """From now on it sees what begins in a world."""
        simulator = Messaging.of(world).simulator
        # the simulator will hold `begins`: a method of it in there would close a circle, and the world never be freed
        begin = weakref.WeakMethod(simulator.begin)

        def begins(messages: Sequence[Message], number: int, first: int, _last: int) -> int:
            message, begin_attempt = messages[first], begin()
            assert begin_attempt is not None
            if message.id != self._id:
                return begin_attempt(messages, number, first, first + 1)
            checked = checks(world, message, number)
            place = begin_attempt(messages, number, first, first + 1)
            attempt = message.last
            assert attempt is not None
            self.seen[number] = WitnessRecord(checked, _rules(world, attempt, then=True))
            return place

        setattr(simulator, "begin", begins)  # noqa: B010 # of this one world, not of its class


# -- messages


def explain(world: World, message: Message, seen: Mapping[int, WitnessRecord] = _NOTHING) -> JsonObject:
    """Why a message became what it is so far: each attempt with the rules that were tried, and what it still plans.

    `{message_id, phone, operation, accepted_at, result, steps, attempts, not_tried}`. `seen` is what a witness saw, by
    the number of the flow step.
    """
    send = message.submission.send
    attempts = message.attempts
    return {
        "message_id": message.id,
        "phone": message.phone,
        "operation": message.submission.operation,
        "accepted_at": iso(message.accepted_at),
        "result": message.result,
        "steps": [step.channel for step in send.steps],
        "attempts": [_attempt(world, attempt, seen.get(attempt.number)) for attempt in attempts],
        "not_tried": [step.channel for step in send.steps[len(attempts) :]],
    }


def _attempt(world: World, attempt: Attempt, witnessed: WitnessRecord | None) -> JsonObject:
    why, decision = attempt.refused, attempt.decision
    return {
        "number": attempt.number + 1,
        "channel": attempt.step.channel,
        "result": STATES[attempt.state],
        "refused": why,
        "why": None if why is None else refusal_line(attempt, why),
        **({} if witnessed is None else {"checks": witnessed.checks}),
        "rules": _rules(world, attempt, then=False) if witnessed is None else witnessed.rules,
        "decided_by": [] if decision is None else list(decision.rules),
        "undecided": _undecided(attempt),
        "outage": Messaging.of(world).outages.says(attempt),
        "order_sensitive": decision is not None and decision.order_sensitive,
        "timeline": [{"at": iso(at), "result": result, "info": info} for at, result, info in timeline_of(attempt)],
        "planned": attempt.planned,
    }


def _undecided(attempt: Attempt) -> str | None:
    """The reason why no rule decided about an attempt; None where one did."""
    if attempt.refused not in (None, "credit"):
        return "no rule was asked: checks come before rules"
    return (
        None
        if attempt.decision is not None and attempt.decision.rules
        else "no rule decided: it goes the usual way to delivered"
    )
