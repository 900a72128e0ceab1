"""Messaging: the state that it keeps in a world, and the methods that other parts can call.

It accepts requests, too: it names them, makes their messages, and schedules their hand-over (§1, §2.1, §2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Generator, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec.structs import replace

from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.delivery.batches import Delivery, Events, Outlet, Target
from sendbox.engine.kept import Index, Kept
from sendbox.engine.part import Part
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.texts import Text
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.advice import OUTBOX_NOT_FETCHED, TEST_NUMBER, advise, on_answer
from sendbox.services.assume import Assume
from sendbox.services.messaging.bulk import Bulks
from sendbox.services.messaging.channels import FAMILY, USUAL
from sendbox.services.messaging.content.text import fill
from sendbox.services.messaging.events import EVENTS, expected_case
from sendbox.services.messaging.flow import Simulator
from sendbox.services.messaging.forgetting import ForgottenMessages, forget, take_apart
from sendbox.services.messaging.model import Recipient, Send, Step
from sendbox.services.messaging.outages import Outages
from sendbox.services.messaging.phones import Phones
from sendbox.services.messaging.prices import Costs
from sendbox.services.messaging.records import Accepted, Attempt, Inbound, Link, Message, Request, Rows, Submission
from sendbox.services.messaging.rules.rules import Attempts, Line
from sendbox.services.ports import Key, ServiceSending, account_of
from sendbox.services.templates import templates

if TYPE_CHECKING:
    from sendbox.engine.blueprint import TimelineEntry
    from sendbox.services.messaging.home import Home


#: So many messages are taken apart between two pauses.
_RELEASED: Final = 250


class Messaging(Part):
    """The messaging of one world: rules, messages, phones, outages, uploads. Built after the account."""

    NAME: ClassVar[str] = "messaging"
    EVENTS: ClassVar[Events] = EVENTS
    LAPSES: ClassVar[frozenset[str]] = frozenset({"conversation"})
    __slots__ = (
        "accepted", "account", "assume", "attempts", "bulks", "by_id", "costs", "links", "messages",
        "outages", "past", "phones", "rows", "simulator", "world",
    )  # fmt: skip

    def __init__(self, world: World) -> None:
        self.world = world
        self.account = account_of(world)
        self.assume = Assume.of(world)
        self.attempts = Attempts(world.blueprint.compiled["attempts"], world.chooser, world.start)
        self.costs = Costs(self.assume.prices)
        self.messages: Kept[Message] = Kept()
        self.by_id: Index[Message] = Index(self.messages, attrgetter("id"))
        self.past: ForgottenMessages | None = None
        self.links: dict[str, Link] = {}
        #: how many recipients were taken so far; the ordinal of the next message
        self.accepted = 0
        self.rows = Rows()
        self.phones = Phones(self)
        self.outages = Outages(self)
        self.simulator: Simulator = Simulator(self)
        self.bulks = Bulks(self)

    def remark(self, delivery: Delivery) -> Advice | None:
        """Another status than 200 is taken, but a receiver must answer 200 (§6); a pulled outbox needs a client."""
        last = delivery.tries[-1]
        if last.error is None:
            return on_answer(last.status)
        if len(delivery.tries) > 1:
            return None
        text = "no client fetched the webhook from the outbox; run `sendbox forward`, or open the world with push"
        return advise(OUTBOX_NOT_FETCHED, text, "$.callback")

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The rules of `attempts`."""
        return {"attempts": self.attempts}

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of messages."""
        return {"messages": len(self.messages)}

    @property
    def made(self) -> int:
        """The number of all messages so far, including forgotten ones."""
        return self.messages.made

    def forget(self, until: int, bound: str, most: int) -> Generator[None, None, int]:
        """Forgets the oldest messages that have ended, with all that hangs on them."""
        if self.past is None:
            self.past = ForgottenMessages()
        return forget(self, self.past, until, bound, most)

    def follow(self, old: Messaging) -> None:
        """Lines of uploads are read as before."""
        self.bulks.decode = old.bulks.decode

    def still_lapses(self, at: int, kind: str, conversation: tuple[str, int]) -> bool:
        """True if a conversation really ends now; it may have been prolonged since (A66)."""
        return self.phones.conversations.get(conversation[0]) == at

    # -- commands

    def outlet_for(self, key: Key, callback: Target | None) -> Outlet | None:
        """The line to the callback, or the key's default, or its parent's, or the built-in receiver (§6, A68).

        None where the default is "": no receiver is wanted.
        """
        parent = self.account.top
        secret = key.default_callback_secret or parent.default_callback_secret
        if callback is not None:
            return self.world.outlets.line(callback if secret is None else replace(callback, secret=secret))
        url = key.default_callback_url
        if url is None:
            url = parent.default_callback_url
        if url == "":
            return None
        return self.world.outlets.line(_plain_target(url or "", secret))

    def accept(
        self,
        operation: str,
        sends: list[Send],
        key: Key,
        content: bytes,
        origin: str = "",
        record: RequestRecord | None = None,
        kind: type[Request] = Request,
    ) -> Accepted:
        """Takes the Message objects of one request; what follows from them is due at the instants they name.

        `content` is the canonical request; it is kept unless `record`, the call that brought it, has it.
        `kind` is what is kept of the request in its place. The response may reject recipients (A08). One loop, and
        long: every recipient of every call goes through it.
        """
        world = self.world
        now = world.clock.now
        source = content if record is None else record
        request = kind(world.naming, *world.numbered(operation, content))
        objects: list[tuple[int, int, Collection[int]]] = []
        findings: list[Finding] = []
        # the answer says nothing of a validation session's SMS: the session begins, and stays pending (A73)
        refuse_numbers = self.assume.invalid_number == "response" and operation != "createValidation"
        for send in sends:
            template_findings = _check_templates(self, send)
            findings += template_findings
            submission = Submission(
                send, operation, key, request, now, self.accepted, source, (), None, origin, world.chooser
            )
            self.accepted += len(send.recipients)
            rejected: list[int] = []
            messages: list[Message] = []
            for position, recipient in enumerate(send.recipients):
                # no webhook could name a recipient without a number (§6)
                if template_findings or (not recipient.valid and (refuse_numbers or not recipient.number.strip())):
                    if not template_findings:
                        place = f"{send.path}.to[{position}].phone_number"
                        findings.append(number_finding(recipient.number, place, "A08"))
                    rejected.append(position)
                    continue
                messages.append(Message(submission, position, recipient.number, recipient.valid))
            objects.append((send.index, len(send.recipients), rejected))
            if messages:
                waiting = submission.messages = tuple(messages)
                if self.assume.test_number == "on":
                    _remove_test_number(world, submission)
                    waiting = submission.messages
                submission.outlet = self.outlet_for(key, send.callback)
                self.messages += messages
                if world.outlets.faults.overtakes and submission.outlet is not None and operation != "createValidation":
                    _note_overtaking(world, submission)
                if waiting:
                    self.simulator.schedule(waiting, _first_attempt_at(send, now))
        return Accepted(request, operation, objects, findings)

    def is_test(self, phone: str) -> bool:
        """True if it is the test number, to which nothing is handed over (A89)."""
        return self.assume.test_number == "on" and phone == limits.TEST_NUMBER

    def can_pay(self, sends: list[Send], key: Key) -> bool:
        """True if the key's balance could pay for all of these now (A12, A13); the test number costs nothing (A89)."""
        billing = self.account.billing_of(key)
        prices = [self.simulator.price_of(send) for send in sends]
        return sum(eur if billing.currency == "EUR" else czk for eur, czk in prices) <= billing.balance

    def open_link(self, code: str, *, count: bool = True) -> Link | None:
        """A short link by its code, its click counted if `count`; None when it does not exist or has expired."""
        link = self.links.get(code)
        if link is None or self.world.clock.now >= link.expires_at:
            return None
        if count:
            self.phones.clicked(link)
        return link

    # -- the port of the other services

    def send_own(
        self,
        service_sending: ServiceSending,
        operation: str,
        phone: str,
        text: str,
        *,
        valid: bool,
        sender: str,
        payload: bytes,
        key: Key,
        content: bytes,
        origin: str,
        record: RequestRecord | None,
    ) -> tuple[Message, str]:
        """Sends a text by sms for another service; nothing is reported about it. Returns the id of its request too."""
        send = Send(
            [Recipient(phone, valid)],
            [Step(USUAL, text, sender)],
            tags=("transactional",),
            kept_payload=payload,
            priority=True,
        )
        accepted = self.accept(operation, [send], key, content, origin, record)
        message = self.messages[-1]
        message.submission.outlet = None
        message.submission.service_sending = service_sending
        return message, accepted.request_id

    def tried(self, family: str, senders: Container[str]) -> Iterator[Attempt]:
        """Every attempt that was handed over on a channel under one of the senders, in order of acceptance."""
        for message in self.messages:
            for attempt in message.attempts:
                sent = FAMILY[attempt.step.channel] == family and attempt.sender in senders
                if sent and attempt.price is not None:
                    yield attempt

    def written(self) -> list[Inbound]:
        """The messages that phones wrote, oldest first."""
        return self.phones.inbound

    # -- what a scenario's timeline does

    def _inbound(self, entry: TimelineEntry) -> None:
        fields = entry.what
        message_id = fields.get("message_id")
        if message_id not in self.by_id:
            message_id = None  # a reply to a message that does not exist is routed like any other text (A68)
        phone, line = fields["from"], _line(entry, fields["from"])
        body, canonical = (line, None) if isinstance(line, str) else fill(line, self.world.chooser, self.account, phone)
        inbound = self.phones.write(fields["channel"], phone, fields.get("to"), body, message_id=message_id)
        inbound.canonical = canonical

    def _reply(self, entry: TimelineEntry) -> None:
        fields, phone = entry.what, entry.what["phone"]
        self.phones.answer(phone, fields.get("channel"), fields.get("message_id"), _line(entry, phone))

    def _phone(self, entry: TimelineEntry) -> None:
        fields = entry.what
        self.phones.act(fields["number"], fields["act"], link=fields.get("link"), button=fields.get("button"))

    def _outage(self, entry: TimelineEntry) -> None:
        self.outages.begin(entry)

    TIMELINE_HANDLERS: ClassVar[Mapping[str, Callable[[Messaging, TimelineEntry], None]]] = {
        "inbound": _inbound,
        "reply": _reply,
        "phone": _phone,
        "outage": _outage,
    }

    def release(self) -> Iterator[None]:
        """Breaks the circles of references between messages and their parts."""
        for first in range(0, len(self.messages), _RELEASED):
            take_apart(self.messages[first : first + _RELEASED])
            if first + _RELEASED <= len(self.messages):
                yield
        for holder in (self.simulator, self.phones, self.outages, self.bulks):
            del holder._home


