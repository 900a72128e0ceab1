"""The stream of one world: entries, the clock, resuming, and what bounds it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.control import routes, stream
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.control.streaming import ONE, asked, streaming

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause of a stream is short."""
    monkeypatch.setattr(stream, "PAUSE", 0.001)


async def test_the_stream_tells_each_entry_and_the_clock() -> None:
    """Entries come as they are made, the clock whenever it has moved or something else is pending."""
    async with boxed() as box:
        await box.open()
        async with streaming(box) as events:
            assert (await events.next()).data["now"] == "2026-03-01T09:00:00.000Z"
            await box.send("420777000105")
            entry = await events.next()
            assert (entry.name, entry.id, entry.data["kind"], entry.data["n"]) == ("entry", "0.1", "request", 1)
            clock = await events.next()
            assert (clock.name, clock.id, clock.data["pending"]) == ("clock", None, 1)
            await box.advance("1s")
            kinds = [(await events.next()).data["kind"] for _ in range(6)]
            assert kinds == ["transition", "delivery", "try"] * 2
            clock = await events.next()
            assert (clock.name, clock.data["now"], clock.data["mode"]) == (
                "clock",
                "2026-03-01T09:00:01.000Z",
                "manual",
            )
            await box.patch(f"{WORLD}/clock", {"rate": 2})
            assert (await events.until("clock"))[-1].data["rate"] == 2


async def test_the_stream_begins_anew_after_a_reset_and_ends_with_the_world() -> None:
    """`reset` is told, then the entries of the new epoch; a closed world has no stream."""
    async with boxed() as box:
        await box.open()
        async with streaming(box) as events:
            await events.next()
            await box.post(f"{WORLD}/reset")
            assert await events.next() == ("reset", {"epoch": 1}, None)
            entry = await events.next()
            assert (entry.data["kind"], entry.id) == ("reset", "1.0")
            await box.delete(WORLD)
            await events.task
        answer = await box.get(ONE)
        assert (answer.status, answer.json["error"]) == (404, "no_such_world")


async def test_a_stream_ends_with_its_world_though_that_is_opened_again_at_once() -> None:
    """Another world of the same name is not the one that was asked for."""
    async with boxed() as box:
        await box.open()
        async with streaming(box) as events:
            await events.next()
            box.runtime.close(box.runtime.worlds[KEY])
            box.runtime.open(KEY)
            await events.task


@pytest.mark.parametrize("last_id", ["0.1", "1"])
async def test_the_stream_goes_on_behind_the_last_entry(last_id: str) -> None:
    """By the epoch and the number of the entry, or a number of the present epoch."""
    async with boxed() as box:
        await box.open()
        for _ in range(3):
            await box.send()
        async with streaming(box, ONE, last_id) as events:
            assert [(await events.next()).id for _ in range(2)] == ["0.2", "0.3"]
            assert (await events.next()).name == "clock"


async def test_a_last_entry_of_another_epoch_or_beyond_the_end() -> None:
    """The reader has to begin anew; what is not an id is not looked at."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/reset")
        for last_id in ("0.0", "1.99"):
            async with streaming(box, ONE, last_id) as events:
                assert await events.next() == ("reset", {"epoch": 1}, None)
                assert (await events.next()).id == "1.0"
        async with streaming(box, ONE, "1.x") as events:
            assert (await events.next()).name == "clock"


async def test_so_many_entries_wait_if_a_reader_says_so() -> None:
    """Further ones are skipped, and the id is that of the last of them."""
    async with boxed() as box:
        await box.open()
        async with streaming(box, f"{ONE}?most=3") as events:
            await events.next()
            for _ in range(5):
                box.runtime.worlds[KEY].world.journal_act("x", {})
            box.runtime.note_change(box.runtime.worlds[KEY])
            assert await events.next() == ("skipped", {"from": 1, "to": 5}, "0.5")
        for most in ("0", "1001", "x"):
            answer = await box.get(f"{ONE}?most={most}")
            assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert "legal: 1 to 1000" in (await box.get(f"{ONE}?most=1001")).json["message"]
        assert (await box.get(f"{ONE}?least=1")).json["error"] == "unknown_argument"


async def test_entries_that_are_forgotten_are_skipped() -> None:
    """A gap is told."""
    async with boxed(max_journal=5) as box:
        await box.open()
        for _ in range(20):
            await box.send()
        hosted = box.runtime.worlds[KEY]
        while hosted.world.journal.first < 10:
            await asyncio.sleep(0)
        async with streaming(box, ONE, "0.2") as events:
            first = hosted.world.journal.first
            assert await events.next() == ("skipped", {"from": 3, "to": first - 1}, f"0.{first - 1}")
            assert (await events.next()).id == f"0.{first}"


async def test_the_stream_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no proxy takes it for dead."""
    monkeypatch.setattr(stream, "HEARTBEAT", 0.001)
    async with boxed() as box:
        await box.open()
        async with streaming(box) as events:
            await events.next()
            assert await events.told(2) == [(":", "alive")] * 2


