"""Control plays the scenario of a world step by step, and it comes to the same as `sendbox play`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.engine.durations import iso
from sendbox.engine.traffic import WORLD as KEY
from sendbox.playing import play
from sendbox.playing.player import SALT, START
from sendbox.playing.steps import Player, Step
from tests.box import Answer, Box, boxed

pytestmark = pytest.mark.asyncio
WORLD = f"/_sandbox/worlds/{KEY}"
PHONE = "420777000101"
SEND = {"operation": "sendMessage", "body": {"body": "Hello", "to": [{"phone_number": PHONE}]}}
#: Two requests, of which the second refers to the first, and steps between them.
TRAFFIC: list[dict[str, Any]] = [
    {"at": 0, "name": "first", "request": SEND},
    {"at": "1h", "request": {"operation": "getMessage", "query": {"id": "$first.accepted.0.message_id"}}},
]


def scenario(*traffic: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"sendbox": 1, "extends": "default", **({"traffic": list(traffic)} if traffic else {}), **more}


async def opened(box: Box, scenario: Any, **more: Any) -> None:
    clock = {"mode": "manual", "start": iso(START)}
    given = {"id": KEY, "salt": SALT, "clock": clock, "scenario": scenario, **more}
    assert (await box.post("/_sandbox/worlds", given)).status == 201


async def played(box: Box, steps: int | None = None) -> Answer:
    return await box.post(f"{WORLD}/play", {} if steps is None else {"steps": steps})


async def ended(box: Box) -> list[dict[str, Any]]:
    """Plays to the end, and answers all that was done."""
    did = []
    while True:
        answer = await played(box, 7)
        assert answer.status == 200, answer
        did += answer.json["did"]
        if answer.json["done"]:
            assert answer.json["left"] == 0
            return did


@pytest.mark.parametrize(
    "name",
    [
        *("otp-fallback", "receiver-down", "lost-webhooks", "duplicate-storm", "onboarding", "sub-key-runs-out"),
        *("slow-api", "clock-modes", "flaky-api", "code-asked-again", "polite-retries", "webhook-before-answer"),
    ],
)
@pytest.mark.sample(3)
async def test_all_steps_come_to_the_same_as_play(name: str) -> None:
    """The digest, the requests and their results, and the instant at the end."""
    expected = await asyncio.to_thread(play, name)
    async with boxed(check_answers=False) as box:
        clock = {"mode": "manual", "start": iso(expected.world.start)}
        await opened(box, name, clock=clock)
        did = await ended(box)
        assert (await box.get(f"{WORLD}/digest")).json["digest"] == expected.digest
        sent = [(step["operation"], step.get("status"), step["at"]) for step in did if step["step"] == "sent"]
        assert sent == [(request.traffic.operation, request.status, iso(request.at)) for request in expected.asked]
        assert (await box.get(WORLD)).json["clock"]["now"] == iso(expected.world.now)


async def test_a_scenario_without_traffic_is_played_with_the_sample() -> None:
    """One message for each rule."""
    given = scenario(attempts=[{"name": "lost", "when": {"tag": "x"}, "then": "failed"}])
    expected = await asyncio.to_thread(play, given)
    async with boxed() as box:
        await opened(box, given)
        did = await ended(box)
        assert [step["name"] for step in did if step["step"] == "sent"] == ["lost"]
        assert (await box.get(f"{WORLD}/digest")).json["digest"] == expected.digest


async def test_one_step_is_a_request_or_the_next_instant() -> None:
    """Requests wait until what is due before them is done; the answer says how many are left."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC))
        first = (await played(box)).json
        assert first["did"] == [
            {"step": "sent", "at": iso(START), "operation": "sendMessage", "name": "first", "n": 1, "status": 200}
        ]
        assert (first["left"], first["done"], first["clock"]["now"]) == (1, False, iso(START))
        second = (await played(box)).json
        assert [step["step"] for step in second["did"]] == ["moved"]
        rest = (await played(box, 1000)).json
        kinds = [step["step"] for step in rest["did"]]
        assert kinds[-1] == "ended"
        assert kinds.count("sent") == 1
        sent = next(step for step in rest["did"] if step["step"] == "sent")
        assert (sent["operation"], sent["status"], sent["at"]) == ("getMessage", 200, iso(START + 3_600_000))
        again = (await played(box)).json
        assert ([step["step"] for step in again["did"]], again["done"]) == (["ended"], True)


