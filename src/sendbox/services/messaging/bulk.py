"""Bulk files: an address to upload one to, the file as it comes, and its lines one after another (§4.2; A35, A79).

A file is split while it arrives and kept as compressed blocks of whole lines, so that neither a long file nor
the content of a gzip is ever held whole. Its lines are read at the instant of the upload, or later if the file is
scheduled (A87), each a step of its own and a `POST /message` of its own; a decoder that is handed in turns a line into
a command, because the core knows no JSON of requests.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.assume import BulkLimits
from sendbox.services.messaging.model import Send
from sendbox.services.ports import Key

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Home


#: The media type that an upload of each `filetype` has (§4.2).
FILETYPES: Final = {"jsonl": "application/jsonl", "gz": "application/gzip"}
#: A line of more bytes is skipped: no Message is so long.
LONGEST_LINE: Final = 1 << 20
#: So much is unpacked at once, and so much of whole lines makes a block.
PART: Final = 1 << 16
BLOCK: Final = 1 << 15
#: gzip, with a window of any size.
_GZIP: Final = 31


class IllegalFile(Exception):
    """A file that is refused; nothing of it is sent. `status` is the HTTP status of the answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class DecodedLine(Struct, frozen=True):
    """The content of a line: a command and its canonical request, or None and why it is illegal."""

    send: Send | None
    content: bytes
    findings: Sequence[Finding]
    advice: Sequence[Advice]


Decoder = Callable[["World", "Bulk", bytes], DecodedLine]


class Line(msgspec.Struct, eq=False):
    """The result of one line, counted from 1: the request it became, or None and the findings."""

    bulk: Bulk
    number: int
    request_id: str | None
    findings: Sequence[Finding]
    advice: Sequence[Advice]


class Bulk(msgspec.Struct, eq=False):
    """One upload. `state` is `issued`, `uploading`, `stored` or `done`; `accepted` and `skipped` count lines."""

    bulk_id: str
    filetype: str
    key: Key
    address: str
    expires_at: int
    origin: str
    #: the instant at which a scheduled file is processed, None: at once (A87)
    due: int | None = None
    state: str = "issued"
    lines: int = 0
    accepted: int = 0
    skipped: int = 0
    #: the compressed blocks that were not read yet, last one first
    blocks: list[bytes] = msgspec.field(default_factory=list)
    #: the lines of the block that is being read, last one first
    pending: list[bytes] = msgspec.field(default_factory=list)
    #: the number of the line that was read last
    line: int = 0


class Bulks:
    """The uploads of one world. `decode` is set from outside before a file is stored."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._world = home.world
        self.decode: Decoder | None = None
        self._by_address: dict[str, Bulk] = {}

    def issue(self, bulk_id: str, filetype: str, key: Key, content: bytes, origin: str, at: int | None = None) -> Bulk:
        """An address for one upload, which works for a minute. `content` is the canonical request.

        The file is processed at the instant `at`, if that is far enough ahead now (A87).
        """
        world = self._world
        address = world.tag + world.named("upload", "requestUpload", content).hex()[:48]
        expires_at = world.clock.now + limits.UPLOAD
        due = at if at is not None and at > world.clock.now + limits.SOON else None
        bulk = self._by_address[address] = Bulk(bulk_id, filetype, key, address, expires_at, origin, due)
        world.timeline.lapse(expires_at, "upload", bulk)
        return bulk

    def begin(self, address: str) -> Bulk:
        """The upload of an address begins. Raises `IllegalFile` if it does not work, or never did."""
        bulk = self._by_address.get(address)
        if bulk is None:
            raise IllegalFile(403, "Upload address is not valid")
        if bulk.state != "issued":
            raise IllegalFile(403, "Upload address was used already")
        if self._world.clock.now >= bulk.expires_at:
            raise IllegalFile(403, "Upload address has expired")
        if bulk.key.disabled:
            raise IllegalFile(403, "Upload address belongs to a disabled apikey")
        bulk.state = "uploading"
        return bulk

    def find(self, address: str) -> Bulk | None:
        """The upload that an address stands for, in any state."""
        return self._by_address.get(address)

    def give_up(self, bulk: Bulk) -> None:
        """Unless a file was stored the upload came to nothing; the address may be tried again while it works."""
        if bulk.state == "uploading":
            bulk.state = "issued"

    def store(self, bulk: Bulk, blocks: list[bytes], lines: int) -> None:
        """The file is there: its lines are read from this instant on, or from that of its schedule, one a step."""
        bulk.state = "stored"
        bulk.blocks = blocks[::-1]
        bulk.lines = lines
        world = self._world
        world.journal.add(world.clock.now, CODE["bulk"], (bulk, "stored"))
        world.timeline.at(max(world.clock.now, bulk.due or 0), -1, self.bulk_line_due, bulk)

    def bulk_line_due(self, bulk: Bulk) -> None:
        """The next line's turn has come."""
        world = self._world
        now = world.clock.now
        raw = _next_line(bulk)
        if raw is None:
            bulk.state = "done"
            world.journal.add(now, CODE["bulk"], (bulk, "done"))
            return
        if raw.strip():
            world.journal.add(now, CODE["bulk_line"], self._read(bulk, raw))
        world.timeline.at(now, -1, self.bulk_line_due, bulk)

    def _read(self, bulk: Bulk, raw: bytes) -> Line:
        if len(raw) > LONGEST_LINE:
            text = f"a line of more than {LONGEST_LINE} bytes is not a Message (§4.2, A35)"
            decoded = DecodedLine(None, b"", [Finding("$", "length", text, "§4.2", "A35")], ())
        else:
            assert self.decode is not None
            decoded = self.decode(self._world, bulk, raw)
        request_id = None
        findings = decoded.findings
        if decoded.send is None:
            bulk.skipped += 1
        else:
            bulk.accepted += 1
            decoded.send.unlimited = True
            answer = self._home.accept("sendMessage", [decoded.send], bulk.key, decoded.content, bulk.origin)
            decoded.send.recipients = ()
            decoded.send.share(decoded.content)
            request_id = answer.request_id
            findings = answer.findings
        return Line(bulk, bulk.line, request_id, findings, decoded.advice)


