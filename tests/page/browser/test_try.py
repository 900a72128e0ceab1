"""Try it in a browser: a message and a code are sent as a client does it, and explained where they are written."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from sendbox.services.messaging.answers import Message
from tests.page.browser.conftest import Tab

PHONE = "420777000101"


def message(tab: Tab, **where: Any) -> Message:
    """The message that was sent."""
    return tab.apart(lambda: tab.sendbox.message(**where))


def test_a_first_message(tab: Tab) -> None:
    """What is written is shown as it will be sent; the answer has the message, the way to its phone, and the code."""
    tab.open("try")
    result = tab.page.get_by_role("region", name="Result")
    tab.fill("To", f"{PHONE}, 420777000102")
    tab.fill("Text", "Hello there")
    tab.fill("Tag", "news")
    expect(result).to_contain_text('"body": "Hello there"')
    tab.page.keyboard.press("Enter")
    expect(result.get_by_role("heading", name="Accepted")).to_be_focused()
    expect(result.get_by_role("list", name="Messages").get_by_role("listitem")).to_have_count(2)
    code = result.locator(".try-code")
    expect(code).to_contain_text("curl ")
    tab.press("Python")
    expect(code).to_contain_text("httpx")
    tab.press("Node")
    expect(code).to_contain_text("fetch")
    assert "Hello there" in tab.copied("Copy")
    expect(result).to_contain_text("accepted")
    tab.press("Let it arrive")
    expect(result.get_by_text("undelivered", exact=True)).to_be_visible()
    expect(result.get_by_text("delivered", exact=True)).to_be_visible()
    assert (message(tab, phone=PHONE).body, message(tab, phone=PHONE).tags) == ("Hello there", ["news"])
    tab.accessible()
    result.get_by_role("link", name=PHONE).first.click()
    expect(tab.page.get_by_role("heading", name=PHONE, level=1)).to_be_visible()
    expect(tab.page.locator(".bubble")).to_contain_text("Hello there")


@pytest.mark.deep
def test_a_flow_with_a_template_and_a_magic_number(tab: Tab) -> None:
    """Channels in their order, the values of a template, a number that is chosen by what happens to it."""
    tab.open("try")
    tab.page.get_by_role("button", name="replies YES five seconds after it was delivered").click()
    tab.page.get_by_label("By", exact=True).select_option("chatapp_template")
    tab.page.get_by_label("Template", exact=True).select_option("welcome (en)")
    for label, value in {
        "{{first_name}}": "Jana",
        "{{shop}}": "Acme",
        "Address of the image": "https://acme.example/hello.png",
        "Button “Take it”": "jana-17",
    }.items():
        tab.fill(label, value)
    tab.press("Add a fallback")
    tab.page.get_by_label("Then by", exact=True).select_option("richmsg")
    tab.fill("Minutes before the next channel is used", "2")
    tab.page.get_by_label("Button", exact=True).fill("Open")
    tab.fill("Its address", "https://acme.example")
    tab.fill("Text", "Plain")
    tab.press("Add a fallback")
    tab.press("Remove Messaging app, template")
    tab.press("Send")
    tab.see("Accepted")
    assert message(tab).phone == "420777000107"
    (request,) = [entry for entry in tab.apart(lambda: tab.sendbox.journal) if entry["kind"] == "request"]
    assert (
        '"flow":[{"richmsg":{"sender":"Acme","buttons":[{"title":"Open","url":"https://acme.example"}]'
        in request["body"]
    )
    assert request["body"].endswith(',{"sms":{}}]}')


@pytest.mark.deep
def test_remarks_stand_at_their_fields(tab: Tab) -> None:
    """What is refused and what is advised is said beside the field; a template that does not fit rejects the phone."""
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.open("try")
    tab.page.get_by_label("By", exact=True).select_option("chatapp_template")
    tab.page.get_by_label("Template", exact=True).select_option("welcome (en)")
    tab.press("Send")
    tab.see("Nothing was accepted")
    image = tab.page.get_by_label("Address of the image")
    expect(image).to_have_attribute("aria-invalid", "true")
    expect(image).to_have_accessible_description(
        "\"\" is a value of kind text, but the header of template 'welcome' (en) is of kind image (§2.2)"
    )
    expect(tab.page.get_by_label("Sender")).to_have_accessible_description(
        '"109876543210987" is not registered as a sender for chatapp; it is accepted anyway'
    )
    tab.page.get_by_label("By", exact=True).select_option("richmsg")
    tab.fill("Sender", "")
    tab.press("Send")
    expect(tab.page.get_by_role("heading", name="Refused")).to_be_focused()
    expect(tab.page.get_by_label("Text", exact=True)).not_to_have_attribute("aria-invalid", "true")
    assert tab.page.locator(".try-step .try-remarks").all_inner_texts() != []
    tab.fits()
    tab.accessible()


@pytest.mark.deep
def test_a_code_is_sent_and_checked(tab: Tab) -> None:
    """A number that is not one is refused at its field; a wrong code and the right one are answered."""
    tab.open("try")
    tab.fill("Phone", "12")
    tab.press("Send a code")
    expect(tab.page.get_by_label("Phone", exact=True)).to_have_attribute("aria-invalid", "true")
    tab.fill("Phone", PHONE)
    tab.press("Send a code")
    tab.see("The code is on its way")
    (code,) = tab.apart(lambda: tab.sendbox.codes(phone=PHONE))
    tab.fill("The code that the user enters", "000000" if code.code != "000000" else "111111")
    tab.press("Check the code")
    asked = tab.page.locator(".try-asked")
    expect(asked.locator(".badge.bad")).to_be_visible()
    tab.fill("The code that the user enters", code.code)
    tab.press("Check the code")
    expect(asked.locator(".badge.bad")).to_have_count(0)
    assert tab.apart(lambda: tab.sendbox.codes(phone=PHONE))[0].state == "verified"
    tab.press("look at the phone", "link")
    expect(tab.page.get_by_role("group", name="Verify code")).to_contain_text(code.code)


@pytest.mark.sendbox(
    scenario="sendbox: 1\napi:\n  - name: cut\n    when: {operation: sendMessage}\n    fault: disconnect\n"
)
@pytest.mark.deep
def test_a_connection_that_ends_is_said_in_words(tab: Tab) -> None:
    """A fault of the scenario may leave no answer."""
    tab.open("try")
    tab.press("Send")
    tab.said("The connection ended without a whole answer.")
    tab.wrong.clear()


@pytest.mark.deep
def test_a_body_is_written_as_json(tab: Tab) -> None:
    """The form becomes the JSON that it makes; what is written there is sent as it is, and remarked on below it."""
    tab.open("try")
    tab.press("Write the body as JSON")
    body = tab.page.get_by_label("Body as JSON")
    expect(body).to_have_value(re.compile('"phone_number": "420777000101"'))
    tab.fill("Body as JSON", '{"to": [{"phone_number": "420777000100"}], "body": 7}')
    tab.press("Send")
    result = tab.page.get_by_role("region", name="Result")
    expect(result.get_by_role("heading", name="Refused")).to_be_focused()
    expect(tab.page.locator(".try-remarks").first).to_contain_text("7")
    tab.fill("Body as JSON", '{"to": [{"phone_number": "420777000100"}], "body": "Hello"}')
    tab.press("Send")
    expect(result.get_by_role("heading", name="Accepted")).to_be_focused()
    assert message(tab, phone="420777000100").body == "Hello"
    tab.press("Back to the form")
    expect(tab.page.get_by_label("Text", exact=True)).to_be_visible()