async def test_a_reset_and_another_scenario_begin_the_traffic_anew() -> None:
    """The answers that later entries refer to are forgotten with it."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC))
        await ended(box)
        await box.post(f"{WORLD}/reset")
        assert (await played(box)).json["left"] == 1
        await box.put(f"{WORLD}/scenario", scenario({"at": 0, "request": SEND}, {"at": 0, "request": SEND}))
        assert [(await played(box)).json["left"] for _ in range(2)] == [1, 0]


async def test_a_scenario_that_its_own_traffic_loads_goes_on() -> None:
    """What follows is still sent."""
    load = {"operation": "load_scenario", "arguments": {"name": "otp-fallback"}}
    given = scenario({"at": 0, "control": load}, {"at": 0, "request": SEND})
    async with boxed() as box:
        await opened(box, given)
        assert [(await played(box)).json["left"] for _ in range(2)] == [1, 0]


async def test_webhooks_are_answered_as_the_receiver_says_while_it_plays() -> None:
    """Afterwards, and after a reset, they go to their targets again; a receiver of the world's own stays."""
    given = scenario(*TRAFFIC, receiver=[{"webhook": 0, "ends": [503, 200]}])
    async with boxed() as box:
        await opened(box, given)
        hosted = box.runtime.worlds[KEY]

        def receiver() -> object:
            return hosted.deliverer

        await played(box)
        assert receiver() is not None
        await box.post(f"{WORLD}/reset")
        assert (receiver(), hosted.playing) == (None, None)
        await ended(box)
        assert receiver() is None
        first = (await box.get(f"{WORLD}/deliveries")).json["deliveries"][0]
        assert [each["status"] for each in first["tries"]] == [503, 200]
        await box.delete(WORLD)
        await opened(box, given, deliveries="pull")
        await played(box)
        assert box.runtime.worlds[KEY].deliverer is None


async def test_only_a_manual_clock_is_moved_step_by_step() -> None:
    """The answer says what to do."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC), clock={"mode": "auto"})
        answer = await played(box)
        assert (answer.status, answer.json["error"], answer.json["mode"]) == (409, "not_manual", "auto")
        assert "PATCH" in answer.json["message"]
        await box.patch(f"{WORLD}/clock", {"mode": "manual"})
        assert (await played(box)).status == 200


async def test_steps_are_a_number() -> None:
    """From 1 to 1,000."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC))
        for wrong in (0, 1001, "many"):
            assert (await box.post(f"{WORLD}/play", {"steps": wrong})).json["error"] == "bad_argument"


async def test_one_call_at_a_time_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is refused, also while the world advances; what is reset meanwhile is told."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC))
        step, answers = Player.step, []

        async def interrupted(player: Player) -> Step:
            answers.append((await played(box)).json["error"])
            done = await step(player)
            await box.post(f"{WORLD}/reset")
            return done

        monkeypatch.setattr(Player, "step", interrupted)
        answer = await played(box)
        assert (answer.status, answer.json["error"], answers) == (409, "began_anew", ["playing"])
        monkeypatch.undo()
        box.runtime.worlds[KEY].advancing = True
        assert (await played(box)).json["error"] == "advancing"
        box.runtime.worlds[KEY].advancing = False


async def test_a_request_without_an_answer_is_told() -> None:
    """The step has the error and no status, and the next ones go on."""
    async with boxed() as box:
        await opened(box, scenario(*TRAFFIC, api=[{"when": {"operation": "sendMessage"}, "fault": "timeout"}]))
        first = (await played(box)).json["did"][0]
        assert first["error"] == "The read operation timed out"
        assert "status" not in first
        await ended(box)
