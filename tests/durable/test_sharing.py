"""Several processes share one database: any of them takes any call, and each world has one owner."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest

from sendbox.cli.outcome import Failure
from sendbox.cli.serve import RunningServer
from sendbox.engine import ENGINE
from sendbox.runtime.store import postgresql, sharing
from sendbox.runtime.store.sharing import MOVED, Elsewhere, Sharing
from sendbox.runtime.store.store import StoreError
from sendbox.runtime.teams import make_token, parse_quotas
from sendbox.server.handover import MOST_HOPS
from tests.box import KEY, WORLD
from tests.commands.sandbox import sandbox
from tests.durable.databases import Database
from tests.receivers import receiving

pytestmark = pytest.mark.asyncio
MESSAGE: dict[str, Any] = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}


class Pair:
    """Two processes with one database, and a client of each."""

    def __init__(self, servers: list[RunningServer], address: str) -> None:
        self.servers = servers
        self.address = address
        self.clients = [httpx.AsyncClient(base_url=server.origin, timeout=60) for server in servers]

    def sharing(self, number: int) -> Sharing:
        """The part of one process."""
        persistence = self.servers[number].runtime.persistence
        assert persistence is not None
        assert persistence.sharing is not None
        return persistence.sharing

    def owned(self, number: int) -> list[str]:
        """The worlds that one process has open."""
        return sorted(self.servers[number].runtime.worlds)

    async def send(self, number: int, key: str = KEY, **fields: Any) -> httpx.Response:
        """Sends a message at one process."""
        client = self.clients[number]
        return await client.post("/v2/message", json={**MESSAGE, **fields}, headers={"x-api-key": key})

    async def get(self, number: int, path: str, **more: Any) -> Any:
        """An answer of control at one process."""
        answer = await self.clients[number].get(path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def end_leases(self) -> None:
        """No process has renewed its lease in time."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("UPDATE sendbox.owners SET ends = clock_timestamp() - interval '1 s'")


