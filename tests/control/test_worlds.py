"""Operations on worlds: open, list, close, checkpoints."""

from __future__ import annotations

import threading
from typing import Any, Final

import pytest

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.draws import Chooser
from sendbox.scenario.keys import texts
from tests.box import KEY, ORIGIN, START, WORLD, Box, boxed, count_calls
from tests.scenarios import load

pytestmark = pytest.mark.asyncio
ADDRESSES = {
    "base_url": f"{ORIGIN}/v2",
    "rest_url": f"{ORIGIN}/v1",
    "verify_url": ORIGIN,
    "http_api_url": ORIGIN,
}


async def test_health() -> None:
    """Ready, with the version, which process it is, and how many worlds there are."""
    async with boxed() as box:
        await box.open()
        instance = box.runtime.instance
        assert (await box.get("/_sandbox/health")).json == {
            "status": "ok",
            "version": __version__,
            "engine": ENGINE,
            "instance": instance,
            "worlds": 1,
            "dropped": 0,
        }


# --- opening ----------------------------------------------------------------------------------------------------------


async def test_a_world_is_opened_with_settings_of_its_own() -> None:
    """201 with id, key, clock and addresses; the settings hold."""
    async with boxed() as box:
        clock = {"mode": "real", "rate": 0.001, "start": "2026-06-01T12:00:00Z"}
        answer = await box.post(
            "/_sandbox/worlds", {"id": "test-a", "scenario": "otp-fallback", "seed": 9, "clock": clock, "salt": "s"}
        )
        assert answer.status == 201
        shown = answer.json
        assert (shown["id"], shown["api_key"], shown["seed"]) == ("test-a", "test-a", 9)
        assert shown["clock"] == {
            "now": "2026-06-01T12:00:00.000Z",
            "mode": "real",
            "rate": 0.001,
            "next_due": None,
            "pending": 0,
        }
        assert shown["addresses"] == ADDRESSES
        assert shown["callback_url"] == f"{ORIGIN}/_sandbox/worlds/test-a/hook"
        assert (shown["epoch"], shown["messages"], shown["deliveries"]) == (0, 0, "push")
        assert shown["started"] == "2026-06-01T12:00:00.000Z"
        assert (await box.get("/_sandbox/worlds/test-a")).json == {**shown, "checkpoints": []}
        assert box.runtime.worlds["test-a"].world.salt == "s"


@pytest.mark.parametrize("body", [None, {}], ids=["no-body", "empty"])
async def test_without_an_id_the_server_draws_one(body: Any) -> None:
    """Every such call opens another world, whose key works."""
    async with boxed() as box:
        opened = [(await box.post("/_sandbox/worlds", body)).json["id"] for _ in range(3)]
        assert len(set(opened)) == 3
        await box.send(key=opened[0])
        assert (await box.get("/_sandbox/worlds")).json["worlds"][0]["messages"] == 1


TEXT = "sendbox: 1\nname: mine\nattempts:\n  - then: undelivered\n"


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        ("late-receipt", "The receipt comes after the fallback"),
        (TEXT, "mine"),
        ({"sendbox": 1, "name": "an object", "extends": "default"}, "an object"),
    ],
    ids=["library", "yaml-text", "object"],
)
async def test_a_scenario_is_a_name_a_text_or_an_object(scenario: Any, name: str) -> None:
    """Each way of giving a scenario opens a world with it."""
    async with boxed() as box:
        assert (await box.open(scenario=scenario))["scenario"] == (
            load("late-receipt").name if name[0] == "T" else name
        )


async def test_a_carrier_in_this_process_hands_over_a_compiled_scenario() -> None:
    """What is compiled already is taken as it is."""
    async with boxed() as box:
        blueprint = load("late-receipt")
        await box.app.control.perform(ORIGIN, "open_world", None, {"id": KEY, "scenario": blueprint})
        assert box.runtime.worlds[KEY].blueprint is blueprint


