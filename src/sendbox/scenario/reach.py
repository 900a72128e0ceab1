"""What is never reached: entries of the timeline out of its range or about nothing, and rules about what cannot be."""

from __future__ import annotations

import re
from typing import Final

from sendbox.core import spans
from sendbox.core.blueprint import PhoneSpec, TimelineEntry
from sendbox.core.model import FAMILY
from sendbox.core.patterns import Pattern
from sendbox.core.rules import Rule
from sendbox.scenario import globs
from sendbox.scenario.doubts import Doubts
from sendbox.scenario.lengths import REACH
from sendbox.scenario.model import Node, listed, nearest, show

#: Longest body of a message (§2.1); what is longer was cut off before a rule is asked.
BODY: Final = 1_000
_NO_TAG: Final = re.compile(r"[^a-z0-9._*-]+")
#: From these a phone answers.
_ARRIVED: Final = ("delivered", "seen")


def find(doubts: Doubts) -> None:
    """Warns about everything that is never reached."""
    blueprint = doubts.blueprint
    _timeline(doubts)
    for at, item in doubts.entries("attempts"):
        _rule(item, blueprint.attempts[at], doubts)
    for at, item in doubts.entries("phones"):
        _number(item.entries()["number"], blueprint.phones[at].number, doubts)
    for at, item in doubts.entries("verify", "rules"):
        pattern = blueprint.verify[at].phone
        if pattern is not None:
            _number(item.entries()["when"].entries()["phone"], pattern, doubts)
    for _, item in doubts.entries("assume", "allowed"):
        _number(item, Pattern(str(item.value), phone=True), doubts)


# The timeline


def _timeline(doubts: Doubts) -> None:
    start = doubts.blueprint.start
    resets: dict[str, int] = {}
    for at, item in doubts.entries("timeline"):
        entry = doubts.blueprint.timeline[at]
        when = item.entries()["at"]
        if not entry.relative and start is not None and entry.at < start:
            message = f"{show(when.value)} is before the start of the world, {spans.iso(start)}"
            doubts.warn(when, "before-start", f"{message}; what is due then happens at the start")
        after = entry.at if entry.relative else None if start is None else entry.at - start
        if after is not None:
            if after > REACH:
                message = f"{show(when.value)} is {spans.show(after)} after the start"
                doubts.warn(when, "too-late", f"{message}; an advance reaches {spans.show(REACH)}")
            reset = resets.get(item.source.file)
            if reset is not None and after > reset:
                message = (
                    f"{show(when.value)} is after the reset at {spans.show(reset)}, which begins the timeline anew"
                )
                doubts.warn(when, "after-reset", f"{message}; it never comes")
            if "reset" in item.entries():
                resets[item.source.file] = min(after, resets.get(item.source.file, after))
        _happening(item, entry, doubts)


def _happening(item: Node, entry: TimelineEntry, doubts: Doubts) -> None:
    what = item.get(entry.kind)
    if what is None or not isinstance(what.value, dict):
        return
    parts = what.entries()
    if entry.kind == "template":
        _template(parts["name"], doubts)
    elif entry.kind == "number":
        _business_number(parts["phone_number"], str(entry.what["phone_number"]), doubts)
    elif entry.kind == "inbound":
        channel, phone = str(entry.what["channel"]), str(entry.what["from"])
        spec = _handset(phone, doubts.blueprint.phones)
        if spec is not None and spec.channels is not None and channel not in spec.channels:
            message = f"{show(parts['from'].value)} has no {channel}, by its entry in phones"
            doubts.warn(parts["from"], "no-channel", f"{message}; it has {listed(sorted(spec.channels)) or 'nothing'}")
        if "to" in parts:
            _recipient(parts["to"], channel, doubts)


def _template(node: Node, doubts: Doubts) -> None:
    """Its name; a scenario with reviews is about templates that the client creates."""
    known = [str(record["name"]) for record in doubts.blueprint.account.templates]
    defined = doubts.part("account")
    if (defined is not None and defined.cut) or doubts.blueprint.partner.reviews:
        return
    if _nothing_like_it(Pattern(str(node.value)), known):
        message = f"{show(node.value)} is no template of account.templates"
        doubts.warn(node, "template-unknown", _or_created(message, known), near=nearest(node.value, known))


def _business_number(node: Node, pattern: str, doubts: Doubts) -> None:
    """Its number; a scenario with signups is about numbers that clients bring."""
    partner = doubts.blueprint.partner
    defined = doubts.part("partner")
    if (defined is not None and defined.cut) or partner.signups:
        return
    known = [number.phone_number for account in partner.accounts for number in account.numbers]
    if _nothing_like_it(Pattern(pattern, phone=True), known):
        message = f"{show(node.value)} is no business number of partner.accounts"
        doubts.warn(node, "number-unknown", _or_created(message, known), near=nearest(pattern, known))


