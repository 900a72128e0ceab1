"""Calls that were recorded at a sandbox, made again: equal settings agree, other settings are named."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from sendbox.comparing import report
from sendbox.comparing.comparison import ComparedCall, comparison
from sendbox.comparing.recording import read
from sendbox.comparing.running import OUTSIDE
from sendbox.services.operations import CALLS
from tests.box import KEY, WORLD, Box, boxed
from tests.comparing.recorder import SERVICE, Recorder, har
from tests.conformance import exchanges
from tests.scenarios import load

TWO: Final = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]
FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
#: Cases that cannot be equal: a path without its version is found all the same.
OTHERS: Final = ("version-2-stands-in-the-path", "version-is-none-in-the-path-of-the-legacy-interface")


def _comparable(case: exchanges.Case) -> bool:
    """True if a case has only calls and times: the actions of a tester are in no recording."""
    acts = any("control" in step or step.get("advance") == "0s" for step in case.steps)
    usual = case.scenario is None and not case.receiver and case.start == exchanges.START
    return usual and not acts and case.name not in OTHERS


@pytest.fixture(scope="module")
def everything() -> bytes:
    """The calls of all such conformance cases."""

    async def made() -> bytes:
        async with boxed() as box:
            recorder = Recorder(box)
            for case in filter(_comparable, exchanges.load()):
                assert await exchanges.run(case, recorder) == []
            return recorder.har()

    return asyncio.run(made())


def said(compared: list[ComparedCall]) -> list[str]:
    return list(report.lines(compared))


@pytest.mark.deep
@pytest.mark.parametrize("values", [False, True])
def test_equal_settings_agree(everything: bytes, values: bool) -> None:
    """No answer differs, over calls of every interface; the calls that cannot be made are named."""
    compared = comparison(read(everything), load("default"), values=values)
    assert report.differing(compared) == 0, said(compared)
    places = [one.made.place for one in compared if one.made.answer is not None]
    interfaces = {place.route.interface for place in places if place is not None and place.route is not None}
    assert interfaces == {row.interface for row in CALLS.values()} - {"bulk", "links"}
    assert {one.made.why for one in compared if one.made.answer is None} == {OUTSIDE}
    assert any(place is not None and place.path.startswith("/upload/") for place in places)


async def recorded(box: Box, **assume: str) -> Recorder:
    """The same few calls, under settings of assumptions."""
    await box.open(scenario={"sendbox": 1, "extends": "default", "assume": assume})
    recorder = Recorder(box)
    await recorder.post("/v2/message", {"body": "Hi", "to": TWO}, x_api_key=KEY)
    await recorder.post("/v2/messages", [{"body": "Hi", "to": TWO}, {"body": "Ho", "to": TWO[:1]}], x_api_key=KEY)
    await box.advance("1m")
    await recorder.call("POST", "/Send", f"apikey={KEY}&number=420777000101".encode(), FORM)
    await recorder.call("GET", f"/api-send.php?apikey={KEY}&to=420777000101&message=Hi")
    return recorder


@pytest.fixture(scope="module")
def others() -> bytes:
    async def made() -> bytes:
        async with boxed() as box:
            return (await recorded(box, legacy_error="plain", messages_accepted="recipient")).har()

    return asyncio.run(made())


@pytest.mark.unmeasured
def test_other_settings_are_named(others: bytes) -> None:
    """Exactly the answers that differ are named, each with the setting that agrees."""
    assert said(comparison(read(others), load("default"))) == [
        "call 2, POST /v2/messages: at $.accepted the recording has 3 entries, the answer here has 2 entries",
        "    A09 (F) who gets which message id; agrees with messages_accepted: recipient",
        'call 3, POST /Send: at line 1 the recording has "ERROR", the answer here has "ERROR|202"',
        "    A13 (F) legacy /Send and /api-send.php; agrees with legacy_error: plain",
        "2 of 4 calls differ",
    ]
    agreed = load({"sendbox": 1, "assume": {"legacy_error": "plain", "messages_accepted": "recipient"}})
    assert said(comparison(read(others), agreed)) == ["0 of 4 calls differ"]


@pytest.mark.unmeasured
def test_the_report_to_send(others: bytes) -> None:
    """It has no bodies, keys, phone numbers or values."""
    sent = report.as_object(comparison(read(others), load("default"), values=True))
    assert (sent["calls"], sent["compared"], sent["passed_over"]) == (4, 4, [])
    assert sent["differences"][-1] == {
        "call": 3,
        "operation": "legacySend",
        "method": "POST",
        "path": "/Send",
        "kind": "line",
        "at": "line 1",
        "recorded": "ERROR",
        "here": "ERROR|202",
        "assumptions": [{"id": "A13", "title": "legacy /Send and /api-send.php", "confidence": "F"}],
        "agrees": [{"setting": "legacy_error", "value": "plain"}],
        "body_differs": False,
    }
    text = json.dumps(sent)
    assert KEY not in text
    assert "420777" not in text
    assert '"0-0"' not in text


@pytest.mark.asyncio
async def test_codes_and_proofs_are_those_of_here() -> None:
    """A code that was right is replaced by the code of the session here, and the proof by the proof of here."""
    scenario = {"sendbox": 1, "extends": "default", "account": {"verificationSecret": "shared"}}
    async with boxed() as box:
        recorder = Recorder(box)
        await box.open(seed=7, scenario=scenario)
        token = (await recorder.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)).json["token"]
        await box.advance("10s")
        code = (await box.get(f"{WORLD}/codes")).json["codes"][0]["code"]
        at = f"/v1/validations/{token}"
        wrong = "000000" if code != "000000" else "000001"
        assert (await recorder.post(f"{at}/verify", {"code": wrong}, x_api_key=KEY)).status == 400
        verified = (await recorder.post(f"{at}/verify", {"code": code}, x_api_key=KEY)).json
        request = {"phoneNumber": "420777000101", "token": token, "code": code} | {
            name: verified[name] for name in ("timestamp", "proof")
        }
        checked = await recorder.post("/v1/verify-proof", request)
        assert checked.json["valid"] is True
    calls = read(recorder.har())
    compared = await asyncio.to_thread(comparison, calls, load({**scenario, "seed": 8}))
    assert said(compared) == ["0 of 4 calls differ"]
    assert compared[-1].made.answer is not None
    assert b'"valid":true' in compared[-1].made.answer.body


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_names_and_keys() -> None:
    """Names of answers are used in later calls; a denied key opens no world; a sub-key is made by its parent."""
    async with boxed() as box:
        recorder = Recorder(box)
        await box.open()
        (name,) = await recorder.send("420777000101")
        await recorder.post("/v2/message", {"body": "Hi", "to": TWO}, x_api_key="production-key")
        await recorder.get("/v1/apikey/me", x_api_key="production-key")
        assert (await recorder.post("/v1/chatapp/accounts/list", {}, x_api_key="production-key")).status == 200
        bill = {"billing_name": "Acme", "billing_email": "bills@acme.example", "currency": "czk"}
        sub = (await recorder.post("/v1/apikey/add", bill, x_api_key=KEY)).json
        assert (await recorder.get("/v1/apikey/list", x_api_key=KEY)).json["list"] == [sub["apikey"]]
        await box.advance("1m")
        assert (await recorder.get(f"/v1/message?id={name}", x_api_key=KEY)).status == 200
        await recorder.send("420777000101", key=sub["apikey"])
    assert said(await asyncio.to_thread(comparison, read(recorder.har()), load("default"))) == ["0 of 8 calls differ"]


def test_a_subkey_of_any_form() -> None:
    """A new sub-key is known by its place in the answer, also where it looks like no other id."""
    answer = {"success": True, "apikey": "shop-7", "billing_id": None}
    entries = [
        _entry("https://api.service.example/v1/apikey/add", 200, answer, {"shared": True}),
        _entry("https://api.service.example/v1/apikey/list", 200, {"success": True, "list": []}),
    ]
    entries[1]["request"]["headers"] = [{"name": "X-API-Key", "value": "shop-7"}]
    assert said(comparison(read(har(entries)), load("default"))) == ["0 of 2 calls differ"]


@pytest.mark.asyncio
async def test_a_failure_is_not_a_denial() -> None:
    """A key whose only call failed for another reason, under the status of a denial, is a key of the account."""
    async with boxed() as box:
        recorder = Recorder(box)
        await box.open()
        failed = (await recorder.post("/v1/chatapp/accounts/list", {}, x_api_key=KEY)).json
        assert failed == {"success": False, "message": "No connected business account was found"}
    compared = await asyncio.to_thread(comparison, read(recorder.har()), load("default"), values=True)
    assert said(compared) == ["0 of 1 calls differ"]


@pytest.mark.asyncio
async def test_a_journal_is_a_recording() -> None:
    """A call whose query the journal does not have is passed over, as is one that a fault answered."""
    async with boxed() as box:
        await recorded(box, legacy_error="plain")
        rule = {"in": "api", "when": {"operation": "sendMessage"}, "fault": {"status": 503}}
        await box.post(f"{WORLD}/rules", rule)
        await box.post("/v2/message", {"body": "Hi", "to": TWO}, x_api_key=KEY)
        journal = (await box.get(f"{WORLD}/journal?kind=request")).body
    assert said(await asyncio.to_thread(comparison, read(journal), load("default"))) == [
        'call 3, POST /Send: at line 1 the recording has "ERROR", the answer here has "ERROR|202"',
        "    A13 (F) legacy /Send and /api-send.php; agrees with legacy_error: plain",
        "1 of 3 calls differ",
        "passed over: call 4, GET /api-send.php: the recording does not have its query",
        "passed over: call 5, POST /v2/message: a fault of the scenario answered it",
    ]


def _entry(url: str, status: int, answer: Any, body: Any = None, **more: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"method": "GET" if body is None else "POST", "url": url}
    request["headers"] = [{"name": "X-API-Key", "value": "4f6d1c80aa"}]
    if body is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(body)}
    answer = {"status": status, "content": {"text": json.dumps(answer), "size": 1}}
    return {"startedDateTime": "2026-03-02T10:00:00.250+01:00", "request": request, "response": answer, **more}


def test_an_answer_that_no_setting_makes() -> None:
    """Another address of the service; a field more, another type, another status; a call of something else."""
    accepted = {"request_id": "r", "accepted": [{"key": 0, "message_id": "m"}], "rejected": [], "queue": "420777000101"}
    entries = [
        _entry("https://api.service.example/gateway/message", 200, accepted, {"body": "Hi", "to": TWO[:1]}),
        _entry("https://api.service.example/gateway/v2/message", 503, {}, {"body": "Hi", "to": TWO[:1]}),
        _entry("https://api.service.example/assets/420777000101", 200, {}),
    ]
    compared = comparison(read(har(entries)), load("default"))
    lines = said(compared)
    assert lines[0] == 'call 1, POST /v2/message: at $.accepted[0].key the recording has 0, the answer here has "0"'
    assert lines[1].endswith("; no setting agrees")
    assert lines[2] == (
        'call 1, POST /v2/message: at $.queue the recording has "420777000101", the answer here has nothing'
    )
    assert "call 2, POST /v2/message: the recording has the status 503, the answer here has 200" in lines
    assert lines[-1] == "passed over, outside the specification: 1 call: GET /assets/…"
    assert "420777" not in json.dumps(report.as_object(compared))


SERVICE_NUMBER: Final = [{"phone_number": "420777777777"}]


@pytest.mark.unmeasured
def test_the_test_number_of_the_service() -> None:
    """`message: null` of a message to it is named, and the setting under which it is null here too (A89)."""
    id_ = "7a1e0b52-94c3-4d0f-8a55-0c2d6c1b2e21"
    sent = {"request_id": id_.replace("7", "8"), "accepted": [{"key": "0", "message_id": id_}], "rejected": []}
    entries = [
        _entry("https://api.service.example/v2/message", 200, sent, {"body": "Hi", "to": SERVICE_NUMBER}),
        _entry(f"https://api.service.example/v1/message?id={id_}", 200, {"success": True, "message": None}),
    ]
    lines = said(comparison(read(har(entries)), load("default")))
    assert lines[0].startswith("call 2, GET /v1/message: at $.message the recording has null, the answer here has {")
    assert lines[1:] == [
        "    A89 (O/F) the test number of the service; agrees with test_number: on",
        "1 of 2 calls differ",
    ]


API: Final = "https://api.service.example"
A, B = (recipient["phone_number"] for recipient in TWO)
ID_A, ID_B, ID_C = (f"{digit * 8}-1b3f-4b62-a0d9-5e7f9a3c4d31" for digit in "abc")


def _sent(*ids: str) -> dict[str, Any]:
    accepted = [{"key": str(key), "message_id": id_} for key, id_ in enumerate(ids)]
    return {"request_id": "9" * 8 + ID_A[8:], "accepted": accepted, "rejected": []}


def _row(id_: str, phone: str, **fields: Any) -> dict[str, Any]:
    """A row as the specification has it, with less than ours."""
    stamps = dict.fromkeys(f"ts_{name}" for name in ("delivered", "updated", "clicked", "seen", "replied", "optout"))
    flags = dict.fromkeys(("delivered", "seen", "clicked", "replied", "optout", "nondelivered"), 0)
    about = {
        "body": "Hi",
        "flow": "sms",
        "sender": "InfoSMS",
        "phone_number": phone,
        "price_czk": "1.2",
        "price_eur": "0",
    }
    row = {"message_id": id_, "message_parts": 1, "ts_sent": "2026-03-02T09:00:00Z", "sent": 1}
    return {**row, **stamps, **flags, **about, **fields}


def _later(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls, one in each second."""
    return [{**entry, "startedDateTime": f"2026-03-02T09:00:{at:02}Z"} for at, entry in enumerate(entries)]


