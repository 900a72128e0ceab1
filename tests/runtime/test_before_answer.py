"""A clock that moves before the answer to a call (the fault `before_answer`), by mode; and its record."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.control.export.record import compare, read
from sendbox.control.replaying import Replay
from sendbox.language import LANGUAGE
from tests.box import WORLD, Box, Reading, boxed, turns
from tests.receivers import Events, receiving

pytestmark = pytest.mark.asyncio


async def put(box: Box, fault: Any) -> None:
    """A world with a rule for all calls."""
    await box.open()
    assert (await box.post(f"{WORLD}/rules", json={"in": "api", "fault": fault})).status < 300


@pytest.mark.unmeasured
@pytest.mark.parametrize("mode", ["manual", "auto"])
@pytest.mark.parametrize("fault", ["before_answer", "before_read"])
async def test_over_sockets_its_receiver_comes_first(mode: Any, fault: str) -> None:
    """One has answered all webhooks, or got the first one; the move is a command, and a replay comes to the same."""
    happened: list[str] = []

    async def react(events: Events) -> int:
        await turns()
        happened.append(events[0]["result"])
        return 200

    async with boxed(mode=mode) as box, receiving(react) as receiver:
        await put(box, {fault: "1m"})
        await box.send(callback=receiver.url)
        happened.append("answer")
        await box.advance("1m")
        await box.send(callback=receiver.url)
        await box.advance("1m")
        if fault == "before_answer":
            assert happened[:4] == ["sending", "sent", "delivered", "answer"]
        assert sorted(happened) == sorted(["answer", *["sending", "sent", "delivered"] * 2])
        recorded = read((await box.get(f"{WORLD}/record")).body, LANGUAGE)
        world = Replay(box.app.control, recorded.commands, recorded.ends).finish()
        compared = compare(recorded, world, SERVED.kinds)
        assert (compared.first, compared.digest) == (None, recorded.digest)


@pytest.mark.parametrize(("fault", "rate"), [("before_answer", 1000), ("before_answer", 0), ("before_read", 1000)])
async def test_a_clock_in_real_mode_is_not_moved(fault: str, rate: int) -> None:
    """The answer waits while time passes, if it does."""
    async with boxed(mode="real", reading=Reading()) as box:
        await put(box, {fault: "1s"})
        await box.patch(f"{WORLD}/clock", json={"rate": rate})
        before = (await box.clock())["now"]
        await box.send()
        assert (await box.clock())["now"] == before


async def test_a_world_that_is_closed_meanwhile_breaks_the_connection() -> None:
    """Nothing arrives late."""

    async def react(_: Events) -> int:
        await box.delete(WORLD)
        return 200

    async with boxed() as box, receiving(react) as receiver:
        await put(box, {"before_answer": "1m"})
        with pytest.raises(Exception, match="Server disconnected"):
            await box.send(callback=receiver.url)
