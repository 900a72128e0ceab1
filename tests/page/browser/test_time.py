"""Time in a browser: the clock and what moves it, what is due next, the past, two runs compared."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from playwright.sync_api import Request, expect

from tests.page.browser.calls import control
from tests.page.browser.conftest import Tab
from tests.page.browser.test_frame import send

START = "2026-03-01 09:00:00"
#: Milliseconds between two entries of the past while it is played.
PLAYS = 600
STARTED = pytest.mark.sendbox(clock={"start": "2026-03-01T09:00:00Z"})


def advance(tab: Tab, by: str) -> None:
    """The clock moves. The handle of the world cannot wait here: Playwright runs a loop in this thread."""
    world = f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}"
    assert tab.page.request.post(f"{world}/clock/advance", data={"by": by}).ok


@STARTED
@pytest.mark.deep
def test_the_clock_moves_as_far_as_a_person_says(tab: Tab) -> None:
    """By a duration, to an instant, to what is next, until nothing is due; by buttons and by keys."""
    send(tab)
    tab.open("due")
    field = tab.page.get_by_label("Advance by a duration, or to an instant")
    time = tab.page.locator("#bar .clock time")
    expect(time).to_have_text(START)
    tab.press("Next")
    expect(tab.page.locator(".clock-next")).to_have_text("next +1s")
    field.fill("1m 30s")
    field.press("Enter")
    expect(time).to_have_text("2026-03-01 09:01:30")
    tab.said("1m 30s passed, to 2026-03-01 09:01:30")
    field.fill("2026-03-01 10:00")
    tab.press("Advance")
    expect(time).to_have_text("2026-03-01 10:00:00")
    field.fill("tomorrow")
    tab.press("Advance")
    tab.said("tomorrow")
    send(tab, "420777000108")
    tab.page.keyboard.press("Alt+n")
    tab.said("1 step")
    tab.page.keyboard.press("Alt+i")
    tab.said("nothing more is due")
    expect(tab.page.locator(".clock-next")).to_have_text("nothing is due")
    field.fill("1h")
    tab.page.locator("h1").click()
    before = tab.sendbox.clock.now
    tab.page.keyboard.press("Alt+a")
    tab.said("1h passed")
    assert (tab.sendbox.clock.now - before).total_seconds() == 3600


@STARTED
@pytest.mark.deep
def test_a_person_changes_how_time_passes(tab: Tab) -> None:
    """The mode and the rate, in a dialog; the time of a `real` clock runs on between its events."""
    tab.open("due")
    tab.press("manual")
    tab.accessible()
    tab.page.get_by_role("radio", name=re.compile("^real")).check()
    rate = tab.page.get_by_role("spinbutton")
    rate.fill("0")
    tab.press("Set the clock")
    tab.said("legal:")
    rate.fill("600")
    tab.press("Set the clock")
    tab.press("real × 600")
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(tab.page.get_by_role("button", name="real × 600")).to_be_focused()
    assert (tab.sendbox.clock.mode, tab.sendbox.clock.rate) == ("real", 600)
    expect(tab.page.locator("#bar .clock time")).not_to_have_text(START)


@STARTED
@pytest.mark.deep
def test_what_is_due_next_can_be_gone_to(tab: Tab) -> None:
    """Steps with their instants, webhooks, codes; each step has a way to it."""
    tab.page.request.post(
        f"{tab.sendbox.verify_url}/v1/validations",
        headers={"x-api-key": tab.sendbox.api_key},
        data={"phoneNumber": "420777000103"},
    )
    send(tab, "420777000105")
    tab.open("due")
    expect(tab.page.locator(".due-lead bdi")).to_have_text("hand-over of createValidation to 1 phone")
    tab.see("expires in 10m")
    tab.accessible()
    tab.press(f"Advance to {START}")
    steps = tab.page.get_by_role("list", name="Steps")
    expect(steps).to_contain_text("sms sent")
    expect(steps).to_contain_text("in 1s")
    expect(tab.page.locator(".due-count")).to_have_text("in 1s")
    tab.press("Advance to 2026-03-01 09:00:01")
    expect(tab.page.locator("#bar .clock time")).to_have_text("2026-03-01 09:00:01")
    assert tab.sendbox.messages()[-1].result == "sent"
    tab.press("Until idle")
    expect(tab.page.locator(".due-count")).to_have_text("idle")
    tab.page.get_by_role("list", name="Open codes").get_by_role("link", name="420777000103").click()
    expect(tab.page.get_by_label("Sessions of a phone")).to_have_value("420777000103")


@STARTED
def test_the_past_is_shown_as_it_was(tab: Tab) -> None:
    """The slider goes to any entry, views follow it, and nothing can be done there; the present comes back."""
    send(tab, "420777000101", "As it was")
    advance(tab, "1h")
    last = len(tab.sendbox.journal) - 1
    tab.open("messages")
    badge = tab.page.locator("sb-list .row .badge")
    expect(badge).to_have_text("delivered")
    tab.press("Time travel")
    slider = tab.page.get_by_label("Entry of the journal")
    expect(slider).to_have_value(str(last))
    expect(tab.page.locator(".live")).to_have_text("the past")
    expect(tab.page.get_by_role("button", name="Forward one entry")).to_be_disabled()
    tab.accessible()
    slider.fill("1")
    expect(tab.page).to_have_url(re.compile("then=1$"))
    expect(badge).to_have_text("accepted")
    expect(tab.page.locator(".travel-words")).to_contain_text(f"{START} entry 1 of {last} client: POST /v2/message")
    slider.press("ArrowLeft")
    expect(tab.page.get_by_text("No message yet.")).to_be_visible()
    tab.press("Forward one entry")
    expect(badge).to_have_text("accepted")
    send(tab, "420777000102", "Later")
    expect(slider).to_have_attribute("max", str(len(tab.sendbox.journal) - 1))
    expect(badge).to_have_count(1)
    tab.press("Due next", "link", "#views")
    tab.see("hand-over of sendMessage")
    expect(tab.page.get_by_role("button", name="Advance")).to_have_count(0)
    tab.press(tab.sendbox.api_key)
    expect(tab.page.get_by_role("dialog")).to_contain_text("Return to the present to change it.")
    expect(tab.page.get_by_role("button", name="Reset")).to_have_count(0)
    tab.page.keyboard.press("Escape")
    tab.page.clock.install(time=0)
    tab.page.clock.pause_at(1)  # the past is played by the test's clock from here on
    tab.press("Play")
    tab.page.clock.run_for(PLAYS)
    expect(slider).to_have_value("2")
    tab.press("Pause")
    tab.page.clock.run_for(10 * PLAYS)
    expect(slider).to_have_value("2")
    tab.page.clock.resume()
    expect(tab.page.locator(".travel-words")).to_contain_text("420777000101: sms sending")
    tab.press("Return to the present")
    expect(tab.page.locator("#bar .clock time")).to_have_text("2026-03-01 10:00:00")
    tab.press("Messages", "link", "#views")
    expect(badge).to_have_count(2)


@STARTED
@pytest.mark.deep
def test_the_slider_is_smooth(tab: Tab) -> None:
    """However fast it moves: a view has one question under way, and shows the place where the slider stops."""
    for number in range(101, 105):
        send(tab, f"420777000{number}")
    advance(tab, "1h")
    tab.open("messages", then=str(len(tab.sendbox.journal) - 1))
    slider = tab.page.get_by_label("Entry of the journal")
    expect(tab.page.locator("sb-list .row .badge").first).to_have_text("failed")
    under_way: Counter[str] = Counter()
    most: Counter[str] = Counter()

    def question(request: Request) -> str:
        """The question without its place in the past: a list and the number beside its view ask in two ways."""
        return re.sub(r"then=\d+", "", request.url)

    def begun(request: Request) -> None:
        asked = question(request)
        under_way[asked] += 1
        most[asked] = max(most[asked], under_way[asked])

    def ended(request: Request) -> None:
        under_way[question(request)] -= 1

    tab.page.on("request", begun)
    tab.page.on("requestfinished", ended)
    slider.focus()
    while slider.input_value() != "2":
        slider.press("ArrowLeft")
    expect(tab.page).to_have_url(re.compile("then=2$"))
    expect(tab.page.locator("sb-list .row")).to_have_count(2)
    expect(slider).to_be_focused()
    expect(slider).to_have_value("2")
    assert max(count for asked, count in most.items() if "/worlds/" in asked) == 1, most


@STARTED
@pytest.mark.deep
def test_the_past_at_an_instant_and_where_there_is_none(tab: Tab) -> None:
    """A link may name an instant; a place that is not there says what is legal, and the way back."""
    send(tab)
    advance(tab, "1h")
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.open("messages", then="2026-03-01T09:00:01Z")
    expect(tab.page.locator("sb-list .row .badge")).to_have_text("sent")
    expect(tab.page.locator(".travel-words time")).to_have_text("2026-03-01 09:00:01")
    tab.fits()
    tab.open("messages", then="999")
    expect(tab.page.locator(".travel-words")).to_contain_text("999 is not an entry")
    tab.press("Return to the present")
    expect(tab.page.locator("#bar .clock time")).to_be_visible()


@STARTED
@pytest.mark.deep
def test_two_runs_are_compared(tab: Tab) -> None:
    """Another world is searched and chosen; equal runs are equal, and of others the first difference is marked."""
    sendbox, post = tab.sendbox, tab.page.request.post
    other, longer = (f"test-{sendbox.api_key[-12:]}-{name}" for name in ("other", "longer"))
    clock = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
    for key in (other, longer):
        post(f"{sendbox.origin}/_sandbox/worlds", data={"id": key, "seed": 0, "clock": clock})

    def sends(key: str, *bodies: str) -> None:
        for body in bodies:
            data = {"to": [{"phone_number": "420777000101"}], "body": body}
            assert post(f"{sendbox.base_url}/message", headers={"x-api-key": key}, data=data).ok
        post(f"{sendbox.origin}/_sandbox/worlds/{key}/clock/advance", data={"by": "1m"})

    def both(*bodies: str) -> None:
        for key, body in zip((sendbox.api_key, other), bodies, strict=True):
            sends(key, body)

    both("Hello", "Hello")
    tab.open("compare")
    tab.accessible()
    tab.fill("Search worlds", other)
    tab.page.get_by_role("list", name="Other worlds").get_by_role("link", name=other).click()
    expect(tab.page.locator(".compare-word")).to_have_text("Equal")
    both("One", "Two")
    tab.press("Compare again")
    expect(tab.page.locator(".compare-word")).to_have_text("Different")
    expect(tab.page.get_by_role("group", name="What differs")).to_contain_text("One")
    rows = tab.page.get_by_role("list", name="What happened, side by side").get_by_role("listitem")
    expect(rows.filter(has_text="first difference").locator(".differs")).to_have_count(2)
    expect(rows.filter(has_text="first difference").locator("bdi")).to_have_text(
        ["POST /v2/message → 200 sendMessage"] * 2
    )
    expect(rows.locator(".compare-gap")).to_have_count(0)
    sends(longer, "Hello")
    sends(longer, "And one more", "One")
    tab.open("compare", **{"with": longer})
    expect(rows.locator(".compare-gap").first).to_be_attached()
    together = rows.filter(has_not=tab.page.locator(".compare-gap"))
    expect(together.last.locator("summary")).to_have_count(2)
    tab.page.go_back()
    expect(rows.filter(has_text="first difference").locator(".differs")).to_have_count(2)
    tab.accessible()
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.fits()
    tab.page.goto(tab.page.url.replace(other, "test-nowhere"))
    expect(tab.page.get_by_role("alert")).to_contain_text("is not an open world")
    tab.press("Compare with another world", "link")
    expect(tab.page.get_by_role("list", name="Other worlds")).to_be_visible()


@STARTED
@pytest.mark.deep
def test_the_bar_and_due_next_count_alike(tab: Tab) -> None:
    """The time until what comes next is one."""
    send(tab, "420777000101")
    advance(tab, "1250ms")
    tab.open("due")
    expect(tab.page.locator(".clock-next")).to_have_text("next +1s 750ms")
    expect(tab.page.locator(".due-count")).to_have_text("in 1s 750ms")


@STARTED
@pytest.mark.deep
def test_the_past_of_a_world_that_began_anew_is_gone(tab: Tab) -> None:
    """Who looks at it is told so, and can return to the present."""
    send(tab, "420777000101")
    advance(tab, "1m")
    tab.open("messages", then="5")
    expect(tab.page.locator("sb-list a.row")).to_have_count(1)
    control(tab, "reset", {})
    tab.see("5 is not an entry", within="#bar")
    tab.press("Return to the present")
    tab.see("No message yet")
