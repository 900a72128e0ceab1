"""What a client would have seen under other values of the assumptions that it relied on: the first difference."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.control.operation import Call
from sendbox.control.replicas.leaning import (
    Observation,
    alternatives,
    find_first_difference,
    lines,
    observations,
    replay_with,
    with_setting,
)
from sendbox.engine.commands.command import Stamp
from sendbox.engine.digest import finished
from sendbox.language import LANGUAGE
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import Slice
from sendbox.services.assume import Assume
from sendbox.services.settings import SETTINGS
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.scenarios import load

TWO = [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]


async def told(box: Box, **arguments: Any) -> dict[str, str]:
    """What is said of each other value, by setting and value."""
    query = "&".join(f"{name}={value}" for name, value in arguments.items())
    answer = (await box.get(f"{WORLD}/leaning?{query}")).json
    return {
        f"{other['setting']} {other['said']}": f"{other['outcome']}: {other['text']}"
        for row in answer["leaned"]
        for other in row["others"]
    }


def test_other_values_are_legal_and_others() -> None:
    """The values that the rows of settings name can be read, and none is the default."""
    default = load("default")
    values = alternatives(Assume(), {row.assumption for row in SETTINGS.values()})
    assert len({other.setting for other in values}) > 15
    for other in values:
        changed = with_setting(LANGUAGE, default, other)
        assert getattr(changed.assume, other.setting) != getattr(default.assume, other.setting), other
        back = [
            replay_with
            for replay_with in alternatives(changed.assume, {other.assumption})
            if replay_with.setting == other.setting
        ]
        assert any(with_setting(LANGUAGE, changed, replay_with).assume == default.assume for replay_with in back), other


@pytest.mark.asyncio
async def test_the_first_answer_that_differs() -> None:
    """Each other value has a replay; call, path and both values of the first difference are named."""
    async with boxed() as box:
        await box.open()
        await box.send("420777000101")
        await box.post("/v2/messages", [{"body": "Hi", "to": TWO}], x_api_key=KEY)
        answer = (await box.get(f"{WORLD}/leaning")).json
        row = next(row for row in answer["leaned"] if row["id"] == "A09")
        assert row["used"]["text"] == "call 2, POST /v2/messages"
        (other,) = row["others"]
        assert other["first"] == {
            "entry": 2,
            "place": "call 2, POST /v2/messages",
            "path": "$.answer.accepted[0].key",
            "was": "0",
            "would": "0-0",
        }
        assert (
            'A09: with messages_accepted: recipient, the answer to call 2, POST /v2/messages would have had "0-0" '
            'at $.accepted[0].key, not "0"'
        ) in lines(answer)
        assert "A10: body of POST /messages: first used at call 2, POST /v2/messages" in lines(answer)
        assert [message["phone"] for message in (await box.get(f"{WORLD}/messages")).json["messages"]] == [
            "420777000101", "420777000101", "420777000102"
        ]  # fmt: skip


@pytest.mark.unmeasured
@pytest.mark.parametrize("path", ["/leaning", "/messages?then=150", "/export?as=record"])
@pytest.mark.asyncio
async def test_work_ends_when_its_caller_leaves(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made again for nobody: the work stops where it is, and the world takes further calls."""
    done = 0
    pause = Slice.pause

    async def counted(self: Slice) -> None:
        nonlocal done
        done += 1
        await asyncio.sleep(0)
        await pause(self)

    async with boxed() as box:
        await box.open()
        for number in range(40):
            await box.send(f"4207770001{number:02d}")
        await box.advance()
        monkeypatch.setattr(Slice, "pause", counted)
        left = asyncio.Event()

        async def receive() -> Any:
            await left.wait()
            return {"type": "http.disconnect"}

        asking = asyncio.create_task(box.call("GET", WORLD + path, receive=receive))
        while done < 5:
            assert not asking.done(), asking.result()
            await asyncio.sleep(0)
        left.set()
        assert (await asking).status == 499
        ended = done
        await turns(50)
        assert done == ended
        assert await box.send("420777000101")


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_status_and_an_equal_run() -> None:
    """A refusal instead of webhooks is a status; a value that changes nothing says so."""
    async with boxed() as box:
        await box.open()
        await box.get(f"/Send?apikey={KEY}&number=420777000101&message=Hi")
        body = b'{"body": "Hi", "to": [{"phone_number": "420777000101"}]}'
        await box.post("/v2/message", body, x_api_key=KEY, content_type="text/plain")
        await box.advance()
        said = await told(box)
        assert said["content_type strict"] == "differs: call 2, POST /v2/message would have had the status 415, not 200"
        assert said["legacy_error plain"] == "equal: no answer and no webhook would have been different"


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_webhooks_that_differ() -> None:
    """Bundles, times and retries are seen in the webhooks, also where an application answered them."""
    async with boxed() as box:
        await box.open()

        async def app(call: HttpCall) -> Outcome:
            return Outcome(500 if b'"sending"' in call.body else 200, None)

        box.runtime.deliver_to(box.runtime.worlds[KEY], app)
        await box.post("/v2/messages", [{"body": "Hi", "to": TWO[:1]}] * 2, x_api_key=KEY)
        await box.advance("2h")
        rows = {row["id"]: row for row in (await box.get(f"{WORLD}/leaning")).json["leaned"]}
        assert rows["A22"]["used"]["text"] == "webhook 1 to hook"
        assert rows["A63"]["used"]["text"].startswith("entry ")
        said = await told(box)
        assert said["bundle false"] == "differs: webhook 1 to hook would have had 1 entry at $, not 2 entries"
        assert said['timing {"sent":"10s"}'] == (
            "differs: webhook 2 to hook would not have come at 2026-03-01T09:00:01.000Z"
        )
        assert said['webhook_retry ["10s"]'] == (
            "differs: webhook 4 to hook would have come at 2026-03-01T09:00:10.000Z, not at 2026-03-01T09:00:30.000Z"
        )
        assert said["webhook_timeout 10s"].startswith("equal: ")