def _rows(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"success": True, "messages": list(rows), "next_cursor": None}


@pytest.mark.unmeasured
def test_rows_are_paired_by_their_id() -> None:
    """Of two messages the service lists one, or both in another order; a later call goes to the phone that it names."""
    day = f"{API}/v1/messages?date=2026-03-02"
    status = {"status_code": "1", "delivery_code": None, "status_info": "Sent", "body": "Hi", "to": {"phone_number": B}}
    times = dict.fromkeys(
        ("ts_created", "ts_sent", "ts_delivered", "ts_seen", "ts_clicked", "ts_updated", "flow_index")
    )
    more: dict[str, Any] = {"tag": None, "request_id": None, "flow": [{"sms": {}}], "flow_status": {}, "price": 0.036}
    entries = [
        _entry(f"{API}/v2/message", 200, _sent(ID_A, ID_B), {"body": "Hi", "to": TWO}),
        _entry(day, 200, _rows(_row(ID_B, B))),
        _entry(day, 200, _rows(_row(ID_B, B), _row(ID_A, A))),
        _entry(f"{API}/v2/message", 200, _sent(ID_C), {"body": "Hi", "to": TWO[1:]}),
        _entry(f"{API}/v1/message?id={ID_C}", 200, {"success": True, "message": {**status, **times, **more}}),
    ]
    compared = comparison(read(har(_later(entries))), load("default"), values=True)
    lines = said(compared)
    assert lines[0].startswith(
        "call 2, GET /v1/messages: at $.messages the recording has 1 entry, the answer here has 2"
    )
    assert [line for line in lines if "phone_number" in line] == []
    assert [line for line in lines if line.startswith("call 3")] == []
    answer = compared[-1].made.answer
    assert answer is not None
    assert json.loads(answer.body)["message"]["to"] == {"phone_number": B}


