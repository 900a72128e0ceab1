"""A later process continues the worlds of an earlier one, from the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sendbox.control.operation import ControlError
from sendbox.engine import ENGINE
from sendbox.engine.answer import plain
from sendbox.engine.commands.command import Call, Overtake
from sendbox.runtime import wall
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.policy import Outcome as Answered
from sendbox.runtime.spool import Spooled
from sendbox.runtime.teams import Token
from tests.box import KEY, ORIGIN, WORLD, Box, Reading, end_idle
from tests.durable.files import digest, has, killed, listed, stored
from tests.interfaces.rest.calls import put, upload_url

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.usefixtures("in_database"),
    pytest.mark.parametrize("in_database", ["sqlite", "postgresql"], indirect=True),
]

HOOK = "http://client.example/hook"
HOOKED = {"sendbox": 1, "account": {"default_callback_url": HOOK}}


async def journal(box: Box, key: str = KEY) -> list[Any]:
    """The entries of the journal."""
    entries: list[Any] = (await box.get(f"/_sandbox/worlds/{key}/journal?limit=1000")).json["entries"]
    return entries


def deliver(box: Box, receive: Callable[[HttpCall], Awaitable[Answered]]) -> None:
    """From now on webhooks go to a function."""
    box.app.runtime.senders.of(box.runtime.settings.callbacks).send = lambda call, _patience: receive(call)


async def test_a_killed_world_is_there_again(tmp_path: Path) -> None:
    """It is listed without being made; the first call makes it, and it continues. Its digest is equal."""
    async with stored(tmp_path / "a.db") as box:
        (first,) = await box.send()
        await box.send("420777000102", body="x" * 70_000)  # longer than what stays in memory
        await box.advance("10s")
        before, entries = await digest(box), await journal(box)
        file = killed(tmp_path / "a.db")
    async with stored(file) as box:
        (world,) = await listed(box)
        assert (world["id"], world["stored"], world["messages"], world["entries"]) == (KEY, True, 2, len(entries))
        assert box.runtime.worlds == {}
        assert await digest(box) == before
        assert await journal(box) == entries
        assert [world.get("stored") for world in await listed(box)] == [None]
        assert (await box.results(first))[-1] == "delivered"
        (second,) = await box.send()
        assert second != first


async def test_a_call_makes_its_world_again(tmp_path: Path) -> None:
    """So does a call with the key, or with a sub-key."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 2
    async with stored(tmp_path / "a.db") as box:
        assert (await box.get("/v2/nothing", x_api_key=KEY)).status == 404
        assert (await box.get(f"{WORLD}/journal?last=1")).json["entries"][0]["kind"] == "request"
        assert (await box.post("/_sandbox/worlds", {"id": KEY})).json["error"] == "world_exists"
        assert (await box.put(WORLD, {})).status == 200
        assert (await box.put(WORLD, {"seed": 7})).json["differs"][0]["setting"] == "seed"


async def test_calls_at_once_make_it_once(tmp_path: Path) -> None:
    """Whoever comes while a world is being made waits for it."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
    async with stored(tmp_path / "a.db") as box:
        views = await asyncio.gather(*(box.get(f"{WORLD}/messages") for _ in range(5)))
        assert [len(view.json["messages"]) for view in views] == [1] * 5
        assert len(box.runtime.worlds) == 1


async def test_an_address_makes_its_world_again(tmp_path: Path) -> None:
    """Where bodies are sent to; a long body is in the store, and out of the memory once it is there again."""
    lines = b"".join(b'{"to":[{"phone_number":"4207770%05d"}],"body":"Hello"}\n' % number for number in range(1_500))
    own = {"sendbox": 1, "name": "own", "attempts": [{"then": "failed"}]}
    async with stored(tmp_path / "a.db") as box:
        await box.open(scenario=own)
        address = await upload_url(box)
    async with stored(tmp_path / "a.db") as box:
        assert (await put(box, address, lines)).status == 200
        assert (await put(box, "/upload/nowhere", lines)).status != 200
        await box.advance("1h")
        before = await digest(box)
    async with stored(tmp_path / "a.db") as box:
        assert await digest(box) == before
        assert (await box.get(WORLD)).json["messages"] == 1_500
        bodies = [entry.body for entry in box.runtime.worlds[KEY].world.record.entries if isinstance(entry, Call)]
        assert [isinstance(body, Spooled) and bytes(body) == lines for body in bodies] == [True]
        assert (await box.put(WORLD, {"scenario": own})).status == 200


async def test_an_answer_that_was_overtaken_is_lost(tmp_path: Path) -> None:
    """Events that were to leave before an answer leave all the same, since nobody gets that any more."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        world = box.runtime.worlds[KEY].world
        world.enter(Overtake(("a request",), leaves=False))
        box.runtime.note_change(box.runtime.worlds[KEY])
    async with stored(tmp_path / "a.db") as box:
        await box.advance("1h")
        assert box.runtime.worlds[KEY].world.outlets.injection.racing == set()
        assert len(await box.events()) == 3


