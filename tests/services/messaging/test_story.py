"""The story of one message: all that a picture of it needs."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.messaging.control import story as story_module
from tests.box import WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
PHONE, OTHER = "420777100111", "420777100112"


async def story(box: Box, message_id: str, query: str = "") -> Any:
    answer = await box.get(f"{WORLD}/messages/{message_id}/story{query}")
    assert answer.status == 200, answer
    return answer.json


async def test_all_about_one_message() -> None:
    """The call, what became of it, the webhooks, the reply, and why; nothing about another message."""
    async with boxed() as box:
        await box.send(OTHER)
        one, two = await box.send(PHONE, OTHER)
        await box.advance("1m")
        await box.post(f"{WORLD}/phones/{PHONE}/reply", {"body": "Yes"})
        await box.post(f"{WORLD}/phones/{PHONE}/opt-out")
        await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": OTHER, "body": "No"})
        await box.advance("1m")
        shown = await story(box, one)
        assert shown["message"] == (await box.get(f"{WORLD}/messages/{one}")).json
        assert shown["explain"] == (await box.get(f"{WORLD}/explain?message_id={one}")).json
        assert (
            shown["request"]["n"] == (await box.get(f"{WORLD}/requests?order=newest&limit=1")).json["requests"][0]["n"]
        )
        kinds = [entry["kind"] for entry in shown["entries"]]
        assert kinds[0] == "request"
        assert kinds.count("transition") == 3
        assert {"delivery", "try", "inbound", "opt_out"} < {*kinds}
        assert shown["entries"] == [(await box.get(f"{WORLD}/journal/{entry['n']}")).json for entry in shown["entries"]]
        assert not any(entry.get("message_id", one) != one for entry in shown["entries"])
        assert [text["body"] for text in shown["inbound"]] == ["Yes"]
        about = (await box.get(f"{WORLD}/deliveries?message_id={one}")).json["deliveries"]
        assert [each["id"] for each in shown["deliveries"]] == [each["id"] for each in about]
        assert [(len(each["events"]), each["others"]) for each in shown["deliveries"]] == [(1, 2)] * 3 + [(1, 1)]
        assert shown["whole"] is True
        assert two not in {event.get("message_id") for each in shown["deliveries"] for event in each["events"]}


async def test_what_a_tester_and_rules_did_is_part_of_it() -> None:
    """A move by hand, a link, and a fault of a webhook."""
    rule = {"in": "webhooks", "when": {"phone": PHONE}, "fault": "duplicate"}
    async with boxed() as box:
        await box.open()
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        (message_id,) = await box.send(PHONE, body="See https://example.com", params={"_url": {}})
        await box.advance("1m")
        await box.post(f"{WORLD}/phones/{PHONE}/click")
        (other,) = await box.send(PHONE)
        await box.advance("0s")
        await box.post(f"{WORLD}/messages/{other}/events", {"result": "failed"})
        assert "webhook_fault" in {entry["kind"] for entry in (await story(box, message_id))["entries"]}
        moved = await story(box, other, "?explain=false")
        assert (moved["explain"], [entry["kind"] for entry in moved["entries"]].count("control")) == (None, 1)


async def test_a_message_that_no_call_sent() -> None:
    """A code is sent by the service itself: there is no request of its own. What is not there is a 404."""
    async with boxed() as box:
        await box.post("/v1/validations", {"phoneNumber": PHONE}, x_api_key="test-1")
        (shown,) = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert (await story(box, shown["message_id"]))["request"] is None
        assert (await box.get(f"{WORLD}/messages/none/story")).status == 404


async def test_a_long_journal_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says so."""
    monkeypatch.setattr(story_module, "LOOKED_AT", 2)
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        await box.advance("1m")
        shown = await story(box, message_id)
        assert (shown["whole"], len(shown["entries"]) <= 2) == (False, True)
