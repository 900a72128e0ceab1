"""The page over the whole application, without a socket."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from sendbox.app import PARTS, SERVED, make_app
from sendbox.contract.validators import Contract
from sendbox.engine.kinds.narration import Names, Teller
from sendbox.fixture.timeline import line_of
from sendbox.language import SUBJECTS
from sendbox.page import view
from sendbox.runtime.worlds import Runtime
from sendbox.settings import Settings
from tests.engine.test_entries import eventful
from tests.scenarios import load

pytestmark = pytest.mark.asyncio
KEY = "test-page"


@dataclass
class Sandbox:
    """The application, called in process."""

    client: httpx.AsyncClient
    runtime: Runtime

    async def page(self, query: str = f"?world={KEY}", status: int = 200) -> str:
        response = await self.client.get(f"/_sandbox/{query}")
        assert response.status_code == status
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        return response.text

    async def send(self, *numbers: str, key: str = KEY, **more: Any) -> None:
        body = {"to": [{"phone_number": number} for number in numbers], "body": "Hello", **more}
        await self.client.post("/v2/message", json=body, headers={"x-api-key": key})

    async def advance(self, by: str = "1m", key: str = KEY) -> None:
        response = await self.client.post(f"/_sandbox/worlds/{key}/clock/advance", json={"by": by})
        assert response.status_code == 200


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Sandbox]:
    runtime = Runtime(Settings(mode="manual", start=1_772_355_600_000, **settings), load("default"), PARTS)
    transport = httpx.ASGITransport(make_app(runtime, Contract()))
    async with httpx.AsyncClient(transport=transport, base_url="http://box:7357") as client:
        yield Sandbox(client, runtime)
    await runtime.aclose()


def text_of(page: str) -> str:
    """What a reader sees: without the style, tags and heaps of white space."""
    page = re.sub(r"<style>.*?</style>|<title>.*?</title>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


async def test_no_world_is_open_and_the_page_says_how_to_open_one() -> None:
    """A fresh sandbox shows its addresses and a line that opens a first world; asking opened none."""
    async with serving() as box:
        text = text_of(await box.page(""))
        assert "No world is open yet" in text
        for name, address in {
            "base_url": "http://box:7357/v2",
            "rest_url": "http://box:7357/v1",
            "verify_url": "http://box:7357",
            "http_api_url": "http://box:7357",
        }.items():
            assert f"{name} {address}" in text
        assert "curl http://box:7357/v2/message -H &#39;x-api-key: test-demo&#39;" in text
        assert box.runtime.worlds == {}


async def test_worlds_are_listed_the_newest_first() -> None:
    """Every open world has a line with its clock, and its address."""
    async with serving() as box:
        for key in ("test-a", "test-b"):
            await box.send("420777000101", key=key)
        page = await box.page("")
        assert page.index("?world=test-b") < page.index("?world=test-a")
        assert "test-a default 2026-03-01 09:00:00 manual 1" in text_of(page)


async def test_many_worlds_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is bounded, and says of how many it shows the newest."""
    monkeypatch.setattr(view, "WORLDS", 2)
    async with serving() as box:
        for key in ("test-a", "test-b", "test-c"):
            await box.send("420777000101", key=key)
        page = await box.page("")
        assert "The newest 2 of 3." in text_of(page)
        assert "test-a" not in page


async def test_refused_keys_are_explained_and_masked() -> None:
    """Whoever used a wrong key finds out why, and the key is not spelled out."""
    async with serving() as box:
        await box.send("420777000101", key="live-4711-secret")
        page = await box.page("")
        assert "4711" not in page
        assert "live… /v2/message only keys that begin with test- open a world" in text_of(page)


async def test_a_world_without_messages_shows_how_to_send_one() -> None:
    """An empty world has the line that fills it."""
    async with serving() as box:
        await box.client.post("/_sandbox/worlds", json={"id": KEY})
        text = text_of(await box.page())
        assert "Nothing was sent yet. curl http://box:7357/v2/message" in text
        assert "No webhook was sent yet." in text
        assert "Nothing to remark" in text


async def test_messages_show_results_of_each_attempt() -> None:
    """Every attempt has its results with the time they took, why it was refused, and what is still planned."""
    async with serving() as box:
        flow = [{"richmsg": {"body": "Rich", "sender": "Acme"}}, {"sms": {"body": "Plain"}}]
        await box.send("420777000110", flow=flow)
        await box.advance("1s")
        text = text_of(await box.page())
        assert "richmsg rejected +0s [2] Rejected the phone does not have this channel" in text
        assert "sms sending +0s sent +1s delivered" in text
        assert "Plain" in text
        assert "curl http://box:7357/_sandbox/worlds/test-page/clock/advance" in text
        await box.advance()
        assert "sms sending +0s sent +1s delivered +3s" in text_of(await box.page())


