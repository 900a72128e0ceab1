"""Operations that look at what happened: journal, deliveries, hook, advice, digest, assumptions.

It is long because each of them has its own tests.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from sendbox.control import records
from sendbox.engine import ENGINE
from sendbox.services.assumptions import registry
from tests.box import KEY, ORIGIN, WORLD, boxed, turns
from tests.receivers import answering, receiving

pytestmark = pytest.mark.asyncio


# --- journal ----------------------------------------------------------------------------------------------------------


#: Acts with the newest message of a phone; the last two of a timeline.
ACTS: Final = {
    "reply": ("/reply", {"body": "Yes"}),
    "click": ("/click", {}),
    "seen": ("/seen", {}),
    "opt-out": ("/opt-out", {}),
    "timeline reply": (None, {"reply": {"phone": "420777000101", "body": "Yes"}}),
    "timeline seen": (None, {"phone": {"number": "420777000101", "act": "seen"}}),
}


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0,)], ids=["one", "other", "alone"])
@pytest.mark.parametrize(("path", "body"), ACTS.values(), ids=ACTS)
async def test_an_act_with_the_newest_of_two_messages_of_one_instant_is_marked(
    path: str | None, body: dict[str, Any], order: tuple[int, ...]
) -> None:
    """Which of them is the newest goes by arrival: the digest may differ, and says so. With one nothing is marked."""
    timeline = {"timeline": [{"at": "2m", **body}]} if path is None else {}
    scenario = {"sendbox": 1, "account": {"senders": {"richmsg": ["A", "B"]}}, **timeline}
    shortened = {"_url": {"shorten": True}}
    flow = [{"richmsg": {"sender": "A"}}], [{"richmsg": {"sender": "B"}}]
    async with boxed() as box:
        await box.open(scenario=scenario)
        for place in order:
            body_sent = f"See http://shop.example/{place}"
            await box.send("420777000101", flow=flow[place], body=body_sent, params=shortened)
        await box.advance("1m")
        proof = (await box.get(f"{WORLD}/digest")).json
        assert proof["order_sensitive"] is False
        if path is not None:
            answer = await box.post(f"{WORLD}/phones/420777000101{path}", body)
            assert answer.status in (200, 201), answer
        await box.advance("2m")
        assert (await box.get(f"{WORLD}/digest")).json["order_sensitive"] is (len(order) == 2)


async def test_nothing_is_left_out_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that is cut says that more follows; the canonical form, of which the digest is made, is whole."""
    monkeypatch.setattr(records, "LIMIT", 2)
    async with boxed() as box:
        for _ in range(3):
            await box.send("420777000105")
        shown = (await box.get(f"{WORLD}/journal")).json
        assert (len(shown["entries"]), shown["more"]) == (2, True)
        rest = (await box.get(f"{WORLD}/journal?after=1&limit=99")).json
        assert (len(rest["entries"]), rest["more"]) == (shown["length"] - 2, False)
        requests = (await box.get(f"{WORLD}/requests")).json
        assert (len(requests["requests"]), requests["more"]) == (2, True)
        newest = (await box.get(f"{WORLD}/journal?last=3")).json
        assert (len(newest["entries"]), newest["more"]) == (3, False)
        canonical = (await box.get(f"{WORLD}/journal?form=canonical")).json
        assert (len(canonical["entries"]) > 2, canonical["more"]) == (True, False)
        cut = (await box.get(f"{WORLD}/journal?form=canonical&limit=2")).json
        assert (len(cut["entries"]) <= 2, cut["more"]) == (True, True)


async def kinds(box: Any, query: str) -> list[tuple[int, str]]:
    entries = (await box.get(f"{WORLD}/journal?{query}")).json["entries"]
    return [(entry["n"], entry["kind"]) for entry in entries]


