"""The application on the wire: keys (§5), the hint in every answer, origins, the contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from openapi_spec_validator import validate
from starlette.routing import Match, NoMatchFound

from sendbox.app import SERVED
from sendbox.runtime import slot
from sendbox.runtime.ending import CLOSED
from sendbox.runtime.slot import CloseReason
from sendbox.runtime.worlds import Runtime
from sendbox.server.origin import origin_of
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.http.exchange import BODY_CAP
from tests.box import KEY, ORIGIN, WORLD, Answer, Box, boxed

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


async def test_the_link_to_refused_keys_names_the_process() -> None:
    """One of several behind a proxy, unless its number is 0; another process says that it is the wrong one."""
    async with boxed(shard=3) as box:
        answer = await box.get("/v1/apikey/me", x_api_key="prod")
        link = answer.headers["sendbox-journal"]
        assert link == f"{ORIGIN}/_sandbox/refused?shard=3"
        assert len((await box.get(link.removeprefix(ORIGIN))).json["refused"]) == 1
        other = await box.get("/_sandbox/refused?shard=1")
        assert (other.status, other.json["error"]) == (421, "other_process")


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
        Account.of(box.runtime.worlds[KEY].world).keys[f"{KEY}~a"] = Key(f"{KEY}~a")
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
            lambda box: box.call("POST", "/v2/message", b" " * (BODY_CAP + 1), {"x-api-key": KEY}),
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("out of order", "out of order"), ("výpadek 100%\r\nx: y", "v%C3%BDpadek 100%25%0D%0Ax: y")],
)
async def test_an_answer_of_a_rule_names_it(name: str, value: str) -> None:
    """`Sendbox-Rule` has the rule that made the answer; what no header may have is percent-encoded."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"in": "api", "name": name, "fault": {"status": 503}, "times": 1})
        answers = [await box.post("/v2/message", MESSAGE, x_api_key=KEY) for _ in range(2)]
        assert [(answer.status, answer.headers.get("sendbox-rule")) for answer in answers] == [
            (503, value),
            (200, None),
        ]


async def test_a_rule_without_a_name_is_named_by_its_place() -> None:
    """So has one of a scenario; one that control put in front has an id."""
    async with boxed({"sendbox": 1, "api": [{"fault": {"status": 503}}]}) as box:
        assert (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).headers["sendbox-rule"] == "$.api[0]"
        rule = (await box.post(f"{WORLD}/rules", {"in": "api", "fault": {"status": 429}})).json
        assert (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).headers["sendbox-rule"] == rule["id"]


async def test_hints_can_be_turned_off() -> None:
    """With `--no-hints` no answer says that it is a sandbox's."""
    async with boxed(hints=False) as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"in": "api", "fault": {"status": 503}, "times": 1})
        for answer in (
            await box.post("/v2/message", MESSAGE, x_api_key=KEY),
            await box.post("/v2/message", MESSAGE),
            await box.get("/v2/message", x_api_key=KEY),
            await box.get("/v2/nothing"),
        ):
            assert not {"sendbox-journal", "sendbox-rule"} & set(answer.headers)


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


@pytest.mark.parametrize("end", ["closed", "idle", "stopped"])
async def test_the_end_of_a_world_says_how_often_each_advice_was_given(end: str) -> None:
    """One advice is one code, operation and place, whatever its text; nothing is said of what was given once."""
    async with boxed() as box:
        for number in range(5):
            await box.post(
                "/v2/message", {**MESSAGE, "bdy": number, **({"once": 1} if not number else {})}, x_api_key=KEY
            )
            await box.post("/v2/message", {**MESSAGE, "sender": f"Acme {number}"}, x_api_key="test-2")
        await box.post("/v2/message", {**MESSAGE, "bdy": 1}, x_api_key="test-3")
        assert len(box.log) == len({line for _, line in box.log}) + 1  # two worlds have one in common
        box.log.clear()
        if end == "stopped":
            await box.runtime.aclose()
        for hosted in list(box.runtime.worlds.values()):
            box.runtime.end_world(hosted, CLOSED if end == "closed" else CloseReason("it ended", denied=False))
        assert box.log == [
            (KEY, "advice in all: 5 × unknown-field on sendMessage at $.bdy"),
            ("test-2", "advice in all: 5 × sender-not-registered on sendMessage at $.sender"),
        ]


