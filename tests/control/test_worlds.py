"""Operations on worlds: open, list, close, reset, scenario, rules, account, checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox import __version__
from sendbox.core.digest import ENGINE
from sendbox.scenario.compile import load
from tests.box import KEY, ORIGIN, START, WORLD, Box, boxed

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
        }


# --- opening ----------------------------------------------------------------------------------------------------------


async def test_a_world_is_opened_with_settings_of_its_own() -> None:
    """201 with id, key, clock and addresses; the settings hold."""
    async with boxed() as box:
        clock = {"mode": "real", "rate": 0, "start": "2026-06-01T12:00:00Z"}
        answer = await box.post(
            "/_sandbox/worlds", {"id": "test-a", "scenario": "otp-fallback", "seed": 9, "clock": clock, "salt": "s"}
        )
        assert answer.status == 201
        shown = answer.json
        assert (shown["id"], shown["api_key"], shown["seed"]) == ("test-a", "test-a", 9)
        assert shown["clock"] == {
            "now": "2026-06-01T12:00:00.000Z",
            "mode": "real",
            "rate": 0.0,
            "next_due": None,
            "pending": 0,
        }
        assert shown["addresses"] == ADDRESSES
        assert shown["callback_url"] == f"{ORIGIN}/_sandbox/worlds/test-a/hook"
        assert (shown["epoch"], shown["messages"], shown["deliveries"]) == (0, 0, "push")
        assert shown["started"] == "2026-06-01T12:00:00.000Z"
        assert (await box.get("/_sandbox/worlds/test-a")).json == shown
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
    from sendbox.control import operations
    from sendbox.control.operation import perform

    async with boxed() as box:
        blueprint = load("late-receipt")
        await perform(box.runtime, ORIGIN, operations.load()["open_world"], None, {"id": KEY, "scenario": blueprint})
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
        ({"id": "prod"}, 400, "bad_id", '"prod" is no id of a world; legal: test- and 1 to 64 of a-z A-Z 0-9 . _ -'),
        ({"id": ""}, 400, "bad_id", '"" is no id of a world'),
        ({"id": "test-a~1"}, 400, "bad_id", '"test-a~1" is no id of a world'),
        ({"deliveries": "email"}, 400, "bad_argument", '"email" is no way of delivering; legal: push, pull'),
        ({"clock": {"mode": "fast"}}, 400, "bad_clock", "mode: 'fast' is no setting of a clock; legal: mode (manual,"),
        ({"clock": {"rate": -1}}, 400, "bad_clock", "rate: -1 is no setting of a clock"),
        ({"clock": {"rate": True}}, 400, "bad_clock", "rate: True is no setting of a clock"),
        ({"clock": {"start": []}}, 400, "bad_clock", "start: [] is no setting of a clock"),
        ({"clock": {"start": "now"}}, 400, "bad_argument", "start: 'now' is not an RFC 3339 instant"),
        ({"clock": {"tz": "UTC"}}, 400, "bad_clock", "tz: 'UTC' is no setting of a clock"),
        ({"scenario": 7}, 400, "bad_body", "7 is no scenario; legal: a name, YAML text, or an object"),
        ({"scenario": "nothing"}, 422, "bad_scenario", "nothing: "),
        ({"scenario": "/etc/passwd"}, 422, "bad_scenario", "/etc/passwd: "),
        (b"[1]", 400, "bad_body", "the body is no JSON object"),
        (b"{", 400, "bad_body", "the body is no JSON: "),
    ],
)
async def test_what_cannot_be_opened(body: Any, status: int, error: str, message: str) -> None:
    """An illegal setting is refused with what is legal, and no world is opened."""
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        assert message in answer.json["message"]
        assert box.runtime.worlds == {}


async def test_an_id_in_use_is_409_with_what_is_there() -> None:
    """The answer shows the world that has the id."""
    async with boxed() as box:
        there = await box.open()
        answer = await box.post("/_sandbox/worlds", {"id": KEY})
        assert (answer.status, answer.json["error"]) == (409, "world_exists")
        assert answer.json["message"] == "test-1 is open already"
        assert answer.json["world"] == there


async def test_at_the_cap_no_world_is_opened() -> None:
    """409 says how many there are."""
    async with boxed(max_worlds=1) as box:
        await box.open()
        answer = await box.post("/_sandbox/worlds", {"id": "test-2"})
        assert (answer.status, answer.json["error"]) == (409, "too_many_worlds")


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
            "last: -1 is no number of things; legal: 0 and more"
        )
        assert (await box.get("/_sandbox/worlds?last=x")).json["message"] == "last: 'x' is no whole number"


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


# --- scenario ---------------------------------------------------------------------------------------------------------

NEXT = {
    "sendbox": 1,
    "name": "next",
    "seed": 7,
    "clock": {"mode": "manual", "start": "2027-01-01T00:00:00Z"},
    "account": {"credit": {"eur": 5}},
    "phones": [{"number": "4207770001*", "channels": ["sms"]}],
    "timeline": [{"at": "1s", "inbound": {"channel": "sms", "from": "420777000001", "body": "Hi"}}],
    "assume": {"timing": {"sent": "5s"}},
    "digest": {"ignore": ["payload.x"]},
    "attempts": [{"then": "undelivered"}],
}
PARTS = ["account", "phones", "seed", "clock", "timeline", "assume", "digest"]


async def test_a_scenarios_rules_hold_at_once_and_the_rest_at_the_next_reset() -> None:
    """Decisions not yet made go by the new rules; account, phones, seed and clock wait for the reset."""
    async with boxed() as box:
        (before,) = await box.send()
        await box.advance("0s")
        answer = await box.put(f"{WORLD}/scenario", NEXT)
        assert answer.json == {"applied": ["attempts"], "at_reset": PARTS, "skipped": []}
        (after,) = await box.send()
        await box.advance()
        assert await box.results(before) == ["sending", "sent", "delivered"]
        assert await box.results(after) == ["sending", "sent", "undelivered"]
        shown = (await box.get(WORLD)).json
        assert (shown["seed"], shown["clock"]["now"]) == (0, "2026-03-01T09:01:00.000Z")
        reset = (await box.post(f"{WORLD}/reset")).json
        assert (reset["scenario"], reset["seed"], reset["clock"]["now"]) == ("next", 7, "2027-01-01T00:00:00.000Z")
        assert (await box.get(f"{WORLD}/account")).json["credit"] == {"eur": 5.0}
        assert box.runtime.worlds[KEY].blueprint.phones


@pytest.mark.parametrize("reset", ["true", "1"])
async def test_a_scenario_may_reset_the_world_at_once(reset: str) -> None:
    """With `?reset=true` everything is applied, in a new epoch."""
    async with boxed() as box:
        await box.send()
        answer = await box.put(f"{WORLD}/scenario?reset={reset}", NEXT)
        assert answer.json == {"applied": ["attempts", *PARTS], "at_reset": [], "skipped": []}
        shown = (await box.get(WORLD)).json
        assert (shown["epoch"], shown["scenario"], shown["messages"]) == (1, "next", 0)


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("scenario", {"name": "late-receipt"}),
        ("scenario?name=late-receipt", None),
        ("scenario?reset=false", b"late-receipt"),
        ("scenario", b"sendbox: 1\nextends: late-receipt\nname: The receipt\n"),
        ("scenario", {"sendbox": 1, "extends": "late-receipt", "name": "x"}),
    ],
    ids=["name-in-the-body", "name-in-the-query", "name-as-text", "yaml", "json"],
)
async def test_a_scenario_is_put_by_name_yaml_or_json(target: str, body: Any) -> None:
    """The rules of the new scenario stand in the world, whichever way it came."""
    async with boxed() as box:
        await box.open()
        answer = await box.put(f"{WORLD}/{target}", body)
        assert (answer.status, answer.json["applied"]) == (200, ["attempts"])
        rules = [rule.key for rule in box.runtime.worlds[KEY].world.rules]
        assert rules == [rule.key for rule in load("late-receipt").attempts]


async def test_rules_put_in_front_stay_in_front_of_a_new_scenario() -> None:
    """A scenario change takes no rule away that control put there; a reset does."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "failed"})
        await box.put(f"{WORLD}/scenario", {"name": "default"})
        (message_id,) = await box.send()
        await box.advance()
        assert await box.results(message_id) == ["sending", "failed"]
        await box.post(f"{WORLD}/reset")
        (message_id,) = await box.send()
        await box.advance()
        assert await box.results(message_id) == ["sending", "sent", "delivered"]


