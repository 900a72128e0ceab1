"""Warnings about messages and phones of a scenario that are probably mistakes."""

from __future__ import annotations

from typing import Final

from sendbox.engine import durations
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.delivery.batches import succeeded
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Moment
from sendbox.engine.expect.expectation import Condition, Expectation
from sendbox.engine.rules.conditions import several
from sendbox.engine.texts import Pattern
from sendbox.engine.traffic import parse_reference
from sendbox.scenario.lint import globs
from sendbox.scenario.lint.linter import LEGAL, REACH, Linter, patterns_of
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.services import limits
from sendbox.services.http.numbers import FIELDS
from sendbox.services.messaging.channels import FAMILY, MEANT, ROWS, SENDERS, USUAL
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.numbers import notation

#: Results after which a phone can answer.
_ARRIVED: Final = ("delivered", "seen")
#: What can happen at the instant of a request; the others need an operator or a phone, which take at least no time.
_START: Final = Moment(0, True)
_AT_ONCE: Final = frozenset({"sending", "rejected"})


def find(linter: Linter) -> None:
    """Warns about rules and phones that match nothing, and about results that no webhook reports."""
    compiled = linter.blueprint.compiled
    for at, item in linter.entries("attempts"):
        _rule(item, compiled["attempts"][at], linter)
    for at, item in linter.entries("phones"):
        linter.number(item.entries()["number"], compiled["phones"][at].number)
    _webhooks(linter)
    _traffic(linter)


def seen(expected: Node, linter: Linter) -> None:
    """A result that the channel does not have (§3.1)."""
    where = expected.get("where")
    entries = {} if where is None else where.entries()
    results = entries.get("result")
    if results is None or {item.value for item in results.items() or [results]} != {"seen"}:
        return
    for key in ("channel", "gateway"):
        node = entries.get(key)
        words = [] if node is None else [str(item.value) for item in node.items() or [node]]
        if words and not any(ROWS[name].shows_seen for word in words for name in MEANT.get(word, (word,))):
            linter.warn(results, "never-asked", f'"seen" does not exist on {listed(words)} (§3.1)')


def _traffic(linter: Linter) -> None:
    """Recipients of the sample traffic that are patterns, where the entry does not expect to be refused."""
    for _, item in linter.entries("traffic"):
        for mapping in item.mappings() if item.get("request") is not None and item.get("expect") is None else ():
            for key in FIELDS:
                node = mapping.get(key)
                for recipient in () if node is None else node.items() or [node]:
                    text = recipient.value
                    if isinstance(text, str) and notation.is_pattern(text) and parse_reference(text) is None:
                        message = f"{show(text)} is a pattern where one number is wanted; it is sent as it is written"
                        linter.warn(recipient, "no-number", message)


def inbound(node: Node, linter: Linter) -> None:
    """A phone that writes has the channel, and the number that it writes to is the account's."""
    parts = node.entries()
    channel, phone = str(parts["channel"].value), str(parts["from"].value)
    number = notation.normalize(phone, linter.country) or phone
    spec = _handset(number, linter.blueprint.compiled["phones"])
    if spec is not None and spec.channels is not None and channel not in spec.channels:
        message = f"{show(parts['from'].value)} has no {channel}, by its entry in phones"
        linter.warn(parts["from"], "no-channel", f"{message}; it has {listed(sorted(spec.channels)) or 'nothing'}")
    if "to" in parts and not linter.happens("account", "numbers", "senders"):
        _recipient(parts["to"], channel, linter)


def _recipient(node: Node, channel: str, linter: Linter) -> None:
    """The number or sender that a phone writes to; no warning where the account names none."""
    account, partner = (linter.blueprint.compiled[key] for key in ("account", "partner"))
    defined = [linter.part("account"), linter.part("partner")]
    if any(definition is not None and definition.incomplete for definition in defined):
        return
    senders = set() if isinstance(account.senders, str) else set(account.senders.get(channel, ()))
    if SENDERS[channel] == "number":
        # an id that is not given is drawn, and cannot be known here
        numbers = [number for business in partner.accounts for number in business.numbers]
        if any(number.id is None for number in numbers) or partner.signups:
            return
        senders |= {str(number.id) for number in numbers}
    else:
        senders |= account.numbers
    if senders and str(node.value) not in senders:
        message = (
            f"{show(node.value)} is not a number or sender of this account; there are: {listed(sorted(senders)[:10])}"
        )
        linter.warn(node, "recipient-unknown", message, near=nearest(str(node.value), senders))


def _rule(item: Node, rule: Rule, linter: Linter) -> None:
    condition = item.get("when")
    when = {} if condition is None else condition.entries()
    linter.numbers(item, rule.when)
    linter.tags(item, rule.when)
    for node, phone in patterns_of(item, rule.when, "phone"):
        _channels(node, phone, rule, linter)
    if rule.when.words("operation") == ("createValidation",):
        _validation(when, rule, linter)
    for node, body in patterns_of(item, rule.when, "body"):
        if (length := len(body.text.replace("*", ""))) > limits.BODY:
            # what is longer was cut off before a rule is asked
            demand = f"{show(node.value)} asks for {length} characters"
            message = f"{demand}; a body has at most {limits.BODY}, the rest is cut off"
            linter.warn(node, "body-too-long", message)
    if (goals := _ends(rule)) and not set(_ARRIVED).intersection(goals):
        for key in ("replies", "click"):
            if key in item.entries():
                message = f'"{key}" counts from delivered, and no way of this rule comes to that: {listed(goals)}'
                linter.warn(item.entries()[key], "never-delivered", message, value=key)
    _length(item, rule, linter)


