"""The hosted signup page, clicked through without a browser (§4.3): every form, every end."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest

from sendbox.page.signup import MAX_FORM_BYTES, _address, step_of
from tests.page.test_page import Sandbox, serving, text_of

pytestmark = pytest.mark.asyncio
KEY = "test-signup"
WORLD = f"/_sandbox/worlds/{KEY}"


class Client:
    """A client's browser on the hosted page."""

    def __init__(self, sandbox: Sandbox, answer: dict[str, Any]) -> None:
        self._http = sandbox.client
        self.token = answer["token"]
        self.path = answer["redirect_url"].removeprefix("http://box:7357")

    async def look(self, status: int = 200, token: str | None = None) -> str:
        """The page, as the partner's link leads to it."""
        answer = await self._http.get(f"{self.path}?token={self.token if token is None else token}")
        assert answer.status_code == status
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "script" not in answer.headers["content-security-policy"]
        return answer.text

    async def send(self, step: str, status: int = 303, **fields: str) -> str:
        """Sends a form; after a step that was taken the page is shown anew."""
        answer = await self._http.post(self.path, data={"token": self.token, "step": step, **fields})
        assert answer.status_code == status, answer.text
        return await self._shown(answer)

    async def _shown(self, answer: httpx.Response) -> str:
        if answer.status_code != 303:
            return answer.text
        return (await self._http.get(answer.headers["location"])).text


async def begin(sandbox: Sandbox, mode: str = "manual", **more: Any) -> Client:
    """A client that was sent to the page."""
    body = {"partner_callback_url": "http://client.example/x", "phone_number": mode, "partner_name": "Acme", **more}
    answer = await sandbox.client.post("/v1/chatapp/signup", json=body, headers={"x-api-key": KEY})
    return Client(sandbox, answer.json())


@pytest.mark.unmeasured
async def test_s4_3_a_client_clicks_through() -> None:
    """§4.3: business and number, the code, connect; reloading repeats nothing, and the partner's address is there."""
    async with serving() as sandbox:
        client = await begin(sandbox, partner_finish_url="https://acme.example/done", name="Bakery <b>")
        page = await client.look()
        assert "Acme wants to send messages for you on Chatapp" in text_of(page)
        assert 'value="Bakery &lt;b&gt;"' in page
        wrong = await client.send("number", 409, name="Bakery", phone_number="12", website="https://bakery.example")
        assert '"12" is not a phone number' in unescape(wrong)
        assert 'value="https://bakery.example"' in wrong  # nothing has to be typed again
        page = await client.send("number", name="Bakery", phone_number="+420 777 000 555")
        assert "We sent a code of six digits to +420777000555" in text_of(page)
        first = code_of(page)
        assert "is not the code that was sent" in await client.send("code", 409, code="1")
        page = await client.send("resend")
        assert code_of(page) != first
        page = await client.send("back")
        assert "Tell us about your business" in page
        page = await client.send("number", name="Bakery", phone_number="777000556", website="https://bakery.example")
        page = await client.send("code", code=code_of(page))
        assert "Ready to connect" in page
        assert "+420777000556 confirmed" in text_of(page)
        page = await client.send("finish")
        assert "You are connected" in page
        assert 'href="https://acme.example/done"' in page
        assert await client.look() == page
        assert "the signup is completed" in await client.send("finish", 409)


def code_of(page: str) -> str:
    """The code that the page's hint shows."""
    found = re.search(r"The code is <code>([0-9]{6})</code>", page)
    assert found is not None
    return found[1]


async def test_a_promised_number_needs_no_code() -> None:
    """Mode `preassign`: the number stands on the page, and the next step is to connect."""
    async with serving() as sandbox:
        client = await begin(sandbox, "preassign", partner_client_id="a")
        assert "It is reserved for you. No code is needed." in text_of(await client.look())
        assert "Ready to connect" in await client.send("number", name="Bakery")
        client = await begin(sandbox, "assigned", partner_client_id="a")
        assert "It is yours already. No code is needed." in text_of(await client.look())


async def test_no_hints() -> None:
    """A server without hints keeps the code for the phone."""
    async with serving(hints=False) as sandbox:
        client = await begin(sandbox)
        await client.look()
        page = await client.send("number", name="Bakery", phone_number="420777000555")
        assert "Sandbox" not in text_of(page)


async def test_a_provider_that_takes_its_time_and_refuses() -> None:
    """While the provider works the page looks again by itself; a refusal is shown with its reason."""
    scenario = {
        "sendbox": 1,
        "partner": {"signup": [{"after": "1m", "result": "failed", "reason": "No such business"}]},
    }
    async with serving() as sandbox:
        opened = {"id": KEY, "scenario": scenario, "clock": {"mode": "manual"}}
        assert (await sandbox.client.post("/_sandbox/worlds", json=opened)).status_code == 201
        client = await begin(sandbox, "preassign")
        await client.look()
        await client.send("number", name="Bakery")
        page = await client.send("finish")
        assert "One moment" in page
        assert 'http-equiv="refresh"' in page
        await sandbox.advance("1m", KEY)
        page = text_of(await client.look())
        assert "This did not work No such business Please ask Acme for a new link." in page


async def test_s8_a_link_that_expired() -> None:
    """§8: after an hour the page says so, and takes no form."""
    async with serving() as sandbox:
        client = await begin(sandbox)
        await client.look()
        await sandbox.advance("1h", KEY)
        assert "This link has expired" in await client.look(410)
        assert "This link has expired" in await client.send("number", 410, phone_number="420777000555")


async def test_a_link_that_is_wrong() -> None:
    """No token, another signup's, no such signup, no such step, a form without end: none shows the client's page."""
    async with serving() as sandbox:
        client, other = await begin(sandbox), await begin(sandbox, name="b")
        for token in ("", "x", other.token):
            assert "This link is not valid" in await client.look(401, token)
        assert "This link is not valid" in await client.send("dance", 400)
        assert "This link is not valid" in await client.send("number", 400, name="x" * MAX_FORM_BYTES)
        for path in ("/signup/nothing", f"{client.path}x"):
            assert (await sandbox.client.get(f"{path}?token={client.token}")).status_code == 404
        state = (await sandbox.client.get(f"{WORLD}/partner")).json()["signups"][0]["state"]
        assert state == "created"


async def test_looking_ahead_opens_nothing() -> None:
    """HEAD, as mail programs send it, is no opening."""
    async with serving() as sandbox:
        client = await begin(sandbox)
        assert (await sandbox.client.head(client.path)).status_code == 200
        (signup,) = (await sandbox.client.get(f"{WORLD}/partner")).json()["signups"]
        assert signup["state"] == "created"


async def test_an_expired_signup_as_control_shows_it() -> None:
    """The page of an ended signup is its end, whatever the state."""
    for state in ("completed", "failed", "expired"):
        assert step_of({"state": state, "finishing": False, "code": None}) == state


async def test_addresses_to_go_to() -> None:
    """Only http and https are addresses for a browser."""
    assert _address("javascript:alert(1)") is None
    assert _address(None) is None
    assert _address("https://a.example") == "https://a.example"
