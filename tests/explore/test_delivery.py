"""The families `delivery` and `late`: what comes is the same, and only a client that relies on more goes wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest

from sendbox.exploring.misfortune import Misfortune
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
