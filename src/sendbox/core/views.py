"""Views: the records of a world as plain objects, for control, page and fixture; made when asked, never kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.core.bulk import Bulk, Line
from sendbox.core.events import channel_details, info_of, kind_of
from sendbox.core.journal import KINDS
from sendbox.core.lifecycle import SEEN, STATES
from sendbox.core.partner_records import Notice, Onboarding, Signup
from sendbox.core.records import Attempt, Delivery, Inbound, Link, Message, RequestRecord
from sendbox.core.spans import iso
from sendbox.core.validation import Session
from sendbox.core.why import refusal_line

if TYPE_CHECKING:
    from sendbox.core.keys import Key
    from sendbox.core.orders import Order
    from sendbox.core.remarks import Advice
    from sendbox.core.world import World

#: So many numbers of a list are shown in one entry.
MOST_LISTED: Final = 100


def attempt_view(world: World, attempt: Attempt) -> dict[str, Any]:
    """One attempt: its channel, result, transitions, price and what decided about it."""
    extra = attempt.extra or {}
    plan = attempt.plan
    view: dict[str, Any] = {
        "number": attempt.number + 1,
        "channel": attempt.step.channel,
        "result": STATES[attempt.state],
        "timeline": [
            {"at": iso(at), "result": STATES[code], "info": info_of(attempt, code)}
            for code, at in attempt.transitions()
        ],
        "planned": [] if plan is None else [STATES[code] for code, _, _ in plan[attempt.position :]],
        "details": channel_details(world, attempt),
        "rules": [] if attempt.fate is None else list(attempt.fate.rules),
    }
    if "why" in extra:
        view["refused"] = extra["why"]
    return view


def message_view(world: World, message: Message) -> dict[str, Any]:
    """One recipient's message with its attempts and flags."""
    submission = message.submission
    shown = message.shown
    attempts = message.attempts
    return {
        "message_id": message.id,
        "request_id": submission.request_id,
        "operation": submission.operation,
        "phone": message.phone,
        "result": message.result,
        "channel": submission.send.steps[0].channel if shown is None else shown.step.channel,
        "sender": submission.send.steps[0].sender if shown is None else world.phones.sender_of(shown),
        "body": body_of(world, message, shown),
        "tags": list(submission.send.tags),
        "payload": orjson.loads(submission.send.payload),
        "priority": submission.send.priority,
        "accepted_at": iso(message.accepted_at),
        "clicked_at": _iso(message.clicked_at),
        "replied_at": _iso(message.replied_at),
        "optout_at": _iso(message.optout_at),
        "links": [link_view(link) for links in (message.links or {}).values() for link in links],
        "attempts": [attempt_view(world, attempt) for attempt in attempts],
        "timeline": [
            {"at": iso(at), "channel": attempt.step.channel, "result": STATES[code]}
            for at, _, attempt, code in sorted(
                ((at, attempt.number, attempt, code) for attempt in attempts for code, at in attempt.transitions()),
                key=lambda entry: entry[:2],
            )
        ],
    }


def body_of(world: World, message: Message, attempt: Attempt | None) -> str:
    """The text as the phone shows it; before the hand-over the text as it was asked for."""
    if attempt is None:
        return message.submission.send.steps[0].body or ""
    return world.simulator.text(attempt)


def link_view(link: Link) -> dict[str, Any]:
    """One short link."""
    return {
        "url": link.url,
        "target": link.target,
        "expires_at": iso(link.expires_at),
        "clicks": [iso(at) for at in link.clicks],
        "message_id": link.message.id,
    }


def event_view(event: Any) -> dict[str, Any]:
    """What a delivery carries, in short."""
    if isinstance(event, Inbound):
        return {"event": kind_of(event), "from": event.sender, "body": event.body}
    if isinstance(event, Onboarding):
        return {"event": kind_of(event), "signup": event.signup.id, **event.fields}
    attempt, code = event
    return {
        "event": kind_of(event),
        "message_id": attempt.message.id,
        "phone": attempt.message.phone,
        "result": STATES[code],
    }


def delivery_view(world: World, delivery: Delivery) -> dict[str, Any]:
    """One delivery with each try."""
    return {
        "id": world.outlets.id_of(delivery),
        "target": target_of(delivery),
        "method": delivery.outlet.target.method,
        "at": iso(delivery.made_at),
        "state": delivery.state,
        "events": [event_view(event) for event in delivery.events],
        "tries": [{"at": iso(t.at), "status": t.status, "error": t.error} for t in delivery.tries],
    }


def target_of(delivery: Delivery) -> str:
    """The address of a delivery; `hook` stands for the built-in receiver."""
    return "hook" if delivery.outlet.builtin else delivery.outlet.target.url