async def test_a_server_ends_while_it_makes_a_world(tmp_path: Path) -> None:
    """The world stays as it is in the store."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
    async with stored(tmp_path / "a.db") as box:
        asking = asyncio.create_task(box.runtime.wake(KEY))
        await asyncio.sleep(0)
        asking.cancel()
    async with stored(tmp_path / "a.db") as box:
        assert (await box.get(WORLD)).json["messages"] == 1


async def test_a_try_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    """With the same X-Request-Id and bytes (A91), and no try more in the journal."""
    calls: list[HttpCall] = []
    reached = asyncio.Event()

    async def hang(call: HttpCall) -> Answered:
        calls.append(call)
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def take(call: HttpCall) -> Answered:
        calls.append(call)
        return Answered(200)

    async with stored(tmp_path / "a.db", HOOKED) as box:
        await box.send()
        deliver(box, hang)
        moving = asyncio.create_task(box.advance("1m"))
        await reached.wait()
        file = killed(tmp_path / "a.db")
        moving.cancel()
    async with stored(file, HOOKED) as box:
        deliver(box, take)
        await box.get(WORLD)
        while len(calls) < 2:
            await asyncio.sleep(0)
        assert calls[0] == calls[1]
        await box.advance("1m")
        deliveries = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [[one["status"] for one in delivery["tries"]] for delivery in deliveries] == [[200]] * 3
        again = await digest(box)
    async with stored(file, HOOKED) as box:
        assert await digest(box) == again


async def test_resets_and_checkpoints(tmp_path: Path) -> None:
    """What a reset or a restore undid is not there, but for checkpoints: those lead back to it in each process."""
    async with stored(tmp_path / "a.db", HOOKED) as box:
        deliver(box, lambda call: _answered(503))
        await box.send()
        await box.advance("10s")
        assert (await box.put(f"{WORLD}/checkpoints/first")).status == 201
        undone = await digest(box)
        assert (await box.post(f"{WORLD}/reset")).status == 200
        await box.send("420777000103")
        assert (await box.put(f"{WORLD}/checkpoints/here")).status == 201
        await box.send("420777000104")
        assert (await box.post(f"{WORLD}/checkpoints/here")).status == 200
        hosted = box.runtime.worlds[KEY]
        box.runtime.take_checkpoint(hosted, "undone")  # in one commit with the reset
        box.runtime.reset(hosted)
        before = await digest(box)
    async with stored(tmp_path / "a.db", HOOKED) as box:
        assert await digest(box) == before
        view = (await box.get(WORLD)).json
        assert view["epoch"] == 3
        assert [checkpoint["name"] for checkpoint in view["checkpoints"]] == ["first", "here", "undone"]
        assert (await box.post(f"{WORLD}/checkpoints/undone")).json["messages"] == 1
        await box.send("420777000105")
        assert (await box.post(f"{WORLD}/checkpoints/here")).json["messages"] == 1
    async with stored(tmp_path / "a.db", HOOKED) as box:
        await box.post(f"{WORLD}/checkpoints/first")
        assert await digest(box) == undone
        assert (await box.post(f"{WORLD}/checkpoints/here")).json["messages"] == 1
        again = await digest(box)
    async with stored(tmp_path / "a.db", HOOKED) as box:
        assert await digest(box) == again
        names = [checkpoint["name"] for checkpoint in (await box.get(WORLD)).json["checkpoints"]]
        assert names == ["first", "here", "undone"]


async def _answered(status: int) -> Answered:
    return Answered(status)


async def test_an_outbox_is_one_again(tmp_path: Path) -> None:
    """The deliveries of a world that is pulled wait in its outbox, also those that had been fetched."""
    async with stored(tmp_path / "a.db", HOOKED) as box:
        await box.open(deliveries="pull")
        await box.send()
        moving = asyncio.create_task(box.advance("1m"))
        (call,) = (await box.post(f"{WORLD}/outbox?wait=30s")).json["calls"]
        file = killed(tmp_path / "a.db")
        moving.cancel()
    async with stored(file, HOOKED) as box:
        assert (await listed(box))[0]["deliveries"] == "pull"
        (again,) = (await box.post(f"{WORLD}/outbox?wait=30s")).json["calls"]
        assert again == call
        assert (await box.put(WORLD, {"deliveries": "pull"})).status == 200


async def test_a_real_clock_stands_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While no process has the world; the journal says for how long."""
    reading = Reading()
    async with stored(tmp_path / "a.db", mode="real", reading=reading) as box:
        await box.send()
        reading.passes(2)
        before = (await box.clock())["now"]
    ended = wall.now_ms()
    monkeypatch.setattr(wall, "now_ms", lambda: ended + 3_600_000)
    reading.passes(3_600)
    async with stored(tmp_path / "a.db", mode="real", reading=reading) as box:
        assert (await box.clock())["now"] == before
        entry = (await journal(box))[-1]
        assert (entry["kind"], entry["what"], entry["stood_still"][:2]) == ("control", "clock", "1h")
        reading.passes(1)
        assert (await box.clock())["now"] > before


