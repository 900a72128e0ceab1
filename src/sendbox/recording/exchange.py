"""A call and its answer: the bytes that passed, as far as they are kept, and the texts that are written."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sendbox.recording.standins import StandIns
from sendbox.services.http.exchange import header

Headers = Sequence[tuple[bytes, bytes]]
#: Bytes of a body that is written; a longer one would hold up the calls while it is masked.
MAX_BODY: Final = 1024 * 1024
#: Bytes of bodies that are kept until they are written; those of further calls are not.
MAX_KEPT: Final = 64 * 1024 * 1024
#: `wbits` of zlib for the codings of bodies that are read.
_CODINGS: Final = {"": 0, "identity": 0, "gzip": 47, "x-gzip": 47, "deflate": 47}


class NotRecorded(Exception):
    """A call that is handed on and not written; the text says why."""


class Budget:
    """The bytes of bodies that may still be kept, by any thread."""

    def __init__(self, free: int = MAX_KEPT) -> None:
        self._free = free
        self._lock = threading.Lock()

    def take(self, count: int) -> bool:
        """Takes bytes; False, and takes none, if there are too few."""
        with self._lock:
            if count > self._free:
                return False
            self._free -= count
            return True

    def give(self, count: int) -> None:
        """Gives bytes back."""
        with self._lock:
            self._free += count


class Body:
    """The bytes of a body, which are kept as they pass; None once they are too many."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._pieces: list[bytes] | None = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        """Keeps a piece more."""
        if self._pieces is None:
            return
        if self._size + len(piece) > MAX_BODY or not self._budget.take(len(piece)):
            self.release()
            self._pieces = None
            return
        self._pieces.append(piece)
        self._size += len(piece)

    def text(self, headers: Headers, whose: str) -> str:
        """The body as text. Raises `NotRecorded`."""
        if self._pieces is None:
            raise NotRecorded(
                f"the body of the {whose} is longer than {MAX_BODY} bytes, or too many wait to be written"
            )
        raw = b"".join(self._pieces)
        coding = (header(headers, b"content-encoding") or b"").decode("latin-1").strip().lower()
        bits = _CODINGS.get(coding)
        if bits is None:
            raise NotRecorded(f"the body of the {whose} is compressed as {coding}; legal: gzip, deflate")
        try:
            if bits and raw:
                decoder = zlib.decompressobj(bits)
                raw = decoder.decompress(raw, MAX_BODY)
                if decoder.unconsumed_tail:
                    raise NotRecorded(f"the body of the {whose} is longer than {MAX_BODY} bytes")
            return raw.decode()
        except (zlib.error, UnicodeDecodeError):
            raise NotRecorded(f"the body of the {whose} is no text in UTF-8") from None

    def release(self) -> None:
        """Gives its bytes back to the budget."""
        self._budget.give(self._size)
        self._size = 0


@dataclass(slots=True)
class Exchange:
    """A call on its way, with the time at which it began and how long it took, both in milliseconds.

    `status` 0: it has no answer, for the reason `error`. Names of headers are in lower case.
    """

    at: int
    method: str
    url: str
    headers: Headers
    body: Body
    answer: Body
    webhook: bool = False
    status: int = 0
    answer_headers: Headers = ()
    error: str = ""
    took: int = 0
    #: the monotonic time at which it began, in nanoseconds
    begun: int = field(default=0, repr=False)

    def masked(self, stand_ins: StandIns) -> MaskedExchange:
        """The call as it is written. Raises `NotRecorded`."""
        body = self.body.text(self.headers, "request")
        answer = self.answer.text(self.answer_headers, "answer") if self.status else ""
        count, masked = stand_ins.count, self._masked(stand_ins, body, answer)
        # what one part says to be a secret is masked in all of them
        return masked if stand_ins.count == count else self._masked(stand_ins, body, answer)

    def _masked(self, stand_ins: StandIns, body: str, answer: str) -> MaskedExchange:
        return MaskedExchange(
            self.at,
            self.took,
            self.method,
            stand_ins.text(self.url),
            _headers(self.headers, stand_ins),
            stand_ins.text(body),
            self.status,
            _headers(self.answer_headers, stand_ins),
            stand_ins.text(answer),
            stand_ins.text(self.error),
            self.webhook,
        )


Texts = list[tuple[str, str]]


class MaskedExchange(NamedTuple):
    """A call without secrets."""

    at: int
    took: int
    method: str
    url: str
    headers: Texts
    body: str
    status: int
    answer_headers: Texts
    answer: str
    error: str
    webhook: bool


def media_type(headers: Texts) -> str:
    """The value of the header for the type of a body, "" if there is none."""
    return next((value for name, value in headers if name == "content-type"), "")


def _headers(headers: Headers, stand_ins: StandIns) -> Texts:
    texts = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    return [(name, stand_ins.header(name, value)) for name, value in texts]
