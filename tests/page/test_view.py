"""What the page makes of what control answers."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.page import lines, view
from sendbox.services.messaging.checks import CHECKS

AT = "2026-03-01T09:00:00.000Z"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (AT, "+0s"),
        ("2026-03-01T09:00:00.250Z", "+250ms"),
        ("2026-03-01T09:01:30.000Z", "+1m30s"),
        ("2026-03-03T10:00:00.000Z", "+2d1h"),
        ("2026-03-03T10:02:03.004Z", "+2d1h2m"),
        ("2026-03-01T08:59:59.000Z", "-1s"),
    ],
)
def test_since_is_told_in_its_largest_units(at: str, expected: str) -> None:
    """A difference of instants is shown as a duration of at most three units."""
    assert view.since(at, AT) == expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [(AT, "2026-03-01 09:00:00"), ("2026-03-01T09:00:00.250Z", "2026-03-01 09:00:00.250")],
    ids=["whole", "milliseconds"],
)
def test_instants_are_written_for_the_eye(at: str, expected: str) -> None:
    """An instant loses its T, its Z, and milliseconds that say nothing."""
    assert view.when(at) == expected


@pytest.mark.parametrize(("text", "expected"), [("abcd", "abcd"), ("abcde", "abc…")], ids=["fits", "cut"])
def test_a_long_text_is_cut(text: str, expected: str) -> None:
    """No text is longer than it may be, and a cut one says so."""
    assert view.cut(text, 4) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("delivered", "good"), ("undelivered", "fair"), ("failed", "bad"), ("sent", "open"), ("<b>", "open")],
)
def test_tones(word: str, expected: str) -> None:
    """A result has one of four tones, so that no word of a client becomes a class."""
    assert view.tone(word) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [(None, "no key"), ("test-a", "test-a"), ("live-4711-secret", "live…")],
    ids=["none", "ours", "foreign"],
)
def test_a_foreign_key_is_masked(key: str | None, expected: str) -> None:
    """A key that may be one of the real service is not spelled out."""
    assert view.masked(key) == expected


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"n": number, "at": AT, "kind": "request", "operation": "sendMessage", "status": 200, **more}


def remark(**more: Any) -> dict[str, Any]:
    return {"message": "m", "path": "$.to", "section": "§2.1", "assumed": None, **more}


def test_remarks_are_the_newest_first() -> None:
    """Findings of refused and of accepted requests and advice come newest first, each with its word and entry."""
    found = view.remarks(
        SERVED.kinds.words,
        [
            entry(1, findings=[], advice=[remark(code="unknown-field")]),
            entry(2, findings=[remark(rule="minimum")], advice=[], status=400),
            entry(3, findings=[remark(rule="number")], advice=[]),
            {"n": 4, "at": AT, "kind": "advice", "advice": remark(code="answer-not-200"), "about": "id"},
            {"n": 5, "at": AT, "kind": "fault", "operation": "getMessage", "rule": "flaky", "message": "m"},
        ],
    )
    assert [(each["entry"], each["word"], each["rule"], each["about"]) for each in found] == [
        (5, "fault", "api", "getMessage"),
        (4, "advice", "answer-not-200", "delivery"),
        (3, "rejected", "number", "sendMessage 200"),
        (2, "refused", "minimum", "sendMessage 400"),
        (1, "advice", "unknown-field", "sendMessage 200"),
    ]


def test_remarks_are_bounded() -> None:
    """No more remarks are shown than fit on a page, however many one request got."""
    many = entry(1, findings=[], advice=[remark(code="c")] * 80)
    assert len(view.remarks(SERVED.kinds.words, [many])) == view.REMARKS


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"event": "sentMessage", "message_id": "m", "phone": "1", "result": "sent"}, ("sent", "1", "")),
        ({"event": "incomingMessage", "from": "1", "body": "Hi"}, ("incomingMessage", "1", "Hi")),
        ({"event": "incomingReplyMessage", "from": "1", "body": "YES"}, ("incomingReplyMessage", "1", "YES")),
        (
            {"event": "partnerOnboarding", "signup": "s", "partner_client_id": "shop", "status": "created"},
            ("created", "", "signup of shop"),
        ),
        (
            {
                "event": "partnerOnboarding",
                "signup": "s",
                "partner_client_id": None,
                "status": "completed",
                "phone_number": "1",
            },
            ("completed", "1", "signup"),
        ),
    ],
    ids=["sent", "incoming", "reply", "signup of a client", "signup of nobody"],
)
def test_events_in_words(told: dict[str, Any], expected: tuple[str, str, str]) -> None:
    """Each kind of event says what happened, about which phone, and what else there is."""
    assert tuple(view.event(told).values()) == expected


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ({"status": 200, "error": None}, ("200", "good")),
        ({"status": 500, "error": None}, ("500", "bad")),
        ({"status": 302, "error": "redirect"}, ("redirect", "bad")),
        ({"status": None, "error": "timeout"}, ("timeout", "bad")),
        ({"status": None, "error": None}, ("under way", "open")),
    ],
    ids=["delivered", "refused", "redirect", "timeout", "under-way"],
)
def test_tries_say_how_they_went(done: dict[str, Any], expected: tuple[str, str]) -> None:
    """Each try shows its status or the word for why there was none."""
    (shown,) = view.tries({"at": AT, "tries": [{"at": AT, **done}]})
    assert (shown["outcome"], shown["tone"]) == expected


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (None, None),
        ("channel", "the phone does not have this channel"),
        ("other", "other"),
    ],
)
def test_attempts_say_why_they_were_refused(refused: str | None, expected: str | None) -> None:
    """A step that was not even tried says why; a reason without a sentence is shown as it is."""
    attempt: dict[str, Any] = {"channel": "sms", "timeline": [], "planned": []}
    if refused is not None:
        attempt["refused"] = refused
    (shown,) = view.attempts({"accepted_at": AT, "attempts": [attempt]})
    assert shown["refused"] == expected


def test_lines_quote_what_a_shell_would_read() -> None:
    """A key or a file with quotes and spaces stays one word of the shell."""
    line = lines.send_line("http://h/v2", "a'b; rm", cacert="my ca.pem")
    assert "--cacert 'my ca.pem'" in line
    assert """'x-api-key: a'"'"'b; rm'""" in line


def test_every_reason_of_a_refusal_has_its_sentence() -> None:
    assert set(view.REASONS) == {check.word for check in CHECKS}
