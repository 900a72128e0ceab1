"""Codes through control: read, waited for, and settled by a rule in front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from sendbox.assembly import make_app
from sendbox.contract.validators import Contract
from sendbox.settings import Settings
from tests.scenarios import load

pytestmark = pytest.mark.asyncio
KEY = "test-codes"
WORLD = f"/_sandbox/worlds/{KEY}"
PHONE, OTHER = "420777000101", "420777000102"


class Box:
    """The application, called in process."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def get(self, path: str) -> Any:
        return (await self._http.get(f"{WORLD}{path}")).json()

    async def do(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        answer = await self._http.request(method, f"{WORLD}{path}", json=body or None)
        return answer.status_code, answer.json()

    async def begin(self, phone: str = PHONE) -> str:
        headers = {"x-api-key": KEY}
        answer = await self._http.post("/v1/validations", json={"phoneNumber": phone}, headers=headers)
        assert answer.status_code == 200
        return str(answer.json()["token"])


@asynccontextmanager
async def serving(scenario: str = "default") -> AsyncIterator[Box]:
    app = make_app(Settings(mode="manual", start=1_772_355_600_000), load(scenario), Contract())
    transport, runtime = httpx.ASGITransport(app), app.runtime
    runtime.open(KEY)
    async with httpx.AsyncClient(transport=transport, base_url="http://box:7357") as client:
        yield Box(client)
    await runtime.aclose()


async def test_codes_are_newest_first() -> None:
    """All of a world, or those of a phone in whatever form its number is given; `last` asks for the newest."""
    async with serving() as box:
        assert await box.get("/codes") == {"codes": []}
        tokens = [await box.begin(phone) for phone in (PHONE, OTHER, PHONE)]

        async def listed(query: str = "") -> list[int]:
            return [tokens.index(code["token"]) for code in (await box.get(f"/codes{query}"))["codes"]]

        assert await listed() == [2, 1, 0]
        assert await listed("?last=2") == [2, 1]
        assert await listed(f"?phone={PHONE}") == [2, 0]
        assert await listed("?phone=777 000 102") == [1]
        assert await listed("?phone=420777000199") == []


async def test_a_number_that_was_taken_as_it_is_is_found_as_it_is() -> None:
    """Nine digits are nine digits to the Verify interface (§4.5), and so they are looked for."""
    async with serving() as box:
        await box.begin("777000123")
        assert [code["phone"] for code in (await box.get("/codes?phone=777000123"))["codes"]] == ["777000123"]


async def test_codes_can_be_waited_for() -> None:
    """A long poll answers as soon as there is a code."""
    async with serving() as box:
        waiting = asyncio.create_task(box.get(f"/codes?phone={PHONE}&wait=10s"))
        for _ in range(10):
            await asyncio.sleep(0)
        await box.begin(OTHER)
        assert not waiting.done()
        token = await box.begin()
        assert [code["token"] for code in (await waiting)["codes"]] == [token]
        assert await box.get("/codes?phone=420777000199&wait=1ms") == {"codes": []}


async def test_a_handset_shows_its_codes() -> None:
    """The phone's own view has them too."""
    async with serving() as box:
        token = await box.begin()
        assert [code["token"] for code in (await box.get(f"/phones/{PHONE}"))["codes"]] == [token]


async def test_a_rule_in_front_of_verify() -> None:
    """It settles codes to come, is named in them, and can be taken away again."""
    async with serving() as box:
        put = {"in": "verify", "name": "mine", "when": {"phone": PHONE}, "then": {"code": "123456"}}
        status, made = await box.do("POST", "/rules", **put)
        assert (status, made) == (201, {"id": "v1", "in": "verify"})
        await box.begin()
        code = (await box.get("/codes"))["codes"][0]
        assert (code["code"], code["rules"]) == ("123456", ["mine"])
        assert await box.do("DELETE", "/rules/v1") == (200, {"dropped": "v1"})
        assert (await box.do("DELETE", "/rules/v1"))[0] == 404
        await box.begin()
        assert (await box.get("/codes"))["codes"][0]["rules"] == []


async def test_a_wrong_rule_for_verify() -> None:
    """422 with every problem; a list that is none is refused by name."""
    async with serving() as box:
        status, answer = await box.do("POST", "/rules", **{"in": "verify", "then": {"code": "1"}})
        assert (status, [each["path"] for each in answer["problems"]]) == (422, ["$.then.code"])
        status, answer = await box.do("POST", "/rules", **{"in": "phones", "then": "failed"})
        assert (status, answer["message"]) == (
            400,
            'in: "phones" is not known; legal: attempts, verify, api, webhooks',
        )


async def test_rules_of_another_scenario_hold_at_once() -> None:
    """A change of scenario brings its rules about codes with it; one that has the same says nothing about them."""
    async with serving() as box:
        assert (await box.do("PUT", "/scenario", name="otp-fallback"))[1]["applied"] == ["attempts", "expect"]
        status, answer = await box.do("PUT", "/scenario", name="otp-lockout")
        assert (status, {"attempts", "verify"} <= {*answer["applied"]}) == (200, True)
        await box.begin()
        assert (await box.get("/codes"))["codes"][0]["code"] == "246813"
