"""The frame of the page in a browser: views, keyboard, themes, widths, worlds that are not open."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from sendbox.page.routes import FIRST_ROWS, preloads
from tests.page.browser.calls import advance, control
from tests.page.browser.conftest import Tab
from tests.page.browser.test_hostile import VIEWS

#: Who asked for an address, each time.
ASKERS = "address => performance.getEntriesByName(location.origin + address).map(({ initiatorType }) => initiatorType)"
#: The most stops of Tab from the top of the page to its search, which is one of them.
STOPS = 6


def send(tab: Tab, number: str = "420777000101", body: str = "Hello") -> None:
    """The client sends one message."""
    tab.page.request.post(
        f"{tab.sendbox.base_url}/message",
        headers={"x-api-key": tab.sendbox.api_key},
        data={"to": [{"phone_number": number}], "body": body},
    )


@pytest.mark.deep
def test_a_world_shows_its_views_and_its_clock(tab: Tab) -> None:
    """The bar has the world and its time; each view is one step away."""
    tab.open()
    expect(tab.page.locator("#bar time")).to_have_text(tab.sendbox.clock.now.strftime("%Y-%m-%d %H:%M:%S"))
    tab.press("Messages", "link", "#views")
    expect(tab.page.get_by_role("heading", name="Messages", level=1)).to_be_visible()
    expect(tab.page).to_have_title(f"Messages · {tab.sendbox.api_key} · Sendbox")
    tab.page.go_back()
    expect(tab.page).to_have_title(f"Phones · {tab.sendbox.api_key} · Sendbox")


@pytest.mark.parametrize(
    "view", [pytest.param(view, marks=[pytest.mark.deep] * (view != "messages")) for view in FIRST_ROWS]
)
def test_the_first_rows_come_beside_the_script(tab: Tab, view: str) -> None:
    """What the scripts ask first, the browser has fetched by itself: they do not ask it again."""
    send(tab)
    control(tab, "clock/advance", {"by": "1h"})
    tab.open(view)
    tab.page.locator("sb-list a.row").first.wait_for()
    world, rows = preloads({"world": tab.sendbox.api_key, "view": view})
    assert tab.page.evaluate(ASKERS, world) == ["link"]
    # again once the page is live, as something may have happened meanwhile
    assert tab.page.evaluate(ASKERS, rows) in (["link"], ["link", "fetch"])


def test_few_stops_of_tab_lead_to_the_search(tab: Tab) -> None:
    """The views come after the main part, and the clock is one stop, whose parts the arrows lead through."""
    tab.open("messages")
    tab.see("No message yet.")
    keys, search = tab.page.keyboard, tab.page.get_by_label("Search messages")
    stops = 0
    while not search.evaluate("field => field === document.activeElement"):
        keys.press("Tab")
        stops += 1
        assert stops <= STOPS
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    clock = tab.page.get_by_role("toolbar", name="Clock")
    expect(clock.get_by_role("combobox")).to_be_focused()
    keys.press("ArrowRight")
    expect(clock.get_by_role("button", name="Advance")).to_be_focused()
    keys.press("ArrowRight")
    keys.press("Enter")
    tab.said("nothing was due")
    keys.press("Tab")
    keys.press("Shift+Tab")
    expect(clock.get_by_role("button", name="Next")).to_be_focused()
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    field = clock.get_by_role("combobox")
    expect(field).to_be_focused()
    field.fill("1m30s")
    keys.press("ArrowLeft")
    expect(field).to_be_focused()
    keys.press("Home")
    keys.press("ArrowLeft")
    expect(clock.get_by_role("link")).to_be_focused()


@pytest.mark.deep
def test_the_page_waits_for_a_world_that_is_not_open(tab: Tab) -> None:
    """A world that no client used yet appears as soon as one does."""
    key = f"test-later-{tab.sendbox.api_key[-12:]}"
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?world={key}")
    expect(tab.page.get_by_role("alert")).to_contain_text("This world is not open")
    assert tab.page.request.post(f"{tab.sendbox.origin}/_sandbox/worlds", data={"id": key}).ok
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    expect(tab.page.locator("#bar time")).to_be_visible()


@pytest.mark.deep
def test_a_world_that_is_not_open_can_be_opened(tab: Tab) -> None:
    """A person who has no client at hand, or who closed the world, opens it where it is missed."""
    key = f"test-now-{tab.sendbox.api_key[-12:]}"
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/?world={key}")
    tab.press("Open it")
    expect(tab.page.locator("#bar time")).to_be_visible()
    expect(tab.page.get_by_role("alert")).to_have_count(0)


@pytest.mark.deep
def test_a_stream_that_is_refused_is_opened_again(tab: Tab) -> None:
    """A browser gives such a stream up; the page does not, and is live again by itself."""
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        refused.append(route)
        route.fulfill(status=503, body="Later.")

    tab.page.context.route("**/_sandbox/stream?*", refuse, times=1)
    # a worker of the tab itself: what a shared worker asks for cannot be held up here
    tab.page.add_init_script("delete globalThis.SharedWorker")
    tab.open("messages")
    assert refused
    tab.wrong.clear()
    send(tab, "420777000144")
    tab.see("420777000144")


@pytest.mark.deep
def test_a_narrow_page_has_five_views_and_the_others_behind_more(tab: Tab) -> None:
    """All of the bar is seen, the present view is marked, and so is the state of the stream."""
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.open("assumptions")
    items = tab.page.locator("#views :is(a, button):visible")
    expect(items).to_have_count(6)
    for item in items.all():
        expect(item).to_be_in_viewport(ratio=0.9)
    tab.settle()
    words = tab.page.locator("#views span:not(.count):visible")
    assert words.evaluate_all("words => words.every((word) => word.scrollWidth <= word.clientWidth)")
    expect(tab.page.locator("#views [aria-current]:visible")).to_have_text("Assumptions")
    expect(tab.page.locator(".live.on")).to_be_visible()
    tab.press("Assumptions", within="#views")
    views = tab.page.get_by_role("navigation", name="All views")
    expect(views.get_by_role("link", name="Assumptions")).to_have_attribute("aria-current", "page")
    tab.accessible()
    views.get_by_role("link", name="Coverage").click()
    tab.page.get_by_role("heading", name="Coverage", level=1).wait_for()
    expect(views).to_have_count(0)
    tab.press("Phones", "link", "#views")
    expect(tab.page.locator("#views [aria-current]:visible")).to_have_text("Phones")
    tab.fits()


@pytest.mark.deep
def test_a_row_that_is_followed_keeps_the_list_as_it_is(tab: Tab) -> None:
    """By keyboard: the focus goes into what is opened, and back to its row, which is where it was; narrow pages too."""
    for number in range(30):
        send(tab, f"4207770{number:03}00")
    tab.open("messages")
    rows = tab.page.locator("sb-list")
    rows.locator("li[aria-setsize='30']").first.wait_for()
    tab.settle()
    rows.evaluate("list => { list.scrollTop = list.scrollHeight }")
    row = rows.locator("li[aria-posinset='25'] a")
    row.focus()
    before = tab.rows_in_sight()
    assert "25" in before
    assert "1" not in before
    tab.page.keyboard.press("Enter")
    tab.page.get_by_role("heading", name="To ", level=1).wait_for()
    expect(tab.page.locator(".detail")).to_be_focused()
    assert "25" in tab.rows_in_sight()
    tab.page.keyboard.press("Escape")
    expect(row).to_be_focused()
    assert tab.rows_in_sight() == before
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator(".detail")).to_be_focused()
    tab.page.keyboard.press("Escape")
    expect(row).to_be_focused()


#: What is cut in a page without a mark: texts that go on behind the edge of what has them, and can be scrolled nowhere.
CUT = """() => [...document.querySelectorAll("#bar *, #views *, main *")].filter((element) => {
  const { overflowX, textOverflow } = getComputedStyle(element);
  const hides = overflowX === "hidden" || overflowX === "clip";
  return hides && textOverflow !== "ellipsis" && !element.closest(".sr, .label, .window") && element.checkVisibility()
    && element.clientWidth && element.scrollWidth > element.clientWidth + 1;
}).map((element) => element.outerHTML.slice(0, 200))"""


#: The texts in empty fields that do not fit into them.
CUT_HINTS = """() => [...document.querySelectorAll("input")].filter((field) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(field);
  const text = Object.assign(document.createElement("canvas").getContext("2d"), { font });
  const width = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return field.checkVisibility() && text.measureText(field.placeholder).width > width + 1;
}).map((field) => field.placeholder)"""


@pytest.mark.deep
def test_nothing_is_cut_on_a_phone(tab: Tab) -> None:
    """At 390 pixels each view has all that it says, and what is opened in it too."""
    tab.page.set_viewport_size({"width": 390, "height": 780})
    send(tab)
    (message,) = tab.apart(tab.sendbox.messages)
    tab.apart(lambda: tab.sendbox.advance("1h"))
    places = [{"view": view} for view in VIEWS]
    places += [{"view": "messages", "message": message.message_id}, {"view": "phones", "phone": message.phone}]
    for place in places:
        tab.open(**place)
        tab.page.locator("main :is(h1, h2):visible").first.wait_for()
        expect(tab.page.locator("main")).not_to_contain_text("Loading …")
        tab.stays_upright()
        assert tab.page.evaluate(CUT) == [], place
        assert tab.page.evaluate(CUT_HINTS) == [], place
    tab.press(tab.sendbox.api_key)
    tab.page.get_by_label("Name of a checkpoint").wait_for()
    assert tab.page.evaluate(CUT_HINTS) == []
    tab.page.goto(f"{tab.sendbox.origin}/_sandbox/")
    tab.press("Open a world")
    tab.page.get_by_label("Seed").wait_for()
    assert tab.page.evaluate(CUT_HINTS) == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.deep
def test_nothing_is_wider_than_the_page(tab: Tab, width: int) -> None:
    """On a phone and on a laptop, the page does not scroll to the side."""
    tab.page.set_viewport_size({"width": width, "height": 740})
    send(tab, body="w" * 400)
    tab.open("messages")
    tab.see("420777000101")
    tab.fits()


@pytest.mark.deep
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


@pytest.mark.deep
def test_the_focus_goes_to_what_stands_in_its_place(tab: Tab) -> None:
    """What was pressed by a key and goes, is switched off or moves hands the focus on; no act gives it to the page."""
    for number in range(30):
        send(tab, f"4207770{number:03}01")
    control(tab, "holds", {})
    advance(tab, "0s")
    tab.open("messages", order="oldest")
    keys = tab.page.keyboard
    tab.page.locator("sb-list li[aria-setsize='30'] a").first.focus()
    tab.page.locator("sb-list").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(tab.page.locator("sb-list li[aria-posinset='30']")).to_be_visible()
    expect(tab.page.locator("sb-list li[aria-posinset='1'] a")).to_be_focused()
    keys.press("j")
    expect(tab.page.locator("sb-list li[aria-posinset='2'] a")).to_be_focused()
    keys.press("Enter")
    hand = tab.page.get_by_role("group", name="Move by hand")
    hand.get_by_role("button", name="sent").focus()
    keys.press("Enter")
    expect(hand.get_by_role("button", name="sent")).to_have_count(0)
    expect(hand.get_by_role("button").first).to_be_focused()
    webhook = control(tab, "deliveries")["deliveries"][0]["id"]
    tab.open("webhooks", delivery=webhook)
    acts = tab.page.get_by_role("group", name="Acts")
    acts.get_by_role("button", name="Release").focus()
    keys.press("Enter")
    expect(acts.get_by_role("button", name="Release")).to_have_count(0)
    expect(acts.get_by_role("button").first).to_be_focused()
    tab.press("Time travel")
    tab.page.get_by_role("button", name="Back one entry").click()
    forward = tab.page.get_by_role("button", name="Forward one entry")
    forward.focus()
    keys.press("Enter")
    expect(forward).to_be_disabled()
    expect(tab.page.get_by_role("slider")).to_be_focused()
    tab.open("library")
    tab.page.get_by_role("searchbox").fill("default")
    tab.page.locator(".library-cards button").first.focus()
    keys.press("Enter")
    expect(tab.page.locator("main.phones")).to_be_focused()
