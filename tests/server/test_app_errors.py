"""What the application refuses, in the shape of the interface (A75), and bodies that are no requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.contract import validators
from sendbox.contract.validators import Contract
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.kinds.masking import masked
from sendbox.server.gateway import Emulated
from sendbox.server.origin import read_body
from sendbox.services.http.exchange import Answer as Reply
from sendbox.services.http.exchange import Exchange
from sendbox.services.http.executor import CallExecutor
from sendbox.settings import Settings
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.scenarios import load

pytestmark = pytest.mark.asyncio
DENIED = "User is not authorized to access this resource with an explicit deny"
MESSAGE = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
JSON = b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'
FORM = {"content-type": "application/x-www-form-urlencoded"}


def _empty() -> Blueprint:
    return load({"sendbox": 1})


def outside(path: str, interface: str) -> str:
    """The text of a 404 (A97)."""
    rule = f"api: [{{when: {{path: {path}}}, fault: {{answer: {{status: 200, body: {{}}}}}}}}]"
    why = f"{path} is not a path of the {interface} interface, it is outside the specification"
    return f"{why}; a rule of `api` can answer it: {rule}"


# --- errors in the shape of their interface ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "allow"),
    [
        ("POST", "/v2/nothing", 404, {"Message": outside("/v2/nothing", "sending")}, None),
        ("POST", "/v2/", 404, {"Message": outside("/v2/", "sending")}, None),
        ("POST", "/v2/message/", 404, {"Message": outside("/v2/message/", "sending")}, None),
        ("GET", "/v2/message", 405, {"Message": "GET is not served at /v2/message; legal: POST"}, "POST"),
        ("DELETE", "/v2/messages", 405, {"Message": "DELETE is not served at /v2/messages; legal: POST"}, "POST"),
        (
            "PUT",
            "/v2/simple/message",
            405,
            {"Message": "PUT is not served at /v2/simple/message; legal: GET, POST"},
            "GET, POST",
        ),
        ("PUT", "/Send", 405, "ERROR|101", "GET, POST"),
        (
            "GET",
            "/v1/nothing",
            404,
            {"message": outside("/v1/nothing", "REST")},
            None,
        ),
        (
            "POST",
            "/v1/validations/abc/nothing",
            404,
            {
                "error": "NOT_FOUND",
                "message": outside("/v1/validations/abc/nothing", "Verify"),
                "attemptsRemaining": 0,
            },
            None,
        ),
    ],
)
@pytest.mark.parametrize("key", [KEY, "prod", None], ids=["with-a-key", "denied-key", "without-a-key"])
@pytest.mark.unmeasured
async def test_a75_unknown_paths_and_wrong_methods(
    key: str | None, method: str, path: str, status: int, body: Any, allow: str | None
) -> None:
    """404 (A97) and 405 have the shape of the interface, whoever asks; the reason is journaled or among the refused."""
    async with boxed() as box:
        answer = await box.call(method, path, b"", {} if key is None else {"x-api-key": key})
        assert answer.status == status
        assert (answer.body.decode() if isinstance(body, str) else answer.json) == body
        assert answer.headers.get("allow") == allow
        assert list(box.runtime.worlds) == ([KEY] if key == KEY else [])
        refused = (await box.get("/_sandbox/refused")).json["refused"]
        assert [each["key"] for each in refused] == ([] if key == KEY else [key and masked(key)])


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/nothing", 404, "/nothing is served by nothing here"),
        ("GET", "/v2", 404, "/v2 is served by nothing here"),
        ("GET", "/_sandbox/nothing", 404, "/_sandbox/nothing is served by nothing here"),
        ("PUT", "/_sandbox/worlds", 405, "PUT is not served at /_sandbox/worlds; legal: DELETE, GET, HEAD, POST"),
        ("POST", "/_sandbox/health", 405, "POST is not served at /_sandbox/health; legal: GET, HEAD"),
        ("POST", "/openapi.json", 405, "POST is not served at /openapi.json; legal: GET, HEAD"),
    ],
)
async def test_other_paths_answer_json_too(method: str, path: str, status: int, body: str) -> None:
    """What is neither an interface nor a tool says where everything is."""
    async with boxed() as box:
        answer = await box.call(method, path)
        assert answer.status == status
        assert answer.json["message"].startswith(body)
        assert answer.json["error"] == {404: "not_found", 405: "method_not_allowed"}[status]
        assert box.runtime.worlds == {}


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/_sandbox/worlds/w/advance", "/_sandbox/worlds/w/clock/advance"),
        ("/_sandbox/worlds/w/message", "/_sandbox/worlds/w/messages"),
        ("/_sandbox/worlds/w/clock/advanc", "/_sandbox/worlds/w/clock/advance"),
        ("/_sandbox/world", "/_sandbox/worlds"),
        ("/_sandbox/worlds/w/advance/far/away", None),
        ("/openapi.jsn", "/openapi.json"),
        ("/nothing", None),
    ],
)
async def test_an_unknown_path_names_the_nearest(path: str, near: str | None) -> None:
    """With the id of the world that was asked for, whether there is such a world or not."""
    async with boxed() as box:
        message = (await box.call("POST", path)).json["message"]
    hint = f"; the nearest path is {near}" if near else ""
    places = "the interfaces are listed at /openapi.json, control at /_sandbox/"
    assert message == f"{path} is served by nothing here{hint}; {places}"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]]", b"\xff", b'"text"', b'{"body": NaN}', b'{"body": "x", "body": 1e400}'],
    ids=["empty", "broken", "too-much", "not-utf-8", "not-an-object", "nan", "infinite"],
)
async def test_a75_malformed_json_is_400(body: bytes) -> None:
    """What is no JSON, or not the JSON that is asked for, is refused with a reason and never a 500."""
    async with boxed() as box:
        answer = await box.call("POST", "/v2/message", body, {"x-api-key": KEY})
        assert answer.status == 400
        assert list(answer.json) == ["Message"]
        assert "explicit deny" not in answer.json["Message"]


async def test_s7_1_an_unexpected_error_is_500(caplog: pytest.LogCaptureFixture) -> None:
    """An error of the sandbox itself answers 500 in the interface's shape; log and journal have the reason."""

    def broken(exchange: Exchange) -> Reply:
        raise LookupError("out of paper")

    async with boxed() as box:
        runtime = box.runtime
        route = next(each for each in SERVED.routes if each.path == "/v2/message")
        table = Emulated(runtime, CallExecutor(Contract(), [_with(route, broken)], ()), _empty)
        box.app = table.handle
        with caplog.at_level(logging.ERROR, "sendbox"):
            answer = await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        assert (answer.status, answer.json) == (500, {"Message": "Internal server error"})
        assert "out of paper" in caplog.text
        entry = runtime.worlds[KEY].world.journal.subject[-1]
        assert [finding.rule for finding in entry.findings] == ["internal"]


