"""The simulator: what becomes of a message after it was accepted.

An attempt is made for one flow step at a time (§2.2): checks may refuse it (§1, A61, A62), else it is charged, rules
decide its fate, and the timeline carries it from result to result through the table of `engine/lifecycle.py`. When its
condition cannot be met any more (A04) or is not met in time (A64), the flow moves on to the next step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.cases import Case
from sendbox.engine.journal import CODE
from sendbox.engine.timeline import LATE
from sendbox.services.messaging.channels import LEGAL, ROWS, IllegalTransition
from sendbox.services.messaging.checks import CREDIT, Check, Checks
from sendbox.services.messaging.content.text import prepare
from sendbox.services.messaging.hours import hours_of, meeting
from sendbox.services.messaging.records import (
    TRANSITION_SIZE,
    Attempt,
    Message,
    Plan,
    Request,
    Submission,
    operator,
    pack_transition,
)
from sendbox.services.messaging.results import (
    ACCEPTED,
    CODES,
    DELIVERED,
    ENTRY,
    FAILED,
    REACH,
    REJECTED,
    SEEN,
    STATES,
    UNDELIVERED,
    WAYS,
)
from sendbox.services.messaging.rules.rules import Fate, Path, Rule

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Home
    from sendbox.services.messaging.model import Send, Step

_BAD_ENDS: Final = frozenset({UNDELIVERED, REJECTED, FAILED})
#: Results that the handset reports: while it is off they wait.
_BY_HANDSET: Final = frozenset({DELIVERED, SEEN})


def met(attempt: Attempt) -> bool:
    """Whether the step's `ttl_condition` was met by its state or a later one (A64)."""
    needed = REACH[CODES[attempt.step.condition]]
    return any(REACH[code] >= needed for code, _ in attempt.transitions())


class NotHandedOver(IllegalTransition):
    """A message of which no attempt was made yet; nothing can be moved, so `legal` is empty."""

    def __init__(self, message: Message, result: str) -> None:
        super().__init__(message.submission.send.steps[0].channel, STATES[ACCEPTED], result)
        self.legal = ()
        self.args = (f'"{message.id}" was not handed over yet, it has no result to move; move the clock first (§3.1)',)


