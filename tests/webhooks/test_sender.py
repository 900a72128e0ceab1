"""The sender on the wire: what arrives, and the word for everything that can go wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from freezegun import freeze_time

from sendbox.engine.delivery.batches import Target
from sendbox.runtime.policy import FORM, Failure, HttpCall, Outcome, encode, sign
from sendbox.runtime.sender import ANSWER_CAP, STREAM_BYTES, Sender, _Deadlines, failure
from sendbox.server.loop import Kind
from tests.webhooks.receiver import OK, Answer, answering, hanging, header, receiving, resetting, trickling
from tests.webhooks.sending import EVENTS, LONG, LOOPBACK, SHORT, post, run


async def sent(answer: Answer, *calls: HttpCall, timeout: float = LONG) -> tuple[list[Outcome], list[bytes], int]:
    """What became of the calls (or of one plain POST), the raw requests, and how many connections they took."""
    async with receiving(answer) as receiver:
        sender = Sender(LOOPBACK)
        try:
            outcomes = [
                await sender.send(
                    HttpCall(call.method, call.url.replace("http://hook", receiver.url), call.headers, call.body),
                    timeout,
                )
                for call in calls or [post("http://hook")]
            ]
        finally:
            await sender.close()
        return outcomes, receiver.requests, receiver.connections


# --- the wire ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", ["application/json", FORM], ids=["json", "form"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a21_body_and_signature_on_the_wire(method: str, content_type: str) -> None:
    """What arrives is the encoded body, and its signature can be computed again from the bytes received."""
    target = Target("http://hook", method=method, content_type=content_type, secret="s3cret", headers=(("X-A", "é"),))
    [outcome], [raw], _ = run(sent(answering(OK), encode(target, EVENTS, "r-1")))
    head, _, body = raw.partition(b"\r\n\r\n")
    assert outcome == Outcome(200)
    assert head.split(b"\r\n")[0] == f"{method} /hook HTTP/1.1".encode()
    assert (parse_qs(body.decode())["events"][0].encode() if content_type == FORM else body) == EVENTS
    assert header(raw, "Content-Type") == content_type
    assert header(raw, "X-Request-Id") == "r-1"
    assert header(raw, "X-Request-Signature") == sign("s3cret", body)
    assert header(raw, "X-A") == "é"


def test_head_of_a_delivery_is_exactly_this() -> None:
    """Nothing is on the wire that was not asked for: no cookies, no compression, no language."""
    _, [raw], _ = run(sent(answering(OK)))
    names = [line.partition(b":")[0].lower() for line in raw.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]]
    assert sorted(names) == [b"accept", b"content-length", b"content-type", b"host", b"user-agent", b"x-request-id"]


@pytest.mark.parametrize("query", ["", "?token=a%26b"], ids=["plain", "own-query"])
def test_a69_get_on_the_wire(query: str) -> None:
    """A GET delivery has the events in its query, no body and no signature."""
    target = Target(f"http://hook{query}", method="GET", secret="s3cret")
    [outcome], [raw], _ = run(sent(answering(OK), encode(target, EVENTS, "r-1")))
    line, _, rest = raw.partition(b"\r\n")
    fields = parse_qs(urlsplit(line.split()[1].decode()).query)
    assert outcome == Outcome(200)
    assert line.startswith(b"GET /hook?")
    assert fields == {"events": [EVENTS.decode()]} | ({"token": ["a&b"]} if query else {})
    assert rest.endswith(b"\r\n\r\n")
    assert header(raw, "X-Request-Signature") is None
    assert header(raw, "Content-Type") is None


def test_large_body_arrives_whole() -> None:
    """A batch over a megabyte is sent like any other, without a warning."""
    body = b"x" * (STREAM_BYTES + 1)
    [outcome], [raw], _ = run(sent(answering(OK), post("http://hook", body)))
    assert outcome == Outcome(200)
    assert raw.endswith(b"\r\n\r\n" + body)
    assert header(raw, "Content-Length") == str(len(body))


def test_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliveries go straight to their target, whatever proxies the environment names."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert run(sent(answering(OK)))[0] == [Outcome(200)]


def test_cookies_are_not_kept() -> None:
    """A receiver's cookies do not come back to it."""
    cookie = b"HTTP/1.1 200 OK\r\nset-cookie: a=b; Path=/\r\ncontent-length: 0\r\n\r\n"
    _, requests, _ = run(sent(answering(cookie), post("http://hook"), post("http://hook")))
    assert [header(raw, "Cookie") for raw in requests] == [None, None]


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
def test_connection_is_kept(kind: Kind) -> None:
    """Deliveries to one target share a connection."""
    outcomes, _, connections = run(sent(answering(OK), *[post("http://hook")] * 3), kind)
    assert (outcomes, connections) == ([Outcome(200)] * 3, 1)


