"""Where a scenario wants one number or one word, what only looks like it is refused and named."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from sendbox.language import LANGUAGE
from sendbox.scenario.model import ScenarioError


def _problems(text: str) -> list[str]:
    return [str(problem) for problem in LANGUAGE.check(f"sendbox: 1\n{text}")]


@pytest.mark.parametrize(
    "text",
    [
        "account: {{optout: ['{0}']}}",
        "account: {{blacklist: ['{0}']}}",
        "account: {{numbers: ['{0}']}}",
        "timeline: [{{at: 1m, reply: {{phone: '{0}', body: x}}}}]",
        "timeline: [{{at: 1m, phone: {{number: '{0}', act: offline}}}}]",
        "timeline: [{{at: 1m, inbound: {{channel: sms, from: '{0}', body: x}}}}]",
        "timeline: [{{at: 1m, account: {{optout: ['{0}']}}}}]",
    ],
)
def test_one_number_is_not_a_pattern(text: str) -> None:
    """Each place that takes one number refuses wildcards and names what is not part of a number."""
    for number in ("4206010000*", "4206020000?"):
        (problem,) = _problems(text.format(number))
        assert f'"{number}" is a pattern where one number is wanted' in problem
    (problem,) = _problems(text.format("+420 777 123 xyz"))
    assert '"x" (U+0078, LATIN SMALL LETTER X) at place 14' in problem
    assert _problems(text.format("+420 601 000 001")) == []


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("attempts: [{then: delivered, times: 1.0}]", "attempts: [{then: delivered, times: 1}]"),
        ("attempts: [{then: delivered, times: 1.0e0}]", "attempts: [{then: delivered, times: 1}]"),
        ("attempts: [{then: delivered, click: {after: 1s, link: 1.0}}]", None),
        ("traffic: [{at: 0s, request: {operation: showKey}, expect: {status: 200.0}}]", None),
        ("account: {credit: {eur: 1.0}}", None),
    ],
)
def test_a_fraction_that_is_a_whole_number(text: str, whole: str | None) -> None:
    """It is one, as JSON has no other: the scenario is the same."""
    written, same = (LANGUAGE.load(f"sendbox: 1\n{one}") for one in (text, whole or text.replace(".0", "")))
    assert replace(written, source=None, written=None) == replace(same, source=None, written=None)


def test_a_fraction_that_is_none() -> None:
    """Where a whole number is wanted, a part of one is refused, and so is a rule of control."""
    assert _problems("attempts: [{then: delivered, times: 1.5}]") == ["scenario:2:37: 1.5 is not a whole number from 1"]
    for times in (2.0, 1e17):
        assert LANGUAGE.compile_rule("attempts", {"then": "delivered", "times": times}).times == int(times)
    with pytest.raises(ScenarioError, match="is not a whole number from 1"):
        LANGUAGE.compile_rule("attempts", {"then": "delivered", "times": 2.5})


def test_a_condition_on_a_phone_names_what_is_not_part_of_a_number() -> None:
    """A pattern without wildcards is a number."""
    (problem,) = _problems("attempts: [{when: {phone: '420601#00001'}, then: delivered}]")
    assert '"#" (U+0023, NUMBER SIGN) at place 7' in problem


def test_a_sender_that_is_written_to_is_not_a_pattern() -> None:
    """`to` of inbound is one number or sender."""
    (problem,) = _problems("timeline: [{at: 1m, inbound: {channel: sms, from: '420601000001', to: '42090*', body: x}}]")
    assert '"42090*" is a pattern where one sender is wanted' in problem


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("attempts: [{then: d\u0435livered}]", "(U+0435, CYRILLIC SMALL LETTER IE) at place 2"),
        ("attempts: [{then: \u201cdelivered\u201d}]", "(U+201C, LEFT DOUBLE QUOTATION MARK) at place 1"),
        ("attempts: [{wh\u0435n: {}, then: delivered}]", "(U+0435, CYRILLIC SMALL LETTER IE) at place 3"),
        ("timeline: [{at: 1\u043c, clock: {mode: manual}}]", "(U+043C, CYRILLIC SMALL LETTER EM) at place 2"),
        ("expect: [{that: messages, where: {result: s\u0435nt}}]", "(U+0435, CYRILLIC SMALL LETTER IE) at place 2"),
    ],
)
def test_a_word_that_looks_the_same_is_not_proposed(text: str, named: str) -> None:
    """The character is named instead."""
    problems = "\n".join(_problems(text))
    assert named in problems
    assert "did you mean" not in problems


def test_curly_quotes_are_part_of_a_text() -> None:
    """A body in curly quotes is legal, and a warning says what they are."""
    (warning,) = _problems("attempts: [{when: {body: \u201cyes\u201d}, then: delivered}]")
    assert "(U+201C, LEFT DOUBLE QUOTATION MARK) at place 1 is part of the text, quotes of YAML are straight" in warning


def test_sample_traffic_to_a_pattern_is_a_warning() -> None:
    """A recipient that is a pattern is sent as it is; who expects the refusal has no warning."""
    entry = "{{at: 1m, request: {{operation: sendMessage, body: {{to: '42060*', body: x}}}}{}}}"
    (warning,) = _problems(f"traffic: [{entry.format('')}]")
    assert '"42060*" is a pattern where one number is wanted; it is sent as it is written' in warning
    assert _problems(f"traffic: [{entry.format(', expect: {status: 400}')}]") == []
