"""Operations that look at what happened: journal, events, built-in receiver, outbox, advice, digest, verdict.

It is long because the type of each answer stands with its operation.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from functools import partial
from itertools import chain
from typing import Annotated, Any, Final, Literal, get_args

import orjson

from sendbox.control.answers import CanonicalEntry, Proof
from sendbox.control.arguments import After, Last, Limit, Wait, described
from sendbox.control.operation import Call, ControlError, closed, one_of, operation, out_of_bounds
from sendbox.control.reading import map_in_slices, newest, remembered, run_in_slices, select, wait_for
from sendbox.engine import ENGINE
from sendbox.engine.answer import Answer, Instant, JsonObject, enum, keywords, moment, read, reference
from sendbox.engine.bounds import in_value
from sendbox.engine.delivery.batches import bodies_of
from sendbox.engine.digest import canonical_in_slices, digest_in_slices
from sendbox.engine.expect.explainer import FAILED
from sendbox.engine.expect.verdict import expected_in_slices, lines, proves, verdict_in_slices
from sendbox.engine.journal import CODE
from sendbox.engine.kept import empty
from sendbox.engine.kinds.answers import Advice, Entry, Header, Webhook, WebhookEvent, WebhookHead, WebhookTry
from sendbox.engine.kinds.engine_kinds import delivery_view, head_of, tries_of
from sendbox.engine.kinds.happened import narrator_of
from sendbox.engine.kinds.narration import Narrator
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.world import World
from sendbox.runtime.policy import Failure, Outcome
from sendbox.runtime.slot import Slice
from sendbox.services.ports import account_of

#: How many entries an answer holds unless `limit` says otherwise.
LIMIT = 1000
#: So many events of a webhook are read between two turns of the loop.
_PIECE: Final = 10
#: How a call from the outbox may have failed.
FAILURE: Final = enum(get_args(Failure))
#: The forms of entries.
FORMS: Final = ("plain", "canonical", "told")
FORM: Final = enum(FORMS)
#: How long a poll of the outbox may last.
DURING: Final = enum(("advance",))


class Told(Answer):
    """An entry in words; `text` is null where other entries tell it."""

    n: int
    at: Instant
    kind: str
    who: str | None
    text: str | None
    tone: Literal["good", "bad", "plain", "dim"]


#: An entry in one of the forms.
AnyEntry = Annotated[Any, reference("JournalEntry", Entry, Told, CanonicalEntry)]


class Journal(Answer):
    """Entries of the journal, which has a `length` and a `first` entry that was not forgotten, `bound` says why.

    With another `form` than `plain` they have this form.
    """

    entries: list[AnyEntry]
    length: int
    first: int
    more: bool
    form: Annotated[str, keywords(pattern=f"^({'|'.join(FORMS[1:])})$")] | None = None
    bound: str | None = None


class SentEvent(Answer):
    """An event as it was sent, and the addresses to which it was."""

    event: WebhookEvent
    targets: list[str]


class DeliveryOfEvents(WebhookHead):
    """A webhook with the places of its events in the list of events."""

    events: list[int]
    tries: list[WebhookTry]


class Events(Answer):
    """The events of webhooks, whole; `country` is the calling code of national numbers."""

    events: list[SentEvent]
    deliveries: list[DeliveryOfEvents]
    country: str


class Hook(Answer):
    """The webhooks that the built-in receiver got."""

    events: list[WebhookEvent]
    deliveries: list[Webhook]


class Received(Answer):
    """The built-in receiver took it."""


class OutboxCall(Answer):
    """A webhook to be sent: `body` in base64; with `hook` it is for the built-in receiver, and has no address.

    The receiver has `patience` real seconds, which began when the webhook came into the outbox.
    """

    id: str
    method: str
    url: str
    headers: list[Header]
    body: str
    hook: bool
    now: Instant
    patience: float


class Outbox(Answer):
    """Webhooks that the caller is to send."""

    calls: list[OutboxCall]


class Pushed(Answer):
    """The way in which deliveries reach their targets from now on."""

    deliveries: Literal["push"]


class Reported(Answer):
    """The webhook whose outcome was taken."""

    id: str


class Remark(Advice):
    """A remark, and the entry of the journal that has it."""

    entry: int


class Remarks(Answer):
    """All remarks."""

    advice: list[Remark]


class Never(Answer):
    """A condition that nothing can meet."""

    rule: str
    message: str


class Nearest(Answer):
    """A thing that almost counted."""

    entry: int | None
    at: Instant
    what: str
    why_not: str


class FirstThing(Answer):
    """The first thing of a subject; `entry` is its number in the journal."""

    entry: int | None
    at: Instant
    what: str


class MissedSubject(Answer):
    """A subject of an expectation that failed or is open: the values by which it is known, and why."""

    subject: dict[str, str | int | float | bool | None]
    first: FirstThing | None
    step: int
    found: int
    open_until: Instant | None
    why: str | None


class Expected(Answer):
    """An expectation, and what was found."""

    name: str
    passed: bool
    state: Literal["passed", "failed", "open"]
    open_until: Instant | None
    that: str
    place: str | None
    never: list[Never]
    step: int
    found: int
    wanted: str | None
    why: str | None
    nearest: list[Nearest]
    subjects: dict[str, int] | None
    failed: list[MissedSubject]


class UnusedRule(Answer):
    """A rule that never decided anything."""

    rule: str
    in_: str
    place: str | None


class VerdictWarning(Answer):
    """A rule that never decided anything, or a name in an expectation that the world does not have."""

    rule: Literal["rule-unused", "name-unknown"]
    message: str
    place: str | None


class Verdict(Answer):
    """The expectations of the scenario, and the results."""

    passed: bool
    state: Literal["passed", "failed", "open"]
    trusted: bool
    lost: int
    bound: str | None = None
    next_due: Instant | None
    expectations: list[Expected]
    unused: list[UnusedRule]
    warnings: list[VerdictWarning]

    def check(self, *, strict: bool = False) -> None:
        """Raises AssertionError with the explanation unless every expectation holds and the verdict can be trusted.

        An expectation with a condition that nothing can meet (`never`) does not hold. With `strict` there must be no
        `warnings`.
        """
        __tracebackhide__ = True
        verdict = self.json
        judged = {**verdict, "passed": False, "state": FAILED} if strict and verdict["warnings"] else verdict
        if not proves(judged):
            raise AssertionError("\n".join(lines(judged)))

    def __repr__(self) -> str:
        return "\n".join(lines(self.json))


@operation("GET", "/worlds/{id}/journal", answers=Journal)
async def journal(
    call: Call,
    kind: Annotated[str | None, described("kinds of entries, with commas between them")] = None,
    after: After = -1,
    limit: Limit = None,
    wait: Wait = None,
    last: Last = None,
    form: Annotated[str | None, FORM] = None,
) -> Journal:
    """Entries after a number, oldest first; `wait` is a long poll until there is one, `last` asks for the newest.

    There are 1,000 of them unless `limit` says otherwise, and `more` says that others follow. With `form=canonical`
    they have the form of which the digest is made: equal runs of two worlds have equal entries, and all of them are
    answered unless `limit` is given. With `form=told` they are put into words, those of the report, which has the phone
    `who` before them: `{n, at, kind, who, text, tone}`; `text` is null where other entries tell it, `tone` good, bad,
    plain or dim.
    """
    codes = None if kind is None else _codes(kind, call)
    start, most = max(after, -1), most_of(limit, form)
    hosted = call.hosted
    looked: tuple[World | None, int] = (None, 0)

    async def look() -> list[int]:
        nonlocal looked
        world = hosted.world
        journal = world.journal

        def fits(number: int) -> bool:
            return codes is None or journal.entry(number)[1] in codes

        if last is not None:
            return await newest(range(max(start + 1, journal.first), len(journal)), fits, last)
        first = looked[1] if looked[0] is world else start + 1  # entries are only added, so none is read twice
        first, length = max(first, journal.first), len(journal)
        numbers = await select(range(first, length), fits, most + 1)  # one more says that there is more
        looked = (world, max(first, length))
        return numbers

    numbers = await wait_for(hosted, wait, look)
    world = hosted.world
    present = range(world.journal.first, len(world.journal))
    numbers = [number for number in numbers if number in present]  # a reset may have come in between
    more = last is None and len(numbers) > most
    numbers = numbers if last is not None else numbers[:most]
    bounds = {"length": len(world.journal), "first": world.journal.first, "more": more, **bound_of(world)}
    if form == "canonical":
        wanted_numbers = frozenset(numbers)
        lines = await Slice().through(canonical_in_slices(world, call.served.kinds))
        return Journal(entries=[line for line in lines if line["n"] in wanted_numbers], form=form, **bounds)
    views = await map_in_slices(numbers, Observer(world, call.served.kinds).entry)
    if form == "told":
        phone_of = await Slice().through(call.served.phones_by_id(world))
        narrator = narrator_of(call.served.kinds, views, phone_of)
        return Journal(entries=await map_in_slices(views, partial(_told, narrator)), form=form, **bounds)
    return Journal(entries=views, **bounds)


def _codes(kinds: str, call: Call) -> set[int]:
    """The codes of the kinds of entries whose names, or names of groups, stand in a list with commas."""
    groups, codes = call.served.kinds.by_view_name, set[int]()
    for word in kinds.split(","):
        if word not in CODE:
            one_of(word, "kind", groups)
        codes |= {CODE[name] for name in groups.get(word, (word,))}
    return codes


def _told(narrator: Narrator, entry: JsonObject) -> Told:
    """An entry in words."""
    line = narrator.narrate(entry)
    words = {"who": None, "text": None, "tone": "dim"} if line is None else line.as_json()
    if line is not None and (message := entry.get("message")):
        words["text"] = message
    return read({**words, "n": entry["n"], "at": entry["at"], "kind": entry["kind"]}, Told)


def bound_of(world: World) -> JsonObject:
    """The `bound` because of which a world has forgotten something; nothing where it has not."""
    return {} if world.record.cut_by is None else {"bound": world.record.cut_by}


def most_of(limit: int | None, form: str | None = None) -> int:
    """The greatest number of entries in an answer."""
    if limit is not None:
        return limit
    return sys.maxsize if form == "canonical" else LIMIT


@operation("GET", "/worlds/{id}/journal/{n}", answers=Entry)
async def journal_entry(call: Call, n: int) -> JsonObject:
    """One entry."""
    world = call.hosted.world
    remembered(world, n)
    return Observer(world, call.served.kinds).entry(n)


@operation("GET", "/worlds/{id}/events", answers=Events)
async def events(call: Call) -> Events:
    """The events of deliveries, whole: each event once, as it occurred, with the `targets` that it was sent to.

    With all deliveries; their `events` are places in the list of events. `country` is the calling code that national
    numbers get.
    """
    world = call.hosted.world
    on, work = Observer(world, call.served.kinds), Slice()
    deliveries = world.outlets.deliveries[:]
    #: by event and body: a state that a message reached twice has two bodies
    targets: dict[tuple[object, bytes], dict[str, None]] = {}
    waiting: dict[object, list[tuple[object, bytes]]] = {}
    carried: list[list[tuple[object, bytes]]] = []
    for delivery in deliveries:
        batch = []
        for event in delivery.events:
            key = event, orjson.dumps(world.events[type(event)].body(world, event, delivery.made_at))
            batch.append(key)
            if key not in targets:
                targets[key] = {}
                waiting.setdefault(event, []).append(key)
            if delivery.tries:
                targets[key][delivery.address] = None
            await work.pause()
        carried.append(batch)
    order: dict[tuple[object, bytes], int] = {}
    for event in chain(world.outlets.posted, waiting):
        if keys := waiting.get(event):
            order[keys.pop(0)] = len(order)
        await work.pause()
    answer = Events(
        events=await map_in_slices(
            order, lambda key: SentEvent(event=orjson.loads(key[1]), targets=list(targets[key]))
        ),
        deliveries=await map_in_slices(
            zip(deliveries, carried, strict=True),
            lambda pair: DeliveryOfEvents(
                **head_of(on, pair[0]), tries=tries_of(pair[0]), events=[order[key] for key in pair[1]]
            ),
        ),
        country=account_of(world).country,
    )
    await run_in_slices(empty(carried, waiting, targets, order))
    return answer


@operation("GET", "/worlds/{id}/hook", answers=Hook)
async def hook(call: Call, wait: Wait = None) -> Hook:
    """The webhooks that the built-in receiver got: the events in order, and the deliveries that brought them."""
    hosted = call.hosted

    async def look() -> bool:
        return bool(hosted.world.outlets.hook)

    await wait_for(hosted, wait, look)
    world = hosted.world
    received = world.outlets.hook[:]
    events: list[JsonObject] = []
    on, work = Observer(world, call.served.kinds), Slice()
    for delivery in received:
        batch = delivery.events
        for place in range(0, len(batch), _PIECE):
            await work.pause()
            events += orjson.loads(orjson.dumps(bodies_of(world, delivery, batch[place : place + _PIECE])))
    return Hook(events=events, deliveries=await map_in_slices(received, lambda delivery: delivery_view(on, delivery)))


@operation("POST", "/worlds/{id}/hook", raw=True, act=True, journals=True, answers=Received)
async def hook_receive(call: Call, raw: Any = None) -> Received:
    """The built-in receiver; any body is answered and journaled."""
    outside = in_value(raw)
    if outside is not None:
        raise out_of_bounds(outside)
    call.hosted.world.journal_act("hook", {"received": raw})
    return Received()


During = Annotated[str | None, DURING, described("a long poll also ends when no advance is in progress")]
Except = Annotated[
    str, described("ids of deliveries, with commas between them, that the caller is carrying out already")
]


@operation("POST", "/worlds/{id}/outbox", answers=Outbox, unmasked=True, unlogged=True)
async def fetch_outbox(call: Call, wait: Wait = None, during: During = None, except_: Except = "") -> Outbox:
    """Deliveries that the caller must send; after the first such call deliveries wait here and are not pushed."""
    hosted = call.hosted
    await hosted.wait_until_idle()
    if hosted.gone:
        raise closed(hosted)
    if not hosted.pulling:
        call.runtime.log(hosted.world.id, "webhooks wait in the outbox from now on", operation="fetch_outbox")
    call.runtime.pull(hosted)
    return await _fetch(call, wait, during, except_)


@operation(
    "GET",
    "/worlds/{id}/outbox",
    present_only="what waits there is to be sent now",
    deprecated=True,
    answers=Outbox,
    unmasked=True,
)
async def outbox(call: Call, wait: Wait = None, during: During = None, except_: Except = "") -> Outbox:
    """Deprecated: deliveries that wait in a world whose deliveries are pulled. It does not make a world pull them.

    `POST` does, with the same arguments.
    """
    hosted = call.hosted
    await hosted.wait_until_idle()
    if hosted.gone:
        raise closed(hosted)
    if hosted.pulling:
        return await _fetch(call, wait, during, except_)

    async def look() -> object:
        return hosted.pulling or (during == "advance" and not hosted.advancing)

    await wait_for(hosted, wait, look)
    return Outbox(calls=[])


async def _fetch(call: Call, wait: int | None, during: str | None, without: str) -> Outbox:
    """The webhooks that wait in the outbox of a world, and those of a long poll."""
    hosted = call.hosted
    carried = frozenset(without.split(","))
    attendance = hosted.attendance
    attendance.note(call.runtime.reading())
    call.runtime.note_change(hosted)

    async def look() -> object:
        over = not hosted.pulling or (during == "advance" and not hosted.advancing)
        return hosted.outbox.keys() - carried or over

    attendance.polls += 1
    try:
        await wait_for(hosted, wait, look)
    finally:
        attendance.polls -= 1
        attendance.note(call.runtime.reading())
    hosted.fetched |= hosted.outbox.keys() - carried
    return Outbox(
        calls=[
            OutboxCall(
                id=delivery_id,
                method=http.method,
                url=http.url,
                headers=[list(header) for header in http.headers],
                body=base64.b64encode(http.body).decode(),
                hook=delivery.outlet.builtin,
                now=moment(hosted.world.now),
                patience=patience,
            )
            for delivery_id, (http, delivery, _, patience) in hosted.outbox.items()
            if delivery_id not in carried
        ],
    )


@operation("DELETE", "/worlds/{id}/outbox", answers=Pushed)
async def outbox_end(call: Call) -> Pushed:
    """Deliveries are pushed again, until the next call that fetches them. What waits in the outbox keeps its time.

    A long poll of the outbox ends.
    """
    await call.hosted.wait_until_idle()
    if call.hosted.gone:
        raise closed(call.hosted)
    call.runtime.push(call.hosted)
    call.runtime.note_change(call.hosted)
    return Pushed(deliveries="push")


@operation("POST", "/worlds/{id}/outbox/{delivery}", answers=Reported, unlogged=True)
async def outbox_done(
    call: Call,
    delivery: str,
    status: Annotated[int | None, described("the status of the answer")] = None,
    error: Annotated[Any, FAILURE, described("why there was no answer")] = None,
) -> Reported:
    """The result of a call from the outbox: an HTTP status, or a word for why there was none."""
    outbox = call.hosted.outbox
    waiting = outbox.get(delivery)
    if waiting is None or waiting[2].done():
        raise ControlError(404, "no_such_delivery", f'"{delivery}" is not waiting in the outbox')
    if error is None and status is None:
        raise ControlError(400, "missing_argument", '"status" is missing; outbox_done needs status, or error')
    if error is None and status is not None and 300 <= status < 400:
        error = "redirect"
    call.hosted.attendance.note(call.runtime.reading())
    del outbox[delivery]  # the next caller does not get it again
    waiting[2].set_result(Outcome(status, error))
    return Reported(id=delivery)


@operation("GET", "/worlds/{id}/advice", answers=Remarks)
async def advice(call: Call) -> Remarks:
    """Every remark on legal requests and on answers of receivers."""
    journal = call.hosted.world.journal
    advice_of = call.served.kinds.advice
    remarks: list[Remark] = []
    numbers = range(journal.first, len(journal))
    for number in await select(numbers, lambda number: journal.entry(number)[1] in advice_of):
        _, code, about = journal.entry(number)
        remarks += [read({**remark.as_json(), "entry": number}, Remark) for remark in advice_of[code](about)]
    return Remarks(advice=remarks)


@operation("GET", "/worlds/{id}/digest", answers=Proof)
async def digest(call: Call) -> Proof:
    """The proof that two runs were the same; not `trusted` when journal entries are `lost`."""
    world = call.hosted.world
    return proof_of(world, await Slice().through(digest_in_slices(world, call.served.kinds)))


def proof_of(world: World, text: str) -> Proof:
    """A digest, and how far it can be trusted."""
    journal = world.journal
    return Proof(
        digest=text,
        engine=ENGINE,
        order_sensitive=journal.ordered,
        trusted=world.record.cut_by is None,
        lost=journal.first,
        **bound_of(world),
    )


@operation("GET", "/worlds/{id}/verdict", answers=Verdict)
async def verdict(
    call: Call,
    ended: Annotated[bool, described("the world has ended: nothing is open any more")] = False,
    status: Annotated[bool, described("417 `not_passed` unless the verdict proves that the client passed")] = False,
    strict: Annotated[bool, described("warnings fail the verdict, too")] = False,
) -> Verdict:
    """The expectations of the scenario, and the results; not `trusted` when journal entries are `lost`.

    What may still come before its deadline is `open`; with `ended` the world has ended, and that failed. `unused` are
    the rules of the scenario that never decided anything, without those of the library's `default`. `warnings` has
    these, and keys, senders and tags in conditions that the world does not have; with `strict=true` they fail the
    verdict. Where something is expected, a client that made no call fails it. With `status=true` the answer is 417
    `not_passed` unless something is expected, every expectation holds, and the verdict is `trusted`.
    """
    language = call.served.language
    # read at its first use, which takes long
    usual = await asyncio.get_running_loop().run_in_executor(None, language.load, call.served.scenario)
    rules = [rule for key in language.keys.values() if key.rules is not None for rule in usual.of(key.name)]
    world = call.hosted.world
    expectations = await Slice().through(expected_in_slices(world, call.served.subjects))
    judging = verdict_in_slices(
        world,
        call.served.subjects,
        expectations,
        rules,
        ended=ended,
        strict=strict,
    )
    judged = await Slice().through(judging)
    if status and not (judged["expectations"] and proves(judged)):
        raise ControlError(417, "not_passed", "\n".join(lines(judged)), **judged)
    return read(judged, Verdict)
