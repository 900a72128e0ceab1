"""The bounds of what a server keeps: what is refused at them, what is forgotten, and who says so.

Long because messages, entries and memory are bounded in one way.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from typing import Any

import pytest

from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.delivery.batches import Delivery, Try
from sendbox.runtime.bounds import MIN_ENTRIES, Bounds, Full, give_back, resident
from sendbox.runtime.slot import Conflict
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Link, Message, Submission
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.interfaces.rest.calls import upload_url

pytestmark = pytest.mark.asyncio

PHONE = "420777000100"


async def sent(box: Box, count: int, **fields: Any) -> list[str]:
    """The ids of so many messages, each sent and arrived before the next."""
    ids = []
    for number in range(count):
        ids += await box.send(PHONE, body=f"Hello {number}", **fields)
        await box.advance()
        await turns(20)
    return ids


async def refused(box: Box, path: str = "/v2/message", body: Any = None) -> Any:
    """The answer to a message that is not taken in."""
    message = body or {"body": "One more", "to": [{"phone_number": PHONE}]}
    answer = await box.post(path, message, x_api_key=KEY)
    assert answer.status == 503, answer
    return answer


# --- messages of a world: refuse --------------------------------------------------------------------------------------


async def test_a_world_that_is_full_refuses() -> None:
    """503 in the shape of each interface, for what makes messages only; the reason is among the refused keys."""
    async with boxed(max_messages=2) as box:
        await sent(box, 2)
        before = len(box.runtime.worlds[KEY].world.journal)
        answer = await refused(box)
        why = "the world keeps 2 messages, and --max-messages is 2"
        assert answer.json == {"Message": why}
        assert answer.headers["sendbox-journal"].endswith("/_sandbox/refused")
        legacy = await box.call("GET", f"/Send?apikey={KEY}&number={PHONE}&message=Hi")
        assert legacy.body == b"ERROR|900"
        assert (await box.get("/v1/message?id=x", x_api_key=KEY)).status == 200
        shown = (await box.get("/_sandbox/refused")).json["refused"]
        assert [(each["why"], each["key"]) for each in shown] == [(why, KEY)] * 2
        assert "--when-full forget" in shown[0]["what_to_do"]
        # neither in the journal nor on record: a replay knows no bound
        assert len(box.runtime.worlds[KEY].world.journal) == before + 1
        assert (await box.get(WORLD)).json["bounds"] == {"messages": {"kept": 2, "most": 2, "forgotten": 0}}
        assert (await box.get(f"{WORLD}/digest")).json["trusted"]
        assert "bounds" not in (await box.get("/_sandbox/health")).json
        await box.send(PHONE, key="test-2")
        await box.post(f"{WORLD}/reset", {})
        await box.send(PHONE)


async def test_a_file_is_not_taken_in_by_a_world_that_is_full() -> None:
    """An upload is refused before its lines are read."""
    async with boxed(max_messages=1) as box:
        path = await upload_url(box)
        await sent(box, 1)
        line = b'{"body": "Hello", "to": [{"phone_number": "420777000100"}]}\n'
        answer = await box.call("PUT", path, line)
        assert (answer.status, b"--max-messages is 1" in answer.body) == (503, True)


# --- messages of a world: forget --------------------------------------------------------------------------------------


async def test_the_oldest_messages_are_forgotten() -> None:
    """They are gone from every list, and control says which bound it was; what can no longer be trusted says so."""
    async with boxed(max_messages=5, when_full="forget") as box:
        ids = await sent(box, 12)
        kept = [each["message_id"] for each in (await box.get(f"{WORLD}/messages")).json["messages"]]
        assert kept == ids[-len(kept) :]
        assert 3 <= len(kept) < 5
        bound = "--max-messages=5"
        gone = await box.get(f"{WORLD}/messages/{ids[0]}")
        assert (gone.status, gone.json["error"], gone.json["bound"]) == (404, "forgotten", bound)
        assert "was forgotten" in gone.json["message"]
        never = await box.get(f"{WORLD}/messages/never")
        assert (never.status, never.json["error"]) == (404, "no_such_message")
        for what in ("digest", "verdict"):
            found = (await box.get(f"{WORLD}/{what}")).json
            assert (found["trusted"], found["lost"] > 0, found["bound"]) == (False, True, bound)
        journal = (await box.get(f"{WORLD}/journal")).json
        assert (journal["first"] > 0, journal["bound"]) == (True, bound)
        for path in ("record", "export"):
            cut = await box.get(f"{WORLD}/{path}")
            assert (cut.status, cut.json["error"], cut.json["bound"]) == (409, "record_cut", bound)
        rows = (await box.get("/v1/messages?date=2026-03-01", x_api_key=KEY)).json["messages"]
        assert [row["message_id"] for row in rows] == kept
        assert (await box.get(f"/v1/message?id={ids[0]}", x_api_key=KEY)).json["message"] is None
        assert (await box.get(f"/v1/message?id={kept[0]}", x_api_key=KEY)).json["message"] is not None
        inbox = (await box.get(f"{WORLD}/phones/{PHONE}")).json
        assert len(inbox["messages"]) == len(kept)
        shown = (await box.get(WORLD)).json["bounds"]["messages"]
        assert shown == {"kept": len(kept), "most": 5, "forgotten": 12 - len(kept)}
        # the same request again gets a name of its own, though the first is forgotten
        assert (await box.send(PHONE, body="Hello 0"))[0] not in ids


async def test_what_is_under_way_is_not_forgotten() -> None:
    """A message that has not ended stays, however old; where too few have ended, more are refused."""
    async with boxed(max_messages=4, when_full="forget") as box:
        (scheduled,) = await box.send(PHONE, datetime="2026-03-02T10:00:00Z")
        ids = await sent(box, 9)
        kept = [each["message_id"] for each in (await box.get(f"{WORLD}/messages")).json["messages"]]
        assert kept[0] == scheduled
        assert kept[1:] == ids[-len(kept[1:]) :]
        answer = None
        for number in range(8):
            message = {"body": f"Under way {number}", "to": [{"phone_number": PHONE}]}
            answer = await box.post("/v2/message", message, x_api_key=KEY)
            await turns(20)
            if answer.status == 503:
                break
        assert answer is not None
        assert "the world keeps 4 messages, and --max-messages is 4; too few have ended" in answer.json["Message"]
        await box.advance()
        await turns(20)
        await box.send(PHONE)
        await box.advance("2d")
        assert (await box.results(scheduled))[-1] == "delivered"


async def test_a_reply_that_is_planned_keeps_its_message() -> None:
    """As long as a rule's reply or click is to come, or a TTL may end an attempt, its message has not ended."""
    flow = [{"sms": {"ttl": 60, "ttl_condition": "seen"}}, {"sms": {"body": "Again"}}]
    scenario = {
        "sendbox": 1,
        "extends": "default",
        "attempts": [{"when": {"body": "Ask*"}, "then": "delivered", "replies": [{"after": "1h", "body": "YES"}]}],
    }
    async with boxed(scenario, max_messages=4, when_full="forget") as box:
        asked = await sent(box, 1)
        (asking,) = await box.send(PHONE, body="Ask me")
        (falling,) = await box.send(PHONE, body="Falls back", flow=flow)
        await sent(box, 8)
        kept = [each["message_id"] for each in (await box.get(f"{WORLD}/messages")).json["messages"]]
        assert {asking, falling} <= set(kept)
        assert asked[0] not in kept
        await box.advance("2h")
        await sent(box, 8)
        kept = [each["message_id"] for each in (await box.get(f"{WORLD}/messages")).json["messages"]]
        assert not {asking, falling} & set(kept)