async def test_an_open_start_stays_open(tmp_path: Path) -> None:
    """A world that was opened `late` begins with its first command, also in another process."""
    async with stored(tmp_path / "a.db", start=None) as box:
        await box.open("test-late", late=True)
        await box.open("test-now", late=True, now="2026-05-01T00:00:00Z")
    async with stored(tmp_path / "a.db", start=None) as box:
        assert (await box.post("/_sandbox/worlds/test-late/start", {"now": "2026-04-01T00:00:00Z"})).json == {
            "started": "2026-04-01T00:00:00.000Z"
        }
        assert (await box.get("/_sandbox/worlds/test-now/clock")).json["now"] == "2026-05-01T00:00:00.000Z"


async def test_instants_of_control_are_kept(tmp_path: Path) -> None:
    """A start that a tester sets, and an instant to which the clock was moved, are in the record like others."""
    start, later = "2026-03-02T09:00:00.000Z", "2026-03-02T10:00:00.000Z"
    async with stored(tmp_path / "a.db") as box:
        opened = await box.post("/_sandbox/worlds", {"id": "test-2", "clock": {"mode": "manual", "start": start}})
        assert opened.status == 201
        assert (await box.post("/_sandbox/worlds/test-2/clock/advance", {"to": later})).json["to"] == later
        await box.send(key="test-2")
        before = await digest(box, "test-2")
    async with stored(tmp_path / "a.db") as box:
        assert await digest(box, "test-2") == before
        world = (await box.get("/_sandbox/worlds/test-2")).json
        assert (world["started"], world["clock"]["now"]) == (start, later)


async def test_a_closed_world_is_removed(tmp_path: Path) -> None:
    """At once, and nothing of it stays in the file; also one that was not made again, one by one or by prefix."""
    file = tmp_path / "a.db"
    async with stored(file) as box:
        for name in ("test-a", "test-b", "test-c1", "test-c2"):
            await box.send("420777123456", key=name, body="a secret text")
        assert (await box.delete("/_sandbox/worlds/test-a")).status == 200
    async with stored(file) as box:
        assert (await box.delete("/_sandbox/worlds/test-b")).json == {"closed": "test-b"}
        assert (await box.post("/v2/message", {}, x_api_key="test-b")).status == 400
        assert (await box.delete("/_sandbox/worlds?prefix=test-c")).json == {"closed": 2}
        assert box.runtime.worlds == {}
        copy = killed(file)
    assert not any(has(left, b"420777123456") for left in (file, copy))
    async with stored(file) as box:
        assert await listed(box) == []