async def test_the_journal_is_everything_in_order() -> None:
    """Opening, request, transitions, deliveries with their tries; each entry by its number too."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        shown = (await box.get(f"{WORLD}/journal")).json
        assert [entry["kind"] for entry in shown["entries"]] == [
            "opened",
            "request",
            *["transition", "delivery", "try"] * 2,
        ]
        assert shown["length"] == 8
        for entry in shown["entries"]:
            assert (await box.get(f"{WORLD}/journal/{entry['n']}")).json == entry


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("after=5", [6, 7]),
        ("after=-1", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("after=-9", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("after=99", []),
        ("limit=2", [0, 1]),
        ("kind=transition", [2, 5]),
        ("kind=sent", [5]),
        ("kind=request,try", [1, 4, 7]),
        ("kind=try&after=4", [7]),
        ("kind=try&limit=1", [4]),
        ("last=3", [5, 6, 7]),
        ("last=2&kind=transition,request", [2, 5]),
        ("last=9&after=5", [6, 7]),
    ],
)
async def test_the_journal_is_read_in_parts(query: str, numbers: list[int]) -> None:
    """By kind, from a number on, so many of them, the newest."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        assert [number for number, _ in await kinds(box, query)] == numbers


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("journal?kind=noise", 400, 'kind: "noise" is not known; legal: request, delivery, '),
        ("journal?after=x", 400, "after: 'x' is not a whole number"),
        ("journal?limit=0", 400, "limit: 0 is not legal; legal: 1 and more"),
        ("journal?last=-2", 400, "last: -2 is not legal; legal: 0 and more"),
        ("journal/9", 404, "9 is not an entry; the journal has 1"),
        ("journal/-1", 404, "-1 is not an entry; the journal has 1"),
        ("journal/x", 400, "n: 'x' is not a whole number"),
    ],
)
async def test_what_the_journal_does_not_have(path: str, status: int, message: str) -> None:
    """Refused with the reason."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/{path}")
        assert answer.status == status
        assert answer.json["message"].startswith(message)


async def test_the_journal_has_a_canonical_form() -> None:
    """As the digest reads it: no names of the world, no control; kinds and numbers are asked for as before."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        shown = (await box.get(f"{WORLD}/journal?form=canonical")).json
        assert (shown["form"], shown["length"]) == ("canonical", 8)
        assert [entry["n"] for entry in shown["entries"]] == [1, 2, 4, 5, 7]
        assert shown["entries"][0]["body"]["to"] == [{"phone_number": "420777000105"}]
        assert KEY not in str(shown["entries"])
        some = (await box.get(f"{WORLD}/journal?form=canonical&kind=transition&after=2")).json
        assert [entry["result"] for entry in some["entries"]] == ["sent"]
        assert (await box.get(f"{WORLD}/journal?form=plain")).json == (await box.get(f"{WORLD}/journal")).json
        answer = await box.get(f"{WORLD}/journal?form=short")
        assert answer.status == 400
        assert answer.json["message"] == 'form: "short" is not known; legal: plain, canonical, told'


async def test_the_journal_can_be_told() -> None:
    """Each entry in the words of the report; one that others tell has none."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.post(f"{WORLD}/rules", {"in": "api", "name": "down", "fault": {"status": 503}, "times": 1})
        await box.post("/v2/message", {}, x_api_key=KEY)
        await box.advance("1s")
        told = (await box.get(f"{WORLD}/journal?form=told")).json
        plain = (await box.get(f"{WORLD}/journal")).json
        assert [(each["n"], each["at"], each["kind"]) for each in told["entries"]] == [
            (each["n"], each["at"], each["kind"]) for each in plain["entries"]
        ]
        assert (told["form"], told["length"], told["more"]) == ("told", plain["length"], False)
        words = {(each["who"], each["text"], each["tone"]) for each in told["entries"]}
        assert ("420777000105", 'm1 sms sent, by "sent, never confirmed"', "plain") in words
        assert ("receiver", "webhook to hook: m1 sent → 200", "dim") in words
        assert (None, None, "dim") in words
        reported = {line["text"] for line in (await box.get(f"{WORLD}/report")).json["story"]["lines"]}
        assert reported == {text if text in reported else f"{who}: {text}" for who, text, _ in words if text}


async def test_requests_are_calls_with_findings_and_advice() -> None:
    """What was asked, what was answered and why, in the order of the calls."""
    async with boxed() as box:
        await box.send("+420 777 000 101")
        await box.post("/v2/message", {"body": "x", "to": []}, x_api_key=KEY)
        taken, refused = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert (taken["operation"], taken["status"], taken["findings"]) == ("sendMessage", 200, [])
        assert [remark["code"] for remark in taken["advice"]] == ["number-converted"]
        assert (refused["status"], refused["findings"][0]["path"]) == (400, "$.to")
        assert (await box.get(f"{WORLD}/requests?after={taken['n']}")).json["requests"] == [refused]


async def test_a_journal_read_while_the_world_is_reset_is_that_of_the_new_epoch() -> None:
    """Numbers of an epoch that is over lead nowhere."""
    async with boxed() as box:
        for _ in range(3):
            await box.send()
        looking = asyncio.create_task(box.get(f"{WORLD}/journal?after=0&wait=30s"))
        box.runtime.reset(box.runtime.worlds[KEY])
        await turns()
        await box.send()
        assert [entry["kind"] for entry in (await looking).json["entries"]] == ["request"]


# --- deliveries -------------------------------------------------------------------------------------------------------


async def test_deliveries_show_target_events_and_tries() -> None:
    """`{deliveries: [{id, target, events, state, tries: [{at, status, error}]}]}`, the newest with `last`."""
    async with boxed() as box, receiving(answering(500, 200)) as receiver:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        (message_id,) = await box.send(callback=receiver.url)
        await box.send("420777000102")
        await box.advance()
        first, second = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert first == {
            "id": first["id"],
            "target": receiver.url,
            "method": "POST",
            "at": "2026-03-01T09:00:00.000Z",
            "state": "delivered",
            "events": [
                {"event": "sentMessage", "message_id": message_id, "phone": "420777000101", "result": "sending"}
            ],
            "tries": [
                {"at": "2026-03-01T09:00:00.000Z", "status": 500, "error": None},
                {"at": "2026-03-01T09:00:30.000Z", "status": 200, "error": None},
            ],
        }
        assert receiver.headers[0]["x-request-id"] == first["id"]
        assert (second["target"], second["state"]) == ("hook", "delivered")
        assert (await box.get(f"{WORLD}/deliveries?last=1")).json["deliveries"] == [second]
        assert (await box.get(f"{WORLD}/deliveries?state=failed")).json["deliveries"] == []
        answer = await box.get(f"{WORLD}/deliveries?state=lost")
        assert (answer.status, answer.json["message"]) == (
            400,
            'state: "lost" is not known; legal: waiting, sending, delivered, failed, held, dropped',
        )


async def test_a_delivery_is_replayed() -> None:
    """Once more with the same bytes and the same id, at once."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.send("420777000105", callback=receiver.url)
        await box.advance()
        path = f"{WORLD}/deliveries/{receiver.headers[0]['x-request-id']}"
        assert (await box.post(f"{path}/replay")).json["state"] == "sending"
        answer = await box.post(f"{path}/replay")
        assert (answer.status, answer.json) == (
            409,
            {
                "error": "wrong_state",
                "message": 'a delivery in the state "sending" cannot be replayed; wait until it ended',
            },
        )
        await box.advance("0s")
        assert receiver.calls[-1] == receiver.calls[0]
        assert receiver.headers[-1]["x-request-id"] == receiver.headers[0]["x-request-id"]


