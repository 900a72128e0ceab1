"""Many worlds at once, and many threads: nobody sees anybody, and order of arrival changes nothing it should not."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sendbox.fixture.server import SandboxServer
from sendbox.settings import Settings
from tests.box import START, Box, boxed

WORLDS = 100


async def scene(box: Box, client: httpx.AsyncClient, number: int) -> dict[str, Any]:
    """A world of its own: its own fault, its own messages, its own time; answers what it saw."""
    key = f"test-w{number}"
    control = f"/_sandbox/worlds/{key}"
    phone = f"42077700{number:02}01"
    headers = {"x-api-key": key}
    for n in range(3):
        message = {"body": f"from {number}", "to": [{"phone_number": phone}], "payload": {"n": n}}
        assert (await client.post("/v2/message", json=message, headers=headers)).status_code == 200
        if n == 0 and number % 2:
            rule = {"when": {"phone": "*"}, "then": "failed"}
            assert (await client.post(f"{control}/rules", json=rule)).status_code == 201
        moved = (await client.post(f"{control}/clock/advance", json={"by": f"{number + 10}s"})).json()
        assert moved["idle"]
    messages = (await client.get(f"{control}/messages")).json()["messages"]
    events = (await client.get(f"{control}/hook")).json()["events"]
    return {
        "phones": {message["phone"] for message in messages},
        "bodies": {message["body"] for message in messages},
        "results": [message["result"] for message in messages],
        "events": {event["to"]["phone_number"] for event in events},
        "now": (await client.get(f"{control}/clock")).json()["now"],
        "ids": [message["message_id"] for message in messages],
        "digest": (await client.get(f"{control}/digest")).json()["digest"],
    }


@pytest.mark.deep
@pytest.mark.asyncio
async def test_a_hundred_worlds_at_once() -> None:
    """None sees another's messages, faults or time, and none shares a name with another."""
    async with boxed() as box:
        transport = httpx.ASGITransport(app=box.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://box") as client:
            seen = await asyncio.gather(*(scene(box, client, number) for number in range(WORLDS)))
    ids: set[str] = set()
    for number, world in enumerate(seen):
        phone = f"42077700{number:02}01"
        assert world["phones"] == world["events"] == {phone}
        assert world["bodies"] == {f"from {number}"}
        assert world["results"] == (["failed"] * 3 if number % 2 else ["delivered"] * 3)
        minutes, seconds = divmod(3 * (number + 10), 60)
        assert world["now"] == f"2026-03-01T09:{minutes:02}:{seconds:02}.000Z"
        ids.update(world["ids"])
    assert len(ids) == 3 * WORLDS


REQUESTS = [
    {"body": f"Number {n}", "to": [{"phone_number": f"4207770{n:03}{fate:02}"}], "tag": "promo"}
    for n in range(20)
    for fate in (1, 2, 6, 7)
]


#: Faults of deliveries whose draws count nobody but the phone itself.
FAULTY = {
    "sendbox": 1,
    "extends": "default",
    "webhooks": [
        {"name": "lost", "when": {"share": 0.2}, "fault": "drop"},
        {"name": "twice", "when": {"share": 0.2}, "fault": {"duplicate": {"after": "0s..5s"}}},
        {"name": "late", "when": {"share": 0.2}, "fault": {"delay": "1s..1m"}},
        {"name": "old", "when": {"share": 0.2}, "fault": "stale"},
        {"name": "mixed up", "when": {"phone": "*6"}, "fault": "reorder"},
        {"name": "first", "when": {"phone": "*1"}, "fault": "overtake"},
        {"name": "together", "when": {"phone": "*2"}, "fault": {"bundle": "10s"}},
        {"name": "forged", "fault": "bad_signature"},
        {"name": "flaky", "when": {"share": 0.1, "phone": "*7"}, "fault": {"answer": 503}},
        {"name": "down", "when": {"from": "2s", "until": "1m"}, "fault": {"answer": "timeout"}},
    ],
}


def run(threads: int, scenario: Any = "default") -> dict[str, Any]:
    """Sends all requests from so many threads over HTTP, and answers names, fates and digest."""
    server = SandboxServer(Settings(port=0, mode="manual", start=START, public_url=None)).start()
    try:
        with httpx.Client(base_url=server.origin, trust_env=False, timeout=60) as http:
            http.post("/_sandbox/worlds", json={"id": "test-t", "scenario": scenario})

            def post(message: dict[str, Any]) -> tuple[str, str]:
                answer = http.post("/v2/message", json=message, headers={"x-api-key": "test-t"}).json()
                return message["body"] + message["to"][0]["phone_number"], answer["accepted"][0]["message_id"]

            with ThreadPoolExecutor(threads) as pool:
                names = dict(pool.map(post, REQUESTS if threads == 1 else REQUESTS[::-1]))
            control = "/_sandbox/worlds/test-t"
            http.post(f"{control}/clock/advance", json={"by": "1h"})
            messages = http.get(f"{control}/messages").json()["messages"]
            fates = {
                message["message_id"]: [(entry["at"], entry["result"]) for entry in message["timeline"]]
                for message in messages
            }
            return {"names": names, "fates": fates, **http.get(f"{control}/digest").json()}
    finally:
        server.stop()


@pytest.mark.parametrize("scenario", ["default", FAULTY], ids=["default", "faulty"])
def test_many_threads_give_the_same_names_fates_and_digest(scenario: Any) -> None:
    """Equal sets of requests, in any order and from any number of threads, have one outcome."""
    one, many = run(1, scenario), run(8, scenario)
    assert one["order_sensitive"] is False
    assert one == many
