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

from sendbox.engine.cases import Case
from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.durations import Moment
from sendbox.engine.identity import Draw
from sendbox.engine.rules.book import Rulebook, Turns, in_time

if TYPE_CHECKING:
    from sendbox.engine.delivery.home import Home
    from sendbox.engine.patterns import Pattern


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


def fits(when: WebhookWhen, case: Case) -> bool:
    """Whether the conditions hold that only look at the event itself."""
    return (
        (when.result is None or any(word in when.result for word in case.words("result")))
        and (when.event is None or case.kind in when.event)
        and (when.gateway is None or any(word in when.gateway for word in case.words("gateway")))
        and (when.phone is None or when.phone.matches(case.subject))
        and (when.tag is None or any(map(when.tag.matches, case.words("tag"))))
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

    def __init__(self, world: Home, rules: Sequence[WebhookRule]) -> None:
        super().__init__(rules)
        self._world = world
        self._turns = Turns()
        self._arrange(self.rules)

    def _arrange(self, rules: list[WebhookRule]) -> None:
        super()._arrange(rules)
        #: those that decide how events travel, those that decide about tries, and those that overtake
        self.travels = [rule for rule in rules if rule.fault.given is None]
        self.answers = [rule for rule in rules if rule.fault.given is not None]
        self.overtakes = [rule for rule in rules if rule.fault.racing]

    # -- deciding

    def travel(self, event: Any, case: Case, *, racing: bool) -> Decision:
        """How an event travels. `racing`: the answer of its own request has not gone out yet."""
        return self._first(
            (rule, case)
            for rule in self.travels
            if (racing or not rule.fault.racing)
            and fits(rule.when, case)
            and (not rule.fault.follows or self._world.events[type(event)].older(event) is not None)
        )

    def answer(self, cases: Sequence[Case]) -> Decision:
        """How a try of a batch ends that reaches nobody; `rule` None = it is made."""
        fitting = []
        for rule in self.answers:
            found = next((case for case in cases if fits(rule.when, case)), None)
            if found is not None:
                fitting.append((rule, found))
        if not fitting:
            return NOTHING
        decided = self._first(fitting)
        drawn = any(rule.when.share is not None for rule, _ in fitting)
        # which event of several speaks for the batch depends on which came first
        return decided._replace(order_sensitive=True) if drawn and len(cases) > 1 else decided

    def group(self, case: Case) -> tuple[bool, ...]:
        """Which rules about tries an event falls under: what differs here shares no batch."""
        return tuple(fits(rule.when, case) for rule in self.answers)

    def alone(self, case: Case) -> bool:
        """Whether tries are drawn for the event, so that it shares a batch with no other."""
        return any(rule.when.share is not None and fits(rule.when, case) for rule in self.answers)

    def may_overtake(self, asked: Case) -> bool:
        """Whether some event of what was just accepted, whatever its result, may have to leave before the answer."""
        return any(fits(replace(rule.when, result=None), asked) and self._in_time(rule) for rule in self.overtakes)

    def _first(self, rules: Iterable[tuple[WebhookRule, Case]]) -> Decision:
        """The first rule that decides; those after it count and draw all the same, as if nothing had come before."""
        order_sensitive = False
        found: Decision | None = None
        # equal rules know an event as one
        drawn: dict[tuple[str, str], tuple[Draw, bool]] = {}
        counted: dict[str, int] = {}
        for rule, case in rules:
            if not self._in_time(rule):
                continue
            draw: Draw | None = None
            if rule.when.share is not None:
                key = rule.key, case.subject
                draw, raced = drawn.get(key) or drawn.setdefault(key, self.draw(rule, case))
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

    def draw(self, rule: WebhookRule, case: Case) -> tuple[Draw, bool]:
        """The draw of a rule for the next event of a phone, and whether another could have come before it as well."""
        number, raced = self._turns.draw((rule.key, case.subject), self._world.clock.now, case.request)
        return Draw(self._world.seed, f"{rule.key}\0{case.subject}".encode(), number), raced
