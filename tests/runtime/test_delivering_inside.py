"""Deliveries within the process: receivers without a socket, the contract, the end of a world."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import KEY, START, WORLD, boxed, turns

pytestmark = pytest.mark.asyncio


# --- receivers in this process ----------------------------------------------------------------------------------------


async def test_a_broken_receiver_in_process_hung_up() -> None:
    """An exception of a receiver in this process is a try without an answer; the log has the exception."""

    async def broken(_: HttpCall) -> Outcome:
        raise LookupError("no such table")

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        box.runtime.deliver_to(box.runtime.worlds[KEY], broken)
        await box.send(callback="http://a.example/")
        await box.send("420777000102")
        await box.advance("0s")
        assert await box.tries() == [[(0, None, "closed")], [(0, None, "closed")]]
        assert (KEY, "webhook to http://a.example/ closed (LookupError('no such table')), try 1") in box.log
        assert (KEY, "webhook to the hook closed (LookupError('no such table')), try 1") in box.log


async def test_an_outcome_that_comes_after_the_end_is_dropped() -> None:
    """A receiver in process that does not let itself be cancelled changes nothing in the next epoch."""
    arrived, release = asyncio.Event(), asyncio.Event()

    async def stubborn(_: HttpCall) -> Outcome:
        arrived.set()
        with suppress(asyncio.CancelledError):
            await release.wait()
        return Outcome(500)

    async with boxed(mode="real") as box:
        await box.open()
        box.runtime.deliver_to(box.runtime.worlds[KEY], stubborn)
        await box.send()
        await arrived.wait()
        await box.post(f"{WORLD}/reset")
        await turns()
        assert (await box.get(f"{WORLD}/deliveries")).json == {"deliveries": []}
        assert not [line for _, line in box.log if line.startswith("webhook")]


async def test_when_nobody_takes_deliveries_any_more_they_go_their_own_way() -> None:
    """`deliver_to(None)` gives the built-in receiver its deliveries back."""
    taken: list[HttpCall] = []

    async def take(call: HttpCall) -> Outcome:
        taken.append(call)
        return Outcome(500)

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, take)
        await box.send()
        await box.advance("0s")
        box.runtime.deliver_to(hosted, None)
        await box.advance("1m")
        assert len(taken) == 1
        assert [status for _, status, _ in (await box.tries())[0]] == [500, 200]
        assert [event["result"] for event in await box.events()] == ["sending"]


# --- the contract -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [None, "http://a.example/"], ids=["built-in-receiver", "callback"])
async def test_batches_are_held_against_the_contract(target: str | None) -> None:
    """In tests every batch that is made is checked, whoever gets it; a breach is reported with the batch."""
    async with boxed(mode="manual") as box:
        checked: list[Any] = []
        real = box.runtime.check_batch

        def check(batch: Any) -> list[str]:
            assert real is not None
            checked.append(batch)
            return [*real(batch), "made up"]

        box.runtime.check_batch = check
        await box.open()
        await box.only_sending()

        async def take(_: HttpCall) -> Outcome:
            return Outcome(200)

        if target:
            box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        await box.send(**({"callback": target} if target else {}))
        await box.advance("1m")
        assert [event["result"] for batch in checked for event in batch] == ["sending"]
        (violation,) = box.runtime.violations
        assert violation.startswith("webhook b'[{")
        assert violation.endswith("made up")
        box.runtime.violations.clear()


async def test_batches_are_checked_once_in_every_epoch() -> None:
    """After a reset and after a restore the check goes on where it should."""
    async with boxed() as box:
        checked: list[int] = []

        def check(batch: Any) -> list[str]:
            checked.append(len(batch))
            return []

        box.runtime.check_batch = check
        await box.send()
        await box.advance()
        await box.put(f"{WORLD}/checkpoints/a")
        await box.post(f"{WORLD}/checkpoints/a")
        assert checked == [1, 1, 1]
        await box.send()
        await box.advance()
        assert checked == [1] * 6
        await box.post(f"{WORLD}/reset")
        await box.send()
        await box.advance("0s")
        assert checked == [1] * 7


async def test_without_the_setting_nothing_is_checked() -> None:
    """A server does not look at what it sends twice."""
    async with boxed(check_answers=False) as box:
        await box.send()
        await box.advance()
        assert box.runtime.check_batch is None
        assert box.runtime.worlds[KEY].checked == 0


async def test_nothing_is_launched_for_a_world_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that is cut short by a reset or by a closing begins no further try."""
    monkeypatch.setattr("sendbox.runtime.dispatcher.TRIES_PER_TURN", 1)
    for end in ("reset", "close"):
        seen: list[str] = []

        async def take(call: HttpCall, seen: list[str] = seen) -> Outcome:
            seen.append(call.url)
            return Outcome(200)

        async with boxed(mode="real") as box:
            await box.open(clock={"mode": "manual"})
            await box.only_sending()
            hosted = box.runtime.worlds[KEY]
            box.runtime.deliver_to(hosted, take)
            for number in range(3):
                await box.send(f"42077700{number:02}01", callback=f"http://a.example/{number}")
            hosted.world.run(START, 100)
            taken = hosted.world.outlets.take()
            launching = asyncio.create_task(box.runtime.dispatcher.launch(hosted, taken))
            await asyncio.sleep(0)
            box.runtime.reset(hosted) if end == "reset" else box.runtime.close(hosted)
            await launching
            assert len(seen) < 3
