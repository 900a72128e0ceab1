"""Entries of the journal as plain objects: what each kind shows, in a table. Rendered when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.faults import Detoured
from sendbox.engine.durations import iso
from sendbox.engine.journal import KINDS
from sendbox.services.messaging.bulk import Bulk, Line
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.outages import Current
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message
from sendbox.services.messaging.refusals import refusal_line
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.views import event_view, inbound_view, order_view, request_view, target_of
from sendbox.services.partner.records import Onboarding, Signup
from sendbox.services.verify.session import Session

if TYPE_CHECKING:
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.remarks import Advice
    from sendbox.engine.world import World
    from sendbox.services.account.keys import Key

#: So many numbers of a list are shown in one entry.
MOST_LISTED: Final = 100


def entry_view(world: World, number: int) -> dict[str, Any]:
    """One entry of the journal: `n`, `at`, `kind`, then what its kind shows. Raises `Forgotten`."""
    at, code, what = world.journal.entry(number)
    kind = KINDS[code]
    head = {"n": number, "at": iso(at), "kind": "transition" if kind in STATES else kind}
    view = {**head, **_RENDER[kind](world, code, what), **head}
    if number in world.journal.order_sensitive:
        view["order_sensitive"] = True
    return view


def _of_attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "message_id": attempt.message.id,
        "phone": attempt.message.phone,
        "channel": attempt.step.channel,
        "attempt": attempt.number + 1,
    }


def _transition(_world: World, code: int, attempt: Attempt) -> dict[str, Any]:
    return {**_of_attempt(attempt), "result": STATES[code], "info": info_of(attempt, code)}


def _and(name: str) -> Callable[[World, int, tuple[Attempt, str]], dict[str, Any]]:
    """An attempt and one word about it."""
    return lambda _world, _code, what: {**_of_attempt(what[0]), name: what[1]}


def _refusal(_world: World, _code: int, what: tuple[Attempt, str]) -> dict[str, Any]:
    attempt, why = what
    return {**_of_attempt(attempt), "why": why, "message": refusal_line(attempt, why)}


def _postponed(_world: World, _code: int, what: tuple[Message, int]) -> dict[str, Any]:
    message, until = what
    return {"message_id": message.id, "phone": message.phone, "until": iso(until)}


def _delivery(world: World, _code: int, delivery: Delivery) -> dict[str, Any]:
    return {
        "delivery": world.outlets.id_of(delivery),
        "target": target_of(delivery),
        "events": [event_view(event) for event in delivery.events],
    }


def _try(world: World, _code: int, what: tuple[Delivery, int]) -> dict[str, Any]:
    delivery, index = what
    done = delivery.tries[index]
    return {
        "delivery": world.outlets.id_of(delivery),
        "target": target_of(delivery),
        "number": index + 1,
        "status": done.status,
        "error": done.error,
    }


def _no_target(_world: World, _code: int, event: Attempt | Inbound) -> dict[str, Any]:
    return inbound_view(event) if isinstance(event, Inbound) else _of_attempt(event)


def _click(_world: World, _code: int, link: Link) -> dict[str, Any]:
    return {"url": link.url, "message_id": link.message.id, "phone": link.message.phone}


def _opt_out(_world: World, _code: int, what: tuple[str, Message | None]) -> dict[str, Any]:
    number, message = what
    return {"phone": number, "message_id": None if message is None else message.id}


def _lapse(
    _world: World, _code: int, what: tuple[str, Bulk | Link | Signup | Session | tuple[str, int]]
) -> dict[str, Any]:
    kind, subject = what
    if isinstance(subject, Signup):
        return {"what": kind, "signup": subject.id}
    if isinstance(subject, Bulk):
        return {"what": kind, "bulk_id": subject.bulk_id}
    if isinstance(subject, Session):
        return {"what": kind, "phone": subject.phone, "token": subject.token}
    return {"what": kind, **({"url": subject.url} if isinstance(subject, Link) else {"phone": subject[0]})}


def _validation(_world: World, _code: int, what: tuple[Session, str, str]) -> dict[str, Any]:
    session, event, state = what
    return {"token": session.token, "phone": session.phone, "event": event, "state": state}


def _key(world: World, _code: int, what: tuple[Key, str]) -> dict[str, Any]:
    key, word = what
    return {"key": key.id, "what": word, "scope": key.scope, "disabled": key.disabled, "note": key.note}


def _listed(_world: World, _code: int, what: tuple[str, str, tuple[str, ...]]) -> dict[str, Any]:
    name, subid, numbers = what
    return {"list": name, "subid": subid, "count": len(numbers), "phones": list(numbers[:MOST_LISTED])}


def _bulk(_world: World, _code: int, what: tuple[Bulk, str]) -> dict[str, Any]:
    bulk, word = what
    counts = {"accepted": bulk.accepted, "skipped": bulk.skipped} if word == "done" else {}
    return {"bulk_id": bulk.bulk_id, "filetype": bulk.filetype, "what": word, "lines": bulk.lines, **counts}


def _bulk_line(_world: World, _code: int, line: Line) -> dict[str, Any]:
    return {
        "bulk_id": line.bulk.bulk_id,
        "line": line.number,
        "request_id": line.request_id,
        "findings": [finding.as_json() for finding in line.findings],
        "advice": [advice.as_json() for advice in line.advice],
    }


def _advice(_world: World, _code: int, what: tuple[Advice, Any]) -> dict[str, Any]:
    advice, about = what
    return {"advice": advice.as_json(), "about": about}


def _signup(_world: World, _code: int, onboarding: Onboarding) -> dict[str, Any]:
    signup = onboarding.signup
    return {"signup": signup.id, "mode": signup.mode, **onboarding.fields, "reason": onboarding.reason}


def _outage(_world: World, _code: int, what: tuple[Current, str]) -> dict[str, Any]:
    current, state = what
    return {**current.what, "state": state, "until": iso(current.until)}


def _fault(_world: World, _code: int, applied: Applied) -> dict[str, Any]:
    return {
        "operation": applied.operation,
        "key": applied.key,
        "phone": applied.phone or None,
        "fault": applied.shown,
        "rule": applied.rule.name or applied.rule.key,
        "processed": applied.rule.effective,
        "message": applied.line,
    }


def _webhook_fault(world: World, _code: int, applied: Detoured) -> dict[str, Any]:
    delivery, rule = applied.delivery, applied.rule
    return {
        "rule": rule.label,
        "fault": rule.fault.text,
        "delivery": None if delivery is None else world.outlets.id_of(delivery),
        "events": [event_view(event) for event in applied.events],
        **({} if applied.note is None else {"note": applied.note}),
    }


def _plain(_world: World, _code: int, what: dict[str, Any]) -> dict[str, Any]:
    return what


_RENDER: Final[dict[str, Callable[[World, int, Any], dict[str, Any]]]] = {
    **dict.fromkeys(STATES, _transition),
    "request": lambda _world, _code, record: request_view(record),
    "refusal": _refusal,
    "fallback": _and("why"),
    "postponed": _postponed,
    "illegal": _and("wanted"),
    "delivery": _delivery,
    "try": _try,
    "no_target": _no_target,
    "inbound": lambda _world, _code, inbound: inbound_view(inbound),
    "click": _click,
    "phone": lambda _world, _code, what: {"phone": what[0], "act": what[1]},
    "opt_out": _opt_out,
    "timeline": lambda _world, _code, what: {"entry": what},
    "lapse": _lapse,
    "advice": _advice,
    "opened": _plain,
    "reset": _plain,
    "restored": _plain,
    "control": _plain,
    "validation": _validation,
    "limited": lambda _world, _code, what: {"limit": what[0], "phone": what[1]},
    "signup": _signup,
    "template": _plain,
    "number": _plain,
    "notice": lambda _world, _code, notice: {"phone": notice.phone, "from": notice.sender, "body": notice.body},
    "key": _key,
    "listed": _listed,
    "order": lambda _world, _code, what: order_view(*what),
    "bulk": _bulk,
    "bulk_line": _bulk_line,
    "outage": _outage,
    "fault": _fault,
    "webhook_fault": _webhook_fault,
}
