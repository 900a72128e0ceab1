"""Counting: a world's journal entry by entry, into what was tried and what was leaned on.

Long because it is one method a kind of entry. What an entry alone does not tell is remembered from those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

import orjson

from sendbox.engine.coverage import assumptions as leaning
from sendbox.engine.coverage.limits import limits_of
from sendbox.engine.delivery.faults import FakedTry
from sendbox.engine.entries import entry_view
from sendbox.engine.journal import KINDS
from sendbox.services.messaging.bulk import Bulk
from sendbox.services.messaging.events import info_of, kind_of
from sendbox.services.messaging.records import Inbound
from sendbox.services.messaging.results import ACCEPTED, STATES
from sendbox.services.partner.records import Onboarding
from sendbox.services.verify.session import EXPIRED, Session

if TYPE_CHECKING:
    from sendbox.engine.coverage.assumptions import Leaned
    from sendbox.engine.coverage.catalog import Catalog, Row, Tally
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.remarks import Advice
    from sendbox.engine.requests import RequestRecord
    from sendbox.engine.world import World
    from sendbox.services.account.keys import Key
    from sendbox.services.account.orders import Order
    from sendbox.services.messaging.bulk import Line
    from sendbox.services.messaging.outages import Current
    from sendbox.services.messaging.records import Attempt, Link, Message
    from sendbox.services.partner.records import Signup


class Collector:
    """Counts the entries it is given in order. `tally` is what was tried, `leaned` the assumptions it rests on."""

    def __init__(self, world: World, catalog: Catalog) -> None:
        self.tally: Tally = {}
        self.leaned: dict[str, Leaned] = {}
        #: how much was looked at, for whoever has to pause now and then
        self.work = 0
        self._counting = True
        self._number = self._at = 0
        self._world = world
        self._catalog = catalog
        #: attempt to its state so far
        self._states: dict[Attempt, int] = {}
        #: attempts that the flow moved on from
        self._left: set[Attempt] = set()
        #: events that were posted, whatever became of it
        self._posted: set[Any] = set()
        #: events and deliveries that a receiver has taken, and the furthest of each attempt's states among them
        self._taken: set[Any] = set()
        self._done: set[Delivery] = set()
        self._newest: dict[Attempt, int] = {}

    def look(self, number: int, *, counting: bool) -> None:
        """Takes in the next entry; without `counting` it is only remembered for those after it."""
        self.work += 1
        self._number, self._counting = number, counting
        self._at, code, what = self._world.journal.entry(number)
        kind = KINDS[code]
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, code, what)
        elif kind in _FAULTS and counting:
            self._fault(_FAULTS[kind], entry_view(self._world, number))

    def _count(self, dimension: str, name: str) -> None:
        """One more of an item, and of the assumption it rests on."""
        if self._counting:
            counts = self.tally.setdefault(dimension, {})
            counts[name] = counts.get(name, 0) + 1
            self._lean(self._catalog.assumed.get((dimension, name)))

    def _lean(self, *ids: str | None) -> None:
        """This entry rests on these assumptions."""
        for id_ in ids if self._counting else ():
            if id_ is not None:
                leaning.note(self.leaned, id_, self._number)

    def _remarked(self, what: RequestRecord | Line) -> None:
        self._lean(*(finding.assumed for finding in what.findings), *(advice.assumed for advice in what.advice))

    # -- one method a kind of entry

    def transition(self, code: int, attempt: Attempt) -> None:
        """A result reached; the message of a validation session is the service's own and not counted (A73)."""
        before = self._states.get(attempt, ACCEPTED)
        self._states[attempt] = code
        message = attempt.message
        submission = message.submission
        self._lean(*leaning.of_transition(attempt, code, first=before == ACCEPTED))
        if submission.token is not None:
            return
        channel = attempt.step.channel
        self._count("results", f"{channel} {STATES[code]}")
        self._count("transitions", f"{channel} {STATES[before]} -> {STATES[code]}")
        info = info_of(attempt, code)
        if info is not None:
            self._count("infos", _info_name(info))
        if attempt in self._left:
            self._count("flows", "receipt after the flow moved on")
        send = submission.send
        if (
            attempt.number + 1 < len(send.steps)
            and attempt not in self._left
            and STATES[code] == attempt.step.condition
        ):
            self._count("flows", "condition met")

    def request(self, _code: int, record: RequestRecord) -> None:
        """A call, with its fields when it was accepted, and the limits it touched either way."""
        row = self._catalog.rows.get(record.operation)
        accepted = record.status < 400
        self._remarked(record)
        if row is None:
            if record.status in (404, 405):
                self._count("errors", "unknown path" if record.status == 404 else "wrong method")
            return
        if not record.status:
            return  # a fault kept the answer back: the client knows nothing
        self._count("operations", f"{row.operation} {'accepted' if accepted else 'refused'}")
        error = _error_of(row.interface, record)
        if error is not None:
            self._count("errors", error)
        request = _parsed(row, record)
        self._lean(*leaning.of_request(row.interface, record, request))
        for limit in limits_of(row.operation, request, self._at):
            self._count("limits", limit)
        if accepted:
            for field in self._catalog.fields(row.operation, request):
                self._count("fields", field)
        for finding in record.findings:
            if finding.rule == "size" and finding.section == "§8":
                self._count("limits", "media over its size")
            elif row.operation == "verifyCode" and finding.path == "$.code" and finding.rule == "pattern":
                self._count("limits", "Verify code not of 6 digits")

    def refusal(self, _code: int, what: tuple[Attempt, str]) -> None:
        """A hand-over refused."""
        self._count("refusals", what[1])

    def fallback(self, _code: int, what: tuple[Attempt, str]) -> None:
        """The flow moved on."""
        self._left.add(what[0])
        self._count("flows", f"fallback {what[1]}")

    def tried(self, _code: int, what: tuple[Delivery, int]) -> None:
        """A try of a delivery: what it carried, how it was answered, what came before it."""
        delivery, index = what
        done = delivery.tries[index]
        events = delivery.events
        self.work += len(events)
        self._lean(*leaning.of_delivery(delivery))
        if not isinstance(done, FakedTry) and all(isinstance(each, FakedTry) for each in delivery.tries[:index]):
            for event in events:
                if event not in self._posted:
                    self._posted.add(event)
                    self._count("events", _event_name(event))
            if len(events) > 1:
                self._count("webhooks", "several events in one")
            if delivery.outlet.target.secret is not None:
                self._count("webhooks", "signed")
        if index and delivery not in self._done:
            self._count("webhooks", "retry")
        taken = done.status is not None and done.error is None and 200 <= done.status < 300
        if not taken:
            self._count("webhooks", _failure(done.status, done.error))
            if index == len(delivery.tries) - 1 and delivery.state == "failed":
                self._count("webhooks", "given up")
            return
        if done.status != 200:
            self._count("webhooks", "answered another 2xx")
        if done.at > delivery.made_at and delivery not in self._done:
            self._count("webhooks", "late")
        self._done.add(delivery)
        self._take(events)

    def _take(self, events: Sequence[Any]) -> None:
        """A receiver takes events: some of them again, or after a later one of the same attempt."""
        again = False
        for event in events:
            if event in self._taken:
                again = True
                continue
            self._taken.add(event)
            if isinstance(event, tuple):
                attempt, code = event
                # a lawless path may reach a state twice: the first counts
                place = next(place for place, (state, _) in enumerate(attempt.transitions()) if state == code)
                if place < self._newest.get(attempt, 0):
                    self._count("webhooks", "out of order")
                else:
                    self._newest[attempt] = place
        if again:
            self._count("webhooks", "duplicate")

    def no_target(self, _code: int, _event: Any) -> None:
        """An event that nobody asked for."""
        self._count("webhooks", "nobody to tell")

    def inbound(self, _code: int, inbound: Inbound) -> None:
        """A phone wrote."""
        self._count("phones", "writes" if inbound.message is None else "replies")
        self._lean("A68")

    def click(self, _code: int, _link: Link) -> None:
        """A short link was followed."""
        self._count("phones", "follows a short link")

    def opt_out(self, _code: int, _what: tuple[str, Message | None]) -> None:
        """A phone opted out."""
        self._count("phones", "opts out")

    def phone(self, _code: int, what: tuple[str, str]) -> None:
        """The owner of a phone did something."""
        if what[1] == "offline":
            self._count("phones", "is offline")

    def lapse(self, _code: int, what: tuple[str, Bulk | Link | Signup | Session | tuple[str, int]]) -> None:
        """Something stopped being true."""
        kind, subject = what
        if isinstance(subject, Session):
            self._count("states", f"validation {EXPIRED}")
            self._lean("A72")
        if isinstance(subject, Bulk) and subject.state != "issued":
            return  # it was used in time
        if kind in _LAPSES:
            self._count("limits", _LAPSES[kind])

    def validation(self, _code: int, what: tuple[Session, str, str]) -> None:
        """Something happened to a validation session."""
        _, event, state = what
        if event == "code_wrong":
            self._lean("A72")
            return
        self._count("states", f"validation {state}")
        if event == "attempts_used_up":
            self._count("limits", "6 Verify attempts")

    def limited(self, _code: int, what: tuple[str, str]) -> None:
        """A session that was one too many."""
        self._count("limits", f"Verify sessions of {'the account' if what[0] == 'account' else 'a number'}")

    def signup(self, _code: int, onboarding: Onboarding) -> None:
        """A signup entered a state."""
        self._count("states", f"signup {onboarding.fields['status']}")

    def template(self, _code: int, what: dict[str, Any]) -> None:
        """A template changed, or could not."""
        if "status" in what:
            self._count("states", f"template {what['status']}")

    def number(self, _code: int, what: dict[str, Any]) -> None:
        """A business number changed, or could not."""
        if "status" in what:
            self._count("states", f"number {what['status']}")

    def order(self, _code: int, what: tuple[Order, str]) -> None:
        """An order reached a state."""
        self._count("states", f"order {what[1]}")

    def key(self, _code: int, what: tuple[Key, str]) -> None:
        """A key was added or changed."""
        self._count("states", f"key {what[1]}")

    def bulk(self, _code: int, what: tuple[Bulk, str]) -> None:
        """A bulk file was stored, or read to its end."""
        self._count("states", f"bulk {what[1]}")

    def bulk_line(self, _code: int, line: Line) -> None:
        """A line of a bulk file."""
        self._remarked(line)
        if line.request_id is None:
            self._count("states", "bulk line skipped")

    def advice(self, _code: int, what: tuple[Advice, Any]) -> None:
        """A remark that belongs to no request."""
        self._lean(what[0].assumed)

    def postponed(self, _code: int, what: tuple[Message, int]) -> None:
        """A message held back."""
        self._lean(*leaning.of_postponed(self._world, what[0]))

    def listed(self, _code: int, _what: Any) -> None:
        """Numbers were put on a list."""
        self._lean("A81")

    def illegal(self, _code: int, _what: Any) -> None:
        """A result that the table does not have."""
        self._lean("A25")

    def outage(self, _code: int, what: tuple[Current, str]) -> None:
        """An outage, when it begins: what is out, and what becomes of messages."""
        current, state = what
        if state != "began":
            return
        outage = current.outage
        if outage.channels is not None:
            self._count("outages", "of a channel")
        if outage.countries is not None:
            self._count("outages", "of a country" if outage.network is None else "of an operator")
        self._count("outages", f"in_flight {outage.in_flight}")
        self._count("outages", f"new {outage.new}")

    def _fault(self, dimension: str, view: Mapping[str, Any]) -> None:
        """A fault that the scenario asked for: a word, a word and its value, or an object with one key."""
        fault = view.get("fault")
        text = str(next(iter(fault), "") if isinstance(fault, Mapping) else fault)
        self._count(dimension, text.partition(" ")[0])


