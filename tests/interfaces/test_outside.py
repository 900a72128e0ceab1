"""Paths that the specification does not have: refused as their interface does, or answered by rules (§7, A97)."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from sendbox.runtime.bounds import Full
from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
EMPTY: Any = {"answer": {"body": {"messages": []}}}


async def requests(box: Box) -> list[Any]:
    """The calls in the journal."""
    entries: list[Any] = (await box.get(f"{WORLD}/requests")).json["requests"]
    return entries


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("path", "key"),
    [("/v2/inbox", "Message"), ("/v1/inbox", "message"), ("/v1/chatapp/inbox", "message"), ("/v1/validations", "x")],
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a97_a_path_outside_the_specification_says_so(path: str, key: str, method: str) -> None:
    """404 in the shape of the interface; the journal has the finding and the advice."""
    path = f"{path}/a/b" if key == "x" else path
    async with boxed() as box:
        for headers in ({"x-api-key": KEY}, {}):
            answer = await box.call(method, path, b"", headers)
            assert answer.status == 404
            assert {"error", "message", "attemptsRemaining"} <= answer.json.keys() if key == "x" else True
            text = answer.json["message" if key == "x" else key]
            assert text.startswith(f"{path} is not a path of the ")
            assert "outside the specification" in text
            assert f"api: [{{when: {{path: {path}}}, fault: {{answer: {{status: 200, body: {{}}}}}}}}]" in text
        (entry,) = await requests(box)
        assert (entry["operation"], entry["status"]) == ("unknown", 404)
        assert [finding["assumed"] for finding in entry["findings"]] == ["A97"]
        assert [advice["code"] for advice in entry["advice"]] == ["outside-specification"]
        leaning = (await box.get(f"{WORLD}/assumptions")).json
        assert "A97" in orjson.dumps(leaning).decode()


async def test_a97_the_rule_that_the_text_shows_can_be_read() -> None:
    """A path that YAML would not read as it is stands in quotation marks."""
    async with boxed() as box:
        for path in ("/v1/inbox", "/v1/a: b", "/v1/#x"):
            text = (await box.get(path.replace("#", "%23"), x_api_key=KEY)).json["message"]
            scenario = "sendbox: 1\n" + text.partition("can answer it: ")[2]
            checked = await box.post("/_sandbox/check", {"text": scenario})
            assert (checked.status, checked.json["problems"]) == (200, [])


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a97_a_rule_answers_any_path(method: str) -> None:
    """Also with another method than a served path has; its answer is the rule's, without finding and advice."""
    rules = [{"name": "stub", "when": {"path": ["/v1/inbox", "/v1/credit/*"]}, "fault": EMPTY}]
    async with boxed({"sendbox": 1, "api": rules}) as box:
        for path in ("/v1/inbox?page=2", "/v1/credit/services", "/v1/credit/other"):
            answer = await box.call(method, path, b'{"a": 1}', {"x-api-key": KEY})
            assert (answer.status, answer.json) == (200, {"messages": []})
            assert answer.headers["sendbox-rule"] == "stub"
        served = "listServices" if method == "GET" else "unknown"
        entries = await requests(box)
        assert [entry["operation"] for entry in entries] == ["unknown", served, "unknown"]
        assert [(entry["findings"], entry["advice"]) for entry in entries] == [([], [])] * 3
        assert [entry["body"] for entry in entries] == ['{"a": 1}'] * 3
        assert (await box.get("/v1/other", x_api_key=KEY)).status == 404


async def test_a97_a_rule_may_ask_for_method_and_headers() -> None:
    """Conditions are those of every rule of `api`."""
    rules = [
        {"when": {"path": "/v1/inbox", "method": "PUT", "headers": {"X-Tenant": "acme"}}, "fault": EMPTY},
        {"when": {"path": "/v1/inbox", "phone": "420777000101", "nth": 1}, "fault": {"status": 429}},
    ]
    async with boxed({"sendbox": 1, "api": rules}) as box:
        answers = [
            await box.call("PUT", "/v1/inbox", b"", {"x-api-key": KEY, "x-tenant": "acme"}),
            await box.call("PUT", "/v1/inbox", b"", {"x-api-key": KEY, "x-tenant": "other"}),
            await box.call("GET", "/v1/inbox?phone_number=420777000101", b"", {"x-api-key": KEY}),
            await box.call("GET", "/v1/inbox?phone_number=420777000101", b"", {"x-api-key": KEY}),
        ]
        assert [answer.status for answer in answers] == [200, 404, 429, 404]
        assert answers[2].json == {"message": "Too many requests"}


