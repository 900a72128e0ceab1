"""A store that cannot be used: one clear error, and nothing is served that could be lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from sendbox.cli.outcome import CANNOT, Failure
from sendbox.cli.serve import serving
from sendbox.runtime.store import open_store, persistence
from sendbox.runtime.store.postgresql import PostgresStore
from sendbox.runtime.store.sqlite import APPLICATION, SqliteStore
from sendbox.runtime.store.store import StoreError
from sendbox.runtime.teams import Token, parse_quotas
from tests.box import KEY, ORIGIN, WORLD, Box, boxed
from tests.commands.sandbox import options, sandbox
from tests.durable.databases import Database
from tests.durable.files import listed, stored


def garbage(file: Path) -> None:
    file.write_bytes(b"no database at all" * 100)


def foreign(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE mine (a)")
    connection.close()


def newer(file: Path) -> None:
    SqliteStore(str(file)).close()
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def homeless(file: Path) -> None:
    file.mkdir()


def torn(file: Path) -> None:
    SqliteStore(str(file)).close()
    data = bytearray(file.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    file.write_bytes(data)


def scribbled(file: Path) -> None:
    SqliteStore(str(file)).close()
    connection = sqlite3.connect(file)
    connection.execute("INSERT INTO worlds VALUES (1, 'test-a', 1, '0', 0, '{', '{}')")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (garbage, "is not a store of Sendbox; give another file"),
        (foreign, "is a database of another program; give another file"),
        (newer, "is a store of form 99, and this version reads form 1; start a newer version"),
        (homeless, "cannot be opened; its folder must exist, and must be writable"),
        (scribbled, "is damaged; give a copy of it, or a new file"),
        (torn, "is damaged; give a copy of it, or a new file"),
    ],
)
def test_a_file_that_is_no_store(make: object, why: str, tmp_path: Path) -> None:
    """The server does not start; the message names the option and the file."""
    file = tmp_path / "a.db"
    assert callable(make)
    make(file)

    async def start() -> None:
        async with serving(options(data=str(file))):
            raise AssertionError("it was served")

    with pytest.raises(Failure) as failure:
        asyncio.run(start())
    assert failure.value.code == CANNOT
    assert failure.value.message.startswith(f"{file} {why}")


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_a_name_that_is_no_file(name: str) -> None:
    """With which SQLite would keep nothing."""
    with pytest.raises(StoreError, match="is no file; give one that outlasts the server"):
        SqliteStore(name)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o666, 0o555)])
def test_a_file_that_is_read_only(file_mode: int, folder_mode: int) -> None:
    """Or one in a folder that is; root may write all, so it becomes another user meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.db"
        SqliteStore(str(file)).close()
        file.chmod(file_mode)
        Path(folder).chmod(folder_mode)
        user = os.geteuid()
        other = user or 65534
        os.setresuid(other, other, user)
        try:
            with pytest.raises(StoreError, match=r"a\.db cannot be written; make the file and its folder writable"):
                SqliteStore(str(file))
        finally:
            os.setresuid(user, user, user)
            Path(folder).chmod(0o777)


def newer_tables(address: str) -> None:
    PostgresStore(address).close()
    _changed(address, "UPDATE sendbox.store SET form = 99")


def foreign_schema(address: str) -> None:
    _changed(address, "CREATE SCHEMA sendbox", "CREATE TABLE sendbox.mine (a TEXT)")


def scribbled_rows(address: str) -> None:
    PostgresStore(address).close()
    _changed(address, "INSERT INTO sendbox.worlds VALUES (1, 'test-a', 1, '0', 0, '{', '{}')")


def read_only(address: str) -> None:
    _changed(address, f"ALTER DATABASE {_name(address)} SET default_transaction_read_only = on")


def _name(address: str) -> str:
    return address.partition("@/")[2].partition("?")[0]


def _changed(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("make", "user", "why"),
    [
        (newer_tables, "sendbox", "is a store of form 99, and this version reads form 1; start a newer version"),
        (foreign_schema, "sendbox", "has a schema sendbox of another program; give another database"),
        (scribbled_rows, "sendbox", "is damaged; give a copy of it, or a new database"),
        (read_only, "sendbox", "cannot be written; give a database that takes writes"),
        (len, "stranger", "may not be used by this user; grant it CREATE on the database"),
        (len, "nobody:s3cret", "cannot be reached; start it, or give another address, user or password"),
    ],
)
def test_a_database_that_is_no_store(make: Callable[[str], object], user: str, why: str, database: Database) -> None:
    """The server does not start; the message names the database, and no password."""
    address = database.make()
    with database.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS stranger")
        connection.execute("CREATE ROLE stranger LOGIN")
    make(address)
    with pytest.raises(StoreError) as refusal, closing(PostgresStore(address.replace("sendbox@", f"{user}@"))) as store:
        store.worlds()
    shown = f"postgresql://{user.partition(':')[0]}@{database.folder}/{_name(address)}"
    assert str(refusal.value).startswith(f"{shown} {why}")
    assert "s3cret" not in str(refusal.value)


