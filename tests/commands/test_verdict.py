"""`sendbox verdict`, against a sandbox on this machine; `status=true` of the same operation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from click.testing import Result

from sendbox.cli.outcome import CANNOT, NO, OK, USAGE
from sendbox.cli.serve import RunningServer
from tests.commands.sandbox import sandbox, sendbox

KEY = "test-verdict"
EXPECT = [
    {"name": "it & arrives", "that": "messages", "where": {"result": "delivered"}, "count": 1},
    {"name": "nothing is refused", "that": "requests", "where": {"status": ">=400"}, "count": 0},
]


@asynccontextmanager
async def world(
    expect: list[dict[str, Any]], **settings: Any
) -> AsyncIterator[tuple[RunningServer, httpx.AsyncClient]]:
    """A sandbox with one world that expects this, and a client of it."""
    async with (
        sandbox(**settings) as served,
        httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client,
    ):
        clock = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
        scenario = {"sendbox": 1, "expect": expect}
        await client.post("/_sandbox/worlds", json={"id": KEY, "scenario": scenario, "clock": clock})
        yield served, client


async def asked(served: RunningServer, *more: str) -> Result:
    return await asyncio.to_thread(sendbox, "verdict", "--url", served.origin, *more)


async def send(client: httpx.AsyncClient) -> None:
    await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
    await client.post(f"/_sandbox/worlds/{KEY}/clock/advance", json={"by": "1m"})


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_the_exit_code_is_the_verdict() -> None:
    """1 as long as an expectation does not hold, then 0; over HTTP 417 and 200."""
    async with world(EXPECT) as (served, client):
        address = f"/_sandbox/worlds/{KEY}/verdict"
        before = await asked(served)
        assert before.exit_code == NO
        assert before.output.startswith("verdict: 2 of 3 expectations failed\n  FAILED  it & arrives\n")
        refused = await client.get(address, params={"status": "true"})
        plain = (await client.get(address)).json()
        assert refused.status_code == 417
        assert refused.json() == {"error": "not_passed", "message": refused.json()["message"], **plain}
        assert refused.json()["message"].startswith("verdict: 2 of 3 expectations failed\n")
        await send(client)
        after = await asked(served, "--world", KEY, "--format", "json")
        assert (after.exit_code, json.loads(after.output)["passed"]) == (OK, True)
        held = await client.get(address, params={"status": "true"})
        assert (held.status_code, held.json()) == (200, (await client.get(address)).json())
        wrong = await client.get(address, params={"status": "perhaps"})
        assert (wrong.status_code, wrong.json()["error"]) == (400, "bad_argument")


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_what_cannot_be_trusted_has_not_passed() -> None:
    """Where entries of the journal were forgotten, neither command nor status says that all is well."""
    async with world(EXPECT[1:], max_journal=2) as (served, client):
        await send(client)
        result = await asked(served)
        assert (result.exit_code, "NOT TO BE TRUSTED" in result.output) == (NO, True)
        assert (await client.get(f"/_sandbox/worlds/{KEY}/verdict?status=true")).status_code == 417
        (suite,) = ET.fromstring((await asked(served, "--format", "junit")).output)
        assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
            "tests": "2",
            "failures": "0",
            "errors": "1",
        }
        assert [[inner.tag for inner in case] for case in suite] == [[], ["error"]]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_report_for_ci(tmp_path: Path) -> None:
    """JUnit: a test case for each expectation, its failure with what came nearest; whatever a client wrote."""
    expect = [*EXPECT, {"name": "bell \x07", "that": "messages", "where": {"body": "\x01"}, "count": 1}]
    file = tmp_path / "verdict.xml"
    async with world(expect) as (served, client):
        await send(client)
        result = await asked(served, "--format", "junit", "--output", str(file))
    assert (result.exit_code, result.output) == (NO, "")
    root = ET.fromstring(file.read_text("utf-8"))
    (suite,) = root
    assert (root.tag, suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "testsuites",
        f"sendbox {KEY}",
        "3",
        "1",
    )
    assert [case.get("name") for case in suite] == ["it & arrives", "nothing is refused", "bell \\x07"]
    assert [[inner.tag for inner in case] for case in suite] == [[], [], ["failure"]]
    failure = suite[2][0]
    assert "wanted exactly 1" in str(failure.get("message"))
    assert "nearest: " in str(failure.text)


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_rules_that_decided_nothing_are_in_the_report() -> None:
    """CI shows them beside the test cases; with --strict each is a failed test case, and the verdict has failed."""
    async with world([]) as (served, client):
        await client.put(
            f"/_sandbox/worlds/{KEY}/scenario?reset=true",
            json={
                "sendbox": 1,
                "attempts": [{"name": "never", "when": {"tag": "x"}, "then": "failed"}],
                "expect": EXPECT[1:],
            },
        )
        await send(client)
        result = await asked(served, "--format", "junit")
        (suite,) = ET.fromstring(result.output)
        assert (result.exit_code, suite.get("tests"), suite.get("failures")) == (OK, "1", "0")
        assert "warning: never of attempts never decided anything" in suite.findtext("system-out", "")
        strict = await asked(served, "--format", "junit", "--strict")
        (suite,) = ET.fromstring(strict.output)
        assert (strict.exit_code, suite.get("tests"), suite.get("failures")) == (NO, "2", "1")
        assert suite[1].get("name") == "no warning: never of attempts never decided anything"
        assert [inner.tag for inner in suite[1]] == ["failure"]
        text = (await asked(served, "--strict")).output.splitlines()
        assert text[0] == "verdict: the expectation holds, but 1 warning fails the verdict (strict)"
        address = f"/_sandbox/worlds/{KEY}/verdict"
        answers = [await client.get(address, params={"status": "true", "strict": each}) for each in ("true", "false")]
        assert [(answer.status_code, answer.json()["passed"]) for answer in answers] == [(417, False), (200, True)]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_client_that_made_no_call_has_failed() -> None:
    """The report has a failed test case for it; a world that expects no call passes without one."""
    async with world(EXPECT[1:]) as (served, _client):
        result = await asked(served, "--format", "junit")
        (suite,) = ET.fromstring(result.output)
        assert (result.exit_code, [case.get("name") for case in suite]) == (
            NO,
            ["nothing is refused", "the client makes a call"],
        )
        assert suite[1][0].get("message") == "the client made no call"
    async with world([{"that": "requests", "count": 0}]) as (served, _client):
        assert (await asked(served)).exit_code == OK


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_nothing_expected_is_not_green() -> None:
    """A job that forgot its scenario fails: in the exit code, over HTTP, and in the report."""
    async with world([]) as (served, client):
        result = await asked(served)
        assert (result.exit_code, result.output.splitlines()[0]) == (
            NO,
            "verdict: nothing is expected: the scenario has no expect",
        )
        refused = await client.get(f"/_sandbox/worlds/{KEY}/verdict?status=true")
        assert (refused.status_code, refused.json()["error"]) == (417, "not_passed")
        assert refused.json()["message"].startswith("verdict: nothing is expected: the scenario has no expect")
        assert (await client.get(f"/_sandbox/worlds/{KEY}/verdict")).json()["passed"] is True
        (suite,) = ET.fromstring((await asked(served, "--format", "junit")).output)
        assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
            "tests": "1",
            "failures": "0",
            "errors": "1",
        }
        assert [(case.get("name"), case[0].tag) for case in suite] == [("something is expected", "error")]


@pytest.mark.asyncio
async def test_no_world_is_open() -> None:
    """There is nothing to name then."""
    async with sandbox() as served:
        result = await asked(served)
        assert (result.exit_code, result.stderr) == (
            CANNOT,
            "sendbox: no world is open: the first call with an API key opens one\n",
        )


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_the_world_is_named_where_there_are_several() -> None:
    """The only one need not be named; what is not there cannot be judged."""
    async with world(EXPECT) as (served, client):
        await client.post("/_sandbox/worlds", json={"id": "test-other"})
        several = await asked(served)
        assert (several.exit_code, several.stderr) == (
            USAGE,
            f"sendbox: {KEY}, test-other open: say which world with --world, for example --world test-demo\n",
        )
        missing = await asked(served, "--world", "test-none")
        assert (missing.exit_code, '"test-none" is not an open world' in missing.stderr) == (CANNOT, True)
    gone = await asked(served, "--world", KEY)
    assert (gone.exit_code, "cannot be reached" in gone.stderr) == (CANNOT, True)
