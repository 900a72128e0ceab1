"""A reference of the client's own goes through request, webhooks and row, where a setting has it (A57)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PHONE = "420777000101"
ON = {"sendbox": 1, "clock": {"start": "2026-03-01T09:00:00Z"}, "assume": {"reference": True}}
OFF = {"sendbox": 1, "clock": {"start": "2026-03-01T09:00:00Z"}}


def post(sendbox: Sandbox, **fields: Any) -> httpx.Response:
    """Sends one message."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as http:
        body = {"body": "Hello", "to": [{"phone_number": PHONE}], **fields}
        return http.post(f"{sendbox.base_url}/message", json=body)


def rows(sendbox: Sandbox) -> list[dict[str, Any]]:
    """The rows of the day."""
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as http:
        found: list[dict[str, Any]] = http.get(f"{sendbox.rest_url}/messages?date=2026-03-01").json()["messages"]
        return found


@pytest.mark.sendbox(scenario=ON)
def test_a57_a_reference_comes_back(sendbox: Sandbox) -> None:
    """In every event, in those of replies too, and in the row; a message without one has none."""
    assert post(sendbox, reference="order 17").status_code == 200
    sendbox.advance("1m")
    sendbox.phone(PHONE).reply("Thanks")
    sendbox.advance("1m")
    assert [event.get("reference") for event in sendbox.events] == ["order 17"] * 4
    post(sendbox)
    sendbox.advance("1m")
    assert "reference" not in sendbox.events[-1]
    sendbox.phone(PHONE).reply("Again")
    sendbox.advance("1m")
    assert "reference" not in sendbox.events[-1]
    assert [row.get("reference") for row in rows(sendbox)] == ["order 17", None]
    assert sendbox.advice == []


@pytest.mark.sendbox(scenario=ON)
@pytest.mark.parametrize("wrong", [5, "", "x" * 65, None, {"order": 17}], ids=str)
def test_a57_a_reference_is_a_short_text(sendbox: Sandbox, wrong: Any) -> None:
    """Anything else is a 400 that names the field; other unknown fields stay without effect."""
    answer = post(sendbox, reference=wrong)
    assert answer.status_code == 400
    assert answer.json()["Message"].endswith(
        " is not a legal reference; legal: a text of 1 to 64 characters (§2.1, A57) at $.reference"
    )
    assert post(sendbox, referense="x").status_code == 200


@pytest.mark.sendbox(scenario=OFF)
def test_a57_off_it_is_an_unknown_field(sendbox: Sandbox) -> None:
    """Whatever it is, it has no effect, with advice."""
    assert post(sendbox, reference={"order": 17}).status_code == 200
    sendbox.advance("1m")
    assert [event for event in sendbox.events if "reference" in event] == []
    assert "reference" not in rows(sendbox)[0]
    assert [each.code for each in sendbox.advice] == ["unknown-field"]
