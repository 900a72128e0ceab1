"""The engine's own kinds of entries: requests, webhooks, lapses, faults, and what a tester did.

Long because everything that is said about a kind stands with its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from sendbox.engine.answer import JsonObject, moment
from sendbox.engine.bounds import has_too_many_parameters
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.coverage import Collector, Row
from sendbox.engine.delivery.batches import Delivery, Try, succeeded
from sendbox.engine.delivery.faults.fault import FaultyDelivery
from sendbox.engine.delivery.faults.several import Several
from sendbox.engine.delivery.injection import FakedTry, InjectedFault, log_fault
from sendbox.engine.delivery.targets import DROPPED
from sendbox.engine.digest import Canon
from sendbox.engine.faults.calls import Applied
from sendbox.engine.faults.table import CALLS
from sendbox.engine.kinds import answers
from sendbox.engine.kinds.narration import (
    CLIENT,
    RECEIVER,
    SHOWN,
    WORLD,
    Entry,
    Narration,
    Narrator,
    by,
    fields_of,
    flat,
    short_line,
    yaml,
)
from sendbox.engine.kinds.rows import Kind, Line, ObservationRows, Observer, View, no_lines
from sendbox.engine.kinds.upcoming import STEP_DESCRIPTIONS
from sendbox.engine.remarks import Advice

# -- requests


def request_view(_on: Observer, record: RequestRecord) -> View:
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
        **({} if (parent := record.traceparent) is None else {"traceparent": parent}),
        **(
            {}
            if record.fault is None
            else {"fault": record.fault.as_written, "processed": record.fault.rule.has_effect}
        ),
    }


def _request_lines(canon: Canon, record: RequestRecord) -> Iterator[Line]:
    """The line of a request and its answer; the path is without the query, which may contain the key."""
    yield {
        "operation": record.operation,
        "method": record.method,
        "path": canon.path(record.path.partition("?")[0]),
        "status": record.status,
        "body": canon.body(record),
    }


def _count_request(collector: Collector, record: RequestRecord) -> None:
    """A call, with its fields when it was accepted, and what its service counts either way."""
    row = collector.catalog.rows.get(record.operation)
    accepted = record.status < 400
    collector.remarked(record.findings, record.advice)
    if row is None:
        if record.status in (404, 405):
            collector.count("errors", "unknown path" if record.status == 404 else "wrong method")
        return
    if not record.status:
        return  # a fault kept the answer back: the client knows nothing
    collector.count("operations", f"{row.operation} {'accepted' if accepted else 'refused'}")
    request = _parsed(row, record)
    for called in collector.kinds.request_counters:
        called(collector, row, record, request)
    if accepted:
        for name in collector.catalog.fields(row.operation, request):
            collector.count("fields", name)


def _parsed(row: Row, record: RequestRecord) -> object:
    """The request as far as it can be read: JSON, or the parameters of a form or query."""
    if row.takes == "json":
        return json_of(record.body)
    raw = record.query if row.takes == "query" else record.body
    return (
        {} if has_too_many_parameters(raw) else dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))
    )


def json_of(raw: bytes) -> Any:
    """The JSON value of a body; None if the body is not JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


# -- webhooks


def head_of(on: Observer, delivery: Delivery) -> JsonObject:
    """The fields of a `WebhookHead`."""
    faulty = delivery.rule if isinstance(delivery, FaultyDelivery) else None
    return {
        "id": on.world.outlets.id_of(delivery),
        "target": delivery.address,
        "method": delivery.outlet.target.method,
        "at": moment(delivery.made_at),
        "state": delivery.state,
        "rule": None if faulty is None else faulty.title,
        "fault": None if faulty is None else faulty.fault.text,
    }


def tries_of(delivery: Delivery) -> list[answers.WebhookTry]:
    """The tries of a delivery; `rule` is set if a rule answered in place of the receiver."""
    return [try_view(this_try) for this_try in delivery.tries]


def try_view(this_try: Try) -> answers.WebhookTry:
    """One try."""
    return answers.WebhookTry(
        at=moment(this_try.at),
        status=this_try.status,
        error=this_try.error,
        rule=this_try.rule.title if isinstance(this_try, FakedTry) else None,
    )


def delivery_view(on: Observer, delivery: Delivery) -> answers.Webhook:
    """One delivery with each try, and its events."""
    events = [on.event(event) for event in delivery.events]
    return answers.Webhook(**head_of(on, delivery), events=events, tries=tries_of(delivery))


def _delivery(on: Observer, delivery: Delivery) -> View:
    return {
        "delivery": on.world.outlets.id_of(delivery),
        "target": delivery.address,
        "events": [on.event(event) for event in delivery.events],
    }


def _try_entry(on: Observer, numbered: tuple[Delivery, int]) -> View:
    delivery, index = numbered
    this_try = delivery.tries[index]
    return {
        "delivery": on.world.outlets.id_of(delivery),
        "target": delivery.address,
        "number": index + 1,
        "status": this_try.status,
        "error": this_try.error,
    }


