"""Checkpoints: places in the record of a world, and back to the same future by a replay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from sendbox.runtime.policy import HttpCall
from sendbox.runtime.policy import Outcome as Answered
from sendbox.runtime.slot import Slice
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, START, WORLD, Box, boxed, turns
from tests.interfaces.rest.calls import OWN

pytestmark = pytest.mark.asyncio

HERE: Final = f"{WORLD}/checkpoints/here"
HOOK: Final = "http://client.example/hook"
#: Drawn times and results, faults that count, what a phone says by itself.
SCENARIO: Final[Mapping[str, Any]] = {
    "sendbox": 1,
    "attempts": [
        {"name": "stop", "when": {"phone": "420777000102"}, "then": "delivered", "replies": [{"body": "STOP"}]},
        {"name": "mixed", "mix": {"delivered": 3, "undelivered": 1, "failed": 1}},
    ],
    "api": [{"when": {"operation": "createValidation", "call": 2}, "fault": {"status": 503}}],
}


async def everything(box: Box, key: str = KEY) -> list[Any]:
    """The world as it is seen from outside: the journal but for restores, what there is, and the digest."""
    entries = (await box.get(f"/_sandbox/worlds/{key}/journal?limit=1000")).json["entries"]
    seen = [{**each, "n": None} for each in entries if each["kind"] not in ("restored", "control")]
    views = ("messages", "deliveries", "account", "requests", "hook", "phones", "codes", "partner", "digest")
    shown = [(await box.get(f"/_sandbox/worlds/{key}/{view}")) for view in views]
    assert {each.status for each in shown} == {200}
    return [seen, *(each.json for each in shown)]


async def restored(box: Box) -> dict[str, Any]:
    """Back to the checkpoint."""
    answer = await box.post(HERE)
    assert answer.status == 200, answer
    found: dict[str, Any] = answer.json
    return found


async def story(box: Box) -> None:
    """Something of everything that a client does and a tester does."""
    await box.send("420777000101", "420777000102", "nonsense", body="See https://a.example", shorten={})
    await box.post("/v1/apikey/add", {**OWN, "note": "shop"}, x_api_key=KEY)
    await box.post("/v1/blacklist", {"to": "420777000801"}, x_api_key=KEY)
    for status in (200, 503):
        answer = await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        assert answer.status == status
    await box.post(f"{WORLD}/rules", {"name": "front", "when": {"phone": "*105"}, "then": "failed", "times": 1})
    await box.advance("1500ms")
    await box.send("420777000105")
    asked = await box.post("/v1/messaging/url", {"bulk_id": "b1", "filetype": "jsonl"}, x_api_key=KEY)
    path = asked.json["url"].removeprefix("http://box:7357")
    await box.call("PUT", path, b'{"body":"Hi","to":[{"phone_number":"420777000106"}]}\nno\n' * 5, FILE)
    await box.advance("2s")


FILE: Final = {"content-type": "application/jsonl"}


async def test_a_restored_world_is_the_same_in_everything() -> None:
    """Whatever was done to it: entry by entry, view by view, and after an hour too."""
    async with boxed(SCENARIO) as box:
        await story(box)
        assert (await box.put(HERE)).status == 201
        there = await everything(box)
        await box.advance("1h")
        later = await everything(box)
        assert later != there
        shown = await restored(box)
        assert (shown["epoch"], shown["clock"]["now"]) == (1, "2026-03-01T09:00:03.500Z")
        assert await everything(box) == there
        await box.advance("1h")
        assert await everything(box) == later
        await restored(box)
        assert await everything(box) == there


async def test_keys_and_lists_live_on() -> None:
    """What a client manages is there after a restore, and what refers to it is of the new world."""
    async with boxed(SCENARIO) as box:
        await story(box)
        await box.put(HERE)
        old = box.runtime.worlds[KEY].world
        await restored(box)
        world = box.runtime.worlds[KEY].world
        (key,), (before,) = Account.of(world).subkeys.children, Account.of(old).subkeys.children
        assert key is not before
        assert key.id == before.id
        assert Account.of(world).billing_of(key) is key.billing
        assert Account.of(world).top.id == KEY
        assert Account.of(world).blacklist == Account.of(old).blacklist != {}
        assert (await box.send(key=key.id, body="by the sub-key")) != []


async def test_a_restored_world_lives_its_own_life() -> None:
    """What follows a restore shows in no other restore of the same checkpoint."""
    async with boxed() as box:
        (message,) = await box.send()
        await box.put(HERE)
        credit = (await box.get(f"{WORLD}/account")).json
        await box.advance("1h")
        assert (await box.results(message))[-1] == "delivered"
        assert (await box.get(f"{WORLD}/account")).json != credit
        for epoch in (1, 2):
            assert (await restored(box))["epoch"] == epoch
            assert (await box.get(f"{WORLD}/account")).json == credit
            assert await box.results(message) == []
            await box.send("420777000109")
            await box.advance("1h")


async def test_a_checkpoint_of_a_restored_world() -> None:
    """It knows the way through the restore, and epochs go on counting."""
    async with boxed() as box:
        await box.send()
        await box.put(HERE)
        await box.advance("1s")
        await restored(box)
        await box.send("420777000102")
        await box.advance("500ms")
        await box.put(f"{WORLD}/checkpoints/second")
        there = await everything(box)
        await restored(box)
        shown = (await box.post(f"{WORLD}/checkpoints/second")).json
        assert (shown["epoch"], shown["messages"], shown["clock"]["now"]) == (3, 2, "2026-03-01T09:00:00.500Z")
        assert await everything(box) == there


async def test_rules_put_in_front_are_kept_with_their_counts() -> None:
    """A rule of control that was used up stays used up, and can be taken away by its id."""
    async with boxed() as box:
        await box.open()
        rule = (await box.post(f"{WORLD}/rules", {"when": {}, "then": "failed", "times": 1})).json["id"]
        assert await box.final() == "failed"
        await box.put(HERE)
        await restored(box)
        assert await box.final() == "delivered"
        assert (await box.delete(f"{WORLD}/rules/{rule}")).status == 200
        await restored(box)
        assert (await box.delete(f"{WORLD}/rules/{rule}")).status == 200


async def test_what_worlds_share_is_not_made_again() -> None:
    """The blueprint and its rules are the very same; what is the world's is not."""
    async with boxed(dict(SCENARIO)) as box:
        await box.send()
        await box.put(HERE)
        old = box.runtime.worlds[KEY].world
        await restored(box)
        world = box.runtime.worlds[KEY].world
        assert world is not old
        assert world.blueprint is old.blueprint
        assert world.assume is old.assume
        assert world.api.rules[0] is old.api.rules[0]
        assert Messaging.of(world).attempts.rules[0] is Messaging.of(world).attempts.from_scenario[0]
        assert Messaging.of(world).messages[0] is not Messaging.of(old).messages[0]


