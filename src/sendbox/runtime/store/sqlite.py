"""A store in a file of SQLite. The file belongs to one process at a time, which its lock ensures."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from sendbox.runtime.store.store import Change, Facts, StoredWorld, StoreError

#: The form of the tables, and the mark of a file that has them.
FORM: Final = 1
APPLICATION: Final = 0x53454E44
_TABLES: Final = (
    """CREATE TABLE worlds (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL, version TEXT NOT NULL,
        used INTEGER NOT NULL, facts BLOB NOT NULL, opened BLOB NOT NULL)""",
    """CREATE TABLE commands (
        world INTEGER NOT NULL, line INTEGER NOT NULL, number INTEGER NOT NULL, command BLOB NOT NULL,
        PRIMARY KEY (world, line, number)) WITHOUT ROWID""",
    "CREATE TABLE leases (world INTEGER PRIMARY KEY, owner TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORM}",
)
#: The row of `leases` that stands for all worlds.
_ALL: Final = 0
#: What is wrong, and what to do, by the primary code of an error.
_REASONS: Final = {
    sqlite3.SQLITE_NOTADB: "is not a store of Sendbox; give another file",
    sqlite3.SQLITE_CORRUPT: "is damaged; give a copy of it, or a new file",
    sqlite3.SQLITE_READONLY: "cannot be written; make the file and its folder writable",
    sqlite3.SQLITE_FULL: "is full; make room on its disk",
    sqlite3.SQLITE_BUSY: "is in use by another process; stop that, or give another file",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; its folder must exist, and must be writable",
}


class SqliteStore:
    """A store in the file `path`, which is made where it is missing. Raises `StoreError`.

    With `flush` a commit also outlasts the machine: it waits until the disk has it.
    """

    def __init__(self, path: str, *, flush: bool = True) -> None:
        self._path = path
        with self._explained():
            self._connection = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
        try:
            with self._explained():
                self._open(flush=flush)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, *, flush: bool) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = WAL")
        execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
        execute("PRAGMA secure_delete = ON")
        (form,) = execute("PRAGMA user_version").fetchone()
        (application,) = execute("PRAGMA application_id").fetchone()
        if form > FORM and application == APPLICATION:
            raise StoreError(
                f"{self._path} is a store of form {form}, and this version reads form {FORM}; start a newer version"
            )
        if application != APPLICATION:
            if execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
                raise StoreError(f"{self._path} is a database of another program; give another file")
            with self._commit():
                for statement in _TABLES:
                    execute(statement)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises `StoreError` in place of what SQLite raises."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            raise StoreError(f"{self._path} {_REASONS.get(code, 'cannot be used')} ({error})") from error
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self._path} {_REASONS[sqlite3.SQLITE_CORRUPT]} ({error})") from error

    @contextlib.contextmanager
    def _commit(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def take_lease(self, owner: str) -> str:
        """Makes this process the owner of the worlds; returns the name that the store has had since it was made."""
        with self._explained(), self._commit():
            execute = self._connection.execute
            execute("INSERT INTO leases VALUES (?, ?) ON CONFLICT DO UPDATE SET owner = owner", (_ALL, owner))
            name: str = execute("SELECT owner FROM leases WHERE world = ?", (_ALL,)).fetchone()[0]
            return name

    def worlds(self) -> list[StoredWorld]:
        """The worlds, in the order of their numbers."""
        with self._explained():
            rows = self._connection.execute(
                "SELECT number, id, engine, version, used, facts FROM worlds ORDER BY number"
            )
            decode = msgspec.json.Decoder(Facts).decode
            return [
                StoredWorld(number, world_id, engine, version, used, decode(facts))
                for number, world_id, engine, version, used, facts in rows
            ]

    def record(self, number: int) -> tuple[bytes, dict[int, list[bytes]]]:
        """The command with which a world was opened, and its lines."""
        with self._explained():
            execute = self._connection.execute
            opened: bytes = execute("SELECT opened FROM worlds WHERE number = ?", (number,)).fetchone()[0]
            lines: dict[int, list[bytes]] = {}
            rows = execute("SELECT line, command FROM commands WHERE world = ? ORDER BY line, number", (number,))
            for line, command in rows:
                lines.setdefault(line, []).append(command)
            return opened, lines

    def write(self, changes: Sequence[Change]) -> None:
        """Makes these changes in one commit. What they remove is overwritten in the file, and is in no log of it."""
        with self._explained():
            with self._commit():
                for change in changes:
                    self._write(change)
            if any(change.ended or change.lines is not None for change in changes):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _write(self, change: Change) -> None:
        execute, world, number = self._connection.execute, change.world, change.world.number
        if change.ended:
            execute("DELETE FROM commands WHERE world = ?", (number,))
            execute("DELETE FROM worlds WHERE number = ?", (number,))
            return
        if change.copied is not None:
            execute(
                "INSERT INTO commands SELECT world, ?, number, command FROM commands "
                "WHERE world = ? AND line = ? AND number < ?",
                (change.parts[0].line, number, *change.copied),
            )
        if change.lines is not None:
            kept = ", ".join(map(str, change.lines))
            execute(f"DELETE FROM commands WHERE world = ? AND line NOT IN ({kept})", (number,))
        row = (world.engine, world.version, world.used, msgspec.json.encode(world.facts))
        if change.opened is not None:
            execute(
                "INSERT OR REPLACE INTO worlds VALUES (?, ?, ?, ?, ?, ?, ?)", (number, world.id, *row, change.opened)
            )
        else:
            execute("UPDATE worlds SET engine = ?, version = ?, used = ?, facts = ? WHERE number = ?", (*row, number))
        for part in change.parts:
            self._connection.executemany(
                "INSERT OR REPLACE INTO commands VALUES (?, ?, ?, ?)",
                ((number, part.line, place, command) for place, command in enumerate(part.commands, part.first)),
            )

    def close(self) -> None:
        """Gives the file back."""
        with self._explained():
            self._connection.close()
