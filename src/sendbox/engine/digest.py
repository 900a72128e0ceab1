"""The digest of a world: proof that two runs were the same.

It is taken over the journal in canonical form: each entry becomes lines of (relative instant, phone, content) in which
names are replaced by what they were derived from, unsalted, and receivers, origins and the world's id do not appear.
The lines' hashes are summed modulo 2^256, which is the same for every order of the lines: order within one instant,
which no client can control from several threads, does not count, and the sum can be taken in slices.

It is long because every kind of entry has its canonical form here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.engine import bounds
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.faults import Detoured
from sendbox.engine.delivery.targets import DROPPED
from sendbox.engine.journal import CONTROL_KINDS, KINDS
from sendbox.engine.requests import RequestRecord
from sendbox.services.messaging.bulk import Bulk
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.outages import Current
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message
from sendbox.services.messaging.results import STATES
from sendbox.services.partner.records import Notice, Onboarding, Signup
from sendbox.services.verify.session import Session

if TYPE_CHECKING:
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.remarks import Advice
    from sendbox.engine.world import World
    from sendbox.services.account.keys import Key
    from sendbox.services.account.orders import Order
    from sendbox.services.messaging.bulk import Line as BulkLine

#: Version of our rules; raised whenever an equal input has another outcome.
ENGINE: Final = 1
_MODULUS: Final = 2**256
_SLICE: Final = 200
#: The key in the form of a legacy call, which is the world's id.
_KEY: Final = re.compile(rb"(?:^|(?<=&))apikey=[^&]*")
#: The token of a validation session in a path: the world's name for it.
_TOKEN: Final = re.compile(r"(?<=/)[0-9a-f]{64}(?=/|$)")
#: Names of partner management where a request quotes them: ids of digits, and tokens.
_QUOTED: Final = re.compile(rb'"(?:([0-9]{15,16})|eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*)"')

Line = dict[str, Any]


def digest(world: World) -> str:
    """The digest of all that happened so far, 64 hex digits."""
    steps = digest_in_slices(world)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return str(done.value)


def digest_in_slices(world: World) -> Generator[None, None, str]:
    """The same, pausing every few hundred lines so that a loop can breathe; the generator returns the digest."""
    canon = _Canon(world)
    total = work = 0
    for number in range(world.journal.first, len(world.journal)):
        for line in _lines_of(world, canon, number):
            raw = orjson.dumps(line, option=orjson.OPT_SORT_KEYS)
            total += int.from_bytes(blake2b(raw, digest_size=32).digest(), "big")
            work += 1
            if work >= _SLICE:  # a batch of events has a line each, and so has a list of numbers
                work = 0
                yield
        work += 1
    return f"{total % _MODULUS:064x}"


def canonical_in_slices(world: World) -> Generator[None, None, list[Line]]:
    """All lines that the digest is taken over, in the journal's order, to be compared and read.

    Each with `n`, the number of its entry; `at` in milliseconds from the start; a request with its canonical content as
    `body`. Two worlds with equal lines, in any order, have equal digests.
    """
    canon = _Canon(world, readable=True)
    found: list[Line] = []
    work = 0
    for number in range(world.journal.first, len(world.journal)):
        for line in _lines_of(world, canon, number):
            found.append({"n": number, **line})
            work += 1
            if work >= _SLICE:
                work = 0
                yield
        work += 1
    return found


def _lines_of(world: World, canon: _Canon, number: int) -> Iterator[Line]:
    """The lines of one entry, none of what a tester did."""
    at, code, what = world.journal.entry(number)
    kind = KINDS[code]
    if kind not in CONTROL_KINDS:
        head = {"at": at - world.start, "kind": "transition" if kind in STATES else kind}
        for line in _LINES[kind](canon, code, what):
            yield {**line, **head}


class _Canon:
    """Turns entries into canonical lines; numbers equal requests in the order in which their messages are met."""

    def __init__(self, world: World, *, readable: bool = False) -> None:
        self._start = world.start
        #: whether a request shows its content, instead of a hash of it
        self._readable = readable
        self._sessions = world.verify.sessions
        #: ids that the world gave out, and what they were derived from
        self._plain = world.partner.plain
        self._alias = world.subkeys.alias
        self._ignore = [tuple(path.split(".")) for path in world.blueprint.digest_ignore]
        #: hashed content of a request -> how many of its kind were met
        self._equal: Counter[str] = Counter()
        #: id of a request -> its content and how-manieth equal one it is
        self._requests: dict[str, str] = {}

    def content(self, raw: bytes) -> bytes:
        """A request's canonical content, without the paths that the scenario ignores."""
        return self._unsalted(_without(orjson.loads(raw), self._ignore) if self._ignore else raw)

    def refused(self, body: bytes) -> bytes:
        """A refused request's content as far as it can be read: without callback, key, and what is ignored."""
        try:
            value = _value(body)
        except ValueError:
            return _KEY.sub(b"", body)
        return self._unsalted(_without(value, [*_REFUSED, *self._ignore]))

    def _unsalted(self, raw: bytes) -> bytes:
        """A request in which names of partner management are replaced by what they were derived from."""
        return _QUOTED.sub(self._stand_in, raw) if self._plain else raw

    def _stand_in(self, found: re.Match[bytes]) -> bytes:
        quoted = found[1]
        return b'"token"' if quoted is None else orjson.dumps(self.plain(quoted.decode()))

    def plain(self, name: str) -> str:
        """What a name was derived from; any other text as it is."""
        return self._plain.get(name, name)

    def message(self, message: Message) -> str:
        """A message's name: its request's content, how-manieth equal one, position of object and recipient."""
        submission = message.submission
        name = self._requests.get(submission.request_id)
        if name is None:
            content = submission.operation.encode() + b"\0" + self.content(submission.content)
            hashed = blake2b(content, digest_size=16).hexdigest()
            name = self._requests[submission.request_id] = f"{hashed}:{self._equal[hashed]}"
            self._equal[hashed] += 1
        return f"{name}:{submission.index}:{message.index}"

    def token(self, found: re.Match[str]) -> str:
        """A token in a path, by what its session was made of; one that is nobody's stays what it is."""
        session = self._sessions.get(found[0])
        return found[0] if session is None else self.message(session.message)

    def attempt(self, attempt: Attempt) -> Line:
        """What names an attempt."""
        message = attempt.message
        return {
            "message": self.message(message),
            "phone": message.phone,
            "attempt": attempt.number,
            "channel": attempt.step.channel,
        }

    def event(self, event: Any) -> Line:
        """What a delivery carries."""
        if isinstance(event, Inbound):
            return self.from_phone(event)
        if isinstance(event, Onboarding):
            return self.onboarding(event)
        attempt, code = event
        return {**self.attempt(attempt), "result": STATES[code]}

    def from_phone(self, inbound: Inbound) -> Line:
        """A message from a phone."""
        return {
            "channel": inbound.channel,
            "phone": inbound.sender,
            "to": self.plain(inbound.recipient),
            "body": inbound.body if inbound.canonical is None else inbound.canonical,
            "reply": None if inbound.message is None else self.message(inbound.message),
        }

    def onboarding(self, onboarding: Onboarding) -> Line:
        """A state of a signup."""
        fields = {name: self.plain(value) if value else value for name, value in onboarding.fields.items()}
        return {"signup": onboarding.signup.name, "mode": onboarding.signup.mode, **fields}

    # -- one method a kind: the lines of an entry, none for what is only bookkeeping

    def transition(self, code: int, attempt: Attempt) -> Iterable[Line]:
        """A result reached."""
        yield {
            **self.attempt(attempt),
            "result": STATES[code],
            "info": info_of(attempt, code),
            "price": attempt.price,
            "count": attempt.count,
        }

    def request(self, _code: int, record: RequestRecord) -> Iterable[Line]:
        """A call: what was asked and how it was answered; its path without the query, which may hold the key."""
        content = self.refused(record.body) if record.canonical is None else self.content(record.canonical)
        yield {
            "operation": record.operation,
            "method": record.method,
            "path": _SALTED.sub(r"\1", _TOKEN.sub(self.token, record.path.partition("?")[0])),
            "status": record.status,
            "body": _read(content) if self._readable else blake2b(content, digest_size=16).hexdigest(),
        }

    def about_attempt(self, _code: int, what: tuple[Attempt, str]) -> Iterable[Line]:
        """A refusal and its reason, a fallback and its reason, a result that could not be."""
        attempt, word = what
        yield {**self.attempt(attempt), "word": word}

    def postponed(self, _code: int, what: tuple[Message, int]) -> Iterable[Line]:
        """A message held back."""
        message, until = what
        yield {"message": self.message(message), "until": until - self._start}

    def delivery(self, _code: int, _delivery: Delivery) -> Iterable[Line]:
        """None: which events share a batch depends on who came first; its tries tell what was sent."""
        return ()

    def tried(self, _code: int, what: tuple[Delivery, int]) -> Iterable[Line]:
        """A try of a delivery, one line an event."""
        delivery, index = what
        done = delivery.tries[index]
        error = None if done.error == DROPPED else done.error
        for event in delivery.events:
            yield {"number": index, "status": done.status, "error": error, "event": self.event(event)}

    def no_target(self, _code: int, event: Attempt | Inbound) -> Iterable[Line]:
        """An event that nobody asked for."""
        yield self.from_phone(event) if isinstance(event, Inbound) else self.attempt(event)

    def inbound(self, _code: int, inbound: Inbound) -> Iterable[Line]:
        """A phone wrote."""
        yield self.from_phone(inbound)

    def click(self, _code: int, link: Link) -> Iterable[Line]:
        """A short link was followed."""
        yield {"message": self.message(link.message), "target": link.target}

    def phone(self, _code: int, what: tuple[str, str]) -> Iterable[Line]:
        """The owner of a phone did something."""
        yield {"phone": what[0], "act": what[1]}

    def opt_out(self, _code: int, what: tuple[str, Message | None]) -> Iterable[Line]:
        """A phone opted out."""
        yield {"phone": what[0]}

    def timeline(self, _code: int, _what: dict[str, Any]) -> Iterable[Line]:
        """None: what it did has entries of its own, whether a scenario or a tester let it happen."""
        return ()

    def signup(self, _code: int, onboarding: Onboarding) -> Iterable[Line]:
        """A signup entered a state."""
        yield {**self.onboarding(onboarding), "reason": onboarding.reason}

    def changed(self, _code: int, what: dict[str, Any]) -> Iterable[Line]:
        """A template or a number changed."""
        yield {name: value for name, value in what.items() if name not in ("template_id", "phone_number_id")}

    def notice(self, _code: int, notice: Notice) -> Iterable[Line]:
        """A code came to a phone."""
        yield {"phone": notice.phone, "body": notice.body}

    def lapse(self, _code: int, what: tuple[str, Bulk | Link | Signup | Session | tuple[str, int]]) -> Iterable[Line]:
        """Something stopped being true."""
        kind, subject = what
        if isinstance(subject, Signup):
            yield {"what": kind, "signup": subject.name}
        elif isinstance(subject, Link):
            yield {"what": kind, "message": self.message(subject.message), "target": subject.target}
        elif isinstance(subject, Session):
            yield {"what": kind, "message": self.message(subject.message)}
        elif isinstance(subject, Bulk):
            yield {"what": kind, "bulk_id": subject.bulk_id}
        else:
            yield {"what": kind, "phone": subject[0]}

    def advice(self, _code: int, what: tuple[Advice, Any]) -> Iterable[Line]:
        """A remark that belongs to no request."""
        yield {"code": what[0].code}

    def validation(self, _code: int, what: tuple[Session, str, str]) -> Iterable[Line]:
        """Something happened to a validation session."""
        session, event, state = what
        yield {"message": self.message(session.message), "code": session.code, "event": event, "state": state}

    def limited(self, _code: int, what: tuple[str, str]) -> Iterable[Line]:
        """A session that was one too many."""
        yield {"limit": what[0], "phone": what[1]}

    def key(self, _code: int, what: tuple[Key, str]) -> Iterable[Line]:
        """A key was added or changed."""
        key, word = what
        yield {"key": self._alias(key.id), "word": word, "scope": key.scope, "disabled": key.disabled}

    def listed(self, _code: int, what: tuple[str, str, tuple[str, ...]]) -> Iterable[Line]:
        """Numbers were put on a list."""
        name, subid, numbers = what
        for number in numbers:
            yield {"list": name, "subid": self._alias(subid), "phone": number}

    def order(self, _code: int, what: tuple[Order, str]) -> Iterable[Line]:
        """An order reached a state."""
        order, state = what
        yield {"service": order.service, "subject": order.subject, "fee": order.fee, "state": state}

    def bulk(self, _code: int, what: tuple[Bulk, str]) -> Iterable[Line]:
        """A bulk file was stored, or read to its end."""
        bulk, word = what
        yield {"bulk_id": bulk.bulk_id, "lines": bulk.lines, "word": word}

    def bulk_line(self, _code: int, line: BulkLine) -> Iterable[Line]:
        """A line of a bulk file was taken or skipped."""
        yield {"bulk_id": line.bulk.bulk_id, "line": line.number, "taken": line.request_id is not None}

    def outage(self, _code: int, what: tuple[Current, str]) -> Iterable[Line]:
        """An outage began or ended."""
        current, state = what
        yield {"outage": current.what, "state": state}

    def fault(self, _code: int, applied: Applied) -> Iterable[Line]:
        """A fault of the HTTP interfaces was applied to a call."""
        yield {
            "operation": applied.operation,
            "key": self._alias(applied.key),
            "phone": applied.phone,
            "fault": applied.shown,
            "rule": applied.rule.name or applied.rule.key,
            "processed": applied.rule.effective,
        }

    def webhook_fault(self, _code: int, applied: Detoured) -> Iterable[Line]:
        """A rule was applied to events, one line an event: in which batch they are depends on who came first."""
        for event in applied.events:
            yield {"rule": applied.rule.label, "fault": applied.rule.fault.text, "event": self.event(event)}