async def test_replies_and_their_webhooks_are_shown() -> None:
    """An answer of a phone is seen at its message and among the webhooks."""
    async with serving() as box:
        await box.send("420777000107")
        await box.advance()
        text = text_of(await box.page())
        assert "replied +8s" in text
        assert "built-in receiver incomingReplyMessage 420777000107 YES delivered +0s 200" in text


async def test_notifications_of_a_signup_are_shown() -> None:
    """The webhook of a signup says which state the signup entered, whose it is, and its number once it is known."""
    async with serving() as box:
        body = {
            "phone_number": "manual",
            "partner_callback_url": "http://127.0.0.1:1/hooks",
            "partner_client_id": "shop",
        }
        answer = await box.client.post("/v1/chatapp/signup", json=body, headers={"x-api-key": KEY})
        await box.advance("0s")
        assert "POST http://127.0.0.1:1/hooks created signup of shop waiting +0s refused" in text_of(await box.page())
        signup = answer.json()["redirect_url"].rpartition("/")[2]
        done = await box.client.post(
            f"/_sandbox/worlds/{KEY}/signups/{signup}/complete", json={"phone_number": "420777000101"}
        )
        assert done.status_code == 200
        await box.advance()
        page = await box.page()
        assert "completed 420777000101 signup of shop" in text_of(page)
        assert '<span class="badge good">completed</span>' in page


async def test_a_world_in_which_everything_happened() -> None:
    """Whatever an event or an entry of the journal is about, page and control can show it."""
    async with serving() as box:
        await box.client.post("/_sandbox/worlds", json={"id": KEY})
        box.runtime.worlds[KEY].world = eventful()
        here = f"worlds/{KEY}"
        told = [event for each in (await ask(box, f"{here}/deliveries"))["deliveries"] for event in each["events"]]
        assert {event["event"] for event in told} == set(SUBJECTS["events"].fields["type"].words)
        text = text_of(await box.page())
        for event in told:
            assert " ".join(filter(None, view.event(event).values())) in text
        shown = (await ask(box, f"{here}/journal"))["entries"]
        assert {entry["kind"] for entry in shown} >= set(SERVED.kinds.shown)
        teller = Teller(SERVED.kinds.told, Names(), shown)
        assert all(line_of(teller, entry) for entry in shown if entry["kind"] != "delivery")
        for what in ("coverage", "digest", "verdict", "assumptions", "export", "pending", "outbox", "hook", "partner"):
            assert (await box.client.get(f"/_sandbox/{here}/{what}")).status_code == 200


async def test_failed_deliveries_show_each_try() -> None:
    """A webhook that nobody took has its target, its state and every try."""
    async with serving() as box:
        await box.send("420777000105", callback="http://127.0.0.1:1/hooks")
        await box.advance("1h")
        assert "POST http://127.0.0.1:1/hooks sending 420777000105 failed +0s refused +30s refused" in text_of(
            await box.page()
        )


async def test_faults_of_webhooks_and_outages_are_told() -> None:
    """Which rule made a webhook go astray or answered in its receiver's place, and what was out."""
    webhooks = [
        {"name": "lost", "when": {"result": "sent"}, "fault": "drop"},
        {"name": "down", "when": {"result": "delivered"}, "fault": {"answer": 503}, "times": 1},
    ]
    timeline = [{"at": "1m", "outage": {"channel": ["sms", "richmsg"], "for": "1h"}}]
    start = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
    async with serving() as box:
        given = {"sendbox": 1, "clock": start, "webhooks": webhooks, "timeline": timeline}
        opened = await box.client.post("/_sandbox/worlds", json={"id": KEY, "scenario": given})
        assert opened.status_code == 201
        await box.send("420777000101")
        await box.advance("2m")
        text = text_of(await box.page())
        assert "sent 420777000101 drop, by the rule lost dropped" in text
        assert "delivered +0s 503 by the rule down +30s 200" in text
        assert "outage until 2026-03-01 10:01:00 outage of sms, richmsg began" in text


async def test_findings_and_advice_name_path_and_section() -> None:
    """What was wrong is told with its place in the request and in the specification."""
    async with serving() as box:
        await box.send("420777000101", flow=[{"sms": {"ttl": 0.2}}])
        await box.send("420777000101", unknown_field=1)
        text = text_of(await box.page())
        assert "refused sendMessage 400 0.2 is below the minimum ttl" in text
        assert "$.flow[0].sms.ttl = 0.2 §2.2" in text
        assert "advice sendMessage 200" in text
        assert "$.unknown_field §2.1 · assumption A57" in text