async def test_links_sessions_and_words_go_too() -> None:
    """What hangs on forgotten messages is forgotten with them: short links, validations, what phones wrote."""
    async with boxed(max_messages=5, when_full="forget") as box:
        params = {"_url": {"type": "full"}}
        await box.send(PHONE, body="See https://example.com/a", params=params)
        await box.advance()
        messaging = Messaging.of(box.runtime.worlds[KEY].world)
        (link,) = messaging.links.values()
        await box.post(f"{WORLD}/phones/{PHONE}/reply", {"body": "Thanks"})
        session = await box.post("/v1/validations", {"phoneNumber": PHONE}, x_api_key=KEY)
        assert session.status < 300, session
        await box.advance("20m")
        await sent(box, 12)
        assert messaging.links == {}
        assert (await box.call("GET", f"/s/{link.code}")).status == 404
        assert messaging.phones.inbound == []
        assert (await box.get(f"{WORLD}/codes")).json["codes"] == []


# --- the journal ------------------------------------------------------------------------------------------------------


def alive() -> Counter[type]:
    """How many records of messages there are in the process."""
    kinds = frozenset({Message, Attempt, Submission, Delivery, Try, Link, RequestRecord})
    return Counter(type(thing) for thing in gc.get_objects() if type(thing) in kinds)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"max_journal": 100}, id="journal"),
        pytest.param({"max_messages": 20, "when_full": "forget"}, id="messages"),
    ],
)
@pytest.mark.sample(2)
async def test_what_is_kept_does_not_grow(settings: dict[str, Any]) -> None:
    """However many messages a world had, so many records are alive: their counts free them, without a collection."""
    async with boxed(check_answers=False, **settings) as box:
        counts = []
        gc.collect()
        gc.disable()
        before = alive().total()  # of other tests
        try:
            for number in range(6):
                await sent(box, 40, callback={"url": "http://box/_sandbox/worlds/test-1/hook"})
                if number:
                    counts.append(alive().total() - before)
        finally:
            gc.enable()
    assert counts[0] < 400
    assert all(count <= counts[0] * 1.2 for count in counts[1:]), counts


