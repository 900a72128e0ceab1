"""Two accounts, their sub-keys and tokens: none reads or changes what is another's (§5.1 to §5.6, §7.2).

Every row is called with every wrong credential, and with a good one that names what belongs to somebody else.

Long because the legal call of each row, which all of these tests need, stands beside them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import jwt
import orjson
import pytest

from sendbox.app import SERVED
from sendbox.services.account.account import Account
from sendbox.services.http.exchange import Route
from sendbox.services.messaging.http.accepting import DENIED
from sendbox.services.partner.partner import Partner
from tests.box import Answer, Box, boxed
from tests.tiers import turn

pytestmark = pytest.mark.asyncio
OURS: Final = "test-a"
THEIRS: Final = "test-b"
CLOSED: Final = "test-closed"
SUB: Final = f"{OURS}~shop"
DISABLED: Final = f"{OURS}~off"
PHONE: Final = "420777000101"
FORM: Final = "application/x-www-form-urlencoded"
#: Business account, number and template of each world.
WABA: Final = {OURS: "1020304050607", THEIRS: "7060504030201"}
NUMBER: Final = {OURS: "420900000001", THEIRS: "420900000002"}
HELLO: Final = {OURS: "hello_ours", THEIRS: "hello_theirs"}
BODY: Final = [{"type": "BODY", "text": "Hello"}]
TIMES: Final = {"start": "2026-03-01", "end": "2026-03-02"}
TEMPLATE: Final = {
    "name": "order_ready",
    "language": "en",
    "category": "UTILITY",
    "components": BODY,
}


def scenario(world_id: str) -> dict[str, Any]:
    """The account of a world: what is named the same in both is not the same thing."""
    number = {"phone_number": NUMBER[world_id]}
    return {
        "sendbox": 1,
        "account": {
            "verificationSecret": "s3cret",
            "subkeys": [{"name": "shop", "credit": 100}, {"name": "off"}],
            "templates": [{"name": HELLO[world_id], "language": "en", "components": BODY}],
        },
        "partner": {"accounts": [{"waba_id": WABA[world_id], "name": "Bakery", "numbers": [number]}]},
    }


@dataclass(slots=True)
class Names:
    """What there is in one world."""

    message: str
    validation: str
    code: str
    template: str
    sender: str
    token: str
    upload: str
    device: str
    subid: str


async def furnished(box: Box, world_id: str) -> Names:
    """Opens a world and puts something of everything into it."""
    await box.open(world_id, scenario=scenario(world_id), deliveries="pull")
    key = {"x_api_key": world_id}
    await box.post("/v1/apikey/change", {"apikey": f"{world_id}~off", "disable": 1}, **key)
    (message,) = await box.send(key=world_id)
    begun = (await box.post("/v1/validations", {"phoneNumber": PHONE}, **key)).json
    known = (await box.get(f"/_sandbox/worlds/{world_id}/codes")).json["codes"][0]
    templates = (await box.post("/v1/chatapp/templates/list", {"waba_id": WABA[world_id]}, **key)).json["templates"]
    listed = await box.post("/v1/chatapp/phone_numbers/list", {"waba_id": WABA[world_id]}, **key)
    numbers = listed.json["phone_numbers"]
    wanted = {"partner_callback_url": "http://client.example/onboarding", "phone_number": "manual"}
    signup = (await box.post("/v1/chatapp/signup", wanted, **key)).json
    await box.post("/v1/chatapp/analytics/templates/enable", {"waba_id": WABA[world_id]}, **key)
    upload = (await box.post("/v1/messaging/url", {"bulk_id": "b1", "filetype": "jsonl"}, **key)).json["url"]
    await box.post("/v1/push/device", {"id": f"phone-of-{world_id}", "token": "t1"}, **key)
    children = (await box.get(f"/_sandbox/worlds/{world_id}/account")).json["subkeys"]
    return Names(
        message,
        begun["token"],
        known["code"],
        templates[0]["id"],
        numbers[0]["phone_number_id"],
        signup["token"],
        urlsplit(upload).path,
        f"phone-of-{world_id}",
        children[0]["subid"],
    )


@asynccontextmanager
async def two() -> AsyncIterator[tuple[Box, Names, Names]]:
    """A sandbox with two furnished worlds, and one that was closed."""
    async with boxed() as box:
        ours, theirs = await furnished(box, OURS), await furnished(box, THEIRS)
        await box.open(CLOSED)
        await box.delete(f"/_sandbox/worlds/{CLOSED}")
        yield box, ours, theirs


async def state(box: Box) -> dict[str, Any]:
    """Of each open world what tells whether something happened: length of its journal, digest, and what it holds."""
    return {
        world_id: (
            len(hosted.world.journal),
            (await box.get(f"/_sandbox/worlds/{world_id}/digest")).json["digest"],
            {
                key.id: (key.note, key.scope, key.disabled, key.default_callback_url)
                for key in Account.of(hosted.world).keys.values()
            },
            dict(Account.of(hosted.world).devices),
            (await box.get(f"/_sandbox/worlds/{world_id}/partner")).json,
            (await box.get(f"/_sandbox/worlds/{world_id}/account")).json,
            (await box.get(f"/_sandbox/worlds/{world_id}/messages")).json,
        )
        for world_id, hosted in box.runtime.worlds.items()
    }


def request_of(route: Route, world_id: str, names: Names) -> Any:
    """Legal fields of a call of each row, about what is in a world."""
    waba = {"waba_id": WABA[world_id]}
    message = {"body": "Hello", "to": [{"phone_number": PHONE}]}
    found: dict[str, Any] = {
        "sendMessage": message,
        "sendPriorityMessage": message,
        "sendMessages": [message],
        "sendSimpleMessageByQuery": {"phone_number": PHONE, "message": "Hello"},
        "sendSimpleMessage": {"phone_number": PHONE, "message": "Hello"},
        "legacySend": {"number": PHONE, "message": "Hello"},
        "legacySendByQuery": {"number": PHONE, "message": "Hello"},
        "legacyApiSend": {"to": PHONE, "message": "Hello"},
        "legacyApiSendByQuery": {"to": PHONE, "message": "Hello"},
        "legacyUserInfo": {},
        "legacyUserInfoByQuery": {},
        "legacyPrice": {"number": PHONE, "message": "Hello"},
        "legacyPriceByQuery": {"number": PHONE, "message": "Hello"},
        "legacyRequestList": {},
        "legacyRequestListByQuery": {},
        "legacyRequestStatus": {"requestID": names.message},
        "legacyRequestStatusByQuery": {"requestID": names.message},
        "requestUpload": {"bulk_id": "b2", "filetype": "jsonl"},
        "blacklist": {"to": PHONE},
        "optout": {"to": PHONE},
        "listMessages": {"date": "2026-03-01"},
        "getMessage": {"id": names.message},
        "showCredit": {},
        "listServices": {},
        "orderService": {"service_id": "sender_sms_420_number", "period": "month"},
        "registerDevice": {"id": names.device, "token": "t2"},
        "updateKey": {"note": "changed"},
        "addSubKey": {"shared": True},
        "listSubKeys": {},
        "changeSubKey": {"apikey": f"{world_id}~shop", "disable": 1},
        "showKey": {},
        "createValidation": {"phoneNumber": PHONE},
        "verifyCode": {"code": names.code},
        "checkProof": {"proof": "0" * 64},
        "partnerSignup": {"partner_callback_url": "http://client.example/onboarding", "phone_number": "manual"},
        "partnerRegistration": {"token": names.token, **waba, "code": "oauth", "country": "CZ"},
        "listPartnerAccounts": {},
        "verifyPartnerNumber": {"phone_number": NUMBER[world_id]},
        "checkPartnerNumber": {"phone_number": NUMBER[world_id]},
        "listPartnerNumbers": waba,
        "listTemplates": waba,
        "createTemplate": {**waba, "template": TEMPLATE},
        "createLibraryTemplate": {
            **waba,
            "template": {
                "name": "from_library",
                "language": "en",
                "library_template_name": "delivery_update",
                "library_template_button_inputs": [{"type": "URL", "url": "https://acme.example/track"}],
            },
        },
        "editTemplate": {**waba, "template_id": names.template, "template": {"category": "MARKETING"}},
        "deleteTemplate": {**waba, "template_name": HELLO[world_id]},
        "testTemplate": {
            **waba,
            "sender": names.sender,
            "phone_number": PHONE,
            "template": {
                "name": HELLO[world_id],
                "language": "en",
                "components": [{"type": "BODY"}],
            },
        },
        "messageAnalytics": {**waba, **TIMES, "granularity": "DAY"},
        "conversationAnalytics": {**waba, **TIMES, "granularity": "DAILY"},
        "templateAnalytics": {**waba, **TIMES, "template_ids": [names.template]},
        "enableTemplateAnalytics": waba,
    }
    return found[route.operation]


def with_field(fields: Any, name: str, value: str) -> Any:
    """The fields with one more; what has the name already gives way, as a sub-key to change does not."""
    if isinstance(fields, list):
        return [{**fields[0], name: value}]
    return {name: value, **fields} if name == "apikey" else {**fields, name: value}


async def call(
    box: Box,
    route: Route,
    names: Names,
    fields: Any,
    *,
    key: str | None = None,
    query: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Calls a row; `key` goes where the row takes it."""
    given = dict(headers or {})
    if key is not None and route.auth == "form":
        fields = {**fields, "apikey": key}
    elif key is not None:
        given["x-api-key"] = key
    asked = dict(query or {})
    body = b""
    if route.method == "GET":
        asked |= fields
    elif route.request_type == FORM:
        body = urlencode(fields).encode()
    else:
        body = orjson.dumps(fields)
    path = route.path.replace("{token}", names.validation)
    given.setdefault("content-type", route.request_type)
    return await box.call(route.method, f"{path}?{urlencode(asked)}" if asked else path, body, given)


