"""Calls of partner management as data: signups, the hosted page, numbers, templates, statistics."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded.draw import Draw
from tests.recorded.management import spoilt
from tests.recorded.messages import CHATAPP, Step, number

HOOKS: Final = "http://127.0.0.1:9000/onboarding"
WABA: Final = "102030405060708"
#: A picture of one pixel.
_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ",
    "RU5ErkJggg==",
)
PICTURE: Final = f"data:image/png;base64,{''.join(_PIXEL)}"
COMPONENTS: Final[tuple[list[dict[str, Any]], ...]] = (
    [{"type": "BODY", "text": "Order {{1}} is ready.", "example": {"body_text": [["A-17"]]}}],
    [
        {"type": "HEADER", "format": "IMAGE", "example": {"base64_image": PICTURE}},
        {"type": "BODY", "text": "Look at this"},
        {"type": "FOOTER", "text": "Acme"},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": "Yes"}, {"type": "QUICK_REPLY", "text": "No"}]},
    ],
    [{"type": "BODY", "text": "{{2}} and {{1}}"}],
    [{"type": "FOOTER", "text": "no body"}],
    [{"type": "HEADER", "format": "TEXT", "text": "Hi {{name}}"}, {"type": "BODY", "text": "Dear {{name}}"}],
    [
        {"type": "BODY", "text": "x"},
        {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Go", "url": "https://acme.example/{{1}}"}]},
    ],
    [{"type": "WHAT"}],
)
#: What the test of a template may have beside its name.
_MORE: Final[tuple[dict[str, Any], ...]] = ({}, {"params": ["A-17"]}, {"language": "en"})
CATEGORIES: Final = ("UTILITY", "MARKETING", "AUTHENTICATION", "OTHER")


def _account(draw: Draw) -> str:
    return draw.pick(("<waba:-1>", "<waba:-1>", "<waba:0>", WABA, "9"))


def _with_token(draw: Draw, body: dict[str, Any], path: str) -> Step:
    """The call with the key, or with a signup's token in place of it."""
    key: str | None = ""
    if draw.chance(18):
        body["token"] = draw.pick(("<jwt:-1>", "<jwt:-1>", "eyJhbGciOiJIUzI1NiJ9.e30.x"))
        key = draw.pick((None, ""))
    return {"call": f"POST /v1/chatapp{path}", "key": key, "json": spoilt(draw, body)}


def signup(draw: Draw, *, targets: bool) -> list[Step]:
    """A client is to be connected: it is asked for, and goes some way by page, by control, or by registration."""
    body: dict[str, Any] = {
        "partner_callback_url": HOOKS if targets else "<hook>",
        "phone_number": draw.pick(("manual", "manual", "preassign", "assigned", "automatic")),
    }
    for name, values in (
        ("partner_client_id", ("bakery-17", "florist", "blocked-1")),
        ("partner_name", ("Acme",)),
        ("partner_finish_url", ("https://acme.example/done",)),
        ("name", ("Bakery",)),
        ("email", ("jana@bakery.example",)),
        ("website", ("https://bakery.example",)),
        ("country", ("CZ", "PL", "Nowhere")),
    ):
        if draw.chance(35):
            body[name] = draw.pick(values)
    steps: list[Step] = [{"call": "POST /v1/chatapp/signup", "key": "", "json": spoilt(draw, body)}]
    way = draw.weighted(((3, "registration"), (3, "complete"), (4, "steps"), (3, "page"), (1, "fail"), (1, "stall")))
    here = "/signups/<signup:-1>"
    if way == "registration":
        given: dict[str, Any] = {"token": "<jwt:-1>", "waba_id": draw.pick((WABA, "1122")), "code": "oauth"}
        given[draw.pick(("phone_number_id", "country"))] = draw.pick((CHATAPP, "CZ", "PL"))
        steps += [{"call": "POST /v1/chatapp/registration", "key": "", "json": spoilt(draw, given)}]
    elif way == "complete":
        done: dict[str, Any] = {"phone_number": number(draw)} if draw.chance(80) else {}
        if draw.chance(40):
            done["details"] = {"name": "Bakery", "country": "CZ"}
        steps += [{"control": f"POST {here}/complete", "json": done}]
    elif way == "fail":
        steps += [{"control": f"POST {here}/fail", "json": {"reason": "refused"} if draw.chance(50) else {}}]
    elif way == "stall":
        steps += [{"advance": {"by": "61m"}}, {"control": f"POST {here}/open", "json": {"token": "<jwt:-1>"}}]
    elif way == "steps":
        again: Step = {"control": f"POST {here}/number", "json": {"phone_number": "420777000101"}}
        detours: tuple[list[Step], ...] = (
            [],
            [{"control": f"POST {here}/resend", "json": {}}],
            [{"control": f"DELETE {here}/number"}, again],
            [{"control": f"POST {here}/code", "json": {"code": "0000"}}],
        )
        between = draw.pick(detours)
        steps += [
            {"control": f"POST {here}/open", "json": draw.pick(({}, {"token": "<jwt:-1>"}, {"token": "x"}))},
            {"control": f"POST {here}/number", "json": {"phone_number": number(draw), "details": {"name": "Bakery"}}},
            *between,
            {"control": f"GET {here}"},
            {"control": f"POST {here}/code", "json": {"code": "<signup_code:-1>"}},
            {"control": f"POST {here}/finish", "json": {}},
        ]
    else:
        page, token = "<page:-1>", {"token": "<jwt:-1>"}
        steps += [
            {"call": f"GET {page}", "key": None, "query": token},
            {
                "call": f"POST {page}",
                "key": None,
                "form": {**token, "step": "number", "phone_number": number(draw), "name": "B"},
            },
            {
                "call": f"POST {page}",
                "key": None,
                "form": {**token, "step": draw.pick(("resend", "back", "what", "resend"))},
            },
            {"control": f"GET {here}"},
            {
                "call": f"POST {page}",
                "key": None,
                "form": {**token, "step": "code", "code": draw.pick(("<signup_code:-1>", "1"))},
            },
            {"call": f"GET {page}", "key": None, "query": draw.pick((token, {"token": "x"}, {}))},
            {"call": f"POST {page}", "key": None, "form": {**token, "step": "finish"}},
        ]
    if draw.chance(75):
        steps.append({"advance": draw.pick(({"by": 0}, {"by": "1m"}, {"until": "idle"}))})
    if draw.chance(50):
        form = {"name": "order_ready", "language": "en", "category": "UTILITY", "components": COMPONENTS[0]}
        status = {"status": draw.pick(("FLAGGED", "RESTRICTED", "OFFLINE", "CONNECTED")), "quality": "YELLOW"}
        steps += [
            {"call": "POST /v1/chatapp/phone_numbers/list", "key": "", "json": {"waba_id": "<waba:-1>"}},
            {
                "call": "POST /v1/chatapp/templates/create",
                "key": "",
                "json": {"waba_id": "<waba:-1>", "template": form},
            },
            {"advance": {"by": draw.pick(("10s", "1h"))}},
            {"control": "PATCH /numbers/<number:-1>", "json": status},
        ]
    steps.append(
        {"call": "POST /v1/chatapp/accounts/list", "key": "", "json": draw.pick(({}, {}, {"client_id": "florist"}))}
    )
    return steps


