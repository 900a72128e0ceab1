"""Operations that look at what happened: journal, requests, deliveries, built-in receiver, outbox, digest."""

from __future__ import annotations

import base64
from typing import Any, get_args

import orjson

from sendbox.control.operation import Call, ControlError, operation, out_of_bounds, whole
from sendbox.control.reading import chosen, each, newest, wait_for
from sendbox.engine.bounds import in_value
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.bodies import body_of, listed
from sendbox.engine.digest import ENGINE, canonical_in_slices, digest_in_slices
from sendbox.engine.durations import iso
from sendbox.engine.expect.verdict import verdict_in_slices
from sendbox.engine.journal import CODE, Forgotten
from sendbox.engine.kinds.own import delivery_view
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.world import World
from sendbox.runtime.policy import Failure, Outcome
from sendbox.runtime.worlds import Slice

#: So many entries at once unless asked for fewer or more.
LIMIT = 1000
DELIVERY_STATES = ("waiting", "sending", "delivered", "failed", "held", "dropped")
#: How a call from the outbox may have failed.
FAILURES = get_args(Failure)


@operation("GET", "/worlds/{id}/journal")
async def journal(
    call: Call,
    kind: str | None = None,
    after: Any = -1,
    limit: Any = LIMIT,
    wait: Any = None,
    last: Any = None,
    form: str | None = None,
) -> Any:
    """Entries after a number, oldest first; `wait` is a long poll until there is one, `last` asks for the newest.

    With `form=canonical` they are as the digest reads them, so that equal runs of two worlds have equal entries.
    """
    if form not in (None, "plain", "canonical"):
        raise ControlError(400, "bad_argument", f'form: "{form}" is no form of entries; legal: plain, canonical')
    kinds: frozenset[str] | None = None
    if kind is not None:
        wanted: set[str] = set()
        for word in kind.split(","):
            shown = call.served.kinds.shown
            if word not in shown and word not in CODE:
                legal = ", ".join(shown)
                raise ControlError(400, "bad_argument", f'kind: "{word}" is no kind of entry; legal: {legal}')
            wanted |= set(shown.get(word, (word,)))
        kinds = frozenset(wanted)
    start, most = max(whole(after, "after"), -1), whole(limit, "limit")
    if most < 1:
        raise ControlError(400, "bad_argument", f"limit: {most} is no number of entries; legal: 1 and more")
    hosted = call.here
    codes = None if kinds is None else frozenset(CODE[kind] for kind in kinds)
    looked: tuple[World | None, int] = (None, 0)

    async def look() -> list[int]:
        nonlocal looked
        world = hosted.world
        journal = world.journal

        def fits(number: int) -> bool:
            return codes is None or journal.entry(number)[1] in codes

        if last is not None:
            return await newest(range(max(start + 1, journal.first), len(journal)), fits, last)
        first = looked[1] if looked[0] is world else start + 1  # entries are only added: none needs a second look
        first, length = max(first, journal.first), len(journal)
        found = await chosen(range(first, length), fits, most)
        looked = (world, max(first, length))
        return found

    numbers = await wait_for(hosted, wait, look)
    world = hosted.world
    kept = range(world.journal.first, len(world.journal))
    numbers = [number for number in numbers if number in kept]  # a reset may have come in between
    bounds = {"length": len(world.journal), "first": world.journal.first}
    if form == "canonical":
        wanted_numbers = frozenset(numbers)
        lines = await Slice().through(canonical_in_slices(world, call.served.kinds))
        return {"form": form, "entries": [line for line in lines if line["n"] in wanted_numbers], **bounds}
    return {"entries": await each(numbers, Observer(world, call.served.kinds).entry), **bounds}


@operation("GET", "/worlds/{id}/journal/{n}")
async def journal_entry(call: Call, n: Any) -> Any:
    """One entry."""
    world = call.here.world
    number = whole(n, "n")
    if not 0 <= number < len(world.journal):
        raise ControlError(404, "no_such_entry", f"{number} is no entry; the journal has {len(world.journal)}")
    try:
        return Observer(world, call.served.kinds).entry(number)
    except Forgotten as forgotten:
        raise ControlError(404, "forgotten", str(forgotten), first=world.journal.first) from None


@operation("GET", "/worlds/{id}/requests")
async def requests(call: Call, after: Any = -1, limit: Any = LIMIT, wait: Any = None) -> Any:
    """Calls of the emulated interfaces, with findings and advice."""
    answer = await journal(call, "request", after, limit, wait)
    return {"requests": answer["entries"]}


@operation("GET", "/worlds/{id}/deliveries")
async def deliveries(call: Call, state: str | None = None, last: Any = None) -> Any:
    """Webhooks, each with its tries, oldest first; with `last` the newest."""
    if state is not None and state not in DELIVERY_STATES:
        raise ControlError(
            400, "bad_argument", f'state: "{state}" is no state of a delivery; legal: {", ".join(DELIVERY_STATES)}'
        )
    world = call.here.world
    found = await newest(world.outlets.deliveries, lambda delivery: state is None or delivery.state == state, last)
    on = Observer(world, call.served.kinds)
    return {"deliveries": await each(found, lambda delivery: delivery_view(on, delivery))}


def _delivery(call: Call, delivery: str) -> Delivery:
    found = call.here.world.outlets.find(delivery)
    if found is None:
        raise ControlError(404, "no_such_delivery", f'"{delivery}" is no delivery of this world')
    return found


