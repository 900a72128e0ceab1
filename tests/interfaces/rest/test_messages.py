"""`/messages` and `/message` over HTTP (§2.4, §4.4; A28 to A30, A71)."""

from __future__ import annotations

import pytest

from tests.box import boxed
from tests.interfaces.rest.calls import OWN, get, post, subkey

pytestmark = pytest.mark.asyncio
TODAY = "2026-03-01"
NO_DATE = "Missing 'date' or 'xapikey' in request data"


async def test_s4_4_rows_of_a_day() -> None:
    """§4.4: `success`, rows, and no next cursor on the last page."""
    async with boxed() as box:
        ids = await box.send("420777000101", "420777000102")
        assert (await get(box, "/messages", date=TODAY)).json == {"success": True, "messages": [], "next_cursor": None}
        await box.advance()
        answer = (await get(box, "/messages", date=TODAY)).json
        assert [row["message_id"] for row in answer["messages"]] == ids
        assert [(row["delivered"], row["nondelivered"]) for row in answer["messages"]] == [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        pytest.param({}, 400, NO_DATE, id="no-date"),
        pytest.param({"date": ""}, 400, NO_DATE, id="empty-date"),
        pytest.param({"date": "1.3.2026"}, 400, None, id="another-form"),
        pytest.param({"date": "2026-13-01"}, 400, None, id="no-month"),
        pytest.param({"date": "2026-02-30"}, 400, None, id="no-day"),
        pytest.param({"date": TODAY, "cursor": "x"}, 400, None, id="no-cursor"),
        pytest.param({"date": TODAY, "subid": "x"}, 403, "Subid is not available to this apikey", id="no-subid"),
    ],
)
async def test_a28_errors(query: dict[str, str], status: int, text: str | None) -> None:
    """What is missing or not legal is named."""
    async with boxed() as box:
        answer = await get(box, "/messages", **query)
        assert answer.status == status
        assert text is None or answer.json == {"message": text}
        assert set(answer.json) == {"message"}


async def test_s4_4_pages_by_cursor_while_messages_arrive() -> None:
    """§4.4: 101 rows are two pages; what arrives in between is at the end; a cursor is of its day and its filters."""
    async with boxed() as box:
        for number in range(101):
            await box.send(f"4207770{number:03}00")
        await box.advance("0s")
        first = (await get(box, "/messages", date=TODAY)).json
        await box.send("420777999900")
        await box.advance("0s")
        second = (await get(box, "/messages", date=TODAY, cursor=first["next_cursor"])).json
        assert (len(first["messages"]), len(second["messages"]), second["next_cursor"]) == (100, 2, None)
        assert second["messages"][1]["phone_number"] == "420777999900"
        other = await get(box, "/messages", date="2026-03-02", cursor=first["next_cursor"])
        assert other.status == 400
        assert "is not a cursor of this day" in other.json["message"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({"tag": "b, A"}, ["420777000101"], id="normalized-and-sorted"),
        pytest.param({"tag": "a"}, [], id="whole-sets"),
        pytest.param({"tag": "promotional"}, ["420777000102"], id="the-default"),
        pytest.param({"tag": "!!!"}, ["420777000101", "420777000102"], id="nothing-left"),
        pytest.param({"phone_number": "420777000102"}, ["420777000102"], id="phone"),
        pytest.param({"phone_number": "777 000 102"}, ["420777000102"], id="phone-normalized"),
        pytest.param({"phone_number": "abc"}, [], id="phone-that-is-none"),
        pytest.param({"phone_number": "420777000101", "tag": "promotional"}, [], id="both"),
        pytest.param({"subid": "default"}, ["420777000101", "420777000102"], id="subid"),
    ],
)
async def test_s4_4_filters(query: dict[str, str], expected: list[str]) -> None:
    """§4.4: comma-separated tags are normalized and sorted before comparison; a number is normalized too."""
    async with boxed() as box:
        await box.send("420777000101", tag="a,b")
        await box.send("420777000102")
        await box.advance()
        answer = (await get(box, "/messages", date=TODAY, **query)).json
        assert [row["phone_number"] for row in answer["messages"]] == expected
        remarks = (await box.get("/_sandbox/worlds/test-1/advice")).json["advice"]
        converted = ['"777 000 102" is converted to 420777000102'] if query.get("phone_number") == "777 000 102" else []
        assert [each["message"] for each in remarks if each["code"] == "number-converted"] == converted