def _nothing_like_it(pattern: Pattern, known: list[str]) -> bool:
    """A pattern where nothing at all is defined is about what will be."""
    return (pattern.literal or bool(known)) and pattern.text != "*" and not any(map(pattern.matches, known))


def _or_created(message: str, known: list[str]) -> str:
    there = listed(known[:10]) or "none"
    return f"{message}; there are: {there}; nothing happens unless the client makes it before"


def _recipient(node: Node, channel: str, doubts: Doubts) -> None:
    """To whom a phone writes: nothing is said where the account names nobody."""
    account, partner = doubts.blueprint.account, doubts.blueprint.partner
    defined = [doubts.part("account"), doubts.part("partner")]
    if any(each is not None and each.cut for each in defined):
        return
    known = set() if isinstance(account.senders, str) else set(account.senders.get(channel, ()))
    if channel == "chatapp":
        # an id that is not given is drawn, and cannot be known here
        numbers = [number for business in partner.accounts for number in business.numbers]
        if any(number.id is None for number in numbers) or partner.signups:
            return
        known |= {str(number.id) for number in numbers}
    else:
        known |= account.numbers
    if known and str(node.value) not in known:
        message = f"{show(node.value)} is no number or sender of this account; there are: {listed(sorted(known)[:10])}"
        doubts.warn(node, "recipient-unknown", message, near=nearest(str(node.value), known))


# Rules of attempts


def _rule(item: Node, rule: Rule, doubts: Doubts) -> None:
    asked = item.get("when")
    when = {} if asked is None else asked.entries()
    if rule.when.phone is not None:
        _number(when["phone"], rule.when.phone, doubts)
        _channels(when["phone"], rule, doubts)
    if rule.when.tag is not None:
        _tag(when["tag"], doubts)
    if rule.when.body is not None and len(rule.when.body.text.replace("*", "")) > BODY:
        length = len(rule.when.body.text.replace("*", ""))
        message = (
            f"{show(when['body'].value)} asks for {length} characters; a body has at most {BODY}, the rest is cut off"
        )
        doubts.warn(when["body"], "body-too-long", message)
    if (goals := _ends(rule)) and not set(_ARRIVED).intersection(goals):
        for key in ("replies", "click"):
            if key in item.entries():
                message = f'"{key}" counts from delivered, and no way of this rule comes to that: {listed(goals)}'
                doubts.warn(item.entries()[key], "never-delivered", message, value=key)


def _ends(rule: Rule) -> list[str]:
    """The results that the rule's ways go through; nothing when it leaves the way to others."""
    if rule.mix is not None:
        return [str(path.goal) for path, _ in rule.mix]
    if rule.path is None:
        return []
    return [rule.path.goal] if rule.path.goal is not None else [entry.result for entry in rule.path.entries]


def _channels(node: Node, rule: Rule, doubts: Doubts) -> None:
    """A phone without a channel is never tried on it."""
    if rule.when.channel is None or rule.when.phone is None:
        return
    spec = _handset(rule.when.phone.text, doubts.blueprint.phones)
    if spec is None or spec.channels is None:
        return
    if not any(FAMILY[channel] in spec.channels for channel in rule.when.channel):
        message = f"{show(node.value)} has no {listed(rule.when.channel)}, by its entry in phones"
        message = f"{message}; it has {listed(sorted(spec.channels)) or 'nothing'}, and is tried on nothing else"
        doubts.warn(node, "no-channel", message)


def _handset(pattern: str, specs: tuple[PhoneSpec, ...]) -> PhoneSpec | None:
    """The entry of `phones` for every number of a pattern, None where there is none, or not one alone."""
    for spec in specs:
        if globs.covers(spec.number.text, pattern, phone=True):
            return spec
        if globs.overlaps(spec.number.text, pattern):
            return None
    return None


def _tag(node: Node, doubts: Doubts) -> None:
    text = str(node.value)
    if _NO_TAG.search(text) or not text:
        near = _NO_TAG.sub("", text.lower()) or None
        message = f"{show(text)} is no tag after cleaning: lower case, a-z 0-9 . _ - (A60)"
        doubts.warn(node, "tag", message, near=near)


def _number(node: Node, pattern: Pattern, doubts: Doubts) -> None:
    if not pattern.literal and (why := globs.why_no_number(pattern.text)) is not None:
        doubts.warn(node, "no-number", f"{show(node.value)} is like no phone number: {why}")
