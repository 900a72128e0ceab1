"""The scenario library: every file is legal, explained, and says which schema it follows; the magic numbers."""

from __future__ import annotations

import re

import pytest

from sendbox.scenario import library
from sendbox.services.assumptions import registry
from sendbox.services.templates.templates import compile_template
from tests.scenarios import check, load


def test_names() -> None:
    """The library has these scenarios, `default` first."""
    assert library.names() == (
        "default",
        "account-changes",
        "batched-webhooks",
        "bulk-campaign",
        "channel-outage",
        "chatty-customers",
        "clock-modes",
        "code-asked-again",
        "code-rate-limits",
        "conversation-window",
        "credit-order",
        "credit-runs-dry",
        "customers-ask",
        "duplicate-storm",
        "expired-links",
        "flaky-api",
        "forged-webhooks",
        "late-receipt",
        "lossy-campaign",
        "lost-webhooks",
        "midnight-window",
        "number-loses-quality",
        "onboarding",
        "onboarding-stalls",
        "operator-outage",
        "opt-out-by-reply",
        "otp-fallback",
        "otp-lockout",
        "out-of-order-webhooks",
        "polite-retries",
        "priority-overtakes",
        "rate-limited-api",
        "receiver-down",
        "replies-and-clicks",
        "slow-api",
        "sub-key-runs-out",
        "template-rejected",
        "webhook-before-answer",
    )
    with pytest.raises(KeyError, match="nothing"):
        library.path("nothing")


@pytest.mark.parametrize("name", library.names())
@pytest.mark.sample(3)
def test_a_scenario_of_the_library(name: str) -> None:
    """Each is legal, names its schema for editors in the first line, tells its story, and extends the default one."""
    text = library.path(name).read_text("utf-8")
    first, *rest = text.splitlines()
    assert first == "# yaml-language-server: $schema=../schemas/scenario.schema.json"
    assert check(name) == []
    assert sum(line.startswith("# ") for line in rest) >= 3
    assert name == "default" or "\nextends: default\n" in text
    assert load(name).name
    known = {row.id for row in registry()}
    assert set(re.findall(r"\bA[0-9]{2}\b", text)) <= known


def test_magic_numbers() -> None:
    """The list is read from the default scenario: two digits of fate, an example, and what happens."""
    assert library.magic() == [
        ("00", "420777000100", "delivered"),
        ("01", "420777000101", "delivered as well"),
        ("02", "420777000102", "undelivered"),
        ("03", "420777000103", "rejected"),
        ("04", "420777000104", "failed"),
        ("05", "420777000105", "sent, never confirmed"),
        ("06", "420777000106", "seen (delivered, on sms)"),
        ("07", "420777000107", "replies YES five seconds after it was delivered"),
        ("08", "420777000108", "receipt after ten minutes"),
        ("09", "420777000109", "opts out by replying STOP"),
        ("10", "420777000110", "no rich-message app"),
        ("11", "420777000111", "no messaging app"),
        ("12", "420777000112", "conversation open (free text may be sent)"),
        ("13", "420777000113", "a Verify SMS never arrives; messages do"),
        ("14", "420777000114", "no limits of Verify sessions"),
    ]


@pytest.mark.parametrize(("suffix", "example", "_meaning"), library.magic())
def test_a_magic_number_is_what_it_says(suffix: str, example: str, _meaning: str) -> None:
    """The example, and only the numbers with its two digits, meet the rule or the phone."""
    settled = load("default").compiled
    patterns = [rule.when.pattern("phone") for rule in settled["attempts"]]
    patterns += [phone.number for phone in settled["phones"]]
    patterns += [rule.when.pattern("phone") for rule in settled["verify"]]
    met = [pattern for pattern in patterns if pattern is not None and pattern.matches(example)]
    assert len(met) == 1
    assert met[0].matches(f"4207779876{suffix}")
    assert not met[0].matches(f"42077798765{suffix}")


def test_the_default_account() -> None:
    """The default scenario accepts any sender, has credit in plenty and a template of each common kind."""
    account = load("default").compiled["account"]
    assert (account.senders, account.currency, account.credit) == ("any", "EUR", 10_000_000_000)
    templates = {record["name"]: compile_template(record) for record in account.templates}
    assert {name: template.status for name, template in templates.items()} == dict.fromkeys(
        ("otp", "order_update", "welcome"), "APPROVED"
    )
    assert templates["order_update"].variables == ("1", "2")
    welcome = templates["welcome"]
    assert (welcome.named, welcome.header, [button.keys for button in welcome.buttons]) == (True, "image", [("url",)])
