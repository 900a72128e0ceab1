"""Exploration by control: the runs are made by a client, here one in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson
import pytest

from sendbox.exploring import dialogue
from sendbox.language import LANGUAGE
from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import Box, boxed

pytestmark = pytest.mark.asyncio

EXPLORATIONS: Final = "/_sandbox/explorations"
PHONE: Final = "420777000101"
CLOCK: Final = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
#: A test of a client: an empty text if it passes, else the assertion that fails.
Test = Callable[[Box, str], Awaitable[str]]


async def open_world(box: Box, key: str) -> list[str]:
    """The results that its receiver gets, in their order."""
    assert (await box.post("/_sandbox/worlds", {"id": key, "clock": CLOCK})).status == 201
    results: list[str] = []

    async def receive(call: HttpCall) -> Outcome:
        results.extend(event["result"] for event in orjson.loads(call.body))
        return Outcome(200)

    box.runtime.deliver_to(box.runtime.worlds[key], receive)
    await box.send(PHONE, key=key)
    await box.advance(key=key)
    return results


async def last_wins(box: Box, prefix: str) -> str:
    """A client that takes the last webhook for the state of its message."""
    state = (await open_world(box, f"{prefix}shop"))[-1]
    return "" if state == "delivered" else f"expected delivered but was {state}\nin a shop"


async def furthest(box: Box, prefix: str) -> str:
    """A client that takes the webhook that is furthest, in two worlds."""
    states = [await open_world(box, prefix + name) for name in ("shop", "other")]
    return "" if all("delivered" in results for results in states) else "not delivered"


async def begin(box: Box, **settings: Any) -> str:
    """The address of a new exploration."""
    answer = await box.post(EXPLORATIONS, {"test": "shop", "families": ["delivery"], **settings})
    assert answer.status == 201, answer
    return f"{EXPLORATIONS}/{answer.json['id']}"


async def explored(box: Box, test: Test, **settings: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A whole exploration, and its runs."""
    at = await begin(box, **settings)
    runs = []
    while not (run := (await box.post(f"{at}/next")).json)["done"]:
        runs.append(run)
        message = await test(box, run["prefix"])
        result = {"run": run["run"], "result": "failed" if message else "passed", "message": message}
        answer = await box.post(f"{at}/result", result | ({"assertion": "shop:7"} if message else {}))
        assert answer.status == 200, answer
    exploration: dict[str, Any] = (await box.get(at)).json
    return exploration, runs


async def test_a_client_is_explored() -> None:
    """The first two runs have no misfortune; a find has its story, its assertion, and a scenario that is read."""
    async with boxed() as box:
        kept = ["repeated", "split", "bundled", "in two batches", "other bytes"]
        exploration, runs = await explored(box, last_wins, families=["delivery"], keep=kept)
        assert [run["misfortunes"] for run in runs[:3]] == [[], [], runs[2]["misfortunes"]]
        assert len(runs[2]["misfortunes"]) == 1
        assert runs[0]["worlds"] == [{"id": "test-explore-1-1-1", "scenario": {"sendbox": 1}}]
        assert runs[2]["worlds"][0]["id"] == "test-explore-1-3-shop"
        assert len(runs[2]["worlds"][0]["scenario"]) > 1
        assert (exploration["state"], exploration["runs"]) == ("over", len(runs))
        assert [find["kind"] for find in exploration["finds"]] == ["bug"]
        (find,) = exploration["finds"]
        assert find["assertion"] == "shop:7"
        assert find["message"].endswith("\nin a shop")
        assert find["story"][0] == "what breaks it:"
        assert find["story"][1].strip() == find["misfortunes"][0]
        (file,) = find["scenarios"]
        assert LANGUAGE.load(file["text"]).name == f"shop: {find['misfortunes'][0]}"
        assert not box.runtime.worlds
        again, _ = await explored(box, last_wins, families=["delivery"], keep=kept)
        assert (again["finds"], again["words"]) == (exploration["finds"], exploration["words"])


async def test_a_correct_client_survives() -> None:
    """The plan is laid over each world by its name, in whichever order they are opened."""
    async with boxed() as box:
        exploration, runs = await explored(box, furthest, runs=4, keep=["repeated"], seed=3)
        assert exploration["finds"] == []
        assert exploration["words"][0].startswith("nothing found: ")
        assert len(runs) == 6
        assert [world["id"].rpartition("-")[2] for world in runs[2]["worlds"]] == ["shop", "other"]


async def test_other_worlds_have_no_plan() -> None:
    """Neither those beside a run, nor one of its prefix after its end; a world of a run keeps its plan."""
    async with boxed() as box:
        at = await begin(box, runs=1, families=["delivery"])
        for number in (1, 2, 3):
            prefix = (await box.post(f"{at}/next")).json["prefix"]
            await furthest(box, f"test-{number}-")
            await last_wins(box, prefix)
            assert (await box.put(f"/_sandbox/worlds/{prefix}shop/scenario", "default")).status == 200
            names = [row["rule"] for row in (await box.get(f"/_sandbox/worlds/{prefix}shop/scenario")).json["rules"]]
            assert any(": " in name for name in names) == (number == 3)
            names = [
                row["rule"] for row in (await box.get(f"/_sandbox/worlds/test-{number}-shop/scenario")).json["rules"]
            ]
            assert not any(": " in name for name in names)
            await box.post(f"{at}/result", {"run": number, "result": "passed"})
        assert {key for key in box.runtime.worlds if "explore" in key} == set()


