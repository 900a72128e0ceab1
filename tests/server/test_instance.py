"""Every answer says which server it comes from, and clients notice that another one answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sendbox.app import SERVED
from sendbox.cli.forward import forward
from sendbox.cli.outcome import Failure
from sendbox.control.carriers import Client
from sendbox.control.operation import ControlError
from sendbox.fixture.transport import RemoteTransport
from sendbox.server.instance import Instances
from sendbox.server.listener import HEAD
from tests.box import KEY, WORLD, boxed
from tests.commands.sandbox import sandbox


@pytest.mark.unmeasured
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/message?id=x", 200),
        ("/v1/nothing", 404),
        ("/_sandbox/health", 200),
        (WORLD, 200),
        ("/_sandbox/worlds/test-2", 404),
        ("/_sandbox/nothing", 404),
        ("/_sandbox/", 200),
        ("/openapi.json", 200),
        ("/s/00", 404),
        ("/", 307),
    ],
)
async def test_every_answer_says_which_server_it_comes_from(path: str, status: int) -> None:
    """Emulated, control, page, and refusals."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(path, x_api_key=KEY)
        assert (answer.status, answer.headers["sendbox-instance"]) == (status, box.runtime.instance)


@pytest.mark.asyncio
async def test_a_refusal_of_a_foreign_host_does_so_too() -> None:
    """It is answered before anything is looked for; so is a call that is answered at once."""
    async with boxed() as box:
        await box.open()
        answer = await box.get("/_sandbox/health", host="evil.example")
        assert (answer.status, answer.headers["sendbox-instance"]) == (421, box.runtime.instance)
        headers = [(b"host", b"box:7357"), (b"x-api-key", KEY.encode())]
        scope: dict[str, Any] = {
            "type": "http", "method": "POST", "path": "/v2/message", "query_string": b"", "scheme": "http",
            "http_version": "1.1", "headers": headers,
        }  # fmt: skip
        quick = box.app.answer_at_once(scope, b'{"body": "Hi", "to": [{"phone_number": "420777000101"}]}')
        assert quick is not None
        assert [value for name, value in quick.headers if name == b"sendbox-instance"] == [
            box.runtime.instance.encode()
        ]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("raw", "status"),
    [(b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\na: " + b"x" * HEAD + b"\r\n\r\n", b"431")],
)
async def test_what_reaches_no_application_is_answered_so_too(raw: bytes, status: bytes) -> None:
    """What is not HTTP, and a head that is too long."""
    async with sandbox() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(raw)
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert head.split()[1] == status
        assert f"sendbox-instance: {served.runtime.instance}\r\n".encode() in head


def test_a_world_belongs_to_the_server_that_answered_first() -> None:
    """Worlds behind one address may be on several servers; an answer without the header says nothing."""
    instances = Instances()
    assert not instances.changed("test-a", {"sendbox-instance": "1"})
    assert not instances.changed("test-b", {"sendbox-instance": "2"})
    assert not instances.changed("test-a", {})
    assert instances.changed("test-a", {"sendbox-instance": "2"})
    instances.forget("test-a")
    assert not instances.changed("test-a", {"sendbox-instance": "2"})


def restarting(*answers: tuple[str, int, Any]) -> Callable[[httpx.Request], httpx.Response]:
    """A server that answers so: its instance, a status, a value."""
    left = iter(answers)

    def answer(_request: httpx.Request) -> httpx.Response:
        instance, status, value = next(left)
        return httpx.Response(status, json=value, headers={"Sendbox-Instance": instance})

    return answer


MESSAGE = (
    "http://box is another server than before: it was restarted, or a proxy sent the call to another server; "
    "test-a is not on this one"
)


def client_of(*answers: tuple[str, int, Any]) -> Client:
    return Client("http://box", SERVED, httpx.Client(transport=httpx.MockTransport(restarting(*answers))))


def test_the_client_of_control_stops() -> None:
    """Whatever the new server answers: its world of that name is another one."""
    gone = {"error": "no_such_world", "message": "it is not open"}
    client = client_of(("1", 201, {"id": "test-a"}), ("1", 200, {}), ("2", 404, gone), ("2", 200, {}))
    client.call("open_world", None, {"id": "test-a"})
    client.call("world", "test-a", {})
    for _ in range(2):
        with pytest.raises(ControlError) as raised:
            client.call("world", "test-a", {})
        assert (raised.value.status, raised.value.error, raised.value.message) == (502, "restarted", MESSAGE)
    client.close()


def test_a_world_that_was_closed_may_be_opened_elsewhere() -> None:
    """And what is not of one world may be answered by any server."""
    client = client_of(
        ("1", 201, {"id": "test-a"}),
        ("2", 200, {}),
        ("1", 200, {"closed": "test-a"}),
        ("2", 201, {"id": "test-a"}),
        ("2", 200, {}),
    )
    client.call("open_world", None, {"id": "test-a"})
    client.call("schema", None, {})
    client.call("close_world", "test-a", {})
    client.call("open_world", None, {"id": "test-a"})
    client.call("world", "test-a", {})
    client.close()


class _Answers(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """In the place of connections."""

    def __init__(self, *answers: tuple[str, int, Any]) -> None:
        self._mock = httpx.MockTransport(restarting(*answers))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._mock.handle_request(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._mock.handle_request(request)


@pytest.mark.asyncio
async def test_a_client_of_a_test_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key would open another world on the new server, without a word."""
    answers = _Answers(("1", 200, {}), ("2", 200, {}), ("2", 200, {}))
    monkeypatch.setattr(httpx, "HTTPTransport", lambda: answers)
    monkeypatch.setattr(httpx, "AsyncHTTPTransport", lambda: answers)
    control = client_of()
    transport = RemoteTransport("http://box", None, lambda: "test-a", control.check_same_server)
    with httpx.Client(transport=transport) as client:
        assert client.get("http://box/v1/credit").status_code == 200
        with pytest.raises(ControlError, match="it was restarted"):
            client.get("http://box/v1/credit")
    async with httpx.AsyncClient(transport=transport) as other:
        with pytest.raises(ControlError, match="it was restarted"):
            await other.get("http://box/v1/credit")
    control.close()


@pytest.mark.asyncio
async def test_forwarding_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The webhooks of the world do not come any more."""
    shown = {"id": "test-a", "deliveries": "pull"}
    answer = restarting(*[("1", 200, shown)] * 2, ("1", 200, {"calls": []}), ("2", 404, {}))
    plain = httpx.AsyncClient

    def client(**settings: Any) -> httpx.AsyncClient:
        settings.pop("verify")
        return plain(**settings, transport=httpx.MockTransport(answer))

    monkeypatch.setattr(httpx, "AsyncClient", client)
    lines: list[str] = []
    with pytest.raises(Failure) as raised:
        await forward("http://127.0.0.1:1", "http://box", "test-a", None, lines.append)
    assert raised.value.message == MESSAGE
