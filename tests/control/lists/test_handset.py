"""A handset as a person looks at it: the newest of its conversation, and what is not on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
PHONE = "420777000101"
HANDSET = f"{WORLD}/phones/{PHONE}"
SENDER = "109876543210987"


async def handset(box: Box, last: int = 20, number: str = PHONE) -> Any:
    answer = await box.get(f"{WORLD}/phones/{number}?last={last}")
    assert answer.status == 200, answer
    return answer.json


async def test_what_the_client_sent_has_its_state_and_what_can_be_done_with_it() -> None:
    """An entry that arrived has attempt, result and legal acts; what the phone wrote is as it always is."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE, body="Look: https://a.example", params={"_url": {}})
        await box.advance()
        await box.post(f"{HANDSET}/reply", {"body": "YES"})
        shown = await handset(box)
        assert (shown["number"], shown["online"], shown["earlier"], shown["not_arrived"]) == (PHONE, True, False, [])
        arrived, wrote = shown["conversation"]
        assert {name: arrived[name] for name in ("message_id", "attempt", "result", "info", "refused", "planned")} == {
            "message_id": message_id,
            "attempt": 1,
            "result": "delivered",
            "info": "[0] Delivered",
            "refused": None,
            "planned": [],
        }
        assert arrived["acts"] == ["reply", "click"]
        assert [link["number"] for link in arrived["links"]] == [1]
        assert (wrote["direction"], wrote["body"], "acts" in wrote) == ("out", "YES", False)


async def test_what_is_not_on_the_phone() -> None:
    """Under way, refused or lost: each with its text, its state, and what is still to come."""
    async with boxed() as box:
        number = "420777000108"
        await box.send(number, body="Slow")
        await box.advance()
        flow = [{"richmsg": {"sender": "Acme", "body": "Rich"}}, {"sms": {"body": "Plain"}}]
        await box.post(f"{WORLD}/rules", {"when": {"channel": "richmsg"}, "then": "undelivered"})
        broken = ["sending", {"failed": {"after": "1s", "info": "[9] Broken"}}]
        await box.post(f"{WORLD}/rules", {"when": {"channel": "sms"}, "then": broken})
        await box.send(number, flow=flow)
        await box.advance()
        await box.send(number, flow=[{"chatapp_text": {"sender": SENDER, "body": "Free"}}])
        await box.advance()
        await box.send(number, body="Just accepted")
        shown = await handset(box, number=number)
        assert shown["conversation"] == []
        fields = ("body", "channel", "attempt", "result", "info", "planned", "acts")
        assert [tuple(entry[name] for name in fields) for entry in shown["not_arrived"]] == [
            ("Slow", "sms", 1, "sent", "Sent", ["delivered"], ["reply"]),
            ("Rich", "richmsg", 1, "undelivered", "[1] Undelivered", [], []),
            ("Plain", "sms", 2, "failed", "[9] Broken", [], []),
            ("Free", "chatapp_text", 1, "rejected", shown["not_arrived"][3]["info"], [], []),
            ("Just accepted", "sms", 1, "accepted", None, [], []),
        ]
        assert "conversation" in shown["not_arrived"][3]["refused"]
        assert [entry["refused"] for entry in shown["not_arrived"][:3]] == [None] * 3


async def test_templates_show_all_their_parts() -> None:
    """Also before the message was handed over."""
    async with boxed() as box:
        step = {
            "template_name": "welcome",
            "language": "en",
            "sender": SENDER,
            "params": [{"first_name": "Jana"}, {"shop": "Acme"}],
            "params_header": ["https://acme.example/hello.png"],
            "params_buttons": ["jana-17"],
        }
        await box.send(PHONE, flow=[{"chatapp_template": step}])
        (early,) = (await handset(box))["not_arrived"]
        await box.advance()
        (arrived,) = (await handset(box))["conversation"]
        for entry in (early, arrived):
            assert entry["body"] == "Welcome Jana, Acme has a gift for you."
            assert entry["header"] == {"kind": "image", "link": "https://acme.example/hello.png"}
            url = "https://acme.example/gifts/jana-17"
            assert entry["buttons"] == [{"type": "URL", "text": "Take it", "url": url}]
        await box.patch(f"{WORLD}/account", {"templates": []})
        assert "buttons" not in (await handset(box))["conversation"][0]