@pytest.mark.parametrize(
    ("given", "now", "started"),
    [
        ({}, "2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z"),
        ({"clock": {"start": "2026-06-01T12:00:00Z"}}, "2030-01-01T00:00:00Z", "2026-06-01T12:00:00.000Z"),
    ],
    ids=["nothing-pins-the-start", "the-opener-pins-it"],
)
async def test_a_world_may_start_at_the_openers_present(given: Any, now: str, started: str) -> None:
    """`now` counts where nothing pins the start."""
    async with boxed(start=None) as box:
        assert (await box.open(now=now, **given))["started"] == started
    async with boxed(start=START) as box:
        assert (await box.open(now=now))["started"] == "2026-03-01T09:00:00.000Z"


@pytest.mark.parametrize(
    ("body", "status", "error", "message"),
    [
        (
            {"id": "prod"},
            400,
            "bad_id",
            '"prod" is not an id of a world; legal: test- and 1 to 64 of a-z A-Z 0-9 . _ -',
        ),
        ({"id": ""}, 400, "bad_id", '"" is not an id of a world'),
        ({"id": "test-a~1"}, 400, "bad_id", '"test-a~1" is not an id of a world'),
        ({"deliveries": "email"}, 400, "bad_argument", 'deliveries: "email" is not known; legal: push, pull'),
        (
            {"clock": {"mode": "fast"}},
            400,
            "bad_clock",
            "mode: 'fast' is not a setting of a clock; legal: mode (manual,",
        ),
        (
            {"clock": {"rate": -1}},
            400,
            "bad_clock",
            "rate: -1 is not a rate of a clock; legal: 0.001 to 1000000",
        ),
        ({"clock": {"rate": 0}}, 400, "bad_clock", "rate: 0 is not a rate of a clock"),
        ({"clock": {"rate": 1e308}}, 400, "bad_clock", "rate: 1e+308 is not a rate of a clock"),
        ({"clock": {"rate": True}}, 400, "bad_clock", "rate: true is not a setting of a clock"),
        ({"clock": {"start": []}}, 400, "bad_clock", "start: [] is not a setting of a clock"),
        ({"clock": {"start": "now"}}, 400, "bad_argument", "start: 'now' is not an RFC 3339 instant"),
        ({"clock": {"tz": "UTC"}}, 400, "bad_clock", "tz: 'UTC' is not a setting of a clock"),
        ({"scenario": 7}, 400, "bad_body", "7 is not a scenario; legal: a name, YAML text, or an object"),
        ({"scenario": []}, 400, "bad_body", "[] is not a scenario; legal: a name, YAML text, or an object, or a list"),
        ({"scenario": ["default", 7]}, 400, "bad_body", '["default", 7] is not a scenario'),
        ({"scenario": ["default", "nothing"]}, 422, "bad_scenario", '"nothing" is not a scenario of the library'),
        (
            {"scenario": "sendbox: 1\nname: ${HOME:x}"},
            422,
            "bad_scenario",
            'scenario:2:7: "${HOME:x}" asks for a value of the environment, and a scenario that came over the network',
        ),
        ({"scenario": "nothing"}, 422, "bad_scenario", '"nothing" is not a scenario of the library; legal: default, '),
        (
            {"scenario": "/etc/passwd"},
            422,
            "bad_scenario",
            '"/etc/passwd" is a path, and this scenario came without a folder',
        ),
        (b"[1]", 400, "bad_body", "the body is not a JSON object"),
        (b"{", 400, "bad_body", "the body is not JSON: "),
    ],
)
async def test_what_cannot_be_opened(body: Any, status: int, error: str, message: str) -> None:
    """An illegal setting is refused with what is legal, and no world is opened."""
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        assert message in answer.json["message"]
        assert box.runtime.worlds == {}


INVENTING: Final[dict[str, Any]] = {"when": {"phone": "*"}, "replies": [{"body": "I am {{fake.first_name}}"}]}


