"""Streams of server-sent events: what happens in worlds, while it happens.

Two addresses are made of one code: the stream of one world, and the stream of several worlds and of the server, which
serves a browser with one connection. Only HTTP carries them, so they are not among the operations of the other clients.
It is long because the type of each event stands with the streams.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import closing
from typing import Annotated, ClassVar, Final, NamedTuple
from urllib.parse import quote, unquote

from msgspec import Meta

from sendbox.control.answers import Clock
from sendbox.control.arguments import described
from sendbox.control.operation import Call, Control, ControlError, operation
from sendbox.control.worlds import clock_view
from sendbox.engine.answer import Answer, JsonMapping, encoded
from sendbox.engine.draws import tag_of
from sendbox.engine.durations import excerpt
from sendbox.engine.kinds.answers import Entry
from sendbox.engine.kinds.masking import Mask
from sendbox.engine.kinds.rows import Observer
from sendbox.runtime.slot import Changing, HostedWorld, change_of
from sendbox.runtime.teams import EVERYONE, Token

#: Real seconds between two comments that keep a stream open.
HEARTBEAT = 15.0
#: Streams of one world, and streams of several worlds that a server has; a further one ends the oldest.
MAX_STREAMS = 16
MAX_PATTERNS = 256
#: Worlds of one stream.
MAX_WORLDS: Final = 64
#: What is not percent-encoded in names beside letters, digits and `-._~`: as `encodeURIComponent` does it in browsers.
PLAIN: Final = "!*'()"
#: Events that a stream sends in one turn of the loop.
AT_ONCE = 2
#: Real seconds in which a stream tells at most `most` entries of a world, and its clock once.
PAUSE = 0.25
#: The number of entries of a world that may wait for a reader of several, unless it says otherwise; and the greatest.
DEFAULT_WAITING_ENTRIES: Final = 100
MAX_WAITING_ENTRIES: Final = 1_000
AtMost = Annotated[
    int,
    Meta(ge=1, le=MAX_WAITING_ENTRIES, description="the most entries that wait for the reader; more are skipped"),
]
_PLACE: Final = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})(?:\.([0-9a-f]{1,16}))?")
_ENTRY: Final = re.compile(r"(?:([0-9]{1,15})\.)?([0-9]{1,15})")

#: The name of an event and its data.
Told = tuple[str, JsonMapping]


class Position(NamedTuple):
    """The place up to which a world was read: the epoch, the next entry, and the opening; None if it is not known."""

    epoch: int
    next: int
    opening: str | None = None


#: The position in a world that is not open.
CLOSED: Final = Position(0, 0, "0")


class _Window:
    """A short time in which only so much is told; when it is over, `wake` is touched."""

    __slots__ = ("_timer", "_wake", "sent")

    def __init__(self, wake: Changing) -> None:
        self.sent = 0
        self._wake = wake
        self._timer: asyncio.TimerHandle | None = None

    def add(self, count: int = 1) -> None:
        """Counts what was sent in the window."""
        self.sent += count
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._end_window)

    def _end_window(self) -> None:
        self._timer, self.sent = None, 0
        self._wake.touch()

    def close(self) -> None:
        """It is not needed any more."""
        if self._timer is not None:
            self._timer.cancel()


class _Reader:
    """A world as a stream reads it."""

    def __init__(self, events: Events, name: str, most: int | None) -> None:
        self.name = name
        self.hosted: HostedWorld | None = None
        self._mask: Mask | None = None
        self.position = CLOSED
        self._events = events
        self._most = most
        self._told_closed = False
        self._opening = CLOSED.opening
        self._clock: Clock | None = None
        self._entry_window, self._clock_window = _Window(events.wake), _Window(events.wake)

    def __str__(self) -> str:
        """The position, as ids of events have it."""
        place = ".".join(str(part) for part in self.position if part is not None)
        return f"{quote(self.name, safe=PLAIN)}={place}"

    def begin(self, position: Position | None) -> None:
        """Goes to a position; None is the present end."""
        hosted = self._find()
        if hosted is None:
            self.position = position or CLOSED
        elif position is None:
            self.position = Position(hosted.world.epoch, len(hosted.world.journal), self._opening)
        else:
            self.position = position if position.opening else position._replace(opening=self._opening)

    def end(self) -> None:
        """The stream has ended."""
        self._entry_window.close()
        self._clock_window.close()
        self._events.leave(self.hosted)

    def look(self) -> Generator[Told, None, None]:
        """The events that are to be sent now."""
        was, hosted = self.hosted, self._find()
        if hosted is None:
            if not self._told_closed:
                self._told_closed, self.position, self._clock = True, CLOSED, None
                yield "closed", {}
            return
        self._told_closed = False
        self._mask = None  # the secrets of a world can change
        hosted.readers += 1
        try:
            if self.position.opening != self._opening:
                if was not in (None, hosted):
                    self.position = CLOSED
                    yield "closed", {}
                self._from_first(hosted)
                yield "opened", {}
            yield from self._entries(hosted)
            if hosted.world.epoch == self.position.epoch and not self._clock_window.sent:
                clock = clock_view(hosted)
                if clock != self._clock:
                    self._clock = clock
                    self._clock_window.add()
                    yield "clock", clock
        finally:
            hosted.readers -= 1

    @property
    def mask(self) -> Mask:
        """The mask for the secrets of the world; it is made when first needed, as most looks send nothing."""
        if self._mask is None:
            self._mask = self._events.control.runtime.mask(self.name)
        return self._mask

    def _find(self) -> HostedWorld | None:
        """The open world of this name."""
        runtime = self._events.control.runtime
        hosted = runtime.worlds.get(self.name)
        if hosted is not self.hosted:
            self._events.leave(self.hosted)
            self.hosted = hosted
            if hosted is not None:
                self._opening = tag_of(f"{runtime.instance} {hosted.number}")[2:10]
                self._events.join(hosted, MAX_STREAMS)
                if hosted.starts is None:
                    runtime.present(hosted)
        return hosted

    def _from_first(self, hosted: HostedWorld) -> None:
        self.position = Position(hosted.world.epoch, hosted.world.journal.first, self._opening)
        self._clock = None

    def _entries(self, hosted: HostedWorld) -> Iterator[Told]:
        world = hosted.world
        journal = world.journal
        if self.position.epoch != world.epoch or self.position.next > len(journal):
            self._from_first(hosted)
            yield "reset", {"epoch": world.epoch}
        number, length = self.position.next, len(journal)
        first = max(number, journal.first)  # forgotten entries cannot be shown
        if self._most is not None and length - number > self._most - self._entry_window.sent:
            if self._entry_window.sent:
                return
            first = length
            self._entry_window.add(self._most)
        if first > number:
            self.position = self.position._replace(next=first)
            yield "skipped", {"from": number, "to": first - 1}
        for number in range(first, length):
            if hosted.world is not world:
                return
            entry = Observer(world, self._events.control.served.kinds).entry(number)
            self.position = self.position._replace(next=number + 1)
            if self._most is not None:
                self._entry_window.add()
            yield "entry", entry


class Events:
    """A stream: its answer is `pieces`, until `end` is done or its reader has gone.

    `positions` says where worlds begin, by name, `most` how many entries may wait (None: any number). A stream that is
    `alone` in its world ends with it. Worlds of the `token` are counted.
    """

    media_type: ClassVar[str] = "text/event-stream"

    def __init__(
        self,
        control: Control,
        names: list[str],
        *,
        positions: Mapping[str, Position] | None = None,
        most: int | None,
        alone: bool = False,
        token: Token = EVERYONE,
    ) -> None:
        self.control = control
        self._token = token
        self.end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        #: touched when the stream must look again, though nothing happened
        self.wake = Changing()
        self._order = control.runtime.open_worlds
        self._alone = alone
        self._positions = positions or {}
        self._readers = [_Reader(self, name, most) for name in names]
        self._worlds_window = _Window(self.wake)

    def join(self, source: Changing, most: int) -> None:
        """This stream tells what happens there; the oldest stream ends if it is one too many."""
        while len(source.streams) >= most:
            oldest = source.streams.popleft()
            if not oldest.done():
                oldest.set_result(None)
        source.streams.append(self.end)
        if self.control.runtime.leaving and not self.end.done():
            self.end.set_result(None)

    def leave(self, source: Changing | None) -> None:
        """This stream tells what happens there no longer."""
        if source is not None and self.end in source.streams:
            source.streams.remove(self.end)

    async def pieces(self, last_id: str | None = None) -> AsyncGenerator[bytes, None]:
        """The events as text; `last_id` is that of the last event that the reader has seen."""
        positions = (self._resumed(last_id) if last_id else None) or self._positions
        worlds, sent = -1, 0
        try:
            for reader in self._readers:
                reader.begin(positions.get(reader.name))
            if not self._alone:
                self.join(self._order, MAX_PATTERNS)
            yield b": open\nretry: 1000\n\n"
            while True:
                counts = {source: source.changes for source in self._sources()}
                if not self._alone and worlds != self._order.changes and not self._worlds_window.sent:
                    worlds = self._order.changes
                    self._worlds_window.add()
                    names = self.control.runtime.worlds
                    count = sum(map(self._token.covers, names)) if self._token.prefix else len(names)
                    yield self._piece("worlds", {"open": count})
                for reader in self._readers:
                    with closing(reader.look()) as events:
                        for event, data in events:
                            if self._alone and event == "closed":
                                return
                            yield self._piece(event, data, reader)
                            sent += 1
                            if sent % AT_ONCE == 0:  # all streams of a world have their events in the same turn
                                await asyncio.sleep(0)
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        while all(source.changes == count for source, count in counts.items()):
                            await change_of(counts)
                except TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._worlds_window.close()
            self.leave(self._order)
            for reader in self._readers:
                reader.end()
            self._readers.clear()  # they refer to this stream

    def _sources(self) -> Iterator[Changing]:
        """The sources of events that this stream sends."""
        yield self.wake
        if not self._alone:
            yield self._order
        for reader in self._readers:
            if reader.hosted is not None:
                yield reader.hosted

    def _piece(self, event: str, data: JsonMapping, reader: _Reader | None = None) -> bytes:
        """An event as text."""
        place: str | None = None
        if not self._alone:
            place = ",".join(map(str, self._readers))
            if reader is not None:
                data = {"world": reader.name, **({"entry": data} if event == "entry" else data)}
        elif reader is not None and event in ("entry", "skipped"):
            place = f"{reader.position.epoch}.{reader.position.next - 1}"
        head = f"event: {event}\n" if place is None else f"event: {event}\nid: {place}\n"
        return b"%sdata: %s\n\n" % (head.encode(), encoded(data) if reader is None else reader.mask.encoded(data))

    def _resumed(self, last_id: str) -> Mapping[str, Position] | None:
        """The positions of an id that this stream gave; None for a text that is not one."""
        if not self._alone:
            return positions_of(last_id)
        match = _ENTRY.fullmatch(last_id)
        (reader,) = self._readers
        hosted = self.control.runtime.worlds.get(reader.name)
        if match is None or hosted is None:
            return None
        epoch, number = match.groups(default=str(hosted.world.epoch))
        return {reader.name: Position(int(epoch), int(number) + 1)}


def positions_of(text: str) -> dict[str, Position] | None:
    """Positions by the names of worlds, as ids of events have them; None for a text that is not that."""
    positions = {}
    for item in text.split(","):
        name, _, place = item.partition("=")
        match = _PLACE.fullmatch(place)
        decoded = _decoded(name)
        if match is None or decoded is None:
            return None
        epoch, following, opening = match.groups()
        positions[decoded] = Position(int(epoch), int(following), opening)
    return positions


def _decoded(name: str) -> str | None:
    """A name that is written percent-encoded; None where it is empty or not UTF-8."""
    try:
        return unquote(name, errors="strict") or None
    except UnicodeDecodeError:
        return None


class Reset(Answer):
    """The epoch whose entries follow, from the first."""

    epoch: int


class Skipped(Answer):
    """The first and the last number of entries that are not sent."""

    from_: int
    to: int


class InWorld(Answer):
    """News of a world."""

    world: str


class EntryIn(InWorld):
    """An entry of the journal of a world."""

    entry: Entry


class ClockIn(Clock):
    """The clock of a world."""

    world: str


class ResetIn(Reset):
    """The epoch of a world whose entries follow, from the first."""

    world: str


class SkippedIn(Skipped):
    """The first and the last number of entries of a world that are not sent."""

    world: str


class OpenWorlds(Answer):
    """The number of open worlds."""

    open: int


#: The data of the events of a stream of one world, and of several, by the names of the events.
ALONE: Final = {"entry": Entry, "clock": Clock, "reset": Reset, "skipped": Skipped}
EVENTS: Final = {
    "entry": EntryIn,
    "clock": ClockIn,
    "reset": ResetIn,
    "skipped": SkippedIn,
    "closed": InWorld,
    "opened": InWorld,
    "worlds": OpenWorlds,
}


@operation("GET", "/worlds/{id}/stream", early=True, watches=True, answers=ALONE)
async def stream(call: Call, most: AtMost | None = None) -> Events:
    """The events of a world, as server-sent events: `entry` of the journal, `clock`, `reset`, `skipped`.

    The id of an entry is its epoch and its number, as `0.15`; the header `Last-Event-ID` takes it, or a number of the
    present epoch. If more than `most` (1 to 1000) entries wait for the reader, they are not sent, and `skipped` says
    which. The stream ends with the world.
    """
    return Events(call.control, [call.hosted.world.id], most=most, alone=True)


@operation("GET", "/stream", answers=EVENTS, own_scope="worlds")
async def stream_worlds(
    call: Call,
    worlds: Annotated[str, described("ids of worlds, percent-encoded, with commas between them, at most 64")] = "",
    since: Annotated[str, described("positions in these worlds; the header `Last-Event-ID` comes before it")] = "",
    most: AtMost = DEFAULT_WAITING_ENTRIES,
) -> Events:
    """The events of several worlds, as server-sent events: `entry`, `skipped`, `clock`, `reset`, `closed`, `opened`.

    `worlds` has the ids, percent-encoded, with commas between, at most 64; the event `worlds` says how many are open.
    Each event has an id, the positions in these worlds, as `test-a=0.15.5e4f3a21`: epoch, next entry, and which opening
    of the world it is, which may be left out. The header `Last-Event-ID`, and else `since`, takes such positions. A
    world without one begins at its present end. If more than `most` entries (1 to 1000, else 100) of a world wait for
    the reader, they are not sent, and `skipped` says which. Of a store that several processes share, they are worlds of
    one process: the one that is asked if it has any of them, else one that has.
    """
    names = [_decoded(name) for name in worlds.split(",")] if worlds else []
    known = dict.fromkeys(name for name in names if name is not None)
    if None in names or len(known) > MAX_WORLDS:
        legal = f"at most {MAX_WORLDS} ids of worlds, percent-encoded, with commas between"
        raise ControlError(400, "bad_argument", f"worlds: {excerpt(worlds)} is not legal; legal: {legal}")
    for name in known:
        call.check_own(name)
    positions = positions_of(since) if since else {}
    if positions is None or not known.keys() >= positions.keys():
        legal = "positions in these worlds, as test-a=0.15, with commas between"
        raise ControlError(400, "bad_argument", f"since: {excerpt(since)} is not legal; legal: {legal}")
    if not any(map(call.runtime.is_open, known)):  # else the stream is that of the process which has one of them
        for name in known:
            await call.runtime.claim(name)
    return Events(call.control, [*known], positions=positions, most=most, token=call.token)


#: The operations that answer with a stream.
STREAMED: Final = (stream, stream_worlds)
