"""While a world advances: who is waited for, who is told to wait, and how slices end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.box import KEY, WORLD, at, boxed, turns
from tests.interfaces.rest.calls import upload_url
from tests.receivers import Events, answering, receiving

pytestmark = pytest.mark.asyncio


# --- while a world advances -------------------------------------------------------------------------------------------


async def test_while_a_world_advances_its_time_is_not_anybody_elses() -> None:
    """Another advance, reset, restore, checkpoint, clock or scenario change gets 409 `advancing`; looking is free."""
    arrived, release = asyncio.Event(), asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await release.wait()
        return 200

    async with boxed(patience=10.0) as box, receiving(react) as receiver:
        await box.send(callback=receiver.url)
        await box.put(f"{WORLD}/checkpoints/a")
        advancing = asyncio.create_task(box.advance("1m"))
        await arrived.wait()
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: box.post(f"{WORLD}/clock/advance", {"by": "1s"}),
            lambda: box.post(f"{WORLD}/reset"),
            lambda: box.post(f"{WORLD}/checkpoints/a"),
            lambda: box.put(f"{WORLD}/checkpoints/b"),
            lambda: box.put(f"{WORLD}/scenario", {"name": "default"}),
            lambda: box.put(f"{WORLD}/scenario?reset=true", {"name": "default"}),
            lambda: box.patch(f"{WORLD}/clock", {"mode": "real"}),
        ]
        for call in calls:
            answer = await call()
            assert (answer.status, answer.json["error"]) == (409, "advancing"), answer
            assert answer.json["message"] == "test-1 is advancing; wait until that call has answered"
        assert (await box.clock())["now"] == at(0)
        assert (await box.get(f"{WORLD}/messages")).json["messages"][0]["result"] == "sending"
        release.set()
        assert (await advancing)["to"] == at(60)


async def test_closing_a_world_ends_its_advance() -> None:
    """The call of `advance` is told, and the delivery under way is dropped."""
    arrived = asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await asyncio.Event().wait()
        return 200

    async with boxed(patience=10.0) as box, receiving(react) as receiver:
        await box.send(callback=receiver.url)
        advancing = asyncio.create_task(box.post(f"{WORLD}/clock/advance", {"by": "1m"}))
        await arrived.wait()
        assert (await box.delete(WORLD)).json == {"closed": KEY}
        answer = await advancing
        assert (answer.status, answer.json["error"]) == (409, "closed")
        assert answer.json["message"] == "test-1 was closed while it advanced"


@pytest.mark.parametrize("path", ["/v2/message", "/Send"])
async def test_a_half_sent_request_holds_no_advance(path: str) -> None:
    """An advance does not wait for a body that is on its way: it is served at the instant there is when it is whole."""
    async with boxed(patience=10.0) as box:
        await box.open()
        body = asyncio.Event()
        form = b"apikey=test-1&number=420777000101&message=Hi"

        async def receive() -> dict[str, Any]:
            await body.wait()
            json = b'{"body":"Hi","to":[{"phone_number":"420777000101"}]}'
            return {"type": "http.request", "body": json if path == "/v2/message" else form}

        kind = "application/json" if path == "/v2/message" else "application/x-www-form-urlencoded"
        headers = {"x-api-key": KEY, "content-type": kind}
        sending = asyncio.create_task(box.call("POST", path, headers=headers, receive=receive))
        await turns()
        assert (await box.advance("1m"))["to"] == at(60)
        body.set()
        assert (await sending).status == 200
        assert box.runtime.worlds[KEY].open == set()
        assert (await box.advance("1m"))["fired"] == 3


async def test_a_half_sent_upload_holds_no_advance() -> None:
    """The same of the body of a bulk file, which comes at an address of its own."""
    async with boxed(patience=10.0) as box:
        address = await upload_url(box, "jsonl")
        body = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await body.wait()
            return {"type": "http.request", "body": b""}

        sending = asyncio.create_task(box.call("PUT", address, receive=receive))
        await turns()
        assert (await box.advance("1m"))["to"] == at(60)
        body.set()
        assert (await sending).status != 0


async def test_a_request_that_is_not_answered_is_not_waited_for_without_end() -> None:
    """After the patience the world goes on without its answer."""
    async with boxed(patience=0.02) as box:
        await box.open()
        token = box.runtime.worlds[KEY].request_began()
        assert (await box.advance("1m"))["to"] == at(60)
        assert (KEY, "a request stays open; the world goes on without its answer") in box.log
        box.runtime.worlds[KEY].request_ended(token)
        assert box.runtime.worlds[KEY].open == set()


async def test_every_request_is_waited_for() -> None:
    """Of two requests on their way, the first one's answer is not enough."""
    async with boxed(patience=10.0) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        tokens = [hosted.request_began(), hosted.request_began()]
        advancing = asyncio.create_task(box.advance("1s"))
        await turns()
        hosted.request_ended(tokens.pop())
        await turns(10)
        assert not advancing.done()
        hosted.request_ended(tokens.pop())
        assert (await advancing)["to"] == at(1)


async def test_one_step_or_many_give_the_same_digest() -> None:
    """Also where deliveries fail and are retried, it does not matter in how many calls the time passes."""
    digests = set()
    for steps, by in ((1, "10m"), (10, "1m"), (600, "1s")):
        async with boxed() as box, receiving(answering(500, 500, 200, 500, 200)) as receiver:
            await box.send("420777000101", "420777000107", callback=receiver.url)
            for _ in range(steps):
                await box.advance(by)
            digests.add((await box.get(f"{WORLD}/digest")).json["digest"])
    assert len(digests) == 1


async def test_a_slice_ends_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a world advances the loop has its turns, and those who wait see what has happened so far."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", 0)
    async with boxed() as box:
        for number in range(80):
            await box.send(f"42077700{number:02}01", "invalid")
        hosted = box.runtime.worlds[KEY]
        seen: list[int] = []

        async def watch() -> None:
            while True:
                await hosted.change()
                seen.append(hosted.world.fired)

        watching = asyncio.create_task(watch())
        await turns()
        await box.advance("1m")
        watching.cancel()
        assert len(set(seen)) > 5
        assert sum(1 for _, line in box.log if "302" in line or "invalid" in line) >= 80
