"""Verify, partner and account in a browser: what they show, and what a person changes in them."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.page.browser.calls import narrow
from tests.page.browser.conftest import Tab

PHONE: Final = "420777000101"
#: Texts of a client that would do harm as markup.
HARM: Final = "<img src=x onerror=\"document.title='harm'\">‮"
TEMPLATE: Final = {
    "name": "order_ready",
    "language": "en",
    "category": "UTILITY",
    "status": "PENDING",
    "components": [
        {"type": "HEADER", "format": "TEXT", "text": "Your order"},
        {"type": "BODY", "text": f"Hello {{{{1}}}}, it is ready. {HARM}"},
        {"type": "FOOTER", "text": "Reply STOP to opt out"},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": "Bring it"}]},
    ],
}
BUSINESS: Final = {
    "waba_id": "7788",
    "name": "Bakery",
    "numbers": [{"phone_number": "420900000001", "phone_number_id": "1122", "status": "CONNECTED", "quality": "GREEN"}],
}
SCENARIO: Final[dict[str, Any]] = {
    "sendbox": 1,
    "account": {
        "credit": {"eur": 100},
        "templates": [TEMPLATE],
        "senders": {"sms": ["Acme"]},
        "blacklist": ["420777000199"],
        "subkeys": [{"name": "shop", "credit": 5}],
    },
    "partner": {"accounts": [BUSINESS]},
    "verify": {"rules": [{"name": "known code", "then": {"code": "123456"}}]},
}


def post(tab: Tab, path: str, body: dict[str, Any]) -> Any:
    """A call of the client below the REST interface, or of Verify."""
    answer = tab.page.request.post(f"{tab.sendbox.origin}{path}", headers={"x-api-key": tab.sendbox.api_key}, data=body)
    assert answer.ok, answer.text()
    return answer.json()


@pytest.mark.sendbox(scenario=SCENARIO)
@pytest.mark.deep
def test_a_code_is_seen_and_copied(tab: Tab) -> None:
    """The code that a phone shows, its state, what is left of it, and the rule that decided it; all of it live."""
    sendbox = tab.sendbox
    tab.open("verify")
    tab.see("No code yet")
    session = post(tab, "/v1/validations", {"phoneNumber": PHONE, "payload": {"note": HARM}})
    card = tab.page.get_by_role("article")
    expect(card.get_by_label("Code", exact=True)).to_have_text("123456")
    expect(card).to_contain_text("pending")
    tab.apart(lambda: sendbox.advance("1m"))
    expect(card).to_contain_text("code_sent")
    expect(card).to_contain_text("in 9m")
    tab.apart(lambda: sendbox.set_clock(mode="real"))
    expect(card).not_to_contain_text("in 9m")  # without a look at control: time passes by itself
    tab.apart(lambda: sendbox.set_clock(mode="manual"))
    expect(tab.page.get_by_role("button", name="manual", exact=True)).to_be_visible()
    expect(card).to_contain_text("known code")
    assert tab.copied("Copy code") == "123456"
    wrong = {"token": session["token"], "phoneNumber": PHONE, "code": "999999"}
    tab.page.request.post(f"{sendbox.origin}/v1/validations/verify", headers={"x-api-key": sendbox.api_key}, data=wrong)
    tab.apart(lambda: sendbox.advance("10m"))
    expect(card).to_contain_text("expired")
    tab.fill("Sessions of a phone", "420777000102")
    tab.see("No session of this phone.")
    tab.fill("Sessions of a phone", PHONE)
    expect(card).to_have_count(1)
    card.get_by_text("Payload").click()
    tab.accessible()
    narrow(tab)
    card.get_by_role("link", name=PHONE).click()
    expect(tab.page).to_have_title(f"Phones · {sendbox.api_key} · Sendbox")


@pytest.mark.sendbox(scenario=SCENARIO)
@pytest.mark.deep
def test_a_template_is_reviewed_by_hand(tab: Tab) -> None:
    """It is drawn as on a phone; a person approves and pauses it, and gives a reason, which stays a text."""
    tab.open("partner")
    card = tab.page.get_by_role("listitem").filter(has=tab.page.get_by_role("heading", name="order_ready"))
    for part in ("Your order", "Hello {{1}}, it is ready.", "Reply STOP to opt out", "Bring it"):
        expect(card).to_contain_text(part)
    card.get_by_text("Change its status").click()
    card.get_by_role("button", name="Approve").click()
    tab.said("order_ready, en: APPROVED.")
    expect(card.locator(".badge")).to_have_text("APPROVED")
    card.get_by_label("Reason").fill(HARM)
    card.get_by_role("button", name="Pause").click()
    expect(card.locator(".badge")).to_have_text("PAUSED")
    expect(card).to_contain_text(f"Reason: {HARM}")
    (template,) = tab.apart(lambda: tab.sendbox.partner).templates
    assert (template.status, template.reason) == ("PAUSED", HARM)
    assert "harm" not in tab.page.title().split(" · ")
    tab.accessible()
    narrow(tab)


@pytest.mark.sendbox(scenario=SCENARIO)
def test_a_signup_is_completed_and_another_fails(tab: Tab) -> None:
    """Only what is legal is offered; the hosted page is one step away; a number moves its status and its quality."""
    sendbox = tab.sendbox
    for client in ("florist", "cafe"):
        post(tab, "/v1/chatapp/signup", {"phone_number": "manual", "partner_client_id": client, "ca_name": client})
    tab.open("partner")
    cards = tab.page.locator(".partner-list.signups > li")
    florist, cafe = cards.filter(has_text="florist"), cards.filter(has_text="cafe")
    with tab.page.context.expect_page() as opened:
        florist.get_by_role("link", name="Open as the client").click()
    assert "/signup/" in opened.value.url
    opened.value.close()
    expect(florist).to_contain_text("opened")
    florist.get_by_role("button", name="Complete").click()
    tab.page.locator("#status .bad").wait_for()
    florist.get_by_label("Phone number, to complete").fill(PHONE)
    florist.get_by_role("button", name="Complete").click()
    expect(florist.locator(".badge")).to_have_text("completed")
    expect(florist.get_by_role("button")).to_have_count(0)
    cafe.get_by_label("Reason, to fail").fill("Not a business")
    cafe.get_by_role("button", name="Fail").click()
    expect(cafe).to_contain_text("Not a business")
    assert [each.state for each in tab.apart(lambda: sendbox.partner).signups] == ["completed", "failed"]
    tab.page.get_by_label("Quality of 420900000001").select_option("RED")
    tab.said("420900000001 is FLAGGED, quality RED.")
    tab.press("Restrict: 420900000001")
    tab.said("420900000001 is RESTRICTED, quality RED.")
    tab.fill("Search signups, accounts and templates", "bakery")
    expect(cards).to_have_count(0)
    tab.see("Bakery")


@pytest.mark.sendbox(scenario=SCENARIO)
@pytest.mark.deep
def test_credit_and_lists_are_changed(tab: Tab) -> None:
    """A person sets the credit, puts a number on the blacklist and takes it off; a wrong one is refused in words."""
    sendbox = tab.sendbox
    post(tab, "/v1/apikey/add", {"note": HARM, "shared": True})
    post(tab, "/v1/credit/order", {"service_id": "sender_sms_420_number", "period": "month"})
    tab.open("account")
    tab.see("65 EUR")
    expect(tab.page.get_by_role("group", name="Ordered services")).to_contain_text("sender_sms_420_number")
    expect(tab.page.get_by_role("group", name="Keys")).to_contain_text(f"{sendbox.api_key}~shop")
    expect(tab.page.get_by_role("group", name="Keys")).to_contain_text(HARM)
    tab.fill("New credit in EUR", "12.5")
    tab.press("Set credit")
    tab.said("The credit is 12.5 EUR.")
    assert tab.apart(lambda: sendbox.account).credit == 12.5
    add = tab.page.get_by_label("Add to: Blacklist")
    add.fill("no number")
    add.press("Enter")
    expect(tab.page.locator("#status .bad")).to_have_text(re.compile('^"no number" is not a phone number'))
    add.fill(PHONE)
    add.press("Enter")
    tab.said(f"Blacklist: {PHONE} is on it.")
    expect(add).to_have_value("")
    assert list(tab.apart(lambda: sendbox.account).blacklist) == [PHONE, "420777000199"]
    tab.press("Take 420777000199 off: Blacklist")
    tab.said("Blacklist: 420777000199 is off it.")
    assert list(tab.apart(lambda: sendbox.account).blacklist) == [PHONE]
    tab.accessible()
    narrow(tab)