# --- every row with every wrong credential


def denial(route: Route, *, given: bool) -> tuple[int, Any]:
    """What a row says to a credential that opens nothing, or to none (§5.6, §7.2; A13, A26, A37, A49)."""
    match route.interface:
        case "sending":
            return 400, {"Message": DENIED}
        case "legacy":
            return 401, "ERROR|103"
        case "verify":
            code, text = (
                ("INVALID_API_KEY", "Invalid or disabled API key")
                if given
                else ("MISSING_API_KEY", "Missing X-API-Key header")
            )
            left = 6 if route.operation == "createValidation" else 0
            return 401, {"error": code, "message": text, "attemptsRemaining": left}
        case "partner" if given:
            return 200, {"success": False, "message": "Invalid apikey or token"}
        case "partner" if route.tokens is None:
            only = "a token is accepted for phone numbers, templates and analytics only (§5.3)"
            return 400, {"message": f"Missing 'xapikey' in request data; {only}"}
        case "partner":
            return 400, {"message": "Missing 'xapikey' or 'token' in request data"}
        case _ if not given and route.operation in MISSING:
            return 400, {"message": MISSING[route.operation]}
        case _ if route.operation in ("blacklist", "optout"):
            return 401, {"success": False, "message": "Unauthorized"}
        case _:
            return 401, {"message": "Unauthorized"}


