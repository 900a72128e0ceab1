"""The application on the wire: keys (§5), errors in the shape of their interface (A75), origins, short links (A17)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from openapi_spec_validator import validate

from sendbox import app as application
from sendbox.app import ROUTES, Emulated, make_app
from sendbox.contract.validators import Contract
from sendbox.core.keys import Key
from sendbox.interfaces.exchange import Answer as Reply
from sendbox.interfaces.exchange import Exchange
from sendbox.runtime import Runtime
from sendbox.scenario.compile import load
from sendbox.settings import Settings
from tests.box import KEY, ORIGIN, WORLD, Answer, Box, boxed, turns

pytestmark = pytest.mark.asyncio
DENIED = "User is not authorized to access this resource with an explicit deny"
MESSAGE = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
JSON = b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'
FORM = {"content-type": "application/x-www-form-urlencoded"}
Call = Callable[[Box], Awaitable[Answer]]


# --- keys -------------------------------------------------------------------------------------------------------------


def posts(path: str) -> Call:
    return lambda box: box.call("POST", path, JSON)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(posts("/v2/message"), id="message"),
        pytest.param(posts("/v2/message/priority"), id="priority"),
        pytest.param(posts("/v2/messages"), id="messages"),
        pytest.param(lambda box: box.call("POST", "/v2/simple/message", b"", FORM), id="simple-form"),
        pytest.param(lambda box: box.get("/v2/simple/message?phone_number=420777000101&message=x"), id="simple-query"),
        pytest.param(lambda box: box.call("POST", "/v2/message", JSON, {"x-api-key": "prod"}), id="other-form"),
        pytest.param(lambda box: box.call("POST", "/v2/message", JSON, {"x-api-key": ""}), id="empty"),
        pytest.param(lambda box: box.call("POST", "/v2/message", JSON, {"x-api-key": "test-1~x"}), id="sub-key"),
        pytest.param(lambda box: box.get("/v2/simple/message?apikey=prod"), id="denied-in-the-query"),
    ],
)
async def test_s5_6_a_missing_malformed_or_denied_key_is_400_with_its_own_text(call: Call) -> None:
    """400, not 401, and `Message` alone tells it from a bad request; the hint leads to the reason."""
    async with boxed() as box:
        answer = await call(box)
        assert (answer.status, answer.json) == (400, {"Message": DENIED})
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["sendbox-journal"] == f"{ORIGIN}/_sandbox/refused"
        (refused,) = (await box.get("/_sandbox/refused")).json["refused"]
        assert refused["why"]
        assert refused["what_to_do"]
        assert box.runtime.worlds == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v2/message?apikey=test-1"),
        ("POST", "/v2/message/priority?apikey=test-1"),
        ("POST", "/v2/messages?apikey=test-1"),
        ("POST", "/v2/simple/message?apikey=test-1"),
    ],
)
async def test_s5_2_other_endpoints_than_get_simple_message_require_the_header(method: str, path: str) -> None:
    """The query parameter `apikey` opens nothing where the specification does not allow it."""
    async with boxed() as box:
        answer = await box.call(method, path, JSON)
        assert (answer.status, answer.json) == (400, {"Message": DENIED})
        assert box.runtime.worlds == {}


async def test_s5_2_get_simple_message_takes_the_key_as_query_parameter() -> None:
    """There, and only there, `apikey` stands in for the header; where both are given the header counts."""
    async with boxed() as box:
        query = "phone_number=420777000101&message=Hello"
        assert (await box.get(f"/v2/simple/message?apikey=test-1&{query}")).status == 200
        assert list(box.runtime.worlds) == ["test-1"]
        assert (await box.get(f"/v2/simple/message?apikey=test-1&{query}", x_api_key="test-2")).status == 200
        assert list(box.runtime.worlds) == ["test-1", "test-2"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/Send", b"apikey=KEY&number=420777000101&message=Hello"),
        ("GET", "/Send?apikey=KEY&number=420777000101&message=Hello", b""),
        ("POST", "/api-send.php", b"apikey=KEY&to=420777000101&message=Hello"),
        ("GET", "/api-send.php?apikey=KEY&to=420777000101&message=Hello", b""),
    ],
)
async def test_s4_1_the_legacy_interface_takes_the_key_from_its_form(method: str, path: str, body: bytes) -> None:
    """With a key the call is taken; with a denied one, or none, only the status text comes back (A13)."""
    async with boxed() as box:
        answer = await box.call(method, path.replace("KEY", KEY), body.replace(b"KEY", KEY.encode()), FORM)
        assert answer.status == 200
        assert answer.body.startswith(b"OK|")
        for key in ("prod", ""):
            answer = await box.call(method, path.replace("KEY", key), body.replace(b"KEY", key.encode()), FORM)
            assert (answer.status, answer.body) == (401, b"ERROR|103")
        answer = await box.call(method, path.replace("apikey=KEY&", ""), body.replace(b"apikey=KEY&", b""), FORM)
        assert (answer.status, answer.body) == (401, b"ERROR|103")
        assert box.runtime.refused[-1].why == "no API key came with the call"


async def test_a_sub_key_sends_as_itself() -> None:
    """A sub-key that was made is admitted to its parent's world, and the journal says which key it was."""
    async with boxed() as box:
        await box.open()
        box.runtime.worlds[KEY].world.keys[f"{KEY}~a"] = Key(f"{KEY}~a")
        assert (await box.post("/v2/message", MESSAGE, x_api_key=f"{KEY}~a")).status == 200
        assert (await box.get(f"{WORLD}/requests")).json["requests"][0]["key"] == f"{KEY}~a"


