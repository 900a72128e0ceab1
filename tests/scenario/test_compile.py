"""Compiling: what a legal scenario becomes, from each form in which it may come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.durations import Rate
from sendbox.engine.texts import Pattern
from sendbox.language import LANGUAGE
from sendbox.scenario.model import Problem, ScenarioError
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, Prices, PromotionalHours, Timing
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.windows import Window
from tests.scenarios import compiled, load, make_blueprint


def refused(error: pytest.ExceptionInfo[ScenarioError]) -> list[str]:
    """The lines of a refusal."""
    return str(error.value).splitlines()


def patch(given: dict[str, Any], currency: str = "EUR", country: str | None = None) -> dict[str, Any]:
    """The changes of an account with this currency and country."""
    return LANGUAGE.compile_patch("account", given, country=country, current={"currency": currency})


def test_the_least_scenario_is_an_empty_blueprint() -> None:
    """A scenario that says nothing leaves every default of the core alone."""
    assert compiled(load("sendbox: 1", name="least")) == make_blueprint(name="least")
    assert compiled(load({"sendbox": 1})) == make_blueprint(name="scenario")


def test_settings_of_the_world() -> None:
    """Name, seed, clock and digest arrive as they were written."""
    text = """
        sendbox: 1
        name: A story
        seed: monday
        clock: {mode: auto, start: "2026-03-01T09:00:00+01:00", rate: 60}
        digest: {ignore: [payload.trace_id, payload.trace_id, body]}
        """
    assert compiled(load(text)) == make_blueprint(
        name="A story",
        seed="monday",
        mode="auto",
        start=1_772_352_000_000,
        rate=60.0,
        digest_ignore=("payload.trace_id", "body"),
    )
    assert load({"sendbox": 1, "clock": {"start": None}, "seed": 7}).seed == 7


def test_the_account() -> None:
    """Money becomes millionths, numbers become international, records get their defaults."""
    body = {"type": "BODY", "text": "Code {{1}}", "kept": True}
    blueprint = load(
        {
            "sendbox": 1,
            "account": {
                "credit": {"eur": 25.07},
                "country": 421,
                "default_callback_url": "http://127.0.0.1:9000/hooks",
                "default_callback_secret": "quiet",
                "verificationSecret": "s3cret",
                "senders": {"sms": ["Acme", 420900000001], "chatapp": ["109876543210987"]},
                "numbers": ["+420 900 000 001"],
                "domains": ["go.acme.example"],
                "templates": [{"name": "otp", "language": "en", "components": [body]}],
                "optout": [420777000009, "0905 123 456"],
                "blacklist": ["00420777000008"],
                "stop_words": [" stop ", "konec"],
            },
        }
    )
    assert blueprint.compiled["account"] == AccountSpec(
        credit=25_070_000,
        currency="EUR",
        country="421",
        default_callback_url="http://127.0.0.1:9000/hooks",
        default_callback_secret="quiet",
        verification_secret="s3cret",
        senders={"sms": frozenset({"Acme", "420900000001"}), "chatapp": frozenset({"109876543210987"})},
        numbers=frozenset({"420900000001"}),
        domains=frozenset({"go.acme.example"}),
        templates=(
            {"category": "UTILITY", "status": "APPROVED", "name": "otp", "language": "en", "components": [body]},
        ),
        optout=frozenset({"420777000009", "421905123456"}),
        blacklist=frozenset({"420777000008"}),
        stop_words=frozenset({"STOP", "KONEC"}),
    )


@pytest.mark.parametrize(
    ("expected", "account"),
    [
        pytest.param(None, {"currency": "EUR"}, id="left-out-is-the-built-in-receiver"),
        pytest.param("", {"default_callback_url": None}, id="null-is-nobody"),
    ],
)
def test_the_default_callback_of_an_account(expected: str | None, account: dict[str, Any]) -> None:
    """An account without a default callback has the built-in receiver; one with null tells nobody (A68)."""
    assert load({"sendbox": 1, "account": account}).compiled["account"].default_callback_url == expected


@pytest.mark.parametrize(
    ("expected", "account"),
    [
        pytest.param(("EUR", 5_000_000), {"credit": {"eur": 5}}, id="eur"),
        pytest.param(("CZK", 5_000_000), {"credit": {"czk": 5}}, id="czk-alone-is-the-currency"),
        pytest.param(("EUR", 1_000_000), {"credit": {"eur": 1, "czk": 5}}, id="both"),
        pytest.param(("CZK", 5_000_000), {"credit": {"eur": 1, "czk": 5}, "currency": "CZK"}, id="stated"),
        pytest.param(("CZK", 10_000_000_000), {"currency": "CZK"}, id="default-credit"),
    ],
)
def test_the_currency_of_an_account(expected: tuple[str, int], account: dict[str, Any]) -> None:
    """The account has the currency it states, or the only one it has credit in, or EUR."""
    spec = load({"sendbox": 1, "account": account}).compiled["account"]
    assert (spec.currency, spec.credit) == expected


def test_phones() -> None:
    """Handsets keep their order; what is not said of them is ordinary."""
    text = """
        sendbox: 1
        phones:
          - {number: "+420 777 000 101", channels: [sms, chatapp], conversation: open}
          - {number: "420777??*", offline: true, conversation: closed}
        """
    assert load(text).compiled["phones"] == (
        PhoneSpec(Pattern("420777000101", digits=True), frozenset({"sms", "chatapp"}), conversation=True),
        PhoneSpec(Pattern("420777??*", digits=True), offline=True),
    )


def test_the_timeline() -> None:
    """An instant counts from the start of the world, or is a date and time."""
    text = """
        sendbox: 1
        timeline:
          - {at: 5m, inbound: {channel: sms, from: "777 000 002", to: 420900000001, body: "Hello"}}
          - {at: 0, inbound: {channel: chatapp, from: 420777000002, body: "", message_id: m-1}}
          - {at: "2026-03-01T09:00:00Z", inbound: {channel: richmsg, from: 420777000002, to: Acme, body: x}}
        """
    phone = "420777000002"
    assert load(text, name="a.yaml").timeline == (
        TimelineEntry(
            300_000,
            True,
            "inbound",
            {"channel": "sms", "from": phone, "to": "420900000001", "body": "Hello"},
            "a.yaml:4",
            id="timeline-1",
        ),
        TimelineEntry(
            0,
            True,
            "inbound",
            {"channel": "chatapp", "from": phone, "body": "", "message_id": "m-1"},
            "a.yaml:5",
            id="timeline-2",
        ),
        TimelineEntry(
            1_772_355_600_000,
            False,
            "inbound",
            {"channel": "richmsg", "from": phone, "to": "Acme", "body": "x"},
            "a.yaml:6",
            id="timeline-3",
        ),
    )


def test_every_setting_of_assume() -> None:
    """Each setting is read by its own type; what is left out keeps the default of its row."""
    given = {
        "rcs": True,
        "fallback_on_failure": "ttl",
        "invalid_number": "response",
        "messages_accepted": "recipient",
        "legacy_error": "plain",
        "country": 421,
        "queue": {"normal": "10/s"},
        "nulls": "absent",
        "sender_form": "accept",
        "sms_sender": "strict",
        "prices": {"sms": {"420": {"eur": 0.05, "czk": 1.2}, "default": {"eur": 0.1, "czk": 2.5}}},
        "timing": {"sent": "2s"},
        "conversation": "48h",
        "promotional_window": "08:00-24:00",
        "webhook_retry": ["5s", "PT10S"],
        "webhook_timeout": "1500ms",
        "bundle": False,
        "allowed": ["420777*", "+420 900 000 001"],
        "identical": {"max": 5, "within": "1h"},
        "list_delay": "0s",
    }
    assert load({"sendbox": 1, "assume": given}).assume == Assume(
        rcs=True,
        fallback_on_failure="ttl",
        invalid_number="response",
        messages_accepted="recipient",
        legacy_error="plain",
        country="421",
        queue=Rate(10, 1_000),
        nulls="absent",
        sender_form="accept",
        sms_sender="strict",
        prices=Prices({("sms", "420"): (50_000, 1_200_000), ("sms", ""): (100_000, 2_500_000)}),
        timing=Timing(sent=2_000),
        conversation=172_800_000,
        promotional_window=PromotionalHours(Window(None, 480, 1440)),
        webhook_retry=(5_000, 10_000),
        webhook_timeout=1_500,
        bundle=False,
        allowed=("420777*", "420900000001"),
        identical=Rate(5, 3_600_000),
        list_delay=0,
    )
    assert load({"sendbox": 1, "assume": {"promotional_window": None}}).assume == Assume()


def test_a84_promotional_hours_of_countries_and_channels() -> None:
    """Hours in a time zone, for countries by ISO code or MCC, and for channels; what is left out means UTC and all."""
    given: dict[str, Any] = {"hours": "08:00-20:00"}
    assert compiled_hours(given) == PromotionalHours(Window(None, 480, 1200))
    given |= {"tz": "Europe/Prague", "countries": ["CZ", 208], "channels": ["sms", "rcs"]}
    window = Window(None, 480, 1200, "Europe/Prague")
    assert compiled_hours(given) == PromotionalHours(window, ("CZ", "FR"), ("sms", "rcs"))


def compiled_hours(given: dict[str, Any]) -> PromotionalHours | None:
    """The hours of a scenario."""
    assume: Assume = load({"sendbox": 1, "assume": {"promotional_window": given}}).assume
    return assume.promotional_window


def test_a_profile_stands_for_settings_and_those_beside_it_win() -> None:
    """`assume: {profile: careful}`; what a file says itself wins over the profile, also over one of its base."""
    careful = Assume(content_type="strict", unknown_fields="refuse", sms_sender="strict", test_number="on")
    assert load({"sendbox": 1, "assume": {"profile": "careful"}}).assume == careful
    beside = {"profile": "careful", "test_number": "off", "nulls": "absent"}
    assert load({"sendbox": 1, "assume": beside}).assume == replace(careful, test_number="off", nulls="absent")
    lenient = Assume(sender_form="accept", messages_refusal="partial")
    assert load([{"sendbox": 1, "assume": beside}, {"sendbox": 1, "assume": {"profile": "lenient"}}]).assume == replace(
        lenient, test_number="off", nulls="absent"
    )
    with pytest.raises(ScenarioError, match='"strict" is not a profile; legal: careful, lenient'):
        load({"sendbox": 1, "assume": {"profile": "strict"}})


def test_an_account_patch_names_only_what_it_changes() -> None:
    """A patch gives fields of AccountSpec, in the world's currency and country unless it states others."""
    assert patch({}) == {}
    assert patch({"credit": {"czk": 0}}, currency="CZK") == {"credit": 0}
    assert patch({"credit": {"czk": 1}, "currency": "CZK", "optout": ["0905123456"]}, country="421") == {
        "credit": 1_000_000,
        "currency": "CZK",
        "optout": frozenset({"421905123456"}),
    }
    assert patch({"country": "421", "numbers": ["905123456"], "senders": "any"}) == {
        "country": "421",
        "numbers": frozenset({"421905123456"}),
        "senders": "any",
    }
    with pytest.raises(ScenarioError) as error:
        patch({"sender": "any", "credit": {"czk": 5}, "templates": [{"name": "x"}]})
    assert refused(error) == [
        '$.templates[0]: {"name":"x"} has no "language" and "components", which every template needs',
        '$.sender: "sender" is not a key of an account; did you mean "senders"?',
        '$.credit: {"czk":5} has no credit in EUR, the currency of the account; give eur, or give another "currency"',
    ]