async def test_what_invents_is_compiled_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario or rule for which texts are invented waits for them in another thread, however it comes in."""
    threads: list[threading.Thread] = []
    pool = texts._pool

    def noted(locale: str, name: str, chooser: Chooser) -> tuple[str, ...]:
        threads.append(threading.current_thread())
        return pool(locale, name, chooser)

    monkeypatch.setattr(texts, "_pool", noted)
    async with boxed() as box:
        scenario = {"sendbox": 1, "attempts": [INVENTING]}
        await box.open(scenario=scenario)
        assert (await box.put(f"{WORLD}/scenario", scenario)).status == 200
        assert (await box.post(f"{WORLD}/rules", INVENTING)).status == 201
        on_the_loop = [each is threading.current_thread() for each in threads]
        assert on_the_loop == [False, False, False]
        await box.send()
        await box.advance("1h")
        (inbound,) = (await box.get(f"{WORLD}/journal?kind=inbound")).json["entries"]
        assert inbound["body"].startswith("I am ")


async def test_a_wrong_rule_that_invents_is_refused() -> None:
    """422 with every problem, as any other."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/rules", {"replies": [{"body": "{{fake.name}} {{fake.nam}}"}]})
        assert (answer.status, answer.json["problems"][0]["nearest"]) == (422, "fake.name")


async def test_an_id_in_use_is_409_with_what_is_there() -> None:
    """The answer shows the world that has the id."""
    async with boxed() as box:
        there = await box.open()
        answer = await box.post("/_sandbox/worlds", {"id": KEY})
        assert (answer.status, answer.json["error"]) == (409, "world_exists")
        assert answer.json["message"] == "test-1 is open already"
        assert answer.json["world"] == there


async def test_at_the_cap_no_world_is_opened() -> None:
    """503 says how many there are."""
    async with boxed(max_worlds=1) as box:
        await box.open()
        answer = await box.post("/_sandbox/worlds", {"id": "test-2"})
        assert (answer.status, answer.json["error"]) == (503, "too_many_worlds")


async def test_worlds_are_listed_in_the_order_of_their_opening() -> None:
    """With `last` the newest of them."""
    async with boxed() as box:
        for number in range(5):
            await box.open(f"test-{number}")
        ids = [world["id"] for world in (await box.get("/_sandbox/worlds")).json["worlds"]]
        assert ids == [f"test-{number}" for number in range(5)]
        newest = [world["id"] for world in (await box.get("/_sandbox/worlds?last=2")).json["worlds"]]
        assert newest == ["test-3", "test-4"]
        assert (await box.get("/_sandbox/worlds?last=0")).json == {"worlds": []}
        assert (await box.get("/_sandbox/worlds?last=-1")).json["message"] == (
            "last: -1 is not legal; legal: 0 and more"
        )
        assert (await box.get("/_sandbox/worlds?last=x")).json["message"] == "last: 'x' is not a whole number"


async def test_worlds_are_listed_in_pages() -> None:
    """`limit` at a time, those with a prefix only; worlds that are closed or opened meanwhile disturb no page."""

    async def page(box: Box, query: str) -> tuple[list[str], str | None]:
        answer = (await box.get(f"/_sandbox/worlds?{query}")).json
        return [world["id"] for world in answer["worlds"]], answer.get("next_cursor")

    async with boxed() as box:
        for number in range(6):
            await box.open(f"test-{'ab'[number % 2]}{number}")
        assert (await page(box, "part=T-A2"))[0] == ["test-a2"]
        ids, cursor = await page(box, "limit=3&prefix=test-a")
        assert (ids, cursor) == (["test-a0", "test-a2", "test-a4"], None)
        ids, cursor = await page(box, "limit=2")
        assert ids == ["test-a0", "test-b1"]
        await box.delete("/_sandbox/worlds/test-b1")
        await box.delete("/_sandbox/worlds/test-a2")
        await box.open("test-a0x")
        ids, cursor = await page(box, f"limit=2&cursor={cursor}")
        assert ids == ["test-b3", "test-a4"]
        ids, cursor = await page(box, f"limit=2&cursor={cursor}")
        assert (ids, cursor) == (["test-b5", "test-a0x"], None)
        assert (await page(box, "cursor=99")) == ([], None)
        for wrong in ("limit=0", "cursor=-1", "cursor=x", "last=-1"):
            assert (await box.get(f"/_sandbox/worlds?{wrong}")).json["error"] == "bad_argument"


