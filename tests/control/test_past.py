"""The past of a world: what reads it answers for a place that it has passed, and the present is not touched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import pytest

from sendbox.control.replaying import Diverged
from sendbox.control.replicas import past
from sendbox.control.replicas.past import PastReplica
from sendbox.engine.durations import iso
from sendbox.runtime.bounds import Bounds
from sendbox.runtime.policy import Outcome as Answered
from sendbox.runtime.registry import MOST_OF_ALL_WORLDS, MOST_OF_ONE_WORLD
from tests.box import KEY, ORIGIN, START, WORLD, Box, boxed, turns
from tests.control.test_checkpoints import SCENARIO, everything, story

pytestmark = pytest.mark.asyncio

#: What can be asked for the past without further arguments, but for what counts real time.
VIEWS: Final = (
    "", "/messages", "/phones", "/phones/420777000101", "/codes", "/deliveries", "/events", "/journal",
    "/journal?form=canonical", "/requests", "/account", "/partner", "/pending", "/clock", "/hook", "/advice",
    "/verdict", "/digest", "/coverage", "/assumptions",
)  # fmt: skip


async def shown(box: Box, view: str, then: Any = None) -> Any:
    """What a view answers, for a place in the past where one is given."""
    sign = "&" if "?" in view else "?"
    path = f"{WORLD}{view}" if then is None else f"{WORLD}{view}{sign}then={quote(str(then))}"
    answer = await box.get(path)
    assert answer.status == 200, (path, answer)
    return answer.json


async def views(box: Box, then: Any = None) -> dict[str, Any]:
    """Every view."""
    return {view: await shown(box, view, then) for view in VIEWS}


async def told(box: Box) -> list[dict[str, Any]]:
    """All of a story, step by step: the views after each step."""
    seen = [await views(box)]
    await box.send("420777000101", "420777000102", "nonsense", body="See https://a.example", shorten={})
    seen.append(await views(box))
    await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
    seen.append(await views(box))
    await box.post(f"{WORLD}/rules", {"name": "front", "when": {"phone": "*105"}, "then": "failed", "times": 1})
    seen.append(await views(box))
    await box.advance("1500ms")
    await box.send("420777000105")
    seen.append(await views(box))
    await box.advance("2s")
    await box.patch(f"{WORLD}/account", {"credit": {"eur": 5}})
    seen.append(await views(box))
    return seen


async def test_every_view_is_as_it_was() -> None:
    """Each view that was answered at a moment is answered again for the last entry of that moment."""
    async with boxed(SCENARIO) as box:
        await box.open()
        seen = await told(box)
        await box.advance("1h")
        present = await everything(box)
        for was in (*seen, *reversed(seen)):
            assert await views(box, was[""]["entries"] - 1) == was
        assert await everything(box) == present


async def test_any_entry_can_be_asked_for() -> None:
    """The journal of that moment begins as that of today, and ends with what the same step made."""
    async with boxed(SCENARIO) as box:
        await box.open()
        await story(box)
        await box.advance("1h")
        entries = (await shown(box, "/journal?limit=1000"))["entries"]
        for number, entry in enumerate(entries):
            there = (await shown(box, "/journal?limit=1000", number))["entries"]
            assert number < len(there)
            assert there == entries[: len(there)]
            assert (await shown(box, "/clock", number))["now"] == entry["at"] == there[-1]["at"]
            assert (await shown(box, f"/journal/{number}", number)) == entry


async def test_an_instant_has_all_that_was_due() -> None:
    """Everything up to the instant is done, nothing later, and the clock shows the instant."""
    async with boxed({"sendbox": 1, "attempts": [{"name": "all", "then": "delivered"}]}) as box:
        await box.open()
        (message,) = await box.send()
        await box.advance("1h")
        timeline = (await shown(box, f"/messages/{message}"))["timeline"]
        for at in (entry["at"] for entry in timeline):
            there = (await shown(box, f"/messages/{message}", at))["timeline"]
            assert there == [entry for entry in timeline if entry["at"] <= at]
            assert (await shown(box, "/clock", at))["now"] == at
        between = iso(START + 3_000_001)
        assert (await shown(box, "/clock", between))["now"] == between
        assert (await shown(box, "/messages", between)) == await shown(box, "/messages")


async def test_a_try_that_has_not_ended_is_under_way() -> None:
    """At the entry of a try its receiver has not answered, which is no failure."""
    async with boxed() as box:
        await box.send("420777000101", callback="http://127.0.0.1:1/hook")
        await box.advance("0s")
        (number,) = [entry["n"] for entry in (await shown(box, "/journal"))["entries"] if entry["kind"] == "try"]
        told = {then: (await shown(box, "/journal?form=told", then))["entries"][number] for then in (number, None)}
        assert [(entry["text"].partition(" → ")[2], entry["tone"]) for entry in told.values()] == [
            ("under way", "dim"),
            ("refused", "bad"),
        ]


async def test_an_instant_that_is_not_over_is_not_kept() -> None:
    """What comes at the same instant after the first question is in the second answer."""
    async with boxed() as box:
        await box.open()
        now = iso(START)
        assert (await shown(box, "/messages", now))["messages"] == []
        await box.send()
        assert len((await shown(box, "/messages", now))["messages"]) == 1
        assert len((await shown(box, "/messages", now))["messages"]) == 1
        assert len(box.runtime.replicas) == 1
        await box.advance("1m")
        assert (await shown(box, "/clock", now))["now"] == now


#: What a query is refused with: the beginning of the message, and what is legal.
REFUSED: Final = (
    ("messages?then=99", 404, "no_such_entry", "99 is not an entry; the journal has 2"),
    ("messages?then=-1", 404, "no_such_entry", "-1 is not an entry; the journal has 2"),
    ("messages?then=true", 400, "bad_argument", "then: 'true' is not an RFC 3339 instant: "),
    ("clock?then=yesterday", 400, "bad_argument", "then: 'yesterday' is not an RFC 3339 instant: "),
    ("clock?then=2026-03-01T08:59:59Z", 400, "bad_argument", "then: 2026-03-01T08:59:59.000Z is not in the past of "),
    ("clock?then=2026-03-01T09:00:01Z", 400, "bad_argument", "then: 2026-03-01T09:00:01.000Z is not in the past of "),
    ("messages?then=1&wait=1s", 400, "bad_argument", "wait: nothing more comes in the past; leave out "),
    ("outbox?then=1", 400, "bad_argument", "then: outbox answers for the present only: what waits there is to be sent"),
    ("record?then=1", 400, "bad_argument", "then: record answers for the present only: it has all that was done"),
    ("leaning?then=1", 400, "bad_argument", "then: leaning answers for the present only: it makes all that was done "),
    ("clock?them=1", 400, "unknown_argument", '"them" is not an argument of clock; legal: then; did you mean "then"?'),
)


@pytest.mark.parametrize(("query", "status", "error", "message"), REFUSED)
async def test_what_is_not_in_the_past_is_refused(query: str, status: int, error: str, message: str) -> None:
    """Each refusal says what is legal."""
    async with boxed() as box:
        await box.open()
        assert (await box.post(f"{WORLD}/hook", {})).status == 200
        answer = await box.get(f"{WORLD}/{query}")
        assert (answer.status, answer.json["error"]) == (status, error)
        assert answer.json["message"].startswith(message)
        if "T0" in query:
            assert answer.json["message"].endswith(
                "legal: 2026-03-01T09:00:00.000Z to 2026-03-01T09:00:00.000Z, and the number of an entry"
            )
        assert len(box.runtime.replicas) == 0


async def test_what_changes_a_world_has_no_past() -> None:
    """`then` is not an argument there, nor of what is about no world; None stands for the present."""
    async with boxed() as box:
        await box.open()
        for path in ("/_sandbox/worlds?then=1", f"{WORLD}/clock?then=1"):
            method = "PATCH" if "clock" in path else "GET"
            answer = await box.call(method, path)
            assert (answer.status, answer.json["error"]) == (400, "unknown_argument")
        control = box.app.control
        assert await control.perform(ORIGIN, "messages", KEY, {"then": None}) == {"messages": []}
        assert (await control.perform(ORIGIN, "clock", KEY, {"then": 0}))["now"] == iso(START)
        parameters = (await box.get("/_sandbox/openapi.json")).json["paths"]["/_sandbox/worlds/{id}/clock"]["get"]
        assert [each["name"] for each in parameters["parameters"]] == ["id", "then"]


async def test_several_questions_about_one_place_are_one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also at the same time; and a later place goes on from an earlier one."""
    made: list[PastReplica] = []
    went: list[Any] = []

    class Counted(PastReplica):
        def __init__(self, *of: Any) -> None:
            super().__init__(*of)
            made.append(self)

        def go(self, place: Any) -> Any:
            went.append(place.entry)
            return super().go(place)

    monkeypatch.setattr(past, "PastReplica", Counted)
    async with boxed(SCENARIO) as box:
        await box.open()
        await story(box)
        await asyncio.gather(*(shown(box, view, 8) for view in VIEWS))
        assert (len(made), went) == (1, [8])
        for entry in (11, 17, 25):
            await shown(box, "/messages", entry)
        assert (len(made), went) == (1, [8, 11, 17, 25])
        await shown(box, "/messages", 3)
        await shown(box, "/messages", 5)
        assert (len(made), went) == (2, [8, 11, 17, 25, 3, 5])
        await shown(box, "/messages", 1)
        assert len(made) == 3
        assert len(box.runtime.replicas) == MOST_OF_ONE_WORLD


