"""Explanations: which rules were tried for a message, which decided, and why the others did not.

Which rules decided about an attempt was recorded. The rest is seen from today: the rules are those that hold now, their
conditions are looked at anew, and what they count is read from their memory. Nothing is changed by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.durations import iso
from sendbox.engine.rules.tried import tried
from sendbox.services.messaging.checks import CHECKS, refusal_line
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.results import STATES

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.messaging.records import Attempt, Message


# -- checks


def checks(world: World, message: Message, number: int) -> list[dict[str, Any]]:
    """Each check of flow step `number` in the order asked, as it stands now: `{check, passed, why}` (A61)."""
    step = message.submission.send.steps[number]
    kept = message.submission.prepared
    found = []
    for check in CHECKS:
        refused = check.refuses(Messaging.of(world).simulator.checks, message, number, step)
        why = f"{check.says} ({check.source})" if refused else None
        found.append({"check": check.word, "passed": not refused, "why": why})
    message.submission.prepared = kept
    return found


# -- messages


def explain(world: World, message: Message) -> dict[str, Any]:
    """Why a message became what it is so far: each attempt with the rules that were tried, and what it still plans.

    `{message_id, phone, operation, accepted_at, result, steps, attempts, not_tried}`.
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
        "attempts": [_attempt(world, attempt) for attempt in attempts],
        "not_tried": [step.channel for step in send.steps[len(attempts) :]],
    }


def _attempt(world: World, attempt: Attempt) -> dict[str, Any]:
    why = None if attempt.extra is None else attempt.extra.get("why")
    asked = why is None or why == "credit"  # credit is asked last, when the price is known
    simulator = Messaging.of(world).simulator
    rules = simulator.rules_for(attempt.message) if asked else ()
    moves = attempt.transitions()
    case = simulator.case(attempt, moves[0][1] if moves else world.now)
    fate = attempt.fate
    decided = () if fate is None else fate.rules
    plan = attempt.plan
    return {
        "number": attempt.number + 1,
        "channel": attempt.step.channel,
        "result": STATES[attempt.state],
        "refused": why,
        "why": None if why is None else refusal_line(attempt, why),
        "rules": tried(Messaging.of(world).attempts, rules, case, decided),
        "decided_by": list(decided),
        "outage": Messaging.of(world).outages.says(attempt),
        "order_sensitive": fate is not None and fate.order_sensitive,
        "timeline": [{"at": iso(at), "result": STATES[code], "info": info_of(attempt, code)} for code, at in moves],
        "planned": [STATES[code] for code, _, _ in (plan or ())[attempt.position :]],
    }
