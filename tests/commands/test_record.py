"""`sendbox record`: its options, how it begins and ends, and what is compared afterwards."""

from __future__ import annotations

import asyncio
import signal
import ssl
import threading
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from sendbox.cli.outcome import CANNOT, OK, USAGE
from sendbox.recording.har import HarFile
from sendbox.recording.recorder import Recorder
from tests.commands.sandbox import sandbox, sendbox
from tests.recording.recording import recording
from tests.recording.test_har import NoChecker
from tests.serving import free_port

TWO = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]
#: A key that may be one of the real service.
REAL = "live-4f6d1c80aa"
#: Settings of a service that is not as the sandbox assumes, each of which one of the calls below shows.
SETTINGS = {
    "messages_accepted": "recipient",
    "legacy_error": "plain",
    "legacy_answer": "number",
    "content_type": "strict",
    "unknown_fields": "refuse",
}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--to", "https://api.example/v2"], USAGE, "more than an origin; legal: https://api.example, without user"),
        (["--to", "https://u:p@api.example"], USAGE, "more than an origin; legal: https://api.example, without"),
        (["--to", "api.example"], USAGE, "is not an address over http or https"),
        (["--to", "http://a", "--callbacks", "https://b/x"], USAGE, "'--callbacks': more than an origin"),
        (["--to", "http://a", "--max-size", "much"], USAGE, "'much' is not a size"),
        (["--to", "http://a", "--tls-cert", __file__], USAGE, "--tls-cert and --tls-key go together"),
        (["--to", "http://a", "--cacert", __file__], CANNOT, "holds no certificate"),
        ([], USAGE, "Missing option '--to'"),
    ],
)
def test_what_is_wrong(tmp_path: Path, arguments: list[str], code: int, told: str) -> None:
    """One line that says what is wrong, and no file."""
    result = sendbox("record", "--file", str(tmp_path / "a.har"), *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr
    assert told in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_signal_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends it with exit code 0, after a line that says what is in the file."""
    file, echo = tmp_path / "a.har", click.echo

    def say(line: str) -> None:
        echo(line)
        if "Ctrl-C" in line:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(click, "echo", say)
    result = sendbox("record", "--to", "http://api.example", "--file", str(file), "--port", str(port := free_port()))
    assert (result.exit_code, result.output.splitlines()) == (
        OK,
        [
            f"calls to http://127.0.0.1:{port} go to http://api.example and into {file}; Ctrl-C ends it",
            f"0 calls are in {file}; differences from the contract: 0",
        ],
    )


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_tls_on_our_side(tmp_path: Path) -> None:
    """With --tls self the certificate has the names of --hosts and of --callbacks, and a line names its authority."""
    more: dict[str, Any] = {"callbacks": "https://hooks.example"}
    names = {"tls_self": True, "hosts": frozenset({"api.service.example"}), "public_url": "https://hooks.example"}
    async with sandbox() as service, recording(service.origin, tmp_path / "a.har", more=more, **names) as recorder:
        line = await recorder.line("the authority of its certificate: ")
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            authority = await client.get(line.rpartition("certificate: ")[2].partition(";")[0])
        trust = ssl.create_default_context(cadata=authority.text)
        for name in ("api.service.example", "hooks.example"):
            _, writer = await asyncio.open_connection("127.0.0.1", recorder.port, ssl=trust, server_hostname=name)
            writer.close()


@pytest.mark.unmeasured
def test_a_service_with_other_assumptions_is_found_out(tmp_path: Path) -> None:
    """A sandbox with five other settings stands for the service: `compare` names each of them, and writes them."""
    file, assume = tmp_path / "a.har", [f"{name}={value}" for name, value in SETTINGS.items()]

    async def recorded() -> None:
        key = {"x-api-key": REAL}
        async with (
            sandbox(assume=tuple(assume), any_key=True) as service,
            recording(service.origin, file) as recorder,
            httpx.AsyncClient(base_url=recorder.origin, trust_env=False, timeout=60, headers=key) as client,
        ):
            messages = [{"body": "Hi", "to": TWO}, {"body": "Ho", "to": TWO[:1]}]
            assert len((await client.post("/v2/messages", json=messages)).json()["accepted"]) == 3
            form = {"apikey": REAL, "number": "420777000101"}
            assert (await client.post("/Send", data=form)).text == "ERROR"
            assert (await client.post("/Send", data={**form, "message": "Hi"})).text.count("|") == 2
            plain = {"content-type": "text/plain"}
            assert (await client.post("/v2/message", content=b"{}", headers=plain)).status_code == 415
            unknown = {"body": "Hi", "to": TWO, "of_mine": 1}
            assert (await client.post("/v2/message", json=unknown)).status_code == 400

    asyncio.run(recorded())
    assert REAL.encode() not in file.read_bytes()
    result = sendbox("compare", str(file))
    assert [setting for setting in assume if setting.replace("=", ": ") not in result.output] == [], result.output
    learned = tmp_path / "assume.yaml"
    assert sendbox("compare", "--write", str(learned), str(file)).exit_code == OK
    assert sendbox("compare", "--scenario", str(learned), str(file)).output == "0 of 5 calls differ\n"
    text = learned.read_text("utf-8")
    assert [setting for setting in assume if setting.replace("=", ": ") not in text] == [], text


@pytest.mark.unmeasured
def test_a_recording_of_every_kind_of_name_agrees(tmp_path: Path) -> None:
    """Keys, sub-keys, tokens, codes and addresses that were masked are the same ones when they are compared."""
    file, secrets = tmp_path / "a.har", [REAL]

    async def recorded() -> None:
        async with (
            sandbox(any_key=True) as service,
            recording(service.origin, file) as recorder,
            httpx.AsyncClient(base_url=recorder.origin, trust_env=False, timeout=60) as client,
        ):

            async def call(path: str, key: str = REAL, **body: Any) -> Any:
                answer = await client.post(path, json=body, headers={"x-api-key": key})
                assert answer.status_code < 400 or "code" in body, answer.text
                return answer.json()

            sub_key = (await call("/v1/apikey/add", shared=True))["apikey"]
            await client.get("/v1/apikey/list", headers={"x-api-key": REAL})
            for key in (sub_key, "another-real-key"):
                await call("/v2/message", key, body="Hi", to=TWO)
            token = (await call("/v1/validations", phoneNumber="420777000101"))["token"]
            codes = (await client.get(f"{service.origin}/_sandbox/worlds/{REAL}/codes")).json()["codes"]
            for code in ("999999", codes[0]["code"]):
                await call(f"/v1/validations/{token}/verify", code=code)
            signup = await call("/v1/chatapp/signup", phone_number="manual")
            asked = {"token": signup["token"], "waba_id": "1"}
            assert (await client.post("/v1/chatapp/templates/list", json=asked)).status_code == 200
            upload = (await call("/v1/messaging/url", bulk_id="b", filetype="jsonl"))["url"]
            line = b'{"body": "Hi", "to": [{"phone_number": "420777000101"}]}\n'
            jsonl = {"content-type": "application/jsonl"}
            put = await client.put(httpx.URL(upload).path, content=line, headers=jsonl)
            assert put.status_code == 200, put.text
            secrets.extend([sub_key, "another-real-key", token, signup["token"], upload.rpartition("/")[2]])

    asyncio.run(recorded())
    text = file.read_text("utf-8")
    assert [secret for secret in secrets if secret in text] == []
    result = sendbox("compare", str(file))
    assert "0 of 11 calls differ" in result.output.splitlines(), result.output


def test_the_end_waits_for_nobody(tmp_path: Path) -> None:
    """Where the thread hangs in a line that nobody reads, the end comes all the same."""
    goes_on = threading.Event()
    recorder = Recorder(HarFile(tmp_path / "a.har", 10**6), NoChecker, lambda _: goes_on.wait(), 1)  # type: ignore[arg-type]
    for _ in range(3):
        recorder.say("a line")
    recorder.close(0)
    goes_on.set()
    recorder.close()
