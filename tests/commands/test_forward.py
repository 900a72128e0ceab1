"""`sendbox forward`, from a sandbox to a receiver on this machine.

It is long because all that is said of one world is here.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from sendbox.cli import forward as module
from sendbox.cli.forward import forward, target
from sendbox.cli.outcome import CANNOT, USAGE, Failure
from sendbox.cli.serve import RunningServer
from sendbox.runtime.sender import Sender
from tests.commands.sandbox import sandbox
from tests.webhooks.receiver import OK, answering, hanging, header, receiving

KEY = "test-forward"


class Lines:
    """The lines that were said; `said` waits for one."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._changed = asyncio.Event()

    def __call__(self, line: str) -> None:
        self.all.append(line)
        self._changed.set()

    async def said(self, text: str) -> None:
        while not any(text in line for line in self.all):
            self._changed.clear()
            await self._changed.wait()


@asynccontextmanager
async def forwarding(to: str, url: str, world: str | None = KEY, cacert: str | None = None) -> AsyncIterator[Lines]:
    """A forward that runs; what it raises is raised at the end."""
    lines = Lines()
    task = asyncio.create_task(forward(to, url, world, cacert, lines))
    said = asyncio.create_task(lines.said("Ctrl-C ends it"))
    await asyncio.wait({task, said}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if task.done():
            task.result()
        yield lines
    finally:
        said.cancel()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def calling(served: RunningServer, verify: ssl.SSLContext | bool = True) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=served.origin, verify=verify, trust_env=False, timeout=60) as client:
        yield client


async def send(client: httpx.AsyncClient, *numbers: str, **more: Any) -> None:
    body = {"to": [{"phone_number": number} for number in numbers], "body": "Hi", **more}
    (await client.post("/v2/message", json=body, headers={"x-api-key": KEY})).raise_for_status()


async def advance(client: httpx.AsyncClient, by: str = "0s") -> dict[str, Any]:
    answer = await client.post(f"/_sandbox/worlds/{KEY}/clock/advance", json={"by": by})
    answer.raise_for_status()
    return dict(answer.json())


