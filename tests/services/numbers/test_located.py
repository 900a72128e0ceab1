"""The country of a phone as a condition of rules."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import When, differences
from sendbox.scenario.model import ScenarioError
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.numbers.countries import PhoneInCountry
from tests.core.asking import rule
from tests.core.worlds import advance, make_world, send_one
from tests.scenarios import compile_rule

CZ, SK, US, CA = "420777000101", "421905000101", "12125550101", "16135550101"


@pytest.mark.parametrize(
    ("phone", "countries", "expected"),
    [
        (CZ, ("CZ",), []),
        (SK, ("PL", "SK"), []),
        (US, ("US",), []),
        (CA, ("US",), ["country: CA is not US"]),
        ((CZ, SK), ("SK",), []),
        (CZ, ("SK", "PL"), ["country: CZ is not SK or PL"]),
        ("999", ("SK",), ["country: nothing is not SK"]),
        (None, ("SK",), ["country: nothing is not SK"]),
    ],
)
def test_the_country_is_told_by_the_number(phone: Any, countries: tuple[str, ...], expected: list[str]) -> None:
    """A number is of the country with the longest prefix that it begins with; of several numbers one is enough."""
    case = Case("attempt", "", fields={"phone": phone})
    assert differences(rule(when=When(country=PhoneInCountry(countries))), case) == expected


@pytest.mark.parametrize("key", ["attempts", "verify", "api", "webhooks"])
@pytest.mark.parametrize(
    ("condition", "codes"),
    [("SK", ("SK",)), (231, ("SK",)), (["SK", 260, "PL"], ("SK", "PL"))],
    ids=["letters", "mcc", "list"],
)
def test_rules_of_every_list_ask_for_it(key: str, condition: Any, codes: tuple[str, ...]) -> None:
    """Two letters, an MCC, or a list; a rule without a name is known by the countries that it means."""
    decides: dict[str, Any] = (
        {"fault": "split" if key == "webhooks" else "garbage"} if key in ("api", "webhooks") else {}
    )
    decides |= {"then": "failed"} if key == "attempts" else {}
    decides |= {"then": {"code": "123456"}} if key == "verify" else {}
    compiled = compile_rule(key, {"when": {"country": condition}, **decides})
    assert compiled.when == When(country=PhoneInCountry(codes))
    assert f'"country":{{"countries":["{codes[0]}"' in compiled.key


def test_no_country() -> None:
    """A text that is not a country is refused, and the error names the nearest country."""
    with pytest.raises(ScenarioError, match=r'"Slovakia" is not a country: .*did you mean "SK"'):
        compile_rule("attempts", {"when": {"country": "Slovakia"}, "then": "failed"})


def test_a_rule_for_a_country() -> None:
    """It decides about messages to its phones, and about no others."""
    compiled = compile_rule("attempts", {"when": {"country": "SK"}, "then": "undelivered"})
    world = make_world(attempts=(compiled,))
    for phone in (CZ, SK):
        send_one(world, phone)
    advance(world, 60_000)
    assert [message.result for message in Messaging.of(world).messages] == ["delivered", "undelivered"]
