"""Calls of the sending and legacy interfaces as data, with legal, odd and illegal bodies, and files of messages."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.recorded.draw import Draw

Step = dict[str, Any]

#: Digits before the two digits of fate.
STEMS: Final = ("4207770001", "4207770002", "4207771234")
ODD_NUMBERS: Final = (
    "+420 777 000 101",
    "00420777000102",
    "777000103",
    "421905123456",
    "14155550123",
    "4915112345678",
    "447700900123",
    "420777",
    "abc",
    "",
    "999999999999999999",
    "420 (777) 000-106",
    "48501234567",
)
BODIES: Final = (
    "Hello",
    "Your code is 123456",
    "Are you coming?",
    "Příliš žluťoučký kůň",
    "Sale at https://acme.example/sale?x=1 and acme.example/more",
    "Look https://acme.example/a https://acme.example/b, now",
    "x" * 160,
    "ž" * 71,
    "Long " * 80,
    "y" * 1001,
    "€uro [brackets] ^caret~ 😀",
    "",
    "Dear {{name}}",
    "line\nbreak\ttab",
)
TAGS: Final = (
    "promo",
    "transactional",
    "priority",
    "offer",
    "survey",
    "support",
    "A b,C",
    "otp",
    "",
    ",,",
    "x.y_z-1",
    "Žluť",
)
SENDERS: Final = ("Acme", "InfoSMS", "420900000001", "Elevenchars", "Twelve chars", "+420900000001", "Bakery", "")
RESULTS: Final = ("sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")
CHATAPP: Final = "109876543210987"
#: Addresses that the receiver of a world answers; nothing listens there.
CALLBACKS: Final = (
    "http://127.0.0.1:9000/hooks",
    "http://127.0.0.1:9000/other?shop=1",
    "http://127.0.0.1:9001/second",
    "http://user:word@127.0.0.1:9000/private",
)
#: Values that stand where another type, or another word, is asked for.
WRONG: Final[tuple[Any, ...]] = (None, 5, True, [], {}, "no", -1, 1.5, [None], "2026-02-30T25:00:00Z")


def number(draw: Draw) -> str:
    """A recipient: nearly always a magic number."""
    if draw.chance(8):
        return draw.pick(ODD_NUMBERS)
    return f"{draw.pick(STEMS)}{draw.below(16):02}"


def recipients(draw: Draw, most: int = 3) -> list[Any]:
    """One to `most` recipients."""
    return [{"phone_number": number(draw)} for _ in range(draw.between(1, most))]


_PLACE: Final = {"latitude": "50", "longitude": "14", "name": "A", "address": "B"}
#: Templates with what they need; the first five are those of the default scenario, filled in as they should be.
_FILLED: Final[tuple[tuple[str, list[Any], dict[str, Any]], ...]] = (
    ("otp", ["1234"], {}),
    ("order_update", ["A-17", "Friday"], {"params_buttons": [{"payload": "later"}]}),
    ("order_update", ["A-17", "Friday"], {}),
    (
        "welcome",
        [{"first_name": "Jana"}, {"shop": "Acme"}],
        {"params_header": ["https://acme.example/hello.png"], "params_buttons": ["jana-17"]},
    ),
    (
        "welcome",
        [{"first_name": "Jana"}, {"shop": "Acme"}],
        {"params_header": [{"image": {"link": "https://acme.example/a.jpg"}}], "params_buttons": [{"url": "j"}]},
    ),
    ("rec_offer", [{"name": "Jana"}], {"params_header": [{"text": {"number": "7"}}], "params_buttons": [None, "x"]}),
    ("rec_limited", [], {"params_lto": [1772359200000]}),
    ("rec_carousel", [], {"params_carousel": [{"product": {"product_retailer_id": "p1", "catalog_id": "c1"}}] * 2}),
    ("rec_place", ["x"], {"params_header": [{"location": _PLACE}]}),
    ("otp", [], {}),
    ("order_update", ["A-17"], {}),
    ("welcome", [{"first_name": "Jana"}, {"shop": "Acme"}], {"params_header": [{"text": {"a": "b"}}]}),
    ("nobody_knows", ["x"], {}),
    ("x" * 101, [], {}),
)  # fmt: skip


def _times(draw: Draw, step: dict[str, Any], *, odd: bool) -> dict[str, Any]:
    if draw.chance(45):
        step["ttl"] = draw.pick((0.5, 1, 2, 5, 10, 60, 1.25, *((0.2,) if odd else ())))
    if draw.chance(25):
        step["ttl_condition"] = draw.pick(("sent", "delivered", "seen", "delivered", *(("read",) if odd else ())))
    return step


def _template(draw: Draw, *, odd: bool) -> dict[str, Any]:
    name, params, more = draw.pick(_FILLED if odd else _FILLED[:5])
    language = draw.pick(("en", "cs")) if odd else "en"
    step: dict[str, Any] = {"template_name": name, "language": language, "sender": CHATAPP}
    aliases = draw.chance(12)
    if params or draw.chance(50):
        step["parameters_body" if aliases else "params"] = params
    for key, value in more.items():
        step[key.replace("params_", "parameters_") if aliases and key != "params_lto" else key] = value
    if odd and draw.chance(10):
        step["sender"] = "Acme"
    return step


def flow_step(draw: Draw, *, odd: bool) -> dict[str, Any]:
    """One step of a flow; an `odd` one may be illegal."""
    channel = draw.weighted(((4, "sms"), (4, "richmsg"), (2, "chatapp_text"), (3, "chatapp_template"), (1, "rcs")))
    if channel == "rcs" and not odd:
        channel = "sms"
    step: dict[str, Any] = {}
    if channel == "sms":
        for key, values in (
            ("body", BODIES),
            ("sender", SENDERS if odd else SENDERS[:4]),
            ("gateway", ("high", "lowcost", "direct", "custom", "simhost", "gsm", *(("fast",) if odd else ()))),
            ("type", ("sms", "utf")),
        ):
            if draw.chance(30):
                step[key] = draw.pick(values)
    elif channel in ("richmsg", "rcs"):
        step["sender"] = draw.pick(("Acme", "Acme", "Bakery"))
        if draw.chance(40):
            step["body"] = draw.pick(BODIES)
        if draw.chance(25):
            step["buttons"] = [{"title": "Open", "url": "https://acme.example/open"}] * (
                2 if odd and draw.chance(20) else 1
            )
    elif channel == "chatapp_text":
        step["sender"] = draw.pick((CHATAPP, "420900000001", "Acme")) if odd else CHATAPP
        if draw.chance(40):
            step["body"] = draw.pick(BODIES)
    else:
        step = _template(draw, odd=odd)
    return {channel: _times(draw, step, odd=odd)}


def message(draw: Draw, *, targets: bool, most: int = 3) -> Any:
    """The body of a message. `targets`: whether it may name a callback, which the world's receiver answers."""
    odd = draw.chance(30)
    body: dict[str, Any] = {"to": recipients(draw, most)}
    if not odd or draw.chance(92):
        body["body"] = draw.pick(BODIES)
    if draw.chance(50):
        body["flow"] = [flow_step(draw, odd=odd) for _ in range(draw.between(1, 3))]
    if draw.chance(35):
        body["tag"] = ",".join(draw.some(TAGS, 3))
    if draw.chance(30):
        body["sender"] = draw.pick(SENDERS if odd else SENDERS[:4])
    if draw.chance(30):
        order: dict[str, Any] = {"id": draw.below(100), "country": draw.pick(("CZ", "SK"))}
        body["payload"] = {"order": order, "trace_id": str(draw.below(10_000)), "items": [{"name": "a"}]}
    if draw.chance(30):
        url: dict[str, Any] = {}
        for key, values in (
            ("type", ("full", "all", "some") if odd else ("full", "all")),
            ("domain", ("go.acme.example", "other.example") if odd else ("go.acme.example",)),
            ("get_enhance", ("id", "name") if odd else ("id",)),
            ("get_name", ("m", "")),
            ("expires_at", (1772442000, 1772355601, 1000)),
            ("expires", (1772442000,)),
        ):
            if draw.chance(20):
                url[key] = draw.pick(values)
        body["params"] = {"_url": url}
    if draw.chance(12):
        body["datetime"] = draw.pick(
            ("2026-03-01T09:00:30Z", "2026-03-01T10:30:00Z", "2026-02-01T00:00:00Z", "2026-03-03T09:00:00+02:00")
        )
    if draw.chance(10):
        body["delivery_time"] = draw.pick(
            (
                {"start": "10:00", "end": "12:00"},
                {"start": "22:00", "end": "06:00", "tz": "Europe/Prague"},
                {"days": ["monday", "friday"], "start": "08:00"},
                {"days": ["sunday"]},
                *(({"tz": "Nowhere/Land"}, {"start": "24:00"}) if odd else ()),
            )
        )
    if targets and draw.chance(20):
        url_form = {"url": draw.pick(CALLBACKS), "method": draw.pick(("POST", "PUT", "PATCH", "GET"))}
        body["callback"] = draw.pick((draw.pick(CALLBACKS), url_form))
    strange = (("messageTag", "old"), ("colour", "red"), ("callback", "client.example"), ("datetime", "soon"))
    body.update({key: value for key, value in strange if odd and draw.chance(10)})
    if odd and draw.chance(20):
        body[draw.pick(sorted(body))] = draw.pick(WRONG)
    if odd and draw.chance(8):
        del body["to"]
    return body