async def test_nothing_of_a_client_becomes_markup() -> None:
    """Bodies, tags, senders and targets are text, whatever they hold; and a script would not be run."""
    evil = '<img src=x onerror="alert(1)">'
    async with serving(any_key=True) as box:
        key = f"test-{evil}"
        await box.client.post("/_sandbox/worlds", json={"id": key})
        await box.send("420777000101", key=key, body=evil, tag=evil, callback="http://h.test/?<img>", **{evil: 1})
        await box.client.post(f"/_sandbox/worlds/{view.segment(key)}/clock/advance", json={"by": "0s"})
        response = await box.client.get("/_sandbox/", params={"world": key})
        assert "<img" not in response.text
        assert "&lt;img src=x" in response.text
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "<img" not in await box.page("")


async def test_the_page_is_bounded() -> None:
    """Only the newest messages and webhooks are shown, with the number of all."""
    async with serving() as box:
        for _ in range(11):
            await box.send(*(f"42077700{n:02}01" for n in range(10)))
        await box.advance()
        text = text_of(await box.page())
        assert "The newest 100 of 110" in text
        assert "and 88 more" in text


async def test_a_page_can_reload_itself() -> None:
    """A page reloads itself only where it is asked to, and within reason."""
    async with serving() as box:
        await box.send("420777000101")
        assert "http-equiv" not in await box.page()
        assert '<meta http-equiv="refresh" content="2">' in await box.page(f"?world={KEY}&refresh=2")
        for wrong in ("0", "61", "999", "x", "²", ""):
            assert "http-equiv" not in await box.page(f"?world={KEY}&refresh={wrong}")


async def test_an_unknown_world_is_told() -> None:
    """The page of a world that is not open says so, and opens none."""
    async with serving() as box:
        assert "is not an open world" in text_of(await box.page("?world=test-other", 404))
        assert box.runtime.worlds == {}


@pytest.mark.parametrize(("query", "target"), [("", "/_sandbox/"), ("?world=test-a", "/_sandbox/?world=test-a")])
async def test_the_address_without_a_slash_leads_to_the_page(query: str, target: str) -> None:
    """/_sandbox leads to /_sandbox/, and loses nothing on the way."""
    async with serving() as box:
        response = await box.client.get(f"/_sandbox{query}")
        assert (response.status_code, response.headers["location"]) == (307, target)


async def test_looking_changes_nothing() -> None:
    """A world that is looked at keeps its journal and its digest."""
    async with serving() as box:
        await box.send("420777000101")
        before = (await box.client.get(f"/_sandbox/worlds/{KEY}/digest")).json()
        length = len(box.runtime.worlds[KEY].world.journal)
        await box.page()
        assert (await box.client.get(f"/_sandbox/worlds/{KEY}/digest")).json() == before
        assert len(box.runtime.worlds[KEY].world.journal) == length


async def ask(box: Sandbox, what: str, **params: str) -> Any:
    response = await box.client.get(f"/_sandbox/{what}", params=params)
    return response.json()


async def test_control_answers_the_newest_only() -> None:
    """`last` of control keeps the order of everything else, oldest first."""
    async with serving() as box:
        for number in ("420777000101", "420777000201", "420777000301"):
            await box.send(number)
        await box.advance("0s")
        here = f"worlds/{KEY}"
        messages = (await ask(box, f"{here}/messages", last="2"))["messages"]
        assert [message["phone"] for message in messages] == ["420777000201", "420777000301"]
        assert [entry["n"] for entry in (await ask(box, f"{here}/journal", kind="request", last="1"))["entries"]] == [3]
        assert len((await ask(box, f"{here}/journal", last="3"))["entries"]) == 3
        assert (await ask(box, f"{here}/deliveries", last="0"))["deliveries"] == []
        assert (await ask(box, f"{here}/messages", last="-1"))["message"] == (
            "last: -1 is not legal; legal: 0 and more"
        )
        assert (await ask(box, f"{here}/messages", last="x"))["error"] == "bad_argument"


async def test_codes_of_a_world_are_shown() -> None:
    """A session shows its phone, its code and its state; a world without sessions has no such list."""
    async with serving() as sandbox:
        await sandbox.send("420777000101")
        assert "Codes" not in text_of(await sandbox.page())
        answer = await sandbox.client.post(
            "/v1/validations", json={"phoneNumber": "420777000199"}, headers={"x-api-key": KEY}
        )
        code = (await sandbox.client.get(f"/_sandbox/worlds/{KEY}/codes")).json()["codes"][0]
        shown = text_of(await sandbox.page())
        assert f"420777000199 SMS accepted {code['code']} pending 6 attempts left" in shown
        await sandbox.advance()
        token = answer.json()["token"]
        await sandbox.client.post(
            f"/v1/validations/{token}/verify", json={"code": code["code"]}, headers={"x-api-key": KEY}
        )
        assert "SMS delivered" in text_of(await sandbox.page())
        assert '<span class="badge good">verified</span>' in await sandbox.page()
