"""Stored worlds: the record of a world as a store keeps it, and the world made again from it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Final, NamedTuple

import orjson

from sendbox.control.export.record import Unreadable, read_commands, write_blueprint, write_command, write_original
from sendbox.control.export.scenario import library_name
from sendbox.control.operation import Control
from sendbox.control.replaying import Diverged, Replay
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.commands.command import Act, Call, Command, Open, Outcome, Stamp
from sendbox.engine.commands.record import Record, RequestRecord
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.spool import MAX_BYTES_IN_MEMORY, Spool
from sendbox.runtime.store.store import Facts, Unavailable

#: So many scenarios are kept compiled.
MOST_SCENARIOS: Final = 100
#: Entries of a record that are looked at between two pauses.
ENTRIES_PER_PAUSE: Final = 256


class StoredRecords:
    """The form of commands in a store, and the way from a record to a world of one application."""

    def __init__(self, control: Control) -> None:
        self._control = control
        own = control.runtime.blueprint
        #: scenarios by name and text: most worlds have the server's own
        self._scenarios = {(own.name, write_blueprint(own)["text"]): own}

    def load(self, source: str, *, name: str, paths: bool) -> Blueprint:
        """A scenario from its text. Raises `ScenarioError`."""
        blueprint = self._scenarios.get((name, source))
        if blueprint is None:
            language = self._control.served.language
            blueprint = language.load(source, name=name, paths=paths)
            if (library := library_name(language, blueprint)) is not None:
                in_library = language.load(library)
                blueprint = in_library if write_blueprint(in_library)["text"] == source else blueprint
            if len(self._scenarios) < MOST_SCENARIOS:
                self._scenarios[name, source] = blueprint
        return blueprint

    def encode(self, stamp: Stamp, command: Command) -> bytes:
        """A command as a store keeps it: as in a record, and with the original texts of scenarios."""
        line = write_command(stamp, command)
        if isinstance(command, Open):
            line["scenario"] |= write_original(command.blueprint)
        elif isinstance(command, Act):
            for name in line.get("scenarios", ()):
                line["arguments"][name] |= write_original(command.arguments[name])
        return orjson.dumps(line)

    def _decode(self, rows: list[bytes]) -> list[tuple[Stamp, Command]]:
        return read_commands(map(orjson.loads, rows), self)

    def remake(
        self, opened: bytes, lines: Mapping[int, list[bytes]], facts: Facts
    ) -> Generator[Callable[[], None] | None, None, HostedWorld]:
        """Makes a world with its checkpoints again, from the command that opened it and its lines.

        Raises `Unavailable`.
        """
        rows = lines.get(facts.line, [])
        if len(rows) != facts.commands:
            raise Unavailable("unreadable", f"{len(rows)} of {facts.commands} commands are there; the store is damaged")
        commands: list[tuple[Stamp, Command]] = []
        openings: list[tuple[Stamp, Command]] = []
        heads: dict[str, Record] = {}
        problems: list[Unreadable] = []

        def read() -> None:
            try:
                openings.extend(self._decode([opened]))
                commands.extend(self._decode(rows))
                for name, (line, length) in facts.checkpoints.items():
                    if line != facts.line:
                        heads[name] = _record_of(self._decode(lines.get(line, [])[:length]))
            except Unreadable as error:
                problems.append(error)

        yield read
        if problems:
            raise Unavailable("unreadable", f"the record in the store cannot be read: {problems[0]}")
        replay = Replay(self._control, commands, facts.ends)
        try:
            yield from replay.work()
        except Diverged as diverged:
            raise Unavailable("diverged", f"the record in the store makes another world here: {diverged}") from None
        yield from _put_away(replay.world.record, replay.hosted.spool)
        opening = openings[0][1]
        assert isinstance(opening, Open)
        replay.hosted.opened = opening
        for name, (line, length) in facts.checkpoints.items():
            replay.hosted.checkpoints[name] = replay.world.record.head(length) if line == facts.line else heads[name]
        return replay.hosted


def _put_away(record: Record, spool: Spool) -> Generator[None, None, None]:
    """Takes the long bodies of a record out of the memory, with pauses."""
    for number, entry in enumerate(record.entries):
        if isinstance(entry, RequestRecord):
            entry.put_away(spool.keep, MAX_BYTES_IN_MEMORY)
        elif isinstance(entry, Call) and isinstance(entry.body, bytes) and len(entry.body) > MAX_BYTES_IN_MEMORY:
            record.entries[number] = entry._replace(body=spool.keep(entry.body))
        if number % ENTRIES_PER_PAUSE == 0:
            yield


class _Ended(NamedTuple):
    """A delivery of which only the outcome of one try is known."""

    number: int
    tries: tuple[Outcome]


def _record_of(commands: Iterable[tuple[Stamp, Command]]) -> Record:
    """The record that has these commands."""
    record = Record()
    for stamp, command in commands:
        if isinstance(command, Outcome):
            record.outcome(stamp.at, stamp.ticks, (_Ended(command.delivery, (command,)), 0))
        else:
            record.add(stamp.at, stamp.ticks, command)
    return record
