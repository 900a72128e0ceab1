"""`/credit/services` and `/credit/order` over HTTP (§2.5, §4.4; A31, A36)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import WORLD, Box, boxed
from tests.interfaces.rest.calls import get, journal, post, subkey

pytestmark = pytest.mark.asyncio
NUMBER = {"service_id": "sender_sms_420_number", "period": "month"}
NAME = {"service_id": "sender_sms_420_alnum", "period": "month", "subject": "Acme"}
SIM = {"service_id": "sender_sms_420_simhost", "period": "year", "subject": "+420 900 000 001"}
MISSING = "Missing required service fields in request data"
STRICT: dict[str, Any] = {
    "sendbox": 1,
    "account": {"credit": {"eur": 1000}, "senders": {"sms": []}},
    "assume": {"sms_sender": "strict"},
}


async def credit(box: Box) -> float:
    """The balance of the account."""
    found: float = (await box.get(f"{WORLD}/account")).json["credit"]
    return found


async def senders(box: Box) -> list[tuple[str, str]]:
    """The senders that a key sees, by channel."""
    found = (await get(box, "/apikey/me")).json["me"]["senders"]
    assert all(each["name"] == each["value"] for each in found)
    return [(each["flow"], each["value"]) for each in found]


async def test_s4_4_the_catalog() -> None:
    """§4.4, §2.5: `services` by platform, calling code and variant."""
    async with boxed() as box:
        answer = (await get(box, "/credit/services")).json
        variant = answer["services"]["sender"]["sms"]["420"]["number"]
        assert answer["success"] is True
        assert (variant["subject"], variant["prices"]["eur"]) == (
            "assigned", {"setup": 20, "monthly": 15, "min_interval": "month"},
        )  # fmt: skip


async def test_a31_an_assigned_number_is_charged_and_usable() -> None:
    """The number comes from the pool; it is a sender, phones can write to it, and the balance paid."""
    async with boxed(STRICT) as box:
        order = (await post(box, "/credit/order", **NUMBER, payload={"for": "me"})).json["order"]
        assert (order["status"], order["subject"][:3]) == ("active", "420")
        assert await credit(box) == 965
        assert await senders(box) == [("sms", order["subject"])]
        (shown,) = (await box.get(f"{WORLD}/account")).json["orders"]
        assert (shown["subject"], shown["state"], shown["fee"]) == (order["subject"], "active", 35)
        (sent,) = await box.send(sender=order["subject"])
        await box.advance()
        assert (await box.results(sent))[-1] == "delivered"


async def test_a31_a_defined_name_is_usable() -> None:
    """Before the order its messages are rejected, after it they are not."""
    async with boxed(STRICT) as box:
        (before,) = await box.send(sender="Acme")
        await box.advance("0s")
        order = (await post(box, "/credit/order", **NAME)).json["order"]
        assert order == {"subject": "Acme", "subject_id": "Acme", "status": "active"}
        (after,) = await box.send(sender="Acme")
        await box.advance()
        assert [(await box.results(each))[-1] for each in (before, after)] == ["rejected", "delivered"]


async def test_a32_an_ordered_sender_is_told_where_any_is_taken() -> None:
    """The default account takes any sender; those that it ordered are in `me` too, until they are cancelled."""
    async with boxed({"sendbox": 1, "account": {"credit": {"eur": 1000}}}) as box:
        assert await senders(box) == []
        await post(box, "/credit/order", **NAME)
        await post(box, "/credit/order", **NAME | {"subject": "Beta"})
        assert await senders(box) == [("sms", "Acme"), ("sms", "Beta")]
        (sent,) = await box.send(sender="Other")
        await box.advance()
        assert (await box.results(sent))[-1] == "delivered"


async def test_a36_an_order_that_takes_days() -> None:
    """`new` now, active when its days are over; the number is normalized."""
    async with boxed(STRICT) as box:
        order = (await post(box, "/credit/order", **SIM)).json["order"]
        assert (order["subject"], order["status"]) == ("420900000001", "new")
        await box.advance("3d")
        assert [each["state"] for each in await journal(box, "order")] == ["new", "active"]
        assert await senders(box) == [("sms", "420900000001")]


async def test_a31_a_dry_run_costs_nothing() -> None:
    """The fee, and nothing else happens."""
    async with boxed(STRICT) as box:
        answer = await post(box, "/credit/order", **NAME, dryrun=True)
        dry = {
            "dryrun": True, "total_fee": 10.0, "currency": "eur", "subject": "Acme",
            "service_id": "sender_sms_420_alnum",
        }  # fmt: skip
        assert answer.json == {"success": True, "order": dry}
        assert await credit(box) == 1000
        assert await journal(box, "order") == []


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param({}, 400, MISSING, id="nothing"),
        pytest.param({"period": "month"}, 400, MISSING, id="no-service"),
        pytest.param({**NAME, "period": ""}, 400, MISSING, id="no-period"),
        pytest.param({**NAME, "service_id": "sender_sms_1_alnum"}, 500, "Invalid service id", id="unknown-service"),
        pytest.param({**NAME, "subject": ""}, 400, MISSING, id="no-subject"),
        pytest.param(
            {**NAME, "subject": "TwelveLetter"},
            400,
            "Invalid 'subject': a sender name of at most 11 characters is expected",
            id="name-of-12",
        ),
        pytest.param(
            {**NAME, "subject": "420900000001"},
            400,
            "Invalid 'subject': a sender name of at most 11 characters is expected",
            id="a-number-for-a-name",
        ),
        pytest.param(
            {**SIM, "subject": "Acme"}, 400, "Invalid 'subject': a phone number is expected", id="a-name-for-a-number"
        ),
        pytest.param({**SIM, "period": "week"}, 400, None, id="no-such-period"),
        pytest.param({**NAME, "dryrun": "yes"}, 400, None, id="dryrun-is-a-boolean"),
    ],
)
async def test_a31_errors(body: dict[str, Any], status: int, text: str | None) -> None:
    """Each with its text and status; nothing is charged."""
    async with boxed(STRICT) as box:
        answer = await post(box, "/credit/order", **body)
        assert answer.status == status
        assert set(answer.json) == {"message"}
        assert text is None or answer.json["message"] == text
        assert await credit(box) == 1000


async def test_a31_the_interval_of_the_service_decides_what_is_paid() -> None:
    """Whichever period is named: a year of a SIM card, a month of a name."""
    async with boxed() as box:
        for period in ("month", "quarter", "year", "once"):
            for body, fee in ((SIM, 410), (NAME, 10)):
                answer = await post(box, "/credit/order", **{**body, "period": period}, dryrun=True)
                assert (answer.status, answer.json["order"]["total_fee"]) == (200, fee)


async def test_a31_names_of_one_and_eleven_characters() -> None:
    """Up to eleven characters are a name (§8)."""
    async with boxed() as box:
        for subject in ("A", "ElevenChars", "7eleven"):
            assert (await post(box, "/credit/order", **{**NAME, "subject": subject})).status == 200


async def test_a31_credit_and_pool_run_out() -> None:
    """500 with its text; an empty balance orders nothing, an empty pool neither."""
    async with boxed() as box:
        key = await subkey(box)
        answer = await post(box, "/credit/order", key, **NAME)
        assert (answer.status, answer.json) == (500, {"message": "Insufficient credit"})
        for _ in range(10):
            assert (await post(box, "/credit/order", **NUMBER)).status == 200
        answer = await post(box, "/credit/order", **NUMBER)
        assert (answer.status, answer.json) == (500, {"message": "No available sender for this service"})


async def test_equal_orders_are_two() -> None:
    """Two calls of one content are two orders, with a number each."""
    async with boxed() as box:
        first, second = [(await post(box, "/credit/order", **NUMBER)).json["order"] for _ in range(2)]
        assert first["subject"] != second["subject"]
        ids = [each["order"] for each in await journal(box, "order")]
        assert ids[0] != ids[1]
