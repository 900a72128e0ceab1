"""Operations that look at what happened: journal, requests, deliveries, the built-in receiver, the outbox, the digest."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from sendbox.control.operation import Call, ControlError, newest, operation, wait_for, whole
from sendbox.core.assumptions import ASSUMPTIONS
from sendbox.core.digest import ENGINE, digest_in_slices
from sendbox.core.events import hook_events
from sendbox.core.journal import CODE, KINDS
from sendbox.core.records import Delivery, RequestRecord
from sendbox.core.views import delivery_view, entry_view
from sendbox.webhooks.policy import Outcome

#: So many entries at once unless asked for fewer or more.
LIMIT = 1000
#: `transition` stands for the seven kinds of results.
TRANSITIONS = KINDS[:8]


@operation("GET", "/worlds/{id}/journal")
async def journal(
    call: Call, kind: str | None = None, after: Any = -1, limit: Any = LIMIT, wait: Any = None, last: Any = None
) -> Any:
    """Entries after a number, oldest first; `wait` is a long poll until there is one, `last` asks for the newest."""
    kinds: frozenset[str] | None = None
    if kind is not None:
        wanted: set[str] = set()
        for word in kind.split(","):
            if word != "transition" and word not in CODE:
                legal = ", ".join(("transition", *KINDS[8:]))
                raise ControlError(400, "bad_argument", f'kind: "{word}" is no kind of entry; legal: {legal}')
            wanted |= set(TRANSITIONS) if word == "transition" else {word}
        kinds = frozenset(wanted)
    start, most = whole(after, "after"), whole(limit, "limit")
    hosted = call.here

    def look() -> list[int]:
        if last is not None:
            kept = hosted.world.journal.kind
            codes = None if kinds is None else frozenset(CODE[kind] for kind in kinds)
            backwards = range(len(kept) - 1, start, -1)
            return newest((number for number in backwards if codes is None or kept[number] in codes), last)
        found = []
        for number in hosted.world.journal.numbers(kinds, start):
            found.append(number)
            if len(found) >= most:
                break
        return found

    numbers = await wait_for(hosted, wait, look)
    return {"entries": [entry_view(hosted.world, number) for number in numbers], "length": len(hosted.world.journal)}


@operation("GET", "/worlds/{id}/journal/{n}")
async def journal_entry(call: Call, n: Any) -> Any:
    """One entry."""
    world = call.here.world
    number = whole(n, "n")
    if not 0 <= number < len(world.journal):
        raise ControlError(404, "no_such_entry", f"{number} is no entry; the journal has {len(world.journal)}")
    return entry_view(world, number)


@operation("GET", "/worlds/{id}/requests")
async def requests(call: Call, after: Any = -1, limit: Any = LIMIT, wait: Any = None) -> Any:
    """Calls of the emulated interfaces, with findings and advice."""
    answer = await journal(call, "request", after, limit, wait)
    return {"requests": answer["entries"]}


@operation("GET", "/worlds/{id}/deliveries")
async def deliveries(call: Call, state: str | None = None, last: Any = None) -> Any:
    """Webhooks, each with its tries, oldest first; with `last` the newest."""
    world = call.here.world
    found = newest((d for d in reversed(world.outlets.deliveries) if state is None or d.state == state), last)
    return {"deliveries": [delivery_view(world, delivery) for delivery in found]}


def _delivery(call: Call, delivery: str) -> Delivery:
    found = call.here.world.outlets.find(delivery)
    if found is None:
        raise ControlError(404, "no_such_delivery", f'"{delivery}" is no delivery of this world')
    return found


def _done(call: Call, found: Delivery, done: bool, what: str) -> Any:
    if not done:
        raise ControlError(409, "wrong_state", f'a delivery in the state "{found.state}" cannot be {what}')
    call.runtime.changed(call.here)
    return delivery_view(call.here.world, found)


@operation("POST", "/worlds/{id}/deliveries/{delivery}/replay")
async def replay_delivery(call: Call, delivery: str) -> Any:
    """Sends an ended delivery once more."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.replay(found), "replayed; wait until it ended")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/hold")
