"""The digest of a world: proof that two runs were the same.

It is taken over the journal in canonical form: each entry becomes lines of (relative instant, phone, content) in which
names are replaced by what they were derived from, unsalted, and receivers, origins and the world's id do not appear.
The lines' hashes are summed modulo 2^256, which is the same for every order of the lines: order within one instant,
which no client can control from several threads, does not count, and the sum can be taken in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.core.events import info_of
from sendbox.core.journal import CONTROL_KINDS, KINDS
from sendbox.core.lifecycle import STATES
from sendbox.core.records import Attempt, Delivery, Inbound, Link, Message, RequestRecord

if TYPE_CHECKING:
    from sendbox.core.world import World

#: Version of our rules; raised whenever an equal input has another outcome.
ENGINE: Final = 1
_MODULUS: Final = 2**256
_SLICE: Final = 200

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
    """The same, pausing every few hundred entries so that a loop can breathe; the generator returns the digest."""
    canon = _Canon(world)
    total = 0
    journal = world.journal
    for number in range(len(journal)):
        kind = KINDS[journal.kind[number]]
        if kind not in CONTROL_KINDS:
            for line in canon.lines(kind, journal.kind[number], journal.what[number]):
                line["at"] = journal.at[number] - world.start
                raw = orjson.dumps(line, option=orjson.OPT_SORT_KEYS)
                total += int.from_bytes(blake2b(raw, digest_size=32).digest(), "big")
        if number % _SLICE == _SLICE - 1:
            yield
    return f"{total % _MODULUS:064x}"


class _Canon:
    """Turns entries into canonical lines; numbers equal requests in the order in which they came."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._ignore = [tuple(path.split(".")) for path in world.blueprint.digest_ignore]
        self._names: dict[int, str] = {}
        self._equal: dict[bytes, int] = {}
        self._contents: dict[str, bytes] = {}

    def lines(self, kind: str, code: int, what: Any) -> list[Line]:
        """The lines of one entry; none for what is only bookkeeping."""
        return _LINES[kind](self, code, what)

    def content(self, raw: bytes) -> bytes:
        """A request's canonical content, without the paths that the scenario ignores."""
        if not self._ignore:
            return raw
        value = orjson.loads(raw)
        for item in value if isinstance(value, list) else [value]:
            for path in self._ignore:
                _remove(item, path)
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)

    def message(self, message: Message) -> str:
        """A message's name: its request's content, how-manieth equal one, position of object and recipient."""
        submission = message.submission
        name = self._names.get(id(submission))
        if name is None:
            seen = self._contents.get(submission.request_id)
            if seen is None:
                hashed = blake2b(
                    submission.operation.encode() + b"\0" + self.content(submission.content), digest_size=16
                )
                n = self._equal.get(hashed.digest(), 0)
                self._equal[hashed.digest()] = n + 1
                seen = self._contents[submission.request_id] = f"{hashed.hexdigest()}:{n}".encode()
            name = self._names[id(submission)] = f"{seen.decode()}:{submission.index}"
        return f"{name}:{message.index}"

    def transition(self, code: int, attempt: Attempt) -> list[Line]:
        """A result reached."""
        return [
            {
                "kind": "transition",
                **self.of_attempt(attempt),
                "result": STATES[code],
                "info": info_of(attempt, code),
                "price": attempt.price,
                "count": attempt.count,
            }
        ]

    def of_attempt(self, attempt: Attempt) -> Line:
        """What names an attempt."""
        message = attempt.message
        return {
            "message": self.message(message),
            "phone": message.phone,
            "attempt": attempt.number,
            "channel": attempt.step.channel,
        }

    def request(self, _code: int, record: RequestRecord) -> list[Line]:
        """A call: what was asked and how it was answered; its path without the query, which may hold the key."""
        if record.canonical is not None:
            body = self.content(record.canonical)
        else:
            body = record.body
        return [
            {
                "kind": "request",
                "operation": record.operation,
                "method": record.method,
                "path": record.path.partition("?")[0],
                "status": record.status,
                "body": blake2b(body, digest_size=16).hexdigest(),
            }
        ]

    def tries(self, _code: int, what: tuple[Delivery, int]) -> list[Line]:
        """One line an event: which events share a batch depends on who came first."""
        delivery, index = what
        done = delivery.tries[index]
        return [
            {"kind": "try", "number": index, "status": done.status, "error": done.error, "event": self.event(event)}
            for event in delivery.events
        ]

    def event(self, event: Any) -> Line:
        """An event's canonical content."""
        if isinstance(event, Inbound):
            return self.inbound_line(event)
        attempt, code = event
        return {**self.of_attempt(attempt), "result": STATES[code]}

    def inbound_line(self, inbound: Inbound) -> Line:
        """A message from a phone."""
        return {
            "kind": "inbound",
            "channel": inbound.channel,
            "phone": inbound.sender,
            "to": inbound.recipient,
            "body": inbound.body,
            "reply": None if inbound.message is None else self.message(inbound.message),
        }

    def lapse(self, _code: int, what: tuple[str, Any]) -> list[Line]:
        """Something stopped being true."""
        kind, subject = what
        if isinstance(subject, Link):
            return [{"kind": "lapse", "what": kind, "message": self.message(subject.message), "target": subject.target}]
        return [{"kind": "lapse", "what": kind, "phone": subject[0]}]


def _remove(value: Any, path: tuple[str, ...]) -> None:
    for name in path[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value.pop(path[-1], None)


_LINES: Final[dict[str, Callable[[_Canon, int, Any], list[Line]]]] = {
    **dict.fromkeys(STATES, _Canon.transition),
    "request": _Canon.request,
    "refusal": lambda canon, _, what: [{"kind": "refusal", **canon.of_attempt(what[0]), "why": what[1]}],
    "fallback": lambda canon, _, what: [{"kind": "fallback", **canon.of_attempt(what[0]), "why": what[1]}],
    "illegal": lambda canon, _, what: [{"kind": "illegal", **canon.of_attempt(what[0]), "wanted": what[1]}],
    "postponed": lambda canon, _, what: [
        {
            "kind": "postponed",
            "message": canon.message(what[0]),
            "until": what[1] - canon._world.start,
        }
    ],
    "delivery": lambda canon, _, what: [],
    "try": _Canon.tries,
    "no_target": lambda canon, _, what: [
        {
            "kind": "no_target",
            **(canon.inbound_line(what) if isinstance(what, Inbound) else canon.of_attempt(what)),
        }
    ],
    "inbound": lambda canon, _, what: [canon.inbound_line(what)],
    "click": lambda canon, _, what: [{"kind": "click", "message": canon.message(what.message), "target": what.target}],
    "phone": lambda canon, _, what: [{"kind": "phone", "phone": what[0], "act": what[1]}],
    "opt_out": lambda canon, _, what: [{"kind": "opt_out", "phone": what[0]}],
    "timeline": lambda canon, _, what: [{"kind": "timeline", "entry": orjson.dumps(what).decode()}],
    "lapse": _Canon.lapse,
    "advice": lambda canon, _, what: [{"kind": "advice", "code": what[0].code}],
}
