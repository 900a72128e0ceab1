"""Slips that are made often: each row of the table has an example, and each repaired text is read."""

from __future__ import annotations

import re

import pytest

from sendbox.engine.texts import nearest
from sendbox.scenario import slips
from sendbox.scenario.model import Problem, errors
from sendbox.scenario.repair import MAX_PROBLEMS_FOR_REPAIR
from sendbox.scenario.slips import HINTS, LOST_BREAKS, MAX_LINE, MAX_TEXT, SLIPS, Hint, Slip
from tests.scenarios import check


def problems(text: str) -> list[Problem]:
    return check(text if text.startswith("sendbox") else f"sendbox: 1\n{text}", name="a.yaml")


def test_the_table_is_short() -> None:
    """It stays a table of the most likely slips."""
    assert len(SLIPS) + len(HINTS) <= 40


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.wrong.splitlines()[-1].strip())
def test_a_repaired_line_is_read(slip: Slip) -> None:
    """The example is recognized by its row alone, and with the line that is shown the scenario has no problem."""
    (told,) = problems(slip.wrong)
    lines = f"sendbox: 1\n{slip.wrong}".splitlines()
    assert told.line is not None
    match = slip.sign.fullmatch(lines[told.line - 1])
    assert match is not None
    assert match.expand(slip.says) in told.message or "or quote it" in told.message
    shown = told.message.rpartition(": ")[2] if told.message.endswith('"') else told.message
    better = slip.repair(match, lines[told.line - 2 :: -1])
    assert better is not None
    assert better.strip() in told.message or shown == f'"{better}"'
    lines[told.line - 1] = better
    assert errors(check("\n".join(lines), name="a.yaml")) == []


@pytest.mark.parametrize("row", HINTS, ids=lambda row: row.wrong.strip()[:40])
def test_a_value_that_was_meant_is_legal(row: Hint) -> None:
    """What is said about the example is what the right one says, and that has no problem."""
    told = problems(row.wrong)[0]
    match = row.sign.match(f"{told.path}: {told.message}")
    assert match is not None
    meant = match.expand(row.meant) or told.message.partition(match.expand(row.says))[1].rpartition("; ")[2]
    assert meant
    assert re.split(r"(?<=[a-z]): ", meant, maxsplit=1)[-1].strip() in row.right
    assert told.nearest == (match.expand(row.meant) or None)
    assert [problem for problem in problems(row.right) if "language" in (problem.rule, told.rule)] == []
    assert errors(problems(row.right)) == []


def test_two_slips_are_two_problems() -> None:
    """Each is repaired by itself; where a text has many, the rest is named without."""
    reply = "      - {after: 5s, body: {{body}}}\n"
    told = problems(f"attempts:\n  - then: delivered\n    replies:\n{reply * 5}")
    assert [problem.line for problem in told] == [5, 6, 7, 8, 9]
    assert [problem.message.endswith('or quote it: - {after: 5s, body: "{{body}}"}') for problem in told] == [
        *[True] * 3,
        *[False] * 2,
    ]


def test_the_line_in_which_a_quote_began() -> None:
    """A quote that ends much later, by the first quote of another line, is named where it began."""
    text = 'name: "Monday\nattempts:\n  - when: {body: "x"}\n    then: failed\n'
    (told,) = problems(text)
    assert (told.line, told.column) == (2, 7)
    assert told.message.endswith('name: "Monday"')


def test_a_text_full_of_slips_is_not_tried() -> None:
    """Each try reads the whole text."""
    told = problems("".join(f"k{number}: {{{{x}}}}\n" for number in range(MAX_PROBLEMS_FOR_REPAIR + 1)))
    assert not any("quote it" in problem.message for problem in told)


