"""Everything in messaging that can be observed: results, hand-overs, phones, links, bulk files, outages.

It is long because all texts and functions of a kind are in its row, and messaging has most of the kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from sendbox.engine.coverage import Collector
from sendbox.engine.digest import Canon
from sendbox.engine.durations import iso
from sendbox.engine.kinds.narration import RECEIVER, WORLD, Entry, Narration, Narrator, short_line, time
from sendbox.engine.kinds.rows import Event, Kind, Lapse, Line, ObservationRows, Observer, View
from sendbox.services.messaging.assumptions import of_delivery, of_postponed, of_transition
from sendbox.services.messaging.bulk import Bulk
from sendbox.services.messaging.bulk import Line as BulkLine
from sendbox.services.messaging.channels import ACCEPTED, SENT, STATES
from sendbox.services.messaging.checks import LOGGED, refusal_line
from sendbox.services.messaging.events import DEFAULT_INFO, info_of, kind_of
from sendbox.services.messaging.outages import ActiveOutage, named
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message
from sendbox.services.messaging.views import STEP_DESCRIPTIONS, inbound_view

#: How a result is coloured.
_TONES: Final = {
    **dict.fromkeys(("undelivered", "rejected", "failed"), "bad"),
    **dict.fromkeys(("delivered", "seen"), "good"),
}
#: The address of an upload in a path: the world's name for it.
_UPLOAD: Final = re.compile(r"^(/upload/).+")


# -- messages and their attempts


def _name(canon: Canon, message: Message) -> str:
    """A message's canonical name: that of its request, position of object and recipient."""
    submission = message.submission
    request = canon.request(submission.request, submission.operation, lambda: submission.content)
    return f"{request}:{submission.index}:{message.index}"


def _attempt_view(attempt: Attempt) -> View:
    return {
        "message_id": attempt.message.id,
        "phone": attempt.message.phone,
        "channel": attempt.step.channel,
        "attempt": attempt.number + 1,
    }


def _attempt_line(canon: Canon, attempt: Attempt) -> Line:
    message = attempt.message
    return {
        "message": _name(canon, message),
        "phone": message.phone,
        "attempt": attempt.number,
        "channel": attempt.step.channel,
    }


def _transition(code: int, _on: Observer, attempt: Attempt) -> View:
    rules: View = {} if attempt.decision is None else {"rules": list(attempt.decision.rules)}
    return {**_attempt_view(attempt), "result": STATES[code], "info": info_of(attempt, code), **rules}


def _transition_lines(code: int, canon: Canon, attempt: Attempt) -> Iterator[Line]:
    yield {
        **_attempt_line(canon, attempt),
        "result": STATES[code],
        "info": info_of(attempt, code),
        "price": attempt.price,
        "count": attempt.count,
    }


class _AttemptStates:
    """The memory of coverage: the states of attempts so far, and the attempts that the flow has left."""

    def __init__(self) -> None:
        self.states: dict[Attempt, int] = {}
        self.left: set[Attempt] = set()


def _count_transition(code: int, collector: Collector, attempt: Attempt) -> None:
    """A result reached; the message of a validation session is the service's own and not counted (A73)."""
    memory = collector.memory(_AttemptStates)
    before = memory.states.get(attempt, ACCEPTED)
    memory.states[attempt] = code
    submission = attempt.message.submission
    collector.lean(*of_transition(attempt, code, first=before == ACCEPTED))
    if submission.service_sending is not None:
        return
    channel = attempt.step.channel
    collector.count("results", f"{channel} {STATES[code]}")
    collector.count("transitions", f"{channel} {STATES[before]} -> {STATES[code]}")
    info = info_of(attempt, code)
    if info is not None:
        collector.count("infos", _info_item(info))
    if attempt in memory.left:
        collector.count("flows", "receipt after the flow moved on")
    elif attempt.number + 1 < len(submission.send.steps) and STATES[code] == attempt.step.condition:
        collector.count("flows", "condition met")


def _narrate_transition(narrator: Narrator, entry: Entry) -> Narration:
    result, phone = entry["result"], entry["phone"]
    tone = _TONES.get(result, "plain")
    info = f" {entry['info']}" if tone == "bad" and entry.get("info") else ""
    rules = "" if result == "sending" else narrator.decided(entry)
    return Narration(phone, f"{narrator.attempt(entry)} {result}{info}{rules}", tone, phone)


