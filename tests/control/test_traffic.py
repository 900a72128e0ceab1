"""Operations on messages and phones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import KEY, WORLD, Box, boxed
from tests.channels import ALL_TEXT
from tests.receivers import answering, receiving

pytestmark = pytest.mark.asyncio
PHONE = "420777000101"
HANDSET = f"{WORLD}/phones/{PHONE}"
OTP = {
    "chatapp_template": {
        "template_name": "otp",
        "language": "en",
        "sender": "109876543210987",
        "params": ["1234"],
    }
}
ORDER = {
    "chatapp_template": {
        "template_name": "order_update",
        "language": "en",
        "sender": "109876543210987",
        "params": ["A-17", "Friday"],
    }
}


# --- messages ---------------------------------------------------------------------------------------------------------


async def test_a_message_is_shown_with_attempts_and_timeline() -> None:
    """Everything there is to know about one message, by its id and in the list."""
    async with boxed() as box:
        (message_id,) = await box.send(tag="promo,x", payload={"order": 7}, sender="Acme")
        await box.advance("2s")
        shown = (await box.get(f"{WORLD}/messages/{message_id}")).json
        assert (await box.get(f"{WORLD}/messages")).json == {"messages": [shown]}
        assert shown["message_id"] == message_id
        assert shown["operation"] == "sendMessage"
        assert (shown["phone"], shown["channel"], shown["result"]) == (PHONE, "sms", "sent")
        assert (shown["body"], shown["sender"], shown["payload"]) == ("Hello", "Acme", {"order": 7})
        assert sorted(shown["tags"]) == ["promo", "x"]
        assert [(entry["at"][17:23], entry["result"]) for entry in shown["timeline"]] == [
            ("00.000", "sending"),
            ("01.000", "sent"),
        ]
        (attempt,) = shown["attempts"]
        assert (attempt["number"], attempt["result"], attempt["planned"]) == (1, "sent", ["delivered"])
        assert attempt["rules"] == ["delivered as well"]


async def test_a_message_that_is_not_there() -> None:
    """404 names what was looked for."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/messages/m")
        assert (answer.status, answer.json) == (
            404,
            {"error": "no_such_message", "message": '"m" is not a message of this world'},
        )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [0, 1, 2, 3]),
        ("phone=420777000101", [0, 3]),
        ("phone=%2B420777000101", [0, 3]),
        ("phone=777000101", [0, 3]),
        ("phone=420999999999", []),
        ("channel=sms", [0, 1, 2]),
        ("channel=chatapp_template", [3]),
        ("result=delivered", [0, 3]),
        ("result=undelivered", [1]),
        ("result=accepted", [2]),
        ("tag=promo", [1]),
        ("tag=promotional", [0, 2, 3]),
        ("phone=420777000101&channel=sms", [0]),
        ("last=2", [2, 3]),
        ("last=1&channel=sms", [2]),
        ("last=0", []),
    ],
)
@pytest.mark.unmeasured
async def test_messages_are_filtered(query: str, found: list[int]) -> None:
    """By phone in any form, channel, result and tag, alone and together; oldest first."""
    async with boxed() as box:
        ids = await box.send(PHONE)
        ids += await box.send("420777000102", tag="promo")
        ids += await box.send("420777000105", datetime="2026-03-02T09:00:00Z")
        ids += await box.send(PHONE, flow=[OTP])
        await box.advance()
        messages = (await box.get(f"{WORLD}/messages?{query}")).json["messages"]
        assert [ids.index(message["message_id"]) for message in messages] == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "channel=chatapp",
            f'channel: "chatapp" is not known; legal: {ALL_TEXT}',
        ),
        (
            "result=lost",
            (
                'result: "lost" is not known; '
                "legal: accepted, sending, sent, delivered, seen, undelivered, rejected, failed"
            ),
        ),
    ],
)
async def test_a_filter_that_is_no_word(query: str, message: str) -> None:
    """400 says what there is, instead of an empty list."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/messages?{query}")
        assert (answer.status, answer.json) == (400, {"error": "bad_argument", "message": message})


# --- moved by hand ----------------------------------------------------------------------------------------------------


async def test_a_message_is_moved_by_hand() -> None:
    """Its current attempt takes the result, with its info and event; the rest of its plan is dropped."""
    async with boxed() as box:
        (message_id,) = await box.send()
        await box.advance("1s")
        answer = await box.post(f"{WORLD}/messages/{message_id}/events", {"result": "undelivered", "info": "[368]"})
        assert (answer.status, answer.json["result"]) == (200, "undelivered")
        assert answer.json["attempts"][0]["planned"] == []
        await box.advance()
        assert [(event["result"], event.get("result_info")) for event in await box.events()] == [
            ("sending", None),
            ("sent", "Sent"),
            ("undelivered", "[368]"),
        ]
        entry = (await box.get(f"{WORLD}/journal?kind=control")).json["entries"][-1]
        assert (entry["what"], entry["result"]) == ("event", "undelivered")


@pytest.mark.parametrize(
    ("seconds", "result", "legal"),
    [
        (0, "sending", ["sent", "failed"]),
        (1, "sent", ["delivered", "undelivered", "failed"]),
        (1, "seen", ["delivered", "undelivered", "failed"]),
        (3, "undelivered", []),
    ],
)
async def test_s3_1_an_illegal_transition_is_409_with_the_legal_ones(
    seconds: int, result: str, legal: list[str]
) -> None:
    """What the table does not have is refused, with what it has from there; nothing changes."""
    async with boxed() as box:
        (message_id,) = await box.send()
        await box.advance(f"{seconds}s")
        before = await box.results(message_id)
        answer = await box.post(f"{WORLD}/messages/{message_id}/events", {"result": result})
        assert (answer.status, answer.json["error"], answer.json["legal"]) == (409, "illegal_transition", legal)
        assert await box.results(message_id) == before


async def test_a_message_that_was_not_handed_over_cannot_be_moved() -> None:
    """Before the first attempt there is nothing to move; an unknown result is no result."""
    async with boxed() as box:
        (message_id,) = await box.send()
        path = f"{WORLD}/messages/{message_id}/events"
        assert (await box.post(path, {"result": "delivered"})).json["error"] == "illegal_transition"
        answer = await box.post(path, {"result": "accepted"})
        assert (answer.status, answer.json["message"]) == (
            400,
            'result: "accepted" is not known; legal: sending, sent, delivered, seen, undelivered, rejected, failed',
        )
        assert (await box.post(f"{WORLD}/messages/m/events", {"result": "sent"})).status == 404


# --- inbound ----------------------------------------------------------------------------------------------------------


async def test_s6_a_phone_writes_unsolicited() -> None:
    """An `incomingMessage` goes to the account's default callback, without request and message id."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.open()
        await box.patch(f"{WORLD}/account", {"default_callback_url": receiver.url, "numbers": ["420900000001"]})
        answer = await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": "+420 777 000 101", "body": "Hi"})
        assert (answer.status, answer.json) == (
            201,
            {
                "at": "2026-03-01T09:00:00.000Z",
                "channel": "sms",
                "from": PHONE,
                "to": "420900000001",
                "body": "Hi",
                "message_id": None,
            },
        )
        await box.advance("0s")
        assert receiver.calls == [
            [
                {
                    "gateway": "sms",
                    "timestamp": 1_772_355_600,
                    "type": "incoming",
                    "sender": PHONE,
                    "recipient": "420900000001",
                    "body": "Hi",
                }
            ]
        ]


