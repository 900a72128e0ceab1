"""What every operation of control has in common: arguments, errors, long polls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.control.operation import Call, ControlError, act, operation
from sendbox.runtime.ending import UNKNOWN
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, ORIGIN, WORLD, boxed, turns

pytestmark = pytest.mark.asyncio
ROWS = SERVED.by_name


def path_of(name: str) -> str:
    """The path of an operation with something legal in each place."""
    path = ROWS[name].path
    for place in ("message_id", "number", "delivery", "rule", "name", "n"):
        path = path.replace(f"{{{place}}}", "1")
    return f"/_sandbox{path}"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.worldly])
@pytest.mark.sample(3)
async def test_control_never_opens_a_world(name: str) -> None:
    """Every operation on a world that is not open answers 404 `no_such_world`, and opens none."""
    async with boxed() as box:
        row = ROWS[name]
        needed = {name: "x" for name, field in row.takes.items() if field.required and not row.in_path(name)}
        target = path_of(name).replace("{id}", KEY)
        if row.method == "GET":
            target += "".join(f"?{each}=x" for each in needed)
        answer = await box.call(row.method, target, b"" if not needed or row.method == "GET" else _json(needed))
        assert (answer.status, answer.json) == (
            404,
            {
                "error": "no_such_world",
                "message": f'"test-1" is not an open world: {UNKNOWN}; POST /_sandbox/worlds opens one',
            },
        )
        assert box.runtime.worlds == {}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.sample(3)
async def test_an_unknown_argument_is_refused_by_name(name: str) -> None:
    """400 says what is legal; path parameters are not among it."""
    async with boxed() as box:
        await box.open()
        answer = await box.call(ROWS[name].method, f"{path_of(name).replace('{id}', KEY)}?waiit=1s")
        assert (answer.status, answer.json["error"]) == (400, "unknown_argument")
        assert answer.json["message"].startswith(f'"waiit" is not an argument of {name}; legal: ')
        assert ('; did you mean "wait"?' in answer.json["message"]) is ("wait" in ROWS[name].takes)
        assert "raw" not in answer.json["message"].partition("legal: ")[2].split(", ")


def _json(value: Any) -> bytes:
    import orjson

    return orjson.dumps(value)


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", f"{WORLD}/inbound", {"channel": "sms"}, '"from" is missing; inbound needs channel, from, body'),
        ("POST", f"{WORLD}/inbound", None, '"channel" is missing; inbound needs channel, from, body'),
        ("POST", f"{WORLD}/messages/m/events", {}, '"result" is missing; move_message needs message_id, result'),
        ("POST", f"{WORLD}/phones/1/reply", {}, '"body" is missing; phone_reply needs number, body'),
        ("POST", f"{WORLD}/outbox/d", {}, '"d" is not waiting in the outbox'),
    ],
)
async def test_a_missing_argument_is_named(method: str, path: str, body: Any, message: str) -> None:
    """400 names the argument and all that are needed."""
    async with boxed() as box:
        await box.open()
        answer = await box.call(method, path, b"" if body is None else _json(body))
        assert answer.json["message"] == message
        assert (answer.status, answer.json["error"]) in [(400, "missing_argument"), (404, "no_such_delivery")]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/_sandbox/worlds", {"id": ["test-a"]}, 'id: ["test-a"] is not legal; legal: text or null'),
        ("/_sandbox/worlds", {"id": True}, "id: true is not legal; legal: text or null"),
        ("/_sandbox/worlds", {"seed": {}}, "seed: {} is not legal; legal: a whole number or text or null"),
        ("/_sandbox/worlds", {"seed": False}, "seed: false is not legal; legal: a whole number or text or null"),
        ("/_sandbox/worlds", {"clock": "manual"}, "clock: 'manual' is not legal; legal: an object or null"),
        (f"{WORLD}/inbound", {"channel": None, "from": "1", "body": "x"}, "channel: null is not legal; legal: text"),
        (f"{WORLD}/inbound", {"channel": "sms", "from": "1", "body": {}}, "body: {} is not legal; legal: text"),
    ],
)
async def test_an_argument_of_another_kind_is_refused(path: str, body: Any, message: str) -> None:
    """400 says what was given and what is legal, instead of an error inside."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(path, body)
        assert (answer.status, answer.json) == (400, {"error": "bad_argument", "message": message})


