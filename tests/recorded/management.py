"""Calls of the management and Verify interfaces as data: lists, rows, credit, keys, devices, codes and proofs."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded.draw import Draw
from tests.recorded.messages import CALLBACKS, SENDERS, WRONG, Step, number

DAYS = ("2026-03-01", "2026-03-01", "2026-03-02", "2026-13-01", "yesterday")


def spoilt(draw: Draw, body: dict[str, Any], percent: int = 8) -> Any:
    """The body, or in some cases one with a wrong, a missing or an unknown field, or none at all."""
    if not draw.chance(percent):
        return body
    how = draw.below(4)
    if how == 0 and body:
        body[draw.pick(sorted(body))] = draw.pick(WRONG)
    elif how == 1 and body:
        del body[draw.pick(sorted(body))]
    elif how == 2:
        body["colour"] = "red"
    else:
        return draw.pick(([], "text", None))
    return body


def lists(draw: Draw, key: str) -> Step:
    """Numbers for the blacklist or the opt-out list."""
    path = draw.pick(("/v1/blacklist", "/v1/optout"))
    numbers = draw.pick(("\n", "\r\n", ",")).join(number(draw) for _ in range(draw.between(1, 3)))
    body: dict[str, Any] = {"to": numbers}
    if draw.chance(20):
        body["subid"] = draw.pick(("default", "shop", "nobody"))
    return {"call": f"POST {path}", "key": key, "json": spoilt(draw, body)}


def rows(draw: Draw, key: str) -> Step:
    """The rows of a day, or the status of one message."""
    if draw.chance(45):
        query = {"id": draw.pick(("<message:0>", "<message:-1>", "<message:3>", "nobody's"))}
        return {"call": "GET /v1/message", "key": key, "query": {} if draw.chance(8) else query}
    query = {"date": draw.pick(DAYS)}
    for name, values in (
        ("tag", ("promo", "promotional", "a,b")),
        ("phone_number", ("420777000101", "+420777000100", "x")),
        ("subid", ("default", "shop")),
        ("cursor", ("<cursor:-1>", "nowhere")),
    ):
        if draw.chance(15):
            query[name] = draw.pick(values)
    if draw.chance(5):
        del query["date"]
    return {"call": "GET /v1/messages", "key": key, "query": query}


def credit(draw: Draw, key: str) -> Step:
    """The catalog, or an order from it."""
    if draw.chance(20):
        return {"call": "GET /v1/credit/services", "key": key}
    service = draw.pick(
        ("sms_420_alnum", "sms_420_number", "sms_420_simhost", "richmsg_420_text", "sms_421_number", "sms_420_other")
    )
    body: dict[str, Any] = {"service_id": f"sender_{service}", "period": draw.pick(("month", "quarter", "year", "day"))}
    if service == "sms_420_simhost" and draw.chance(70):
        body |= {"period": "year", "subject": "420900000009"}
    if draw.chance(60):
        body["subject"] = draw.pick((*SENDERS, "420900000007"))
    if draw.chance(35):
        body["dryrun"] = draw.chance(80)
    if draw.chance(15):
        body["payload"] = {"note": "x"}
    return {"call": "POST /v1/credit/order", "key": key, "json": spoilt(draw, body)}


def device(draw: Draw, key: str) -> Step:
    """A push device; another key may have registered it before."""
    body = {"id": f"device-{draw.below(3)}", "token": f"token-{draw.below(3)}"}
    return {"call": "POST /v1/push/device", "key": key, "json": spoilt(draw, body, 15)}


def keys(draw: Draw, key: str, *, targets: bool) -> Step:
    """Settings of keys, and sub-keys."""
    kind = draw.weighted(((2, "update"), (3, "add"), (2, "list"), (3, "change"), (2, "me")))
    if kind in ("list", "me"):
        return {"call": f"GET /v1/apikey/{kind}", "key": key}
    body: dict[str, Any] = {}
    urls = ("", "client.example", *(CALLBACKS if targets else ()))
    if kind == "update":
        fields: tuple[tuple[str, tuple[Any, ...]], ...] = (
            ("note", ("main", "")),
            ("default_callback_secret", ("s3cret", "")),
            ("default_sender", SENDERS),
            ("default_callback_url", urls),
        )
    elif kind == "add":
        body |= {name: value for name, value in OWN.items() if name != "currency"}
        fields = (
            ("note", ("shop", "Desk")),
            ("shared", (True, False)),
            ("currency", ("EUR", "czk", "EUR", "USD")),
            ("scope", ("full", "rest-api", "api", "none")),
            ("default_callback_url", urls),
        )
    else:
        body["apikey"] = draw.pick(("<key:-1>", "<key:0>", "<world>~shop", "<world>", "nobody"))
        fields = (("disable", (0, 1, 1, 2)), ("scope", ("full", "rest-api", "api")))
    for name, values in fields:
        if draw.chance(55):
            body[name] = draw.pick(values)
    return {"call": f"POST /v1/apikey/{kind}", "key": key, "json": spoilt(draw, body)}


#: What a sub-key with a balance of its own needs (A32).
OWN: Final = {"billing_name": "Acme", "billing_email": "bills@acme.example", "currency": "EUR"}


def subkey(draw: Draw) -> list[Step]:
    """A sub-key is made, changed, and used."""
    made = {"shared": draw.chance(70), **OWN, "note": draw.pick(("shop", "Desk"))}
    changes: tuple[dict[str, Any], ...] = ({"disable": 1}, {"scope": "api"}, {"disable": 0, "scope": "full"})
    change = draw.pick(changes)
    body = {"to": [{"phone_number": "420777000101"}], "body": "By a sub-key"}
    return [
        {"name": "added", "call": "POST /v1/apikey/add", "key": "", "json": made},
        {"call": "POST /v1/apikey/change", "key": "", "json": {"apikey": "<key:-1>", **change}},
        {"call": "POST /v2/message", "key": "$added.apikey", "json": body},
        {"call": "GET /v1/apikey/me", "key": "$added.apikey"},
    ]


def verify(draw: Draw, key: str) -> list[Step]:
    """A session of the Verify interface: it begins, a code is entered once or more often, a proof is checked."""
    body: dict[str, Any] = {"phoneNumber": number(draw)}
    if draw.chance(25):
        body["payload"] = {"user": "jana"}
    begun: Step = {"call": "POST /v1/validations", "key": key, "json": spoilt(draw, body)}
    steps = [begun] * draw.pick((1, 1, 1, 2, 6))
    if draw.chance(60):
        steps.append({"advance": draw.pick(({"by": "1m"}, {"by": "3s"}, {"by": "11m"}, {"by": 0}))})
    if draw.chance(85):
        steps.append({"control": "GET /codes"})
    count = draw.pick((0, 1, 1, 2, 7))
    for _ in range(count):
        given = {"code": "000000" if count == 7 else draw.pick(("<code:0>", "<code:0>", "000000", "123456", "12345"))}
        token = draw.pick(("<token:-1>", "<token:-1>", "<token:-1>", "<token:0>", "f" * 64, "nobodys"))
        token = "<token:-1>" if count == 7 else token
        steps.append({"call": f"POST /v1/validations/{token}/verify", "key": key, "json": spoilt(draw, given)})
    if draw.chance(40):
        proof = {"proof": draw.pick(("<proof:-1>", "<proof:-1>", "0" * 64))}
        steps.append({"call": "PATCH /v1/validations/<token:-1>", "key": key, "json": spoilt(draw, proof)})
    if draw.chance(40):
        offline = {
            "phoneNumber": body.get("phoneNumber", "420777000101"),
            "token": "<token:-1>",
            "code": "<code:0>",
            "timestamp": "<timestamp:-1>",
            "proof": "<proof:-1>",
        }
        steps.append({"call": "POST /v1/verify-proof", "key": draw.pick((None, key)), "json": spoilt(draw, offline)})
    return steps


def lost(draw: Draw) -> Step:
    """A call that no interface has, or that has no right key."""
    return draw.pick(
        (
            {"call": "GET /v2/nothing", "key": ""},
            {"call": "DELETE /v2/message", "key": ""},
            {"call": "POST /v1/nothing", "key": "", "json": {}},
            {"call": "OPTIONS /v2/message", "key": ""},
            {"call": "HEAD /v1/apikey/me", "key": ""},
            {"call": "GET /v1/validations", "key": ""},
            {"call": "PUT /Send", "key": None},
            {"call": "GET /s/0000000000000000", "key": None},
            {"call": "PUT /upload/0000000000000000", "key": None, "text": "{}"},
            {"call": "GET /signup/0000000000000000", "key": None},
            {
                "call": "POST /v2/message",
                "key": "~nobody",
                "json": {"body": "x", "to": [{"phone_number": "420777000101"}]},
            },
            {"call": "GET /v1/apikey/me", "key": "~nobody"},
            {"call": "GET /", "key": None},
            {"call": "GET /nowhere", "key": None},
        )
    )