async def test_an_advice_that_was_given_before_costs_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is formatted or masked for it: the log is not even asked."""
    async with boxed() as box:
        asked: list[str] = []
        monkeypatch.setattr(Runtime, "log", lambda _self, _world, message, **_more: asked.append(message))
        for number in range(50):
            await box.post("/v2/message", {**MESSAGE, "bdy": number}, x_api_key=KEY)
        assert len(asked) == 1


async def test_only_so_many_advices_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client with ever new remarks fills neither memory nor log: beyond the bound they are counted."""
    monkeypatch.setattr(slot, "MOST_ADVISED", 1)
    async with boxed() as box:
        for _ in range(2):
            await box.post("/v2/message", {**MESSAGE, "one": 1, "other": 1}, x_api_key=KEY)
        assert len([line for _, line in box.log if line.startswith("advice unknown-field")]) == 1
        box.runtime.close(box.runtime.worlds[KEY])
        assert box.log[-1] == (KEY, "advice in all: 2 × unknown-field on sendMessage at $.one, 2 × others")


@pytest.mark.parametrize("key", [f"{KEY}\t", f"{KEY} ", f"\t {KEY} \t"])
async def test_s5_1_white_space_around_a_key_does_not_count(key: str) -> None:
    """HTTP has optional white space around the value of a header (RFC 9110 5.5)."""
    async with boxed() as box:
        assert (await box.post("/v2/message", MESSAGE, x_api_key=key)).status == 200
        assert list(box.runtime.worlds) == [KEY]


@pytest.mark.parametrize("host", ['evil"><script>', "a b", "x@evil.example", "evil.example/x", "a'b", ""])
async def test_a_host_that_is_none_is_not_given_out(host: str) -> None:
    """The address in `Sendbox-Journal` is then that of the socket."""
    async with boxed() as box:
        headers = {"x-api-key": KEY, "content-type": "application/json", "host": host}
        answer = await box.call("POST", "/v2/message", JSON, headers)
        assert answer.headers["sendbox-journal"] == f"http://127.0.0.1:80{WORLD}/journal/1"


# --- origins ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "headers", "scheme", "origin"),
    [
        pytest.param({}, {}, "http", "http://box:7357", id="host-header"),
        pytest.param({}, {"host": "sandbox.test"}, "https", "https://sandbox.test", id="scheme"),
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
        scope: dict[str, Any] = {"type": "http", "scheme": "http", "server": None, "headers": []}
        assert origin_of(box.runtime, scope) == "http://127.0.0.1:7358"


async def test_the_root_leads_to_the_page() -> None:
    """`/` redirects to `/_sandbox/`."""
    async with boxed() as box:
        answer = await box.get("/")
        assert (answer.status, answer.headers["location"]) == (307, "/_sandbox/")


async def test_emulated_rows_are_http_only() -> None:
    """Other protocols pass the rows by."""
    async with boxed() as box:
        emulated = box.app.emulated
        assert emulated.matches({"type": "http", "path": "/v2/message"}) == (Match.FULL, {})
        assert emulated.matches({"type": "websocket", "path": "/v2/message"}) == (Match.NONE, {})
        with pytest.raises(NoMatchFound):
            box.app.url_path_for("sendMessage")


# --- the contract -----------------------------------------------------------------------------------------------------


async def test_openapi_is_valid_and_complete() -> None:
    """The document stands up to the validator, and holds every row that is served, and every webhook."""
    async with boxed() as box:
        document = (await box.get("/openapi.json")).json
        validate(document)
        served = {(path, method.upper()) for path, row in document["paths"].items() for method in row}
        assert served == {(route.path, route.method) for route in SERVED.routes}
        assert set(document["webhooks"]) == {
            "sentMessage", "incomingReplyMessage", "incomingMessage", "partnerOnboarding",
        }  # fmt: skip
        assert document["openapi"] == "3.1.0"
