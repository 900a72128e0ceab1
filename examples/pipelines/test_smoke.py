"""The smallest test with the fixture: that a machine can run it, whatever its system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox


def test_a_message(sendbox: Sandbox) -> None:
    """It is delivered when the clock moves."""
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}
    httpx.post(f"{sendbox.base_url}/message", headers={"x-api-key": sendbox.api_key}, json=message).raise_for_status()
    sendbox.advance("1m")
    assert [event["result"] for event in sendbox.events] == ["sending", "sent", "delivered"]