def _info_item(info: str) -> str:
    """The item that a `result_info` counts for: its code, or which of its two parts it has (§7.3)."""
    if info == DEFAULT_INFO[SENT]:
        return info
    code, bracket, text = info.partition("]")
    if not bracket or not code.startswith("["):
        return "text only"
    return f"{code}]" if text.strip() else "code only"


def _refusal(_on: Observer, subject: tuple[Attempt, str]) -> View:
    attempt, why = subject
    return {**_attempt_view(attempt), "why": why, "message": refusal_line(attempt, why)}


def _word(name: str, _on: Observer, subject: tuple[Attempt, str]) -> View:
    """An attempt and one word about it."""
    return {**_attempt_view(subject[0]), name: subject[1]}


def _word_lines(canon: Canon, subject: tuple[Attempt, str]) -> Iterator[Line]:
    yield {**_attempt_line(canon, subject[0]), "word": subject[1]}


def _count_fallback(collector: Collector, subject: tuple[Attempt, str]) -> None:
    collector.memory(_AttemptStates).left.add(subject[0])
    collector.count("flows", f"fallback {subject[1]}")


def _narrate_fallback(narrator: Narrator, entry: Entry) -> Narration:
    text = f"{narrator.attempt(entry)} is given up ({entry['why']}), the next step goes out"
    return Narration(entry["phone"], text, to=None)


def _postponed_view(_on: Observer, subject: tuple[Message, int]) -> View:
    message, until = subject
    return {"message_id": message.id, "phone": message.phone, "until": iso(until)}


def _postponed_lines(canon: Canon, subject: tuple[Message, int]) -> Iterator[Line]:
    message, until = subject
    yield {"message": _name(canon, message), "until": until - canon.world.start}


def _no_target(_on: Observer, event: Attempt | Inbound) -> View:
    return inbound_view(event).json if isinstance(event, Inbound) else _attempt_view(event)


def _no_target_lines(canon: Canon, event: Attempt | Inbound) -> Iterator[Line]:
    yield _inbound_line(canon, event) if isinstance(event, Inbound) else _attempt_line(canon, event)


# -- what a webhook carries


def _sent_view(event: tuple[Attempt, int]) -> View:
    attempt, code = event
    return {
        "event": "sentMessage",
        "message_id": attempt.message.id,
        "phone": attempt.message.phone,
        "result": STATES[code],
    }


def _sent_line(canon: Canon, event: tuple[Attempt, int]) -> Line:
    attempt, code = event
    return {**_attempt_line(canon, attempt), "result": STATES[code]}


def _sent_place(event: tuple[Attempt, int]) -> tuple[Attempt, int]:
    attempt, code = event
    # a path with illegal transitions may reach a state twice: the first counts
    return attempt, next(place for place, (state, _) in enumerate(attempt.transitions()) if state == code)


# -- phones and links


def _inbound_line(canon: Canon, inbound: Inbound) -> Line:
    return {
        "channel": inbound.channel,
        "phone": inbound.sender,
        "to": canon.plain(inbound.recipient),
        "body": inbound.body if inbound.canonical is None else inbound.canonical,
        "reply": None if inbound.message is None else _name(canon, inbound.message),
    }


def _count_inbound(collector: Collector, inbound: Inbound) -> None:
    collector.count("phones", "writes" if inbound.message is None else "replies")
    collector.lean("A68")


def _narrate_inbound(narrator: Narrator, entry: Entry) -> Narration:
    word, to = ("replies", narrator.message(entry)) if entry.get("message_id") else ("writes", entry["to"])
    return Narration(entry["from"], f'{word} "{short_line(entry["body"])}" to {to} by {entry["channel"]}')


def _click(_on: Observer, link: Link) -> View:
    return {"url": link.url, "message_id": link.message.id, "phone": link.message.phone}


def _link_line(canon: Canon, link: Link) -> Line:
    return {"message": _name(canon, link.message), "target": link.target}


def _count_phone(collector: Collector, subject: tuple[str, str]) -> None:
    if subject[1] == "offline":
        collector.count("phones", "is offline")