async def test_few_side_worlds_are_kept() -> None:
    """The least recently used goes; those of a world go when it is reset, restored or closed."""
    async with boxed() as box:
        keys = [f"test-{number}" for number in range(MOST_OF_ALL_WORLDS + 2)]
        for key in keys:
            await box.send(key=key)
            await box.get(f"/_sandbox/worlds/{key}/clock?then=0")
        beside, worlds = box.runtime.replicas, box.runtime.worlds
        assert [side.of.id for key in keys for side in beside.of(worlds[key].world)] == keys[2:]
        first = beside.of(worlds[keys[2]].world)[0]
        await box.put(f"/_sandbox/worlds/{keys[4]}/checkpoints/here")
        await box.delete(f"/_sandbox/worlds/{keys[2]}")
        await box.post(f"/_sandbox/worlds/{keys[3]}/reset")
        await box.post(f"/_sandbox/worlds/{keys[4]}/checkpoints/here")
        assert len(beside) == MOST_OF_ALL_WORLDS - 3
        while box.runtime._gone or box.runtime._sweeper:
            await asyncio.sleep(0)
        await turns()
        assert first.world.parts == {}
        restored = await box.get(f"/_sandbox/worlds/{keys[4]}/journal?then=1")
        assert [entry["kind"] for entry in restored.json["entries"]][:2] == ["opened", "request"]