def inbound_view(inbound: Inbound) -> dict[str, Any]:
    """One message from a phone."""
    return {
        "at": iso(inbound.at),
        "channel": inbound.channel,
        "from": inbound.sender,
        "to": inbound.recipient,
        "body": inbound.body,
        "message_id": None if inbound.message is None else inbound.message.id,
    }


def received_view(world: World, attempt: Attempt) -> dict[str, Any]:
    """One message as it arrived on a handset."""
    message = attempt.message
    return {
        "at": _iso(attempt.arrived_at),
        "direction": "in",
        "channel": attempt.step.channel,
        "message_id": message.id,
        "from": world.phones.sender_of(attempt),
        "body": world.simulator.text(attempt),
        "links": [link_view(link) for link in (message.links or {}).get(attempt.number, ())],
        "seen": attempt.reached(SEEN) is not None,
    }


def notice_view(notice: Notice) -> dict[str, Any]:
    """A text on a handset that is no message of the account."""
    return {
        "at": iso(notice.at),
        "direction": "in",
        "channel": "sms",
        "message_id": None,
        "from": notice.sender,
        "body": notice.body,
        "links": [],
        "seen": False,
    }


def phone_view(world: World, number: str) -> dict[str, Any]:
    """A handset: what it is and its conversation, oldest first; at one instant it receives before it writes."""
    phones = world.phones
    received = [received_view(world, attempt) for attempt in phones.inbox(number)]
    written = [{"direction": "out", **inbound_view(each)} for each in phones.inbound if each.sender == number]
    codes = [notice_view(each) for each in world.partner.notices if each.phone == number]
    spec = phones.spec(number)
    channels = None if spec is None else spec.channels
    return {
        "number": number,
        "channels": sorted(channels) if channels is not None else ["chatapp", "richmsg", "sms"],
        "online": not phones.is_offline(number),
        "conversation_open": phones.conversation_open(number),
        "opted_out": number in world.account.optout,
        "messages": [message.id for message in phones.messages_of(number)],
        "codes": [code_view(world, session) for session in reversed(world.verify.of(number))],
        "conversation": sorted([*received, *codes, *written], key=lambda entry: entry["at"]),  # all of one length
    }


def code_view(world: World, session: Session) -> dict[str, Any]:
    """One validation session with its code; `sms` is the result of the message that carries it."""
    return {
        "token": session.token,
        "phone": session.phone,
        "code": session.code,
        "state": session.state_at(world.now),
        "sms": session.message.result,
        "message_id": session.message.id,
        "attempts": session.attempts,
        "attempts_remaining": session.remaining,
        "created_at": iso(session.created_at),
        "expires_at": iso(session.expires_at),
        "verified_at": _iso(session.verified_at),
        "payload": session.payload,
        "rules": list(session.rules),
    }


def account_view(world: World) -> dict[str, Any]:
    """The account as it stands. Money in units of the currency."""
    account = world.account
    key = world.keys[world.id]
    senders = account.senders
    return {
        "currency": account.currency,
        "credit": account.balance / 1_000_000,
        "spent": account.spent / 1_000_000,
        "country": account.country,
        "default_callback_url": key.default_callback_url,
        "senders": senders if senders == "any" else {name: sorted(values) for name, values in senders.items()},
        "numbers": sorted(account.numbers),
        "domains": sorted(account.domains),
        "templates": list(account.templates),
        "optout": sorted(account.optout),
        "blacklist": sorted(account.blacklist),
        "stop_words": sorted(account.stop_words),
    }


def request_view(record: RequestRecord) -> dict[str, Any]:
    """One call of an emulated interface, with everything remarked about it."""
    return {
        "operation": record.operation,
        "method": record.method,
        "path": record.path,
        "key": record.key,
        "status": record.status,
        "body": record.body.decode("utf-8", "replace"),
        "answer": record.answer.decode("utf-8", "replace"),
        "findings": [finding.as_json() for finding in record.findings],
        "advice": [advice.as_json() for advice in record.advice],
    }


def entry_view(world: World, number: int) -> dict[str, Any]:
    """One entry of the journal: `n`, `at`, `kind`, then what its kind shows."""
    journal = world.journal
    code = journal.kind[number]
    kind = KINDS[code]
    head = {"n": number, "at": iso(journal.at[number]), "kind": "transition" if kind in STATES else kind}
    view = {**head, **_RENDER[kind](world, code, journal.what[number]), **head}
    if number in journal.order_sensitive:
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


def order_view(order: Order, state: str | None = None) -> dict[str, Any]:
    """One order of a service; `state` where it is told of an earlier one."""
    return {
        "order": order.id,
        "service": order.service,
        "subject": order.subject,
        "period": order.period,
        "fee": order.fee / 1_000_000,
        "currency": order.billing.currency,
        "state": state or order.state,
    }


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
    return {"signup": signup.id, "mode": signup.mode, **onboarding.fields, "reason": signup.reason}


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
}


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