async def test_keys_of_another_form_can_be_admitted() -> None:
    """`--key` admits one, `--any-key` all; the address of the journal is one that resolves."""
    for settings in ({"keys": frozenset({"Prod key/1"})}, {"any_key": True}):
        async with boxed(**settings) as box:
            answer = await box.post("/v2/message", MESSAGE, x_api_key="Prod key/1")
            assert answer.status == 200
            assert answer.headers["sendbox-journal"] == f"{ORIGIN}/_sandbox/worlds/Prod%20key%2F1/journal/1"
    async with boxed(any_key=True) as box:
        answer = await box.post("/v2/message", MESSAGE, x_api_key="prod key")
        path = urlsplit(answer.headers["sendbox-journal"]).path.replace("%20", " ")  # as a server decodes it
        assert (await box.get(path)).json["status"] == 200


# --- the hint ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda box: box.post("/v2/message", MESSAGE, x_api_key=KEY), id="accepted"),
        pytest.param(lambda box: box.post("/v2/message", {}, x_api_key=KEY), id="refused"),
        pytest.param(lambda box: box.call("POST", "/v2/simple/message", b"", {"x-api-key": KEY}), id="media-type"),
        pytest.param(lambda box: box.call("POST", "/Send", b"apikey=test-1", FORM), id="legacy"),
        pytest.param(lambda box: box.post("/v2/nothing", x_api_key=KEY), id="unknown-path"),
        pytest.param(lambda box: box.get("/v2/message", x_api_key=KEY), id="wrong-method"),
        pytest.param(
            lambda box: box.call("POST", "/v2/message", b" " * (application.BODY_CAP + 1), {"x-api-key": KEY}),
            id="too-long",
        ),
    ],
)
async def test_every_answer_names_its_journal_entry(call: Call) -> None:
    """The address in `Sendbox-Journal` resolves to the call, its answer and its findings."""
    async with boxed() as box:
        answer = await call(box)
        address = answer.headers["sendbox-journal"]
        assert address.startswith(f"{ORIGIN}{WORLD}/journal/")
        entry = (await box.get(urlsplit(address).path)).json
        assert (entry["kind"], entry["status"], entry["answer"]) == ("request", answer.status, answer.body.decode())
        assert bool(entry["findings"]) is (answer.status >= 400)


async def test_hints_can_be_turned_off() -> None:
    """With `--no-hints` no answer says that it is a sandbox's."""
    async with boxed(hints=False) as box:
        for answer in (
            await box.post("/v2/message", MESSAGE, x_api_key=KEY),
            await box.post("/v2/message", MESSAGE),
            await box.get("/v2/message", x_api_key=KEY),
            await box.get("/v2/nothing"),
        ):
            assert "sendbox-journal" not in answer.headers


async def test_the_log_has_a_line_for_every_refusal_rejection_and_new_advice() -> None:
    """Findings are said each time, an advice once a world, so that a loop does not drown the log."""
    async with boxed() as box:
        for _ in range(2):
            await box.post("/v2/message", {"bdy": "x", "body": "x", "to": []}, x_api_key=KEY)
            await box.post("/v2/message", {**MESSAGE, "bdy": 1}, x_api_key=KEY)
        lines = [line for world, line in box.log if world == KEY]
        assert [line.split(":")[0] for line in lines] == [
            "refused sendMessage",
            "advice unknown-field on sendMessage",
            "refused sendMessage",
        ]