async def test_the_present_is_not_touched() -> None:
    """No entry, no tick, no command, no other clock; no one who waits is woken, and nothing is sent."""
    called: list[Any] = []

    async def deliver(call: Any) -> Answered:
        called.append(call)
        return Answered(200, None)

    async with boxed(SCENARIO) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, deliver)
        await box.send("420777000101", callback_url="http://client.example/hook")
        await box.advance("1m")
        world, sent = hosted.world, len(called)
        assert sent
        before = (hosted.changes, len(world.journal), len(world.record), world.ticks, world.now, world.instants)
        digest = await shown(box, "/digest")
        waiting = asyncio.ensure_future(hosted.change())
        for number in range(len(world.journal)):
            await shown(box, "/deliveries", number)
            await shown(box, "/digest", number)
        assert hosted.world is world
        assert before == (
            hosted.changes, len(world.journal), len(world.record), world.ticks, world.now, world.instants,
        )  # fmt: skip
        assert (len(called), waiting.done()) == (sent, False)
        waiting.cancel()
        assert await shown(box, "/digest") == digest


async def many(box: Box) -> None:
    """A hundred messages."""
    for first in range(0, 100, 10):
        await box.send(*(f"420777000{number:03}" for number in range(first, first + 10)))


async def test_the_loop_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay gives the loop its turn, and an `auto` clock is not held up by it."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", 0)
    async with boxed() as box:
        await box.open()
        await many(box)
        await box.advance("1h")
        hosted = box.runtime.worlds[KEY]
        asked = asyncio.ensure_future(box.get(f"{WORLD}/clock?then={len(hosted.world.journal) - 1}"))
        rounds = 0
        while not asked.done():
            await asyncio.sleep(0)
            rounds += 1
            assert rounds < 5 or asked.done() or hosted.controls == 0
        assert rounds > 15
        assert asked.result().status == 200


