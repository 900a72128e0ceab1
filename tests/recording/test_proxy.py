"""Calls through the recorder: what goes out and what comes back, and the faults of a service."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from pathlib import Path

import pytest

from sendbox.cli.outcome import CANNOT, Failure
from sendbox.recording import proxy
from sendbox.server.tls import self_signed
from tests.recording.recording import exchanged, in_front_of, recording, request
from tests.webhooks.receiver import OK, Answer, answering, hanging, header, receiving, resetting

pytestmark = pytest.mark.asyncio
#: The target of a request, with all that somebody might make another of.
TARGET = "/v2/a%2Fb//c/../d%20e?x=%41&y=a+b&&z="


async def test_a_request_goes_out_as_it_came(tmp_path: Path) -> None:
    """Method, target, headers and body are the same, but for those of the connection; the host is the service's."""
    body = b'{"to": [ ],\r\n "body": "\xc5\xbe"}'
    async with in_front_of(answering(OK, keep=False), tmp_path / "a.har") as (service, recorder):
        raw = request(
            f"PATCH {TARGET}",
            body,
            X_Api_Key="k-1",
            X_Twice="1",
            x_twice_="2",
            te="trailers",
            x_utf="\xc5\xbe",
            x_odd="\xff",
        ).replace(b"connection: close", b"connection: close, x-hop\r\nx-hop: 1\r\nX-Twice: 3")
        answer = await exchanged(recorder.port, raw)
        assert answer.partition(b"\r\n\r\n")[2] == b"ok"
        head, _, came = service.requests[0].partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        assert (lines[0], came) == (f"PATCH {TARGET} HTTP/1.1", body)
        assert sorted(line.lower() for line in lines[1:]) == sorted(
            [
                f"host: 127.0.0.1:{service.port}",
                "x-api-key: k-1",
                "x-utf: ž",
                "x-odd: ÿ",
                "x-twice: 1",
                "x-twice-: 2",
                "x-twice: 3",
                f"content-length: {len(body)}",
            ]
        )


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("raw", "status", "body"),
    [
        (b"HTTP/1.1 500 Oops\r\ncontent-length: 3\r\nx-a: 1\r\nX-A: 2\r\n\r\n\xff\x00a", 500, b"\xff\x00a"),
        (b"HTTP/1.1 299 Odd\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", 299, b"abc"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, b""),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, b"until the end"),
        (b"HTTP/1.1 302 Found\r\nlocation: https://elsewhere.example/\r\ncontent-length: 0\r\n\r\n", 302, b""),
    ],
)
async def test_an_answer_comes_back_as_it_is(tmp_path: Path, raw: bytes, status: int, body: bytes) -> None:
    """Status, headers and body are the same, whatever the status; a redirect is not followed."""
    async with in_front_of(answering(raw, keep=False), tmp_path / "a.har") as (_, recorder):
        answer = await exchanged(recorder.port, request("GET /v1/credit/services"))
    head, _, came = answer.partition(b"\r\n\r\n")
    assert int(head.split()[1]) == status
    if b"chunked" in head:
        came = b"".join(came.split(b"\r\n")[1::2])
    assert came == body
    own = (b"connection:", b"transfer-encoding:", b"content-length: 9")
    lines, sent = (
        sorted(line for line in text.split(b"\r\n")[1:] if line and not line.startswith(own))
        for text in (head.lower(), raw.partition(b"\r\n\r\n")[0].lower())
    )
    assert lines == sent


async def test_a_request_without_a_body_gets_none(tmp_path: Path) -> None:
    """A GET goes out without a body, HEAD has the length of its answer and no body."""
    raw = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n"
    async with in_front_of(answering(raw, keep=False), tmp_path / "a.har") as (service, recorder):
        answer = await exchanged(recorder.port, request("HEAD /v1/apikey/me", accept_encoding="gzip"))
        assert b"content-length: 12\r\n" in answer
        assert service.requests[0].endswith(b"\r\n\r\n")
        assert header(service.requests[0], "Accept-Encoding") == "gzip"
        assert header(service.requests[0], "User-Agent") is None