#: Kinds that tell of a fault, by the dimension that counts them.
_FAULTS: Final = {"fault": "api faults", "webhook_fault": "webhook faults"}
_LAPSES: Final = {
    "link": "short link expired after 7 days",
    "upload": "upload address expired after 60 s",
    "token": "signup token expired after 1 hour",
    "code": "Verify session expired after 10 minutes",
    "conversation": "conversation closed after 24 hours",
}
_HANDLERS: Final[dict[str, Callable[[Collector, int, Any], None]]] = {
    **dict.fromkeys(STATES[1:], Collector.transition),
    "request": Collector.request,
    "refusal": Collector.refusal,
    "fallback": Collector.fallback,
    "try": Collector.tried,
    "no_target": Collector.no_target,
    "inbound": Collector.inbound,
    "click": Collector.click,
    "opt_out": Collector.opt_out,
    "phone": Collector.phone,
    "lapse": Collector.lapse,
    "validation": Collector.validation,
    "limited": Collector.limited,
    "signup": Collector.signup,
    "template": Collector.template,
    "number": Collector.number,
    "order": Collector.order,
    "key": Collector.key,
    "bulk": Collector.bulk,
    "bulk_line": Collector.bulk_line,
    "advice": Collector.advice,
    "postponed": Collector.postponed,
    "listed": Collector.listed,
    "illegal": Collector.illegal,
    "outage": Collector.outage,
}