#: What a refused request may hold of receivers and of the world's own names.
_REFUSED: Final = tuple((name,) for name in ("callback", "apikey", "subid", "default_callback_url"))
_SALTED: Final = re.compile(r"^(/upload/).+")


def _read(content: bytes) -> Any:
    """A request's canonical content as a value, as text where it is none."""
    try:
        return _value(content)
    except ValueError:
        return content.decode("utf-8", "replace")


def _value(raw: bytes) -> Any:
    """What a body says in JSON. ValueError for what is not JSON, or so deep that it could not be written again."""
    if bounds.deeper(raw):
        raise ValueError("nested too deep")
    return orjson.loads(raw)


def _without(value: Any, paths: list[tuple[str, ...]]) -> bytes:
    """A request's content in canonical form without some paths; in each object of it, when it is an array."""
    for item in value if isinstance(value, list) else [value]:
        for path in paths:
            _remove(item, path)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _remove(value: Any, path: tuple[str, ...]) -> None:
    for name in path[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value.pop(path[-1], None)


_LINES: Final[dict[str, Callable[[_Canon, int, Any], Iterable[Line]]]] = {
    **dict.fromkeys(STATES, _Canon.transition),
    "request": _Canon.request,
    "refusal": _Canon.about_attempt,
    "fallback": _Canon.about_attempt,
    "postponed": _Canon.postponed,
    "illegal": _Canon.about_attempt,
    "delivery": _Canon.delivery,
    "try": _Canon.tried,
    "no_target": _Canon.no_target,
    "inbound": _Canon.inbound,
    "click": _Canon.click,
    "phone": _Canon.phone,
    "opt_out": _Canon.opt_out,
    "timeline": _Canon.timeline,
    "lapse": _Canon.lapse,
    "advice": _Canon.advice,
    "validation": _Canon.validation,
    "limited": _Canon.limited,
    "signup": _Canon.signup,
    "template": _Canon.changed,
    "number": _Canon.changed,
    "notice": _Canon.notice,
    "key": _Canon.key,
    "listed": _Canon.listed,
    "order": _Canon.order,
    "bulk": _Canon.bulk,
    "bulk_line": _Canon.bulk_line,
    "outage": _Canon.outage,
    "fault": _Canon.fault,
    "webhook_fault": _Canon.webhook_fault,
}