def _length(item: Node, rule: Rule, linter: Linter) -> None:
    """A path none of whose times is too long may be too long as a whole."""
    path = rule.path
    if path is not None and (total := sum(entry.after.high for entry in path.entries)) > REACH:
        then = item.entries()["then"]
        longest = max(path.entries, key=lambda entry: entry.after.high).after.high
        if longest <= REACH:
            linter.warn(then, "too-long", f"{show(plain(then))} takes {durations.show(total)} in all; {LEGAL}")


def _webhooks(linter: Linter) -> None:
    """Results that no event can report, or that come too late for the fault; tries that all fail."""
    for at, item in linter.entries("webhooks"):
        rule = linter.blueprint.webhooks[at]
        _tries(item, rule, linter)
        results = rule.when.words("result")
        if results is None:
            continue
        node = item.entries()["when"].entries()["result"]
        gateways = rule.when.words("gateway")
        if results == ("seen",) and gateways and not any(ROWS[name].shows_seen for w in gateways for name in MEANT[w]):
            where = f"{listed(gateways)}, the only gateway of this rule"
            linter.warn(node, "never-asked", f'"seen" does not exist on {where} (§3.1)')
        if rule.fault.racing and not _AT_ONCE.intersection(results) and not _hurried(linter.blueprint):
            message = f"nothing overtakes the answer to its request: {listed(results)}"
            linter.warn(node, "never-asked", f"{message}; at once come {listed(sorted(_AT_ONCE))}")


def _tries(item: Node, rule: WebhookRule, linter: Linter) -> None:
    """A rule under which all tries of a webhook fail (A20), unless the scenario expects webhooks that have failed."""
    retries, when = linter.blueprint.assume.webhook_retry, rule.when
    ending = rule.fault.ending
    if (
        ending is None
        or succeeded(*ending)
        or when.share is not None
        or when.nth
        or when.every
        or when.hours
        or rule.times
    ):
        return
    begins, ends = when.begins or _START, when.ends
    # a rule without an end is meant so
    if ends is None or ends.relative != begins.relative or ends.at - begins.at <= sum(retries):
        return
    if any(map(_expects_failed, linter.blueprint.expect)):
        return
    window, tries = durations.show(ends.at - begins.at), durations.show(sum(retries))
    message = f"it holds for {window}, and a webhook is given up {tries} after its first try (A20, webhook_retry)"
    linter.warn(item, "given-up", f"{message}; if that is meant, expect deliveries with the state failed")


def _expects_failed(expectation: Expectation) -> bool:
    """True if an expectation, or an entry of its `then`, is about webhooks that have failed."""
    return any(
        isinstance(condition, Condition)
        and condition.field == "state"
        and any(isinstance(value, Pattern) and value.matches("failed") for value in condition.expected)
        for entry in expectation.chain
        if entry.that == "deliveries"
        for condition in entry.where
    )


def _hurried(blueprint: Blueprint) -> bool:
    """True if some rule or setting lets a later result come at once."""
    paths = [path for rule in blueprint.compiled["attempts"] for path in rule.paths]
    entries = [entry for path in paths for entry in path.entries if entry.result not in _AT_ONCE]
    timing = blueprint.assume.timing
    return any(entry.after.low == 0 for entry in entries) or 0 in (timing.sent, timing.delivered, timing.seen)


def _validation(when: dict[str, Node], rule: Rule, linter: Linter) -> None:
    """The code of a session is one SMS, tried once (A73)."""
    channels, attempt = rule.when.words("channel"), rule.when.asked.get("attempt")
    if channels is not None and USUAL not in channels:
        message = f"{show(plain(when['channel']))} is never the channel of createValidation; it sends an {USUAL} (A73)"
        linter.warn(when["channel"], "never-asked", message)
    if attempt is not None and 1 not in several(attempt):
        message = f"{show(plain(when['attempt']))} is never the attempt of createValidation; it is tried once (A73)"
        linter.warn(when["attempt"], "never-asked", message)


def _ends(rule: Rule) -> list[str]:
    """The results that the rule's ways go through; nothing when it leaves the path to other rules."""
    plans = [[entry.result for entry in path.entries] if path.goal is None else [path.goal] for path in rule.paths]
    return [result for results in plans for result in results]


def _channels(node: Node, phone: Pattern, rule: Rule, linter: Linter) -> None:
    """A phone without a channel is never tried on it."""
    channels = rule.when.words("channel")
    if channels is None:
        return
    spec = _handset(phone.text, linter.blueprint.compiled["phones"])
    if spec is None or spec.channels is None:
        return
    if not any(FAMILY[channel] in spec.channels for channel in channels):
        message = f"{show(node.value)} has no {listed(channels)}, by its entry in phones"
        message = f"{message}; it has {listed(sorted(spec.channels)) or 'nothing'}, and is tried on nothing else"
        linter.warn(node, "no-channel", message)


def _handset(pattern: str, specs: tuple[PhoneSpec, ...]) -> PhoneSpec | None:
    """The entry of `phones` for every number of a pattern, None where there is none, or more than one."""
    for spec in specs:
        if globs.covers(spec.number.text, pattern, phone=True):
            return spec
        if globs.overlaps(spec.number.text, pattern):
            return None
    return None