async def test_a_delivery_is_held_and_released() -> None:
    """Held, it is not tried again however late it gets; released, it is tried at once."""
    async with boxed() as box, receiving(answering(500, 200)) as receiver:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        await box.send(callback=receiver.url)
        await box.advance("1s")
        path = f"{WORLD}/deliveries/{receiver.headers[0]['x-request-id']}"
        assert (await box.post(f"{path}/hold")).json["state"] == "held"
        await box.advance("1h")
        assert len(receiver.calls) == 1
        assert (await box.post(f"{path}/release")).json["state"] == "sending"
        await box.advance("0s")
        (shown,) = (await box.get(f"{WORLD}/deliveries?state=delivered")).json["deliveries"]
        assert [(each["at"], each["status"]) for each in shown["tries"]] == [
            ("2026-03-01T09:00:00.000Z", 500),
            ("2026-03-01T10:00:01.000Z", 200),
        ]
        for act, why in (("hold", "held"), ("release", "released; only a held one can")):
            answer = await box.post(f"{path}/{act}")
            assert (answer.status, answer.json["message"]) == (
                409,
                f'a delivery in the state "delivered" cannot be {why}',
            )


@pytest.mark.parametrize("act", ["replay", "hold", "release"])
async def test_a_delivery_that_is_not_there(act: str) -> None:
    """404 names what was looked for."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/deliveries/d/{act}")
        assert (answer.status, answer.json["message"]) == (404, '"d" is not a delivery of this world')


# --- the built-in receiver --------------------------------------------------------------------------------------------


async def test_the_built_in_receiver_is_the_default_callback() -> None:
    """What nobody asked to have elsewhere, and what a callback names its address for, is there in order."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.send("420777000205", callback=f"{ORIGIN}{WORLD}/hook")
        await box.advance()
        shown = (await box.get(f"{WORLD}/hook")).json
        assert [(event["to"]["phone_number"], event["result"]) for event in shown["events"]] == [
            ("420777000105", "sending"),
            ("420777000205", "sending"),
            ("420777000105", "sent"),
            ("420777000205", "sent"),
        ]
        assert [len(delivery["events"]) for delivery in shown["deliveries"]] == [1, 1, 1, 1]
        assert shown["deliveries"] == (await box.get(f"{WORLD}/deliveries")).json["deliveries"]