async def test_s6_a_phone_replies() -> None:
    """A reply is linked to its message by `request_id`, `message_id` and `payload`, and goes to that one's target."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        (message_id,) = await box.send(payload={"order": 7}, callback=receiver.url)
        await box.advance()
        body = {"channel": "sms", "from": PHONE, "body": "YES", "message_id": message_id}
        assert (await box.post(f"{WORLD}/inbound", body)).json["message_id"] == message_id
        await box.advance("0s")
        (event,) = receiver.calls[-1]
        assert (event["message_id"], event["payload"], event["body"]) == (message_id, {"order": 7}, "YES")


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"channel": "email", "from": PHONE, "body": "x"}, 400, "bad_argument"),
        ({"channel": "sms", "from": PHONE, "body": "x", "message_id": "m"}, 404, "no_such_thing"),
    ],
)
async def test_what_cannot_be_written(body: Any, status: int, error: str) -> None:
    """An unknown channel, a reply to nothing."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/inbound", body)
        assert (answer.status, answer.json["error"]) == (status, error)


# --- phones -----------------------------------------------------------------------------------------------------------


async def test_phones_are_those_that_were_written_to_or_wrote() -> None:
    """In the order of their first appearance; a number that is none has no phone."""
    async with boxed() as box:
        await box.send(PHONE, "nonsense", "420777000102")
        await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": "420777000103", "body": "x"})
        phones = (await box.get(f"{WORLD}/phones")).json["phones"]
        assert [phone["number"] for phone in phones] == [PHONE, "420777000102", "420777000103"]


