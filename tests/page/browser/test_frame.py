"""The frame of the page in a browser: views, keyboard, themes, widths, worlds that are not open."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.browser.conftest import Tab


def send(tab: Tab, number: str = "420777000101", body: str = "Hello") -> None:
    """The client sends one message."""
    tab.page.request.post(
        f"{tab.sendbox.base_url}/message",
        headers={"x-api-key": tab.sendbox.api_key},
        data={"to": [{"phone_number": number}], "body": body},
    )


def test_a_world_shows_its_views_and_its_clock(tab: Tab) -> None:
    """The bar has the world and its time; each view is one step away."""
    tab.open()
    expect(tab.page.locator("#bar time")).to_have_text(tab.sendbox.clock.now.strftime("%Y-%m-%d %H:%M:%S"))
    tab.press("Messages", "link", "#views")
    expect(tab.page.get_by_role("heading", name="Messages", level=1)).to_be_visible()
    expect(tab.page).to_have_title(f"Messages · {tab.sendbox.api_key} · Sendbox")
    tab.page.go_back()
    expect(tab.page).to_have_title(f"Phones · {tab.sendbox.api_key} · Sendbox")


def test_the_page_waits_for_a_world_that_is_not_open(tab: Tab) -> None:
    """A world that no client used yet appears as soon as one does."""
    key = f"test-later-{tab.sendbox.api_key[-12:]}"
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?world={key}")
    expect(tab.page.get_by_role("alert")).to_contain_text("This world is not open")
    assert tab.page.request.post(f"{tab.sendbox.origin}/_sandbox/worlds", data={"id": key}).ok
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    expect(tab.page.locator("#bar time")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_page(tab: Tab, width: int) -> None:
    """On a phone and on a laptop, nobody has to scroll to the side."""
    tab.page.set_viewport_size({"width": width, "height": 740})
    send(tab, body="w" * 400)
    tab.open("messages")
    tab.see("420777000101")
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width


def test_the_theme_is_kept(tab: Tab) -> None:
    """A person chooses the colours once."""
    tab.open()
    root = tab.page.locator("html")
    tab.press("Colours: as the system")
    expect(root).to_have_attribute("data-theme", "light")
    tab.page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    tab.press("Colours: light")
    expect(root).to_have_attribute("data-theme", "dark")
