"""What a scenario may expect: the list of all services, and what is about all of them (calls, webhooks, faults).

The language's schema and the documentation are held to this table by tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.delivery.faults import FaultyDelivery
from sendbox.engine.delivery.rules import FAULTS
from sendbox.engine.expect.subjects import Field, Thing
from sendbox.engine.faults.calls import PROCESSED, Applied
from sendbox.services.advice import ADVICE
from sendbox.services.messaging import subjects as messaging
from sendbox.services.messaging.events import kind_of
from sendbox.services.messaging.records import Attempt, Inbound
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.subjects import CHANNELS
from sendbox.services.operations import EMULATED
from sendbox.services.partner import subjects as partner
from sendbox.services.verify import subjects as verify

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.delivery.faults import Detoured
    from sendbox.engine.requests import RequestRecord
    from sendbox.services.world import ServiceWorld

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
FAULT_WORDS: Final = tuple(dict.fromkeys((*PROCESSED, *FAULTS)))


def _event(name: str) -> Callable[[ServiceWorld, Any], Any]:
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


def _each(name: str) -> Callable[[ServiceWorld, Delivery], tuple[Any, ...]]:
    """One thing of every event of a delivery, without those that have none."""
    read = _OF_EVENT[name]
    return lambda _world, delivery: tuple(
        dict.fromkeys(value for event in delivery.events if (value := read(event, delivery)) is not None)
    )


def _struck(_world: ServiceWorld, what: Applied | Detoured) -> Any:
    """Whom a fault is about: the number that the call names, or the phones that the events of a webhook tell of."""
    if isinstance(what, Applied):
        return what.phone or None
    phones = [_event_phone(event, what.delivery) for event in what.events]
    return tuple(dict.fromkeys(phone for phone in phones if phone is not None))


def _fault_line(world: ServiceWorld, what: Applied | Detoured) -> str:
    by = "" if what.rule.name is None else f', by "{what.rule.name}"'
    if isinstance(what, Applied):
        return f"{what.rule.fault.kind} on {what.operation}{by}"
    first = world.events[type(what.events[0])].case(what.events[0])
    return f"{what.rule.fault.kind} of {' '.join(first.words('result')) or first.kind}{by}"


def _fault_rule(_world: ServiceWorld, what: Applied | Detoured) -> str:
    return what.rule.name or what.rule.key


def _event_line(world: ServiceWorld, what: tuple[Any, Delivery]) -> str:
    read = {name: of(*what) for name, of in _OF_EVENT.items()}
    words = (read["type"], read["phone"], read["gateway"], read["result"])
    return f"{' '.join(word for word in words if word)} to {what[1].address}"


def _request_line(_world: ServiceWorld, record: RequestRecord) -> str:
    return f"{record.operation} {record.method} {record.path.partition('?')[0]}: {record.status}"


def _every_delivery(world: ServiceWorld) -> Iterator[Delivery]:
    made = world.outlets.deliveries
    return (made[place] for place in range(len(made)))


_SHARED: Final[dict[str, Thing]] = {
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
            "result": Field("word", "the result it tells of", _event("result"), STATES[1:]),
            "gateway": Field("word", "the channel it tells of", _event("gateway"), CHANNELS),
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
            "result": Field("word", "a result that one of its events tells of", _each("result"), STATES[1:]),
            "target": Field("text", "its address; hook is the built-in receiver", lambda _w, what: what.address),
        },
        lambda _world, delivery: f"webhook to {delivery.address}: {delivery.state} after {len(delivery.tries)} tries",
        kept=_every_delivery,
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
THINGS: Final[dict[str, Thing]] = {**messaging.THINGS, **verify.things(STATES), **partner.THINGS, **_SHARED}
