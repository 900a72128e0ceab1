"""Operations of control as data: the clock, phones, rules, the account, deliveries, checkpoints, and looks."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded.draw import Draw
from tests.recorded.messages import BODIES, CHATAPP, RESULTS, STEMS, Step, number
from tests.recorded.rules import account, api_rule, attempt_rule, verify_rule, webhook_rule

#: Times by which a world is moved; the last ones are refused.
ADVANCES: Final[tuple[dict[str, Any], ...]] = (
    {"by": 0},
    {"by": "1s"},
    {"by": "3s"},
    {"by": "1m"},
    {"by": "5m"},
    {"by": "1h"},
    {"by": "1d"},
    {"by": "1500ms"},
    {"next": 1},
    {"next": 3},
    {"until": "idle"},
    {"until": "idle"},
    {"to": "2026-03-02T12:00:00Z"},
    {"by": "PT1M30S"},
)
WRONG_ADVANCES: Final[tuple[dict[str, Any], ...]] = (
    {"by": "-1s"},
    {"by": "soon"},
    {"to": "2020-01-01T00:00:00Z"},
    {"by": "500d"},
    {"next": 0},
    {"until": "never"},
    {},
    {"by": "1s", "next": 1},
)

TEMPLATE_STATUSES: Final = (
    *("APPROVED", "REJECTED", "PAUSED", "DISABLED", "PENDING", "IN_APPEAL"),
    *("LIMIT_EXCEEDED", "PENDING_DELETION", "DELETED", "WHAT"),
)
NUMBER_STATUSES: Final = ("CONNECTED", "FLAGGED", "RESTRICTED", "OFFLINE", "PENDING", "WHAT")


def advance(draw: Draw) -> Step:
    """The clock is moved, or is asked to be in a wrong way."""
    return {"advance": draw.pick(WRONG_ADVANCES if draw.chance(6) else ADVANCES)}


def phone(draw: Draw) -> Step:
    """The owner of a phone does something."""
    at = f"{draw.pick(STEMS)}{draw.below(13):02}"
    act = draw.pick(
        ("reply", "reply", "write", "click", "click", "press", "seen", "opt-out", "offline", "online", "online")
    )
    body: dict[str, Any] = {}
    if act == "reply":
        body["body"] = draw.pick(("YES", "STOP", "Thank you", "stop ", "Why?"))
    elif act == "write":
        body = {
            "body": draw.pick(("Hello?", "STOP", "x" * 2000)),
            "channel": draw.pick(("sms", "richmsg", "chatapp", "pigeon")),
        }
        if draw.chance(50):
            body["to"] = draw.pick(("420900000001", "Acme", CHATAPP))
    elif act == "press" and draw.chance(70):
        body["button"] = draw.pick((0, 1, "Change the day", "Nothing"))
    if act in ("reply", "click", "press", "seen") and draw.chance(35):
        body["message_id"] = draw.pick(("<message:-1>", "<message:0>", "nobody's"))
    return {"control": f"POST /phones/{at}/{act}", "json": body}


def inbound(draw: Draw) -> Step:
    """A phone writes, or replies to a message."""
    body: dict[str, Any] = {
        "channel": draw.pick(("sms", "richmsg", "chatapp")),
        "from": number(draw),
        "body": draw.pick(BODIES),
    }
    if draw.chance(60):
        body["to"] = draw.pick(("420900000001", CHATAPP, "Acme"))
    if draw.chance(25):
        body["message_id"] = draw.pick(("<message:-1>", "nobody's"))
    return {"control": "POST /inbound", "json": body}


def rule(draw: Draw, *, pull: bool) -> Step:
    """A rule is put in front of a list, or taken away."""
    if draw.chance(25):
        return {"control": f"DELETE /rules/{draw.pick(('<rule:-1>', '<rule:0>', 'nothing'))}"}
    name, made = draw.pick(
        (
            ("attempts", attempt_rule(draw)),
            ("attempts", attempt_rule(draw)),
            ("verify", verify_rule(draw)),
            ("api", api_rule(draw)),
            ("webhooks", webhook_rule(draw, pull=pull)),
            ("nothing", {"then": "failed"}),
        )
    )
    if name != "attempts" or draw.chance(20):
        made["in"] = name
    if draw.chance(5):
        made["whn"] = {}
    return {"control": "POST /rules", "json": made}


def change(draw: Draw, *, targets: bool) -> Step:
    """The account changes, or a message, a template, a number is moved by hand."""
    kind = draw.weighted(((4, "account"), (4, "message"), (2, "template"), (2, "number")))
    if kind == "account":
        return {"control": "PATCH /account", "json": account(draw, targets=targets, later=True)}
    if kind == "message":
        body: dict[str, Any] = {"result": draw.pick((*RESULTS, "lost"))}
        if draw.chance(40):
            body["info"] = draw.pick(("[1] Unknown", "by hand", ""))
        return {"control": f"POST /messages/{draw.pick(('<message:-1>', '<message:0>', 'none'))}/events", "json": body}
    if kind == "template":
        named = draw.pick(("otp", "order_update", "order_ready", "<template:-1>", "nothing"))
        status = draw.pick(TEMPLATE_STATUSES)
        return {"control": f"PATCH /templates/{named}", "json": {"status": status, "reason": "by hand"}}
    moved: dict[str, Any] = {}
    if draw.chance(60):
        moved["status"] = draw.pick(NUMBER_STATUSES)
    if draw.chance(60):
        moved["quality"] = draw.pick(("GREEN", "YELLOW", "RED", "BLUE"))
    return {"control": f"PATCH /numbers/{draw.pick(('<number:-1>', '420900000001', '1'))}", "json": moved}


def delivery(draw: Draw) -> list[Step]:
    """A delivery is sent once more, held or released; one that is refused at first can be."""
    which = draw.pick(("<delivery:0>", "<delivery:-1>", "<delivery:-1>", "nothing"))
    steps: list[Step] = []
    if draw.chance(60):
        down = {"in": "webhooks", "name": "down", "fault": {"answer": 503}, "times": 2}
        body = {"to": [{"phone_number": "420777000105"}], "body": "Hello"}
        steps += [
            {"control": "POST /rules", "json": down},
            {"call": "POST /v2/message", "key": "", "json": body},
            {"advance": {"by": 0}},
        ]
    steps.append({"control": "GET /deliveries"})
    for act in draw.some(("hold", "release", "replay"), 3):
        steps.append({"control": f"POST /deliveries/{which}/{act}", "json": {}})
    return steps


def by_hand(draw: Draw) -> list[Step]:
    """A message is sent, and moved by hand, the legal way or another."""
    step = draw.pick(({"sms": {}}, {"richmsg": {"sender": "Acme"}}, {"chatapp_template": _OTP}))
    body = {"to": [{"phone_number": f"{draw.pick(STEMS)}05"}], "body": "Hello", "flow": [step]}
    way = draw.pick(
        (("sending", "sent", "delivered"), ("sent", "undelivered"), ("failed",), ("sent", "seen"), ("delivered",))
    )
    steps: list[Step] = [{"name": "moved", "call": "POST /v2/message", "key": "", "json": body}]
    if draw.chance(50):
        steps.append({"advance": {"by": draw.pick((0, "1s"))}})
    for result in way:
        given = {"result": result, **draw.pick(({}, {"info": "[7] By hand"}))}
        moved = {"control": "POST /messages/<message:-1>/events", "json": given}
        steps += [moved, {"advance": {"by": 0}}] if draw.chance(50) else [moved]
    return steps


_OTP: Final = {"template_name": "otp", "language": "en", "sender": CHATAPP, "params": ["1"]}
_ORDER: Final = {"template_name": "order_update", "language": "en", "sender": CHATAPP, "params": ["A", "B"]}


def conversation(draw: Draw) -> list[Step]:
    """A phone gets a message of an app, and its owner deals with it; free text may follow."""
    at = f"{draw.pick(STEMS)}{draw.pick(('00', '01', '06', '07', '12', '02', '04', '05'))}"
    step = draw.pick(
        ({"richmsg": {"sender": "Acme", "body": "Come https://acme.example/x ?"}}, {"chatapp_template": _ORDER})
    )
    to = [{"phone_number": at}]
    steps: list[Step] = [
        {"call": "POST /v2/message", "key": "", "json": {"to": to, "flow": [step], "params": {"_url": {}}}},
        {"advance": draw.pick(({"by": "1m"}, {"by": "3s"}, {"by": 0}))},
    ]
    for act, body in draw.some(
        (
            ("seen", {}),
            ("press", {"button": 0}),
            ("press", {"button": "Change the day"}),
            ("click", {}),
            ("reply", {"body": "Yes, please"}),
            ("write", {"body": "Are you there?", "channel": "chatapp", "to": CHATAPP}),
            ("opt-out", {}),
        ),
        4,
    ):
        steps.append({"control": f"POST /phones/{at}/{act}", "json": body})
    free = {
        "to": to,
        "body": "We are",
        "flow": [{"chatapp_text": {"sender": CHATAPP}}, {"sms": {}}][: draw.between(1, 2)],
    }
    answer: Step = {"call": "POST /v2/message", "key": "", "json": free}
    return [*steps, {"advance": {"by": "1s"}}, answer, {"advance": draw.pick(({"by": "1m"}, {"until": "idle"}))}]


def links(draw: Draw) -> list[Step]:
    """A message with short links is sent; its phone follows one, or a browser does."""
    at = f"{draw.pick(STEMS)}{draw.pick(('00', '01', '06', '07', '08'))}"
    params = {
        "_url": draw.pick(({}, {"type": "all"}, {"get_enhance": "id", "get_name": "m"}, {"expires_at": 1772442000}))
    }
    text = draw.pick((BODIES[4], BODIES[5]))
    steps: list[Step] = [
        {"call": "POST /v2/message", "key": "", "json": {"to": [{"phone_number": at}], "body": text, "params": params}},
        {"advance": draw.pick(({"by": "1m"}, {"by": "1m"}, {"until": "idle"}, {"by": 0}))},
        {"control": f"GET /phones/{at}"},
    ]
    if draw.chance(50):
        steps.append({"control": f"POST /phones/{at}/click", "json": draw.pick(({}, {"message_id": "<message:-1>"}))})
    opened: Step = {
        "call": f"{draw.pick(('GET', 'GET', 'GET', 'HEAD', 'POST'))} {draw.pick(('<link:-1>', '<link:0>'))}",
        "key": None,
    }
    if draw.chance(30):
        opened["headers"] = {"user-agent": "Mozilla/5.0"}
    return [*steps, opened]


#: What is looked at, and the arguments that it is asked with.
LOOKS: Final[tuple[tuple[str, tuple[dict[str, str], ...]], ...]] = (
    ("/messages", ({"phone": "420777000101"}, {"channel": "sms"}, {"result": "delivered"}, {"tag": "promo"})),
    ("/messages", ({"last": "2"}, {"wait": "0s"}, {"result": "lost"})),
    ("/journal", ({"kind": "transition,request", "limit": "5"}, {"after": "3", "limit": "2"}, {"last": "3"})),
    ("/journal", ({"form": "canonical"}, {"kind": "what"}, {"limit": "5000"})),
    ("/requests", ({"after": "2"}, {"limit": "1"}, {"wait": "0s"})),
    ("/deliveries", ({"state": "delivered"}, {"last": "1"}, {"state": "what"})),
    ("/codes", ({"phone": "420777000101"}, {"last": "1"}, {"wait": "0s"})),
    ("/pending", ({}, {"limit": "1"})),
    ("/hook", ({}, {"wait": "0s"})),
    ("/journal/3", ({},)),
    ("/journal/99999", ({},)),
    ("/messages/<message:0>", ({},)),
    ("/messages/none", ({},)),
    ("/explain", ({"message_id": "<message:-1>"}, {"message_id": "none"}, {})),
    ("/coverage", ({"format": "text"}, {"format": "what"})),
    ("/clock", ({}, {"colour": "red"})),
    ("/advice", ({},)),
    ("/digest", ({},)),
    ("/verdict", ({},)),
    ("/assumptions", ({},)),
    ("/account", ({},)),
    ("/partner", ({},)),
    ("/phones", ({},)),
    ("/phones/x", ({},)),
    ("/nothing", ({},)),
    ("/export", ({"as": "what"},)),
)


def look(draw: Draw) -> Step:
    """Something is looked at in the middle of it, with the arguments that lists know."""
    path, queries = draw.pick(LOOKS)
    return {"control": f"GET {path}", "query": draw.pick(queries)}


def whole(draw: Draw) -> list[Step]:
    """Something that is done to the whole world: checkpoints, a reset, another scenario, its clock, its receiver."""
    kind = draw.weighted(((3, "take"), (3, "restore"), (2, "reset"), (3, "scenario"), (2, "clock"), (2, "hook")))
    name = draw.pick(("before", "after"))
    if kind == "take":
        return [{"control": f"PUT /checkpoints/{name}"}]
    if kind == "restore":
        return [
            {"control": f"PUT /checkpoints/{name}"},
            advance(draw),
            {"control": f"POST /checkpoints/{draw.pick((name, name, 'no'))}"},
        ]
    if kind == "reset":
        return [{"control": "POST /reset"}]
    if kind == "clock":
        given = draw.pick(({"mode": "manual"}, {"rate": 2}, {"mode": "fast"}, {"rate": 0}, {}))
        return [{"control": "PATCH /clock", "json": given}]
    if kind == "hook":
        return [{"control": "POST /hook", "json": draw.pick(([{"type": "outgoing"}], {"a": 1}, [], "text"))}]
    query = {"reset": "true"} if draw.chance(50) else {}
    if draw.chance(30):
        return [
            {
                "control": "PUT /scenario",
                "query": query,
                "text": "sendbox: 1\nextends: default\nattempts:\n  - then: failed\n",
            }
        ]
    if draw.chance(15):
        return [
            {
                "control": "PUT /scenario",
                "query": query,
                "text": draw.pick(("sendbox: 2", "nam: x", "[", "sendbox: 1\nextends: none")),
            }
        ]
    named = draw.pick(("default", "otp-fallback", "lossy-campaign", "credit-runs-dry", "duplicate-storm", "nothing"))
    return [{"control": "PUT /scenario", "query": {"name": named, **query}}]
