"""The record of a world: its commands in their order, each with its place, and its calls.

A straight line from the opening to the present: what a reset or a restore undid is not in it. Entries are kept
in four columns, like those of the journal, and share what the journal keeps: a call is the entry of its request, an
outcome is its try.

The calls of one instant are compared: a client that polls while time stands still always gets the same answer, and
calls race of which one changes what another uses, so that their order decides.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Protocol

import msgspec

from sendbox.engine.commands.command import COMMANDS, Body, Call, Command, Kept, Move, Open, Outcome, Restore, Stamp
from sendbox.engine.commands.tracing import context_of
from sendbox.engine.faults.calls import Applied
from sendbox.engine.remarks import Advice, Finding, RemadeAdvice

_CODE: Final = {command: code for code, command in enumerate(COMMANDS.values())}
_OUTCOME: Final = _CODE[Outcome]
_CALL: Final = _CODE[Call]
_MOVE: Final = _CODE[Move]


class RecordIncomplete(Exception):
    """A record that does not reach back to the opening of its world: a bound removed it, which the text names."""

    def __init__(self, bound: str) -> None:
        super().__init__(
            f"the record of this world is not whole: {bound} cut it, and nothing can be done again from it"
        )
        self.bound = bound


class Record:
    """The commands of one world. `cut_by` names the bound that removed them, None while it is complete."""

    __slots__ = ("at", "cut_by", "entries", "kind", "ticks")

    def __init__(self) -> None:
        self.at = array("q")
        self.ticks = array("q")
        self.kind = bytearray()
        self.entries: list[Any] = []
        self.cut_by: str | None = None

    def __len__(self) -> int:
        return len(self.kind)

    def add(self, at: int, ticks: int, command: Command) -> None:
        """A command came at an instant, after so many ticks."""
        self._add(at, ticks, _CODE[type(command)], command)

    def call(self, at: int, ticks: int, record: RequestRecord) -> None:
        """A call came, which the journal keeps."""
        if self.cut_by is None:  # on the way of every call: not a function more
            self.at.append(at)
            self.ticks.append(ticks)
            self.kind.append(_CALL)
            self.entries.append(record)

    def outcome(self, at: int, ticks: int, tried: tuple[object, int]) -> None:
        """A try ended: (delivery, index of the try)."""
        self._add(at, ticks, _OUTCOME, tried)

    def moved(self, at: int, ticks: int, first: int, *, by_hand: bool) -> None:
        """The clock moved, and `first` was the number of the next command when it began. Moves in a row are one."""
        last = len(self.kind) - 1
        if last >= 0 and last + 1 == first and self.kind[last] == _MOVE and self.entries[last].by_hand == by_hand:
            self.at[last], self.ticks[last] = at, ticks
        else:
            self._add(at, ticks, _MOVE, Move(by_hand, first))

    def _add(self, at: int, ticks: int, kind: int, entry: object) -> None:
        if self.cut_by is None:
            self.at.append(at)
            self.ticks.append(ticks)
            self.kind.append(kind)
            self.entries.append(entry)

    def forget_all(self, bound: str) -> None:
        """Forgets all commands because of a bound."""
        self.cut_by = bound
        del self.at[:], self.ticks[:], self.kind[:]
        self.entries.clear()

    def head(self, length: int) -> Record:
        """The first commands, as a record that can go on in another way."""
        copy = Record()
        copy.cut_by = self.cut_by
        copy.at, copy.ticks, copy.kind = self.at[:length], self.ticks[:length], self.kind[:length]
        copy.entries = self.entries[:length]
        return copy

    def check_complete(self) -> None:
        """Raises `RecordIncomplete` if a bound removed the record."""
        if self.cut_by is not None:
            raise RecordIncomplete(self.cut_by)

    @property
    def opening(self) -> Open:
        """The first command. Raises `RecordIncomplete`."""
        self.check_complete()
        opened: Open = self.entries[0]
        return opened

    def commands(self) -> Iterator[tuple[Stamp, Command]]:
        """All of them. Raises `RecordIncomplete`."""
        epoch = self.opening.epoch
        for number, kind in enumerate(self.kind):
            command = self.command(number)
            yield Stamp(epoch, self.at[number], self.ticks[number]), command
            if isinstance(command, Restore):
                epoch = command.begins
            assert kind == _CODE[type(command)]

    def command(self, number: int) -> Command:
        """One of them, by its number."""
        kind, entry = self.kind[number], self.entries[number]
        if kind == _OUTCOME:
            delivery, index = entry
            this_try = delivery.tries[index]
            return Outcome(delivery.number, this_try.status, this_try.error)
        command: Command = entry.call if isinstance(entry, RequestRecord) else entry
        return command


#: The content type of nearly every request.
JSON_TYPE: Final = b"application/json"


class Rebuilder(Protocol):
    """Makes again what is not kept of a call that was accepted."""

    def content(self, body: bytes) -> bytes:
        """The canonical request."""

    def answer(self) -> bytes:
        """The body of the answer."""


def compact(raw: bytes) -> bytes:
    """A copy that takes no more room than it needs: what writes JSON hands out its whole buffer, of 4 kB at least."""
    return bytes(memoryview(raw))


class CallHead(msgspec.Struct, frozen=True, gc=False):
    """The part of a call that many have in common; `query` as it came."""

    operation: str
    method: str
    path: str
    query: bytes
    origin: str
    key: str


@lru_cache(256)
def _head(operation: str, method: str, path: str, query: bytes, origin: str, key: str) -> CallHead:
    """One object for calls with the same head: clients send to the same address again and again."""
    return CallHead(operation, method, path, query, origin, key)


class RequestRecord(msgspec.Struct, eq=False, gc=False):
    """One call of an emulated interface: what came, what was answered, and the remarks.

    `status` and `answer` are what was sent; the status is 0 where nothing was. What can be made again is not kept.
    """

    head: CallHead
    headers: tuple[tuple[bytes, bytes], ...]
    #: the body, or what reads it again
    _body: Body
    status: int = 0
    _answer: bytes | None = b""
    findings: Sequence[Finding] = ()
    #: the remarks on a legal call; what can be made again is not kept
    kept_advice: Sequence[Advice | RemadeAdvice] = ()
    #: the canonical request, or what makes it again; None when the call was refused
    content: bytes | Rebuilder | None = None
    #: how many entries the journal got while it was handled: they stand right before its own
    effects: int = 0
    #: the fault by which a scenario spoiled the answer
    fault: Applied | None = None

    @classmethod
    def of(cls, operation: str, call: Call, status: int = 0, answer: bytes = b"") -> RequestRecord:
        """The record of a call, and of its answer as far as there is one."""
        method, path, query, headers, body, origin, key = call
        return cls(_head(operation, method, path, query, origin, key), headers, body, status, answer)

    @property
    def operation(self) -> str:
        """The operation that was called."""
        return self.head.operation

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return self.head.method

    @property
    def path(self) -> str:
        """The path that was called."""
        return self.head.path

    @property
    def query(self) -> bytes:
        """The query as it came."""
        return self.head.query

    @property
    def key(self) -> str:
        """The id of the key that the call counts for."""
        return self.head.key

    @property
    def call(self) -> Call:
        """The call as it came. The query may contain the key, so no view shows it."""
        head = self.head
        return Call(head.method, head.path, head.query, self.headers, self._body, head.origin, head.key)

    @property
    def canonical(self) -> bytes | None:
        """The request as its names were derived from it, None when it was refused."""
        content = self.content
        return content if content is None or isinstance(content, bytes) else content.content(self.body)

    @property
    def advice(self) -> Sequence[Advice]:
        """The remarks on a legal call, in the order in which they were made."""
        advice: list[Advice] = []
        for item in self.kept_advice:
            advice += (item,) if isinstance(item, Advice) else item.remake(self.body)
        return advice

    @property
    def answer(self) -> bytes:
        """The body of the answer."""
        answer, content = self._answer, self.content
        if answer is None:
            assert content is not None
            assert not isinstance(content, bytes)
            return content.answer()
        return answer

    def answered(self, status: int, answer: bytes | None) -> None:
        """Notes the answer; None if `content` can make it again."""
        self.status = status
        self._answer = None if answer is None else compact(answer)

    @property
    def body(self) -> bytes:
        """The body as it came, empty if it was too long to be read."""
        body = self._body
        if body is None:
            return b""
        return body if isinstance(body, bytes) else bytes(body)

    @property
    def size(self) -> int:
        """The bytes of bodies and texts that it keeps in memory."""
        return sum(
            len(part) for part in (self._body, self._answer, self.content, self.query) if isinstance(part, bytes)
        )

    def put_away(self, keep: Callable[[bytes], bytes | Kept], longest: int) -> None:
        """Keeps a longer body elsewhere."""
        body = self._body
        if isinstance(body, bytes) and len(body) > longest:
            self._body = keep(body)

    @property
    def bare(self) -> bool:
        """True if the header had no key."""
        return self.header(b"x-api-key") is None

    @property
    def content_type(self) -> bytes | None:
        """The content type that the client gave for its body; None if it gave none."""
        return self.header(b"content-type")

    @property
    def traceparent(self) -> str | None:
        """The place of the call in the client's trace; None if the client gave none."""
        context = context_of(self.headers)
        return context[0][1].decode() if context else None

    def header(self, name: bytes) -> bytes | None:
        """The value of a header by its lower-case name; None if it was not sent, or has no part in the answer."""
        return next((value for key, value in self.headers if key == name), None)