def _with(route: Any, handler: Callable[[Exchange], Reply]) -> Any:
    from msgspec.structs import replace

    return replace(route, handler=handler)


async def test_answers_are_held_against_the_contract() -> None:
    """In tests an answer that breaks its schema is reported; statuses without a schema are not looked at."""
    async with boxed() as box:
        route = next(each for each in SERVED.routes if each.path == "/v2/message")
        wrong = _with(route, lambda exchange: Reply(200, b'{"request_id": 5}'))
        box.app = Emulated(box.runtime, CallExecutor(Contract(), [wrong], ()), _empty).handle
        await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        (violation,) = box.runtime.violations
        assert violation.startswith("sendMessage answered b'{\"request_id\": 5}': ")
        box.runtime.violations.clear()
        undeclared = _with(route, lambda exchange: Reply(599, b"not JSON"))
        box.app = Emulated(box.runtime, CallExecutor(Contract(), [undeclared], ()), _empty).handle
        await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        assert box.runtime.violations == []


# --- bodies -----------------------------------------------------------------------------------------------------------


async def test_a_body_in_many_pieces_is_read_whole() -> None:
    """Pieces are joined in order."""
    async with boxed() as box:
        pieces = [JSON[at : at + 7] for at in range(0, len(JSON), 7)]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        answer = await box.call("POST", "/v2/message", headers={"x-api-key": KEY}, receive=receive)
        assert answer.status == 200


