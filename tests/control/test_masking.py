"""Secrets are masked in what people read, and in nothing that must repeat."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import pytest

from sendbox.app import SERVED
from sendbox.engine.answer import plain
from sendbox.engine.kinds.masking import MASK, Mask, key_shown, masked
from tests.box import Box, boxed

#: A key that may be one of the real service.
REAL: Final = "live-9f3b77c2"
WORLD: Final = f"/_sandbox/worlds/{REAL}"
USER, PASSWORD, HEADER = "maria-k", "pa55-of-hooks", "Bearer 77aa88bb99"
SIGNS, PROVES, SECOND = "signs-webhooks-1", "proves-codes-1", "signs-anew-2"
TOKEN: Final = "t0ken-of-hooks"
SECRETS: Final = (USER, PASSWORD, TOKEN, HEADER, HEADER.split()[1], SIGNS, PROVES, SECOND)
CALLBACK: Final = f"http://{USER}:{PASSWORD}@203.0.113.9/hook?run=7&hookToken={TOKEN}"
SCENARIO: Final = f"""
sendbox: 1
account:
  default_callback_url: "{CALLBACK}"
  default_callback_secret: {SIGNS}
  verificationSecret: {PROVES}
"""
PHONE: Final = "420777000101"


async def lived(box: Box) -> list[str]:
    """A world with a secret in each place; the ids of its messages."""
    await box.open(REAL, scenario=SCENARIO)
    callback = {"url": CALLBACK, "headers": {"Authorization": HEADER, "X-Request-Id": "of the client"}}
    sent = await box.send(PHONE, key=REAL, callback=callback)
    sent += await box.send(PHONE, key=REAL, callback=CALLBACK)
    await box.send(PHONE, key=REAL, unknown_field=CALLBACK.partition("?")[0])
    fields = {"apikey": REAL, "number": PHONE, "message": "Hello"}
    in_json = orjson.dumps(callback).decode()
    spoilt = in_json.replace("Bearer ", "Bearer\\n")
    for form in (fields, *({**fields, "callback": text} for text in (in_json, spoilt, in_json[:-2]))):
        raw = urlencode(form)
        await box.call("POST", "/Send", raw.encode(), {"content-type": "application/x-www-form-urlencoded"})
        await box.get(f"/v2/simple/message?{raw}")
    await box.get(f"/v2/simple/message?apikey={REAL}&to={PHONE}&body=Hello")
    await box.post("/v1/apikey/update", {"default_callback_secret": SECOND}, x_api_key=REAL)
    await box.post("/v1/apikey/update", {"default_callback_secret": [SIGNS]}, x_api_key=REAL)
    for headers in ({"Authorization": f"{HEADER}\n"}, [HEADER], HEADER, {"not a name": HEADER}):
        message = {"body": "Hi", "to": [{"phone_number": PHONE}], "callback": {"url": CALLBACK, "headers": headers}}
        answer = await box.post("/v2/message", message, x_api_key=REAL)
        assert "not a name" in headers or HEADER in answer.body.decode()  # the client that sent it may see it
        await box.post("/v2/messages", [message], x_api_key=REAL)
    assert (await box.patch(f"{WORLD}/account", {"verificationSecret": SECOND})).status == 200
    broken = b'{"callback": {"url": "%s", "headers": {"X-Auth": "%s"}, ' % (CALLBACK.encode(), HEADER.encode())
    await box.call("POST", "/v2/message", broken, {"x-api-key": REAL})
    await box.post("/v2/message", {}, x_api_key="another-real-key")
    await box.advance("1m", key=REAL)
    return sent


#: A callback of a form, masked.
FORM: Final = "a=1&callback=%7B%22url%22%3A%22x%22%2C%22headers%22%3A%7B%22A%22%3A%221234…%22%7D%7D&b=+2"


def shows(text: str, *secrets: str) -> list[str]:
    """The secrets that a text has; an id of a world in an address, or as such, is none."""
    bare = re.sub(rf'/worlds/{REAL}|"(?:id|world)":"{REAL}"', "", text)
    return [secret for secret in (*secrets, *SECRETS, REAL) if secret in bare]


async def asked(box: Box, row: Any, message: str) -> list[str]:
    """The answers of an operation that reads, in every form that it has."""
    shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
    values = {
        "id": REAL, "message_id": message, "number": PHONE, "delivery": shown[0]["id"], "dimension": "operations",
        "name": "default", "signup": "none", "n": "",
    }  # fmt: skip
    path = "/_sandbox" + row.path
    for name, value in values.items():
        if name != "n":
            path = path.replace(f"{{{name}}}", value)
    length = (await box.get(f"{WORLD}/journal?limit=1")).json["length"]
    paths = [path.replace("{n}", str(number)) for number in range(length)] if "{n}" in path else [path]
    query = {"compare": f"with={REAL}", "explain": f"message_id={message}"}.get(row.name, "")
    forms = {"journal": ["form=told", "limit=1000"], "requests": ["form=short"], "deliveries": ["form=short"]}
    asked = [f"{one}?{form}" for one in paths for form in (query, *forms.get(row.name, []))]
    return [(await box.get(one)).body.decode() for one in asked]


@pytest.mark.asyncio
async def test_no_view_and_no_line_shows_a_secret() -> None:
    """Every operation that reads, in every form, and the log; what must repeat has all of them."""
    async with boxed(keys=frozenset({REAL})) as box:
        message, *_ = await lived(box)
        seen = 0
        for row in SERVED.operations:
            addresses = row.name in ("world", "worlds")  # the id of a world is its key
            if row.method != "GET" or (row.unmasked and not addresses):
                continue
            for text in await asked(box, row, message):
                assert shows(text) == [REAL] * addresses, (row.name, text)
                seen += "…" in text
        assert seen > 20
        assert [line for line in box.log if shows(line[1]) or REAL in line[0]] == []
        assert any(world == "live…" for world, _ in box.log)
        assert "another-real-key" not in (await box.get("/_sandbox/refused")).body.decode()
        for path in ("record", "export", "export?as=record"):
            text = (await box.get(f"{WORLD}/{path}")).body.decode()
            assert "…" not in text
            assert {USER, PASSWORD, TOKEN, HEADER, SECOND, REAL} <= set(shows(text))


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_what_must_repeat_is_as_in_the_world() -> None:
    """Canonical entries, digest and the outbox are equal to those of the operations in this process."""
    async with boxed(keys=frozenset({REAL})) as box:
        await lived(box)
        control = box.app.control
        for name, arguments in (("journal", {"form": "canonical"}), ("digest", {}), ("record", {})):
            query = "&".join(f"{field}={value}" for field, value in arguments.items())
            answer = (await box.get(f"{WORLD}/{name}?{query}")).json
            there = await control.perform("http://box:7357", name, REAL, arguments)
            assert answer == plain(there)
        await box.post(f"{WORLD}/outbox")
        await box.send(PHONE, key=REAL, callback={"url": CALLBACK, "headers": {"Authorization": HEADER}})
        advance = box.post(f"{WORLD}/clock/advance", {"by": "1m"})
        task = asyncio.ensure_future(advance)
        calls = (await box.post(f"{WORLD}/outbox?wait=10s")).json["calls"]
        assert ["Authorization", HEADER] in calls[0]["headers"]
        task.cancel()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:p@ss@host.example/x", "https://…@host.example/x"),
        ("url=https%3A%2F%2Fu%3Ap%40h%2Fx&apikey=live-12345&a=1", "url=https%3A%2F%2F…%40h%2Fx&apikey=live…&a=1"),
        ("apikey=test-a", "apikey=test-a"),
        ('{"callback":{"url":"x","headers":{"A":"123456789"}}}', '{"callback":{"url":"x","headers":{"A":"1234…"}}}'),
        ('{"callback":{"headers":["A"]}}', '{"callback":{"headers":"…"}}'),
        ('{"callback":{"headers":[["A","b"],["Content-Type","x"]]}}', None),
        ('{ "body": "Hello" }', '{ "body": "Hello" }'),
        ('{"secret": 5, "password": "12"}', '{"secret":5,"password":"…"}'),
        ('callback: {"headers": {"A": "123456789"', 'callback: {"headers": {"A": "1234…"'),
        ("callback:\n  headers:\n    A: 123456789\n  x: 1", "callback:\n  headers:\n    A: 1234…\n  x: 1"),
        ("default_callback_secret: s3cret", "default_callback_secret: …"),
        ("the account has no verificationSecret (§4.5)", "the account has no verificationSecret (§4.5)"),
        ("", ""),
        (f'"{HEADER}" is not legal (§1) at $.callback.headers.A', '"Bea… is not legal (§1) at $.callback.headers.A'),
        (
            f"refused send: [\"{HEADER}\"] is not a \\nlegal at $.x[0].callback.headers['A B'] (there is {HEADER})",
            "refused send: [\"Be… is not a \\nlegal at $.x[0].callback.headers['A B']",
        ),
        (f'line 3 of b-1: "{HEADER}" is odd at $.callback.headers.A', "line 3 of b-1: … at $.callback.headers.A"),
        ("secret is missing; required at $.secret", "secret is missing; required at $.secret"),
        ("17 is not a string at $['password']", "… is not a string at $['password']"),
        ('"{\\"headers\\":…" is not JSON at $.callback', '"{\\"… is not JSON at $.callback'),
        ('"x" is not an address at $.callback', '"x" is not an address at $.callback'),
        ("meet at $5", "meet at $5"),
        ("a=1&callback=%7B%22url%22%3A%22x%22%2C%22headers%22%3A%7B%22A%22%3A%22123456789%22%7D%7D&b=+2", FORM),
        ("callback=headers%3A+%7B%22A%22%3A+%22123456789", "callback=headers%3A+%7B%22A%22%3A+%221234…"),
        ("callback=http%3A%2F%2Fh%2Fheaders&b=%20", "callback=http%3A%2F%2Fh%2Fheaders&b=%20"),
        ("callback=http%3A%2F%2Fh%3Ftoken%3D123456789&b=1", "callback=http%3A%2F%2Fh%3Ftoken%3D1234…&b=1"),
        ('{"callback":"http://h/?a=1&sig=123456789"}', '{"callback":"http://h/?a=1&sig=1234…"}'),
        ('{"callback":{"url":"http://h/?sig=123456789"}}', '{"callback":{"url":"http://h/?sig=1234…"}}'),
        ('{"callback": {"url": "http://h/?sig=123456789", ', '{"callback": {"url": "http://h/?sig=1234…", '),
        ("default_callback_url: http://h/?a=1&Access_Token=x", "default_callback_url: http://h/?a=1&Access_Token=…"),
        ("http://h/?key=test-a&apikey=test-b", "http://h/?key=test-a&apikey=test-b"),
        (
            '{"body":"Sign in: https://shop.example/?token=123456789"}',
            '{"body":"Sign in: https://shop.example/?token=123456789"}',
        ),
        ("x://y@z, ftp://me:pass@db", "x://y@z, ftp://…@db"),
    ],
)
def test_texts(text: str, shown: str | None) -> None:
    """Addresses, forms, JSON and YAML are masked where they have something to hide, and are as they were else."""
    expected = '{"callback":{"headers":[["A","…"],["Content-Type","x"]]}}' if shown is None else shown
    assert MASK.text(text) == expected
    assert MASK.text(expected) == expected


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        ({"target": "http://h/?token=123456789", "tries": []}, "http://h/?token=1234…"),
        ({"delivery": "d1", "target": "http://h/?token=123456789"}, "http://h/?token=1234…"),
        ({"targets": ["http://h/?token=123456789"]}, "http://h/?token=1234…"),
        ({"url": "http://h/?token=123456789", "headers": []}, "http://h/?token=1234…"),
        ({"url": "http://h/s/1", "target": "https://shop.example/?token=123456789"}, None),
    ],
    ids=["delivery", "try", "event", "request", "link of a message"],
)
def test_addresses(view: dict[str, Any], shown: str | None) -> None:
    """In the address of a webhook a token is masked, in a link of a message it is not."""
    raw = MASK.encoded(view).decode()
    assert (shown or "https://shop.example/?token=123456789") in raw
    assert ("123456789" in raw) == (shown is None)
    assert MASK.line("webhook to http://h/?a=1&token=123456789 500, try 1") == (
        "webhook to http://h/?a=1&token=1234… 500, try 1"
    )


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ([["Set-Cookie", "123456789"], ["Server", "x"]], [["Set-Cookie", "1234…"], ["Server", "x"]]),
        ({"Set-Cookie": "123456789", "Retry-After": 5}, {"Set-Cookie": "1234…", "Retry-After": 5}),
        ([], []),
        ([5], [5]),
        (None, None),
    ],
    ids=["of a receiver", "of a rule", "none", "no pairs", "null"],
)
def test_headers_of_an_answer(headers: object, shown: object) -> None:
    """A rule has them by name, and what was refused in any form."""
    view = MASK.view({"status": 502, "headers": headers, "body": "x"})
    assert view == {"status": 502, "headers": shown, "body": "x"}


@pytest.mark.asyncio
async def test_the_answer_of_a_rule_is_shown() -> None:
    """Control put the rule, and the journal and the report have it."""
    async with boxed() as box:
        await box.open()
        answer = {"status": 502, "headers": {"Content-Type": "text/html"}, "body": "<html>"}
        put = await box.post("/_sandbox/worlds/test-1/rules", {"in": "api", "fault": {"answer": answer}})
        assert put.status == 201
        for view in ("journal", "report"):
            assert (await box.get(f"/_sandbox/worlds/test-1/{view}")).status == 200


def test_what_is_known_is_masked_everywhere() -> None:
    """Secrets of a world wherever they stand as a word; its id but where it is its address; short ones only by name."""
    mask = Mask(["s3cret-77", "code"], REAL)
    assert mask.text(f"s3cret-77, s3cret-777, your code, {REAL}~sub, /worlds/{REAL}/hook") == (
        f"s3cr…, s3cret-777, your code, live…~sub, /worlds/{REAL}/hook"
    )
    assert mask.view({"secret": "code", "body": "your code"}) == {"secret": "…", "body": "your code"}
    view = {"id": REAL, "key": REAL, "note": REAL, "more": (1, None, REAL)}
    assert orjson.loads(mask.encoded(view)) == {"id": REAL, "key": "live…", "note": "live…", "more": [1, None, "live…"]}
    assert Mask((), "abc").view({"id": "abc"}) == {"id": "abc"}
    assert MASK.encoded({"key": "test-a"}) == b'{"key":"test-a"}'
    assert MASK.encoded({"key": "live"}) == '{"key":"…"}'.encode()


@pytest.mark.parametrize(
    ("finding", "shown"),
    [
        ({"path": "$.callback.headers.A", "value": '"123456789"'}, {"value": '"123…'}),
        ({"path": "$.callback.headers.A", "value": None}, {"value": None}),
        ({"path": "$.body", "value": '"123456789"'}, None),
        ({"path": 5}, None),
    ],
)
def test_findings(finding: dict[str, Any], shown: dict[str, Any] | None) -> None:
    """One about a secret has neither its value nor its message with it."""
    whole = {**finding, "rule": "pattern", "message": '"123456789" is not legal'}
    expected = whole if shown is None else {**whole, **shown, "message": '"123… is not legal'}
    assert MASK.view(whole) == expected


def test_a_masked_key() -> None:
    """What begins with `test-` is whole; what is masked stays as it is."""
    assert [key_shown(key) for key in ("test-a", REAL, "short", "")] == ["test-a", "live…", "…", ""]
    assert masked("live…") == "live…"
