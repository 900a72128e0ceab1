"""The simulator: what becomes of a message after it was accepted.

An attempt is made for one flow step at a time (§2.2): checks may refuse it (§1, A61, A62), else it is charged, rules
decide about it, and the timeline carries it from result to result through the table of `engine/lifecycle.py`. When its
condition cannot be met any more (A04) or is not met in time (A64), the flow moves on to the next step.

Messages that go the same way are handed over and moved together. What is decided about one of them alone, by a rule, an
outage or a flow, happens to it alone, so that everything keeps its order. It is long because all ways meet here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sendbox.engine.journal import CODE
from sendbox.engine.rules.conditions import Case
from sendbox.engine.timeline import LATE, RunHandler
from sendbox.services.messaging.channels import (
    ACCEPTED,
    CODES,
    DELIVERED,
    ENTRY,
    FAILED,
    LEGAL,
    REACH,
    REJECTED,
    ROWS,
    SEEN,
    STATES,
    UNDELIVERED,
    WAYS,
    IllegalTransition,
)
from sendbox.services.messaging.checks import CREDIT, Check, Checks
from sendbox.services.messaging.content.hours import hours_of, meeting
from sendbox.services.messaging.content.text import Prepared, prepare
from sendbox.services.messaging.model import AttemptFields, Send, Step
from sendbox.services.messaging.records import (
    TRANSITION_SIZE,
    Attempt,
    Course,
    Message,
    Particulars,
    Plan,
    Request,
    Submission,
    pack_transition,
)
from sendbox.services.messaging.rules.rules import Decision, Path, Rule
from sendbox.services.numbers.countries import DECIDING, operator

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Home


_BAD_ENDS: Final = frozenset({UNDELIVERED, REJECTED, FAILED})
#: Results that the handset reports: while it is off they wait.
_BY_HANDSET: Final = frozenset({DELIVERED, SEEN})
#: The kinds of entries that a result makes, by its code: where it is reported, and where it has no target (A68).
_REPORTED_KINDS: Final = [bytes((entry,)) for entry in ENTRY]
_UNREPORTED_KINDS: Final = [bytes((entry, CODE["no_target"])) for entry in ENTRY]


def meets_condition(attempt: Attempt) -> bool:
    """True if a state that the attempt reached meets the step's `ttl_condition`, or is later than it (A64)."""
    needed = REACH[CODES[attempt.step.condition]]
    return any(REACH[code] >= needed for code, _ in attempt.transitions())


def expired_result(attempt: Attempt) -> int | None:
    """The result of an attempt whose message expires (A13); None if the attempt has ended."""
    legal = LEGAL[attempt.step.channel][attempt.state]
    return next((code for code in (UNDELIVERED, FAILED) if legal[code]), None)


