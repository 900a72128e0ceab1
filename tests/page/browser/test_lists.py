"""Long lists in a browser: they stay where a person looks, say what came, are sorted, filtered and walked by keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.page.browser.calls import advance, control, send, sent
from tests.page.browser.conftest import Tab

#: More than a list shows, and more than a page of control has.
MANY = 60
VIEWS = ("phones", "messages", "webhooks", "requests")
#: The row under the middle of the list, by what it leads to.
UNDER = """([x, y]) => document.elementFromPoint(x, y)?.closest("sb-list a.row")?.href"""

#: The texts that a key of a list is completed to.
VALUES = """async ([view, key]) => {
  const { src } = document.querySelector("script[type=module]");
  const { completions } = await import(src.replace("app.js", "list/grammar.js"));
  return completions(view, key);
}"""


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
    fill(tab, 3, 400, apart=apart)
    # of phones those count too on which something happened
    expect(waiting(tab)).to_have_text(re.compile(r"^\d+ new$" if view in ("phones", "webhooks") else "^3 new$"))
    tab.settle()
    assert tab.page.evaluate(UNDER, place) == before


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
    expect(tab.page.locator("sb-list li:focus-within")).to_have_attribute("aria-posinset", "50")
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
    for number, body in enumerate(("Hello", "Bonjour", "Ahoj")):
        send(tab, f"42077700{9 - number}10{number}", body=body)
    advance(tab, "1h")
    tab.open("messages")
    heads = tab.page.get_by_role("group", name="Columns")
    phones = tab.page.locator("sb-list li .col1")
    expect(phones).to_have_text(["420777007102", "420777008101", "420777009100"])
    heads.get_by_role("link", name="Phone").click()
    expect(heads.get_by_role("link", name="Phone")).to_have_text("Phone ↑, rising")
    heads.get_by_role("link", name="Phone").click()
    expect(phones).to_have_text(["420777009100", "420777008101", "420777007102"])
    heads.get_by_role("link", name="Result").click()
    expect(tab.page.locator("sb-list li .col2")).to_have_text(["delivered", "delivered", "undelivered"])
    tab.press("Oldest first", "link")
    expect(phones).to_have_text(["420777009100", "420777008101", "420777007102"])
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
    tab.page.reload()
    expect(column).to_be_visible()
    assert column.evaluate("column => column.offsetWidth") == after
    tab.accessible()
    tab.page.set_viewport_size({"width": 390, "height": 740})
    expect(heads).to_have_count(0)
    tab.fits()


@pytest.mark.deep
@pytest.mark.parametrize("view", VIEWS)
def test_each_list_is_sorted_by_each_head(tab: Tab, view: str) -> None:
    """No head leads to an error; the total is said, and beside the name of the view."""
    fill(tab, 3)
    tab.open(view)
    heads = tab.page.get_by_role("group", name="Columns").get_by_role("link")
    heads.first.wait_for()
    for number in range(heads.count()):
        heads.nth(number).click()
        expect(heads.nth(number)).to_contain_text("↓" if "Accepted" in heads.nth(number).inner_text() else "ing")
        expect(rows(tab).first).to_be_visible()
    total = tab.page.locator(".list-total").inner_text().split()[0]
    expect(tab.page.locator("#views a[aria-current] .count")).to_have_text(total)


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
    offers = tab.page.locator("datalist#search-words option")
    tab.fill("Search messages", "to:420* -resu")
    assert offers.evaluate_all("options => options.map(option => option.value)") == ["to:420* -result:"]
    for view in VIEWS:
        tab.open(view)
        field = tab.page.get_by_role("combobox", name="Search")
        field.wait_for()
        keys = offers.evaluate_all("options => options.map(option => option.value)")
        items = "deliveries" if view == "webhooks" else view
        refused = control(tab, f"{items}?search=never:1")["message"]
        assert keys == refused.partition("legal: ")[2].partition(";")[0].split(", ")
        for key in keys:
            for value in tab.page.evaluate(VALUES, [view, key]):
                assert items in control(tab, f"{items}?search={value}"), value


@pytest.mark.deep
def test_the_newest_activity_comes_first_and_says_what_became_of_it(tab: Tab) -> None:
    """A phone moves up when something happens on it; a text that was cut says so, on the phone and in its story."""
    sent(tab, "420777000101")
    sent(tab, "420777000102")
    advance(tab, "1h")
    tab.open("phones")
    numbers = tab.page.locator("sb-list li .col1")
    expect(numbers).to_have_count(2)
    tab.page.mouse.move(0, 0)
    message = sent(tab, "420777000101", body="x" * 5_040)
    expect(numbers.first).to_have_text("420777000101")
    expect(rows(tab).nth(1)).to_contain_text("undelivered")
    advance(tab, "1h")
    tab.open("phones", phone="420777000101")
    expect(tab.page.locator(".bubble .cut-off")).to_contain_text("the first 1,000 characters")
    tab.open("messages", message=message)
    expect(tab.page.locator(".story .cut-off")).to_be_visible()
