"""The file of a recording has no secret, wherever one stands in a call."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus, urlencode

import orjson
import pytest

from sendbox import data
from sendbox.contract import schemas
from sendbox.engine.kinds.masking import KEYS, SECRETS
from sendbox.interfaces import ROUTES, UPLOADS
from sendbox.recording import standins
from sendbox.recording.exchange import Body, Budget, Exchange
from sendbox.recording.har import HarFile
from sendbox.recording.recorder import Checker, Recorder
from sendbox.recording.standins import StandIns
from sendbox.services.http.exchange import Route
from sendbox.services.http.requests import FORM

SERVICE: Final = "https://api.service.example"
DEFINITIONS: Final = schemas.load(data.folder("schemas"))
#: The names of fields with a secret, of all that the schemas of the interfaces have.
SECRET_FIELDS: Final = {"apikey", "token", "proof", "code", "list", "default_callback_secret"}
JWT: Final = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
ANSWER: Final = b'{"success":true}'


class Secrets:
    """Makes secrets, each another one, and remembers them."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def __call__(self, form: str = "s3cr{:04}et-Value") -> str:
        self.all.append(form.format(len(self.all)))
        return self.all[-1]


def call(
    url: str = "/v2/message",
    body: bytes | str = b"",
    headers: dict[str, str] | None = None,
    answer: bytes | str = ANSWER,
    answer_headers: dict[str, str] | None = None,
    **more: Any,
) -> Exchange:
    """A call on its way into the file."""
    budget = Budget()
    exchange = Exchange(
        at=0,
        url=url if "://" in url else f"{SERVICE}{url}",
        headers=_bytes({"content-type": "application/json", **(headers or {})}),
        body=Body(budget),
        answer=Body(budget),
        answer_headers=_bytes(answer_headers or {}),
        **{"method": "POST", "status": 200, **more},
    )
    for kept, piece in ((exchange.body, body), (exchange.answer, answer)):
        kept.add(piece.encode() if isinstance(piece, str) else piece)
    return exchange


