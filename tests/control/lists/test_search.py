"""The search of lists: its language, and what each list finds."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from sendbox.control.operation import ControlError
from sendbox.control.searching import TEXT, moment, patterns, search_filter, texts, times, words
from sendbox.engine.durations import HOUR, MINUTE, iso
from tests.box import KEY, START, WORLD, Box, boxed
from tests.runtime.scenes import fill

ITEMS: tuple[dict[str, Any], ...] = (
    {"name": "Ann", "text": "Hello World", "at": 5},
    {"name": "Bob", "text": 'say "hi" to https://x', "at": 9},
)
KEYS: dict[str, Any] = {
    "name": words(("Ann", "Bob"), lambda item: item["name"]),
    "like": patterns(lambda item: [item["name"], item["name"].lower()]),
    "none": patterns(lambda _item: None),
    **times(10, lambda item: item["at"]),
    TEXT: texts(lambda item: item["text"]),
}


@pytest.mark.parametrize(
    ("search", "names"),
    [
        (None, "Ann Bob"),
        ("   ", "Ann Bob"),
        ("hello", "Ann"),
        ("HELLO world", "Ann"),
        ('"hello world"', "Ann"),
        ("h*o", "Ann Bob"),
        ("h*d", "Ann"),
        ("-hello", "Bob"),
        ('-"hello world"', "Bob"),
        ("-", ""),
        ('"say \\"hi\\""', "Bob"),
        ('"https://x"', "Bob"),
        ("name:Ann", "Ann"),
        ("-name:Ann", "Bob"),
        ("like:b*", "Bob"),
        ('like:"Ann"', "Ann"),
        ("like:Ann name:Bob", ""),
        ("none:x", ""),
        ("before:1970-01-01T00:00:00.009Z", "Ann"),
        ("after:1970-01-01T00:00:00.009Z", "Bob"),
        ("after:1ms", "Bob"),
        ("before:00:00", ""),
    ],
)
def test_what_is_found(search: str | None, names: str) -> None:
    """All words must hold; those with a minus must not."""
    finds = search_filter(search, KEYS)
    assert " ".join(item["name"] for item in ITEMS if finds(item)) == names


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("nam:Ann", 'at place 1: "nam:" is not a key; legal: name:, like:, none:, before:, after:; did you mean "name'),
        ("a https://x", 'at place 3: "https:" is not a key; legal: name:, like:, none:, before:, after:; a text that'),
        ("-xyz:1", 'at place 2: "xyz:" is not a key'),
        ("name:An", 'at place 6: "An" is not known; legal: Ann, Bob; did you mean "Ann"?'),
        ("name:Žž", 'at place 6: "Žž" is not known; legal: Ann, Bob; it has "Ž"'),
        ("name:", 'at place 6: "name:" has no value'),
        ('""', "at place 1: the text in quotes is empty"),
        ('a "b', 'at place 3: the quote does not end; legal: "a text in quotes"'),
        ("before:25:00", "at place 8: '25:00' is not a time of day; legal: 00:00 to 23:59"),
        ("before:soon", "at place 8: 'soon' is not a time; legal: an instant (2026-03-01T09:00:00Z), a time of"),
        ("before:10", "at place 8: '10' is not a time"),
    ],
)
def test_what_is_not_legal(search: str, message: str) -> None:
    """The place, and the legal words, with the nearest of them."""
    with pytest.raises(ControlError) as error:
        search_filter(search, KEYS)
    assert (error.value.status, error.value.error) == (400, "bad_argument")
    assert error.value.message.startswith(f"search, {message}")


def test_a_search_is_bounded() -> None:
    """In characters and in words."""
    for search, message in (("x" * 1001, "1001 characters are too many"), ("x " * 33, "33 words are too many")):
        with pytest.raises(ControlError, match=message):
            search_filter(search, KEYS)


def test_times_of_a_search() -> None:
    """An instant, a time of the day on which the world is, or a time before its now."""
    now = START + HOUR
    assert moment("10m", now) == now - 10 * MINUTE
    assert moment("0", now) == now
    assert moment("09:05", now) == START + 5 * MINUTE
    assert moment("9:05:30", now) == START + 5 * MINUTE + 30_000
    assert moment(iso(START), now) == START


async def found(box: Box, items: str, name: str, search: str, **more: Any) -> list[Any]:
    query = "".join(f"&{key}={value}" for key, value in more.items())
    answer = await box.get(f"{WORLD}/{items}?search={quote(search)}{query}")
    assert answer.status == 200, answer
    return [item[name] for item in answer.json[items]]


ONE, TWO, THREE = "420777100101", "420777100112", "420777100113"


async def told(box: Box) -> None:
    """Three messages, ten minutes apart, and a reply."""
    await box.send(ONE, body="Your code is 1234", tag="promo,x", sender="Acme")
    await box.advance("10m")
    await box.send(TWO, body="Your order left", tag="info")
    await box.advance("10m")
    await box.post(f"{WORLD}/phones/{TWO}/reply", {"body": "Thank you"})
    await box.advance("0s")
    await box.post("/v2/message", {"to": [{"phone_number": THREE}], "body": 7}, x_api_key=KEY)
    await box.send(THREE, body="Bye")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("search", "phones"),
    [
        ("your", [ONE, TWO]),
        ('"code is"', [ONE]),
        ("your -code", [TWO]),
        ("to:+420777100101", [ONE]),
        ("to:777100112", [TWO]),
        ("to:4207771?0101", [ONE]),
        ("-to:*12", [ONE, THREE]),
        ("tag:promo", [ONE]),
        ("tag:in*", [TWO]),
        ("channel:sms", [ONE, TWO, THREE]),
        ("result:accepted", [THREE]),
        ("-result:accepted", [ONE, TWO]),
        ("from:Acme", [ONE]),
        ("operation:send*", [ONE, TWO, THREE]),
        ("before:09:05", [ONE]),
        ("after:10m", [TWO, THREE]),
        ("before:2026-03-01T09:20:00Z", [ONE, TWO]),
        ("nothing", []),
    ],
)
async def test_messages_are_searched(search: str, phones: list[str]) -> None:
    """By what they are and what they say."""
    async with boxed() as box:
        await told(box)
        assert await found(box, "messages", "phone", search) == phones
        assert await found(box, "messages", "phone", search, order="newest", limit=9) == phones[::-1]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("search", "phones"),
    [
        ("to:*12", [TWO]),
        ("-to:*12", [ONE, THREE]),
        ("code", [ONE]),
        ("thank", [TWO]),
        ("0113", [THREE]),
        ("-your", [THREE]),
        ("your thank", [TWO]),
    ],
)
async def test_phones_are_searched(search: str, phones: list[str]) -> None:
    """By number, and by the texts to and from them."""
    async with boxed() as box:
        await told(box)
        assert await found(box, "phones", "number", search) == phones


@pytest.mark.asyncio
async def test_phones_are_searched_by_what_they_are() -> None:
    """Offline, opted out, with a text that nobody answered, or with a newest message of some result."""
    first = "420777100114"
    async with boxed() as box:
        await told(box)
        await box.post(f"{WORLD}/phones/{first}/write", {"body": "Where is it?"})
        await box.post(f"{WORLD}/phones/{ONE}/offline", {})
        await box.post(f"{WORLD}/phones/{TWO}/opt-out", {})
        await box.advance("1s")
        expected = {
            "is:offline": [ONE],
            "is:opted_out": [TWO],
            "-is:offline -is:opted_out": [THREE, first],
            "is:unanswered": [TWO, first],
            "is:unanswered -is:opted_out": [first],
            "result:delivered": [ONE, TWO],
            "-result:delivered": [THREE, first],
        }
        assert {search: await found(box, "phones", "number", search) for search in expected} == expected
        await box.send(TWO, body="You are welcome", tag="info")
        await box.advance("1m")
        assert await found(box, "phones", "number", "is:unanswered") == [first]
        answer = await box.get(f"{WORLD}/phones?search=is:ofline")
        assert answer.status == 400
        assert 'legal: offline, opted_out, unanswered; did you mean "offline"?' in answer.json["message"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("search", "calls"),
    [
        ("to:*12", [1]),
        ("tag:promo", [0]),
        ("operation:sendMessage", [0, 1, 2, 3]),
        ("status:4??", [2]),
        ("status:200", [0, 1, 3]),
        ("method:POST path:/v2/* key:test-1", [0, 1, 2, 3]),
        ("order", [1]),
        ("before:09:05", [0]),
        ("-status:200", [2]),
    ],
)
async def test_requests_are_searched(search: str, calls: list[int]) -> None:
    """By what was called, what it named, and how it was answered."""
    async with boxed() as box:
        await told(box)
        every = [item["n"] for item in (await box.get(f"{WORLD}/requests")).json["requests"]]
        wanted = [every[call] for call in calls]
        assert await found(box, "requests", "n", search) == wanted
        assert await found(box, "requests", "n", search, order="newest") == wanted[::-1]
        answer = await box.get(f"{WORLD}/requests?search=status:ok")
        assert answer.json["message"].startswith('search, at place 8: "ok" is not a status; legal: 200')


@pytest.mark.asyncio
async def test_deliveries_are_searched() -> None:
    """By what they carry, where they go and how they ended."""
    async with boxed() as box:
        await told(box)
        every = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        (first,) = (await box.get(f"{WORLD}/messages?phone={ONE}")).json["messages"]
        (second,) = (await box.get(f"{WORLD}/messages?phone={TWO}")).json["messages"]

        def about(*values: str) -> list[str]:
            return [each["id"] for each in every if {*values} <= {*each["events"][0].values()}]

        assert len(about(ONE)) == 3
        assert await found(box, "deliveries", "id", f"to:{ONE}") == about(ONE)
        assert await found(box, "deliveries", "id", f"message:{first['message_id']}") == about(ONE)
        assert await found(box, "deliveries", "id", "", message_id=second["message_id"]) == about(TWO)
        assert await found(box, "deliveries", "id", "result:delivered") == about("delivered")
        assert await found(box, "deliveries", "id", "event:incoming*") == [every[-1]["id"]]
        assert await found(box, "deliveries", "id", "thank") == [every[-1]["id"]]
        assert await found(box, "deliveries", "id", "status:200 target:hook state:delivered", limit=99) == [
            each["id"] for each in every
        ]
        assert await found(box, "deliveries", "id", "state:failed") == []
        answer = await box.get(f"{WORLD}/deliveries?search=state:faild")
        assert answer.json["message"].endswith('did you mean "failed"?')


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("to:abc", 'search, at place 4: "abc" is not a phone number: it has "a"'),
        ("to:+420*", 'search, at place 4: "+420*" is not a phone pattern: it has "+"'),
        ("result:deliverd", 'search, at place 8: "deliverd" is not known; legal: accepted'),
        ("channel:smss", 'search, at place 9: "smss" is not known; legal: '),
    ],
)
async def test_what_a_search_of_messages_refuses(search: str, message: str) -> None:
    """Numbers that are none, and words that there are not."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/messages?search={quote(search)}")
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert answer.json["message"].startswith(message)


@pytest.mark.asyncio
async def test_a_search_that_finds_nothing_lets_others_run() -> None:
    """Many messages are read in slices."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, 1_000)
        assert await found(box, "messages", "phone", "nothing", limit=10) == []


@pytest.mark.asyncio
async def test_a_search_is_judged_before_anything_is_waited_for() -> None:
    """A long poll with a search that is not legal ends at once; one that is waits for what fits."""
    async with boxed() as box:
        await box.open()
        for items in ("messages", "requests"):
            answer = await box.get(f"{WORLD}/{items}?wait=1h&search=x:y")
            assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert (await box.get(f"{WORLD}/requests?wait=1ms")).json == {
            "requests": [],
            "more": False,
            "next_cursor": None,
        }