#: So many equal answers to one question, at one instant, are worth a remark.
MANY: Final = 20
#: The greatest number of questions that are remembered at a time.
MAX_QUESTIONS: Final = 16


class Polling:
    """The questions of one instant and how often each had the same answer; a remark is made once a world."""

    __slots__ = ("_instant", "_questions", "remarked")

    def __init__(self) -> None:
        self._instant = -1
        #: question -> its last answer, and how many times in a row
        self._questions: dict[bytes, tuple[bytes, int]] = {}
        self.remarked = False

    def asked(self, instant: int, question: bytes, answer: bytes) -> bool:
        """Notes one question that came at an instant; True if now is the moment for the remark."""
        if self.remarked:
            return False
        if instant != self._instant:
            self._instant = instant
            self._questions = {}
        hashed = blake2b(question, digest_size=8).digest()
        answered = blake2b(answer, digest_size=8).digest()
        last, count = self._questions.pop(hashed, (answered, 0))
        count = count + 1 if last == answered else 1
        if len(self._questions) >= MAX_QUESTIONS:
            del self._questions[next(iter(self._questions))]
        self._questions[hashed] = (answered, count)
        self.remarked = count >= MANY
        return self.remarked


class Races:
    """The subjects that the calls of one instant used and changed; a subject is any hashable value."""

    __slots__ = ("_changed", "_instant", "_used")

    def __init__(self) -> None:
        self._instant = -1
        self._used: set[object] = set()
        self._changed: set[object] = set()

    def uses(self, instant: int, subject: object) -> bool:
        """Notes that a call uses something; True if an earlier call of this instant changed it."""
        if instant != self._instant:
            self._at(instant)
        self._used.add(subject)
        return subject in self._changed

    def changes(self, instant: int, subject: object) -> bool:
        """Notes that a call changes something; True if an earlier call of this instant used or changed it."""
        if instant != self._instant:
            self._at(instant)
        raced = subject in self._used or subject in self._changed
        self._changed.add(subject)
        return raced

    def _at(self, instant: int) -> None:
        self._instant = instant
        self._used, self._changed = set(), set()