async def hold_delivery(call: Call, delivery: str) -> Any:
    """Stops further tries."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.hold(found), "held")


@operation("POST", "/worlds/{id}/deliveries/{delivery}/release")
async def release_delivery(call: Call, delivery: str) -> Any:
    """Lets a held delivery go on."""
    found = _delivery(call, delivery)
    return _done(call, found, call.here.world.outlets.release(found), "released; only a held one can")


@operation("GET", "/worlds/{id}/hook")
async def hook(call: Call, wait: Any = None) -> Any:
    """What the built-in receiver got: the events in order, and the deliveries that brought them."""
    hosted = call.here
    await wait_for(hosted, wait, lambda: hosted.world.outlets.hook)
    world = hosted.world
    return {
        "events": hook_events(world, world.outlets),
        "deliveries": [delivery_view(world, delivery) for delivery in world.outlets.hook],
    }


@operation("POST", "/worlds/{id}/hook", raw=True)
async def hook_receive(call: Call, raw: Any = None) -> Any:
    """The built-in receiver itself: whatever else is posted to it is answered and journaled."""
    call.here.world.control("hook", {"received": raw})
    call.runtime.changed(call.here)
    return {}


@operation("GET", "/worlds/{id}/outbox")
async def outbox(call: Call, wait: Any = None, during: Any = None, except_: str = "") -> Any:
    """Deliveries to be carried out by whoever asks; from the first such call on they wait here instead of being pushed.

    With `during=advance` a long poll also ends when no advance is under way (any more). Deliveries named in `except`,
    with commas between, are left out: whoever asks is carrying them already.
    """
    hosted = call.here
    known = frozenset(except_.split(","))
    call.runtime.pull(hosted)
    call.runtime.changed(hosted)
    await wait_for(hosted, wait, lambda: hosted.outbox.keys() - known or (during == "advance" and not hosted.advancing))
    return {
        "calls": [
            {
                "id": delivery_id,
                "method": http.method,
                "url": http.url,
                "headers": [list(header) for header in http.headers],
                "body": base64.b64encode(http.body).decode(),
                "hook": delivery.outlet.builtin,
            }
            for delivery_id, (http, delivery, _) in hosted.outbox.items()
            if delivery_id not in known
        ]
    }


@operation("POST", "/worlds/{id}/outbox/{delivery}")
async def outbox_done(call: Call, delivery: str, status: Any = None, error: Any = None) -> Any:
    """How a call from the outbox went: an HTTP status, or a word for why there was none."""
    waiting = call.here.outbox.get(delivery)
    if waiting is None:
        raise ControlError(404, "no_such_delivery", f'"{delivery}" does not wait in the outbox (any more)')
    code = None if status is None else whole(status, "status")
    if error is None and code is not None and 300 <= code < 400:
        error = "redirect"
    if not waiting[2].done():
        waiting[2].set_result(Outcome(code, error if code is not None or error else "closed"))
    return {"id": delivery}


@operation("GET", "/worlds/{id}/advice")
async def advice(call: Call) -> Any:
    """Every remark on legal requests and on answers of receivers."""
    world = call.here.world
    remarks = []
    for number in world.journal.numbers(frozenset({"request", "advice"})):
        what = world.journal.what[number]
        given = what.advice if isinstance(what, RequestRecord) else [what[0]]
        remarks += [{**remark.as_json(), "entry": number} for remark in given]
    return {"advice": remarks}


@operation("GET", "/worlds/{id}/digest")
async def digest(call: Call) -> Any:
    """The proof that two runs were the same."""
    world = call.here.world
    steps = digest_in_slices(world)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return {"digest": done.value, "engine": ENGINE, "order_sensitive": bool(world.journal.order_sensitive)}
        await asyncio.sleep(0)


@operation("GET", "/worlds/{id}/assumptions")
async def assumptions(call: Call) -> Any:
    """Every assumption that this version builds on, with the world's settings."""
    settings = call.here.world.assume
    return {
        "assumptions": [
            {
                "id": row.id,
                "section": row.section,
                "title": row.title,
                "default": row.default,
                "setting": row.setting,
                "confidence": row.confidence,
                "built": row.built,
            }
            for row in ASSUMPTIONS
        ],
        "settings": {name: _plain(getattr(settings, name)) for name in settings.__dataclass_fields__},
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__ if name != "table"}
    return list(value) if isinstance(value, tuple) else value