@pytest.mark.unmeasured
async def test_a_reset_begins_anew() -> None:
    """A world that is reset has forgotten nothing."""
    async with boxed(max_journal=10) as box:
        await sent(box, 5)
        assert not (await box.get(f"{WORLD}/digest")).json["trusted"]
        await box.post(f"{WORLD}/reset", {})
        found = (await box.get(f"{WORLD}/digest")).json
        assert (found["trusted"], found["lost"], "bound" in found) == (True, 0, False)
        shown = (await box.get(WORLD)).json["bounds"]["entries"]
        assert (shown["most"], shown["forgotten"]) == (10, 0)


# --- memory -----------------------------------------------------------------------------------------------------------

MB = 1_000_000


class Memory:
    """The memory of the process, as a test says it."""

    def __init__(self) -> None:
        self.used = 50 * MB
        self.blocks = 0

    def __call__(self) -> int:
        return self.used


def bounded(box: Box, memory: Memory, **settings: Any) -> Bounds:
    """The bounds of a box, which read that memory when they are told to."""
    for name, value in settings.items():
        setattr(box.runtime.settings, name, value)
    box.runtime.bounds = Bounds(box.runtime, memory, lambda: memory.blocks)
    return box.runtime.bounds


def full(box: Box) -> bool:
    """Whether the memory of the server is full."""
    return box.runtime.bounds is not None and box.runtime.bounds.full is not None


async def test_a_server_that_is_full_refuses() -> None:
    """503 to every call, 409 to a new world; it takes in again once it uses well less than the bound."""
    async with boxed() as box:
        memory = Memory()
        bounds = bounded(box, memory, max_memory=100 * MB)
        await box.send(PHONE)
        memory.used = 100 * MB
        bounds.look()
        answer = await refused(box)
        assert answer.json == {"Message": "the server uses 95 MiB, and --max-memory is 95 MiB"}
        assert (await box.get("/v1/message?id=x", x_api_key=KEY)).status == 503
        opened = await box.post("/_sandbox/worlds", {"id": "test-2"})
        assert (opened.status, opened.json["error"]) == (409, "memory_full")
        with pytest.raises(Conflict, match="--max-memory"):
            box.runtime.open("test-3")
        health = await box.get("/_sandbox/health")
        assert (health.status, health.json["error"], health.json["status"]) == (503, "memory_full", "full")
        assert health.json["memory"] == {"used": 100 * MB, "most": 100 * MB, "full": True}
        memory.used = 96 * MB
        bounds.look()
        assert isinstance(bounds.full, Full)
        memory.used = 94 * MB
        bounds.look()
        await box.send(PHONE)
        health = await box.get("/_sandbox/health")
        assert (health.status, health.json["status"]) == (200, "ok")
        bounds.close()