async def test_what_was_under_way_is_tried_again() -> None:
    """The try is made again with the same bytes and id, and is the same try; so the digest is the same."""
    async with boxed() as box:
        gate = asyncio.Event()
        calls: list[HttpCall] = []

        async def slow(call: HttpCall) -> Answered:
            calls.append(call)
            if len(calls) == 1:
                await gate.wait()
            return Answered(200)

        await box.open()
        await box.only_sending()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, slow)
        await box.send()
        await box.put(HERE)
        advance = asyncio.ensure_future(box.advance("0s"))
        while not calls:
            await asyncio.sleep(0)
        await turns()
        gate.set()
        await advance
        digest = (await box.get(f"{WORLD}/digest")).json
        await restored(box)
        await box.advance("0s")
        assert (await box.get(f"{WORLD}/digest")).json == digest
        first, second = calls
        assert (first.body, first.headers) == (second.body, second.headers)


async def test_retries_go_on_where_they_were() -> None:
    """Tries that failed before the checkpoint are tries of five, and the others come at the same instants."""
    found = []
    for again in (False, True):
        async with boxed() as box:

            async def failing(_call: HttpCall) -> Answered:
                return Answered(503)

            await box.open()
            await box.only_sending()
            box.runtime.deliver_to(box.runtime.worlds[KEY], failing)
            await box.send()
            await box.advance("29999ms")
            await box.put(HERE)
            if again:
                await box.advance("2m")
                await restored(box)
            await box.advance("1h")
            found.append(await box.tries())
    assert found[0] == found[1]
    assert found[0] == [[(at, 503, None) for at in (0, 30, 90, 210, 450)]]