@pytest.fixture(autouse=True)
def old_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease may end at once, though the server of the database has just started."""
    monkeypatch.setattr(postgresql, "_ENDED", "owners.ends < clock_timestamp()")


@pytest.fixture
def address(database: Database) -> str:
    """The address of an empty database."""
    return database.make()


@asynccontextmanager
async def pair(address: str, **settings: Any) -> AsyncIterator[Pair]:
    """Two processes until the context is left."""
    async with AsyncExitStack() as stack:
        given = {"data": address, "mode": "manual", **settings}
        both = Pair([await stack.enter_async_context(sandbox(**given)) for _ in range(2)], address)
        for client in both.clients:
            await stack.enter_async_context(client)
        yield both


async def test_any_process_takes_any_call(address: str) -> None:
    """Of clients, by key, form and link, and of control; the answer is that of the owner, with all its headers."""
    async with pair(address) as both:
        first, second = both.clients
        answer = await both.send(0)
        again = await both.send(1, body="x" * 200_000)
        assert (again.status_code, again.headers["sendbox-instance"]) == (200, answer.headers["sendbox-instance"])
        assert again.headers["sendbox-journal"].startswith(str(second.base_url).rstrip("/"))
        form = await second.post("/Send", data={"apikey": KEY, "number": "420777000101", "message": "Hello"})
        assert form.status_code == 200
        assert (await second.post("/v2/message", content=b"{", headers={"x-api-key": KEY})).status_code == 400
        assert (await second.post(f"{WORLD}/clock/advance", json={"by": "1m"})).json()["fired"] > 0
        assert len((await both.get(1, f"{WORLD}/messages"))["messages"]) == 3
        assert await both.get(0, f"{WORLD}/digest") == await both.get(1, f"{WORLD}/digest")
        assert (await second.post("/_sandbox/worlds", json={"id": KEY})).status_code == 409
        assert (await second.put(WORLD, json={})).status_code == 200
        assert (await second.get("/_sandbox/worlds/test-none")).status_code == 404
        address_of_upload = (await second.get("/v2/bulk/upload", headers={"x-api-key": KEY})).status_code
        assert address_of_upload < 500
        assert (both.owned(0), both.owned(1)) == ([KEY], [])
        assert await first.get("/s/nothing") is not None


async def test_long_polls_and_streams_are_handed_on(address: str) -> None:
    """They come piece by piece, and end where the client leaves."""
    async with pair(address) as both:
        await both.send(0)
        async with both.clients[1].stream("GET", f"{WORLD}/stream") as stream:
            lines = stream.aiter_lines()
            assert await anext(lines)
            polled = asyncio.create_task(both.clients[1].get(f"{WORLD}/messages?wait=30s&result=delivered"))
            await both.clients[0].post(f"{WORLD}/clock/advance", json={"by": "1m"})
            assert (await polled).json()["messages"]
            while "delivered" not in await anext(lines):
                pass


async def test_a_stream_of_worlds_is_that_of_their_process(address: str) -> None:
    """So the page of a world lives at any process; a stream of worlds that nobody has is served at once."""
    async with pair(address) as both:
        await both.send(0)
        for number, worlds, event in ((1, KEY, "clock"), (0, KEY, "clock"), (1, "test-none", "closed")):
            async with both.clients[number].stream("GET", f"/_sandbox/stream?worlds={worlds}") as stream:
                lines = stream.aiter_lines()
                while (line := await anext(lines)) not in ("event: clock", "event: closed"):
                    pass
                assert line == f"event: {event}"
        async with both.clients[1].stream("GET", f"/_sandbox/stream?worlds={KEY}") as stream:
            lines = stream.aiter_lines()
            while await anext(lines) != "event: clock":
                pass
            await both.send(0)
            while await anext(lines) != "event: entry":
                pass


async def test_lists_have_the_worlds_of_all(address: str) -> None:
    """In the order of their opening; numbers are of the database, and a prefix closes them in all processes."""
    async with pair(address) as both:
        for number in range(6):
            await both.send(number % 2, f"test-{number}")
        names = [f"test-{number}" for number in range(6)]
        for number in range(2):
            assert [world["id"] for world in (await both.get(number, "/_sandbox/worlds"))["worlds"]] == names
        drawn = (await both.clients[1].post("/_sandbox/worlds", json={})).json()["id"]
        assert (await both.get(0, f"/_sandbox/worlds/{drawn}"))["id"] == drawn
        closed = await both.clients[0].delete("/_sandbox/worlds?prefix=test-")
        assert closed.json() == {"closed": 7}
        assert (await both.clients[0].delete("/_sandbox/worlds?prefix=")).status_code == 400
        assert (await both.get(1, "/_sandbox/worlds"))["worlds"] == []


async def test_the_audit_and_the_refused_keys_are_those_of_all(address: str) -> None:
    """At every process, by their time; the caller of a call that was handed on is named before the process that did."""
    async with pair(address) as both:
        for number in range(4):
            name = f"test-{number}"
            await both.send(number % 2, name)
            await both.clients[1 - number % 2].post(f"/_sandbox/worlds/{name}/clock/advance", json={"by": "1m"})
            await both.send(number % 2, f"{number}-key-of-a-real-service")
        audits = [await both.get(number, "/_sandbox/audit") for number in range(2)]
        assert audits[0] == audits[1]
        calls = audits[0]["calls"]
        assert [call["world"] for call in calls] == [f"test-{number}" for number in range(4)]
        assert all(re.fullmatch(r"127\.0\.0\.1:\d+ by 127\.0\.0\.1:\d+", call["caller"]) for call in calls)
        assert (await both.get(0, "/_sandbox/audit?last=1"))["calls"] == calls[-1:]
        refused = [(await both.get(number, "/_sandbox/refused"))["refused"] for number in range(2)]
        assert [key["key"][0] for key in refused[0]] == list("0123")
        assert refused[0] == refused[1]
        assert (await both.clients[0].get("/_sandbox/audit?last=x")).status_code == 400
        both.sharing(1).close()
        await both.servers[1].server.stop()
        asking = asyncio.create_task(both.clients[0].get("/_sandbox/audit"))
        await both.sharing(0).pause()
        assert not asking.done()  # it is asked until its lease has ended
        both.end_leases()
        await both.sharing(0).renew()
        assert [call["world"] for call in (await asking).json()["calls"]] == ["test-0", "test-2"]
        assert (await both.clients[0].get("/_sandbox/refused?shard=1")).status_code == 421


async def test_a_closed_world_is_denied_everywhere(address: str) -> None:
    """Until it is opened again, at whichever process; then it is the newest."""
    async with pair(address) as both:
        await both.send(0)
        await both.send(0, "test-other")
        assert (await both.clients[1].delete(WORLD)).status_code == 200
        assert [(await both.send(number)).status_code for number in range(2)] == [400, 400]
        assert (await both.clients[1].post("/_sandbox/worlds", json={"id": KEY})).status_code == 201
        assert [(await both.send(number)).status_code for number in range(2)] == [200, 200]
        ids = [world["id"] for world in (await both.get(1, "/_sandbox/worlds"))["worlds"]]
        assert ids == ["test-other", KEY]


async def test_a_process_that_was_taken_for_dead_lets_go(address: str) -> None:
    """Another one goes on with its worlds; a call that it had begun has no answer, and it serves again."""
    async with pair(address) as both:
        await both.send(0)
        before = await both.get(0, f"{WORLD}/digest")
        both.sharing(0).close()  # it renews nothing
        both.end_leases()
        await both.sharing(1).renew()
        assert await both.get(1, f"{WORLD}/digest") == before
        late = await both.send(0, body="too late")
        assert (late.status_code, late.json()["Message"]) == (503, MOVED)
        assert both.owned(0) == []
        assert (await both.send(0, body="handed on")).status_code == 200
        messages = (await both.get(0, f"{WORLD}/messages"))["messages"]
        assert [message["body"] for message in messages] == ["Hello", "handed on"]
        assert both.owned(1) == [KEY]


async def test_a_stalled_process_answers_nothing_old(address: str) -> None:
    """One that was not running while its lease ended asks for it before it answers, though it has the world."""
    async with pair(address) as both:
        await both.send(0)
        both.sharing(0).close()
        both.end_leases()
        await both.sharing(1).renew()
        await both.send(1, body="news")
        both.sharing(0)._until = 0.0
        assert len((await both.get(0, f"{WORLD}/messages"))["messages"]) == 2
        assert both.owned(0) == []


async def test_a_process_that_is_gone_is_waited_for(address: str) -> None:
    """Until its lease has ended: then its worlds are taken over, and the calls answered."""
    async with pair(address) as both:
        await both.send(0)
        await both.send(0, "test-prefix-1")
        both.sharing(0).close()
        await both.servers[0].server.stop()
        closing = asyncio.create_task(both.clients[1].delete("/_sandbox/worlds?prefix=test-prefix-"))
        sending = asyncio.create_task(both.send(1))
        await both.sharing(1).pause()
        assert [task.done() for task in (sending, closing)] == [False, False]
        both.end_leases()
        await both.sharing(1).renew()
        assert (await closing).json() == {"closed": 1}
        assert (await sending).status_code == 200
        assert len((await both.get(1, f"{WORLD}/messages"))["messages"]) == 2


async def test_a_process_at_the_address_of_one_that_was_killed(address: str) -> None:
    """It does not take itself for that one: calls wait until the lease of that has ended."""
    async with pair(address) as both:
        await both.send(0)
        both.sharing(0).close()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("UPDATE sendbox.owners SET address = %s", (both.servers[1].origin,))
        sending = asyncio.create_task(both.send(1))
        for _ in range(MOST_HOPS):
            await both.sharing(1).pause()
        assert not sending.done()
        both.end_leases()
        await both.sharing(1).renew()
        assert (await sending).status_code == 200


async def test_a_process_that_leaves_gives_its_worlds_back(address: str) -> None:
    """Each once no call is at work in it. A call at another process waits for that; one that still comes goes there."""
    async with pair(address) as both:
        await both.send(0)
        await both.send(0, "test-busy")
        polling = asyncio.create_task(both.clients[0].get("/_sandbox/worlds/test-busy/messages?wait=30s&result=seen"))
        while not both.servers[0].runtime.worlds["test-busy"].waits:
            await asyncio.sleep(0)
        await both.sharing(0).leave()
        sending = asyncio.create_task(both.send(1))
        assert (await sending).status_code == 200
        assert (both.owned(0), both.owned(1)) == (["test-busy"], [KEY])
        assert len((await both.get(0, f"{WORLD}/messages"))["messages"]) == 2
        both.servers[0].runtime.leave()
        assert (await polling).status_code == 200
        assert (await both.send(1, "test-busy")).status_code == 200
        assert both.owned(1) == [KEY, "test-busy"]


async def test_a_process_that_hangs_is_given_up(address: str) -> None:
    """Once its lease has ended: what reads is asked of the next owner, everything else has no answer."""
    async with pair(address) as both:
        await both.send(0)
        hosted = both.servers[0].runtime.worlds[KEY]
        hosted.working = hanging = asyncio.get_running_loop().create_future()  # no call is answered any more
        sending = asyncio.create_task(both.send(1))
        reading = asyncio.create_task(both.get(1, f"{WORLD}/messages?wait=30s&result=delivered"))
        while len(both.sharing(1)._watched) < 2:
            await asyncio.sleep(0)
        both.sharing(0).close()
        both.end_leases()
        await both.sharing(1).renew()
        await both.sharing(1).balance_leases()
        with pytest.raises(httpx.TransportError):
            await sending
        while both.owned(1) != [KEY]:
            await asyncio.sleep(0)
        await both.clients[1].post(f"{WORLD}/clock/advance", json={"by": "1m"})
        assert len((await reading)["messages"]) == 1
        hosted.working = None
        hanging.set_result(None)


async def test_a_database_that_goes_during_the_start(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not start, and says why."""

    def fail(_store: object, _address: str) -> None:
        raise StoreError("it is gone")

    monkeypatch.setattr(postgresql.PostgresStore, "advertise", fail)
    with pytest.raises(Failure, match="it is gone"):
        async with sandbox(data=address):
            raise AssertionError("it was served")


