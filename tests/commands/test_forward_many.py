"""`sendbox forward` with a pattern of worlds, and how it ends: by a signal, after what is under way."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from sendbox.cli import forward as module
from sendbox.cli.forward import forward
from sendbox.cli.outcome import CANNOT, Failure
from tests.commands.sandbox import sandbox
from tests.commands.test_forward import KEY, Lines, advance, calling, forwarding, send, tries
from tests.webhooks.receiver import OK, answering, hanging, receiving


@pytest.mark.asyncio
async def test_worlds_by_a_pattern() -> None:
    """Worlds that fit are carried, those that open later too; one that closes is not missed, nor is its return."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:

        async def sent(world: str) -> None:
            while not served.runtime.worlds[world].attendance.polls:
                await asyncio.sleep(0)
            body = {"to": [{"phone_number": "420777000105"}], "body": "Hi"}
            (await client.post("/v2/message", json=body, headers={"x-api-key": world})).raise_for_status()
            answer = await client.post(f"/_sandbox/worlds/{world}/clock/advance", json={"by": "1m"})
            assert (answer.json()["failed"], answer.json()["warnings"]) == (0, [])

        for world in ("test-job42-1", "test-job43-1", "test-job42-1-other"):
            await client.post("/_sandbox/worlds", json={"id": world, "deliveries": "pull"})
        async with forwarding(receiver.url, served.origin, "test-job42-*") as lines:
            await sent("test-job42-1")
            await sent("test-job42-1-other")
            await client.post("/_sandbox/worlds", json={"id": "test-job42-2", "deliveries": "pull"})
            await sent("test-job42-2")
            await client.delete("/_sandbox/worlds/test-job42-2")
            await lines.said("test-job42-2 was closed")
            await client.post("/_sandbox/worlds", json={"id": "test-job42-2", "deliveries": "pull"})
            await sent("test-job42-2")
            assert not served.runtime.worlds["test-job43-1"].attendance.polls
        assert len(receiver.requests) == 8
        assert lines.all[0].startswith("webhooks of test-job42-* at ")
        assert [line for line in lines.all if line.endswith("are carried")] == [
            f"webhooks of test-job42-{name} are carried" for name in ("1", "1-other", "2", "2")
        ]


@pytest.mark.asyncio
async def test_many_worlds_are_found_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is read to its end; a stream that the server ended is asked for again."""
    monkeypatch.setattr(module, "PAGE", 2)
    monkeypatch.setattr(module, "AGAIN", 0.01)
    async with sandbox() as served, calling(served) as client:
        names = [f"test-many-{number}" for number in range(5)]
        for name in names:
            await client.post("/_sandbox/worlds", json={"id": name})
        async with forwarding("http://127.0.0.1:1/", served.origin, "*") as lines:
            await lines.said(f"{names[-1]} are carried")
            while not served.runtime.order.streams:
                await asyncio.sleep(0)
            served.runtime.order.streams[0].set_result(None)
            await client.post("/_sandbox/worlds", json={"id": "test-late"})
            await lines.said("test-late are carried")


@pytest.mark.parametrize("world", [KEY, "test-for*"])
@pytest.mark.asyncio
async def test_what_is_under_way_ends_first(world: str) -> None:
    """At the end webhooks that were fetched are carried out and reported; no further one is fetched."""
    end, held = asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await held.wait()
        writer.write(OK)
        return True

    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answer) as receiver:
        await client.post("/_sandbox/worlds", json={"id": KEY, "deliveries": "pull"})
        lines = Lines()
        task = asyncio.create_task(forward(receiver.url, served.origin, world, None, lines, end))
        await lines.said("Ctrl-C")
        while not served.runtime.worlds[KEY].attendance.polls:
            await asyncio.sleep(0)
        await send(client, "420777000105")
        advancing = asyncio.create_task(advance(client))
        while not receiver.requests:
            await asyncio.sleep(0)
        end.set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not task.done()
        held.set()
        await task
        await advancing
        assert await tries(client) == [[200]]


@pytest.mark.asyncio
async def test_a_sandbox_that_stops_ends_it() -> None:
    """With a pattern too there is one line when the sandbox cannot be reached."""
    lines = Lines()
    with pytest.raises(Failure, match=r"127\.0\.0\.1:1 cannot be reached") as caught:
        await forward("http://h/", "http://127.0.0.1:1", "test-*", None, lines)
    assert caught.value.code == CANNOT


#: `sendbox forward` where there is no pytest, as in the image.
PROGRAM = "import sys; sys.modules['pytest'] = None; from sendbox.cli.main import sendbox; sendbox()"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.asyncio
async def test_the_program_ends_by_a_signal(tmp_path: Path, times: int) -> None:
    """SIGTERM ends it with 0, from a folder in which it must not write; a second one does not wait for a receiver."""
    tmp_path.chmod(0o500)
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(hanging()) as receiver:
        await client.post("/_sandbox/worlds", json={"id": KEY, "deliveries": "pull"})
        arguments = ("forward", "--url", served.origin, "--world", "test-f*", "--to", receiver.url)
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, *arguments), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        while not served.runtime.worlds[KEY].attendance.polls:
            await asyncio.sleep(0)
        assert program.stdout is not None
        first = await program.stdout.readline()
        assert first.startswith(b"webhooks of test-f* at http://127.0.0.1:")
        if times == 2:
            await send(client, "420777000105")
            advancing = asyncio.create_task(advance(client))
            while not receiver.requests:
                await asyncio.sleep(0)
            program.terminate()
            while b"under way: 1; it ends after them" not in await program.stdout.readline():
                pass
        program.terminate()
        await program.communicate()
        assert program.returncode == 0
        if times == 2:
            await client.delete(f"/_sandbox/worlds/{KEY}")
            with suppress(httpx.HTTPStatusError):
                await advancing