async def test_acts_on_one_of_many_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """To find it takes long, in the present and in a replay."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", 0)
    async with boxed() as box:
        await box.open()
        await many(box)
        (message,) = await box.send("420777000801")
        await box.advance("1h")
        reply = await box.post(f"{WORLD}/phones/420777000801/reply", {"body": "Yes", "message_id": message})
        assert reply.status == 201
        assert (await box.post(f"{WORLD}/phones/420777000801/seen")).status == 409
        last = (await shown(box, ""))["entries"] - 1
        for view in ("/phones/420777000801", "/digest"):
            assert await shown(box, view, last) == await shown(box, view)


async def test_a_replay_that_is_given_up_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the same place makes it again; a world that cannot be made again is not kept either."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", 0)
    async with boxed() as box:
        await box.open()
        await many(box)
        await box.advance("1h")
        hosted, control = box.runtime.worlds[KEY], box.app.control
        last = {"then": len(hosted.world.journal) - 1}
        first, second = (asyncio.ensure_future(control.perform(ORIGIN, "clock", KEY, last)) for _ in range(2))
        await turns(5)
        assert len(box.runtime.replicas) == 1
        first.cancel()
        assert (await second)["pending"] == 0
        assert first.cancelled()
        assert (len(box.runtime.replicas), hosted.controls, hosted.readers) == (1, 0, 0)
        box.runtime.replicas.forget()
        hosted.world.journal.add(hosted.world.now, 0, None)
        with pytest.raises(Diverged, match=r"entry \d+ of test-1 was not made again"):
            await control.perform(ORIGIN, "clock", KEY, {"then": last["then"] + 1})
        assert len(box.runtime.replicas) == 0


async def test_a_world_that_is_closed_meanwhile() -> None:
    """404 for who waits until a command has ended."""
    async with boxed() as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        hosted.working = asyncio.get_running_loop().create_future()
        asked = asyncio.ensure_future(box.get(f"{WORLD}/clock?then=0"))
        await turns(5)
        working, hosted.working = hosted.working, None
        box.runtime.close(hosted)
        working.set_result(None)
        assert (await asked).json["error"] == "no_such_world"


async def test_a_record_that_was_cut_has_no_past() -> None:
    """409 `record_cut`, also if an earlier replica was kept."""
    async with boxed(max_journal=50) as box:
        await box.open()
        await box.send()
        assert (await shown(box, "/clock", 1))["now"] == iso(START)
        for _ in range(40):
            await box.send()
        await box.advance("1h")
        await turns(20)
        answer = await box.get(f"{WORLD}/clock?then=1")
        assert (answer.status, answer.json["error"]) == (409, "record_cut")


async def test_memory_comes_first() -> None:
    """At the bound of the memory no replica is kept."""
    used = [0, 0, 1000]
    async with boxed() as box:
        box.runtime.settings = replace(box.runtime.settings, max_memory=1000)
        bounds = Bounds(box.runtime, lambda: used.pop(0), lambda: 0)
        bounds.close()
        await box.open()
        await shown(box, "/clock", 0)
        bounds.look()
        assert len(box.runtime.replicas) == 1
        bounds.look()
        assert len(box.runtime.replicas) == 0


async def test_a_world_whose_clock_runs() -> None:
    """A world that began late, in the mode `real`: its past has the clock of that time."""
    async with boxed() as box:
        opened = await box.post("/_sandbox/worlds", {"id": KEY, "clock": {"mode": "real"}, "late": True})
        assert opened.status == 201
        await box.send()
        there = await shown(box, "/clock", 1)
        assert (there["mode"], there["now"]) == ("real", (await shown(box, "/journal/1"))["at"])
        assert (await shown(box, "", 1))["entries"] >= 2
        assert await shown(box, "/explain?message_id=" + (await shown(box, "/messages"))["messages"][0]["message_id"])


async def test_explained_in_the_past() -> None:
    """What reads the record of a world reads that of its past."""
    async with boxed(SCENARIO) as box:
        await box.open()
        (message,) = await box.send("420777000101")
        view = f"/explain?message_id={message}"
        await box.advance("1s")
        was = await shown(box, view)
        last = (await shown(box, ""))["entries"] - 1
        await box.post(f"{WORLD}/messages/{message}/events", {"result": "failed"})
        assert await shown(box, view, last) == was