async def test_rich_messages_show_their_parts() -> None:
    """Buttons of a rich message; buttons and cards of RCS, whose replies have positions by which they are pressed."""
    async with boxed({"sendbox": 1, "extends": "default", "assume": {"rcs": True}}) as box:
        button = {"title": "Open", "url": "https://a.example"}
        await box.send(PHONE, flow=[{"richmsg": {"sender": "Acme", "body": "Rich", "buttons": [button]}}])
        await box.send(PHONE, flow=[{"richmsg": {"sender": "Acme", "body": "Rich"}}])
        reply, url = {"type": "reply", "text": "Yes"}, {"type": "url", "text": "Open", "url": "https://a.example"}
        cards = [
            {"type": "video", "title": "A", "description": "B", "file": "https://a.example/a.mp4", "buttons": [reply]},
            {"type": "image"},
        ]
        step = {"sender": "acme", "body": "Cards", "buttons": [url, reply], "carousel": cards, "raw": {"a": 1}}
        await box.send(PHONE, flow=[{"rcs": step}])
        await box.send(
            PHONE, flow=[{"rcs": {"sender": "acme", "card": {"title": "Only", "file": "https://a.example/b"}}}]
        )
        await box.advance()
        rich, plain, many, one = (await handset(box))["conversation"]
        assert rich["buttons"] == [{"type": "URL", "text": "Open", "url": "https://a.example"}]
        assert "buttons" not in plain
        assert many["buttons"] == [url, {**reply, "press": 0}]
        assert many["raw"] == {"a": 1}
        assert many["cards"] == [
            {
                "header": {"kind": "video", "link": "https://a.example/a.mp4"},
                "title": "A",
                "description": "B",
                "buttons": [{**reply, "press": 1}],
            },
            {},
        ]
        assert one["cards"] == [{"header": {"kind": "image", "link": "https://a.example/b"}, "title": "Only"}]


async def test_a_long_conversation_is_read_from_its_end() -> None:
    """`last` bounds every list, and `earlier` says that there is more."""
    async with boxed() as box:
        for number in range(70):
            await box.send(PHONE, body=f"Text {number}")
        await box.advance()
        await box.post(f"{HANDSET}/reply", {"body": "YES"})
        await box.post("/v1/validations", {"phoneNumber": PHONE}, x_api_key=KEY)
        shown = await handset(box, 3)
        assert [entry["body"] for entry in shown["conversation"]] == ["Text 68", "Text 69", "YES"]
        assert (len(shown["messages"]), len(shown["codes"]), shown["earlier"]) == (3, 1, True)
        assert len(shown["not_arrived"]) == 1
        assert (await handset(box, 100))["earlier"] is False
        assert (await box.get(f"{HANDSET}?last=0")).json["error"] == "bad_argument"


async def test_the_link_that_is_clicked() -> None:
    """A message has several; each can be followed by its number."""
    async with boxed() as box:
        body = "https://a.example and https://b.example"
        (message_id,) = await box.send(PHONE, body=body, params={"_url": {}})
        await box.advance()
        targets = []
        for link in ({"link": "2"}, {"link": 1, "message_id": message_id}, {}):
            answer = await box.post(f"{HANDSET}/click", link)
            assert answer.status == 200
            targets.append(answer.json["target"])
        assert targets == ["https://b.example", "https://a.example", "https://a.example"]
        commands = (await box.get(f"{WORLD}/record")).json["commands"]
        clicks = [command["arguments"] for command in commands if command.get("name") == "phone_click"]
        assert clicks[0] == {"number": PHONE, "link": 2}
        answer = await box.post(f"{HANDSET}/click", {"link": 3})
        assert (answer.status, answer.json["error"]) == (404, "no_such_thing")
        assert "no short link 3 that works now" in answer.json["message"]
        assert (await box.post(f"{HANDSET}/click", {"link": 0})).status == 400
