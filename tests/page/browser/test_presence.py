"""The page while its sandbox is gone, and after the sandbox was restarted; and the notes at its foot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from sendbox.fixture.sandbox import Sandbox
from sendbox.fixture.server import RemoteServer, SandboxServer
from sendbox.settings import Settings
from tests.page.browser.calls import advance, sent
from tests.page.browser.conftest import Tab

SETTINGS = Settings(port=0, public_url=None, mode="manual", start=1_772_355_600_000, keep_closed=1)


@pytest.fixture
def server() -> Iterator[SandboxServer]:
    """A server of this test's own, which it may stop."""
    server = SandboxServer(SETTINGS).start()
    yield server
    server.stop()


@pytest.fixture
def sendbox(server: SandboxServer) -> Iterator[Sandbox]:
    """A world there."""
    remote = RemoteServer(server.origin).start()
    sandbox = remote.sandbox("presence", scenario="lost-webhooks", seed=7)
    yield sandbox
    remote.stop()


def world(tab: Tab) -> Any:
    """The world, as control shows it."""
    return tab.page.request.get(f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}").json()


def test_a_restart_is_said_and_the_world_is_opened_again(tab: Tab, server: SandboxServer) -> None:
    """While the sandbox is gone, what needs it is off and what was typed stays; then the same world is opened again."""
    with tab.page.expect_response("**/scenario"):
        tab.open("try")
    before = world(tab)
    tab.fill("Text", "Half a sentence")
    send = tab.page.locator("main").get_by_role("button", name="Send", exact=True)
    expect(send).to_be_enabled()
    server.stop()
    expect(tab.page.locator(".live")).to_have_text("The sandbox does not answer")
    expect(send).to_be_disabled()
    expect(tab.page.get_by_role("button", name="Advance", exact=True)).to_be_disabled()
    expect(tab.page.get_by_label("Text", exact=True)).to_have_value("Half a sentence")
    again = SandboxServer(replace(SETTINGS, port=server.port)).start()
    try:
        missing = tab.page.get_by_role("alert")
        expect(missing).to_contain_text("The sandbox was restarted")
        tab.accessible()
        tab.press("Open the same world again")
        expect(missing).to_have_count(0)
        expect(send).to_be_enabled()
        expect(tab.page.get_by_label("Text", exact=True)).to_have_value("Half a sentence")
        after = world(tab)
        for name in ("id", "scenario", "seed", "salt", "started", "clock"):
            assert after[name] == before[name], name
        assert after["messages"] == 0
    finally:
        again.stop()
    # what a browser says about calls that nobody answered
    tab.wrong[:] = [wrong for wrong in tab.wrong if "Failed to load resource" not in wrong]


@pytest.mark.deep
def test_a_closed_world_says_so_and_is_opened_anew(tab: Tab) -> None:
    """What happened in it is still shown, its past too; nothing can be done with it but to open it anew."""
    sent(tab, "420777000101", body="The last words")
    advance(tab, "5s")
    tab.open("phones", phone="420777000101")
    offline = tab.page.get_by_role("button", name="Go offline")
    offline.focus()
    assert tab.page.request.delete(f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}").ok
    expect(tab.page.locator(".live")).to_have_text("closed")
    expect(offline).to_have_count(0)
    expect(tab.page.locator("body")).not_to_be_focused()
    expect(tab.page.get_by_role("button", name="Advance", exact=True)).to_have_count(0)
    expect(tab.page.locator(".bubble")).to_contain_text("The last words")
    expect(tab.page.get_by_label("Reply", exact=True)).to_have_count(0)
    tab.accessible()
    tab.press("Time travel")
    tab.press("Back one entry")
    tab.press("Return to the present")
    expect(tab.page.locator(".live")).to_have_text("closed")
    tab.press("Open it anew")
    expect(tab.page.get_by_role("dialog")).to_contain_text("forgotten")
    tab.press("Open it anew", within="dialog")
    expect(tab.page.locator(".live")).to_have_text("live")
    tab.see("Nothing was sent to this phone")
    expect(offline).to_be_enabled()


@pytest.mark.deep
def test_notes_cover_nothing_and_stay_in_a_list(tab: Tab) -> None:
    """The newest stands at the foot, below all that can be pressed, and a list has them all."""
    tab.page.set_viewport_size({"width": 390, "height": 780})
    sent(tab, "420777000101")
    advance(tab, "1m")
    tab.open("phones", phone="420777000101")
    tab.press("Advance")
    tab.said("passed")
    tab.settle()
    composer, foot = (tab.page.locator(part).bounding_box() for part in (".composer", "#foot"))
    assert composer is not None
    assert foot is not None
    assert composer["y"] + composer["height"] <= foot["y"] + 1
    tab.press("Advance")
    tab.said("passed")
    tab.press("Notes (2)")
    notes = tab.page.get_by_role("list", name="Newest first").get_by_role("listitem")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("nothing was due")
    tab.accessible()


@pytest.mark.deep
def test_what_the_server_says_to_programs_is_not_shown(tab: Tab) -> None:
    """A path, a call or a package to install is no sentence for a person."""
    tab.open("library")
    for message, note in {
        "scenarios/a.yaml:3:9: {{fake.name}} needs Faker, which is not installed: pip install 'sendbox[people]'": (
            "This scenario needs the package Faker, which the sandbox does not have here."
        ),
        '"x" is not open; POST /_sandbox/worlds opens one': '"x" is not open.',
        '"x" is not open: not known; a restart changes Sendbox-Instance': '"x" is not open: not known.',
        "by: 'abc' is not a duration": "'abc' is not a duration.",
        "the token a only reads; legal: admin, or team": "The token a only reads; legal: admin, or team.",
        "/usr/lib/scenarios/a.yaml is not a file": "The sandbox refused this.",
    }.items():
        body = {"error": "bad_scenario", "message": message}
        tab.page.route("**/_sandbox/worlds", lambda route, *, body=body: route.fulfill(status=422, json=body))
        tab.page.locator(".library-cards button").first.click()
        expect(tab.page.locator("#status")).to_have_text(note)
        tab.page.unroute("**/_sandbox/worlds")
