"""Long lists in a browser: they stay where a person looks, say what came, are sorted, filtered and walked by keys."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from sendbox.fixture.sandbox import Sandbox
from tests.page.browser.calls import advance, control, send, sent
from tests.page.browser.conftest import PATIENCE, Tab

#: More than a list shows, and more than a page of control has.
MANY = 60
VIEWS = ("phones", "messages", "webhooks", "requests")
#: The row under the middle of the list, by what it leads to.
UNDER = """([x, y]) => document.elementFromPoint(x, y)?.closest("sb-list a.row")?.href"""


def fill(tab: Tab, count: int, first: int = 100, *, apart: bool = False) -> None:
    """So many calls, each to another phone, with their webhooks; `apart` each at an instant of its own."""
    for number in range(first, first + count):
        send(tab, f"420777{number:04}01")
        if apart:
            advance(tab, "1m")
    advance(tab, "1s")


def rows(tab: Tab) -> Locator:
    """The rows of the list that are elements."""
    return tab.page.locator("sb-list a.row")


def middle(tab: Tab) -> list[float]:
    """The middle of the list, which stands still."""
    tab.settle()
    box = tab.page.locator("sb-list").bounding_box()
    assert box is not None
    return [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]


def offers(tab: Tab) -> list[str]:
    """The texts that the field of the search offers."""
    options = tab.page.locator("datalist#search-words option")
    values: list[str] = options.evaluate_all("options => options.map(option => option.value)")
    return values


def waiting(tab: Tab) -> Locator:
    """The button that says how many wait."""
    return tab.page.locator(".list-new")


@pytest.mark.parametrize(
    "view", [pytest.param(view, marks=[pytest.mark.deep] * (view != "messages")) for view in VIEWS]
)
def test_a_live_list_holds_the_place_of_its_reader(tab: Tab, view: str) -> None:
    """What is under the pointer stays there while a hundred messages come; they wait above until they are wanted."""
    apart = view == "webhooks"  # what happens at one instant goes in one of them
    fill(tab, MANY, apart=apart)
    tab.open(view)
    rows(tab).nth(5).wait_for()
    place = middle(tab)
    tab.page.mouse.move(*place)
    before = tab.page.evaluate(UNDER, place)
    assert before
    fill(tab, 100, 200, apart=apart)
    expect(waiting(tab)).to_have_text(re.compile(r"^\d{3} new$" if apart else "^100 new$"))
    tab.settle()
    assert tab.page.evaluate(UNDER, place) == before
    first = rows(tab).first.get_attribute("href")
    waiting(tab).click()
    expect(rows(tab).first).not_to_have_attribute("href", str(first))
    expect(waiting(tab)).to_have_count(0)
    # in the midst of the list too, and what is followed by the focus
    tab.page.locator("sb-list").evaluate("list => { list.scrollTop = list.scrollHeight / 2 }")
    tab.page.mouse.move(*place)
    tab.settle()
    before = tab.page.evaluate(UNDER, place)
    assert before
    fill(tab, 3, 400, apart=apart)
    # of phones those count too on which something happened
    expect(waiting(tab)).to_have_text(re.compile(r"^\d+ new$" if view in ("phones", "webhooks") else "^3 new$"))
    tab.settle()
    assert tab.page.evaluate(UNDER, place) == before


@pytest.mark.deep
def test_a_list_that_nobody_looks_at_goes_on_and_a_paused_one_counts(tab: Tab) -> None:
    """The newest are seen at once; a pause keeps all rows as they are, until it ends."""
    fill(tab, 3)
    tab.open("messages")
    expect(rows(tab)).to_have_count(3)
    fill(tab, 1, 200)
    expect(rows(tab)).to_have_count(4)
    expect(tab.page.locator(".list-total")).to_have_text("4 messages")
    tab.press("Pause")
    tab.page.mouse.move(0, 0)
    fill(tab, 2, 300)
    advance(tab, "1h")
    expect(waiting(tab)).to_have_text("2 new")
    expect(rows(tab)).to_have_count(4)
    expect(rows(tab).locator(".badge", has_text="delivered")).to_have_count(0)
    tab.press("Pause")
    expect(rows(tab)).to_have_count(6)
    expect(rows(tab).locator(".badge", has_text="delivered")).to_have_count(6)
    # a row in focus is held too, and goes on when the focus leaves
    rows(tab).first.focus()
    fill(tab, 1, 400)
    expect(waiting(tab)).to_have_text("1 new")
    expect(rows(tab)).to_have_count(6)
    tab.page.get_by_label("Search messages").focus()
    expect(rows(tab)).to_have_count(7)
    tab.accessible()


@pytest.mark.deep
@pytest.mark.parametrize("width", [390, 1280])
def test_a_tap_does_not_hold_a_list(browser: Browser, sendbox: Sandbox, width: int) -> None:
    """On a touch screen the row that was tapped keeps the focus; the list goes on, and the row stays in sight."""
    options: Any = {"viewport": {"width": width, "height": 800}, "has_touch": True, "is_mobile": True}
    context = browser.new_context(**options, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    tab = Tab(context.new_page(), sendbox)
    fill(tab, 3)
    tab.open("messages")
    row = rows(tab).nth(1)
    address = str(row.get_attribute("href"))
    row.tap()
    tab.page.get_by_role("heading", name="To ", level=1).wait_for()
    back = tab.page.get_by_role("link", name="Messages", exact=True).and_(tab.page.locator(".back:visible"))
    if back.count():
        back.tap()
    expect(rows(tab)).to_have_count(3)
    fill(tab, 1, 200)
    expect(rows(tab)).to_have_count(4)
    expect(waiting(tab)).to_have_count(0)
    assert rows(tab).nth(2).get_attribute("href") == address
    expect(rows(tab).nth(2)).to_be_in_viewport()
    context.close()


def test_the_keys_lead_through_a_list_and_back(tab: Tab) -> None:
    """A list is one stop of Tab; / searches, j and k walk, Enter opens, Escape comes back, ? says so."""
    fill(tab, MANY)
    tab.open("messages")
    rows(tab).nth(5).wait_for()
    keys = tab.page.keyboard
    keys.press("/")
    expect(tab.page.get_by_label("Search messages")).to_be_focused()
    keys.press("Escape")
    expect(rows(tab).first).to_be_focused()
    expect(tab.page.locator("sb-list li [tabindex='0']")).to_have_count(1)
    for _ in range(20):
        keys.press("j")
    keys.press("k")
    row = tab.page.locator("sb-list li[aria-posinset='20'] a")
    expect(row).to_be_focused()
    assert "20" in tab.rows_in_sight()
    keys.press("Enter")
    expect(tab.page.locator(".detail")).to_be_focused()
    tab.page.get_by_role("heading", name="To ", level=1).wait_for()
    keys.press("Escape")
    expect(row).to_be_focused()
    keys.press("Home")
    expect(tab.page.locator("sb-list li[aria-posinset='1'] a")).to_be_focused()
    keys.press("End")
    expect(tab.page.locator("sb-list li:focus-within")).to_have_attribute("aria-posinset", re.compile("^[56]0$"))
    keys.press("Shift+Tab")
    expect(tab.page.locator("sb-list li a:focus")).to_have_count(0)
    keys.press("?")
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("the next row")
    tab.accessible()
    keys.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_wide_list_has_columns(tab: Tab) -> None:
    """It is sorted by their heads, in both orders, from the oldest too; they are widened by keys too, and stay so."""
    # no two orders are the same, so that a text that is waited for was not there before
    for number, body in (("420777008102", "Hello"), ("420777007100", "Bonjour"), ("420777009101", "Ahoj")):
        send(tab, number, body=body)
    advance(tab, "1h")
    tab.open("messages")
    heads = tab.page.get_by_role("group", name="Columns")
    phones = tab.page.locator("sb-list li .col1")
    expect(phones).to_have_text(["420777009101", "420777007100", "420777008102"])
    heads.get_by_role("link", name="Phone").click()
    expect(heads.get_by_role("link", name="Phone")).to_have_text("Phone ↑, rising")
    expect(phones).to_have_text(["420777007100", "420777008102", "420777009101"])
    heads.get_by_role("link", name="Phone").click()
    expect(phones).to_have_text(["420777009101", "420777008102", "420777007100"])
    heads.get_by_role("link", name="Result").click()
    expect(tab.page.locator("sb-list li .col2")).to_have_text(["delivered", "delivered", "undelivered"])
    tab.press("Oldest first", "link")
    expect(phones).to_have_text(["420777008102", "420777007100", "420777009101"])
    send(tab, "420777001101")
    expect(waiting(tab)).to_have_text("1 new")
    tab.press("Newest first", "link")
    expect(phones.first).to_have_text("420777001101")
    column = heads.locator(".list-column").first
    tab.settle()
    before = column.evaluate("column => column.offsetWidth")
    heads.get_by_role("link", name="Phone").focus()
    tab.page.keyboard.press("Shift+ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    expect(heads.get_by_role("link", name="Result")).to_be_focused()
    after = column.evaluate("column => column.offsetWidth")
    assert after > before
    grip = column.locator(".list-grip").bounding_box()
    assert grip is not None
    tab.page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    tab.page.mouse.down()
    tab.page.mouse.move(grip["x"] + 90, grip["y"] + grip["height"] / 2, steps=3)
    tab.page.mouse.up()
    drawn, after = after, column.evaluate("column => column.offsetWidth")
    assert after > drawn
    tab.page.reload()
    expect(column).to_be_visible()
    assert column.evaluate("column => column.offsetWidth") == after
    tab.accessible()
    tab.page.set_viewport_size({"width": 390, "height": 740})
    expect(heads).to_have_count(0)
    tab.fits()


@pytest.mark.deep
def test_columns_that_were_widened_fit_a_narrower_page(tab: Tab) -> None:
    """No column is beyond the edge of a list, however wide the others were drawn."""
    sent(tab, "420777000101")
    tab.open("messages")
    tab.page.evaluate("""() => localStorage.setItem("sendbox-columns-messages", '{"0": 700, "2": 700}')""")
    tab.page.set_viewport_size({"width": 1000, "height": 740})
    tab.page.reload()
    columns = tab.page.locator(".list-column")
    expect(columns).to_have_count(5)
    tab.stays_upright()
    for column in columns.all():
        expect(column).to_be_in_viewport(ratio=1)


@pytest.mark.deep
def test_what_fits_a_search_no_more_goes(tab: Tab) -> None:
    """Also from a list that a person looks at; the row under the pointer stays there."""
    messages = [sent(tab, f"420777000{number}01") for number in (1, 2, 3)]
    advance(tab, "1s")
    tab.open("messages", search="result:sent")
    expect(rows(tab)).to_have_count(3)
    rows(tab).first.hover()
    before = rows(tab).first.get_attribute("href")
    control(tab, f"messages/{messages[1]}/events", {"result": "delivered"})
    expect(rows(tab)).to_have_count(2)
    expect(tab.page.locator(".list-total")).to_have_text("2 messages")
    expect(rows(tab).first).to_have_attribute("href", str(before))
    control(tab, "reset", {})
    tab.see("No message fits.")


@pytest.mark.deep
def test_a_sorted_list_says_that_its_order_is_old(tab: Tab) -> None:
    """Its rows stay where they are, with what became of them, until it is sorted again."""
    message = sent(tab, "420777000101")
    advance(tab, "1s")
    sent(tab, "420777000103")
    tab.open("messages", sort="result", order="oldest")
    results = tab.page.locator("sb-list li .col2")
    expect(results).to_have_text(["accepted", "sent"])
    control(tab, f"messages/{message}/events", {"result": "delivered"})
    expect(results).to_have_text(["accepted", "delivered"])
    advance(tab, "1h")
    expect(results).to_have_text(["rejected", "delivered"])
    tab.press("Sort again")
    expect(results).to_have_text(["delivered", "rejected"])
    expect(waiting(tab)).to_have_count(0)


@pytest.mark.deep
@pytest.mark.parametrize("view", VIEWS)
def test_each_list_is_sorted_by_each_head(tab: Tab, view: str) -> None:
    """No head leads to an error; the total is said, and beside the name of the view."""
    fill(tab, 3)
    tab.open(view)
    heads = tab.page.get_by_role("group", name="Columns").get_by_role("link")
    heads.first.wait_for()
    for number in range(heads.count()):
        head = heads.nth(number)
        before = str(head.text_content())
        head.click()
        expect(head).not_to_have_text(before)
        expect(rows(tab).first).to_be_visible()
    total = tab.page.locator(".list-total").inner_text().split()[0]
    expect(tab.page.locator("#views a[aria-current] .count")).to_have_text(total)


@pytest.mark.deep
def test_filters_and_the_words_of_a_search(tab: Tab) -> None:
    """A chip adds a word to the search and takes it away; the field offers the words that control knows."""
    sent(tab, "420777000101")
    sent(tab, "420777000102")
    advance(tab, "1h")
    tab.open("messages")
    chip = tab.page.get_by_role("button", name="undelivered", exact=True)
    chip.click()
    expect(rows(tab)).to_have_count(1)
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(tab.page.get_by_label("Search messages")).to_have_value("result:undelivered")
    tab.press("failed")
    expect(tab.page.get_by_label("Search messages")).to_have_value("result:failed")
    tab.press("failed")
    expect(rows(tab)).to_have_count(2)
    tab.fill("Search messages", "to:420* -resu")
    assert offers(tab) == ["to:420* -result:"]
    control(tab, "phones/420777000101/reply", {"body": "Yes"})
    tab.open("phones")
    expect(rows(tab)).to_have_count(2)
    tab.press("unanswered")
    expect(rows(tab)).to_have_count(1)
    expect(rows(tab)).to_contain_text("420777000101")
    tab.press("undelivered")
    expect(tab.page.get_by_label("Search phones")).to_have_value("is:unanswered result:undelivered")
    tab.see("No phone fits.")
    tab.press("unanswered")
    expect(rows(tab)).to_contain_text("420777000102")


@pytest.mark.deep
@pytest.mark.parametrize("view", VIEWS)
def test_the_words_that_are_offered_are_those_of_control(tab: Tab, view: str) -> None:
    """All keys of a list in their order, and of each only values that it may have."""
    sent(tab, "420777000101")
    tab.open(view)
    field = tab.page.get_by_role("combobox", name="Search")
    field.wait_for()
    items = "deliveries" if view == "webhooks" else view
    refused = control(tab, f"{items}?search=never:1")["message"]
    keys = offers(tab)
    assert keys == refused.partition("legal: ")[2].partition(";")[0].split(", ")
    for key in keys:
        field.fill(key)
        for value in offers(tab):
            assert items in control(tab, f"{items}?search={value}"), value


@pytest.mark.deep
def test_the_newest_activity_comes_first_and_says_what_became_of_it(tab: Tab) -> None:
    """A phone moves up when something happens on it; a text that was cut says so, on the phone and in its story."""
    sent(tab, "420777000101")
    sent(tab, "420777000102")
    advance(tab, "1h")
    tab.open("phones")
    numbers = tab.page.locator("sb-list li .col1")
    expect(numbers).to_have_text(["420777000102", "420777000101"])
    tab.page.mouse.move(0, 0)
    message = sent(tab, "420777000101", body="x" * 5_040)
    expect(numbers.first).to_have_text("420777000101")
    # the newest message, which is not on the phone yet, and not the older one that is
    expect(rows(tab).first.locator(".badge")).to_have_text("accepted")
    expect(rows(tab).first.locator(".text")).to_have_text(re.compile("^xxx"))
    expect(rows(tab).nth(1)).to_contain_text("undelivered")
    advance(tab, "1h")
    tab.open("phones", phone="420777000101")
    expect(tab.page.locator(".bubble .cut-off")).to_contain_text("the first 1,000 characters")
    tab.open("messages", message=message)
    expect(tab.page.locator(".story .cut-off")).to_be_visible()


@pytest.mark.deep
def test_the_counts_of_the_views_do_not_stay_behind(tab: Tab) -> None:
    """What happens while they are asked for is counted after it; they are those of the list."""
    sent(tab, "420777000101")
    tab.open("messages")
    count = tab.page.locator("#views a[aria-current] .count")
    expect(count).to_have_text("1")
    held: list[Route] = []
    asked = re.compile(r"/requests\?limit=1&")
    tab.page.route(asked, lambda route: held.append(route), times=1)
    with tab.page.expect_request(asked):
        sent(tab, "420777000102")
    expect(rows(tab)).to_have_count(2)
    sent(tab, "420777000103")
    expect(rows(tab)).to_have_count(3)
    (route,) = held
    route.continue_()
    expect(count).to_have_text("3")


@pytest.mark.deep
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_opened_stays_while_the_list_is_another_one(tab: Tab, view: str) -> None:
    """A search, a filter and an order are about the list only; Escape closes what is opened and leaves the search."""
    fill(tab, 2)
    tab.open(view)
    rows(tab).first.click()
    detail = tab.page.locator(".detail h1")
    text = str(detail.text_content())
    tab.press("Oldest first", "link")
    tab.page.get_by_role("combobox", name="Search").fill("to:420777999901")
    tab.see("fits.")
    expect(detail).to_have_text(text)
    tab.page.locator(".detail").focus()
    tab.page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    expect(tab.page.get_by_role("combobox", name="Search")).to_have_value("to:420777999901")
