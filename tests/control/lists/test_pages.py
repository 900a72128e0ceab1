"""Pages of long lists, oldest or newest first."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.journal import CODE, Capped, Journal
from sendbox.engine.kept import Firsts, Kept, Source
from sendbox.services.messaging.control import messages
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.verify.verify import Verify
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.runtime.scenes import fill

PHONES = [f"42077710011{digit}" for digit in range(5)]


async def pages(box: Box, path: str, items: str, name: str, **how: Any) -> list[list[Any]]:
    """All pages of a list, one after another; of each item one field."""
    found, cursor = [], None
    query = "&".join(f"{key}={value}" for key, value in how.items())
    while True:
        answer = (await box.get(f"{path}?{query}{'' if cursor is None else f'&cursor={cursor}'}")).json
        found.append([item[name] for item in answer[items]])
        cursor = answer["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("items", "name"), [("messages", "phone"), ("phones", "number"), ("deliveries", "id"), ("requests", "n")]
)
async def test_pages_lead_through_a_list_both_ways(items: str, name: str) -> None:
    """The newest come first, older ones follow, and nothing is left out or shown twice."""
    async with boxed() as box:
        await box.open()
        await box.only_sending()
        for phone in PHONES:
            await box.send(phone)
            await box.advance("1s")
        path = f"{WORLD}/{items}"
        every = [item[name] for item in (await box.get(path)).json[items]]
        assert len(every) >= 5
        forward = await pages(box, path, items, name, limit=2)
        assert [each for page in forward for each in page] == every
        back = await pages(box, path, items, name, limit=2, order="newest")
        assert [each for page in back for each in page] == every[::-1]
        assert [len(page) for page in back[:-1]] == [2] * (len(back) - 1)
        whole = (await box.get(f"{path}?order=newest")).json[items]
        assert [item[name] for item in whole] == every[::-1]


@pytest.mark.asyncio
async def test_worlds_come_in_pages_newest_first() -> None:
    """Also of those whose id begins so."""
    async with boxed() as box:
        for number in range(5):
            await box.open(f"test-{number}")
        back = await pages(box, "/_sandbox/worlds", "worlds", "id", limit=2, order="newest")
        assert back == [["test-4", "test-3"], ["test-2", "test-1"], ["test-0"]]
        assert await pages(box, "/_sandbox/worlds", "worlds", "id", limit=2, order="newest", prefix="test-1") == [
            ["test-1"]
        ]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["messages", "phones", "deliveries", "requests", ""])
async def test_orders_that_there_are(path: str) -> None:
    """Any other order is refused, with the legal ones."""
    async with boxed() as box:
        await box.open()
        target = f"{WORLD}/{path}" if path else "/_sandbox/worlds"
        answer = await box.get(f"{target}?order=random")
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert answer.json["message"] == 'order: "random" is not known; legal: oldest, newest'


@pytest.mark.asyncio
async def test_a_page_of_the_newest_reads_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many messages only those of the page are looked at."""
    async with boxed(check_answers=False) as box:
        await box.open()
        fill(box.runtime.worlds[KEY].world, 2_000)
        looked: list[Any] = []

        def fits(*given: Any) -> bool:
            looked.append(given)
            return True

        monkeypatch.setattr(messages, "_fits", fits)
        assert len((await box.get(f"{WORLD}/messages?limit=10&order=newest&form=short")).json["messages"]) == 10
        assert len(looked) == 11


@pytest.mark.asyncio
async def test_phones_appear_when_they_are_written_to_or_write() -> None:
    """In that order; a message that reached no phone does not count."""
    async with boxed() as box:
        await box.send(PHONES[0])
        await box.advance("1s")
        await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": PHONES[1], "body": "Hi"})
        await box.advance("1s")
        await box.send(PHONES[2], PHONES[0])
        found = (await box.get(f"{WORLD}/phones?limit=2")).json
        assert ([phone["number"] for phone in found["phones"]], found["next_cursor"]) == (PHONES[:2], PHONES[1])
        found = (await box.get(f"{WORLD}/phones?limit=2&cursor={PHONES[1]}")).json
        assert ([phone["number"] for phone in found["phones"]], found["next_cursor"]) == ([PHONES[2]], None)
        answer = await box.get(f"{WORLD}/phones?limit=2&cursor=420777100119")
        assert (answer.status, answer.json["message"]) == (400, 'cursor: "420777100119" is not a phone of this world')


