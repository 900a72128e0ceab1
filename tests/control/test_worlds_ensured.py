"""`PUT /worlds/{id}`, and keys that only control opens: the settings of a world are never lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sendbox.runtime.ending import UNKNOWN
from sendbox.runtime.slot import CloseReason
from tests.box import KEY, WORLD, boxed

pytestmark = pytest.mark.asyncio
TEXT = "sendbox: 1\nname: mine\nattempts:\n  - then: undelivered\n"
SETTINGS: dict[str, Any] = {
    "scenario": TEXT,
    "seed": 7,
    "salt": "s",
    "clock": {"mode": "auto", "start": "2026-03-02T09:00:00Z", "rate": 2},
    "deliveries": "pull",
}


async def test_a_world_is_opened_once() -> None:
    """201 at first, then 200 as long as the same is asked for; nothing of the world changes."""
    async with boxed() as box:
        first = await box.put(WORLD, SETTINGS)
        assert first.status == 201
        assert (first.json["id"], first.json["seed"], first.json["deliveries"]) == (KEY, 7, "pull")
        await box.send()
        again = await box.put(WORLD, SETTINGS)
        assert (again.status, again.json["messages"]) == (200, 1)


async def test_a_world_of_the_server_is_found() -> None:
    """One that a call has opened is as good, also where no start is set."""
    async with boxed(start=None, seed=5) as box:
        await box.send()
        assert (await box.put(WORLD)).status == 200
        assert (await box.put(WORLD, {"seed": 5, "salt": KEY})).status == 200
        assert (await box.put(WORLD, {"scenario": "otp-fallback"})).json["differs"][0]["setting"] == "scenario"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        (
            {"scenario": TEXT.replace("mine", "yours")},
            [{"setting": "scenario", "open": "mine", "asked": "yours"}],
        ),
        ({"seed": "7"}, [{"setting": "seed", "open": 7, "asked": "7"}]),
        ({"salt": "t"}, [{"setting": "salt", "open": "s", "asked": "t"}]),
        ({"deliveries": "push"}, [{"setting": "deliveries", "open": "pull", "asked": "push"}]),
        (
            {"clock": {"mode": "real", "start": "2026-03-02T09:00:01Z"}},
            [
                {"setting": "clock.mode", "open": "auto", "asked": "real"},
                {
                    "setting": "clock.start",
                    "open": "2026-03-02T09:00:00.000Z",
                    "asked": "2026-03-02T09:00:01.000Z",
                },
                {"setting": "clock.rate", "open": 2.0, "asked": 1.0},
            ],
        ),
        (
            {"clock": {"mode": "auto", "rate": 2}},
            [{"setting": "clock.start", "open": "2026-03-02T09:00:00.000Z", "asked": None}],
        ),
    ],
)
async def test_other_settings_are_a_conflict(changed: dict[str, Any], differs: list[Any]) -> None:
    """409 names each that differs, and has the world that is open."""
    async with boxed(start=None) as box:
        await box.put(WORLD, SETTINGS)
        answer = await box.put(WORLD, {**SETTINGS, **changed})
        assert (answer.status, answer.json["error"]) == (409, "settings_differ")
        assert answer.json["differs"] == differs
        assert answer.json["world"]["id"] == KEY
        first = differs[0]
        words = f"{first['setting']} is {json.dumps(first['open'])} and not {json.dumps(first['asked'])}"
        assert answer.json["message"].startswith(f"{KEY} was opened otherwise: {words}")


@pytest.mark.parametrize("reset", ["", "?reset=true"], ids=["from-the-reset-on", "at-once"])
async def test_a_scenario_that_was_replaced_is_a_conflict(reset: str) -> None:
    """The world was opened as it is asked for, and is another one now; with its own scenario again it is found."""
    async with boxed() as box:
        await box.put(WORLD, SETTINGS)
        other = TEXT.replace("mine", "yours")
        assert (await box.put(f"{WORLD}/scenario{reset}", {"sendbox": 1, "name": "yours"})).status == 200
        answer = await box.put(WORLD, SETTINGS)
        assert (answer.status, answer.json["error"]) == (409, "settings_differ")
        assert answer.json["differs"] == [{"setting": "scenario", "open": "yours", "asked": "mine"}]
        assert answer.json["message"] == (
            f'{KEY} is not as it was opened, its scenario was replaced since: scenario is "yours" and not "mine"'
        )
        assert (await box.put(WORLD, {**SETTINGS, "scenario": other})).status == 409
        assert (await box.put(f"{WORLD}/scenario{reset}", {"name": "default"})).status == 200
        assert (await box.put(WORLD, SETTINGS)).status == 409
        await box.call("PUT", f"{WORLD}/scenario{reset}", TEXT.encode())
        assert (await box.put(WORLD, SETTINGS)).status == 200


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("/_sandbox/worlds/prod", {}, "bad_id"),
        (WORLD, {"deliveries": "email"}, "bad_argument"),
        (WORLD, {"id": "test-2"}, "bad_argument"),
        (WORLD, {"late": True}, "unknown_argument"),
    ],
)
async def test_what_is_not_legal_opens_no_world(path: str, body: Any, error: str) -> None:
    """As for `POST /worlds`."""
    async with boxed() as box:
        answer = await box.put(path, body)
        assert (answer.status, answer.json["error"]) == (400, error)
        assert not box.runtime.worlds


async def test_with_strict_keys_only_control_opens_worlds() -> None:
    """A key without a world is denied, and the reason is among the refused keys."""
    async with boxed(strict_keys=True) as box:
        assert (await box.get("/v1/message?id=x", x_api_key=KEY)).status == 401
        refused = box.runtime.refused[-1]
        assert refused.why == f"the world of this key is not open: {UNKNOWN}, and --strict-keys is set"
        assert refused.what_to_do == "open it with PUT or POST under /_sandbox/worlds"
        await box.put(WORLD)
        await box.send()
        hosted = box.runtime.worlds[KEY]
        box.runtime.end_world(hosted, CloseReason("it ended after 1h without use", denied=False))
        assert box.runtime.find(KEY) is None
        why = "the world of this key is gone: it ended after 1h without use, and --strict-keys is set"
        assert box.runtime.refused[-1].why == why
