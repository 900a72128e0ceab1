"""Lints for parts without effect: happenings out of range, texts that look like references, expectations of nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Final

from msgspec.structs import replace

from sendbox.engine import durations as spans
from sendbox.engine.expect.expectation import RULE_UNKNOWN, Condition, Expectation, Never, Not, OfPart, Range, Where
from sendbox.engine.expect.subjects import Subject
from sendbox.engine.texts import Pattern
from sendbox.engine.traffic import parse_reference
from sendbox.scenario.keys.expect import NOT
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.keys.traffic import leaves
from sendbox.scenario.lint.linter import REACH, Linter, nothing_like_it
from sendbox.scenario.model import Node, nearest, plain, show
from sendbox.scenario.values import Reader, items

#: What warns about conditions of one expectation, or of one of its `then`.
Doubt = Callable[[Node, Linter], None]
#: Fields of which a single value says which thing is meant.
_ONE: Final = {"phone", "key", "name", "code", "subject"}
#: A text that begins like a reference to an earlier answer, and has no blanks.
_MEANT: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_-]*)(?=[.\[/]|\Z)\S*\Z")

#: Parts of a pattern that only a regular expression has: ranges in brackets, classes of characters, numbers of times.
_EXPRESSION: Final = re.compile(r"\[\^?\w-\w[^\]]*\]|\\[dswDSW]|\{[0-9]+(?:,[0-9]*)?\}")


def timeline(linter: Linter, happenings: Mapping[str, Happening]) -> None:
    """Warns about every entry of the timeline that is never reached, or has no effect."""
    resets: dict[int, int] = {}
    for _, item in linter.entries("timeline"):
        after = _when(item.entries()["at"], linter)
        if after is not None:
            reset = resets.get(id(item.source))
            if reset is not None and after > reset:
                at = item.entries()["at"]
                message = f"{show(at.value)} is after the reset at {spans.show(reset)}, which starts the timeline again"
                linter.warn(at, "after-reset", f"{message}; it never happens")
            if "reset" in item.entries():
                resets[id(item.source)] = min(after, resets.get(id(item.source), after))
        for kind, happening in happenings.items():
            content = item.get(kind)
            if content is not None and happening.lint is not None:
                happening.lint(content, linter)


def _when(node: Node, linter: Linter) -> int | None:
    """Milliseconds after the start, None if the start is not set; warns when they are out of range."""
    start, reader = linter.blueprint.start, Reader()
    moment = reader.moment(node)
    if reader.problems or (not moment.relative and start is None):
        return None
    after = moment.at if moment.relative or start is None else moment.at - start
    if after < 0 and start is not None:
        message = f"{show(node.value)} is before the start of the world, {spans.iso(start)}"
        linter.warn(node, "before-start", f"{message}; it happens at the start")
    elif after > REACH:
        message = f"{show(node.value)} is {spans.show(after)} after the start"
        linter.warn(node, "too-late", f"{message}; an advance reaches {spans.show(REACH)}")
    return after


def find(linter: Linter, keys: Iterable[str], subjects: Mapping[str, Subject]) -> None:
    """Warns about everything else that is never reached, or by anything; `keys` are the keys with rules."""
    blueprint = linter.blueprint
    for key in ("api", "webhooks"):
        for at, item in linter.entries(key):
            when = blueprint.of(key)[at].when
            linter.numbers(item, when)
            linter.tags(item, when)
    _traffic(linter)
    rules = _rules(linter, keys)
    _changed(linter, subjects)
    for at, item in linter.entries("expect"):
        expectation, then = blueprint.expect[at], item.get("then")
        _warn_unlinked(item, expectation, subjects, linter)
        _any_of_several(item, expectation, subjects, linter)
        for kind, among in expectation.among[:1]:
            _conditions(item.get("among"), among, subjects[kind], rules, linter)
        for node, step in zip((item, *items(then)), (expectation, *expectation.then), strict=True):
            _turned(node.get("where"), _own(step), subjects[step.that], rules, linter)
            _expressions(node.get("where"), _own(step), linter)


def _changed(linter: Linter, subjects: Mapping[str, Subject]) -> None:
    """Warns once of each file that may say something else than when it was written: of a part of a thing, or by a
    duration in `then`. A word that asks for a part, and `within` beside the duration, say that it is meant."""
    of_parts: dict[str, list[tuple[Node, str]]] = {}
    of_times: dict[str, list[tuple[Node, str]]] = {}
    knowing = set()
    for at, item in linter.entries("expect"):
        chain = linter.blueprint.expect[at].chain
        for number, (node, step) in enumerate(zip((item, *items(item.get("then"))), chain, strict=True)):
            subject, file = subjects[step.that], node.source.file
            for where in filter(None, (node.get("where"), node.get("among"))):
                conditions = where.entries()
                if not subject.words.keys().isdisjoint(conditions):
                    knowing.add(file)
                if fields := _of_any_part(conditions, subject):
                    assert subject.parts is not None
                    part, words = subject.parts.name, " or ".join(subject.words)
                    message = f"{' and '.join(fields)} of {step.that} may be that of any {part}"
                    message = f"{message}, no longer only of the one shown; say {words} of which"
                    of_parts.setdefault(file, []).append((conditions[fields[0]], message))
            bounds = [
                key for key in ("after", "before") if (bound := getattr(step, key)) is not None and bound.relative
            ]
            if number and bounds and node.get("within") is None:
                message = f"{bounds[0]} in then counts from the thing before, no longer from the start of the world"
                message = f"{message}; say within beside it, or an instant of the world with its date"
                of_times.setdefault(file, []).append((node.entries()[bounds[0]], message))
    for file in dict.fromkeys((*of_parts, *of_times)):
        changes = [*of_parts.get(file, ())[: file not in knowing], *of_times.get(file, ())[:1]]
        if changes:
            first = changes[0][0]
            linter.warn(first, "changed", f"{show(plain(first))}: {'; '.join(message for _, message in changes)}")


def _of_any_part(conditions: Mapping[str, Node], subject: Subject) -> list[str]:
    """The fields of conditions that may be met by another part than by the one shown."""
    parts = subject.parts
    if parts is None:
        return []
    name, words = parts.sure
    node = conditions.get(name)
    if node is not None and all(item.value in words for item in node.items() or [node]):
        return []
    return [field for field in conditions if field in parts.visible]


def _traffic(linter: Linter) -> None:
    """Warns about texts that only look like references."""
    names: list[str] = []
    for _, item in linter.entries("traffic"):
        entries = item.entries()
        for leaf in leaves(entries["request"] if "request" in entries else entries["control"]):
            meant = _MEANT.match(leaf.value) if isinstance(leaf.value, str) else None
            if meant is not None and meant[1] in names and parse_reference(leaf.value) is None:
                message = f"{show(leaf.value)} is sent as it is written; a reference has only dots"
                linter.warn(leaf, "reference", f"{message}, such as ${meant[1]}.accepted.0.message_id")
        name = item.get("name")
        if name is not None:
            names.append(str(name.value))


def expectations(
    linter: Linter, doubts: Iterable[Doubt], subjects: Mapping[str, Subject], keys: Iterable[str]
) -> tuple[Expectation, ...]:
    """The expectations, each with what of it nothing can meet; `keys` are the keys with rules.

    That fails the verdict, so it is an error; a rule that is unknown may still be put by control, and is a warning.
    """
    rules = _rules(linter, keys)
    expected = list(linter.blueprint.expect)
    for at, item in linter.entries("expect"):
        count, then = len(linter.warnings), item.get("then")
        for node, step in zip((item, *items(then)), (expected[at], *expected[at].then), strict=True):
            _conditions(node.get("where"), _own(step), subjects[step.that], rules, linter)
            for where, conditions in zip(items(node.get("in_order")), step.in_order, strict=True):
                _conditions(where, conditions, subjects[step.that], rules, linter)
            for doubt in doubts:
                doubt(node, linter)
            _bounds(node, step, linter)
        _unfailing(item, expected[at], subjects, linter)
        _unfollowed(item, expected[at], subjects, linter)
        if never := linter.warnings[count:]:
            expected[at] = replace(expected[at], never=tuple(Never(problem.rule, problem.message) for problem in never))
        linter.warnings[count:] = [
            problem if problem.rule == RULE_UNKNOWN else replace(problem, severity="error") for problem in never
        ]
    return tuple(expected)


def _rules(linter: Linter, keys: Iterable[str]) -> list[str]:
    """The names of all rules of a scenario."""
    return list(dict.fromkeys(rule.title for key in keys for rule in linter.blueprint.of(key)))


def _own(expectation: Expectation) -> tuple[Where, ...]:
    """The conditions of its `where`: a share of things asks those of `among` first."""
    shared = () if expectation.each or not expectation.among else expectation.among[0][1]
    first = next(iter(expectation.where), None)
    return expectation.where[1 if isinstance(first, OfPart) and not first.word else len(shared) :]


def _conditions(
    where: Node | None, conditions: Iterable[Where], subject: Subject, rules: list[str], linter: Linter
) -> None:
    """Warns about conditions that nothing can meet."""
    entries = {} if where is None else where.entries()
    for condition in conditions:
        if isinstance(condition, OfPart):
            _conditions(entries[condition.word], condition.conditions, subject, rules, linter)
        if not isinstance(condition, Condition) or condition.path:
            continue
        item = entries[condition.field]
        numbers = subject.fields[condition.field].numbers
        for choice, value in zip(item.items() or [item], condition.expected, strict=True):
            if condition.field == "tag":
                linter.tag(choice)
            elif isinstance(value, Pattern) and condition.field == "phone":
                linter.number(choice, value)
            elif isinstance(value, Range) and numbers and not any(value.overlaps(*ends) for ends in numbers):
                message = f"{show(choice.value)} is never met: {condition.field} is {_ranges(numbers)}"
                linter.warn(choice, "never-asked", message)
            elif isinstance(value, Pattern) and condition.field == "rule" and nothing_like_it(value, rules):
                message = f"{show(choice.value)} is not the name of a rule of this scenario; control may add one"
                linter.warn(choice, RULE_UNKNOWN, message, near=nearest(choice.value, rules))


def _bounds(node: Node, expectation: Expectation, linter: Linter) -> None:
    """Warns where nothing that happens can count: too early for the world, or turned away by `not`."""
    before, start = expectation.before, linter.blueprint.start
    if before is not None and not before.relative and start is not None and before.at < start:
        at = node.entries()["before"]
        message = f"{show(at.value)} is before the start of the world, {spans.iso(start)}"
        linter.warn(at, "before-start", f"{message}; nothing comes so early")
    own = _own(expectation)
    positive = [condition for condition in own if isinstance(condition, Condition)]
    for condition in expectation.where:
        if isinstance(condition, Not) and _turns_all(condition, positive):
            at = node.entries()["where" if condition in own else "among"].entries()[NOT]
            linter.warn(at, "never-asked", f"{condition.text} turns away everything that where finds")


def _turns_all(turned: Not, own: Iterable[Condition]) -> bool:
    """True if a `not` excludes everything that these conditions find."""
    return all(
        isinstance(inner, Condition)
        and any(
            condition.name == inner.name and {*condition.expected} <= {*inner.expected, *inner.means}
            for condition in own
        )
        for inner in turned.conditions
    )


def _unfailing(node: Node, expectation: Expectation, subjects: Mapping[str, Subject], linter: Linter) -> None:
    """Warns about what always holds."""
    high, subject_count = expectation.share_high, expectation.subjects
    bounded = expectation.share_low or (not expectation.each and (expectation.rate or expectation.pauses))
    if high is not None and high.of == 1 and not bounded:
        linter.warn(
            node.entries()["at_most"], "never-fails", f"{high.text} always holds; say another share, or a number"
        )
    own = [name for name in expectation.each if name in subjects[expectation.that].own]
    many = node.get("subjects") is not None and (subject_count.low or subject_count.high is not None)
    if own and not (expectation.then or expectation.low or expectation.high == 0 or high or many):
        message = (
            f"each {own[0]} has no more than one of {expectation.that}, so {expectation.expected_count} always holds"
        )
        linter.warn(node.entries()["each"], "never-fails", message)


def _unfollowed(node: Node, expectation: Expectation, subjects: Mapping[str, Subject], linter: Linter) -> None:
    """Warns about what must follow, where nothing can: it would be the thing before itself, or a name differs."""
    before = {expectation.that}
    for item, step in zip(items(node.get("then")), expectation.then, strict=True):
        after = subjects[step.that]
        for name in step.same:
            if before == {step.that} and name in after.own:
                message = f"the only one of {step.that} with the same {name} is the thing before itself"
            elif all((name in after.apart) != (name in subjects[kind].apart) for kind in before):
                message = f"the {name} of inbound is what the phone wrote itself, and never that of another kind"
            else:
                continue
            linter.warn(item, "never-follows", f"{message}; say same: phone, or what it must agree in")
        before = {step.that} if step.low else before if step.high == 0 else {*before, step.that}


def _turned(
    where: Node | None, conditions: Iterable[Where], subject: Subject, rules: list[str], linter: Linter
) -> None:
    """Warns about conditions in a `not` that nothing can meet: it turns nothing away."""
    turned = None if where is None else where.get(NOT)
    groups = [] if turned is None else turned.items() or [turned]
    for inner, condition in zip(groups, (entry for entry in conditions if isinstance(entry, Not)), strict=True):
        _conditions(inner, condition.conditions, subject, rules, linter)
        _turned(inner, condition.conditions, subject, rules, linter)


def _expressions(where: Node | None, conditions: Iterable[Where], linter: Linter) -> None:
    """Warns about patterns that are written as regular expressions."""
    for condition in conditions:
        if where is None or not isinstance(condition, Condition) or condition.path or condition.field == "tag":
            continue  # `_conditions` looks at tags
        node = where.entries()[condition.field]
        for item in node.items() or [node]:
            if isinstance(item.value, str) and (match := _EXPRESSION.search(item.value)) is not None:
                message = f"{show(item.value)} is no regular expression: only * stands for any characters"
                linter.warn(item, "expression", f"{message}, and {match[0]} for itself")


def _ranges(numbers: tuple[tuple[int, float], ...]) -> str:
    """Ranges in words."""
    return " or ".join(
        str(low) if low == high else f"{low} and more" if high == inf else f"{low}..{high}" for low, high in numbers
    )


def _warn_unlinked(node: Node, expectation: Expectation, subjects: Mapping[str, Subject], linter: Linter) -> None:
    """Warns about what must follow, where the same thing with another phone is as good."""
    then, before = node.get("then"), {expectation.that}
    for item, step in zip([] if then is None or expectation.each else then.items(), expectation.then, strict=False):
        of_phones = all(any(map(_of_phones, map(subjects.get, names))) for names in ({step.that}, before))
        named = {field for condition in step.where for field in _named(condition)}
        if of_phones and step.low and item.get("same") is None and named.isdisjoint(_ONE):
            message = f"{step.text} may be about any phone, and not about that of the thing before"
            linter.warn(item, "untied", f"{message}; say each: phone, or same: phone, or same: none if any will do")
        before = {step.that} if step.low else {*before, step.that}


def _any_of_several(node: Node, expectation: Expectation, subjects: Mapping[str, Subject], linter: Linter) -> None:
    """Warns where what follows may be about any of several phones of the thing before."""
    several = {*subjects[expectation.that].several} - {*expectation.each}
    step = expectation.then[0] if expectation.then and expectation.each else None
    if step is not None and step.low and (names := several.intersection(step.same)):
        name = min(names)
        fields = ", ".join((*expectation.each, name))
        message = f"any one {name} of the thing before is enough, if it has several"
        linter.warn(items(node.get("then"))[0], "any-of-several", f"{message}; say each: [{fields}] for every one")


def _of_phones(subject: Subject | None) -> bool:
    return subject is not None and any(field.kind == "phone" for field in subject.fields.values())


def _named(condition: Where) -> list[str]:
    """The field of a condition that names single things."""
    if not isinstance(condition, Condition) or not all(
        isinstance(value, Pattern) and value.literal for value in condition.expected
    ):
        return []
    return [condition.field]