@pytest.mark.unmeasured
def test_what_others_recorded_is_judged_by_the_specification() -> None:
    """§2.4, A98: an instant in seconds and a price with one digit are legal, and so is null in GET /message (A29)."""
    entries = [
        _entry(f"{API}/v2/message", 200, _sent(ID_A), {"body": "Hi", "to": TWO[:1]}),
        _entry(f"{API}/v1/messages?date=2026-03-02", 200, _rows(_row(ID_A, A))),
        _entry(f"{API}/v1/messages?date=2026-03-02", 200, _rows(_row(ID_A, A, ts_sent="2 March", price_eur="free"))),
    ]
    lines = said(comparison(read(har(_later(entries))), load("default")))
    assert [line.split(", ")[0] for line in lines if line.startswith("call")] == ["call 3", "call 3"]
    assert "the recorded value at $.messages[0].ts_sent is not legal here" in lines[0]
    assert "the recorded value at $.messages[0].price_eur is not legal here" in lines[2]


DENIED: Final = "User is not authorized to access this resource with an explicit deny"


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_denial_in_any_status(status: int) -> None:
    """A key whose calls have the words of a denial opens no world, also with 401 and 403 (§5.6)."""
    entries = [
        _entry(f"{API}/v2/message", status, {"Message": f"{DENIED} in a policy"}, {"body": "Hi", "to": TWO}),
        _entry(f"{API}/v1/apikey/me", status if status != 400 else 401, {"message": "Unauthorized"}),
    ]
    compared = comparison(read(har(entries)), load("default"))
    assert [one.made.answer and one.made.answer.status for one in compared] == [400, 401]
    other = [_entry(f"{API}/v2/message", 403, {"Message": "Out of hours"}, {"body": "Hi", "to": TWO})]
    (accepted,) = comparison(read(har(other)), load("default"))
    assert accepted.made.answer is not None
    assert accepted.made.answer.status == 200