def test_an_address_that_is_none() -> None:
    """It is not repeated, because it may have a password."""
    with pytest.raises(StoreError, match="legal: postgresql://USER@HOST:PORT/DATABASE") as refusal:
        open_store("postgresql://me:s3cret@host/db?nonsense=1")
    assert "s3cret" not in str(refusal.value)


def test_a_database_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it."""
    monkeypatch.delitem(sys.modules, "sendbox.runtime.store.postgresql", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'sendbox\[postgresql\]'"):
        open_store("postgresql://host/db")


@pytest.mark.asyncio
async def test_a_database_that_is_down(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls are refused until it is there again; nothing is missing then. One lost connection is made again."""
    monkeypatch.setattr(persistence, "PERIOD", 0.0)
    address = database.make()
    async with boxed("default", store=PostgresStore(address, flush=False)) as box:
        await box.send()
        _changed(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        await box.send()
        await asyncio.to_thread(database.stop)
        message = {"to": [{"phone_number": "420777000102"}], "body": "Hello"}
        assert (await box.post("/v2/message", message, x_api_key=KEY)).status == 503
        sharing = box.runtime.persistence.sharing if box.runtime.persistence is not None else None
        assert sharing is not None
        await sharing.renew()
        assert (await box.get("/_sandbox/health")).json["error"] == "store_failed"
        assert (await box.get("/_sandbox/worlds")).status == 503
        await asyncio.to_thread(database.start)
        await box.runtime.persist(box.runtime.worlds[KEY])
        assert (await box.get("/_sandbox/health")).status == 200
        await box.send()
        before = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert len(before) >= 3  # the refused one too, unless a renewal of the lease had failed before it came
    async with boxed("default", store=PostgresStore(address)) as box:
        assert (await box.get(f"{WORLD}/messages")).json["messages"] == before


@pytest.mark.unmeasured
def test_a_file_that_is_in_use(tmp_path: Path) -> None:
    """One process has it at a time; it is free once that has ended."""
    file = str(tmp_path / "a.db")
    store = SqliteStore(file)
    with pytest.raises(StoreError, match="is in use by another process; stop that, or give another file"):
        SqliteStore(file)
    assert store.take_lease("one") == "one"
    store.close()
    assert SqliteStore(file).take_lease("two") == "one"


@contextmanager
def broken(kept: Any, *, full: bool) -> Iterator[None]:
    """A disk on which nothing more can be written."""
    store = kept._store
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    limit, readonly = ("max_page_count", pages), ("query_only", 1)
    store._connection.execute("PRAGMA {} = {}".format(*(limit if full else readonly)))
    yield
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store._connection.execute("PRAGMA query_only = 0")


@pytest.mark.asyncio
@pytest.mark.parametrize("full", [True, False])
async def test_a_store_that_takes_nothing(full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls are refused until it takes what it did not; then nothing of it is missing."""
    monkeypatch.setattr(persistence, "PERIOD", 0.0)
    why = "is full; make room on its disk" if full else "cannot be written; make the file and its folder writable"
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        with broken(box.runtime.persistence, full=full):
            message = {"to": [{"phone_number": "420777000102"}], "body": "x" * 60_000}
            first = await box.post("/v2/message", message, x_api_key=KEY)
            assert first.status == 503
            assert why in first.json["Message"]
            assert why in (await box.post("/v2/message", message, x_api_key=KEY)).json["Message"]
            answer = await box.get(WORLD)
            assert (answer.status, answer.json["error"]) == (503, "store_failed")
            health = await box.get("/_sandbox/health")
            assert (health.status, health.json["error"], health.json["status"]) == (503, "store_failed", "failed")
            assert (await box.get("/_sandbox/health?store=true")).body == health.body
            assert (await box.get("/_sandbox/health?store=false")).json["status"] == "failed"
            assert health.json["worlds"] == 1
            assert "sendbox-instance" in answer.headers
            sent = asyncio.create_task(box.runtime.persist(box.runtime.worlds[KEY]))
            await asyncio.sleep(0)
        await sent
        assert (await box.get("/_sandbox/health")).status == 200
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 2
        texts = [message for world, message in box.log if world == ""]
        assert [text[:47] for text in texts] == [
            "nothing is served until the store can be writte",
            "the store can be written again",
        ]
    async with stored(tmp_path / "a.db") as box:
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 2


@pytest.mark.asyncio
async def test_a_store_that_fails_to_the_end(tmp_path: Path) -> None:
    """A server that can write nothing any more ends all the same."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        broken(box.runtime.persistence, full=False).__enter__()
        assert (await box.post("/v2/message", {"to": []}, x_api_key=KEY)).status == 503
        assert (await box.get("/nowhere")).json["error"] == "store_failed"
    async with stored(tmp_path / "a.db") as box:
        assert [world["messages"] for world in await listed(box)] == [1]


@pytest.mark.unmeasured
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("statement", "error", "why"),
    [
        ("DELETE FROM commands WHERE number = 1", "unreadable", "1 of 2 commands are there; the store is damaged"),
        ("UPDATE commands SET command = '{' WHERE number = 1", "unreadable", "it is damaged: command 1"),
        ("UPDATE worlds SET opened = '{'", "unreadable", "it is damaged: command 0"),
        (
            """UPDATE commands SET command = replace(command, '"ticks":0', '"ticks":7') WHERE number = 1""",
            "diverged",
            "the record in the store makes another world here",
        ),
    ],
)
async def test_a_damaged_record(statement: str, error: str, why: str, tmp_path: Path) -> None:
    """A world that cannot be made again is refused, and the others are served."""
    file = tmp_path / "a.db"
    async with stored(file) as box:
        await box.send()
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()
    async with stored(file) as box:
        answer = await box.get(WORLD)
        assert (answer.status, answer.json["error"]) == (503, error)
        assert why in answer.json["message"]
        assert why in (await box.post("/v2/message", {"to": []}, x_api_key=KEY)).json["Message"]
        assert (await box.get("/v2/nothing", x_api_key=KEY)).status == 404
        assert box.runtime.refused[-1].path == "/v2/nothing"
        await box.send(key="test-other")


@pytest.mark.asyncio
async def test_no_room_for_a_stored_world(tmp_path: Path) -> None:
    """Stored worlds count for --max-worlds, so each of them can be made again, unless there are fewer now."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
        await box.send(key="test-2")
    async with stored(tmp_path / "a.db", max_worlds=2) as box:
        assert (await box.post("/v2/message", {}, x_api_key="test-3")).status == 503
        assert (await box.put("/_sandbox/worlds/test-3")).json["error"] == "too_many_worlds"
        await box.send()
        await box.send(key="test-2")
    async with stored(tmp_path / "a.db", max_worlds=1) as box:
        await box.send()
        assert (await box.get("/_sandbox/worlds/test-2")).json["error"] == "too_many_worlds"


@pytest.mark.asyncio
async def test_quotas_count_stored_worlds(tmp_path: Path) -> None:
    """Their messages and entries too; one that was made again, or closed, is not counted twice."""
    quotas = parse_quotas(["test- worlds=2 messages=9 memory=1MB"])
    team = Token("mine", "team", "test-")

    async def read_use(box: Box) -> list[int]:
        holder = await box.app.control.do(ORIGIN, box.app.control.served.by_name["token"], token=team)
        return [holder["quota"][name]["used"] for name in ("worlds", "messages")]

    async with stored(tmp_path / "a.db") as box:
        await box.send("420777000101", "420777000102")
        await box.send(key="test-2")
    async with stored(tmp_path / "a.db", quotas=quotas) as box:
        assert await read_use(box) == [2, 3]
        assert (await box.put("/_sandbox/worlds/test-3")).status == 429
        await box.send()
        assert await read_use(box) == [2, 4]
        await box.delete("/_sandbox/worlds/test-2")
        assert await read_use(box) == [1, 3]
        assert (await box.put("/_sandbox/worlds/test-3")).status == 201


@pytest.mark.asyncio
async def test_counts_of_worlds_begin_with_the_process(tmp_path: Path) -> None:
    """Numbers of worlds go on, counters begin at 0; a stored world that is closed is counted."""
    async with stored(tmp_path / "a.db") as box:
        await box.send()
    async with stored(tmp_path / "a.db") as box:
        await box.send(key="test-2")
        assert b"\nsendbox_stored_worlds 1.0\n" in (await box.get("/metrics")).body
        await box.delete(WORLD)
        lines = (await box.get("/metrics")).body.decode().splitlines()
        assert {"sendbox_worlds_opened_total 1.0", "sendbox_worlds_closed_total 1.0"} <= {*lines}
        assert "sendbox_stored_worlds 0.0" in lines
        assert [world.number for world in box.runtime.worlds.values()] == [2]


@pytest.mark.asyncio
async def test_a_server_without_a_store() -> None:
    """Its worlds end with it, and no answer waits."""
    async with boxed() as box:
        assert box.runtime.persistence is None
        await box.send()
    assert int.from_bytes(b"SEND") == APPLICATION


@pytest.mark.asyncio
async def test_an_answer_at_once_waits_for_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a connection too; it becomes a refusal where the commit fails, and nothing where its client has left."""
    monkeypatch.setattr(persistence, "PERIOD", 0.0)
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}
    async with sandbox(data=str(tmp_path / "a.db"), mode="manual") as served:
        kept = served.runtime.persistence
        assert kept is not None
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}, timeout=60) as client:
            assert (await client.post("/v2/message", json=message)).status_code == 200
            assert [count for count, *_ in rows(kept, "SELECT count(*) FROM commands")] == [2]
            with broken(kept, full=False):
                answer = await client.post("/v2/message", json=message)
                assert (answer.status_code, list(answer.json())) == (503, ["Message"])
            await kept.persist()
            hosted = served.runtime.worlds[KEY]
            leaving = asyncio.create_task(client.post("/v2/message", json=message))
            while len(hosted.world.record) < 4:
                await asyncio.sleep(0)
        leaving.cancel()


def rows(kept: Any, statement: str) -> list[Any]:
    """What the store has."""
    values: list[Any] = kept._store._connection.execute(statement).fetchall()
    return values
