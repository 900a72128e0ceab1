"""`/push/device` over HTTP (§2.5, §4.4, §7.2; A34)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import boxed
from tests.interfaces.rest.calls import post, subkey

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"id": "d"}, id="no-token"),
        pytest.param({"token": "t"}, id="no-id"),
        pytest.param({"id": "", "token": "t"}, id="empty-id"),
        pytest.param({"id": "d", "token": None}, id="null-token"),
    ],
)
async def test_a34_id_and_token_are_required(body: dict[str, Any]) -> None:
    """400 with the known text."""
    async with boxed() as box:
        answer = await post(box, "/push/device", **body)
        assert (answer.status, answer.json) == (400, {"message": "Missing 'id' or 'token' in request data"})


async def test_s2_5_a_device_of_another_key_cannot_be_registered() -> None:
    """§2.5: its own key updates it; a sub-key is another key, and another world does not know the device."""
    async with boxed() as box:
        key = await subkey(box)
        assert (await post(box, "/push/device", id="d", token="t")).json == {"success": True}
        assert (await post(box, "/push/device", id="d", token="t2")).status == 200
        answer = await post(box, "/push/device", key, id="d", token="t3")
        assert (answer.status, answer.json) == (403, {"message": "Device is owned by another apikey"})
        assert (await post(box, "/push/device", "test-2", id="d", token="t")).status == 200