async def test_worlds_start_at_the_same_instant() -> None:
    """Unless the client sets a start; else two runs would differ."""
    async with boxed(start=None) as box:
        at = await begin(box)
        starts = []
        for number in (1, 2):
            key = f"{(await box.post(f'{at}/next')).json['prefix']}a"
            starts.append((await box.post("/_sandbox/worlds", {"id": key})).json["started"])
            await box.post(f"{at}/result", {"run": number, "result": "passed"})
        assert starts[0] == starts[1]


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (["failed"], "not explored: the first run, without misfortune, did not pass"),
        (["unknown"], "not explored: the first run, without misfortune, did not pass"),
        (["passed"], "not explored: it opened no world whose id begins with test-explore-1-1-"),
    ],
)
async def test_a_test_that_cannot_be_explored(results: list[str], words: str) -> None:
    """The reason is told, and no run is left."""
    async with boxed() as box:
        at = await begin(box)
        for result in results:
            run = (await box.post(f"{at}/next")).json["run"]
            exploration = (await box.post(f"{at}/result", {"run": run, "result": result})).json
        assert (exploration["state"], exploration["words"]) == ("over", [words])
        assert (await box.post(f"{at}/next")).json["done"]


async def test_the_dialogue_is_held_to_its_order() -> None:
    """A run has one result; what is not an exploration is told."""
    async with boxed() as box:
        at = await begin(box)
        assert (await box.post(f"{at}/result", {"run": 0, "result": "passed"})).json["error"] == "no_such_run"
        assert (await box.post(f"{at}/next")).json["run"] == 1
        assert (await box.post(f"{at}/next")).json["error"] == "run_under_way"
        assert (await box.get(at)).json["words"] == ["0 runs, nothing found"]
        for body, place in {
            '{"run": 2, "result": "passed"}': "no_such_run",
            '{"run": 1, "result": "green"}': "bad_argument",
        }.items():
            assert (await box.call("POST", f"{at}/result", body.encode())).json["error"] == place
        key = f"{(await box.get(at)).json['id']}"
        await open_world(box, f"test-explore-{key}-1-a")
        listed = (await box.get(EXPLORATIONS)).json["explorations"]
        assert [(item["test"], item["state"]) for item in listed] == [("shop", "running")]
        assert (await box.delete(at)).json == {"deleted": key}
        assert not box.runtime.worlds
        assert (await box.get(at)).json["error"] == "no_such_exploration"


async def test_what_is_asked_for_is_checked() -> None:
    """With what is legal."""
    async with boxed() as box:
        for settings, words in (
            ({"families": ["luck"]}, '"luck" is not a family of misfortunes; legal: delivery, late, '),
            ({"keep": ["luck"]}, '"luck" is not a kind of misfortune; legal: '),
            ({"families": 3}, "families: 3 is not legal; legal: a list or null"),
            ({"runs": 0}, "runs: 0 is not legal; legal: 1 to 10000"),
        ):
            answer = await box.post(EXPLORATIONS, {"test": "shop", **settings})
            assert (answer.status, answer.json["error"]) == (400, "bad_argument")
            assert answer.json["message"].startswith(words)


async def test_a_server_has_so_many_explorations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest that is over gives way to a new one."""
    monkeypatch.setattr(dialogue, "MAX_EXPLORATIONS", 2)
    async with boxed() as box:
        first, second = await begin(box), await begin(box)
        assert (await box.post(EXPLORATIONS, {"test": "shop"})).json["error"] == "too_many_explorations"
        await box.post(f"{second}/next")
        await box.post(f"{second}/result", {"run": 1, "result": "failed"})
        await begin(box)
        assert [(await box.get(at)).status for at in (first, second)] == [200, 404]


async def test_a_plan_that_cannot_be_laid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends the exploration, with every problem."""
    async with boxed() as box:
        at = await begin(box)
        for number in (1, 2):
            await last_wins(box, (await box.post(f"{at}/next")).json["prefix"])
            await box.post(f"{at}/result", {"run": number, "result": "passed"})
        monkeypatch.setattr(dialogue, "scenarios", lambda _plan: {1: {"sendbox": 1, "attempts": [{"then": "lost"}]}})
        await last_wins(box, (await box.post(f"{at}/next")).json["prefix"])
        answer = await box.post(f"{at}/result", {"run": 3, "result": "failed", "message": "one\ntwo"})
        assert (answer.status, answer.json["error"]) == (422, "bad_scenario")
        assert (await box.get(at)).json["state"] == "over"