async def test_s2_4_clicks_and_replies_show() -> None:
    """§2.4: what the phone did is in the row of the message."""
    async with boxed() as box:
        await box.send("420777000101", body="See https://acme.example", params={"_url": {}})
        await box.advance()
        phone = "/_sandbox/worlds/test-1/phones/420777000101"
        for act, body in (("click", {}), ("reply", {"body": "Why"}), ("reply", {"body": "stop"})):
            assert (await box.post(f"{phone}/{act}", body)).status < 300
        (row,) = (await get(box, "/messages", date=TODAY)).json["messages"]
        assert (row["clicked"], row["replied"], row["optout"]) == (1, 1, 1)
        assert row["ts_optout"] == row["ts_updated"] == "2026-03-01T09:01:00.000Z"


async def test_a29_one_message() -> None:
    """By its id; an unknown one is null, and a call without an id says so."""
    async with boxed() as box:
        (sent,) = await box.send(tag="b,a")
        await box.advance()
        found = (await get(box, "/message", id=sent)).json
        assert found["success"] is True
        assert (found["message"]["status_code"], found["message"]["delivery_code"]) == ("200", "201")
        assert (found["message"]["tag"], found["message"]["price"]) == ("b,a", 0.036)
        assert (await get(box, "/message", id="nobody")).json == {"success": True, "message": None}
        answer = await get(box, "/message")
        assert (answer.status, answer.json) == (400, {"message": "Missing 'id' in request data"})


async def test_a09_messages_are_found_by_their_full_ids() -> None:
    """§2.3: rows and `GET /message` use `<base_id>-<recipient_index>`."""
    async with boxed() as box:
        body = [{"body": "Hello", "to": [{"phone_number": "420777000101"}, {"phone_number": "420777000201"}]}]
        accepted = (await box.post("/v2/messages", body, x_api_key="test-1")).json["accepted"]
        await box.advance()
        base = accepted[0]["message_id"]
        rows = (await get(box, "/messages", date=TODAY)).json["messages"]
        assert [row["message_id"] for row in rows] == [f"{base}-0", f"{base}-1"]
        assert (await get(box, "/message", id=f"{base}-1")).json["message"]["to"] == {"phone_number": "420777000201"}
        assert (await get(box, "/message", id=base)).json["message"] is None
        remarks = (await box.get("/_sandbox/worlds/test-1/advice")).json["advice"]
        assert [(remark["code"], remark["path"]) for remark in remarks] == [("base-id", "$.id")]


async def test_nobody_reads_the_messages_of_another() -> None:
    """A sub-key with a balance of its own sees its messages only, its parent sees all, another world none."""
    async with boxed() as box:
        answer = await post(box, "/apikey/add", **OWN)
        own, subid = answer.json["apikey"], answer.json["billing_id"]
        other, shared = await subkey(box, note="other"), await subkey(box, shared=True)
        (mine,) = await box.send(key=own)
        (parents,) = await box.send()
        await box.advance()

        async def seen(key: str, **query: str) -> tuple[int, bool, bool]:
            rows = (await get(box, "/messages", key, date=TODAY, **query)).json["messages"]
            found = [(await get(box, "/message", key, id=each)).json["message"] for each in (mine, parents)]
            return len(rows), found[0] is not None, found[1] is not None

        assert await seen("test-1") == (1, True, True)
        assert await seen("test-1", subid=subid) == (1, True, True)
        assert await seen(own) == (1, True, False)
        assert await seen(shared) == (1, False, True)
        assert await seen(other) == (0, False, False)
        assert await seen("test-2") == (0, False, False)
