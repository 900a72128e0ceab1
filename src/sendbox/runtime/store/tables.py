"""Tables: the rows of worlds and commands in a database of SQL, read and written the same way in each.

A kind of database brings its connection and its errors. Statements have `?` for a value, and words in braces for types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import msgspec

from sendbox.runtime.store.store import Change, Facts, StoredWorld

#: The form of the tables.
FORM: Final = 1
WORLDS: Final = """CREATE TABLE worlds (
    number {integer} PRIMARY KEY, id TEXT NOT NULL UNIQUE, engine {integer} NOT NULL, version TEXT NOT NULL,
    used {integer} NOT NULL, facts {bytes} NOT NULL, opened {bytes} NOT NULL)"""
COMMANDS: Final = """CREATE TABLE commands (
    world {integer} NOT NULL, line {integer} NOT NULL, number {integer} NOT NULL, command {bytes} NOT NULL,
    PRIMARY KEY (world, line, number))"""
#: The columns of a `StoredWorld`.
COLUMNS: Final = "number, id, engine, version, used, facts"
#: What a command replaces; a commit whose outcome is not known is made again.
_REPLACED: Final = "ON CONFLICT (world, line, number) DO UPDATE SET command = excluded.command"
_decode: Final = msgspec.json.Decoder(Facts).decode


class Tables(ABC):
    """A store in tables."""

    @abstractmethod
    def _execute(self, statement: str, values: Sequence[object] = ()) -> Iterable[Any]:
        """The rows of a statement."""

    def _first(self, statement: str, values: Sequence[object] = ()) -> Any:
        """The first row of a statement, None if it has none."""
        return next(iter(self._execute(statement, values)), None)

    @abstractmethod
    def _execute_many(self, statement: str, values: Iterable[Sequence[object]]) -> None:
        """Carries a statement out with each of these values."""

    @abstractmethod
    def _explained(self) -> AbstractContextManager[None]:
        """Raises `StoreError` in place of what the database raises."""

    def worlds(self) -> list[StoredWorld]:
        """The worlds, in the order of their numbers."""
        with self._explained():
            return [world_of(row) for row in self._execute(f"SELECT {COLUMNS} FROM worlds ORDER BY number")]

    def record(self, number: int) -> tuple[bytes, dict[int, list[bytes]]]:
        """The command with which a world was opened, and its lines."""
        with self._explained():
            opened: bytes = self._first("SELECT opened FROM worlds WHERE number = ?", (number,))[0]
            lines: dict[int, list[bytes]] = {}
            statement = "SELECT line, command FROM commands WHERE world = ? ORDER BY line, number"
            for line, command in self._execute(statement, (number,)):
                lines.setdefault(line, []).append(command)
            return opened, lines

    def _write(self, change: Change) -> None:
        execute, world, number = self._execute, change.world, change.world.number
        if change.ended:
            execute("DELETE FROM commands WHERE world = ?", (number,))
            execute("DELETE FROM worlds WHERE number = ?", (number,))
            return
        if change.copied is not None:
            execute(
                "INSERT INTO commands SELECT world, ?, number, command FROM commands "
                f"WHERE world = ? AND line = ? AND number < ? {_REPLACED}",
                (change.parts[0].line, number, *change.copied),
            )
        if change.lines is not None:
            kept = ", ".join(map(str, change.lines)) or "-1"
            execute(f"DELETE FROM commands WHERE world = ? AND line NOT IN ({kept})", (number,))
        self._write_world(world, change.opened)
        for part in change.parts:
            self._execute_many(
                f"INSERT INTO commands VALUES (?, ?, ?, ?) {_REPLACED}",
                [(number, part.line, place, command) for place, command in enumerate(part.commands, part.first)],
            )

    def _write_world(self, world: StoredWorld, opened: bytes | None) -> None:
        row = (world.engine, world.version, world.used, msgspec.json.encode(world.facts))
        changed = "engine = ?, version = ?, used = ?, facts = ?"
        if opened is None:
            self._execute(f"UPDATE worlds SET {changed} WHERE number = ?", (*row, world.number))
            return
        self._execute(
            f"INSERT INTO worlds ({COLUMNS}, opened) VALUES (?, ?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT (number) DO UPDATE SET {changed}",
            (world.number, world.id, *row, opened, *row),
        )


def world_of(row: Sequence[Any]) -> StoredWorld:
    """The world of a row with `COLUMNS`."""
    number, world_id, engine, version, used, facts = row
    return StoredWorld(number, world_id, engine, version, used, _decode(facts))
