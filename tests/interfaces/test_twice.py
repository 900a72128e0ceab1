"""The fault `twice`: a call that is carried out twice, and the answer that its client gets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PHONE = "420777000101"


@pytest.fixture
def client(sendbox: Sandbox) -> Iterator[httpx.Client]:
    """A client of every interface."""
    headers = {"X-API-Key": sendbox.api_key}
    with httpx.Client(transport=sendbox.transport, headers=headers) as made:
        yield made


def begin(sendbox: Sandbox, client: httpx.Client) -> str:
    """The token of a session that begins."""
    answer = client.post(f"{sendbox.verify_url}/v1/validations", json={"phoneNumber": PHONE})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["token"])


def enter(sendbox: Sandbox, client: httpx.Client, token: str, code: str) -> dict[str, Any]:
    """The answer to a code."""
    answer = client.post(f"{sendbox.verify_url}/v1/validations/{token}/verify", json={"code": code})
    return {"status": answer.status_code, **answer.json()}


def test_a_message_is_sent_twice(sendbox: Sandbox, client: httpx.Client) -> None:
    """The journal has the call once, with the effects of both; the next call is carried out once."""
    sendbox.fault("twice", when={"operation": "sendMessage"}, times=1)
    body = {"to": [{"phone_number": PHONE}], "body": "Hello"}
    for count in (2, 3):
        answer = client.post(f"{sendbox.base_url}/message", json=body)
        assert answer.status_code == 200
        assert len(sendbox.messages()) == count
    first, second, _ = sendbox.messages()
    assert first.message_id != second.message_id
    requests = [entry for entry in sendbox.journal if entry["kind"] == "request"]
    assert [entry.get("fault") for entry in requests] == [{"twice": "last"}, None]
    assert [entry.get("processed") for entry in requests] == [True, None]
    assert "sent-again" not in [item.code for item in sendbox.advice]


@pytest.mark.parametrize("which", ["first", "last"])
def test_the_answer_of_one_of_them(sendbox: Sandbox, client: httpx.Client, which: str) -> None:
    """The client has the token of the first session, or of the second; both codes are on the phone."""
    sendbox.fault({"twice": which}, when={"operation": "createValidation"})
    token = begin(sendbox, client)
    newest, oldest = sendbox.codes()
    sendbox.advance("1m")
    assert len(sendbox.phone(PHONE).inbox) == 2
    own, other = (oldest, newest) if which == "first" else (newest, oldest)
    assert enter(sendbox, client, token, other.code)["status"] == 400  # a code belongs to its session (A72)
    assert enter(sendbox, client, token, own.code)["verified"] is True


def test_a_code_that_is_entered_twice(sendbox: Sandbox, client: httpx.Client) -> None:
    """A wrong one uses two attempts; the right one is verified again (A72)."""
    token = begin(sendbox, client)
    sendbox.fault({"twice": "first"}, when={"operation": "verifyCode", "call": 1})
    sendbox.fault({"twice": "last"}, when={"operation": "verifyCode", "call": [2, 3]})
    code = sendbox.codes()[0].code
    wrong = "000000" if code != "000000" else "111111"
    assert enter(sendbox, client, token, wrong)["attemptsRemaining"] == 5
    assert enter(sendbox, client, token, wrong)["attemptsRemaining"] == 2
    assert enter(sendbox, client, token, code)["verified"] is True


def test_work_that_takes_time(sendbox: Sandbox, client: httpx.Client) -> None:
    """Each of both is done to its end."""
    sendbox.fault("twice", when={"operation": "blacklist"})
    answer = client.post(f"{sendbox.rest_url}/blacklist", json={"to": f"{PHONE}\n12"})
    assert answer.json() == {"success": True, "accepted": 1, "invalid": ["12"]}


def test_a_module_that_is_loaded_meanwhile(
    sendbox: Sandbox, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was done before, so the call is carried out twice all the same."""
    monkeypatch.delitem(sys.modules, "jwt", raising=False)
    sendbox.fault("twice", when={"operation": "partnerSignup"})
    body = {"partner_callback_url": "http://127.0.0.1:9/hook", "phone_number": "manual"}
    answer = client.post(f"{sendbox.rest_url}/chatapp/signup", json=body)
    assert answer.status_code == 200, answer.text
    assert len([entry for entry in sendbox.journal if entry["kind"] == "signup"]) == 2


def test_it_is_replayed(sendbox: Sandbox, client: httpx.Client) -> None:
    """A world that goes back, and does the same again, has the same digest."""
    sendbox.fault("twice", when={"operation": "createValidation"})
    sendbox.checkpoint("before")
    digests = []
    for _ in range(2):
        begin(sendbox, client)
        sendbox.advance("1m")
        digests.append(sendbox.digest)
        sendbox.restore("before")
    assert digests[0] == digests[1]
