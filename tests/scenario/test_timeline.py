"""`timeline:`: what each kind of entry becomes, and stories that are told with it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.core.outages import Outage
from sendbox.core.rules import Span
from sendbox.core.said import GAPS, Text
from sendbox.scenario.compile import check, load
from sendbox.scenario.texts import LOCALE

HALF_HOUR: Final = 1_800_000


def compiled(entry: dict[str, Any], **scenario: Any) -> Any:
    """The only entry of a scenario's timeline."""
    (found,) = load({"sendbox": 1, "timeline": [{"at": "1m", **entry}], **scenario}).timeline
    return found


def test_a_reply() -> None:
    """Its phone is normalized; a text without gaps stays what it is."""
    found = compiled({"reply": {"phone": "777 000 002", "body": "YES", "channel": "sms", "message_id": "m-1"}})
    assert (found.kind, found.means) == ("reply", None)
    assert found.what == {"phone": "420777000002", "body": "YES", "channel": "sms", "message_id": "m-1"}


def test_an_act() -> None:
    """Its number is normalized."""
    found = compiled({"phone": {"number": "777000002", "act": "press", "button": "Yes"}})
    assert (found.kind, found.what) == ("phone", {"number": "420777000002", "act": "press", "button": "Yes"})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param({"channel": "richmsg"}, {"channels": ("richmsg",)}, id="channel"),
        pytest.param(
            {"channel": ["sms", "chatapp"]}, {"channels": ("sms", "chatapp_text", "chatapp_template")}, id="channels"
        ),
        pytest.param({"country": 230}, {"countries": frozenset({"CZ"})}, id="mcc"),
        pytest.param({"country": "CZ", "operator": 2}, {"countries": frozenset({"CZ"}), "network": 2}, id="operator"),
        pytest.param(
            {"channel": "sms", "in_flight": "failed", "new": "rejected", "info": "[9] Out"},
            {"channels": ("sms",), "in_flight": "failed", "new": "rejected", "info": "[9] Out"},
            id="bad ends",
        ),
    ],
)
def test_an_outage(written: dict[str, Any], expected: dict[str, Any]) -> None:
    """Countries by MCC or by two letters; what is not said waits."""
    found = compiled({"outage": {"for": "30m", **written}})
    assert found.means == Outage(HALF_HOUR, **expected)
    assert found.what == {"for": "30m", **written}


def test_a_change_of_the_account() -> None:
    """As control takes it: credit in millionths of the account's currency, lists normalized; the rest is not there."""
    found = compiled(
        {"account": {"credit": {"czk": 2}, "optout": ["777000002"]}}, account={"currency": "CZK", "credit": {"czk": 9}}
    )
    assert found.means == {"credit": 2_000_000, "optout": frozenset({"420777000002"})}
    other = compiled({"account": {"currency": "CZK", "credit": {"czk": 2}}})
    assert other.means == {"currency": "CZK", "credit": 2_000_000}


def test_a_change_of_the_clock() -> None:
    """Mode and rate as they were written."""
    assert compiled({"clock": {"mode": "real", "rate": 0.5}}).what == {"mode": "real", "rate": 0.5}


def test_texts_may_have_gaps() -> None:
    """Names that the message fills, and invented ones of the nearest locale; blanks in the braces are nothing."""
    entries = [
        {"at": 0, "reply": {"phone": "420777000002", "body": "{{ body }}! {{fake.first_name}}"}},
        {"at": 0, "reply": {"phone": "420777000002", "body": "{{fake.city}}", "locale": "de_DE"}},
        {"at": 0, "inbound": {"channel": "sms", "from": "420777000002", "body": "{{phone}} {{fake.word}}"}},
    ]
    texts: list[Text] = [each.means for each in load({"sendbox": 1, "locale": "cs_CZ", "timeline": entries}).timeline]
    assert [[getattr(part, "name", part) for part in text.parts] for text in texts] == [
        ["body", "! ", "first_name"],
        ["city"],
        ["phone", " ", "word"],
    ]
    assert [part.locale for text in texts for part in text.parts if hasattr(part, "locale")] == [
        "cs_CZ",
        "de_DE",
        "cs_CZ",
    ]
    assert len({each.key for each in load({"sendbox": 1, "timeline": entries}).timeline}) == 3


def test_replies_of_rules_have_a_locale() -> None:
    """The reply's own wins over the rule's, and that over the scenario's; without any it is English."""
    replies = [{"body": "{{fake.name}}"}, {"body": "{{fake.name}}", "locale": "sk_SK"}, {"body": "plain"}]
    rule: dict[str, Any] = {"replies": replies}
    for scenario, expected in (
        ({"attempts": [rule]}, [LOCALE, "sk_SK"]),
        ({"attempts": [rule], "locale": "pl_PL"}, ["pl_PL", "sk_SK"]),
        ({"attempts": [{**rule, "locale": "fr_FR"}], "locale": "pl_PL"}, ["fr_FR", "sk_SK"]),
    ):
        (found,) = load({"sendbox": 1, **scenario}).attempts
        assert found.replies is not None
        assert [reply.text.parts[0].locale for reply in found.replies if reply.text] == expected  # type: ignore[union-attr]
        assert found.replies[2].text is None


def test_clicks() -> None:
    """One or several, of the first link that works or of one by its number; one written alone keeps its old key."""
    one, two = load(
        {
            "sendbox": 1,
            "attempts": [{"click": {"after": "1m"}}, {"click": [{"after": "1m"}, {"after": "2m", "link": 2}]}],
        }
    ).attempts
    assert one.click is not None
    assert two.click is not None
    assert [(each.after, each.link) for each in one.click] == [(Span(60_000, 60_000), None)]
    assert [each.link for each in two.click] == [None, 2]
    assert one.key == '{"click":[60000,60000],"when":{}}'
    assert two.key == '{"click":[[60000,60000],[120000,120000,2]],"when":{}}'


def test_after_is_part_of_a_rules_text() -> None:
    """Rules that look back differ by what they look for; one that does not keeps its old key."""
    rules: list[dict[str, Any]] = [
        {"then": "sent"},
        *({"when": {"after": {"result": each}}, "then": "sent"} for each in ("failed", "undelivered")),
    ]
    found = load({"sendbox": 1, "attempts": rules}).attempts
    assert found[0].key == '{"then":"sent","when":{}}'
    assert len({rule.key for rule in found}) == 3


@pytest.mark.parametrize("gap", GAPS)
def test_every_gap_is_legal_in_a_reply(gap: str) -> None:
    """Each name of the table, a payload with a path."""
    written = f"{{{{{gap}.a.b}}}}" if gap == "payload" else f"{{{{{gap}}}}}"
    assert check({"sendbox": 1, "attempts": [{"replies": [{"body": written}]}]}) == []
