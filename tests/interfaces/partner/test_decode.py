"""Bodies of the partner interface, and what is remarked about them (§4.3, A37, A75)."""

from __future__ import annotations

import pytest

from sendbox.services.http.exchange import BODY_CAP
from tests.box import KEY, WORLD, boxed

pytestmark = pytest.mark.asyncio
PATH = "/v1/chatapp/accounts/list"
LIST = "/v1/chatapp/templates/list"


@pytest.mark.parametrize(
    ("content_type", "codes"),
    [
        (None, ["content-type-missing"]),
        ("text/plain", ["content-type-not-json"]),
        ("application/json", []),
        ("application/json; charset=utf-8", []),
        ("application/problem+json", []),
    ],
)
async def test_a75_the_content_type_is_advice_only(content_type: str | None, codes: list[str]) -> None:
    """A75: the body is read as JSON whatever it is called."""
    async with boxed() as box:
        headers = {"x-api-key": KEY} | ({} if content_type is None else {"content-type": content_type})
        answer = await box.call("POST", PATH, b"{}", headers)
        assert answer.status == 200
        advice = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert [each["code"] for each in advice] == codes


async def test_a_body_that_is_nested_too_deep() -> None:
    """It is refused with its place, and nothing breaks."""
    async with boxed() as box:
        body = b'{"x": ' + b"[" * 400 + b"]" * 400 + b"}"
        answer = await box.call("POST", PATH, body, {"x-api-key": KEY, "content-type": "application/json"})
        assert (answer.status, answer.json["message"].endswith("up to 200 levels (§4) at $.x")) == (400, True)


async def test_a37_a_failure_in_business_is_explained_in_the_journal() -> None:
    """A37: 200 for the client; the journal has path, rule and section of what is wrong."""
    async with boxed() as box:
        answer = await box.post(LIST, {"waba_id": "1"}, x_api_key=KEY)
        assert answer.json == {"success": False, "message": '"1" is not a connected business account'}
        (entry,) = (await box.get(f"{WORLD}/journal?kind=request")).json["entries"]
        (finding,) = entry["findings"]
        assert (finding["path"], finding["rule"], finding["assumed"]) == ("$.waba_id", "waba", "A39")
        assert box.log == [(KEY, 'rejected listTemplates: "1" is not a connected business account at $.waba_id')]


async def test_s5_3_no_credential_is_looked_for_in_a_body_without_end() -> None:
    """A call without a key, and a body longer than what is read, is refused before it is read whole."""
    async with boxed() as box:
        answer = await box.call("POST", LIST, b" " * (BODY_CAP + 1))
        assert answer.status == 413


async def test_an_expired_token_is_refused_in_its_world() -> None:
    """The world that made it journals the call, so that nobody has to guess."""
    async with boxed() as box:
        await box.open()
        given = {"partner_callback_url": "http://client.example/x", "phone_number": "manual"}
        token = (await box.post("/v1/chatapp/signup", given, x_api_key=KEY)).json["token"]
        await box.advance("1h")
        answer = await box.post(LIST, {"waba_id": "1", "token": token})
        assert answer.json == {"success": False, "message": "Invalid apikey or token"}
        entry = (await box.get(f"{WORLD}/journal?kind=request&last=1")).json["entries"][0]
        assert entry["findings"][0]["message"].startswith("the token is expired")
        refused = (await box.post(LIST, {"waba_id": "1"})).headers["sendbox-journal"]
        assert refused.endswith("/_sandbox/refused")


async def test_a_registration_names_a_client_without_a_name() -> None:
    """A39: `client_id` is taken where the signup had none, and kept where it had one."""
    async with boxed() as box:
        for number, (before, after) in enumerate([(None, "new"), ("old", "old")]):
            given = {"partner_callback_url": "http://client.example/x", "phone_number": "manual"}
            given |= {} if before is None else {"partner_client_id": before}
            token = (await box.post("/v1/chatapp/signup", given, x_api_key=KEY)).json["token"]
            body = {"token": token, "waba_id": str(number), "code": "x", "country": "CZ", "client_id": "new"}
            assert (await box.post("/v1/chatapp/registration", body, x_api_key=KEY)).json["success"] is True
            accounts = (await box.post(PATH, {"waba_id": str(number)}, x_api_key=KEY)).json["accounts"]
            assert [each["client_id"] for each in accounts] == [after]


async def test_a39_what_a_registration_says_of_the_client() -> None:
    """A39: its optional fields are details of the signup, beside what the signup said."""
    async with boxed() as box:
        token = (await box.post("/v1/chatapp/signup", {"ca_name": "Bakery"}, x_api_key=KEY)).json["token"]
        said = {"description": "Cakes", "logo": "https://a.example/l.png", "email": "a@a.example", "country": "CZ"}
        body = {"token": token, "waba_id": "1", "code": "x", "website": "https://a.example", **said}
        assert (await box.post("/v1/chatapp/registration", body, x_api_key=KEY)).json["success"] is True
        (signup,) = (await box.get(f"{WORLD}/partner")).json["signups"]
        assert signup["details"] == {"name": "Bakery", "website": "https://a.example", **said}


async def test_a45_a_whole_number_may_be_written_with_a_fraction() -> None:
    """To JSON Schema 1772323200.0 is an integer, and so is it here: the same point in time."""
    async with boxed() as box:
        waba = {"waba_id": "1", "granularity": "DAY"}
        answers = [
            await box.post("/v1/chatapp/analytics/messages", {**waba, "start": start, "end": end}, x_api_key=KEY)
            for start, end in ((1772323200, 1772409600), (1772323200.0, 1772409600.0))
        ]
        assert [each.status for each in answers] == [200, 200]
        assert answers[0].body == answers[1].body