# --- answers ----------------------------------------------------------------------------------------------------------

LONG_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(answering(OK), Outcome(200), id="200"),
        pytest.param(answering(b"HTTP/1.1 204 No Content\r\n\r\n"), Outcome(204), id="204"),
        pytest.param(answering(b"HTTP/1.0 200 OK\r\n\r\nold", keep=False), Outcome(200), id="until-close"),
        pytest.param(
            answering(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nbad"),
            Outcome(200),
            id="body-is-not-unpacked",
        ),
        pytest.param(answering(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"), Outcome(500), id="500"),
        pytest.param(
            answering(b"HTTP/1.1 302 Found\r\nlocation: /else\r\ncontent-length: 0\r\n\r\n"),
            Outcome(302, "redirect"),
            id="redirect",
        ),
        pytest.param(
            answering(b"HTTP/1.1 307 No\r\ncontent-length: 0\r\n\r\n"), Outcome(307, "redirect"), id="redirect-nowhere"
        ),
        pytest.param(resetting, Outcome(None, "closed"), id="reset"),
        pytest.param(answering(b"", keep=False), Outcome(None, "closed"), id="closed-without-answer"),
        pytest.param(answering(b"HTTP/1.1 200 OK\r\n", keep=False), Outcome(None, "closed"), id="closed-in-head"),
        pytest.param(
            answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", keep=False),
            Outcome(None, "closed"),
            id="closed-in-body",
        ),
        pytest.param(answering(b"garbage\r\n\r\n"), Outcome(None, "invalid-answer"), id="garbage"),
        pytest.param(answering(bytes(range(256)), keep=False), Outcome(None, "invalid-answer"), id="binary"),
        pytest.param(
            answering(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n"),
            Outcome(None, "invalid-answer"),
            id="garbage-chunk",
        ),
        pytest.param(trickling, Outcome(200), id="trickle-beyond-cap"),
    ],
)
def test_outcome_of_an_answer(answer: Answer, expected: Outcome, kind: Kind) -> None:
    """Every answer, and every way to fail one, has its status and its word, on either loop."""
    assert run(sent(answer), kind)[0] == [expected]


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="silent"),
        pytest.param(b"HTTP/1.1 200 OK\r\n", id="half-a-head"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", id="half-a-body"),
    ],
)
def test_timeout_ends_what_hangs(raw: bytes, kind: Kind) -> None:
    """A receiver that does not finish its answer in time has failed, however much of it there was."""
    assert run(sent(hanging(raw), timeout=SHORT), kind)[0] == [Outcome(None, "timeout")]


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
def test_each_call_has_its_own_timeout(kind: Kind) -> None:
    """Calls side by side end by their own limits, whichever began first; one that is cancelled stays cancelled."""

    async def main() -> list[Outcome | BaseException]:
        async with receiving(hanging()) as silent:
            sender = Sender(LOOPBACK)
            try:
                limits = (LONG, SHORT, 2 * SHORT, SHORT)
                tasks = [asyncio.create_task(sender.send(post(silent.url), limit)) for limit in limits]
                await asyncio.wait(tasks[1:])
                assert not tasks[0].done()
                tasks[0].cancel()
                return await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                await sender.close()

    cancelled, *late = run(main(), kind)
    assert isinstance(cancelled, asyncio.CancelledError)
    assert late == [Outcome(None, "timeout")] * 3


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
def test_a_call_that_is_too_late_leaves_its_task_as_it_was(kind: Kind) -> None:
    """Also where the end of the call becomes another error: nothing later in the task takes it for cancelled."""

    async def fail_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError from None

    async def main() -> int:
        with pytest.raises(ConnectionError):
            await _Deadlines().within(0, fail_at_the_end())
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert run(main(), kind) == 0


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
def test_timeout_holds_while_the_clock_is_frozen(kind: Kind) -> None:
    """A frozen clock stops neither the timeout of a delivery nor the delivery after it."""

    async def main() -> list[Outcome]:
        async with receiving(hanging()) as silent, receiving(answering(OK)) as good:
            sender = Sender(LOOPBACK)
            try:
                with freeze_time("2026-03-01"):
                    return [
                        await sender.send(post(silent.url), SHORT),
                        *[await sender.send(post(good.url), LONG) for _ in range(2)],
                    ]
            finally:
                await sender.close()

    assert run(main(), kind) == [Outcome(None, "timeout"), Outcome(200), Outcome(200)]