async def test_what_is_free_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the server is full, and once after worlds have ended: the process keeps it else, and stays full."""
    async with boxed() as box:
        memory = Memory()
        given: list[int] = []
        collected: list[bool] = []

        def give_back(*, collecting: bool) -> None:
            given.append(memory.used)
            collected.append(collecting)
            memory.used = 50 * MB

        monkeypatch.setattr("sendbox.runtime.bounds.give_back", give_back)
        bounds = bounded(box, memory, max_memory=100 * MB)
        for number in range(3):
            await box.send(PHONE, key=f"test-{number}")
        bounds.look()
        assert given == []
        memory.used = 101 * MB
        bounds.look()
        assert full(box)
        assert bounds._giving is not None
        await bounds._giving
        bounds.look()
        assert not full(box)
        await bounds._giving
        given.clear()
        for hosted in list(box.runtime.worlds.values()):
            box.runtime.close(hosted)
        box.runtime.closed_worlds.forget()
        while box.runtime._gone:
            await asyncio.sleep(0)
        for _ in range(3):
            bounds.look()
            await bounds._giving
        assert given == [50 * MB]
        assert collected == [True, False, False]  # once, when the bound is reached
        bounds.close()


async def test_what_is_free_within_the_process_is_not_used() -> None:
    """Not all of it can go back to the system, and worlds that open use it again."""
    async with boxed() as box:
        memory = Memory()
        bounds = bounded(box, memory, max_memory=100 * MB)
        memory.used, memory.blocks = 101 * MB, 1_000_000
        bounds.look()
        assert (full(box), bounds.used) == (True, 101 * MB)
        memory.used, memory.blocks = 99 * MB, 750_000  # 16 MB were freed, and 2 MB of them went back
        bounds.look()
        assert (full(box), bounds.used) == (False, 85 * MB)
        memory.used, memory.blocks = 105 * MB, 900_000
        bounds.look()
        assert (full(box), bounds.used) == (False, 98_600_000)
        memory.blocks = 1_000_001
        bounds.look()
        assert (full(box), bounds.used) == (True, 105 * MB)
        memory.used, memory.blocks = 60 * MB, 1_000  # most of it went back
        bounds.look()
        assert (full(box), bounds.used) == (False, 105 * MB - 999_001 * 64)
        bounds.close()


async def test_a_server_that_is_full_forgets() -> None:
    """The world that keeps most forgets a tenth at each look; when no world has enough, more is refused."""
    async with boxed(max_messages=10**6, when_full="forget") as box:
        memory = Memory()
        await sent(box, 60)
        await box.send(PHONE, key="test-2")
        bounds = bounded(box, memory, max_memory=100 * MB)
        await turns(20)
        bounds.look()
        journal = box.runtime.worlds[KEY].world.journal
        length = len(journal)
        assert (journal.first, box.runtime.worlds["test-2"].world.journal.first) == (0, 0)
        memory.used = 101 * MB
        hosted = box.runtime.worlds[KEY]
        hosted.readers += 1
        bounds.look()
        bounds.look()
        await turns(20)
        assert journal.first == 0
        hosted.readers -= 1
        box.runtime.kick(hosted)
        bounds.look()  # a pass that is at work is not begun again
        await turns(20)
        assert length // 10 <= journal.first <= length // 5
        assert not full(box)
        while not full(box):
            first = journal.first
            bounds.look()
            while journal.first == first and not full(box):  # a pass pauses as often as the machine is busy
                await turns(1)
        assert len(journal) - journal.first <= MIN_ENTRIES
        assert (await box.get(f"{WORLD}/verdict")).json["bound"] == "--max-memory=100000000"
        bounds.close()


async def test_memory_is_read_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a timer of the loop, until the server ends; the process says what it has."""
    monkeypatch.setattr("sendbox.runtime.bounds.PERIOD", 0)
    async with boxed(max_memory=2**60) as box:
        assert box.runtime.bounds is not None
        box.runtime.bounds.used = 0
        await turns(10)
        assert box.runtime.bounds.used == pytest.approx(resident(), rel=0.5)
    give_back()
    await asyncio.sleep(0)


async def test_a_system_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """There the bound cannot be kept, and that is said at the start."""
    monkeypatch.setattr("sendbox.runtime.bounds._STATM", "/nowhere/statm")

    box = boxed(max_memory=2**60)
    with pytest.raises(ValueError, match="--max-memory"):
        await box.__aenter__()
