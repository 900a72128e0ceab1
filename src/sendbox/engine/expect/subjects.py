"""Things that a scenario may expect, in a table: where a world keeps them, and what can be asked of each.

Long because the table is, a row for each kind of thing.

The language's schema and the documentation are held to this table by tests. A thing of the journal is found by the
kinds of its entries; any other in a list of the world, which forgets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import orjson

from sendbox.engine.delivery.faults import FaultyDelivery
from sendbox.engine.delivery.rules import FAULTS
from sendbox.engine.faults.calls import PROCESSED, Applied
from sendbox.engine.journal import CODE, KINDS
from sendbox.services.advice import ADVICE
from sendbox.services.events import EVENTS as _ROWS
from sendbox.services.messaging.checks import BY_WORD
from sendbox.services.messaging.events import info_of, kind_of
from sendbox.services.messaging.records import Attempt, Inbound, Message
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.views import target_of
from sendbox.services.operations import EMULATED, SENDING
from sendbox.services.partner.states import CATEGORIES, MODES, SIGNUP, TEMPLATE
from sendbox.services.verify.session import VALIDATION

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.delivery.faults import Detoured
    from sendbox.engine.requests import RequestRecord
    from sendbox.engine.world import World
    from sendbox.services.verify.session import Session

#: How a condition is compared: a phone pattern, a text pattern, one of fixed words, a number or a range of numbers,
#: true or false, dotted paths inside the payload.
Kind = Literal["phone", "text", "word", "number", "flag", "payload"]
#: Entries looked at between two pauses.
_LOOKED: Final = 256

RESULTS: Final = STATES
DELIVERY_STATES: Final = ("waiting", "sending", "delivered", "failed", "held", "dropped")
EVENTS: Final = ("sentMessage", "incomingMessage", "incomingReplyMessage", "partnerOnboarding")
#: A call to a path that there is not counts as `unknown`.
_CALLED: Final = (*EMULATED, "unknown")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: Why a try of a webhook had no answer, as `runtime/policy.py` says it, or because a restore cut it off.
SILENCES: Final = (
    "timeout",
    "refused",
    "unreachable",
    "redirect",
    "tls",
    "invalid-answer",
    "closed",
    "not_allowed",
    "dropped",
)
#: What can happen to a validation session: the events of its table, and those that change nothing.
HAPPENED: Final = ("created", "code_wrong", *dict.fromkeys(event for row in VALIDATION.values() for event in row))
FAULT_WORDS: Final = tuple(dict.fromkeys((*PROCESSED, *FAULTS)))
_CHANNELS: Final = ("sms", "richmsg", "chatapp_text", "chatapp_template", "chatapp")
_FAMILIES: Final = ("sms", "richmsg", "chatapp")


class Field(NamedTuple):
    """What can be asked of a thing: how it is compared, what it is in words, how it is read, its legal words
    (of a text: those of which it must be one, or a pattern like one)."""

    kind: Kind
    says: str
    of: Callable[[World, Any], Any]
    words: tuple[str, ...] = ()


class Found(NamedTuple):
    """One thing: when it came, the number of its journal entry (None = it has none), its record.

    `part` tells the things of one entry apart, in their order.
    """

    at: int
    entry: int | None
    what: Any
    part: int = 0


class Thing(NamedTuple):
    """A row: what the things are in words and one of them in a line, their fields, and where they are kept.

    Of the journal: `kinds` and `split`, which makes things of an entry. Of a list: `kept` and `at`.
    """

    says: str
    fields: dict[str, Field]
    line: Callable[[World, Any], str]
    kinds: tuple[str, ...] = ()
    split: Callable[[int, Any], Iterable[Any]] = lambda _code, what: (what,)
    kept: Callable[[World], Iterable[Any]] | None = None
    at: Callable[[Any], int] = lambda what: int(what.made_at)


def things(world: World, that: str) -> Iterator[Found | None]:
    """Every thing of a kind, in the order kept; None now and then, so that whoever looks can pause."""
    thing = THINGS[that]
    if thing.kept is not None:
        for what in thing.kept(world):
            yield Found(thing.at(what), None, what)
        return
    codes = frozenset(CODE[kind] for kind in thing.kinds if kind in CODE)
    journal = world.journal
    for number in range(journal.first, len(journal)):
        if number % _LOOKED == 0:
            yield None
        at, code, what = journal.entry(number)
        if code in codes:
            for part, one in enumerate(thing.split(code, what)):
                yield Found(at, number, one, part)


# -- how they are read


def _message(name: str) -> Callable[[World, Any], Any]:
    """Something of the message that a thing is about; of its first step what belongs to a step."""
    return lambda _world, what: _OF_MESSAGE[name](what if isinstance(what, Message) else _attempt(what).message)


def _attempt(what: Any) -> Attempt:
    attempt: Attempt = what[0] if isinstance(what, tuple) else what
    return attempt


def _shown_step(message: Message) -> Any:
    shown = message.shown
    return message.submission.send.steps[0] if shown is None else shown.step


_OF_MESSAGE: Final[dict[str, Callable[[Message], Any]]] = {
    "phone": lambda message: message.phone,
    "tag": lambda message: message.submission.send.tags,
    "operation": lambda message: message.submission.operation,
    "key": lambda message: message.submission.key.id,
    "payload": lambda message: orjson.loads(message.submission.send.payload),
}
_ABOUT_MESSAGE: Final = {
    "phone": Field("phone", "the recipient", _message("phone")),
    "tag": Field("text", "one of the message's tags", _message("tag")),
    "operation": Field("text", "the operation that sent it", _message("operation"), SENDING),
    "key": Field("text", "the API key that sent it", _message("key")),
    "payload": Field("payload", "dotted paths inside the request's payload", _message("payload")),
}
_ABOUT_STEP: Final = {
    "channel": Field("word", "the channel", lambda _world, what: _attempt(what).step.channel, _CHANNELS),
    "body": Field("text", "the text as the step gave it", lambda _world, what: _attempt(what).step.body),
    "sender": Field("text", "the sender of the step", lambda _world, what: _attempt(what).step.sender),
    "attempt": Field("number", "which attempt of the message, from 1", lambda _world, what: _attempt(what).number + 1),
}


def _ended(message: Message) -> int:
    """When a message came to its result."""
    shown = message.shown
    return message.accepted_at if shown is None else _moved(shown)


def _moved(attempt: Attempt) -> int:
    """When an attempt came to its result."""
    moves = attempt.transitions()
    return moves[-1][1] if moves else attempt.message.accepted_at


def _rules(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    fates = [attempt.fate for attempt in attempts if attempt.fate is not None]
    return tuple(dict.fromkeys(rule for fate in fates for rule in fate.rules))


def _info(_world: World, what: tuple[Attempt, int]) -> str | None:
    return info_of(*what)


def _event(name: str) -> Callable[[World, Any], Any]:
    return lambda _world, what: _OF_EVENT[name](what[0], what[1])


def _of_sent(event: Any) -> Attempt | None:
    """The attempt that an event tells of, None for events of other kinds."""
    return event[0] if isinstance(event, tuple) else None


def _event_phone(event: Any, _delivery: Delivery | None) -> str | None:
    if isinstance(event, Inbound):
        return event.sender
    attempt = _of_sent(event)
    return None if attempt is None else attempt.message.phone


def _event_gateway(event: Any, _delivery: Delivery) -> str | None:
    if isinstance(event, Inbound):
        return event.channel
    attempt = _of_sent(event)
    return None if attempt is None else attempt.step.channel


_OF_EVENT: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "type": lambda event, _delivery: kind_of(event),
    "result": lambda event, _delivery: STATES[event[1]] if isinstance(event, tuple) else None,
    "gateway": _event_gateway,
    "phone": _event_phone,
    "state": lambda _event, delivery: delivery.state,
}


def _each_event(_code: int, delivery: Delivery) -> Iterable[Any]:
    if isinstance(delivery, FaultyDelivery) and delivery.again:
        return []
    return [(event, delivery) for event in delivery.events]


def _each(name: str) -> Callable[[World, Delivery], tuple[Any, ...]]:
    """One thing of every event of a delivery, without those that have none."""
    read = _OF_EVENT[name]
    return lambda _world, delivery: tuple(
        dict.fromkeys(value for event in delivery.events if (value := read(event, delivery)) is not None)
    )


def _field_of(name: str) -> Callable[[World, dict[str, Any]], Any]:
    return lambda _world, what: what.get(name)


def _struck(_world: World, what: Applied | Detoured) -> Any:
    """Whom a fault is about: the number that the call names, or the phones that the events of a webhook tell of."""
    if isinstance(what, Applied):
        return what.phone or None
    phones = [_event_phone(event, what.delivery) for event in what.events]
    return tuple(dict.fromkeys(phone for phone in phones if phone is not None))


def _fault_line(_world: World, what: Applied | Detoured) -> str:
    by = "" if what.rule.name is None else f', by "{what.rule.name}"'
    if isinstance(what, Applied):
        return f"{what.rule.fault.kind} on {what.operation}{by}"
    first = _ROWS[type(what.events[0])].case(what.events[0])
    return f"{what.rule.fault.kind} of {' '.join(first.words('result')) or first.kind}{by}"


def _fault_rule(_world: World, what: Applied | Detoured) -> str:
    return what.rule.name or what.rule.key


def _fields_of(kind: Kind, **says: str) -> dict[str, Field]:
    return {name: Field(kind, text, _field_of(name)) for name, text in says.items()}


# -- one of them in a line


def _transition_line(_world: World, what: tuple[Attempt, int]) -> str:
    attempt, code = what
    return f"{attempt.message.phone} by {attempt.step.channel}: {STATES[code]}"


def _attempt_line(_world: World, attempt: Attempt) -> str:
    return f"attempt {attempt.number + 1} to {attempt.message.phone} by {attempt.step.channel}: {STATES[attempt.state]}"


def _event_line(world: World, what: tuple[Any, Delivery]) -> str:
    read = {name: of(*what) for name, of in _OF_EVENT.items()}
    words = (read["type"], read["phone"], read["gateway"], read["result"])
    return f"{' '.join(word for word in words if word)} to {target_of(what[1])}"


def _request_line(_world: World, record: RequestRecord) -> str:
    return f"{record.operation} {record.method} {record.path.partition('?')[0]}: {record.status}"


def _words(_world: World, what: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in what.items() if value is not None)


def _every_message(world: World) -> Iterator[Message]:
    return (world.messages[place] for place in range(len(world.messages)))  # what comes meanwhile is not looked at


def _every_attempt(world: World) -> Iterator[Attempt]:
    return (attempt for message in _every_message(world) for attempt in message.attempts)


def _every_session(world: World) -> Iterable[Session]:
    return list(world.verify.sessions.values())


def _every_delivery(world: World) -> Iterator[Delivery]:
    made = world.outlets.deliveries
    return (made[place] for place in range(len(made)))


THINGS: Final[dict[str, Thing]] = {
    "messages": Thing(
        "one message to one recipient, as it stands now; it comes when it reached its result",
        {
            **_ABOUT_MESSAGE,
            "result": Field("word", "its result", lambda _world, message: message.result, RESULTS),
            "channel": Field("word", "the channel shown", lambda _w, message: _shown_step(message).channel, _CHANNELS),
            "body": Field("text", "the text as the step gave it", lambda _world, message: _shown_step(message).body),
            "sender": Field("text", "the sender of the step", lambda _world, message: _shown_step(message).sender),
            "attempts": Field("number", "how many attempts were made", lambda _world, message: len(message.attempts)),
            "rule": Field("text", "a rule that decided about it", lambda _world, message: _rules(message.attempts)),
        },
        lambda _world, message: f"message to {message.phone} by {_shown_step(message).channel}: {message.result}",
        kept=_every_message,
        at=_ended,
    ),
    "attempts": Thing(
        "one flow step tried, as it stands now; it comes when it reached its result",
        {
            **_ABOUT_MESSAGE,
            **_ABOUT_STEP,
            "result": Field("word", "its result", lambda _world, attempt: STATES[attempt.state], RESULTS),
            "refused": Field(
                "text",
                "why a check refused it",
                lambda _world, attempt: (attempt.extra or {}).get("why"),
                tuple(BY_WORD),
            ),
            "rule": Field("text", "a rule that decided about it", lambda _world, attempt: _rules([attempt])),
        },
        _attempt_line,
        kept=_every_attempt,
        at=_moved,
    ),
    "transitions": Thing(
        "a result that an attempt reached on its way",
        {
            **_ABOUT_MESSAGE,
            **_ABOUT_STEP,
            "result": Field("word", "the result reached", lambda _world, what: STATES[what[1]], RESULTS[1:]),
            "info": Field("text", "its result_info", _info),
        },
        _transition_line,
        KINDS[1:8],
        lambda code, attempt: ((attempt, code),),
    ),
    "requests": Thing(
        "a call of the client",
        {
            "operation": Field("text", "the operation", lambda _world, record: record.operation, _CALLED),
            "status": Field("number", "the HTTP status of the answer", lambda _world, record: record.status),
            "method": Field("text", "the HTTP method", lambda _world, record: record.method, METHODS),
            "path": Field("text", "the path, without a query", lambda _world, record: record.path.partition("?")[0]),
            "key": Field("text", "the API key", lambda _world, record: record.key),
            "body": Field("text", "the body as it came", lambda _w, record: record.body.decode("utf-8", "replace")),
            "finding": Field(
                "text",
                "a rule that the request broke",
                lambda _world, record: tuple(finding.rule for finding in record.findings),
            ),
            "advice": Field(
                "text",
                "a code of its advice",
                lambda _world, record: tuple(each.code for each in record.advice),
                tuple(ADVICE),
            ),
        },
        _request_line,
        ("request",),
    ),
    "events": Thing(
        "an event in a webhook; one that is sent again counts once",
        {
            "type": Field("text", "its type, such as sentMessage", _event("type"), EVENTS),
            "result": Field("word", "the result it tells of", _event("result"), RESULTS[1:]),
            "gateway": Field("word", "the channel it tells of", _event("gateway"), _CHANNELS),
            "phone": Field("phone", "the phone it tells of", _event("phone")),
            "state": Field("text", "what became of its delivery", _event("state"), DELIVERY_STATES),
        },
        _event_line,
        ("delivery",),
        _each_event,
    ),
    "deliveries": Thing(
        "a webhook with all its tries; it comes when it was made",
        {
            "state": Field("text", "what became of it", lambda _w, delivery: delivery.state, DELIVERY_STATES),
            "tries": Field("number", "how often it was tried", lambda _world, delivery: len(delivery.tries)),
            "status": Field(
                "number",
                "an HTTP status that a try was answered with",
                lambda _world, delivery: tuple(each.status for each in delivery.tries if each.status is not None),
            ),
            "error": Field(
                "text",
                "why a try had no answer",
                lambda _world, delivery: tuple(each.error for each in delivery.tries if each.error is not None),
                SILENCES,
            ),
            "events": Field("number", "how many events it carries", lambda _world, delivery: len(delivery.events)),
            "phone": Field("phone", "a phone that one of its events tells of", _each("phone")),
            "result": Field("word", "a result that one of its events tells of", _each("result"), RESULTS[1:]),
            "target": Field("text", "its address; hook is the built-in receiver", lambda _w, what: target_of(what)),
        },
        lambda _world, delivery: (
            f"webhook to {target_of(delivery)}: {delivery.state} after {len(delivery.tries)} tries"
        ),
        kept=_every_delivery,
    ),
    "inbound": Thing(
        "what a phone wrote",
        {
            "phone": Field("phone", "the phone that wrote", lambda _world, inbound: inbound.sender),
            "channel": Field("word", "the channel it used", lambda _world, inbound: inbound.channel, _FAMILIES),
            "to": Field("text", "your number or sender", lambda _world, inbound: inbound.recipient),
            "body": Field("text", "what it says", lambda _world, inbound: inbound.body),
            "reply": Field("flag", "whether it answers a message", lambda _w, inbound: inbound.message is not None),
        },
        lambda _world, inbound: f'{inbound.sender} wrote "{inbound.body}" by {inbound.channel}',
        ("inbound",),
    ),
    "clicks": Thing(
        "a short link that was followed",
        {
            "phone": Field("phone", "the recipient of the link", lambda _world, link: link.message.phone),
            "target": Field("text", "where it leads", lambda _world, link: link.target),
        },
        lambda _world, link: f"{link.message.phone} followed the link to {link.target}",
        ("click",),
    ),
    "codes": Thing(
        "a validation session as it stands now; it comes when it began",
        {
            "phone": Field("phone", "the number", lambda _world, session: session.phone),
            "state": Field("word", "its state", lambda world, session: session.state_at(world.now), tuple(VALIDATION)),
            "attempts": Field("number", "wrong codes so far", lambda _world, session: session.attempts),
            "sms": Field("word", "the result of its SMS", lambda _world, session: session.message.result, RESULTS),
            "code": Field("text", "the code", lambda _world, session: session.code),
            "rule": Field("text", "a rule that decided about it", lambda _world, session: session.rules),
        },
        lambda world, session: f"validation of {session.phone}: {session.state_at(world.now)}",
        kept=_every_session,
        at=lambda session: int(session.created_at),
    ),
    "validations": Thing(
        "something that happened to a validation session",
        {
            "phone": Field("phone", "the number", lambda _world, what: what[0].phone),
            "event": Field("text", "what happened, such as code_wrong", lambda _world, what: what[1], HAPPENED),
            "state": Field("word", "the state it led to", lambda _world, what: what[2], tuple(VALIDATION)),
        },
        lambda _world, what: f"{what[1]} of {what[0].phone}: {what[2]}",
        ("validation",),
    ),
    "opt_outs": Thing(
        "a phone that opted out",
        {"phone": Field("phone", "the phone", lambda _world, what: what[0])},
        lambda _world, what: f"{what[0]} opted out",
        ("opt_out",),
    ),
    "templates": Thing(
        "a template that entered a status",
        {
            **_fields_of("text", name="the template's name", language="its language"),
            "category": Field("text", "its category", _field_of("category"), CATEGORIES),
            "status": Field("text", "its status", _field_of("status"), tuple(TEMPLATE)),
        },
        _words,
        ("template",),
    ),
    "signups": Thing(
        "a signup that entered a state",
        {
            "status": Field("text", "its state", lambda _world, what: what.fields["status"], tuple(SIGNUP)),
            "mode": Field("text", "its mode", lambda _world, what: what.signup.mode, MODES),
            "phone": Field("phone", "the business number", lambda _world, what: what.fields.get("phone_number")),
        },
        lambda _world, what: f"signup: {what.fields['status']}",
        ("signup",),
    ),
    "faults": Thing(
        "a fault that the scenario made",
        {
            "operation": Field(
                "text",
                "the operation it struck",
                lambda _world, what: what.operation if isinstance(what, Applied) else None,
                EMULATED,
            ),
            "phone": Field("phone", "the recipient", _struck),
            "fault": Field(
                "text",
                "its word",
                lambda _world, what: what.rule.fault.kind,
                FAULT_WORDS,
            ),
            "rule": Field("text", "the rule that made it", _fault_rule),
        },
        _fault_line,
        ("fault", "webhook_fault"),
    ),
}