def _fields(draw: Draw, address: str, text: str) -> dict[str, str]:
    fields = {address: number(draw), text: draw.pick(BODIES)}
    if draw.chance(30):
        fields["sender"] = draw.pick(SENDERS)
    if draw.chance(8):
        del fields[draw.pick(sorted(fields))]
    return fields


def simple(draw: Draw, key: str) -> Step:
    """A call of the simple interface, by query or form."""
    fields = _fields(draw, draw.pick(("phone_number", "number")), draw.pick(("message", "body")))
    for name, values in (
        ("gateway", ("lowcost", "none")),
        ("datetime", ("2026-03-01T10:00:00Z", "now")),
        ("customID", ("a-1",)),
        ("extra", ("1",)),
    ):
        if draw.chance(12):
            fields[name] = draw.pick(values)
    if draw.chance(50):
        if draw.chance(50):
            return {"call": "GET /v2/simple/message", "key": None, "query": {"apikey": f"<world>{key}", **fields}}
        return {"call": "GET /v2/simple/message", "key": key, "query": fields}
    if draw.chance(10):
        return {"call": "POST /v2/simple/message", "key": key, "json": fields}
    return {"call": "POST /v2/simple/message", "key": key, "form": fields}


def legacy(draw: Draw, key: str) -> Step:
    """A call of the legacy interface."""
    path, address = draw.pick((("/Send", "number"), ("/api-send.php", "to")))
    fields = _fields(draw, address, "message")
    if draw.chance(95):
        fields["apikey"] = draw.pick((f"<world>{key}", f"<world>{key}", f"<world>{key}", "<world>~nobody"))
    if draw.chance(10) and address in fields:
        fields[address] += f",{number(draw)}"
    return draw.pick(
        ({"call": f"GET {path}", "key": None, "query": fields}, {"call": f"POST {path}", "key": None, "form": fields})
    )


