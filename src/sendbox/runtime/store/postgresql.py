"""A store in a database of PostgreSQL, which many processes share.

Its tables are in the schema `sendbox`. A process is a row of `owners`, a world that it has claimed one of `leases`. The
row of a process whose lease has ended is deleted by whoever asks for one of its worlds, and all its leases go with
it. A commit holds on to the row of its process, so it comes whole before that, or not at all. Times are those of the
database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
import psycopg
from psycopg import conninfo, errors

from sendbox.runtime.store.store import LEASE, Change, Claim, LeaseLost, StoredWorld, StoreError
from sendbox.runtime.store.tables import COLUMNS, COMMANDS, FORM, WORLDS, Tables, world_of

P = ParamSpec("P")
T = TypeVar("T")
#: Seconds in which the database must answer, else its connection is given up.
PATIENCE: Final = 5
_LOCK: Final = 0x53454E44
_TYPES: Final = {"integer": "BIGINT", "bytes": "BYTEA"}
_TABLES: Final = (
    "CREATE TABLE store (form BIGINT NOT NULL, name TEXT NOT NULL)",
    WORLDS.format(**_TYPES),
    "ALTER TABLE worlds ADD COLUMN tag TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX worlds_by_tag ON worlds (tag)",
    COMMANDS.format(**_TYPES),
    "CREATE TABLE owners (name TEXT PRIMARY KEY, address TEXT, leaving BOOLEAN NOT NULL, ends TIMESTAMPTZ NOT NULL)",
    "CREATE TABLE leases (id TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES owners ON DELETE CASCADE)",
    "CREATE INDEX leases_by_owner ON leases (owner)",
    "CREATE SEQUENCE numbers",
)
#: The end of a lease that is renewed now; and when it has ended: nobody can renew one while the database is down.
_ENDS: Final = f"clock_timestamp() + interval '{LEASE} s'"
_ENDED: Final = (
    f"owners.ends < clock_timestamp() AND pg_postmaster_start_time() < clock_timestamp() - interval '{LEASE} s'"
)
_FREE: Final = "NOT EXISTS (SELECT 1 FROM leases WHERE leases.id = worlds.id)"
#: What is wrong, and what to do, by the kind of an error.
_REASONS: Final = (
    (errors.InsufficientPrivilege, "may not be used by this user; grant it CREATE on the database"),
    (errors.DiskFull, "is full; make room on its disk"),
    (errors.ReadOnlySqlTransaction, "cannot be written; give a database that takes writes"),
    (psycopg.OperationalError, "cannot be reached; start it, or give another address, user or password"),
)


def _kept(method: Callable[Concatenate[PostgresStore, P], T]) -> Callable[Concatenate[PostgresStore, P], T]:
    """A method in one transaction; made again once over a new connection where the connection is found broken."""

    def keep(self: PostgresStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._explained():
            try:
                with self._connected().transaction():
                    return method(self, *args, **kwargs)
            except psycopg.OperationalError:
                if self._connection is not None and not self._connection.closed:
                    raise
            with self._connected().transaction():
                return method(self, *args, **kwargs)

    return keep


class PostgresStore(Tables):
    """A store at an address `postgresql://…`. Raises `StoreError`, whose text has no password.

    With `flush` a commit also outlasts the machine of the database.
    """

    def __init__(self, address: str, *, flush: bool = True) -> None:
        self._address = address
        self._flush = flush
        self._connection: psycopg.Connection[Any] | None = None
        self._owner = ""
        self._masked_address = _without_secrets(address)
        try:
            self._open()
        except StoreError:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        """The connection, made anew where it is broken."""
        if self._connection is None or self._connection.closed:
            connection: psycopg.Connection[Any] = psycopg.connect(
                self._address, connect_timeout=PATIENCE, autocommit=True, tcp_user_timeout=PATIENCE * 1000
            )
            connection.execute("SET search_path TO sendbox")
            connection.execute(f"SET idle_in_transaction_session_timeout = '{PATIENCE}s'")
            if not self._flush:
                connection.execute("SET synchronous_commit = off")
            self._connection = connection
        return self._connection

    @_kept
    def _open(self) -> None:
        execute = self._execute
        self._first("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
        names = {name for (name,) in execute("SELECT tablename FROM pg_tables WHERE schemaname = 'sendbox'")}
        if not names:
            execute("CREATE SCHEMA IF NOT EXISTS sendbox")
            for statement in _TABLES:
                execute(statement)
            execute("INSERT INTO store VALUES (?, '')", (FORM,))
        elif "store" not in names:
            raise StoreError(f"{self._masked_address} has a schema sendbox of another program; give another database")
        (form,) = self._first("SELECT form FROM store")
        if form > FORM:
            text = f"is a store of form {form}, and this version reads form {FORM}; start a newer version"
            raise StoreError(f"{self._masked_address} {text}")

    def _execute(self, statement: str, values: Sequence[object] = ()) -> psycopg.Cursor[Any]:
        assert self._connection is not None
        return self._connection.execute(statement.replace("?", "%s").encode(), values or None)

    def _execute_many(self, statement: str, values: Iterable[Sequence[object]]) -> None:
        assert self._connection is not None
        self._connection.cursor().executemany(statement.replace("?", "%s").encode(), values)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises `StoreError` in place of what the database raises."""
        try:
            yield
        except errors.ForeignKeyViolation:
            raise LeaseLost(f"{self._masked_address} has no lease of this process any more") from None
        except psycopg.Error as error:
            reasons = (reason for kind, reason in _REASONS if isinstance(error, kind))
            why = " ".join(str(error).split("\n")[0].split())
            raise StoreError(f"{self._masked_address} {next(reasons, 'cannot be used')} ({why})") from error
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"{self._masked_address} is damaged; give a copy of it, or a new database ({error})"
            ) from error

    # -- the worlds

    @_kept
    def worlds(self) -> list[StoredWorld]:
        """The worlds, in the order of their numbers."""
        return super().worlds()

    @_kept
    def record(self, number: int) -> tuple[bytes, dict[int, list[bytes]]]:
        """The command with which a world was opened, and its lines."""
        return super().record(number)

    @_kept
    def write(self, changes: Sequence[Change]) -> None:
        """Makes these changes in one commit. Raises `LeaseLost` if this process is no owner any more."""
        if self._first("SELECT 1 FROM owners WHERE name = ? FOR KEY SHARE", (self._owner,)) is None:
            raise LeaseLost(f"{self._masked_address} has no lease of this process any more")
        for change in changes:
            self._write(change)

    def _write_world(self, world: StoredWorld, opened: bytes | None) -> None:
        super()._write_world(world, opened)
        if opened is not None:
            self._execute("UPDATE worlds SET tag = ? WHERE number = ?", (world.facts.tag, world.number))

    @_kept
    def find(self, tag: str) -> str | None:
        """The id of the world with a tag."""
        row = self._first("SELECT id FROM worlds WHERE tag = ?", (tag,))
        return None if row is None else str(row[0])

    # -- their owners

    @_kept
    def take_lease(self, owner: str) -> str:
        """Makes this process one that may own worlds; returns the name that the store has had since it was made."""
        execute, self._owner = self._execute, owner
        execute("UPDATE store SET name = ? WHERE name = ''", (owner,))
        execute(f"INSERT INTO owners VALUES (?, NULL, FALSE, {_ENDS}) ON CONFLICT DO NOTHING", (owner,))
        name: str = self._first("SELECT name FROM store")[0]
        return name

    @_kept
    def advertise(self, address: str) -> None:
        """Says where this process is called by others."""
        self._execute("UPDATE owners SET address = ? WHERE name = ?", (address, self._owner))

    @_kept
    def renew(self) -> None:
        """Makes the lease of this process last `LEASE` seconds from now. Raises `LeaseLost`."""
        if not self._execute(f"UPDATE owners SET ends = {_ENDS} WHERE name = ?", (self._owner,)).rowcount:
            raise LeaseLost(f"{self._masked_address} has no lease of this process any more")

    @_kept
    def claim(self, world_id: str) -> Claim:
        """Makes this process the owner of a world that no living process has. Raises `LeaseLost`."""
        claim = self._claim(world_id)
        if claim is None:
            self._execute(
                f"DELETE FROM owners USING leases WHERE leases.id = ? AND owners.name = leases.owner AND {_ENDED}",
                (world_id,),
            )
            insertion = "INSERT INTO leases (id, owner) VALUES (?, ?) ON CONFLICT DO NOTHING"
            self._execute(insertion, (world_id, self._owner))
            claim = self._claim(world_id, ended=True)
        return Claim(leaving=True, address="") if claim is None else claim

    def _claim(self, world_id: str, *, ended: bool = False) -> Claim | None:
        """The owner of a world, None if it has none; with `ended` also one whose lease has ended."""
        row = self._first(
            f"SELECT name, address, leaving, {_ENDED} FROM leases JOIN owners ON name = owner WHERE leases.id = ?",
            (world_id,),
        )
        if row is None:
            return None
        name, address, leaving, has_ended = row
        if name != self._owner:
            return None if has_ended and not ended else Claim(address or "", leaving or not address)
        world = self._first(f"SELECT {COLUMNS} FROM worlds WHERE id = ?", (world_id,))
        if world is not None:
            return Claim(number=world[0], world=world_of(world))
        return Claim(number=self._first("SELECT nextval('numbers')")[0])

    def _end_owners(self) -> None:
        """Deletes the other processes whose leases have ended, and with each its leases."""
        self._execute(f"DELETE FROM owners WHERE {_ENDED} AND name <> ?", (self._owner,))

    @_kept
    def orphans(self, used_after: int) -> list[StoredWorld]:
        """The worlds that no living process has, and that were last used after an instant."""
        self._end_owners()
        statement = f"SELECT {COLUMNS} FROM worlds WHERE used > ? AND {_FREE} ORDER BY number"
        return [world_of(row) for row in self._execute(statement, (used_after,))]

    @_kept
    def claim_many(self, prefix: str, used_before: int | None = None) -> list[StoredWorld]:
        """Makes this process the owner of all worlds that no living process has, and whose ids begin so."""
        self._end_owners()
        used = "" if used_before is None else f"AND used < {used_before}"
        rows = self._execute(
            f"INSERT INTO leases (id, owner) SELECT id, ? FROM worlds WHERE starts_with(id, ?) AND {_FREE} {used} "
            "ORDER BY id ON CONFLICT DO NOTHING RETURNING id",
            (self._owner, prefix),
        )
        claimed = [world_id for (world_id,) in rows]
        statement = f"SELECT {COLUMNS} FROM worlds WHERE id = ANY(?) ORDER BY number"
        return [world_of(row) for row in self._execute(statement, (claimed,))]

    @_kept
    def release(self, world_ids: Sequence[str]) -> None:
        """Gives worlds back."""
        self._execute("DELETE FROM leases WHERE owner = ? AND id = ANY(?)", (self._owner, list(world_ids)))

    @_kept
    def others(self) -> list[str]:
        """The addresses of the other living processes."""
        statement = f"SELECT address FROM owners WHERE name <> ? AND address IS NOT NULL AND NOT ({_ENDED})"
        return [address for (address,) in self._execute(statement, (self._owner,))]

    @_kept
    def leave(self) -> None:
        """Says that this process takes no calls any more."""
        self._execute("UPDATE owners SET leaving = TRUE WHERE name = ?", (self._owner,))

    def close(self) -> None:
        """Gives all worlds back."""
        with contextlib.suppress(StoreError):
            self._resign()
        self._disconnect()

    @_kept
    def _resign(self) -> None:
        self._execute("DELETE FROM owners WHERE name = ?", (self._owner,))


def _without_secrets(address: str) -> str:
    """An address without its password, and without options. Raises `StoreError` if it is none."""
    try:
        parts = conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        raise StoreError("the address of --data cannot be read; legal: postgresql://USER@HOST:PORT/DATABASE") from None
    user = f"{parts['user']}@" if "user" in parts else ""
    host = ":".join(str(parts[name]) for name in ("host", "port") if name in parts)
    return f"postgresql://{user}{host}/{parts.get('dbname', '')}"
