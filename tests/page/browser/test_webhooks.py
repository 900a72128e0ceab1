"""Webhooks in a browser: the list, one whole with its tries, and what a person does with it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

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
    # with which a narrow page shows the cells below each other
    heads = tries.nth(2).locator("td").evaluate_all("cells => cells.map((cell) => cell.dataset.head)")
    assert heads == tries.first.locator("th").all_inner_texts()
    expect(detail.get_by_role("group", name="Headers")).to_contain_text("X-Request-Id")
    expect(detail.locator("pre.json")).to_contain_text('"result": "sending"')
    assert '"sending"' in tab.copied("Copy the body")
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
    expect(tab.page.locator(".clock-next")).to_have_text("nothing is due")
    tab.press("Replay")
    tab.said("The webhook is sent again.")
    expect(tab.page.get_by_role("group", name="Tries").get_by_role("row")).to_have_count(4)
    expect(buttons).to_have_text(["Replay"])
    assert len(control(tab, f"deliveries/{waiting['id']}")["tries"]) == 3
    expect(tab.page.locator(".clock-next")).to_have_text("nothing is due")
    tab.press("Due next", "link", "#views")
    expect(tab.page.locator(".due-count")).to_have_text("idle")


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
    address = tab.copied("Copy the address")
    assert address == f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}/hook"
    sent(tab, "420777000100")
    advance(tab, "0")
    expect(tab.page.locator(".detail pre.json").last).to_contain_text('"result": "sending"')
    tab.accessible()
    narrow(tab)
    tab.press("All that it got, as a list", "link")
    expect(tab.page.get_by_label("Search webhooks")).to_have_value("target:hook")


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of a receiver that fails with an answer of its own."""

    class Failing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = b'{"error": "no such order"}'
            self.send_response(500)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """It says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_receiver_that_fails_is_seen(tab: Tab, receiver: str) -> None:
    """Red in the list, with its status, the tries and the next one; whole with what it answered, and as curl."""
    control(tab, "rules", {"when": {}, "then": "sending"})
    message = sent(tab, "420777000100", callback=receiver)
    advance(tab, "0")
    tab.open("webhooks")
    row = tab.page.locator("sb-list a.row")
    expect(row.locator(".badge.bad")).to_have_text("waiting")
    expect(row.locator(".status.bad")).to_have_text("500")
    expect(row).to_contain_text("1 try, next ")
    row.click()
    detail = tab.page.locator(".detail")
    expect(detail.locator("h1 .badge.bad")).to_have_text("waiting")
    answer = detail.locator("details", has_text="Answer to try 1")
    expect(answer.get_by_role("group", name="Headers of the answer to try 1")).to_contain_text("application/json")
    expect(answer.locator("pre")).to_contain_text('"error": "no such order"')
    command = shlex.split(tab.copied("Copy as curl"))
    assert command[:4] == ["curl", "-X", "POST", receiver]
    assert json.loads(command[-1])[0]["result"] == "sending"
    tab.accessible()
    tab.open("messages", message=message)
    expect(tab.page.locator(".detail .story-links .badge")).to_have_class(re.compile("bad$"))


@pytest.mark.deep
def test_webhooks_are_held_and_released_in_another_order(tab: Tab) -> None:
    """Before their first try; put in order by buttons and by dragging, released one by one or together."""
    control(tab, "rules", {"when": {}, "then": "sending"})
    tab.open("webhooks")
    tab.page.get_by_text("Hold and release").click()
    tab.page.get_by_label("What is held").select_option("Those about a phone")
    tab.fill("Phone", "420777000100")
    tab.press("Hold next")
    tab.said("Webhooks that fit are held from now on")
    for number in ("420777000100", "420777000101", "420777000100", "420777000100"):
        sent(tab, number)
        advance(tab, "1s")
    held = tab.page.get_by_role("list", name="Held webhooks").get_by_role("listitem")
    expect(held).to_have_count(3)
    ids = [held.nth(place).get_attribute("data-name") for place in range(3)]

    def in_order(*places: int) -> None:
        for place, number in enumerate(places):
            expect(held.nth(place)).to_have_attribute("data-name", str(ids[number]))

    in_order(0, 1, 2)
    tab.press("Move 3 of 3 up")
    in_order(0, 2, 1)
    expect(tab.page.get_by_role("button", name="Move 2 of 3 up")).to_be_focused()
    held.nth(0).drag_to(held.nth(2))
    in_order(2, 1, 0)
    tab.accessible()
    tab.press("Hold no more")
    tab.said("Webhooks leave by themselves again")
    tab.press("Release 1 of 3")
    tab.said("The webhook is released.")
    expect(held).to_have_count(2)
    tab.press("Release all in this order")
    tab.said("2 webhooks leave one after another.")
    expect(held).to_have_count(0)
    tries = [entry["delivery"] for entry in control(tab, "journal?kind=try")["entries"]]
    assert tries[-3:] == [str(ids[place]).split()[0] for place in (2, 1, 0)]
    narrow(tab)


@pytest.mark.deep
def test_a_repeated_webhook_is_a_row_of_its_own(tab: Tab) -> None:
    """Also where the first one is on another page of the list: it has as many rows as it says."""
    control(tab, "rules", {"when": {}, "then": "sending"})
    control(tab, "rules", {"in": "webhooks", "when": {}, "fault": {"duplicate": {"times": 1, "after": "2h"}}})
    for number in range(30):
        sent(tab, f"4207770{number:03}00")
        advance(tab, "1s")
    advance(tab, "3h")
    tab.open("webhooks", order="oldest")
    expect(tab.page.locator(".list-total")).to_have_text("60 webhooks")
    tab.page.locator("sb-list a.row").first.wait_for()
    tab.page.locator("sb-list").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(tab.page.locator("sb-list li[aria-setsize='60']").first).to_be_visible()


@pytest.mark.deep
def test_repeated_webhooks_are_held_and_released_each(tab: Tab) -> None:
    """They have one id, and stand in the list of what is held all the same."""
    control(tab, "rules", {"when": {}, "then": "sending"})
    control(tab, "rules", {"in": "webhooks", "when": {}, "fault": {"duplicate": {"times": 2}}})
    control(tab, "holds", {})
    sent(tab, "420777000100")
    advance(tab, "0")
    tab.open("webhooks")
    tab.page.get_by_text("Hold and release").click()
    held = tab.page.get_by_role("list", name="Held webhooks").get_by_role("listitem")
    expect(held).to_have_count(3)
    tab.press("Release 2 of 3")
    expect(held).to_have_count(2)
    tab.press("Release all in this order")
    tab.said("2 webhooks leave one after another.")
    expect(held).to_have_count(0)
    expect(tab.page.locator("sb-list .badge.good")).to_have_count(3)


@pytest.mark.deep
def test_what_is_held_leaves_room_for_the_list(tab: Tab) -> None:
    """Where there is little room, too: each that is held can be told from the others, and rows of the list are seen."""
    tab.page.set_viewport_size({"width": 390, "height": 740})
    control(tab, "holds", {})
    for number in range(8):
        sent(tab, f"4207770{number:03}00")
        advance(tab, "0")
    tab.open("webhooks")
    tab.page.get_by_text("Hold and release").click()
    held = tab.page.get_by_role("list", name="Held webhooks").get_by_role("link")
    expect(held).to_have_count(8)
    tab.stays_upright()
    assert held.evaluate_all("links => links.every((link) => link.scrollWidth <= link.clientWidth)")
    assert len(tab.rows_in_sight()) >= 2
    tab.page.locator("sb-list").scroll_into_view_if_needed()
    expect(tab.page.locator("sb-list a.row").first).to_be_in_viewport()
    tab.accessible()


@pytest.mark.deep
def test_all_parts_of_the_page_speak_of_one_queue(tab: Tab, receiver: str) -> None:
    """A webhook that is released is tried at once; its next try is in the bar and in Due next, and Next does it."""
    control(tab, "rules", {"when": {}, "then": "sending"})
    sent(tab, "420777000100", callback=receiver)
    advance(tab, "0")
    (waiting,) = control(tab, "deliveries")["deliveries"]
    tab.open("webhooks", delivery=waiting["id"])
    tab.press("Hold")
    tab.said("The webhook is held.")
    tab.press("Release")
    tab.said("The webhook is released.")
    tries = tab.page.get_by_role("group", name="Tries").get_by_role("row")
    expect(tries).to_have_count(3)
    expect(tries.last).to_contain_text("500")
    following = control(tab, f"deliveries/{waiting['id']}")["next_try"]
    expect(tab.page.locator(".detail .facts")).to_contain_text(following[11:19])
    tab.press("Due next", "link", "#views")
    expect(tab.page.get_by_role("list", name="Steps")).to_contain_text("try 3")
    expect(tab.page.locator(".clock-next")).to_contain_text("next +")
    tab.press("Next")
    tab.said("1 step")
    while control(tab, "clock")["next_due"] is not None:
        tab.press("Next")
        tab.said("step")
    (given_up,) = control(tab, "deliveries")["deliveries"]
    assert (given_up["state"], len(given_up["tries"])) == ("failed", 5)
    expect(tab.page.locator(".clock-next")).to_have_text("nothing is due")
    expect(tab.page.locator(".due-count")).to_have_text("idle")
