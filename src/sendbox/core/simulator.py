"""The simulator: what becomes of a message after it was accepted.

An attempt is made for one flow step at a time (§2.2): checks may refuse it (§1, A61, A62), else it is charged, rules
decide its fate, and the timeline carries it from result to result through the table of `core/lifecycle.py`. When its
condition cannot be met any more (A04) or is not met in time (A64), the flow moves on to the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from sendbox.core import prices, window
from sendbox.core.content import prepare, text_of
from sendbox.core.countries import country, operator
from sendbox.core.journal import CODE
from sendbox.core.lifecycle import (
    ACCEPTED,
    CODES,
    DELIVERED,
    FAILED,
    LEGAL,
    REJECTED,
    SEEN,
    SENDING,
    SENT,
    STATES,
    UNDELIVERED,
    IllegalTransition,
)
from sendbox.core.patterns import Pattern
from sendbox.core.records import Attempt, Message, Submission, pack_transition
from sendbox.core.rules import Ask, Fate, decide
from sendbox.core.templates import approved
from sendbox.core.timeline import LATE

if TYPE_CHECKING:
    from sendbox.core.model import Send, Step
    from sendbox.core.world import World

#: What a channel is called where prices, senders, phones and incoming events speak of it.
FAMILY: Final = {"sms": "sms", "richmsg": "richmsg", "chatapp_text": "chatapp", "chatapp_template": "chatapp"}
#: The sender a phone shows when the request named none.
DEFAULT_SENDER: Final = "InfoSMS"

INVALID_NUMBER: Final = "[302] Invalid phone number format"
NOT_ALLOWED: Final = "[303] Phone number is not in allowed list"
LISTED: Final = "[304] Phone number is blacklisted or opted-out"
IDENTICAL: Final = "[306] Too many identical messages for the same recipient"
NO_CREDIT: Final = "[307] Insufficient credit"

_REACH: Final = (0, 0, 1, 2, 3, 0, 0, 0)
_NEEDED: Final = {"sent": 1, "delivered": 2, "seen": 3}
_BAD_ENDS: Final = frozenset({UNDELIVERED, REJECTED, FAILED})

Plan = tuple[tuple[int, int, str | None], ...]


def met(attempt: Attempt) -> bool:
    """Whether the step's `ttl_condition` was met by its state or a later one (A64)."""
    needed = _NEEDED[attempt.step.condition]
    return any(_REACH[code] >= needed for code, _ in attempt.transitions())


