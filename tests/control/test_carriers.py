"""The same operations in this process and over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sendbox.app import SERVED
from sendbox.control.carriers import Client, InProcess, is_file
from sendbox.control.operation import ControlError
from sendbox.control.worlds import Started
from sendbox.engine.blueprint import Blueprint
from sendbox.fixture import SandboxServer
from sendbox.runtime.policy import HttpCall, Outcome

WORLD = "test-carriers"
TEXT = "sendbox: 1\nname: mine\nattempts:\n  - then: failed\n"


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    server = SandboxServer().start()
    yield server
    server.stop()


@pytest.fixture(params=["in process", "over HTTP"])
def carrier(request: pytest.FixtureRequest, server: SandboxServer) -> Iterator[InProcess | Client]:
    if request.param == "in process":
        yield server.carrier
    else:
        client = Client(server.origin + "/", SERVED)
        yield client
        client.close()


@pytest.fixture
def world(carrier: InProcess | Client) -> Iterator[str]:
    carrier.call("open_world", None, {"id": WORLD, "clock": {"mode": "manual"}, "now": "2026-03-01T09:00:00Z"})
    yield WORLD
    carrier.call("close_world", WORLD, {})


def test_call(carrier: InProcess | Client, world: str, server: SandboxServer) -> None:
    """Plain objects come back, by the names of control; an argument that is None is left out over HTTP."""
    assert carrier.origin == server.origin
    assert carrier.call("health", None, {})["status"] == "ok"
    assert carrier.call("clock", world, {})["now"] == "2026-03-01T09:00:00.000Z"
    assert carrier.call("advance", world, {"by": "1m"})["to"] == "2026-03-01T09:01:00.000Z"
    assert carrier.call("messages", world, {"phone": "420777000101", "tag": None}) == {"messages": []}


def test_what_is_no_json(carrier: InProcess | Client, world: str) -> None:
    """An operation that gives texts gives the same text, whichever way it is asked."""
    given = carrier.call("coverage", world, {"format": "text"})
    assert given.startswith("0 of ")
    assert str(given) == "".join(given)
    assert carrier.call("coverage", world, {"format": "json"})["leaned"] == {}


def test_arguments_find_their_place(carrier: InProcess | Client, world: str) -> None:
    """Arguments travel in path, query and body, also those with awkward characters, and bodies that are texts."""
    carrier.call("checkpoint", world, {"name": "a b?c#ž"})
    carrier.call("restore", world, {"name": "a b?c#ž"})
    written = {"channel": "sms", "from": "420777000101", "to": "420900000001", "body": "Ahoj, ž"}
    assert carrier.call("inbound", world, written)["body"] == "Ahoj, ž"
    assert carrier.call("phone", world, {"number": "420777000101"})["number"] == "420777000101"
    assert carrier.call("load_scenario", world, {"raw": TEXT, "reset": True})["at_reset"] == []
    assert carrier.call("put_rule", world, {"raw": {"then": "failed"}})["in"] == "attempts"


@pytest.mark.parametrize(
    ("name", "where", "arguments", "status", "error"),
    [
        ("clock", "test-nowhere", {}, 404, "no_such_world"),
        ("advance", WORLD, {"by": "soon"}, 400, "bad_argument"),
        ("advance", WORLD, {"bi": "1m"}, 400, "unknown_argument"),
        ("open_world", None, {"id": WORLD}, 409, "world_exists"),
        ("load_scenario", WORLD, {"raw": "sendbox: 2"}, 422, "bad_scenario"),
    ],
    ids=["no world", "bad", "unknown", "exists", "scenario"],
)
def test_errors(
    carrier: InProcess | Client, world: str, name: str, where: str | None, arguments: Any, status: int, error: str
) -> None:
    """An error is a `ControlError` with status, word, message and details, whatever carried it."""
    with pytest.raises(ControlError) as caught:
        carrier.call(name, where, arguments)
    assert (caught.value.status, caught.value.error) == (status, error)
    assert caught.value.message
    if error == "world_exists":
        assert caught.value.detail["world"]["id"] == WORLD
    if error == "bad_scenario":
        assert caught.value.detail["problems"]


def test_acall_and_submit(carrier: InProcess | Client, world: str) -> None:
    """Operations may be awaited, on any loop, and started without waiting; they run side by side."""

    async def test() -> list[Any]:
        waiting = carrier.acall("hook", world, {"wait": "50ms"})
        return list(await asyncio.gather(waiting, carrier.acall("clock", world, {})))

    hook, clock = asyncio.run(test())
    assert hook["events"] == []
    assert clock["mode"] == "manual"
    assert carrier.submit("clock", world, {}).result()["mode"] == "manual"


def test_a_call_names_its_world_in_the_header() -> None:
    """A proxy routes by it: also the call that opens a world, with an id that the client draws where none is given."""
    seen: list[tuple[str | None, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        seen.append((request.headers.get("x-api-key"), body.get("id")))
        return httpx.Response(200, json={"id": body.get("id")})

    client = Client("http://box", SERVED, httpx.Client(transport=httpx.MockTransport(answer)))
    drawn = [client.call("open_world", None, {})["id"] for _ in range(2)]
    client.call("open_world", None, {"id": "test-mine"})
    client.call("world", "test-mine", {})
    client.call("schema", None, {})
    client.call("world", "test-\u017e\n", {})
    client.close()
    assert all(re.fullmatch(r"test-[0-9a-f]{14}", world) for world in drawn)
    assert len(set(drawn)) == 2
    mine = [("test-mine", "test-mine"), ("test-mine", None)]
    assert seen == [(drawn[0], drawn[0]), (drawn[1], drawn[1]), *mine, (None, None), (None, None)]


def test_a_client_answers_with_the_class_of_the_operation() -> None:
    """An answer of another form comes from another version, which is said."""
    assert isinstance(
        answering(httpx.Response(200, json={"started": "2026-03-01T09:00:00.000Z"})).call("start_world", WORLD, {}),
        Started,
    )
    with pytest.raises(ControlError) as raised:
        answering(httpx.Response(200, json={})).call("start_world", WORLD, {})
    assert (raised.value.status, raised.value.error) == (502, "no_sandbox")
    assert raised.value.message.endswith(
        "is a Sandbox of another version: start_world answers otherwise: Object missing required field `started`"
    )


def test_after(carrier: InProcess | Client) -> None:
    """A timer runs on some other thread, and can be called off."""
    ended = threading.Event()
    threads: list[str] = []

    def then() -> None:
        threads.append(threading.current_thread().name)
        ended.set()

    call_off = carrier.after(60, then)
    carrier.after(0.001, then)
    ended.wait()
    call_off()
    assert threads[0].startswith("sendbox")
    assert len(threads) == 1


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_scenarios_in_process(server: SandboxServer, tmp_path: Path) -> None:
    """Whatever form a scenario has, it is compiled where it is given; what is compiled, or none, stays."""
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    carrier = server.carrier
    for given in (TEXT, file, str(file), {"sendbox": 1, "name": "mine"}):
        assert carrier.scenario(given).name == "mine"
    compiled = carrier.scenario("default")
    assert isinstance(compiled, Blueprint)
    assert carrier.scenario(compiled) is compiled
    assert carrier.scenario(None) is None
    with pytest.raises(ControlError) as caught:
        carrier.scenario("sendbox: 2")
    assert (caught.value.status, caught.value.error) == (422, "bad_scenario")


def test_scenarios_over_http(tmp_path: Path) -> None:
    """Over HTTP a file travels as its text, which is read here; everything else as it is."""
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT, encoding="utf-8")
    client = Client("http://127.0.0.1:1", SERVED)
    assert client.scenario(file) == client.scenario(str(file)) == TEXT
    for given in ("default", TEXT, {"sendbox": 1}, None):
        assert client.scenario(given) == given
    client.close()


@pytest.mark.parametrize(
    ("given", "file"),
    [
        ("default", False),
        ("a.yaml", True),
        ("a.yml", True),
        ("a.json", True),
        (TEXT, False),
        (Path("a"), True),
        ({}, False),
    ],
    ids=["name", "yaml", "yml", "json", "text", "path", "object"],
)
def test_what_is_a_file(given: Any, *, file: bool) -> None:
    """A path, or one line that ends like a scenario's file."""
    assert is_file(given) is file


