"""The timeline of a message in a browser: a picture, the steps with the reason for each, texts, and the call."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.browser.calls import advance, control, narrow, sent
from tests.page.browser.conftest import Tab

#: Sent, and never confirmed.
SILENT = "420777000105"
FLOW = [
    {"richmsg": {"body": "With a picture", "sender": "Acme", "ttl": 10}},
    {"sms": {"body": "As plain text", "sender": "Shop"}},
]


def test_a_fallback_is_shown_with_the_texts_of_all_attempts(tab: Tab) -> None:
    """A lane for each attempt, the instants between them, what each attempt said, and why the flow moved on."""
    message = sent(tab, SILENT, flow=FLOW, tag="orders")
    advance(tab, "1h")
    tab.open("messages", message=message)
    story = tab.page.locator(".story")
    expect(story.get_by_role("heading", level=1)).to_have_text(f"To {SILENT} sent")
    expect(story.locator(".story-axis")).to_have_text(["", "+0s", "+1s", "+10m", "+10m 1s"])
    expect(story.locator(".story-lane strong")).to_have_text(["client", "richmsg", "sms", "webhooks"])
    expect(story.locator(".story-mark")).to_have_text(
        ["accepted", "sending", "sent", "ttl", "sending", "sent", "200", "200", "200", "200"]
    )
    fall = story.locator(".story-fall")
    expect(fall).to_have_count(1)
    # behind all that stands in its place, so that it crosses none of it, and above what the next channel did
    assert fall.evaluate("arrow => arrow === arrow.parentElement.lastElementChild")
    expect(story.locator(".story-texts .words")).to_have_text(["With a picture", "As plain text"])
    step = story.locator(".story-steps > li", has_text="richmsg is given up (ttl)")
    step.get_by_text("Why?").click()
    expect(step).to_contain_text("The specification, §2.2")
    expect(step).to_contain_text("sent, never confirmed")
    tab.accessible()
    narrow(tab)


@pytest.mark.deep
def test_why_a_result_came_and_what_would_have_changed_it(tab: Tab) -> None:
    """The rule with its line, the assumptions, rules that did not match, those too late, and checks that passed."""
    message = sent(tab, "420777000104")
    advance(tab, "1m")
    tab.open("messages", message=message)
    step = tab.page.locator(".story-steps > li", has_text="failed").filter(has_text="[3] Failed")
    step.get_by_text("Why?").click()
    expect(step).to_contain_text("The rule failed (default.yaml:")
    expect(step).to_contain_text("assumption A23")
    step.get_by_text("What would have changed it").click()
    expect(step).to_contain_text('phone: 420777000104 does not match "420777????00"')
    expect(step).to_contain_text("came too late")
    expect(step).to_contain_text("Checks that passed, each of which could have refused it: number, allowed")
    # what was opened stays open when something happens
    control(tab, "phones/420777000104/write", {"body": "Hi", "channel": "sms"})
    sent(tab, "420777000104")
    advance(tab, "1s")
    expect(tab.page.locator("sb-list a.row")).to_have_count(2)
    expect(step.get_by_text("came too late")).to_be_visible()


@pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "account": {"blacklist": ["420777000101"]}})
@pytest.mark.deep
def test_a_refused_message_says_which_check_failed(tab: Tab) -> None:
    """No rule was asked; the text that was never sent is shown as such."""
    message = sent(tab, "420777000101")
    advance(tab, "1s")
    tab.open("messages", message=message)
    step = tab.page.locator(".story-steps > li", has_text="sms refused")
    step.get_by_text("Why?").click()
    expect(step).to_contain_text("no rule was asked: checks come before rules")
    expect(step.locator(".story-why .badge.bad").first).to_have_text("blacklist")
    expect(tab.page.locator(".story-texts")).to_contain_text("It was never sent.")


@pytest.mark.deep
def test_a_message_is_moved_by_hand(tab: Tab) -> None:
    """Only results that may follow are offered; a reply shows as a step, and in a lane of the phone."""
    message = sent(tab, "420777000100")
    tab.open("messages", message=message)
    expect(tab.page.locator(".story > h1")).to_contain_text("accepted")
    expect(tab.page.get_by_role("group", name="Move by hand")).to_have_count(0)
    advance(tab, "0")
    moves = tab.page.get_by_role("group", name="Move by hand").get_by_role("button")
    expect(moves).to_have_text(["sent", "failed"])
    tab.press("sent")
    expect(moves).to_have_text(["delivered", "undelivered", "failed"])
    tab.press("delivered")
    tab.said("The message is delivered.")
    expect(tab.page.get_by_role("group", name="Move by hand")).to_have_count(0)
    assert control(tab, f"messages/{message}")["result"] == "delivered"
    control(tab, "phones/420777000100/reply", {"body": "‮Yes <b>", "message_id": message})
    expect(tab.page.locator(".story-lane strong", has_text="phone")).to_be_visible()
    expect(tab.page.locator(".story-steps")).to_contain_text("<b>")


@pytest.mark.deep
def test_the_call_stands_below_its_message(tab: Tab) -> None:
    """With advice at its field, and a way to its entry; in the past nothing can be moved."""
    message = sent(tab, "420777000106", colour="red")
    advance(tab, "0")
    tab.open("messages", message=message)
    expect(tab.page.locator(".story-line.marked")).to_have_text('  "colour": "red"')
    expect(tab.page.locator(".story-body .story-remark")).to_contain_text("has no effect")
    tab.press("Entry 1 of the requests", "link")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("sendMessage")
    expect(tab.page.locator(".story-line.marked")).to_have_text('  "colour": "red"')
    tab.open("messages", message=message, then="4")
    expect(tab.page.locator(".story > h1")).to_contain_text("420777000106")
    expect(tab.page.get_by_role("group", name="Move by hand")).to_have_count(0)


@pytest.mark.deep
def test_what_is_planned_stands_at_its_own_time(tab: Tab) -> None:
    """In the picture, in the column of its instant, and not among what has happened."""
    message = sent(tab, "420777000100")
    advance(tab, "0")
    tab.open("messages", message=message)
    picture = tab.page.get_by_role("group", name="Timeline")
    planned = picture.locator(".story-mark.planned")
    expect(planned).not_to_have_count(0)
    due = control(tab, f"messages/{message}/story")["message"]["attempts"][0]
    assert len(due["due"]) == len(due["planned"]) == planned.count()
    columns = planned.evaluate_all("marks => marks.map((mark) => mark.parentElement.style.gridColumn)")
    assert len(set(columns)) == len(columns)
    assert "2 / auto" not in columns
    assert "2" not in columns