async def test_a_world_is_found_before_values_are_read() -> None:
    """A value of another type counts only where there is a world."""
    async with boxed() as box:
        answer = await box.post(f"{WORLD}/inbound", {"channel": {}, "from": "1", "body": "x"})
        assert (answer.status, answer.json["error"]) == (404, "no_such_world")


async def test_a_number_stands_for_its_text() -> None:
    """A phone number without quotes is what people write, in JSON and in YAML: it is taken."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": 420777000101, "body": 1.5})
        assert answer.status == 201
        assert (answer.json["from"], answer.json["body"]) == ("420777000101", "1.5")
        assert (await box.open("test-2", seed=1.5))["seed"] == "1.5"


async def test_what_stands_in_the_path_is_given_once() -> None:
    """A second value for a path parameter, or for the world, is no silent override."""
    async with boxed() as box:
        await box.open()
        for answer in (
            await box.post(f"{WORLD}/phones/420777000101/write?number=1", {"body": "x"}),
            await box.post(f"{WORLD}/phones/420777000101/write", {"body": "x", "number": "1"}),
        ):
            assert answer.json == {
                "error": "bad_argument",
                "message": '"number" stands in the path already, as "420777000101"',
            }
        assert (await box.get(f"{WORLD}?id=test-2")).json["message"] == '"id" stands in the path already, as "test-1"'


async def test_an_error_inside_is_500_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """What breaks says so, and the server goes on."""
    async with boxed() as box:
        await box.open()
        box.runtime.worlds[KEY].world.timeline.steps = [None]  # type: ignore[list-item]
        answer = await box.get(f"{WORLD}/clock")
        assert (answer.status, answer.json["error"]) == (500, "internal")
        assert "control failed at clock" in caplog.text
        box.runtime.worlds[KEY].world.timeline.steps = []
        assert (await box.get(f"{WORLD}/clock")).status == 200
        hosted = box.runtime.worlds[KEY]
        assert (hosted.controls, hosted.readers) == (0, 0)


# --- long polls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "act"),
    [
        ("messages?wait=30s", "send"),
        ("messages?phone=420777000101&wait=30s", "send"),
        ("messages?result=delivered&wait=30s", "advance"),
        ("journal?kind=request&wait=30s", "send"),
        ("journal?kind=try&wait=30s", "advance"),
        ("requests?wait=30s", "send"),
        ("hook?wait=30s", "advance"),
    ],
)
async def test_a_long_poll_is_woken_by_what_it_waits_for(path: str, act: str) -> None:
    """It answers as soon as there is something, and not for something else."""
    async with boxed() as box:
        await box.open()
        polling = asyncio.create_task(box.get(f"{WORLD}/{path}"))
        await turns(10)
        assert not polling.done()
        await box.post(f"{WORLD}/checkpoints/none")
        await box.send()
        if act == "advance":
            await turns(10)
            assert not polling.done()
            await box.advance()
        (found, *_) = (await polling).json.values()
        assert found


@pytest.mark.parametrize("path", ["messages", "journal?kind=try", "requests", "hook", "outbox"])
async def test_a_long_poll_ends_with_nothing_after_its_wait(path: str) -> None:
    """After `wait` the answer is empty, not an error."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/{path}{'&' if '?' in path else '?'}wait=10ms")
        assert answer.status == 200
        assert not next(iter(answer.json.values()))


async def test_a_long_poll_needs_a_duration() -> None:
    """Whatever is no time is refused at once, also where there is something to show."""
    async with boxed() as box:
        await box.send()
        answer = await box.get(f"{WORLD}/messages?wait=soon")
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert answer.json["message"].startswith("wait: 'soon' is not a duration")
        assert (await box.get(f"{WORLD}/messages?wait=10ms")).status == 200
        unitless = await box.get(f"{WORLD}/messages?wait=10")
        assert (unitless.status, unitless.json["message"][:22]) == (400, "wait: '10' has no unit")