# --- deliveries in process --------------------------------------------------------------------------------------------


def test_deliver_to(server: SandboxServer) -> None:
    """Deliveries of a world go to a coroutine function, with the world's instant; None ends that."""
    carrier = server.carrier
    carrier.call("open_world", None, {"id": WORLD, "clock": {"mode": "manual", "start": "1970-01-01T00:16:40Z"}})
    got: list[tuple[bytes, int]] = []

    async def receiving(call: HttpCall, now: int) -> Outcome:
        got.append((call.body, now))
        return Outcome(200)

    write = {"channel": "sms", "from": "420777000101", "to": "420900000001", "body": "Hello"}
    for receiver in (receiving, None):
        carrier.deliver_to(WORLD, receiver)
        carrier.call("inbound", WORLD, write)
        carrier.call("advance", WORLD, {"by": 0})
    assert [now for _, now in got] == [1_000_000]
    assert b"Hello" in got[0][0]
    carrier.call("close_world", WORLD, {})
    with pytest.raises(ControlError, match=f'^"{WORLD}" is not an open world$'):
        carrier.deliver_to(WORLD, receiving)


# --- what may be at an address ----------------------------------------------------------------------------------------


def answering(*answers: httpx.Response | Exception) -> Client:
    """A client of something that answers so."""
    rest = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        found = next(rest)
        if isinstance(found, Exception):
            raise found
        return found

    return Client("http://sandbox.example", SERVED, httpx.Client(transport=httpx.MockTransport(answer)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (httpx.Response(200, text="<html>"), "http://sandbox.example is not a Sandbox: it answers 200"),
        (httpx.Response(404, json={"detail": "Not Found"}), "http://sandbox.example is not a Sandbox: it answers 404"),
        (
            httpx.Response(500, json={"error": 5, "message": {}}),
            "http://sandbox.example is not a Sandbox: it answers 500",
        ),
        (httpx.Response(200, json=[]), "http://sandbox.example is not a Sandbox: it answers 200"),
        (httpx.ConnectError("[Errno 111] refused"), "http://sandbox.example cannot be reached: refused"),
        (httpx.ReadTimeout(""), "http://sandbox.example cannot be reached: it does not answer"),
    ],
    ids=["no JSON", "another service", "other words", "no object", "nobody", "silence"],
)
def test_no_sandbox(answer: httpx.Response | Exception, message: str) -> None:
    """What answers otherwise than a sandbox, or not at all, is named."""
    client = answering(answer)
    with pytest.raises(ControlError) as caught:
        client.call("health", None, {})
    assert (caught.value.status, caught.value.error, caught.value.message) == (502, "no_sandbox", message)
    client.close()


def test_close_leaves_what_is_under_way() -> None:
    """A call that is still under way does not hold the end of a session up; threads that are idle have ended."""
    release = threading.Event()
    begun = threading.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        begun.set()
        release.wait()
        return httpx.Response(200, json={})

    client = Client("http://sandbox.example", SERVED, httpx.Client(transport=httpx.MockTransport(answer)))
    future = client.submit("schema", None, {})
    begun.wait()
    client.close()
    release.set()
    assert future.result() == {}
    idle = answering(httpx.Response(200, json={}))
    idle.submit("schema", None, {}).result()
    idle.close()
