"""A scenario is played: the traffic goes out at its instants, time passes, and what came of it is kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from sendbox.engine.durations import DAY
from sendbox.engine.traffic import Traffic
from sendbox.playing import Asked, play, steps
from sendbox.playing.play_result import objects
from sendbox.playing.player import START, aplay
from sendbox.playing.text import text
from sendbox.scenario.model import ScenarioError
from sendbox.server.application import Application
from tests.scenarios import make_blueprint

PHONE = "420777000101"
SEND = {"operation": "sendMessage", "body": {"body": "Hello", "to": [{"phone_number": PHONE}]}}


def scenario(*traffic: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"sendbox": 1, "extends": "default", "traffic": list(traffic), **more}


def statuses(given: dict[str, Any]) -> list[int | None]:
    return [each.status for each in play(given).asked]


def test_requests_go_out_at_their_instants() -> None:
    """A duration counts from the start, which is a fixed Monday unless the scenario pins one."""
    played = play(scenario({"at": "0s", "request": SEND}, {"at": "2026-03-02T10:00:00Z", "request": SEND}))
    assert [each.at - START for each in played.asked] == [0, 3_600_000]
    assert [entry["at"] for entry in played.entries if entry["kind"] == "request"] == [
        "2026-03-02T09:00:00.000Z",
        "2026-03-02T10:00:00.000Z",
    ]
    pinned = play(scenario({"at": "1s", "request": SEND}, clock={"start": "2026-06-01T00:00:00Z", "mode": "auto"}))
    assert pinned.entries[0]["at"] == "2026-06-01T00:00:00.000Z"
    assert pinned.world.clock.mode == "manual"


def test_each_interface_is_called_in_its_way() -> None:
    """JSON with the key as header, forms and queries, the legacy interface with the key among its fields."""
    simple = {"number": PHONE, "message": "Hello"}
    assert statuses(
        scenario(
            {"at": 0, "request": SEND},
            {"at": 0, "request": {"operation": "sendSimpleMessage", "form": simple}},
            {"at": 0, "request": {"operation": "sendSimpleMessageByQuery", "query": simple}},
            {"at": 0, "request": {"operation": "legacySend", "form": simple}},
            {"at": 0, "request": {"operation": "legacySendByQuery", "query": simple}},
            {"at": 0, "request": {"operation": "showKey"}},
            {"at": 0, "request": {"operation": "sendMessage"}},
        )
    ) == [200] * 6 + [400]


def test_answers_are_referred_to() -> None:
    """In bodies, in paths, as keys; upload addresses and short links too; a proof needs no key."""
    body = {"phoneNumber": PHONE}
    link = {"body": "https://acme.example", "to": [{"phone_number": PHONE}], "params": {"_url": {"type": "full"}}}
    line = '{"body": "Hello", "to": [{"phone_number": "420777000101"}]}'
    proof = ("phoneNumber", "token", "code", "timestamp", "proof")
    assert statuses(
        scenario(
            {"at": 0, "name": "login", "request": {"operation": "createValidation", "body": body}},
            {
                "at": "5s",
                "name": "done",
                "request": {"operation": "verifyCode", "params": {"token": "$login.token"}, "body": {"code": "246813"}},
            },
            {"at": "5s", "request": {"operation": "verifyProof", "body": {name: f"$done.{name}" for name in proof}}},
            {"at": "6s", "name": "sub", "request": {"operation": "addSubKey", "body": {"note": "x", "shared": True}}},
            {"at": "6s", "request": {**SEND, "key": "$sub.apikey"}},
            {"at": "6s", "request": {**SEND, "key": "shop"}},
            {
                "at": "6s",
                "name": "up",
                "request": {"operation": "requestUpload", "body": {"bulk_id": "a", "filetype": "gz"}},
            },
            {"at": "6s", "request": {"operation": "uploadBulk", "params": {"url": "$up.url"}, "content": line}},
            {"at": "6s", "request": {"operation": "uploadBulk", "params": {"url": "/upload/x"}, "content": line}},
            {"at": "7s", "name": "offer", "request": {"operation": "sendMessage", "body": link}},
            {
                "at": "9s",
                "request": {"operation": "openLink", "params": {"message_id": "$offer.accepted.0.message_id"}},
            },
            account={"verificationSecret": "s", "subkeys": [{"name": "shop", "shared": True}]},
            verify={"rules": [{"then": {"code": "246813"}}]},
        )
    ) == [200, 200, 200, 200, 200, 200, 200, 200, 403, 200, 302]


def test_what_cannot_be_sent_is_told() -> None:
    """A reference that leads nowhere, a message without a link: not sent, and played as failed."""
    played = play(
        scenario(
            {"at": 0, "name": "a", "request": SEND},
            {"at": 0, "request": {"operation": "getMessage", "query": {"id": "$a.accepted.4.message_id"}}},
            {"at": 0, "request": {"operation": "openLink", "params": {"message_id": "$a.accepted.0.message_id"}}},
        )
    )
    message_id = played.asked[0].answer["accepted"][0]["message_id"]
    assert [each.error for each in played.asked] == [
        None,
        'not sent: "4" is not in accepted, which has 1 items',
        f'not sent: "{message_id}" has no short link by now',
    ]
    assert not played.passed


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("expected", "passed"), [(200, True), (400, False), ("none", False)], ids=["as expected", "another", "none"]
)
def test_an_entry_expects_a_status(expected: object, passed: bool) -> None:
    """What it expects must come."""
    assert play(scenario({"at": 0, "request": SEND, "expect": {"status": expected}})).passed is passed


@pytest.mark.parametrize(
    ("status", "error", "expected", "ok"),
    [
        (None, "closed", None, False),
        (None, "closed", 0, True),
        (None, "closed", 200, False),
        (500, None, None, True),
        (500, None, 500, True),
        (500, None, 0, False),
    ],
)
def test_when_a_request_is_as_it_should_be(
    status: int | None, error: str | None, expected: int | None, ok: bool
) -> None:
    """No answer is right only where none is expected; any answer is right where nothing is."""
    statuses = () if expected is None else (expected,)
    assert Asked(Traffic(0, True, "showKey", statuses=statuses), 0, status, error=error).ok is ok
    if expected is not None:
        several = Traffic(0, True, "showKey", statuses=(*statuses, 307))
        assert Asked(several, 0, status, error=error).ok is ok
        assert Asked(several, 0, 307).ok


def test_control_receiver_and_bodies_as_they_stand() -> None:
    """A tester acts in the turn of the entry, any path is called, and webhooks end as the receiver says."""
    put = {"operation": "put_rule", "arguments": {"raw": {"then": "failed"}}}
    sent = {"operation": "sendMessage", "body": {"to": [{"phone_number": "420777000101"}], "body": "Hello"}}
    given = scenario(
        {"at": 0, "name": "down", "control": put},
        {"at": 0, "request": sent},
        {"at": "1m", "control": {"operation": "drop_rule", "arguments": {"rule": "$down.id"}}},
        {"at": "1m", "control": {"operation": "drop_rule", "arguments": {"rule": "$down.id"}}},
        {"at": "1m", "request": {"operation": "sendMessage", "content": "{", "type": "application/json"}},
        {"at": "1m", "request": {"call": "GET /v1/nothing"}},
        {"at": "1m", "control": {"operation": "drop_rule", "arguments": {"rule": "$down.nothing"}}},
        receiver=[{"webhook": 0, "ends": ["closed", 302]}, {"ends": [503]}],
    )
    played = play(given)
    assert [each.status for each in played.asked] == [201, 200, 200, 404, 400, 404, None]
    assert played.asked[-1].error == 'not done: "nothing" is not in the answer, which has id, in'
    assert played.messages[0].result == "failed"
    ends = [(entry["status"], entry["error"]) for entry in played.entries if entry["kind"] == "try"]
    assert sorted(ends, key=str) == sorted(
        [(None, "closed"), (503, None), (200, None), (302, "redirect"), (200, None)], key=str
    )
    assert play(scenario()).asked == []
    assert not play({"sendbox": 1, "traffic": []}).sampled


def test_time_ends() -> None:
    """`until` counts from the start: what is due later is left, requests too."""
    given = scenario({"at": 0, "request": SEND}, {"at": "1h", "request": SEND})
    played = play(given, until=1_000)
    assert (len(played.asked), played.stopped) == (1, True)
    assert played.entries[-1]["at"] <= "2026-03-02T09:00:01.000Z"
    assert not play(given, until=3_605_000).stopped


def test_traffic_that_is_repeated() -> None:
    """In order of time with all others, each answer held against what is expected of its body."""
    answer = {"accepted.0.message_id": "*", "accepted.0.key": ["1*", "0"], "request_id": "*-*"}
    repeated = {"at": "10s", "repeat": {"every": "20s", "times": 3}, "request": SEND, "name": "again"}
    given = scenario(
        {**repeated, "expect": {"status": 200, "body": answer}},
        {"at": "40s", "request": {"operation": "getMessage", "query": {"id": "$again.accepted.0.message_id"}}},
    )
    played = play(given)
    assert [((each.at - START) // 1000, each.traffic.operation, each.status) for each in played.asked] == [
        (10, "sendMessage", 200),
        (30, "sendMessage", 200),
        (40, "getMessage", 200),
        (50, "sendMessage", 200),
    ]
    assert played.passed


def test_a_body_that_differs() -> None:
    """Each value is named, in the summary, beside the row and in the objects; a value that is not there too."""
    wanted = {"accepted.0.key": "1*", "accepted.1": [1, None], "accepted.0.message_id": "*"}
    played = play(scenario({"at": 0, "request": SEND, "expect": {"body": wanted}}))
    said = ['accepted.0.key is "0", wanted "1*"', "accepted.1 is not there, wanted 1 or null"]
    assert (played.passed, played.asked[0].differences) == (False, said)
    assert objects(played)["requests"][0]["differences"] == said
    shown = text(played, width=400)
    assert f"({said[0]}) ({said[1]})" in shown
    assert f"sendMessage at +0s: 200; {said[0]}; {said[1]}" in shown


@pytest.mark.unmeasured
def test_it_plays_to_the_last_entry() -> None:
    """Whatever lies between: months without anything, and more than one advance may take."""
    given = scenario(
        {"at": 0, "request": SEND},
        {"at": "800d", "request": SEND},
        timeline=[{"at": "1000d", "phone": {"number": "420777000101", "act": "offline"}}],
        expect=[{"that": "messages", "count": 2}],
    )
    played = play(given)
    assert ([request.status for request in played.asked], played.stopped, played.passed) == ([200, 200], False, True)
    assert played.world.now - START == 1000 * DAY
    assert play(given, until=900 * DAY).stopped
    assert play(given, until=1200 * DAY).world.now - START == 1200 * DAY


def test_time_passes_only_for_the_player() -> None:
    """A clock that the timeline sets going is told of, and stands still all the same: the run stays the same."""
    given = scenario(
        {"at": "15m", "request": SEND},
        {"at": "25m", "request": SEND},
        timeline=[{"at": "10m", "clock": {"mode": "auto"}}, {"at": "20m", "clock": {"mode": "real", "rate": 1000}}],
    )
    first, second = play(given), play(given)
    assert [each.at - START for each in first.asked] == [900_000, 1_500_000]
    assert (first.digest, first.world.clock.mode) == (second.digest, "manual")
    assert [entry["entry"]["kind"] for entry in first.entries if entry["kind"] == "timeline"] == ["clock", "clock"]


def test_what_the_last_request_makes_is_sent() -> None:
    """Its webhook too, where nothing is due later."""
    signup = {"partner_callback_url": "http://nowhere.invalid/hooks", "phone_number": "manual"}
    played = play(scenario({"at": 0, "request": {"operation": "partnerSignup", "body": signup}}), until=0)
    assert [entry["status"] for entry in played.entries if entry["kind"] == "try"] == [200]


def test_seed_and_scenario_are_what_the_caller_says() -> None:
    """A seed of the caller's wins; a blueprint is played as it is."""
    assert play("default", seed="mine").world.seed_given == "mine"
    assert play(make_blueprint(name="bare")).asked[0].status == 200