async def test_what_the_stream_is_reading_is_not_taken_apart() -> None:
    """A world that is closed while its stream shows an entry is left whole until the stream has gone."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        entries = stream.Events(box.app.control, [KEY], most=None, alone=True).pieces()
        assert (await anext(entries)).startswith(b": open\n")
        hosted.world.journal_act("x", {})
        assert (await anext(entries)).startswith(b"event: entry")
        assert hosted.readers == 1
        box.runtime.close(hosted)
        assert not hosted.still
        assert (await anext(entries)).startswith(b"event: clock")
        assert [each async for each in entries] == []
        assert (hosted.readers, len(hosted.streams)) == (0, 0)


async def test_a_reset_ends_the_entries_of_an_epoch() -> None:
    """Those that a slow reader did not take yet belong to a world that is gone."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        entries = stream.Events(box.app.control, [KEY], most=None, alone=True).pieces()
        await anext(entries)
        for _ in range(3):
            hosted.world.journal_act("x", {})
        assert (await anext(entries)).startswith(b"event: entry\nid: 0.1")
        box.runtime.reset(hosted)
        assert (await anext(entries)).startswith(b"event: reset")
        assert (await anext(entries)).startswith(b"event: entry\nid: 1.0")
        await entries.aclose()


async def test_a_stream_ends_when_no_client_listens_any_more() -> None:
    """A client that goes away takes its stream with it."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        leave = asyncio.Event()
        messages = [{"type": "http.request", "body": b""}]

        async def receive() -> Any:
            if not messages:
                await leave.wait()
                return {"type": "http.disconnect"}
            return messages.pop()

        asking = asyncio.create_task(box.call("GET", ONE, receive=receive))
        while not hosted.changed:
            await asyncio.sleep(0)
        leave.set()
        assert (await asking).body.startswith(b": open\nretry: 1000\n\nevent: clock")
        assert (hosted.changed, hosted.readers, len(hosted.streams)) == (set(), 0, 0)


async def reading(box: Box, sent: list[Any], read: asyncio.Event | None = None, target: str = ONE) -> None:
    """A reader of a stream, which takes nothing after the first pieces unless it is let."""

    async def send(message: Any) -> None:
        sent.append(message)
        if read is not None and len(sent) > 2:
            await read.wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    await box.app(asked(target).scope, receive, send)


@pytest.mark.unmeasured
async def test_a_world_has_so_many_streams() -> None:
    """A further one ends the oldest, and no other."""
    async with boxed() as box:
        await box.open()
        targets = [ONE, f"/_sandbox/stream?worlds={KEY}"] * (stream.MAX_STREAMS // 2)
        readers = [asyncio.create_task(reading(box, [], target=target)) for target in targets]
        await turns()
        assert not any(reader.done() for reader in readers)
        readers.append(asyncio.create_task(reading(box, [])))
        await turns(20)
        assert [reader.done() for reader in readers] == [True] + [False] * stream.MAX_STREAMS
        readers.append(asyncio.create_task(reading(box, [])))
        await turns(20)
        assert [reader.done() for reader in readers] == [True] * 2 + [False] * stream.MAX_STREAMS
        for reader in readers[2:]:
            reader.cancel()


@pytest.mark.unmeasured
async def test_streams_that_have_ended_count_no_more() -> None:
    """A page that is loaded again and again does not end the stream of another."""
    async with boxed() as box:
        await box.open()
        first = asyncio.create_task(reading(box, []))
        await turns()
        for _ in range(stream.MAX_STREAMS + 1):
            async with streaming(box):
                pass
        assert not first.done()
        first.cancel()


async def test_a_stream_sends_few_entries_in_a_turn() -> None:
    """All streams of a world wake in one turn of the loop, so each does little in it."""
    async with boxed() as box:
        await box.open()
        sent: list[Any] = []
        reader = asyncio.create_task(reading(box, sent))
        await turns()
        for _ in range(20):
            await box.send()
        most = 0
        for _ in range(100):
            before = len(sent)
            await asyncio.sleep(0)
            most = max(most, len(sent) - before)
        assert sum(b"event: entry" in message.get("body", b"") for message in sent) >= 20
        assert most <= stream.AT_ONCE + 1
        reader.cancel()


@pytest.mark.parametrize("target", [ONE, f"/_sandbox/stream?worlds={KEY}"])
async def test_a_reader_that_does_not_read_is_dropped(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for, and its world is not kept from being taken apart."""
    monkeypatch.setattr(routes, "READ_TIMEOUT", 0.0)
    async with boxed() as box:
        await box.open()
        reader = asyncio.create_task(reading(box, [], asyncio.Event(), target))
        await turns()
        await box.send()
        await asyncio.wait({reader})
        hosted = box.runtime.worlds[KEY]
        assert (hosted.readers, len(hosted.streams), len(box.runtime.open_worlds.streams)) == (0, 0, 0)
