"""Worlds that no client uses any more end, and what is remembered of those that are gone.

It is long because each way to use a world, and each way in which one ends, has its test.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from sendbox.cli.options import parse_ttl
from sendbox.engine.durations import instant
from sendbox.runtime.ending import CLOSED, CloseReasons, IdleWorlds
from sendbox.runtime.interface import LogLine
from sendbox.runtime.slot import CloseReason
from tests.box import KEY, WORLD, Box, Reading, boxed, end_idle

pytestmark = pytest.mark.asyncio
HOUR = 3_600.0
WHY = "it ended after 1h without use"


async def swept(box: Box) -> None:
    """What is gone was taken apart."""
    while box.runtime._gone or box.runtime._sweeper:
        await asyncio.sleep(0)


async def test_a_world_that_is_not_used_ends() -> None:
    """It is forgotten, with a line of the log; control says what became of it, and knows nothing more of it."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.send()
        await box.put(f"{WORLD}/checkpoints/before")
        await box.get(f"{WORLD}?then=0")
        world = weakref.ref(box.runtime.worlds[KEY].world)
        reading.passes(HOUR - 1)
        end_idle(box)
        assert KEY in box.runtime.worlds
        reading.passes(1)
        end_idle(box)
        assert KEY not in box.runtime.worlds
        assert box.log[-1] == (KEY, f"{WHY}; its key opens a new world")
        answer = await box.get(WORLD)
        assert (answer.status, answer.json["error"]) == (404, "no_such_world")
        assert answer.json["message"] == f'"{KEY}" is not an open world: {WHY}; POST /_sandbox/worlds opens one'
        await swept(box)
        gc.collect()
        assert (world(), len(box.runtime.replicas), box.runtime._tags) == (None, 0, {})


async def test_with_strict_keys_no_world_follows() -> None:
    """The line of the log says what becomes of the key."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR, strict_keys=True) as box:
        await box.open()
        reading.passes(HOUR)
        end_idle(box)
        assert box.log[-1] == (KEY, f"{WHY}; its key is denied until control opens it again")


async def test_the_first_answer_of_the_next_world_says_so() -> None:
    """A header of the first call, a line of the log, and the world itself."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.send()
        reading.passes(HOUR)
        end_idle(box)
        first, second = [
            await box.post("/v2/message", {"body": "Hi", "to": [{"phone_number": "420777000101"}]}, x_api_key=KEY)
            for _ in range(2)
        ]
        assert first.status == 200
        assert first.headers["sendbox-world"] == f"opened anew: {WHY}"
        assert "sendbox-world" not in second.headers
        assert box.log[-1] == (KEY, f"opened anew: the world before is gone, {WHY}")
        shown = (await box.get(WORLD)).json
        assert (shown["before"], shown["messages"]) == (WHY, 2)
        assert (await box.delete(WORLD)).status == 200
        assert "before" not in await box.open()


async def test_a_sub_key_of_a_world_that_ended_is_told_so() -> None:
    """It opens no world, and the reason is among the refused keys."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.send()
        reading.passes(HOUR)
        end_idle(box)
        assert (await box.get("/v1/credit", x_api_key=f"{KEY}~1")).status >= 400
        assert box.runtime.refused[-1].why == f"the world of this sub-key is gone: {WHY}"


@pytest.mark.parametrize(
    ("path", "uses"),
    [
        (f"{WORLD}/clock", True),
        (f"{WORLD}/journal?last=1", True),
        ("/v1/message?id=x", True),
        ("/_sandbox/worlds", False),
        ("/_sandbox/health", False),
        ("/_sandbox/refused", False),
    ],
)
async def test_what_is_a_use(path: str, uses: bool) -> None:
    """A call with the key, and a call of control on the world; no list, and no health check."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.open()
        reading.passes(HOUR - 1)
        assert (await box.get(path, x_api_key=KEY)).status < 500
        reading.passes(HOUR - 1)
        end_idle(box)
        assert (KEY in box.runtime.worlds) is uses


