"""Texts of clients on every view: markup, scripts, marks that turn the direction, very long ones. None acts."""

from __future__ import annotations

import json
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.page.browser.conftest import Tab
from tests.tiers import turn

#: Texts that would do harm where they became markup or a script.
HARM = (
    "<img src=x onerror=\"document.title='harm'\">",
    "<script>document.title = 'harm'</script>",
    '"><svg onload="document.title=\'harm\'">',
    "javascript:document.title='harm'",
    "‮}{edoc eht si siht",
    "</textarea><style>main { display: none }</style>",
)
LONG = "W" * 100_000
VIEWS = (
    "phones",
    "messages",
    "webhooks",
    "requests",
    "due",
    "verify",
    "partner",
    "account",
    "try",
    "scenario",
    "compare",
    "verdict",
    "coverage",
    "assumptions",
)
SCENARIO = {
    "sendbox": 1,
    "extends": "default",
    "attempts": [{"name": HARM[0], "when": {"body": HARM[1]}, "then": ["sending", {"failed": {"info": HARM[2]}}]}],
    "account": {
        "subkeys": [{"name": "shop", "note": HARM[0]}],
        "templates": [
            {
                "name": "offer",
                "language": "en",
                "components": [{"type": "BODY", "text": f"{HARM[0]} {{{{1}}}} {HARM[4]}"}],
            }
        ],
    },
    "expect": [{"that": "messages", "name": HARM[1], "where": {"body": HARM[0]}, "count": 99}],
}


def harm(tab: Tab) -> None:
    """A client that writes all of it, into every field that takes texts; and phones that answer with it."""
    sendbox = tab.sendbox
    headers = {"x-api-key": sendbox.api_key}
    for number, text in enumerate((*HARM, LONG)):
        body = {
            "to": [{"phone_number": f"42077700{number}101"}],
            "body": text,
            "tag": text[:50],
            "payload": {text[:200]: text[:2000]},
            "callback": {"url": f"{sendbox.callback_url}?{text[:50]}"},
        }
        tab.page.request.post(f"{sendbox.base_url}/message", headers=headers, data=body)
        tab.page.request.post(f"{sendbox.base_url}/message", headers=headers, data={"to": text, text[:100]: text})
    validation = {"phoneNumber": "420777000101", "payload": {"harm": HARM[0]}}
    tab.page.request.post(f"{sendbox.verify_url}/v1/validations", headers=headers, data=validation)
    tab.apart(lambda: sendbox.advance("1m"))
    for text in (*HARM, LONG):
        tab.apart(partial(sendbox.phone("420777000101").write, text, channel="sms", to="420900000001"))
    tab.apart(lambda: sendbox.advance("1m"))


@pytest.mark.sendbox(scenario=SCENARIO)
def test_texts_of_clients_stay_texts(tab: Tab) -> None:
    """On every view: nothing of a client is an element, a script or an address; nothing is wider than the page."""
    harm(tab)
    tab.page.set_viewport_size({"width": 360, "height": 740})
    messages = [message.message_id for message in tab.sendbox.messages()]
    places = [{"view": view} for view in VIEWS]
    places += [{"view": "messages", "message": messages[0]}, {"view": "messages", "message": messages[-1]}]
    places += [{"view": "phones", "phone": "420777000101"}, {"view": "phones", "phone": "420777004101"}]
    places += [{"view": "requests", "request": "2"}]
    for place in turn(places, 0, 3):
        tab.open(**place)
        tab.page.locator("main :is(h1, h2):visible").first.wait_for()
        expect(tab.page.locator("main")).not_to_contain_text("Loading …")
        assert "harm" not in tab.page.title(), place
        elements = tab.page.evaluate(
            "[...document.querySelectorAll('main *')].filter(e => e.matches('img, script, style, iframe, [onload], "
            "[onerror]') || /^javascript:/i.test(e.getAttribute('href') ?? '')).map(e => e.outerHTML.slice(0, 200))"
        )
        assert elements == [], place
        tab.fits()
        # a text of 100,000 characters is not laid out whole before a person asks for it
        longest = tab.page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && "
            "!e.children.length && e.localName !== 'textarea').map(e => e.textContent.length))"
        )
        assert longest < 30_000, (place, longest)
    assert json.dumps(tab.wrong) == "[]"