def _event_name(event: Any) -> str:
    kind = kind_of(event)
    if isinstance(event, Inbound):
        return f"{kind} {event.channel}"
    if isinstance(event, Onboarding):
        return f"{kind} {event.fields['status']}"
    return f"{kind} {STATES[event[1]]}"


def _info_name(info: str) -> str:
    """The item that a `result_info` counts for: its code, or which of its two parts it has (§7.3)."""
    code, bracket, text = info.partition("]")
    if not bracket or not code.startswith("["):
        return "text only"
    return f"{code}]" if text.strip() else "code only"


def _failure(status: int | None, error: str | None) -> str:
    """How a try failed; one that is still under way counts as one without an answer yet."""
    if error is None and status is not None:
        return "answered 5xx" if status >= 500 else "answered 4xx"
    return {"timeout": "timeout", "redirect": "redirect", None: "under way"}.get(error, "no connection")


def _error_of(interface: str, record: RequestRecord) -> str | None:
    """The item of an error answer: interface, and its status or own code (§7); None for a good one."""
    status = record.status
    if interface == "partner" and status < 400:
        return "partner success false" if b'"success":false' in record.answer else None
    if status < 400:
        return None
    if interface == "verify":
        answer = _json(record.answer)
        return f"verify {answer.get('error')}" if isinstance(answer, dict) else f"verify {status}"
    if interface == "legacy":
        return f"legacy {record.answer.decode('utf-8', 'replace').partition('|')[2] or status}"
    return f"{interface} {status}"


def _json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _parsed(row: Row, record: RequestRecord) -> Any:
    """The request as far as it can be read: JSON, or the parameters of a form or query."""
    if row.takes == "json":
        return _json(record.body)
    raw = record.query if row.takes == "query" else record.body
    return dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))
