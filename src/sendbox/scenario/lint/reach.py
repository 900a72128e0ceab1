"""What is never reached: entries of the timeline out of its range or about nothing, and rules about what cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sendbox.engine import durations as spans
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.patterns import Pattern
from sendbox.engine.rules.rule import Rule as AnyRule
from sendbox.scenario.keys.traffic import leaves
from sendbox.scenario.lint import globs
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.lint.lengths import REACH
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader
from sendbox.services.blueprint import Blueprint, PhoneSpec
from sendbox.services.messaging.channels import FAMILY
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.numbers.normal import normalize
from sendbox.services.traffic import PARENT, reference

#: Longest body of a message (§2.1); what is longer was cut off before a rule is asked.
BODY: Final = 1_000
#: What begins like a reference to an earlier answer, and has no blanks, as a text would have.
_MEANT: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_-]*)(?=[.\[/]|\Z)\S*\Z")
_NO_TAG: Final = re.compile(r"[^a-z0-9._*-]+")
#: From these a phone answers.
_ARRIVED: Final = ("delivered", "seen")
#: What can happen at the instant of a request; the others need an operator or a phone, whose times are no less than 0.
_AT_ONCE: Final = frozenset({"sending", "rejected"})


def find(doubts: Doubts) -> None:
    """Warns about everything that is never reached."""
    blueprint = doubts.blueprint
    _timeline(doubts)
    for at, item in doubts.entries("attempts"):
        _rule(item, blueprint.attempts[at], doubts)
    for at, item in doubts.entries("phones"):
        _number(item.entries()["number"], blueprint.phones[at].number, doubts)
    for at, item in doubts.entries("verify", "rules"):
        _phone(item, blueprint.verify[at], doubts)
    for _, item in doubts.entries("assume", "allowed"):
        _number(item, Pattern(str(item.value), digits=True), doubts)
    for at, item in doubts.entries("api"):
        _phone(item, blueprint.api[at], doubts)
    for at, item in doubts.entries("webhooks"):
        _webhook(item, blueprint.webhooks[at], doubts)
    _traffic(doubts)
    rules = _rules(blueprint)
    for _, item in doubts.entries("expect"):
        then = item.get("then")
        for each in (item, *([] if then is None else then.items())):
            _expected(each, rules, doubts)


# The timeline


def _timeline(doubts: Doubts) -> None:
    resets: dict[int, int] = {}
    for _, item in doubts.entries("timeline"):
        after = _when(item.entries()["at"], doubts)
        if after is not None:
            reset = resets.get(id(item.source))
            if reset is not None and after > reset:
                at = item.entries()["at"]
                message = f"{show(at.value)} is after the reset at {spans.show(reset)}, which begins the timeline anew"
                doubts.warn(at, "after-reset", f"{message}; it never comes")
            if "reset" in item.entries():
                resets[id(item.source)] = min(after, resets.get(id(item.source), after))
        for kind, ask in _HAPPENINGS.items():
            what = item.get(kind)
            if what is not None:
                ask(what, doubts)


def _when(node: Node, doubts: Doubts) -> int | None:
    """Milliseconds after the start, None where that is not pinned; warns when they are out of range."""
    start, reader = doubts.blueprint.start, Reader()
    moment = reader.moment(node)
    if reader.problems or (not moment.relative and start is None):
        return None
    after = moment.at if moment.relative or start is None else moment.at - start
    if after < 0 and start is not None:
        message = f"{show(node.value)} is before the start of the world, {spans.iso(start)}"
        doubts.warn(node, "before-start", f"{message}; what is due then happens at the start")
    elif after > REACH:
        message = f"{show(node.value)} is {spans.show(after)} after the start"
        doubts.warn(node, "too-late", f"{message}; an advance reaches {spans.show(REACH)}")
    return after


def _inbound(node: Node, doubts: Doubts) -> None:
    parts = node.entries()
    channel, phone = str(parts["channel"].value), str(parts["from"].value)
    number = normalize(phone, doubts.blueprint.assume.country or doubts.blueprint.account.country) or phone
    spec = _handset(number, doubts.blueprint.phones)
    if spec is not None and spec.channels is not None and channel not in spec.channels:
        message = f"{show(parts['from'].value)} has no {channel}, by its entry in phones"
        doubts.warn(parts["from"], "no-channel", f"{message}; it has {listed(sorted(spec.channels)) or 'nothing'}")
    if "to" in parts and not _changed(doubts, "numbers", "senders"):
        _recipient(parts["to"], channel, doubts)


def _changed(doubts: Doubts, *keys: str) -> bool:
    """Whether the timeline gives the account other ones of these."""
    timeline = doubts.part("timeline")
    changes = [item.get("account") for item in ([] if timeline is None else timeline.items())]
    return any(change is not None and change.get(key) is not None for change in changes for key in keys)


def _template(change: Node, doubts: Doubts) -> None:
    """Its name; a scenario with reviews is about templates that the client creates."""
    node = change.entries()["name"]
    known = [str(record["name"]) for record in doubts.blueprint.account.templates]
    defined = doubts.part("account")
    reviewed = doubts.blueprint.partner.reviews
    if (defined is not None and defined.cut) or reviewed or _changed(doubts, "templates"):
        return
    if _nothing_like_it(Pattern(str(node.value)), known):
        message = f"{show(node.value)} is no template of account.templates"
        doubts.warn(node, "template-unknown", _or_created(message, known), near=nearest(node.value, known))


def _business_number(change: Node, doubts: Doubts) -> None:
    """Its number; a scenario with signups is about numbers that clients bring."""
    node = change.entries()["phone_number"]
    text = str(node.value)
    country = doubts.blueprint.assume.country or doubts.blueprint.account.country
    pattern = text if {"*", "?"} & set(text) else normalize(text, country) or text
    partner = doubts.blueprint.partner
    defined = doubts.part("partner")
    if (defined is not None and defined.cut) or partner.signups:
        return
    known = [number.phone_number for account in partner.accounts for number in account.numbers]
    if _nothing_like_it(Pattern(pattern, digits=True), known):
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


_HAPPENINGS: Final[dict[str, Callable[[Node, Doubts], None]]] = {
    "template": _template,
    "number": _business_number,
    "inbound": _inbound,
}


# Traffic


def _traffic(doubts: Doubts) -> None:
    """References that are none, and sub-keys that nothing makes."""
    names: list[str] = []
    made = any(entry.operation == "addSubKey" for entry in doubts.blueprint.traffic)
    subkeys = [subkey.name for subkey in doubts.blueprint.account.subkeys]
    for _, item in doubts.entries("traffic"):
        request = item.entries()["request"]
        for each in leaves(request):
            meant = _MEANT.match(each.value) if isinstance(each.value, str) else None
            if meant is not None and meant[1] in names and reference(each.value) is None:
                message = f"{show(each.value)} is sent as it stands; a reference has dots only"
                doubts.warn(each, "reference", f"{message}, such as ${meant[1]}.accepted.0.message_id")
        key = request.get("key")
        if key is not None and reference(key.value) is None and not made and key.value not in (*subkeys, PARENT):
            message = f"{show(key.value)} is no sub-key of account.subkeys; there are: {listed(subkeys) or 'none'}"
            doubts.warn(key, "key-unknown", message, near=nearest(key.value, subkeys))
        name = item.get("name")
        if name is not None:
            names.append(str(name.value))


# Rules of attempts


def _phone(item: Node, rule: AnyRule, doubts: Doubts) -> None:
    """What a rule of any list asks of a number."""
    pattern = rule.when.pattern("phone")
    if pattern is not None:
        _number(item.entries()["when"].entries()["phone"], pattern, doubts)


def _rule(item: Node, rule: Rule, doubts: Doubts) -> None:
    asked = item.get("when")
    when = {} if asked is None else asked.entries()
    _phone(item, rule, doubts)
    if "phone" in rule.when.asked:
        _channels(when["phone"], rule, doubts)
    if rule.when.words("operation") == ("createValidation",):
        _validation(when, rule, doubts)
    if "tag" in rule.when.asked:
        _tag(when["tag"], doubts)
    body = rule.when.pattern("body")
    if body is not None and (length := len(body.text.replace("*", ""))) > BODY:
        message = (
            f"{show(when['body'].value)} asks for {length} characters; a body has at most {BODY}, the rest is cut off"
        )
        doubts.warn(when["body"], "body-too-long", message)
    if (goals := _ends(rule)) and not set(_ARRIVED).intersection(goals):
        for key in ("replies", "click"):
            if key in item.entries():
                message = f'"{key}" counts from delivered, and no way of this rule comes to that: {listed(goals)}'
                doubts.warn(item.entries()[key], "never-delivered", message, value=key)


def _webhook(item: Node, rule: WebhookRule, doubts: Doubts) -> None:
    asked = item.get("when")
    when = {} if asked is None else asked.entries()
    _phone(item, rule, doubts)
    if "tag" in rule.when.asked:
        _tag(when["tag"], doubts)
    results = rule.when.words("result")
    if results == ("seen",) and rule.when.words("gateway") == ("sms",):
        doubts.warn(when["result"], "never-asked", '"seen" does not exist on sms, the only gateway of this rule (§3.1)')
    late = results is not None and not _AT_ONCE.intersection(results) and not _hurried(doubts.blueprint)
    if rule.fault.racing and results is not None and late:
        message = f"nothing overtakes the answer to its request: {listed(results)}"
        doubts.warn(when["result"], "never-asked", f"{message}; at once come {listed(sorted(_AT_ONCE))}")


def _hurried(blueprint: Blueprint) -> bool:
    """Whether somebody takes no time for what usually takes some."""
    ways = [way for rule in blueprint.attempts for way in (rule.path, *(path for path, _ in rule.mix or ())) if way]
    entries = [entry for way in ways for entry in way.entries if entry.result not in _AT_ONCE]
    timing = blueprint.assume.timing
    return any(entry.after.low == 0 for entry in entries) or 0 in (timing.sent, timing.delivered, timing.seen)


def _validation(when: dict[str, Node], rule: Rule, doubts: Doubts) -> None:
    """The code of a session is one SMS, tried once (A73)."""
    channels, attempt = rule.when.words("channel"), rule.when.asked.get("attempt")
    if channels is not None and "sms" not in channels:
        message = f"{show(plain(when['channel']))} is never the channel of createValidation; it sends an sms (A73)"
        doubts.warn(when["channel"], "never-asked", message)
    if attempt not in (None, 1):
        message = f"{attempt} is never the attempt of createValidation; it is tried once (A73)"
        doubts.warn(when["attempt"], "never-asked", message)


def _ends(rule: Rule) -> list[str]:
    """The results that the rule's ways go through; nothing when it leaves the way to others."""
    paths = [rule.path] if rule.path is not None else [path for path, _ in rule.mix or ()]
    found = [[entry.result for entry in path.entries] if path.goal is None else [path.goal] for path in paths]
    return [result for results in found for result in results]