async def test_a_long_poll_goes_on_over_a_reset() -> None:
    """Who waits for a message gets that of the new epoch."""
    async with boxed() as box:
        await box.send("420777000102")
        polling = asyncio.create_task(box.get(f"{WORLD}/journal?kind=request&after=5&wait=30s"))
        messages = asyncio.create_task(box.get(f"{WORLD}/messages?phone=420777000101&wait=30s"))
        await turns()
        await box.post(f"{WORLD}/reset")
        await turns()
        for _ in range(7):
            await box.send()
        assert (await polling).json["entries"][0]["n"] == 6
        assert (await messages).json["messages"][0]["phone"] == "420777000101"


async def test_closing_a_world_ends_its_long_polls() -> None:
    """They are told at once that the world is gone."""
    async with boxed() as box:
        await box.open()
        polling = asyncio.create_task(box.get(f"{WORLD}/messages?wait=30s"))
        await turns()
        await box.delete(WORLD)
        answer = await polling
        assert (answer.status, answer.json["error"]) == (404, "no_such_world")
        assert answer.json["message"] == '"test-1" is not an open world: it was closed while this call waited'


async def test_nothing_that_happens_during_a_look_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a long list pauses; what is added to its beginning meanwhile is seen by a second look."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", -1)
    async with boxed() as box:
        for number in range(70):
            await box.send(f"42077700{number:02}01")
        polling = asyncio.create_task(box.get(f"{WORLD}/messages?tag=late&wait=30s"))
        await turns(1)
        Messaging.of(box.runtime.worlds[KEY].world).messages[0].submission.send.tags = ("late",)
        box.runtime.note_change(box.runtime.worlds[KEY])
        assert len((await polling).json["messages"]) == 1


# --- in process -------------------------------------------------------------------------------------------------------


async def test_in_process_an_operation_answers_plain_objects_and_raises() -> None:
    """The same operations without HTTP: values go through as they are, errors are `ControlError`."""
    async with boxed() as box:
        await box.app.control.perform(ORIGIN, "open_world", None, {"id": KEY})
        shown = await box.app.control.perform(ORIGIN, "world", KEY, {})
        assert shown == (await box.get(WORLD)).json
        with pytest.raises(ControlError, match="is not an open world") as raised:
            await box.app.control.perform(ORIGIN, "world", "test-2", {})
        assert raised.value.as_json() == {
            "error": "no_such_world",
            "message": f'"test-2" is not an open world: {UNKNOWN}; POST /_sandbox/worlds opens one',
        }
        with pytest.raises(ControlError) as raised:
            await box.app.control.perform(ORIGIN, "advance", KEY, {"by": "500d"})
        assert (raised.value.status, raised.value.error) == (409, "too_far")


@operation("POST", "/worlds/{id}/nap", act=True)
async def nap(call: Call, long: str | None = None) -> Any:
    """Takes its time, which no act may."""
    if long is not None:
        await asyncio.sleep(0)
    if long == "for ever":
        await asyncio.get_running_loop().create_future()
    return {"slept": call.hosted.world.id}


async def test_an_act_does_not_wait() -> None:
    """A world takes one thing after another, so an act is done in one go; one that waits is an error of ours."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        call = Call(box.app.control, ORIGIN, hosted)
        before = len(hosted.world.record)
        assert act(call, nap, {}) == {"slept": KEY}
        assert len(hosted.world.record) == before + 1
        assert act(call, nap, {"long": "yes"}) == {"slept": KEY}
        assert len(hosted.world.record) == before + 2
        with pytest.raises(RuntimeError, match=r"^the act nap waited: what it waits for belongs in its prepare$"):
            act(call, nap, {"long": "for ever"})
        assert len(hosted.world.record) == before + 2