def _bytes(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def in_headers(secret: Secrets) -> Iterator[Exchange]:
    """Every header with a key or a secret, and one that nobody knows, of requests and of answers."""
    names = {*KEYS, *SECRETS, "set-cookie", "x-auth-token", "x-request-signature", "x-of-somebody", "access-token"}
    for name in names:
        for value in ("{}", "Bearer {}", "a={}; b=1", "Digest username=m, response={}"):
            yield call(headers={name: value.format(secret())}, answer_headers={name: value.format(secret())})
    yield call(headers={"authorization": f"Basic {b64encode(f'maria:{secret()}'.encode()).decode()}"})
    yield call(answer_headers={"location": f"{SERVICE}/login?token={secret()}"})


def in_rows(secret: Secrets) -> Iterator[Exchange]:
    """The key of each row of the interfaces, where its row takes it, and each name of its schemas that is a secret."""
    for route in ROUTES:
        yield from _of_row(route, secret)
    for upload in UPLOADS:
        address = f"{SERVICE}{upload.path.partition('{')[0]}{secret('a1b2c3d4e5f6{:04}a1b2c3d4')}"
        yield call("/v1/messaging/url", answer=orjson.dumps({"success": True, "url": address}))
        yield call(address, b"{}", method="PUT")


def _of_row(route: Route, secret: Secrets) -> Iterator[Exchange]:
    more: dict[str, Any] = {"method": route.method}
    path = re.sub(r"\{(\w+)\}", lambda _: secret("f{:063x}"), route.path)
    key = secret()
    headers = {"content-type": route.request_type}
    if route.auth == "form":
        yield call(path, urlencode({"apikey": key, "number": "1"}), headers, **more)
        yield call(f"{path}?apikey={key}&number=1", headers=headers, **more)
    else:
        yield call(path, headers={**headers, "x-api-key": key}, **more)
        yield call(f"{path}?apikey={key}&xapikey={secret()}", headers=headers, **more)
    if route.request is not None and route.request_type != FORM:
        yield call(path, orjson.dumps(_filled(route.request, secret)), headers, **more)
    for status, schema in route.responses.items():
        if schema is not None:
            yield call(path, answer=orjson.dumps(_filled(schema, secret)), **more, status=status)


def _filled(schema: str, secret: Secrets) -> Any:
    """A value with each secret that a schema has a name for."""

    def fill(node: Any, name: str, depth: int = 8) -> Any:
        if not isinstance(node, dict) or not depth:
            return {}
        properties = {key: fill(value, key, depth - 1) for key, value in node.get("properties", {}).items()}
        if "items" in node:
            return [fill(node["items"], name, depth - 1)]
        if properties:
            return properties
        if name in SECRET_FIELDS:
            return secret("9{:05}") if name == "code" else secret()
        return "a value"

    return fill(schemas.inlined(DEFINITIONS, schemas.name_of(schema)), "")


def in_callbacks(secret: Secrets) -> Iterator[Exchange]:
    """User, password, values of the query and headers of an address for webhooks, wherever one is named."""
    fields = [name for node in DEFINITIONS.values() for name in _names(node) if "callback" in name]
    assert {"callback", "default_callback_url", "partner_callback_url"} <= set(fields)

    def address() -> str:
        return f"https://{secret()}:{secret()}@hooks.example/in?tenant=7&hook_token={secret()}&sig={secret()}"

    for name in fields:
        target = {"url": address(), "headers": {"Authorization": f"Bearer {secret()}", "X-Tenant": secret()}}
        for value in (address(), target):
            yield call(body=orjson.dumps({"to": [], name: value}))
            yield call(body=orjson.dumps([{"to": [], name: value}]))
            yield call(body=orjson.dumps({name: value}), answer=orjson.dumps({"me": {name: value}}))
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            yield call("/Send", urlencode({"number": "1", name: text}), {"content-type": FORM})
            yield call(f"/v2/simple/message?{urlencode({'to': '1', name: text}, quote_via=quote)}", method="GET")
    yield call(address(), b"[]", {"x-request-signature": secret("f{:063x}")}, webhook=True)
    yield call(body=orjson.dumps({"default_callback_secret": secret(), "verificationSecret": secret()}))


def in_texts(secret: Secrets) -> Iterator[Exchange]:
    """Bodies that are not JSON: XML, forms, YAML, lines, objects that break off; requests and answers."""
    texts = [
        f"<request><apikey>{secret()}</apikey><Password type='plain'>{secret()}</Password></request>",
        f"<auth:token><![CDATA[{secret()}]]></auth:token><user apikey=\"{secret()}\" password='{secret()}'/>",
        f"password={quote_plus(secret('p w&{:04}/é+x'))}&apikey={secret()}&a=1",
        f"api_key: {secret()}\npassword: {secret()}\nsession_token: '{secret()}'",
        f'{{"apikey": "{secret()}"}}\n{{"token": "{secret()}", "callback": "https://u:{secret()}@h.example/"}}',
        f'{{"apikey": "{secret()}", "client_secret": "{secret()}", "to": [{{"phone',
        f'--x\r\nContent-Disposition: form-data; name="apikey"\r\n\r\n{secret()}\r\n--x--',
        f'{{"token": "{secret("a{:04}u0041c-value")}"}}\n{{'.replace("u0041", "\\u0041"),
        f"see {JWT.replace('x', 'y')}, and https://{secret()}:{secret()}@h.example/?signature={secret()}",
        orjson.dumps({"log": f'{{"password": "{secret()}"}}', "line": f"Authorization: Bearer {secret()}"}).decode(),
        orjson.dumps({"deep": [[{"Password": secret(), "pwd": secret()}]], "passwords": [secret(), secret()]}).decode(),
        orjson.dumps({"credentials": {"login": secret(), "pins": [secret()]}, "passphrase": secret()}).decode(),
        f"signing-key={secret()}&b={quote(quote(quote(f'https://h.example/?code={secret()}')))}",
        orjson.dumps({"apikey": secret('quote"{:04}\\back'), "key": "0-0"}).decode(),
    ]
    secret.all.append(JWT.replace("x", "y"))
    for text in texts:
        yield call("/Send", text, {"content-type": "text/plain"})
        yield call("/Send", answer=text, answer_headers={"content-type": "text/plain"})


def told_elsewhere(secret: Secrets) -> Iterator[Exchange]:
    """A key and a secret that one part of a call names, in the texts of its other parts and of later calls."""
    key, token, sub_key = secret(), secret("t0ken{:04}value"), secret("sub{:04}key-01")
    yield call(
        f"/v1/chatapp/templates/{token}/list?tag={key}",
        orjson.dumps({"payload": {key: key, "note": f"of {key}."}, "token": token}),
        {"x-api-key": key},
        orjson.dumps({"message": f"Key '{key}' may not: {token}\n{sub_key}", "apikey": sub_key}),
        {"sendbox-journal": f"{SERVICE}/_sandbox/worlds/{key}/journal/1", "server": f"a{key}z"},
    )
    yield call(f"/v1/{sub_key}/x", f"plain {key} text", answer=f"{token} and x{key}x")
    yield call(body=b"{", error=f"closed ({key})", status=0, headers={"x-api-key": key})
    yield call("/v1/apikey/list", answer=orjson.dumps({"success": True, "list": [secret(), secret()]}), method="GET")


PLACES: Final = (in_headers, in_rows, in_callbacks, in_texts, told_elsewhere)


def _names(node: Any) -> Iterator[str]:
    for name, value in node.items() if isinstance(node, dict) else ():
        if name == "properties":
            yield from value
        yield from _names(value)


@pytest.mark.parametrize("place", PLACES, ids=[place.__name__ for place in PLACES])
def test_no_secret_is_written_or_printed(tmp_path: Path, place: Any) -> None:
    """Neither the file nor the lines have one, in no encoding."""
    secret, lines = Secrets(), list[str]()
    recorder = Recorder(HarFile(tmp_path / "a.har", 10**8), Checker, lines.append)
    exchanges = list(place(secret))
    for exchange in exchanges:
        recorder.add(exchange)
    recorder.close()
    raw = (tmp_path / "a.har").read_text("utf-8")
    assert len(json.loads(raw)["log"]["entries"]) == len(exchanges), lines
    text = "\n".join((raw, *lines))
    forms = (
        str,
        quote,
        quote_plus,
        lambda word: b64encode(word.encode()).decode(),
        lambda word: json.dumps(word)[1:-1],
    )
    assert [word for word in secret.all if any(form(word) in text for form in forms)] == []


def test_the_names_of_secrets_are_those_of_the_schemas() -> None:
    """Of all fields that the interfaces have, these are masked by their names, and no other is."""
    names = {name for node in DEFINITIONS.values() for name in _names(node)}
    long = "a-value-of-16-characters"
    masked = {name for name in names if StandIns().field(long, name, KEYS) != long}
    assert masked == SECRET_FIELDS


@pytest.mark.parametrize(
    ("secret", "word"),
    [
        ("4f6d1c80aa", "0000000001"),
        ("0d9c1f4e-52a7-4c1b-9d0e-3f6f0f1f6a11", "00000000-0000-0000-0000-000000000001"),
        (JWT, "ey000000000000000000.000000000000000.000000000001"),
        ("test-shop", "test-0001"),
        ("p w&/é", "000001"),
        ("--", "1"),
        (" ", " "),
    ],
)
def test_a_word_has_the_form_of_its_secret(secret: str, word: str) -> None:
    """So an id stays one, a code has six digits, and a token is a JWT; what is masked stays as it is."""
    stand_ins = StandIns()
    assert [stand_ins.secret(secret), stand_ins.secret(secret), stand_ins.secret(word)] == [word] * 3


def test_equal_secrets_have_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """And different ones have different words, also where too many are to be remembered."""
    stand_ins = StandIns()
    words = [stand_ins.secret(f"secret-{number}") for number in range(1_200)]
    assert len(set(words)) == 1_200
    assert words[:3] == [stand_ins.secret(f"secret-{number}") for number in range(3)]
    monkeypatch.setattr(standins, "MAX_WORDS", 10)
    monkeypatch.setattr(standins, "MAX_ANYWHERE", 2)
    stand_ins = StandIns()
    assert len({stand_ins.key(f"secret-{number}") for number in range(30)}) == 30
    assert stand_ins.text("secret-29 secret-12") == f"{stand_ins.key('secret-29')} secret-12"


def test_a_text_without_a_secret_stays_as_it_is() -> None:
    """Codes of coupons, positions, addresses in messages, and JSON as it was written."""
    for text in (
        '{"to": [{"key": "0-0", "x": null}],  "code": "SALE25", "error": {"code": 400}, "authenticated": true}',
        "OK|6ddb1484-e2a3-4ada-b60e-2340ad097479",
        '{"body": "see https://shop.example/upload/cat.png?size=1"}',
        '{"token": null, "secret": {}, "list": [{"name": "a"}]}',
        "a=%&b=100%25",
        '{"verify_token": true, "callback_tokens": 5}',
    ):
        assert StandIns().text(text) == text
    assert StandIns().text(f"a=%{'25' * 20}41") != f"a=%{'25' * 20}41"
    assert StandIns().text('{"pin_token": 123456, "a": 1.50}') == '{"pin_token":0,"a":1.5}'
