"""Addresses to which the service posts: each place takes the same ones (§2.1, §2.5, §4.3, §4.4)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
MESSAGE: Final = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}


async def statuses(box: Box, url: str) -> set[int]:
    """The answers of all calls that take an address."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/v2/message", {**MESSAGE, "callback": url}),
        ("/v2/message", {**MESSAGE, "callback": {"url": url}}),
        ("/v1/apikey/update", {"default_callback_url": url}),
        ("/v1/apikey/add", {"shared": True, "default_callback_url": url}),
        ("/v1/chatapp/signup", {"partner_callback_url": url}),
        ("/v1/chatapp/signup", {"partner_finish_url": url}),
    ]
    return {(await box.post(path, body, x_api_key=KEY)).status for path, body in calls}


@pytest.mark.parametrize(
    ("url", "legal"),
    [
        ("http://a.example", True),
        ("HTTPS://a.example/", True),
        ("http://a.example:/", True),
        ("http://a.example:00080/", True),
        ("http://[::1]:65535/?x#y", True),
        ("http://a.example:0/", False),
        ("http://a.example:65536/", False),
        ("http://a.example:99999/", False),
        ("http://a.example:/ x", False),
        ("http://", False),
        ("ftp://a.example", False),
        ("http://a.example/" + "x" * 2031, True),
        ("http://a.example/" + "x" * 2032, False),
    ],
)
async def test_s6_each_place_takes_the_same_addresses(url: str, legal: bool) -> None:
    """A port is 1 to 65535; a scenario and control refuse what the calls refuse."""
    async with boxed() as box:
        assert await statuses(box, url) == {200 if legal else 400}
        changed = await box.patch(f"{WORLD}/account", {"default_callback_url": url})
        assert changed.status == (200 if legal else 422)
