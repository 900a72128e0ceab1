"""A world with 50,000 messages: what a browser fetches and keeps is bounded, whatever was sent."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Response, expect

from tests.page.browser.conftest import Tab
from tests.tiers import LONG

MESSAGES = 50_000
#: Recipients of one request: the most that the service takes (§2.1).
AT_ONCE = 10
#: The most elements of the page, and the most bytes of control's answers, after a view was opened and scrolled.
ELEMENTS = 1_500
BYTES = 500_000


@pytest.fixture
def crowd(tab: Tab) -> Tab:
    """The world of the test with all messages delivered."""
    sendbox = tab.sendbox
    with httpx.Client(transport=sendbox.transport, base_url=sendbox.base_url) as client:
        for first in range(0, MESSAGES, AT_ONCE):
            to = [{"phone_number": f"420777{number:06d}"} for number in range(first, first + AT_ONCE)]
            answer = client.post(
                "/message", json={"to": to, "body": "Hello"}, headers={"x-api-key": sendbox.api_key}, timeout=60
            )
            assert answer.status_code == 200, answer.text
    tab.apart(lambda: sendbox.advance("1m"))
    return tab


@pytest.mark.deep
@pytest.mark.timeout(LONG)
def test_a_large_world_opens_and_scrolls(crowd: Tab) -> None:
    """Lists have the rows that are seen, and ask for pages as they come near; a live world does not send everything."""
    fetched: list[int] = []

    def count(response: Response) -> None:
        if "/_sandbox/worlds" in response.url:
            fetched.append(int(response.headers.get("content-length") or len(response.body())))

    crowd.page.on("response", count)
    views: tuple[tuple[str, dict[str, str]], ...] = (
        ("messages", {}),
        ("messages", {"sort": "phone"}),
        ("phones", {}),
        ("webhooks", {}),
        ("requests", {"order": "oldest"}),
    )
    for view, fields in views:
        fetched.clear()
        crowd.open(view, **fields)
        rows = crowd.page.locator("sb-list a.row")
        rows.first.wait_for()
        for _ in range(8):
            crowd.page.locator("sb-list").hover()
            crowd.page.mouse.wheel(0, 2_000)
        expect(rows.first).to_be_visible()
        elements: Any = crowd.page.evaluate("document.querySelectorAll('*').length")
        assert elements < ELEMENTS, view
        assert sum(fetched) < BYTES, view