def test_what_the_sandbox_says() -> None:
    """Where no setting agrees, the words of its refusal stand behind it, with the reason where they do not say it."""
    entries = [
        _entry(f"{API}/v2/message", 200, _sent(ID_A), {"to": TWO[:1]}),
        _entry(f"{API}/v1/validations", 200, {"token": ID_A}, {"phoneNumber": "+42"}),
        _text(f"{API}/Send?apikey=4f6d1c80aa&number={A}", "OK|17"),
        _entry(f"{API}/v1/chatapp/phone_numbers/list", 200, {"success": True, "phone_numbers": []}, {"waba_id": "1"}),
    ]
    lines = said(comparison(read(har(entries)), load("default")))
    refusals = [line.partition("; no setting agrees; the sandbox refused it with ")[2] for line in lines]
    assert list(dict.fromkeys(filter(None, refusals))) == [
        "400: no body is given; without a flow the root must have one (§2.1) at $.body",
        "400: INVALID_PHONE: Invalid phone number, because " + LEGAL_PHONE,
        "400: ERROR|202, because no message is given; legal is a text (§4.1, A13)",
        '200: "1" is not a connected business account',
    ]


LEGAL_PHONE: Final = '"+42" is not a legal phoneNumber; legal: a digit from 1 to 9, then 6 to 14 digits (§4.5)'