async def test_a_message_that_is_answered_at_once_is_a_use() -> None:
    """The short way of a call over a socket counts as the long one does."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.send()
        reading.passes(HOUR - 1)
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/v2/message",
            "query_string": b"",
            "scheme": "http",
            "http_version": "1.1",
            "headers": [(b"host", b"box:7357"), (b"x-api-key", KEY.encode())],
        }
        message = b'{"body": "Hi", "to": [{"phone_number": "420777000101"}]}'
        assert box.app.answer_at_once(scope, message) is not None
        reading.passes(HOUR - 1)
        end_idle(box)
        assert KEY in box.runtime.worlds


async def test_a_stream_that_only_watches_is_not_a_use() -> None:
    """The world ends under it, and the stream with it."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.open()
        watching = asyncio.ensure_future(box.get(f"{WORLD}/stream"))
        while not box.runtime.worlds[KEY].streams:
            await asyncio.sleep(0)
        reading.passes(HOUR)
        end_idle(box)
        assert KEY not in box.runtime.worlds
        assert (await watching).status == 200


@pytest.mark.parametrize(
    ("mode", "due", "lives"),
    [
        ("manual", "30m", False),
        ("real", "30m", True),
        ("real", "2h", False),
        ("auto", "30m", True),
    ],
)
async def test_a_world_with_something_due_lives_on(mode: str, due: str, lives: bool) -> None:
    """By its own clock: a `real` one comes there in time, an `auto` one goes there, a `manual` one stands still."""
    reading = Reading()
    at = {"30m": "1h30m", "2h": "3h"}[due]
    scenario = {"sendbox": 1, "timeline": [{"at": at, "account": {"credit": {"eur": 5}}}]}
    async with boxed(scenario, reading=reading, world_ttl=HOUR, mode=mode, quiet=1e6) as box:
        await box.open()
        reading.passes(HOUR)
        end_idle(box)
        assert (KEY in box.runtime.worlds) is lives


async def test_a_world_at_work_lives_on() -> None:
    """A call that is not answered yet keeps it, however long it takes."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        ended = hosted.working = asyncio.get_running_loop().create_future()
        reading.passes(HOUR)
        end_idle(box)
        hosted.working = None
        ended.set_result(None)
        token = hosted.request_began()
        end_idle(box)
        assert not hosted.gone
        hosted.request_ended(token)
        end_idle(box)
        assert hosted.gone


async def test_a_call_that_waits_is_a_use() -> None:
    """A long poll keeps its world until it ends, also one that is longer than the time without use."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        polling = asyncio.create_task(box.post(f"{WORLD}/outbox?wait=30s"))
        while not hosted.waits:
            await asyncio.sleep(0)
        reading.passes(2 * HOUR)
        end_idle(box)
        assert not hosted.gone
        await box.delete(f"{WORLD}/outbox")
        assert ((await polling).json, hosted.waits) == ({"calls": []}, 0)
        reading.passes(HOUR)
        end_idle(box)
        assert hosted.gone


async def test_a_call_that_waits_is_told_why_its_world_ended() -> None:
    """Whatever ended it."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        polling = asyncio.create_task(box.get(f"{WORLD}/messages?wait=30s"))
        while not hosted.waits:
            await asyncio.sleep(0)
        box.runtime.end_world(hosted, CloseReason(WHY, denied=False))
        assert (await polling).json["message"] == f'"{KEY}" is not an open world: {WHY} while this call waited'


async def test_a_closed_world_is_told_from_one_that_ended() -> None:
    """By `closed` of the 404."""
    async with boxed() as box:
        for gone in (CLOSED, CloseReason(WHY, denied=False)):
            await box.open()
            box.runtime.end_world(box.runtime.worlds[KEY], gone)
            assert ("closed" in (await box.get(WORLD)).json) is gone.denied


async def test_the_server_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then, in slices, and again."""
    monkeypatch.setattr("sendbox.runtime.slot.Slice.over", True)
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR) as box:
        idle = box.runtime.idle
        assert isinstance(idle, IdleWorlds)
        assert idle._period == 60.0
        for number in range(3):
            await box.open(f"test-{number}")
        reading.passes(HOUR)
        timer = idle._timer
        idle._tick()
        while idle._timer is timer:
            await asyncio.sleep(0)
        timer.cancel()
        assert box.runtime.worlds == {}
        assert not idle._timer.cancelled()


