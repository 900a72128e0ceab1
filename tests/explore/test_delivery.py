"""The families `delivery` and `late`: what comes is the same, and only a client that relies on more goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest

from sendbox.engine.durations import duration
from sendbox.exploring.census import Census, ObservedEvent, ObservedMove
from sendbox.exploring.misfortune import Misfortune, legal
from sendbox.runtime.policy import sign
from tests.explore.rich import PLAIN, Client, Rich, misfortunes

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

SECRET: Final = "s3cret"
SCENARIO: Final = {"sendbox": 1, "account": {"default_callback_secret": SECRET}}


class Shop:
    """A client that sends a message, and keeps the bytes and the headers of each delivery."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        self.headers.append({name.decode().lower(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def do(self, sandbox: Sandbox) -> None:
        """What its test does."""
        sandbox.deliver_to(self)
        Client(sandbox).send(PLAIN, body="Hello")
        sandbox.advance("1m")
        Client(sandbox).send(PLAIN, body="Again")
        sandbox.advance("1m")

    @property
    def events(self) -> list[list[tuple[str, str]]]:
        """The message and the result of each event, by deliveries."""
        return [[(event["message_id"], event["result"]) for event in json.loads(body)] for body in self.bodies]

    def trusts(self, *, rewritten: bool) -> list[bool]:
        """The deliveries whose signature it finds right: of the bytes as they came, or of JSON that it wrote again."""
        texts = [orjson.dumps(orjson.loads(body)) if rewritten else body for body in self.bodies]
        return [
            headers["x-request-signature"] == sign(SECRET, text)
            for text, headers in zip(texts, self.headers, strict=True)
        ]


@pytest.fixture(scope="module")
def usual(rich: Rich) -> dict[str, list[Misfortune]]:
    """The misfortunes of the client, by their kinds."""
    kinds: dict[str, list[Misfortune]] = {}
    for item in misfortunes(rich.run((), Shop().do, SCENARIO).census, "delivery"):
        kinds.setdefault(item.spot.kind.name, []).append(item)
    return kinds


@pytest.mark.unmeasured
def test_other_bytes_are_the_same_events(rich: Rich, usual: dict[str, list[Misfortune]]) -> None:
    """At the first event of each sort. The signature is right, unless JSON is written again before it is checked."""
    passed = Shop()
    rich.run((), passed.do, SCENARIO)
    items = usual["other bytes"]
    assert {item.spot.place for item in items} == {
        f"the 1st webhook {result} by sms of {PLAIN}" for result in ("sending", "sent", "delivered")
    }
    for item in items:
        broken = Shop()
        rich.run((item,), broken.do, SCENARIO)
        assert broken.events == passed.events, str(item)
        assert broken.trusts(rewritten=False) == [True] * 6
        (other,) = [place for place, body in enumerate(broken.bodies) if body != passed.bodies[place]]
        assert other == items.index(item) // 3
        rewritten = broken.trusts(rewritten=True)
        assert rewritten[other] is ("order" in item.value.says), str(item)  # a reader may keep the order of keys
        assert rewritten.count(False) <= 1


def do_more(sandbox: Sandbox) -> None:
    """Two messages in one advance, and one before each of two others."""
    client = Client(sandbox)
    sandbox.deliver_to(Shop())
    client.send(PLAIN, body="Hello")
    client.send(PLAIN, body="Again")
    sandbox.advance("1m")
    client.send(PLAIN, body="Later")
    sandbox.advance("1m")
    sandbox.advance("1h")


def test_every_place_at_which_a_webhook_comes_again(rich: Rich) -> None:
    """Within its advance behind the next message; later in the next one, behind its message, and beyond midnight."""
    usual = rich.run((), do_more, SCENARIO)
    inside, later = (
        [item for item in misfortunes(usual.census, family) if item.spot.kind.name == name]
        for family, name in (("delivery", "repeated"), ("late", "repeated late"))
    )
    sent = f"the 1st webhook sent by sms of {PLAIN}"
    assert f"{sent} comes again after 1ms, behind the 2nd webhook sent by sms of {PLAIN}" in map(str, inside)
    assert [str(item) for item in later if item.spot.place == sent] == [
        f"{sent} comes again 7m30s later",
        f"{sent} comes again 1m59s later, in the 2nd advance",
        f"{sent} comes again 59s1ms later, behind the 3rd message to {PLAIN}",
        f"{sent} comes again 1m1s later, behind midnight in UTC, as the world begins at 2026-03-09T23:58:59.000Z",
        f"{sent} comes again 1m1s later, behind midnight in Prague, as the world begins at 2026-03-09T22:58:59.000Z",
    ]
    assert not legal(tuple(item for item in later if "midnight in UTC" in str(item))[:2])
    for item in (item for item in later if item.spot.place == sent):
        (rule,) = item.value.parts["webhooks"]
        deliveries = [
            (entry["offset"], entry["events"][0]) for entry in rich.run((item,), do_more, SCENARIO).entries("delivery")
        ]
        first = deliveries[0][1]["message_id"]
        sent_at, again = [at for at, event in deliveries if (event["message_id"], event["result"]) == (first, "sent")]
        assert again - sent_at == duration(rule["fault"]["duplicate"]["after"]), str(item)


def test_a_webhook_that_comes_again_after_the_last_advance() -> None:
    """Nobody would look: only the latest time is tried."""
    posted = ObservedEvent(PLAIN, "sentMessage", "sms", "sent", 1, 1_000, 60_000, own=True, thread=1, batch=1, size=1)
    world = Census(1, (ObservedMove(1, 0, 60_000),), (), (), (posted,), (), ())
    assert [item.value.says for item in repeated_late(world)] == ["comes again 7m30s later"]
    room = replace(posted, until=500_000)
    assert repeated_late(replace(world, events=(room,))) == []


def repeated_late(world: Census) -> list[Misfortune]:
    return [item for item in misfortunes(world, "late") if item.spot.kind.name == "repeated late"]


@pytest.mark.unmeasured
def test_an_event_comes_in_two_deliveries(rich: Rich, usual: dict[str, list[Misfortune]]) -> None:
    """The second has an id of its own and a newer event; a client may rely on ids (A91), so it is a question."""
    items = usual["in two batches"]
    assert [item.changing for item in items] == [True, True]
    for item, size in zip(items, (["sending", "sent"], ["sent", "delivered"]), strict=True):
        shop = Shop()
        rich.run((item,), shop.do, SCENARIO)
        (both,) = [batch for batch in shop.events if len(batch) == 2]
        assert [result for _, result in both] == size
        assert len({headers["x-request-id"] for headers in shop.headers}) == len(shop.bodies) == 6
