"""The scenario in a browser: the text in effect, and an editor that control checks."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, expect

from tests.page.browser.calls import narrow
from tests.page.browser.conftest import Tab
from tests.page.browser.test_reports import send

TEXT: Final = """sendbox: 1
name: "</textarea><b>‮two rules</b>"
attempts:
  - name: it fails
    when: {body: Hello}
    then: failed
  - name: never
    when: {tag: nothing}
    then: rejected
"""
BROKEN: Final = "sendbox: 1\nattempts:\n  - name: x\n    wen: {channel: sms}\n    then: undelivered\n"


def area(tab: Tab) -> Locator:
    """The text that is written."""
    return tab.page.get_by_label("Scenario as YAML")


def offered(legal: Locator, word: str) -> Locator:
    """The button that writes a word."""
    return legal.get_by_role("button").filter(has=legal.page.locator(f'code:text-is("{word}")'))


@pytest.mark.sendbox(scenario=TEXT)
@pytest.mark.deep
def test_the_text_in_effect_says_which_rules_decided(tab: Tab) -> None:
    """Numbers of lines with marks, a table with the same, and the line that a link names."""
    tab.open("scenario")
    text = tab.page.get_by_label("Scenario in effect")
    expect(text).to_have_value(TEXT)
    expect(text).not_to_be_editable()
    line = tab.page.locator(".editor-numbers > .never, .editor-numbers > .fired")
    expect(line).to_have_text(["0×4", "0×7"])
    send(tab)
    expect(line).to_have_text(["1×4", "0×7"])
    rules = tab.page.get_by_role("group", name="Rules of this scenario")
    expect(rules.get_by_role("row").nth(1)).to_contain_text("1 time")
    expect(rules.get_by_role("row").nth(2)).to_contain_text("never")
    rules.get_by_role("link", name="line 7").click()
    expect(tab.page).to_have_url(re.compile("line=7"))
    tab.apart(lambda: tab.sendbox.rule(when={"phone": "420777000101"}, then="failed"))
    tab.press("Remove")
    tab.said("The rule is removed.")
    tab.accessible()
    narrow(tab)


@pytest.mark.sendbox(scenario=TEXT)
def test_an_error_is_shown_at_its_line_and_the_repaired_text_is_applied(tab: Tab) -> None:
    """A problem leads to its place and can be cured by the nearest word; then the next message fails by it."""
    tab.open("scenario", edit="1")
    expect(area(tab)).to_have_value(TEXT)
    area(tab).fill(BROKEN)
    expect(tab.page.locator(".editor-numbers > .bad")).to_have_text("✕4")
    expect(area(tab)).to_have_attribute("aria-invalid", "true")
    tab.press("Apply to this world")
    tab.see("Refused: 1 problem")
    tab.page.get_by_role("button", name='line 4 "wen" is not a key').click()
    assert area(tab).evaluate("area => area.value.slice(0, area.selectionStart).split('\\n').length") == 4
    tab.accessible()
    narrow(tab)
    tab.press("Write when")
    expect(area(tab)).to_have_value(BROKEN.replace("wen:", "when:"))
    tab.see("No problem")
    tab.press("Apply to this world")
    applied = tab.page.locator(".scenario-applied")
    expect(applied).to_contain_text("Holds now: attempts")
    send(tab)
    assert tab.apart(lambda: tab.sendbox.message()).result == "undelivered"
    area(tab).fill(f"{BROKEN.replace('wen:', 'when:')}account: {{credit: {{eur: 1}}}}\n")
    tab.see("No problem")
    tab.press("Apply to this world")
    expect(applied).to_contain_text("Waits for the next reset: account")
    tab.press("Apply and reset the world")
    tab.press("Apply and reset", within="dialog")
    expect(applied).to_contain_text("The world began anew with it.")
    assert tab.apart(lambda: (tab.sendbox.messages(), tab.sendbox.account.credit)) == ([], 1)


@pytest.mark.deep
def test_what_may_be_written_at_the_cursor(tab: Tab) -> None:
    """Keys with what they mean and words, written by a click or by keyboard; a text of the library to start from."""
    tab.open("scenario", edit="1")
    area(tab).fill("sendbox: 1\n")
    legal = tab.page.get_by_role("region", name="What may be written at the cursor")
    expect(legal).to_contain_text("Rules that decide what happens to an attempt")
    offered(legal, "attempts").click()
    area(tab).press("Enter")
    area(tab).press_sequentially("- name: x")
    area(tab).press("Enter")
    expect(legal).to_contain_text("attempts[0]")
    area(tab).press_sequentially("th")
    expect(offered(legal, "then")).to_be_visible()
    area(tab).press("Control+Space")
    offered(legal, "then").press("Enter")
    expect(area(tab)).to_have_value("sendbox: 1\nattempts: \n  - name: x\n    then: ")
    expect(offered(legal, "delivered")).to_be_visible()
    area(tab).press("Control+Space")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Escape")
    expect(area(tab)).to_be_focused()
    offered(legal, "undelivered").click()
    expect(area(tab)).to_have_value("sendbox: 1\nattempts: \n  - name: x\n    then: undelivered")
    tab.press("Phones", "link", "#views")
    tab.page.go_back()
    expect(area(tab)).to_have_value("sendbox: 1\nattempts: \n  - name: x\n    then: undelivered")
    tab.page.reload()
    expect(area(tab)).to_have_value("sendbox: 1\nattempts: \n  - name: x\n    then: undelivered")
    tab.page.get_by_label("Start from").select_option("otp-fallback")
    tab.press("Take its text")
    expect(area(tab)).to_have_value(re.compile("^#"))
    tab.see("No problem")
