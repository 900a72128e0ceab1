"""Faults of deliveries: the rules of `webhooks:`, and what a world remembers of them.

Two things are decided, each by the first rule that fits. How an event *travels* is decided when it is about to leave;
how a *try* of a batch ends (`answer`) each time one is made, so that a retry after the rule's time gets through. What
is drawn is keyed by the rule, the phone and how-manieth event of this phone (or try, for `answer`) asked the rule, so
that no other phone and no order of arrival has a part in it; what counts (`nth`, `every`, `times`) goes by arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.core.identity import Draw
from sendbox.core.lifecycle import STATES
from sendbox.core.partner_records import Onboarding
from sendbox.core.records import Inbound
from sendbox.core.rulebook import Rulebook, Turns, in_time
from sendbox.core.rules import Span
from sendbox.core.spans import Moment, show

if TYPE_CHECKING:
    from sendbox.core.patterns import Pattern
    from sendbox.core.world import World

#: What may happen to an event on its way.
FAULTS: Final = (
    "drop", "duplicate", "delay", "reorder", "split", "bundle", "bad_signature", "stale", "overtake", "content_type",
    "answer",
)  # fmt: skip
#: Those that gather the events of some time before anything is sent.
GATHERING: Final = frozenset({"reorder", "bundle"})
AT_ONCE: Final = Span(0, 0)
#: Why a try fails that reaches nobody, beside a status.
SILENCES: Final = ("timeout", "refused", "closed")


@dataclass(frozen=True, slots=True)
class WebhookFault:
    """What happens: `kind` is one of `FAULTS`, and the fields that it does not name say nothing.

    `after` is the time of `delay`, `duplicate` and `stale`, and the window of `reorder` and `bundle`. `copies` and
    `new_id` are a duplicate's. `value` is the content type, or what a try is answered with: a status or a silence.
    """

    kind: str
    after: Span = AT_ONCE
    copies: int = 1
    new_id: bool = False
    value: str | int = ""

    @property
    def text(self) -> str:
        """The fault in words, such as `delay 30s`."""
        after = show(self.after.low) if self.after.low == self.after.high else f"{_span(self.after)}"
        detail = {
            "duplicate": f" {self.copies}, {'another' if self.new_id else 'the same'} id, after {after}",
            "delay": f" {after}",
            "reorder": f" {after}",
            "bundle": f" {after}",
            "stale": f" {after}",
            "content_type": f" {self.value}",
            "answer": f" {self.value}",
        }
        return f"{self.kind}{detail.get(self.kind, '')}"


def _span(span: Span) -> str:
    return f"{show(span.low)}..{show(span.high)}"


@dataclass(frozen=True, slots=True)
class WebhookWhen:
    """Conditions of a rule; None = not asked, all that are given must hold.

    `begins` and `ends` bound a window of the world's clock, the second one excluded. `share` is from 0 to 1. `nth` and
    `every` count what satisfies all the rest, in order of arrival (order-sensitive).
    """

    result: tuple[str, ...] | None = None
    event: tuple[str, ...] | None = None
    gateway: tuple[str, ...] | None = None
    phone: Pattern | None = None
    tag: Pattern | None = None
    nth: int | None = None
    every: int | None = None
    share: float | None = None
    begins: Moment | None = None
    ends: Moment | None = None


@dataclass(frozen=True, slots=True)
class WebhookRule:
    """One entry of `webhooks`. `key` is its name, or its canonical text. `times` limits how often it may be used."""

    key: str
    when: WebhookWhen
    fault: WebhookFault
    times: int | None = None
    name: str | None = None
    place: str | None = None
    #: set when control put the rule in front
    id: str | None = None

    @property
    def label(self) -> str:
        """What the journal calls it."""
        return self.name or self.key

    @property
    def counts(self) -> bool:
        """Whether it goes by the order of arrival."""
        return self.when.nth is not None or self.when.every is not None or self.times is not None


class Subject(NamedTuple):
    """What a rule may look at: one event about to leave, or about to be tried."""

    event: str
    result: str | None
    gateway: str
    phone: str
    tags: tuple[str, ...] = ()
    #: names the request that it belongs to
    request: str = ""


def subject_of(event: Any) -> Subject:
    """An event as rules see it."""
    if isinstance(event, Onboarding):
        return Subject("partnerOnboarding", None, "", str(event.fields.get("phone_number") or ""))
    if isinstance(event, Inbound):
        replied = event.message
        if replied is None:
            return Subject("incomingMessage", None, event.channel, event.sender)
        submission = replied.submission
        return Subject(
            "incomingReplyMessage", None, event.channel, event.sender, submission.send.tags, submission.request_id
        )
    attempt, code = event
    submission = attempt.message.submission
    return Subject(
        "sentMessage",
        STATES[code],
        attempt.step.channel,
        attempt.message.phone,
        submission.send.tags,
        submission.request_id,
    )


def older_of(event: Any) -> tuple[Any, int] | None:
    """The event of the same message before this one; None where there is none."""
    if isinstance(event, Onboarding):
        return None
    if isinstance(event, Inbound):
        last = None if event.message is None else event.message.last
        return None if last is None or not last.position else (last, last.state)
    attempt, code = event
    codes = [reached for reached, _ in attempt.transitions()]
    before = codes[: len(codes) - 1 - codes[::-1].index(code)]
    if before:
        return attempt, before[-1]
    earlier = attempt.previous
    return None if earlier is None else (earlier, earlier.state)


def fits(when: WebhookWhen, subject: Subject) -> bool:
    """Whether the conditions hold that only look at the event itself."""
    return (
        (when.result is None or subject.result in when.result)
        and (when.event is None or subject.event in when.event)
        and (when.gateway is None or subject.gateway in when.gateway)
        and (when.phone is None or when.phone.matches(subject.phone))
        and (when.tag is None or any(map(when.tag.matches, subject.tags)))
    )


class Decision(NamedTuple):
    """What rules decided about an event or a try: `rule` None = nothing happens to it.

    `draw` is for what else the fault draws. Without a rule `order_sensitive` says that its turn had not come.
    """

    rule: WebhookRule | None
    draw: Draw | None
    order_sensitive: bool


NOTHING: Final = Decision(None, None, order_sensitive=False)


class WebhookFaults(Rulebook[WebhookRule]):
    """The rules of one world, and what it remembers of them."""

    PREFIX = "w"
    __slots__ = ("_turns", "_world", "answers", "overtakes", "travels")

    def __init__(self, world: World, rules: Sequence[WebhookRule]) -> None:
        super().__init__(rules)
        self._world = world
        self._turns = Turns()
        self._arrange(self.rules)

    def _arrange(self, rules: list[WebhookRule]) -> None:
        super()._arrange(rules)
        #: those that decide how events travel, those that decide about tries, and those that overtake
        self.travels = [rule for rule in rules if rule.fault.kind != "answer"]
        self.answers = [rule for rule in rules if rule.fault.kind == "answer"]
        self.overtakes = [rule for rule in rules if rule.fault.kind == "overtake"]

    # -- deciding

    def travel(self, event: Any, subject: Subject, *, racing: bool) -> Decision:
        """How an event travels. `racing`: the answer of its own request has not gone out yet."""
        return self._first(
            (rule, subject)
            for rule in self.travels
            if (rule.fault.kind != "overtake" or racing)
            and fits(rule.when, subject)
            and (rule.fault.kind != "stale" or older_of(event) is not None)
        )

    def answer(self, subjects: Sequence[Subject]) -> Decision:
        """How a try of a batch ends that reaches nobody; `rule` None = it is made."""
        fitting = []
        for rule in self.answers:
            found = next((subject for subject in subjects if fits(rule.when, subject)), None)
            if found is not None:
                fitting.append((rule, found))
        if not fitting:
            return NOTHING
        decided = self._first(fitting)
        drawn = any(rule.when.share is not None for rule, _ in fitting)
        # which event of several speaks for the batch depends on which came first
        return decided._replace(order_sensitive=True) if drawn and len(subjects) > 1 else decided

    def group(self, subject: Subject) -> tuple[bool, ...]:
        """Which rules about tries an event falls under: what differs here shares no batch."""
        return tuple(fits(rule.when, subject) for rule in self.answers)

    def alone(self, subject: Subject) -> bool:
        """Whether tries are drawn for the event, so that it shares a batch with no other."""
        return any(rule.when.share is not None and fits(rule.when, subject) for rule in self.answers)

    def may_overtake(self, channel: str, phone: str, tags: tuple[str, ...]) -> bool:
        """Whether some event of a message just accepted may have to leave before the answer."""
        asked = Subject("sentMessage", None, channel, phone, tags)
        return any(fits(replace(rule.when, result=None), asked) and self._in_time(rule) for rule in self.overtakes)

    def _first(self, rules: Iterable[tuple[WebhookRule, Subject]]) -> Decision:
        """The first rule that decides; those after it count and draw all the same, as if nothing had come before."""
        order_sensitive = False
        found: Decision | None = None
        # equal rules know an event as one
        drawn: dict[tuple[str, str], tuple[Draw, bool]] = {}
        counted: dict[str, int] = {}
        for rule, subject in rules:
            if not self._in_time(rule):
                continue
            draw: Draw | None = None
            if rule.when.share is not None:
                key = rule.key, subject.phone
                draw, raced = drawn.get(key) or drawn.setdefault(key, self.draw(rule, subject))
                order_sensitive = order_sensitive or (raced and found is None)
                if not draw.below(rule.when.share, "share"):
                    continue
            name = rule.id or rule.key
            if rule.counts:
                order_sensitive = order_sensitive or found is None
                if not self._turns.come(name, rule.when.nth, rule.when.every, counted):
                    continue
            if found is not None or not self._turns.left(name, rule.times):
                continue
            self._turns.use(name, rule.times)
            found = Decision(rule, draw, order_sensitive)
        return found or Decision(None, None, order_sensitive)

    def _in_time(self, rule: WebhookRule) -> bool:
        return in_time(rule.when.begins, rule.when.ends, self._world.clock.now, self._world.start)

    def draw(self, rule: WebhookRule, subject: Subject) -> tuple[Draw, bool]:
        """The draw of a rule for the next event of a phone, and whether another could have come before it as well."""
        number, raced = self._turns.draw((rule.key, subject.phone), self._world.clock.now, subject.request)
        return Draw(self._world.seed, f"{rule.key}\0{subject.phone}".encode(), number), raced
