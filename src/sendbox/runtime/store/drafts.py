"""Drafts: the commands of worlds that a store does not have yet, as the changes of one commit.

The part of each record that is in the store, or on its way, is known here, for the way into the store and out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.commands.command import Command, Move, Open, Restore, Stamp
from sendbox.engine.commands.record import Record
from sendbox.runtime import wall
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.store.store import Change, Facts, Part, StoredWorld

#: Milliseconds after its last commit in which a world is not written again only because it was used.
USE_INTERVAL: Final = 1_000


class _Written(Struct, eq=False):
    """The part of a world's record that is in the store, or on its way; `mark` tells whether anything came since.

    `used` is the monotonic reading at its last use until then.

    `row` is that of the world, `line` where its record is, the last of `lines` so far; `heads` are the records of
    checkpoints with their lines, by name.
    """

    row: StoredWorld | None = None
    record: Record | None = None
    line: int = 0
    lines: int = 0
    count: int = 0
    epoch: int = 0
    mark: object = None
    used: int = 0
    heads: dict[str, tuple[Record, int]] = field(default_factory=dict)

    def copied(self) -> tuple[int, int] | None:
        """The line and the number of commands that the record begins with; None if the store has no beginning of it."""
        heads = [(len(head), line) for head, line in self.heads.values() if _begins_with(self.record, head)]
        return max(heads)[::-1] if heads else None


class Draft(Struct, eq=False):
    """A change whose commands are not encoded yet: line, number of the first one, commands."""

    change: Change
    parts: list[tuple[int, int, list[tuple[Stamp, Command]]]]
    opened: Open | None = None

    def encode(self, encode: Callable[[Stamp, Command], bytes]) -> Change:
        """The change with its commands encoded; this takes long."""
        change, opened = self.change, self.opened
        if not change.parts:
            change.parts = [
                Part(line, first, [encode(stamp, command) for stamp, command in commands])
                for line, first, commands in self.parts
            ]
        if opened is not None and change.opened is None:
            change.opened = encode(Stamp(opened.epoch, opened.start, 0), opened)
        return change


class Drafts:
    """The drafts of the open worlds of one runtime."""

    def __init__(self) -> None:
        self._written: dict[HostedWorld, _Written] = {}

    def drop(self, hosted: HostedWorld) -> StoredWorld | None:
        """Forgets a world that has ended; returns its row, None if the store has none."""
        written = self._written.pop(hosted, None)
        return None if written is None else written.row

    def clear(self) -> None:
        """Forgets all worlds."""
        self._written.clear()

    def resume(self, hosted: HostedWorld, stored: StoredWorld) -> None:
        """Begins with a world that was made again from the store."""
        facts, record = stored.facts, hosted.world.record
        heads = {name: (head, facts.checkpoints[name][0]) for name, head in hosted.checkpoints.items()}
        highest = max([facts.line, *(line for _, line in heads.values())])
        self._written[hosted] = _Written(
            stored, record, facts.line, highest, len(record), facts.epoch, _mark(hosted), heads=heads
        )

    def draft(self, hosted: HostedWorld) -> Draft | None:
        """The commands of a world that are not in the store yet; None if nothing has come in, and no client used it."""
        world = hosted.world
        record, written = world.record, self._written.get(hosted)
        opened, copied, cut = None, None, record.cut_by is not None
        begins = world.epoch if cut else record.opening.epoch
        if written is None:
            written, opened = _Written(record=record, epoch=begins), hosted.opened or world.opening
            self._written[hosted] = written
        mark = _mark(hosted)
        if written.mark == mark and not _is_used(hosted, written):
            return None
        written.mark, written.used = mark, hosted.used
        anew = written.record is not record
        if anew:
            written.lines += 1
            written.record, written.line = record, written.lines
            copied = None if cut else written.copied()
            written.count = 0 if copied is None else copied[1]
            restores = (entry.begins for entry in reversed(record.entries[: written.count]) if type(entry) is Restore)
            written.epoch = next(restores, begins)
        lines: list[int] | None
        if cut:
            lines = [] if anew or written.count else None
            written.count = 0
            written.row = self._row(hosted, written)
            return Draft(Change(written.row, lines=lines), [], opened)
        first = written.count
        if first and isinstance(record.entries[first - 1], Move):  # moves in a row are one
            first -= 1
        commands, written.epoch = _commands(record, first, written.epoch)
        written.count = len(record)
        parts = [(written.line, first, commands)]
        for name, head in hosted.checkpoints.items():
            known, line = written.heads.get(name, (None, written.line))
            if _begins_with(record, head):
                line = written.line
            elif known is not head:
                line = written.lines = written.lines + 1
                parts.append((line, 0, _commands(head, 0, head.opening.epoch)[0]))
            written.heads[name] = head, line
        lines = [written.line, *{written.heads[name][1] for name in hosted.checkpoints}] if anew else None
        written.row = self._row(hosted, written)
        return Draft(Change(written.row, copied, lines=lines), parts, opened)

    def _row(self, hosted: HostedWorld, written: _Written) -> StoredWorld:
        world, cut = hosted.world, hosted.world.record.cut_by
        heads = {} if cut else {name: (written.heads[name][1], len(head)) for name, head in hosted.checkpoints.items()}
        facts = Facts(
            scenario=hosted.blueprint.name,
            seed=world.seed_given,
            salt=world.salt,
            tag=world.tag,
            started=int(world.start),
            mode=world.clock.mode,
            rate=world.clock.rate,
            due=world.timeline.next_due(),
            pending=world.timeline.scheduled,
            entries=len(world.journal),
            counts=world.counts,
            line=written.line,
            commands=len(world.record),
            checkpoints=heads,
            epoch=world.epoch,
            at=int(world.now),
            ticks=world.ticks,
            pulling=hosted.pulling,
            opened_pulling=hosted.opened_pulling,
            late=None if hosted.starts is None else hosted.starts is wall.present,
            cut=cut,
            webhooks=world.outlets.leaving,
        )
        return StoredWorld(hosted.number, world.id, ENGINE, __version__, wall.now_ms(), facts)


def _is_used(hosted: HostedWorld, written: _Written) -> bool:
    """True if a world was used since its last commit, and some time after that."""
    row = written.row
    return hosted.used != written.used and row is not None and wall.now_ms() - row.used >= USE_INTERVAL


def _mark(hosted: HostedWorld) -> object:
    """A value that is another one once something has come into a world."""
    world = hosted.world
    record = world.record
    last = (record.at[-1], record.ticks[-1]) if len(record) else None
    return id(record), len(record), last, world.epoch, world.now, world.ticks, record.cut_by


def _commands(record: Record, first: int, epoch: int) -> tuple[list[tuple[Stamp, Command]], int]:
    """The commands of a record from one of them on, which has this epoch, and the epoch after the last."""
    commands = []
    for number in range(first, len(record)):
        command = record.command(number)
        commands.append((Stamp(epoch, record.at[number], record.ticks[number]), command))
        if isinstance(command, Restore):
            epoch = command.begins
    return commands, epoch


def _begins_with(record: Record | None, head: Record) -> bool:
    """True if a checkpoint was taken on the way to a record, so that it begins with that."""
    return record is not None and 0 < len(head) <= len(record) and record.entries[len(head) - 1] is head.entries[-1]