def test_nothing_leaves_the_process() -> None:
    """A callback of its own is answered on the spot, by whatever address."""
    body = {**SEND["body"], "callback": "http://nowhere.invalid/hooks"}  # type: ignore[dict-item]
    played = play(scenario({"at": 0, "request": {**SEND, "body": body}}))
    assert {entry["status"] for entry in played.entries if entry["kind"] == "try"} == {200}


def test_a_broken_scenario_is_told() -> None:
    """With its problems."""
    with pytest.raises(ScenarioError, match="is not a key of a scenario"):
        play({"sendbox": 1, "nam": "x"})


Answering = Any


def faulty(monkeypatch: pytest.MonkeyPatch, answer: Answering) -> Any:
    """What comes of a request whose application is another one."""

    async def serve(_app: Application, scope: Scope, receive: Receive, send: Send) -> None:
        await answer(scope, receive, send)

    monkeypatch.setattr(Application, "__call__", serve)
    monkeypatch.setattr(steps, "ANSWER_TIMEOUT", 0.01)
    return play(scenario({"at": 0, "request": SEND, "expect": {"status": "none"}}))


async def _hangs(*_: object) -> None:
    await asyncio.get_running_loop().create_future()


async def _hangs_up(*_: object) -> None:
    return None


async def _breaks(*_: object) -> None:
    raise ConnectionResetError("reset by the sandbox")


async def _breaks_without_a_word(*_: object) -> None:
    raise ConnectionResetError


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (_hangs, "no answer"),
        (_hangs_up, "the connection was closed without an answer"),
        (_breaks, "reset by the sandbox"),
        (_breaks_without_a_word, "ConnectionResetError"),
    ],
    ids=["hangs", "closed", "broken", "without a word"],
)
def test_no_answer(monkeypatch: pytest.MonkeyPatch, answer: Answering, error: str) -> None:
    """A request that nobody answers is told with why, and is right where no answer is expected."""
    played = faulty(monkeypatch, answer)
    assert [(each.status, each.error) for each in played.asked] == [(None, error)]
    assert played.passed


@pytest.mark.asyncio
async def test_on_a_running_loop() -> None:
    """Whoever has a loop awaits it."""
    played = await aplay(make_blueprint())
    assert played.sampled
    assert played.passed
