"""The subjects of expectations that do not depend on the services: calls, events, webhooks and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import orjson

from sendbox.engine import bounds
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.faults.fault import FaultyDelivery
from sendbox.engine.delivery.injection import InjectedFault
from sendbox.engine.delivery.targets import NOT_ALLOWED, NOT_FETCHED
from sendbox.engine.expect.expectation import Path, values_at
from sendbox.engine.expect.subjects import CONTENT, REQUESTS, Field, Reads, Subject
from sendbox.engine.faults.calls import Applied
from sendbox.engine.faults.table import CALLS, DELIVERIES
from sendbox.engine.rules.conditions import Case

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


DELIVERY_STATES: Final = ("waiting", "sending", "delivered", "failed", "held", "dropped")
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
    NOT_ALLOWED,
    NOT_FETCHED,
    "dropped",
)
FAULT_WORDS: Final = tuple(dict.fromkeys((*CALLS, *DELIVERIES)))


def _case(world: World, event: object) -> Case:
    """An event as rules see it."""
    return world.events[type(event)].case(event)


def _first(case: Case, name: str) -> str | None:
    return next((word for word in case.words(name) if word), None)


def _event(name: str) -> Callable[[World, tuple[object, Delivery]], str | None]:
    return lambda world, carried: _OF_CASE[name](_case(world, carried[0]))


#: What an event is about, by its case.
_OF_CASE: Final[dict[str, Callable[[Case], str | None]]] = {
    "type": lambda case: case.kind,
    # what goes over no channel is not about a phone: the subject of a signup is a number that sends
    "phone": lambda case: case.subject if _first(case, "gateway") else None,
    "gateway": lambda case: _first(case, "gateway"),
    "result": lambda case: _first(case, "result"),
}


def _events_of(_code: int, delivery: Delivery) -> Iterable[tuple[object, Delivery]]:
    events = delivery.fresh if isinstance(delivery, FaultyDelivery) else delivery.events
    return [(event, delivery) for event in events]


def _of_events(name: str) -> Callable[[World, Delivery], tuple[str, ...]]:
    """One thing of every event of a delivery, without those that have none."""
    return lambda world, delivery: _values_of(world, delivery.events, name)


def _values_of(world: World, events: Iterable[object], name: str) -> tuple[str, ...]:
    values = (_OF_CASE[name](_case(world, event)) for event in events)
    return tuple(dict.fromkeys(value for value in values if value is not None))


def _fault_phones(world: World, fault: Applied | InjectedFault) -> str | tuple[str, ...] | None:
    """Whom a fault is about: the number that the call names, or the phones that the events of a webhook tell of."""
    return fault.subject or None if isinstance(fault, Applied) else _values_of(world, fault.events, "phone")


def _fault_line(world: World, fault: Applied | InjectedFault) -> str:
    by = "" if fault.rule.name is None else f', by "{fault.rule.name}"'
    if isinstance(fault, Applied):
        return f"{fault.rule.fault.kind} on {fault.operation}{by}"
    case = _case(world, fault.events[0])
    return f"{fault.rule.fault.kind} of {_first(case, 'result') or case.kind}{by}"


def _fault_rule(_world: World, fault: Applied | InjectedFault) -> str:
    return fault.rule.name or fault.rule.key


def _event_line(world: World, carried: tuple[object, Delivery]) -> str:
    case = _case(world, carried[0])
    words = [of(case) for of in _OF_CASE.values()]
    return f"{' '.join(word for word in words if word)} to {carried[1].address}"


def _request_line(_world: World, record: RequestRecord) -> str:
    return f"{record.operation} {record.method} {record.path.partition('?')[0]}: {record.status}"


def _content(_world: World, record: RequestRecord, ignoring: tuple[Path, ...] = ()) -> bytes:
    """The content of a call, equal if the same call comes again: operation, key, path with query, and body.

    With paths to ignore, the decoded body without what stands there.
    """
    body = _encoded(_without(_decoded(record), ignoring), record.body) if ignoring else record.body
    return b"\0".join((f"{record.operation}\0{record.key}\0{record.path}".encode(), record.query, body))


def _encoded(value: object, raw: bytes) -> bytes:
    """A decoded body as JSON that is equal for equal values; one that is too deep as it came."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return raw