async def test_only_so_many_advices_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client with ever new remarks does not fill the memory: beyond the bound they are said each time."""
    monkeypatch.setattr(application, "MOST_TOLD", 1)
    async with boxed() as box:
        for _ in range(2):
            await box.post("/v2/message", {**MESSAGE, "one": 1, "other": 1}, x_api_key=KEY)
        assert len([line for _, line in box.log if line.startswith("advice unknown-field")]) == 3


# --- errors in the shape of their interface ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "allow"),
    [
        ("POST", "/v2/nothing", 404, {"Message": "/v2/nothing is no path of the sending interface"}, None),
        ("POST", "/v2/", 404, {"Message": "/v2/ is no path of the sending interface"}, None),
        ("POST", "/v2/message/", 404, {"Message": "/v2/message/ is no path of the sending interface"}, None),
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
            {"message": "/v1/nothing is not served: the REST and Verify interfaces are not built in this version"},
            None,
        ),
        (
            "POST",
            "/v1/validations/abc/verify",
            404,
            {
                "error": "NOT_FOUND",
                "message": "/v1/validations/abc/verify is not served: "
                "the REST and Verify interfaces are not built in this version",
                "attemptsRemaining": 0,
            },
            None,
        ),
    ],
)
@pytest.mark.parametrize("key", [KEY, "prod", None], ids=["with-a-key", "denied-key", "without-a-key"])
async def test_a75_unknown_paths_and_wrong_methods(
    key: str | None, method: str, path: str, status: int, body: Any, allow: str | None
) -> None:
    """404 and 405 come in the shape of the interface, whoever asks; the reason is journaled or among the refused."""
    async with boxed() as box:
        answer = await box.call(method, path, b"", {} if key is None else {"x-api-key": key})
        assert answer.status == status
        assert (answer.body.decode() if isinstance(body, str) else answer.json) == body
        assert answer.headers.get("allow") == allow
        assert list(box.runtime.worlds) == ([KEY] if key == KEY else [])
        refused = (await box.get("/_sandbox/refused")).json["refused"]
        assert [each["key"] for each in refused] == ([] if key == KEY else [key])


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/nothing", 404, "/nothing is served by nothing here"),
        ("GET", "/v2", 404, "/v2 is served by nothing here"),
        ("GET", "/_sandbox/nothing", 404, "/_sandbox/nothing is served by nothing here"),
        ("PUT", "/_sandbox/worlds", 405, "PUT is not served at /_sandbox/worlds; legal: GET, HEAD, POST"),
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
    """An error of the sandbox itself answers 500 in the interface's shape; the log has it whole, the journal a finding."""

    def broken(exchange: Exchange) -> Reply:
        raise LookupError("out of paper")

    async with boxed() as box:
        runtime = box.runtime
        route = next(each for each in ROUTES if each.path == "/v2/message")
        table = Emulated(runtime, Contract(), [_with(route, broken)])
        box.app = table.handle
        with caplog.at_level(logging.ERROR, "sendbox"):
            answer = await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        assert (answer.status, answer.json) == (500, {"Message": "Internal server error"})
        assert "out of paper" in caplog.text
        entry = runtime.worlds[KEY].world.journal.what[-1]
        assert [finding.rule for finding in entry.findings] == ["internal"]


def _with(route: Any, handler: Callable[[Exchange], Reply]) -> Any:
    from dataclasses import replace

    return replace(route, handler=handler)


async def test_answers_are_held_against_the_contract() -> None:
    """In tests an answer that breaks its schema is reported; statuses without a schema are not looked at."""
    async with boxed() as box:
        route = next(each for each in ROUTES if each.path == "/v2/message")
        table = Emulated(box.runtime, Contract(), [_with(route, lambda exchange: Reply(200, b'{"request_id": 5}'))])
        box.app = table.handle
        await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        (violation,) = box.runtime.violations
        assert violation.startswith("sendMessage answered b'{\"request_id\": 5}': ")
        box.runtime.violations.clear()
        table = Emulated(box.runtime, Contract(), [_with(route, lambda exchange: Reply(599, b"not JSON"))])
        box.app = table.handle
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


@pytest.mark.parametrize(("path", "body"), [("/v2/message", {"Message": "…"}), ("/Send", "ERROR|101")])
async def test_too_long_a_body_is_refused_before_it_is_read_whole(path: str, body: Any) -> None:
    """Beyond 16 MiB nothing more is read, in one piece or in many."""
    async with boxed() as box:
        read = 0

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 1
            return {"type": "http.request", "body": b"apikey=test-1&" + b"x" * 2**20, "more_body": True}

        answer = await box.call("POST", path, headers={"x-api-key": KEY, **FORM}, receive=receive)
        assert answer.status == 413
        assert read == 16
        text = "the body is longer than 16777216 bytes, the most that is read"
        assert (answer.body.decode() if isinstance(body, str) else answer.json) == (
            body if isinstance(body, str) else {"Message": text}
        )
        assert "sendbox-journal" in answer.headers


