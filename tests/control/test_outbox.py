"""Deliveries that are pulled instead of pushed."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import orjson
import pytest

from sendbox.runtime import dispatcher
from sendbox.runtime.interface import LogLine
from tests.box import KEY, WORLD, boxed, turns

pytestmark = pytest.mark.asyncio


# --- the outbox -------------------------------------------------------------------------------------------------------


async def pulled(box: Any, query: str = "?wait=30s") -> list[Any]:
    calls: list[Any] = (await box.post(f"{WORLD}/outbox{query}")).json["calls"]
    return calls


async def test_deliveries_are_pulled_instead_of_pushed() -> None:
    """Each call waits in the outbox, complete, until somebody says how it went; then the advance goes on."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        assert (await box.get(WORLD)).json["deliveries"] == "pull"
        await box.send("420777000105", callback="http://127.0.0.1:9/hooks")
        advancing = asyncio.create_task(box.advance())
        seen = []
        for status in (200, 204):
            (call,) = await pulled(box)
            seen.append(orjson.loads(base64.b64decode(call["body"]))[0]["result"])
            assert (call["method"], call["url"], call["hook"]) == ("POST", "http://127.0.0.1:9/hooks", False)
            assert dict(call["headers"])["X-Request-Id"] == call["id"]
            assert (await box.post(f"{WORLD}/outbox/{call['id']}", {"status": status})).json == {"id": call["id"]}
        assert (await advancing)["failed"] == 0
        assert seen == ["sending", "sent"]
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [delivery["tries"][0]["status"] for delivery in shown] == [200, 204]


async def test_the_first_pull_makes_the_outbox() -> None:
    """From the first call on deliveries wait there, also those of the built-in receiver, and over resets."""
    async with boxed(patience=30.0) as box:
        await box.open()
        assert await pulled(box, "") == []
        assert (await box.get(WORLD)).json["deliveries"] == "pull"
        await box.post(f"{WORLD}/reset")
        await box.send("420777000105")
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = await pulled(box)
        assert call["hook"] is True
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        await advancing
        assert [event["result"] for event in await box.events()] == ["sending"]


async def test_a_get_of_the_outbox_changes_nothing() -> None:
    """In a world whose deliveries are pushed it waits in vain; in one that pulls them it answers as `POST` does."""
    async with boxed(patience=30.0) as box:
        await box.open()
        assert (await box.get(f"{WORLD}/outbox?wait=10ms")).json == {"calls": []}
        assert (await box.get(f"{WORLD}/outbox?wait=30s&during=advance")).json == {"calls": []}
        assert (await box.get(WORLD)).json["deliveries"] == "push"
        waiting = asyncio.create_task(box.get(f"{WORLD}/outbox?wait=30s"))
        await turns()
        assert await pulled(box, "") == []
        assert (await waiting).json == {"calls": []}
        await box.only_sending()
        await box.send("420777000105")
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = (await box.get(f"{WORLD}/outbox?wait=30s")).json["calls"]
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        assert (await advancing)["warnings"] == []


async def test_deliveries_are_pushed_again() -> None:
    """`DELETE` turns them back: long polls end, what waits there keeps its time, and the next poll fetches again."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.send("420777000105")
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = await pulled(box)
        assert call["patience"] == 30.0
        polling = asyncio.create_task(pulled(box, f"?wait=30s&except={call['id']}"))
        await turns()
        assert (await box.delete(f"{WORLD}/outbox")).json == {"deliveries": "push"}
        assert await polling == []
        assert (await box.get(WORLD)).json["deliveries"] == "push"
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        await advancing
        await box.send("420777000105")
        assert (await box.advance("0s"))["warnings"] == []
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [delivery["tries"][0]["status"] for delivery in shown] == [200, 200]
        await pulled(box, "")
        assert (await box.get(WORLD)).json["deliveries"] == "pull"


async def test_a_world_that_ends_meanwhile_is_not_turned_back() -> None:
    """409 for who waits until a command has ended."""
    async with boxed() as box:
        await box.open(deliveries="pull")
        hosted = box.runtime.worlds[KEY]
        working = hosted.working = asyncio.get_running_loop().create_future()
        asked = asyncio.create_task(box.delete(f"{WORLD}/outbox"))
        await turns()
        hosted.working = None
        box.runtime.close(hosted)
        working.set_result(None)
        assert (await asked).json["error"] == "closed"


async def test_a_pull_during_an_advance_ends_with_it() -> None:
    """`during=advance` answers when the advance is over; what is being carried is left out."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.send("420777000105")
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = await pulled(box)
        second = asyncio.create_task(pulled(box, f"?wait=30s&during=advance&except={call['id']}"))
        await turns()
        assert not second.done()
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        await advancing
        assert await second == []
        assert await pulled(box, "?wait=30s&during=advance") == []


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"status": 500}, 500, None),
        ({"status": 302}, 302, "redirect"),
        ({"status": "200"}, 200, None),
        ({"error": "refused"}, None, "refused"),
        ({"error": "timeout"}, None, "timeout"),
        ({"status": 200, "error": "invalid-answer"}, 200, "invalid-answer"),
    ],
)
async def test_how_a_pulled_call_went(body: Any, status: int | None, error: str | None) -> None:
    """A status, or a word for why there was none, is what the try ended with."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        await box.send()
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = await pulled(box)
        await box.post(f"{WORLD}/outbox/{call['id']}", body)
        await advancing
        (shown,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [(each["status"], each["error"]) for each in shown["tries"]] == [(status, error)]


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ({}, "missing_argument", '"status" is missing; outbox_done needs status, or error'),
        ({"status": "fine"}, "bad_argument", "status: 'fine' is not a whole number"),
        (
            {"error": "bored"},
            "bad_argument",
            (
                'error: "bored" is not known; '
                "legal: timeout, refused, unreachable, redirect, tls, invalid-answer, closed, not_allowed, not_fetched"
            ),
        ),
    ],
)
async def test_what_is_no_outcome(body: Any, error: str, message: str) -> None:
    """Refused, and the call waits on."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.send("420777000105")
        advancing = asyncio.create_task(box.advance("0s"))
        (call,) = await pulled(box)
        answer = await box.post(f"{WORLD}/outbox/{call['id']}", body)
        assert (answer.status, answer.json) == (400, {"error": error, "message": message})
        assert [each["id"] for each in await pulled(box)] == [call["id"]]
        assert (await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})).status == 200
        assert await pulled(box, "") == []
        answer = await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        assert (answer.status, answer.json["error"]) == (404, "no_such_delivery")
        await advancing