def _opt_out(_on: Observer, subject: tuple[str, Message | None]) -> View:
    number, message = subject
    return {"phone": number, "message_id": None if message is None else message.id}


# -- bulk files


def _bulk(_on: Observer, subject: tuple[Bulk, str]) -> View:
    bulk, word = subject
    counts = {"accepted": bulk.accepted, "skipped": bulk.skipped} if word == "done" else {}
    due = {"due": iso(bulk.due)} if word == "stored" and bulk.due is not None else {}
    return {"bulk_id": bulk.bulk_id, "filetype": bulk.filetype, "what": word, "lines": bulk.lines, **due, **counts}


def _bulk_lines(_canon: Canon, subject: tuple[Bulk, str]) -> Iterator[Line]:
    bulk, word = subject
    yield {"bulk_id": bulk.bulk_id, "lines": bulk.lines, "word": word}


def _count_bulk(collector: Collector, subject: tuple[Bulk, str]) -> None:
    collector.count("states", f"bulk {subject[1]}")


def _narrate_bulk(_narrator: Narrator, entry: Entry) -> Narration:
    counts = f", {entry['accepted']} taken, {entry['skipped']} skipped" if "accepted" in entry else ""
    return Narration(WORLD, f"bulk file {entry['bulk_id']} {entry['what']}: {entry['lines']} lines{counts}")


def _bulk_line(_on: Observer, line: BulkLine) -> View:
    return {
        "bulk_id": line.bulk.bulk_id,
        "line": line.number,
        "request_id": line.request_id,
        "findings": [finding.as_json() for finding in line.findings],
        "advice": [advice.as_json() for advice in line.advice],
    }


def _bulk_line_lines(_canon: Canon, line: BulkLine) -> Iterator[Line]:
    yield {"bulk_id": line.bulk.bulk_id, "line": line.number, "taken": line.request_id is not None}


def _count_bulk_line(collector: Collector, line: BulkLine) -> None:
    collector.remarked(line.findings, line.advice)
    if line.request_id is None:
        collector.count("states", "bulk line skipped")


def _narrate_bulk_line(_narrator: Narrator, entry: Entry) -> Narration:
    findings = entry["findings"]
    outcome = f"skipped: {findings[0]['message']}" if findings else "taken"
    tone = "bad" if entry["request_id"] is None else "plain"
    return Narration(WORLD, f"bulk file {entry['bulk_id']}, line {entry['line']}: {outcome}", tone)


def _count_upload(collector: Collector, bulk: Bulk) -> None:
    if bulk.state == "issued":  # else it was used in time
        collector.count("limits", "upload address expired after 60 s")


# -- outages


def _outage(_on: Observer, subject: tuple[ActiveOutage, str]) -> View:
    current, state = subject
    return {**current.scope, "state": state, "until": iso(current.until)}


def _outage_lines(_canon: Canon, subject: tuple[ActiveOutage, str]) -> Iterator[Line]:
    current, state = subject
    yield {"outage": current.scope, "state": state}


def _count_outage(collector: Collector, subject: tuple[ActiveOutage, str]) -> None:
    """When it begins: what is out, and what becomes of messages."""
    current, state = subject
    if state != "began":
        return
    outage = current.outage
    if outage.channels is not None:
        collector.count("outages", "of a channel")
    if outage.countries is not None:
        collector.count("outages", "of a country" if outage.network is None else "of an operator")
    if outage.phones is not None:
        collector.count("outages", "of phones")
    if outage.share is not None:
        collector.count("outages", "of a share")
    collector.count("outages", f"in_flight {outage.in_flight}")
    collector.count("outages", f"new {outage.new}")


def _narrate_outage(_narrator: Narrator, entry: Entry) -> Narration:
    return Narration(
        WORLD, f"outage of {named(entry)} {entry['state']}", "bad" if entry["state"] == "began" else "good"
    )


def _once(dimension: str, name: str) -> Callable[[Collector, object], None]:
    """Counts each entry as the same item."""
    return lambda collector, _subject: collector.count(dimension, name)


