"""Worlds by key: which key opens one, which is denied and why; opening, closing, resetting, restoring."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from freezegun import freeze_time

from sendbox.assembly import make_app
from sendbox.engine.kinds.masking import masked
from sendbox.engine.timeline import Goal
from sendbox.runtime.ending import UNKNOWN
from sendbox.runtime.interface import LogLine
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import Capped, Conflict, spread
from sendbox.runtime.worlds import Runtime
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.messaging.messaging import Messaging
from sendbox.settings import Settings
from tests.box import CONTRACT, KEY, START, WORLD, boxed, turns
from tests.scenarios import load

pytestmark = pytest.mark.asyncio


def runtime(**settings: Any) -> Runtime:
    return make_app(Settings(mode="manual", **settings), load("default"), CONTRACT).runtime


# --- which key opens a world ------------------------------------------------------------------------------------------

OURS = "only keys that begin with test- open a world"


@pytest.mark.parametrize(
    ("key", "settings", "why"),
    [
        pytest.param("test-a", {}, None, id="shortest"),
        pytest.param("test-" + "a" * 64, {}, None, id="longest"),
        pytest.param("test-aZ09._-", {}, None, id="every-kind-of-letter"),
        pytest.param("test-", {}, OURS, id="nothing-after-the-prefix"),
        pytest.param("test-" + "a" * 65, {}, OURS, id="too-long"),
        pytest.param("test-a b", {}, OURS, id="space"),
        pytest.param("test-é", {}, OURS, id="not-ascii"),
        pytest.param("test-a\n", {}, OURS, id="line-break"),
        pytest.param("Test-a", {}, OURS, id="capital-prefix"),
        pytest.param("prod-1", {}, OURS, id="another-form"),
        pytest.param("", {}, OURS, id="empty"),
        pytest.param("", {"any_key": True}, OURS, id="empty-with-any-key"),
        pytest.param("prod-1", {"keys": frozenset({"prod-1"})}, None, id="admitted-by-key"),
        pytest.param("prod-2", {"keys": frozenset({"prod-1"})}, OURS, id="not-the-admitted-one"),
        pytest.param("whatever it is", {"any_key": True}, None, id="any-key"),
        pytest.param("test-a~1", {}, f"the world of this sub-key is not open: {UNKNOWN}", id="sub-key-never-made"),
    ],
)
async def test_which_keys_open_a_world(key: str, settings: dict[str, Any], why: str | None) -> None:
    """A key opens its world, or is denied with the reason and what to do, in the list and in the log."""
    box = runtime(**settings)
    lines: list[LogLine] = []
    box.on_log = lines.append
    hosted = box.find(key, "/v2/message")
    if why is None:
        assert hosted is not None
        assert hosted.world.id == key
        assert box.find(key) is hosted
        assert not box.refused
        return
    assert hosted is None
    assert not box.worlds
    (refusal,) = box.refused
    shown = key if not key or key.startswith("test-") else masked(key)
    assert (refusal.key, refusal.path, refusal.why) == (shown, "/v2/message", why)
    assert box.refusal_answered("sendMessage", 400) == "denied"
    more = {"status": 400, "path": "/v2/message"}
    assert lines == [
        LogLine(f"denied /v2/message: {why}; {refusal.what_to_do}", shown, "warning", "sendMessage", more),
    ]


async def test_a_sub_key_leads_to_its_world() -> None:
    """A sub-key that was made is admitted; one of the same world that was not is denied."""
    box = runtime()
    hosted = box.open("test-a")
    Account.of(hosted.world).keys["test-a~1"] = Key("test-a~1")
    assert box.find("test-a~1") is hosted
    assert box.find("test-a~2") is None


async def test_at_the_cap_a_new_key_is_refused() -> None:
    """Beyond the cap no world is opened, by key or by call; those that are open go on."""
    box = runtime(max_worlds=2)
    first = box.find("test-a")
    box.find("test-b")
    with pytest.raises(Capped, match="2 worlds are open, the cap"):
        box.find("test-c")
    assert box.refused[-1].why == "2 worlds are open, the cap"
    assert box.find("no-test") is None
    with pytest.raises(Capped, match="2 worlds are open, the cap; close some") as raised:
        box.open("test-c")
    assert raised.value.error == "too_many_worlds"
    assert box.find("test-a") is first


async def test_refusals_are_kept_two_hundred() -> None:
    """The list of refused keys does not grow without end."""
    box = runtime()
    for number in range(300):
        box.find(f"test-{number}!")
    assert [refusal.key for refusal in box.refused] == [f"test-{number}!" for number in range(100, 300)]


@pytest.mark.parametrize(("key", "shown"), [("live-9f8e7d6c5b", "live…"), ("12345678", "…"), ("123456789", "1234…")])
async def test_a_key_of_the_real_service_is_shown_in_part(key: str, shown: str) -> None:
    """What is written to logs and lists can be recognized, and not used."""
    assert masked(key) == shown


# --- opening ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opener", "scenario", "server", "expected"),
    [
        pytest.param(1_000, 2_000, 3_000, 1_000, id="opener-first"),
        pytest.param(None, 2_000, 3_000, 2_000, id="then-scenario"),
        pytest.param(None, None, 3_000, 3_000, id="then-server"),
        pytest.param(0, 2_000, 3_000, 0, id="zero-is-an-instant"),
        pytest.param(None, None, None, START, id="else-the-present-second"),
    ],
)
async def test_a_world_starts_when_it_is_told_to(
    opener: int | None, scenario: int | None, server: int | None, expected: int
) -> None:
    """What pins `start` nearest to the world wins; nothing pinned means the present second, frozen or not."""
    blueprint = load({"sendbox": 1, **({} if scenario is None else {"clock": {"start": "1970-01-01T00:00:02Z"}})})
    with freeze_time("2026-03-01T09:00:00.789Z"):
        hosted = runtime(start=server).open("test-a", blueprint=blueprint, start=opener)
    assert hosted.world.now == expected


@pytest.mark.parametrize(
    ("opener", "scenario", "expected"),
    [("auto", "real", "auto"), (None, "real", "real"), (None, None, "manual")],
    ids=["opener-first", "then-scenario", "then-server"],
)
async def test_the_clock_runs_as_it_is_told_to(opener: Any, scenario: str | None, expected: str) -> None:
    """The opener's mode wins over the scenario's, that over the server's."""
    blueprint = load({"sendbox": 1, **({} if scenario is None else {"clock": {"mode": scenario}})})
    assert runtime().open("test-a", blueprint=blueprint, mode=opener).world.clock.mode == expected


