"""Webhooks through the recorder: addresses that take the place of the client's, and what arrives at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import httpx
import orjson
import pytest

from sendbox.recording import proxy
from sendbox.recording.proxy import Callbacks
from tests.commands.sandbox import sandbox
from tests.recording.recording import exchanged, recording, request
from tests.serving import free_port
from tests.webhooks.receiver import OK, answering, header, receiving

OURS = "https://hooks.example"
MINE = "https://u:p@client.example/in?a=1"
FIRST, SECOND = f"https://u:p@hooks.example{proxy.PATH}0", f"{OURS}{proxy.PATH}1"

#: Requests without an address to replace.
UNCHANGED: list[Any] = [{"callback": ""}, {"callback": "https://["}, {"callback": FIRST}, {"to": []}]


@pytest.mark.parametrize(
    ("body", "replaced"),
    [
        ({"callback": MINE, "body": MINE}, {"callback": FIRST, "body": MINE}),
        ([{"callback": {"url": MINE, "item": MINE}}], [{"callback": {"url": FIRST, "item": MINE}}]),
        ({"default_callback_url": MINE, "a": [1.5, None]}, {"default_callback_url": FIRST, "a": [1.5, None]}),
        ({"partner_callback_url": MINE}, {"partner_callback_url": FIRST}),
        *((body, body) for body in UNCHANGED),
    ],
)
def test_addresses_in_json(body: Any, replaced: Any) -> None:
    """An address of a callback is replaced, no other text; user and password stay for the service to send."""
    given = Callbacks(OURS, print)
    if body == {"callback": FIRST}:
        given = Callbacks("https://u:p@hooks.example", print)
    raw = orjson.dumps(body, option=orjson.OPT_INDENT_2)
    assert given.replace(raw) == (raw if body == replaced else orjson.dumps(replaced))


def test_addresses_in_parameters() -> None:
    """The same for a query, a form, and the object form as JSON in one of them."""
    given = Callbacks(OURS, print)
    form = urlencode({"number": "1", "callback": MINE, "x": MINE})
    assert parse_qs(given.replace(form.encode()).decode()) == {"number": ["1"], "callback": [FIRST], "x": [MINE]}
    nested = urlencode({"callback": orjson.dumps({"url": "http://b.example"}).decode()})
    assert parse_qs(given.replace_parameters(nested))["callback"] == [orjson.dumps({"url": SECOND}).decode()]
    for same in (b"number=1&callback=", b"callback=no%20address", b"a\xff=callback"):
        assert given.replace(same) == same


def test_paths_lead_back() -> None:
    """A path has its address, with the query that came; what was never given out has none."""
    given = Callbacks(OURS, print)
    given.replace(orjson.dumps([{"callback": MINE}, {"callback": "http://b.example/"}, {"callback": MINE}]))
    originals = [given.original(f"{proxy.PATH}{number}", query) for number, query in ((0, ""), (0, "e=1"), (1, "e"))]
    assert originals == ["https://client.example/in?a=1", "https://client.example/in?a=1&e=1", "http://b.example/?e"]
    assert [given.original(path, "") for path in ("/0", f"{proxy.PATH}2", f"{proxy.PATH}x")] == [None] * 3


def test_a_bound_of_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further addresses stay as they are, which is said once."""
    monkeypatch.setattr(proxy, "MAX_ADDRESSES", 1)
    said: list[str] = []
    given = Callbacks(OURS, said.append)
    bodies = [orjson.dumps({"callback": f"http://{name}.example"}) for name in "abc"]
    assert [given.replace(body) == body for body in bodies] == [False, True, True]
    assert said == ["1 callback addresses are replaced; further ones stay as they are"]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_webhook_goes_over_the_recorder(tmp_path: Path) -> None:
    """It arrives as the service made it, its answer goes back, and the file has it, without the secrets of both."""
    port, key = free_port(), "test-webhooks"
    async with (
        sandbox(mode="manual") as service,
        receiving(answering(OK, keep=False)) as client,
        recording(
            service.origin, tmp_path / "a.har", port=port, more={"callbacks": f"http://127.0.0.1:{port}"}
        ) as recorder,
        httpx.AsyncClient(base_url=recorder.origin, trust_env=False, timeout=60, headers={"x-api-key": key}) as http,
    ):
        secret = {"default_callback_secret": "signs-everything"}
        assert (await http.post("/v1/apikey/update", json=secret)).status_code == 200
        callback = {"url": f"{client.url}?token=of-the-hook", "headers": {"X-Auth": "of-the-client"}}
        message = {"body": "Hi", "to": [{"phone_number": "420777000101"}], "callback": callback}
        sent = await http.post("/v2/message", json=message)
        query = {"apikey": key, "number": "420777000101", "message": "Hi", "callback": client.url}
        assert (await http.get("/Send", params=query)).text.startswith("OK|")
        async with httpx.AsyncClient(base_url=service.origin, trust_env=False, timeout=60) as control:
            moved = await control.post(f"/_sandbox/worlds/{key}/clock/advance", json={"by": "1m"})
        assert (moved.json()["deliveries"], moved.json()["failed"]) == (6, 0)
        assert len(client.requests) == 6
        first = next(raw for raw in client.requests if raw.startswith(b"POST /hook?token=of-the-hook HTTP/1.1\r\n"))
        assert header(first, "X-Auth") == "of-the-client"
        assert header(first, "X-Request-Signature")
        assert header(first, "Host") == f"127.0.0.1:{client.port}"
        events = orjson.loads(first.partition(b"\r\n\r\n")[2])
        assert events[0]["message_id"] == sent.json()["accepted"][0]["message_id"]
        assert await exchanged(port, request(f"POST {proxy.PATH}99", b"[]")) == b""
        await recorder.line(f"{proxy.PATH}99 is no address that this recorder gave out")
        await exchanged(port, request(f"POST {proxy.PATH}0", b'[{"result": "odd"}]'))
        assert "POST /hook: webhook: " in await recorder.line(": webhook: ")
    webhooks = [entry for entry in recorder.entries() if entry.get("_webhook")]
    assert [entry["response"]["content"]["text"] for entry in webhooks] == ["ok"] * 7
    assert webhooks[0]["request"]["url"].startswith(client.url)
    assert not [line for line in recorder.lines if ": answer: " in line]
    text = recorder.file.read_text("utf-8")
    secrets = ("signs-everything", "of-the-hook", "of-the-client", header(first, "X-Request-Signature"), key)
    assert [word for word in secrets if str(word) in text] == []


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_requests_that_are_not_replaced_stay_as_they_are(tmp_path: Path) -> None:
    """With --callbacks too: a body without an address, a compressed one, and one whose length is not known."""
    async with receiving(answering(OK, keep=False)) as service:
        more = {"callbacks": "http://hooks.example"}
        async with recording(f"http://127.0.0.1:{service.port}", tmp_path / "a.har", more=more) as recorder:
            await exchanged(recorder.port, request("POST /v2/message?callback=http://c.example", b'{"a":  1}'))
            packed = request("POST /v2/message", b'{"callback": "http://c"}', content_encoding="x")
            await exchanged(recorder.port, packed)
            await exchanged(recorder.port, request("GET /v1/apikey/me"))
    raws = [raw.partition(b"\r\n\r\n") for raw in service.requests]
    assert [body for _, _, body in raws] == [b'{"a":  1}', b'{"callback": "http://c"}', b""]
    replaced = b"POST /v2/message?callback=http%3A%2F%2Fhooks.example%2F_record%2Fwebhooks%2F0 HTTP/1.1"
    assert raws[0][0].startswith(replaced)