async def test_a_running_clock_goes_on(address: str) -> None:
    """In another process, without being asked: a client that waits for a webhook calls nothing."""
    async with pair(address) as both:
        world = {"id": KEY, "clock": {"mode": "real"}}
        assert (await both.clients[0].post("/_sandbox/worlds", json=world)).status_code == 201
        await both.send(0)
        await both.send(0, "test-manual")
        await both.servers[0].runtime.aclose()
        await both.sharing(1).balance_leases()
        while both.owned(1) != [KEY]:
            await asyncio.sleep(0)


async def test_a_webhook_that_was_cut_off_comes_again(address: str) -> None:
    """In another process, without being asked, also where nothing else is due in its world."""
    hangs: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    async with receiving(lambda _: hangs) as receiver, pair(address, patience=60.0) as both:
        world = {"id": KEY, "clock": {"mode": "real"}}
        assert (await both.clients[0].post("/_sandbox/worlds", json=world)).status_code == 201
        await both.clients[0].post(f"{WORLD}/rules", json={"when": {}, "then": "sending"})
        await both.send(0, callback=receiver.url)
        while not receiver.calls:
            await asyncio.sleep(0)
        (listed,) = (await both.get(1, "/_sandbox/worlds"))["worlds"]
        assert (listed["clock"]["next_due"], listed["clock"]["webhooks"]) == (None, 1)
        await both.servers[0].runtime.aclose()
        await both.sharing(1).balance_leases()
        while len(receiver.calls) < 2:
            await asyncio.sleep(0)
        hangs.set_result(200)
        assert receiver.bodies[0] == receiver.bodies[1]