async def test_a_handset_shows_its_conversation() -> None:
    """What arrived and what was written, oldest first; the state of the phone beside it."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        await box.advance()
        assert (await box.post(f"{HANDSET}/reply", {"body": "YES"})).json["message_id"] == message_id
        shown = (await box.get(f"{WORLD}/phones/+420777000101")).json
        assert (shown["number"], shown["online"], shown["opted_out"]) == (PHONE, True, False)
        assert shown["messages"] == [message_id]
        assert [(entry["direction"], entry["body"]) for entry in shown["conversation"]] == [
            ("in", "Hello"),
            ("out", "YES"),
        ]


async def test_nothing_has_arrived_yet() -> None:
    """Acts on what a phone received say that it received nothing."""
    async with boxed() as box:
        await box.send(PHONE)
        for act, body in (("reply", {"body": "x"}), ("click", {}), ("press", {}), ("seen", {})):
            answer = await box.post(f"{HANDSET}/{act}", body)
            assert (answer.status, answer.json["error"]) == (404, "no_such_message")
            assert answer.json["message"] == f"nothing has arrived on {PHONE} yet; advance the clock first"


async def test_a_phone_answers_the_newest_message_or_the_one_named() -> None:
    """`reply` goes to what arrived last unless `message_id` says otherwise."""
    async with boxed() as box:
        (first,) = await box.send(PHONE)
        await box.advance()
        (second,) = await box.send(PHONE, body="Again")
        await box.advance()
        assert (await box.post(f"{HANDSET}/reply", {"body": "x"})).json["message_id"] == second
        answer = await box.post(f"{HANDSET}/reply", {"body": "x", "message_id": first})
        assert (answer.status, answer.json["message_id"]) == (201, first)
        assert (await box.post(f"{HANDSET}/reply", {"body": "x", "message_id": "m"})).status == 404


async def test_a_phone_writes_out_of_the_blue() -> None:
    """On the channel and to the number that are given, sms by default."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{HANDSET}/write", {"body": "Hi", "channel": "chatapp", "to": "109876543210987"})
        assert (answer.status, answer.json["channel"], answer.json["to"]) == (201, "chatapp", "109876543210987")
        assert (await box.post(f"{HANDSET}/write", {"body": "Hi"})).json["channel"] == "sms"
        assert (await box.get(HANDSET)).json["conversation_open"] is True