#: Rows that say what is missing where no key came (§7.2, A26).
MISSING: Final = {
    "listMessages": "Missing 'date' or 'xapikey' in request data",
    "getMessage": "Missing 'id' in request data",
}
#: Keys that open nothing: unknown, of a closed world, never made, disabled, and what only resembles a good one.
BAD_KEYS: Final = (
    "nobody",
    "",
    CLOSED,
    f"{CLOSED}~shop",
    f"{OURS}~never",
    DISABLED,
    OURS.upper(),
    f"{OURS},{THEIRS}",
)
#: Where a good key may not stand: what it is put into, and the rows that take it there all the same.
PLACES: Final = {
    "query": {"header-or-query", "form-GET"},
    "x-api-key-in-query": set(),
    "body": {"form-POST"},
    "x-api-key-in-body": set(),
    "header": {"header", "header-or-query", "header-or-token"},
    "bearer": set(),
    "cookie": set(),
}
KEYED: Final = [route for route in SERVED.routes if route.auth != "none"]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


async def refused_without_trace(
    box: Box, before: dict[str, Any], answer: Answer, expected: tuple[int, Any], *, journaled: int = 0, of: str = ""
) -> None:
    """The answer is a denial, and no world has changed; only `OURS` may have journaled the refused call.

    `of` names the call where a test makes several.
    """
    status, body = expected
    assert answer.status == status, (of, answer)
    assert (answer.body.decode() if isinstance(body, str) else answer.json) == body, of
    after = await state(box)
    assert after.keys() == before.keys(), of
    count, digest, *rest = before[OURS]
    assert after[OURS][0] == count + journaled, of
    assert journaled or after[OURS][1] == digest, of  # the digest is of the journal too
    assert list(after[OURS][2:]) == rest, of
    assert after[THEIRS] == before[THEIRS], of


