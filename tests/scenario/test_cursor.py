"""What may be written where a cursor stands, in a text that may be unfinished."""

from __future__ import annotations

import tracemalloc

import pytest

from sendbox.language import LANGUAGE
from sendbox.scenario import library
from sendbox.scenario.cursor import NOWHERE, LegalInput, legal
from sendbox.services.messaging.channels import CHANNELS

HEAD = "sendbox: 1\nextends: default\n"
RULE = f"{HEAD}attempts:\n  - name: x\n"
STATES = ["sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed"]


def at(text: str) -> LegalInput:
    """What is legal where `text` has a bar."""
    position = text.index("|")
    line, column = text[:position].count("\n") + 1, position - text.rfind("\n", 0, position)
    return legal(text.replace("|", "", 1), line, column, LANGUAGE.shape)


def keys(text: str) -> list[str]:
    return [row["key"] for row in at(text).keys]


@pytest.mark.parametrize(
    ("text", "place", "has", "has_not"),
    [
        ("|", "", "sendbox attempts", ""),
        (f"{HEAD}att|", "", "attempts api", "sendbox extends"),
        (f"{HEAD}attempts:\n  -|", "attempts[0]", "name then", ""),
        (f"{HEAD}attempts:\n  - |", "attempts[0]", "name then", ""),
        (f"{RULE}    |\n    then: delivered\n", "attempts[0]", "when mix", "name then"),
        (f"{RULE}    th|en: delivered\n", "attempts[0]", "when then", "name"),
        (f"{RULE}    when:|", "attempts[0].when", "channel tag", "name"),
        (f"{RULE}    when: {{channel: sms, |\n    then: delivered\n", "attempts[0].when", "tag", "channel"),
        (f"{RULE}    when: {{not: {{|}}}}\n", "attempts[0].when.not", "tag", "then"),
        (f"{HEAD}expect:\n  - that: opt_outs\n    where: {{|}}\n", "expect[0].where", "phone", "tag"),
        (f"{HEAD}expect:\n  - that: nonsense\n    where: {{|}}\n", "expect[0].where", "phone tag", ""),
        (f"{HEAD}expect:\n  - where: {{|}}\n", "expect[0].where", "phone tag", ""),
        (f"{HEAD}include:\n  - sendbox: 1\n    |", "include[0]", "name attempts", "sendbox"),
    ],
)
def test_keys_are_those_of_the_place_that_are_not_used_yet(text: str, place: str, has: str, has_not: str) -> None:
    """In block and flow form, where words are begun, and where a key of a mapping around decides."""
    assert at(text).place == place
    assert set(has.split()) <= set(keys(text))
    assert not set(has_not.split()) & set(keys(text))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"{HEAD}clock: {{mode: |", ["manual", "real", "auto"]),
        (f"{RULE}    then: |\n", STATES),
        (f"{RULE}    then:\n      - sen|\n", STATES),
        (f"{RULE}    then:\n      se|\n", STATES),
        (f"{RULE}    illegal: |\n", [True, False]),
        (f"{RULE}    when: {{channel: s|, tag: x\n", [*CHANNELS]),
        (f"{RULE}    when: {{|}}\n", []),
        (f"{RULE}    name|: x\n", []),
    ],
)
def test_words_are_those_of_the_value(text: str, values: list[object]) -> None:
    """True and false are words too."""
    assert at(text).values[: len(values) or None] == values


def test_a_row_says_what_the_schema_says() -> None:
    """Its description, what is wanted, whether the key must be there, an example where there is one."""
    rows = {row["key"]: row for row in at("|").keys}
    assert rows["sendbox"]["required"] is True
    assert rows["attempts"]["required"] is False
    assert rows["attempts"]["means"].startswith("Rules that decide what happens to an attempt")
    assert rows["attempts"]["says"] == "a list of rules"
    assert "example" not in rows["attempts"]
    tag = next(row for row in at(f"{RULE}    when: {{|}}").keys if row["key"] == "tag")
    assert tag["example"]
    assert at("sendbox: 1\nextends: |").examples == ["default", "base.yaml"]


def test_a_broken_line_above_is_passed_over() -> None:
    """The lines around are reduced to keys by their indentation; a comment has no place."""
    broken = f"{HEAD}attempts:\n  - name: 'x\n    then: [a\n  # y\n  - name: y\n    when:\n      tag: x\n      |\n"
    found = at(f"{broken}      body: y\n    then: delivered\n")
    assert found.place == "attempts[1].when"
    assert not {"tag", "body"} & {row["key"] for row in found.keys}
    assert "channel" in {row["key"] for row in found.keys}
    assert at(f"{HEAD}# what|") == NOWHERE
    assert at(f"{HEAD}? [a, b|") == NOWHERE


def test_lines_and_columns_beyond_the_text_are_its_end() -> None:
    """Without a column the cursor stands at the end of the line."""
    assert legal(f"{RULE}    when:", 99, 1, LANGUAGE.shape).place == ""
    assert legal(f"{RULE}    when:", 5, None, LANGUAGE.shape).place == "attempts[0].when"
    assert legal(f"{RULE}", 5, 5, LANGUAGE.shape).place == "attempts[0]"


@pytest.mark.parametrize("name", ["default", "otp-fallback", "onboarding"])
def test_any_place_of_any_beginning_can_be_asked(name: str) -> None:
    """Nothing that is half written raises anything."""
    text = library.text(name)
    for end in range(0, len(text), 97):
        before = text[:end]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        for written in (before, text):
            assert isinstance(legal(written, line, column, LANGUAGE.shape), LegalInput)


@pytest.mark.parametrize("far", [1_000, 100_000_000, 2**53, 2**63 - 1])
def test_a_cursor_far_behind_the_text_costs_no_blanks(far: int) -> None:
    """A line or a column behind the text is its end: as many blanks as an indentation may have, and no more."""
    assert legal("sendbox: 1", 1, far, LANGUAGE.shape) == legal("sendbox: 1", 1, 1_000, LANGUAGE.shape)
    assert legal("sendbox: 1\n", far, far, LANGUAGE.shape) == legal("sendbox: 1\n", 2, 1_000, LANGUAGE.shape)
    tracemalloc.start()
    legal("sendbox: 1", far, far, LANGUAGE.shape)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
