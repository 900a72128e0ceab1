"""Careless clients, and which expectations of the library's scenarios they miss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from sendbox.engine.traffic import Traffic
from sendbox.playing import play
from tests.scenarios import load

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE


def asked(at: int, operation: str, value: Any, **more: Any) -> Traffic:
    """One more call, so many milliseconds after the start."""
    return Traffic(at, True, operation, value, **more)


def missed(name: str, *more: Traffic, without: tuple[str, ...] = ()) -> list[str]:
    """The expectations that are missed by the sample client when it also does this, and leaves out those operations."""
    story = load(name)
    kept = [each for each in story.traffic if each.operation not in without]
    verdict = play(replace(story, traffic=tuple(sorted([*kept, *more], key=lambda each: each.at)))).verdict
    assert verdict is not None
    return [each["name"] for each in verdict["expectations"] if not each["passed"]]


def message(phone: str, body: str, **more: Any) -> dict[str, Any]:
    """The body of `/message`."""
    return {"body": body, "to": [{"phone_number": phone}], **more}


def template(phone: str) -> dict[str, Any]:
    """A code by template, from the number that loses its quality."""
    step = {"template_name": "otp", "language": "en", "params": ["1234"], "sender": "109876543210987"}
    return {"to": [{"phone_number": phone}], "flow": [{"chatapp_template": step}]}


JANA: Final = {"phoneNumber": "420777000121"}
TAXI: Final = "Your taxi is here"
NUMBER: Final = {"service_id": "sender_sms_420_number", "period": "month"}


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        (
            "flaky-api",
            [asked(40 * SECOND, "sendMessage", message(f"42077700012{each}", TAXI)) for each in "234"],
            ["each customer gets exactly one taxi in the end"],
        ),
        (
            "flaky-api",
            [asked(121 * SECOND, "sendPriorityMessage", message("420777000224", "4444"))],
            ["a code that was refused is sent again once Retry-After is over, not before"],
        ),
        (
            "slow-api",
            [asked(150 * SECOND, "sendMessage", message("420777000123", TAXI))],
            ["two calls ended without an answer", "the call that was taken is not repeated"],
        ),
        (
            "rate-limited-api",
            [asked(2 * SECOND, "sendMessage", message("420777000123", "Hello"))],
            [
                "one call is too much, and is not repeated before its time",
                "the limit was that of the account's own key",
            ],
        ),
        (
            "code-rate-limits",
            [asked(each * MINUTE, "createValidation", JANA) for each in (4, 5, 6)],
            [
                "the fourth code for Jana has to wait until the first is ten minutes old",
                "the client hammers nowhere",
            ],
        ),
        (
            "account-changes",
            [asked(each * MINUTE, "sendMessage", message("420777000130", "Sale", sender="Acme")) for each in (1, 2)],
            ["the third message is rejected for want of credit"],
        ),
        (
            "credit-order",
            [asked(HOUR, "orderService", NUMBER)],
            ["a number that is too dear is refused"],
        ),
        (
            "number-loses-quality",
            [asked(4 * HOUR, "sendMessage", template("420777000123"))],
            [
                "the client looks at its numbers before it is too late",
                "what was lost is sent again once the number is connected, not before",
            ],
        ),
        (
            "onboarding-stalls",
            [
                asked(
                    HOUR,
                    "partnerSignup",
                    {
                        "partner_callback_url": "http://127.0.0.1:9000/partner",
                        "phone_number": "preassign",
                        "partner_client_id": "casino-3",
                    },
                )
            ],
            ["the unwanted one fails at its registration", "the partner is told of every state"],
        ),
    ],
    ids=[
        "repeats what was taken",
        "repeats before Retry-After",
        "repeats after its timeout",
        "does not wait",
        "hammers for codes",
        "goes on without credit",
        "orders again",
        "sends from a restricted number",
        "begins again what the provider refused",
    ],
)
def test_a_careless_client(name: str, more: list[Traffic], expected: list[str]) -> None:
    """What it does too much is what the expectations name, and nothing else is missed."""
    assert missed(name) == []
    assert missed(name, *more) == expected


@pytest.mark.parametrize(
    ("name", "operation", "expected"),
    [
        (
            "template-rejected",
            "editTemplate",
            ["the review says no, the client corrects the template, and the second review says yes"],
        ),
        (
            "template-rejected",
            "listTemplates",
            ["the review says no, the client corrects the template, and the second review says yes"],
        ),
        ("number-loses-quality", "listPartnerNumbers", ["the client looks at its numbers before it is too late"]),
        ("slow-api", "listMessages", ["two calls ended without an answer"]),
        ("flaky-api", "listMessages", ["the client is tried with every break, and looks before it sends again"]),
        ("sub-key-runs-out", "listSubKeys", ["two messages of the shop are paid for, and the third is rejected"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_client_that_leaves_something_out(name: str, operation: str, expected: list[str]) -> None:
    """Who does not look, or does not correct what was rejected, misses what the story is about."""
    assert missed(name, without=(operation,)) == expected