def test_calls_outside_the_specification() -> None:
    """A path and a method that it does not have are passed over alike, in one line with one count."""
    entries = [_entry(f"{API}/{path}", 200, {}) for path in ("inbox", "a", "a", "b", "c", "d", "e", "v2/message")]
    compared = comparison(read(har(entries)), load("default"))
    names = "GET /a (2 times), GET /inbox, GET /b, GET /c, GET /d, and 2 more"
    assert said(compared) == [
        "0 of 0 calls differ",
        f"passed over, outside the specification: 8 calls: {names}",
    ]
    assert report.as_object(compared)["outside"] == 8


def test_a13_a_send_at_the_root_is_compared() -> None:
    """Fields with a key at `/` are those of `/Send`; without them the path is outside the specification."""
    fields = f"?apikey=4f6d1c80aa&number={A}&message=Hi"
    compared = comparison(read(har([_text(f"{API}/{fields}", "OK|17"), _text(f"{API}/", "hello")])), load("default"))
    assert [one.made.place and one.made.place.path for one in compared] == ["/Send", None]
    assert said(compared)[0] == "0 of 1 calls differ"


def _text(url: str, text: str) -> dict[str, Any]:
    entry = _entry(url, 200, None)
    return {**entry, "response": {"status": 200, "content": {"text": text, "size": 1}}}


