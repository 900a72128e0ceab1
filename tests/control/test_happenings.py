"""What an entry of a timeline can do, through control: now, or later; and outages, which can be ended."""

from __future__ import annotations

from typing import Any, Final

import pytest
import yaml

from sendbox.app import SERVED
from sendbox.control.export.record import compare, read
from sendbox.control.replaying import Replay
from sendbox.engine import bounds
from sendbox.language import LANGUAGE
from sendbox.scenario.keys import texts
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
PHONE: Final = "420777000101"
INBOUND: Final = {"inbound": {"channel": "sms", "from": PHONE, "body": "Hello"}}
INVENTING: Final = {"inbound": {"channel": "sms", "from": PHONE, "body": "I am {{fake.name}}"}}


async def happen(box: Box, body: object) -> Any:
    """The answer to an accepted happening."""
    answer = await box.post(f"{WORLD}/happenings", body)
    assert answer.status == 201, answer
    return answer.json


async def begin(box: Box, **body: object) -> Any:
    """The answer to an accepted outage."""
    answer = await box.post(f"{WORLD}/outages", body)
    assert answer.status == 201, answer
    return answer.json


async def outages(box: Box) -> list[tuple[str, str, str, str]]:
    """The outages of the world, each in short."""
    shown = (await box.get(f"{WORLD}/outages")).json["outages"]
    return [(row["id"], row["state"], row["from"][11:19], row["until"][11:19]) for row in shown]


async def texts_written(box: Box) -> list[str]:
    """The texts that phones have written."""
    return [entry["body"] for entry in (await box.get(f"{WORLD}/journal?kind=inbound")).json["entries"]]


async def is_replayed(box: Box) -> None:
    """The record of the world makes the same world again."""
    recorded = read((await box.get(f"{WORLD}/record")).body, LANGUAGE)
    compared = compare(recorded, Replay(box.app.control, recorded.commands, recorded.ends).finish(), SERVED.kinds)
    assert (compared.first, compared.digest) == (None, recorded.digest)


async def test_it_happens_now_or_later() -> None:
    """Now without a time, after a duration, at an instant or at a time from the start; the digest has all of it."""
    async with boxed() as box:
        await box.open()
        await box.advance("1m")
        digests = [(await box.get(f"{WORLD}/digest")).json["digest"]]
        assert await happen(box, INBOUND) == {"id": "inbound-1", "kind": "inbound", "at": "2026-03-01T09:01:00.000Z"}
        assert len(await texts_written(box)) == 1
        for body, at in (
            ({"after": "1m"}, "09:02:00"),
            ({"after": 0}, "09:01:00"),
            ({"at": "2026-03-01T10:00:00Z"}, "10:00:00"),
            ({"at": "2h"}, "11:00:00"),
            ({"at": "1m"}, "09:01:00"),
            ({"after": "1d", "every": "1h", "until": "2026-03-02T11:01:00Z"}, "09:01:00"),
        ):
            assert (await happen(box, {**INBOUND, **body}))["at"][11:19] == at
        digests.append((await box.get(f"{WORLD}/digest")).json["digest"])
        (step, *_) = (await box.get(f"{WORLD}/pending")).json["steps"]
        assert step == {"at": "2026-03-01T09:02:00.000Z", "what": "put by the test: inbound"}
        assert len(await texts_written(box)) == 3
        await box.advance("2d")
        assert len(await texts_written(box)) == 8
        digests.append((await box.get(f"{WORLD}/digest")).json["digest"])
        assert len(set(digests)) == 3
        (control, *_) = (await box.get(f"{WORLD}/journal?kind=control")).json["entries"]
        assert (control["what"], control["put"]) == ("happening", INBOUND)
        await is_replayed(box)


@pytest.mark.unmeasured
@pytest.mark.parametrize("kind", LANGUAGE.happenings)
async def test_every_kind_happens(kind: str) -> None:
    """All that a timeline knows: it is journaled as the entry of a timeline, and its world can be made again."""
    bodies: dict[str, Any] = {
        "inbound": INBOUND["inbound"],
        "reply": {"phone": PHONE, "body": "YES"},
        "phone": {"number": PHONE, "act": "seen"},
        "outage": {"for": "1m"},
        "account": {"credit": {"eur": 5}},
        "clock": {"rate": 60},
        "template": {"name": "*", "status": "PAUSED"},
        "number": {"phone_number": "420*", "quality": "RED"},
    }
    async with boxed() as box:
        await box.send(PHONE)
        await box.advance()
        await happen(box, {kind: bodies[kind]})
        await happen(box, {"after": "1m", kind: bodies[kind]})
        await box.advance("5m")
        entries = (await box.get(f"{WORLD}/journal?kind=timeline")).json["entries"]
        assert [entry["entry"]["kind"] for entry in entries] == [kind, kind]
        await is_replayed(box)


