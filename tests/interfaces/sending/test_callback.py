"""`callback` as a string and as an object: every rule of A01."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.contract.findings import show
from sendbox.engine.delivery.batches import Target
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.messaging.http.sending.decode import read_callback
from tests.interfaces.sending.support import places, said

URL = "https://client.example/hook"


def read(value: str | dict[str, Any]) -> tuple[Target | None, list[Finding], list[Advice]]:
    problems: list[Finding] = []
    advice: list[Advice] = []
    return read_callback(value, "$", problems, advice), problems, advice


def test_a01_empty_string_is_no_callback() -> None:
    """An empty string as callback means none (A01)."""
    assert read("") == (None, [], [])


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "HTTPS://client.example",
        "http://127.0.0.1:9000/hooks?x=1#y",
        "http://[::1]:9000/",
        "https://user:pw@client.example/",
        "https://client.example/" + "x" * 2025,
    ],
    ids=["shortest", "case", "port", "ipv6", "user", "longest"],
)
def test_a01_addresses_that_are_legal(url: str) -> None:
    """An http or https address of 8 to 2048 characters is a callback, as string and as `url` (A01)."""
    assert len(url) <= 2048
    assert read(url) == (Target(url), [], [])
    assert read({"url": url}) == (Target(url), [], [])


def test_a01_brackets_without_an_ipv6_address_are_refused() -> None:
    """All else that is no address is refused by the schema (A01)."""
    url = "http://[1.2]/"
    for value, path in ((url, "$.callback"), ({"url": url}, "$.callback.url")):
        target, problems, _ = read(value)
        assert (target, places(problems)) == (None, [("callback", path)])
        text = f"{show(url)} is not an address: its brackets hold no IPv6 address (§2.1)"
        assert (problems[0].message, problems[0].section, problems[0].assumed) == (text, "§2.1", "A01")


def test_a01_object_defaults() -> None:
    """Without more than `url` an object is a POST of JSON (A01)."""
    target, _, _ = read({"url": URL})
    assert target == Target(URL, "POST", "application/json", (), 100, None)


def test_a01_object_fields() -> None:
    """Every field of the object form is taken over (A01)."""
    fields = {
        "url": URL,
        "method": "PUT",
        "content_type": "application/x-www-form-urlencoded",
        "headers": {"X-Token": "s3cret", "x-other": ""},
        "batch_size": 500,
        "timeout_ms": 1000,
    }
    target, problems, advice = read(fields)
    headers = (("X-Token", "s3cret"), ("x-other", ""))
    assert target == Target(URL, "PUT", "application/x-www-form-urlencoded", headers, 500, 1000)
    assert (problems, advice) == ([], [])


def test_a01_templates_are_accepted_and_ignored() -> None:
    """`item` and `body` change nothing, and advice says so (A01)."""
    target, problems, advice = read({"url": URL, "item": "{{x}}", "body": {"a": 1}})
    assert (target, problems) == (Target(URL), [])
    assert said(advice) == [
        ("callback-template-ignored", "$.callback.item"),
        ("callback-template-ignored", "$.callback.body"),
    ]


def test_a57_unknown_field_of_a_callback() -> None:
    """A field that A01 does not name has no effect, with advice (A57)."""
    assert said(read({"url": URL, "retry": 3})[2]) == [("unknown-field", "$.callback.retry")]


def test_a01_headers_that_no_request_can_carry() -> None:
    """A header name or value that would break the delivery is refused with the call (A01)."""
    _, problems, _ = read({"url": URL, "headers": {"bad name": "x", "x-ok": "a\r\nb"}})
    assert places(problems) == [("header-name", "$.callback.headers"), ("header-value", "$.callback.headers.x-ok")]
    assert problems[0].message.startswith('"bad name" is not a header name; legal are ')
    assert problems[1].message == '"a\\r\\nb" holds a control character, which no header may (A01)'
