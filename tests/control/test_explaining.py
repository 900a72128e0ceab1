"""Verdicts, explanations, and journals with a cap, over control."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.journal import CODE
from tests.box import KEY, WORLD, Box, boxed, turns

pytestmark = pytest.mark.asyncio

EXPECTING = """
sendbox: 1
extends: default
expect:
  - {name: arrives, that: messages, where: {phone: "420777000101", result: delivered}, count: 1}
"""
OTHER = {"sendbox": 1, "expect": [{"that": "requests", "at_most": 0}]}


async def passed(box: Box) -> list[tuple[str, bool]]:
    found = (await box.get(f"{WORLD}/verdict")).json
    assert found["passed"] is all(each["passed"] for each in found["expectations"])
    return [(each["name"], each["passed"]) for each in found["expectations"]]


async def test_the_verdict_follows_the_world() -> None:
    """It fails until what is expected has happened; a later scenario is judged at once; a reset world has no call."""
    async with boxed(EXPECTING) as box:
        await box.send()
        assert await passed(box) == [("arrives", False)]
        assert (await box.get(f"{WORLD}/verdict")).json["next_due"] == "2026-03-01T09:00:00.000Z"
        await box.advance()
        assert await passed(box) == [("arrives", True)]
        changed = await box.put(f"{WORLD}/scenario", OTHER)
        assert "expect" in changed.json["applied"]
        assert await passed(box) == [("requests", False)]
        await box.post(f"{WORLD}/reset", {})
        assert await passed(box) == [("requests", True), ("the client makes a call", False)]


async def test_a_message_is_explained() -> None:
    """Every attempt with the rules that were tried; a rule put in front is among them; an unknown message is 404."""
    async with boxed() as box:
        await box.open()
        put = await box.post(f"{WORLD}/rules", {"name": "mine", "when": {"tag": "otp"}, "then": "failed", "times": 1})
        assert put.status == 201
        (first,) = await box.send(tag="otp")
        (second,) = await box.send(tag="otp")
        await box.advance()
        ways: list[list[tuple[str, str, list[str]]]] = []
        for message_id in (first, second):
            shown = (await box.get(f"{WORLD}/explain?message_id={message_id}")).json
            assert shown["message_id"] == message_id
            (attempt,) = shown["attempts"]
            assert attempt["order_sensitive"]
            ways.append([(each["rule"], each["outcome"], each["why_not"]) for each in attempt["rules"]])
        assert ways[0][0] == ("mine", "decided", [])
        assert ways[1][0] == ("mine", "not its turn", ["times: it decided 1 messages already, which is all it may"])
        assert ("delivered as well", "decided", []) in ways[1]
        answer = await box.get(f"{WORLD}/explain?message_id=nope")
        assert (answer.status, answer.json["error"]) == (404, "no_such_message")


async def test_a_message_without_an_attempt_is_explained() -> None:
    """One that is sent later has none yet."""
    async with boxed() as box:
        await box.open()
        (later,) = await box.send(datetime="2026-03-01T10:00:00Z")
        assert (await box.get(f"{WORLD}/explain?message_id={later}")).json["attempts"] == []


# --- a journal with a cap


async def kept(box: Box, query: str = "") -> list[int]:
    return [entry["n"] for entry in (await box.get(f"{WORLD}/journal?{query}")).json["entries"]]


async def test_a_journal_with_a_cap() -> None:
    """After a call the oldest are gone; readers go on from what is there, and digest and verdict say what is lost."""
    async with boxed(max_journal=10) as box:
        for _ in range(3):
            await box.send()
        await box.advance()
        shown = (await box.get(f"{WORLD}/journal")).json
        first = shown["first"]
        assert (len(shown["entries"]), shown["length"] - first) == (9, 9)
        assert await kept(box, "after=0&limit=2") == [first, first + 1]
        assert await kept(box, "last=2") == [shown["length"] - 2, shown["length"] - 1]
        assert await kept(box, "kind=accepted") == []
        gone = await box.get(f"{WORLD}/journal/{first - 1}")
        assert (gone.status, gone.json["error"], gone.json["first"]) == (404, "forgotten", first)
        assert gone.json["message"] == (
            f"entry {first - 1} is forgotten; the journal begins with entry {first} (--max-journal=10)"
        )
        assert (await box.get(f"{WORLD}/journal/{first}")).json["n"] == first
        assert (await box.get(f"{WORLD}/journal/999")).json["error"] == "no_such_entry"
        for what in ("digest", "verdict"):
            found = (await box.get(f"{WORLD}/{what}")).json
            assert (found["trusted"], found["lost"]) == (False, first)
        assert (await box.get(f"{WORLD}/advice")).json == {"advice": []}
        await box.put(f"{WORLD}/checkpoints/x")
        await box.post(f"{WORLD}/checkpoints/x", {})
        await box.advance()
        assert (await kept(box))[0] >= first
        await box.post(f"{WORLD}/reset", {})
        assert (await box.get(f"{WORLD}/digest")).json["trusted"]


async def test_without_a_cap_nothing_is_forgotten() -> None:
    """Every entry stays, and what is said about it can be trusted."""
    async with boxed() as box:
        for _ in range(30):
            await box.send()
        await box.advance()
        found = (await box.get(f"{WORLD}/digest")).json
        assert (found["trusted"], found["lost"], found["order_sensitive"]) == (True, 0, False)
        assert (await kept(box))[0] == 0


async def test_an_advance_shows_its_entries_before_they_are_forgotten() -> None:
    """Nothing is forgotten under the eyes of a call that reads; a refusal is logged, however small the cap."""
    async with boxed(max_journal=1) as box:
        await box.send("123")
        moved = await box.advance()
        assert [entry["kind"] for entry in moved["entries"]][:2] == ["refusal", "transition"]
        assert any("123: sms rejected" in line for _, line in box.log)
        assert (await box.get(f"{WORLD}/journal")).json["first"] > 0


async def test_much_is_forgotten_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that is far over its cap comes down to it in pieces, with the loop's turn between."""
    monkeypatch.setattr("sendbox.engine.forgetting._ENTRIES", 5)
    async with boxed(max_journal=10) as box:
        await box.send()
        journal = box.runtime.worlds[KEY].world.journal
        for _ in range(60):
            journal.add(0, CODE["control"], {})
        await box.get(f"{WORLD}/clock")
        assert journal.first == 5
        await turns(20)
        assert len(journal) - 10 <= journal.first < len(journal)


async def test_a_reader_is_not_disturbed() -> None:
    """A world that somebody reads at this moment forgets nothing."""
    async with boxed(max_journal=10) as box:
        await box.send()
        hosted = box.runtime.worlds[KEY]
        for _ in range(60):
            hosted.world.journal.add(0, CODE["control"], {})
        hosted.readers += 1
        box.runtime.kick(hosted)
        assert hosted.world.journal.first == 0
        hosted.readers -= 1
        box.runtime.kick(hosted)
        first: Any = hosted.world.journal.first
        assert first > 0