async def test_a_page_of_worlds_is_found_without_a_look_at_all() -> None:
    """The newest, and the next page, take as many calls however many worlds are open."""

    async def calls(box: Box, query: str) -> int:
        return await count_calls(lambda: box.get(f"/_sandbox/worlds?{query}"))

    async with boxed() as box:
        taken = []
        for more in (20, 2_000):
            for _ in range(more):
                box.runtime.open()
            middle = len(box.runtime.worlds) // 2
            taken.append([await calls(box, query) for query in ("last=5", "limit=5", f"limit=5&cursor={middle}")])
    assert all(many < 1.1 * few for few, many in zip(*taken, strict=True)), taken


# --- closing ----------------------------------------------------------------------------------------------------------


async def test_a_closed_world_is_gone_until_it_is_opened_again() -> None:
    """Its key is denied, control answers 404; opened again it is a new world."""
    async with boxed() as box:
        await box.send()
        assert (await box.delete(WORLD)).json == {"closed": KEY}
        assert (await box.get(WORLD)).status == 404
        assert (await box.delete(WORLD)).status == 404
        message = {"body": "x", "to": [{"phone_number": "420777000101"}]}
        assert (await box.post("/v2/message", message, x_api_key=KEY)).status == 400
        assert [each["why"] for each in (await box.get("/_sandbox/refused")).json["refused"]] == [
            "its world was closed"
        ]
        assert (await box.open())["messages"] == 0
        assert (await box.post("/v2/message", message, x_api_key=KEY)).status == 200


# --- checkpoints ------------------------------------------------------------------------------------------------------


async def test_a_checkpoint_that_was_never_taken() -> None:
    """404 says which were."""
    async with boxed() as box:
        await box.open()
        assert (await box.post(f"{WORLD}/checkpoints/a")).json["message"] == (
            '"a" was never taken in this world; taken: none'
        )
        assert (await box.put(f"{WORLD}/checkpoints/b")).status == 201
        answer = await box.post(f"{WORLD}/checkpoints/a")
        assert (answer.status, answer.json["error"]) == (404, "no_such_checkpoint")
        assert answer.json["message"].endswith("taken: b")


async def test_a_checkpoint_keeps_rules_and_scenario() -> None:
    """Rules that control put, and a scenario that was changed, are there again after a restore."""
    async with boxed() as box:
        await box.open()
        await box.put(f"{WORLD}/scenario", {"sendbox": 1, "name": "x", "attempts": [{"then": "undelivered"}]})
        await box.post(f"{WORLD}/rules", {"when": {"phone": "420777000102"}, "then": "failed"})
        await box.put(f"{WORLD}/checkpoints/a")
        await box.put(f"{WORLD}/scenario?reset=true", {"name": "default"})
        assert await box.final() == "delivered"
        await box.post(f"{WORLD}/checkpoints/a")
        assert await box.final() == "undelivered"
        assert await box.final("420777000102") == "failed"


async def test_several_scenarios_open_a_world() -> None:
    """They are joined, the later over the earlier."""
    async with boxed() as box:
        scenarios = ["late-receipt", {"sendbox": 1, "name": "mine", "seed": 7}, "sendbox: 1\nseed: 8"]
        answer = await box.post("/_sandbox/worlds", {"id": "test-joined", "scenario": scenarios})
        assert (answer.status, answer.json["scenario"], answer.json["seed"]) == (201, "mine", 8)