@pytest.mark.parametrize("path", ["/v2/message", "/Send"])
async def test_half_a_body_is_no_request(path: str) -> None:
    """A client that goes away in the middle of its body has asked for nothing, and nothing is journaled."""
    async with boxed() as box:
        await box.open()
        before = len(box.runtime.worlds[KEY].world.journal)
        messages = [
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
        assert (await box.get(f"{WORLD}/requests")).json == {"requests": []}


async def test_the_first_refusal_imports_nothing_on_the_loop() -> None:
    """What explains a refusal is loaded on another thread, once; the answer is the same as ever."""
    runtime = Runtime(Settings(mode="manual", public_url=None), load("default"))
    box = Box(runtime, make_app(runtime, Contract(deferred=True)))
    answers = [await box.post("/v2/message", {"body": "x", "to": []}, x_api_key=KEY) for _ in range(2)]
    assert [answer.status for answer in answers] == [400, 400]
    assert answers[0].json == answers[1].json
    assert len((await box.get(f"{WORLD}/requests")).json["requests"]) == 2
    await runtime.aclose()


# --- origins ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "headers", "scheme", "origin"),
    [
        pytest.param({}, {}, "http", "http://box:7357", id="host-header"),
        pytest.param({}, {"host": "sandbox.example"}, "https", "https://sandbox.example", id="scheme"),
        pytest.param({"public_url": "https://public.example/"}, {}, "http", "https://public.example", id="public-url"),
        pytest.param({}, {"host": ""}, "http", "http://127.0.0.1:80", id="no-host"),
    ],
)
async def test_origins_of_what_is_given_out(
    settings: dict[str, Any], headers: dict[str, str], scheme: str, origin: str
) -> None:
    """Addresses begin with the public URL, else with scheme and Host of the request that asks."""
    async with boxed(**settings) as box:
        given = {"x-api-key": KEY, **headers}
        body = b'{"body":"See https://acme.example/x","to":[{"phone_number":"420777000101"}],"params":{"_url":{}}}'
        answer = await box.call("POST", "/v2/message", body, given, scheme=scheme)
        assert answer.headers["sendbox-journal"].startswith(f"{origin}/_sandbox/worlds/")
        await box.advance()
        (message,) = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert message["links"][0]["url"].startswith(f"{origin}/s/")
        assert (await box.call("GET", "/openapi.json", b"", headers, scheme=scheme)).json["servers"] == [
            {"url": origin}
        ]
        if headers.get("host") != "":
            shown = (await box.call("GET", WORLD, b"", headers, scheme=scheme)).json
            assert shown["addresses"]["base_url"] == f"{origin}/v2"
            assert shown["callback_url"] == f"{origin}{WORLD}/hook"


async def test_an_app_that_is_not_told_its_server_has_an_origin_all_the_same() -> None:
    """Without Host and without a server in the scope, the settings say where it listens."""
    async with boxed(port=7358) as box:
        scope = {"type": "http", "scheme": "http", "server": None}
        assert application.origin_of(box.runtime, scope, []) == "http://127.0.0.1:7358"


async def test_the_root_leads_to_the_page() -> None:
    """`/` redirects to `/_sandbox/`."""
    async with boxed() as box:
        answer = await box.get("/")
        assert (answer.status, answer.headers["location"]) == (307, "/_sandbox/")


async def test_emulated_rows_are_http_only_and_have_no_names() -> None:
    """Other protocols pass the rows by, and nothing is looked up by name."""
    async with boxed() as box:
        emulated = box.app.router.routes[0]
        assert emulated.matches({"type": "websocket", "path": "/v2/message"})[0].name == "NONE"
        with pytest.raises(Exception, match="No route exists"):
            box.app.url_path_for("sendMessage")


# --- short links ------------------------------------------------------------------------------------------------------


async def linked(box: Box, target: str = "https://acme.example/x", **url: Any) -> tuple[str, str]:
    """The path of a short link that was sent, and the id of its message."""
    (message_id,) = await box.send(body=f"See {target}", params={"_url": url})
    await box.advance("0s")
    (link,) = (await box.get(f"{WORLD}/messages/{message_id}")).json["links"]
    parts = urlsplit(link["url"])
    return parts.path + (f"?{parts.query}" if parts.query else ""), message_id