def _try_lines(canon: Canon, numbered: tuple[Delivery, int]) -> Iterator[Line]:
    """One line an event: which events share a batch depends on who came first."""
    delivery, index = numbered
    this_try = delivery.tries[index]
    error = None if this_try.error == DROPPED else this_try.error
    for event in delivery.events:
        yield {"number": index, "status": this_try.status, "error": error, "event": canon.event(event)}


class _Posted:
    """Coverage's memory of webhooks: events posted, events and deliveries taken, newest place in each thread."""

    def __init__(self) -> None:
        self.events: set[object] = set()
        self.taken: set[object] = set()
        self.done: set[Delivery] = set()
        self.newest: dict[object, int] = {}


def _count_try(collector: Collector, numbered: tuple[Delivery, int]) -> None:
    """Counts a try: the events it carried, its answer, and the events before it."""
    delivery, index = numbered
    this_try = delivery.tries[index]
    events = delivery.events
    posted = collector.memory(_Posted)
    collector.work += len(events)
    for assumptions in collector.kinds.delivery_assumptions:
        collector.lean(*assumptions(delivery))
    if not isinstance(this_try, FakedTry) and all(isinstance(earlier, FakedTry) for earlier in delivery.tries[:index]):
        for event in events:
            if event not in posted.events:
                posted.events.add(event)
                collector.count("events", collector.kinds.events[type(event)].item(event))
        if len(events) > 1:
            collector.count("webhooks", "several events in one")
        if delivery.outlet.target.secret is not None:
            collector.count("webhooks", "signed")
    if index and delivery not in posted.done:
        collector.count("webhooks", "retry")
    if not succeeded(this_try.status, this_try.error):
        collector.count("webhooks", _failure(this_try.status, this_try.error))
        if index == len(delivery.tries) - 1 and delivery.state == "failed":
            collector.count("webhooks", "given up")
        return
    if this_try.status != 200:
        collector.count("webhooks", "answered another 2xx")
    if this_try.at > delivery.made_at and delivery not in posted.done:
        collector.count("webhooks", "late")
    posted.done.add(delivery)
    _take(collector, posted, events)


def _take(collector: Collector, posted: _Posted, events: Iterable[object]) -> None:
    """A receiver takes events: some of them again, or after a later one of the same thread."""
    again = False
    for event in events:
        if event in posted.taken:
            again = True
            continue
        posted.taken.add(event)
        placed = collector.kinds.events[type(event)].place(event)
        if placed is None:
            continue
        thread, place = placed
        if place < posted.newest.get(thread, 0):
            collector.count("webhooks", "out of order")
        else:
            posted.newest[thread] = place
    if again:
        collector.count("webhooks", "duplicate")


def _failure(status: int | None, error: str | None) -> str:
    """The kind of failure of a try; one that is still under way is its own kind."""
    if error is None and status is not None:
        return "answered 5xx" if status >= 500 else "answered 4xx"
    return {"timeout": "timeout", "redirect": "redirect", None: "under way"}.get(error, "no connection")


# -- lapses, advice, faults


def _lapse(on: Observer, lapse: tuple[str, object]) -> View:
    name, subject = lapse
    return {"what": name, **on.kinds.lapses[name].view(subject)}


def _lapse_lines(canon: Canon, lapse: tuple[str, object]) -> Iterator[Line]:
    name, subject = lapse
    yield {"what": name, **canon.kinds.lapses[name].line(canon, subject)}


def _count_lapse(collector: Collector, lapse: tuple[str, object]) -> None:
    name, subject = lapse
    count = collector.kinds.lapses[name].count
    if count is not None:
        count(collector, subject)


def _advice(_on: Observer, remark: tuple[Advice, object]) -> View:
    advice, about = remark
    return {"advice": advice.as_json(), "about": about}


def _fault_fields(applied: Applied, key: str, phone: str | None) -> View:
    return {
        "operation": applied.operation,
        "key": key,
        "phone": phone,
        "fault": applied.as_written,
        "rule": applied.rule.name or applied.rule.key,
        "processed": applied.rule.has_effect,
    }


def _fault(_on: Observer, applied: Applied) -> View:
    return {**_fault_fields(applied, applied.key, applied.subject or None), "message": applied.line}


def _fault_lines(canon: Canon, applied: Applied) -> Iterator[Line]:
    yield _fault_fields(applied, canon.alias(applied.key), applied.subject)


def _webhook_fault(on: Observer, applied: InjectedFault) -> View:
    delivery, rule = applied.delivery, applied.rule
    return {
        "rule": rule.title,
        "fault": rule.fault.text,
        "delivery": None if delivery is None else on.world.outlets.id_of(delivery),
        "events": [on.event(event) for event in applied.events],
        **({} if applied.note is None else {"note": applied.note}),
    }


def _webhook_fault_lines(canon: Canon, applied: InjectedFault) -> Iterator[Line]:
    """One line an event: in which batch they are depends on who came first."""
    for event in applied.events:
        yield {"rule": applied.rule.title, "fault": applied.rule.fault.text, "event": canon.event(event)}


