"""Phones in a browser: the conversation as its owner sees it, and everything that an owner does."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

from sendbox.services.messaging.answers import Message
from tests.page.browser.conftest import Tab

PHONE = "420777000101"
OTHER = "420777000102"
#: A Phone Number ID.
SENDER = "109876543210987"
WELCOME = {
    "template_name": "welcome",
    "language": "en",
    "sender": SENDER,
    "params": [{"first_name": "Jana"}, {"shop": "Acme"}],
    "params_header": ["https://acme.example/hello.png"],
    "params_buttons": ["jana-17"],
}
ORDER = {"template_name": "order_update", "language": "en", "sender": SENDER, "params": ["A-17", "Friday"]}


def send(tab: Tab, *numbers: str, **fields: Any) -> None:
    """The client sends a message."""
    body = {"to": [{"phone_number": number} for number in numbers or (PHONE,)], **fields}
    with httpx.Client(transport=tab.sendbox.transport) as client:
        answer = client.post(f"{tab.sendbox.base_url}/message", json=body, headers={"x-api-key": tab.sendbox.api_key})
    assert answer.status_code == 200
    assert answer.json()["rejected"] == []


def advance(tab: Tab, by: str = "1m") -> None:
    """The clock moves."""
    tab.apart(lambda: tab.sendbox.advance(by))


def bubble(tab: Tab, text: str) -> Locator:
    """The bubble with a text."""
    return tab.page.locator(".bubble").filter(has_text=text)


def write(tab: Tab, label: str, text: str) -> None:
    """Types into the handset and presses Enter."""
    field = tab.page.locator(".composer").get_by_role("textbox", name=label, exact=True)
    field.fill(text)
    field.press("Enter")


@pytest.mark.deep
def test_the_owner_answers_clicks_presses_and_opens(tab: Tab) -> None:
    """Each act is done on a bubble, reaches the client, and shows at once."""
    sendbox = tab.sendbox

    def opened() -> Message:
        return tab.apart(lambda: sendbox.message(phone=PHONE, channel="chatapp_template"))

    send(tab, body="Look: https://example.com/a and https://example.com/b", params={"_url": {}})
    send(tab, flow=[{"chatapp_template": ORDER}])
    advance(tab)
    tab.open("phones", phone=PHONE)
    parcel, order = bubble(tab, "Look:"), bubble(tab, "Your order A-17 will arrive on Friday.")
    expect(parcel.get_by_text("delivered", exact=True)).to_be_attached()
    expect(parcel).to_contain_text("https://example.com/b")

    parcel.get_by_role("button", name="/s/").nth(1).click()
    tab.said("The phone opened https://example.com/b")
    expect(parcel).to_contain_text("clicked 1 time")
    assert tab.apart(lambda: [len(link.clicks) for link in sendbox.phone(PHONE).inbox[0].links]) == [0, 1]

    order.get_by_role("button", name="Mark as seen").click()
    expect(order.get_by_text("seen", exact=True)).to_be_attached()
    assert opened().result == "seen"

    order.get_by_role("button", name="Change the day").click()
    tab.said("The phone answered: Change the day")
    expect(tab.page.locator(".bubble.own")).to_contain_text("Change the day")

    write(tab, "Reply", "On Monday, please")
    expect(bubble(tab, "On Monday, please")).to_contain_class("own")
    parcel.get_by_role("button", name="Reply to this").click()
    expect(tab.page.locator(".composer")).to_contain_text("Reply to Look:")
    write(tab, "Reply", "Thank you")
    expect(tab.page.locator(".composer textarea")).to_be_focused()
    expect(bubble(tab, "Thank you")).to_be_visible()
    advance(tab, "0s")
    replies = [event for event in tab.apart(lambda: sendbox.events) if event["type"] == "incoming"]
    assert [(event["gateway"], event["body"]) for event in replies] == [
        ("chatapp", "Change the day"),
        ("chatapp", "On Monday, please"),
        ("sms", "Thank you"),
    ]
    order.get_by_role("link", name="Why?").click()
    expect(tab.page).to_have_url(
        f"{sendbox.origin}/_sandbox/?world={sendbox.api_key}&view=messages&message={opened().message_id}"
    )


@pytest.mark.deep
def test_what_is_answered_stays_while_one_types(tab: Tab) -> None:
    """A message that comes meanwhile does not become the one that is answered, nor an answer of what begins a talk."""
    tab.open("phones", phone="420777000101")
    typed = tab.page.locator(".composer textarea")
    typed.fill("Hello?")
    for text in ("The first", "The second"):
        send(tab, "420777000101", body=text)
        advance(tab, "5s")
        expect(bubble(tab, text)).to_be_visible()
        if text == "The first":
            expect(tab.page.get_by_role("form", name="Write first")).to_be_visible()
            tab.press("Reply")
            expect(tab.page.locator(".composer")).to_contain_text("Reply to The first")
    expect(tab.page.locator(".composer")).to_contain_text("Reply to The first")
    typed.press("Enter")
    expect(bubble(tab, "Hello?")).to_contain_class("own")
    expect(tab.page.locator(".composer")).to_contain_text("Reply to The second")


@pytest.mark.deep
def test_the_owner_writes_first(tab: Tab) -> None:
    """A phone that nothing was sent to writes, on the channel and to the number that the person chooses."""
    tab.open("phones", search="+420 777 000 199")
    tab.press("Take up 420777000199 all the same", "link")
    tab.see("Nothing was sent to this phone")
    write(tab, "Message", "Where is it?")
    expect(bubble(tab, "Where is it?")).to_be_visible()
    tab.page.get_by_label("Channel", exact=True).select_option("chatapp")
    tab.fill("To", SENDER)
    write(tab, "Message", "And now?")
    expect(bubble(tab, "And now?")).to_contain_text("chatapp")
    tab.see("conversation open")
    written = tab.apart(lambda: tab.sendbox.phone("420777000199").state.conversation)
    assert [(text.channel, text.to, text.body) for text in written] == [
        ("sms", "420900000000", "Where is it?"),
        ("chatapp", SENDER, "And now?"),
    ]


@pytest.mark.deep
def test_a_phone_goes_offline_and_opts_out(tab: Tab) -> None:
    """What is sent meanwhile is pale, with what is still to come, and arrives when the phone is back."""
    sendbox = tab.sendbox
    send(tab, body="Hello")
    advance(tab)
    tab.open("phones", phone=PHONE)
    tab.press("Go offline")
    expect(tab.page.locator(".handset .state")).to_have_text("offline")
    expect(tab.page.locator("sb-list a.row")).to_contain_text("offline")
    send(tab, body="Are you there?")
    advance(tab)
    late = bubble(tab, "Are you there?")
    expect(late).to_contain_class("theirs pale")
    expect(late).to_contain_text("still to come: delivered")
    assert len(tab.apart(lambda: sendbox.phone(PHONE).inbox)) == 1
    tab.press("Come online")
    expect(tab.page.locator(".handset .state")).to_have_text("online")
    advance(tab, "0s")
    expect(late).not_to_contain_class("pale")
    assert len(tab.apart(lambda: sendbox.phone(PHONE).inbox)) == 2
    tab.press("Opt out")
    tab.said("The phone opted out.")
    assert tab.apart(lambda: sendbox.phone(PHONE).state.opted_out)
    tab.page.locator("header.who").get_by_text("opted out").wait_for()
    tab.press("Opt in again")
    tab.said("The phone opted in again.")
    expect(tab.page.get_by_role("button", name="Opt out")).to_be_visible()
    assert not tab.apart(lambda: sendbox.phone(PHONE).state.opted_out)


@pytest.mark.deep
def test_what_did_not_arrive_is_told_with_its_reason(tab: Tab) -> None:
    """A fallback shows both texts; a failure and a refusal say why; what was just accepted waits."""
    sendbox = tab.sendbox
    tab.apart(lambda: sendbox.rule(when={"channel": "richmsg"}, then="undelivered"))
    send(tab, flow=[{"richmsg": {"sender": "Acme", "body": "Rich first"}}, {"sms": {"body": "Then by SMS"}}])
    advance(tab, "5m")
    send(tab, flow=[{"chatapp_text": {"sender": SENDER, "body": "Free text"}}])
    advance(tab)
    send(tab, body="Just sent")
    tab.open("phones", phone=PHONE)
    expect(bubble(tab, "Rich first")).to_contain_text("[1] Undelivered")
    expect(bubble(tab, "Then by SMS")).to_contain_text("attempt 2")
    expect(bubble(tab, "Free text")).to_contain_text("rejected")
    expect(bubble(tab, "Free text").locator(".reason")).to_contain_text("refused: ")
    expect(bubble(tab, "Just sent")).to_contain_text("accepted")
    order = tab.page.locator(".bubble .words").all_inner_texts()
    assert order == ["Rich first", "Then by SMS", "Free text", "Just sent"]


@pytest.mark.deep
def test_templates_codes_and_rich_messages(tab: Tab) -> None:
    """Header, footer, buttons and cards are drawn, and nothing is loaded; a code is large and can be copied."""
    sendbox = tab.sendbox
    send(tab, flow=[{"chatapp_template": WELCOME}])
    step = {"template_name": "otp", "language": "en", "sender": SENDER, "params": ["1234"]}
    send(tab, flow=[{"chatapp_template": step}])
    button = {"title": "Open the shop", "url": "https://acme.example/shop"}
    send(tab, flow=[{"richmsg": {"sender": "Acme", "body": "Rich", "buttons": [button]}}])
    advance(tab, "1d")
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        client.post(f"{sendbox.verify_url}/v1/validations", json={"phoneNumber": PHONE})
    advance(tab)
    tab.open("phones", phone=PHONE)
    welcome = bubble(tab, "Welcome Jana, Acme has a gift for you.")
    expect(welcome.locator("figure")).to_contain_text("https://acme.example/hello.png")
    expect(welcome.locator(".buttons")).to_contain_text("https://acme.example/gifts/jana-17")
    expect(bubble(tab, "1234 is your verification code.")).to_contain_text("It is valid for ten minutes.")
    expect(bubble(tab, "Rich")).to_contain_text("Open the shop")
    expect(tab.page.locator(".day")).to_have_count(2)
    (code,) = tab.apart(lambda: sendbox.codes(phone=PHONE))
    expect(tab.page.get_by_role("group", name="Verify code").locator("output")).to_have_text(code.code)
    assert tab.copied("Copy code") == code.code
    tab.accessible()


@pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "assume": {"rcs": True}})
def test_cards_and_their_replies(tab: Tab) -> None:
    """A card has a drawn picture, its texts, and replies that can be pressed."""
    reply = {"type": "reply", "text": "Take it", "postback": "taken"}
    cards = [
        {"type": "image", "title": "A lamp", "description": "Bright", "file": "https://acme.example/lamp.png"},
        {"type": "video", "title": "A chair", "file": "https://acme.example/chair.mp4", "buttons": [reply]},
    ]
    send(tab, flow=[{"rcs": {"sender": "acme", "carousel": cards}}])
    advance(tab)
    tab.open("phones", phone=PHONE)
    expect(tab.page.locator(".cards")).to_contain_text("https://acme.example/lamp.png")
    tab.page.locator(".cards").get_by_role("button", name="Take it").click()
    tab.said("The phone answered: taken")
    expect(bubble(tab, "taken")).to_contain_class("own")
    tab.accessible()


@pytest.mark.deep
def test_a_long_conversation_begins_with_its_end(tab: Tab) -> None:
    """The newest sixty bubbles are shown; older ones on request, without moving what is read; a long text is folded."""
    for first in range(0, 150, 10):
        with httpx.Client(transport=tab.sendbox.transport, headers={"x-api-key": tab.sendbox.api_key}) as client:
            items = [{"to": [{"phone_number": PHONE}], "body": f"Text {first + at}."} for at in range(10)]
            assert client.post(f"{tab.sendbox.base_url}/messages", json=items).status_code == 200
    advance(tab)
    tab.open("phones", phone=PHONE)
    bubbles = tab.page.locator(".bubble")
    expect(bubbles).to_have_count(60)
    expect(bubble(tab, "Text 149.")).to_be_in_viewport()
    tab.page.locator(".talk").evaluate("talk => { talk.scrollTop = 0 }")
    tab.press("Show older")
    expect(bubbles).to_have_count(120)
    expect(bubble(tab, "Text 90.")).to_be_in_viewport()
    tab.press("Show older")
    expect(bubbles).to_have_count(150)
    expect(tab.page.get_by_role("button", name="Show older")).to_have_count(0)
    tab.apart(lambda: tab.sendbox.phone(PHONE).write("‮" + "long " * 5_000))
    folded = tab.page.locator(".bubble.own details")
    expect(folded).to_contain_text("25,001 characters")
    folded.locator("summary").click()
    expect(folded).to_have_attribute("open", "")
    tab.fits()


@pytest.mark.deep
def test_the_list_of_phones_and_a_narrow_page(tab: Tab) -> None:
    """A person searches, chooses a phone, and comes back; nothing is wider than a phone; without messages: Try it."""
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.open("phones")
    tab.press("Send a message", "link")
    tab.page.get_by_role("heading", name="Try it", level=1).wait_for()
    send(tab, PHONE, OTHER, body="w" * 400)
    advance(tab)
    tab.open("phones")
    rows = tab.page.locator("sb-list a.row")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text=OTHER)).to_contain_text("undelivered")
    tab.fill("Search phones", "0101")
    expect(rows).to_have_count(1)
    rows.first.click()
    expect(tab.page.get_by_role("heading", name=PHONE, level=1)).to_be_visible()
    expect(tab.page.locator(".composer")).to_be_in_viewport()
    tab.fits()
    tab.accessible()
    tab.press("All phones", "link")
    expect(rows).to_have_count(1)
    send(tab, PHONE, body="Something new")
    advance(tab)
    expect(rows).to_contain_text("Something new")
    expect(rows.locator(".unread")).to_have_text("new")
    tab.accessible()
    rows.first.click()
    tab.press("All phones", "link")
    expect(rows.locator(".unread")).to_have_count(0)


@pytest.mark.deep
def test_the_past_is_only_looked_at(tab: Tab) -> None:
    """As it was: what arrived later is not there, and nothing can be done."""
    send(tab, body="Hello")
    advance(tab, "2s")
    tab.open("phones", phone=PHONE, then="1")
    expect(bubble(tab, "Hello")).to_contain_class("theirs pale")
    tab.see("The past can only be looked at.")
    expect(tab.page.locator(".detail").get_by_role("button")).to_have_count(0)
