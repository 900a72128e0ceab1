"""Sub-keys at the door: those of a scenario open its world, disabled ones are denied."""

from __future__ import annotations

import pytest

from sendbox.services.account.account import Account
from tests.box import boxed

pytestmark = pytest.mark.asyncio
OURS = "only keys that begin with test- open a world"
SHOP = {"sendbox": 1, "account": {"subkeys": [{"name": "shop"}]}}


async def test_a_sub_key_of_the_scenario_opens_its_world() -> None:
    """Which key of a world calls first makes no difference."""
    async with boxed(SHOP) as box:
        hosted = box.runtime.find("test-a~shop")
        assert hosted is box.runtime.find("test-a")
        assert box.runtime.find("test-b~desk") is None
        assert "test-b" not in box.runtime.worlds


async def test_a_sub_key_opens_no_world_that_its_parent_may_not() -> None:
    """The rules for ids hold, and the refusal says so once."""
    async with boxed(SHOP) as box:
        assert box.runtime.find("prod~shop") is None
        assert [each.why for each in box.runtime.refused] == [OURS]


async def test_a_disabled_sub_key_is_denied_with_its_reason() -> None:
    """Until it is enabled again."""
    async with boxed(SHOP) as box:
        hosted = box.runtime.find("test-a~shop")
        assert hosted is not None
        key = Account.of(hosted.world).keys["test-a~shop"]
        key.disabled = True
        assert box.runtime.find("test-a~shop", "/v2/message") is None
        assert box.runtime.refused[-1].why == "this sub-key is disabled"
        key.disabled = False
        assert box.runtime.find("test-a~shop") is hosted
