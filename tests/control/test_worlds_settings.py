"""What decides in a world, changed while it is open: scenario, rules, account."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, WORLD, boxed
from tests.scenarios import load

pytestmark = pytest.mark.asyncio


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
        shown = answer.json
        warnings = {line["message"].partition(":")[0]: line for line in shown.pop("warnings")}
        assert shown == {"applied": ["attempts", "verify"], "at_reset": PARTS, "skipped": []}
        assert {part: line["code"] for part, line in warnings.items()} == dict.fromkeys(PARTS, "at-reset")
        how = "it holds from the next reset on: POST …/reset, or load it with reset=true"
        assert warnings["assume"]["message"] == f"assume: {how}"
        assert warnings["account"]["message"] == f"account: {how}; PATCH …/account changes at once what it can"
        assert warnings["timeline"]["message"] == (
            f"timeline: {how}; that of the scenario before goes on, "
            "and POST …/happenings lets things happen now or later"
        )
        (after,) = await box.send()
        await box.advance()
        assert await box.results(before) == ["sending", "sent", "delivered"]
        assert await box.results(after) == ["sending", "sent", "undelivered"]
        shown = (await box.get(WORLD)).json
        assert (shown["seed"], shown["clock"]["now"]) == (0, "2026-03-01T09:01:00.000Z")
        reset = (await box.post(f"{WORLD}/reset")).json
        assert (reset["scenario"], reset["seed"], reset["clock"]["now"]) == ("next", 7, "2027-01-01T00:00:00.000Z")
        assert (await box.get(f"{WORLD}/account")).json["credit"] == 5.0
        assert box.runtime.worlds[KEY].blueprint.compiled["phones"]


@pytest.mark.parametrize("reset", ["true", "1"])
async def test_a_scenario_may_reset_the_world_at_once(reset: str) -> None:
    """With `?reset=true` everything is applied, in a new epoch."""
    async with boxed() as box:
        await box.send()
        answer = await box.put(f"{WORLD}/scenario?reset={reset}", NEXT)
        assert answer.json == {
            "applied": ["attempts", "verify", *PARTS],
            "at_reset": [],
            "skipped": [],
            "warnings": [],
        }
        shown = (await box.get(WORLD)).json
        assert (shown["epoch"], shown["scenario"], shown["messages"]) == (1, "next", 0)


@pytest.mark.parametrize(
    ("reset", "since"), [("", "the next reset"), ("?reset=true", "now")], ids=["at the next reset", "at once"]
)
async def test_what_another_scenario_does_not_bring_is_said(reset: str, since: str) -> None:
    """A seed that the world was opened with, a clock that only the scenario before has, and requests to be sent."""
    clock = {"mode": "auto", "start": "2027-01-01T00:00:00Z"}
    traffic = [{"at": "0s", "request": {"call": "GET /v1/credit"}}]
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "clock": clock}, seed=7)
        answer = await box.put(f"{WORLD}/scenario{reset}", {"sendbox": 1, "traffic": traffic})
        kept = "and the world keeps {}, at a reset too; open a new world with it: POST /_sandbox/worlds"
        assert [(line["code"], line["message"]) for line in answer.json["warnings"] if line["code"] != "at-reset"] == [
            ("seed-replaced", f"seed: the world was opened with 7; from {since} on it has 0, the scenario's"),
            ("clock-kept", f"clock.mode: the scenario has none, {kept.format('auto')}"),
            ("clock-kept", f"clock.start: the scenario has none, {kept.format('2027-01-01T00:00:00.000Z')}"),
            ("not-sent", "traffic: to load a scenario sends nothing; POST …/play carries it out, step by step"),
        ]
        before = (await box.get(WORLD)).json
        after = (await box.post(f"{WORLD}/reset")).json
        assert (before["seed"], after["seed"]) == (0 if reset else 7, 0)
        assert (after["clock"]["mode"], after["started"]) == ("auto", "2027-01-01T00:00:00.000Z")
        assert (await box.put(f"{WORLD}/scenario", {"sendbox": 1})).json["warnings"] == []


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
    """The rules of the new scenario stand in the world, whichever way it came; its expectations, where it is named."""
    async with boxed() as box:
        await box.open()
        answer = await box.put(f"{WORLD}/{target}", body)
        built_on = "extends" in str(body)
        assert (answer.status, answer.json["applied"]) == (200, ["attempts"] if built_on else ["attempts", "expect"])
        rules = [rule.key for rule in Messaging.of(box.runtime.worlds[KEY].world).attempts.rules]
        assert rules == [rule.key for rule in load("late-receipt").compiled["attempts"]]


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
        assert await box.final() == "failed"
        assert (await box.delete(f"{WORLD}/rules/r2")).json == {"dropped": "r2"}
        assert await box.final() == "undelivered"
        await box.delete(f"{WORLD}/rules/r1")
        assert await box.final() == "delivered"
        answer = await box.delete(f"{WORLD}/rules/r1")
        assert (answer.status, answer.json["error"]) == (404, "no_such_rule")


async def test_a_rule_with_times_decides_so_often() -> None:
    """`times` counts messages; then the rules after it are asked."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {"phone": "420777000101"}, "then": "failed", "times": 2})
        assert [await box.final() for _ in range(3)] == ["failed", "failed", "delivered"]
        assert (await box.get(f"{WORLD}/digest")).json["order_sensitive"] is True


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"in": "replies", "then": "failed"}, 400, "bad_argument"),
        ({"in": "webhooks", "then": "failed"}, 422, "bad_rule"),
        ({"when": {"phne": "1"}, "then": "failed"}, 422, "bad_rule"),
        ({"then": "delivrd"}, 422, "bad_rule"),
        ({"in": ["attempts"], "then": "failed"}, 400, "bad_argument"),
        ([], 400, "bad_body"),
        (b"then: failed", 400, "bad_body"),
        (None, 400, "bad_body"),
    ],
)
async def test_what_is_no_rule(body: Any, status: int, error: str) -> None:
    """An illegal rule is refused with every problem; no rule is put."""
    async with boxed() as box:
        await box.open()
        rules = len(Messaging.of(box.runtime.worlds[KEY].world).attempts.rules)
        answer = await box.post(f"{WORLD}/rules", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        if status == 422:
            assert answer.json["problems"]
        assert len(Messaging.of(box.runtime.worlds[KEY].world).attempts.rules) == rules


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
        assert shown["credit"] == 1.5
        assert shown["optout"] == ["420777000109"]
        assert shown["blacklist"] == ["420777000108"]
        assert shown["default_callback_url"] == "http://127.0.0.1:9/hooks"
        assert (shown["country"], shown["currency"]) == (before["country"], before["currency"])
        world = box.runtime.worlds[KEY].world
        assert Account.of(world).template("hello", "en") is not None
        assert Account.of(world).keys[KEY].default_callback_secret == "s3"
        assert (await box.get(f"{WORLD}/journal?kind=control")).json["entries"][-1]["what"] == "account"


async def test_credit_set_to_nothing_rejects_the_next_message() -> None:
    """What an account has is what the next hand-over finds."""
    async with boxed() as box:
        await box.open()
        await box.patch(f"{WORLD}/account", {"credit": {"eur": 0}})
        assert await box.final() == "rejected"
        await box.patch(f"{WORLD}/account", {"credit": {"eur": 1}})
        assert await box.final() == "delivered"


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


async def test_a_scenario_without_its_line_breaks() -> None:
    """`curl -d @FILE` removes them; the refusal says how to send the file whole."""
    async with boxed() as box:
        await box.call("POST", "/_sandbox/worlds", json.dumps({"id": KEY}).encode())
        for text in (b"# a comment\nsendbox: 1\nname: x\n", b"sendbox: 1\nname: x\n"):
            assert (await box.call("PUT", f"{WORLD}/scenario", text)).status == 200
            lost = await box.call("PUT", f"{WORLD}/scenario", text.replace(b"\n", b""))
            assert (lost.status, "--data-binary @FILE" in lost.json["message"]) == (422, True)