def _goes_alike(attempt: Attempt, other: Attempt) -> bool:
    """True if attempts of two submissions go the same way, report to the same target, and no flow continues after."""
    submission, other_submission = attempt.message.submission, other.message.submission
    return (
        attempt.course == other.course
        and attempt.decision is None
        and attempt.number + 1 == len(submission.send.steps)
        and other.number + 1 == len(other_submission.send.steps)
        and submission.outlet is other_submission.outlet
        and submission.service_sending is None
    )


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
        #: the history that was made last: attempts that went the same way at the same instants share theirs
        self._newest_history = b""
        self.checks: Checks = Checks(home)

    # -- hand-over

    def schedule(self, messages: Sequence[Message], at: int) -> None:
        """Schedules the hand-over of the messages of a submission: a step for each, in order."""
        together = self._world.timeline.together
        if messages[-1].index - messages[0].index == len(messages) - 1:
            together(at, messages[0].ordinal, self.submission_due, messages)
        else:  # some were left out
            for message in messages:
                together(at, message.ordinal, self.submission_due, (message,))

    def submission_due(self, messages: Sequence[Message], first: int, last: int) -> int:
        """The instant at which messages are handed over has come. Returns where it stopped: after a submission."""
        message = messages[first]
        following = message.submission.messages[-1].index - message.index
        return self.message_due(messages, first, min(last, first + 1 + following))

    def message_due(self, messages: Sequence[Message], first: int, last: int) -> int:
        """Begins first attempts, unless promotional hours or the normal queue hold a message back (A84, A18)."""
        assume = self._home.assume
        if assume.promotional_window is None and assume.queue is None:
            return self.begin(messages, 0, first, last)
        message = messages[first]
        now = self._world.clock.now
        opens = self._opening_instant(message)
        rate, send = assume.queue, message.submission.send
        if opens > now:
            self.checks.remark_untagged(message, opens)
            self._postpone(message, opens, self.message_due)
        elif rate is None or send.priority or send.unlimited:
            self.begin(messages, 0, first, first + 1)
        else:
            turn = max(now, self._queue_free_at)
            self._queue_free_at = turn + -(-rate.within // rate.count)
            if turn > now:
                self._world.journal.mark(self._postpone(message, turn, self.queue_turn_due))
            else:
                self.begin(messages, 0, first, first + 1)
        return first + 1

    def queue_turn_due(self, messages: Sequence[Message], first: int, _last: int) -> int:
        """A message's turn in the normal queue has come; where hours have closed meanwhile, it needs another."""
        due = self.message_due if self._opening_instant(messages[first]) > self._world.clock.now else self._begin
        return due(messages, first, first + 1)

    def _begin(self, messages: Sequence[Message], first: int, last: int) -> int:
        return self.begin(messages, 0, first, last)

    def _opening_instant(self, message: Message) -> int:
        """The first instant from now at which promotional hours let the message through, in its own window too."""
        now = self._world.clock.now
        if self._home.assume.promotional_window is None:
            return now
        send = message.submission.send
        hours = hours_of(self._home.assume, send, message.phone, valid=message.valid)
        return now if hours is None else meeting(now, hours, send.window)

    def _postpone(self, message: Message, until: int, handler: RunHandler) -> int:
        world = self._world
        world.timeline.together(until, message.ordinal, handler, (message,))
        return world.journal.add(world.clock.now, CODE["postponed"], (message, until))

    def begin(self, messages: Sequence[Message], number: int, first: int, last: int) -> int:
        """Tries flow step `number` of messages: checks, charge, decision, first transition. Returns where it stopped.

        Those of one submission that go the default way are begun together, up to one that is refused. One loop, and
        long: every attempt of every message goes through it.
        """
        world, home, checks, phones = self._world, self._home, self.checks, self._home.phones
        now = world.clock.now
        submission = messages[first].submission
        step = submission.send.steps[number]
        applicable = checks.applicable(messages[first], number, step)
        billing = submission.key.billing or self._account
        plan = self.goal_plan(step.channel, "delivered")
        course = Course(plan=plan)
        decided = bool(self.rules_for(messages[first]) or home.outages.current)
        prepared: Prepared | None = None
        refusal: Check | None = None
        begun: list[Attempt] = []
        alone, noting = decided, False
        for message in messages[first:last]:
            previous = message.last
            particulars = None if previous is None else Particulars(number, previous)
            message.last = attempt = Attempt(message, particulars, course)
            for check in applicable:
                if check.refuses(checks, message, number, step):
                    refusal = check
                    break
            if refusal is not None:
                break
            if decided:
                plan = self._decide(attempt, step)
                attempt.replan(plan or None)
            if not decided or not plan or plan[0][0] != REJECTED:  # what a rule rejects is never handed over
                if prepared is None:
                    prepared = prepare(submission, number, step, self._account)
                    costs = home.costs.of(step.channel, prepared.count)
                    late = billing.complete_at > now
                    noting = late or world.chooser.noted or bool(prepared.targets) or checks.remembering
                    alone = alone or noting or self._must_move_alone(attempt, plan)
                cost = costs.get(message.phone[:DECIDING]) or costs.of(message.phone)
                if not billing.charge(cost):
                    refusal = CREDIT
                    break
                attempt.cost = cost
                if noting:
                    if world.chooser.noted:  # else it is found when an event needs it
                        attempt.operator = operator(message.phone, world.chooser)
                    checks.handed_over(message, prepared, now)
                    if late:
                        checks.remark_entry(message)
                    if prepared.targets:
                        phones.make_links(attempt, prepared)
            begun.append(attempt)
            if alone:
                break
        place = first + len(begun) + (refusal is not None)
        if begun and begun[-1].message is submission.messages[-1]:
            submission.prepared = None  # no recipient follows
        if number == 0:
            home.rows.add(messages[first:place], now)
        if begun:
            if plan and plan[0][1] == 0:
                self._move(begun, plan)
            elif plan:
                self._schedule_next(begun, plan[0][1])
            if submission.send.expires is not None:
                at = max(submission.send.expires, now)
                for attempt_begun in begun:
                    ordinal = attempt_begun.message.ordinal + LATE
                    world.timeline.at(at, ordinal, self.expiration_due, attempt_begun)
        if refusal is not None:
            self._refuse(attempt, refusal)
        return place

    def _refuse(self, attempt: Attempt, refusal: Check) -> None:
        world = self._world
        entry = world.journal.add(world.clock.now, CODE["refusal"], (attempt, refusal.word))
        if refusal.order_sensitive:
            world.journal.mark(entry)
        attempt.note("why", refusal.word)
        if refusal.by_tag:
            self.checks.remark_untagged(attempt.message)
        self.enter((attempt,), REJECTED, refusal.info)
        if not refusal.ends_message:
            self._move_on(attempt, "refused")

    # -- prices and text

    def price_of(self, send: Send) -> tuple[int, int]:
        """The price of the first step for all recipients that it is sent to, in millionths (eur, czk)."""
        step = send.steps[0]
        submission = Submission(send, "", self._account.top, Request(self._world.naming, b"", 0), 0, 0, b"")
        costs_of_step = self._home.costs.of(step.channel, prepare(submission, 0, step, self._account).count)
        costs = [
            costs_of_step.of(recipient.number)
            for recipient in send.recipients
            if recipient.valid and not self._home.is_test(recipient.number)
        ]
        return sum(cost[0] for cost in costs), sum(cost[1] for cost in costs)

    # -- decision

    def _decide(self, attempt: Attempt, step: Step) -> Plan:
        home = self._home
        rules = self.rules_for(attempt.message)
        decision = home.attempts.decision(rules, self.case(attempt, self._world.clock.now)) if rules else None
        attempt.decision = decision
        if decision is None or decision.entries is None:
            plan = self.goal_plan(step.channel, (decision and decision.goal) or "delivered")
        else:
            plan = tuple((CODES[result], after, info) for result, after, info in decision.entries)
        return home.outages.cut_off(attempt, plan) if home.outages.current else plan

    def rules_for(self, message: Message) -> Sequence[Rule]:
        """The rules that are asked about a message; what its own service decided about it comes after a tester's."""
        rules = self._home.attempts.rules
        service_sending = message.submission.service_sending
        if service_sending is None or service_sending.goal is None:
            return rules
        decided = Rule(key=service_sending.rule, path=Path(goal=service_sending.goal), name=service_sending.rule)
        return [*(r for r in rules if r.id is not None), decided, *(r for r in rules if r.id is None)]

    def case(self, attempt: Attempt, now: int) -> Case:
        """The data that rules may read when an attempt asks at an instant: its message and its present state."""
        message = attempt.message
        submission = message.submission
        fields = AttemptFields(
            attempt,
            operator=lambda: operator(message.phone, submission.chooser),
            accepted_at=message.accepted_at,
            before=attempt.previous,
            earlier=self._home.phones.message_before,
        )
        return Case("message", message.phone, message.ordinal, submission.request_id, now, fields)

    def goal_plan(self, channel: str, goal: str) -> Plan:
        """The default path and timing to a result (A63); `seen` ends at `delivered` on sms (§3.1)."""
        plan = self._plans.get((channel, goal))
        if plan is not None:
            return plan
        timing = self._home.assume.timing
        results = WAYS["delivered" if goal == "seen" and not ROWS[channel].shows_seen else goal]
        plan = tuple((CODES[result], timing.after(result), None) for result in results)
        self._plans[channel, goal] = plan
        return plan

    # -- transitions

    def _schedule_next(self, attempts: Sequence[Attempt], after: int) -> None:
        world = self._world
        world.timeline.together(world.clock.now + after, attempts[0].message.ordinal, self.transition_due, attempts)

    def _must_move_alone(self, attempt: Attempt, plan: Plan) -> bool:
        """True if the next entry of its plan may do more than others of its kind, or something else at this instant."""
        home, submission, course = self._home, attempt.message.submission, attempt.course
        if attempt.decision is not None or home.outages.current or submission.service_sending is not None:
            return True
        position = len(course.history) // TRANSITION_SIZE
        code = plan[position][0]
        if position + 1 < len(plan) and plan[position + 1][1] == 0:
            return True
        steps = submission.send.steps
        if (
            len(steps) > 1
            and attempt.number + 1 < len(steps)
            and (code in _BAD_ENDS or (not course.history and attempt.step.ttl is not None))
        ):
            return True
        return code in _BY_HANDSET and home.phones.may_be_off

    def transition_due(self, attempts: Sequence[Attempt], first: int, last: int) -> int:
        """The next entry of their plans has come. Returns where it stopped: where one does not do as the first."""
        attempt = attempts[first]
        course = attempt.course
        plan, place = course.plan, first + 1
        if plan is None:
            return place
        if place < last and not self._must_move_alone(attempt, plan):
            for other in attempts[place:last]:
                if other.course is not course:
                    if not _goes_alike(other, attempt):
                        break
                    course = other.course
                place += 1
        self._move(attempts[first:place], plan)
        return place

    def _move(self, attempts: Sequence[Attempt], plan: Plan) -> None:
        """The next entry of a plan, for all of these or for one alone."""
        attempt, home = attempts[0], self._home
        position = len(attempt.course.history) // TRANSITION_SIZE
        code, _, info = plan[position]
        if home.outages.current:
            if home.outages.hold(attempt, plan, code):
                return
            plan = attempt.course.plan or plan
            code, _, info = plan[position]
        if code in _BY_HANDSET and home.phones.park(attempt):
            return
        if not LEGAL[attempt.step.channel][attempt.state][code]:
            for member in attempts:
                self._world.journal.add(self._world.clock.now, CODE["illegal"], (member, STATES[code]))
            if attempt.decision is None or not attempt.decision.illegal:
                # a path written for one channel, met by another (`seen` by sms): what cannot be is left out
                for member in attempts:
                    member.replan(None)
                return
        if position + 1 == len(plan):
            self.enter(attempts, code, info)
        else:
            self.enter(attempts, code, info, plan)
            self._schedule_next(attempts, plan[position + 1][1])

    def enter(self, attempts: Sequence[Attempt], code: int, info: str | None, plan: Plan | None = None) -> None:
        """A result is reached by one attempt, or by some of the same kind: journaled, reported, checked by the flow.

        `plan` is the path on which they go on.
        """
        world = self._world
        now = world.clock.now
        attempt = attempts[0]
        submission, before = attempt.message.submission, attempt.course
        decision, outlet = attempt.decision, submission.outlet
        history = before.history + pack_transition(code, now)
        if history == self._newest_history:
            history = self._newest_history
        self._newest_history = history
        course = Course(history, plan)
        for member in attempts:
            member.course = course
        if info is not None:
            for member in attempts:
                member.note(f"info{code}", info)
        if decision is not None and decision.order_sensitive:
            world.journal.mark(len(world.journal))
        if outlet is not None:
            world.journal.extend(now, _REPORTED_KINDS[code], attempts)
            world.outlets.post(outlet, *[(member, code) for member in attempts])
        elif submission.service_sending is None:
            world.journal.extend(now, _UNREPORTED_KINDS[code], attempts)
        else:
            world.journal.extend(now, _REPORTED_KINDS[code], attempts)
            if code == DELIVERED:
                submission.service_sending.arrived()
        if decision is not None and code == DELIVERED:
            self._delivered(attempt, decision)
        steps = submission.send.steps
        if len(steps) > 1 and attempt.number + 1 < len(steps):
            self._check_flow(attempt, code, not before.history)

    def _check_flow(self, attempt: Attempt, code: int, first: bool) -> None:
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

    def _delivered(self, attempt: Attempt, decision: Decision) -> None:
        world, phones = self._world, self._home.phones
        now = world.clock.now
        message = attempt.message
        for after, body in decision.replies or ():
            world.timeline.at(now + after, message.ordinal, phones.reply_due, (attempt, body))
        for after, link in decision.click or ():
            world.timeline.at(now + after, message.ordinal, phones.click_due, (attempt, link))

    # -- flow

    def ttl_due(self, attempt: Attempt) -> None:
        """The attempt's TTL has passed: the flow moves on unless the condition is met."""
        self._move_on(attempt, "ttl")

    def expiration_due(self, attempt: Attempt) -> None:
        """The message has expired (A13): an attempt that has not ended is undelivered, or failed before it was sent."""
        code = expired_result(attempt)
        if code is not None:
            self.enter((attempt,), code, None)

    def _move_on(self, attempt: Attempt, why: str) -> None:
        """To the next step at this instant, unless the flow has to stay; a step of its own, as flows may be long."""
        if self._is_flow_over(attempt):
            return
        world = self._world
        world.timeline.at(world.clock.now, attempt.message.ordinal, self.fallback_due, (attempt, why))

    def fallback_due(self, subject: tuple[Attempt, str]) -> None:
        """The flow moves on to the next step."""
        attempt, why = subject
        if self._is_flow_over(attempt):  # another reason came first, or a tester moved it
            return
        world = self._world
        world.journal.add(world.clock.now, CODE["fallback"], (attempt, why))
        self.begin((attempt.message,), attempt.number + 1, 0, 1)

    @staticmethod
    def _is_flow_over(attempt: Attempt) -> bool:
        """True if the flow is past this attempt, has no further step, or met its condition (§2.2, A64)."""
        message = attempt.message
        last = message.last is not attempt or attempt.number + 1 >= len(message.submission.send.steps)
        return last or meets_condition(attempt)

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
        self.enter((attempt,), code, info)
