"""The story of one message: all that a picture of it needs."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.messaging.bulk import Line
from sendbox.services.messaging.control import story as story_module
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
PHONE, OTHER = "420777100111", "420777100112"


async def story(box: Box, message_id: str, query: str = "") -> Any:
    answer = await box.get(f"{WORLD}/messages/{message_id}/story{query}")
    assert answer.status == 200, answer
    return answer.json


def without(view: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name not in names}


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message as control shows it elsewhere."""
    attempts = [without(attempt, "from", "body", "content", "due") for attempt in message["attempts"]]
    return {**without(message, "legal"), "attempts": attempts}


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
        assert plain(shown["message"]) == (await box.get(f"{WORLD}/messages/{one}")).json
        assert shown["explain"] == (await box.get(f"{WORLD}/explain?message_id={one}")).json
        assert (
            shown["request"]["n"] == (await box.get(f"{WORLD}/requests?order=newest&limit=1")).json["requests"][0]["n"]
        )
        kinds = [entry["kind"] for entry in shown["entries"]]
        assert kinds[0] == "request"
        assert kinds.count("transition") == 3
        assert {"delivery", "try", "inbound", "opt_out"} < {*kinds}
        entries = [(await box.get(f"{WORLD}/journal/{entry['n']}")).json for entry in shown["entries"]]
        assert [without(entry, "told", "section", "assumed") for entry in shown["entries"]] == entries
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


async def test_the_line_of_a_file_that_sent_it_is_part_of_it() -> None:
    """By the id of the request that it became."""
    async with boxed() as box:
        await box.send(PHONE)
        (sent,) = Messaging.of(box.runtime.worlds[KEY].world).messages
        bulk: Any = None
        line = Line(bulk, 1, sent.submission.request_id, (), ())
        assert story_module.concerns(line, sent)
        line.request_id = None
        assert not story_module.concerns(line, sent)


async def test_each_step_is_told_with_what_it_rests_on() -> None:
    """In words, with the place in the specification, and the assumptions where that is silent."""
    flow = [{"richmsg": {"body": "Rich", "sender": "Acme", "ttl": 1}}, {"sms": {"body": "Plain", "sender": "Shop"}}]
    async with boxed() as box:
        await box.open()
        (message_id,) = await box.send("420777100105", flow=flow)
        await box.advance("10m")
        shown = await story(box, message_id)
        told = {entry["kind"]: entry for entry in shown["entries"]}
        assert told["fallback"]["told"] == {
            "who": "420777100105",
            "text": "the message richmsg is given up (ttl), the next step goes out",
            "tone": "plain",
        }
        assert told["fallback"]["section"] == "§2.2"
        assert told["delivery"]["told"] is None
        assert (told["try"]["section"], told["try"]["told"]["text"]) == ("§6", "webhook: the message sent → 200")
        assert {"id", "section", "title", "default"} == told["transition"]["assumed"][0].keys()
        rests = [
            {each["id"] for each in entry["assumed"]} for entry in shown["entries"] if entry["kind"] == "transition"
        ]
        assert "A23" in rests[1]
        assert "A61" in rests[0]
        texts = [(attempt["from"], attempt["body"]) for attempt in shown["message"]["attempts"]]
        assert texts == [("Acme", "Rich"), ("Shop", "Plain")]
        assert shown["message"]["legal"] == ["delivered", "undelivered", "failed"]
        assert [attempt["undecided"] for attempt in shown["explain"]["attempts"]] == [None, None]


async def test_a_message_that_waits_can_not_be_moved() -> None:
    """It has no attempt yet."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        shown = await story(box, message_id)
        assert (shown["message"]["legal"], shown["message"]["attempts"]) == ([], [])
