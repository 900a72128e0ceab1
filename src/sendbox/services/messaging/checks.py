"""Checks: what speaks against handing an attempt over (§1, §7.3; A61, A62, A83).

They are asked in this order, and the first that speaks up decides. Number, allowed list, blacklist, opt-out list and
identical texts concern the recipient: they end the message. Sender, handset, conversation and template concern one
step: the flow goes on with the next. Credit is asked last, by the simulator, when the price is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sendbox.engine.patterns import Pattern
from sendbox.services.messaging.content.templates import approved
from sendbox.services.messaging.content.text import Prepared, prepare
from sendbox.services.messaging.model import FAMILY

if TYPE_CHECKING:
    from sendbox.engine.durations import Rate
    from sendbox.engine.world import World
    from sendbox.services.assume import Assume
    from sendbox.services.messaging.model import Step
    from sendbox.services.messaging.records import Message


class Refusal(NamedTuple):
    """Why an attempt is not handed over.

    `why` is a word for the journal, `info` the `result_info` (None = the default), `ends_message` whether further steps
    are not tried either, `order_sensitive` whether messages compete for what ran out.
    """

    why: str
    info: str | None = None
    ends_message: bool = False
    order_sensitive: bool = False


_LISTED: Final = "[304] Phone number is blacklisted or opted-out"
NUMBER: Final = Refusal("number", "[302] Invalid phone number format", True)
ALLOWED: Final = Refusal("allowed", "[303] Phone number is not in allowed list", True)
BLACKLIST: Final = Refusal("blacklist", _LISTED, True)
OPTOUT: Final = Refusal("optout", _LISTED, True)
IDENTICAL: Final = Refusal("identical", "[306] Too many identical messages for the same recipient", True, True)
CREDIT: Final = Refusal("credit", "[307] Insufficient credit", True, True)
SENDER: Final = Refusal("sender")
CHANNEL: Final = Refusal("channel")
CONVERSATION: Final = Refusal("conversation")
TEMPLATE_UNKNOWN: Final = Refusal("template-unknown")
TEMPLATE_NOT_APPROVED: Final = Refusal("template-not-approved")


class Checks:
    """The checks of one world, and what they remember: which texts were handed over to whom."""

    def __init__(self, assume: Assume) -> None:
        self._allowed = None if assume.allowed is None else [Pattern(text, phone=True) for text in assume.allowed]
        self._identical = assume.identical
        self._strict_sms = assume.sms_sender == "strict"
        #: (phone, text, its links) to the messages that were handed over with it: ordinal to instant (A83)
        self._same: dict[tuple[str, ...], dict[int, int]] = {}

    def refusal(self, world: World, message: Message, number: int, step: Step) -> Refusal | None:
        """What refuses flow step `number` at this instant, None when it may be handed over."""
        phone = message.phone
        if not message.valid:
            return NUMBER
        if self._allowed is not None and self.not_allowed(phone):
            return ALLOWED
        account = world.account
        now = world.clock.now
        submission = message.submission
        billing = submission.key.billing or account
        if billing.blacklist and billing.blacklisted(phone, now):
            return BLACKLIST
        if billing.optout and "promotional" in submission.send.tags and billing.opted_out(phone, now):
            return OPTOUT
        if self._identical is not None and self.identical(world, message, number, step):
            return IDENTICAL
        return self._step_refusal(world, phone, step, own=message.submission.token is not None)

    def _step_refusal(self, world: World, phone: str, step: Step, *, own: bool) -> Refusal | None:
        """`own`: the service's own message, whose sender nobody has to register (A73)."""
        channel = step.channel
        family = FAMILY[channel]
        account = world.account
        sender = step.sender
        asked = sender is not None and (self._strict_sms or channel != "sms") and not own
        if asked and sender is not None and not account.registered(family, sender):
            return SENDER
        if not world.phones.has(phone, family):
            return CHANNEL
        if channel == "chatapp_text" and not world.phones.conversation_open(phone):
            return CONVERSATION
        use = step.template
        if use is not None:
            template = account.template(use.name, use.language, sender)
            if template is None:
                return TEMPLATE_UNKNOWN
            if not approved(template):
                return TEMPLATE_NOT_APPROVED
        return None

    def not_allowed(self, phone: str) -> bool:
        """Whether a number is not among those that are allowed."""
        return self._allowed is not None and not any(pattern.matches(phone) for pattern in self._allowed)

    def identical(self, world: World, message: Message, number: int, step: Step) -> bool:
        """Whether a step's text went to the phone too often."""
        return (
            self._identical is not None
            and not message.submission.send.unlimited
            and self._too_many(self._identical, world, message, number, step)
        )

    def _too_many(self, rate: Rate, world: World, message: Message, number: int, step: Step) -> bool:
        """Whether so many other messages of this text were handed over for the phone within the time."""
        key = _sameness(message, prepare(message.submission, number, step, world.account))
        since = world.clock.now - rate.within
        recent = self._same[key] = {who: at for who, at in self._same.get(key, {}).items() if at > since}
        return len(recent.keys() - {message.ordinal}) >= rate.count

    def handed_over(self, message: Message, prepared: Prepared, now: int) -> None:
        """Remembers the text of an attempt that passed."""
        if self._identical is not None:
            self._same.setdefault(_sameness(message, prepared), {})[message.ordinal] = now


def _sameness(message: Message, prepared: Prepared) -> tuple[str, ...]:
    return (message.phone, prepared.text, *prepared.targets)