@pytest.mark.parametrize(
    "text",
    [
        "name: x}\nattempts: [{then: failed}}]\n",
        f"name: *{'x' * MAX_LINE}*\n",
        f"name: *x*\nseed: 7\n{'# long' * (MAX_TEXT // 5)}\n",
    ],
    ids=["unknown", "line", "text"],
)
def test_without_a_repair_the_parser_speaks(text: str) -> None:
    """No line is shown that was not tried; long lines and texts are not."""
    (told,) = problems(text)
    assert re.match(r"this is not YAML: while (scanning|parsing)", told.message)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("sendbox: 1name: Mondayseed: 7", True),
        ("# yaml-language-server: $schema=x#sendbox: 1name: Monday", True),
        ("sendbox: 1attempts:  - then: failed", True),
        ("name: a: b", False),
        ("# only a comment", False),
        ("sendbox: 1\nname: a: b\n", False),
    ],
)
def test_line_breaks_that_curl_removed(text: str, lost: bool) -> None:
    """A scenario on one line, as `curl -d @FILE` sends it, is named as such."""
    assert ([problem.message for problem in check(text, name="a.yaml")] == [LOST_BREAKS]) is lost


def test_most_values_have_no_hint() -> None:
    """A row is about its own slip only."""
    assert slips.hint("$.seed", "1.5 is not a seed") == ("", None)


@pytest.mark.parametrize(
    ("word", "words", "meant"),
    [
        ("deliverd", ["undelivered", "delivered"], "delivered"),
        ("undeliverd", ["undelivered", "delivered"], "undelivered"),
        ("mesages", ["messages", "message"], "messages"),
        ("frist_name", ["fake.first_name", "first_name"], "first_name"),
        ("SENT", ["sent"], "sent"),
        ("eur", ["EUR", "CZK"], "EUR"),
        ("opt", ["otp"], "otp"),
        ("automatic", ["auto", "manual"], "auto"),
        ("first_name", ["fake.first_name", "fake.name"], "fake.first_name"),
        ("/message", ["/v2/message", "/v1/messages"], "/v2/message"),
        ("oflin", ["offline", "online"], "offline"),
        pytest.param("expired", ["delivered", "undelivered", "rejected"], None, id="unrelated"),
        pytest.param("POST /v2/message", ["listMessages", "sendMessage"], None, id="a-path"),
        pytest.param("undelivered", ["delivered"], None, id="opposite"),
        pytest.param("delivered", ["undelivered"], None, id="opposite-too"),
        pytest.param("exclude", ["include"], None, id="opposite-word"),
        pytest.param("not_delivered", ["delivered"], None, id="not"),
        pytest.param("never_delivered", ["delivered"], None, id="never"),
        pytest.param("not-sent", ["sent"], None, id="not-short"),
        pytest.param("NOT_APPROVED", ["APPROVED"], None, id="not-capital"),
        pytest.param("notVerified", ["verified"], None, id="not-camel"),
        pytest.param("phone_not", ["phone"], None, id="not-last"),
        pytest.param("template-approved", ["template-not-approved"], None, id="not-inside"),
        pytest.param("code_not_confirmed", ["code_confirmed"], None, id="not-inside-too"),
        pytest.param("code_unconfirmed", ["code_confirmed"], None, id="un-inside"),
        ("template-not-aproved", ["template-not-approved"], "template-not-approved"),
        ("nto", ["not", "phone"], "not"),
        pytest.param("sms", ["sms"], None, id="itself"),
        pytest.param("mms", ["sms", "rcs"], None, id="short"),
        pytest.param("56", ["55"], None, id="number"),
        pytest.param("fake", ["fake.job", "fake.city"], None, id="part-of-several"),
        pytest.param("", ["sent"], None, id="nothing"),
        pytest.param("x" * 61, ["x" * 60], None, id="long"),
        pytest.param(7, ["7"], None, id="not-a-text"),
    ],
)
def test_did_you_mean(word: object, words: list[str], meant: str | None) -> None:
    """A few letters apart, or a part of one word; never the opposite, never another word."""
    assert nearest(word, words) == meant


def test_a_negated_pattern_is_not_turned_round() -> None:
    """What is left of it without its sign would say the opposite."""
    (told,) = problems('attempts: [{when: {tag: "!promo*"}, then: failed}]\n')
    assert (told.severity, told.nearest) == ("warning", None)
