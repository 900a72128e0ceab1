"""Lists that are sorted by a field, with their totals; phones by what happened on them last."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.control.reading import run_in_slices, sorted_page
from sendbox.engine.forgetting import Forgetting
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.messaging.control import phones
from sendbox.services.messaging.control.phones import page_of_phones
from sendbox.services.messaging.messaging import Messaging
from tests.box import START, WORLD, Box, boxed, turns
from tests.core.worlds import advance, send_one
from tests.scenarios import make_blueprint

pytestmark = pytest.mark.asyncio

PHONES = [f"4207771001{number:02}" for number in (11, 12, 13, 14)]
#: Of each list: its items, the field of an item that it is sorted by, and how that field is read.
FIELDS: dict[str, dict[str, Any]] = {
    "messages": {
        "phone": lambda item: item["phone"],
        "result": lambda item: item["result"],
        "channel": lambda item: item["channel"],
        "attempts": lambda item: len(item["attempts"]),
    },
    "phones": {"number": lambda item: item["number"], "messages": lambda item: len(item["messages"])},
    "deliveries": {
        "state": lambda item: item["state"],
        "target": lambda item: item["target"],
        "tries": lambda item: len(item["tries"]),
    },
    "requests": {
        "operation": lambda item: item["operation"],
        "status": lambda item: item["status"],
        "remarks": lambda item: (len(item["findings"]), len(item["advice"])),
    },
}


async def numbers(box: Box, query: str) -> list[str]:
    """The numbers of a list of phones."""
    return [phone["number"] for phone in (await box.get(f"{WORLD}/phones?{query}")).json["phones"]]


async def fill(box: Box) -> None:
    """A world in which the fields differ."""
    more: tuple[dict[str, Any], ...] = ({}, {"colour": "red"}, {"tag": "promo"}, {})
    for phone, fields in zip(reversed(PHONES), more, strict=True):
        await box.send(phone, **fields)
    await box.send(PHONES[3], PHONES[1])
    await box.advance("1s")
    await box.send(PHONES[0])
    await box.advance("1m")


async def test_each_list_is_sorted_by_each_field() -> None:
    """In both orders, in pages that have each item once; the total is that of all pages, and of a search."""
    async with boxed() as box:
        await fill(box)
        for items, fields in FIELDS.items():
            everything = (await box.get(f"{WORLD}/{items}?total=true")).json
            assert everything["total"] == len(everything[items]) > 0
            for name, field in fields.items():
                for order in ("oldest", "newest"):
                    fetched: list[Any] = []
                    cursor: str | None = ""
                    while cursor is not None:
                        more = f"&cursor={cursor}" if cursor else ""
                        answer = (await box.get(f"{WORLD}/{items}?sort={name}&order={order}&limit=2{more}")).json
                        fetched += answer[items]
                        cursor = answer["next_cursor"]
                    values = [field(item) for item in fetched]
                    assert values == sorted(map(field, everything[items]), reverse=order == "newest"), (items, name)
            first = (await box.get(f"{WORLD}/{items}?limit=1&total=true")).json
            second = (await box.get(f"{WORLD}/{items}?limit=1&total=true&cursor={first['next_cursor']}")).json
            assert first["total"] == second["total"] == everything["total"]
            search = (await box.get(f"{WORLD}/{items}?total=true&search=to:{PHONES[3]}&limit=1")).json
            assert 1 <= search["total"] < everything["total"], items
        nothing = (await box.get(f"{WORLD}/messages?total=true&search=never")).json
        assert (nothing["messages"], nothing["total"]) == ([], 0)
        assert (await box.get(f"{WORLD}/requests?total=true&search=never")).json["total"] == 0
        assert len((await box.get(f"{WORLD}/messages?sort=phone")).json["messages"]) > 2
        refused = await box.get(f"{WORLD}/messages?sort=colour")
        assert (refused.status, refused.json["error"]) == (400, "bad_argument")


async def test_a_long_list_is_sorted_in_parts() -> None:
    """Its pages are those of the whole, and of equal items the first comes first."""
    items = [(number * 7_919) % 5_003 // 2 for number in range(5_003)]
    for order in ("oldest", "newest"):
        whole = await sorted_page(range(len(items)), items.__getitem__, bool, None, None, order)
        assert whole.items == sorted(range(1, len(items)), key=items.__getitem__, reverse=order == "newest")
        page = await sorted_page(range(len(items)), items.__getitem__, bool, 10, 4_990, order)
        assert (page.items, page.cursor) == (whole.items[4_990:5_000], "5000")
        assert (await sorted_page(range(len(items)), items.__getitem__, bool, 10, 5_000, order)).cursor is None


async def test_phones_by_what_happened_on_them_last() -> None:
    """A message with another result, and a text of its owner, make a phone the newest; pages go on behind."""
    async with boxed() as box:
        await box.send(*PHONES[:3])
        await box.advance("1m")
        newest = "sort=activity&order=newest"
        await box.send("4207")  # no number of a phone
        assert set(await numbers(box, newest)) == set(PHONES[:3])
        await box.send(PHONES[1])
        assert (await numbers(box, newest))[0] == PHONES[1]
        await box.post(f"{WORLD}/phones/{PHONES[0]}/write", {"body": "Hi"})
        assert (await numbers(box, newest))[:2] == [PHONES[0], PHONES[1]]
        page = (await box.get(f"{WORLD}/phones?{newest}&limit=2")).json
        await box.send(PHONES[3])
        assert await numbers(box, f"{newest}&limit=2&cursor={page['next_cursor']}") == [PHONES[2]]
        assert await numbers(box, "sort=activity") == [PHONES[2], PHONES[1], PHONES[0], PHONES[3]]
        assert (await box.get(f"{WORLD}/phones?{newest}&cursor=x")).json["error"] == "bad_argument"
        # also with a result that is not the last one
        await box.send("420777100105")
        await box.post(f"{WORLD}/phones/{PHONES[0]}/write", {"body": "Hi again"})
        await box.advance("1s")
        assert (await numbers(box, newest))[0] == "420777100105"


async def test_a_phone_that_comes_back_is_the_newest() -> None:
    """What waited for it arrives then; what is forgotten is not counted any more."""
    async with boxed(max_messages=3, when_full="forget") as box:
        await box.open()
        await box.post(f"{WORLD}/phones/{PHONES[0]}/offline")
        await box.send(PHONES[0])
        await box.send(PHONES[1])
        await box.advance("1m")
        assert (await numbers(box, "sort=activity&order=newest"))[0] == PHONES[1]
        await box.post(f"{WORLD}/phones/{PHONES[0]}/online")
        await box.advance("1s")
        assert (await numbers(box, "sort=activity&order=newest"))[0] == PHONES[0]
        for phone in (PHONES[1], PHONES[2], PHONES[3]) * 3:
            await box.send(phone)
            await box.advance("1h")
        await turns(20)  # it forgets in parts
        by_activity = await numbers(box, "sort=activity")
        assert by_activity[-1] == PHONES[3]
        assert set(by_activity) == set(await numbers(box, ""))


@pytest.mark.parametrize("sort", ["activity", None])
@pytest.mark.parametrize("reading", range(5))
@pytest.mark.parametrize("bound", [1, 3])
async def test_phones_that_are_forgotten_while_a_list_is_read_are_not_in_it(
    sort: str | None, reading: int, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever part of the list was read then, in the middle or at its end; `reading` 4 is before all of them."""
    world = World("test-1", make_blueprint(), start=START, forgets=True, services=PARTS)
    forgetting = Forgetting(world)
    for number in PHONES:
        send_one(world, number)
        advance(world, 10_000)
    parts = iter(range(5))

    def forget() -> None:
        forgetting.note()
        forgetting.of_messages(bound, f"--max-messages={bound}")
        while not forgetting.step():
            pass

    async def read_in_slices(work: Any) -> Any:
        forgets = next(parts) == reading
        if forgets and next(work, work) is None:
            forget()
        result = await run_in_slices(work)
        if forgets:
            forget()
        return result

    if reading == 4:
        forget()
    monkeypatch.setattr(phones, "run_in_slices", read_in_slices)
    page = await page_of_phones(world, bool, sort, None, None, "newest")
    left = [message.phone for message in Messaging.of(world).messages]
    assert page.items == left[::-1]