@pytest.mark.asyncio
async def test_phones_that_only_another_service_knows_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have appeared already are not there twice."""
    monkeypatch.setattr(Verify, "phones", lambda _self: (PHONES[4], PHONES[0], PHONES[4]))
    async with boxed() as box:
        await box.send(PHONES[0], PHONES[1])
        for order, wanted in (("oldest", [0, 1, 4]), ("newest", [4, 1, 0])):
            found = await pages(box, f"{WORLD}/phones", "phones", "number", limit=1, order=order)
            assert found == [[PHONES[place]] for place in wanted]


@pytest.mark.asyncio
async def test_a_phone_that_was_forgotten_is_no_end_of_pages() -> None:
    """Those before it are gone too: the oldest are those that are left, and nothing is older."""
    async with boxed(max_messages=3, when_full="forget") as box:
        for phone in PHONES:
            await box.send(phone)
            await box.advance("1h")
        await turns(20)  # it forgets in parts
        left = [phone["number"] for phone in (await box.get(f"{WORLD}/phones")).json["phones"]]
        assert PHONES[0] not in left
        found = (await box.get(f"{WORLD}/phones?limit=9&cursor={PHONES[0]}")).json["phones"]
        assert [phone["number"] for phone in found] == left
        assert (await box.get(f"{WORLD}/phones?limit=9&cursor={PHONES[0]}&order=newest")).json["phones"] == []


@pytest.mark.asyncio
async def test_an_act_on_a_phone_whose_messages_were_forgotten_says_so() -> None:
    """Not that nothing has arrived yet: the bound is named. Where nothing was forgotten, nothing has arrived."""
    async with boxed(max_messages=3, when_full="forget") as box:
        await box.open()
        answer = await box.post(f"{WORLD}/phones/{PHONES[0]}/reply", {"body": "Yes"})
        assert (answer.status, answer.json["error"]) == (404, "no_such_message")
        for phone in PHONES:
            await box.send(phone)
            await box.advance("1h")
        await turns(20)  # it forgets in parts
        answer = await box.post(f"{WORLD}/phones/{PHONES[0]}/reply", {"body": "Yes"})
        assert (answer.status, answer.json) == (
            404,
            {
                "error": "forgotten",
                "message": f"no message on {PHONES[0]} is kept: the world no longer has its oldest messages "
                "(--max-messages=3)",
                "bound": "--max-messages=3",
            },
        )


@pytest.mark.asyncio
async def test_a_short_phone_says_how_much_there_is() -> None:
    """Counts, and the last of its conversation; a long text is cut."""
    async with boxed() as box:
        await box.send(PHONES[1], body="x" * 200)
        await box.send(PHONES[2])
        await box.advance("1m")
        await box.post(f"{WORLD}/phones/{PHONES[2]}/reply", {"body": "STOP"})
        await box.post(f"{WORLD}/phones/{PHONES[2]}/offline")
        await box.send(PHONES[3])
        await box.advance("0s")  # it is on its way
        first, second, third = (await box.get(f"{WORLD}/phones?form=short")).json["phones"]
        assert first == {
            "number": PHONES[1],
            "online": True,
            "opted_out": False,
            "conversation_open": False,
            "received": 1,
            "sent": 0,
            "messages": 1,
            "last": {"at": first["last"]["at"], "direction": "in", "channel": "sms", "body": "x" * 160},
        }
        assert (second["received"], second["sent"], second["online"], second["opted_out"]) == (1, 1, False, True)
        assert (second["last"]["direction"], second["last"]["body"]) == ("out", "STOP")
        assert (third["received"], third["last"]) == (0, None)
        for phone in (first, second):
            entries = (await box.get(f"{WORLD}/phones/{phone['number']}")).json["conversation"]
            assert (len(entries), entries[-1]["at"]) == (phone["received"] + phone["sent"], phone["last"]["at"])


@pytest.mark.asyncio
async def test_a_phone_with_many_messages_is_counted_in_slices() -> None:
    """The newest of what arrived is the last, whatever came before it."""
    async with boxed() as box:
        for number in range(70):
            await box.send(PHONES[1], body=f"Hello {number}")
        await box.advance("1h")
        (phone,) = (await box.get(f"{WORLD}/phones?form=short")).json["phones"]
        whole = (await box.get(f"{WORLD}/phones/{PHONES[1]}")).json["conversation"]
        assert (phone["received"], phone["last"]["body"]) == (len(whole), whole[-1]["body"])


@pytest.mark.asyncio
async def test_a_short_message_has_what_a_list_shows() -> None:
    """And says whether anything may still happen to it."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONES[1], body="y" * 200, tag="promo", sender="Acme")
        (short,) = (await box.get(f"{WORLD}/messages?form=short")).json["messages"]
        assert (short["unsettled"], short["attempts"], short["result"]) == (True, 0, "accepted")
        await box.advance("1h")
        (short,) = (await box.get(f"{WORLD}/messages?form=short")).json["messages"]
        whole = (await box.get(f"{WORLD}/messages/{message_id}")).json
        assert short == {
            **{name: whole[name] for name in short if name not in ("body", "attempts", "unsettled")},
            "body": "y" * 160,
            "attempts": 1,
            "unsettled": False,
        }
        for path in ("messages", "phones"):
            answer = await box.get(f"{WORLD}/{path}?form=long")
            assert (answer.status, answer.json["message"]) == (400, 'form: "long" is not known; legal: plain, short')