def _without(value: object, paths: Iterable[Path]) -> object:
    """A value without what stands at some paths; of a list, a number leads to one item, anything else to all."""
    for path in paths:
        *way, last = path
        for holder in values_at(value, way):
            for item in holder if isinstance(holder, list) and not last.isdecimal() else [holder]:
                if isinstance(item, dict):
                    item.pop(last, None)
                elif isinstance(item, list) and last.isdecimal() and int(last) < len(item):
                    item[int(last)] = None
    return value


def _decoded(record: RequestRecord) -> object:
    """The body of a call as a value: of JSON what it says, of a form its fields, else its text."""
    try:
        return orjson.loads(record.body)
    except orjson.JSONDecodeError:
        text = record.body.decode("utf-8", "replace")
        form = "=" in text and not bounds.has_too_many_parameters(record.body)
        return parse_qs(text, keep_blank_values=True) if form else text


def _texts(value: object) -> Iterator[str]:
    """Every text in a value, however deep."""
    values = [value]
    while values:
        item = values.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            values += item.values() if isinstance(item, dict) else item


def _took(world: World, delivery: Delivery) -> int | None:
    """Milliseconds, None while nothing was tried or the try is under way."""
    if not delivery.tries or delivery.under_way:
        return None
    return world.outlets.took.get(delivery.tries[-1], 0)


def _every_delivery(world: World) -> Iterator[Delivery]:
    deliveries = world.outlets.deliveries
    return (deliveries[place] for place in range(len(deliveries)))


def _requests(
    operations: tuple[str, ...],
    advice: tuple[str, ...],
    phones: Callable[[World, RequestRecord], tuple[str, ...]],
    keys: Callable[[World], Iterable[str]] | None,
    request: Callable[[RequestRecord], object],
    named: Mapping[str, Reads],
) -> Subject:
    """The row of calls of the client."""
    called = (*operations, "unknown")  # as which a call to a path that there is not counts
    return Subject(
        "a call of the client",
        {
            "operation": Field("text", "the operation", lambda _world, record: record.operation, called),
            "status": Field(
                "number",
                "the HTTP status of the answer",
                lambda _world, record: record.status,
                numbers=((0, 0), (100, 599)),  # 0: no answer
            ),
            "method": Field("text", "the HTTP method", lambda _world, record: record.method, METHODS),
            "path": Field("text", "the path, without a query", lambda _w, record: record.path.partition("?")[0]),
            "key": Field("text", "the API key", lambda _world, record: record.key, known=keys),
            "phone": Field("phone", "a phone that it names, or to which the code of its session was sent", phones),
            "body": Field("text", "the body as it came", lambda _w, record: record.body.decode("utf-8", "replace")),
            "text": Field("text", "a text in its decoded body", lambda _w, record: tuple(_texts(_decoded(record)))),
            "json": Field("payload", "what is in its decoded body", lambda _world, record: _decoded(record)),
            "finding": Field(
                "text",
                "a rule that the request broke",
                lambda _world, record: tuple(finding.rule for finding in record.findings),
            ),
            "advice": Field(
                "text",
                "a code of its advice",
                lambda _world, record: tuple(remark.code for remark in record.advice),
                advice,
            ),
        },
        _request_line,
        ("request",),
        about={
            "request": lambda _world, record: request(record) or record,
            CONTENT: _content,
            **named,
        },
        own=("request",),
        several=("phone", *named),
    )