async def test_a_short_phone_has_the_newest_message_that_is_not_on_it() -> None:
    """With its result, and whether it may still arrive; none where the newest message arrived."""
    async with boxed() as box:
        await box.send("420777000102")
        await box.advance("1h")
        await box.send("420777000101")
        lost, waiting = (await box.get(f"{WORLD}/phones?form=short")).json["phones"]
        assert (lost["last"], lost["absent"]["result"], lost["absent"]["unsettled"]) == (None, "undelivered", False)
        assert (waiting["absent"]["result"], waiting["absent"]["unsettled"]) == ("accepted", True)
        await box.advance("1h")
        assert "absent" not in (await box.get(f"{WORLD}/phones?form=short")).json["phones"][1]


async def test_a_phone_opts_in_again() -> None:
    """It leaves the list at once, and promotional messages reach it again; who never opted out may too."""
    async with boxed() as box:
        await box.send(PHONES[0])
        await box.advance("1m")
        assert (await box.post(f"{WORLD}/phones/{PHONES[0]}/opt-out")).json["opted_out"] is True
        assert (await box.post(f"{WORLD}/phones/{PHONES[0]}/opt-in")).json["opted_out"] is False
        assert (await box.post(f"{WORLD}/phones/{PHONES[1]}/opt-in")).json["opted_out"] is False
        await box.send(PHONES[0], tag="promotional")
        await box.advance("1m")
        (message,) = (await box.get(f"{WORLD}/messages?last=1")).json["messages"]
        assert message["result"] == "delivered"


async def test_a_text_that_was_cut_says_so() -> None:
    """§2.1: the service sends 1,000 characters; a text of just as many is whole."""
    async with boxed() as box:
        for length in (5_040, 1_000):
            (message_id,) = await box.send(PHONES[0], body="x" * length)
            await box.advance("1m")
            (attempt,) = (await box.get(f"{WORLD}/messages/{message_id}/story")).json["message"]["attempts"]
            (entry,) = (await box.get(f"{WORLD}/phones/{PHONES[0]}?last=1")).json["conversation"]
            for shown in (attempt, entry):
                assert (len(shown["body"]), shown.get("truncated")) == (1_000, True if length > 1_000 else None)