async def test_a_held_delivery_stays_held() -> None:
    """It is not tried again by itself, and can be let go."""
    async with boxed() as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.send()
        box.runtime.worlds[KEY].world.run(START, 100)
        (delivery,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert (await box.post(f"{WORLD}/deliveries/{delivery['id']}/hold")).status == 200
        await box.put(HERE)
        await restored(box)
        (held,) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert (held["id"], held["state"]) == (delivery["id"], "held")
        assert (await box.post(f"{WORLD}/deliveries/{delivery['id']}/release")).status == 200


async def test_a_file_in_the_middle() -> None:
    """A bulk file of which some lines were read, in the middle of an instant, goes on where it was."""
    async with boxed() as box:
        asked = await box.post("/v1/messaging/url", {"bulk_id": "b1", "filetype": "jsonl"}, x_api_key=KEY)
        path = asked.json["url"].removeprefix("http://box:7357")
        lines = b"".join(b'{"body":"Hi","to":[{"phone_number":"4207770001%02d"}]}\n' % each for each in range(9))
        assert (await box.call("PUT", path, lines, FILE)).status == 200
        hosted = box.runtime.worlds[KEY]
        hosted.world.run(START, 4)
        box.runtime.take_checkpoint(hosted, "here")
        there = await everything(box)
        assert 0 < len((await box.get(f"{WORLD}/messages")).json["messages"]) < 9
        await box.advance("1h")
        later = await everything(box)
        await restored(box)
        assert await everything(box) == there
        await box.advance("1h")
        assert await everything(box) == later
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 9


@pytest.mark.deep
async def test_a_large_world() -> None:
    """Two thousand messages with links and events; other worlds are served while it is made again."""
    async with boxed() as box:
        for n in range(200):
            await box.send(*(f"42060{n * 10 + k:07}" for k in range(10)), body="https://acme.example", shorten={})
        await box.advance("1500ms")
        await box.put(HERE)
        digest = (await box.get(f"{WORLD}/digest")).json
        await box.advance("1h")
        later = (await box.get(f"{WORLD}/digest")).json
        back = asyncio.ensure_future(restored(box))
        await asyncio.sleep(0)
        await box.send(key="test-2")
        assert not back.done()
        assert (await back)["messages"] == 2_000
        assert (await box.get(f"{WORLD}/digest")).json == digest
        await box.advance("1h")
        assert (await box.get(f"{WORLD}/digest")).json == later
        assert {each.result for each in Messaging.of(box.runtime.worlds[KEY].world).messages} == {"delivered"}


async def test_a_call_during_a_restore_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes while the world is made again is done once it is there, in the epoch that it came for or in none."""
    monkeypatch.setattr(Slice, "over", property(lambda _self: True))  # pauses wherever it may
    async with boxed() as box:
        for _ in range(300):
            await box.send()
        await box.put(HERE)
        back = asyncio.ensure_future(restored(box))
        while box.runtime.worlds[KEY].working is None:
            await asyncio.sleep(0)
        late = asyncio.ensure_future(
            box.post("/v2/message", {"body": "x", "to": [{"phone_number": "420777000101"}]}, x_api_key=KEY)
        )
        await asyncio.sleep(0)
        assert not late.done()
        assert (await back)["messages"] == 300
        assert (await late).status == 400
        assert (await box.get("/_sandbox/refused")).json["refused"][-1]["why"] == (
            "its world was closed or reset while the call was on its way"
        )


async def test_no_such_checkpoint() -> None:
    """What was taken is named."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(HERE)
        assert (answer.status, answer.json["error"]) == (404, "no_such_checkpoint")
        assert answer.json["message"].endswith("taken: none")


async def test_while_a_world_advances_it_is_not_restored() -> None:
    """It conflicts, and changes nothing."""
    async with boxed() as box:
        await box.open()
        await box.put(HERE)
        hosted = box.runtime.worlds[KEY]
        hosted.advancing = True
        for method in ("PUT", "POST"):
            answer = await box.call(method, HERE)
            assert (answer.status, answer.json["error"]) == (409, "advancing")
        assert hosted.world.epoch == 0
        hosted.advancing = False


async def test_a_record_that_was_cut() -> None:
    """Once `--max-journal` has made a world forget, it has no way back; a checkpoint from before is still good."""
    async with boxed(max_journal=20) as box:
        await box.send()
        await box.put(HERE)
        for _ in range(12):
            await box.send()
            await box.advance()
        for answer in (await box.put(f"{WORLD}/checkpoints/late"), await box.get(f"{WORLD}/export")):
            assert (answer.status, answer.json["error"]) == (409, "record_cut")
            assert answer.json["bound"] == "--max-journal=20"
            assert "--max-journal=20 cut it" in answer.json["message"]
        shown = await restored(box)
        assert (shown["messages"], shown["clock"]["now"]) == (1, "2026-03-01T09:00:00.000Z")


async def test_a_world_names_its_checkpoints() -> None:
    """Each with the instant at which it was last taken."""
    async with boxed() as box:
        await box.open()
        assert (await box.get(WORLD)).json["checkpoints"] == []
        first = (await box.put(HERE)).json
        await box.advance("1m")
        second = (await box.put(f"{WORLD}/checkpoints/there")).json
        assert (await box.get(WORLD)).json["checkpoints"] == [first, second]
        again = (await box.put(HERE)).json
        assert (await box.get(WORLD)).json["checkpoints"] == [again, second]