async def test_both_bodies_are_streams(tmp_path: Path) -> None:
    """A piece of a request is at the service, and a piece of an answer at the client, before the next one is sent."""
    got = asyncio.Queue[bytes]()
    ends = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        while line := await reader.readline():
            got.put_nowait(line)
            if line == b"0\r\n":
                break
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await ends.wait()
        writer.write(b"4\r\nlast\r\n0\r\n\r\n")
        return False

    async with in_front_of(answer, tmp_path / "a.har") as (_, recorder):
        reader, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
        writer.write(b'POST /v2/message HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n')
        assert [await got.get() for _ in range(2)] == [b"4\r\n", b'{"a"\r\n']
        writer.write(b"3\r\n:1}\r\n0\r\n\r\n")
        assert (await reader.readuntil(b"first\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
        ends.set()
        assert (await reader.readuntil(b"0\r\n\r\n")) == b"4\r\nlast\r\n0\r\n\r\n"
        writer.close()
    (entry,) = recorder.entries()
    assert entry["request"]["postData"]["text"] == '{"a":1}'
    assert entry["response"]["content"]["text"] == "firstlast"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("answer", "reset", "word"),
    [
        (resetting, True, "closed"),
        (answering(b"", keep=False), False, "closed"),
        (answering(b"no HTTP\r\n\r\n", keep=False), False, "invalid-answer"),
        (answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", keep=False), False, "closed"),
    ],
)
async def test_a_connection_that_ends_ends(tmp_path: Path, answer: Answer, reset: bool, word: str) -> None:
    """A reset is a reset, an end an end, also within an answer; a line says why, and the file has the call."""
    async with in_front_of(answer, tmp_path / "a.har") as (service, recorder):
        raw = request("POST /v2/message", b"{}", content_type="application/json")
        if reset:
            with pytest.raises(ConnectionResetError):
                await exchanged(recorder.port, raw)
        else:
            assert (await exchanged(recorder.port, raw)).partition(b"\r\n\r\n")[2] in (b"", b"half")
        line = await recorder.line("has no whole answer")
    assert f"POST http://127.0.0.1:{service.port}/v2/message has no whole answer: {word} (" in line
    (entry,) = recorder.entries()
    assert (entry["response"]["status"], entry["comment"].partition(" ")[0]) == (0, word)


@pytest.mark.unmeasured
async def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    """A refused connection, and a certificate that is not to be trusted, end the connection of the client."""
    async with receiving(answering(OK)) as gone:
        pass
    with self_signed() as tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tls.certfile, tls.keyfile)
        async with receiving(answering(OK, keep=False), context) as secure:
            for number, (origin, word) in enumerate(
                ((f"http://127.0.0.1:{gone.port}", "refused"), (f"https://127.0.0.1:{secure.port}", "tls"))
            ):
                async with recording(origin, tmp_path / f"{number}.har") as recorder:
                    assert await exchanged(recorder.port, request("GET /v1/apikey/me")) == b""
                    assert f"{origin}/v1/apikey/me has no whole answer: {word} (" in await recorder.line("no whole")
            authority = tmp_path / "ca.pem"
            authority.write_bytes(tls.ca_pem)
            origin = f"https://localhost:{secure.port}"
            async with recording(origin, tmp_path / "c.har", more={"cacert": str(authority)}) as recorder:
                assert (await exchanged(recorder.port, request("GET /"))).endswith(b"ok")


@pytest.mark.unmeasured
async def test_a_slow_service_is_slow(tmp_path: Path) -> None:
    """The recorder waits as long as the client does; when the client leaves, the service sees it."""
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await reader.read()
        left.set()
        return False

    async with in_front_of(answer, tmp_path / "a.har") as (service, recorder):
        reader, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
        writer.write(request("POST /v2/message", b"{}"))
        while not service.requests:
            await asyncio.sleep(0)
        assert not reader.at_eof()
        writer.transport.abort()
        await left.wait()
    assert recorder.entries()[0]["comment"] == "the client closed the connection"


async def test_a_client_that_leaves_in_its_request(tmp_path: Path) -> None:
    """The service sees a request that breaks off, and the file has a call without an answer."""
    async with in_front_of(hanging(), tmp_path / "a.har") as (service, recorder):
        _, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
        writer.write(b"POST /v2/message HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{")
        await writer.drain()
        while not service.connections:
            await asyncio.sleep(0)
        writer.transport.abort()
        await recorder.line("has no whole answer")
    assert recorder.entries()[0]["response"]["status"] == 0


async def test_too_many_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the answer is 503, and the service is not called."""
    monkeypatch.setattr("sendbox.cli.record.MAX_CONNECTIONS", 2)
    async with in_front_of(hanging(), tmp_path / "a.har") as (service, recorder):
        _, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
        writer.write(request("GET /v1/apikey/me"))
        while not service.requests:
            await asyncio.sleep(0)
        assert b" 503 " in await exchanged(recorder.port, request("GET /v1/apikey/me"))
        assert len(service.requests) == 1
        writer.transport.abort()
    assert proxy.MAX_CONNECTIONS == 1_000


async def test_compressed_and_other_bodies(tmp_path: Path) -> None:
    """A compressed answer comes back as it is, and is written as text; what cannot be read is not written."""
    packed = gzip.compress(b'{"success":true}')
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: %d\r\n\r\n"
    bomb = gzip.compress(b"1" * 2_000_000)
    answers = iter(
        [
            head % (b"gzip", len(packed)) + packed,
            head % (b"br", 4) + b"\x0b\x01\x80a",
            OK,
            OK,
            head % (b"gzip", len(bomb)) + bomb,
        ]
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(next(answers))
        return False

    async with in_front_of(answer, tmp_path / "a.har") as (_, recorder):
        answered = await exchanged(recorder.port, request("GET /v1/apikey/list"))
        assert answered.partition(b"\r\n\r\n")[2] == packed
        assert (await exchanged(recorder.port, request("GET /v1/apikey/list"))).endswith(b"\x0b\x01\x80a")
        await exchanged(recorder.port, request("PUT /upload/a", b"\xff\xfe"))
        await exchanged(recorder.port, request("PUT /upload/a", packed[:-4] + b"1234", content_encoding="gzip"))
        await exchanged(recorder.port, request("GET /v1/apikey/list"))
    (entry,) = recorder.entries()
    assert entry["response"]["content"]["text"] == '{"success":true}'
    assert [line for line in recorder.lines if "is not recorded" in line] == [
        "GET /v1/apikey/list is not recorded: the body of the answer is compressed as br; legal: gzip, deflate",
        "PUT /upload/a is not recorded: the body of the request is no text in UTF-8",
        "PUT /upload/a is not recorded: the body of the request is no text in UTF-8",
        "GET /v1/apikey/list is not recorded: the body of the answer is longer than 1048576 bytes",
    ]
    assert recorder.lines[-1].startswith(f"1 calls are in {recorder.file}, 4 calls are not; ")


async def test_a_recorder_does_not_call_itself(tmp_path: Path) -> None:
    """Where the name of the service leads to the recorder, a line says so, and the call ends."""
    async with receiving(answering(OK)) as closed:
        port = closed.port
    async with recording(f"http://127.0.0.1:{port}", tmp_path / "a.har", port=port) as recorder:
        assert await exchanged(port, request("GET /v1/apikey/me")) == b""
        assert "not_allowed" in await recorder.line("no whole answer")
    assert len(recorder.entries()) == 1


@pytest.mark.unmeasured
async def test_the_file_and_the_port_must_be_free(tmp_path: Path) -> None:
    """A file that exists is not written over, and none stays behind where the port is taken."""
    taken = tmp_path / "taken.har"
    taken.write_text("mine", "utf-8")
    async with receiving(answering(OK)) as service:
        origin = f"http://127.0.0.1:{service.port}"
        for file, port, message in (
            (taken, 0, "exists: name a new file"),
            (tmp_path / "no" / "a.har", 0, "cannot be written: No such file"),
            (tmp_path / "new.har", service.port, "is taken by another program"),
        ):
            with pytest.raises(Failure, match=message) as failure:
                async with recording(origin, file, port=port):
                    pass  # pragma: no cover
            assert failure.value.code == CANNOT
    assert (taken.read_text("utf-8"), (tmp_path / "new.har").exists()) == ("mine", False)