@pytest.mark.unmeasured
async def test_a_text_is_drawn_anew_each_time() -> None:
    """The same text twice is two messages, and not that of the scenario; it is invented beside the loop."""
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "timeline": [{"at": 0, **INVENTING}]})
        await box.advance("1s")
        for _ in range(2):
            await happen(box, INVENTING)
        written = await texts_written(box)
        assert len(set(written)) == len(written) == 3
        await is_replayed(box)
        again = yaml.safe_load((await box.get(f"{WORLD}/export?as=scenario")).json["text"])
        assert [entry["control"] for entry in again["traffic"]] == [
            {"operation": "happen", "arguments": {"raw": INVENTING}}
        ] * 2
        assert 'sendbox.perform("happen", raw={' in (await box.get(f"{WORLD}/export")).json["text"]


async def test_money_is_that_of_the_world() -> None:
    """A change of the account reads an amount without a currency in the currency of the account."""
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "account": {"currency": "CZK"}})
        await happen(box, {"account": {"credit": {"czk": 7}}})
        shown = (await box.get(f"{WORLD}/account")).json
        assert (shown["currency"], shown["credit"]) == ("CZK", 7)


@pytest.mark.parametrize(
    ("mode", "goes"), [("manual", False), ("real", True)], ids=["stands from now on", "goes from now on"]
)
async def test_the_clock_changes_now(mode: str, *, goes: bool) -> None:
    """A clock that is set to real runs from the present of the world."""
    now = 0
    async with boxed(mode="real" if mode == "manual" else "manual", reading=lambda: now) as box:
        await box.open()
        before = (await box.clock())["now"]
        now += 5_000_000_000
        await happen(box, {"clock": {"mode": mode}})
        now += 60_000_000_000
        after = await box.clock()
        assert after["mode"] == mode
        assert after["now"][14:19] == ("01:00" if goes else "00:05")
        assert before[14:19] == "00:00"


@pytest.mark.parametrize(
    ("path", "body", "status", "error", "message"),
    [
        ("happenings", [1], 400, "bad_body", "[1] is not an entry of a timeline; legal: a JSON object"),
        ("happenings", {"reset": 1}, 422, "bad_happening", '$.reset: "reset" would begin the timeline again'),
        ("happenings", {"at": [1], **INBOUND}, 422, "bad_happening", "$.at: [1] is not an instant"),
        ("happenings", {"every": "1h", **INBOUND}, 422, "bad_happening", '$.every: "every" stands without "until"'),
        (
            "happenings",
            {"outage": {"for": "1m", "chanel": "sms"}},
            422,
            "bad_happening",
            '$.outage.chanel: "chanel" is not a key of outage',
        ),
        (
            "happenings",
            {"at": "2026-02-01T00:00:00Z", **INBOUND},
            400,
            "bad_argument",
            "at: 2026-02-01T00:00:00.000Z lies before the present of the world, 2026-03-01T09:01:00.000Z; legal: a",
        ),
        ("happenings", {"at": "30s", **INBOUND}, 400, "bad_argument", "at: 2026-03-01T09:00:30.000Z lies before"),
        ("happenings", {"at": "5m", "after": "5m", **INBOUND}, 400, "bad_argument", "at and after both say when"),
        ("happenings", {"after": "soon", **INBOUND}, 400, "bad_argument", "after: 'soon' is not a duration"),
        ("outages", "sms", 400, "bad_body", "'sms' is not an outage; legal: a JSON object"),
        ("outages", {}, 422, "bad_happening", '$: {} has no "for", which every outage needs'),
        ("outages", {"for": "0s"}, 422, "bad_happening", '$.for: "0s" is not the length of an outage'),
        ("outages", {"for": "1m", "name": 5}, 400, "bad_argument", "name: 5 is not a name; legal: a text of 1 to 100"),
    ],
)
async def test_what_cannot_happen(path: str, body: object, status: int, error: str, message: str) -> None:
    """It is refused with the sentence of the timeline's compiler, and nothing of it is in the journal."""
    async with boxed() as box:
        await box.open()
        await box.advance("1m")
        entries = (await box.get(WORLD)).json["entries"]
        answer = await box.post(f"{WORLD}/{path}", body)
        assert (answer.status, answer.json["error"]) == (status, error)
        assert answer.json["message"].startswith(message)
        assert (await box.get(WORLD)).json["entries"] == entries