async def test_a97_other_rules_are_not_asked_about_such_calls() -> None:
    """A rule without a path does not decide about a call that no interface serves, and does not count it."""
    rules = [{"when": {"nth": 1}, "fault": {"status": 503}}, {"when": {"not": {"path": "/v1/a"}}, "fault": EMPTY}]
    async with boxed({"sendbox": 1, "api": rules}) as box:
        assert (await box.get("/v1/inbox", x_api_key=KEY)).status == 404
        assert (await box.get("/v1/credit/services", x_api_key=KEY)).status == 503


@pytest.mark.parametrize(
    ("fault", "status"),
    [({"delay": "1ms"}, 404), ("disconnect", 0), ({"status": 500}, 500)],
)
async def test_a97_faults_of_connections(fault: Any, status: int) -> None:
    """The connection of such a call goes wrong as that of any call."""
    async with boxed({"sendbox": 1, "api": [{"when": {"path": "/v1/inbox"}, "fault": fault}]}) as box:
        if status:
            assert (await box.get("/v1/inbox", x_api_key=KEY)).status == status
        else:
            with pytest.raises(httpx.RemoteProtocolError):
                await box.get("/v1/inbox", x_api_key=KEY)
        (entry,) = await requests(box)
        assert entry["status"] == status
        assert len((await box.get(f"{WORLD}/journal?kind=fault")).json["entries"]) == 1


async def test_a97_no_body_is_read_while_the_memory_is_full() -> None:
    """A call that a rule may answer is refused as every other call is."""
    async with boxed({"sendbox": 1, "api": [{"when": {"path": "/v1/inbox"}, "fault": EMPTY}]}, max_memory=2**60) as box:
        assert (await box.post("/v1/inbox", {}, x_api_key=KEY)).status == 200
        assert box.runtime.bounds is not None
        box.runtime.bounds.full = Full("the memory is full", "close worlds")
        answer = await box.post("/v1/inbox", {}, x_api_key=KEY)
        assert (answer.status, answer.json) == (503, {"message": "the memory is full"})


async def test_a75_a_method_that_a_path_does_not_have() -> None:
    """405 as before, with its legal methods, and no advice: the path is one of the specification."""
    async with boxed() as box:
        answer = await box.get("/v2/message", x_api_key=KEY)
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        (entry,) = await requests(box)
        assert ([finding["assumed"] for finding in entry["findings"]], entry["advice"]) == (["A75"], [])


LINTED = """
sendbox: 1
api:
  - {when: {path: /v1/inbox}, fault: {answer: {status: 200}}}
  - {when: {path: /v1/inbox, operation: sendMessage}, fault: {status: 500}}
  - {when: {path: "/v2/*", operation: sendMessage}, fault: {status: 500}}
  - {when: {path: "/v1/mess*", operation: sendMessage}, fault: {status: 500}}
expect:
  - {name: reads, that: requests, where: {path: /v1/inbox}, count: 1}
  - {name: writes, that: requests, where: {path: /v1/outbox}, count: 1}
"""


async def test_a97_paths_that_rules_answer_are_known() -> None:
    """`check` doubts paths that nothing answers, and operations that are not at the path beside them."""
    async with boxed() as box:
        problems = (await box.post("/_sandbox/check", {"text": LINTED})).json["problems"]
        assert [(problem["path"], problem["rule"]) for problem in problems] == [
            ("$.api[1].when.operation", "never-asked"),
            ("$.api[3].when.operation", "never-asked"),
            ("$.expect[1].where.path", "not-served"),
        ]
