"""`sendbox forward` with a pattern of worlds, and how it ends: by a signal, after what is under way."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from sendbox.cli import address
from sendbox.cli import forward as module
from sendbox.cli.forward import forward
from sendbox.cli.outcome import CANNOT, USAGE, Failure
from tests.commands.sandbox import sandbox
from tests.commands.test_forward import KEY, Lines, advance, calling, forwarding, send, tries
from tests.tiers import LONG, examples
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
    monkeypatch.setattr(address, "PAGE", 2)
    monkeypatch.setattr(module, "AGAIN", 0.01)
    async with sandbox() as served, calling(served) as client:
        names = [f"test-many-{number}" for number in range(5)]
        for name in names:
            await client.post("/_sandbox/worlds", json={"id": name})
        async with forwarding("http://127.0.0.1:1/", served.origin, "*") as lines:
            await lines.said(f"{names[-1]} are carried")
            while not served.runtime.open_worlds.streams:
                await asyncio.sleep(0)
            served.runtime.open_worlds.streams[0].set_result(None)
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


@pytest.mark.parametrize("world", [KEY, "test-for*"])
@pytest.mark.parametrize("opened", ["push", "pull", None])
@pytest.mark.asyncio
async def test_worlds_are_set_back(world: str, opened: str | None) -> None:
    """At the end the deliveries of a world are as they were before; those of a world that it opened are pushed."""
    end = asyncio.Event()
    async with sandbox(mode="manual") as served, calling(served) as client:
        if opened is not None or world != KEY:
            await client.post("/_sandbox/worlds", json={"id": KEY, "deliveries": opened or "push"})
        lines = Lines()
        task = asyncio.create_task(forward("http://127.0.0.1:1/", served.origin, world, None, lines, end))
        await lines.said("Ctrl-C")
        while not served.runtime.worlds[KEY].attendance.polls:
            await asyncio.sleep(0)
        assert served.runtime.worlds[KEY].pulling
        end.set()
        await task
        assert served.runtime.worlds[KEY].pulling is (opened == "pull")
        if opened == "push":
            assert lines.all[-1] == f"webhooks of {KEY} are pushed again"
            await send(client, "420777000105")
            assert (await advance(client))["warnings"] == []
            assert await tries(client) == [[200]]


@pytest.mark.parametrize(
    ("pattern", "known"),
    [("test-a-*,test-b-*", False), ("prod-*", False), ("test-é*", False), (f"test-{'a' * 65}*", False), ("*-a", True)],
)
@pytest.mark.asyncio
async def test_a_pattern_that_no_id_fits(pattern: str, known: bool) -> None:
    """It is refused at once; with --any-key it may fit."""
    async with sandbox() as served, calling(served) as client:
        answer = await client.get("/_sandbox/worlds", params={"pattern": pattern})
        assert answer.status_code == (200 if known else 400)
        if not known:
            with pytest.raises(Failure, match="fits no id of a world; legal: test- and 1 to 64 of") as caught:
                await forward("http://127.0.0.1:1/", served.origin, pattern, None, print)
            assert caught.value.code == USAGE
    async with sandbox(any_key=True) as served, calling(served) as client:
        assert (await client.get("/_sandbox/worlds", params={"pattern": pattern})).status_code == 200


@pytest.mark.asyncio
async def test_a_list_of_the_worlds_that_fit() -> None:
    """Also by a key that the server has for worlds, and by an id without `*`."""
    async with sandbox(keys=("prod-1",)) as served, calling(served) as client:
        for name in ("test-a-1", "test-b-1", "prod-1"):
            await client.post("/_sandbox/worlds", json={"id": name})

        async def listed(pattern: str) -> list[str]:
            answer = await client.get("/_sandbox/worlds", params={"pattern": pattern})
            return [row["id"] for row in answer.json()["worlds"]]

        assert await listed("test-*-1") == ["test-a-1", "test-b-1"]
        assert await listed("prod-*") == ["prod-1"]
        assert await listed("test-a-1") == ["test-a-1"]
        assert (await client.get("/_sandbox/worlds?pattern=prod-2")).json()["error"] == "bad_pattern"


SHOWN = {"id": KEY, "deliveries": "pull"}
BROKEN = httpx.RemoteProtocolError("Server disconnected without sending a response.")
REFUSED = httpx.ConnectError("All connection attempts failed")


def answered(monkeypatch: pytest.MonkeyPatch, *later: Any, broken: Callable[[], object] = lambda: None) -> list[Any]:
    """A sandbox whose connection breaks at the first poll, and what it answers later; what is left of that."""
    monkeypatch.setattr(module, "AGAIN", 0.001)
    monkeypatch.setattr(module, "TRIES", 3)
    answers = [*[("1", 200, SHOWN)] * 2, BROKEN, *later]
    plain = httpx.AsyncClient

    def answer(_request: httpx.Request) -> httpx.Response:
        found = answers.pop(0)
        if found is BROKEN:
            broken()
        if isinstance(found, Exception):
            raise found
        instance, status, value = found
        return httpx.Response(status, json=value, headers={"Sendbox-Instance": instance})

    def client(**settings: Any) -> httpx.AsyncClient:
        settings.pop("verify")
        return plain(**settings, transport=httpx.MockTransport(answer))

    monkeypatch.setattr(httpx, "AsyncClient", client)
    return answers


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (
            [REFUSED, REFUSED, ("2", 404, {})],
            "it was restarted, or a proxy sent the call to another server; test-forward is not on this one",
        ),
        ([REFUSED, REFUSED, REFUSED], "without sending a response.; it is gone: it has not answered since"),
        ([REFUSED, ("1", 200, {})], "without sending a response.; it answers again: start forward again"),
    ],
    ids=["restarted", "gone", "there"],
)
@pytest.mark.asyncio
async def test_a_connection_that_breaks(monkeypatch: pytest.MonkeyPatch, later: list[Any], said: str) -> None:
    """The sandbox is asked for some seconds what became of it."""
    left = answered(monkeypatch, *later)
    with pytest.raises(Failure, match=said) as caught:
        await forward("http://127.0.0.1:1", "http://box", KEY, None, Lines())
    assert caught.value.code == CANNOT
    assert left == []


@pytest.mark.asyncio
async def test_a_signal_while_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends well, and asks no more."""
    end = asyncio.Event()
    left = answered(monkeypatch, REFUSED, broken=end.set)
    await forward("http://127.0.0.1:1", "http://box", KEY, None, Lines(), end)
    assert left == [REFUSED]


