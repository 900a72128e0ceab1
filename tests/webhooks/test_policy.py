"""What a delivery looks like and what its answer means."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sendbox.engine.delivery.batches import Target
from sendbox.engine.remarks import Advice
from sendbox.runtime.policy import FORM, USER_AGENT, Failure, Outcome, encode, sign
from sendbox.services.advice import on_answer

EVENTS = '[{"message_id":"m-0","payload":{"a":"b & c=d+é"}}]'.encode()
QUOTED = (
    "events=%5B%7B%22message_id%22%3A%22m-0%22%2C%22payload%22%3A%7B%22a%22%3A%22b%20%26%20c%3Dd%2B%C3%A9%22%7D%7D%5D"
)
URL = "http://receiver.test/hook"
JSON = ("Content-Type", "application/json")
OWN = [("User-Agent", USER_AGENT), ("X-Request-Id", "r-1")]


def target(**given: Any) -> Target:
    return Target(**{"url": URL, **given})


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_s6_payload_is_the_array_itself(method: str) -> None:
    """A JSON delivery carries the events as they are encoded, byte for byte."""
    call = encode(target(method=method), EVENTS, "r-1")
    assert (call.method, call.url, call.headers, call.body) == (method, URL, [*OWN, JSON], EVENTS)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a69_form_has_one_field(method: str) -> None:
    """A form delivery carries the events in the one field `events`, in a form that every reader decodes alike."""
    call = encode(target(method=method, content_type=FORM), EVENTS, "r-1")
    assert call.body == QUOTED.encode()
    assert parse_qs(call.body.decode()) == {"events": [EVENTS.decode()]}
    assert call.headers == [*OWN, ("Content-Type", FORM)]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(URL, f"{URL}?{QUOTED}", id="plain"),
        pytest.param(f"{URL}?", f"{URL}?{QUOTED}", id="empty-query"),
        pytest.param(f"{URL}?a=1", f"{URL}?a=1&{QUOTED}", id="own-query"),
        pytest.param(f"{URL}?a=1&", f"{URL}?a=1&{QUOTED}", id="own-query-open"),
        pytest.param(f"{URL}?a=1#part", f"{URL}?a=1&{QUOTED}", id="fragment"),
        pytest.param(f"{URL}#part?x", f"{URL}?{QUOTED}", id="question-in-fragment"),
    ],
)
def test_a69_get_has_the_field_in_its_query(url: str, expected: str) -> None:
    """A GET delivery adds `events` to whatever query the address has, without body, content type or signature."""
    call = encode(target(url=url, method="GET", secret="s3cret"), EVENTS, "r-1")
    assert (call.url, call.headers, call.body) == (expected, OWN, b"")
    assert parse_qs(urlsplit(call.url).query)["events"] == [EVENTS.decode()]


@pytest.mark.parametrize(
    ("given", "signed"),
    [
        pytest.param({"method": "POST"}, EVENTS, id="post-json"),
        pytest.param({"method": "PUT"}, EVENTS, id="put-json"),
        pytest.param({"method": "PATCH", "content_type": FORM}, QUOTED.encode(), id="patch-form"),
        pytest.param({"method": "POST", "content_type": FORM}, QUOTED.encode(), id="post-form"),
    ],
)
def test_a21_signature_is_of_the_raw_body(given: dict[str, Any], signed: bytes) -> None:
    """With a secret the raw body is signed with HMAC-SHA256 in lower-case hexadecimal."""
    headers = dict(encode(target(secret="klíč", **given), EVENTS, "r-1").headers)
    assert headers["X-Request-Signature"] == hmac.new("klíč".encode(), signed, hashlib.sha256).hexdigest()


def test_a21_signature_known_answer() -> None:
    """The signature is the one that any other implementation of HMAC-SHA256 gives."""
    expected = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
    assert sign("key", b"The quick brown fox jumps over the lazy dog") == expected


@pytest.mark.parametrize("secret", [None, ""])
def test_a21_without_a_secret_there_is_no_signature(secret: str | None) -> None:
    """An unsigned delivery has no signature header at all."""
    assert "X-Request-Signature" not in dict(encode(target(secret=secret), EVENTS, "r-1").headers)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(("X-Token", "t"), [*OWN, JSON, ("X-Token", "t")], id="own-header"),
        pytest.param(("user-agent", "me"), [OWN[1], JSON, ("user-agent", "me")], id="user-agent"),
        pytest.param(
            ("content-type", "application/json; charset=utf-8"),
            [*OWN, ("content-type", "application/json; charset=utf-8")],
            id="content-type",
        ),
        *(
            pytest.param((name, "x"), [*OWN, JSON], id=name.lower())
            for name in (
                "Content-Length",
                "HOST",
                "X-Request-ID",
                "x-request-signature",
                "Transfer-Encoding",
                "Connection",
                "Expect",
                "Upgrade",
            )
        ),
    ],
)
def test_a01_headers_of_the_callback_are_sent(given: tuple[str, str], expected: list[tuple[str, str]]) -> None:
    """Headers of the callback object go out and win, but for those that frame or identify the delivery."""
    assert encode(target(headers=(given,)), EVENTS, "r-1").headers == expected


@pytest.mark.parametrize(
    ("headers", "url", "expected"),
    [
        pytest.param((), "http://u:p@h.test/x?e=a@b", "http://u:p@h.test/x?e=a@b", id="no-header"),
        pytest.param((("authorization", "Bearer t"),), "http://u:p@h.test/x?e=a@b", "http://h.test/x?e=a@b", id="both"),
        pytest.param((("Authorization", "Bearer t"),), URL, URL, id="no-credentials"),
    ],
)
def test_authorization_header_wins_over_credentials_in_the_address(
    headers: tuple[tuple[str, str], ...], url: str, expected: str
) -> None:
    """An address with credentials and a header that says the same do not contradict each other."""
    assert encode(target(url=url, headers=headers), EVENTS, "r-1").url == expected


def test_tries_are_equal() -> None:
    """The same batch for the same target is the same request on every try."""
    assert encode(target(secret="s"), EVENTS, "r-1") == encode(target(secret="s"), EVENTS, "r-1")


@pytest.mark.parametrize(
    ("ok", "status", "error"),
    [
        pytest.param(True, 200, None, id="200"),
        pytest.param(True, 299, None, id="299"),
        pytest.param(False, 199, None, id="199"),
        pytest.param(False, 302, "redirect", id="302"),
        pytest.param(False, 400, None, id="400"),
        pytest.param(False, None, "refused", id="no-answer"),
        pytest.param(False, None, None, id="nothing"),
    ],
)
def test_a20_success_is_any_2xx(ok: bool, status: int | None, error: Failure | None) -> None:
    """A batch is delivered by any complete 2xx, and by nothing else."""
    assert Outcome(status, error).ok is ok


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(200, None, id="200"),
        pytest.param(
            204,
            Advice(
                "answer-not-200", "204 counts as delivered, but a receiver must answer 200", "$.callback", "§6", "A20"
            ),
            id="204",
        ),
    ],
)
def test_s6_receiver_must_answer_200(status: int, expected: Advice | None) -> None:
    """A success other than 200 gives advice."""
    assert on_answer(status) == expected


def test_detail_is_not_compared() -> None:
    """Outcomes that differ only in the machine's words for them are equal."""
    assert Outcome(None, "refused", "port 1") == Outcome(None, "refused", "port 2")
