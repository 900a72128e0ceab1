"""`partner:` compiled, and the story of its scenario in the library."""

from __future__ import annotations

from typing import Any

from sendbox.engine.durations import Span
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, ReviewRule, SignupRule
from tests.core.clients import connect, form, send_template, sign_up
from tests.core.worlds import HOUR, PHONE, START, advance, send_one, step
from tests.scenarios import load

MINUTE = 60_000


def partner(**given: Any) -> PartnerSpec:
    """What a scenario with this `partner:` settles."""
    found: PartnerSpec = load({"sendbox": 1, "partner": given}).compiled["partner"]
    return found


def test_nothing_said() -> None:
    """Without the key, and with an empty one, the defaults hold."""
    assert load({"sendbox": 1}).compiled["partner"] == partner() == PartnerSpec()


def test_accounts() -> None:
    """Accounts and numbers with their defaults, numbers normalized."""
    numbers = [
        {"phone_number": "900 000 001"},
        {"phone_number": 420900000002, "phone_number_id": 11, "name": "Shop", "status": "PENDING", "quality": "RED"},
    ]
    accounts = [{"waba_id": 1}, {"waba_id": "2", "name": "Bakery", "client_id": "b", "numbers": numbers}]
    assert partner(accounts=accounts).accounts == (
        BusinessSpec("1"),
        BusinessSpec(
            "2",
            "Bakery",
            "b",
            (NumberSpec("420900000001"), NumberSpec("420900000002", "11", "Shop", "PENDING", "RED")),
        ),
    )


def test_rules() -> None:
    """A rule without a name is known by what it says; what it leaves out is not asked."""
    spec = partner(
        template_review=[
            {
                "name": "r",
                "when": {"template": "a*", "language": "en", "category": "UTILITY"},
                "after": "1s..2s",
                "result": "REJECTED",
                "reason": "no",
            },
            {"after": "5ms"},
            {},
        ],
        signup=[{"when": {"client": "c*", "mode": "manual"}, "result": "failed", "reason": "x"}, {"after": "1s"}],
        library=[{"name": "l", "components": [{"type": "BODY", "text": "Hi"}]}],
    )
    assert spec.reviews == (
        ReviewRule(
            "r",
            When(template=Pattern("a*"), language=Pattern("en"), category=("UTILITY",)),
            after=Span(1000, 2000),
            result="REJECTED",
            reason="no",
            name="r",
            place="$.partner.template_review[0]",
        ),
        ReviewRule('{"after":"5ms"}', after=Span(5, 5), place="$.partner.template_review[1]"),
        ReviewRule("{}", place="$.partner.template_review[2]"),
    )
    assert spec.signups[0].when == When(mode=("manual",), client=Pattern("c*"))
    assert spec.signups[1] == SignupRule('{"after":"1s"}', after=Span(1000, 1000), place="$.partner.signup[1]")
    assert spec.library == ({"category": "UTILITY", "name": "l", "components": [{"type": "BODY", "text": "Hi"}]},)


def test_the_story_of_onboarding() -> None:
    """A client is connected, its template reviewed, sent and answered; free text follows; then a rating and a pause."""
    blueprint = load("onboarding")
    world = World("test-w", blueprint, start=START, services=PARTS)
    refused = sign_up(world, client="blocked-1")
    Partner.of(world).complete(refused, "420777000601")
    assert refused.state == "failed"
    signup = sign_up(world)
    Partner.of(world).complete(signup, "420777000555")
    advance(world, MINUTE)
    account, number = signup.account, signup.number
    assert account is not None
    assert number is not None
    templates = Partner.of(world).templates
    for name in ("order_ready", "promo_spring"):
        templates.create(account, form(name))
    advance(world, 10 * MINUTE)
    first = send_template(world, number.id, "order_ready")
    advance(world, MINUTE)
    answer = send_one(world, steps=[step("chatapp_text", "We are coming", sender=number.id)])
    advance(world, MINUTE)
    assert (first.result, answer.result) == ("seen", "seen")
    assert [each.body for each in Messaging.of(world).phones.inbound] == ["Yes, please"]
    advance(world, HOUR)
    assert {each["name"]: each["status"] for each in templates.of(account) if "waba_id" in each} == {
        "order_ready": "APPROVED",
        "promo_spring": "REJECTED",
    }
    advance(world, 4 * HOUR)
    assert (number.status, number.quality) == ("FLAGGED", "RED")
    late = send_template(world, number.id, "order_ready", PHONE)
    advance(world, MINUTE)
    assert late.result == "rejected"


def test_a_client_that_was_connected_by_hand_needs_no_scenario() -> None:
    """The default scenario connects at once."""
    world = World("test-w", load("default"), start=START, services=PARTS)
    account, number = connect(world)
    assert number.account_id == account.id
