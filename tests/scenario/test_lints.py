"""Linter: what `check` warns about, and above all what it does not. The messages are in `wrong.txt`."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sendbox.engine.blueprint import Blueprint
from sendbox.engine.texts import Pattern
from sendbox.language import LANGUAGE
from sendbox.scenario import library
from sendbox.scenario.lint import globs, reach, shadows
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, Source
from sendbox.scenario.parse import from_object, parse
from sendbox.scenario.values import Reader
from sendbox.services.account.spec import AccountSpec
from tests.scenario.test_read import write
from tests.scenarios import check, load, make_blueprint


def warnings(text: str) -> list[str]:
    """The rules of the warnings about a scenario; it has no other problems."""
    found = check(f"sendbox: 1\n{text}")
    assert [problem for problem in found if problem.severity == "error"] == []
    return [problem.rule for problem in found]


@pytest.mark.parametrize("name", library.names())
@pytest.mark.sample(3)
def test_the_library_is_beyond_doubt(name: str) -> None:
    """No scenario of the library is warned about: an alarm there would be a false one."""
    assert list(map(str, check(name))) == []


def test_a_scenario_with_doubts_can_be_used() -> None:
    """Loading takes no notice of warnings."""
    assert len(load("sendbox: 1\nattempts: [{then: sent}, {then: failed}]\nseed: &x 7\n").compiled["attempts"]) == 2


SILENT = {
    "rules before those of another scenario": "extends: default\nattempts: [{then: failed}]\nphones: [{number: '*'}]",
    "rules that decide different things": "attempts: [{then: sent}, {replies: [{body: x}]}, {click: {after: 1s}}]",
    "a rule that counts first": "attempts: [{when: {nth: 1}, then: sent}, {when: {nth: 1}, then: failed}]",
    "a rule that is used up": "attempts: [{times: 1, then: sent}, {then: failed}]",
    "a narrower rule first": "attempts: [{when: {phone: '4207*'}, then: sent}, "
    "{when: {phone: '42077*', tag: a}, click: {after: 1s}}, {when: {phone: '420*'}, then: failed}]",
    "the question mark of a text": "attempts: [{when: {body: 'a?'}, then: sent}, {when: {body: 'ab'}, then: failed}]",
    "another type in the payload": "attempts: [{when: {payload: {a: 1}}, then: sent}, {when: {payload: {a: true}}, "
    "then: sent}]",
    "an entry with a problem shadows nothing": "attempts: [{when: {tag: a}, then: sent}, {when: {tag: b}, then: sent}]",
    "templates that reviews are about": "partner: {template_review: [{after: 1s}]}\n"
    "timeline: [{at: 1s, template: {name: offer, status: PAUSED}}]",
    "numbers that signups bring": "partner: {signup: [{after: 1s}]}\n"
    "timeline: [{at: 1s, number: {phone_number: '420777000101', quality: RED}}]",
    **{
        f"a receiver that {name}": f"webhooks: [{{{rule}, fault: {{answer: {answer}}}}}]{more}"
        for name, rule, answer, more in (
            ("is down for as long as there are tries", "when: {from: 1m, until: 8m30s}", 503, ""),
            ("is always down", "when: {from: 1m}", 503, ""),
            ("is down for an instant and a duration", "when: {from: '2026-03-02T09:00:00Z', until: 1h}", 503, ""),
            ("takes everything", "when: {until: 1h}", 200, ""),
            ("is down for some", "when: {until: 1h, share: 10%}", "closed", ""),
            ("is down at first", "when: {until: 1h, nth: 1}", "closed", ""),
            ("is down now and then", "when: {until: 1h, every: 3}", "closed", ""),
            ("is down at night", "when: {until: 1d, hours: {start: '22:00', end: '06:00'}}", "closed", ""),
            ("is down once", "times: 1, when: {until: 1h}", "closed", ""),
            (
                "loses webhooks, as expected",
                "when: {until: 1h}",
                503,
                "\nexpect: [{that: deliveries, where: {state: failed}}]",
            ),
        )
    },
    "every number": "timeline: [{at: 1s, number: {phone_number: '*', quality: RED}}]",
    "patterns of what will be": "timeline: [{at: 1s, number: {phone_number: '4209*', quality: RED}}, "
    "{at: 2s, template: {name: 'order_*', status: PAUSED}}]",
    "a number of an account that names none": "timeline: [{at: 1s, inbound: {channel: sms, from: '420777000101', to: "
    "'420900000001', body: x}}]",
    "an id that is drawn": "partner: {accounts: [{waba_id: 1, numbers: [{phone_number: '420777000101'}]}]}\n"
    "timeline: [{at: 1s, inbound: {channel: chatapp, from: '420777000101', to: '5', body: x}}]",
    "a phone of several kinds": "phones: [{number: '42077700010?', channels: [sms]}]\n"
    "attempts: [{when: {phone: '420777*', channel: richmsg}, then: sent}]",
    "a phone that has one of the channels": "phones: [{number: '420777000101', channels: [sms]}]\n"
    "attempts: [{when: {phone: '420777000101', channel: [sms, richmsg]}, then: sent}]",
    "a phone with everything": "phones: [{number: '420777000101', offline: true}]\n"
    "attempts: [{when: {phone: '420777000101', channel: sms}, then: sent}]\n"
    "timeline: [{at: 1s, inbound: {channel: sms, from: '420777000101', body: x}}]",
    "answers where others decide the way": "attempts: [{replies: [{body: x}], click: {after: 1s}}]",
    "answers after seen": "attempts: [{then: seen, replies: [{body: x}]}]",
    "400 days": "attempts: [{when: {tag: a}, then: [sending, sent: 200d, delivered: 200d]}]\n"
    "timeline: [{at: 400d, inbound: {channel: sms, from: '420777000101', body: x}}]",
    "an instant where no start is pinned": "timeline: [{at: '1999-01-01T00:00:00Z', inbound: {channel: sms, from: "
    "'420777000101', body: x}}]",
    "a receipt that takes no time may overtake": "attempts: [{then: [sending, sent: 0s]}]\n"
    "webhooks: [{when: {result: sent}, fault: overtake}]",
    "results that never take any": "assume: {timing: {sent: 0s}}\nwebhooks: [{when: {result: sent}, fault: overtake}]",
    "some of what overtakes": "webhooks: [{when: {result: [rejected, delivered]}, fault: overtake}, {fault: overtake}]",
    "seen elsewhere too": "webhooks: [{when: {result: seen, gateway: [sms, richmsg]}, fault: drop}]",
    "times of two kinds where no start is pinned": "api: [{when: {from: 1h, until: '1999-01-01T00:00:00Z'}, "
    "fault: timeout}]",
    "times of two kinds": "clock: {start: '2026-03-01T09:00:00Z'}\n"
    "api: [{when: {from: 1h, until: '2026-03-01T10:00:01Z'}, fault: timeout}]",
    "patterns of numbers": "attempts: [{when: {phone: '*1'}, then: sent}, {when: {phone: '4*'}, click: {after: 1s}}]",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_nobody_is_warned_about(text: str) -> None:
    """Where a scenario may well mean what it says, nothing is said."""
    assert warnings(text) == []


def test_an_entry_with_a_problem_is_not_doubted() -> None:
    """What cannot be read yet shadows nothing, is shadowed by nothing, and is not unreachable."""
    text = """sendbox: 1
