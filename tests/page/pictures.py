"""The pictures of the page in the documentation: `scripts/pictures` takes them anew, in the system's browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from playwright.sync_api import Browser, expect, sync_playwright

from sendbox.fixture.server import SandboxServer
from tests.page.browser.conftest import ARGUMENTS

FOLDER: Final = Path(__file__).parents[2] / "docs" / "images"
KEY: Final = "test-demo"
START: Final = "2026-03-01T09:00:00Z"
SCENARIO: Final = """\
sendbox: 1
extends: default

attempts:
  - name: rich messages are never confirmed
    when: {channel: richmsg}
    then: [sending, sent]

  - name: the courier is asked back
    when: {body: "*courier*"}
    then: delivered
    replies: [{after: 20s, body: "Can you come earlier?"}]

  - name: one promotion in ten is lost
    when: {tag: promo}
    mix: {delivered: 9, undelivered: 1}

webhooks:
  - name: the third receipt comes twice
    when: {result: delivered, nth: 3}
    fault: duplicate
"""
#: What is shown, by the name of its file: fields of the address, width, height, colours.
PICTURES: Final[dict[str, tuple[dict[str, str], int, int, Any]]] = {
    "phones": ({"view": "phones", "phone": "420777000107"}, 1280, 760, "light"),
    "message": ({"view": "messages", "message": "FALLBACK"}, 1280, 900, "light"),
    "scenario": ({"view": "scenario"}, 1280, 820, "light"),
    "narrow": ({"view": "phones", "phone": "420777000107"}, 390, 780, "dark"),
}
#: What is there once a view has drawn what it asked for.
SHOWN: Final = {"phones": ".bubble", "messages": ".story-steps, ol li", "scenario": "main table, main pre"}


def fill(client: httpx.Client) -> str:
    """A world in which something happened; answers the id of a message that fell back to the next step."""

    def control(path: str, **body: Any) -> Any:
        return client.post(f"/_sandbox/worlds{path}", json=body).raise_for_status().json()

    def send(*numbers: str, **body: Any) -> list[str]:
        to = [{"phone_number": number} for number in numbers]
        answer = client.post("/v2/message", json={"to": to, **body}, headers={"x-api-key": KEY}).raise_for_status()
        return [accepted["message_id"] for accepted in answer.json()["accepted"]]

    control("", id=KEY, scenario=SCENARIO, clock={"mode": "manual", "start": START})
    send(
        "420777000107", "420777000102", body="Your parcel 4711 is on its way. Reply YES to get it today.", tag="parcel"
    )
    control(f"/{KEY}/clock/advance", by="1m")
    flow = [
        {"richmsg": {"body": "Your table is ready", "sender": "Acme", "ttl": 1}},
        {"sms": {"body": "Your table is ready"}},
    ]
    (fallen,) = send("420777100105", flow=flow)
    validation = {"phoneNumber": "420777000101"}
    client.post("/v1/validations", json=validation, headers={"x-api-key": KEY}).raise_for_status()
    control(f"/{KEY}/clock/advance", by="30m")
    send("420777000107", body="Thank you! The courier comes between 14:00 and 15:00.")
    control(f"/{KEY}/clock/advance", by="10s")
    control(f"/{KEY}/phones/420777000107/reply", body="Perfect")
    send("420777000107", "420777000103", body="See you soon")
    return fallen


def take(browser: Browser, origin: str, name: str, message: str) -> None:
    """One picture."""
    fields, width, height, scheme = PICTURES[name]
    fields = {field: message if value == "FALLBACK" else value for field, value in fields.items()}
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(f"{origin}/_sandbox/?{urlencode({'world': KEY, **fields})}")
    page.locator(".live.on").wait_for(state="attached")
    expect(page.locator("main")).not_to_contain_text("Loading …")
    page.locator("main h1:visible").first.wait_for()
    page.locator(SHOWN[fields["view"]]).first.wait_for()
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")
    page.close()


def main() -> None:
    """All pictures."""
    program = os.environ.get("SENDBOX_BROWSER") or shutil.which("chromium")
    FOLDER.mkdir(exist_ok=True)
    server = SandboxServer().start()
    try:
        with httpx.Client(base_url=server.origin, timeout=30) as client:
            message = fill(client)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
            for name in PICTURES:
                take(browser, server.origin, name, message)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