@pytest.mark.parametrize("journal", [Journal(), Capped()])
def test_entries_of_a_kind_are_found_backwards(journal: Journal) -> None:
    """Without a look at others; what was forgotten is not found."""
    for kind in ("request", "try", "request", "try", "request"):
        journal.add(0, CODE[kind], None)
    assert list(journal.find_back(CODE["request"], 5)) == [4, 2, 0]
    assert list(journal.find_back(CODE["request"], 4)) == [2, 0]
    if isinstance(journal, Capped):
        journal.forget(2, "max_journal")
        assert list(journal.find_back(CODE["request"], 5)) == [4, 2]
        assert list(journal.find_back(CODE["request"], 1)) == []


def test_first_appearances_are_read_as_they_come() -> None:
    """Two lists by time; at one instant the first of them comes first. What was forgotten is not missed."""
    sent: Kept[tuple[int, str | None]] = Kept()
    heard: Kept[tuple[int, str]] = Kept()
    firsts = Firsts(*(Source(items, lambda item: item[0], lambda item: item[1]) for items in (sent, heard)))
    assert list(firsts.read()) == []
    sent += [(1, "a"), (2, None), (3, "b"), (3, "a")]
    heard += [(1, "c"), (4, "a")]
    assert len(list(firsts.read())) == 1
    assert (firsts.names, firsts.places) == (["a", "c", "b"], {"a": 0, "c": 1, "b": 2})
    sent += [(5, f"n{number}") for number in range(120)]
    assert len(list(firsts.read())) == 2
    assert len(firsts.names) == 123
    sent.forget(0, 3, lambda _: True)
    firsts.look_again()
    list(firsts.read())
    assert firsts.names[:4] == ["c", "a", "n0", "n1"]
    heard.forget(0, 2, lambda _: True)
    firsts.look_again()
    list(firsts.read())
    assert firsts.names[:2] == ["a", "n0"]