async def test_a_phone_follows_a_link() -> None:
    """The first working link is clicked; a message without one has none to click."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE, body="See https://acme.example/x", params={"_url": {}})
        await box.advance()
        link = (await box.post(f"{HANDSET}/click")).json
        assert (link["target"], len(link["clicks"]), link["message_id"]) == ("https://acme.example/x", 1, message_id)
        await box.send(PHONE)
        await box.advance()
        answer = await box.post(f"{HANDSET}/click")
        assert (answer.status, answer.json["error"]) == (404, "no_such_thing")


@pytest.mark.parametrize("button", [0, "0", "Change the day"], ids=["position", "position-as-text", "title"])
async def test_a68_a_phone_presses_a_quick_reply(button: Any) -> None:
    """The service gets the button's payload, else its title."""
    async with boxed() as box:
        await box.send(PHONE, flow=[ORDER])
        await box.advance()
        answer = await box.post(f"{HANDSET}/press", {"button": button})
        assert (answer.status, answer.json["body"], answer.json["channel"]) == (201, "Change the day", "chatapp")
        answer = await box.post(f"{HANDSET}/press", {"button": 5})
        assert (answer.status, answer.json["error"]) == (404, "no_such_thing")


async def test_s3_1_a_phone_sees_what_can_be_seen() -> None:
    """`seen` on the messaging app; on sms it is illegal."""
    async with boxed() as box:
        await box.send(PHONE, flow=[OTP])
        await box.advance("4s")
        assert (await box.post(f"{HANDSET}/seen")).json["result"] == "seen"
        await box.send("420777000102")
        (message_id,) = await box.send("420777000100")
        await box.advance()
        answer = await box.post(f"{WORLD}/phones/420777000100/seen", {"message_id": message_id})
        assert (answer.status, answer.json["error"], answer.json["legal"]) == (409, "illegal_transition", [])


async def test_a_phone_opts_out() -> None:
    """From then on promotional messages to it are rejected; the message that reached it says so."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        assert (await box.post(f"{HANDSET}/opt-out")).json["opted_out"] is True
        await box.advance()
        await box.post(f"{HANDSET}/opt-out")
        (later,) = await box.send(PHONE)
        await box.advance()
        assert await box.results(later) == ["rejected"]
        assert (await box.get(f"{WORLD}/messages/{message_id}")).json["result"] in ("rejected", "delivered")


async def test_a_phone_that_is_switched_off_gets_its_messages_later() -> None:
    """What waits arrives when the phone is back, at the instant of the next move."""
    async with boxed() as box:
        await box.open()
        assert (await box.post(f"{HANDSET}/offline")).json["online"] is False
        (message_id,) = await box.send(PHONE)
        await box.advance("1h")
        assert await box.results(message_id) == ["sending", "sent"]
        assert (await box.post(f"{HANDSET}/online")).json["online"] is True
        await box.advance("0s")
        shown = (await box.get(f"{WORLD}/messages/{message_id}")).json["timeline"][-1]
        assert (shown["result"], shown["at"]) == ("delivered", "2026-03-01T10:00:00.000Z")


async def test_looking_changes_nothing() -> None:
    """No GET writes into the journal or moves anything."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        await box.advance("1s")
        length = await _length(box)
        for path in ("", "/messages", f"/messages/{message_id}", "/phones", f"/phones/{PHONE}", "/deliveries", "/hook",
                     "/advice", "/digest", "/assumptions", "/account", "/clock", "/requests"):  # fmt: skip
            assert (await box.get(f"{WORLD}{path}")).status == 200
        assert await _length(box) == length


async def _length(box: Box) -> int:
    return len(box.runtime.worlds[KEY].world.journal)


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("inbound", {"channel": "sms", "from": "abc", "body": "x"}),
        *((f"phones/abc/{act}", {"body": "x"}) for act in ("reply", "write")),
        *((f"phones/12/{act}", {}) for act in ("click", "press", "seen", "opt-out", "offline", "online")),
    ],
)
async def test_a_phone_that_does_something_has_a_number(target: str, body: dict[str, Any]) -> None:
    """What is no phone number can neither write nor be switched off; the world is left as it was."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/{target}", body)
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert "is not a phone number: " in answer.json["message"]
        assert (await box.get(f"{WORLD}/phones")).json["phones"] == []