class Simulator:
    """Attempts of one world, from hand-over to end."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._world = home.world
        self._account = home.account
        self._plans: dict[tuple[str, str], Plan] = {}
        #: the first instant that no message of the normal queue has yet (A18)
        self._queue_free_at = 0
        self.checks: Checks = Checks(home)

    # -- hand-over

    def submission_due(self, submission: Submission) -> None:
        """The instant of a submission's hand-over has come: its recipients are tried in order."""
        messages = submission.messages
        if len(messages) > 1:
            timeline = self._world.timeline
            now = self._world.clock.now
            for message in messages[1:]:  # a step each, so that no step takes long
                timeline.at(now, message.ordinal, self.message_due, message)
        self.message_due(messages[0])

    def message_due(self, message: Message) -> None:
        """Begins the first attempt, unless promotional hours or the normal queue hold the message back (A84, A18)."""
        now = self._world.clock.now
        opens = self._opens(message)
        if opens > now:
            self._postpone(message, opens, self.message_due)
            return
        rate = self._home.assume.queue
        send = message.submission.send
        if rate is None or send.priority or send.unlimited:
            self.begin(message, 0)
            return
        turn = max(now, self._queue_free_at)
        self._queue_free_at = turn + -(-rate.within // rate.count)
        if turn > now:
            self._world.journal.mark(self._postpone(message, turn, self.turn_due))
            return
        self.begin(message, 0)

    def turn_due(self, message: Message) -> None:
        """The message's turn in the normal queue has come; where hours have closed meanwhile, it needs another."""
        if self._opens(message) > self._world.clock.now:
            self.message_due(message)
        else:
            self.begin(message, 0)

    def _opens(self, message: Message) -> int:
        """The first instant from now at which promotional hours let the message through, in its own window too."""
        now = self._world.clock.now
        if self._home.assume.promotional_window is None:
            return now
        send = message.submission.send
        hours = hours_of(self._home.assume, send, message.phone, valid=message.valid)
        return now if hours is None else meeting(now, hours, send.window)

    def _postpone(self, message: Message, until: int, handler: Callable[[Message], None]) -> int:
        world = self._world
        world.timeline.at(until, message.ordinal, handler, message)
        return world.journal.add(world.clock.now, CODE["postponed"], (message, until))

    def begin(self, message: Message, number: int) -> None:
        """Tries flow step `number`: checks, charge, fate, first transition."""
        world = self._world
        attempt = Attempt(message, number, message.last)
        message.last = attempt
        submission = message.submission
        if number == 0:
            self._home.rows.add(message, world.clock.now)
        step = submission.send.steps[number]
        refusal = self.checks.refusal(message, number, step)
        if refusal is not None:
            self._refuse(attempt, refusal)
            return
        plan = self._fate(attempt, step)
        home = self._home
        if home.outages.current:
            plan = home.outages.cut_off(attempt, plan)
        if not plan or plan[0][0] != REJECTED:  # what a rule rejects is never handed over, so never charged
            prepared = prepare(submission, number, step, self._account)
            cost = home.costs.cost(step.channel, message.phone, prepared.count)
            if not (submission.key.billing or self._account).charge(*cost):
                self._refuse(attempt, CREDIT)
                return
            attempt.price = cost
            attempt.count = prepared.count
            if world.chooser.noted:  # else it is found when an event needs it
                attempt.operator = operator(message.phone, world.chooser)
            self.checks.handed_over(message, prepared, world.clock.now)
            if (submission.key.billing or self._account).complete_at > world.clock.now:
                self.checks.remark_entry(message)
            if prepared.targets:
                home.phones.make_links(attempt, prepared)
            if message is submission.messages[-1]:
                submission.prepared = None  # no recipient follows
        attempt.plan = plan
        self._next(attempt, plan)

    def _refuse(self, attempt: Attempt, refusal: Check) -> None:
        world = self._world
        entry = world.journal.add(world.clock.now, CODE["refusal"], (attempt, refusal.word))
        if refusal.order_sensitive:
            world.journal.mark(entry)
        attempt.note("why", refusal.word)
        self.enter(attempt, REJECTED, refusal.info)
        if not refusal.ends_message:
            self._move_on(attempt, "refused")

    # -- prices and text

    def price_of(self, send: Send) -> tuple[int, int]:
        """What the first step costs for all recipients that it is sent to, in millionths (eur, czk)."""
        step = send.steps[0]
        submission = Submission(send, "", self._account.top, Request(self._world.naming, b"", 0), 0, 0, b"")
        count = prepare(submission, 0, step, self._account).count
        costs = [
            self._home.costs.cost(step.channel, recipient.number, count)
            for recipient in send.recipients
            if recipient.valid and not self._home.is_test(recipient.number)
        ]
        return sum(eur for eur, _ in costs), sum(czk for _, czk in costs)

    # -- fate

    def _fate(self, attempt: Attempt, step: Step) -> Plan:
        world = self._world
        rules = self.rules_for(attempt.message)
        if not rules:
            return self.goal_plan(step.channel, "delivered")
        fate = self._home.attempts.fate(rules, self.case(attempt, world.clock.now))
        if fate is None:
            return self.goal_plan(step.channel, "delivered")
        attempt.fate = fate
        if fate.entries is None:
            return self.goal_plan(step.channel, fate.goal or "delivered")
        return tuple((CODES[result], after, info) for result, after, info in fate.entries)

    def rules_for(self, message: Message) -> Sequence[Rule]:
        """The rules that are asked about a message; what its own service decided about it comes after a tester's."""
        rules = self._home.attempts.rules
        carrier = message.submission.carrier
        if carrier is None or carrier.goal is None:
            return rules
        decided = Rule(carrier.rule, path=Path(goal=carrier.goal), name=carrier.rule)
        return [*(r for r in rules if r.id is not None), decided, *(r for r in rules if r.id is None)]

    def case(self, attempt: Attempt, now: int) -> Case:
        """What rules may look at when an attempt asks at an instant: its message, and how it stands."""
        message = attempt.message
        submission = message.submission
        send = submission.send
        step = send.steps[attempt.number]
        return Case(
            "message",
            message.phone,
            message.ordinal,
            submission.request_id,
            now,
            {
                "channel": step.channel,
                "phone": message.phone,
                "tag": send.tags,
                "body": send.text(step) or "",
                "sender": step.sender or "",
                "template": step.template and step.template.name,
                "operator": lambda: operator(message.phone, submission.chooser),
                "operation": submission.operation,
                "attempt": attempt.number + 1,
                "key": submission.key.id,
                "payload": lambda: orjson.loads(send.payload),
                "accepted_at": message.accepted_at,
                "before": attempt.previous,
                "earlier": self._home.phones.message_before,
            },
        )

    def goal_plan(self, channel: str, goal: str) -> Plan:
        """The default path and timing to a result (A63); `seen` ends at `delivered` on sms (§3.1)."""
        plan = self._plans.get((channel, goal))
        if plan is not None:
            return plan
        timing = self._home.assume.timing
        way = WAYS["delivered" if goal == "seen" and not ROWS[channel].shows_seen else goal]
        plan = tuple((CODES[result], timing.after(result), None) for result in way)
        self._plans[channel, goal] = plan
        return plan

    # -- transitions

    def _next(self, attempt: Attempt, plan: Plan) -> None:
        """Schedules the next entry of the plan; one that is due at the hand-over itself happens at once."""
        position = len(attempt.history) // TRANSITION_SIZE
        if position >= len(plan):
            attempt.plan = None
            return
        after = plan[position][1]
        if after == 0 and attempt.state == ACCEPTED:
            self.transition_due(attempt)
            return
        world = self._world
        world.timeline.at(world.clock.now + after, attempt.message.ordinal, self.transition_due, attempt)

    def transition_due(self, attempt: Attempt) -> None:
        """The next entry of the attempt's plan has come."""
        plan = attempt.plan
        if plan is None:
            return
        code, _, info = plan[len(attempt.history) // TRANSITION_SIZE]
        if self._home.outages.current:
            if self._home.outages.hold(attempt, plan, code):
                return
            plan = attempt.plan or plan
            code, _, info = plan[len(attempt.history) // TRANSITION_SIZE]
        if code in _BY_HANDSET and self._home.phones.park(attempt):
            return
        if not LEGAL[attempt.step.channel][attempt.state][code]:
            self._world.journal.add(self._world.clock.now, CODE["illegal"], (attempt, STATES[code]))
            if attempt.fate is None or not attempt.fate.illegal:
                # a path written for one channel, met by another (`seen` by sms): what cannot be is left out
                attempt.plan = None
                return
        self.enter(attempt, code, info)
        self._next(attempt, plan)

    def enter(self, attempt: Attempt, code: int, info: str | None) -> None:
        """A result is reached: journaled, reported to the attempt's target, and checked by the flow."""
        world = self._world
        now = world.clock.now
        message = attempt.message
        first = attempt.state == ACCEPTED
        attempt.state = code
        attempt.history += pack_transition(code, now)
        if info is not None:
            attempt.note(f"info{code}", info)
        number = world.journal.add(now, ENTRY[code], attempt)
        submission = message.submission
        outlet = submission.outlet
        if outlet is not None:
            world.outlets.post(outlet, (attempt, code))
        elif submission.carrier is None:
            world.outlets.no_target(attempt)
        elif code == DELIVERED:
            submission.carrier.arrived()
        fate = attempt.fate
        if fate is not None:
            if fate.order_sensitive:
                world.journal.mark(number)
            if code == DELIVERED:
                self._delivered(attempt, fate)
        if attempt.number + 1 < len(submission.send.steps):
            self._watch(attempt, code, first)

    def _watch(self, attempt: Attempt, code: int, first: bool) -> None:
        """The flow's side of a transition, where a further step exists (§2.2, A04, A64)."""
        if code in _BAD_ENDS:
            if attempt.refused is not None:
                return
            if self._home.assume.fallback_on_failure == "at_once":
                self._move_on(attempt, STATES[code])
                return
        ttl = attempt.step.ttl
        if first and ttl is not None:
            world = self._world
            world.timeline.at(world.clock.now + ttl, attempt.message.ordinal + LATE, self.ttl_due, attempt)

    def _delivered(self, attempt: Attempt, fate: Fate) -> None:
        world, phones = self._world, self._home.phones
        now = world.clock.now
        message = attempt.message
        for after, body in fate.replies or ():
            world.timeline.at(now + after, message.ordinal, phones.reply_due, (attempt, body))
        for after, link in fate.click or ():
            world.timeline.at(now + after, message.ordinal, phones.click_due, (attempt, link))

    # -- flow

    def ttl_due(self, attempt: Attempt) -> None:
        """The attempt's TTL has passed: the flow moves on unless the condition is met."""
        self._move_on(attempt, "ttl")

    def _move_on(self, attempt: Attempt, why: str) -> None:
        """To the next step at this instant, unless the flow has to stay; a step of its own, as flows may be long."""
        if self._stays(attempt):
            return
        world = self._world
        world.timeline.at(world.clock.now, attempt.message.ordinal, self.fallback_due, (attempt, why))

    def fallback_due(self, subject: tuple[Attempt, str]) -> None:
        """The flow moves on to the next step."""
        attempt, why = subject
        if self._stays(attempt):  # another reason came first, or a tester moved it
            return
        world = self._world
        world.journal.add(world.clock.now, CODE["fallback"], (attempt, why))
        self.begin(attempt.message, attempt.number + 1)

    @staticmethod
    def _stays(attempt: Attempt) -> bool:
        """Whether the flow is past this attempt, has no further step, or met its condition (§2.2, A64)."""
        message = attempt.message
        last = message.last is not attempt or attempt.number + 1 >= len(message.submission.send.steps)
        return last or met(attempt)

    # -- by hand

    def move_by_hand(self, message: Message, result: str, info: str | None) -> None:
        """Moves the current attempt; the rest of its plan is dropped. Raises `IllegalTransition` (§3.1)."""
        if message.last is None:
            raise NotHandedOver(message, result)
        self.move_attempt(message.last, result, info)

    def move_attempt(self, attempt: Attempt, result: str, info: str | None) -> None:
        """The same for any attempt: a late receipt of a step that the flow left is legal (A05)."""
        code = CODES.get(result, ACCEPTED)
        if not LEGAL[attempt.step.channel][attempt.state][code]:
            raise IllegalTransition(attempt.step.channel, STATES[attempt.state], result)
        attempt.plan = None
        self.enter(attempt, code, info)
