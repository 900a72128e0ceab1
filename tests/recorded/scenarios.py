"""Scenarios as data: drawn rules, with timelines, expectations, partners and settings."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded.draw import Draw
from tests.recorded.messages import CHATAPP
from tests.recorded.rules import Rule, account, api_rule, attempt_rule, verify_rule, webhook_rule

HAPPENINGS: Final[tuple[Rule, ...]] = (
    {"inbound": {"channel": "sms", "from": "420777000112", "to": "420900000001", "body": "I am {{fake.name}}"}},
    {"inbound": {"channel": "chatapp", "from": "420777000101", "body": "Ahoj {{fake.word}}", "locale": "cs_CZ"}},
    {"reply": {"phone": "420777000101", "body": "Thank you for: {{body}}"}},
    {"reply": {"phone": "420777000106", "channel": "richmsg", "body": "STOP"}},
    {"phone": {"number": "420777000101", "act": "offline"}},
    {"phone": {"number": "420777000101", "act": "online"}},
    {"phone": {"number": "420777000106", "act": "seen"}},
    {"phone": {"number": "420777000101", "act": "click"}},
    {"phone": {"number": "420777000112", "act": "press", "button": 0}},
    {"phone": {"number": "420777000108", "act": "opt_out"}},
    {"outage": {"channel": "richmsg", "for": "15m"}},
    {
        "outage": {
            "country": "CZ",
            "channel": "sms",
            "for": "10m",
            "in_flight": "undelivered",
            "new": "failed",
            "info": "[9] Down",
        }
    },
    {"outage": {"channel": "sms", "for": "5m", "new": "rejected"}},
    {"outage": {"channel": "sms", "for": "5m", "in_flight": "failed", "new": "undelivered"}},
    {"account": {"credit": {"eur": 0, "czk": 0}}},
    {"account": {"credit": {"eur": 50, "czk": 900}, "optout": ["420777000102"]}},
    {"template": {"name": "o*", "status": "PAUSED", "reason": "complaints"}},
    {"number": {"phone_number": "420900*", "quality": "RED"}},
    {"number": {"phone_number": "420900000001", "status": "RESTRICTED"}},
)
EXPECTED: Final[tuple[Rule, ...]] = (
    {"name": "it comes", "that": "messages", "where": {"phone": "420777000101", "result": "delivered"}, "within": "1h"},
    {"that": "requests", "where": {"status": ">=400"}, "at_most": 1},
    {"that": "transitions", "where": {"result": ["sent", "delivered"]}, "after": "1m", "count": 0},
    {
        "name": "answers",
        "that": "inbound",
        "at_least": 0,
        "then": [
            {"that": "transitions", "where": {"result": "delivered"}, "within": "5m"},
            {"that": "opt_outs", "count": 0},
        ],
    },
    {"that": "attempts", "where": {"attempt": 2, "channel": "sms", "rule": "*"}, "at_least": 0},
    {"that": "events", "where": {"type": "sentMessage", "state": "delivered"}, "at_least": 3},
    {"that": "deliveries", "where": {"tries": ">=2"}, "count": 0},
    {"that": "clicks", "at_most": 1},
    {"that": "codes", "where": {"state": "verified"}, "at_least": 0},
    {"that": "validations", "where": {"event": "code_wrong"}, "count": 0},
    {"that": "templates", "where": {"status": "APPROVED"}, "at_least": 1},
    {"that": "signups", "where": {"status": "*"}, "at_least": 0},
    {"that": "faults", "where": {"fault": "*"}, "at_most": 2},
)
ASSUMED: Final[tuple[Rule, ...]] = (
    {"rcs": True},
    {"fallback_on_failure": "ttl"},
    {"invalid_number": "response"},
    {"messages_accepted": "recipient"},
    {"legacy_error": "plain"},
    {"country": "421"},
    {"queue": {"normal": "10/1m"}},
    {"nulls": "absent"},
    {"sender_form": "accept"},
    {"sms_sender": "strict"},
    {"timing": {"sending": "1s", "sent": "500ms", "delivered": "4s"}},
    {"conversation": "12h"},
    {"promotional_window": "10:00-20:00"},
    {"webhook_retry": ["5s", "10s"]},
    {"webhook_timeout": "2s"},
    {"bundle": False},
    {"allowed": ["4207770001*"]},
    {"identical": {"max": 1, "within": "1h"}},
    {"list_delay": "0s"},
    {"proof": {"hash": "sha512", "encoding": "base64url", "separator": "|"}},
    {"verify_limits": {"account": "3/1m", "number": "1/10m"}},
    {"verify_code_required": True},
    {"template_review": "1m"},
    {"prices": {"sms": {"420": {"eur": 0.04, "czk": 1}, "default": {"eur": 0.08, "czk": 2}}}},
    {"bulk": {"lines": 2}},
)


def _partner(draw: Draw) -> Rule:
    numbers = [
        {
            "phone_number": "420900000001",
            "phone_number_id": CHATAPP,
            "status": draw.pick(("CONNECTED", "CONNECTED", "FLAGGED", "RESTRICTED")),
        }
    ]
    return {
        "accounts": [{"waba_id": "102030405060708", "name": "Bakery", "client_id": "bakery-17", "numbers": numbers}],
        "template_review": [
            {
                "name": "promotions",
                "when": {"template": "promo_*"},
                "after": "1m",
                "result": "REJECTED",
                "reason": "no",
            },
            {"name": "others", "after": "1s..1m"},
        ],
        "signup": [
            {"name": "blocked", "when": {"client": "blocked*"}, "result": "failed", "reason": "not wanted"},
            {"name": "all", "after": "30s"},
        ],
        "library": [{"name": "table_reserved", "components": [{"type": "BODY", "text": "Reserved for {{1}}."}]}],
    }


def generated(draw: Draw, base: str | None, *, targets: bool, pull: bool) -> Rule:
    """A scenario that builds on `base`, with some sections of its own."""
    made: Rule = {"sendbox": 1, "name": f"drawn {draw.below(10_000)}"}
    if base is not None:
        made["extends"] = base
    sections: tuple[tuple[int, str, Any], ...] = (
        (60, "account", account(draw, targets=targets)),
        (60, "attempts", [attempt_rule(draw) for _ in range(draw.between(1, 4))]),
        (30, "api", [api_rule(draw) for _ in range(draw.between(1, 2))]),
        (40, "webhooks", [webhook_rule(draw, pull=pull) for _ in range(draw.between(1, 3))]),
        (30, "partner", _partner(draw)),
        (40, "expect", draw.some(EXPECTED, 5)),
        (20, "locale", draw.pick(("cs_CZ", "de_DE", "ja_JP"))),
        (15, "digest", {"ignore": ["payload.trace_id"]}),
    )
    for percent, name, value in sections:
        if draw.chance(percent):
            made[name] = value
    if draw.chance(35):
        limits = draw.pick(({"account": "3/1m", "number": "2/10m"}, "off", {"account": "off"}))
        made["verify"] = {"limits": limits, "rules": [verify_rule(draw) for _ in range(draw.between(1, 2))]}
    if draw.chance(40):
        ats = sorted(draw.below(300) for _ in range(draw.between(1, 4)))
        made["timeline"] = [{"at": f"{at * 10}s", **draw.pick(HAPPENINGS)} for at in ats]
    if draw.chance(55):
        assumed: Rule = {}
        for setting in draw.some(ASSUMED, 4):
            assumed.update(setting)
        made["assume"] = assumed
    if draw.chance(25):
        made["phones"] = [
            {"name": "old phone", "number": "4207770002*", "channels": ["sms"]},
            {"name": "in a drawer", "number": "420777000108", "offline": True},
            {"name": "wrote", "number": "42077712340?", "conversation": "open"},
        ]
    return made