attempts:
  - {when: {phone: "12"}, then: sent}
  - {when: {chanel: sms}, then: sent}
  - {then: failed}
timeline:
  - {at: 5x, template: {name: otp, status: PAUSED}}
account: {templats: []}
"""
    assert {problem.severity for problem in check(text)} == {"error"}


def test_files_are_not_compared_with_each_other(tmp_path: Path) -> None:
    """Rules of an included file are doubted by themselves, in their place."""
    write(
        tmp_path,
        a="include: [b.yaml]\nattempts: [{then: sent}]\n",
        b="attempts:\n  - then: sent\n  - then: failed\n",
    )
    (found,) = check(tmp_path / "a.yaml")
    assert (Path(found.file).name, found.line, found.rule) == ("b.yaml", 4, "shadowed")


def test_many_rules_are_compared_quickly() -> None:
    """Rules for a thousand phones are looked up, not compared with each other one by one."""
    rules = [{"when": {"phone": f"4207770{number:05}"}, "then": "sent"} for number in range(1_000)]
    again = {"when": {"phone": "+420 777 000 017"}, "then": "failed"}
    (found,) = check({"sendbox": 1, "attempts": [*rules, again]})
    assert (found.path, "at $.attempts[17]" in found.message) == ("$.attempts[1000]", True)


def linter(value: Any, blueprint: Blueprint) -> Linter:
    """Linter about something that the language does not have yet."""
    return Linter(from_object(value, Source("x"))[0], blueprint, Reader(), [])


def test_what_comes_after_a_reset() -> None:
    """A reset begins the timeline anew, so that nothing after it comes."""
    asked = linter({"timeline": [{"at": at, "reset": True} for at in ("1s", "2s", "500ms")]}, make_blueprint())
    reach.timeline(asked, LANGUAGE.happenings)
    assert [(found.path, found.rule) for found in asked.warnings] == [("$.timeline[1].at", "after-reset")]


def test_what_the_timeline_brings() -> None:
    """What a later account has is not missed in the one before."""
    spec = AccountSpec(templates=({"name": "otp"},), numbers=frozenset({"420900000001"}))
    happenings: list[dict[str, Any]] = [
        {"at": 1, "template": {"name": "sale"}},
        {"at": 1, "inbound": {"channel": "sms", "from": "420777000101", "to": "420900000002"}},
    ]
    changes = [
        {"at": 0, "account": {"numbers": ["420900000002"], "templates": []}},
        {"at": 0, "account": {"credit": 1}},
    ]
    asked = linter({"timeline": [*happenings, *changes]}, make_blueprint(account=spec))
    reach.timeline(asked, LANGUAGE.happenings)
    assert asked.warnings == []
    asked = linter({"timeline": [*happenings, changes[1]]}, make_blueprint(account=spec))
    reach.timeline(asked, LANGUAGE.happenings)
    assert [found.rule for found in asked.warnings] == ["template-unknown", "recipient-unknown"]


def test_a_rule_that_decides_something_else_has_a_say() -> None:
    """What nobody here knows how to compare is not said to be shadowed, and shadows nothing."""
    rules = [{"then": "sent"}, {"then": "sent", "reads": "1m"}, {"then": "sent", "times": 3}]
    asked = linter(
        {"attempts": rules, "api": [{"share": 0.5, "fault": "x"}, {"fault": "y"}, {"fault": "z"}]}, make_blueprint()
    )
    shadows.find(asked, [each for key in LANGUAGE.keys.values() for each in key.lists])
    assert [found.path for found in asked.warnings] == ["$.attempts[2]", "$.api[2]"]


def test_faults_that_leave_others_a_say() -> None:
    """How a try is answered is decided apart from how it travels; a rate limit, and what needs more, lets pass."""
    passing = [{"fault": "overtake"}, {"fault": "stale"}]
    travels = [{"fault": {"answer": 503}}, {"fault": "drop"}, {"when": {"result": "sent"}, "fault": {"answer": 500}}]
    limited = [{"fault": {"rate_limit": "1/s"}}, {"fault": {"delay": "1s"}, "processed": True}, {"fault": "garbage"}]
    asked = linter({"webhooks": [*passing, *travels], "api": limited}, make_blueprint())
    shadows.find(asked, [each for key in LANGUAGE.keys.values() for each in key.lists])
    assert [found.path for found in asked.warnings] == ["$.api[2]", "$.webhooks[4]"]


# --- patterns


def matches(pattern: str, *, phone: bool) -> set[str]:
    """All short texts that a pattern takes."""
    texts = ("".join(chars) for size in range(5) for chars in product("12", repeat=size))
    return {text for text in texts if Pattern(pattern, digits=phone).matches(text)}


PATTERNS = ["".join(chars) for size in range(1, 4) for chars in product("12*?", repeat=size)]


def test_patterns_are_compared_rightly() -> None:
    """A pattern covers another one only if it takes all that the other takes, and overlap is not missed."""
    taken = {pattern: matches(pattern, phone=True) for pattern in PATTERNS}
    missed = 0
    for wide, narrow in product(PATTERNS, repeat=2):
        if globs.covers(wide, narrow, phone=True):
            assert taken[narrow] <= taken[wide], (wide, narrow)
        elif taken[narrow] <= taken[wide]:
            missed += 1
        assert globs.overlaps(wide, narrow) or not taken[wide] & taken[narrow], (wide, narrow)
        if globs.overlaps(wide, narrow) and max(len(wide), len(narrow)) < 3:
            assert taken[wide] & taken[narrow], (wide, narrow)
    # of numbers in two digits: 1* and 2* together are every number
    assert missed < len(PATTERNS) ** 2 / 50


@pytest.mark.parametrize(
    ("expected", "wide", "narrow"),
    [
        (True, "*", "anything"),
        (True, "a*", "a*b"),
        (True, "**a**", "*a*"),
        (True, "*", "**"),
        (False, "a*b", "a*"),
        (False, "a?", "ab"),
        (True, "a?", "a?"),
        (True, "*?", "Where are you?"),
        (False, "", "*"),
    ],
)
def test_patterns_of_text(expected: bool, wide: str, narrow: str) -> None:
    """In texts only the star is a wildcard."""
    assert globs.covers(wide, narrow) is expected


@pytest.mark.parametrize(
    ("expected", "pattern"),
    [
        (None, "4207*"),
        (None, "*"),
        (None, "1?*"),
        (None, "42077700010?"),
        ("calling code", "0?*"),
        ("starts|begins", "999*"),
    ],
)
def test_patterns_of_no_number(expected: str | None, pattern: str) -> None:
    """A pattern that no number can be like is told why."""
    why = globs.why_no_number(pattern)
    assert why is None if expected is None else re.search(expected, str(why))


# --- anchors


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ([], "a: &x 1\nb: *x\n"),
        (["&x"], "a: &x 1\n"),
        (["&x"], "a: &x 1\nb: &x 2\nc: *x\n"),
        (["&y"], "a: &x [&y 1]\nb: *x\n"),
    ],
)
def test_anchors_that_nothing_refers_to(expected: list[str], text: str) -> None:
    """A name that is given in vain is a warning at its place, also where its namesake took it over."""
    _, problems = parse(text, Source("a.yaml"))
    assert [problem.value for problem in problems] == expected
    assert all(problem.severity == "warning" for problem in problems)


def test_a_node_is_sound_by_itself() -> None:
    """A problem of one entry says nothing about those whose paths begin alike."""
    root, _ = from_object([0] * 11, Source("x"))
    (wrong,) = check({"sendbox": 1, "seed": [1]}, name="x")
    asked = Linter(root, make_blueprint(), Reader(), [wrong])
    assert asked.sound(Node(0, Source("x"), "$.seeds"))
    assert not asked.sound(Node(0, Source("x"), "$.seed"))
    assert asked.sound(Node(0, Source("y"), "$.seed"))


CHANGED = {
    "a step, once a file": (
        "expect: [{that: sends, where: {channel: sms}}, {that: messages, where: {body: x, sender: y}}]",
        ['sms": channel of sends may be that of any step that was tried'],
    ),
    "a result that another step may have": (
        "expect: [{that: messages, where: {result: failed}}]",
        ['failed": result of messages may be'],
    ),
    "one that only the step shown has": ("expect: [{that: messages, where: {channel: sms, result: delivered}}]", []),
    "a rule": ('expect: [{that: messages, where: {rule: "*"}}]', []),
    "another kind": ("expect: [{that: attempts, where: {channel: sms}}]", []),
    "a word of steps": (
        "expect: [{that: sends, where: {last: {channel: sms}}}, {that: messages, where: {body: x}}]",
        [],
    ),
    "a duration in then": (
        "expect: [{that: clicks, each: phone, then: [{that: sends, after: 90s}, {that: sends, before: 1d}]}]",
        ['90s": after in then counts from the thing before'],
    ),
    "within beside it": ("expect: [{that: clicks, each: phone, then: [{that: sends, after: 90s, within: 1h}]}]", []),
    "an instant in then": (
        'expect: [{that: clicks, each: phone, then: [{that: sends, after: "2026-03-02T09:05:00Z"}]}]',
        [],
    ),
    "a duration outside then": ("expect: [{that: clicks, after: 90s}]", []),
    "both in one": (
        "expect: [{that: sends, where: {body: x}, each: phone, then: [{that: sends, after: 90s}]}]",
        ["say tried or last or delivered of which; after in then counts"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CHANGED.values(), ids=CHANGED)
def test_what_a_file_may_say_otherwise_now_is_warned_of_once(text: str, expected: list[str]) -> None:
    """One line a file, and none where its author knows: by a word of steps, or by within."""
    found = [str(each) for each in check(f"sendbox: 1\n{text}\n") if each.rule == "changed"]
    assert len(found) == len(expected)
    assert all(part in line for part, line in zip(expected, found, strict=True))
