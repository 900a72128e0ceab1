"""What a client and a tester do over HTTP while a browser shows the world."""

from __future__ import annotations

from typing import Any

from tests.page.browser.conftest import Tab


def send(tab: Tab, number: str, **fields: Any) -> Any:
    """The client sends one message; its answer as JSON."""
    body = {"to": [{"phone_number": number}], **({} if "flow" in fields else {"body": "Hello"}), **fields}
    headers = {"x-api-key": tab.sendbox.api_key}
    return tab.page.request.post(f"{tab.sendbox.base_url}/message", headers=headers, data=body).json()


def sent(tab: Tab, number: str, **fields: Any) -> str:
    """The same; the id of the message."""
    return str(send(tab, number, **fields)["accepted"][0]["message_id"])


def control(tab: Tab, path: str, body: Any = None) -> Any:
    """What control of the world answers to a `GET`, or with a body to a `POST`."""
    address = f"{tab.sendbox.origin}/_sandbox/worlds/{tab.sendbox.api_key}/{path}"
    request = tab.page.request
    return (request.get(address) if body is None else request.post(address, data=body)).json()


def advance(tab: Tab, by: str) -> None:
    """The clock of the world is moved."""
    control(tab, "clock/advance", {"by": by})


def narrow(tab: Tab) -> None:
    """The page is as narrow as a phone, nothing is wider, and nothing scrolls to the side."""
    tab.page.set_viewport_size({"width": 360, "height": 740})
    tab.stays_upright()