async def test_a_text_to_be_invented_is_checked_beside_the_loop() -> None:
    """422 with every problem, as any other."""
    async with boxed() as box:
        await box.open()
        body = {"inbound": {**INBOUND["inbound"], "body": "{{fake.nam}}"}}
        answer = await box.post(f"{WORLD}/happenings", body)
        assert (answer.status, answer.json["problems"][0]["nearest"]) == (422, "fake.name")
        assert texts.invents(body)


# --- outages ----------------------------------------------------------------------------------------------------------


async def test_an_outage_begins_and_is_ended() -> None:
    """Messages wait for its end, which a tester can bring about."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        await box.advance("2s")
        assert await begin(box, channel="sms", **{"for": "10m"}) == {
            "id": "outage-1",
            "state": "current",
            "from": "2026-03-01T09:00:02.000Z",
            "until": "2026-03-01T09:10:02.000Z",
            "outage": {"channel": "sms", "for": "10m"},
        }
        await box.advance("5m")
        assert (await box.results(message_id))[-1] == "sent"
        answer = await box.delete(f"{WORLD}/outages/outage-1")
        assert (answer.status, answer.json) == (200, {"ended": ["outage-1"]})
        await box.advance(0)
        assert (await box.results(message_id))[-1] == "delivered"
        assert await outages(box) == []
        states = [entry["state"] for entry in (await box.get(f"{WORLD}/journal?kind=outage")).json["entries"]]
        assert states == ["began", "ended"]
        await is_replayed(box)


async def test_outages_are_listed() -> None:
    """Those that have begun, and those to come, of the scenario too; each with its name or a number as its id."""
    entry = {"at": "5h", "outage": {"channel": "rcs", "for": "1h"}}
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "timeline": [{"at": "1h", **INBOUND}, entry]})
        shown = await begin(box, name="sms is out", channel="sms", after="6h", every="1d", until="3d", **{"for": "1m"})
        assert (shown["id"], shown["state"], shown["from"]) == ("sms is out", "upcoming", "2026-03-01T15:00:00.000Z")
        await begin(box, share="50%", **{"for": "2h"})
        assert await outages(box) == [
            ("outage-2", "current", "09:00:00", "11:00:00"),
            ("timeline-2", "upcoming", "14:00:00", "15:00:00"),
            ("sms is out", "upcoming", "15:00:00", "15:01:00"),
        ]
        await box.advance("6h")
        assert [row[:3] for row in await outages(box)] == [
            ("sms is out", "current", "15:00:00"),
            ("sms is out", "upcoming", "15:00:00"),
        ]
        assert (await box.delete(f"{WORLD}/outages/sms%20is%20out")).json == {"ended": ["sms is out"]}
        assert (await box.clock())["pending"] == 0
        await is_replayed(box)


async def test_a_long_outage() -> None:
    """One of many phones is compiled beside the loop, and is the same in a world that is made again."""
    phones = [f"42077{number:07}" for number in range(2_000)]
    async with boxed() as box:
        await box.open()
        assert bounds.large({"phone": phones})
        await begin(box, phone=phones, **{"for": "1m"})
        (current,) = Messaging.of(box.runtime.worlds[KEY].world).outages.current
        assert len(current.outage.phones or ()) == len(phones)
        await is_replayed(box)


async def test_all_outages_are_ended() -> None:
    """Those to come do not begin; where there is none, nothing ends."""
    entry = {"at": "5h", "outage": {"channel": "rcs", "for": "1h"}}
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "timeline": [entry]})
        await begin(box, **{"for": "2h"})
        assert (await box.delete(f"{WORLD}/outages")).json == {"ended": ["outage-1", "timeline-1"]}
        assert (await box.delete(f"{WORLD}/outages")).json == {"ended": []}
        answer = await box.delete(f"{WORLD}/outages/outage-1")
        assert (answer.status, answer.json["error"]) == (404, "no_such_outage")
        assert answer.json["message"].startswith('"outage-1" is not an outage that has begun or is to come')
        await box.advance("1d")
        assert len((await box.get(f"{WORLD}/journal?kind=timeline,outage")).json["entries"]) == 3
        again = yaml.safe_load((await box.get(f"{WORLD}/export?as=scenario")).json["text"])
        assert [entry["control"]["operation"] for entry in again["traffic"]][:1] == ["begin_outage"]
        await is_replayed(box)