async def test_a_list_has_open_and_stored_worlds_in_their_order(tmp_path: Path) -> None:
    """Page by page, from both ends."""
    names = [f"test-{number}" for number in range(5)]
    async with stored(tmp_path / "a.db") as box:
        for name in names:
            await box.send(key=name)
    async with stored(tmp_path / "a.db") as box:
        await box.send(key="test-2")
        await box.send(key="test-new")
        worlds = await listed(box)
        assert [world["id"] for world in worlds] == [*names, "test-new"]
        assert [world["id"] for world in worlds if world.get("stored")] == ["test-0", "test-1", "test-3", "test-4"]
        assert [world["id"] for world in await listed(box, "?last=2")] == ["test-4", "test-new"]
        first = (await box.get("/_sandbox/worlds?limit=2&order=newest")).json
        assert [world["id"] for world in first["worlds"]] == ["test-new", "test-4"]
        rest = await listed(box, f"?order=newest&cursor={first['next_cursor']}")
        assert [world["id"] for world in rest] == ["test-3", "test-2", "test-1", "test-0"]


async def end_unused(box: Box) -> None:
    """Ends the worlds that nobody has used for --world-ttl."""
    assert box.runtime.persistence is not None
    if (sharing := box.runtime.persistence.sharing) is not None:
        await sharing.claim_unused()
    end_idle(box)


async def test_a_world_that_nobody_uses_ends_in_the_store_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After --world-ttl, counted from its last commit."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
    later = wall.now_ms() + 61_000
    monkeypatch.setattr(wall, "now_ms", lambda: later)
    async with stored(tmp_path / "a.db", world_ttl=60.0) as box:
        await end_unused(box)
        assert await listed(box) == []
        assert (KEY, "it ended after 1m without use; its key opens a new world") in box.log
    async with stored(tmp_path / "a.db") as box:
        assert await listed(box) == []


async def test_a_look_at_a_world_is_a_use_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart too it lives on since then; a list is no use."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        await box.send(key="test-2")
        later = wall.now_ms() + 61_000
        monkeypatch.setattr(wall, "now_ms", lambda: later)
        await listed(box)
        await box.get(f"{WORLD}/messages")
    async with stored(tmp_path / "a.db", world_ttl=60.0) as box:
        await end_unused(box)
        assert [world["id"] for world in await listed(box)] == [KEY]


async def test_a_world_without_its_record_ends_with_the_process(tmp_path: Path) -> None:
    """What --max-journal forgets is not in the store either; the next world of the key says why it is new."""
    async with stored(tmp_path / "a.db", max_journal=10) as box:
        for number in range(10):
            await box.send("420777123456", body=f"text {number}")
            await box.advance("1m")
        while box.runtime.worlds[KEY].world.record.cut_by is None:
            await asyncio.sleep(0)
        await box.send()
        copy = killed(tmp_path / "a.db")
    assert not has(copy, b"420777123456")
    async with stored(copy) as box:
        assert await listed(box) == []
        answer = await box.post("/v2/message", {"to": [{"phone_number": "420777000101"}]}, x_api_key=KEY)
        why = "opened anew: the server was restarted, and --max-journal=10 had cut its record"
        assert answer.headers["sendbox-world"] == why


async def test_a_second_is_enough_where_one_says_so(tmp_path: Path) -> None:
    """With `durability` second no answer waits; what has come is written at the end."""
    async with stored(tmp_path / "a.db", durability="second") as box:
        await box.send()
        assert box.runtime.persistence is not None
        assert box.runtime.persistence._group is None
    async with stored(tmp_path / "a.db") as box:
        assert [world["id"] for world in await listed(box)] == [KEY]


async def test_a_closing_is_answered_once_it_is_done(tmp_path: Path) -> None:
    """Also with `durability` second: it says that nothing of the world is left."""
    file = tmp_path / "a.db"
    async with stored(file, durability="second") as box:
        assert box.runtime.persistence is not None
        for close in (WORLD, "/_sandbox/worlds?prefix=test-"):
            await box.send(body="a secret text")
            await box.runtime.persistence.flush()
            await box.send("420777000102")
            assert (await box.delete(close)).status == 200
            copy = killed(file)
            assert not has(copy, b"a secret text")
            assert (await box.put(WORLD)).status == 201


async def test_a_team_has_its_own_stored_worlds(tmp_path: Path) -> None:
    """It neither sees those of another team nor closes or wakes them."""
    async with stored(tmp_path / "a.db") as box:
        await box.send(key="test-mine-1")
        await box.send(key="test-other-1")
    async with stored(tmp_path / "a.db") as box:
        control, team = box.app.control, Token("mine", "team", "test-mine-")

        async def call(operation: str, world: str | None = None) -> Any:
            return await control.do(ORIGIN, control.served.by_name[operation], world, token=team)

        assert [world["id"] for world in (await call("worlds"))["worlds"]] == ["test-mine-1"]
        for operation in ("close_world", "world"):
            with pytest.raises(ControlError) as refusal:
                await call(operation, "test-other-1")
            assert refusal.value.status == 403
        assert plain(await call("close_world", "test-mine-1")) == {"closed": "test-mine-1"}
        assert [world["stored"] for world in await listed(box)] == [True]


