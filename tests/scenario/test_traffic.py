"""`traffic:` compiles into what a sample client sends. What is wrong in it is told in wrong.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendbox.engine.traffic import Traffic
from sendbox.scenario import library
from tests.scenarios import load

TEXT = """
sendbox: 1
traffic:
  - at: 0s
    name: login
    request: {operation: createValidation, body: {phoneNumber: "420777000101"}}
  - at: 1m
    request: {operation: verifyCode, params: {token: "$login.token"}, body: {code: "1"}, key: shop}
    expect: {status: 404}
  - at: "2026-03-01T10:00:00Z"
    request: {operation: showKey, key: parent}
    expect: {status: none}
  - at: 2m
    request: {operation: sendSimpleMessage, form: {number: "1", message: x}, key: $login.key}
    expect: {}
"""


def test_entries_compile() -> None:
    """Each entry has its moment, what it carries as plain values, its key, and the status that it expects."""
    first, second, third, fourth = load(TEXT, name="a.yaml").traffic
    assert first == Traffic(
        0, True, "createValidation", {"phoneNumber": "420777000101"}, name="login", place="a.yaml:4"
    )
    assert (second.params, second.key, second.statuses) == ((("token", "$login.token"),), "shop", (404,))
    assert (third.at, third.relative, third.key, third.statuses) == (1772359200000, False, None, (0,))
    assert (fourth.value, fourth.key, fourth.statuses) == ({"number": "1", "message": "x"}, "$login.key", ())


def test_one_of_several_statuses() -> None:
    """Any status of HTTP, or a list of them, with none for no answer."""
    said = "[503, 307, none]"
    text = f"traffic: [{{at: 0s, request: {{operation: showKey}}, expect: {{status: {said}}}}}]"
    (entry,) = load(f"sendbox: 1\n{text}\n").traffic
    assert (entry.statuses, entry.expected) == ((503, 307, 0), "503 or 307 or no answer")


def test_the_nearest_list_counts(tmp_path: Path) -> None:
    """A list of traffic is not joined with that of the scenario it builds on, which has an order of its own."""
    (tmp_path / "first.yaml").write_text("sendbox: 1\ntraffic: [{at: 5s, request: {operation: showKey}}]\n")
    mine = tmp_path / "second.yaml"
    mine.write_text("sendbox: 1\nextends: first.yaml\n")
    assert [entry.at for entry in load(mine).traffic] == [5000]
    mine.write_text("sendbox: 1\nextends: first.yaml\ntraffic: [{at: 9s, request: {operation: showKey}}]\n")
    assert [entry.at for entry in load(mine).traffic] == [9000]


@pytest.mark.parametrize("word", ["extends", "include"])
def test_the_story_of_the_library_is_its_own(tmp_path: Path, word: str) -> None:
    """Traffic and expectations of the library hold where the scenario itself is asked for; those of other files are
    passed on."""
    named = load("operator-outage")
    assert named.traffic
    assert named.expect
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"sendbox: 1\n{word}: {'[operator-outage]' if word == 'include' else 'operator-outage'}\n")
    built = load(mine)
    assert built.timeline
    assert (built.traffic, built.expect) == ((), ())
    (tmp_path / "first.yaml").write_text(library.path("operator-outage").read_text("utf-8"))
    mine.write_text("sendbox: 1\nextends: first.yaml\nexpect: [{that: messages}]\n")
    copied = load(mine)
    assert len(copied.expect) == len(named.expect) + 1
    assert [entry.at for entry in copied.traffic] == [entry.at for entry in named.traffic]
    assert load(["operator-outage", {"sendbox": 1, "seed": 8}]).expect == named.expect


@pytest.mark.parametrize("text", ["traffic: []", ""], ids=["empty", "none"])
def test_no_traffic(text: str) -> None:
    """There need be none."""
    assert load(f"sendbox: 1\n{text}\n").traffic == ()
