"""Refusals on the wire: one shape, one line, and the words that only a denied key gets (§5.6, §7.2)."""

from __future__ import annotations

import orjson
import pytest

from sendbox.contract.findings import show
from sendbox.engine.remarks import Finding
from sendbox.services.http.requests import line, refusal
from sendbox.services.messaging.http.accepting import DENIED, error


@pytest.mark.parametrize("status", [400, 404, 405, 500])
def test_s7_2_error_is_an_object_with_message(status: int) -> None:
    """Every refusal is `{Message}` as JSON, whatever its status (§4.1, §7.2, A75)."""
    answer = error(status, "wrong")
    assert (answer.status, answer.content_type) == (status, b"application/json")
    assert orjson.loads(answer.body) == {"Message": "wrong"}


def test_s5_6_denied_key_has_its_text() -> None:
    """A denied key answers 400 with the text of an explicit deny (§5.6, A11)."""
    assert orjson.loads(error(400, DENIED).body) == {
        "Message": "User is not authorized to access this resource with an explicit deny"
    }


@pytest.mark.parametrize("quoted", [DENIED, DENIED.upper(), "Explicit  Deny", "is not\tauthorized"])
def test_s5_6_no_other_text_holds_those_words(quoted: str) -> None:
    """A client that reads `Message` never takes a bad value for a denied key, whatever the value is (§5.6, A11)."""
    text = orjson.loads(error(400, f"{quoted} is no date-time").body)["Message"].lower()
    assert "explicit deny" not in " ".join(text.split())
    assert "not authorized" not in " ".join(text.split())


def test_a11_line_is_value_rule_and_path() -> None:
    """A finding shows in one line, also when its message has several (A11)."""
    first = Finding("$.tag", "type", "1 is not\na text", "§2.1")
    assert line(first) == "1 is not a text at $.tag"
    refused = refusal([first, Finding("$", "x", "y", "§2")])
    assert (refused.status, refused.text, len(refused.findings)) == (400, "1 is not a text at $.tag", 2)


def test_show_shortens_long_texts() -> None:
    """A message quotes a value, not a novel."""
    assert show("a" * 60) == f'"{"a" * 60}"'
    assert show("a" * 61) == f'"{"a" * 60}…" (61 characters)'