@pytest.mark.parametrize(
    "scenario",
    [
        "otp-fallback",
        "sendbox: 1\n# a remark\nextends: default\n\nattempts:\n\n  - {when: {phone: '*1'}, then: undelivered}\n",
        "sendbox: 1\nname: mine\n# a remark\nexpect:\n\n  - {that: messages, count: 2}\n",
    ],
)
async def test_a_scenario_is_as_it_was_sent(tmp_path: Path, scenario: str) -> None:
    """With its remarks, and the places of rules and expectations are those that it had."""
    views = ("scenario", "verdict", "report", "record")

    async def read_views(box: Box) -> list[Any]:
        worlds = (KEY, "test-2")
        return [(await box.get(f"/_sandbox/worlds/{world}/{view}")).json for world in worlds for view in views]

    async with stored(tmp_path / "a.db") as box:
        await box.open(scenario="default")
        await box.put(f"{WORLD}/scenario", scenario)
        await box.open("test-2", scenario=scenario)
        await box.send()
        before = await read_views(box)
    async with stored(tmp_path / "a.db") as box:
        assert await read_views(box) == before
        assert (await box.put("/_sandbox/worlds/test-2", {"scenario": scenario})).status == 200


async def test_an_exploration_has_worlds_of_its_own(tmp_path: Path) -> None:
    """Those of one that a kill ended are left in the store, and a later one begins with other ids."""
    for prefix in ("test-explore-1-1-", "test-explore-2-1-"):
        async with stored(tmp_path / "a.db") as box:
            begun = (await box.post("/_sandbox/explorations", {"test": "shop"})).json
            run = (await box.post(f"/_sandbox/explorations/{begun['id']}/next")).json
            assert run["prefix"] == prefix
            await box.send(key=f"{prefix}1")


async def test_a_world_that_is_not_in_the_store(tmp_path: Path) -> None:
    """Nothing says that a restart has ended it."""
    async with stored(tmp_path / "a.db") as box:
        why = "this server knows none of that name, and its store has none; POST"
        assert why in (await box.get(WORLD)).json["message"]


async def test_the_server_keeps_its_name(tmp_path: Path) -> None:
    """A client takes it for the same server, because its worlds are there."""
    async with stored(tmp_path / "a.db") as box:
        name = (await box.get("/_sandbox/health")).headers["sendbox-instance"]
    async with stored(tmp_path / "a.db") as box:
        assert (await box.get("/_sandbox/health")).headers["sendbox-instance"] == name


async def test_other_rules_are_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A world of another engine is listed, and refused in the shape of each interface; it can be closed.

    The log does not show its key where that may be one of the real service.
    """
    live = "live-0123456789"
    keys = frozenset({live})
    async with stored(tmp_path / "a.db", keys=keys) as box:
        await box.send()
        await box.send(key=live)
    monkeypatch.setattr("sendbox.runtime.store.persistence.ENGINE", ENGINE + 1)
    async with stored(tmp_path / "a.db", keys=keys) as box:
        assert (await box.post("/v2/message", {"to": []}, x_api_key=live)).status == 503
        assert any(line.startswith("full /v2/message: live… was recorded by") for _, line in box.log)
        assert not any(live in line for _, line in box.log)
        assert (await box.delete(f"/_sandbox/worlds/{live}")).status == 200
        why = f"{KEY} was recorded by Sendbox"
        assert [world["id"] for world in await listed(box)] == [KEY]
        answer = await box.get(WORLD)
        assert (answer.status, answer.json["error"]) == (503, "other_engine")
        assert answer.json["message"].startswith(why)
        answer = await box.post("/v2/message", {"to": []}, x_api_key=KEY)
        assert (answer.status, list(answer.json)) == (503, ["Message"])
        await box.send(key="test-other")
        assert (await box.delete(WORLD)).status == 200
    async with stored(tmp_path / "a.db") as box:
        assert [world["id"] for world in await listed(box)] == ["test-other"]