async def test_seed_salt_and_rate_of_the_opener() -> None:
    """An opener's seed wins over the server's; its salt and rate hold."""
    box = runtime(seed=5)
    assert box.open("test-a").world.seed_given == 5
    world = box.open("test-b", seed="mine", salt="salty", rate=60.0).world
    assert (world.seed_given, world.salt, world.clock.rate) == ("mine", "salty", 60_000)


async def test_drawn_ids_are_new_and_open_worlds() -> None:
    """Without an id the server draws one that nobody uses, and that is a legal key."""
    box = runtime()
    drawn = {box.open().world.id for _ in range(50)}
    assert len(drawn) == 50
    assert all(box.legal_id(each) for each in drawn)
    assert runtime().instance != box.instance


async def test_an_id_that_is_taken_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not that of a world that was closed: its key is denied."""
    box = runtime()
    box.close(box.open("test-aa"))
    drawn = iter(["00aa", "00bb"])
    monkeypatch.setattr("sendbox.runtime.slot.tag_of", lambda text: next(drawn))
    assert box.open().world.id == "test-bb"
    await box.aclose()


async def test_an_id_in_use_is_a_conflict() -> None:
    """A second world of one id is refused."""
    box = runtime()
    box.open("test-a")
    with pytest.raises(Conflict, match="test-a is open already") as raised:
        box.open("test-a")
    assert (raised.value.error, raised.value.detail) == ("world_exists", {"world": "test-a"})


async def test_opening_a_world_copies_no_scenario() -> None:
    """Worlds share the compiled scenario."""
    box = runtime()
    worlds = [box.open().world for _ in range(3)]
    assert all(world.blueprint is box.blueprint for world in worlds)
    assert all(
        rule is shared
        for world in worlds
        for rule, shared in zip(Messaging.of(world).attempts.rules, Messaging.of(worlds[0]).attempts.rules, strict=True)
    )


async def test_tagged_names_lead_to_their_world() -> None:
    """A name that begins with a world's tag finds it without a key, as long as it is open."""
    box = runtime(shard=7)
    hosted = box.open("test-a")
    assert hosted.world.tag.startswith("07")
    assert await box.by_tag(f"{hosted.world.tag}abc") is hosted
    assert await box.by_tag("0700000000000000abc") is None
    box.close(hosted)
    assert await box.by_tag(f"{hosted.world.tag}abc") is None