async def test_other_rules_are_of_another_process(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another engine does not keep a world that it cannot continue; it can close it."""
    async with pair(address) as both:
        for key in (KEY, "test-other"):
            await both.send(0, key)
        await both.servers[0].runtime.aclose()
        monkeypatch.setattr("sendbox.runtime.store.persistence.ENGINE", ENGINE + 1)
        assert (await both.clients[1].get(WORLD)).json()["error"] == "other_engine"
        assert len(both.sharing(1)) == 0
        assert (await both.clients[1].delete("/_sandbox/worlds/test-other")).status_code == 200
        monkeypatch.undo()
        monkeypatch.setattr(postgresql, "_ENDED", "owners.ends < clock_timestamp()")
        assert len((await both.get(1, f"{WORLD}/messages"))["messages"]) == 1


async def test_a_call_of_all_processes_that_fails_says_so(address: str) -> None:
    """Where another process, or the database, does not do its part."""
    async with pair(address) as both:
        await both.send(0)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ALTER TABLE sendbox.owners RENAME TO lost")
        for method, path, words in (
            ("DELETE", "/_sandbox/worlds?prefix=test-", "some may still be open"),
            ("GET", "/_sandbox/audit", "its rows are missing"),
            ("GET", "/_sandbox/refused", "its rows are missing"),
        ):
            refusal = await both.clients[1].request(method, path)
            assert (refusal.status_code, refusal.json()["error"]) == (503, "store_failed")
            assert words in refusal.json()["message"]


async def test_a_closing_that_another_process_refuses(address: str) -> None:
    """There the quota of calls may be used up, and here not."""
    team = make_token("team", "team", "0123456789abcdef", "test-")
    async with pair(address, control_tokens=(team,), quotas=parse_quotas(["test- calls=1"])) as both:
        await both.send(0)
        for client in both.clients:
            client.headers["authorization"] = "Bearer 0123456789abcdef"
        while (await both.clients[0].get("/_sandbox/worlds")).status_code != 429:
            pass
        refusal = await both.clients[1].delete("/_sandbox/worlds?prefix=test-")
        assert (refusal.status_code, refusal.json()["error"]) == (503, "store_failed")
        assert "some may still be open" in refusal.json()["message"]
        assert both.owned(0) == [KEY]


async def test_a_call_is_not_handed_on_for_ever(address: str) -> None:
    """One that was handed on too often is refused, and so is one whose count cannot be read."""
    async with pair(address) as both:
        await both.send(0)
        for hops in (str(MOST_HOPS), "many"):
            answer = await both.clients[1].get(WORLD, headers={"sendbox-hops": hops})
            assert (answer.status_code, answer.json()["error"]) == (503, "store_failed")


async def test_a_broken_answer_stays_broken(address: str) -> None:
    """What a fault does to a connection at the owner, a client of another process sees too."""
    async with pair(address) as both:
        for fault in ("disconnect", {"trickle": "10ms"}):
            rule = {"in": "api", "when": {"operation": "sendMessage"}, "fault": fault, "times": 1}
            await both.clients[0].put(WORLD, json={})
            assert (await both.clients[0].post(f"{WORLD}/rules", json=rule)).status_code == 201
            if fault == "disconnect":
                with pytest.raises(httpx.RemoteProtocolError):
                    await both.send(1)
            else:
                assert (await both.send(1)).status_code == 200


async def test_a_world_is_found_by_its_links(address: str) -> None:
    """At any process, in the store too."""
    async with pair(address) as both:
        bulk = {"to": [{"phone_number": "420777000101"}], "body": "See https://shop.example/a", "shorten_links": True}
        await both.clients[0].post("/v2/message", json=bulk, headers={"x-api-key": KEY})
        upload = await both.clients[1].get("/s/00000000000000000000")
        assert upload.status_code == 404
        tag = both.servers[0].runtime.worlds[KEY].world.tag
        assert await both.sharing(1).find(tag) == KEY
        with pytest.raises(Elsewhere, match=KEY):
            await both.servers[1].runtime.by_tag(f"{tag}0000")


async def test_a_commit_notices_that_the_lease_is_lost(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for all worlds; then the process takes a new lease by itself, and looks after the worlds of nobody."""
    monkeypatch.setattr(sharing, "LOOKS", 1)
    async with pair(address, world_ttl=3600.0) as both:
        await both.send(0)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DELETE FROM sendbox.owners")
        assert (await both.send(0)).status_code == 503
        assert (both.owned(0), both.sharing(0).losses) == ([], 1)
        await both.sharing(0).renew()
        await both.sharing(0).balance_leases()
        assert both.sharing(0).losses == 1
        assert (await both.send(0)).status_code == 200
        assert both.owned(0) == [KEY]


async def test_ids_without_a_world_are_given_back(address: str) -> None:
    """A call to a world that is not open does not tie its id to a process."""
    async with pair(address) as both:
        await both.clients[0].get("/_sandbox/worlds/test-none")
        assert len(both.sharing(0)) == 1
        for _ in range(2):
            await both.sharing(0).release()
        assert len(both.sharing(0)) == 0
        await both.send(1, "test-none")
        assert both.owned(1) == ["test-none"]
