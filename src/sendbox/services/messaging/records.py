"""The records a world keeps: submissions, messages, attempts, deliveries, links. Slotted, small, made on the hot path.

Events (`events.py`), message rows (`http/rest/listing.py`) and the views of control (`views.py`) are derived from these
when they are asked for; nothing is stored twice. It is long because each record stands here with what follows from it.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import Outlet
from sendbox.engine.draws import UNSEEDED, Chooser, Naming, uuid_text
from sendbox.engine.journal import enter
from sendbox.engine.kept import Kept
from sendbox.engine.remarks import Finding
from sendbox.services.messaging.channels import ACCEPTED, DELIVERED, REACH, SEEN, SENT, STATES
from sendbox.services.messaging.model import Send, Step
from sendbox.services.messaging.rules.rules import Decision
from sendbox.services.numbers.countries import operator
from sendbox.services.ports import Key, ServiceSending
from sendbox.services.templates.templates import TemplateUse

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.services.messaging.prices import Cost


#: The sender a phone shows when neither the request nor its key named one.
DEFAULT_SENDER: Final = "InfoSMS"
#: A request of this operation has several objects, each with ids of its own (§2.3).
LIST_OPERATION: Final = "sendMessages"
#: So many messages are named by the bytes that name their request.
NAMED: Final = 3
#: So many ids are remembered: the events of a message ask for the same ones, most of them soon.
_RECENT: Final = 4096
#: Messages of this operation have no row (A73).
_WITHOUT_ROW: Final = "createValidation"
enter("refusal", "fallback", "postponed", "illegal", "inbound", "click", "phone", "opt_out")
enter("outage", "bulk", "bulk_line")
_TRANSITION: Final = struct.Struct("<Bq")
TRANSITION_SIZE: Final = _TRANSITION.size
pack_transition = _TRANSITION.pack
iter_transitions = _TRANSITION.iter_unpack


#: The results that an attempt will go through: (state code, milliseconds after the entry before, info).
Plan = tuple[tuple[int, int, str | None], ...]


def make_id(names: bytes, naming: Naming, place: int) -> str:
    """The id of a request, or with a place from 1 on of one of its messages, by the 64 bytes that name the request."""
    return uuid_text(names, 16 * place) if place <= NAMED else make_base_id(names, naming, place - 1)


def make_base_id(names: bytes, naming: Naming, index: int) -> str:
    """The start of the ids of the messages of one object, if a request has several objects."""
    return uuid_text(naming.name("message", names, index))


@lru_cache(_RECENT)
def _names(naming: Naming, digest: bytes, equal: int) -> bytes:
    return naming.name("request", digest, equal)


@lru_cache(_RECENT)
def _id(naming: Naming, digest: bytes, equal: int, place: int) -> str:
    return make_id(_names(naming, digest, equal), naming, place)


@lru_cache(_RECENT)
def _base_id(naming: Naming, digest: bytes, equal: int, index: int) -> str:
    return make_base_id(_names(naming, digest, equal), naming, index)


class Request(msgspec.Struct, eq=False, gc=False):
    """An accepted request: what its ids are derived from. So they need not be kept, and most are never asked for.

    `digest` is the hash of its canonical content, `equal` the number of equal requests before it (§2.3).
    """

    naming: Naming
    digest: bytes
    equal: int

    @property
    def id(self) -> str:
        """Its id."""
        return _id(self.naming, self.digest, self.equal, 0)

    @property
    def names(self) -> bytes:
        """64 bytes that name it and its first three messages; they are remembered once an id is asked for again."""
        return self.naming.name("request", self.digest, self.equal)

    def message_id(self, place: int) -> str:
        """The id of the message to the recipient at a place, of a request with one object."""
        return _id(self.naming, self.digest, self.equal, place + 1)

    def base_id(self, index: int) -> str:
        """The start of the ids of the messages of one object, for a request with several objects."""
        return _base_id(self.naming, self.digest, self.equal, index)


class Submission(msgspec.Struct, eq=False, gc=False):
    """One Message object of an accepted request. `ordinal` counts the world's messages; the first recipient has it.

    Its messages and their attempts know each other, and Python's collector none of them: `forgetting.take_apart`.
    """

    send: Send
    operation: str
    key: Key
    request: Request
    accepted_at: int
    ordinal: int
    #: the call that sent it, or the canonical request without callback, from which the names were derived
    source: RequestRecord | bytes
    #: its messages, or the only one, as most have
    _messages: tuple[Message, ...] | Message = ()
    outlet: Outlet | None = None
    #: origin of the request, which short links begin with
    origin: str = ""
    #: what the operators of its phones are asked of; the hash does without a world
    chooser: Chooser = UNSEEDED
    #: (number of a step, its prepared text) while several recipients are served with it
    prepared: tuple[int, Any] | None = None
    #: the service that sends this for itself: then it is not a message of the client's (A73)
    service_sending: ServiceSending | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that are handed over."""
        messages = self._messages
        return messages if isinstance(messages, tuple) else (messages,)

    @messages.setter
    def messages(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages[0] if len(messages) == 1 else messages

    @property
    def index(self) -> int:
        """The place of the object in its request."""
        return self.send.index

    @property
    def content(self) -> bytes:
        """The canonical request without callback, shared by its submissions."""
        source = self.source
        return source if isinstance(source, bytes) else source.canonical or b""

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self.request.id

    @property
    def base_id(self) -> str:
        """The start of the ids of its messages if the request may have several objects, else ""."""
        return self.request.base_id(self.index) if self.several else ""

    @property
    def several(self) -> bool:
        """True if its request may have several objects, each with its own ids."""
        return self.operation == LIST_OPERATION

    def id_of(self, place: int) -> str:
        """The id of the message to the recipient at a place."""
        base_id = self.base_id
        return f"{base_id}-{place}" if base_id else self.request.message_id(place)


class Reactions(msgspec.Struct, frozen=True, eq=False):
    """The links of a message, by the number of the flow step, and the instants at which its phone first did a thing."""

    links: Mapping[int, Sequence[Link]] = msgspec.field(default_factory=dict)
    clicked_at: int | None = None
    replied_at: int | None = None
    optout_at: int | None = None


#: Those of most messages.
NO_REACTIONS: Final = Reactions()


class Message(msgspec.Struct, eq=False, gc=False):
    """One recipient's message. `last` is the newest attempt, attempts are linked by `previous`."""

    submission: Submission
    index: int
    phone: str
    valid: bool
    last: Attempt | None = None
    reactions: Reactions = NO_REACTIONS

    @property
    def accepted_at(self) -> int:
        """The instant at which its request was accepted."""
        return self.submission.accepted_at

    @property
    def id(self) -> str:
        """Its id, derived from its request: not kept, since most are never asked for."""
        return self.submission.id_of(self.index)

    @property
    def ordinal(self) -> int:
        """Position in the world's order of acceptance."""
        return self.submission.ordinal + self.index

    @property
    def cause(self) -> RequestRecord | None:
        """The call that brought it about, also where a service sends for itself; None for a line of an upload."""
        source = self.submission.source
        return None if isinstance(source, bytes) else source

    @property
    def call(self) -> RequestRecord | None:
        """The call that sent it; None for a line of an upload, and where a service sends for itself (A73)."""
        return None if self.submission.service_sending else self.cause

    @property
    def attempts(self) -> list[Attempt]:
        """All attempts, oldest first."""
        newest_first = []
        attempt = self.last
        while attempt is not None:
            newest_first.append(attempt)
            attempt = attempt.previous
        return newest_first[::-1]

    @property
    def furthest_attempt(self) -> Attempt | None:
        """The attempt a row shows: the last one, or an earlier one that got further (A65)."""
        best = None
        for attempt in self.attempts:
            if best is None or REACH[attempt.state] >= REACH[best.state]:
                best = attempt
        return best

    @property
    def result(self) -> str:
        """The result of the attempt shown; `accepted` while nothing was tried."""
        attempt = self.furthest_attempt
        return STATES[attempt.state] if attempt is not None else STATES[ACCEPTED]

    def result_at(self, instant: int) -> str:
        """The value of `result` at an instant in the past."""
        best = ACCEPTED
        for attempt in self.attempts:
            state = attempt.state_at(instant)
            begun = state != ACCEPTED or not attempt.history
            if begun and REACH[state] >= REACH[best]:
                best = state
        return STATES[best]


class Course(msgspec.Struct, frozen=True, gc=False):
    """How far an attempt has come, and what is still to come; those that go the same way share one.

    `plan` is the whole path, None when it was dropped or has ended.
    """

    history: bytes = b""
    plan: Plan | None = None


_UNTRIED: Final = Course()


class Particulars(msgspec.Struct, eq=False, gc=False):
    """The data that most attempts do not have; the properties of `Attempt` say what they are."""

    number: int = 0
    previous: Attempt | None = None
    decision: Decision | None = None
    extra: JsonObject | None = None


class Attempt(msgspec.Struct, eq=False, gc=False):
    """One flow step tried for one message."""

    message: Message
    particulars: Particulars | None = None
    course: Course = _UNTRIED
    #: None when it was not handed over
    cost: Cost | None = None
    #: the operator that took it, once it was asked for
    operator: int | None = None

    @property
    def number(self) -> int:
        """The number of the flow step that it tries."""
        return 0 if self.particulars is None else self.particulars.number

    @property
    def previous(self) -> Attempt | None:
        """The attempt before it."""
        return None if self.particulars is None else self.particulars.previous

    @property
    def decision(self) -> Decision | None:
        """The decision of rules, None when they were not asked or had no say."""
        return None if self.particulars is None else self.particulars.decision

    @decision.setter
    def decision(self, decision: Decision | None) -> None:
        if decision is not None:
            self._own_particulars().decision = decision

    @property
    def extra(self) -> JsonObject | None:
        """The infos by code, and why it was refused; None for most."""
        return None if self.particulars is None else self.particulars.extra

    def _own_particulars(self) -> Particulars:
        """Its particulars, to note something there."""
        if self.particulars is None:
            self.particulars = Particulars()
        return self.particulars

    @property
    def history(self) -> bytes:
        """Its transitions, packed."""
        return self.course.history

    @property
    def plan(self) -> Plan | None:
        """Its whole path, None when it was dropped or has ended."""
        return self.course.plan

    @property
    def state(self) -> int:
        """The code of its state, that of its newest transition."""
        history = self.course.history
        return history[-TRANSITION_SIZE] if history else ACCEPTED

    @property
    def price(self) -> tuple[int, int] | None:
        """The price of the whole attempt in millionths (eur, czk), None when it was not handed over."""
        return None if self.cost is None else self.cost[:2]

    @property
    def count(self) -> int:
        """The number of its segments, 0 when it was not handed over."""
        return 0 if self.cost is None else self.cost[2]

    def replan(self, plan: Plan | None) -> None:
        """Goes on by another path from where it is."""
        self.course = Course(self.course.history, plan)

    @property
    def step(self) -> Step:
        """The flow step that this attempt tries."""
        return self.message.submission.send.steps[self.number]

    @property
    def position(self) -> int:
        """The number of transitions so far; while there is a plan, this is also the index of its next entry."""
        return len(self.history) // TRANSITION_SIZE

    @property
    def mnc(self) -> int:
        """The operator that took the attempt, 0 when none did (A67, A82)."""
        if self.cost is None:
            return 0
        if self.operator is None:  # each of its events asks
            self.operator = operator(self.message.phone, self.message.submission.chooser)
        return self.operator

    @property
    def shown_sender(self) -> str:
        """The sender a handset shows for it."""
        return self.sender or self.message.submission.key.default_sender or DEFAULT_SENDER

    @property
    def body(self) -> str | None:
        """The text of its step as the request gave it."""
        return self.message.submission.send.text(self.step)

    @property
    def sender(self) -> str | None:
        """The sender that its step names."""
        return self.step.sender

    @property
    def template(self) -> TemplateUse | None:
        """The template that its step uses."""
        return self.step.template

    @property
    def template_name(self) -> str | None:
        """The name of that template."""
        return None if self.template is None else self.template.name

    @property
    def template_params(self) -> tuple[str, ...]:
        """The texts that its template got as parameters."""
        return () if self.template is None else self.template.texts

    @property
    def sent_at(self) -> int | None:
        """The instant at which it was sent; None when it never was."""
        return self.reached(SENT)

    @property
    def seen_at(self) -> int | None:
        """The instant at which it was seen; None when it never was."""
        return self.reached(SEEN)

    def transitions(self) -> list[tuple[int, int]]:
        """(state code, instant) of each transition, in order."""
        return list(iter_transitions(self.history))

    def state_at(self, instant: int) -> int:
        """The state's code at an instant that has been."""
        reached = ACCEPTED
        for state, at in iter_transitions(self.history):
            if at > instant:
                break
            reached = state
        return reached

    def reached(self, code: int) -> int | None:
        """The instant at which the attempt entered a state; None when it never did."""
        for state, at in iter_transitions(self.history):
            if state == code:
                return int(at)
        return None

    @property
    def arrived_at(self) -> int | None:
        """The instant at which it was on the handset: when that confirmed it, or when it was opened unconfirmed."""
        return next((int(at) for state, at in iter_transitions(self.history) if state in (DELIVERED, SEEN)), None)

    def entered(self, code: int, until: int) -> int:
        """The instant of the newest transition to a state up to `until`: an illegal path may reach one twice."""
        newest: int
        entered: int
        newest, entered = _TRANSITION.unpack_from(self.history, len(self.history) - TRANSITION_SIZE)
        if newest == code and entered <= until:
            return entered
        return max((int(at) for state, at in iter_transitions(self.history) if state == code and at <= until))

    def info(self, code: int) -> str | None:
        """The `result_info` given for a state by a rule, a check or a tester; None = the default of A23."""
        return self.extra.get(f"info{code}") if self.extra is not None else None

    @property
    def refused(self) -> str | None:
        """The word of the check that refused it, None where none did."""
        return None if self.extra is None else self.extra.get("why")

    @property
    def planned(self) -> list[str]:
        """The results that are still to come."""
        return [STATES[code] for code, _, _ in (self.plan or ())[self.position :]]

    def due(self, now: int) -> list[int]:
        """The instants at which these will come, as far as can be said now: one counts from the one before it."""
        last = max((int(at) for _, at in iter_transitions(self.history)), default=now)
        after = accumulate(after for _, after, _ in (self.plan or ())[self.position :])
        return [max(last + ms, now) for ms in after]

    def note(self, name: str, value: object) -> None:
        """Keeps something rarely needed."""
        particulars = self._own_particulars()
        if particulars.extra is None:
            particulars.extra = {}
        particulars.extra[name] = value


class Inbound(msgspec.Struct, eq=False):
    """A message from a phone. `message` is set when it replies to one of ours."""

    at: int
    channel: str
    sender: str
    recipient: str
    body: str
    message: Message | None
    number: int
    #: the text as the digest takes it, None = as it is
    canonical: str | None = None


class Link(msgspec.Struct, eq=False):
    """A short link of one message (§2.1). `expires_at` in virtual milliseconds, `clicks` the instants of its GETs."""

    code: str
    target: str
    url: str
    message: Message
    expires_at: int
    clicks: list[int] = msgspec.field(default_factory=list)


class Accepted(msgspec.Struct, eq=False):
    """The answer of `Messaging.accept`; `findings` say why recipients were rejected.

    `objects` has a row for each Message object: its index, its number of recipients, and the places of those that were
    rejected.
    """

    request: Request
    operation: str
    objects: list[tuple[int, int, Collection[int]]]
    findings: Sequence[Finding]

    @property
    def complete(self) -> bool:
        """True if no recipient was rejected."""
        return not self.findings

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self.request.id

    @property
    def base_ids(self) -> list[str]:
        """The start of the ids of each object's messages, "" where the request has one object."""
        several = self.operation == LIST_OPERATION
        return [self.request.base_id(index) if several else "" for index, _, _ in self.objects]

    @property
    def messages(self) -> list[list[str | None]]:
        """The ids of each object's messages, None for a recipient that was rejected."""
        rows = zip(self.base_ids, self.objects, strict=True)
        return [
            [
                None if place in rejected else f"{base}-{place}" if base else self.request.message_id(place)
                for place in range(count)
            ]
            for base, (_, count, rejected) in rows
        ]


class Rows(msgspec.Struct, eq=False):
    """The messages of a world that have a row, oldest first, and the instants from which they have it."""

    at: array[int] = msgspec.field(default_factory=lambda: array("q"))
    messages: Kept[Message] = msgspec.field(default_factory=Kept)

    def add(self, messages: Sequence[Message], now: int) -> None:
        """Messages of one submission are about to be handed over, or refused, for the first time."""
        if messages[0].submission.operation != _WITHOUT_ROW:
            self.at.extend([now] * len(messages))
            self.messages += messages
