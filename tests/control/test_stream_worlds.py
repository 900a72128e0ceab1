"""The stream of several worlds: each event, resuming, worlds that open and close, and what bounds it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.control import stream
from sendbox.runtime.slot import HostedWorld
from tests.box import START, Box, boxed, turns
from tests.control.streaming import SEVERAL, Stream, several, streaming

pytestmark = pytest.mark.asyncio

A, B = "test-a", "test-b"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause of a stream is short."""
    monkeypatch.setattr(stream, "PAUSE", 0.001)


def opened(box: Box, *names: str) -> list[HostedWorld]:
    """Worlds with these ids, opened."""
    return [box.runtime.open(name, start=START, mode="manual") for name in names]


def happens(box: Box, hosted: HostedWorld, count: int = 1) -> None:
    """So many entries of a journal."""
    for _ in range(count):
        hosted.world.journal_act("x", {})
    box.runtime.note_change(hosted)


def plain(position: str | None) -> str:
    """A position without the part that says which opening of a world it is."""
    assert position is not None
    return ",".join(".".join(item.split(".")[:2]) for item in position.split(","))


async def begun(events: Stream, *, open: int, worlds: int) -> list[Any]:
    """Reads the number of open worlds and the clocks that a stream begins with; answers the clocks."""
    assert (await events.next())[:2] == ("worlds", {"open": open})
    return [(await events.next()).data for _ in range(worlds)]


async def test_one_stream_tells_of_several_worlds() -> None:
    """Each event names its world, and its id has the positions in all of them."""
    async with boxed() as box:
        a, b = opened(box, A, B)
        async with streaming(box, several(A, B)) as events:
            clocks = await begun(events, open=2, worlds=2)
            assert [clock["world"] for clock in clocks] == [A, B]
            assert set(clocks[0]) == {"world", "now", "mode", "rate", "next_due", "pending"}
            happens(box, b)
            name, data, position = await events.next()
            assert (name, data["world"], data["entry"]["n"]) == ("entry", B, 1)
            assert plain(position) == "test-a=0.1,test-b=0.2"
            happens(box, a)
            name, data, position = await events.next()
            assert (name, data["world"], data["entry"]["kind"]) == ("entry", A, "control")
            assert plain(position) == "test-a=0.2,test-b=0.2"
            assert await box.advance("1m", key=A)
            assert (await events.next())[:2] == ("clock", {**clocks[0], "now": "2026-03-01T09:01:00.000Z"})


async def test_a_stream_without_worlds_tells_how_many_are_open() -> None:
    """Once at the start, and whenever the set of them changes."""
    async with boxed() as box, streaming(box, SEVERAL) as events:
        assert (await events.next())[:2] == ("worlds", {"open": 0})
        (a,) = opened(box, A)
        assert (await events.next())[:2] == ("worlds", {"open": 1})
        happens(box, a)
        box.runtime.close(a)
        opened(box, B)
        assert (await events.next())[:2] == ("worlds", {"open": 1})
        opened(box, *(f"test-{number}" for number in range(50)))
        assert (await events.next())[:2] == ("worlds", {"open": 51})


async def test_a_new_epoch_is_told() -> None:
    """At a reset, and when a checkpoint is restored."""
    async with boxed() as box:
        opened(box, A)
        await box.put(f"/_sandbox/worlds/{A}/checkpoints/x")
        async with streaming(box, several(A)) as events:
            await begun(events, open=1, worlds=1)
            await box.post(f"/_sandbox/worlds/{A}/reset")
            assert (await events.next())[:2] == ("reset", {"world": A, "epoch": 1})
            name, data, position = await events.next()
            assert (name, data["entry"]["kind"], plain(position)) == ("entry", "reset", "test-a=1.1")
            await events.until("clock")
            await box.post(f"/_sandbox/worlds/{A}/checkpoints/x")
            assert (await events.until("reset"))[-1].data == {"world": A, "epoch": 2}


async def test_a_closed_world_may_open_again() -> None:
    """The stream goes on for the others."""
    async with boxed() as box:
        a, b = opened(box, A, B)
        async with streaming(box, several(A, B)) as events:
            await begun(events, open=2, worlds=2)
            box.runtime.close(a)
            assert sorted(await events.told(2)) == [("closed", {"world": A}), ("worlds", {"open": 1})]
            happens(box, b)
            assert (await events.next()).data["world"] == B
            opened(box, A)
            told = await events.until("clock")
            assert [name for name, _, _ in told if name != "worlds"] == ["opened", "entry", "clock"]
            assert told[-2].data["entry"]["kind"] == "opened"
            assert plain(told[-1].id) == "test-a=0.1,test-b=0.2"
            box.runtime.close(box.runtime.worlds[A])
            opened(box, A)
            told = await events.until("clock")
            assert [name for name, _, _ in told if name != "worlds"] == ["closed", "opened", "entry", "clock"]


