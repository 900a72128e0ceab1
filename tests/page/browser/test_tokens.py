"""The page of a sandbox that asks for a token: it asks a person, and keeps the token for the session of the tab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sendbox.fixture.sandbox import Sandbox
from sendbox.fixture.server import RemoteServer, SandboxServer
from sendbox.runtime.teams import parse_tokens
from sendbox.settings import Settings
from tests.page.browser.calls import send
from tests.page.browser.conftest import Tab

SECRET = "0123456789abcdef"


@pytest.fixture
def sendbox() -> Iterator[Sandbox]:
    """A world of a team."""
    tokens = parse_tokens(f"pay team test-pay- {SECRET}\nother team test-other- {SECRET}2", "tokens")
    server = SandboxServer(Settings(port=0, public_url=None, control_tokens=tokens, mode="manual")).start()
    remote = RemoteServer(server.origin, token=SECRET).start()
    sandbox = remote.sandbox("tokens")
    yield sandbox
    sandbox.close()
    remote.stop()
    server.stop()


def enter(tab: Tab, token: str) -> None:
    """Types a token into the dialog, with which the page begins anew."""
    tab.fill("Token", token)
    with tab.page.expect_navigation():
        tab.press("Go on")


def test_the_page_asks_for_the_token_and_keeps_it(tab: Tab) -> None:
    """With it the page is live, its links and downloads work; another tab asks again."""
    address = f"{tab.sendbox.origin}/_sandbox/?world={tab.sendbox.api_key}&view=verdict"
    tab.page.goto(address)
    dialog = tab.page.get_by_role("dialog", name="This sandbox asks for a token")
    expect(dialog).to_contain_text("It is kept until this tab is closed.")
    enter(tab, "no-token-of-this-server")
    expect(dialog).to_contain_text("The token of this tab is none of this sandbox.")
    enter(tab, SECRET)
    tab.page.locator(".live.on").wait_for(state="attached")
    with tab.page.expect_download() as download:
        tab.press("Save as JSON", role="link")
    assert json.loads(Path(download.value.path()).read_text("utf-8"))["expectations"] == []
    tab.open("messages")
    send(tab, "420 777 000 101")
    tab.see("420777000101")
    tab.open("assumptions")
    with tab.page.expect_popup() as popup:
        tab.page.get_by_role("link", name="entry 1", exact=True).first.click()
    expect(popup.value.locator("body")).to_contain_text('"operation": "sendMessage"')
    popup.value.close()
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?world=test-other-1")
    tab.see("is not a world of the token pay", within="body")
    other = tab.page.context.new_page()
    other.goto(address)
    expect(other.get_by_role("dialog", name="This sandbox asks for a token")).to_be_visible()
    other.close()