async def tries(client: httpx.AsyncClient) -> list[list[Any]]:
    found = (await client.get(f"/_sandbox/worlds/{KEY}/deliveries")).json()["deliveries"]
    return [[each["error"] or each["status"] for each in delivery["tries"]] for delivery in found]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_webhooks_are_carried() -> None:
    """What a world sends arrives at the receiver in order, and the sandbox learns how it went."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:
        async with forwarding(receiver.url, served.origin):
            await send(client, "420777000101")
            assert (await advance(client, "1m"))["deliveries"] == 3
        events = [orjson.loads(raw.partition(b"\r\n\r\n")[2])[0] for raw in receiver.requests]
        assert [event["result"] for event in events] == ["sending", "sent", "delivered"]
        assert receiver.requests[0].startswith(b"POST /hook HTTP/1.1\r\n")
        assert header(
            receiver.requests[0],
            "User-Agent",
        ).startswith("Sendbox/")  # type: ignore[union-attr]
        assert header(receiver.requests[0], "Accept-Encoding") is None
        assert await tries(client) == [[200], [200], [200]]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_callback_keeps_its_path_and_query() -> None:
    """A webhook with an address of its own goes there on the receiver's host, with its headers and signature."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:
        async with forwarding(receiver.url, served.origin):
            await send(client, "420777000105", callback="https://app.example/in?tenant=7")
            await advance(client)
        assert receiver.requests[0].startswith(b"POST /in?tenant=7 HTTP/1.1\r\n")
        assert header(receiver.requests[0], "Host") == f"127.0.0.1:{receiver.port}"


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_refusal_is_reported_and_tried_again() -> None:
    """An answer that is no success counts as a failed try, and the same delivery is carried again."""
    answers = iter([b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", OK])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(next(answers))
        return True

    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answer) as receiver:
        async with forwarding(receiver.url, served.origin) as lines:
            await send(client, "420777000105", callback="http://app.example/in")
            await advance(client)
            await send(client, "420777000103", callback="http://other.example/")  # nothing to carry before
            assert await tries(client) == [[500]]
            answers = iter([OK, OK, OK, OK])
            await advance(client, "30s")
            assert (await tries(client))[0] == [500, 200]
        assert any(line.startswith("500 POST http://127.0.0.1:") for line in lines.all)
        assert receiver.requests[0].partition(b"\r\n\r\n")[2] in [
            raw.partition(b"\r\n\r\n")[2] for raw in receiver.requests[1:]
        ]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_receiver_that_hangs_holds_up_nobody_else() -> None:
    """While one receiver says nothing, webhooks for others are carried."""
    other = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if len(receiver.requests) == 1:
            await other.wait()
        else:
            other.set()
        writer.write(OK)
        return True

    async with (
        sandbox(mode="real") as served,
        calling(served) as client,
        receiving(answer) as receiver,
        forwarding(receiver.url, served.origin) as lines,
    ):
        await send(client, "420777000105", callback="http://app.example/first")
        while not receiver.requests:
            await asyncio.sleep(0)
        await send(client, "420777000103", callback="http://app.example/second")
        await lines.said("/second")
        await lines.said("/first")


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_no_answer_is_a_timeout() -> None:
    """A receiver that never answers fails the try after the patience."""
    async with (
        sandbox(mode="manual", patience=0.05) as served,
        calling(served) as client,
        receiving(hanging()) as receiver,
    ):
        async with forwarding(receiver.url, served.origin):
            await send(client, "420777000105")
            await advance(client)
        assert await tries(client) == [["timeout"]]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_sandbox_that_waited_long_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A delivery whose time was over before it was carried is not reported, and ends nothing."""
    gone = asyncio.Event()
    ask = module._ask

    async def asked(*given: Any, **more: Any) -> Any:
        try:
            return await ask(*given, **more)
        except module._Gone:
            gone.set()
            raise

    monkeypatch.setattr(module, "_ask", asked)
    async with sandbox(mode="manual", patience=0.01) as served, calling(served) as client:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
            while served.runtime.worlds[KEY].outbox:
                await asyncio.sleep(0)
            writer.write(OK)
            return True

        async with receiving(answer) as receiver, forwarding(receiver.url, served.origin) as lines:
            await send(client, "420777000105")
            await advance(client)
            await gone.wait()
            assert (await tries(client))[0][0] == "timeout"
        assert lines.all[1].startswith(("200 POST", "timeout POST"))  # forward waits no longer either


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_world_that_is_open_is_taken_as_it_is() -> None:
    """A world that the client has opened before is not opened again; what it has sent since is carried."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:
        await send(client, "420777000105")
        async with forwarding(receiver.url, served.origin) as lines:
            # the first poll turns deliveries from the built-in receiver to the outbox
            while not served.runtime.worlds[KEY].pulling:
                await asyncio.sleep(0)
            await advance(client)
            await lines.said("200 POST")
        assert await tries(client) == [[200]]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_the_only_world_need_not_be_named() -> None:
    """Without --world the one open world is meant; with none or several the choice is told."""
    async with sandbox() as served, calling(served) as client:
        with pytest.raises(Failure, match="no world is open: the first call with an API key opens one") as caught:
            await forward("http://127.0.0.1:1/", served.origin, None, None, print)
        assert caught.value.code == CANNOT
        await send(client, "420777000101")
        async with forwarding("http://127.0.0.1:1/", served.origin, None) as lines:
            assert lines.all == [f"webhooks of {KEY} at {served.origin} go to http://127.0.0.1:1/; Ctrl-C ends it"]
        await client.post("/_sandbox/worlds", json={"id": "test-other"})
        with pytest.raises(Failure, match=f"{KEY}, test-other open: say which"):
            await forward("http://127.0.0.1:1/", served.origin, None, None, print)


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_world_that_is_closed_ends_it() -> None:
    """When its world is closed the forward ends, and says so."""
    async with sandbox() as served, calling(served) as client:
        lines = Lines()
        task = asyncio.create_task(forward("http://127.0.0.1:1/", served.origin, KEY, None, lines))
        await lines.said("Ctrl-C")
        await client.delete(f"/_sandbox/worlds/{KEY}")
        with pytest.raises(Failure, match=f'"{KEY}" is not an open world|{KEY} was closed') as caught:
            await task
        assert caught.value.code == CANNOT


@pytest.mark.parametrize(
    ("to", "url", "cacert", "said", "code"),
    [
        ("localhost", "http://127.0.0.1:1", None, "localhost is not an address", USAGE),
        ("http://h/", "box", None, "box is not an address", USAGE),
        ("http://h/", "http://127.0.0.1:1", None, "127.0.0.1:1 cannot be reached", CANNOT),
        ("http://h/", "http://me:secret@[::1]:1", None, r"^http://…@\[::1\]:1 cannot be reached", CANNOT),
        ("http://h/", "http://127.0.0.1:1", __file__, "holds no certificates", CANNOT),
    ],
    ids=["to", "url", "nobody", "password", "cacert"],
)
@pytest.mark.asyncio
async def test_what_cannot_be_forwarded_says_why(to: str, url: str, cacert: str | None, said: str, code: int) -> None:
    """Wrong addresses and a sandbox out of reach end it with one line."""
    with pytest.raises(Failure, match=said) as caught:
        await forward(to, url, KEY, cacert, print)
    assert caught.value.code == code


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "raw", [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", OK, b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1"]
)
@pytest.mark.asyncio
async def test_something_else_is_no_sandbox(raw: bytes) -> None:
    """A server that answers something else is told from a sandbox."""
    async with receiving(answering(raw)) as receiver:
        with pytest.raises(Failure, match="is not a Sendbox: it answers 200"):
            await forward("http://h/", f"http://127.0.0.1:{receiver.port}", KEY, None, print)


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_an_authority_can_be_trusted(tmp_path: Path) -> None:
    """A sandbox behind `--tls self` is reached with its authority."""
    async with sandbox(tls_self=True) as served:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            assert served.ca_url is not None
            file = tmp_path / "ca.pem"
            file.write_bytes((await client.get(served.ca_url)).content)
        async with forwarding("http://127.0.0.1:1/", served.origin, KEY, str(file)) as lines:
            assert served.origin in lines.all[0]