def send(draw: Draw, *, key: str, targets: bool) -> Step:
    """A call that sends."""
    kind = draw.weighted(((10, "message"), (3, "priority"), (4, "messages"), (2, "simple"), (2, "legacy"), (1, "raw")))
    if kind == "simple":
        return simple(draw, key)
    if kind == "legacy":
        return legacy(draw, key)
    if kind == "messages":
        bodies: Any = [message(draw, targets=targets, most=2) for _ in range(draw.between(1, 3))]
        if draw.chance(3):
            ten = [{"phone_number": f"42077755{index:02}00"} for index in range(10)]
            bodies = [{"to": ten, "body": f"Campaign {index}"} for index in range(10)]
        if draw.chance(5):
            bodies = draw.pick(({}, [], bodies * 6, bodies[0]))
        return {"call": "POST /v2/messages", "key": key, "json": bodies}
    path = "/v2/message/priority" if kind == "priority" else "/v2/message"
    if kind == "raw":
        text = draw.pick(
            (
                "{",
                "",
                "[]",
                '{"to": 1, "to": 2}',
                "null",
                '"text"',
                '{"body": "x", "to": [{"phone_number": "420777000101"}]} x',
            )
        )
        headers = draw.pick(({}, {"content-type": "text/plain"}, {"content-type": "application/json; charset=utf-8"}))
        return {"call": f"POST {path}", "key": key, "text": text, "headers": headers}
    return {"call": f"POST {path}", "key": key, "json": message(draw, targets=targets)}


def bulk(draw: Draw) -> list[Step]:
    """An address is asked for, and a file is put there, usually in time."""
    filetype = draw.pick(("jsonl", "jsonl", "gz", "zip"))
    asked = {"bulk_id": f"bulk-{draw.below(10)}", "filetype": filetype}
    lines = [json.dumps(message(draw, targets=False, most=1)) for _ in range(draw.between(1, 4))]
    if draw.chance(30):
        lines.insert(draw.below(len(lines)), draw.pick(("", "{", "5", '{"body": "x"}')))
    kind = "application/gzip" if filetype == "gz" else "application/jsonl"
    put: Step = {
        "call": "PUT <upload:-1>",
        "key": None,
        "text": "\n".join(lines),
        "gzip": filetype == "gz",
        "headers": {"content-type": draw.pick((kind, kind, kind, kind, "text/plain"))},
    }
    steps: list[Step] = [{"call": "POST /v1/messaging/url", "key": "", "json": asked}]
    if draw.chance(12):
        steps.append({"advance": {"by": draw.pick(("59s", "61s"))}})
    steps.append(put)
    if draw.chance(15):
        steps.append(put)
    return steps