@pytest.mark.parametrize(
    ("excess", "connections"), [pytest.param(0, 1, id="at-cap"), pytest.param(2**22, 2, id="beyond-cap")]
)
def test_long_answer_costs_its_connection(excess: int, connections: int) -> None:
    """An answer up to the cap is read to its end; a longer one is dropped with its connection, and counts the same."""
    size = ANSWER_CAP + excess
    answer = answering(LONG_ANSWER % size + b"x" * size)
    assert run(sent(answer, post("http://hook"), post("http://hook")))[::2] == ([Outcome(200)] * 2, connections)


@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
def test_try_is_one_request(method: str) -> None:
    """A kept connection that breaks fails the try; the request is not repeated behind the world's back."""
    answered = iter([True, False])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if good := next(answered):
            writer.write(OK)
        return good

    call = encode(Target("http://hook", method=method), EVENTS, "r-1")
    outcomes, requests, _ = run(sent(answer, call, call))
    assert (outcomes, len(requests)) == ([Outcome(200), Outcome(None, "closed")], 2)


# --- life -------------------------------------------------------------------------------------------------------------


def test_calls_run_side_by_side() -> None:
    """Calls that start together share one client and do not wait for each other."""

    async def main() -> tuple[list[Outcome], int]:
        together = asyncio.Barrier(3)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
            await together.wait()
            writer.write(OK)
            return True

        async with receiving(answer) as receiver:
            sender = Sender(LOOPBACK)
            try:
                return await asyncio.gather(*[sender.send(post(receiver.url), LONG) for _ in range(3)]), (
                    receiver.connections
                )
            finally:
                await sender.close()

    assert run(main()) == ([Outcome(200)] * 3, 3)


def test_cancelled_first_call_does_not_take_the_client_along() -> None:
    """Whoever is cancelled while the client is being made, the others get it."""

    async def main() -> Outcome:
        async with receiving(answering(OK)) as receiver:
            sender = Sender(LOOPBACK)
            first = asyncio.create_task(sender.send(post(receiver.url), LONG))
            second = asyncio.create_task(sender.send(post(receiver.url), LONG))
            await asyncio.sleep(0)
            first.cancel()
            try:
                return await second
            finally:
                await asyncio.gather(first, return_exceptions=True)
                await sender.close()

    assert run(main()) == Outcome(200)


def test_close_ends_calls_under_way_and_later_ones() -> None:
    """After `close` nothing is sent, and what was waiting for its answer has failed."""

    async def main() -> tuple[Outcome, Outcome, int]:
        arrived = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
            arrived.set()
            await reader.read()
            return False

        async with receiving(answer) as receiver:
            sender = Sender(LOOPBACK)
            waiting = asyncio.create_task(sender.send(post(receiver.url), LONG))
            await arrived.wait()
            await sender.close()
            return await waiting, await sender.send(post(receiver.url), LONG), len(receiver.requests)

    assert run(main()) == (Outcome(None, "closed"), Outcome(None, "closed"), 1)


def test_close_without_a_call() -> None:
    """A sender that never sent has nothing to close."""
    run(Sender(LOOPBACK).close())


def test_nothing_is_imported_before_the_first_call() -> None:
    """A process that delivers nothing does not pay for the HTTP client."""
    code = (
        "import sys; from sendbox.runtime.sender import Callbacks, Sender; Sender(Callbacks.parse('any')); "
        "sys.exit('aiohttp' in sys.modules or 'yarl' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(ValueError("anything"), "unreachable", id="unforeseen"),
        pytest.param(ConnectionResetError(), "closed", id="plain-reset"),
        pytest.param(aiohttp.ServerTimeoutError(), "timeout", id="aiohttp-timeout"),
        pytest.param(aiohttp.ClientPayloadError(), "closed", id="payload-without-cause"),
    ],
)
def test_every_error_has_a_word(error: Exception, expected: Failure) -> None:
    """What no receiver of these tests provokes has its word as well."""
    assert failure(error) == expected
