"""Operations on webhooks: the list of them, one whole, and what a tester does with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Any, Final

from msgspec.structs import asdict

from sendbox.control.arguments import SORTED, Last, Limit, MessageId, NextCursor, Order, Search, Total
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import FORM, count, listed, map_in_slices, select
from sendbox.control.searching import TEXT, SearchKey, match_texts, patterns, search_filter, texts, times, words
from sendbox.engine.answer import Answer, Instant, JsonMapping, JsonObject, enum, moment, reference
from sendbox.engine.delivery.batches import Delivery, ReceiverAnswer, Try
from sendbox.engine.delivery.faults.fault import NOT_SPOILT, FaultyDelivery
from sendbox.engine.delivery.targets import ACTS, Outlets
from sendbox.engine.durations import show
from sendbox.engine.expect.engine_subjects import DELIVERY_STATES
from sendbox.engine.kinds.answers import Cursor, Event, Header, ShortWebhook, Webhook, WebhookHead, WebhookTry
from sendbox.engine.kinds.engine_kinds import delivery_view, head_of, tries_of, try_view
from sendbox.engine.kinds.narration import EVENTS, short_line
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.kinds.upcoming import STEP_DESCRIPTIONS
from sendbox.engine.world import World
from sendbox.runtime import policy
from sendbox.runtime.dispatcher import encode_delivery
from sendbox.runtime.slot import Slice
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

STATE: Final = enum(DELIVERY_STATES)
#: What webhooks can be sorted by.
SORTS: Final[Mapping[str, Callable[[Delivery], Any]]] = {
    "state": lambda delivery: delivery.state,
    "target": lambda delivery: delivery.address,
    "tries": lambda delivery: len(delivery.tries),
}


class Deliveries(Cursor):
    """Webhooks."""

    deliveries: list[Annotated[Any, reference("ListedWebhook", Webhook, ShortWebhook)]]
    total: int | None = None


class TryAnswer(Answer):
    """The answer of the receiver to a try; not `whole` where it was longer than what is kept."""

    status: int
    headers: list[Header]
    body: str
    whole: bool


class TimedTry(WebhookTry):
    """A try, the time of the world that it took, and what the receiver answered."""

    took: str | None
    answer: TryAnswer | None = None


class SentRequest(Answer):
    """The request that a webhook is."""

    method: str
    url: str
    headers: list[Header]
    body: str


class Signature(Answer):
    """The way in which a receiver checks a request; `right` is false where a rule spoils it."""

    header: str
    value: str
    algorithm: str
    signed: str
    right: bool


class WholeWebhook(WebhookHead):
    """A webhook whole."""

    events: list[Event]
    tries: list[TimedTry]
    request: SentRequest
    signature: Signature | None
    next_try: Instant | None
    acts: list[Annotated[str, enum(ACTS)]]


@operation("GET", "/worlds/{id}/deliveries", answers=Deliveries)
async def deliveries(
    call: Call,
    state: Annotated[str | None, STATE] = None,
    last: Last = None,
    limit: Limit = None,
    cursor: NextCursor = None,
    order: Order = "oldest",
    search: Search = None,
    message_id: MessageId = None,
    form: Annotated[str, FORM] = "plain",
    sort: Annotated[str | None, enum(SORTS), SORTED] = None,
    total: Total = False,
) -> Deliveries:
    """Webhooks, each with its tries, oldest first; with `last` the newest.

    With `message_id` those with an event about that message. With `form=short` each has what a list shows: the
    first of its `events`, how many it `carries`, and how many `tries` there were.
    """
    world = call.hosted.world
    on = Observer(world, call.served.kinds)
    finds = search_filter(search, search_keys(on))

    def fits(delivery: Delivery) -> bool:
        if state is not None and delivery.state != state:
            return False
        if message_id is not None and message_id not in _messages(delivery):
            return False
        return finds(delivery)

    every = world.outlets.deliveries
    key = None if sort is None else SORTS[sort]
    how: JsonObject = {"key": key, "last": last, "limit": limit, "cursor": cursor, "order": order}
    result = await listed(every, attrgetter("number"), fits, **how)
    filtered = any(value is not None for value in (state, message_id, search))
    full_count = await count(every, fits, filtered=filtered) if total else None
    if form == "short":
        due = await _next_tries(world, result.items)
        short = await map_in_slices(result.items, lambda delivery: _short(on, delivery, due.get(delivery)))
        return Deliveries(deliveries=short, next_cursor=result.cursor, total=full_count)
    whole = await map_in_slices(result.items, lambda delivery: delivery_view(on, delivery))
    return Deliveries(deliveries=whole, next_cursor=result.cursor, total=full_count)


def _short(on: Observer, delivery: Delivery, next_try: Instant | None) -> ShortWebhook:
    """The short form of a webhook, as lists show it."""
    events = [
        {name: short_line(value) if isinstance(value, str) else value for name, value in on.event(event).items()}
        for event in delivery.events[:EVENTS]
    ]
    return ShortWebhook(
        **head_of(on, delivery),
        events=events,
        carries=len(delivery.events),
        tries=len(delivery.tries),
        last_try=try_view(delivery.tries[-1]) if delivery.tries else None,
        next_try=next_try,
    )


def search_keys(on: Observer) -> dict[str, SearchKey[Delivery]]:
    """The keys of a search for deliveries, by name."""
    country = account_of(on.world).country
    return {
        "to": lambda value: match_texts(
            notation.pattern(value, country).matches, lambda delivery: _of_events(on, delivery, "phone", "from")
        ),
        "message": patterns(_messages),
        "event": patterns(lambda delivery: _of_events(on, delivery, "event")),
        "result": patterns(lambda delivery: _of_events(on, delivery, "result")),
        "state": words(DELIVERY_STATES, attrgetter("state")),
        "status": patterns(lambda delivery: [_ended(this_try) for this_try in delivery.tries]),
        "target": patterns(attrgetter("address")),
        **times(on.world.now, attrgetter("made_at")),
        TEXT: texts(lambda delivery: "\n".join((delivery.address, *_of_events(on, delivery)))),
    }


def _messages(delivery: Delivery) -> list[str]:
    """The ids of the messages that the events of a delivery are about: their results, and replies to them."""
    about = (event[0] if isinstance(event, tuple) else event for event in delivery.events)
    return [message.id for subject in about if (message := getattr(subject, "message", None)) is not None]


def _of_events(on: Observer, delivery: Delivery, *names: str) -> list[str]:
    """The texts in some fields, or in all fields, of the events of a delivery."""
    views = (on.event(event) for event in delivery.events)
    return [
        value
        for view in views
        for name, value in view.items()
        if (not names or name in names) and isinstance(value, str)
    ]


def _ended(this_try: Try) -> str:
    """The end of a try: a word for the error, or the status."""
    return this_try.error or str(this_try.status or "")


def find_delivery(world: World, name: str) -> Delivery:
    """The delivery of an id. Raises `ControlError`."""
    delivery = world.outlets.find(name)
    if delivery is None:
        raise ControlError(404, "no_such_delivery", f'"{name}" is not a delivery of this world')
    return delivery


@operation("GET", "/worlds/{id}/deliveries/{delivery}", answers=WholeWebhook)
async def delivery(call: Call, delivery: str) -> WholeWebhook:
    """One webhook whole: what the list shows, and the `request` that is or was sent.

    `signature` says how a receiver checks it, null where it is not signed. A try `took` a time of the world. Its
    `answer` is the beginning of what the receiver answered, 4 KiB of its headers and of its body; the newest 1000 of a
    world are kept, for as long as the process runs, and not what a client of the outbox reports.
    `next_try` is the instant of the next one, where one is due. `acts` are those of `hold`, `release` and `replay` that
    are legal now.
    """
    world = call.hosted.world
    await Slice().through(world.outlets.by_id.read())
    webhook = find_delivery(world, delivery)
    http, on = encode_delivery(world, webhook), Observer(world, call.served.kinds)
    took, answered = world.outlets.took, world.outlets.answers
    return WholeWebhook(
        **head_of(on, webhook),
        events=[on.event(event) for event in webhook.events],
        tries=[
            TimedTry(
                **asdict(view),
                took=None if not _ended(this_try) else show(took.get(this_try, 0)),
                answer=_answer(answered.get(this_try)),
            )
            for view, this_try in zip(tries_of(webhook), webhook.tries, strict=True)
        ],
        request=SentRequest(
            method=http.method,
            url=http.url or f"{call.origin}/_sandbox/worlds/{world.id}/hook",
            headers=[list(header) for header in http.headers],
            body=http.body.decode("utf-8", "replace"),
        ),
        signature=_signature(webhook, http),
        next_try=(await _next_tries(world, [webhook])).get(webhook),
        acts=[act for act, states in ACTS.items() if webhook.state in states],
    )


def _signature(delivery: Delivery, http: policy.HttpCall) -> Signature | None:
    """The signature with which a receiver checks a request; `right` is false if a rule makes it wrong."""
    value = next((value for name, value in http.headers if name == policy.SIGNATURE), None)
    if value is None:
        return None
    spoilt = delivery.rule.fault.spoilt if isinstance(delivery, FaultyDelivery) else NOT_SPOILT
    return Signature(
        header=policy.SIGNATURE,
        value=value,
        algorithm=policy.ALGORITHM,
        signed=policy.SIGNED,
        right=not spoilt.bad_signature,
    )


def _answer(answer: ReceiverAnswer | None) -> TryAnswer | None:
    """What a receiver answered; None where nothing is kept."""
    if answer is None:
        return None
    headers = [list(header) for header in answer.headers]
    body = answer.body.decode("utf-8", "replace")
    return TryAnswer(status=answer.status, headers=headers, body=body, whole=answer.whole)


async def _next_tries(world: World, deliveries: Sequence[Delivery]) -> dict[Delivery, Instant]:
    """When those that wait are tried; it is now where only their turn has to come."""
    waiting = [delivery for delivery in deliveries if delivery.state == "waiting"]
    due = {delivery: world.now for delivery in waiting if delivery.queued}
    later = {delivery for delivery in waiting if not delivery.queued}

    def about(step: tuple[Any, ...]) -> bool:
        match step[-1]:
            case (Delivery() as delivery, _) if delivery in later:
                return STEP_DESCRIPTIONS[step[3].__name__](step[4]) is not None  # else it will do nothing any more
        return False

    steps: Sequence[tuple[Any, ...]] = await select(world.timeline.steps[:], about) if later else ()
    for step in steps:
        delivery = step[4][0]
        due[delivery] = min(step[0], due.get(delivery, step[0]))
    return {delivery: moment(at) for delivery, at in due.items()}


def _act(call: Call, name: str, act: Callable[[Outlets, Delivery], bool], done: str) -> Webhook:
    """Does something with a delivery and shows it; `done` says what, where its state does not allow that."""
    world = call.hosted.world
    delivery = find_delivery(world, name)
    if not act(world.outlets, delivery):
        raise ControlError(409, "wrong_state", f'a delivery in the state "{delivery.state}" cannot be {done}')
    return delivery_view(Observer(world, call.served.kinds), delivery)


async def with_ids(call: Call, arguments: JsonMapping) -> JsonMapping:
    """The ids of all deliveries are made, which takes long for many."""
    await Slice().through(call.hosted.world.outlets.by_id.read())
    return arguments


@operation("POST", "/worlds/{id}/deliveries/{delivery}/replay", act=True, prepare=with_ids, answers=Webhook)
async def replay_delivery(call: Call, delivery: str) -> Webhook:
    """Sends an ended delivery again."""
    return _act(call, delivery, Outlets.replay, "replayed; wait until it ended")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/hold", act=True, prepare=with_ids, answers=Webhook)
async def hold_delivery(call: Call, delivery: str) -> Webhook:
    """Stops further tries."""
    return _act(call, delivery, Outlets.hold, "held")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/release", act=True, prepare=with_ids, answers=Webhook)
async def release_delivery(call: Call, delivery: str) -> Webhook:
    """Continues a held delivery."""
    return _act(call, delivery, Outlets.release, "released; only a held one can")