def test_legacy_ids_of_any_form() -> None:
    """The word after `OK` is an id, which later calls use; a number behind it is `legacy_answer: number` (A13)."""
    send = "https://api.service.example/Send?apikey=4f6d1c80aa&message=Hi&number="
    known = {"success": True, "message": None}
    entries = [
        _text(f"{send}420777000101;420777000102", "OK|m-12345|420777000101\nOK|17|420777000102"),
        _entry("https://api.service.example/v1/message?id=m-12345", 200, known),
    ]
    lines = said(comparison(read(har(entries)), load("default")))
    assert lines[1] == "    A13 (F) legacy /Send and /api-send.php; agrees with legacy_answer: number"
    assert any(line.startswith("call 2, GET /v1/message: at $.message the recording has null") for line in lines)
    under = load({"sendbox": 1, "extends": "default", "assume": {"legacy_answer": "number"}})
    (named,) = said(comparison(read(har(entries[:1])), under))
    assert named == "0 of 1 calls differ"


@pytest.mark.deep
def test_a_setting_that_agrees_with_the_status_only() -> None:
    """Of another status only this is told, and a setting under which it is equal, though the body differs."""
    answer = {"Message": "refused", "code": 7}
    request = {"body": "Hi", "to": TWO[:1], "colour": "red"}
    entries = [_entry("https://api.service.example/v2/message", 400, answer, request)]
    compared = comparison(read(har(entries)), load("default"))
    assert said(compared) == [
        "call 1, POST /v2/message: the recording has the status 400, the answer here has 200",
        "    A57 (L) unknown fields; agrees with unknown_fields: refuse; the body still differs",
        "1 of 1 calls differ",
    ]
    (difference,) = report.as_object(compared)["differences"]
    assert difference["body_differs"]
    whole = [_entry("https://api.service.example/v2/message", 400, {"Message": "refused"}, request)]
    assert said(comparison(read(har(whole)), load("default")))[1].endswith("unknown_fields: refuse")


def test_faults_of_the_scenario() -> None:
    """A call that gets no answer here is passed over, also where it gets none under another setting only."""
    fault = {"when": {"operation": "sendMessage"}, "fault": "disconnect"}
    scenario = load({"sendbox": 1, "extends": "default", "api": [fault]})
    entries = [
        _entry("https://api.service.example/v2/message", 200, {}, {"body": "Hi", "to": TWO[:1]}),
        _entry("https://api.service.example/v2/messages", 200, {}, [{"body": "Hi", "to": TWO[:1]}]),
    ]
    lines = said(comparison(read(har(entries)), scenario))
    assert lines[-2] == "1 of 1 calls differ"
    assert lines[-1].startswith("passed over: call 1, POST /v2/message: it has no answer here: Server disconnected")


def test_addresses_of_the_recorder() -> None:
    """The recorder of these tests stands where the box is, so that addresses that were given out are called."""
    assert SERVICE == "http://box:7357"
