"""What the client called, in a browser: the diagnosis at the fields, copies, and the messages that a call made."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.browser.calls import advance, narrow, send
from tests.page.browser.conftest import Tab

HARM = "<img src=x onerror=\"document.title='harm'\">‮"


def test_a_refused_call_has_its_findings_at_its_fields(tab: Tab) -> None:
    """A field of a wrong value, one that is missing, and one that has no effect; each with what it rests on."""
    flow = [{"sms": {"ttl": 0.1, HARM: HARM}}, {"richmsg": {"body": "Hi"}}]
    assert "Message" in send(tab, "420777000100", flow=flow)
    tab.open("requests")
    row = tab.page.locator("sb-list a.row")
    expect(row).to_contain_text("3 findings")
    row.click()
    marked = tab.page.locator(".story-line.marked")
    expect(marked).to_have_count(4)
    expect(marked.nth(0)).to_contain_text('"sms": {')
    expect(marked.nth(1)).to_contain_text('"ttl": 0.1')
    remarks = tab.page.locator(".story-body .story-remark")
    expect(remarks.nth(0)).to_contain_text("$.flow[0].sms.body")
    expect(remarks.nth(0)).to_contain_text("assumption A55")
    expect(remarks.nth(1)).to_contain_text("0.1 is below the minimum ttl of 0.5 minutes")
    expect(remarks.nth(1)).to_contain_text("§2.2")
    expect(remarks.nth(2)).to_contain_text("docs/advice/unknown-field.md")
    assert "harm" not in tab.page.title()
    tab.accessible()
    narrow(tab)
    tab.press("A55", "link")
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("Assumptions")


@pytest.mark.parametrize(
    ("button", "part"),
    [
        ("curl", "curl http"),
        ("Python", "import httpx"),
        ("Node", "fetch("),
        ("pytest", "def test"),
        ("Scenario", "traffic:"),
    ],
)
@pytest.mark.deep
def test_a_call_is_copied(tab: Tab, button: str, part: str) -> None:
    """As a command, a program, a test, or an entry of a scenario."""
    send(tab, "420777000100")
    tab.open("requests", request="1")
    text = tab.copied(button)
    assert part in text
    assert "420777000100" in text


@pytest.mark.deep
def test_calls_with_remarks_only(tab: Tab) -> None:
    """The list is filtered beside what is searched; the chosen call leads to the messages that it made."""
    send(tab, "420777000100")
    send(tab, "420777000101", colour="red")
    send(tab, "420777000102", body=7)
    advance(tab, "1m")
    tab.open("requests")
    rows = tab.page.locator("sb-list a.row")
    expect(rows).to_have_count(3)
    tab.page.get_by_label("With remarks only").check()
    expect(rows).to_have_count(2)
    tab.fill("Search requests", "status:200")
    expect(rows).to_have_count(1)
    rows.click()
    assert "remarked=1" in tab.page.url
    expect(tab.page.locator(".detail .story-links a")).to_have_text(["420777000101"])
    tab.press("420777000101", "link", ".detail")
    expect(tab.page.locator(".story > h1")).to_have_text("To 420777000101 delivered")


@pytest.mark.deep
def test_a_form_and_a_body_that_cannot_be_read(tab: Tab) -> None:
    """A form is shown by its fields; what is neither is shown as it came, however long or deep it is."""
    headers = {"x-api-key": tab.sendbox.api_key}
    simple = f"{tab.sendbox.base_url}/simple/message"
    tab.page.request.post(
        simple, headers=headers, form={"phone_number": "420777000100", "colour": "red", "message": "Hi"}
    )
    tab.page.request.post(f"{tab.sendbox.base_url}/message", headers=headers, data=b"{" + b"[" * 5_000)
    long = {"to": [{"phone_number": f"4207770001{n:02d}"} for n in range(100)], "body": "W" * 100_000, "zoo": 1}
    tab.page.request.post(f"{tab.sendbox.base_url}/message", headers=headers, data=long)
    tab.open("requests", request="1")
    expect(tab.page.locator(".story-line", has_text='"colour": "red"')).to_be_visible()
    tab.open("requests", request="2")
    expect(tab.page.locator(".detail pre.json").first).to_contain_text("{[[[")
    tab.open("requests", request="3")
    expect(tab.page.locator(".story-line", has_text="more line")).to_be_visible()
    expect(tab.page.locator(".story-line.marked").last).to_contain_text('"zoo": 1')
    assert tab.page.evaluate("document.querySelectorAll('*').length") < 1_500
    narrow(tab)
