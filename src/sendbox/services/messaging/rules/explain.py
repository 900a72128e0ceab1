"""Explanations: which rules were tried for a message, which decided, and why the others did not.

Conditions are evaluated anew against what the attempt asked with; counts (`nth`, `times`) are read from the world's
memory. Nothing is changed by it. The rules are those that hold now: a rule that was taken away meanwhile is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.durations import iso, show
from sendbox.engine.journal import KINDS
from sendbox.services.messaging.checks import CHECKS, refusal_line
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.outages import named
from sendbox.services.messaging.records import Attempt, Inbound
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.rules.difference import differences
from sendbox.services.verify.verify import Verify

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.delivery.detours import Detoured
    from sendbox.engine.world import World
    from sendbox.services.messaging.outages import Current
    from sendbox.services.messaging.records import Message
    from sendbox.services.messaging.rules.rules import Ask, Memory, Rule
    from sendbox.services.verify.rules import VerifyRule
    from sendbox.services.verify.session import Session


# -- rules

_NOT_THEN: Final = "all of it holds now; when the attempt began something did not, or the rule was not there"


def rules_tried(
    rules: Iterable[Rule], ask: Ask, memory: Memory, decided: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Each rule in the order asked: `{rule, place, outcome, decides, why_not}`.

    `outcome` is `decided`, `differs` (a condition does not hold), `not its turn` (`nth`, `times`) or `too late` (what
    it decides was decided before); `decides` names what it decided: path, replies, click. `decided` names the rules
    that did decide, where that is known: what happened before an attempt goes on, and rules come and go.
    """
    open_still = {"path", "replies", "click"}
    tried = []
    for rule in rules:
        names = {name for name in open_still if _names(rule, name)}
        why_not: list[str] = []
        decides: list[str] = []
        if not names:
            outcome = "too late"
            why_not = ["all that it decides was decided before"]
        elif why_not := _differences(rule, ask, decided):
            outcome = "differs"
        elif why_not := _not_its_turn(rule, ask, memory):
            outcome = "not its turn"
        elif decided is not None and (rule.name or rule.key) not in decided:
            outcome, why_not = "differs", [_NOT_THEN]
        else:
            outcome = "decided"
            decides = [name for name in ("path", "replies", "click") if name in names]
            open_still -= names
        tried.append(_tried(rule, outcome, decides, why_not))
    return tried


def _differences(rule: Rule, ask: Ask, decided: Collection[str] | None) -> list[str]:
    found = differences(rule.when, ask)
    if decided is not None and (rule.name or rule.key) in decided and all(why.startswith("after: ") for why in found):
        return []  # it held then
    return found


def _tried(rule: Rule | VerifyRule, outcome: str, decides: list[str], why_not: list[str]) -> dict[str, Any]:
    return {
        "rule": rule.name or rule.key,
        "place": rule.place,
        "outcome": outcome,
        "decides": decides,
        "why_not": why_not,
    }


def _names(rule: Rule, what: str) -> bool:
    if what == "path":
        return rule.path is not None or rule.mix is not None
    return getattr(rule, what) is not None


def _not_its_turn(rule: Rule, ask: Ask, memory: Memory) -> list[str]:
    if rule.when.nth is not None:
        mine = memory.counted.get(rule.key, {}).get(ask.ordinal)
        if mine != rule.when.nth:
            came = "was never counted" if mine is None else f"this is message {mine} that asked"
            return [f"nth: {came}, wanted message {rule.when.nth}"]
    if rule.times is not None and ask.ordinal not in memory.used.get(rule.id or rule.key, ()):
        return [f"times: it decided {rule.times} messages already, which is all it may"]
    return []


def codes_tried(rules: Sequence[VerifyRule], phone: str) -> list[dict[str, Any]]:
    """Each rule of `verify:` in the order asked, for a session of a number; as `rules_tried`."""
    open_still = {"code", "sms", "limited"}
    tried = []
    for rule in rules:
        names = {name for name in open_still if getattr(rule, name) is not None}
        matches = rule.phone is None or rule.phone.matches(phone)
        why_not: list[str] = []
        if not names:
            outcome, why_not = "too late", ["all that it decides was decided before"]
        elif rule.phone is not None and not matches:
            outcome, why_not = "differs", [f'phone: {phone} does not match "{rule.phone.text}"']
        else:
            outcome = "decided"
            open_still -= names
        decides = [word for word, name in _SAID.items() if outcome == "decided" and name in names]
        tried.append(_tried(rule, outcome, decides, why_not))
    return tried