def where(route: Route) -> str:
    """What a row takes, as `PLACES` names it."""
    return f"form-{route.method}" if route.auth == "form" else route.auth


@pytest.mark.sample(8)
@pytest.mark.parametrize("route", KEYED, ids=named)
async def test_s5_a_good_key_is_let_in(route: Route) -> None:
    """The calls of these tests are legal, so that what refuses them is the credential alone."""
    async with two() as (box, ours, _):
        before = await state(box)
        answer = await call(box, route, ours, request_of(route, OURS, ours), key=OURS)
        assert answer.status == 200, answer
        assert b'"success":false' not in answer.body
        after = await state(box)
        assert after[OURS][0] > before[OURS][0]
        assert after[THEIRS] == before[THEIRS]


@pytest.mark.parametrize("interface", sorted({route.interface for route in KEYED}))
async def test_s5_a_key_that_opens_nothing(interface: str) -> None:
    """§5.1, §5.6, §7.2: denied in the shape of the interface; nothing is journaled, read, changed or opened."""
    async with two() as (box, ours, _):
        before = await state(box)
        for number, route in enumerate(route for route in KEYED if route.interface == interface):
            for key in turn((None, *BAD_KEYS), number, 4):
                answer = await call(box, route, ours, request_of(route, OURS, ours), key=key)
                expected, of = denial(route, given=key is not None), f"{named(route)} with {key!r}"
                await refused_without_trace(box, before, answer, expected, of=of)


@pytest.mark.sample(8)
@pytest.mark.parametrize("route", KEYED, ids=named)
async def test_s5_2_a_good_key_in_the_wrong_place(route: Route) -> None:
    """§5.1, §5.2: the key counts only where the row takes it; elsewhere it is as if there were none."""
    async with two() as (box, ours, _):
        for place, takers in PLACES.items():
            fields = request_of(route, OURS, ours)
            query: dict[str, str] = {}
            headers: dict[str, str] = {}
            match place:
                case "query" | "x-api-key-in-query":
                    query["apikey" if place == "query" else "x-api-key"] = OURS
                case "body" | "x-api-key-in-body" if route.method != "GET":
                    fields = with_field(fields, "apikey" if place == "body" else "x-api-key", OURS)
                case "header":
                    headers["x-api-key"] = OURS
                case "bearer":
                    headers["authorization"] = f"Bearer {OURS}"
                case _:
                    headers["cookie"] = f"x-api-key={OURS}; apikey={OURS}"
            before = await state(box)
            answer = await call(box, route, ours, fields, query=query, headers=headers)
            if where(route) in takers:
                assert answer.status == 200, (place, answer)
            else:
                await refused_without_trace(box, before, answer, denial(route, given=False))


def tokens(ours: Names) -> dict[str, str]:
    """Tokens that open nothing, and the good one, which opens nothing where §5.3 does not name the row."""
    claims = jwt.decode(ours.token, options={"verify_signature": False})
    return {
        "forged": jwt.encode(claims, "x" * 32, "HS256"),
        "unsigned": jwt.encode(claims, "", "none"),
        "of no signup": jwt.encode({**claims, "sub": "0" * 26}, "x" * 32, "HS256"),
        "none": "x.y.z",
        "good": ours.token,
        "expired": ours.token,
    }