class Simulator:
    """Attempts of one world, from hand-over to end."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._plans: dict[tuple[str, str], Plan] = {}
        self._prices = prices.combined(world.assume.prices)
        self._queue_free_at = 0
        self._recent: dict[tuple[str, str], list[int]] = {}
        allowed = world.assume.allowed
        self._allowed = None if allowed is None else [Pattern(text, phone=True) for text in allowed]

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
        world = self._world
        send = message.submission.send
        now = world.clock.now
        later = now
        hours = world.assume.promotional_window
        if hours is not None and "promotional" in send.tags:
            later = window.daily(hours).next_open(now)
        rate = world.assume.queue
        if later == now and rate is not None and not send.priority:
            later = max(now, self._queue_free_at)
            if later == now:
                self._queue_free_at = now + -(-rate.within // rate.count)
        if later > now:
            number = world.journal.add(now, CODE["postponed"], (message, later))
            if rate is not None:
                world.journal.mark(number)
            world.timeline.at(later, message.ordinal, self.message_due, message)
            return
        self.begin(message, 0)

    def begin(self, message: Message, number: int) -> None:
        """Tries flow step `number`: checks, charge, fate, first transition."""
        world = self._world
        attempt = Attempt(message, number, message.last)
        message.last = attempt
        submission = message.submission
        step = submission.send.steps[number]
        info, ends_message, why = self._refusal(message, number, step)
        if why:
            self._refuse(attempt, info, why, ends_message=ends_message)
            return
        plan = self._fate(attempt, step)
        if not plan or plan[0][0] != REJECTED:  # what a rule rejects is never handed over, so never charged
            prepared = prepare(submission, number, step, world.account)
            eur, czk = self._unit_price(step.channel, message.phone)
            eur *= prepared.count
            czk *= prepared.count
            if not world.account.charge(eur, czk):
                self._refuse(attempt, NO_CREDIT, "credit", ends_message=True)
                return
            attempt.price = (eur, czk)
            attempt.count = prepared.count
            attempt.mnc = operator(message.phone)
            if prepared.targets:
                world.phones.make_links(attempt, prepared)
        attempt.plan = plan
        self._next(attempt)

    def _refusal(self, message: Message, number: int, step: Step) -> tuple[str | None, bool, str]:
        """(result_info, whether the message ends, why); why is "" when nothing speaks against the hand-over (A61, A62)."""
        world = self._world
        now = world.clock.now
        phone = message.phone
        send = message.submission.send
        if not message.valid:
            return INVALID_NUMBER, True, "number"
        if self._allowed is not None and not any(pattern.matches(phone) for pattern in self._allowed):
            return NOT_ALLOWED, True, "allowed"
        account = world.account
        if account.blacklist and account.blacklisted(phone, now):
            return LISTED, True, "blacklist"
        if account.optout and "promotional" in send.tags and account.opted_out(phone, now):
            return LISTED, True, "optout"
        if world.assume.identical is not None and self._too_many(message, number, step):
            return IDENTICAL, True, "identical"
        why = self._step_refusal(message, step)
        return None, False, why

    def _step_refusal(self, message: Message, step: Step) -> str:
        world = self._world
        channel = step.channel
        family = FAMILY[channel]
        sender = step.sender
        strict = channel != "sms" or world.assume.sms_sender == "strict"
        if strict and sender is not None and not world.account.registered(family, sender):
            return "sender"
        if channel == "sms":
            return "" if world.phones.has(message.phone, "sms") else "channel"
        if not world.phones.has(message.phone, family):
            return "channel"
        if channel == "chatapp_text" and not world.phones.conversation_open(message.phone):
            return "conversation"
        if step.template is not None:
            template = world.account.template(step.template.name, step.template.language)
            if template is None:
                return "template-unknown"
            if not approved(template):
                return "template-not-approved"
        return ""

    def _too_many(self, message: Message, number: int, step: Step) -> bool:
        """A83: more than so many identical texts to one phone within the time."""
        rate = self._world.assume.identical
        assert rate is not None
        now = self._world.clock.now
        submission = message.submission
        key = (message.phone, prepare(submission, number, step, self._world.account).text)
        recent = [at for at in self._recent.get(key, ()) if at > now - rate.within]
        if len(recent) >= rate.count:
            return True
        self._recent[key] = [*recent, now]
        return False

    def _refuse(self, attempt: Attempt, info: str | None, why: str, *, ends_message: bool) -> None:
        world = self._world
        number = world.journal.add(world.clock.now, CODE["refusal"], (attempt, why))
        if why in ("credit", "identical"):
            world.journal.mark(number)
        attempt.note("why", why)
        self._enter(attempt, REJECTED, info)
        if not ends_message:
            self._move_on(attempt, "refused")

    # -- prices and text

    def _unit_price(self, channel: str, phone: str) -> tuple[int, int]:
        place = country(phone)
        code = "" if place is None else place.code
        table = self._prices
        family = FAMILY[channel]
        return table.get((family, code)) or table[(family, "")]

    def price_of(self, send: Send, number: int, phone: str) -> tuple[int, int]:
        """What step `number` of a Message object would cost for a phone, in millionths (eur, czk)."""
        step = send.steps[number]
        submission = Submission(send, "", self._world.keys[self._world.id], "", "", 0, 0, b"")
        count = prepare(submission, number, step, self._world.account).count
        eur, czk = self._unit_price(step.channel, phone)
        return eur * count, czk * count

    def text(self, attempt: Attempt) -> str:
        """The text that a phone shows for an attempt."""
        return text_of(attempt, prepare(attempt.message.submission, attempt.number, attempt.step, self._world.account))

    # -- fate

    def _fate(self, attempt: Attempt, step: Step) -> Plan:
        world = self._world
        rules = world.rules
        if not rules:
            return self._goal_plan(step.channel, "delivered")
        message = attempt.message
        submission = message.submission
        send = submission.send
        fate = decide(
            rules,
            Ask(
                step.channel,
                message.phone,
                send.tags,
                step.body or "",
                step.sender or "",
                submission.operation,
                attempt.number + 1,
                submission.key.id,
                lambda: orjson.loads(send.payload),
                message.ordinal,
                message.accepted_at,
            ),
            world.memory,
            world.seed,
        )
        if fate is None:
            return self._goal_plan(step.channel, "delivered")
        attempt.note("fate", fate)
        attempt.unlawful = fate.illegal
        if fate.entries is None:
            return self._goal_plan(step.channel, fate.goal or "delivered")
        return tuple((CODES[result], after, info) for result, after, info in fate.entries)

    def _goal_plan(self, channel: str, goal: str) -> Plan:
        """The default path and timing to a result (A63); `seen` ends at `delivered` where nobody can see (§3.1)."""
        plan = self._plans.get((channel, goal))
        if plan is not None:
            return plan
        timing = self._world.assume.timing
        first = (SENDING, timing.sending, None)
        second = (SENT, timing.sent, None)
        third = (DELIVERED, timing.delivered, None)
        plan = {
            "sending": (first,),
            "sent": (first, second),
            "delivered": (first, second, third),
            "seen": (first, second, third, (SEEN, timing.seen, None)),
            "undelivered": (first, second, (UNDELIVERED, timing.delivered, None)),
            "rejected": ((REJECTED, 0, None),),
            "failed": (first, (FAILED, timing.sent, None)),
        }["delivered" if goal == "seen" and channel == "sms" else goal]
        self._plans[channel, goal] = plan
        return plan

    # -- transitions

    def _next(self, attempt: Attempt) -> None:
        """Schedules the next entry of the plan; one that is due at the hand-over itself happens at once."""
        plan = attempt.plan
        if plan is None:
            return
        if attempt.position >= len(plan):
            attempt.plan = None
            return
        after = plan[attempt.position][1]
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
        code, _, info = plan[attempt.position]
        if code == DELIVERED and self._world.phones.park(attempt):
            return
        if not attempt.unlawful and not LEGAL[attempt.step.channel][attempt.state][code]:
            # a path written for one channel, met by another (`seen` by sms): what cannot be is left out
            self._world.journal.add(self._world.clock.now, CODE["illegal"], (attempt, STATES[code]))
            attempt.plan = None
            return
        attempt.position += 1
        self._enter(attempt, code, info)
        self._next(attempt)

    def _enter(self, attempt: Attempt, code: int, info: str | None) -> None:
        world = self._world
        now = world.clock.now
        message = attempt.message
        first = attempt.state == ACCEPTED
        attempt.state = code
        attempt.history += pack_transition(code, now)
        if info is not None:
            attempt.note(f"info{code}", info)
        number = world.journal.add(now, code, attempt)
        submission = message.submission
        outlet = submission.outlet
        if outlet is not None:
            if not outlet.pending:
                world.outlets.dirty.append(outlet)
            outlet.pending.append((attempt, code))
        else:
            world.outlets.no_target(attempt)
        extra = attempt.extra
        if extra is not None:
            fate: Fate | None = extra.get("fate")
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
            if attempt.extra is not None and "why" in attempt.extra:
                return
            if self._world.assume.fallback_on_failure == "at_once":
                self._move_on(attempt, STATES[code])
                return
        ttl = attempt.step.ttl
        if first and ttl is not None:
            world = self._world
            world.timeline.at(world.clock.now + ttl, attempt.message.ordinal + LATE, self.ttl_due, attempt)

    def _delivered(self, attempt: Attempt, fate: Fate) -> None:
        world = self._world
        now = world.clock.now
        message = attempt.message
        for after, body in fate.replies or ():
            world.timeline.at(now + after, message.ordinal, world.phones.reply_due, (attempt, body))
        if fate.click is not None:
            world.timeline.at(now + fate.click, message.ordinal, world.phones.click_due, message)

    # -- flow

    def ttl_due(self, attempt: Attempt) -> None:
        """The attempt's TTL has passed: the flow moves on unless the condition is met."""
        self._move_on(attempt, "ttl")

    def _move_on(self, attempt: Attempt, why: str) -> None:
        """To the next step, if there is one, the flow still stands at this attempt, and its condition was never met."""
        message = attempt.message
        if message.last is not attempt or attempt.number + 1 >= len(message.submission.send.steps):
            return
        if met(attempt):
            return
        world = self._world
        world.journal.add(world.clock.now, CODE["fallback"], (attempt, why))
        self.begin(message, attempt.number + 1)

    # -- by hand

    def move_by_hand(self, message: Message, result: str, info: str | None) -> None:
        """Moves the current attempt; the rest of its plan is dropped. Raises `IllegalTransition` (§3.1)."""
        attempt = message.last
        code = CODES.get(result, ACCEPTED)
        if attempt is None:
            raise IllegalTransition(message.submission.send.steps[0].channel, STATES[ACCEPTED], result)
        if not LEGAL[attempt.step.channel][attempt.state][code]:
            raise IllegalTransition(attempt.step.channel, STATES[attempt.state], result)
        attempt.plan = None
        self._enter(attempt, code, info)