@lru_cache(1024)
def _plain_target(url: str, secret: str | None) -> Target:
    """The target of an address without more: one for all messages to it, so that its hash is made once."""
    return Target(url, secret=secret)


def _line(entry: TimelineEntry, phone: str) -> Line | str:
    body = entry.means
    return Line(body, entry.key, phone, entry.ordinal) if isinstance(body, Text) else str(entry.what["body"])


def _remove_test_number(world: World, submission: Submission) -> None:
    """Takes the messages to the test number out of those that will be handed over (A89)."""
    for message in submission.messages:
        if message.phone == limits.TEST_NUMBER:
            text = f"{message.phone} is the test number of the service: the message is taken, and nothing is sent"
            world.advise(
                advise(TEST_NUMBER, text, f"{submission.send.path}.to[{message.index}].phone_number"), message.phone
            )
    submission.messages = tuple(message for message in submission.messages if message.phone != limits.TEST_NUMBER)


def _note_overtaking(world: World, submission: Submission) -> None:
    """Notes a request of which some event may have to leave before its answer (`webhooks:`, `overtake`)."""
    channel, faults = submission.send.steps[0].channel, world.outlets.faults
    if any(faults.may_overtake(expected_case(channel, message)) for message in submission.messages):
        world.outlets.injection.overtaking_requests.append(submission.request_id)


def _first_attempt_at(send: Send, now: int) -> int:
    """When the first attempt is handed over: `datetime`, then the delivery window (§2.1, A18)."""
    at = send.at if send.at is not None and send.at > now + limits.SOON else now
    return at if send.window is None else send.window.next_open(at)


def _check_templates(home: Home, send: Send) -> list[Finding]:
    findings: list[Finding] = []
    for index, step in enumerate(send.steps):
        use = step.template
        template = None if use is None else home.account.template(use.name, use.language, step.sender)
        if use is not None and template is not None:
            path = f"{send.path}.flow[{index}].chatapp_template"
            findings += [
                Finding(f"{path}.{problem.path}", problem.rule, problem.message, problem.section, "A08")
                for problem in templates.check(template, use)
            ]
    return findings


def number_finding(number: str, path: str, assumed: str) -> Finding:
    """The reason why a number is refused in the answer already (§7.3)."""
    text = f'"{number}" cannot be normalized to international form; legal: 8 to 15 digits with a calling code'
    return Finding(path, "phone-number", f"{text} (§7.3, A14)", "§7.3", assumed)