def _done(call: Call, found: Delivery, done: bool, what: str) -> Any:
    if not done:
        raise ControlError(409, "wrong_state", f'a delivery in the state "{found.state}" cannot be {what}')
    return delivery_view(Observer(call.here.world, call.served.kinds), found)


@operation("POST", "/worlds/{id}/deliveries/{delivery}/replay", act=True)
async def replay_delivery(call: Call, delivery: str) -> Any:
    """Sends an ended delivery once more."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.replay(found), "replayed; wait until it ended")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/hold", act=True)
async def hold_delivery(call: Call, delivery: str) -> Any:
    """Stops further tries."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.hold(found), "held")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/release", act=True)
async def release_delivery(call: Call, delivery: str) -> Any:
    """Lets a held delivery go on."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.release(found), "released; only a held one can")


@operation("GET", "/worlds/{id}/hook")
async def hook(call: Call, wait: Any = None) -> Any:
    """What the built-in receiver got: the events in order, and the deliveries that brought them."""
    hosted = call.here

    async def look() -> bool:
        return bool(hosted.world.outlets.hook)

    await wait_for(hosted, wait, look)
    world = hosted.world
    received = world.outlets.hook[:]
    events: list[Any] = []
    on, work = Observer(world, call.served.kinds), Slice()
    for delivery in received:
        events += listed(orjson.loads(body_of(world, delivery)))
        await work.pause()
    return {
        "events": events,
        "deliveries": await each(received, lambda delivery: delivery_view(on, delivery)),
    }


@operation("POST", "/worlds/{id}/hook", raw=True, act=True, journals=True)
async def hook_receive(call: Call, raw: Any = None) -> Any:
    """The built-in receiver itself: whatever else is posted to it is answered and journaled."""
    outside = in_value(raw)
    if outside is not None:
        raise out_of_bounds(outside)
    call.here.world.control("hook", {"received": raw})
    return {}


@operation("GET", "/worlds/{id}/outbox")
async def outbox(call: Call, wait: Any = None, during: Any = None, except_: str = "") -> Any:
    """Deliveries to be carried out by whoever asks; from the first such call on they wait here instead of being pushed.

    With `during=advance` a long poll also ends when no advance is under way (any more). Deliveries named in `except`,
    with commas between, are left out: whoever asks is carrying them already.
    """
    hosted = call.here
    known = frozenset(except_.split(","))
    await hosted.free()
    call.runtime.pull(hosted)
    call.runtime.changed(hosted)

    async def look() -> Any:
        return hosted.outbox.keys() - known or (during == "advance" and not hosted.advancing)

    await wait_for(hosted, wait, look)
    return {
        "calls": [
            {
                "id": delivery_id,
                "method": http.method,
                "url": http.url,
                "headers": [list(header) for header in http.headers],
                "body": base64.b64encode(http.body).decode(),
                "hook": delivery.outlet.builtin,
                "now": iso(hosted.world.now),
            }
            for delivery_id, (http, delivery, _) in hosted.outbox.items()
            if delivery_id not in known
        ]
    }


@operation("POST", "/worlds/{id}/outbox/{delivery}")
async def outbox_done(call: Call, delivery: str, status: Any = None, error: Any = None) -> Any:
    """How a call from the outbox went: an HTTP status, or a word for why there was none."""
    outbox = call.here.outbox
    waiting = outbox.get(delivery)
    if waiting is None or waiting[2].done():
        raise ControlError(404, "no_such_delivery", f'"{delivery}" does not wait in the outbox (any more)')
    code = None if status is None else whole(status, "status")
    if error is None and code is None:
        raise ControlError(400, "missing_argument", '"status" is missing; outbox_done needs status, or error')
    if error is not None and error not in FAILURES:
        raise ControlError(400, "bad_argument", f'error: "{error}" is no way to fail; legal: {", ".join(FAILURES)}')
    if error is None and code is not None and 300 <= code < 400:
        error = "redirect"
    del outbox[delivery]  # whoever asks next is not given it again
    waiting[2].set_result(Outcome(code, error))
    return {"id": delivery}


@operation("GET", "/worlds/{id}/advice")
async def advice(call: Call) -> Any:
    """Every remark on legal requests and on answers of receivers."""
    journal = call.here.world.journal
    given_by = call.served.kinds.advice
    remarks: list[Any] = []
    numbers = range(journal.first, len(journal))
    for number in await chosen(numbers, lambda number: journal.entry(number)[1] in given_by):
        _, code, what = journal.entry(number)
        remarks += [{**remark.as_json(), "entry": number} for remark in given_by[code](what)]
    return {"advice": remarks}


@operation("GET", "/worlds/{id}/digest")
async def digest(call: Call) -> Any:
    """The proof that two runs were the same; not `trusted` when journal entries are `lost`."""
    world = call.here.world
    found = await Slice().through(digest_in_slices(world, call.served.kinds))
    journal = world.journal
    return {
        "digest": found,
        "engine": ENGINE,
        "order_sensitive": journal.ordered,
        "trusted": not journal.first,
        "lost": journal.first,
    }


@operation("GET", "/worlds/{id}/verdict")
async def verdict(call: Call) -> Any:
    """What the scenario expects, and what came of it; not `trusted` when journal entries are `lost`."""
    world = call.here.world
    return await Slice().through(verdict_in_slices(world, call.served.things, world.expect))
