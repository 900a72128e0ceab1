"""Built-in traffic: each rule of a scenario is met by a request that it decides about."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.texts import Pattern
from sendbox.playing import Played, play
from sendbox.playing.sample import MAX_SAMPLES, fill_pattern, sample
from sendbox.services.messaging.messaging import Messaging
from tests.scenarios import load


def deciding(played: Played) -> set[str]:
    """The rules that decided something."""
    return {
        rule
        for message in Messaging.of(played.world).messages
        for attempt in message.attempts
        if attempt.decision is not None
        for rule in attempt.decision.rules
    }


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"channel": "richmsg"},
        {"channel": "chatapp_template"},
        {"channel": ["sms", "richmsg"]},
        {"phone": "4207770001*"},
        {"phone": "420777????42"},
        {"phone": "420777000142"},
        {"phone": "420*42"},
        {"tag": "promo*"},
        {"body": "*?"},
        {"body": "code *"},
        {"sender": "Acme*"},
        {"attempt": 2},
        {"attempt": 2, "channel": "richmsg"},
        {"nth": 3},
        {"payload": {"order.id": "A-*", "order.count": 3}},
        {"key": "test-*"},
        {"key": "*~shop"},
        {"operation": "sendPriorityMessage"},
        {"operation": "sendMessages"},
        {"operation": "sendSimpleMessage", "sender": "Acme"},
        {"operation": "sendSimpleMessageByQuery"},
        {"operation": "legacySend"},
        {"operation": "legacyApiSendByQuery"},
        {"operation": "createValidation"},
    ],
    ids=str,
)
def test_a_rule_is_met(when: dict[str, Any]) -> None:
    """Whatever it asks for, the sample has it."""
    rules = [{"name": "mine", "when": when, "then": "undelivered"}]
    if "attempt" in when:
        rules.append({"name": "before", "when": {"attempt": 1}, "then": "undelivered"})
    account = {"subkeys": [{"name": "shop", "shared": True}]}
    assert "mine" in deciding(play({"sendbox": 1, "extends": "default", "attempts": rules, "account": account}))


def test_a_click_gets_its_link() -> None:
    """A rule that opens links is sent one, also where it asks for a body."""
    rules = [{"click": {"after": "1m"}, "when": when} for when in ({"phone": "420777*"}, {"body": "* now"})]
    played = play({"sendbox": 1, "extends": "default", "attempts": rules})
    assert sum(entry["kind"] == "click" for entry in played.entries) == 2


def test_the_magic_numbers_are_shown_where_there_are_no_other_rules() -> None:
    """Each rule of the default scenario; one that a scenario has itself takes their place."""
    magic = {rule.name or rule.key for rule in load("default").compiled["attempts"]}
    assert deciding(play({"sendbox": 1, "extends": "default"})) == magic
    assert len(sample(load({"sendbox": 1, "extends": "default", "attempts": [{"then": "failed"}]}))) == 1


def test_a_mix_is_drawn_from_several_times() -> None:
    """So that it shows."""
    mix = {"sendbox": 1, "attempts": [{"mix": {"delivered": 1, "failed": 1}}]}
    assert {message.result for message in Messaging.of(play(mix).world).messages} == {"delivered", "failed"}


def test_sessions_are_verified_where_the_code_is_known() -> None:
    """A rule of Verify gets a session, and the right code if it settles one."""
    rules = [{"when": {"phone": "420777000101"}, "then": {"code": "246813"}}, {"then": {"sms": "failed"}}]
    played = play({"sendbox": 1, "extends": "default", "attempts": [{"then": "sent"}], "verify": {"rules": rules}})
    assert [each.traffic.operation for each in played.asked] == [
        "sendMessage",
        "createValidation",
        "verifyCode",
        "createValidation",
    ]
    assert {each.status for each in played.asked} == {200}


def test_each_sub_key_sends() -> None:
    """With a message of its own."""
    found = sample(load("sub-key-runs-out"))
    assert [entry.key for entry in found if entry.key] == ["shop", "desk", "robot"]


@pytest.mark.parametrize("when", [{"key": "nobody"}, {"operation": "testTemplate"}], ids=["key", "template"])
def test_what_cannot_be_met_is_left_out(when: dict[str, Any]) -> None:
    """A key that is none of the account's; a test of a template that no business account has."""
    (entry,) = sample(load({"sendbox": 1, "attempts": [{"when": when, "then": "sent"}]}))
    assert entry.value["body"] == "Hello"


def test_there_is_an_end() -> None:
    """A scenario of many rules gets so many samples."""
    rules = [{"when": {"body": f"{number}*"}, "then": "sent"} for number in range(MAX_SAMPLES + 5)]
    assert len(sample(load({"sendbox": 1, "attempts": rules}))) == MAX_SAMPLES


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        ([], {"template_name": "otp", "language": "en"}),
        ([("plain", "cs", "Hello")], {"template_name": "plain", "language": "cs"}),
        ([("two", "en", "{{1}} and {{2}}")], {"template_name": "two", "language": "en", "params": ["1234", "1234"]}),
        ([("named", "en", "{{who}}")], {"template_name": "otp", "language": "en"}),
    ],
    ids=["none", "without variables", "two", "by name"],
)
def test_templates_are_used_as_they_are_made(templates: list[tuple[str, str, str]], expected: dict[str, Any]) -> None:
    """The first template that has no header and variables by number, with as many values as it wants."""
    given = {
        "sendbox": 1,
        "account": {
            "senders": {"chatapp": ["1234567"]},
            "templates": [
                {"name": name, "language": language, "components": [{"type": "BODY", "text": text}]}
                for name, language, text in templates
            ],
        },
        "attempts": [
            {"when": {"channel": "chatapp_template"}, "then": "sent"},
            {"when": {"channel": "chatapp_text"}, "then": "sent"},
        ],
    }
    first, second = sample(load(given))
    assert first.value["flow"][0] == {"chatapp_template": {**expected, "sender": "1234567", "ttl": 5}}
    assert second.value["flow"][0]["chatapp_text"]["sender"] == "1234567"


@pytest.mark.parametrize("text", ["*", "a*", "*?", "a*b*c", "abc"])
def test_a_text_fits_its_pattern(text: str) -> None:
    """Whatever the wildcards."""
    assert Pattern(text).matches(fill_pattern(Pattern(text), "word"))