def _channels(node: Node, rule: Rule, doubts: Doubts) -> None:
    """A phone without a channel is never tried on it."""
    channels, phone = rule.when.words("channel"), rule.when.pattern("phone")
    if channels is None or phone is None:
        return
    spec = _handset(phone.text, doubts.blueprint.phones)
    if spec is None or spec.channels is None:
        return
    if not any(FAMILY[channel] in spec.channels for channel in channels):
        message = f"{show(node.value)} has no {listed(channels)}, by its entry in phones"
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


def _rules(blueprint: Blueprint) -> list[str]:
    """What rules are called of which an expectation may speak: by their names, or by their texts."""
    rules: tuple[AnyRule, ...] = (*blueprint.attempts, *blueprint.verify, *blueprint.api, *blueprint.webhooks)
    return list(dict.fromkeys(rule.title for rule in rules))


def _expected(node: Node, rules: list[str], doubts: Doubts) -> None:
    """Conditions of an expectation that nothing can meet."""
    where = node.get("where")
    for key, item in ({} if where is None else where.entries()).items():
        for each in item.items() or [item]:
            if key == "tag":
                _tag(each, doubts)
            elif key == "phone":
                _number(each, Pattern(str(each.value), digits=True), doubts)
            elif key == "rule" and _nothing_like_it(Pattern(str(each.value)), rules):
                message = f"{show(each.value)} is the name of no rule of this scenario; control may bring one"
                doubts.warn(each, "rule-unknown", message, near=nearest(each.value, rules))


def _tag(node: Node, doubts: Doubts) -> None:
    text = str(node.value)
    if _NO_TAG.search(text) or not text:
        near = _NO_TAG.sub("", text.lower()) or None
        message = f"{show(text)} is no tag after cleaning: lower case, a-z 0-9 . _ - (A60)"
        doubts.warn(node, "tag", message, near=near)


def _number(node: Node, pattern: Pattern, doubts: Doubts) -> None:
    if not pattern.literal and (why := globs.why_no_number(pattern.text)) is not None:
        doubts.warn(node, "no-number", f"{show(node.value)} is like no phone number: {why}")