def test_what_only_one_run_has() -> None:
    """A webhook more is a difference; of what a replay that ended did not reach, nothing is said."""
    call = Observation(1, "call", 1, {"method": "GET", "path": "/x", "status": 200, "answer": {}})
    hook = Observation(2, "webhook", 1, {"at": "2026-03-01T09:00:00.000Z", "target": "hook", "body": []})
    more = finished(find_first_difference([call], [hook], lambda _: False))
    assert more is not None
    assert (more.entry, more.text) == (None, "a webhook to hook would have come at 2026-03-01T09:00:00.000Z")
    missing = finished(find_first_difference([hook, call], [call], lambda was: was.kind == "webhook"))
    assert missing is not None
    assert missing.text == "webhook 1 to hook would not have come at 2026-03-01T09:00:00.000Z"
    assert finished(find_first_difference([call, hook], [call], lambda _: False)) is None
    field = finished(
        find_first_difference([call], [call._replace(view={**call.view, "answer": {"a": None}})], lambda _: False)
    )
    assert field is not None
    assert (field.was, field.text) == (
        None, "the answer to call 1, GET /x would have had null at $.a, not nothing"
    )  # fmt: skip


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_scenario_that_was_loaded_later() -> None:
    """The setting changes in it too; where it is not legal with the other value, that is said."""
    rcs = {"sendbox": 1, "extends": "default", "assume": {"rcs": True, "bundle": True}}
    rcs |= {"attempts": [{"when": {"channel": "rcs"}, "then": "failed"}], "name": "later"}
    async with boxed() as box:
        await box.open()
        await box.post("/v2/messages", [{"body": "Hi", "to": TWO[:1]}] * 2, x_api_key=KEY)
        await box.put(f"{WORLD}/scenario", rcs)
        await box.advance("1h")
        assert (await told(box))["bundle false"].startswith("differs: webhook 1 ")
        await box.post(f"{WORLD}/reset")
        await box.post("/v2/message", {"body": "Hi", "to": TWO, "flow": [{"rcs": {"sender": "Acme"}}]}, x_api_key=KEY)
        await box.post("/v2/messages", [{"body": "Hi", "to": TWO[:1]}] * 2, x_api_key=KEY)
        await box.advance("1h")
        said = await told(box)
        assert said["bundle false"].startswith("differs: webhook 1 ")
        assert said["rcs false"] == "differs: call 1, POST /v2/message would have had the status 400, not 200"


@pytest.mark.asyncio
async def test_a_value_that_is_not_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario that is not legal with another value is not replayed, and that is said."""
    monkeypatch.setitem(SETTINGS, "timing", SETTINGS["timing"]._replace(other={"sent": "soon"}))
    async with boxed() as box:
        await box.open()
        await box.send("420777000111")
        await box.advance("1m")
        said = await told(box)
        assert said['timing {"sent":"soon"}'].startswith("illegal: the scenario is not legal: ")


@pytest.mark.asyncio
async def test_a_run_that_goes_another_way() -> None:
    """Where the replay does not come to a command, and its client saw the same up to there, nothing more is said."""
    async with boxed() as box:
        await box.open()
        await box.send()
        await box.advance("1m")
        hosted = box.runtime.worlds[KEY]
        world = hosted.world
        call = Call(box.app.control, "", hosted)
        ends = Stamp(world.epoch, world.now, world.ticks + 1)
        outcome = await Slice().through(
            replay_with(call, list(world.record.commands()), ends, list(observations(world)))
        )
        assert (outcome.outcome, outcome.first) == ("ended", None)
        assert outcome.text == (
            "no answer and no webhook would have been different until 2026-03-01T09:01:00.000Z; then the run differs"
        )


@pytest.mark.asyncio
async def test_bounds() -> None:
    """A longer record is not replayed, which is said; and no more differences are looked for than wanted."""
    async with boxed() as box:
        await box.open()
        await box.post("/v2/messages", [{"body": "Hi", "to": TWO}], x_api_key=KEY)
        await box.advance("1h")
        answer = (await box.get(f"{WORLD}/leaning?longest=1")).json
        assert all(row["others"] == [] for row in answer["leaned"])
        assert lines(answer)[-1] == "nothing was replayed: the journal has 14 entries, more than 1"
        assert len(await told(box, most=1)) < len(await told(box, longest=14))
        wrong = await box.get(f"{WORLD}/leaning?most=0")
        assert (wrong.status, wrong.json["message"]) == (400, "most: 0 is not legal; legal: 1 and more")