async def test_a_stream_waits_for_a_world_that_is_not_open() -> None:
    """It is told as closed, and from its first entry on when it opens."""
    async with boxed() as box:
        async with streaming(box, several(A)) as events:
            await begun(events, open=0, worlds=0)
            assert await events.next() == ("closed", {"world": A}, "test-a=0.0.0")
        async with streaming(box, several(A), "test-a=0.0.0") as events:
            assert [name for name, _ in await events.told(2)] == ["worlds", "closed"]
        opened(box, A)
        async with streaming(box, several(A), "test-a=0.0.0") as events:
            told = await events.until("clock")
            assert [name for name, _, _ in told] == ["worlds", "opened", "entry", "clock"]


async def test_a_stream_goes_on_where_another_ended() -> None:
    """By the header, which wins, or by `since`; nothing is lost and nothing comes twice."""
    async with boxed() as box:
        a, b = opened(box, A, B)
        async with streaming(box, several(A, B)) as events:
            await begun(events, open=2, worlds=2)
            happens(box, a, 2)
            await events.told(2)
            last = events.ids[-1]
        happens(box, a)
        happens(box, b, 2)
        expected = [("worlds", None), ("entry", 3), ("clock", None), ("entry", 1), ("entry", 2), ("clock", None)]
        for target, last_id in (
            (several(A, B), last),
            (several(A, B, since=last), None),
            (several(A, B, since=plain(last)), None),
            (several(A, B, since=plain(last)), "garbled"),
            (several(A, B, since="test-a=0.0,test-b=0.0"), last),
            (several(A, B), f"{last},test-c=0.1"),
        ):
            async with streaming(box, target, last_id) as events:
                told = await events.told(6)
                assert [(name, data["entry"]["n"] if name == "entry" else None) for name, data in told] == expected


async def test_positions_of_what_is_gone() -> None:
    """An older epoch, a place beyond the end, and another opening of the world: the reader begins anew."""
    async with boxed() as box:
        (a,) = opened(box, A)
        async with streaming(box, several(A)) as events:
            await events.next()
        before = events.ids[-1]
        box.runtime.reset(a)
        for position in (before, "test-a=0.1", "test-a=1.99", "test-a=9.0"):
            async with streaming(box, several(A, since=position)) as events:
                assert plain((await events.next()).id) == plain(position)  # until the reset is told
                name, data, now = await events.next()
                assert (name, data, plain(now)) == ("reset", {"world": A, "epoch": 1}, "test-a=1.0")
                assert [name for name, _ in await events.told(2)] == ["entry", "clock"]
        box.runtime.close(a)
        opened(box, A)
        async with streaming(box, several(A), before) as events:
            assert [name for name, _ in await events.told(4)] == ["worlds", "opened", "entry", "clock"]


@pytest.mark.parametrize(
    "query",
    [
        "worlds=,",
        "worlds=test-a,%25ff",
        "worlds=" + ",".join(f"test-{number}" for number in range(stream.MAX_WORLDS + 1)),
        "worlds=test-a&since=x",
        "worlds=test-a&since=test-a%3D0",
        "worlds=test-a&since=test-a%3D0.x",
        "worlds=test-a&since=test-a%3D0.1,",
        "worlds=test-a&since=test-b%3D0.1",
        "worlds=test-a&since=%25ff%3D0.1",
        "most=0",
        "most=1001",
        "most=x",
    ],
)
async def test_arguments_that_are_not_legal(query: str) -> None:
    """They are refused, and the answer says what is legal."""
    async with boxed() as box:
        answer = await box.get(f"{SEVERAL}?{query}")
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert (await box.get(f"{SEVERAL}?world=test-a")).json["error"] == "unknown_argument"


async def test_ids_of_every_form() -> None:
    """With `--any-key` an id may hold what separates ids and positions."""
    names = ["a,b=c", "x y/ž%2C", "0.1", "a!*'()"]
    async with boxed(any_key=True) as box:
        worlds = opened(box, *names)
        async with streaming(box, several(*names)) as events:
            clocks = await begun(events, open=4, worlds=4)
            assert [clock["world"] for clock in clocks] == names
            happens(box, worlds[1])
            assert (await events.next()).data["world"] == names[1]
            last = events.ids[-1]
        assert [item.partition("=")[0] for item in last.split(",")] == [
            "a%2Cb%3Dc",
            "x%20y%2F%C5%BE%252C",
            "0.1",
            "a!*'()",
        ]
        async with streaming(box, several(*names), last) as events:
            assert [name for name, _ in await events.told(5)] == ["worlds", *["clock"] * 4]


