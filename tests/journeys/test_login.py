"""A login by code, from the client's side: wrong codes, a locked session, a new one, a proof (scenario otp-lockout)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

JANA, PETR, EVA = "420777000101", "420777000201", "420777000301"

pytestmark = pytest.mark.sendbox(scenario="otp-lockout")


class Login:
    """The login of an application: what it does with the Verify interface."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self.token = ""

    def begin(self, phone: str) -> dict[str, Any]:
        """Sends a code."""
        answer: dict[str, Any] = self._http.post("/v1/validations", json={"phoneNumber": phone}).json()
        self.token = answer.get("token", self.token)
        return answer

    def enter(self, code: str) -> dict[str, Any]:
        """What the user typed."""
        answer: dict[str, Any] = self._http.post(f"/v1/validations/{self.token}/verify", json={"code": code}).json()
        return answer

    def trusts(self, proof: str) -> bool:
        """Another part of the application, which got the proof, asks."""
        answer = self._http.patch(f"/v1/validations/{self.token}", json={"proof": proof})
        return bool(answer.json()["valid"])


@pytest.fixture
def login(sendbox: Sandbox) -> Iterator[Login]:
    """The application."""
    headers = {"X-API-Key": sendbox.api_key}
    with httpx.Client(base_url=sendbox.verify_url, transport=sendbox.transport, headers=headers) as http:
        yield Login(http)


def test_jana_is_locked_out_and_gets_in(sendbox: Sandbox, login: Login) -> None:
    """Six wrong codes end a session, the right one too late; a new session lets her in, with a proof for her bank."""
    login.begin(JANA)
    sendbox.advance("10s")
    assert sendbox.phone(JANA).latest.body == "Your verification code is 246813"
    assert [login.enter("111111")["attemptsRemaining"] for _ in range(6)] == [5, 4, 3, 2, 1, 0]
    locked = login.enter("246813")
    assert (locked["error"], locked["message"]) == ("TOO_MANY_ATTEMPTS", "Too many attempts")

    login.begin(JANA)
    sendbox.advance("10s")
    verified = login.enter("246813")
    assert (verified["verified"], verified["phoneNumber"]) == (True, JANA)
    assert login.trusts(verified["proof"])
    assert not login.trusts("forged")
    assert [code.state for code in sendbox.codes(phone=JANA)] == ["verified", "failed"]
    assert sendbox.events == []


def test_petrs_code_comes_too_late(sendbox: Sandbox, login: Login) -> None:
    """His SMS is confirmed after eleven minutes, when the session has expired."""
    login.begin(PETR)
    sendbox.advance("11m1s")
    code = sendbox.codes(phone=PETR)[0]
    assert (code.state, code.sms) == ("expired", "delivered")
    assert login.enter(code.code)["error"] == "EXPIRED"


def test_eva_never_gets_hers(sendbox: Sandbox, login: Login) -> None:
    """Her SMS is undelivered; a second try fares no better, and a third within ten minutes is one too many."""
    for _ in range(2):
        login.begin(EVA)
        sendbox.advance("1m")
    assert [(code.state, code.sms) for code in sendbox.codes(phone=EVA)] == [("pending", "undelivered")] * 2
    assert sendbox.phone(EVA).inbox == []
    assert login.begin(EVA)["error"] == "PHONE_RATE_LIMIT"
    sendbox.advance("9m")
    assert login.begin(EVA)["status"] == "pending"


@pytest.mark.asyncio
async def test_the_same_without_waiting_in_a_thread(async_sendbox: Any) -> None:
    """The asynchronous handle reads codes as well."""
    headers = {"X-API-Key": async_sendbox.api_key}
    async with httpx.AsyncClient(transport=async_sendbox.transport, headers=headers) as http:
        await http.post(f"{async_sendbox.verify_url}/v1/validations", json={"phoneNumber": JANA})
    (code,) = await async_sendbox.codes(phone=JANA)
    assert code.code == "246813"