def test_an_error_carries_its_problems() -> None:
    """The exception has a line for each problem, and the problems themselves as control answers them."""
    with pytest.raises(ScenarioError) as error:
        load("sendbox: 1\nclock: {strt: x}\n", name="a.yaml")
    assert [problem.as_json() for problem in error.value.problems] == [
        {
            "file": "a.yaml",
            "line": 2,
            "column": 9,
            "path": "$.clock.strt",
            "value": "strt",
            "rule": "unknown-key",
            "message": '"strt" is not a key of clock; legal: mode, start, rate; did you mean "start"?',
            "nearest": "start",
            "severity": "error",
        }
    ]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param([1], [1], id="short"),
        pytest.param("[" + "1," * 29 + "…", [1] * 600, id="long"),
        pytest.param(str(10**30), 10**30, id="beyond-64-bits"),
    ],
)
def test_a_problem_can_be_sent(expected: object, value: object) -> None:
    """The value in a problem's JSON is short, and something that JSON can hold."""
    assert Problem("a.yaml", 1, 1, "$", value, "rule", "message").as_json()["value"] == expected


def test_a_scenario_of_the_library_is_compiled_once() -> None:
    """Every world of a process shares one blueprint of a library scenario."""
    assert load("default") is load("default")


@pytest.mark.unmeasured
def test_reading_a_legal_scenario_imports_nothing_heavy() -> None:
    """`jsonschema`, which explains refusals, is not imported while there is nothing to refuse."""
    code = (
        "import sys; from sendbox.language import LANGUAGE; LANGUAGE.load('default'); "
        "sys.exit('jsonschema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2]).returncode == 0
