"""Random worlds as data: a scenario without draws, and what is done to it. Each is drawn from its number alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from tests.recorded.draw import Draw

Json = dict[str, Any]

#: When a world begins, and the zone of most of its windows: an ordinary Sunday, the ends of days and months, and the
#: nights in which clocks are changed.
STARTS: Final = (
    ("2026-03-01T09:00:00Z", "UTC"), ("2026-03-02T06:59:30Z", "Asia/Kolkata"), ("2026-02-28T23:50:00Z", "UTC"),
    ("2026-03-28T23:40:00Z", "Europe/Prague"), ("2026-03-29T00:30:00Z", "Europe/Prague"),
    ("2026-10-25T00:10:00Z", "Europe/Prague"), ("2026-11-01T05:00:00Z", "America/New_York"),
    ("2026-04-04T14:30:00Z", "Australia/Lord_Howe"),
)  # fmt: skip
VALID: Final = (
    "420777000101", "420777000102", "420777000103", "420777000104", "420777000105", "420777000106", "420777000107",
    "421905123456", "4915112345678", "447700900123", "14155550123", "48501234567",
)  # fmt: skip
ODD: Final = (
    "+420 777 000 101",
    "+687 123 456",
    "00687123456",
    "00420777000102",
    "777000103",
    "420 (777) 000-106",
    "0777000107",
    "603000104",
)
INVALID: Final = ("420777", "abc", "", "999123456789", "4207770001011234")
CHATAPP: Final = "109876543210987"
AFTERS: Final = (
    0,
    0,
    500,
    500,
    1_000,
    1_000,
    2_000,
    2_000,
    28_000,
    29_000,
    30_000,
    30_500,
    58_000,
    60_000,
    90_000,
    600_000,
)
#: Texts around the ends of segments in both alphabets; a character of two places stands at the seam of some.
TEXTS: Final = (
    *("x" * size for size in (160, 161, 306, 307, 1001)),
    *("x" * size + "€" for size in (158, 159)),
    "x" * 152 + "€" + "x" * 152,
    *("ž" * size for size in (70, 71, 134, 135)),
    *("ž" * size + "😀" for size in (68, 69)),
    "ž" * 66 + "😀" + "ž" * 66,
)
PLAIN: Final = ("Hello", "Příliš žluťoučký kůň", "[a] ~ b^c", "Are you coming?")
ANSWERS: Final = (
    "200", "200", "204", "500-200", "404-503-302-201", "500", "302-410-200", "503-503-503-503-200",
    "closed-200", "timeout-200", "200-timeout",
)  # fmt: skip
PRICES: Final = {
    "sms": {"420": {"eur": 0.04, "czk": 1}, "42": {"eur": 9, "czk": 9}, "default": {"eur": 0.085, "czk": 2.1}},
    "richmsg": {"420": {"eur": 0.05, "czk": 1.25}, "default": {"eur": 0.07, "czk": 1.75}},
    "chatapp": {"default": {"eur": 0.06, "czk": 1.5}},
}
TEMPLATES: Final = [
    {"name": name, "language": "en", "status": status, "components": [{"type": "BODY", "text": text}]}
    for name, status, text in (
        ("otp", "APPROVED", "{{1}} is your code."),
        ("order", "APPROVED", "Order {{1}} comes on {{2}}."),
        ("named", "APPROVED", "Dear {{name}}, {{shop}} says hello."),
        ("bare", "APPROVED", "Hello"),
        ("paused", "PAUSED", "{{1}}"),
    )
]
FILLED: Final[tuple[tuple[str, list[Any]], ...]] = (
    ("otp", ["1234"]), ("order", ["A-17", "Friday"]), ("named", [{"name": "Jana"}, {"shop": "Acme"}]), ("bare", []),
    ("paused", ["x"]), ("unknown", ["x"]),
)  # fmt: skip
UNFIT: Final[tuple[tuple[str, list[Any]], ...]] = (
    ("otp", []), ("order", ["A", "B", "C"]), ("named", [{"shop": "Acme"}, {"name": "Jana"}]), ("bare", ["x"]),
    ("named", ["Jana", "Acme"]),
)  # fmt: skip
#: Each makes a legal message illegal; the second value is put at the first, in the message or in its first step.
SPOILT: Final[tuple[tuple[str, str, Any], ...]] = (
    ("message", "to", []), ("message", "to", [{"phone_number": "420777000101"}] * 11), ("message", "to", [{}]),
    ("message", "flow", []), ("message", "flow", [{"pigeon": {}}]), ("message", "flow", [{"sms": {}, "richmsg": {}}]),
    ("message", "datetime", "tomorrow"), ("message", "sender", "Twelve chars"), ("message", "payload", None),
    ("step", "ttl", 0.49), ("step", "ttl", "1"), ("step", "ttl_condition", "read"), ("step", "sender", None),
    ("step", "sender", "Not registered and too long"),
)  # fmt: skip
ASSUMED: Final[tuple[Json, ...]] = (
    {"fallback_on_failure": "ttl"},
    {"fallback_on_failure": "ttl"},
    {"invalid_number": "response"},
    {"messages_accepted": "recipient"},
    {"timing": {"sending": "1000ms", "sent": "500ms", "delivered": "4000ms"}},
    {"promotional_window": "10:00-20:00"},
    {"promotional_window": "22:00-06:30"},
    {
        "promotional_window": {
            "hours": "08:00-22:30",
            "tz": "Europe/Prague",
            "countries": [230, 231],
            "channels": ["sms"],
        }
    },
    {"webhook_retry": ["5000ms", "10000ms"]},
    {"webhook_retry": []},
    {"bundle": False},
    {"allowed": ["42*", "1*"]},
    {"list_delay": "0ms"},
    {"sms_sender": "strict"},
)


def _callback(draw: Draw) -> Any:
    url = f"http://127.0.0.1:900{draw.below(2)}/{draw.pick(ANSWERS)}"
    return {"url": url, "batch_size": draw.between(1, 3)} if draw.chance(30) else draw.pick((url, url, ""))


def _way(draw: Draw, channel: str | None) -> Any:
    last = ("delivered",) if channel in (None, "sms") else ("delivered", "seen")
    if draw.chance(20):  # its last receipt comes half a minute after `sending`, or a minute, to the millisecond
        return ["sending", {"sent": {"after": "1000ms"}}, {last[-1]: {"after": draw.pick(("29000ms", "59000ms"))}}]
    if draw.chance(50):
        return draw.pick(
            ("sending", "sending", "sent", *last, last[-1], "undelivered", "undelivered", "rejected", "failed")
        )
    states = draw.pick(
        (
            ["sending", "sent", *last], ["sending", "sent", last[-1]], ["sending", "sent", "undelivered"],
            ["sending", "sent", "failed"], ["sending", "failed"], ["sent", "delivered"], ["sending", "sent"],
            ["rejected"],
        )
    )  # fmt: skip
    return [
        {state: {"after": f"{draw.pick(AFTERS)}ms", **({"info": "[9] Odd"} if draw.chance(5) else {})}}
        if draw.chance(75)
        else state
        for state in states
    ]


def _rule(draw: Draw) -> Json:
    channel = draw.pick((None, "sms", "richmsg", "richmsg", "chatapp", "chatapp"))
    when: Json = {} if channel is None else {"channel": channel}
    if draw.chance(75):
        when["phone"] = draw.pick(("*1", "*2", "*3", "42077700010?", "42*", "*5*", "4207770001*"))
    if draw.chance(15):
        when["attempt"] = draw.between(1, 3)
    if draw.chance(10):
        when["tag"] = "otp"
    return {"when": when, "then": _way(draw, channel)} if when else {"then": _way(draw, channel)}


def _scenario(draw: Draw) -> Json:
    assume: Json = {"prices": PRICES}
    for setting in draw.some(ASSUMED, 4) if draw.chance(75) else []:
        assume |= setting
    currency = draw.pick(("EUR", "EUR", "CZK"))
    credit = draw.pick((0.2, 0.7, 3, 1000, 1000, 1000, 1000))
    return {
        "sendbox": 1,
        "account": {
            "credit": {"eur": credit, "czk": credit * 25},
            "currency": currency,
            "senders": {"sms": ["Acme"], "richmsg": ["Acme"], "chatapp": [CHATAPP]},
            "templates": TEMPLATES,
            "blacklist": ["420777000105"],
            "optout": ["421905123456"],
            "default_callback_url": f"http://127.0.0.1:9009/{draw.pick(ANSWERS)}",
        },
        "phones": [
            {"number": "42077700010?" if draw.chance(15) else "420777000104", "conversation": "closed"},
            {"number": "420777*", "conversation": "open"},
            {
                "number": draw.pick(("44*", "4*")),
                "channels": draw.pick((["sms"], ["sms", "chatapp"], ["sms", "richmsg"])),
            },
        ],
        "attempts": [_rule(draw) for _ in range(draw.between(2, 7))],
        "assume": assume,
    }


def _step(draw: Draw) -> Json:
    gateway = draw.weighted(((5, "sms"), (5, "richmsg"), (4, "chatapp_text"), (3, "chatapp_template")))
    step: Json = {}
    if gateway == "sms":
        step |= {"sender": "Bakery"} if draw.chance(30) else {}
        step |= {"type": draw.pick(("sms", "utf"))} if draw.chance(40) else {}
        step |= {"gateway": draw.pick(("high", "lowcost"))} if draw.chance(20) else {}
    elif gateway == "richmsg":
        step["sender"] = draw.pick(("Acme",) * 7 + ("Unknown",))
    else:
        step["sender"] = draw.pick((CHATAPP,) * 12 + ("1",))
    if gateway == "chatapp_template":
        name, params = draw.pick(UNFIT) if draw.chance(8) else draw.pick(FILLED)
        step |= {"template_name": name, "language": "en", draw.pick(("params", "params", "parameters_body")): params}
    elif draw.chance(30):
        step["body"] = draw.pick(TEXTS)
    if draw.chance(75):
        step["ttl"] = draw.pick((0.5, 0.5, 0.5, 1, 1, 1.5, 10))
    if draw.chance(50):
        step["ttl_condition"] = draw.pick(("sent", "delivered", "seen", "seen"))
    return {gateway: step}


def _window(draw: Draw, now: int, zone: str) -> Json:
    if draw.chance(25):  # it ends in this minute
        return {"end": datetime.fromtimestamp(now / 1000, UTC).strftime("%H:%M"), "tz": "UTC"}
    window: Json = {"tz": zone} if draw.chance(85) else {}
    if draw.chance(80):
        window["start"] = draw.pick(("00:00", "01:30", "02:15", "02:30", "02:30", "09:00", "22:00"))
    if draw.chance(80):
        window["end"] = draw.pick(("00:00", "02:20", "02:45", "09:00", "09:01", "10:00", "18:30", "22:00"))
    if draw.chance(40):
        window["days"] = draw.some(("monday", "wednesday", "friday", "saturday", "sunday"), 4)
    return window


def _datetime(draw: Draw, now: int) -> str:
    ahead = draw.pick((-60_000, 0, 30_000, 59_999, 60_000, 60_001, 60_500, 120_000, 3_600_000, 86_400_000))
    text = datetime.fromtimestamp((now + ahead) / 1000, UTC).isoformat(timespec="milliseconds")
    return draw.pick((text, text, text.replace("+00:00", "Z"), text.replace("+00:00", "")))


def _message(draw: Draw, now: int, zone: str) -> Json:
    numbers = [draw.pick(VALID * 8 + ODD + INVALID) for _ in range(draw.weighted(((5, 1), (5, 4), (1, 10))))]
    message: Json = {
        "to": [{"phone_number": number} for number in numbers],
        "sender": draw.pick(("Acme", "Elevenchars")),
    }
    message["body"] = draw.pick(TEXTS if draw.chance(60) else PLAIN)
    if draw.chance(70):
        message["flow"] = [_step(draw) for _ in range(draw.between(1, 3))]
    if draw.chance(40):
        message["tag"] = draw.pick(("otp", "OTP, transactional", "promotional,otp", ",,", "promo", "priority", "Žluť!"))
    if draw.chance(60):
        message["callback"] = _callback(draw)
    if draw.chance(30):
        message["payload"] = {"order": draw.below(100)}
    if draw.chance(18):
        message["datetime"] = _datetime(draw, now)
    if draw.chance(25):
        message["delivery_time"] = _window(draw, now, zone)
    if draw.chance(4):
        where, name, value = draw.pick(SPOILT)
        step = next(iter(message["flow"][0].values())) if "flow" in message else {}
        (message if where == "message" else step)[name] = value
    return message


def script(number: int) -> Json:
    """A world: its scenario, its start, and the steps that are done to it."""
    draw = Draw(11_000_840 + number)
    scenario = _scenario(draw)
    begins, zone = draw.pick(STARTS)
    start = now = round(datetime.fromisoformat(begins).timestamp() * 1000)
    steps: list[Json] = []
    for _ in range(draw.between(4, 9)):
        several = draw.chance(35)
        bodies = [_message(draw, now, zone) for _ in range(draw.between(1, 4) if several else 1)]
        path = "/v2/messages" if several else draw.pick(("/v2/message", "/v2/message", "/v2/message/priority"))
        steps.append({"send": path, "body": bodies if several else bodies[0]})
        if draw.chance(10):
            listed = "\n".join(draw.some(VALID[7:] + ODD[-2:] + INVALID[:2], 3))
            steps.append({"list": draw.pick(("blacklist", "optout")), "to": f"{listed}\n447700900123"})
        if draw.chance(10):
            credit = draw.pick((0, 0.5, 100))
            steps.append({"credit": {"eur": credit, "czk": credit * 20}})
        if draw.chance(75):
            by = draw.pick((0, 500, 1_000, 2_000, 30_000, 60_000, 61_500, 3_600_000, 40_000_000))
            now += by
            steps.append({"advance": by})
    return {"number": number, "scenario": scenario, "start": start, "steps": [*steps, {"advance": None}]}