@pytest.mark.sample(2)
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


@pytest.mark.sample(2)
@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
@pytest.mark.asyncio
async def test_a_signal_while_the_program_ends(first: signal.Signals) -> None:
    """Once it ends by a signal, further ones change nothing, until the process is gone."""
    async with sandbox(mode="manual") as served:
        arguments = ("forward", "--url", served.origin, "--world", KEY, "--to", "http://127.0.0.1:1/")
        with subprocess.Popen((sys.executable, "-c", PROGRAM, *arguments), stdout=subprocess.PIPE) as program:
            assert program.stdout is not None
            assert b"Ctrl-C ends it" in await asyncio.to_thread(program.stdout.readline)
            program.send_signal(first)
            while program.poll() is None:
                program.terminate()
                await asyncio.sleep(0)
            assert program.returncode == 0


@pytest.mark.deep
@pytest.mark.timeout(LONG)
@pytest.mark.asyncio
async def test_a_signal_at_any_instant() -> None:
    """Whatever it is at when the signal comes, it ends well: after so many turns of this loop as are drawn."""
    turns = random.Random(2026)
    async with sandbox(mode="manual") as served:
        arguments = ("forward", "--url", served.origin, "--world", "test-f*", "--to", "http://127.0.0.1:1/")
        for _ in range(examples(3, 100)):
            program = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", PROGRAM, *arguments), stdout=asyncio.subprocess.PIPE
            )
            assert program.stdout is not None
            assert b"Ctrl-C ends it" in await program.stdout.readline()
            for _ in range(turns.randrange(5_000)):
                await asyncio.sleep(0)
            program.terminate()
            await program.communicate()
            assert program.returncode == 0


@pytest.mark.sample(4)
@pytest.mark.parametrize("world", [KEY, "test-f*"])
@pytest.mark.parametrize("answers", [0, 1], ids=["first", "second"])
@pytest.mark.asyncio
async def test_a_signal_while_the_sandbox_does_not_answer(world: str, answers: int) -> None:
    """It ends at once and well, whichever answer it waits for; nothing is given back that was not taken."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                asked.append(await reader.readuntil(b"\r\n\r\n"))
                if len(asked) <= answers:
                    body = b'{"id": "test-forward", "deliveries": "push", "worlds": [], "next_cursor": null}'
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        arguments = ("forward", "--url", url, "--world", world, "--to", "http://127.0.0.1:1/")
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, *arguments)
        while len(asked) <= answers:
            await asyncio.sleep(0)
        program.terminate()
        assert await program.wait() == 0
        assert not [request for request in asked if request.startswith(b"DELETE")]
