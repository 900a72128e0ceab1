"""Rules of every list of a scenario, and its account, as data that is drawn."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded.draw import Draw
from tests.recorded.messages import CALLBACKS, CHATAPP, STEMS

Rule = dict[str, Any]

CHANNELS: Final = ("sms", "richmsg", "chatapp", "chatapp_text", "chatapp_template")
OPERATIONS: Final = (
    "sendMessage",
    "sendPriorityMessage",
    "sendMessages",
    "sendSimpleMessage",
    "legacySend",
    "createValidation",
)
PATHS: Final[tuple[Any, ...]] = (
    "delivered",
    "undelivered",
    "failed",
    "rejected",
    "sent",
    "sending",
    ["sending", {"sent": {"after": "2s"}}, {"undelivered": {"after": "30s", "info": "[1] Undelivered"}}],
    ["sending", "sent", {"delivered": "5s..30s"}],
    ["sending", {"sent": "1s"}, {"delivered": {"after": "10m"}}],
    ["sending", {"failed": "90s"}],
    ["sending", "sent", {"failed": "5s"}],
    ["failed"],
    ["sent", "delivered"],
    ["sending", {"failed": {"info": "[131042] Payment method"}}],
    ["sending", "sent", {"undelivered": {"info": "[368]"}}],
    ["sending", {"failed": {"info": "Unauthorized error"}}],
    ["sent", {"seen": "3s"}],
    "seen",
)
REPLIES: Final = (
    {"after": "20s", "body": "YES"},
    {"body": "{{fake.first_name}} asks: {{body}}"},
    {"after": "1s..1m", "body": "STOP"},
    {"after": "1m", "body": "Where is {{payload.order.id}}, {{sender}}?", "locale": "cs_CZ"},
    {"body": "{{fake.sentence}} {{phone}} {{channel}} {{attempt}} {{tags}}"},
)


def pattern(draw: Draw) -> str:
    """A phone pattern that meets some of the numbers."""
    stem = draw.pick(STEMS)
    return draw.pick((f"{stem}0{draw.below(10)}", f"{stem}*", "420777*", "420777????0?", "4207770001??"))


def _counted(draw: Draw, rule: Rule) -> Rule:
    if draw.chance(20):
        rule["times"] = draw.between(1, 3)
    return rule


def attempt_rule(draw: Draw) -> Rule:
    """A rule of `attempts`."""
    when: Rule = {}
    for name, values in (
        ("channel", ("sms", "richmsg", ["richmsg", "chatapp"])),
        ("phone", (pattern(draw),)),
        ("tag", ("promo", "pro*", "transactional")),
        ("body", ("*?", "*code*", "Hello")),
        ("operation", OPERATIONS),
        ("attempt", (1, 2)),
        ("nth", (1, 2, 3)),
        ("key", ("*~shop", "test-*")),
        ("payload", ({"order.country": "CZ"},)),
        ("sender", ("Acme*",)),
    ):
        if draw.chance(17):
            when[name] = draw.pick(values)
    if draw.chance(8) and when.get("attempt") != 1:
        when["after"] = draw.pick(
            ({"result": ["undelivered", "failed"]}, {"message": "delivered"}, {"channel": "richmsg"})
        )
    rule: Rule = {"name": f"attempt {draw.below(1000)}", "when": when}
    kind = draw.below(10)
    if kind < 5:
        rule["then"] = draw.pick(PATHS[:-2] if when.get("channel") == "sms" else PATHS)
    elif kind < 8:
        rule["mix"] = {"delivered": draw.between(1, 9), "undelivered": draw.between(1, 3), "failed": 1}
    if kind == 9:
        rule["illegal"] = True
        rule["then"] = ["sending", {"failed": "1s"}, {"delivered": "1s"}]
    if draw.chance(30) or kind == 8:
        rule["replies"] = draw.some(REPLIES, 2)
        rule.setdefault("then", "delivered") if "mix" not in rule else None
    if draw.chance(25):
        rule["click"] = draw.pick(({"after": "1m"}, [{"after": "5s"}, {"after": "1m", "link": 2}]))
        if "mix" not in rule:
            rule["then"] = "delivered"
    return _counted(draw, rule)


def verify_rule(draw: Draw) -> Rule:
    """A rule of `verify`."""
    then: Rule = {"code": draw.pick(("123456", "random"))}
    if draw.chance(40):
        then["sms"] = draw.pick(("undelivered", "delivered", "sent"))
    if draw.chance(25):
        then["limits"] = "off"
    return {"name": f"verify {draw.below(1000)}", "when": {"phone": pattern(draw)}, "then": then}


API_FAULTS: Final[tuple[Any, ...]] = (
    {"status": 500},
    {"status": 503},
    {"status": {"code": 429, "message": "Slow down", "headers": {"Retry-After": 7}}},
    {"delay": "1s"},
    {"delay": "1s..3s"},
    {"delay": "2m"},
    "disconnect",
    {"disconnect": "middle"},
    "garbage",
    "bad_json",
    {"trickle": "2s"},
    "timeout",
    {"rate_limit": "2/1m"},
    {"rate_limit": {"max": 1, "within": "10s", "per": "phone"}},
)


def api_rule(draw: Draw) -> Rule:
    """A rule of `api`."""
    when: Rule = {}
    for name, values in (
        (
            "operation",
            ("sendMessage", ["createValidation", "verifyCode"], "listMessages", "sendMessages", "uploadBulk"),
        ),
        ("phone", (pattern(draw),)),
        ("share", (0.5, "30%")),
        ("from", ("1m",)),
        ("until", ("2h",)),
        ("key", ("*~shop",)),
    ):
        if draw.chance(25):
            when[name] = draw.pick(values)
    if draw.chance(40):
        when[draw.pick(("call", "every"))] = draw.between(1, 4)
    rule: Rule = {"name": f"api {draw.below(1000)}", "when": when, "fault": draw.pick(API_FAULTS)}
    if draw.chance(15) and rule["fault"] in ({"status": 500}, "disconnect", "timeout"):
        rule["processed"] = True
    if not when or draw.chance(30):
        rule["times"] = draw.between(1, 2)
    return rule


WEBHOOK_FAULTS: Final[tuple[Any, ...]] = (
    "drop",
    "duplicate",
    {"duplicate": {"id": "new", "times": 2, "after": "5s"}},
    {"delay": "30s"},
    {"delay": "1s..5s"},
    "reorder",
    {"reorder": "1m"},
    "split",
    {"bundle": "10s"},
    "bad_signature",
    "stale",
    {"stale": "10s"},
    {"content_type": "text/plain"},
    {"answer": 503},
    {"answer": "refused"},
    {"answer": "closed"},
    {"answer": "timeout"},
    "overtake",
)


def webhook_rule(draw: Draw, *, pull: bool) -> Rule:
    """A rule of `webhooks`. Where deliveries are pulled nothing overtakes: nobody would fetch it meanwhile."""
    fault = draw.pick(WEBHOOK_FAULTS[:-1] if pull else WEBHOOK_FAULTS)
    when: Rule = {}
    for name, values in (
        ("result", ("delivered", "sent", ["sending", "rejected"], ["undelivered", "failed"])),
        ("gateway", ("sms", "richmsg", ["chatapp", "sms"])),
        ("phone", (pattern(draw),)),
        ("share", (0.5, "20%")),
        ("nth", (1, 2)),
        ("tag", ("promo",)),
        ("from", ("10s",)),
        ("until", ("1h",)),
    ):
        if draw.chance(20):
            when[name] = draw.pick(values)
    if fault == "overtake":
        when["result"] = ["sending", "rejected"]
    elif draw.chance(10) and "result" not in when:
        when["event"] = draw.pick(("incomingReplyMessage", "incomingMessage", "sentMessage"))
    return _counted(draw, {"name": f"webhook {draw.below(1000)}", "when": when, "fault": fault})


def _template(name: str, *components: Rule, language: str = "en", **more: str) -> Rule:
    return {"name": name, "language": language, **more, "components": list(components)}


TEMPLATES: Final = (
    _template(
        "rec_offer",
        {"type": "HEADER", "format": "TEXT", "text": "Order {{number}}"},
        {"type": "BODY", "text": "Dear {{name}}, look"},
        {
            "type": "BUTTONS",
            "buttons": [
                {"type": "QUICK_REPLY", "text": "Yes"},
                {"type": "URL", "text": "Go", "url": "https://acme.example/{{1}}"},
            ],
        },
    ),
    _template(
        "rec_limited",
        {"type": "BODY", "text": "Our best offers"},
        {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "Today", "has_expiration": True}},
        category="MARKETING",
    ),
    _template("rec_carousel", {"type": "BODY", "text": "New"}, {"type": "CAROUSEL", "cards": [{}, {}]}),
    _template(
        "rec_place", {"type": "HEADER", "format": "LOCATION"}, {"type": "BODY", "text": "To {{1}}"}, language="cs"
    ),
    _template("rec_paused", {"type": "BODY", "text": "x"}, status="PAUSED"),
)


def account(draw: Draw, *, targets: bool, later: bool = False) -> Rule:
    """Keys of `account`; `later` leaves out what a running world may not change, or what its base decides."""
    found: Rule = {}
    fields: list[tuple[str, tuple[Any, ...]]] = [
        ("credit", tuple({"eur": each, "czk": each * 25} for each in (0, 0.1, 25, 500))),
        ("default_callback_secret", ("s3cret", None)),
        ("verificationSecret", ("s3cret", "other", None)),
        ("senders", ("any", {"sms": ["Acme"], "richmsg": ["Acme"], "chatapp": [CHATAPP]}, {"richmsg": []})),
        ("numbers", (["420900000001"], [])),
        ("domains", (["go.acme.example"],)),
        ("optout", (["420777000106"], ["420777000101", "420777000200"])),
        ("blacklist", (["420777000207"], ["420777000100"])),
        ("stop_words", (["STOP", "NO MORE"],)),
    ]
    if targets:
        fields.append(("default_callback_url", (CALLBACKS[0], CALLBACKS[1], None)))
    if not later:
        fields += [
            ("currency", ("EUR", "EUR", "CZK")),
            ("country", ("420", "421")),
            ("templates", (draw.some(TEMPLATES, 3), draw.some(TEMPLATES, 4))),
            (
                "subkeys",
                (
                    [{"name": "shop", "credit": 5, "note": "Shop"}, {"name": "robot", "shared": True, "scope": "api"}],
                    [{"name": "shop", "shared": True}, {"name": "desk", "credit": 0.1, "scope": "rest-api"}],
                ),
            ),
        ]
    for name, values in fields:
        if draw.chance(25):
            found[name] = draw.pick(values)
    return found