def _next_line(bulk: Bulk) -> bytes | None:
    """The next line without its end, None after the last."""
    if not bulk.pending:
        if not bulk.blocks:
            return None
        bulk.pending = zlib.decompress(bulk.blocks.pop()).split(b"\n")[-2::-1]
    bulk.line += 1
    return bulk.pending.pop()


class Intake:
    """A file as it comes. Feed it piece by piece, then close it."""

    def __init__(self, filetype: str, limits: BulkLimits) -> None:
        self._unpack = zlib.decompressobj(_GZIP) if filetype == "gz" else None
        self._limits = limits
        self._raw = 0
        #: the beginning of a line whose end has not come yet, at most a byte longer than a line may be
        self._open: list[bytes] = []
        self._open_size = 0
        self._gathered: list[bytes] = []
        self._gathered_size = 0
        self.blocks: list[bytes] = []
        self.lines = 0
        self.size = 0

    def feed(self, piece: bytes) -> Iterator[None]:
        """Takes a piece in; pauses after each part of it. Raises `IllegalFile`."""
        if self._unpack is None:
            for at in range(0, len(piece), PART):
                self._take(piece[at : at + PART])
                yield
            return
        self._raw += len(piece)
        if self._raw > self._limits.bytes + PART:  # members that unpack to nothing could go on without end
            raise self._too_long()
        while piece:
            if self._unpack.eof:  # another member follows (RFC 1952)
                self._unpack = zlib.decompressobj(_GZIP)
            try:
                unpacked = self._unpack.decompress(piece, PART)
            except zlib.error as error:
                raise IllegalFile(400, f"Upload is not readable as gzip: {error}") from None
            piece = self._unpack.unused_data if self._unpack.eof else self._unpack.unconsumed_tail
            self._take(unpacked)
            yield

    def close(self) -> None:
        """All has come: the last line needs no line break. Raises `IllegalFile` for a gzip that is cut off."""
        if self._unpack is not None:
            self._take(self._unpack.flush())
            if not self._unpack.eof:
                raise IllegalFile(400, "Upload is not readable as gzip: it ends too early")
        if self._open_size:
            self._end_line()
        self._pack()

    def _take(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self._limits.bytes:
            raise self._too_long()
        head, line_break, behind = piece.partition(b"\n")
        self._grow(head)
        if not line_break:
            return
        self._end_line()
        lines, line_break, tail = behind.rpartition(b"\n")
        if line_break:
            self._gather(lines + b"\n", lines.count(b"\n") + 1)
        self._grow(tail)

    def _grow(self, piece: bytes) -> None:
        piece = piece[: LONGEST_LINE + 1 - self._open_size]
        if piece:
            self._open.append(piece)
            self._open_size += len(piece)

    def _end_line(self) -> None:
        self._gather(b"".join((*self._open, b"\n")), 1)
        self._open = []
        self._open_size = 0

    def _gather(self, lines: bytes, count: int) -> None:
        self.lines += count
        if self.lines > self._limits.lines:
            raise IllegalFile(413, f"Upload has more than {self._limits.lines} lines")
        self._gathered.append(lines)
        self._gathered_size += len(lines)
        if self._gathered_size >= BLOCK:
            self._pack()

    def _pack(self) -> None:
        if self._gathered:
            self.blocks.append(zlib.compress(b"".join(self._gathered), 1))
            self._gathered = []
            self._gathered_size = 0

    def _too_long(self) -> IllegalFile:
        return IllegalFile(413, f"Upload is longer than {self._limits.bytes} bytes unpacked")