@pytest.mark.parametrize(
    ("path", "body", "most"),
    [("/v2/message", "Message", 2**24), ("/Send", None, 2**16), ("/v2/simple/message", "Message", 2**16)],
)
async def test_too_long_a_body_is_refused_before_it_is_read_whole(path: str, body: str | None, most: int) -> None:
    """Beyond 16 MiB nothing more is read, and of a form beyond 64 KiB, in one piece or in many."""
    async with boxed() as box:
        read = 0

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 1
            return {"type": "http.request", "body": b"apikey=test-1&" + b"x" * 2**16, "more_body": True}

        answer = await box.call("POST", path, headers={"x-api-key": KEY, **FORM}, receive=receive)
        assert answer.status == 413
        assert read == most // 2**16
        text = f"the body is longer than {most} bytes, the most that is read"
        if body is None:
            assert answer.body == b"ERROR|101"
        else:
            assert answer.json == {body: text}
        assert "sendbox-journal" in answer.headers


@pytest.mark.parametrize("size", [2**20, 2**20 + 1])
async def test_a_long_body_is_put_together_beside_the_loop(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To copy megabytes holds the loop."""
    loop = asyncio.get_running_loop()
    beside: list[int] = []

    def run(_: Any, work: Any, pieces: list[bytes]) -> Any:
        beside.append(len(pieces))
        future = loop.create_future()
        future.set_result(work(pieces))
        return future

    monkeypatch.setattr(loop, "run_in_executor", run)
    pieces = [b"a" * (size - 1), b"b"]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    assert await read_body(receive) == b"a" * (size - 1) + b"b"
    assert beside == ([2] if size > 2**20 else [])


@pytest.mark.parametrize("path", ["/v2/message", "/Send"])
async def test_half_a_body_is_no_request(path: str) -> None:
    """A client that goes away in the middle of its body has asked for nothing, and nothing is journaled."""
    async with boxed() as box:
        await box.open()
        before = len(box.runtime.worlds[KEY].world.journal)
        messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": b"apikey=test-1&number=420777000101&message=Hel", "more_body": True},
            {"type": "http.disconnect"},
        ]

        async def receive() -> dict[str, Any]:
            return messages.pop(0)

        answer = await box.call("POST", path, headers={"x-api-key": KEY, **FORM}, receive=receive)
        assert answer.status == 0
        assert len(box.runtime.worlds[KEY].world.journal) == before
        assert box.runtime.worlds[KEY].open == set()


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_late_request_cannot_write_into_a_world_that_ended(end: str) -> None:
    """A call whose world was closed or reset while its body was on the way is denied, and changes nothing."""
    async with boxed() as box:
        await box.open()
        arrived = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await arrived.wait()
            return {"type": "http.request", "body": JSON}

        sending = asyncio.create_task(box.call("POST", "/v2/message", headers={"x-api-key": KEY}, receive=receive))
        await turns()
        if end == "close":
            await box.delete(WORLD)
            await box.open()
        else:
            await box.post(f"{WORLD}/reset")
        arrived.set()
        answer = await sending
        assert (answer.status, answer.json) == (400, {"Message": DENIED})
        assert box.runtime.refused[-1].why == "its world was closed or reset while the call was on its way"
        assert (await box.get(f"{WORLD}/messages")).json == {"messages": []}
        assert (await box.get(f"{WORLD}/requests")).json == {"requests": [], "more": False, "next_cursor": None}


async def test_the_first_refusal_imports_nothing_on_the_loop() -> None:
    """What explains a refusal is loaded on another thread, once; the answer is the same as ever."""
    validators._engine_class.cache_clear()
    box = Box(make_app(Settings(mode="manual", public_url=None), load("default"), Contract(deferred=True)))
    answers = [await box.post("/v2/message", {"body": "x", "to": []}, x_api_key=KEY) for _ in range(2)]
    assert [answer.status for answer in answers] == [400, 400]
    assert answers[0].json == answers[1].json
    assert len((await box.get(f"{WORLD}/requests")).json["requests"]) == 2
    await box.runtime.aclose()