def _count_webhook_fault(collector: Collector, applied: InjectedFault) -> None:
    """Each of several faults."""
    fault = applied.rule.fault
    for part in fault.faults if isinstance(fault, Several) else (fault,):
        collector.count("webhook faults", part.kind)


# -- in words


def _narrate_request(narrator: Narrator, entry: Entry) -> Narration:
    rejected = " (rejected)" if entry["findings"] and entry["status"] < 400 else ""
    answer = entry["status"] or "no answer"
    sent = narrator.sent(entry.get("answer", ""))
    return Narration(CLIENT, f"{entry['method']} {entry['path']} -> {answer} {entry['operation']}{rejected}{sent}")


def _narrate_try(narrator: Narrator, entry: Entry) -> Narration:
    place = f" to {entry['target']}" if narrator.places else ""
    number = f" (try {entry['number']})" if entry["number"] > 1 else ""
    text = f"webhook{place}{number}: {narrator.carried(entry['delivery'])}"
    # in the past of a world a try may not have ended yet
    ending = str(entry["status"] or entry["error"] or "under way")
    return Narration(RECEIVER, text, "dim" if ending in ("200", "under way") else "bad", RECEIVER, ending)


def _narrate_timeline(_narrator: Narrator, entry: Entry) -> Narration:
    fields = {name: value for name, value in entry["entry"].items() if name != "kind"}
    return Narration(WORLD, f"the timeline says: {entry['entry'].get('kind')} {flat(fields)}")


def _narrate_lapse(_narrator: Narrator, entry: Entry) -> Narration:
    return Narration(entry.get("phone") or WORLD, f"{entry['what']} is over", "dim", None)


def _narrate_fault(_narrator: Narrator, entry: Entry) -> Narration:
    fault = flat(entry.get("fault"))
    row = CALLS.get(fault.partition(" ")[0])
    effect = "" if row is not None and row().late else ", and the call had its effect"
    effect = effect if entry.get("processed") else ", and the call had no effect"
    return Narration(WORLD, f"fault at {entry.get('operation')}: {fault}{effect}{by(entry)}", "bad")


def _narrate_webhook_fault(narrator: Narrator, entry: Entry) -> Narration:
    events = narrator.events(entry.get("events") or ())
    about = f" with {events}" if events else ""
    note = f", {entry['note']}" if entry.get("note") else ""
    return Narration(RECEIVER, f"fault of a webhook{about}: {flat(entry.get('fault'))}{by(entry)}{note}", "bad")


def _narrate_control(_narrator: Narrator, entry: Entry) -> Narration:
    if entry["what"] == "rule":
        return Narration(WORLD, f"the test: rule {entry['id']} into {entry['in']}: {yaml(entry['rule'])}")
    fields = {name: value for name, value in entry.items() if name not in ("what", "source")}  # a scenario is long
    return Narration(WORLD, f"the test: {entry['what']} {_words(fields)}".rstrip())


def _narrate_opened(_narrator: Narrator, entry: Entry) -> Narration:
    return Narration(WORLD, f"{entry['kind']} {_words(entry)}".rstrip())


def _words(entry: Entry) -> str:
    return ", ".join(f"{name} {yaml(value)}" for name, value in fields_of(entry).items())


def _plain(_on: Observer, view: View) -> View:
    return view


OBSERVED: Final = ObservationRows(
    (
        Kind(
            "request",
            request_view,
            _request_lines,
            _count_request,
            _narrate_request,
            advice=lambda record: record.advice,
            view_type=answers.RequestShown,
        ),
        Kind("delivery", _delivery, no_lines, view_type=answers.DeliveryShown),  # its tries tell what was sent
        Kind("try", _try_entry, _try_lines, _count_try, _narrate_try, section="§6", view_type=answers.TryShown),
        # what an entry of the timeline did has entries of its own, whether a scenario or a tester let it happen
        Kind("timeline", lambda _on, entry: {"entry": entry}, no_lines, narrate=_narrate_timeline),
        Kind("lapse", _lapse, _lapse_lines, _count_lapse, _narrate_lapse),
        Kind(
            "advice",
            _advice,
            lambda _canon, remark: ({"code": remark[0].code},),
            lambda collector, remark: collector.lean(remark[0].assumed),
            lambda _narrator, entry: Narration(
                WORLD, f"advice: {short_line(entry['advice']['message'], 2 * SHOWN)}", "dim"
            ),
            advice=lambda remark: remark[:1],
            view_type=answers.AdviceShown,
        ),
        *(Kind(name, _plain, None, narrate=_narrate_opened) for name in ("opened", "reset", "restored")),
        Kind("control", _plain, None, narrate=_narrate_control),
        Kind(
            "fault",
            _fault,
            _fault_lines,
            lambda collector, applied: collector.count("api faults", applied.rule.fault.kind),
            _narrate_fault,
            view_type=answers.FaultShown,
        ),
        Kind(
            "webhook_fault",
            _webhook_fault,
            _webhook_fault_lines,
            _count_webhook_fault,
            _narrate_webhook_fault,
            log_lines=log_fault,
            view_type=answers.WebhookFaultShown,
        ),
    ),
    steps=STEP_DESCRIPTIONS,
)