@pytest.mark.parametrize(
    ("body", "received"),
    [(b'[{"a": 1}]', [{"a": 1}]), (b"plain text", "plain text"), (b"", "")],
    ids=["json", "text", "nothing"],
)
async def test_whatever_is_posted_to_the_hook_is_answered_and_journaled(body: bytes, received: Any) -> None:
    """It is a receiver like any other for those who post to it."""
    async with boxed() as box:
        await box.open()
        answer = await box.post(f"{WORLD}/hook", body)
        assert (answer.status, answer.json) == (200, {})
        entry = (await box.get(f"{WORLD}/journal?kind=control")).json["entries"][-1]
        assert (entry["what"], entry["received"]) == ("hook", received)


# --- advice, digest, assumptions --------------------------------------------------------------------------------------


async def test_advice_is_every_remark_with_its_entry() -> None:
    """`{advice: [{code, message, path, section, entry}]}`, on requests and on the answers of receivers."""
    async with boxed() as box, receiving(answering(201)) as receiver:
        await box.send("420777000105", callback=receiver.url, bdy=1)
        await box.advance("0s")
        advice = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert [(each["code"], each["path"]) for each in advice] == [
            ("unknown-field", "$.bdy"),
            ("answer-not-200", "$.callback"),
        ]
        for each in advice:
            assert {"code", "message", "path", "section", "entry"} <= each.keys()
            assert (await box.get(f"{WORLD}/journal/{each['entry']}")).json["kind"] in ("request", "advice")


async def test_the_digest_says_by_which_engine_and_whether_order_counted() -> None:
    """`{digest, engine, order_sensitive}`; more happens, another digest."""
    async with boxed() as box:
        await box.open()
        empty = (await box.get(f"{WORLD}/digest")).json
        assert (empty["engine"], empty["order_sensitive"], len(empty["digest"])) == (ENGINE, False, 64)
        await box.send()
        await box.advance()
        assert (await box.get(f"{WORLD}/digest")).json["digest"] != empty["digest"]


async def test_a_long_digest_is_taken_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop has its turns while it is reckoned."""
    async with boxed() as box:
        for number in range(100):
            await box.send(f"42077700{number:02}01")
        await box.advance()
        whole = (await box.get(f"{WORLD}/digest")).json
        monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", -1)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        assert (await box.get(f"{WORLD}/digest")).json == whole
        ticking.cancel()
        assert ticks > 3


async def test_assumptions_are_all_that_this_version_builds_on() -> None:
    """Every row with its section, default, setting and confidence, and the world's settings."""
    async with boxed({"sendbox": 1, "assume": {"webhook_retry": ["5s", "10s"]}}) as box:
        await box.open()
        shown = (await box.get(f"{WORLD}/assumptions")).json
        assert [row["id"] for row in shown["assumptions"]] == [row.id for row in registry()]
        assert shown["assumptions"][0].keys() == {
            "id", "section", "title", "default", "setting", "confidence", "built", "profiles",
        }  # fmt: skip
        assert shown["settings"]["webhook_retry"] == [5_000, 10_000]
        assert shown["settings"]["timing"]["sent"] == 1_000


async def test_messages_and_deliveries_are_listed_in_pages() -> None:
    """`limit` at a time, those that fit only; the cursor goes on where the page ended, also after new ones."""
    async with boxed() as box:
        phones = [f"42077700010{number % 2}" for number in range(7)]
        ids = [(await box.send(phone, body=f"Hello {number}"))[0] for number, phone in enumerate(phones)]
        await box.advance("1s")
        every = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        for what, name, query, wanted in (
            ("messages", "message_id", "", ids),
            ("messages", "message_id", "&phone=420777000101", ids[1::2]),
            (
                "deliveries",
                "id",
                "",
                [each["id"] for each in every],
            ),
        ):
            found, pages = [], 0
            first = (await box.get(f"{WORLD}/{what}?limit=2{query}")).json
            found += [each[name] for each in first[what]]
            cursor = first["next_cursor"]
            while cursor is not None:
                page = (await box.get(f"{WORLD}/{what}?limit=2&cursor={cursor}{query}")).json
                found += [each[name] for each in page[what]]
                cursor, pages = page["next_cursor"], pages + 1
            assert found == wanted
            assert pages == (len(wanted) - 1) // 2
        assert (await box.get(f"{WORLD}/messages?cursor=999")).json == {"messages": []}
        assert (await box.get(f"{WORLD}/messages?limit=1&cursor=999")).json == {"messages": [], "next_cursor": None}
