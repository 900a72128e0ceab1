"""`/blacklist` and `/optout` over HTTP (§4.4; A27, A70, A81)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.box import KEY, boxed
from tests.interfaces.rest.calls import OWN, get, journal, post, subkey

pytestmark = pytest.mark.asyncio
BOTH = pytest.mark.parametrize("path", ["/blacklist", "/optout"])


@BOTH
async def test_s4_4_counts_and_invalid(path: str) -> None:
    """§4.4: `accepted` counts, `invalid` lists the lines that are no number."""
    async with boxed() as box:
        answer = await post(box, path, to="777000101\n+420 777 000 102\nabc\n")
        assert (answer.status, answer.json) == (200, {"success": True, "accepted": 2, "invalid": ["abc"]})


@BOTH
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({}, {"success": False, "message": "Missing 'to'"}, id="missing"),
        pytest.param({"to": ""}, {"success": False, "message": "Missing 'to'"}, id="empty"),
        pytest.param({"to": None}, {"success": False, "message": "Missing 'to'"}, id="null"),
        pytest.param(
            {"to": "abc\n12"},
            {"success": False, "message": "No valid phone numbers", "invalid": ["abc", "12"]},
            id="no-number",
        ),
        pytest.param(
            {"to": "\n"}, {"success": False, "message": "No valid phone numbers", "invalid": []}, id="blank-lines"
        ),
    ],
)
async def test_a27_errors(path: str, body: dict[str, Any], expected: dict[str, Any]) -> None:
    """400 with `success: false`, and the journal says why."""
    async with boxed() as box:
        answer = await post(box, path, **body)
        assert (answer.status, answer.json) == (400, expected)
        assert (await journal(box, "request"))[-1]["findings"]


@BOTH
async def test_another_type_is_refused(path: str) -> None:
    """Numbers are text, not a number or a list."""
    async with boxed() as box:
        for value in (420777000101, ["420777000101"]):
            answer = await post(box, path, to=value)
            assert answer.status == 400
            assert answer.json["message"].endswith("legal: a string (§4.4) at $.to")


async def test_s1_both_lists_act_on_sends_a_second_later() -> None:
    """§1, §2.1: blacklisted numbers get nothing, those that opted out nothing promotional, with [304] (§7.3)."""
    async with boxed() as box:
        await post(box, "/blacklist", to="420777000101")
        await post(box, "/optout", to="420777000201")
        await box.advance("1s")
        tags = {"tag": "transactional"}
        ids = [
            (await box.send("420777000101", **tags))[0],
            (await box.send("420777000201"))[0],
            (await box.send("420777000201", **tags))[0],
        ]
        await box.advance()
        shown = [(await get(box, "/message", id=each)).json["message"] for each in ids]
        assert [each["flow_status"]["0"] for each in shown] == [
            {"status_code": "304", "delivery_code": None},
            {"status_code": "304", "delivery_code": None},
            {"status_code": "200", "delivery_code": "201"},
        ]
        assert shown[0]["status_info"] == "Phone number is blacklisted or opted-out"


async def test_a81_the_delay_is_a_setting() -> None:
    """`list_delay` says when an entry is in force."""
    async with boxed({"sendbox": 1, "assume": {"list_delay": "10m"}}) as box:
        await post(box, "/blacklist", to="420777000101")
        await box.advance("9m59s")
        (early,) = await box.send("420777000101")
        await box.advance("1s")
        (late,) = await box.send("420777000101")
        await box.advance()
        assert [(await box.results(each))[-1] for each in (early, late)] == ["delivered", "rejected"]


async def test_a70_lists_belong_to_a_subaccount() -> None:
    """What a sub-key enters concerns its own messages; its parent may enter for it, and nobody else may."""
    async with boxed() as box:
        answer = await post(box, "/apikey/add", **OWN)
        own, subid = answer.json["apikey"], answer.json["billing_id"]
        other = await subkey(box, note="other")
        assert (await post(box, "/blacklist", to="420777000101", subid=subid)).status == 200
        assert (await post(box, "/blacklist", own, to="420777000201")).status == 200
        assert (await post(box, "/blacklist", own, to="420777000301", subid=subid)).status == 200
        for key, name in ((own, "default"), (other, subid), ("test-1", "nobody")):
            answer = await post(box, "/blacklist", key, to="420777000101", subid=name)
            assert (answer.status, answer.json) == (
                403, {"success": False, "message": "Subid is not available to this apikey"},
            )  # fmt: skip
        await box.advance("1s")
        (sent,) = await box.send("420777000101")
        await box.advance()
        assert (await box.results(sent))[-1] == "delivered"
        entries = await journal(box, "listed")
        assert [(each["subid"], each["count"]) for each in entries] == [(subid, 1)] * 3


@pytest.mark.parametrize("path", ["/blacklist", "/optout"])
async def test_a90_a_subkey_asks_the_lists_of_the_account_too(path: str) -> None:
    """What the account enters concerns its sub-keys, whichever balance they have; not the other way round."""
    keys = [{"name": "own", "credit": 5}, {"name": "shared", "shared": True}, {"name": "other", "credit": 5}]
    async with boxed({"sendbox": 1, "account": {"subkeys": keys}}) as box:
        own, shared, other = "test-1~own", "test-1~shared", "test-1~other"
        assert (await post(box, path, to="420777000101")).status == 200
        assert (await post(box, path, own, to="420777000201")).status == 200
        await box.advance("1s")
        results = {}
        for number in ("420777000101", "420777000201"):
            sent = [(await box.send(number, key=key))[0] for key in (KEY, own, shared, other)]
            await box.advance()
            results[number] = [(await box.results(each))[-1] for each in sent]
        assert results["420777000101"] == ["rejected"] * 4
        assert results["420777000201"] == ["delivered", "rejected", "delivered", "delivered"]


async def test_a_world_that_is_reset_while_a_long_list_is_read() -> None:
    """The reset waits until the call has ended, and the new epoch knows nothing of it."""
    async with boxed() as box:
        await box.send()
        text = "\n".join(f"4207770{number:05}" for number in range(60_000))
        call = asyncio.ensure_future(post(box, "/blacklist", to=text))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not call.done()
        assert (await box.post("/_sandbox/worlds/test-1/reset")).json["epoch"] == 1
        assert call.done()
        assert ((await call).status, (await call).json["accepted"]) == (200, 60_000)
        assert await journal(box, "listed,request") == []
        assert (await box.get("/_sandbox/refused")).json["refused"] == []
        await box.advance("1h")
        assert await box.final("420777000101") == "delivered"


async def test_a_call_that_waits_behind_a_long_list_finds_its_world_reset() -> None:
    """It came for an epoch that is over by the time it could be done: it is denied."""
    async with boxed() as box:
        await box.send()
        text = "\n".join(f"4207770{number:05}" for number in range(60_000))
        call = asyncio.ensure_future(post(box, "/blacklist", to=text))
        for _ in range(5):
            await asyncio.sleep(0)
        reset = asyncio.ensure_future(box.post("/_sandbox/worlds/test-1/reset"))
        await asyncio.sleep(0)
        late = asyncio.ensure_future(post(box, "/blacklist", to="420777000101"))
        await asyncio.sleep(0)
        assert not call.done()
        assert (await call).status == 200
        assert (await reset).json["epoch"] == 1
        answer = await late
        assert (answer.status, answer.json) == (401, {"success": False, "message": "Unauthorized"})
        refused = (await box.get("/_sandbox/refused")).json["refused"][-1]
        assert refused["why"] == "its world was closed or reset while the call was on its way"


async def test_long_lists_hold_nobody_up() -> None:
    """While a long list is read, another world is served."""
    async with boxed() as box:
        text = "\n".join(f"4207770{number:05}" for number in range(60_000))
        call = asyncio.ensure_future(post(box, "/blacklist", to=text))
        await asyncio.sleep(0)
        await box.send(key="test-2")
        assert not call.done()
        assert (await call).json["accepted"] == 60_000


async def test_a14_lines_that_were_converted_are_remarked_on() -> None:
    """A line is read as any number of a client is, and advice names what it became."""
    async with boxed() as box:
        await box.post("/v1/optout", {"to": "420777000101\n420601#00001"}, x_api_key="test-1")
        (remark,) = (await box.get("/_sandbox/worlds/test-1/advice")).json["advice"]
        assert (remark["code"], remark["message"]) == (
            "number-converted",
            '"420601#00001" is converted to 42060100001',
        )