async def test_entries_are_skipped_if_too_many_wait() -> None:
    """None of them is sent; what follows is, once a short time has passed."""
    async with boxed() as box:
        a, b = opened(box, A, B)
        async with streaming(box, several(A, B, most=5)) as events:
            await begun(events, open=2, worlds=2)
            happens(box, a, 6)
            name, data, position = await events.next()
            assert (name, data) == ("skipped", {"world": A, "from": 1, "to": 6})
            assert plain(position) == "test-a=0.7,test-b=0.1"
            happens(box, a)
            assert (await events.next()).data["entry"]["n"] == 7
        happens(box, b, 101)
        async with streaming(box, several(B, since="test-b=0.1")) as events:
            assert (await events.next()).name == "worlds"
            assert (await events.next())[:2] == ("skipped", {"world": B, "from": 1, "to": 101})


@pytest.mark.unmeasured
async def test_a_world_in_which_much_happens_sends_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a short time at most `most` entries of a world are sent, and its clock once; other worlds are not held up."""
    windows: list[Any] = []
    monkeypatch.setattr(stream._Window, "add", _without_end(windows))
    async with boxed() as box:
        a, b = opened(box, A, B)
        async with streaming(box, several(A, B, most=10)) as events:
            await begun(events, open=2, worlds=2)
            for _ in range(100):
                happens(box, a, 3)
                await turns(4)
            await box.advance("1m", key=A)
            await turns()
            assert [data["entry"]["n"] for _, data in await events.told(9)] == [*range(1, 10)]
            happens(box, b)
            assert (await events.next()).data["world"] == B
            assert events.queue.empty()
            for window in windows:
                window._end_window()
            told = await events.until("clock")
            assert [(name, data) for name, data, _ in told[:1]] == [("skipped", {"world": A, "from": 10, "to": 300})]
            assert (told[-1].name, told[-1].data["now"]) == ("clock", "2026-03-01T09:01:00.000Z")


def _without_end(windows: list[Any]) -> Any:
    """Adds to a window, which ends when the test says so."""

    def added(window: Any, count: int = 1) -> None:
        window.sent += count
        if window not in windows:
            windows.append(window)

    return added


@pytest.mark.unmeasured
async def test_few_clocks_while_a_world_advances() -> None:
    """Not one for each instant; the newest always comes."""
    async with boxed() as box:
        await box.open()
        for number in range(30):
            await box.send(f"4207770{number:05}")
        async with streaming(box, several("test-1")) as events:
            await events.until("clock")
            await box.advance("1h")
            told = [await events.next()]
            while told[-1].name != "clock" or told[-1].data["pending"]:
                told.append(await events.next())
            assert told[-1].data["now"] == "2026-03-01T10:00:00.000Z"


async def test_streams_of_several_worlds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that have no world; a further one ends the oldest."""
    monkeypatch.setattr(stream, "MAX_PATTERNS", 2)
    async with (
        boxed() as box,
        streaming(box, SEVERAL) as first,
        streaming(box, several(A)) as second,
        streaming(box, SEVERAL) as third,
    ):
        await first.task
        await turns()
        assert [each.task.done() for each in (second, third)] == [False, False]


async def test_a_stream_counts_in_a_world_that_opens_later() -> None:
    """As in those that were open when it began."""
    async with boxed() as box:
        async with streaming(box, several(A)) as events:
            await events.until("closed")
            (a,) = opened(box, A)
            await events.until("clock")
            assert len(a.streams) == 1
        assert (len(a.streams), a.changed, a.readers, len(box.runtime.open_worlds.streams)) == (0, set(), 0, 0)


@pytest.mark.unmeasured
async def test_a_stream_does_not_hold_an_auto_clock() -> None:
    """Its world runs on while it is watched."""
    async with boxed(mode="auto", quiet=0.0) as box:
        await box.open()
        async with streaming(box, several("test-1")) as events:
            await events.until("clock")
            await box.send()
            told = await events.until("clock")
            while told[-1].name != "clock" or told[-1].data["pending"]:
                told.append(await events.next())
            assert not box.runtime.worlds["test-1"].controls


async def test_a_real_clock_is_told_as_of_now() -> None:
    """A world in which nothing happened for a while is brought to the present first."""
    async with boxed() as box:
        (a,) = opened(box, A)
        await box.patch(f"/_sandbox/worlds/{A}/clock", {"mode": "real", "rate": 10_000})
        before = a.world.now
        await asyncio.get_running_loop().run_in_executor(None, sum, range(1_000_000))
        async with streaming(box, several(A)) as events:
            await events.until("clock")
            assert a.world.now > before