@pytest.mark.sample(8)
@pytest.mark.parametrize("route", KEYED, ids=named)
async def test_s5_3_a_token_that_does_not_let_in(route: Route) -> None:
    """§5.3: a signup's token opens numbers, templates and statistics, for an hour; nothing else opens anything.

    A row that takes tokens journals one that names a signup of its world, as a refused call.
    """
    async with two() as (box, ours, _):
        fields = request_of(route, OURS, ours)
        before = await state(box)
        answer = await call(box, route, ours, fields, key=ours.token)
        await refused_without_trace(box, before, answer, denial(route, given=True))
        for kind, token in tokens(ours).items():
            if kind == "expired":  # that it does so after an hour is told by the conformance cases
                world = box.runtime.worlds[OURS].world
                for signup in Partner.of(world).signups.values():
                    signup.expires_at = world.clock.now
            before = await state(box)
            answer = await call(box, route, ours, with_field(fields, "token", token))
            takes = route.auth == "header-or-token"
            if takes and kind == "good":
                assert answer.status == 200, answer
                continue
            noted = takes and kind in ("expired", "forged", "unsigned")
            await refused_without_trace(box, before, answer, denial(route, given=takes), journaled=int(noted))


@pytest.mark.parametrize("key", [None, *BAD_KEYS, OURS, THEIRS, SUB])
async def test_s5_4_an_offline_proof_needs_no_key_and_heeds_none(key: str | None) -> None:
    """§5.4: `/v1/verify-proof` answers by the proof alone; a proof of another world's session is not valid."""
    async with two() as (box, ours, theirs):
        verified = await box.post(f"/v1/validations/{ours.validation}/verify", {"code": ours.code}, x_api_key=OURS)
        proof = {name: verified.json[name] for name in ("phoneNumber", "token", "code", "timestamp", "proof")}
        headers = {"content-type": "application/json"} | ({} if key is None else {"x-api-key": key})
        before = await state(box)
        answers = [
            await box.call("POST", "/v1/verify-proof", orjson.dumps(given), headers)
            for given in (proof, {**proof, "token": theirs.validation}, {**proof, "token": "0" * 64})
        ]
        assert [each.status for each in answers] == [200, 200, 200]
        assert [each.json["valid"] for each in answers] == [True, False, False]
        after = await state(box)
        assert after.keys() == before.keys()


# --- a good credential, and what is another's


#: How a row is told of what is another world's, and what it answers: as if there were no such thing.
OTHERS: Final = {
    "getMessage": (200, {"success": True, "message": None}),
    "legacyRequestStatus": (400, "ERROR|102"),
    "legacyRequestStatusByQuery": (400, "ERROR|102"),
    "changeSubKey": (403, {"message": "Target apikey does not belong to this parent"}),
    "verifyCode": (404, {"error": "NOT_FOUND", "message": "Validation not found", "attemptsRemaining": 0}),
    "checkProof": (404, {"error": "NOT_FOUND", "message": "Validation not found", "attemptsRemaining": 0}),
}
#: Rows whose call names a business account, number, template or sender; a refusal in business is 200 (A37).
NAMING: Final = {
    "partnerRegistration",
    "verifyPartnerNumber",
    "checkPartnerNumber",
    "listPartnerNumbers",
    "listTemplates",
    "createTemplate",
    "createLibraryTemplate",
    "editTemplate",
    "deleteTemplate",
    "testTemplate",
    "messageAnalytics",
    "conversationAnalytics",
    "templateAnalytics",
    "enableTemplateAnalytics",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("route", "by"),
    [(route, "key") for route in KEYED] + [(route, "token") for route in KEYED if route.auth == "header-or-token"],
    ids=lambda given: given if isinstance(given, str) else named(given),
)
async def test_s5_what_is_another_worlds(route: Route, by: str) -> None:
    """With a good key or token of one world, no name of another's reads or changes anything there."""
    async with two() as (box, ours, theirs):
        before = await state(box)
        fields = request_of(route, THEIRS, theirs)
        if by == "key":
            answer = await call(box, route, theirs, fields, key=OURS)
        else:
            answer = await call(box, route, theirs, with_field(fields, "token", ours.token))
        if route.operation in OTHERS:
            status, body = OTHERS[route.operation]
            assert answer.status == status
            assert (answer.body.decode() if isinstance(body, str) else answer.json) == body
        elif route.operation in NAMING:
            assert (answer.status, answer.json["success"]) == (200, False), answer
        else:
            assert answer.status == 200, answer
        for secret in (theirs.message, theirs.template, theirs.code, theirs.subid, theirs.device):
            assert secret not in answer.body.decode().replace(orjson.dumps(fields).decode(), "")
        after = await state(box)
        assert after[THEIRS] == before[THEIRS]
        assert after[OURS][0] > before[OURS][0]


