"""A store in a file of SQLite. The file belongs to one process at a time, which its lock ensures."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from sendbox.runtime.store.store import Change, StoreError
from sendbox.runtime.store.tables import COMMANDS, FORM, WORLDS, Tables

#: The mark of a file that has the tables.
APPLICATION: Final = 0x53454E44
_TYPES: Final = {"integer": "INTEGER", "bytes": "BLOB"}
_TABLES: Final = (
    WORLDS.format(**_TYPES),
    f"{COMMANDS.format(**_TYPES)} WITHOUT ROWID",
    "CREATE TABLE leases (world INTEGER PRIMARY KEY, owner TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORM}",
)
#: The names with which SQLite keeps nothing.
_UNNAMED: Final = ("", ":memory:")
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


class SqliteStore(Tables):
    """A store in the file `path`, which is made where it is missing. Raises `StoreError`.

    With `flush` a commit also outlasts the machine: it waits until the disk has it.
    """

    def __init__(self, path: str, *, flush: bool = True) -> None:
        self._path = path
        if path in _UNNAMED:
            raise StoreError(f"{path!r} is no file; give one that outlasts the server")
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

    def _execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _execute_many(self, statement: str, values: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(statement, values)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises `StoreError` in place of what SQLite raises."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code == sqlite3.SQLITE_IOERR and not os.access(self._path, os.W_OK):
                code = sqlite3.SQLITE_READONLY  # such a file cannot be locked
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

    def write(self, changes: Sequence[Change]) -> None:
        """Makes these changes in one commit. What they remove is overwritten in the file, and is in no log of it."""
        with self._explained():
            with self._commit():
                for change in changes:
                    self._write(change)
            if any(change.ended or change.lines is not None for change in changes):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Gives the file back."""
        with self._explained():
            self._connection.close()
