"""Checks: the reasons not to hand an attempt over (§1, §7.3; A61, A62, A83), a row each.

They are evaluated in the order of their rows, and the first that refuses decides. Those of the recipient come first
(number, allowed list, blacklist, opt-out list, identical texts) and end the message. Those of one step follow (sender,
handset, conversation, template): the flow goes on with the next step. Credit is checked last, when the price is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from sendbox.engine.durations import iso
from sendbox.engine.texts import Pattern
from sendbox.services.advice import ENTRY_NOT_IN_FORCE, UNTAGGED_PROMOTIONAL, advise
from sendbox.services.messaging.channels import FAMILY, ROWS
from sendbox.services.messaging.content.tags import DEFAULT
from sendbox.services.messaging.content.text import Prepared, prepare
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.records import Attempt, Message
from sendbox.services.templates.templates import approved

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.messaging.bulk import Line
    from sendbox.services.messaging.home import Home


class Check(Struct, frozen=True):
    """One check. `refuses` says whether it refuses flow step `number` of a message at this instant.

    `word` is for the journal, `says` and `source` for people: what it means and where it is written. `info` is the
    `result_info` (None = the default), `ends_message` whether further steps are not tried either, `order_sensitive`
    whether the order of messages decides. `may` says, of the first of some messages of a submission, whether it may
    refuse any of them: what does not depend on the recipient is asked once.
    """

    word: str
    refuses: Callable[[Checks, Message, int, Step], bool]
    says: str
    source: str
    info: str | None = None
    ends_message: bool = False
    order_sensitive: bool = False
    may: Callable[[Checks, Message, int, Step], bool] = lambda _checks, _message, _number, _step: True
    #: refuses by the tag alone, so that a message without one has advice
    by_tag: bool = False


_VALID: Final = attrgetter("valid")


def _may_blacklist(checks: Checks, message: Message, _number: int, _step: Step) -> bool:
    sub_key = message.submission.key.billing
    return bool(checks.account.blacklist or (sub_key is not None and sub_key.blacklist))


def _blacklisted(checks: Checks, message: Message, _number: int, _step: Step) -> bool:
    now = checks.world.clock.now
    sub_key = message.submission.key.billing
    return bool(
        checks.account.blacklisted(message.phone, now)
        or (sub_key is not None and sub_key.blacklisted(message.phone, now))  # a sub-key asks both (A90)
    )


def _may_opt_out(checks: Checks, message: Message, _number: int, _step: Step) -> bool:
    sub_key = message.submission.key.billing
    listed = checks.account.optout or (sub_key is not None and sub_key.optout)
    return bool(listed) and "promotional" in message.submission.send.tags


def _opted_out(checks: Checks, message: Message, _number: int, _step: Step) -> bool:
    if "promotional" not in message.submission.send.tags:
        return False
    now = checks.world.clock.now
    sub_key = message.submission.key.billing
    return bool(
        checks.account.opted_out(message.phone, now) or (sub_key is not None and sub_key.opted_out(message.phone, now))
    )


def _unregistered(checks: Checks, message: Message, _number: int, step: Step) -> bool:
    if step.sender is None or (not ROWS[step.channel].needs_sender and checks.sms_sender != "strict"):
        return False
    # the sender of a message of the service itself needs no registration (A73)
    by_service = message.submission.service_sending is not None
    return not by_service and not checks.account.registered(ROWS[step.channel], step.sender)


def _without_channel(checks: Checks, message: Message, _number: int, step: Step) -> bool:
    return not checks.phones.has(message.phone, FAMILY[step.channel])


def _may_lack_channel(checks: Checks, _message: Message, _number: int, _step: Step) -> bool:
    return checks.phones.differ


def _needs_conversation(_checks: Checks, _message: Message, _number: int, step: Step) -> bool:
    return ROWS[step.channel].conversation


def _no_conversation(checks: Checks, message: Message, _number: int, step: Step) -> bool:
    return ROWS[step.channel].conversation and not checks.phones.conversation_open(message.phone)


def _template_unknown(checks: Checks, _message: Message, _number: int, step: Step) -> bool:
    use = step.template
    return use is not None and checks.account.template(use.name, use.language, step.sender) is None


def _template_not_approved(checks: Checks, _message: Message, _number: int, step: Step) -> bool:
    use = step.template
    template = None if use is None else checks.account.template(use.name, use.language, step.sender)
    return template is not None and not approved(template)


def _too_dear(checks: Checks, message: Message, number: int, step: Step) -> bool:
    """True if the balance does not cover the step; at the hand-over, the charge itself detects this."""
    billing = message.submission.key.billing or checks.account
    count = prepare(message.submission, number, step, checks.account).count
    eur, czk, _ = checks.costs.of(step.channel, count).of(message.phone)
    return (eur if billing.currency == "EUR" else czk) > billing.balance


_LISTED: Final = "[304] Phone number is blacklisted or opted-out"
CREDIT: Final = Check(
    "credit",
    _too_dear,
    "the account's credit does not cover the price",
    "§3.1",
    "[307] Insufficient credit",
    ends_message=True,
    order_sensitive=True,
)
CHECKS: Final = (
    Check(
        "number",
        lambda _checks, message, _number, _step: not message.valid,
        "the number cannot be normalized to international form",
        "§7.3",
        "[302] Invalid phone number format",
        ends_message=True,
        may=lambda _checks, message, _number, _step: not all(map(_VALID, message.submission.messages)),
    ),
    Check(
        "allowed",
        lambda checks, message, _number, _step: checks.not_allowed(message.phone),
        "the number is not among those that the scenario allows",
        "A83",
        "[303] Phone number is not in allowed list",
        ends_message=True,
    ),
    Check(
        "blacklist",
        _blacklisted,
        "the number is on the account's blacklist",
        "§1",
        _LISTED,
        ends_message=True,
        may=_may_blacklist,
    ),
    Check(
        "optout",
        _opted_out,
        "the recipient opted out, and the message carries the tag promotional",
        "§2.1",
        _LISTED,
        ends_message=True,
        may=_may_opt_out,
        by_tag=True,
    ),
    Check(
        "identical",
        lambda checks, message, number, step: checks.identical(message, number, step),
        "the same text went to this number too often",
        "A83",
        "[306] Too many identical messages for the same recipient",
        ends_message=True,
        order_sensitive=True,
    ),
    Check("sender", _unregistered, "the sender is not registered for this channel", "A59", may=_unregistered),
    Check("channel", _without_channel, "the phone cannot receive on this channel", "A62", may=_may_lack_channel),
    Check(
        "conversation",
        _no_conversation,
        "no conversation is open: the recipient has not written in the last 24 hours",
        "§2.2",
        may=_needs_conversation,
    ),
    Check(
        "template-unknown",
        _template_unknown,
        "the account has no template of this name and language",
        "§2.2",
        may=_template_unknown,
    ),
    Check(
        "template-not-approved",
        _template_not_approved,
        "the template is not approved",
        "§2.2",
        may=_template_not_approved,
    ),
    CREDIT,
)
BY_WORD: Final = {check.word: check for check in CHECKS}


@cache
def _checks_before_price(*, allowed: bool, identical: bool) -> tuple[Check, ...]:
    """The checks of worlds that limit numbers, or equal texts, as these say; the credit is left to the charge."""
    off = {CREDIT.word, *(() if allowed else ("allowed",)), *(() if identical else ("identical",))}
    return tuple(check for check in CHECKS if check.word not in off)


class Checks:
    """The checks of one world, and what they remember: which texts were handed over to whom."""

    def __init__(self, home: Home) -> None:
        self.world = home.world
        self.phones = home.phones
        self.account = home.account
        self.costs = home.costs
        assume = home.assume
        self.sms_sender = assume.sms_sender
        self._allowed = None if assume.allowed is None else [Pattern(text, digits=True) for text in assume.allowed]
        self._identical = assume.identical
        #: the checks before the price is known, in order
        self._checks = _checks_before_price(allowed=assume.allowed is not None, identical=assume.identical is not None)
        #: ordinals of the submissions without a tag that have their advice
        self._untagged: set[int] = set()
        #: (phone, text, its links) to the messages that were handed over with it: ordinal to instant (A83)
        self._same: dict[tuple[str, ...], dict[int, int]] = {}

    def applicable(self, message: Message, number: int, step: Step) -> list[Check]:
        """The checks that may now refuse flow step `number` of a message, or of others of its submission."""
        return [check for check in self._checks if check.may(self, message, number, step)]

    @property
    def remembering(self) -> bool:
        """True if texts that were handed over are remembered."""
        return self._identical is not None

    def remark_entry(self, message: Message) -> None:
        """Advice on a message that is handed over although its phone is on a list: the entry is not in force yet."""
        sub_key = message.submission.key.billing
        billings = (self.account,) if sub_key is None else (self.account, sub_key)
        lists = [("blacklist", billing.blacklist) for billing in billings]
        if "promotional" in message.submission.send.tags:
            lists += [("opt-out list", billing.optout) for billing in billings]
        for name, entries in lists:
            since = entries.get(message.phone)
            if since is not None:
                text = (
                    f"{message.phone} is on the {name}, in force at {iso(since)}; a message handed over at "
                    f"{iso(self.world.clock.now)} is sent all the same"
                )
                self.world.advise(advise(ENTRY_NOT_IN_FORCE, text, "$.to"), message.phone)

    def remark_untagged(self, message: Message, opens: int | None = None) -> None:
        """Advice, once for a submission, on a message without a tag that is held back, or refused by an opt-out (§2.1).

        `opens` is the instant at which the promotional hours open.
        """
        submission = message.submission
        untagged = submission.send.tags is DEFAULT  # the very object, which stands for no tag
        if untagged and submission.service_sending is None and submission.ordinal not in self._untagged:
            self._untagged.add(submission.ordinal)
            closed = "" if opens is None else f"promotional hours are closed until {iso(opens)}"
            text = f"no tag is given, so the message counts as promotional: {closed or f'{message.phone} opted out'}"
            self.world.advise(advise(UNTAGGED_PROMOTIONAL, text, "$.tag"), message.phone)

    def not_allowed(self, phone: str) -> bool:
        """True if a number is not among the allowed numbers."""
        return self._allowed is not None and not any(pattern.matches(phone) for pattern in self._allowed)

    def identical(self, message: Message, number: int, step: Step) -> bool:
        """True if the allowed number of other messages with this text was handed over for the phone within the time."""
        rate = self._identical
        if rate is None or message.submission.send.unlimited:
            return False
        key = _sameness(message, prepare(message.submission, number, step, self.account))
        since = self.world.clock.now - rate.within
        recent = self._same[key] = {ordinal: at for ordinal, at in self._same.get(key, {}).items() if at > since}
        return len(recent.keys() - {message.ordinal}) >= rate.count

    def handed_over(self, message: Message, prepared: Prepared, now: int) -> None:
        """Remembers the text of an attempt that passed."""
        if self._identical is not None:
            self._same.setdefault(_sameness(message, prepared), {})[message.ordinal] = now


def _sameness(message: Message, prepared: Prepared) -> tuple[str, ...]:
    return (message.phone, prepared.text, *prepared.targets)


def refusal_line(attempt: Attempt, why: str) -> str:
    """One line about a refused hand-over, beginning with the number (A61, A62)."""
    check = BY_WORD[why]
    step = attempt.step
    template = f' "{step.template.name}"' if step.template is not None else ""
    return f"{attempt.message.phone}: {step.channel}{template} rejected, {check.says} ({check.source})"


def _refusal(_world: World, subject: tuple[Attempt, str]) -> Iterator[str]:
    yield refusal_line(*subject)


def _bulk_line(_world: World, line: Line) -> Iterator[str]:
    for finding in line.findings:
        yield f"line {line.number} of {line.bulk.bulk_id}: {finding.message} at {finding.path}"


#: The lines of a server's log for entries of messages, by kind.
LOGGED: Final[Mapping[str, Callable[[World, Any], Iterable[str]]]] = {"refusal": _refusal, "bulk_line": _bulk_line}