async def clicks(box: Box, message_id: str) -> tuple[int, str | None]:
    shown = (await box.get(f"{WORLD}/messages/{message_id}")).json
    return len(shown["links"][0]["clicks"]), shown["clicked_at"]


async def test_a17_a_get_is_a_click_and_a_head_is_not() -> None:
    """302 to the target either way; GETs count, and the first sets the message's `clicked_at`."""
    async with boxed() as box:
        path, message_id = await linked(box)
        for method in ("HEAD", "GET"):
            answer = await box.call(method, path)
            assert (answer.status, answer.headers["location"]) == (302, "https://acme.example/x")
            assert (await clicks(box, message_id))[0] == (method == "GET")
        await box.advance("1m")
        await box.get(path)
        assert await clicks(box, message_id) == (2, "2026-03-01T09:00:00.000Z")
        assert [entry["phone"] for entry in (await box.get(f"{WORLD}/journal?kind=click")).json["entries"]] == [
            "420777000101"
        ] * 2


@pytest.mark.parametrize(
    ("target", "query", "location"),
    [
        ("https://acme.example/x", "a=1", "https://acme.example/x?a=1"),
        ("https://acme.example/x?b=2", "a=1&c=%20", "https://acme.example/x?b=2&a=1&c=%20"),
        ("https://acme.example/x#top", "a=1", "https://acme.example/x?a=1#top"),
        ("https://acme.example/x#top", "", "https://acme.example/x#top"),
        ("https://acme.example/žluť?ř=ě", "", f"https://acme.example/{quote('žluť')}?{quote('ř')}={quote('ě')}"),
        ("https://acme.example/a%20b;c~|{d}", "", "https://acme.example/a%20b;c~|{d}"),
    ],
    ids=["added", "joined", "before-the-fragment", "none", "other-scripts", "as-it-is"],
)
async def test_a17_the_query_is_passed_on(target: str, query: str, location: str) -> None:
    """What a client appends to a short link reaches the target, and the target's own parts stay what they are."""
    async with boxed() as box:
        path, _ = await linked(box, target)
        answer = await box.get(f"{path}?{query}" if query else path)
        assert (answer.status, answer.headers["location"]) == (302, location)


async def test_s2_1_get_enhance_reaches_the_target() -> None:
    """With `get_enhance: id` the target learns the message's id under `get_name`."""
    async with boxed() as box:
        path, message_id = await linked(box, get_enhance="id", get_name="mid")
        assert path.endswith(f"?mid={message_id}")
        assert (await box.get(path)).headers["location"] == f"https://acme.example/x?mid={message_id}"


async def test_a17_an_expired_link_is_410() -> None:
    """At `expires_at` a link stops; nothing is counted any more."""
    async with boxed() as box:
        path, message_id = await linked(box, expires_at=1_772_355_600 + 60)
        await box.advance("59s")
        assert (await box.get(path)).status == 302
        await box.advance("1s")
        answer = await box.get(path)
        assert (answer.status, answer.body) == (410, b"this link has expired")
        assert (await clicks(box, message_id))[0] == 1


async def test_s8_a_link_expires_after_seven_days_by_default() -> None:
    """Default expiry is 7 days after sending."""
    async with boxed() as box:
        path, _ = await linked(box)
        await box.advance("6d23h59m")
        assert (await box.call("HEAD", path)).status == 302
        await box.advance("1m")
        assert (await box.call("HEAD", path)).status == 410


async def test_a17_a_link_that_never_was_or_is_no_more_is_404() -> None:
    """An unknown code, one of a closed world, and one of an epoch that is over."""
    async with boxed() as box:
        path, _ = await linked(box)
        assert (await box.get("/s/nothing")).status == 404
        assert (await box.get(f"{path}x")).status == 404
        await box.post(f"{WORLD}/reset")
        assert (await box.get(path)).status == 404
        await box.delete(WORLD)
        answer = await box.get(path)
        assert (answer.status, answer.body) == (404, b"there is no such link")


# --- the contract -----------------------------------------------------------------------------------------------------


async def test_openapi_is_valid_and_complete() -> None:
    """The document stands up to the validator, and holds every row that is served, and every webhook."""
    async with boxed() as box:
        document = (await box.get("/openapi.json")).json
        validate(document)
        served = {(path, method.upper()) for path, row in document["paths"].items() for method in row}
        assert served == {(route.path, route.method) for route in ROUTES}
        assert set(document["webhooks"]) == {"sentMessage", "incomingReplyMessage", "incomingMessage"}
        assert document["openapi"] == "3.1.0"
