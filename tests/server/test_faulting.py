"""What a client sees of each fault of `api:`, by a real socket and without one.

Long because every fault goes every way.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import select
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sendbox.fixture.transport import LocalTransport
from sendbox.server.wire import wait_for_disconnect
from tests.box import at, boxed
from tests.house import WAYS, House, housed

#: Seconds after which a client gives up that is meant to.
SOON = httpx.Timeout(60, read=0.5)
LOST = httpx.RemoteProtocolError
#: By TLS, OpenSSL may tell an end.
RESET = (httpx.ReadError, LOST)
KEYS = (f"test-faulting-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def shared() -> Iterator[House]:
    with housed() as house:
        yield house


@pytest.fixture
def house(shared: House, caplog: pytest.LogCaptureFixture) -> Iterator[House]:
    """The house; what a server complains of fails the test."""
    yield shared
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR] == []


@pytest.fixture
def key(house: House) -> str:
    """A world of its own."""
    return str(house.control("POST", "/worlds", json={"id": next(KEYS)})["id"])


def put(house: House, key: str, fault: Any, **rule: Any) -> str:
    """A rule in front; answers its id."""
    given = {"in": "api", "fault": fault, **rule}
    return str(house.control("POST", f"/worlds/{key}/rules", json=given)["id"])


def messages(house: House, key: str) -> int:
    return len(house.control("GET", f"/worlds/{key}/messages")["messages"])


def entries(house: House, key: str, kind: str) -> list[dict[str, Any]]:
    return list(house.control("GET", f"/worlds/{key}/journal", params={"kind": kind})["entries"])


class Sees:
    """What a client sees: a status and a part of the body, or an error; and how many messages there are then."""

    def __init__(
        self,
        status: int = 0,
        body: str = "",
        error: type[Exception] | tuple[type[Exception], ...] | None = None,
        timeout: float | httpx.Timeout = 60.0,
        had_effect: bool = True,
        journaled: int | None = None,
    ) -> None:
        self.status = status
        self.body = body
        self.error = error
        self.timeout = timeout
        self.had_effect = had_effect
        self.journaled = status if journaled is None else journaled


def unseen(**given: Any) -> Sees:
    return Sees(had_effect=False, **given)


TEA = {"status": {"code": 418, "message": "Tea only", "headers": {"X-Pot": "brown"}}}
OF_EACH: dict[str, tuple[Any, dict[str, Any], Sees]] = {
    "status": ({"status": 500}, {}, unseen(status=500, body='{"Message":"Internal server error"}')),
    "status-long": (TEA, {}, unseen(status=418, body='{"Message":"Tea only"}')),
    "status-without-name": ({"status": 599}, {}, unseen(status=599, body='{"Message":"Status 599"}')),
    "status-processed": ({"status": 503}, {"processed": True}, Sees(503, "Service unavailable")),
    "rate-limit": ({"rate_limit": "1/10s"}, {}, unseen(status=429, body='{"Message":"Too many requests"}')),
    "disconnect": ("disconnect", {}, unseen(error=LOST)),
    "disconnect-before": ({"disconnect": "before"}, {}, unseen(error=LOST)),
    "disconnect-processed": ("disconnect", {"processed": True}, Sees(error=LOST)),
    "disconnect-middle": ({"disconnect": "middle"}, {}, Sees(error=LOST, journaled=200)),
    "disconnect-middle-unprocessed": (
        {"disconnect": "middle"},
        {"processed": False},
        unseen(error=LOST, journaled=200),
    ),
    "reset": ("reset", {}, unseen(error=RESET)),
    "reset-processed": ("reset", {"processed": True}, Sees(error=RESET)),
    "garbage": ("garbage", {}, Sees(error=LOST)),
    "garbage-unprocessed": ("garbage", {"processed": False}, unseen(error=LOST)),
    "bad-json": ("bad_json", {}, Sees(200, '{"request_id":')),
    "bad-json-unprocessed": ("bad_json", {"processed": False}, unseen(status=200, body='{"request_id":')),
    "timeout": ("timeout", {}, unseen(error=httpx.ReadTimeout, timeout=SOON)),
    "timeout-processed": ("timeout", {"processed": True}, Sees(error=httpx.ReadTimeout, timeout=SOON)),
    "delay": ({"delay": "20ms"}, {}, Sees(200, "accepted")),
    "delay-too-long": ({"delay": "1h"}, {}, Sees(error=httpx.ReadTimeout, timeout=SOON, journaled=200)),
    "trickle": ({"trickle": "20ms..40ms"}, {}, Sees(200, "accepted")),
    "trickle-too-long": ({"trickle": "1h"}, {}, Sees(error=httpx.ReadTimeout, timeout=SOON, journaled=200)),
}


#: A caller of the bare application has no timeout of its own, so that nothing is late there.
EVERY_WAY = [
    pytest.param(way, *case, id=f"{name}-{way}")
    for way in WAYS
    for name, case in OF_EACH.items()
    if way != "asgi" or not name.endswith("too-long")
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("way", "fault", "rule", "sees"), EVERY_WAY)
def test_what_the_client_sees(house: House, key: str, way: str, fault: Any, rule: dict[str, Any], sees: Sees) -> None:
    """One table for every way to the sandbox: the answer or the error, whether it had its effect, and the journal."""
    before = 0
    name = put(house, key, fault, **rule)
    if "rate_limit" in fault:
        let_in = house.send(way, key)
        assert (let_in.status_code, "sendbox-rule" in let_in.headers) == (200, False)
        before = 1
    if sees.error is None:
        answer = house.send(way, key, timeout=sees.timeout)
        assert (answer.status_code, sees.body in answer.text) == (sees.status, True), answer.text
        assert answer.headers["sendbox-journal"].startswith("http")
        assert answer.headers["sendbox-rule"] == name
    else:
        with pytest.raises(sees.error):
            house.send(way, key, timeout=sees.timeout)
    assert messages(house, key) == before + sees.had_effect
    noted = entries(house, key, "request")[-1]
    (told,) = entries(house, key, "fault")
    assert noted["status"] == sees.journaled
    assert noted["fault"] == told["fault"]
    assert noted["processed"] == told["processed"] == sees.had_effect
    assert (told["operation"], told["key"], told["phone"]) == ("sendMessage", key, "420777000101")
    assert (key, told["message"]) in house.log
    assert house.control("POST", f"/worlds/{key}/clock/advance", json={"by": "1m"})["idle"]


@pytest.mark.parametrize("way", ["socket", "inside", "asgi"])
def test_headers_of_errors(house: House, key: str, way: str) -> None:
    """A status has the headers it was given, a rate limit says when to come again: in whole seconds, rounded up."""
    tea = put(house, key, TEA)
    assert house.send(way, key).headers["x-pot"] == "brown"
    house.control("DELETE", f"/worlds/{key}/rules/{tea}")
    put(house, key, {"rate_limit": {"max": 1, "within": "1500ms"}})
    assert house.send(way, key).status_code == 200
    assert house.send(way, key).headers["retry-after"] == "2"
    house.control("POST", f"/worlds/{key}/clock/advance", json={"by": "501ms"})
    assert house.send(way, key).headers["retry-after"] == "1"
    house.control("POST", f"/worlds/{key}/clock/advance", json={"by": "1s"})
    assert house.send(way, key).status_code == 200


SHAPES: dict[str, tuple[str, str, dict[str, Any], int, str]] = {
    "sending": ("POST", "/v2/messages", {"json": []}, 500, '{"Message":"Internal server error"}'),
    "simple": ("GET", "/v2/simple/message", {}, 503, '{"Message":"Service unavailable"}'),
    "rest": ("GET", "/v1/messages", {}, 500, '{"message":"Internal server error"}'),
    "lists": ("POST", "/v1/blacklist", {"json": {}}, 500, '{"success":false,"message":"Internal server error"}'),
    "partner": ("POST", "/v1/chatapp/accounts/list", {"json": {}}, 502, '{"message":"Bad gateway"}'),
    "verify": (
        "POST",
        "/v1/validations",
        {"json": {}},
        503,
        '{"error":"INTERNAL_ERROR","message":"Service unavailable","attemptsRemaining":6}',
    ),
    "verify-429": (
        "POST",
        "/v1/validations",
        {"json": {}},
        429,
        '{"error":"TENANT_RATE_LIMIT","message":"Too many requests","attemptsRemaining":6}',
    ),
    "legacy": ("GET", "/Send", {"params": {"apikey": "KEY"}}, 500, "ERROR|901"),
}


@pytest.mark.parametrize(("method", "path", "given", "status", "body"), SHAPES.values(), ids=SHAPES)
def test_errors_have_the_shape_of_the_interface(
    house: House, key: str, method: str, path: str, given: dict[str, Any], status: int, body: str
) -> None:
    """The body of an error is that of the interface that was called (§7.2)."""
    put(house, key, {"status": status})
    if "params" in given:
        given = {"params": {"apikey": key}}
    answer = house.call("socket", method, path, key=key, **given)
    assert (answer.status_code, answer.text) == (status, body)


# --- time and the world


def test_a_bare_caller_has_no_timeout(house: House, key: str) -> None:
    """Without a socket and without a timeout nobody waits: what is late is there, what never comes is a timeout."""
    put(house, key, {"delay": "1h"}, times=1)
    assert house.send("asgi", key).status_code == 200
    put(house, key, {"trickle": "1h"}, times=1)
    assert house.send("asgi", key).status_code == 200


@pytest.mark.parametrize("fault", [{"delay": "1h"}, {"trickle": "1h"}, "timeout"], ids=["delay", "trickle", "timeout"])
@pytest.mark.parametrize("ends", ["reset", "closed"])
def test_an_answer_ends_with_the_epoch(house: House, key: str, fault: Any, ends: str) -> None:
    """What hangs holds up no advance, and is cut off when its world is reset or closed: it cannot arrive late."""
    put(house, key, fault)
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(house.send, "socket", key)
        params = {"kind": "fault", "wait": "10s"}
        assert house.control("GET", f"/worlds/{key}/journal", params=params)["entries"]
        assert house.control("POST", f"/worlds/{key}/clock/advance", json={"by": "1h"})["idle"]
        assert not hanging.done()
        if ends == "reset":
            house.control("POST", f"/worlds/{key}/reset")
        else:
            house.control("DELETE", f"/worlds/{key}")
        assert isinstance(hanging.exception(10), LOST)


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_a_reset_on_the_wire(kind: Any, secure: bool) -> None:
    """The socket of the client is in error by ECONNRESET; without TLS in between a read raises ConnectionResetError."""
    with housed(kind) as house:
        house.control("POST", "/worlds", json={"id": "test-line"})
        put(house, "test-line", "reset")
        port = int((house.secure if secure else house.origin).rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
            if not secure:
                plain.sendall(_raw("test-line"))
                with pytest.raises(ConnectionResetError):
                    plain.recv(1)
                return
            trust = ssl.create_default_context()
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
            with trust.wrap_socket(plain) as sock:
                sock.sendall(_raw("test-line"))
                poll = select.poll()
                poll.register(sock, 0)  # errors only: what OpenSSL would read is left alone
                assert poll.poll(10_000) == [(sock.fileno(), select.POLLERR | select.POLLHUP)]
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET


def _raw(key: str) -> bytes:
    body = b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'
    lines = (
        b"POST /v2/message HTTP/1.1",
        b"host: x",
        b"x-api-key: %b" % key.encode(),
        b"content-length: %d" % len(body),
    )
    return b"\r\n".join([*lines, b"", body])


@pytest.mark.parametrize("fault", ["disconnect", "garbage", "timeout"])
@pytest.mark.parametrize("together", [True, False], ids=["together", "later"])
@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_a_request_that_has_others_behind_it(kind: Any, fault: str, together: bool, caplog: Any) -> None:
    """Where a client does not wait for answers, the fault of one ends the connection, and nothing stays behind."""

    async def at_work() -> int:
        return len(asyncio.all_tasks())

    with housed(kind) as house:
        house.control("POST", "/worlds", json={"id": "test-line"})
        put(house, "test-line", fault)
        idle = house.thread.run(at_work())
        port = int(house.origin.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
            sock.sendall(_raw("test-line") * (3 if together else 1))
            params = {"kind": "fault", "wait": "10s"}
            assert len(house.control("GET", "/worlds/test-line/journal", params=params)["entries"]) == 1
            if fault == "timeout":
                sock.sendall(_raw("test-line"))
                house.control("GET", "/worlds/test-line")
            else:
                got = b""
                while more := sock.recv(1000):
                    got += more
                assert (got == b"") is (fault == "disconnect")
        assert any(house.thread.run(at_work()) == idle for _ in range(1_000))
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_an_answer_ends_with_the_server(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A server that stops waits for no answer that hangs, and has nothing to complain of."""
    with ThreadPoolExecutor(2) as pool:
        with housed(kind) as house:
            house.control("POST", "/worlds", json={"id": "test-stop"})
            put(house, "test-stop", "timeout")
            hanging = [pool.submit(house.send, way, "test-stop") for way in ("socket", "tls")]
            for after in ("-1", "3"):
                params = {"kind": "fault", "wait": "10s", "after": after}
                assert house.control("GET", "/worlds/test-stop/journal", params=params)["entries"]
        assert all(isinstance(each.exception(10), httpx.TransportError) for each in hanging)
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_a_connection_is_good_after_a_fault_that_leaves_it(house: House, key: str) -> None:
    """After an error, truncated JSON, a delay or a trickle the same connection takes the next call."""
    for fault in ({"status": 500}, "bad_json", {"delay": "1ms"}, {"trickle": "1ms"}):
        put(house, key, fault, times=1)
    message = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
    with httpx.Client(base_url=house.origin, headers={"x-api-key": key}, trust_env=False, timeout=60) as client:
        streams = set()
        for _ in range(5):
            answer = client.post("/v2/message", json=message)
            streams.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
    assert len(streams) == 1


