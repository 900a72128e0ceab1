"""The settings under which a recording agrees: several at once, each with its evidence, as a scenario."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from sendbox.comparing import report
from sendbox.comparing.agreement import Agreed, agree, scenario_text
from sendbox.comparing.comparison import comparison
from sendbox.comparing.recording import read
from sendbox.control.replicas.leaning import Alternative
from tests.box import KEY, boxed
from tests.comparing.recorder import Recorder
from tests.scenarios import load

#: Settings of five services, none of them usual.
FIVE: Final[dict[str, Any]] = {
    "messages_accepted": "recipient",
    "legacy_error": "plain",
    "nulls": "absent",
    "no_secret": "observed",
    "verify_code_required": True,
}
TWO: Final = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]
FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
PHONE: Final = "420777000101"


async def record_calls(recorder: Recorder) -> None:
    """Makes calls of every interface."""
    await recorder.post("/v2/message", {"body": "Hi", "to": TWO}, x_api_key=KEY)
    await recorder.post("/v2/messages", [{"body": "Hi", "to": TWO}, {"body": "Ho", "to": TWO[:1]}], x_api_key=KEY)
    await recorder.post("/v2/message", {"body": "Hi", "to": TWO, "tag": None}, x_api_key=KEY)
    await recorder.call("POST", "/Send", f"apikey={KEY}&number={PHONE}".encode(), FORM)
    token = (await recorder.post("/v1/validations", {"phoneNumber": PHONE}, x_api_key=KEY)).json["token"]
    proof = {"phoneNumber": PHONE, "token": token, "code": "123456", "proof": "00"}
    await recorder.post("/v1/verify-proof", {**proof, "timestamp": "2026-03-01T09:00:00.000Z"})
    await recorder.post("/v1/chatapp/phone_numbers/verify", {"phone_number": "420900000001"}, x_api_key=KEY)


@pytest.fixture(scope="module")
def recording() -> bytes:
    async def record() -> bytes:
        async with boxed() as box:
            await box.open(scenario={"sendbox": 1, "extends": "default", "assume": FIVE})
            recorder = Recorder(box)
            await record_calls(recorder)
            return recorder.har()

    return asyncio.run(record())


@pytest.fixture(scope="module")
def agreed(recording: bytes) -> Agreed:
    return agree(read(recording), load("default"))


@pytest.mark.unmeasured
def test_five_settings_are_found(agreed: Agreed, recording: bytes) -> None:
    """All five, and no other; under the scenario that is written nothing differs."""
    assert {one.chosen.setting: one.chosen.value for one in agreed.agreements} == FIVE
    assert (report.differing(agreed.compared), agreed.left) == (5, 0)
    text = scenario_text(agreed, "service.har", "default", {})
    assert report.differing(comparison(read(recording), load(text))) == 0


def test_the_evidence_is_in_comments(agreed: Agreed) -> None:
    """Of each setting: the call, what was recorded, and what each value answers, without anything personal."""
    text = scenario_text(agreed, "service.har", "default", {"bundle": "false", "nulls": "refuse"})
    assert text.splitlines()[:7] == [
        "# Settings under which sendbox compare agrees with service.har.",
        "# 5 of 7 calls differed before, 0 of 7 differ with them.",
        "sendbox: 1",
        "extends: default",
        "assume:",
        "  # set when it was compared",
        "  bundle: false",
    ]
    assert (
        "  # A09 (F) who gets which message id\n"
        "  # call 2, POST /v2/messages, at $.accepted: recorded 3 entries\n"
        "  #   messages_accepted: object answers 2 entries\n"
        "  #   messages_accepted: recipient answers as recorded\n"
        "  messages_accepted: recipient\n"
    ) in text
    assert (
        "  # call 3, POST /v2/message: recorded the status 200\n"
        "  #   nulls: refuse answers the status 400\n"
        "  #   nulls: absent answers as recorded\n"
        "  nulls: absent\n"
    ) in text
    assert "  verify_code_required: true\n" in text
    assert KEY not in text
    assert "420" not in text


def test_much_evidence_is_cut_and_another_setting_is_named(agreed: Agreed) -> None:
    """At most three differences of a setting; a value of another setting that does the same stands behind them."""
    (first, *_) = agreed.agreements
    long = first._replace(evidence=first.evidence * 5, others=(Alternative("A57", "unknown_fields", "refuse"),))
    text = scenario_text(agreed._replace(agreements=(long,)), "service.har", None, {})
    assert text.count("# call 2, ") == 3
    assert "  # and 2 differences more\n  # as well, alone: unknown_fields: refuse\n  messages_accepted" in text


def test_values_are_not_written() -> None:
    """With `values` the evidence is that a value is another one; a setting that is a mapping is written as one."""

    async def record() -> bytes:
        async with boxed() as box:
            await box.open(scenario={"sendbox": 1, "extends": "default", "assume": {"timing": {"sent": "10s"}}})
            recorder = Recorder(box)
            await recorder.post("/v2/message", {"body": "Hi", "to": TWO[:1]}, x_api_key=KEY)
            await box.advance("5s")
            await recorder.call("GET", "/v1/messages?date=2026-03-01", headers={"x-api-key": KEY})
            return recorder.har()

    recording = asyncio.run(record())
    slower = agree(read(recording), load("default"), values=True)
    assert (len(slower.agreements), slower.left) == (1, 0)
    text = scenario_text(slower, "service.har", "default", {})
    assert "at $.messages[0].sent: recorded another value\n" in text
    assert " answers another value\n" in text
    assert "  timing:\n    sent: 10s\n" in text
    lines = [line for line in report.lines(slower.compared) if "A63" in line]
    assert lines
    assert {line.rpartition("; ")[2] for line in lines} == {'agrees with timing: {"sent":"10s"}'}
    assert report.differing(comparison(read(recording), load(text), values=True)) == 0


def test_nothing_to_write(recording: bytes) -> None:
    """Where all agrees the scenario has no setting, and is legal."""
    calls = read(recording)[:1]
    nothing = agree(calls, load("default"))
    assert (nothing.agreements, nothing.left) == ((), 0)
    text = scenario_text(nothing, "service.har", None, {})
    assert text.splitlines()[2:] == ["sendbox: 1", "assume: {}"]
    assert report.differing(comparison(calls, load(text))) == 0


@pytest.mark.unmeasured
def test_two_settings_of_one_call() -> None:
    """What shows only under another setting is found in the next round (A13)."""

    async def record() -> bytes:
        async with boxed() as box:
            assume = {"unknown_fields": "refuse", "nulls": "absent"}
            await box.open(scenario={"sendbox": 1, "extends": "default", "assume": assume})
            recorder = Recorder(box)
            await recorder.post("/v2/message", {"body": "Hi", "to": TWO, "tag": None}, x_api_key=KEY)
            await recorder.post("/v2/message", {"body": "Hi", "to": TWO, "tag": None, "colour": "red"}, x_api_key=KEY)
            return recorder.har()

    several = agree(read(asyncio.run(record())), load("default"), values=True)
    assert [one.chosen.text for one in several.agreements] == ["nulls: absent", "unknown_fields: refuse"]
    assert several.left == 0
