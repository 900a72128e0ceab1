"""Faults of deliveries: the rules of `webhooks:`, and what a world remembers of them.

Two things are decided, each by the first rule that fits. How an event *travels* is decided when it is about to leave;
how a *try* of a batch ends (`answer`) each time one is made, so that a retry after the rule's time gets through. What
is drawn is keyed by the rule, the subject and the ordinal of the event (or try, for `answer`) among those of this
subject that asked the rule, so that it depends neither on other subjects nor on the order of arrival; what
counts (`nth`, `every`, `times`) follows the order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sendbox.engine.delivery.batches import Home
from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.draws import Draw
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import Rule as AnyRule
from sendbox.engine.rules.rule import When, difference


class WebhookRule(AnyRule, frozen=True, kw_only=True):
    """One entry of `webhooks`."""

    when: When
    fault: WebhookFault


class Decision(Struct, frozen=True):
    """The decision of the rules about an event or a try: `rule` None = nothing happens to it.

    `draw` is for what else the fault draws. Without a rule `order_sensitive` says that its turn had not come.
    """

    rule: WebhookRule | None
    draw: Draw | None
    order_sensitive: bool


class WebhookFaults(Rulebook[WebhookRule]):
    """The rules of `webhooks`. Its cases are events: each when it is about to leave, and again at each try."""

    PREFIX = "w"

    def __init__(self, world: Home, rules: Sequence[WebhookRule]) -> None:
        super().__init__(rules, world.chooser, world.start)
        self._world = world
        self._arrange(self.rules)

    def _arrange(self, rules: list[WebhookRule]) -> None:
        super()._arrange(rules)
        #: those that decide how events travel, those that decide about tries, and those that overtake
        self.travels = [rule for rule in rules if rule.fault.ending is None]
        self.answers = [rule for rule in rules if rule.fault.ending is not None]
        self.overtakes = [replace(rule, when=rule.when.without("result")) for rule in rules if rule.fault.racing]

    # -- deciding

    def travel(self, event: object, case: Case, *, racing: bool) -> Decision:
        """The decision about the way of an event. `racing`: the answer to its own request has not been sent yet."""
        older = self._world.events[type(event)].older
        return self._first(
            (
                rule
                for rule in self.travels
                if (racing or not rule.fault.racing) and (not rule.fault.follows or older(event) is not None)
            ),
            case,
        )

    def answer(self, cases: Sequence[Case]) -> Decision:
        """The decision about a try: the rule that answers in place of the receiver; `rule` None = the try is made."""
        decided = self._first(self.answers, *cases)
        # which event of several speaks for the batch depends on which came first
        drawn = len(cases) > 1 and any(map(self.alone, cases))
        return replace(decided, order_sensitive=True) if drawn else decided

    def group(self, case: Case) -> tuple[bool, ...]:
        """The rules about tries that an event falls under: events that differ in them share no batch."""
        return tuple(not difference(rule, case) for rule in self.answers)

    def alone(self, case: Case) -> bool:
        """True if rules about tries draw for this event, so that it must have a batch of its own."""
        return any(rule.when.share is not None and not difference(rule, case) for rule in self.answers)

    def may_overtake(self, case: Case) -> bool:
        """True if an event of a request that was just accepted may have to leave before the answer, with any result."""
        now, start = self._world.clock.now, self._world.start
        return any(not difference(rule, case) and rule.when.closed(now, start) is None for rule in self.overtakes)

    def _first(self, rules: Iterable[WebhookRule], *cases: Case) -> Decision:
        """The first rule that decides."""
        for case in cases:
            case.instant = self._world.clock.now
        decisions, order_sensitive = self.decide(rules, *cases)
        if not decisions:
            return Decision(None, None, order_sensitive)
        ((rule, _, _, drawn),) = decisions
        return Decision(rule, None if drawn is None else drawn.draw, order_sensitive)
