"""Careless clients, and which expectations of the library's scenarios they miss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from sendbox.engine.blueprint import Blueprint
from sendbox.engine.traffic import ReceiverBehavior, Traffic
from sendbox.playing import play
from tests.scenarios import load

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE


def asked(at: int, operation: str, value: Any, **more: Any) -> Traffic:
    """One more call, so many milliseconds after the start."""
    return Traffic(at, True, operation, value, **more)


def changed(
    story: Blueprint, more: Iterable[Traffic], without: Iterable[str] = (), ends: tuple[int, ...] = ()
) -> Blueprint:
    """A scenario whose client also does this, leaves out operations or requests of these names, and answers the first
    webhook so."""
    left = frozenset(without)
    kept = [each for each in story.traffic if each.operation not in left and each.name not in left]
    receiver = (ReceiverBehavior(0, ends),) if ends else story.receiver
    return replace(story, traffic=tuple(sorted([*kept, *more], key=lambda each: each.at)), receiver=receiver)


def missed(name: str, *more: Traffic, without: tuple[str, ...] = ()) -> list[str]:
    """The expectations that are missed by the sample client when it also does this, and leaves out those operations."""
    return _missed(changed(load(name), more, without))


def _missed(story: Blueprint) -> list[str]:
    verdict = play(story).verdict
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


@pytest.mark.sample(3)
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


@pytest.mark.sample(3)
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


SPRING: Final = "Spring has come to our shop"
RETRIED: Final = "each 503 is retried at most three times, with growing pauses"
HALF: Final = "half of the customers without a taxi get one in the end"
ANSWERS: Final = "seven of ten calls are answered"
REJECTED: Final = {
    "to": [{"phone_number": "420777000122"}],
    "tag": "answer",
    "flow": [{"chatapp_text": {"body": "We deliver everywhere", "sender": "109876543210987"}}],
}
ANSWERED: Final = "each question is answered within 24 hours, to the asker"
ASKERS: Final = "everyone who asks gets an answer"
SERVED: Final = "each customer gets something that is not a newsletter"
TWICE: Final = "no phone gets the same text twice within a day"
DELIVERY: Final = message("420777000122", "We deliver everywhere", tag="answer")


class Broken(NamedTuple):
    """A client that breaks a rule for one subject: what it does, in which scenario, too much and not at all."""

    what: str
    name: str
    more: list[Traffic]
    without: tuple[str, ...]
    expected: list[str]
    ends: tuple[int, ...] = ()

    def of(self, story: Blueprint) -> Blueprint:
        """The scenario with this client."""
        return changed(story, self.more, self.without, self.ends)


BREAKING: Final = (
    Broken(
        "retries once too often",
        "polite-retries",
        [asked(25 * SECOND, "sendMessage", message("420777000123", TAXI))],
        (),
        ["the service is down for two customers", RETRIED, ANSWERS],
    ),
    Broken(
        "retries too early at first",
        "polite-retries",
        [asked(10_500, "sendMessage", message("420777000123", TAXI))],
        ("first",),
        [RETRIED],
    ),
    Broken(
        "retries too early after that",
        "polite-retries",
        [asked(12_500, "sendMessage", message("420777000123", TAXI))],
        ("second",),
        [RETRIED],
    ),
    Broken(
        "retries too early in the end",
        "polite-retries",
        [asked(16 * SECOND, "sendMessage", message("420777000123", TAXI))],
        ("third",),
        [RETRIED],
    ),
    Broken("does not retry", "polite-retries", [], ("again",), [HALF, ANSWERS]),
    Broken(
        "sends the taxi to a stranger",
        "polite-retries",
        [asked(1 * SECOND, "sendMessage", message("420777000124", TAXI))],
        ("again",),
        [HALF],
    ),
    Broken(
        "retries too late",
        "polite-retries",
        [asked(30 * SECOND, "sendMessage", message("420777000122", TAXI))],
        ("again",),
        [HALF],
    ),
    Broken(
        "calls too often",
        "polite-retries",
        [asked(MINUTE + 999, "sendMessage", message("420777000202", "Sale"))],
        (),
        ["a key makes never more than ten calls a second"],
    ),
    Broken("answers one of two", "customers-ask", [], ("delivery",), [ANSWERED, ASKERS, SERVED]),
    Broken("answers one of two questions", "customers-ask", [], ("sunday",), [ANSWERED]),
    Broken(
        "answers a stranger",
        "customers-ask",
        [asked(24 * HOUR, "sendMessage", message("420777000199", "We deliver everywhere", tag="answer"))],
        ("delivery",),
        [ANSWERED, ASKERS, SERVED],
    ),
    Broken("answers late", "customers-ask", [asked(25 * HOUR, "sendMessage", DELIVERY)], ("delivery",), [ANSWERED]),
    Broken(
        "answers where no conversation is open",
        "customers-ask",
        [asked(24 * HOUR, "sendMessage", REJECTED)],
        ("delivery",),
        [ANSWERED, ASKERS, "nothing is sent to the opted-out, outside a conversation, or too often", SERVED],
    ),
    Broken(
        "writes to the opted-out",
        "customers-ask",
        [asked(24 * HOUR + 10 * SECOND, "sendMessage", message("420777000123", SPRING))],
        (),
        [
            "each opted-out phone gets nothing promotional any more",
            "nothing is sent to the opted-out, outside a conversation, or too often",
        ],
    ),
    Broken(
        "writes the same twice",
        "customers-ask",
        [asked(24 * HOUR, "sendMessage", message("420777000121", "From eight to six", tag="answer"))],
        (),
        [TWICE],
    ),
    Broken(
        "asks for a code too early",
        "code-asked-again",
        [asked(9 * MINUTE, "createValidation", {"phoneNumber": "420777000121"})],
        (),
        [
            "a code is asked for again only after the first expired",
            "each phone is verified in the end, with no more than two codes",
        ],
    ),
    Broken(
        "asks for two codes, and uses both",
        "code-asked-again",
        [
            asked(2 * MINUTE, "createValidation", {"phoneNumber": "420777000122"}, name="soon"),
            asked(3 * MINUTE, "verifyCode", {"code": "246813"}, params=(("token", "$soon.token"),)),
        ],
        ("again", "out"),
        ["a code is asked for again only after the first expired"],
    ),
    Broken(
        "gives the code to no one",
        "code-asked-again",
        [],
        ("verifyCode",),
        ["each phone is verified in the end, with no more than two codes"],
    ),
    Broken(
        "gives up",
        "code-asked-again",
        [],
        ("resent", "proved"),
        ["each phone is verified in the end, with no more than two codes"],
    ),
    Broken(
        "asks for a code much later",
        "code-asked-again",
        [
            asked(20 * MINUTE, "createValidation", {"phoneNumber": "420777000121"}, name="late"),
            asked(21 * MINUTE, "verifyCode", {"code": "246813"}, params=(("token", "$late.token"),)),
        ],
        ("resent", "proved"),
        ["each phone is verified in the end, with no more than two codes"],
    ),
    Broken(
        "fails at its first webhook",
        "customers-ask",
        [],
        (),
        ["each webhook is acknowledged at its first try, within a second"],
        (500, 200),
    ),
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("client", BREAKING, ids=lambda client: client.what)
def test_a_client_that_breaks_a_rule_for_one_subject(client: Broken) -> None:
    """What holds for the others does not hide it."""
    assert missed(client.name) == []
    assert _missed(client.of(load(client.name))) == client.expected
