"""The legacy interface as its clients speak it, over the application (§4.1, A13)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.box import KEY, WORLD, Answer, Box, at, boxed

pytestmark = pytest.mark.asyncio
FORM = {"content-type": "application/x-www-form-urlencoded"}
LEAST = {"apikey": KEY, "number": "420777000101", "message": "Hello"}
NUMBERED = {"sendbox": 1, "extends": "default", "assume": {"legacy_answer": "number"}}


async def call(box: Box, path: str, method: str = "POST", **fields: str) -> Answer:
    """A legacy call with the least fields, and these."""
    form = urlencode({**LEAST, **fields})
    if method == "GET":
        return await box.call("GET", f"{path}?{form}")
    return await box.call("POST", path, form.encode(), FORM)


async def shown(box: Box) -> list[Any]:
    """The messages of the world, as control shows them."""
    messages: list[Any] = (await box.get(f"{WORLD}/messages")).json["messages"]
    return messages


@pytest.mark.unmeasured
@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("gateway", ["economy", "low", "lowcost"])
async def test_a13_old_names_of_the_cheap_gateway(method: str, gateway: str) -> None:
    """`economy` and `low` are `lowcost`, for events too."""
    async with boxed() as box:
        assert (await call(box, "/Send", method, gateway=gateway)).status == 200
        await box.advance()
        assert {event["sms"]["gateway"] for event in await box.events()} == {"lowcost"}


@pytest.mark.parametrize(("form", "body"), [("utf", "Dobrý den"), ("sms", "Dobry den")])
async def test_a13_type_keeps_or_converts_diacritics(form: str, body: str) -> None:
    """`type=utf` keeps them, `type=sms` does not; the gateway beside it stays."""
    async with boxed() as box:
        assert (await call(box, "/Send", message="Dobrý den", type=form, gateway="low")).status == 200
        await box.advance("1m")
        rows = (await box.get("/v1/messages?date=2026-03-01", x_api_key=KEY)).json["messages"]
        assert [row["body"] for row in rows] == [body]


async def test_a13_another_type_has_no_effect() -> None:
    """Clients send other types, too: they are taken with advice, and refused where unknown fields are."""
    async with boxed() as box:
        assert (await call(box, "/Send", type="promotional")).status == 200
        (advice,) = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert (advice["code"], advice["path"]) == ("unknown-field", "$.type")
        assert advice["message"] == '"promotional" is not a type that is known (utf, sms) and has no effect'
    async with boxed({"sendbox": 1, "assume": {"unknown_fields": "refuse"}}) as box:
        assert (await call(box, "/Send", type="promotional")).body == b"ERROR|102"


async def test_a13_customid_comes_back_behind_the_number() -> None:
    """Only where the answer has the number; what would break the line is 102."""
    async with boxed(NUMBERED) as box:
        answer = await call(box, "/Send", number="420777000101;777000201", customid="order 7")
        lines = [line.split("|") for line in answer.body.decode().splitlines()]
        assert [(line[0], *line[2:]) for line in lines] == [
            ("OK", "420777000101", "order 7"),
            ("OK", "420777000201", "order 7"),
        ]
        for text in ("a|b", "a\nb", "a\n"):
            assert (await call(box, "/Send", customid=text)).body == b"ERROR|102"
    async with boxed() as box:
        assert (await call(box, "/Send", customid="7")).body.count(b"|") == 1


@pytest.mark.parametrize(
    ("then", "results"),
    [
        ("delivered", ["sending", "sent", "delivered"]),
        ("sent", ["sending", "sent", "undelivered"]),
        ("sending", ["sending", "failed"]),
        ("rejected", ["rejected"]),
    ],
)
async def test_a13_expiration_ends_a_try_that_is_not_delivered(then: str, results: list[str]) -> None:
    """What has not ended by that instant is undelivered, or failed if it was not sent; a receipt in time counts."""
    async with boxed({"sendbox": 1, "attempts": [{"then": then}]}) as box:
        assert (await call(box, "/Send", number="420777000101;420777000201", expiration=at(60))).status == 200
        await box.advance("1m")
        for message in await shown(box):
            assert await box.results(message["message_id"]) == results
            assert then == "rejected" or message["timeline"][-1]["at"] == (at(3) if then == "delivered" else at(60))


async def test_a13_a_message_that_will_expire_is_not_over() -> None:
    """Something may still happen to it until then, though no result is planned: it is not forgotten."""
    async with boxed({"sendbox": 1, "attempts": [{"then": "sent"}]}) as box:
        await call(box, "/Send", expiration=at(60))
        await call(box, "/Send")
        await box.advance("30s")
        listed = (await box.get(f"{WORLD}/messages?form=short")).json["messages"]
        assert [message["unsettled"] for message in listed] == [True, False]
        await box.advance("30s")
        listed = (await box.get(f"{WORLD}/messages?form=short")).json["messages"]
        assert [(message["unsettled"], message["result"]) for message in listed] == [
            (False, "undelivered"),
            (False, "sent"),
        ]


async def test_a13_expiration_before_the_hand_over() -> None:
    """A message that is handed over later than that ends at once; what is to come is said until it ended."""
    async with boxed() as box:
        assert (await call(box, "/Send", expiration=at(-5))).status == 200
        await box.advance("0s")
        assert await box.results((await shown(box))[0]["message_id"]) == ["sending", "failed"]
        assert (await call(box, "/Send", expiration="2026-03-01T11:00:00+01:00")).status == 200
        await box.advance("1s")
        steps = (await box.get(f"{WORLD}/pending")).json["steps"]
        assert [step["what"] for step in steps] == ["sms delivered", "sms expires: undelivered unless it ends before"]
        await box.advance("1m")
        assert (await box.get(f"{WORLD}/pending")).json["steps"] == []
        codes = [advice["code"] for advice in (await box.get(f"{WORLD}/advice")).json["advice"]]
        assert codes == ["datetime-converted"]
        for text in ("soon", "2026-02-30T10:00:00Z"):
            assert (await call(box, "/Send", expiration=text)).body == b"ERROR|102"


@pytest.mark.parametrize("path", ["/send", "/SEND", "/Send", "/"])
@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a13_paths_in_any_case_and_the_root(method: str, path: str) -> None:
    """All are the same send; another method has the answer of the interface."""
    async with boxed() as box:
        assert (await call(box, path, method)).body.startswith(b"OK|")
        (request,) = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert request["operation"] == ("legacySend" if method == "POST" else "legacySendByQuery")
        assert (
            await box.call("POST", "/API-SEND.PHP", b"apikey=test-1&to=420777000101&message=Hi", FORM)
        ).status == 200
        if path != "/":
            assert (await box.call("PUT", path)).body == b"ERROR|101"


async def test_a13_the_root_without_fields_is_the_page() -> None:
    """A browser is led to the page, and a body that is not a form is none of ours."""
    async with boxed() as box:
        assert (await box.get("/")).status == 307
        assert (await box.get("/?number=420777000101")).status == 307
        assert (await box.post("/", {})).status == 405
        assert (await box.call("DELETE", "/")).status == 405


async def test_a13_careful_worlds_know_the_fields_of_clients() -> None:
    """Nothing that clients send is unknown, so a world that refuses unknown fields takes it."""
    async with boxed({"sendbox": 1, "extends": "default", "assume": {"profile": "careful"}}) as box:
        more = {"gateway": "economy", "type": "utf", "customid": "7", "expiration": at(600), "time": at(0)}
        assert (await call(box, "/send", **more)).status == 200
        assert (await call(box, "/send", expires=at(600))).body == b"ERROR|102"


async def test_a13_a_good_key_in_a_body_of_another_type() -> None:
    """The call is of its world, and the journal says what its body should be."""
    async with boxed() as box:
        answer = await box.call("POST", "/Send", urlencode(LEAST).encode(), {"content-type": "text/plain"})
        assert (answer.status, answer.body) == (400, b"ERROR|102")
        (request,) = (await box.get(f"{WORLD}/requests")).json["requests"]
        (finding,) = request["findings"]
        assert (finding["path"], finding["rule"], finding["assumed"]) == ("header content-type", "content-type", "A13")


XML = b"<?xml version='1.0'?><RequestDocument><RequestHeader><Apikey>test-1</Apikey></RequestHeader></RequestDocument>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(XML, "text/xml", id="xml"),
        pytest.param(XML, FORM["content-type"], id="xml-as-a-form"),
        pytest.param(urlencode({"XMLDATA": XML}).encode(), FORM["content-type"], id="xml-in-a-field"),
        pytest.param(b'{"apikey": "test-1"}', "application/json", id="json"),
    ],
)
async def test_a13_a_body_that_is_no_form_is_not_a_bad_password(body: bytes, content_type: str) -> None:
    """It is a bad parameter, and what was refused says that it is no form (§9: the XML interface is deprecated)."""
    async with boxed() as box:
        answer = await box.call("POST", "/Send", body, {"content-type": content_type})
        assert (answer.status, answer.body) == (400, b"ERROR|102")
        (refused,) = box.runtime.refused
        assert "application/x-www-form-urlencoded" in refused.why
        assert ("XML" in refused.why) is (content_type != "application/json")
        assert refused.what_to_do == "send the fields as a form"