# --- closing ----------------------------------------------------------------------------------------------------------


async def test_a_closed_worlds_key_is_denied_until_it_is_opened_again() -> None:
    """What a finished test left running cannot write into a later one: the key, and its sub-keys, are denied."""
    box = runtime()
    hosted = box.open("test-a")
    Account.of(hosted.world).keys["test-a~1"] = Key("test-a~1")
    box.close(hosted)
    assert box.find("test-a") is None
    assert box.find("test-a~1") is None
    assert {refusal.why for refusal in box.refused} == {"its world was closed"}
    again = box.open("test-a")
    assert box.find("test-a") is again
    assert again.world is not hosted.world
    assert (hosted.gone, again.gone) == (True, False)


async def test_a_closed_world_is_freed_without_the_collector() -> None:
    """A closed world's cycles are taken apart, so that nothing of it is left to Python's collector."""
    async with boxed() as box:
        for number in range(40):
            await box.send("420777000101", "420777000107", payload={"n": number})
        await box.advance()
        hosted = box.runtime.worlds[KEY]
        world = weakref.ref(hosted.world)
        gc.collect()
        gc.disable()
        try:
            assert (await box.delete(WORLD)).status == 200
            del hosted
            while box.runtime._gone or box.runtime._sweeper:
                await asyncio.sleep(0)
            await turns()
            assert world() is None
        finally:
            gc.enable()


async def test_a_world_that_somebody_looks_at_is_taken_apart_later() -> None:
    """While a call still looks at a closed world it is left as it is."""
    box = runtime()
    hosted = box.open("test-a")
    token = hosted.request_began()
    box.close(hosted)
    box._sweep()
    assert box._gone == [(hosted, hosted.world)]
    assert hosted.world.parts
    hosted.request_ended(token)
    box._sweep()
    assert box._gone == []
    assert not hosted.world.parts
    await box.aclose()


async def test_a_large_world_is_taken_apart_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two slices the loop has its turn; what fits into one is done at once."""
    left = iter([None] * 3)
    spread(left)
    assert list(left) == []
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", -1)
    left = iter([None] * 3)
    spread(left)
    assert len(list(left)) == 2
    left = iter([None] * 3)
    spread(left)
    await turns()
    assert list(left) == []


async def test_closing_the_runtime_ends_everything() -> None:
    """Nothing runs on after `aclose`: no timers, no deliveries, no sweep."""
    box = runtime()
    hosted = box.open("test-a", mode="auto")
    under_way = asyncio.Event()

    async def hang(call: HttpCall) -> Outcome:
        under_way.set()
        await asyncio.Event().wait()
        return Outcome(200)

    box.deliver_to(hosted, hang)
    Messaging.of(hosted.world).phones.write("sms", "420777000101", None, "Hello")
    box.close(box.open("test-b"))
    advance = asyncio.create_task(box.advance(hosted, Goal("by")))
    await under_way.wait()
    await box.aclose()
    with pytest.raises(Conflict, match="closed"):
        await advance
    assert not box.worlds
    assert hosted.timer is None
    assert not hosted.tasks


# --- resetting, checkpoints -------------------------------------------------------------------------------------------


async def test_a_reset_begins_a_new_epoch_with_the_same_names() -> None:
    """Back to the start: no messages, the start's instant, account and clock as at first; equal inputs, equal names."""
    async with boxed() as box:
        first = await box.send("420777000101", "420777000107")
        await box.advance()
        digest = (await box.get(f"{WORLD}/digest")).json
        shown = (await box.post(f"{WORLD}/reset")).json
        assert (shown["epoch"], shown["messages"], shown["clock"]["now"]) == (1, 0, "2026-03-01T09:00:00.000Z")
        assert await box.send("420777000101", "420777000107") == first
        await box.advance()
        assert (await box.get(f"{WORLD}/digest")).json == digest