def call(draw: Draw) -> Step:
    """One call on numbers, templates or statistics."""
    account = _account(draw)
    kind = draw.weighted(
        (
            (1, "accounts"), (2, "verify"), (2, "check"), (2, "numbers"), (2, "list"), (5, "create"), (3, "library"),
            (3, "edit"), (2, "delete"), (3, "test"), (2, "messages"), (2, "conversations"), (2, "templates"),
            (2, "enable"),
        )
    )  # fmt: skip
    if kind == "accounts":
        return _with_token(draw, draw.pick(({}, {"waba_id": WABA}, {"client_id": "bakery-17"})), "/accounts/list")
    if kind in ("verify", "check"):
        body: dict[str, Any] = {"phone_number": draw.pick(("420900000001", "+420 900 000 001", number(draw)))}
        if kind == "verify" and draw.chance(50):
            body["code"] = draw.pick(("<signup_code:-1>", "4242", "12"))
        return _with_token(draw, body, f"/phone_numbers/{kind}")
    if kind == "numbers":
        return _with_token(draw, {"waba_id": account}, "/phone_numbers/list")
    if kind == "list":
        return _with_token(draw, {"waba_id": account}, "/templates/list")
    if kind in ("create", "library"):
        form: dict[str, Any] = {
            "name": draw.pick(("order_ready", "promo_sale", "code", "Bad Name")),
            "language": draw.pick(("en", "cs")),
            "category": draw.pick(CATEGORIES),
        }
        if kind == "create":
            form["components"] = draw.pick(COMPONENTS)
            return _with_token(draw, {"waba_id": account, "template": form}, "/templates/create")
        form["library_template_name"] = draw.pick(("verify_code_1", "table_reserved", "nothing"))
        return _with_token(draw, {"waba_id": account, "template": form}, "/templates/library/create")
    template = draw.pick(("<template:-1>", "<template:0>", "1"))
    if kind == "edit":
        change = draw.pick(({"category": "MARKETING"}, {"components": draw.pick(COMPONENTS)}, {}))
        return _with_token(draw, {"waba_id": account, "template_id": template, "template": change}, "/templates/edit")
    if kind == "delete":
        name = draw.pick(("order_ready", "promo_sale", "nothing"))
        return _with_token(draw, {"waba_id": account, "template_name": name}, "/templates/delete")
    if kind == "test":
        tried = {
            "name": draw.pick(("order_ready", "otp", "code")),
            **draw.pick(_MORE),
        }
        sender = draw.pick(("<number:-1>", CHATAPP))
        return _with_token(
            draw,
            {"waba_id": account, "sender": sender, "phone_number": number(draw), "template": tried},
            "/templates/test",
        )
    if kind == "enable":
        return _with_token(draw, {"waba_id": account}, "/analytics/templates/enable")
    span: dict[str, Any] = {
        "waba_id": account,
        "start": draw.pick((1772323200, "2026-03-01T00:00:00Z", 0)),
        "end": draw.pick((1772496000, "2026-03-03T00:00:00Z", 1)),
    }
    if kind == "templates":
        return _with_token(draw, {**span, "template_ids": [template]}, "/analytics/templates")
    words = ("HALF_HOUR", "DAY", "MONTH") if kind == "messages" else ("HALF_HOUR", "DAILY", "MONTHLY")
    span["granularity"] = draw.pick(words)
    if draw.chance(30):
        span["country_codes"] = ["CZ"]
    if draw.chance(30):
        span["phone_numbers"] = ["420900000001"]
    return _with_token(draw, span, f"/analytics/{kind}")
