"""One call as text to copy, and that the text makes the same call again."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from sendbox.services.http.exchange import BODY_CAP
from tests.box import KEY, WORLD, Box, boxed
from tests.house import House, housed

QUOTES = """He said "it's" \\ done\nand $HOME `x` ©…"""
#: What was called: method, path, headers, body.
CALLS: dict[str, tuple[str, str, dict[str, str], bytes]] = {
    "plain": (
        "POST",
        "/v2/message",
        {"content-type": "application/json"},
        b'{"body": "Hello", "to": [{"phone_number": "420777100111"}]}',
    ),
    "quotes": (
        "POST",
        "/v2/message",
        {"content-type": "application/json"},
        orjson.dumps({"body": QUOTES, "to": [{"phone_number": "420777100111"}]}),
    ),
    "binary": ("POST", "/v2/message", {"content-type": "application/json"}, b'{"body": "\xff\x00'),
    "at": ("POST", "/v2/message", {"content-type": "application/json"}, b"@/etc/hostname"),
    "untyped": ("POST", "/v2/message", {}, b'{"body": "Hello", "to": [{"phone_number": "420777100111"}]}'),
    "query": ("GET", "/v2/simple/message?to=420777100111&body=a%20%5Bb%5D+%7Bc%7D[d]", {}, b""),
    "patch": ("PATCH", "/v1/validations/none", {"content-type": "application/json"}, b'{"proof": "it\'s"}'),
}
FORM = "application/x-www-form-urlencoded"
RUN = {
    "curl": ["bash", "-c"],
    "python": [sys.executable, "-c"],
    "node": ["node", "-e"],
}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """One server for all of them."""
    with housed() as house:
        yield house


def _calls(house: House, key: str) -> list[dict[str, Any]]:
    shown = house.control("GET", f"/worlds/{key}/requests")["requests"]
    return [{name: value for name, value in entry.items() if name not in ("n", "answer", "advice")} for entry in shown]


@pytest.mark.sample(4)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("as_", RUN)
def test_a_text_makes_the_same_call_again(house: House, as_: str, call: str) -> None:
    """The journal has it twice, with the same body and the same answer."""
    if shutil.which(RUN[as_][0]) is None:
        pytest.skip(f"{RUN[as_][0]} is not installed")
    method, path, headers, body = CALLS[call]
    key = f"test-{as_}-{call}"
    house.call("socket", method, path, key=key, headers={"x-api-key": key, **headers}, content=body or None)
    (entry,) = house.control("GET", f"/worlds/{key}/requests")["requests"]
    shown = house.control("GET", f"/worlds/{key}/requests/{entry['n']}/export?as={as_}")
    assert shown["as"] == as_
    done = subprocess.run([*RUN[as_], shown["text"]], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    first, second = _calls(house, key)
    assert first == second
    records = [record for _, _, record in _entries(house, key)]
    assert records[0].body == records[1].body == body
    assert (records[0].query, records[0].content_type) == (records[1].query, records[1].content_type)


def _entries(house: House, key: str) -> list[Any]:
    journal = house.runtime.worlds[key].world.journal
    return [journal.entry(number) for number in journal.numbers(frozenset({"request"}))]


@pytest.mark.deep
@pytest.mark.parametrize("call", ["quotes", pytest.param("binary", marks=pytest.mark.deep)])
def test_a_test_makes_the_same_call_again(house: House, call: str, tmp_path: Path) -> None:
    """With the fixture; it passes where the answer has the same status."""
    method, path, headers, body = CALLS[call]
    key = f"test-pytest-{call}"
    house.call("socket", method, path, key=key, headers={"x-api-key": key, **headers}, content=body or None)
    (entry,) = house.control("GET", f"/worlds/{key}/requests")["requests"]
    text = house.control("GET", f"/worlds/{key}/requests/{entry['n']}/export?as=pytest")["text"]
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sendbox.pytest_plugin"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    if "already registered" in done.stderr:
        done = subprocess.run([*command[:-2], str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.asyncio
async def test_a_call_as_an_entry_of_traffic() -> None:
    """As an export of the world has it."""
    async with boxed() as box:
        await box.send("420777100111")
        (entry,) = (await box.get(f"{WORLD}/requests")).json["requests"]
        answer = await box.get(f"{WORLD}/requests/{entry['n']}/export?as=scenario")
        assert yaml.safe_load(answer.json["text"]) == {
            "traffic": [
                {
                    "at": "0s",
                    "request": {
                        "operation": "sendMessage",
                        "body": {"body": "Hello", "to": [{"phone_number": "420777100111"}]},
                    },
                }
            ]
        }


@pytest.mark.asyncio
async def test_what_cannot_be_written() -> None:
    """Each refusal says why."""
    async with boxed() as box:
        await box.send("420777100111")
        answer = await box.get(f"{WORLD}/requests/0/export")
        assert (answer.status, answer.json["error"]) == (404, "no_such_request")
        assert (await box.get(f"{WORLD}/requests/99/export")).json["error"] == "no_such_entry"
        answer = await box.get(f"{WORLD}/requests/1/export?as=java")
        assert answer.json["message"] == 'as: "java" is not known; legal: curl, python, node, pytest, scenario'
        shown = (await box.get(f"{WORLD}/requests/1/export")).json
        assert shown["as"] == "curl"
        assert shown["text"].startswith("curl http://box:7357/v2/message -H 'content-type: application/json' -H 'x-api")
        await box.call("POST", "/Send", b"phone=1&apikey=test-1", {"content-type": FORM})
        answer = await exported(box, "scenario")
        assert (answer.status, answer.json["error"]) == (409, "not_expressible")
        assert "fields that the digest has as they came" in answer.json["message"]
        await box.call("POST", "/v2/message", b" " * (BODY_CAP + 1), {"x-api-key": KEY})
        answer = await exported(box, "curl")
        assert (answer.status, answer.json["error"]) == (409, "not_expressible")


async def exported(box: Box, as_: str) -> Any:
    """The newest call as text."""
    (entry,) = (await box.get(f"{WORLD}/requests?order=newest&limit=1")).json["requests"]
    return await box.get(f"{WORLD}/requests/{entry['n']}/export?as={as_}")


@pytest.mark.asyncio
async def test_what_is_odd_about_a_call() -> None:
    """A body of GET, a header without a value, and an answer that broke off."""
    async with boxed() as box:
        await box.call("GET", "/v1/messages", b"x", {"x-api-key": KEY, "content-type": ""})
        text = (await exported(box, "curl")).json["text"]
        assert text == "curl -X GET http://box:7357/v1/messages -H 'x-api-key: test-1' -H 'content-type;' --data-raw x"
        text = (await exported(box, "node")).json["text"]
        assert text.startswith("// The call had a body, which fetch does not send with GET.")
        rule = {"in": "api", "when": {}, "fault": "disconnect"}
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        with contextlib.suppress(Exception):
            await box.call("GET", "/v1/messages", headers={"x-api-key": KEY})
        text = (await exported(box, "pytest")).json["text"]
        assert "import pytest\n" in text
        assert "    with pytest.raises(httpx.TransportError):\n        client.get(" in text