async def test_a_reset_keeps_how_the_clock_runs() -> None:
    """Mode and rate are not the world's past: they stay, unless a new scenario comes in with the reset."""
    box = runtime()
    hosted = box.open("test-a", rate=2.0)
    box.tune(hosted, {"mode": "auto"})
    box.reset(hosted)
    assert (hosted.world.clock.mode, hosted.world.clock.rate) == ("auto", 2_000)
    hosted.next_blueprint = load({"sendbox": 1, "clock": {"mode": "real", "rate": 7, "start": "2030-01-01T00:00:00Z"}})
    box.reset(hosted)
    assert (hosted.world.clock.mode, hosted.world.clock.rate) == ("real", 7_000)
    assert hosted.world.start == 1_893_456_000_000
    await box.aclose()


async def test_what_was_in_flight_at_a_reset_cannot_arrive_late() -> None:
    """A delivery under way is dropped, and its late outcome changes nothing in the new epoch."""
    async with boxed(mode="real") as box:
        release = asyncio.Event()
        calls: list[HttpCall] = []

        async def slow(call: HttpCall) -> Outcome:
            calls.append(call)
            await release.wait()
            return Outcome(500)

        await box.open()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, slow)
        await box.send()
        while not calls:
            await asyncio.sleep(0)
        assert (await box.post(f"{WORLD}/reset")).status == 200
        release.set()
        await turns()
        assert (await box.get(f"{WORLD}/deliveries")).json == {"deliveries": []}
        assert (await box.get(f"{WORLD}/messages")).json == {"messages": []}
        assert hosted.world.outlets.in_flight == 0


async def test_a_checkpoint_is_a_whole_world() -> None:
    """Taken and restored: messages, credit, time and what is scheduled are as they were; the epoch is new."""
    async with boxed() as box:
        (message_id,) = await box.send()
        await box.advance("1s")
        assert (await box.put(f"{WORLD}/checkpoints/a")).json == {"name": "a", "at": "2026-03-01T09:00:01.000Z"}
        before = (await box.get(f"{WORLD}/account")).json
        digest = (await box.get(f"{WORLD}/digest")).json
        await box.send("420777000102")
        await box.advance("1h")
        shown = (await box.post(f"{WORLD}/checkpoints/a")).json
        assert (shown["epoch"], shown["messages"], shown["clock"]["now"]) == (1, 1, "2026-03-01T09:00:01.000Z")
        assert (await box.get(f"{WORLD}/account")).json == before
        assert (await box.get(f"{WORLD}/digest")).json == digest
        await box.advance()
        assert await box.results(message_id) == ["sending", "sent", "delivered"]
        assert (await box.post(f"{WORLD}/checkpoints/a")).json["epoch"] == 2


async def test_while_a_world_advances_it_is_not_reset_or_restored() -> None:
    """Conflicts are `advancing`, and change nothing."""
    box = runtime()
    hosted = box.open("test-a")
    box.take_checkpoint(hosted, "a")
    hosted.advancing = True
    calls: list[Callable[[], None]] = [
        lambda: box.reset(hosted),
        lambda: box.take_checkpoint(hosted, "b"),
    ]
    for what in calls:
        with pytest.raises(Conflict, match="test-a is advancing") as raised:
            what()
        assert raised.value.error == "advancing"
    assert hosted.world.epoch == 0
    assert list(hosted.checkpoints) == ["a"]