async def test_nobody_pulls() -> None:
    """After the patience a try that no client fetched has ended, and advice says so, once for each delivery."""
    async with boxed(patience=0.02) as box:
        await box.open(deliveries="pull")
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        await box.send()
        await box.advance("1m")
        (shown,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [(each["at"], each["error"]) for each in shown["tries"]] == [
            ("2026-03-01T09:00:00.000Z", "not_fetched"),
            ("2026-03-01T09:00:30.000Z", "not_fetched"),
        ]
        assert await pulled(box, "") == []
        (remark,) = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert (remark["code"], remark["message"].partition(";")[0]) == (
            "outbox-not-fetched",
            "no client fetched the webhook from the outbox",
        )


async def test_a_call_that_was_fetched_and_not_answered_has_timed_out() -> None:
    """The client is there, and its receiver hangs: a time-out, and no remark."""
    async with boxed(patience=0.02) as box:
        await box.open(deliveries="pull")
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        await box.send()
        advancing = asyncio.create_task(box.advance("0s"))
        assert len(await pulled(box)) == 1
        await advancing
        (shown,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [each["error"] for each in shown["tries"]] == ["timeout"]
        assert (await box.get(f"{WORLD}/advice")).json["advice"] == []


# --- an outbox that no client fetches ---------------------------------------------------------------------------------


async def test_an_advance_says_at_once_that_no_client_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a client once, and not for as long as for a receiver; answer and log say what is wrong."""
    monkeypatch.setattr(dispatcher, "CLIENT_GRACE_SECONDS", 0.02)
    async with boxed(patience=3_600.0) as box:
        await box.open(deliveries="pull")
        await box.send()
        lines: list[LogLine] = []
        box.runtime.on_log = lines.append
        moved = await box.advance("1h")
        (warning,) = moved["warnings"]
        assert warning["code"] == "outbox-not-fetched"
        assert warning["message"].startswith("15 tries of webhooks: no client fetches the outbox")
        assert "/_sandbox/worlds/test-1/outbox" in warning["message"]
        assert [(line.message, line.level) for line in lines if "no client fetches" in line.message] == [
            (dispatcher.UNATTENDED.format(id=KEY), "warning")
        ]
        assert (await box.advance("1h"))["warnings"] == []


async def test_a_client_that_asks_after_the_advance_began() -> None:
    """It has the time of the grace to ask, and its receiver then has the patience."""
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.send()
        advancing = asyncio.create_task(box.advance("0s"))
        await turns()
        (call,) = await pulled(box, "?wait=30s&during=advance")
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        assert ((await advancing)["failed"], (await advancing)["warnings"]) == (0, [])


async def test_a_client_that_comes_within_the_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has not yet reported when the grace is over has the rest of the patience."""
    monkeypatch.setattr(dispatcher, "CLIENT_GRACE_SECONDS", 0.05)
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.send()
        advancing = asyncio.create_task(box.advance("0s"))
        await turns()
        (call,) = await pulled(box, "")
        await asyncio.wait({advancing}, timeout=0.1)
        assert not advancing.done()
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        assert (await advancing)["warnings"] == []


async def test_a_client_that_waits_has_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long poll waits: nothing is said, and no try ends early, while the receiver is at work."""
    monkeypatch.setattr(dispatcher, "CLIENT_GRACE_SECONDS", 0.0)
    async with boxed(patience=30.0) as box:
        await box.open(deliveries="pull")
        await box.send("420777000105")
        polling = asyncio.create_task(pulled(box))
        await turns()
        advancing = asyncio.create_task(box.advance("1m"))
        seen = []
        while not advancing.done():
            calls = await polling
            for call in calls:
                seen.append(call["id"])
                await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
            polling = asyncio.create_task(pulled(box, "?wait=30s&during=advance"))
            await turns()
        await polling
        assert (len(seen), (await advancing)["warnings"]) == (2, [])
        assert [line for _, line in box.log if "no client" in line] == []


async def test_a_world_that_runs_by_itself_waits_as_before() -> None:
    """Nothing is held up there: a client may come as long as the patience lasts, and the log says that none has."""
    async with boxed(patience=30.0, mode="auto") as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.send("420777000105")
        while not (waiting := box.runtime.worlds[KEY].outbox):
            await asyncio.sleep(0)
        (call,) = waiting
        await turns()
        assert [line for _, line in box.log if "control" not in line] == [dispatcher.UNATTENDED.format(id=KEY)]
        assert (await box.post(f"{WORLD}/outbox/{call}", {"status": 200})).status == 200
        while box.runtime.worlds[KEY].advancing:
            await asyncio.sleep(0)
        (shown,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [each["status"] for each in shown["tries"]] == [200]
