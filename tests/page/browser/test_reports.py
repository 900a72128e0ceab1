"""Verdict, coverage and assumptions in a browser: pages that one can send to a colleague."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.page.browser.calls import narrow
from tests.page.browser.conftest import Tab

QUIET: Final = "‮<b>no message</b> to the quiet phone"
SCENARIO: Final[dict[str, Any]] = {
    "sendbox": 1,
    "attempts": [{"name": "never asked for", "when": {"tag": "x"}, "then": "failed"}],
    "expect": [
        {"name": "a message arrives", "that": "messages", "where": {"result": "delivered"}, "count": 1},
        {"name": "it is tagged", "that": "messages", "where": {"tag": "promo"}},
        {"name": "an answer within an hour", "that": "messages", "where": {"tag": "answer"}, "within": "1h"},
        {"name": QUIET, "that": "messages", "where": {"phone": "420777000107"}, "each": "message", "at_most": 0},
        {"name": "never a strange path", "that": "requests", "where": {"path": "/nowhere"}, "count": 0},
    ],
}


def send(tab: Tab, number: str = "420777000107") -> None:
    """The client sends one message, and it is delivered."""
    tab.page.request.post(
        f"{tab.sendbox.base_url}/message",
        headers={"x-api-key": tab.sendbox.api_key},
        data={"to": [{"phone_number": number}], "body": "Hello", "boddy": "?"},
    )
    tab.apart(lambda: tab.sendbox.advance("1m"))


@pytest.mark.sendbox(scenario=SCENARIO)
def test_the_verdict_explains_itself(tab: Tab) -> None:
    """What holds, what is open, what failed and why, what came nearest; live, and as if the world had ended."""
    tab.open("verdict")
    one = tab.page.get_by_role("article")
    arrives = one.filter(has_text="a message arrives")
    expect(arrives.locator(".badge")).to_have_text("failed")
    send(tab)
    expect(arrives.locator(".badge")).to_have_text("passed")
    tagged = one.filter(has_text="it is tagged")
    expect(tagged).to_contain_text("Nearest")
    expect(tagged).to_contain_text('wanted "promo"')
    expect(tagged.locator(".badge")).to_have_text("failed")
    answer = one.filter(has_text="an answer within an hour")
    expect(answer.locator(".badge")).to_have_text("open")
    quiet = one.filter(has_text="to the quiet phone")
    expect(quiet.locator(".badge")).to_have_text("failed")
    expect(quiet.get_by_role("heading", level=3)).to_contain_text(QUIET)
    expect(one.filter(has_text="a strange path")).to_contain_text("Nothing can meet this")
    expect(tab.page.get_by_role("group", name="Rules that never decided anything")).to_contain_text("never asked for")
    tab.press("As if the world ended now", "link")
    expect(answer.locator(".badge")).to_have_text("failed")
    link = tab.copied("Copy link")
    tab.page.goto("about:blank")
    tab.page.goto(link)
    expect(answer.locator(".badge")).to_have_text("failed")
    tab.accessible()
    narrow(tab)


@pytest.mark.sendbox(scenario={"sendbox": 1})
@pytest.mark.deep
def test_nothing_is_expected(tab: Tab) -> None:
    """A world without expectations says so, and leads to the editor."""
    tab.open("verdict")
    tab.see("Nothing is expected")
    tab.press("Write some", "link")
    expect(tab.page.get_by_role("heading", name="Scenario", level=1)).to_be_visible()


@pytest.mark.deep
def test_coverage_says_what_was_not_tried(tab: Tab, tmp_path: Path) -> None:
    """Bars of each dimension, in a scope; one that is open stays open in the address; the JSON is control's."""
    send(tab)
    tab.open("coverage")
    total = tab.apart(lambda: tab.sendbox.coverage).total
    tab.see(f"{total.tried} of {total.of} items tried")
    tab.press("Called operations", "link")
    tab.see("In the scope of")
    head = tab.page.get_by_role("button", name="Operations 1 of 2")
    head.click()
    expect(head).to_have_attribute("aria-expanded", "true")
    items = tab.page.get_by_role("group", name="Operations", exact=True)
    expect(items.get_by_role("row").nth(1)).to_contain_text("sendMessage refused")
    expect(items.get_by_role("row").nth(1)).to_contain_text("POST /v2/message")
    tab.page.reload()
    expect(items).to_contain_text("sendMessage accepted")
    tab.press("Everything", "link")
    tab.page.get_by_role("button", name="Transitions of each channel").click()
    rows = tab.page.get_by_role("group", name="Transitions of each channel").get_by_role("row")
    expect(rows).to_have_count(41)
    tab.page.get_by_role("button", name="Show all 53").click()
    expect(rows).to_have_count(len(tab.apart(lambda: tab.sendbox.coverage).items_["transitions"]) + 1)
    with tab.page.expect_download() as saved:
        tab.press("Save as JSON", "link")
    saved.value.save_as(tmp_path / "coverage.json")
    assert json.loads((tmp_path / "coverage.json").read_text())["total"] == total.json
    tab.page.get_by_role("button", name="Transitions of each channel").click()
    tab.accessible()
    narrow(tab)


@pytest.mark.deep
def test_assumptions_that_the_client_relied_on_come_first(tab: Tab) -> None:
    """With the entries that depended on them, and on request what other values would have shown."""
    send(tab, "420 777 000 101")
    tab.open("assumptions")
    relied = tab.page.locator(".assumed > .relied")
    expect(relied).to_have_count(len(tab.apart(lambda: tab.sendbox.assumptions)))
    row = relied.filter(has_text="normalization of phone numbers")
    expect(row).to_contain_text("A14")
    expect(row.get_by_role("link", name="entry 1", exact=True)).to_be_visible()
    tab.press("What would other values have shown?")
    expect(relied.filter(has_text="With other values")).not_to_have_count(0)
    tab.fill("Search assumptions", "A14")
    expect(tab.page.locator(".assumed > li")).to_have_count(1)
    tab.accessible()
    narrow(tab)


@pytest.mark.deep
def test_a_report_prints_without_what_is_around_it(tab: Tab) -> None:
    """On paper there are no bars, no buttons and no dark ground, but every dimension."""
    send(tab)
    tab.open("coverage")
    tab.see("items tried")
    tab.page.emulate_media(media="print", color_scheme="dark")
    expect(tab.page.locator("#bar")).to_be_hidden()
    expect(tab.page.get_by_role("button", name="Copy link")).to_be_hidden()
    expect(tab.page.get_by_text("Fields of requests")).to_be_visible()
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