@pytest.mark.parametrize("way", ["socket", "inside"])
def test_the_head_comes_before_the_body_breaks(house: House, key: str, way: str) -> None:
    """Of an answer that is cut, a client that streams sees the status and the first half."""
    put(house, key, {"disconnect": "middle"})
    given: dict[str, Any] = {}
    if way == "inside":
        given["transport"] = LocalTransport(house.app, house.thread)
    message = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
    with (
        httpx.Client(base_url=house.origin, headers={"x-api-key": key}, trust_env=False, **given) as client,
        client.stream("POST", "/v2/message", json=message) as answer,
    ):
        assert answer.status_code == 200
        pieces = answer.iter_bytes()
        got = next(pieces)
        with pytest.raises(LOST):
            list(pieces)
    assert got.startswith(b'{"request_id":')
    assert len(got) == int(answer.headers["content-length"]) // 2


# --- uploads

UPLOADS: dict[str, tuple[Any, int | type[Exception], int]] = {
    "status": ({"status": 500}, 500, 0),
    "disconnect": ("disconnect", LOST, 0),
    "middle": ({"disconnect": "middle"}, LOST, 1),
    "delay": ({"delay": "1ms"}, 200, 1),
    "bad-json": ("bad_json", 200, 1),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", ["socket", "inside", "asgi"])
@pytest.mark.parametrize(("fault", "sees", "stored"), UPLOADS.values(), ids=UPLOADS)
def test_uploads_go_wrong_too(house: House, key: str, way: str, fault: Any, sees: Any, stored: int) -> None:
    """`uploadBulk` is an operation like others; an upload without effect leaves its address good."""
    asked = {"bulk_id": "b", "filetype": "jsonl"}
    url = house.call("socket", "POST", "/v1/messaging/url", key=key, json=asked).json()["url"]
    path = "/upload/" + url.rpartition("/")[2]
    put(house, key, fault, when={"operation": "uploadBulk"}, times=1)
    line = b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}\n'
    given: dict[str, Any] = {"content": line + b" " * 1_000_000, "headers": {"content-type": "application/jsonl"}}
    if isinstance(sees, int):
        assert house.call(way, "PUT", path, **given).status_code == sees
    else:
        with pytest.raises(sees):
            house.call(way, "PUT", path, **given)
    house.control("POST", f"/worlds/{key}/clock/advance", json={"by": "30s"})
    assert messages(house, key) == stored
    assert house.call(way, "PUT", path, **given).status_code == (403 if stored else 200)


