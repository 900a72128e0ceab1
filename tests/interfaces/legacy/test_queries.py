"""Questions that clients of the legacy interface ask, and the credit: the specification has neither (A94, A95, A96)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from sendbox.app import SERVED
from sendbox.services.messaging.http.rest.listing import PAGE
from tests.box import KEY, WORLD, Answer, Box, at, boxed

pytestmark = pytest.mark.asyncio
FORM = {"content-type": "application/x-www-form-urlencoded"}
CZK = {"currency": "CZK", "credit": 100.5}


async def ask(box: Box, path: str, method: str = "POST", *, key: str = KEY, **fields: str) -> Answer:
    """A legacy call with a key and these fields."""
    form = urlencode({"apikey": key, **fields})
    if method == "GET":
        return await box.call("GET", f"{path}?{form}")
    return await box.call("POST", path, form.encode(), FORM)


async def line(box: Box, path: str, method: str = "POST", **fields: str) -> str:
    """The text of a good answer."""
    answer = await ask(box, path, method, **fields)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8"), answer
    return answer.body.decode()


def scenario(**keys: Any) -> Any:
    """A scenario with these keys."""
    return {"sendbox": 1, **keys}


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("path", ["/GetUserInfo", "/getuserinfo"])
async def test_a95_user_info(method: str, path: str) -> None:
    """Credit, default sender and default gateway; of a sub-key its own."""
    async with boxed(scenario(account={"credit": {"eur": 12.5}, "subkeys": [{"name": "b", **CZK}]})) as box:
        assert await line(box, path, method) == "12.50|InfoSMS|high"
        assert await line(box, path, method, key=f"{KEY}~b") == "100.50|InfoSMS|high"
        assert (await box.post("/v1/apikey/update", {"default_sender": "Acme"}, x_api_key=KEY)).status == 200
        assert await line(box, path, method) == "12.50|Acme|high"
        assert (await ask(box, path, method, key="prod")).body == b"ERROR|103"
        assert (await box.call(method, path, b"", FORM)).body == b"ERROR|103"
        assert (await ask(box, path, method, number="1")).status == 200
        advice = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert [(entry["code"], entry["path"]) for entry in advice] == [("unknown-field", "$.number")]


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a95_price(method: str) -> None:
    """Valid recipients, segments, characters, the price of one and of all; nothing is sent or charged."""
    prices = {"sms": {"default": {"eur": 0.05, "czk": 1.25}}}
    account = {"credit": {"eur": 1}, "subkeys": [{"name": "b", **CZK}]}
    async with boxed(scenario(account=account, assume={"prices": prices})) as box:
        fields = {"number": "420777000101;12;420777000201", "message": "Dobrý den"}
        assert await line(box, "/GetPrice", method, **fields) == "2|1|9|0.05|0.10"
        assert await line(box, "/GetPrice", method, key=f"{KEY}~b", **fields) == "2|1|9|1.25|2.50"
        long = fields | {"message": "ž" * 71}
        assert await line(box, "/GetPrice", method, **long) == "2|2|71|0.10|0.20"
        assert await line(box, "/GetPrice", method, **long, type="sms") == "2|1|71|0.05|0.10"
        assert (await ask(box, "/GetPrice", method, message="x")).body == b"ERROR|201"
        assert (await ask(box, "/GetPrice", method, number="420777000101")).body == b"ERROR|202"
        assert (await ask(box, "/GetPrice", method, **fields, gateway="fast")).body == b"ERROR|104"
        assert (await box.get(f"{WORLD}/messages")).json["messages"] == []
        assert await line(box, "/GetUserInfo", method) == "1.00|InfoSMS|high"


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a96_list_and_status(method: str) -> None:
    """A line for each message of this interface, and the message of an id, from waiting to its end."""
    rules = [{"when": {"phone": "420777000201"}, "then": "undelivered"}]
    async with boxed(scenario(attempts=rules, assume={"test_number": "on"})) as box:
        assert await line(box, "/RequestList", method) == ""
        sent = await line(
            box, "/Send", number="420777000101;420777000201;420777777777", message="Hello", gateway="low",
            time=at(300), expiration=at(900), sender="Acme",
        )  # fmt: skip
        first, second, test = [text.partition("|")[2] for text in sent.splitlines()]
        await box.send("420777000301")
        waiting = [f"{id}|lowcost||{at(900)}|Acme|1|0" for id in (first, second)]
        assert (await line(box, "/RequestList", method)).splitlines() == waiting
        assert await line(box, "/RequestStatus", method, requestID=first) == "420777000101|0|0|"
        await box.advance("5m")
        assert await line(box, "/RequestStatus", method, requestid=first) == "420777000101|1|1|"
        await box.advance("1m")
        assert await line(box, "/RequestStatus", method, requestID=first) == "420777000101|2|1|201"
        assert await line(box, "/RequestStatus", method, requestID=second) == "420777000201|3|1|1"
        assert (await line(box, "/requestlist", method)).splitlines() == [
            f"{first}|lowcost|{at(301)}|{at(900)}|Acme|0|2",
            f"{second}|lowcost|{at(301)}|{at(900)}|Acme|0|3",
        ]
        for fields in ({"requestID": "nobody"}, {"requestID": test}, {}):
            assert (await ask(box, "/RequestStatus", method, **fields)).body == b"ERROR|102"


async def test_a96_messages_of_another_balance_are_not_shown() -> None:
    """A sub-key with a balance of its own sees its own messages only; the parent looks up all."""
    async with boxed(scenario(account={"subkeys": [{"name": "b", **CZK}]})) as box:
        own = (await line(box, "/Send", number="420777000101", message="Hello")).partition("|")[2]
        other = (await line(box, "/Send", key=f"{KEY}~b", number="420777000201", message="Hello")).partition("|")[2]
        assert (await line(box, "/RequestList")).partition("|")[0] == own
        assert (await line(box, "/RequestList", key=f"{KEY}~b")).partition("|")[0] == other
        assert (await ask(box, "/RequestStatus", key=f"{KEY}~b", requestID=own)).body == b"ERROR|102"
        assert (await line(box, "/RequestStatus", requestID=other)).startswith("420777000201|")


async def test_a96_only_the_newest_are_listed() -> None:
    """A long list is read in slices, and so are ids that were not read yet."""
    async with boxed(scenario(account={"credit": {"eur": 1000}})) as box:
        numbers = ";".join(f"4207770{number:05}" for number in range(PAGE))
        ids = [
            text.partition("|")[2]
            for _ in range(2)
            for text in (await line(box, "/Send", number=numbers, message="Hello")).splitlines()
        ]
        for _ in range(60):
            await box.send(*(f"42077711{number:04}" for number in range(10)))
        assert await line(box, "/RequestStatus", requestID=ids[0]) == "420777000000|0|0|"
        listed = [text.partition("|")[0] for text in (await line(box, "/RequestList")).splitlines()]
        assert listed == ids[PAGE:]


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a96_worlds_compare_whatever_their_ids_are(method: str) -> None:
    """Names that a world gave are not in the digest of such calls."""
    async with boxed() as box:
        digests = []
        for key in (KEY, "test-2"):
            id = (await line(box, "/Send", key=key, number="420777000101", message="Hello")).partition("|")[2]
            await line(box, "/RequestStatus", method, key=key, requestID=id)
            await line(box, "/GetUserInfo", method, key=key)
            await line(box, "/GetPrice", method, key=key, number="420777000101", message="Hello")
            digests.append((await box.get(f"/_sandbox/worlds/{key}/digest")).json["digest"])
        assert digests[0] == digests[1]


async def test_a94_credit() -> None:
    """The balance in its currency, the other amount 0.00; a sub-key shows its own."""
    account = {"credit": {"eur": 12.5}, "subkeys": [{"name": "b", **CZK}]}
    async with boxed(scenario(account=account)) as box:
        answer = await box.get("/v1/credit", x_api_key=KEY)
        assert (answer.status, answer.json) == (
            200,
            {
                "success": True,
                "credit": {
                    "priceLevels": {}, "credit_czk": "0.00", "credit_eur": "12.50", "billing_id": "default",
                    "vat": "0", "currency": "eur", "tz": "UTC",
                },
            },
        )  # fmt: skip
        credit = (await box.get("/v1/credit", x_api_key=f"{KEY}~b")).json["credit"]
        assert (credit["credit_czk"], credit["credit_eur"], credit["currency"]) == ("100.50", "0.00", "czk")
        assert credit["billing_id"] not in ("", "default")
        denied = await box.get("/v1/credit")
        assert (denied.status, denied.json) == (401, {"message": "Unauthorized"})


async def test_a97_calls_beyond_the_specification_can_be_switched_off() -> None:
    """With `beyond: off` each of them is 404, which says that it is outside the specification; a rule may answer."""
    beyond = [route for route in SERVED.routes if route.beyond]
    assert len(beyond) == 9
    stub = {"when": {"path": "/GetPrice"}, "fault": {"answer": {"body": "1|1|1|1.00|1.00"}}}
    async with boxed(scenario(assume={"beyond": "off"}, api=[stub])) as box:
        for route in beyond:
            headers = {"x-api-key": KEY, **FORM}
            path = route.path if route.query is None else f"{route.path}?apikey={KEY}"
            answer = await box.call(route.method, path, f"apikey={KEY}".encode(), headers)
            if route.path == "/GetPrice":
                assert (answer.status, answer.body) == (200, b"1|1|1|1.00|1.00")
                continue
            assert answer.status == 404
            assert f"{route.path} is not a path of the {route.interface} interface" in answer.body.decode()
            assert "outside the specification" in answer.body.decode()
            assert (route.interface != "legacy") or answer.body.startswith(b"ERROR|101\n")
        entries = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert {entry["operation"] for entry in entries} == {"unknown"}