#: What rules of `verify:` decide, as the language calls it.
_SAID: Final = {"code": "code", "sms": "sms", "limits": "limited"}


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
    ask = simulator.ask(attempt, moves[0][1] if moves else world.now)
    fate = attempt.fate
    decided = () if fate is None else fate.rules
    plan = attempt.plan
    return {
        "number": attempt.number + 1,
        "channel": attempt.step.channel,
        "result": STATES[attempt.state],
        "refused": why,
        "why": None if why is None else refusal_line(attempt, why),
        "rules": rules_tried(rules, ask, Messaging.of(world).memory, decided),
        "decided_by": list(decided),
        "outage": Messaging.of(world).outages.says(attempt),
        "order_sensitive": fate is not None and fate.order_sensitive,
        "timeline": [{"at": iso(at), "result": STATES[code], "info": info_of(attempt, code)} for code, at in moves],
        "planned": [STATES[code] for code, _, _ in (plan or ())[attempt.position :]],
    }


def explain_session(world: World, session: Session) -> dict[str, Any]:
    """Why a validation session got its code: `{phone, code, state, rules, decided_by}`."""
    return {
        "phone": session.phone,
        "code": session.code,
        "state": session.state_at(world.now),
        "rules": codes_tried(Verify.of(world).book.rules, session.phone),
        "decided_by": list(session.rules),
    }


# -- what happened


def happened(world: World, message: Message) -> list[dict[str, Any]]:
    """All that the journal has of a message, in order: `{at, after, what}`, `after` since it was accepted."""
    journal = world.journal
    found = []
    for number in range(journal.first, len(journal)):
        at, code, what = journal.entry(number)
        says = _HAPPENED.get(KINDS[code])
        text = None if says is None else says(what, code, message)
        if text is not None:
            found.append({"at": iso(at), "after": show(at - message.accepted_at), "what": text})
    return found


def _moved(attempt: Attempt, code: int, message: Message) -> str | None:
    if attempt.message is not message:
        return None
    info = info_of(attempt, code)
    return f"{attempt.step.channel}: {STATES[code]}{'' if info is None else f' ({info})'}"


def _sent(delivery: Delivery, _code: int, message: Message) -> str | None:
    told = [text for about, text in map(_event, delivery.events) if about is message]
    return f"webhook to {delivery.address}: {', '.join(told)}" if told else None


def _event(event: Any) -> tuple[Message | None, str]:
    if isinstance(event, Inbound):
        return event.message, f'reply "{event.body}"'
    if isinstance(event, tuple):
        return event[0].message, STATES[event[1]]
    return None, ""


def _fell_back(what: tuple[Attempt, str], _code: int, message: Message) -> str | None:
    attempt, why = what
    return f"the flow moves on from step {attempt.number + 1}: {why}" if attempt.message is message else None


def _impossible(what: tuple[Attempt, str], _code: int, message: Message) -> str | None:
    attempt, wanted = what
    return f"{attempt.step.channel}: {wanted} cannot be, and is left out" if attempt.message is message else None


def _faulty(applied: Detoured, _code: int, message: Message) -> str | None:
    told = [text for about, text in map(_event, applied.events) if about is message]
    by = "" if applied.rule.name is None else f', by the rule "{applied.rule.name}"'
    note = "" if applied.note is None else f", {applied.note}"
    return f"fault of the webhook {', '.join(told)}: {applied.rule.fault.text}{by}{note}" if told else None


def _out(what: tuple[Current, str], _code: int, message: Message) -> str | None:
    """An outage of what an attempt went over, and in whose time."""
    current, state = what
    over = any(
        current.outage.hits(attempt) and attempt.history and attempt.transitions()[-1][1] >= current.began
        for attempt in message.attempts
    )
    return f"outage of {named(current.what)} {state}" if over else None


_HAPPENED: Final[dict[str, Callable[[Any, int, Message], str | None]]] = {
    **dict.fromkeys(KINDS[1:8], _moved),
    "refusal": lambda what, _code, message: refusal_line(*what) if what[0].message is message else None,
    "fallback": _fell_back,
    "postponed": lambda what, _c, message: f"held back until {iso(what[1])}" if what[0] is message else None,
    "illegal": _impossible,
    "delivery": _sent,
    "webhook_fault": _faulty,
    "outage": _out,
    "inbound": lambda what, _c, message: f'the phone replies "{what.body}"' if what.message is message else None,
    "click": lambda link, _c, message: f"the link to {link.target} is followed" if link.message is message else None,
    "opt_out": lambda what, _code, message: "the phone opts out" if what[1] is message else None,
    "validation": lambda what, _code, message: (
        f"validation: {what[1]}, now {what[2]}" if what[0].message is message else None
    ),
}