@pytest.mark.parametrize("kind", ["text/plain", "application/jsonl"])
def test_a_refused_upload_goes_wrong_too(house: House, key: str, kind: str) -> None:
    """As with every operation a refusal is spoilt like any answer, and the journal tells what the client got."""
    asked = {"bulk_id": "b", "filetype": "jsonl"}
    url = house.call("socket", "POST", "/v1/messaging/url", key=key, json=asked).json()["url"]
    path = "/upload/" + url.rpartition("/")[2]
    put(house, key, "garbage", when={"operation": "uploadBulk"})
    with pytest.raises(LOST):
        house.call("socket", "PUT", path, content=b"\xff" * 1_000_000, headers={"content-type": kind})
    assert entries(house, key, "request")[-1]["status"] == 0


# --- who is asked


@pytest.mark.asyncio
async def test_calls_that_reach_no_world_go_wrong_by_themselves() -> None:
    """Faults belong to worlds: a denied key, a lost path and a body that is too long are asked nobody about."""
    async with boxed({"sendbox": 1, "api": [{"fault": {"status": 500}}]}) as box:
        assert (await box.post("/v2/message", {}, x_api_key="nobody")).status == 400
        assert (await box.post("/v2/nothing", {}, x_api_key="test-1")).status == 404
        long = b"x" * (16 * 1024 * 1024 + 1)
        assert (await box.call("POST", "/v2/message", long, {"x-api-key": "test-1"})).status == 413
        assert (await box.post("/v2/message", {}, x_api_key="test-1")).status == 500
        assert (await box.get("/_sandbox/worlds/test-1")).json["clock"]["now"] == at(0)


@pytest.mark.asyncio
async def test_a_window_is_on_the_clock_of_the_world() -> None:
    """`from` and `until` go by the world's time, and a real clock is read before they are asked."""
    window = {"when": {"from": "5m", "until": "2026-03-01T09:10:00Z"}, "fault": {"status": 500}}
    async with boxed({"sendbox": 1, "api": [window]}) as box:
        found = []
        for _ in range(4):
            message = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
            found.append((await box.post("/v2/message", message, x_api_key="test-1")).status)
            await box.advance("4m")
    assert found == [200, 200, 500, 200]


@pytest.mark.asyncio
async def test_what_a_client_still_sends_is_no_end() -> None:
    """The rest of a body that nobody reads any more is passed over; only the client's leaving is its end."""
    messages = [{"type": "http.request", "body": b"x"}, {"type": "http.disconnect"}, {"type": "never"}]

    async def receive() -> Any:
        return messages.pop(0)

    await wait_for_disconnect(receive)
    assert messages == [{"type": "never"}]
