"""Webhooks in a browser: the list, one whole with its tries, and what a person does with it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.browser.calls import advance, control, narrow, sent
from tests.page.browser.conftest import Tab

FAULTY = {
    "in": "webhooks",
    "when": {"phone": "420777000100"},
    "fault": {"answer": 503},
    "times": 1,
    "name": "busy once",
}


def test_a_webhook_that_was_tried_again(tab: Tab) -> None:
    """Each try with its answer and its time; the rule that answered; the request with its headers and body."""
    control(tab, "rules", FAULTY)
    sent(tab, "420777000100")
    advance(tab, "1h")
    tab.open("webhooks")
    row = tab.page.locator("sb-list a.row", has_text="2 tries")
    expect(row).to_have_count(1)
    row.click()
    detail = tab.page.locator(".detail")
    tries = detail.get_by_role("group", name="Tries").get_by_role("row")
    expect(tries).to_have_count(3)
    expect(tries.nth(1)).to_contain_text("503")
    expect(tries.nth(1)).to_contain_text("the rule busy once")
    expect(tries.nth(2)).to_contain_text("+30s")
    expect(tries.nth(2)).to_contain_text("200")
    expect(detail.get_by_role("group", name="Headers")).to_contain_text("X-Request-Id")
    expect(detail.locator("pre.json")).to_contain_text('"result": "sending"')
    tab.press("Copy the body")
    tab.said("Copied.")
    assert '"sending"' in tab.page.evaluate("navigator.clipboard.readText()")
    tab.accessible()
    narrow(tab)
    tab.press("Webhooks", "link", ".detail")
    expect(row).to_be_visible()


@pytest.mark.deep
def test_a_webhook_is_held_released_and_sent_again(tab: Tab) -> None:
    """Only what is legal now can be pressed."""
    control(tab, "rules", FAULTY)
    sent(tab, "420777000100")
    advance(tab, "0")
    (waiting,) = control(tab, "deliveries?state=waiting")["deliveries"]
    tab.open("webhooks", delivery=waiting["id"])
    buttons = tab.page.get_by_role("group", name="Acts").get_by_role("button")
    expect(tab.page.locator(".detail .facts")).to_contain_text("(+30s)")
    tab.press("Hold")
    tab.said("The webhook is held.")
    expect(buttons).to_have_text(["Release"])
    advance(tab, "1h")
    assert control(tab, f"deliveries/{waiting['id']}")["state"] == "held"
    tab.press("Release")
    tab.said("The webhook is released.")
    advance(tab, "0")
    expect(buttons).to_have_text(["Replay"])
    tab.press("Replay")
    tab.said("The webhook is sent again.")
    advance(tab, "0")
    expect(tab.page.get_by_role("group", name="Tries").get_by_role("row")).to_have_count(4)
    assert len(control(tab, f"deliveries/{waiting['id']}")["tries"]) == 3


@pytest.mark.sendbox(
    scenario={"sendbox": 1, "extends": "default", "account": {"default_callback_secret": "a secret of 16 characters"}}
)
@pytest.mark.deep
def test_a_signature_says_how_it_is_checked(tab: Tab) -> None:
    """By control's own words; one that a rule spoils is marked."""
    control(tab, "rules", {"in": "webhooks", "when": {"phone": "420777000102"}, "fault": "bad_signature"})
    sent(tab, "420777000100")
    sent(tab, "420777000102")
    advance(tab, "0")
    found = {each["events"][0]["phone"]: each["id"] for each in control(tab, "deliveries")["deliveries"]}
    for phone, word in (("420777000100", "right"), ("420777000102", "spoilt by a rule")):
        tab.open("webhooks", delivery=found[phone])
        expect(tab.page.locator(".story-signed .badge")).to_have_text(word)
        expect(tab.page.locator(".story-signed")).to_contain_text("HMAC-SHA256")
    expect(tab.page.locator(".detail .badge.fair").first).to_have_text("changed")


@pytest.mark.deep
def test_the_list_is_searched_and_filtered(tab: Tab) -> None:
    """By state and by words; the address keeps both; what is not legal is said."""
    control(tab, "rules", {**FAULTY, "fault": "drop"})
    sent(tab, "420777000100")
    sent(tab, "420777000101")
    advance(tab, "0")
    tab.open("webhooks")
    rows = tab.page.locator("sb-list a.row")
    expect(rows).to_have_count(2)
    tab.page.get_by_label("State").select_option("dropped")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("420777000100")
    tab.fill("Search webhooks", "to:420777000101")
    expect(tab.page.get_by_text("No webhook fits.")).to_be_visible()
    assert "state=dropped" in tab.page.url
    tab.page.get_by_label("State").select_option("")
    expect(rows).to_contain_text("420777000101")
    tab.fill("Search webhooks", "colour:red")
    expect(tab.page.get_by_role("alert")).to_contain_text('"colour:" is not a key')


@pytest.mark.deep
def test_the_built_in_receiver(tab: Tab) -> None:
    """For a client that has no receiver yet: its address to copy, and what it got."""
    tab.open("webhooks")
    tab.press("Built-in receiver", "link")
    expect(tab.page.get_by_text("It got nothing yet.")).to_be_visible()
    tab.press("Copy the address")
    tab.said("Copied.")
    address = tab.page.evaluate("navigator.clipboard.readText()")
    assert address == f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}/hook"
    sent(tab, "420777000100")
    advance(tab, "0")
    expect(tab.page.locator(".detail pre.json").last).to_contain_text('"result": "sending"')
    tab.accessible()
    narrow(tab)
    tab.press("All that it got, as a list", "link")
    expect(tab.page.get_by_label("Search webhooks")).to_have_value("target:hook")