OBSERVED: Final = ObservationRows(
    kinds=(
        *(
            Kind(
                state,
                partial(_transition, code),
                partial(_transition_lines, code),
                partial(_count_transition, code) if code != ACCEPTED else None,
                _narrate_transition,
                shown_as="transition",
                section="§3.1, §7.3",
            )
            for code, state in enumerate(STATES)
        ),
        Kind(
            "refusal",
            _refusal,
            _word_lines,
            lambda collector, subject: collector.count("refusals", subject[1]),
            lambda narrator, entry: Narration(
                entry["phone"], f"{narrator.attempt(entry)} is refused: {entry['why']}", "bad", None
            ),
            log_lines=LOGGED["refusal"],
            section="§7.3",
        ),
        Kind("fallback", partial(_word, "why"), _word_lines, _count_fallback, _narrate_fallback, section="§2.2"),
        Kind(
            "postponed",
            _postponed_view,
            _postponed_lines,
            lambda collector, subject: collector.lean(*of_postponed(collector.world, subject[0])),
            lambda narrator, entry: Narration(
                entry["phone"], f"{narrator.message(entry)} waits until {time(entry['until'])}", to=None
            ),
            section="§2.1",
        ),
        Kind(
            "illegal",
            partial(_word, "wanted"),
            _word_lines,
            lambda collector, _subject: collector.lean("A25"),
            lambda narrator, entry: Narration(
                entry["phone"], f"{narrator.attempt(entry)} cannot become {entry['wanted']}", "dim", None
            ),
            section="§3.1",
        ),
        Kind(
            "no_target",
            _no_target,
            _no_target_lines,
            _once("webhooks", "no target"),
            lambda narrator, entry: Narration(
                RECEIVER, f"{narrator.message(entry)}: no callback asks for this event", "dim"
            ),
            section="§6",
        ),
        Kind(
            "inbound",
            lambda _on, inbound: inbound_view(inbound).json,
            lambda canon, inbound: (_inbound_line(canon, inbound),),
            _count_inbound,
            _narrate_inbound,
            section="§6",
        ),
        Kind(
            "click",
            _click,
            lambda canon, link: (_link_line(canon, link),),
            _once("phones", "follows a short link"),
            lambda narrator, entry: Narration(entry["phone"], f"opens the link of {narrator.message(entry)}"),
            section="§2.1",
        ),
        Kind(
            "phone",
            lambda _on, subject: {"phone": subject[0], "act": subject[1]},
            lambda _canon, subject: ({"phone": subject[0], "act": subject[1]},),
            _count_phone,
            lambda _narrator, entry: Narration(entry["phone"], str(entry["act"])),
        ),
        Kind(
            "opt_out",
            _opt_out,
            lambda _canon, subject: ({"phone": subject[0]},),
            _once("phones", "opts out"),
            lambda _narrator, entry: Narration(entry["phone"], "opts out"),
            section="§2.1",
        ),
        Kind("bulk", _bulk, _bulk_lines, _count_bulk, _narrate_bulk),
        Kind(
            "bulk_line",
            _bulk_line,
            _bulk_line_lines,
            _count_bulk_line,
            _narrate_bulk_line,
            log_lines=LOGGED["bulk_line"],
            advice=lambda line: line.advice,
        ),
        Kind("outage", _outage, _outage_lines, _count_outage, _narrate_outage),
    ),
    events={
        tuple: Event(_sent_view, _sent_line, lambda event: f"sentMessage {STATES[event[1]]}", _sent_place),
        Inbound: Event(
            lambda event: {"event": kind_of(event), "from": event.sender, "body": event.body},
            _inbound_line,
            lambda event: f"{kind_of(event)} {event.channel}",
        ),
    },
    lapses={
        "link": Lapse(lambda link: {"url": link.url}, _link_line, _once("limits", "short link expired after 7 days")),
        "upload": Lapse(
            lambda bulk: {"bulk_id": bulk.bulk_id}, lambda _canon, bulk: {"bulk_id": bulk.bulk_id}, _count_upload
        ),
        "conversation": Lapse(
            lambda subject: {"phone": subject[0]},
            lambda _canon, subject: {"phone": subject[0]},
            _once("limits", "conversation closed after 24 hours"),
        ),
    },
    names={Message: _name},
    paths=lambda _canon, path: _UPLOAD.sub(r"\1", path),
    delivery_assumptions=of_delivery,
    steps=STEP_DESCRIPTIONS,
)