@pytest.mark.parametrize("path", ["/v1/blacklist", "/v1/optout"])
async def test_s2_5_the_lists_of_another_worlds_balance(path: str) -> None:
    """§2.5, A70: a `subid` of another world is none of this one's."""
    async with two() as (box, _, theirs):
        before = await state(box)
        answer = await box.post(path, {"to": PHONE, "subid": theirs.subid}, x_api_key=OURS)
        assert (answer.status, answer.json["success"]) == (403, False), answer
        listed = await box.get(f"/v1/messages?date=2026-03-01&subid={theirs.subid}", x_api_key=OURS)
        assert listed.status == 403, listed
        assert (await state(box))[THEIRS] == before[THEIRS]


async def test_s4_2_an_upload_address_is_of_its_world_only() -> None:
    """A35: the address is the credential, so a key beside it changes nothing; one that was made up opens nothing."""
    async with two() as (box, ours, theirs):
        before = await state(box)
        headers = {"x-api-key": OURS, "content-type": "application/jsonl"}
        line = orjson.dumps({"body": "Hello", "to": [{"phone_number": PHONE}]})
        mixed = theirs.upload[: len("/upload/") + 16] + ours.upload[len("/upload/") + 16 :]
        for path in (mixed, f"/upload/{'0' * 64}"):
            answer = await box.call("PUT", path, line, headers)
            assert (answer.status, answer.json) == (403, {"message": "Upload address is not valid"})
        assert (await state(box))[OURS] == before[OURS]
        assert (await box.call("PUT", theirs.upload, line, headers)).status == 200
        assert (await state(box))[OURS] == before[OURS]


async def test_s2_5_what_is_another_keys() -> None:
    """Within one account, a sub-key with a balance of its own does not reach what is its parent's (A26, A29, A32)."""
    async with two() as (box, ours, _):
        world = box.runtime.worlds[OURS].world
        devices = dict(Account.of(world).devices)
        key = {"x_api_key": SUB}
        seen = [
            (await box.get(f"/v1/message?id={ours.message}", **key)),
            (await box.post("/v1/push/device", {"id": ours.device, "token": "t2"}, **key)),
            (await box.post("/v1/apikey/change", {"apikey": DISABLED, "disable": 0}, **key)),
            (await box.post("/v1/apikey/change", {"apikey": OURS, "disable": 1}, **key)),
            (await box.post("/v1/apikey/add", {"shared": True}, **key)),
            (await box.get("/v1/apikey/list", **key)),
            (await box.post("/v1/blacklist", {"to": PHONE, "subid": "default"}, **key)),
            (await box.post(f"/v1/validations/{ours.validation}/verify", {"code": ours.code}, **key)),
        ]
        assert [each.status for each in seen] == [200, 403, 403, 403, 403, 200, 403, 404], seen
        assert seen[0].json["message"] is None
        assert seen[5].json["list"] == []
        assert Account.of(world).devices == devices
        assert Account.of(world).keys[DISABLED].disabled
        assert not Account.of(world).keys[OURS].disabled
        assert len(Account.of(world).keys) == 3