@pytest.mark.parametrize(
    ("to", "hook", "url", "expected"),
    [
        ("http://me:3000/hooks", True, "http://box/_sandbox/worlds/test-a/hook", "http://me:3000/hooks"),
        ("http://me:3000/hooks", False, "https://app.example/in?a=1", "http://me:3000/in?a=1"),
        ("http://me:3000", False, "https://user:pw@app.example", "http://user:pw@me:3000"),
        ("http://a:b@me:3000", False, "https://user:pw@app.example/in", "http://a:b@me:3000/in"),
    ],
)
def test_where_a_webhook_goes(to: str, hook: bool, url: str, expected: str) -> None:
    """The built-in receiver's webhooks go to the address given, others keep path, query, and who they are."""
    assert target(to, {"hook": hook, "url": url}) == expected


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_receiver_has_the_patience_of_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or that of the callback, if it is less."""
    given: list[float] = []
    plain = Sender.send

    async def sent(sender: Sender, call: Any, patience: float) -> Any:
        given.append(patience)
        return await plain(sender, call, patience)

    monkeypatch.setattr(Sender, "send", sent)
    async with (
        sandbox(mode="manual", patience=20.0) as served,
        calling(served) as client,
        receiving(answering(OK)) as receiver,
        forwarding(receiver.url, served.origin),
    ):
        await send(client, "420777000105")
        await send(client, "420777000105", callback={"url": "http://app.example/in", "timeout_ms": 2_000})
        await advance(client)
    assert sorted(given) == [2.0, 20.0]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_passwords_are_masked() -> None:
    """At the start, with each webhook, and in what says that an address is wrong."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:
        to = receiver.url.replace("http://", "http://u:pa55word@")
        async with forwarding(to, served.origin) as lines:
            await send(client, "420777000105")
            await advance(client)
            await lines.said("200 POST http://…@127.0.0.1:")
            assert "pa55word" not in "".join(lines.all)
        assert header(receiver.requests[0], "Authorization") == "Basic dTpwYTU1d29yZA=="
        with pytest.raises(Failure) as caught:
            await forward("ftp://u:pa55word@h/", served.origin, KEY, None, print)
        assert caught.value.message.startswith("ftp://…@h/ is not an address")


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_callback_keeps_its_user() -> None:
    """As in a webhook that the sandbox pushes."""
    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answering(OK)) as receiver:
        async with forwarding(receiver.url, served.origin):
            await send(client, "420777000105", callback="http://user:pw@app.example/in")
            await advance(client)
        assert header(receiver.requests[0], "Authorization") == "Basic dXNlcjpwdw=="


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_second_forward_is_told() -> None:
    """Both send each webhook; the one whose report comes second says so."""
    both = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if len(receiver.requests) == 2:
            both.set()
        await both.wait()
        writer.write(OK)
        return True

    async with sandbox(mode="manual") as served, calling(served) as client, receiving(answer) as receiver:
        async with forwarding(receiver.url, served.origin) as one, forwarding(receiver.url, served.origin) as other:
            while served.runtime.worlds[KEY].attendance.polls < 2:
                await asyncio.sleep(0)
            await send(client, "420777000105")
            await advance(client)
            told = [asyncio.create_task(lines.said("another client")) for lines in (one, other)]
            await asyncio.wait(told, return_when=asyncio.FIRST_COMPLETED)
            for task in told:
                task.cancel()
        assert await tries(client) == [[200]]


@pytest.mark.unmeasured
@pytest.mark.parametrize("keep_closed", [0, 20])
@pytest.mark.asyncio
async def test_a_closed_world_is_not_opened_again(keep_closed: int) -> None:
    """Only one that was never open is opened."""
    async with sandbox(keep_closed=keep_closed) as served, calling(served) as client:
        await client.post("/_sandbox/worlds", json={"id": KEY})
        await client.delete(f"/_sandbox/worlds/{KEY}")
        with pytest.raises(Failure, match=f"{KEY} was closed: POST /_sandbox/worlds opens it again") as caught:
            await forward("http://127.0.0.1:1/", served.origin, KEY, None, print)
        assert caught.value.code == CANNOT
        assert KEY not in served.runtime.worlds


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_receiver_that_is_not_there_is_refused() -> None:
    """A real refused connection is told by its word."""
    async with receiving(answering(OK)) as gone:
        url = gone.url
    async with sandbox(mode="manual") as served, calling(served) as client:
        async with forwarding(url, served.origin):
            await send(client, "420777000105")
            await advance(client)
        assert await tries(client) == [["refused"]]


@pytest.mark.asyncio
async def test_the_call_that_opens_its_world_names_it_in_the_header() -> None:
    """A proxy in front of several sandboxes routes by it."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(404, json={"error": "no_such_world", "message": "it was never open"})
        asked.append(request)
        return httpx.Response(201, json={"id": KEY})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://box") as control:
        assert await module._world(control, KEY) == (KEY, True)
    assert [request.headers["x-api-key"] for request in asked] == [KEY]
