"""The Verify interface over the application: what the exchanges cannot show (remarks, journal, broken calls)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import orjson
import pytest

from sendbox.assembly import make_app
from sendbox.contract import validators
from sendbox.contract.validators import Contract
from sendbox.services.http.exchange import BODY_CAP
from sendbox.services.verify.verify import Verify
from sendbox.settings import Settings
from tests.scenarios import load

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PHONE = "420777000101"
CLAIM = {"phoneNumber": PHONE, "code": "123456", "timestamp": "2026-03-01T09:00:00.000Z", "proof": "00"}


@pytest.fixture
def client(sendbox: Sandbox) -> Iterator[httpx.Client]:
    """A client of the interface."""
    headers = {"X-API-Key": sendbox.api_key}
    with httpx.Client(base_url=sendbox.verify_url, transport=sendbox.transport, headers=headers) as made:
        yield made


def begin(client: httpx.Client, phone: str = PHONE, **more: Any) -> str:
    """Begins a session; its token."""
    answer = client.post("/v1/validations", json={"phoneNumber": phone, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["token"])


def codes_of(sendbox: Sandbox) -> list[str]:
    """Codes of advice so far."""
    return [item.code for item in sendbox.advice]


@pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "assume": {"unknown_fields": "refuse"}})
def test_a57_an_unknown_field_is_refused_if_it_is_assumed(client: httpx.Client) -> None:
    """In the shape of the interface, with the field."""
    answer = client.post("/v1/validations", json={"phoneNumber": PHONE, "phone": PHONE})
    assert (answer.status_code, answer.json()["error"]) == (400, "MISSING_FIELD")
    assert "phone" in answer.json()["message"]


# --- remarks


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"phoneNumber": PHONE}, []),
        ({"phoneNumber": PHONE, "phonenumber": 1, "zzz": 2}, ["unknown-field", "unknown-field"]),
        ({"phoneNumber": PHONE, **{f"x{n}": n for n in range(12)}}, ["unknown-field"] * 11),
        ({"phoneNumber": PHONE, "y" * 100: 1}, ["unknown-field"]),
        ({"phoneNumber": "777000123"}, ["national-number"]),
        ({"phoneNumber": "1234567"}, ["number-invalid"]),
        ({"phoneNumber": "99912345678"}, ["number-invalid"]),
        ({"phoneNumber": "12025550123"}, []),
    ],
    ids=["none", "unknown", "many-unknown", "long-name", "national", "short", "no-calling-code", "american"],
)
def test_advice_on_a_new_session(
    sendbox: Sandbox, client: httpx.Client, body: dict[str, Any], expected: list[str]
) -> None:
    """What is legal but doubtful draws advice, and nothing else does."""
    assert client.post("/v1/validations", json=body).status_code == 200
    assert codes_of(sendbox) == expected


def test_the_nearest_field_is_named(sendbox: Sandbox, client: httpx.Client) -> None:
    """A57: a slip of the pen is recognized."""
    begin(client, paylod={})
    (advice,) = sendbox.advice
    assert advice.message == '"paylod" is not a field here and has no effect; nearest is "payload"'
    assert (advice.path, advice.section, advice.assumed) == ("$.paylod", "§4.5", "A57")


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        (None, ["content-type-missing"]),
        ("text/plain", ["content-type-not-json"]),
        ("application/json; charset=utf-8", []),
    ],
)
def test_advice_on_content_types(
    sendbox: Sandbox, client: httpx.Client, content_type: str | None, expected: list[str]
) -> None:
    """A75: any content type is taken, with advice."""
    headers = {} if content_type is None else {"content-type": content_type}
    answer = client.post("/v1/validations", content=b'{"phoneNumber": "420777000101"}', headers=headers)
    assert answer.status_code == 200
    assert codes_of(sendbox) == expected


def test_advice_on_proofs_that_cannot_hold(sendbox: Sandbox, client: httpx.Client) -> None:
    """Without a secret, or before the session was verified, no proof is right, and the tester is told why."""
    token = begin(client)
    client.patch(f"/v1/validations/{token}", json={"proof": "00"})
    assert [item.message for item in sendbox.advice] == ["no proof can hold: the account has no verificationSecret"]
    sendbox.set_account(verificationSecret="s3cret")
    client.patch(f"/v1/validations/{token}", json={"proof": "00"})
    assert [item.message for item in sendbox.advice][1:] == ["no proof can hold: the session was not verified"]
    client.post(f"/v1/validations/{token}/verify", json={"code": sendbox.codes()[0].code})
    client.patch(f"/v1/validations/{token}", json={"proof": "00"})
    assert len(sendbox.advice) == 2


# --- the journal


def test_a_limit_is_explained(sendbox: Sandbox, client: httpx.Client) -> None:
    """The answer says that there is a limit, the journal which."""
    for _ in range(6):
        last = client.post("/v1/validations", json={"phoneNumber": PHONE})
    assert last.status_code == 429
    (finding,) = sendbox.requests[-1].findings
    assert finding.message == f"{PHONE} began 5 validations within 10m, the most that are allowed (A53)"
    assert (finding.section, finding.assumed) == ("§8", "A53")
    assert [entry.kind for entry in sendbox.journal if entry.get("order_sensitive")] == ["validation"] * 4 + ["limited"]


def test_an_offline_check_is_journaled_where_its_token_leads(sendbox: Sandbox, client: httpx.Client) -> None:
    """§5.4: no key is needed, and the world of the token still sees the call."""
    token = begin(client)
    answer = httpx.Client(transport=sendbox.transport).post(
        f"{sendbox.verify_url}/v1/verify-proof", json={**CLAIM, "token": token}
    )
    assert answer.json()["error"] == "VERIFICATION_DISABLED"
    assert sendbox.requests[-1].operation == "verifyProof"
    assert answer.headers["sendbox-journal"].endswith(f"/journal/{sendbox.requests[-1].n}")


def test_an_offline_check_of_nobodys_token_says_why(sendbox: Sandbox) -> None:
    """It is answered, in no world, and `/_sandbox/refused` says what became of it."""
    client = httpx.Client(transport=sendbox.transport)
    answer = client.post(f"{sendbox.verify_url}/v1/verify-proof", json={**CLAIM, "token": "0" * 64})
    assert (answer.status_code, answer.json()) == (200, {"valid": False})
    assert answer.headers["sendbox-journal"].endswith("/_sandbox/refused")
    refused = client.get(f"{sendbox.origin}/_sandbox/refused").json()["refused"][-1]
    assert refused["path"] == "/v1/verify-proof"
    assert refused["why"] == "the token in its body is of no open world"


# --- bodies of any kind


@pytest.mark.parametrize("body", [b"{}", b"[]", b'"x"', b"{", b'{"token": 5}', b'{"token": "\\u0000"}'])
def test_the_token_of_an_offline_check_may_be_anything(sendbox: Sandbox, body: bytes) -> None:
    """Whatever stands in the body, the call is answered."""
    answer = httpx.Client(transport=sendbox.transport).post(f"{sendbox.verify_url}/v1/verify-proof", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "MISSING_FIELD"


@pytest.mark.parametrize(("path", "left"), [("/v1/verify-proof", 0), ("/v1/validations", 6)])
def test_a_body_that_is_too_long(client: httpx.Client, path: str, left: int) -> None:
    """A75: it is refused before it is read whole, in the interface's shape."""
    answer = client.post(path, content=b" " * (BODY_CAP + 1))
    assert (answer.status_code, answer.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")
    assert answer.json()["attemptsRemaining"] == left


def test_s7_2_an_inner_error(sendbox: Sandbox, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """§7.2: INTERNAL_ERROR with 500, and the text of A54."""

    def broken(*_: Any) -> None:
        raise ArithmeticError

    monkeypatch.setattr(Verify, "create", broken)
    answer = client.post("/v1/validations", json={"phoneNumber": PHONE})
    assert answer.status_code == 500
    assert answer.json() == {"error": "INTERNAL_ERROR", "message": "Internal server error", "attemptsRemaining": 6}


# --- a server of its own


@pytest.mark.asyncio
@pytest.mark.parametrize("known", [True, False], ids=["a-world", "nobodys"])
async def test_the_first_refusal_of_a_process(known: bool) -> None:
    """What explains a refusal is imported off the loop, and the call is answered then."""
    validators._engine_class.cache_clear()
    app = make_app(Settings(mode="manual"), load("default"), Contract(deferred=True))
    transport, runtime = httpx.ASGITransport(app), app.runtime
    token = runtime.open("test-a").world.tag if known else ""
    async with httpx.AsyncClient(transport=transport, base_url="http://box:7357") as client:
        answer = await client.post("/v1/verify-proof", json={"token": token})
    await runtime.aclose()
    assert answer.json()["message"] == "Missing required field: phoneNumber"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "body", "status", "answer"),
    [
        ("/v1/verify-proof", CLAIM, 200, {"valid": False}),
        (
            "/v1/validations",
            {"phoneNumber": PHONE},
            401,
            {"error": "INVALID_API_KEY", "message": "Invalid or disabled API key", "attemptsRemaining": 6},
        ),
    ],
)
async def test_a_world_that_is_closed_while_a_call_is_on_its_way(
    path: str, body: dict[str, Any], status: int, answer: dict[str, Any]
) -> None:
    """A late call is denied in the interface's shape; one without key is nobody's."""
    app = make_app(Settings(mode="manual"), load("default"), Contract())
    runtime = app.runtime
    hosted = runtime.open("test-a")
    sent: list[Any] = []
    text = orjson.dumps({**body, "token": hosted.world.tag})

    async def receive() -> dict[str, Any]:
        hosted.gone = path == "/v1/validations"
        return {"type": "http.request", "body": text}

    async def send(event: Any) -> None:
        sent.append(event)

    def began() -> object:
        hosted.gone = True
        return object()

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(b"host", b"box"), (b"x-api-key", b"test-a")],
        "query_string": b"",
        "scheme": "http",
        "server": ("box", 80),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(hosted), "request_began", lambda _self: began())
        await app(scope, receive, send)
    await runtime.aclose()
    assert (sent[0]["status"], orjson.loads(sent[1]["body"])) == (status, answer)


# --- determinism


def test_two_runs_have_one_digest(sendbox: Sandbox, client: httpx.Client) -> None:
    """Tokens, proofs and timestamps are names and instants: they never tell two runs apart."""

    def run() -> str:
        token = begin(client)
        sendbox.advance("1m")
        client.post(f"/v1/validations/{token}/verify", json={"code": "x"})
        code = sendbox.codes()[0].code
        values = client.post(f"/v1/validations/{token}/verify", json={"code": code}).json()
        client.patch(f"/v1/validations/{token}", json={"proof": values["proof"]})
        claim = {name: values[name] for name in ("phoneNumber", "token", "code", "timestamp", "proof")}
        assert client.post("/v1/verify-proof", json=claim).json() == {"valid": True}
        client.post("/v1/verify-proof", json={"token": token})
        sendbox.advance("1h")
        return sendbox.digest

    digests = []
    for start in ("2026-03-01T09:00:00Z", "2027-05-05T00:00:00Z"):
        sendbox.load(
            {
                "sendbox": 1,
                "extends": "default",
                "clock": {"mode": "manual", "start": start},
                "account": {"verificationSecret": "s3cret"},
            }
        )
        digests.append(run())
    assert digests[0] == digests[1]
