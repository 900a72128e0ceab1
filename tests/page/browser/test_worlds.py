"""Worlds in a browser: their list, what is done with a whole world, and the library that plays stories."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.page.browser.conftest import Tab
from tests.page.browser.test_frame import send
from tests.tiers import LONG

#: More than a page of the list has.
MANY = 400


def worlds(tab: Tab) -> Tab:
    """Shows the list of worlds, once it is live."""
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/")
    tab.page.locator(".live.on").wait_for(state="attached")
    return tab


def control(tab: Tab, path: str) -> Any:
    """What control answers."""
    return tab.page.request.get(f"{tab.sendbox.origin}/_sandbox/{path}").json()


def dialog(tab: Tab) -> Locator:
    """The dialog in front."""
    return tab.page.get_by_role("dialog").last


@pytest.mark.deep
def test_a_world_is_opened_by_hand(tab: Tab) -> None:
    """A form with an id, a scenario, a start and a clock; what is not legal is said, and the form stays."""
    worlds(tab).accessible()
    key = f"test-{tab.sendbox.api_key[-12:]}-opened"
    tab.press("Open a world")
    tab.accessible()
    form = dialog(tab)
    form.get_by_label("Id, which is the API key").fill("shop")
    form.get_by_role("button", name="Open", exact=True).click()
    tab.said("is not an id of a world")
    form.get_by_label("Id, which is the API key").fill(key)
    form.get_by_label("Scenario of the library", exact=True).select_option("credit-runs-dry")
    form.get_by_label("Clock", exact=True).select_option("manual")
    form.get_by_label("Start", exact=True).fill("2026-05-01T08:00:00Z")
    form.get_by_label("Seed").fill("7")
    form.get_by_role("button", name="Open", exact=True).click()
    expect(tab.page.locator("#bar .clock time")).to_have_text("2026-05-01 08:00:00")
    opened = control(tab, f"worlds/{key}")
    assert (opened["scenario"], opened["seed"], opened["clock"]["mode"]) == ("The credit runs dry", 7, "manual")
    worlds(tab).press("Open a world")
    form.get_by_text("or a scenario as text").click()
    form.get_by_label("Scenario as text").fill("sendbox: 1\nattempts: 7\n")
    form.get_by_role("button", name="Open", exact=True).click()
    # a reader of the screen is in the dialog
    expect(form.get_by_role("status")).to_contain_text("in line 2: 7 is not a list of rules")
    tab.accessible()
    form.get_by_label("Scenario as text").fill("")
    form.get_by_label("Id, which is the API key").fill("no key")
    form.get_by_role("button", name="Open", exact=True).click()
    expect(form.get_by_role("status")).to_have_text(re.compile('^"no key" is not an id of a world; .*-\\.$'))
    form.get_by_label("Id, which is the API key").fill("")
    form.get_by_label("Start").fill("2026-03-01 10:00")
    form.get_by_label("Clock", exact=True).select_option("manual")
    form.get_by_role("button", name="Open", exact=True).click()
    expect(tab.page.locator("#bar time")).to_have_text("2026-03-01 10:00:00")


@pytest.mark.deep
@pytest.mark.timeout(LONG)
def test_the_list_has_thousands_of_worlds(tab: Tab) -> None:
    """It shows the newest first and those rows that are seen, finds them by a prefix, and follows what opens."""
    key = tab.sendbox.api_key
    with httpx.Client(transport=tab.sendbox.transport, base_url=tab.sendbox.origin) as client:
        for number in range(MANY):
            answer = client.post(
                "/_sandbox/worlds", json={"id": f"{key[:40]}-{number:04}", "clock": {"mode": "manual"}}
            )
            assert answer.status_code == 201, answer.text
    rows = worlds(tab).page.locator("sb-list a.row")
    expect(rows.first).to_contain_text(f"-{MANY - 1:04}")
    assert rows.count() < 40
    tab.page.locator("sb-list").hover()
    tab.page.mouse.wheel(0, 3000)
    expect(tab.page.locator("sb-list").get_by_text("-0360")).to_be_attached()
    assert rows.count() < 60
    # a list with further pages is left at once
    tab.press("The library", "link")
    expect(tab.page.get_by_role("heading", name="The library")).to_be_visible()
    tab.page.go_back()
    tab.fill("Search worlds", f"{key[9:40].upper()}-0007")
    expect(rows).to_have_count(1)
    tab.page.request.post(f"{tab.sendbox.origin}/_sandbox/worlds", data={"id": f"{key[:40]}-0007b"})
    expect(rows).to_have_count(2)
    tab.fill("Search worlds", "test-none-such")
    tab.see("No open world has an id")
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.fits()


@pytest.mark.deep
def test_rows_of_closed_worlds_go(tab: Tab) -> None:
    """Also while a person looks at one of them."""
    key = f"test-{tab.sendbox.api_key[-12:]}-gone"
    address = f"{tab.sendbox.origin}/_sandbox/worlds"
    for number in range(3):
        assert tab.page.request.post(address, data={"id": f"{key}-{number}"}).ok
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?search={key}")
    rows = tab.page.locator("sb-list a.row")
    expect(rows).to_have_count(3)
    rows.first.hover()
    assert tab.page.request.delete(f"{address}?prefix={key}").ok
    tab.see("No open world has an id")


def test_checkpoints_reset_and_close(tab: Tab) -> None:
    """Behind the name of the world; what cannot be taken back is asked first."""
    key = tab.sendbox.api_key
    send(tab)
    tab.open("messages")
    rows = tab.page.locator("sb-list a.row")
    expect(rows).to_have_count(1)
    tab.press(key)
    dialog(tab).get_by_label("Name of a checkpoint").fill("before <b>lunch")
    dialog(tab).get_by_role("button", name="Take a checkpoint").click()
    expect(dialog(tab).get_by_role("list", name="Checkpoints")).to_contain_text("before <b>lunch")
    tab.accessible()
    send(tab)
    expect(rows).to_have_count(2)
    dialog(tab).get_by_role("button", name="Restore before <b>lunch").click()
    dialog(tab).get_by_role("button", name="Restore", exact=True).click()
    expect(rows).to_have_count(1)
    assert control(tab, f"worlds/{key}")["messages"] == 1
    dialog(tab).get_by_role("button", name="Reset", exact=True).click()
    dialog(tab).get_by_role("button", name="Cancel").click()
    assert control(tab, f"worlds/{key}")["messages"] == 1
    dialog(tab).get_by_role("button", name="Reset", exact=True).click()
    tab.accessible()
    dialog(tab).get_by_role("button", name="Reset", exact=True).click()
    tab.see("No message yet.")
    expect(dialog(tab)).to_contain_text("before <b>lunch")
    tab.page.keyboard.press("Escape")
    other = f"test-{key[-12:]}-other"
    assert tab.page.request.post(f"{tab.sendbox.origin}/_sandbox/worlds", data={"id": other}).ok
    tab.press("Worlds", "link")
    tab.press(f"More about {other}")
    dialog(tab).get_by_role("button", name="Close the world").click()
    dialog(tab).get_by_role("button", name="Close the world").click()
    expect(tab.page.get_by_role("button", name=f"More about {other}")).to_have_count(0)
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    assert control(tab, f"worlds/{other}")["error"] == "no_such_world"


@pytest.mark.deep
def test_how_a_client_is_connected(tab: Tab) -> None:
    """Addresses and first lines to copy, and why a key opened no world."""
    tab.page.request.post(f"{tab.sendbox.base_url}/message", headers={"x-api-key": "production-key-1"}, data={})
    worlds(tab)
    refused = tab.page.get_by_role("group", name="Keys that opened no world")
    expect(refused).to_contain_text("prod…")
    expect(refused).to_contain_text("only keys that begin with test- open a world")
    assert "production-key" not in tab.page.content()
    line = tab.page.locator(".worlds-line", has_text="Send a first message")
    line.get_by_role("button", name="Copy").click()
    tab.said("Copied.")
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert copied == line.locator("pre").inner_text()
    assert copied.startswith(f"curl {tab.sendbox.base_url}/message")
    tab.page.locator(".worlds-copied div", has_text="base_url").get_by_role("button").click()
    tab.said("Copied.")
    assert tab.page.evaluate("navigator.clipboard.readText()") == tab.sendbox.base_url


@pytest.mark.deep
def test_a_story_of_the_library_is_played(tab: Tab) -> None:
    """In a world of its own, step by step, to the verdict; it can be stopped, stepped and hastened."""
    worlds(tab).press("The library", "link")
    tab.page.get_by_role("list", name="Scenarios").locator("li").first.wait_for()
    tab.accessible()
    tab.fill("Search the library", "parcel")
    before = {world["id"] for world in control(tab, "worlds?last=1000")["worlds"]}
    tab.fill("Search the library", "credit-runs-dry")
    cards = tab.page.get_by_role("list", name="Scenarios").locator("li")
    expect(cards).to_have_text([re.compile("credit-runs-dry")])
    cards.get_by_role("button").click()
    player = tab.page.get_by_role("region", name="Player")
    expect(tab.page).to_have_url(re.compile("view=phones.*play=1|play=1.*view=phones"))
    tab.press("Pause")
    player.get_by_label("Speed").select_option("fast")
    player.get_by_role("button", name="One step").click()
    expect(player.locator("p")).to_contain_text(re.compile("sendMessage.* sent: 200|The clock moved to"))
    player.get_by_role("button", name="Play", exact=True).click()
    # the phone with which the story began is opened beside the list
    expect(tab.page.locator("sb-handset .bubble").first).to_be_visible()
    tab.press("Messages", "link", "#views")
    expect(player.locator(".player-verdict")).to_have_text("Verdict passed")
    expect(player.get_by_role("link", name="Verdict")).to_be_visible()
    expect(player.get_by_role("button", name="Play", exact=True)).to_be_disabled()
    tab.accessible()
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.fits()
    (played,) = {world["id"] for world in control(tab, "worlds?last=1000")["worlds"]} - before
    assert control(tab, f"worlds/{played}")["messages"] > 0
    tab.press("Close the player")
    expect(player).to_have_count(0)
    # a link to it plays nothing by itself
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?world={tab.sendbox.api_key}&view=messages&play=1")
    expect(player.locator("p")).to_contain_text("Ready to play")