BROKEN = """\
sendbox: 1
attempts:
  - when: {phone: "420*"}
    then: delivrd
  - {then: sent, repplies: []}
"""


async def test_a_bad_scenario_is_422_with_every_problem_and_its_place() -> None:
    """Nothing of it is loaded; each problem has line, column, value, rule and the nearest legal word."""
    async with boxed() as box:
        (message_id,) = await box.send()
        for target in (f"{WORLD}/scenario", f"{WORLD}/scenario?reset=true"):
            answer = await box.put(target, BROKEN.encode())
            assert (answer.status, answer.json["error"]) == (422, "bad_scenario")
            problems = answer.json["problems"]
            assert [(each["line"], each["column"]) for each in problems] == [(4, 11), (5, 18)]
            assert "delivered" in problems[0]["message"]
            assert "replies" in problems[1]["message"]
        await box.advance()
        assert await box.results(message_id) == ["sending", "sent", "delivered"]
        assert box.runtime.worlds[KEY].next_blueprint is None


@pytest.mark.parametrize(
    ("target", "body", "status", "error"),
    [
        ("scenario", None, 422, "bad_scenario"),
        ("scenario", b"[1]", 400, "bad_body"),
        ("scenario", b"\xff", 400, "bad_body"),
        ("scenario", {"name": "nothing"}, 422, "bad_scenario"),
        ("scenario?reset=maybe", {"name": "default"}, 400, "bad_argument"),
    ],
    ids=["empty", "a-list", "no-text", "unknown-name", "reset-is-no-word"],
)
async def test_what_is_no_scenario(target: str, body: Any, status: int, error: str) -> None:
    """Refused with the reason, nothing changed."""
    async with boxed() as box:
        await box.open()
        answer = await box.put(f"{WORLD}/{target}", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        assert box.runtime.worlds[KEY].next_blueprint is None


# --- rules ------------------------------------------------------------------------------------------------------------


async def test_a_rule_in_front_decides_and_is_taken_away_again() -> None:
    """`POST …/rules` decides from now on, `DELETE …/rules/{rule}` ends it."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/rules", {"when": {"phone": "420777000101"}, "then": "undelivered"})
        assert (answer.status, answer.json) == (201, {"id": "r1", "in": "attempts"})
        assert (await box.post(f"{WORLD}/rules", {"in": "attempts", "then": "failed"})).json["id"] == "r2"
        assert await final(box) == "failed"
        assert (await box.delete(f"{WORLD}/rules/r2")).json == {"dropped": "r2"}
        assert await final(box) == "undelivered"
        await box.delete(f"{WORLD}/rules/r1")
        assert await final(box) == "delivered"
        answer = await box.delete(f"{WORLD}/rules/r1")
        assert (answer.status, answer.json["error"]) == (404, "no_such_rule")


async def final(box: Box, *numbers: str) -> str:
    (message_id,) = await box.send(*numbers)
    await box.advance()
    return (await box.results(message_id))[-1]


async def test_a_rule_with_times_decides_so_often() -> None:
    """`times` counts messages; then the rules after it are asked."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {"phone": "420777000101"}, "then": "failed", "times": 2})
        assert [await final(box) for _ in range(3)] == ["failed", "failed", "delivered"]
        assert (await box.get(f"{WORLD}/digest")).json["order_sensitive"] is True


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"in": "webhooks", "then": "failed"}, 400, "bad_argument"),
        ({"when": {"phne": "1"}, "then": "failed"}, 422, "bad_rule"),
        ({"then": "delivrd"}, 422, "bad_rule"),
        ([], 400, "bad_body"),
        (b"then: failed", 400, "bad_body"),
        (None, 400, "bad_body"),
    ],
)
async def test_what_is_no_rule(body: Any, status: int, error: str) -> None:
    """An illegal rule is refused with every problem; no rule is put."""
    async with boxed() as box:
        await box.open()
        rules = len(box.runtime.worlds[KEY].world.rules)
        answer = await box.post(f"{WORLD}/rules", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        if status == 422:
            assert answer.json["problems"]
        assert len(box.runtime.worlds[KEY].world.rules) == rules


# --- account ----------------------------------------------------------------------------------------------------------

TEMPLATE = {
    "name": "hello",
    "language": "en",
    "category": "UTILITY",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": "Hello {{1}}"}],
}


async def test_an_account_is_changed_at_once() -> None:
    """Credit, currency, senders, lists, templates, secrets, callback: what is named changes, the rest stays."""
    async with boxed() as box:
        await box.open()
        before = (await box.get(f"{WORLD}/account")).json
        changes = {
            "credit": {"eur": 1.5},
            "senders": {"sms": ["Acme"]},
            "optout": ["777000109"],
            "blacklist": ["+420777000108"],
            "numbers": ["420900000001"],
            "domains": ["go.acme.example"],
            "templates": [TEMPLATE],
            "stop_words": ["halt"],
            "default_callback_url": "http://127.0.0.1:9/hooks",
            "default_callback_secret": "s3",
        }
        answer = await box.patch(f"{WORLD}/account", changes)
        assert answer.status == 200
        shown = answer.json
        assert shown == (await box.get(f"{WORLD}/account")).json
        assert shown["credit"] == {"eur": 1.5}
        assert shown["optout"] == ["420777000109"]
        assert shown["blacklist"] == ["420777000108"]
        assert shown["default_callback_url"] == "http://127.0.0.1:9/hooks"
        assert (shown["country"], shown["currency"]) == (before["country"], before["currency"])
        world = box.runtime.worlds[KEY].world
        assert world.account.template("hello", "en") is not None
        assert world.keys[KEY].default_callback_secret == "s3"
        assert (await box.get(f"{WORLD}/journal?kind=control")).json["entries"][-1]["what"] == "account"


async def test_credit_set_to_nothing_rejects_the_next_message() -> None:
    """What an account has is what the next hand-over finds."""
    async with boxed() as box:
        await box.open()
        await box.patch(f"{WORLD}/account", {"credit": {"eur": 0}})
        assert await final(box) == "rejected"
        await box.patch(f"{WORLD}/account", {"credit": {"eur": 1}})
        assert await final(box) == "delivered"


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"credt": {}}, 422, "bad_account"),
        ({"credit": {"eur": "much"}}, 422, "bad_account"),
        ([], 400, "bad_body"),
        (b"credit: 5", 400, "bad_body"),
        (None, 400, "bad_body"),
    ],
)
async def test_what_is_no_change_of_an_account(body: Any, status: int, error: str) -> None:
    """Refused with every problem, nothing changed."""
    async with boxed() as box:
        await box.open()
        before = (await box.get(f"{WORLD}/account")).json
        answer = await box.patch(f"{WORLD}/account", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        assert (await box.get(f"{WORLD}/account")).json == before


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
        assert await final(box) == "delivered"
        await box.post(f"{WORLD}/checkpoints/a")
        assert await final(box) == "undelivered"
        assert await final(box, "420777000102") == "failed"