@pytest.mark.parametrize(("ttl", "period"), [(0.1, 0.05), (100.0, 10.0), (86_400.0, 60.0)])
async def test_it_looks_often_enough(ttl: float, period: float) -> None:
    """A tenth of the time, within bounds."""
    async with boxed(world_ttl=ttl) as box:
        assert box.runtime.idle is not None
        assert box.runtime.idle._period == pytest.approx(period)


async def test_without_a_time_no_world_ends() -> None:
    """As in the server of the fixture."""
    async with boxed() as box:
        assert box.runtime.idle is None


@pytest.mark.deep
async def test_memory_comes_back() -> None:
    """Of 2,000 worlds that were opened and left, each with a message, nothing stays but what became of them."""
    reading = Reading()
    async with boxed(reading=reading, world_ttl=HOUR, check_answers=False) as box:
        for number in range(2_000):
            await box.send(key=f"test-{number}")
        worlds = [weakref.ref(hosted.world) for hosted in box.runtime.worlds.values()]
        reading.passes(HOUR)
        end_idle(box)
        await swept(box)
        while any(world() is not None for world in worlds):
            await asyncio.sleep(0)
            gc.collect()
        runtime = box.runtime
        assert (len(runtime.worlds), list(runtime.open_worlds.after(0)), runtime._tags) == (0, [], {})
        assert len(runtime.closed) == 2_000


async def test_what_is_remembered_is_bounded() -> None:
    """The oldest are forgotten; an id that ended again counts anew."""
    closed = CloseReasons(most=2)
    gone, ended = CloseReason("it was closed", denied=True), CloseReason(WHY, denied=False)
    closed.add("test-a", gone)
    closed.add("test-b", ended)
    closed.add("test-a", gone)
    closed.add("test-c", gone)
    assert [closed.why(f"test-{letter}") for letter in "abc"] == ["it was closed", None, "it was closed"]
    assert ("test-a" in closed, "test-b" in closed, 5 in closed, len(closed)) == (True, False, False, 2)
    closed.add("test-d", ended)
    assert ("test-d" in closed, closed.opened("test-d"), closed.opened("test-d")) == (False, WHY, None)
    assert closed.opened("test-c") is None
    closed.clear()
    assert len(closed) == 0


@pytest.mark.parametrize(("text", "seconds"), [("24h", 86_400.0), ("500ms", 0.5), ("off", None)])
async def test_the_time_is_a_duration(text: str, seconds: float | None) -> None:
    """With a unit, or `off`."""
    assert parse_ttl(text) == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("30", "'30' has no unit; 30s or 30ms is legal, only 0 needs no unit; so is off"),
        ("0", "'0' is not a time after which a world ends; legal: a duration above 0, or off"),
    ],
)
async def test_another_time_is_refused(text: str, message: str) -> None:
    """With what is legal."""
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        parse_ttl(text)
    assert str(raised.value) == message


# --- at the cap -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", "/v2/message", {"body": "Hi"}, b'{"Message":"1 worlds are open, the cap"}'),
        ("GET", "/v1/message?id=x", None, b"1 worlds are open, the cap"),
        ("POST", "/v1/validations", {}, b"1 worlds are open, the cap"),
        ("GET", "/Send?apikey=test-2&number=420777000101&message=Hi", None, b"ERROR|900"),
    ],
)
async def test_at_the_cap_calls_are_answered_503(method: str, path: str, body: Any, expected: bytes) -> None:
    """In the shape of each interface, with the reason among the refused keys; the open world goes on."""
    async with boxed(max_worlds=1) as box:
        await box.send()
        call = box.post(path, body, x_api_key="test-2") if method == "POST" else box.get(path, x_api_key="test-2")
        answer = await call
        assert answer.status == 503
        assert expected in answer.body
        assert answer.headers["sendbox-journal"].endswith("/_sandbox/refused")
        assert box.runtime.refused[-1].why == "1 worlds are open, the cap"
        await box.send()