def test_first_appearances_are_the_same_whenever_they_are_read() -> None:
    """An item of the first list comes first at its instant, also where one of the second was read before it came."""
    sent: Kept[tuple[int, str]] = Kept()
    heard: Kept[tuple[int, str]] = Kept()
    firsts = Firsts(*(Source(items, lambda item: item[0], lambda item: item[1]) for items in (sent, heard)))
    for items, item in ((heard, (1, "a")), (heard, (2, "b")), (sent, (2, "c")), (sent, (2, "d")), (heard, (2, "e"))):
        items += [item]
        list(firsts.read())
    assert (firsts.names, firsts.places) == (["a", "c", "d", "b", "e"], {"a": 0, "c": 1, "d": 2, "b": 3, "e": 4})


@pytest.mark.asyncio
async def test_what_a_phone_wrote_is_found_by_its_number() -> None:
    """Without a look at what others wrote."""
    async with boxed() as box:
        await box.open()
        for phone in (PHONES[1], PHONES[2], PHONES[1]):
            await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": phone, "body": "Hi"})
        phones = Messaging.of(box.runtime.worlds[KEY].world).phones
        assert [text.number for text in phones.written.of(PHONES[1])] == [0, 2]
        assert len((await box.get(f"{WORLD}/phones/{PHONES[1]}")).json["conversation"]) == 2


@pytest.mark.asyncio
async def test_a_short_call_has_what_a_list_shows() -> None:
    """Not what was sent and answered; of the remarks only how many there are."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"in": "api", "when": {"phone": PHONES[2]}, "fault": {"status": 503}})
        await box.send(PHONES[1], colour="red")
        body = {"to": [{"phone_number": PHONES[2]}], "body": "Hello"}
        await box.post("/v2/message", body, x_api_key=KEY)
        first, second = (await box.get(f"{WORLD}/requests?form=short")).json["requests"]
        whole = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert first == {
            **{name: whole[0][name] for name in ("n", "at", "operation", "method", "path", "status")},
            "findings": 0,
            "advice": 1,
        }
        assert (second["status"], second["fault"]) == (503, whole[1]["fault"])
        found = (await box.get(f"{WORLD}/requests?search=remark:unknown-*")).json["requests"]
        assert [entry["n"] for entry in found] == [first["n"]]
        assert (await box.get(f"{WORLD}/requests?form=long")).status == 400


@pytest.mark.asyncio
async def test_a_short_webhook_has_what_a_list_shows() -> None:
    """The first of its events, and how many it carries; a long text is cut."""
    async with boxed() as box:
        await box.send(*PHONES)
        await box.advance("0")
        await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": PHONES[0], "body": "x" * 200})
        await box.advance("0")
        (many, one) = (await box.get(f"{WORLD}/deliveries?form=short")).json["deliveries"]
        assert ([event["phone"] for event in many["events"]], many["carries"], many["tries"]) == (PHONES[:4], 5, 1)
        assert (one["events"][0]["body"], one["carries"]) == (f"{'x' * 59}…", 1)


@pytest.mark.asyncio
async def test_the_messages_of_one_call() -> None:
    """By the number of its entry; an entry that is not there, or was forgotten, is said."""
    async with boxed(max_journal=20, when_full="forget") as box:
        await box.open()
        await box.send(PHONES[0])
        sent = await box.send(*PHONES[1:3])
        second = (await box.get(f"{WORLD}/requests?order=newest&limit=1")).json["requests"][0]["n"]
        made = (await box.get(f"{WORLD}/messages?request={second}")).json["messages"]
        assert [message["message_id"] for message in made] == sent
        answer = await box.get(f"{WORLD}/messages?request=999")
        assert (answer.status, answer.json["error"]) == (404, "no_such_entry")
        for phone in PHONES:
            await box.send(phone)
            await box.advance("1h")
        answer = await box.get(f"{WORLD}/messages?request={second}")
        assert (answer.status, answer.json["error"]) == (404, "forgotten")