def _events(
    events: tuple[str, ...],
    results: tuple[str, ...],
    gateways: tuple[str, ...],
    message: Callable[[Any], str | None],
) -> Subject:
    """The row of events in webhooks."""
    return Subject(
        "an event in a webhook; one that is sent again counts once",
        {
            "type": Field("text", f"its type, such as {events[0]}", _event("type"), events),
            "result": Field("word", "the result it reports", _event("result"), results),
            "gateway": Field("word", "the channel it reports", _event("gateway"), gateways),
            "phone": Field("phone", "the phone it is about", _event("phone")),
            "state": Field("text", "the state of its delivery", lambda _w, carried: carried[1].state, DELIVERY_STATES),
        },
        _event_line,
        ("delivery",),
        _events_of,
        about={
            "delivery": lambda _world, carried: carried[1].id,
            "message": lambda _world, carried: message(carried[0]),
        },
    )


def _deliveries(results: tuple[str, ...], message: Callable[[Any], str | None]) -> Subject:
    """The row of webhooks with all their tries."""
    return Subject(
        "a webhook with all its tries; its time is when it was made",
        {
            "state": Field("text", "its state", lambda _w, delivery: delivery.state, DELIVERY_STATES),
            "tries": Field("number", "how often it was tried", lambda _world, delivery: len(delivery.tries)),
            "status": Field(
                "number",
                "an HTTP status that a try was answered with",
                lambda _world, delivery: tuple(
                    this_try.status for this_try in delivery.tries if this_try.status is not None
                ),
                numbers=((100, 999),),  # a receiver may answer what it likes
            ),
            "error": Field(
                "text",
                "why a try had no answer",
                lambda _world, delivery: tuple(
                    this_try.error for this_try in delivery.tries if this_try.error is not None
                ),
                SILENCES,
            ),
            "events": Field("number", "how many events it carries", lambda _world, delivery: len(delivery.events)),
            "phone": Field("phone", "a phone that one of its events is about", _of_events("phone")),
            "result": Field("word", "a result that one of its events reports", _of_events("result"), results),
            "target": Field(
                "text", "its address; of the built-in receiver, hook", lambda _w, delivery: delivery.address
            ),
            "took": Field("time", "how long its last try took", _took),
        },
        lambda _world, delivery: f"webhook to {delivery.address}: {delivery.state} after {len(delivery.tries)} tries",
        ("delivery",),
        kept=_every_delivery,
        about={
            "delivery": lambda _world, delivery: delivery.id,
            "message": lambda _world, delivery: tuple(dict.fromkeys(filter(None, map(message, delivery.events)))),
        },
        own=("delivery",),
        several=("phone", "message"),
    )


def _faults(operations: tuple[str, ...]) -> Subject:
    """The row of faults."""
    return Subject(
        "a fault caused by the scenario",
        {
            "operation": Field(
                "text",
                "the operation it affects",
                lambda _world, applied: applied.operation if isinstance(applied, Applied) else None,
                operations,
            ),
            "phone": Field("phone", "the recipient", _fault_phones),
            "fault": Field(
                "text",
                "the name of the fault",
                lambda _world, applied: applied.rule.fault.kind,
                FAULT_WORDS,
            ),
            "rule": Field("text", "the rule that made it", _fault_rule),
        },
        _fault_line,
        ("fault", "webhook_fault"),
    )


def subjects(
    *,
    operations: tuple[str, ...],
    events: tuple[str, ...],
    results: tuple[str, ...],
    gateways: tuple[str, ...],
    advice: tuple[str, ...],
    phones: Callable[[World, RequestRecord], tuple[str, ...]] = lambda _world, _record: (),
    keys: Callable[[World], Iterable[str]] | None = None,
    request: Callable[[RequestRecord], object] = lambda _record: None,
    named: Mapping[str, Reads] = MappingProxyType({}),
    message: Callable[[Any], str | None] = lambda _event: None,
) -> dict[str, Subject]:
    """The rows, a table, with words of the services: operations, types, results and gateways of events, advice codes.

    `phones` finds the phones that a call is about, `keys` the keys that a world has, `request` what its messages say
    that their request is, `named` what else it names, and `message` the message that an event is about.
    """
    return {
        REQUESTS: _requests(operations, advice, phones, keys, request, named),
        "events": _events(events, results, gateways, message),
        "deliveries": _deliveries(results, message),
        "faults": _faults(operations),
    }