async def test_a_server_that_is_full_does_not_deny_a_key() -> None:
    """Log, metrics and coverage tell it from a key that is not good."""
    async with boxed(max_worlds=1) as box:
        await box.send()
        lines: list[LogLine] = []
        box.runtime.on_log = lines.append
        assert (await box.post("/v2/message", {"body": "Hi"}, x_api_key="test-2")).status == 503
        (line,) = lines
        assert line.message == "full /v2/message: 1 worlds are open, the cap; close worlds, or raise --max-worlds"
        assert (line.world, line.level, line.operation) == ("test-2", "warning", "sendMessage")
        assert line.more == {"status": 503, "path": "/v2/message"}
        assert box.runtime.counts.calls["sendMessage", 503, "full"] == 1
        assert not box.runtime.tried.denied
        assert (await box.post("/v2/message", {"body": "Hi"}, x_api_key="live-2")).status == 400
        assert (lines[-1].operation, lines[-1].more["status"]) == ("sendMessage", 400)
        assert box.runtime.counts.calls["sendMessage", 400, "denied"] == 1
        assert box.runtime.tried.denied


async def test_at_the_cap_a_path_that_is_not_served_is_that() -> None:
    """It is answered as without a world."""
    async with boxed(max_worlds=1) as box:
        await box.send()
        assert (await box.get("/v2/nothing", x_api_key="test-2")).status == 404


# --- many at once -----------------------------------------------------------------------------------------------------


async def test_worlds_are_closed_by_their_beginning() -> None:
    """All of them, and no other; their keys are denied, and each says so."""
    async with boxed() as box:
        for name in ("test-job42-a", "test-job42-b", "test-job421", "test-other"):
            await box.open(name)
        assert (await box.delete("/_sandbox/worlds?prefix=test-job42-")).json == {"closed": 2}
        assert sorted(box.runtime.worlds) == ["test-job421", "test-other"]
        assert (await box.delete("/_sandbox/worlds?prefix=test-job42-")).json == {"closed": 0}
        assert box.runtime.find("test-job42-a") is None
        gone = await box.get("/_sandbox/worlds/test-job42-a")
        assert "is not an open world: it was closed" in gone.json["message"]


@pytest.mark.parametrize(("query", "error"), [("?prefix=", "bad_argument"), ("", "missing_argument")])
async def test_not_all_worlds_are_closed_by_mistake(query: str, error: str) -> None:
    """A beginning that every id has is refused."""
    async with boxed() as box:
        await box.open()
        answer = await box.delete(f"/_sandbox/worlds{query}")
        assert (answer.status, answer.json["error"]) == (400, error)
        assert KEY in box.runtime.worlds


async def test_a_world_that_closes_meanwhile_is_not_counted() -> None:
    """A command that is at work is waited for, and another call may close the world then."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        hosted.working = asyncio.get_running_loop().create_future()
        closing = asyncio.ensure_future(box.delete("/_sandbox/worlds?prefix=test-"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        box.runtime.close(hosted)
        hosted.working.set_result(None)
        hosted.working = None
        assert (await closing).json == {"closed": 0}


async def test_a_list_says_since_when_worlds_are_idle() -> None:
    """In real time: so long before the present as the monotonic clock says."""
    reading = Reading()
    async with boxed(reading=reading) as box:
        await box.open("test-a")
        reading.passes(100)
        await box.open("test-b")
        a, b = (await box.get("/_sandbox/worlds")).json["worlds"]
        assert abs(instant(b["idle_since"]) - instant(a["idle_since"]) - 100_000) <= 1_000
        reading.passes(0.5)  # while the clock of the machine stands: it says the same all the same
        assert [each["idle_since"] for each in (await box.get("/_sandbox/worlds")).json["worlds"]] == [
            a["idle_since"],
            b["idle_since"],
        ]
        await box.get("/_sandbox/worlds/test-a")
        (used,) = (await box.get("/_sandbox/worlds?prefix=test-a")).json["worlds"]
        assert used["idle_since"] > a["idle_since"]
