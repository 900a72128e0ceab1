"""Faults of calls through control: put, taken away, and brought by another scenario."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
ERROR = {"in": "api", "when": {"operation": "sendMessage"}, "fault": {"status": 500}}
MESSAGE = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}


async def status(box: Box) -> int:
    return (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).status


async def test_a_rule_is_put_and_taken_away() -> None:
    """It holds for the next call; the entry of the request and the fault's own say which rule it was."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/rules", ERROR)
        assert (answer.status, answer.json) == (201, {"id": "a1", "in": "api"})
        assert await status(box) == 500
        assert (await box.delete(f"{WORLD}/rules/a1")).json == {"dropped": "a1"}
        assert (await box.delete(f"{WORLD}/rules/a1")).status == 404
        assert await status(box) == 200
        entries = (await box.get(f"{WORLD}/journal?kind=request,fault")).json["entries"]
        assert [entry["kind"] for entry in entries] == ["request", "fault", "request"]
        assert entries[0]["fault"] == {"status": 500}
        assert "fault" not in entries[2]
        rule = '{"fault":{"kind":"status","status":500},"processed":null,"when":{"operation":["sendMessage"]}}'
        assert {name: entries[1][name] for name in ("rule", "processed", "phone", "message")} == {
            "rule": rule,
            "processed": False,
            "phone": "420777000101",
            "message": "fault status 500 on sendMessage by the api rule a1; the call had no effect",
        }


async def test_headers_that_rules_ask_for() -> None:
    """A call is recorded with them, so that it is decided alike after a restore; others are not kept."""
    async with boxed() as box:
        await box.open()
        when = {"headers": {"X-Tenant": "acme"}, "not": {"headers": {"X-Retry": "*"}}}
        await box.post(f"{WORLD}/rules", {**ERROR, "when": when})
        asked: list[dict[str, str]] = [
            {"x_tenant": "acme"},
            {"x_tenant": "other"},
            {"x_tenant": "acme", "x_retry": "1"},
        ]
        statuses = [
            (await box.post("/v2/message", MESSAGE, x_api_key=KEY, x_other="1", **more)).status for more in asked
        ]
        assert statuses == [500, 200, 200]
        digest = (await box.get(f"{WORLD}/digest")).json
        await box.post(f"{WORLD}/checkpoints", {"name": "here"})
        await box.post(f"{WORLD}/checkpoints/here/restore")
        assert (await box.get(f"{WORLD}/digest")).json == digest
        record = (await box.get(f"{WORLD}/record")).body.decode()
        assert ("x-tenant" in record, "x-retry" in record, "x-other" in record) == (True, True, False)


OWN: list[tuple[dict[str, Any], int, bytes, str, str | None]] = [
    ({"body": {"accepted": [1, "x"]}}, 200, b'{"accepted":[1,"x"]}', "application/json", None),
    ({"status": 502, "body": "<p>"}, 502, b"<p>", "text/plain; charset=utf-8", None),
    ({"body": "<p>", "headers": {"Content-Type": "text/html"}}, 200, b"<p>", "text/html", None),
    ({"status": 307, "headers": {"Location": "/else"}}, 307, b"", "text/plain; charset=utf-8", "/else"),
    ({"status": 204, "body": "x"}, 204, b"", "text/plain; charset=utf-8", None),
]


@pytest.mark.parametrize(
    ("fault", "code", "body", "kind", "location"), OWN, ids=["json", "text", "html", "redirect", "204"]
)
async def test_an_answer_of_ones_own(
    fault: dict[str, Any], code: int, body: bytes, kind: str, location: str | None
) -> None:
    """Status, body and headers as the rule has them; the call has no effect, unless the rule says so."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {**ERROR, "fault": {"answer": fault}})
        answer = await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        assert (answer.status, answer.body) == (code, body)
        assert (answer.headers["content-type"], answer.headers.get("location")) == (kind, location)
        assert (await box.get(f"{WORLD}/messages")).json["messages"] == []
        await box.post(f"{WORLD}/rules", {**ERROR, "fault": {"answer": fault}, "processed": True})
        assert (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).status == code
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 1


async def test_a_wrong_rule_is_refused() -> None:
    """422 with every problem, and nothing is put."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/rules", {"in": "api", "when": {"nht": 1}, "fault": {"status": 200}})
        assert (answer.status, answer.json["error"]) == (422, "bad_rule")
        assert [each["path"] for each in answer.json["problems"]] == ["$.when.nht", "$.fault.status"]
        assert await status(box) == 200


def scenario(**api: Any) -> dict[str, Any]:
    return {"sendbox": 1, "extends": "default", "api": [{"fault": {"status": 503}, **api}]}


async def test_rules_of_another_scenario_hold_at_once() -> None:
    """A change of scenario brings its faults, says so where they differ, and leaves those that control put."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", ERROR | {"times": 1})
        assert (await box.put(f"{WORLD}/scenario", scenario())).json["applied"] == ["attempts", "api"]
        assert [await status(box), await status(box)] == [500, 503]
        assert (await box.put(f"{WORLD}/scenario", scenario())).json["applied"] == ["attempts"]
        plain = {"sendbox": 1, "extends": "default"}
        assert (await box.put(f"{WORLD}/scenario", plain)).json["applied"] == ["attempts", "api"]
        assert await status(box) == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api", [{"fault": "timeout"}]),
        ("webhooks", [{"fault": "drop"}]),
        ("verify", {"rules": [{"then": {"code": "123456"}}]}),
        ("expect", [{"that": "messages"}]),
    ],
)
async def test_what_is_said_to_be_applied_is_what_changed(name: str, value: Any) -> None:
    """A change is told by what stands in the world, so that the way back is a change too."""
    plain = {"sendbox": 1, "extends": "default"}
    async with boxed() as box:
        await box.open(scenario=plain)
        for scenario, applied in ((plain | {name: value}, True), (plain | {name: value}, False), (plain, True)):
            answer = await box.put(f"{WORLD}/scenario", scenario)
            assert answer.json["applied"] == ["attempts", *[name] * applied]


async def test_a_reset_forgets_what_was_counted() -> None:
    """The second call of each epoch, and control's own rules are gone."""
    async with boxed(scenario(when={"call": 2})) as box:
        assert [await status(box) for _ in range(3)] == [200, 503, 200]
        await box.post(f"{WORLD}/rules", ERROR)
        await box.post(f"{WORLD}/reset")
        assert [await status(box) for _ in range(3)] == [200, 503, 200]


async def test_a_checkpoint_knows_what_was_counted() -> None:
    """The call after a restore is the call it was."""
    async with boxed(scenario(when={"call": 2})) as box:
        assert await status(box) == 200
        await box.put(f"{WORLD}/checkpoints/one")
        assert [await status(box) for _ in range(2)] == [503, 200]
        await box.post(f"{WORLD}/checkpoints/one")
        assert [await status(box) for _ in range(2)] == [503, 200]


async def test_processed_calls_keep_their_findings() -> None:
    """A refused call whose answer is spoilt is journaled with what was wrong with it."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"in": "api", "fault": {"status": 503}, "processed": True})
        answer = await box.post("/v2/message", {"to": []}, x_api_key=KEY)
        (entry,) = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert (answer.status, entry["status"], entry["processed"]) == (503, 503, True)
        assert entry["findings"]
